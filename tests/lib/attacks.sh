# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034
#
# For tests of what a hostile agent does: repositories, sessions that must end, and
# what no session may leave behind. Sourced after test-lib.sh.

# A repository NAME with one commit; COMMANDS make more of it.
make_repo() {
	git init -q "$1" && (cd "$1" && echo a >a && mkdir d && echo x >d/x && eval "${2:-:}" &&
		git add -A && git commit -qm base)
}

# attack NAME COMMANDS: a session that must come to its end, soon.
attack() {
	timeout 180 git agent start --name "$1" -- sh -c "$2" >../out 2>../err </dev/null
	attack_rc=$?
	cat ../err
	[ $attack_rc != 124 ] || { echo "hangs"; return 1; }
	git agent list | grep -q "^$1 .*captured"
}

# Nothing of a capture may stay behind in the repository.
clean_store() {
	! find .git \( -name "*.keep" -o -name "tmp_*" -o -name "*.lock" ! -name capture.lock \) | grep . &&
	git fsck --strict 2>&1 | (! grep -E "error|missing|fatal")
}

# No byte that a terminal acts upon, and none that is not UTF-8.
harmless() {
	python3 - "$@" <<-\END
	import sys, unicodedata
	for name in sys.argv[1:]:
	    for ch in open(name, "rb").read().decode("utf-8"):
	        if ch not in "\n\t" and unicodedata.category(ch) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
	            sys.exit("%s: %r" % (name, ch))
	END
}
