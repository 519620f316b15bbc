#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='sessions on another machine: jobs of Slurm'
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
	test_prints refs/agent-on/base git -C "$(echo "$far"/.local/share/git-agent/on/*/depot/.git)" for-each-ref \
		--format="%(refname)"
'

depot() {
	echo "$far/.local/share/git-agent/on/$(head -1 .git/git-agent/id)/depot/.git"
}
# ran N: the command of the sessions of this test ran so often
ran() {
	test "$(cat "$far/aihome/ran" 2>/dev/null | wc -l)" = "$1"
}
job_runs() {
	test_wait_for "git agent list | grep -q '^$1  *running'"
}

# runs beside the others: Slurm looks at limits of minutes twice a minute
test_that SLURM 'a job that is going to reach its time limit' '
	make_repo limit &&
	agree cluster &&
	settings_of_cluster --time=1 &&
	git agent start --on cluster -n l -- sh -c "trap : TERM HUP; echo 1 >n; while :; do sleep 1; done"
'

test_that SLURM 'a job that waits says so, and one that is cancelled then never runs' '
	make_repo held &&
	agree cluster &&
	settings_of_cluster --hold &&
	git agent start --on cluster -n h -- sh -c "echo x >>\$HOME/ran" &&
	git agent list | grep "^h  *pending .* on cluster" &&
	test_fails 128 "session .h. is pending: JobHeldUser" git agent shell h -- true &&
	test_fails 128 "agent/h is pending on .cluster.: JobHeldUser" git agent review h &&
	test_fails 128 "agent/h is pending on .cluster.: JobHeldUser" git agent resume h &&
	test_fails 124 "session .h. still runs" git agent wait --timeout 1 h &&
	id=$(job_id h) &&
	test_shows "next: git agent drop h" git agent stop h &&
	git agent list | grep "^h  *cancelled" &&
	test_wait_for "job_is h gone" &&
	test_must_fail scontrol release "$id" &&
	test_fails 1 "was cancelled before it began" git agent review h &&
	git agent drop h &&
	test_prints refs/agent-on/base git -C "$(depot)" for-each-ref --format="%(refname)" &&
	ran 0
'

test_that SLURM 'a job that is cancelled while it runs is captured, also if the agent traps signals' '
	make_repo cancelled &&
	agree cluster &&
	settings_of_cluster &&
	git agent start --on cluster -n c -- sh -c "trap : TERM HUP; echo 1 >n; while :; do sleep 1; done" &&
	job_runs c &&
	test_wait_for "git agent diff c | grep -q +1" &&
	scancel "$(job_id c)" &&
	test_expect_code 137 git agent wait c &&
	git agent review c >../out 2>../err &&
	grep "A.* n" ../out &&
	grep "its job ended early: cancelled" ../err &&
	test_wait_for "job_is c gone"
'

test_that SLURM 'stop ends the session in its job, and what it left is here at once' '
	make_repo stopped &&
	agree cluster &&
	settings_of_cluster &&
	git agent start --on cluster -n s -- sh -c "echo 1 >n; sleep 1000" &&
	job_runs s &&
	test_wait_for "git agent diff s | grep -q +1" &&
	test_fails 128 "agent/s is running on" git agent review s &&
	test_shows "captured on .cluster." git agent stop s &&
	git agent land s &&
	test_prints 1 cat n
'

test_that SLURM 'a job that is requeued does not run again' '
	make_repo requeued &&
	agree cluster &&
	settings_of_cluster --requeue &&
	git agent start --on cluster -n r -- sh -c "echo x >>\$HOME/ran; echo 1 >n; sleep 1000" &&
	job_runs r &&
	test_wait_for "ran 1" &&
	scontrol requeue "$(job_id r)" &&
	{ git agent wait r || [ $? = 129 ]; } &&
	test_wait_for "scontrol update job=$(job_id r) starttime=now; job_is r gone" &&
	git agent list | grep "^r  *captured" &&
	git agent review r | grep " n$" &&
	ran 1 &&
	rm "$far/aihome/ran"
'

test_that SLURM 'what was submitted twice runs once, on a node that knows nothing of it' '
	make_repo twice &&
	agree cluster &&
	settings_of_cluster --hold &&
	mkdir ../empty &&
	sed -i "s|scratch: .*|scratch: $HOME/empty|" "$conf" &&
	cp "$HOME/bin/ssh" "$HOME/bin/ssh.real" &&
	test_when_finished "mv $HOME/bin/ssh.real $HOME/bin/ssh" &&
	cat >"$HOME/bin/ssh" <<-EOF &&
	#!/bin/sh
	case \$(echo "\$*" | sed "s/.* //; s/\$/===/" | base64 -d 2>/dev/null) in
	*:?start?*) [ -e $HOME/cut ] || { $HOME/bin/ssh.real "\$@" >$HOME/cut; head -c 20 $HOME/cut; exit; } ;;
	esac
	exec $HOME/bin/ssh.real "\$@"
	EOF
	git agent start --on cluster -n t -- sh -c "echo x >>\$HOME/ran; sleep 5" &&
	test "$(squeue -h -o "%j" | grep -c "^t-")" = 2 &&
	scontrol release $(squeue -h -o "%i %j" | sed -n "s/ t-.*//p") &&
	git agent wait t &&
	test_wait_for "job_is t gone" &&
	ran 1 &&
	rm "$far/aihome/ran"
'

test_that FARTTY 'two terminals are in one job, and the second that is attached takes over' '
	test_have_prereq SLURM &&
	make_repo two &&
	agree cluster &&
	settings_of_cluster &&
	git agent start --on cluster -n t -- sh -c "
		echo ready; while read x; do echo got \$x; [ \$x != end ] || exit 4; done" &&
	job_runs t &&
	{ $pty within=60 expect=ready expect="got a" expect="another terminal" exit=0 -- \
		git agent attach t >../one 2>&1 & } &&
	first=$! &&
	test_wait_for "grep -q ready ../one" &&
	$pty within=60 expect=/dev/pts expect=mine exit=5 -- git agent shell t -- sh -c "tty; echo mine; exit 5" &&
	git agent send t a &&
	test_wait_for "grep -q \"got a\" ../one" &&
	$pty within=60 expect="got a" send="end\n" expect="got end" exit=4 -- git agent attach t &&
	wait "$first" &&
	test_expect_code 4 git agent wait t
'

test_that SLURM 'commands act in the job: shell, send, logs' '
	make_repo acts &&
	agree cluster &&
	settings_of_cluster &&
	git agent start --on cluster -n a -- sh -c "echo ready; read line; echo got \$line; sleep 1000" &&
	job_runs a &&
	test_wait_for "git agent logs a | grep -q ready" &&
	git agent send a "a b" &&
	test_wait_for "git agent logs a | grep -q \"got a b\"" &&
	test_expect_code 7 git agent shell a -- sh -c "echo here >h; exit 7" &&
	head -c 3000000 /dev/urandom >../big &&
	git agent shell a -- cat <../big >../back &&
	cmp ../big ../back &&
	git agent stop -q a &&
	git agent review a | grep " h$"
'

test_that SLURM 'inside, neither Slurm nor munge is in reach' '
	make_repo inside &&
	agree cluster &&
	settings_of_cluster &&
	export conf=$SLURM_CONF munge=$cluster/munge &&
	git agent start --on cluster -n i -- sh -c "
		exec >out 2>&1
		env | grep -e ^SLURM -e ^MUNGE && echo BAD env
		ls $munge && echo BAD munge
		cat $SLURM_CONF && echo BAD conf
		munge -n && echo BAD munge
		munge -n --socket=$munge/socket && echo BAD socket
		sbatch --wrap true && echo BAD sbatch
		srun true && echo BAD srun
		squeue && echo BAD squeue
		scancel --user=$(id -un) && echo BAD scancel
		echo done" &&
	git agent wait i &&
	git agent land i &&
	grep done out &&
	! grep BAD out
'

test_that SLURM 'ten sessions at once, all of which land' '
	make_repo ten &&
	agree cluster &&
	settings_of_cluster &&
	base=$(git rev-parse HEAD) &&
	git branch oracle &&
	for i in 0 1 2 3 4 5 6 7 8 9; do
		git agent start -q --on cluster -n "n$i" -- sh -c "
			echo $i >own$i && git add own$i && git commit -qm own$i &&
			mkdir d$i && echo $i >d$i/loose" || exit 1
	done &&
	for i in 0 1 2 3 4 5 6 7 8 9; do
		git agent wait "n$i" &&
		git agent land "n$i" || exit 1
	done &&
	landed=$(git rev-parse HEAD^{tree}) &&
	for i in 0 1 2 3 4 5 6 7 8 9; do
		git checkout -q -b "job$i" "$base" &&
		echo "$i" >"own$i" && mkdir -p "d$i" && echo "$i" >"d$i/loose" &&
		git add "own$i" "d$i/loose" && git commit -qm "$i" &&
		git checkout -q oracle && git merge -q -m "$i" "job$i" || exit 1
	done &&
	test "$(git write-tree)" = "$landed" &&
	git checkout -q main &&
	test -z "$(git status --porcelain)" &&
	git fsck --strict --no-dangling
'

test_that SLURM 'what the node refuses is said with the reason' '
	make_repo refused &&
	agree cluster &&
	settings_of_cluster &&
	git agent start --on cluster -n r -- no-such-program &&
	test_fails 128 "agent/r is lost on .*no-such-program" git agent wait r &&
	test_fails 128 "agent/r is lost on .cluster.: .*no-such-program" git agent review r &&
	test_fails 128 "is lost" git agent drop r &&
	git agent drop --force r &&
	sed -i "s|scratch: .*|scratch: $HOME/nowhere|" "$conf" &&
	git agent start --on cluster -n a -- true &&
	test_wait_for "job_is a gone" &&
	test_fails 128 "never began on .cluster.*cannot make .*nowhere" git agent review a &&
	git agent drop --force a &&
	settings_of_cluster --partition=nowhere &&
	test_fails 125 "on .cluster.: sbatch: error" git agent start --on cluster -n p -- true &&
	test_prints refs/agent-on/base git -C "$(depot)" for-each-ref --format="%(refname)"
'

test_that SLURM 'a result that cannot be given stays on the node, and that is said' '
	make_repo full &&
	agree cluster &&
	settings_of_cluster &&
	git agent start --on cluster -n f -- sh -c "echo 1 >n; until [ -e \$HOME/give ]; do sleep 0.1; done" &&
	test_wait_for "git agent diff f | grep -q +1" &&
	depot=$(depot) &&
	mv "$depot/objects" ../objects &&
	>"$far/aihome/give" &&
	test_wait_for "job_is f gone" &&
	mv ../objects "$depot/objects" &&
	test_fails 128 "agent/f is lost on .cluster.: .*what it left stays in" git agent review f &&
	own=$(sed -n "s/.* stays in .\(.*\). on its node.*/\1/p" ../err) &&
	git -C "$own/depot" log -p --branches | grep "^+1" &&
	chmod -R u+rwx "$own" && rm -r "$own" &&
	git agent drop --force f
'

test_lazy_prereq NETWORKDISK 'test_have_prereq SLURM && [ "$(id -u)" = 0 ] && cd "$HOME" &&
	mkdir -p ovl/l ovl/u ovl/w disk &&
	mount -t overlay -o lowerdir=ovl/l,upperdir=ovl/u,workdir=ovl/w none disk'
test_that NETWORKDISK 'a disk that cannot hold the layers is refused' '
	make_repo layers &&
	agree cluster &&
	settings_of_cluster &&
	sed -i "s|scratch: .*|scratch: $HOME/disk|" "$conf" &&
	git agent start --on cluster -n d -- true &&
	test_fails 128 "is lost on .*cannot hold the writable layer" git agent wait d &&
	test_wait_for "[ -z \"\$(ls $HOME/disk)\" ]"
'

test_that SLURM 'keys stay here' '
	make_repo keys &&
	agree cluster &&
	settings_of_cluster --hold &&
	ANTHROPIC_API_KEY=sk-ant-0123456789-0123456789 git agent start --on cluster -n k claude 2>../err &&
	grep "ANTHROPIC_API_KEY does not go to .cluster." ../err &&
	git -C "$(depot)" for-each-ref --format="%(refname)" "refs/agent-on/k-*/slurm" >../refs &&
	git -C "$(depot)" cat-file blob "$(cat ../refs)" >../out &&
	grep claude ../out &&
	! grep sk-ant ../out &&
	git agent stop -q k
'

test_that SLURM 'a controller that is gone leaves sessions unknown, and they run on' '
	make_repo controller &&
	agree cluster &&
	settings_of_cluster &&
	git agent start --on cluster -n c -- sh -c "echo 1 >n; until [ -e \$HOME/go ]; do sleep 1; done" &&
	job_runs c &&
	kill "$(cat "$cluster/slurmctld.pid")" &&
	test_wait_for "test ! -e $cluster/slurmctld.pid" &&
	git agent list | grep "^c  *unknown .*running .* ago" &&
	test_fails 128 "what agent/c does is unknown: on .cluster.: " git agent review c &&
	test_fails 128 "" git agent drop c &&
	controller_start &&
	test_wait_for "git agent list | grep \"^c  *running\"" &&
	>"$far/aihome/go" &&
	git agent wait c &&
	git agent review c | grep " n$"
'

test_that SLURM 'a job that reaches its time limit is captured' '
	cd limit &&
	test_expect_code 137 git agent wait l &&
	git agent review l >../out 2>../err &&
	grep "A.* n" ../out &&
	grep "its job ended early: time limit" ../err
'

test_that SLURM 'a node that is lost loses the session, and that is said' '
	make_repo node &&
	agree cluster &&
	settings_of_cluster &&
	git agent start --on cluster -n n -- sh -c "echo 1 >n; exec sleep 4321" &&
	job_runs n &&
	kill -9 "$(cat "$cluster/slurmd.pid")" &&
	kill_jobs &&
	git agent list | grep "^n  *running" &&
	test_wait_for "job_is n gone" &&
	git agent list | grep "^n  *lost" &&
	test_fails 128 "agent/n is lost on .cluster.: its job is gone, and left no result" git agent review n &&
	test_fails 128 "is lost" git agent wait n &&
	test_fails 128 "session .n. is lost" git agent logs n &&
	test_fails 128 "is lost" git agent drop n &&
	rm -f "$cluster/slurmd.pid" &&
	slurmd_start &&
	git agent drop --force n
'

test_done
