#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='sessions on another machine: jobs of Slurm'
# root's sshd wants a directory in /run
# shellcheck disable=SC2016
[ -n "${GA_ON-}" ] || [ "$(id -u)" != 0 ] || GA_ON=yes exec unshare -m sh -c '
	export GA_ON
	mount -t tmpfs -o mode=755 none /run && mkdir -m 755 /run/sshd && exec sh "$0"' "$0"
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox
. "$TEST_SRCDIR/tests/lib/net-servers.sh"
. "$TEST_SRCDIR/tests/lib/live.sh"
. "$TEST_SRCDIR/tests/lib/landing.sh"
. "$TEST_SRCDIR/tests/lib/on.sh"
. "$TEST_SRCDIR/tests/lib/slurm.sh"
trap slurm_end EXIT

test_that SLURM 'a session is a job, and its commits are reviewed and land here' '
	make_repo p &&
	agree cluster &&
	settings_of_cluster &&
	echo mine >>f &&
	test_prints one git agent start --on cluster -n one -- sh -c "
		echo 1 >new
		git add new
		git commit -qm new
		echo theirs >>f
		echo said
		exit 3" 2>../err &&
	grep "is submitted on .cluster." ../err &&
	test_expect_code 3 git agent wait one &&
	git agent list | grep "^one  *captured .* on cluster" &&
	git agent logs one | grep said &&
	git agent show one | grep one &&
	git agent review one >../out &&
	grep "A.* new" ../out &&
	git agent land one &&
	test_prints 1 cat new &&
	grep theirs f &&
	test_fails 129 "was a job on .cluster." git agent resume one &&
	git agent drop one &&
	test -z "$(ls "$HOME/scratch")" &&
	test -z "$(git -C "$(echo "$far"/.local/share/git-agent/on/*/depot.git)" for-each-ref)"
'

test_done
