# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For tests of landing beside uncommitted work: states of files, written as words.

# A state of all files, or a change of it, is a list of words. A file that is not named is as in the
# first commit, $base:
#     NAME@           nine lines, 1 to 9
#     NAME@2A8M       the same, with A in line 2 and M in line 8
#     NAME=TEXT       one line, or an empty file without TEXT
#     NAME%@          as NAME@, with carriage returns
#     NAME*@ NAME*=   executable
#     NAME>TARGET     a link
#     -NAME           no such file
base='f@ g@ d/h@ old@ run*@ link>f .gitignore=*.ign'

# the functions that read words: as text, because a session's command has them too
words='
content() {
	case $1 in
	*%@*) content "x@${1#*@}" | sed "s/$/$(printf "\r")/" ;;
	*@*) seq 9 | sed "$(echo "${1#*@}" | sed "s/\([0-9]\)\([A-Z]\)/\1s,.*,\2,;/g")" ;;
	*\>*) printf %s "${1#*>}" ;;
	*=) ;;
	*) echo "${1#*=}" ;;
	esac
}
name() {
	n=${1%%[@=>%]*}
	echo "${n%\*}"
}
put() {
	for w in "$@"; do
		case $w in
		-*)
			rm -f "${w#-}"
			rmdir "$(dirname "${w#-}")" 2>/dev/null || :
			continue
			;;
		esac
		n=$(name "$w")
		mkdir -p "$(dirname "$n")"
		case $w in
		*\>*) ln -sfn "${w#*>}" "$n" ;;
		*)
			[ ! -L "$n" ] || rm "$n"
			content "$w" >"$n"
			case $w in *\**) chmod +x "$n" ;; *) chmod -x "$n" ;; esac
			;;
		esac
	done
}
'
eval "$words"

begin() {
	rm -rf r &&
	git init -q r &&
	cd r &&
	eval "put $(printf "'%s' " $base)" &&
	git add -A &&
	git commit -qm base
}

# print the next number: each call gives another
count() {
	echo $(($(cat "$HOME/count" 2>/dev/null || echo 0) + 1)) >"$HOME/count"
	cat "$HOME/count"
}
