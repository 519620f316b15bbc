# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# scratch_base: print the directory in which to make scratch directories. It is on a real file system
# if there is one, because sessions need that: an overlay cannot hold the upper layer of another, and
# tmpfs can only since Linux 6.6.
scratch_base() {
	[ -z "${GIT_AGENT_TEST_TMPDIR-}" ] || {
		echo "$GIT_AGENT_TEST_TMPDIR"
		return
	}
	for scratch_kind in 'overlayfs|tmpfs' overlayfs; do
		for scratch_dir in /var/tmp "${TEST_BUILDDIR:-.}" /tmp /dev/shm; do
			[ -w "$scratch_dir" ] || continue
			stat -f -c %T "$scratch_dir" | grep -qxE "$scratch_kind" || {
				(cd "$scratch_dir" && pwd -P)
				return
			}
		done
	done
	echo /var/tmp
}
