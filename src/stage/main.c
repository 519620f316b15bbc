/* SPDX-License-Identifier: MIT
 *
 * git-agent-stage: builds what a session sees in a mount namespace of its own,
 * then becomes bwrap. ga/plan.h is its manual.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ga/error.h"
#include "ga/fd.h"
#include "ga/parse.h"
#include "stage.h"

#define MAX_KEEP 64

struct args {
	int plan;
	int status;
	int keep[MAX_KEEP + 2]; /* sorted; with the two above */
	size_t n_keep;
	char **command;
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

/* By the raw call: C libraries before 2.34 have no wrapper. */
static int close_range_(unsigned first, unsigned last)
{
	return first > last ? 0 : (int)syscall(SYS_close_range, first, last, 0u);
}

/* Whatever the caller left open by mistake ends here: a descriptor of a host
 * directory inside is a way out. */
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

/* The first process of the pid namespace becomes bwrap. `alive` is the read end
 * of a pipe whose other end only the stage holds. */
static int become_bwrap(const struct args *a, int alive, struct stage_fault *f)
{
	static char *const no_environment[] = { NULL };
	char c;

	/* the stage may have died before this took effect: then the pipe is at its end */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) || read(alive, &c, 1) == 0)
		return stage_fail(f, GA_STEP_PIDNS, errno, "");
	(void)execve(a->command[0], a->command, no_environment);
	return stage_fail(f, GA_STEP_EXEC, errno, a->command[0]);
}

/* Wait for bwrap, holding nothing: an end of a socket kept here would hide that
 * the other side is gone. Ends the program. */
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

static int run(const struct args *a, struct stage_fault *f)
{
	pid_t parent = getppid(), pid;
	int alive[2];

	if (close_others(a, f) || stage_mount(a->plan, f))
		return -1;
	/* the kernel forgot it when the process entered its user namespace */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) || pipe2(alive, O_CLOEXEC | O_NONBLOCK))
		return stage_fail(f, GA_STEP_PIDNS, errno, "");
	if (getppid() != parent)
		return stage_fail(f, GA_STEP_PIDNS, ESRCH, "");
	pid = fork();
	if (pid < 0)
		return stage_fail(f, GA_STEP_PIDNS, errno, "");
	if (pid)
		wait_for(pid, alive[1]);
	(void)close(alive[1]);
	return become_bwrap(a, alive[0], f);
}

static void report(int fd, const struct stage_fault *f)
{
	static const char *const words[] = {
#define X(id, word) [id] = (word),
		GA_STAGE_STEPS(X)
#undef X
	};
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	ga_buf_add0(&b, words[f->step]);
	ga_buf_addf(&b, "%d", f->errnum);
	ga_buf_addch(&b, '\0');
	ga_buf_add0(&b, f->object);
	(void)ga_write_full(fd, b.ptr, b.len);
}

#ifdef GA_SANITIZERS
/* It is started without an environment to read this from. A finding is a signal, limits are what
 * they were set to, and what a plan says is never freed. */
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
		report(a.status, &fault);
	return ga_error_status(GA_ESTART);
}
