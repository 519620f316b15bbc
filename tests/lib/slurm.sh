# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# Slurm on this machine, for tests of sessions that are jobs: a munged, a slurmctld and a slurmd of the test's own,
# which run as its user. Sourced after on.sh.

PATH=$PATH:/usr/sbin:/sbin
cluster=$HOME/cluster
export SLURM_CONF="$cluster/slurm.conf"

free_port() {
	python3 -c 'import socket; print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])'
}
munge_start() {
	mkdir -p "$cluster/munge" &&
	{ test -e "$cluster/munge/key" || head -c 128 /dev/urandom >"$cluster/munge/key"; } &&
	chmod 600 "$cluster/munge/key" &&
	munged -f --key-file="$cluster/munge/key" --socket="$cluster/munge/socket" --pid-file="$cluster/munge/pid" \
		--log-file="$cluster/munge/log" --seed-file="$cluster/munge/seed" --num-threads=2
}
# slurm_configure: 12 processors, of which each job gets one; what sanitizers need is in the jobs' environment
slurm_configure() {
	mkdir -p "$cluster/state" "$cluster/spool" "$HOME/scratch" &&
	test_script "$cluster/prolog" "$(env | sed -n "s/^\([ALU]*SAN_OPTIONS=.*\)/echo 'export \1'/p")" &&
	user=$(id -un) &&
	cat >"$SLURM_CONF" <<-EOF_CONF
	ClusterName=test
	SlurmctldHost=$(hostname -s)(127.0.0.1)
	SlurmUser=$user
	SlurmdUser=$user
	AuthType=auth/munge
	AuthInfo=socket=$cluster/munge/socket
	CredType=cred/munge
	SlurmctldPort=$(free_port)
	SlurmdPort=$(free_port)
	SlurmctldPidFile=$cluster/slurmctld.pid
	SlurmdPidFile=$cluster/slurmd.pid
	SlurmctldLogFile=$cluster/slurmctld.log
	SlurmdLogFile=$cluster/slurmd.log
	StateSaveLocation=$cluster/state
	SlurmdSpoolDir=$cluster/spool
	ProctrackType=proctrack/linuxproc
	TaskPlugin=task/none
	TaskProlog=$cluster/prolog
	SelectType=select/cons_tres
	SelectTypeParameters=CR_Core
	SchedulerType=sched/builtin
	SchedulerParameters=sched_interval=1,sched_min_interval=0
	JobAcctGatherType=jobacct_gather/none
	SwitchType=switch/none
	MpiDefault=none
	ReturnToService=2
	SlurmdTimeout=10
	SlurmdParameters=config_overrides
	KillWait=30
	NodeName=node NodeAddr=127.0.0.1 CPUs=12 RealMemory=1000
	PartitionName=all Nodes=node Default=YES MaxTime=60 DefaultTime=60
	EOF_CONF
}
controller_start() {
	slurmctld &&
	test_wait_for "scontrol ping | grep -q UP"
}
slurmd_start() {
	slurmd -N node &&
	test_wait_for "sinfo -h -o %T | grep -q idle"
}
slurm_start() {
	munge_start &&
	slurm_configure &&
	controller_start &&
	slurmd_start &&
	far_env="SLURM_CONF=$SLURM_CONF SQUEUE_STATES=PENDING SQUEUE_PARTITION=none" far_server cluster
}
test_lazy_prereq SLURM 'test_have_prereq SSHD && cd "$HOME" && command -v munged sbatch slurmctld slurmd && slurm_start'

# settings_of_cluster [OPTION...]: the user's settings for the host "cluster", with these options of sbatch
settings_of_cluster() {
	{
		printf '%s\n' "hosts:" "  cluster:" "    engine: slurm" "    scratch: $HOME/scratch"
		[ $# = 0 ] || { echo "    sbatch:" && printf '      - "%s"\n' "$@"; }
	} | test_settings
}
# job_is NAME STATE...: what Slurm calls the job of the only session of that name is one of these; "gone"
job_is() {
	job_name=$1
	shift
	job_state=$(squeue -h -o "%T %j" | sed -n "s/ $job_name-[0-9a-f]*$//p" | head -1)
	case " $* " in
	*" ${job_state:-gone} "*) return 0 ;;
	esac
	return 1
}
# job_id NAME
job_id() {
	squeue -h -o "%i %j" | sed -n "s/ $1-[0-9a-f]*$//p" | head -1
}
# kill_jobs: all processes of the jobs of this test at once, as when their node loses power
kill_jobs() {
	python3 - "$SLURM_CONF" <<-\EOF_KILL
	import os, signal, sys
	ours = []
	for pid in filter(str.isdigit, os.listdir("/proc")):
	    try:
	        env = open("/proc/%s/environ" % pid, "rb").read().split(b"\0")
	        name = open("/proc/%s/comm" % pid).read()
	    except OSError:
	        continue
	    if b"SLURM_CONF=" + sys.argv[1].encode() in env and \
	        (name == "slurmstepd\n" or any(e.startswith(b"SLURM_JOB_ID=") for e in env)): ours.append(int(pid))
	for pid in ours:
	    try: os.kill(pid, signal.SIGKILL)
	    except ProcessLookupError: pass
	sys.exit(not ours)
	EOF_KILL
}
slurm_end() {
	cd "$HOME" || return
	[ ! -e "$cluster" ] || {
		scancel --user="$(id -un)" 2>/dev/null
		test_wait_for '[ -z "$(squeue -h)" ]' 2>/dev/null
		for pid in "$cluster/slurmd.pid" "$cluster/slurmctld.pid" "$cluster/munge/pid"; do
			[ ! -s "$pid" ] || kill "$(cat "$pid")"
		done
	}
	far_end
}
