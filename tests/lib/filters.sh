# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For tests of filters other than LFS: a repository with two of them. Sourced after test-lib.sh.

# `crypt` has a key that is not there inside; `strip` is a program like any other.
setup_filters() {
	echo key >"$HOME/.key" &&
	git config filter.crypt.clean "test -e ~/.key && tr a-z n-za-m" &&
	git config filter.crypt.smudge "test -e ~/.key && tr a-z n-za-m" &&
	git config filter.crypt.required true &&
	git config filter.strip.clean "sed /^out:/d" &&
	git config filter.strip.smudge cat
}
make_repo() {
	git init -q "$1" &&
	cd "$1" &&
	setup_filters &&
	mkdir d &&
	printf "%s\n" "[attr]locked filter=crypt -diff" "*.sec locked" "*.nb filter=strip" >.gitattributes &&
	echo "clear text" >x.sec &&
	cp x.sec d/y.sec &&
	echo a >a &&
	printf "in\nout: 1\n" >n.nb &&
	touch -d "1 hour ago" * d/* &&
	git add . &&
	git commit -qm base &&
	test "$(git cat-file blob HEAD:x.sec)" = "pyrne grkg" &&
	test "$(git cat-file blob HEAD:n.nb)" = in
}
# The trailer of the command must not have the words either: they are "cl$()ear" in there.

# no commit that a branch or tag has holds what the filter is to hide
nowhere() {
	! git rev-list --objects --branches --tags |
		cut -d" " -f1 |
		git cat-file --batch |
		grep -a "$1"
}
rules_of() {
	git agent review --format=json "$1" |
		python3 -c 'import json, sys
for f in json.load(sys.stdin)["flags"]:
    if f["id"] == sys.argv[1]: print(f["severity"], f["path"], "held" if f["held"] else "open")' "$2"
}
