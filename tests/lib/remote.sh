# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034
#
# For tests of sessions on a remote: two clones of one repository, and a session. Sourced after test-lib.sh.

# team NAME: a bare repository and two clones of it, that share nothing else
team() {
	git init -q "$1.seed" &&
	(
		cd "$1.seed" &&
		seq 1 30 >a &&
		echo b >b &&
		printf '*.log\n' >.gitignore &&
		eval "${2:-:}" &&
		git add -A &&
		git commit -qm base
	) &&
	git clone -q --bare "$1.seed" "$1.git" &&
	git clone -q "$1.git" "$1.here" &&
	git clone -q "$1.git" "$1.there"
}
# shown NAME: "STATE tip held OPEN-FLAGS REMOTE" of a session
shown() {
	git agent show --json "$1" | python3 -c '
import json, sys
o = json.load(sys.stdin)
print(o["state"], o["tip"] and "tip", o["held"] and "held", o["flags_open"], o["remote"])'
}
# comes NAME: fetched, the session is what every session of $work is
comes() {
	test_prints "captured tip held 2 origin" shown "$1"
}
agent_refs() {
	git for-each-ref --format='%(objectname) %(refname)' refs/heads/agent refs/agent
}
fsck() {
	git fsck --strict &&
	test -z "$(find "$(git rev-parse --git-common-dir)/objects" -name '*.keep' -o -name 'tmp_objdir*')"
}

work='sed -i s/^5$/five/ a; git commit -qam "one"; echo n >n; git add n; git commit -qm two
	echo all: >Makefile; echo e >.envrc; echo left >x.log'
