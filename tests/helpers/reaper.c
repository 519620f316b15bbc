/* SPDX-License-Identifier: MIT
 *
 * Runs a command in a directory of its own, and leaves nothing of it: no process, no mount, no file.
 *
 *     reaper [-t SECONDS] [-u FILE] TEMPLATE COMMAND...
 *
 * TEMPLATE is that of mkdtemp(3), an absolute path; the directory made of it stands in TEST_DIR, TMPDIR and
 * GIT_AGENT_TEST_TMPDIR of the command's environment. When the command has ended, after SECONDS, when SIGINT,
 * SIGTERM or SIGHUP arrives, or when the process that started this one has gone,
 *
 *   - all that descends from it is killed, daemons too: this is a subreaper (PR_SET_CHILD_SUBREAPER, prctl(2)),
 *     so orphans become its children;
 *   - what is mounted below the directory is unmounted;
 *   - the directory is removed, and with it /tmp/NAME-* and /dev/shm/NAME-*, where tests have what cannot be in it:
 *     NAME stands in TEST_BESIDE, and is the directory's last component, behind the TEST_BESIDE that was there. Of a
 *     command that failed by itself they are kept, but no directory that is empty.
 *
 * Exit status: the command's; 128 + N if signal N ended it; 124 after SECONDS; 125 if it could not be run. On one of
 * the signals above it ends by that signal. -u writes "WALL CPU" to FILE, in seconds, CPU of all that it reaped.
 */
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_PROCESSES 65536
#define TIMED_OUT 124
#define NOT_RUN 125

static void die(const char *what)
{
	(void)fprintf(stderr, "reaper: %s: %s\n", what, strerror(errno));
	exit(NOT_RUN);
}

static double now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* 0 if it is gone. The command's name in stat, in parentheses, may hold anything (proc(5)). */
static pid_t parent_of(pid_t pid)
{
	char path[64], text[512];
	const char *after;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	(void)fclose(f);
	after = strrchr(text, ')');
	return after && strlen(after) > 4 ? (pid_t)strtol(after + 4, NULL, 10) : 0;
}

/* Kill all that descend from us, and say how many there were. */
static size_t kill_all(void)
{
	static struct {
		pid_t pid, parent;
		int ours;
	} p[MAX_PROCESSES];
	size_t n = 0, found = 0, before;
	struct dirent *e;
	DIR *proc = opendir("/proc");

	if (!proc)
		die("/proc");
	while (n < MAX_PROCESSES && (e = readdir(proc))) {
		p[n].pid = (pid_t)strtol(e->d_name, NULL, 10);
		if (p[n].pid <= 0)
			continue;
		p[n].parent = parent_of(p[n].pid);
		p[n++].ours = 0;
	}
	(void)closedir(proc);
	do {
		before = found;
		for (size_t i = 0; i < n; i++) {
			if (p[i].ours)
				continue;
			p[i].ours = p[i].parent == getpid();
			for (size_t j = 0; j < n && !p[i].ours; j++)
				p[i].ours = p[j].ours && p[j].pid == p[i].parent;
			if (p[i].ours && ++found)
				(void)kill(p[i].pid, SIGKILL);
		}
	} while (found != before);
	return found;
}

/* Until no process is left; for ten seconds at most, since one that waits for a device cannot be killed. */
static void reap_all(void)
{
	struct timespec pause = { .tv_nsec = 2000000 };
	double end = now() + 10;

	while (kill_all() && now() < end) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		(void)nanosleep(&pause, NULL);
	}
}

/* Unmount what is below the directory, the latest first. No path of a test has a character that mountinfo escapes. */
static void unmount_all(const char *dir)
{
	char line[8192], at[4096], last[4096];
	size_t len = strlen(dir);

	do {
		FILE *f = fopen("/proc/self/mountinfo", "re");

		if (!f)
			die("/proc/self/mountinfo");
		last[0] = '\0';
		while (fgets(line, sizeof(line), f))
			if (sscanf(line, "%*s %*s %*s %*s %4095s", at) == 1 && !strncmp(at, dir, len) && at[len] == '/')
				(void)strcpy(last, at);
		(void)fclose(f);
	} while (last[0] && !umount2(last, MNT_DETACH | UMOUNT_NOFOLLOW));
}

static void remove_tree(const char *path)
{
	static const char script[] = "chmod -R u+rwx -- \"$1\" 2>/dev/null; rm -rf -- \"$1\"";
	pid_t pid = fork();

	if (!pid) {
		(void)execl("/bin/sh", "sh", "-c", script, "sh", path, (char *)NULL);
		_exit(127);
	}
	if (pid > 0)
		(void)waitpid(pid, NULL, 0);
}

static void remove_all(const char *dir, const char *beside)
{
	char pattern[4096];
	glob_t g = { 0 };

	(void)snprintf(pattern, sizeof(pattern), "/tmp/%s-*", beside);
	(void)glob(pattern, 0, NULL, &g);
	(void)snprintf(pattern, sizeof(pattern), "/dev/shm/%s-*", beside);
	(void)glob(pattern, GLOB_APPEND, NULL, &g);
	for (size_t i = 0; i < g.gl_pathc; i++)
		remove_tree(g.gl_pathv[i]);
	globfree(&g);
	remove_tree(dir);
}

/* The status of the command, SIGINT and the like as they are, negated; -SIGALRM after the time. */
static int wait_for(pid_t command, double seconds, const sigset_t *signals)
{
	double end = now() + seconds;
	int status;
	pid_t pid;

	for (;;) {
		double left = seconds > 0 ? end - now() : 3600;
		struct timespec t = { .tv_sec = (time_t)left, .tv_nsec = (long)((left - (double)(time_t)left) * 1e9) };
		int sig;

		while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
			if (pid == command)
				return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		if (seconds > 0 && left <= 0)
			return -SIGALRM;
		sig = sigtimedwait(signals, NULL, &t);
		if (sig > 0 && sig != SIGCHLD)
			return -sig;
	}
}

int main(int argc, char **argv)
{
	const char *used = NULL, *outer;
	char beside[1024];
	double began = now(), seconds = 0;
	struct rusage r;
	sigset_t signals, before;
	char *dir;
	pid_t parent = getppid(), command;
	int opt, status;

	while ((opt = getopt(argc, argv, "+t:u:")) != -1) {
		if (opt == 't')
			seconds = strtod(optarg, NULL);
		else if (opt == 'u')
			used = optarg;
		else
			return NOT_RUN;
	}
	if (argc - optind < 2 || argv[optind][0] != '/') {
		(void)fputs("usage: reaper [-t SECONDS] [-u FILE] TEMPLATE COMMAND...\n", stderr);
		return NOT_RUN;
	}
	dir = argv[optind];
	(void)sigemptyset(&signals);
	for (const int *s = (const int[]){ SIGINT, SIGTERM, SIGHUP, SIGCHLD, 0 }; *s; s++)
		(void)sigaddset(&signals, *s);
	if (sigprocmask(SIG_BLOCK, &signals, &before) || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) ||
	    prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0))
		die("prctl");
	if (getppid() != parent)
		(void)raise(SIGTERM);
	/* not secret, since some tests are another user's processes */
	if (!mkdtemp(dir) || chmod(dir, 0711))
		die(dir);
	outer = getenv("TEST_BESIDE");
	(void)snprintf(beside, sizeof(beside), "%s%s%s", outer ? outer : "", outer ? "-" : "", strrchr(dir, '/') + 1);
	if (setenv("TEST_DIR", dir, 1) || setenv("TMPDIR", dir, 1) || setenv("GIT_AGENT_TEST_TMPDIR", dir, 1) ||
	    setenv("TEST_BESIDE", beside, 1))
		die("setenv");
	command = fork();
	if (command < 0)
		die("fork");
	if (!command) {
		/* not as nohup(1), or a shell's "&", left them */
		for (const int *s = (const int[]){ SIGHUP, SIGINT, SIGQUIT, SIGPIPE, 0 }; *s; s++)
			(void)signal(*s, SIG_DFL);
		(void)sigprocmask(SIG_SETMASK, &before, NULL);
		(void)execvp(argv[optind + 1], argv + optind + 1);
		die(argv[optind + 1]);
	}
	status = wait_for(command, seconds, &signals);
	reap_all();
	unmount_all(dir);
	if (used) {
		FILE *f = fopen(used, "we");

		if (!f || getrusage(RUSAGE_CHILDREN, &r))
			die(used);
		(void)fprintf(f, "%.1f %.1f\n", now() - began, (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
				      (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6);
		(void)fclose(f);
	}
	if (status <= 0 && status != -SIGALRM)
		remove_all(dir, beside);
	else
		(void)rmdir(dir);
	if (status >= 0)
		return status;
	if (status == -SIGALRM)
		return TIMED_OUT;
	(void)signal(-status, SIG_DFL);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	(void)raise(-status);
	return 128 - status;
}
