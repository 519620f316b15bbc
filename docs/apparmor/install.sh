#!/bin/sh
# SPDX-License-Identifier: MIT
#
# install.sh PROFILE APPARMOR-DIR DIRECTORY...: print the profile for programs in these directories.
# autogen.sh --deps and make install use it.
profile=$1 apparmor=$2
shift 2
dirs=
for dir; do
	case $dir in
	/usr/bin | /usr/local/bin | /usr/libexec/git-agent | /usr/local/libexec/git-agent) continue ;; # named already
	*[!A-Za-z0-9/._+-]*)
		echo "install.sh: '$dir' cannot stand in an AppArmor profile" >&2
		exit 1
		;;
	esac
	dirs="$dirs$dir "
done
# another profile for bwrap would be ambiguous with ours
if grep -lsE '^[^#]*/usr/bin/bwrap' "$apparmor"/* | grep -qvx "$apparmor/git-agent"; then
	# shellcheck disable=SC2016 # of sed
	cut='/^profile git-agent-bwrap/,$d'
fi
sed "s|^@{GIT_AGENT_DIRS}=|&$dirs|; ${cut-}" "$profile"
