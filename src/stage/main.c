/* SPDX-License-Identifier: MIT
 *
 * git-agent-stage: builds what a session sees in a mount namespace of its own, and runs bwrap in
 * it. ga/sandbox/plan.h is its manual.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ga/base/error.h"
#include "ga/base/parse.h"
#include "ga/sys/fd.h"
#include "ga/sys/ns.h"
#include "stage.h"

#define MAX_KEEP 64

struct args {
	int plan;
	int status;
	int keep[MAX_KEEP + 2]; /* sorted; includes the two above */
	size_t n_keep;
	char **command;
};

/* What is needed to start bwrap, and to wait for it. */
struct sandbox {
	const struct args *args;
	pid_t parent;
	mode_t mask;  /* the user's */
	int alive[2]; /* a pipe whose write end only the stage holds */
	pid_t pid;
	bool blind;   /* from ga_ns_unshare_pids() */
};

static int usage(void)
{
	static const char text[] =
		"usage: git-agent-stage --plan FD --status FD [--keep FD]... -- BWRAP ARG...\n"
		"git-agent runs this program; it is of no use by itself\n";

	(void)ga_write_full(2, text, sizeof(text) - 1);
	return -1;
}

static void keep(struct args *a, int fd)
{
	size_t i = a->n_keep++;

	for (; i && a->keep[i - 1] > fd; i--)
		a->keep[i] = a->keep[i - 1];
	a->keep[i] = fd;
}

static int parse_args(int argc, char **argv, struct args *a)
{
	int i;

	*a = (struct args){ .plan = -1, .status = -1 };
	for (i = 1; i + 1 < argc && strcmp(argv[i], "--"); i += 2) {
		int fd;

		if (!ga_parse_fd(argv[i + 1], &fd) || fd < 3)
			return usage();
		if (!strcmp(argv[i], "--plan") && a->plan < 0)
			a->plan = fd;
		else if (!strcmp(argv[i], "--status") && a->status < 0)
			a->status = fd;
		else if (strcmp(argv[i], "--keep") || a->n_keep == MAX_KEEP)
			return usage();
		else
			keep(a, fd);
	}
	if (i + 1 >= argc || a->plan < 0 || a->status < 0 || argv[i + 1][0] != '/')
		return usage();
	a->command = argv + i + 1;
	keep(a, a->plan);
	keep(a, a->status);
	return 0;
}

/* The raw call, as C libraries before 2.34 have no wrapper. */
static int close_range_(unsigned first, unsigned last)
{
	return first > last ? 0 : (int)syscall(SYS_close_range, first, last, 0u);
}

/* Close whatever the caller left open by mistake: a descriptor of a host directory inside would be
 * a way out. */
static int close_others(const struct args *a, struct stage_fault *f)
{
	unsigned from = 3;

	for (size_t i = 0; i < a->n_keep; i++) {
		unsigned fd = (unsigned)a->keep[i];

		if (fd > from && close_range_(from, fd - 1))
			return stage_fail(f, GA_STEP_PLAN, errno, "descriptors");
		from = fd + 1;
	}
	if (close_range_(from, ~0u))
		return stage_fail(f, GA_STEP_PLAN, errno, "descriptors");
	if (fcntl(a->status, F_SETFD, FD_CLOEXEC) || fcntl(a->plan, F_SETFD, FD_CLOEXEC))
		return stage_fail(f, GA_STEP_PLAN, errno, "descriptors");
	return 0;
}

/* Wait for bwrap with all descriptors closed: an end of a socket kept here would hide that the
 * other side is gone. Ends the program. */
static void __attribute__((noreturn)) wait_for(pid_t pid, int alive)
{
	int st;

	for (int fd = 0; fd < 3; fd++)
		(void)close(fd);
	(void)close_range_(3, (unsigned)alive - 1);
	(void)close_range_((unsigned)alive + 1, ~0u);
	while (waitpid(pid, &st, 0) < 0)
		if (errno != EINTR)
			_exit(ga_error_status(GA_ESTART));
	_exit(WIFEXITED(st) ? WEXITSTATUS(st) : 128 + WTERMSIG(st));
}

static int report(int fd, const char *word, int errnum, const char *object)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	ga_buf_add0(&b, word);
	ga_buf_addf(&b, "%d", errnum);
	ga_buf_addch(&b, '\0');
	ga_buf_add0(&b, object);
	return ga_write_full(fd, b.ptr, b.len);
}

static void report_fault(int fd, const struct stage_fault *f)
{
	static const char *const words[] = {
#define X(id, word) [id] = (word),
		GA_STAGE_STEPS(X)
#undef X
	};

	(void)report(fd, words[f->step], f->errnum, f->object);
}

/* The first process of the pid namespace becomes bwrap. */
static int become_bwrap(const struct sandbox *sb, struct stage_fault *f)
{
	static char *const no_environment[] = { NULL };
	char *const *command = sb->args->command;
	char c;

	/* the stage may have died before this took effect; then the pipe is at its end */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) || read(sb->alive[0], &c, 1) == 0)
		return stage_fail(f, GA_STEP_PIDNS, errno, "");
	if (sb->blind && ga_ns_show_pids())
		return stage_fail(f, GA_STEP_PROC, errno, "");
	(void)umask(sb->mask);
	if (ga_ns_drop_caps())
		return stage_fail(f, GA_STEP_CAPS, errno, "");
	(void)execve(command[0], command, no_environment);
	return stage_fail(f, GA_STEP_EXEC, errno, command[0]);
}

static int start(void *payload, struct stage_fault *f)
{
	struct sandbox *sb = payload;

	/* the kernel cleared it when the process entered its user namespace */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) || ga_ns_unshare_pids(&sb->blind) ||
	    pipe2(sb->alive, O_CLOEXEC | O_NONBLOCK))
		return stage_fail(f, GA_STEP_PIDNS, errno, "");
	if (getppid() != sb->parent)
		return stage_fail(f, GA_STEP_PIDNS, ESRCH, "");
	sb->pid = fork();
	if (sb->pid < 0)
		return stage_fail(f, GA_STEP_PIDNS, errno, "");
	if (!sb->pid) {
		(void)close(sb->alive[1]);
		(void)become_bwrap(sb, f);
		report_fault(sb->args->status, f);
		_exit(ga_error_status(GA_ESTART));
	}
	(void)close(sb->alive[0]);
	return 0;
}

static int run(const struct args *a, struct stage_fault *f)
{
	cleanup_strv struct ga_strv loose = GA_STRV_INIT;
	struct sandbox sb = { .args = a, .parent = getppid() };

	sb.mask = umask(0);
	if (close_others(a, f) || stage_mount(a->plan, start, &sb, &loose, f))
		return -1;
	/* the plan has been read to its end, so its writer reads this now */
	for (size_t i = 0; i < loose.n; i++)
		if (report(a->status, GA_STAGE_LOOSE, EINVAL, loose.v[i]))
			return stage_fail(f, GA_STEP_HIDE, errno, loose.v[i]);
	if (ga_ns_drop_caps())
		return stage_fail(f, GA_STEP_CAPS, errno, "");
	wait_for(sb.pid, sb.alive[1]);
}

#ifdef GA_SANITIZERS
/* ASan's options: the stage is started without an environment to read them from. A finding must
 * abort by a signal, resource limits must stay, and the words of a plan are never freed. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "abort_on_error=1:disable_coredump=0:detect_leaks=0";
}
#endif

int main(int argc, char **argv)
{
	struct stage_fault fault;
	struct args a;

	if (parse_args(argc, argv, &a))
		return ga_error_status(GA_ESTART);
	if (run(&a, &fault))
		report_fault(a.status, &fault);
	return ga_error_status(GA_ESTART);
}
