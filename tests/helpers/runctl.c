/* SPDX-License-Identifier: MIT
 *
 * Runs a command in a sandbox that is described here by hand, without a repository: for the tests
 * of src/run and src/init.
 *
 *     runctl session DIR CMD...     as `git agent start` would; its exit status
 *     runctl unfiltered DIR CMD...  the same without the terminal filter
 *     runctl exec DIR [-i FILE] [-m MAX] [-t MS] [-d CWD] CMD...
 *                                   without a terminal; "status N" on standard error
 *     runctl hold DIR               launch, print "PID PIDNS", wait for end of input, finish, and
 *                                   say whether it was "alive" before and "gone" after
 *     runctl leader DIR             kill the leader of a terminal session before it has executed
 *                                   its command; then as hold, without waiting
 *     runctl deaf DIR CMD...        session, while process 1 is stopped
 *
 * DIR is made if it is missing. The sandbox's home is /home/user, its project
 * /home/user/project (DIR/upper outside). TEST_BUILDDIR holds the programs.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "run/control-internal.h"
#include "ga/base/parse.h"
#include "ga/base/path.h"
#include "ga/run/run.h"
#include "ga/sys/fd.h"

#define INSIDE_HOME "/home/user"
#define INSIDE_PROJECT "/home/user/project"

static const char *const env[] = { "PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" INSIDE_HOME,
				   "TERM=xterm", "LC_ALL=C.UTF-8", "PS1=in$ ", NULL };

struct place {
	char *dir;
	char *stage, *init, *bwrap;
	struct ga_spec spec;
	struct ga_run_paths paths;
};

static int complain(const struct ga_error *err)
{
	(void)fprintf(stderr, "runctl: %s\n", err->msg);
	if (err->hint)
		(void)fprintf(stderr, "hint: %s\n", err->hint);
	return ga_error_status(err->code);
}

static char *make(const struct place *p, const char *name, struct ga_error *err)
{
	char *path = ga_path_join(p->dir, name);

	if (!err->msg)
		(void)ga_mkdir_p(path, 0700, err);
	return path;
}

/* A volatile overlay refuses a work directory that was used before. */
static int fresh_work(struct place *p, struct ga_error *err)
{
	cleanup_free char *name = NULL;
	static unsigned n;

	name = ga_strf("work/%d-%u", (int)getpid(), n++);
	free(p->spec.work);
	p->spec.work = make(p, name, err);
	return err->msg ? -1 : 0;
}

static int prepare(struct place *p, const char *dir, struct ga_error *err)
{
	const char *build = getenv("TEST_BUILDDIR");
	struct ga_spec *s = &p->spec;
	cleanup_free char *path = NULL;
	char *base;

	p->dir = realpath(dir, NULL);
	if (!p->dir && (mkdir(dir, 0755) || !(p->dir = realpath(dir, NULL))))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot make '%s'", dir);
	s->stage_dir = make(p, "stage", err);
	s->home_dir.source = make(p, "aihome", err);
	s->upper = make(p, "upper", err);
	s->git.upper = make(p, "git", err);
	free(make(p, "base/.git", err));
	base = make(p, "base", err);
	ga_strv_take(&s->lowers, base);
	if (err->msg || fresh_work(p, err))
		return -1;
	s->home = ga_strdup(INSIDE_HOME);
	s->project = ga_strdup(INSIDE_PROJECT);
	s->network = true;
	for (size_t i = 0; env[i]; i++)
		ga_strv_push(&s->env, env[i]);
	p->stage = ga_path_join(build ? build : ".", "git-agent-stage");
	p->init = ga_path_join(build ? build : ".", "git-agent-init");
	path = ga_strf("%s:/usr/local/bin:/usr/bin:/bin", build ? build : "");
	if (ga_find_bwrap(path, false, &p->bwrap, err))
		return -1;
	p->paths = (struct ga_run_paths){ p->stage, p->init, p->bwrap };
	return 0;
}

static void release(struct place *p)
{
	ga_spec_release(&p->spec);
	free(p->dir);
	free(p->stage);
	free(p->init);
	free(p->bwrap);
}

static const char *const *constant(char **v)
{
	return (const char *const *)v;
}

static int run_session(struct place *p, char **argv, bool unfiltered, int *ret, struct ga_error *err)
{
	const struct ga_run_command c = {
		.cwd = INSIDE_PROJECT, .argv = constant(argv), .envp = env, .unfiltered = unfiltered,
	};
	struct ga_sandbox *sb;
	int rc;

	if (ga_run_launch(&p->spec, &p->paths, &sb, err))
		return -1;
	rc = ga_run_session(sb, &c, ret, err);
	ga_run_finish(sb);
	return rc;
}

static int session(struct place *p, char **argv, int *ret, struct ga_error *err)
{
	return run_session(p, argv, false, ret, err);
}

static int unfiltered(struct place *p, char **argv, int *ret, struct ga_error *err)
{
	return run_session(p, argv, true, ret, err);
}

static int exec_options(char ***argv, struct ga_run_exec *x, struct ga_buf *in, struct ga_error *err)
{
	for (; (*argv)[0] && (*argv)[0][0] == '-' && (*argv)[1]; *argv += 2) {
		const char *value = (*argv)[1];
		uint64_t n = 0;

		if ((*argv)[0][1] == 'i') {
			if (ga_read_file_at(AT_FDCWD, value, 1u << 30, in, err))
				return -1;
			continue;
		}
		if ((*argv)[0][1] == 'd') {
			x->cwd = value;
			continue;
		}
		if (!ga_parse_u64(value, 1u << 30, &n))
			return ga_fail(err, GA_EUSAGE, "not a number: '%s'", value);
		if ((*argv)[0][1] == 'm')
			x->out_max = n;
		else if ((*argv)[0][1] == 't')
			x->timeout_ms = (unsigned)n;
		else if ((*argv)[0][1] == 'o')
			x->out_fd = (int)n;
	}
	return 0;
}

static int execute(struct place *p, char **argv, int *ret, struct ga_error *err)
{
	cleanup_buf struct ga_buf in = GA_BUF_INIT, out = GA_BUF_INIT, errout = GA_BUF_INIT;
	struct ga_run_exec x = { .cwd = "/", .envp = env, .out = &out, .out_fd = -1, .errout = &errout };
	struct ga_sandbox *sb;
	int rc;

	if (exec_options(&argv, &x, &in, err))
		return -1;
	x.argv = constant(argv);
	x.in = &in;
	if (ga_run_launch(&p->spec, &p->paths, &sb, err))
		return -1;
	rc = ga_run_exec(sb, &x, ret, err);
	ga_run_finish(sb);
	(void)ga_write_full(1, out.ptr, out.len);
	(void)ga_write_full(2, errout.ptr, errout.len);
	if (!rc)
		(void)fprintf(stderr, "status %d\n", *ret);
	return rc;
}

static int hold(struct place *p, char **argv, int *ret, struct ga_error *err)
{
	struct ga_sandbox *sb;
	uint64_t ns;
	pid_t pid;
	char c;

	(void)argv;
	if (ga_run_launch(&p->spec, &p->paths, &sb, err))
		return -1;
	pid = ga_run_facts(sb)->pid;
	ns = ga_run_facts(sb)->pidns;
	(void)printf("%d %llu\n", (int)pid, (unsigned long long)ns);
	(void)fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	(void)printf("%s\n", ga_run_alive(pid, ns) ? "alive" : "not there");
	ga_run_finish(sb);
	(void)printf("%s\n", ga_run_alive(pid, ns) ? "still there" : "gone");
	*ret = 0;
	return 0;
}

/* Wait until a process has a child, and return it. */
static pid_t child_of(pid_t pid)
{
	cleanup_free char *path = ga_strf("/proc/%d/task/%d/children", (int)pid, (int)pid);
	const struct timespec t = { 0, 1000000 };
	int child = 0;

	while (!child) {
		FILE *f = fopen(path, "re");

		if (!f || fscanf(f, "%d", &child) != 1)
			child = 0;
		if (f)
			(void)fclose(f);
		(void)nanosleep(&t, NULL);
	}
	return child;
}

/* Send a request whose payload does not end: the process that reads it executes nothing yet. */
static int ask(const struct ga_sandbox *sb, int slave, int *ret_payload, struct ga_error *err)
{
	const struct ga_ctl_msg m = { .type = GA_CTL_SPAWN, .id = 77, .flags = GA_SPAWN_TTY };
	int p[2], fds[2];

	if (pipe2(p, O_CLOEXEC))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot create a pipe");
	fds[0] = p[0];
	fds[1] = slave;
	*ret_payload = p[1];
	return control_send(sb->ctl, &m, NULL, 0, fds, 2) ? ga_fail(err, GA_EFATAL, "cannot ask for a command") : 0;
}

static int leader(struct place *p, char **argv, int *ret, struct ga_error *err)
{
	const struct run_terminal none = { .fd = -1 };
	int master, slave, payload;
	struct ga_sandbox *sb;
	pid_t first;

	(void)argv;
	if (ga_run_launch(&p->spec, &p->paths, &sb, err) ||
	    run_pty_open(sb, NULL, &none, &master, &slave, err) || ask(sb, slave, &payload, err))
		return -1;
	first = child_of(ga_run_facts(sb)->pid);
	(void)kill(child_of(first), SIGSTOP);
	(void)kill(first, SIGKILL);
	/* once it is reaped, its child is pid 1's next one */
	while (child_of(ga_run_facts(sb)->pid) == first)
		;
	(void)close(ga_steal_fd(&sb->ctl));
	(void)printf("%s\n", run_wait_gone(sb->pidfd, 10000) ? "gone" : "still there");
	ga_run_finish(sb);
	*ret = 0;
	return 0;
}

static int deaf(struct place *p, char **argv, int *ret, struct ga_error *err)
{
	const struct ga_run_command c = { .cwd = INSIDE_PROJECT, .argv = constant(argv),
					  .envp = env };
	struct ga_sandbox *sb;
	int rc;

	if (ga_run_launch(&p->spec, &p->paths, &sb, err))
		return -1;
	(void)kill(ga_run_facts(sb)->pid, SIGSTOP);
	rc = ga_run_session(sb, &c, ret, err);
	(void)kill(ga_run_facts(sb)->pid, SIGCONT);
	ga_run_finish(sb);
	return rc;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(struct place *, char **, int *, struct ga_error *);
	} modes[] = { { "session", session }, { "unfiltered", unfiltered }, { "exec", execute },
		      { "hold", hold }, { "leader", leader }, { "deaf", deaf } };
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	cleanup_(release) struct place p = { .spec = GA_SPEC_INIT };
	int status = 0;

	/* as git-agent itself does */
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_WRONLY : O_RDONLY) != fd)
			return 1;
	for (size_t i = 0; argc > 2 && i < GA_NELEMS(modes); i++) {
		if (strcmp(argv[1], modes[i].name))
			continue;
		if (prepare(&p, argv[2], &err) || modes[i].run(&p, argv + 3, &status, &err))
			return complain(&err);
		return status;
	}
	(void)fprintf(stderr, "usage: runctl session|unfiltered|exec|hold|leader|deaf DIR ...\n");
	return 129;
}
