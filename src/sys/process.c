/* SPDX-License-Identifier: MIT */
#include "ga/sys/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ga/base/clock.h"
#include "ga/base/parse.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/base/trace.h"
#include "ga/sys/fd.h"

#define DEFAULT_OUT_MAX ((size_t)1 << 30)
#define ERROUT_MAX ((size_t)64 << 10)
#define CHUNK ((size_t)64 << 10)

/* One stream from the child, read without blocking. */
struct stream {
	int fd;              /* our end, -1 once it is over or was never opened */
	int child;           /* the child's end, -1 if there is none */
	struct ga_buf *to;
	size_t start;        /* length of `to` before the first byte */
};
#define STREAM_INIT { -1, -1, NULL, 0 }

struct child {
	pid_t pid;           /* 0 once reaped */
	int pidfd;
	struct stream out, errout;
	int in, keep;        /* the child's ends */
	int64_t deadline;    /* on the clock of ga_now_ms(); 0: none */
};

struct ga_process_job {
	struct ga_process p; /* argv and other words may be freed by now */
	char *name;          /* argv[0], escaped, for messages */
	struct child c;
};

static void close_stream(struct stream *s)
{
	ga_cleanup_closep(&s->fd);
	ga_cleanup_closep(&s->child);
}

static void child_release(struct child *c)
{
	if (c->pid > 0) {
		(void)kill(c->pid, SIGKILL);
		(void)TEMP_FAILURE_RETRY(waitpid(c->pid, NULL, 0));
	}
	close_stream(&c->out);
	close_stream(&c->errout);
	ga_cleanup_closep(&c->in);
	ga_cleanup_closep(&c->keep);
	ga_cleanup_closep(&c->pidfd);
}

/* Duplicate a descriptor to 3 or above: the child replaces 0 to 2 one after the other, so no source
 * may be one of them. */
static int dup_above_stdio(int fd, int *ret, struct ga_error *err)
{
	*ret = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (*ret < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot duplicate a descriptor");
	return 0;
}

static int open_stream(struct stream *s, struct ga_buf *to, struct ga_error *err)
{
	int p[2];

	if (pipe2(p, O_CLOEXEC))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot create a pipe");
	s->fd = p[0];
	s->child = p[1];
	s->to = to;
	s->start = to->len;
	if (s->child <= 2) {
		int low = s->child;
		int rc = dup_above_stdio(low, &s->child, err);

		(void)close(low);
		if (rc)
			return -1;
	}
	/* only our end: O_NONBLOCK belongs to the open file description, and each end has its
	 * own */
	if (fcntl(s->fd, F_SETFL, O_NONBLOCK))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot prepare a pipe");
	return 0;
}

static int open_null(int flags, int *ret, struct ga_error *err)
{
	cleanup_close int fd = open("/dev/null", flags | O_CLOEXEC);

	if (fd < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open '/dev/null'");
	return dup_above_stdio(fd, ret, err);
}

/* Input is a sealed file in memory, not a pipe: the child reads it at its own pace and SIGPIPE
 * cannot occur. */
static int open_streams(const struct ga_process *p, struct child *c, struct ga_error *err)
{
	if (p->keep_fd >= 0 && dup_above_stdio(p->keep_fd, &c->keep, err))
		return -1;
	if (p->in_fd >= 0) {
		if (dup_above_stdio(p->in_fd, &c->in, err))
			return -1;
	} else if (p->in && p->in_len) {
		cleanup_close int mem = ga_memfd("input", p->in, p->in_len, err);

		if (mem < 0 || dup_above_stdio(mem, &c->in, err))
			return -1;
	} else if (open_null(O_RDONLY, &c->in, err)) {
		return -1;
	}
	if (p->out_fd >= 0) {
		if (dup_above_stdio(p->out_fd, &c->out.child, err))
			return -1;
	} else if (p->out) {
		if (open_stream(&c->out, p->out, err))
			return -1;
	} else if (open_null(O_WRONLY, &c->out.child, err)) {
		return -1;
	}
	return p->errout ? open_stream(&c->errout, p->errout, err) : 0;
}

static int file_actions(const struct ga_process *p, const struct child *c,
			posix_spawn_file_actions_t *fa)
{
	int rc = posix_spawn_file_actions_adddup2(fa, c->in, 0);

	if (!rc)
		rc = posix_spawn_file_actions_adddup2(fa, c->out.child, 1);
	if (!rc && c->errout.child >= 0)
		rc = posix_spawn_file_actions_adddup2(fa, c->errout.child, 2);
	/* last, because one of the others might have been number 3 */
	if (!rc && c->keep >= 0)
		rc = posix_spawn_file_actions_adddup2(fa, c->keep, 3);
	if (!rc)
		rc = posix_spawn_file_actions_addclosefrom_np(fa, c->keep >= 0 ? 4 : 3);
	if (!rc && p->cwd)
		rc = posix_spawn_file_actions_addchdir_np(fa, p->cwd);
	return rc;
}

/* Lower a limit of ours, which the child inherits, and save the old one. 0: leave it. */
static int lower_limit(__rlimit_resource_t resource, uint64_t max, struct rlimit *was,
		       struct ga_error *err)
{
	struct rlimit now;

	if (getrlimit(resource, was))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot limit a process");
	now = *was;
	if (!max || now.rlim_cur <= max)
		return 0;
	now.rlim_cur = (rlim_t)max;
	return setrlimit(resource, &now) ?
		       ga_fail_errno(err, GA_EFATAL, errno, "cannot limit a process") : 0;
}

/* The directories of a PATH that have absolute names. Never empty, because an empty PATH means the
 * current directory. */
static char *absolute_path(const char *path)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	for (const char *p = path ? path : ""; *p; p += strspn(p, ":")) {
		size_t n = strcspn(p, ":");

		if (*p == '/')
			ga_buf_addf(&b, "%s%.*s", b.len ? ":" : "", (int)n, p);
		p += n;
	}
	return b.len ? ga_buf_steal(&b) : ga_strdup(GA_SYSTEM_PATH);
}

static void make_environment(const char *const *from, struct ga_strv *ret)
{
	for (; *from; from++) {
		cleanup_free char *path = NULL;

		if (strncmp(*from, "PATH=", 5) != 0) {
			ga_strv_push(ret, *from);
			continue;
		}
		path = absolute_path(*from + 5);
		ga_strv_pushf(ret, "PATH=%s", path);
	}
}

void ga_user_environ(struct ga_strv *ret)
{
	for (char **e = environ; e && *e; e++)
		ga_strv_push(ret, *e);
}

/* Like posix_spawnp(), but with only those directories of PATH. */
static int spawn_found(const struct ga_process *p, pid_t *ret,
		       const posix_spawn_file_actions_t *fa, const posix_spawnattr_t *at)
{
	const char *const *ours = (const char *const *)environ, *name = p->argv[0];
	cleanup_free char *path = absolute_path(ga_environ_get(ours, "PATH"));
	cleanup_free char *file = strchr(name, '/') ? ga_strdup(name) : ga_find_program(path, name);
	cleanup_strv struct ga_strv env = GA_STRV_INIT;
	char **argv;

	if (!file)
		return ENOENT;
	/* the prototype wants char *const *, though it writes nothing through it */
	memcpy(&argv, &p->argv, sizeof(argv));
	make_environment(p->envp ? p->envp : ours, &env);
	return posix_spawn(ret, file, fa, at, argv, env.v);
}

/* A SIGHUP that we ignore is ignored by the programs we run, too. */
static bool ignores_hangup(void)
{
	struct sigaction sa;

	return !sigaction(SIGHUP, NULL, &sa) && !(sa.sa_flags & SA_SIGINFO) &&
	       sa.sa_handler == SIG_IGN;
}

/* posix_spawn shares our memory until exec (CLONE_VFORK), so its cost does not depend on our
 * size. */
static int spawn_unlimited(const struct ga_process *p, struct child *c, struct ga_error *err)
{
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t at;
	sigset_t all, none;
	int rc;

	(void)sigfillset(&all);
	(void)sigemptyset(&none);
	if (ignores_hangup())
		(void)sigdelset(&all, SIGHUP);
	rc = posix_spawn_file_actions_init(&fa);
	if (rc)
		return ga_fail_errno(err, GA_EFATAL, rc, "cannot prepare a process");
	rc = posix_spawnattr_init(&at);
	if (rc) {
		(void)posix_spawn_file_actions_destroy(&fa);
		return ga_fail_errno(err, GA_EFATAL, rc, "cannot prepare a process");
	}
	(void)posix_spawnattr_setflags(&at, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	(void)posix_spawnattr_setsigdefault(&at, &all);
	(void)posix_spawnattr_setsigmask(&at, &none);
	rc = file_actions(p, c, &fa);
	if (!rc)
		rc = spawn_found(p, &c->pid, &fa, &at);
	(void)posix_spawnattr_destroy(&at);
	(void)posix_spawn_file_actions_destroy(&fa);
	if (rc) {
		c->pid = 0;
		return ga_fail_path(err, rc, "run", p->argv[0]);
	}
	return 0;
}

/* The limit applies to ourselves while the program is started; the sanitizers' own memory exceeds
 * it. */
#ifdef GA_SANITIZERS
#define MEMORY_LIMIT(p) 0
#else
#define MEMORY_LIMIT(p) ((p)->max_memory)
#endif

static int spawn(const struct ga_process *p, struct child *c, struct ga_error *err)
{
	struct rlimit file, memory;
	int rc;

	if (!p->max_file && !p->max_memory)
		return spawn_unlimited(p, c, err);
	if (lower_limit(RLIMIT_FSIZE, p->max_file, &file, err))
		return -1;
	rc = lower_limit(RLIMIT_DATA, MEMORY_LIMIT(p), &memory, err);
	if (!rc) {
		rc = spawn_unlimited(p, c, err);
		(void)setrlimit(RLIMIT_DATA, &memory);
	}
	(void)setrlimit(RLIMIT_FSIZE, &file);
	return rc;
}

/* Keep only the end of standard error, which has the reason of a failure. */
static void keep_tail(struct stream *s, size_t max)
{
	size_t n = s->to->len - s->start;

	if (n <= max)
		return;
	memmove(s->to->ptr + s->start, s->to->ptr + s->to->len - max, max);
	ga_buf_truncate(s->to, s->start + max);
}

/* Read what is available. Returns 1 if the stream exceeded `max`. */
static int drain(struct stream *s, size_t max, bool tail, struct ga_error *err)
{
	while (s->fd >= 0) {
		char *at = ga_buf_reserve(s->to, CHUNK);
		ssize_t n = TEMP_FAILURE_RETRY(read(s->fd, at, CHUNK));

		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n < 0)
			return ga_fail_errno(err, GA_EFATAL, errno, "cannot read from a pipe");
		if (!n) {
			close_stream(s);
			return 0;
		}
		s->to->len += (size_t)n;
		s->to->ptr[s->to->len] = '\0';
		if (tail && s->to->len - s->start > 2 * max)
			keep_tail(s, max);
		if (!tail && s->to->len - s->start > max)
			return 1;
	}
	return 0;
}

static int drain_all(struct ga_process_job *j, struct ga_error *err)
{
	size_t max = j->p.out_max ? j->p.out_max : DEFAULT_OUT_MAX;
	int rc = drain(&j->c.out, max, false, err);

	if (rc < 0)
		return -1;
	if (rc)
		return ga_fail(err, GA_EFATAL, "'%s' wrote more than %zu bytes", j->name, max);
	return drain(&j->c.errout, ERROUT_MAX, true, err);
}

/* Wait for output, and read it. `*gone`: the child has exited and its output was read; a descendant
 * that keeps a pipe open (a daemon) is not waited for. */
static int pump_once(struct ga_process_job *j, bool *gone, struct ga_error *err)
{
	struct child *c = &j->c;
	struct pollfd f[3] = {
		{ .fd = c->pidfd, .events = POLLIN },
		{ .fd = c->out.fd, .events = POLLIN },
		{ .fd = c->errout.fd, .events = POLLIN },
	};

	if (c->deadline && ga_now_ms() >= c->deadline)
		return ga_fail(err, GA_EFATAL, "'%s' took longer than %u ms", j->name,
			       j->p.timeout_ms);
	if (poll(f, GA_NELEMS(f), ga_poll_timeout(c->deadline)) < 0 && errno != EINTR)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot wait for a process");
	if (drain_all(j, err))
		return -1;
	*gone = f[0].revents; /* it had ended before we read */
	return 0;
}

static int pump(struct ga_process_job *j, struct ga_error *err)
{
	bool gone = false;

	while (!gone)
		if (pump_once(j, &gone, err))
			return -1;
	return 0;
}

static int reap(struct child *c, int *ret_status, struct ga_error *err)
{
	int st;
	pid_t r = (pid_t)TEMP_FAILURE_RETRY(waitpid(c->pid, &st, 0));

	c->pid = 0;
	if (r < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot wait for a process");
	*ret_status = WIFSIGNALED(st) ? 128 + WTERMSIG(st) : WEXITSTATUS(st);
	return 0;
}

/* ---- from begin to end ------------------------------------------------------- */

static void job_free(struct ga_process_job *j)
{
	free(j->name);
	child_release(&j->c);
	free(j);
}

static struct ga_process_job *job_new(const struct ga_process *p)
{
	struct ga_process_job *j = ga_calloc(1, sizeof(*j));

	j->c = (struct child){
		.pidfd = -1, .in = -1, .keep = -1, .out = STREAM_INIT, .errout = STREAM_INIT,
	};
	j->p = *p;
	j->name = ga_escape(p->argv[0]);
	return j;
}

/* Start the timeout and open the pidfd. */
static int watch(struct ga_process_job *j, struct ga_error *err)
{
	if (j->p.timeout_ms)
		j->c.deadline = ga_now_ms() + j->p.timeout_ms;
	j->c.pidfd = (int)syscall(SYS_pidfd_open, j->c.pid, 0);
	return j->c.pidfd < 0
		? ga_fail_errno(err, GA_EFATAL, errno, "cannot watch a process") : 0;
}

int ga_process_begin(const struct ga_process *p, struct ga_process_job **ret, struct ga_error *err)
{
	struct ga_process_job *j = job_new(p);
	struct child *c = &j->c;

	ga_trace_run(p->argv);
	if (open_streams(p, c, err) || spawn(p, c, err)) {
		job_free(j);
		return -1;
	}
	/* our copies of the child's ends would keep the streams open */
	ga_cleanup_closep(&c->in);
	ga_cleanup_closep(&c->out.child);
	ga_cleanup_closep(&c->errout.child);
	if (watch(j, err)) {
		job_free(j);
		return -1;
	}
	*ret = j;
	return 0;
}

int ga_process_hand_over(struct ga_process_job *j, struct ga_buf *ret, struct ga_error *err)
{
	const int fds[] = { j->c.out.fd, j->c.errout.fd };

	ga_buf_addf(ret, "%d", (int)j->c.pid);
	for (size_t i = 0; i < GA_NELEMS(fds); i++) {
		if (fds[i] >= 0 && fcntl(fds[i], F_SETFD, 0))
			return ga_fail_errno(err, GA_EFATAL, errno, "cannot keep a descriptor");
		ga_buf_addf(ret, ",%d", fds[i]);
	}
	return 0;
}

/* Take our end of a pipe that was handed over, if any. */
static bool take_stream(const char **text, struct ga_buf *to, struct stream *s)
{
	int fd;

	if (!ga_parse_next_int(text, &fd) || (fd >= 0) != (to != NULL) || (to && fd <= 2) ||
	    (to && fcntl(fd, F_SETFD, FD_CLOEXEC)))
		return false;
	s->fd = fd;
	s->to = to;
	s->start = to ? to->len : 0;
	return true;
}

int ga_process_take_over(const char *text, const struct ga_process *p, struct ga_process_job **ret,
			 struct ga_error *err)
{
	struct ga_process_job *j = job_new(p);
	int pid, rc;

	if (!ga_parse_next_int(&text, &pid) || pid <= 0 ||
	    !take_stream(&text, p->out, &j->c.out) ||
	    !take_stream(&text, p->errout, &j->c.errout) || *text) {
		rc = ga_fail(err, GA_EFATAL, "cannot continue a process that has started");
	} else {
		j->c.pid = pid;
		rc = watch(j, err);
	}
	if (rc) {
		job_free(j);
		return -1;
	}
	*ret = j;
	return 0;
}

int ga_process_wait_for(struct ga_process_job *j, const char *text, struct ga_error *err)
{
	bool gone = false;

	while (!ga_ends_in_n(j->p.out->ptr, j->p.out->len, text)) {
		if (gone)
			return 0;
		if (pump_once(j, &gone, err))
			return -1;
	}
	return 1;
}

int ga_process_readable(struct ga_process_job *j, int fd, int64_t deadline, struct ga_error *err)
{
	struct pollfd f[] = { { .fd = fd, .events = POLLIN }, { .events = POLLIN } };

	do {
		f[1].fd = j->c.errout.fd;
		if (TEMP_FAILURE_RETRY(poll(f, GA_NELEMS(f), ga_poll_timeout(deadline))) < 0)
			return ga_fail_errno(err, GA_EFATAL, errno, "cannot wait for a process");
		if (!f[0].revents && !f[1].revents)
			return 0;
		if (drain(&j->c.errout, ERROUT_MAX, true, err))
			return -1;
	} while (!f[0].revents);
	return 1;
}

int ga_process_end(struct ga_process_job *j, int *ret_status, struct ga_error *err)
{
	int rc = pump(j, err);

	if (!rc && j->p.errout)
		keep_tail(&j->c.errout, ERROUT_MAX);
	if (!rc)
		rc = reap(&j->c, ret_status, err);
	job_free(j);
	return rc;
}

void ga_process_abandon(struct ga_process_job *j)
{
	if (j)
		job_free(j);
}

int ga_process_run(const struct ga_process *p, int *ret_status, struct ga_error *err)
{
	struct ga_process_job *j;

	return ga_process_begin(p, &j, err) ? -1 : ga_process_end(j, ret_status, err);
}

/* ---- where it is ----------------------------------------------------------- */

bool ga_is_program(const char *file)
{
	struct stat st;

	return !stat(file, &st) && S_ISREG(st.st_mode) && !access(file, X_OK);
}

char *ga_find_program(const char *path, const char *name)
{
	for (const char *p = path ? path : ""; *p; p += strspn(p, ":")) {
		size_t n = strcspn(p, ":");
		cleanup_free char *dir = ga_strndup(p, n), *file = ga_path_join(dir, name);

		if (dir[0] == '/' && ga_is_program(file))
			return ga_steal(&file);
		p += n;
	}
	return NULL;
}

const char *ga_environ_get(const char *const *env, const char *name)
{
	size_t n = strlen(name);

	for (; env && *env; env++)
		if (!strncmp(*env, name, n) && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

void ga_environ_put(struct ga_strv *env, const char *entry)
{
	size_t n = strcspn(entry, "=") + 1, kept = 0;

	for (size_t i = 0; i < env->n; i++) {
		if (strncmp(env->v[i], entry, n))
			env->v[kept++] = env->v[i];
		else
			free(env->v[i]);
	}
	env->n = kept;
	ga_strv_push(env, entry);
}

void ga_environ_set(struct ga_strv *env, const char *name, const char *value)
{
	cleanup_free char *entry = ga_strf("%s=%s", name, value);

	ga_environ_put(env, entry);
}
