# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034
#
# For tests of hostile agents: repositories, sessions that must come to an end, and checks for what no
# session may leave behind. Sourced after test-lib.sh.

# make_repo NAME [COMMANDS]: a repository with one commit, in which the commands' files are too; change to it
make_repo() {
	test_enter "$1" &&
	(
		echo a >a &&
		mkdir d &&
		echo x >d/x &&
		eval "${2:-:}" &&
		git add -A &&
		git commit -qm base
	)
}

# attack NAME COMMANDS: run a session, which must end in time and be captured
attack() {
	timeout 180 git agent start --name "$1" -- sh -c "$2" >../out 2>../err </dev/null
	attack_rc=$?
	cat ../err
	[ $attack_rc != 124 ] || {
		echo "hangs"
		return 1
	}
	git agent list | grep -q "^$1 .*captured"
}

# The object store of the repository is whole, and has no temporary files of a capture.
clean_store() {
	! find .git \( -name "*.keep" -o -name "tmp_*" -o -name "*.lock" ! -name capture.lock \) |
		grep . &&
	git fsck --strict 2>&1 | (! grep -E "error|missing|fatal")
}

# harmless FILE...: they are UTF-8 without any character that a terminal acts upon
harmless() {
	python3 - "$@" <<-\END
	import sys, unicodedata
	for name in sys.argv[1:]:
	    for ch in open(name, "rb").read().decode("utf-8"):
	        if ch not in "\n\t" and unicodedata.category(ch) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
	            sys.exit("%s: %r" % (name, ch))
	END
}
