# SPDX-License-Identifier: MIT
#
# bash completion of `git agent`, through git's own completion, which calls
# _git_agent once this file was sourced.

__git_agent_sessions() {
	git agent list --json 2>/dev/null | sed -n 's/^ *"name": "\([a-z0-9._-]*\)",*$/\1/p'
}

_git_agent() {
	local commands="start list show diff review land drop capture doctor version"
	local i command=""

	for ((i = __git_subcommand_idx + 1; i < cword; i++)); do
		case "${words[i]}" in
		-*) ;;
		*)
			command="${words[i]}"
			break
			;;
		esac
	done
	if [ -z "$command" ]; then
		__gitcomp "$commands"
		return
	fi
	case "$command,$cur" in
	start,--dirty=*) __gitcomp "carry ignore refuse" "" "${cur##--dirty=}" ;;
	start,--base=*) __git_complete_refs --cur="${cur##--base=}" ;;
	start,-*) __gitcomp "--name= --base= --dirty= --live --message= --dry-run --quiet" ;;
	start,*) COMPREPLY=($(compgen -c -- "$cur")) ;;
	list,-* | show,-* | doctor,-* | version,-*) __gitcomp "--json" ;;
	diff,-*) __gitcomp "--held" ;;
	review,--format=*) __gitcomp "text json" "" "${cur##--format=}" ;;
	review,-*) __gitcomp "--format= --stat --accept --accept-all --critical --reject" ;;
	land,-*) __gitcomp "--message= --dry-run --json" ;;
	drop,-*) __gitcomp "--force --dry-run" ;;
	capture,-*) __gitcomp "--quiet" ;;
	show,* | diff,* | review,* | land,* | drop,* | capture,*) __gitcomp "$(__git_agent_sessions)" ;;
	esac
}
