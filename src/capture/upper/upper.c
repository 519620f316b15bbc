/* SPDX-License-Identifier: MIT
 *
 * Read an upper layer in a child, and transfer the result: one function for each type, by which the
 * child writes it and the parent reads it. Both are the same program, so numbers are passed in
 * memory order, strings with their length. The parent still checks bounds, since a child can be
 * killed in the middle of a record.
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/upper-internal.h"
#include "ga/base/clock.h"
#include "ga/base/trace.h"
#include "ga/capture/upper.h"
#include "ga/sys/fd.h"
#include "ga/sys/ns.h"

static void transfer(struct wire *w, void *p, size_t n)
{
	if (w->out) {
		ga_buf_add(w->b, p, n);
		return;
	}
	w->bad |= n > w->b->len - w->pos;
	if (w->bad) {
		memset(p, 0, n);
		return;
	}
	memcpy(p, w->b->ptr + w->pos, n);
	w->pos += n;
}

static uint64_t number(struct wire *w, uint64_t v)
{
	transfer(w, &v, sizeof(v));
	return v;
}

/* The number of records of at least `least` bytes each, which bounds it by the bytes there are. */
static size_t count(struct wire *w, size_t n, size_t least)
{
	n = number(w, n);
	w->bad |= !w->out && n > (w->b->len - w->pos) / least;
	return w->bad ? 0 : n;
}

/* May be NULL. The reader's is new. */
static void string(struct wire *w, char **s)
{
	uint64_t n = number(w, w->out && *s ? strlen(*s) + 1 : 0); /* 0: NULL */

	if (w->out) {
		ga_buf_adds(w->b, *s ? *s : "");
		return;
	}
	*s = NULL;
	w->bad |= n && (n - 1 > w->b->len - w->pos || memchr(w->b->ptr + w->pos, '\0', n - 1));
	if (!n || w->bad)
		return;
	*s = ga_strndup(w->b->ptr + w->pos, n - 1);
	w->pos += n - 1;
}

static void path(struct wire *w, char **s)
{
	string(w, s);
	w->bad |= !*s;
}

static void strv(struct wire *w, struct ga_strv *sv)
{
	size_t n = count(w, sv->n, sizeof(uint64_t));

	for (size_t i = 0; i < n && !w->bad; i++) {
		char *s = w->out ? sv->v[i] : NULL;

		path(w, &s);
		if (!w->out && s)
			ga_strv_take(sv, s);
	}
}

static void changes(struct wire *w, struct ga_changes *l)
{
	size_t n = count(w, l->n, sizeof(uint64_t) + 2 * sizeof(struct ga_entry));

	for (size_t i = 0; i < n && !w->bad; i++) {
		struct ga_change c = w->out ? l->v[i] : (struct ga_change){ .path = NULL };

		path(w, &c.path);
		transfer(w, &c.old, sizeof(c.old));
		transfer(w, &c.new, sizeof(c.new));
		if (w->out)
			continue;
		if (!w->bad)
			(void)ga_changes_add(l, c.path, &c.old, &c.new);
		free(c.path);
	}
}

static enum ga_leftover_kind kind(struct wire *w, enum ga_leftover_kind k)
{
	uint64_t v = number(w, (uint64_t)k);

	w->bad |= v > GA_LEFTOVER_LIMIT;
	return (enum ga_leftover_kind)v;
}

static void left(struct wire *w, struct ga_leftovers *l)
{
	size_t n = count(w, l->n, 4 * sizeof(uint64_t));

	for (size_t i = 0; i < n && !w->bad; i++) {
		struct ga_leftover e = w->out ? l->v[i] : (struct ga_leftover){ .path = NULL };

		path(w, &e.path);
		e.kind = kind(w, e.kind);
		e.count = number(w, e.count);
		e.bytes = number(w, e.bytes);
		if (w->out)
			continue;
		if (!w->bad)
			ga_leftovers_add(l, e.path, e.kind, e.count, e.bytes);
		free(e.path);
	}
}

void wire_result(struct wire *w, struct ga_upper_result *r)
{
	transfer(w, &r->tree, sizeof(r->tree));
	changes(w, &r->changes);
	left(w, &r->left);
	strv(w, &r->newly_ignored);
	strv(w, &r->newly_ignored_by);
	w->bad |= r->newly_ignored.n != r->newly_ignored_by.n;
	strv(w, &r->set_id);
	strv(w, &r->linked);
	strv(w, &r->notes);
	string(w, &r->keep);
	r->met = number(w, r->met);
}

static void wire_listed(struct wire *w, struct ga_upper_files *f)
{
	f->bytes = number(w, f->bytes);
	strv(w, &f->open);
	strv(w, &f->closed);
	strv(w, &f->barred);
	strv(w, &f->unsure);
}

void wire_error(struct wire *w, struct ga_error *err)
{
	uint64_t code = number(w, (uint64_t)err->code);
	char *msg = err->msg, *hint = err->hint;

	path(w, &msg);
	string(w, &hint);
	w->bad |= code == GA_OK || code > GA_EUSAGE;
	if (w->out)
		return;
	*err = (struct ga_error){ .code = (enum ga_code)code, .msg = msg, .hint = hint };
	if (w->bad)
		ga_error_release(err);
}

#define MAX_ANSWER ((size_t)2 << 30) /* of the child's answer: some 10 million changes */
#define CHUNK ((size_t)64 << 10)
#define PIPE_SIZE (512 << 10)

void ga_upper_result_release(struct ga_upper_result *r)
{
	if (r->reader > 0)
		(void)TEMP_FAILURE_RETRY(waitpid(r->reader, NULL, 0));
	ga_changes_release(&r->changes);
	ga_leftovers_release(&r->left);
	ga_strv_release(&r->newly_ignored);
	ga_strv_release(&r->newly_ignored_by);
	ga_strv_release(&r->set_id);
	ga_strv_release(&r->linked);
	ga_strv_release(&r->notes);
	free(r->keep);
	*r = (struct ga_upper_result)GA_UPPER_RESULT_INIT;
}

void ga_upper_files_release(struct ga_upper_files *f)
{
	ga_strv_release(&f->open);
	ga_strv_release(&f->closed);
	ga_strv_release(&f->barred);
	ga_strv_release(&f->unsure);
}

/* ---- the child --------------------------------------------------------- */

enum answer { ANSWER_OK, ANSWER_CONVERT, ANSWER_FAILED };
#define ANSWER_END '.' /* the last byte of a complete answer */

/* What the child does. Returns 0, 1 (content must be converted) or -1. */
typedef int work_fn(void *arg, struct wire *out, struct ga_error *err);
struct child_job {
	work_fn *fn;
	void *arg;
	uint64_t seconds; /* after that time it is killed: GA_UPPER_LATE */
	void (*meanwhile)(void *payload); /* called in the parent when the child has begun; or
					   * NULL */
	void *payload;
	pid_t *ret_pid; /* if not NULL, the caller waits for its end after the answer */
};

static void child(work_fn *fn, void *arg, int fd) __attribute__((noreturn));
static void child(work_fn *fn, void *arg, int fd)
{
	struct ga_error err = GA_ERROR_INIT;
	struct ga_buf out = GA_BUF_INIT;
	struct wire w = { .b = &out, .out = true };
	unsigned char answer = ANSWER_FAILED;
	int rc = 0;

	/* Root can read everything anyway, but not in a user namespace that maps a single id: the
	 * owners of most files are not mapped there. */
	if (geteuid())
		rc = ga_ns_enter_user(&err);
	/* after the change of credentials, since that clears it */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!rc)
		rc = fn(arg, &w, &err);
	if (rc < 0) {
		ga_buf_clear(&out);
		wire_error(&w, &err);
	} else {
		answer = rc ? ANSWER_CONVERT : ANSWER_OK;
	}
	ga_buf_addch(&out, ANSWER_END);
	if (ga_write_full(fd, &answer, 1) || ga_write_full(fd, out.ptr, out.len))
		_exit(1);
	/* Now, so that the parent has the answer before we exit, which takes a while. Before it all
	 * others: should the parent be killed, the session's lock is not held by us. */
	if (fd > 3)
		(void)syscall(SYS_close_range, 3u, (unsigned)fd - 1, 0u);
	(void)syscall(SYS_close_range, (unsigned)fd + 1, ~0u, 0u);
	(void)ga_fault("capture:answered");
	(void)close(fd);
	_exit(0);
}

static int reap(pid_t pid, struct ga_error *err)
{
	int status;

	if (TEMP_FAILURE_RETRY(waitpid(pid, &status, 0)) < 0)
		return ga_fail_errno(err, GA_EFATAL, errno,
				     "cannot wait for the reader of the upper layer");
	if (WIFSIGNALED(status))
		return ga_fail(err, GA_EFATAL,
			       "the reader of the upper layer was killed by signal %d",
			       WTERMSIG(status));
	if (WEXITSTATUS(status))
		return ga_fail(err, GA_EFATAL, "no reply from the reader of the upper layer");
	return 0;
}

/* Read everything until the end of file. Returns GA_UPPER_LATE if that does not come in time. */
static int read_answer(int fd, int64_t deadline, struct ga_buf *ret, struct ga_error *err)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	ssize_t n = 1;

	while (n) {
		int rc = poll(&p, 1, ga_poll_timeout(deadline));

		if (!rc)
			return GA_UPPER_LATE;
		n = rc < 0 ? -1 : read(fd, ga_buf_reserve(ret, CHUNK), CHUNK);
		if (n < 0 && errno != EINTR)
			return ga_fail_errno(err, GA_EFATAL, errno,
					     "cannot read the reply about the upper layer");
		ret->len += n > 0 ? (size_t)n : 0;
		if (ret->len > MAX_ANSWER)
			return ga_fail(err, GA_EFATAL, "the upper layer has more changes than can "
						       "be handled");
	}
	return 0;
}

static bool is_whole(const struct ga_buf *answer)
{
	return answer->len > 1 && answer->ptr[answer->len - 1] == ANSWER_END;
}

/* Run it in a child, which can read files whatever their mode, and get its answer into the empty
 * `b`, to be read from `ret`. */
static int run_in_child(const struct child_job *j, struct ga_buf *b, struct wire *ret,
			struct ga_error *err)
{
	cleanup_error struct ga_error read_err = GA_ERROR_INIT, killed = GA_ERROR_INIT;
	int64_t deadline = ga_now_ms() + (int64_t)j->seconds * 1000;
	cleanup_close int in = -1, out = -1;
	int fds[2], rc;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot make a pipe");
	/* so that the child can write its answer and exit without waiting for us */
	(void)fcntl(fds[0], F_SETPIPE_SZ, PIPE_SIZE);
	in = fds[0];
	out = fds[1];
	pid = fork();
	if (pid < 0)
		return ga_fail_errno(err, GA_EFATAL, errno,
				     "cannot start the reader of the upper layer");
	if (!pid)
		child(j->fn, j->arg, out);
	(void)close(ga_steal_fd(&out));
	if (j->meanwhile) {
		int64_t before = ga_now_ms();

		/* the time this took is not the reader's */
		j->meanwhile(j->payload);
		deadline += ga_now_ms() - before;
	}
	rc = read_answer(in, deadline, b, &read_err);
	if (rc)
		(void)kill(pid, SIGKILL);
	if (!rc && j->ret_pid && is_whole(b))
		*j->ret_pid = pid;
	else if (reap(pid, rc ? &killed : err) && !rc)
		return -1;
	if (rc)
		return rc < 0 ? ga_error_move(err, &read_err) : rc;
	if (is_whole(b))
		ga_buf_truncate(b, b->len - 1);
	*ret = (struct wire){ .b = b, .pos = 1 };
	if (b->len && b->ptr[0] == ANSWER_OK)
		return 0;
	if (b->len && b->ptr[0] == ANSWER_CONVERT)
		return 1;
	if (b->len && b->ptr[0] == ANSWER_FAILED)
		wire_error(ret, err);
	return err->msg ? -1 : ga_fail(err, GA_EFATAL,
				       "no reply from the reader of the upper layer");
}

static int fail_incomplete(struct ga_error *err)
{
	return ga_fail(err, GA_EFATAL, "incomplete reply from the reader of the upper layer");
}

/* ---- what is done in it ------------------------------------------------ */

struct job {
	struct ga_repo *repo;
	const struct ga_upper_opts *o;
	bool list;
};

static int open_layer(const char *path, struct ga_error *err)
{
	int fd = open(path, WALK_OPEN_FLAGS | O_DIRECTORY);

	if (fd < 0)
		return ga_fail_path(err, errno, "open the layer", path);
	return fd;
}

/* Is the layer empty? Then no child is needed to read it. */
static bool is_empty_layer(const char *layer)
{
	cleanup_close int fd = open(layer, WALK_OPEN_FLAGS | O_DIRECTORY);
	cleanup_strv struct ga_strv names = GA_STRV_INIT;

	return fd >= 0 && !read_names(fd, 1, &names) && !names.n;
}

static void walk_release(struct walk *w)
{
	ga_ignore_release(&w->final);
	ga_ignore_release(&w->base);
	rules_release(&w->overrides);
	ga_strv_release(&w->kept);
	free(w->stopped_at);
	for (size_t i = 0; i < GA_NELEMS(w->judged); i++)
		ga_oidmap_release(&w->judged[i]);
	ga_buf_release(&w->path);
	ga_buf_release(&w->data);
	ga_pack_free(w->pack);
	ga_upper_result_release(w->res);
	ga_cleanup_closep(&w->lower_fd);
	ga_cleanup_closep(&w->extras_fd);
}

/* Make the tree and its objects. Returns 1 if content must be converted first. */
static int finish(struct walk *w)
{
	struct ga_upper_result *res = w->res;

	if (w->convert)
		return 1;
	if (w->met.limited > LIMITS_NAMED)
		ga_strv_pushf(&res->notes,
			      "%zu more entries are beyond a limit, and stay in the session",
			      w->met.limited - LIMITS_NAMED);
	if (w->met.refused > LIMITS_NAMED)
		ga_strv_pushf(&res->notes, "%zu more files that git refuses stay in the session",
			      w->met.refused - LIMITS_NAMED);
	if (add_unvisited(w))
		return -1;
	if (!res->changes.n)
		res->tree = *w->o->base_tree;
	else if (ga_tree_apply(w->repo, w->pack, w->o->base_tree, &res->changes, &res->tree,
			       w->err))
		return -1;
	if (ga_pack_commit(w->pack, &res->keep, w->err))
		return -1;
	w->pack = NULL;
	ga_leftovers_sort(&res->left);
	return 0;
}

static int prepare(struct walk *w, const struct job *j)
{
	const char *host = j->o->host_excludes ? j->o->host_excludes : "";

	rules_init(&w->overrides, j->repo, j->o->base_tree, host, j->o->icase,
		   w->limits->rules_size);
	ga_ignore_push(&w->final, NULL, host, strlen(host));
	ga_ignore_push(&w->base, NULL, host, strlen(host));
	if (j->o->extras)
		w->extras_fd = open(j->o->extras, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (j->o->extras && w->extras_fd < 0 && errno != ENOENT)
		return ga_fail_path(w->err, errno, "open", j->o->extras);
	w->overrides.user = w->extras_fd;
	if (!j->list && ga_pack_begin(j->repo, &w->pack, w->err))
		return -1;
	if (!j->o->lower)
		return 0;
	w->lower_fd = open_layer(j->o->lower, w->err);
	return w->lower_fd < 0 ? -1 : 0;
}

static int do_walk(void *arg, struct wire *out, struct ga_error *err)
{
	struct job *j = arg;
	struct ga_upper_result res = GA_UPPER_RESULT_INIT;
	cleanup_(ga_upper_files_release) struct ga_upper_files list = GA_UPPER_FILES_INIT;
	cleanup_close int fd = open_layer(j->o->upper, err);
	cleanup_(walk_release) struct walk w = {
		.repo = j->repo,
		.o = j->o,
		.limits = j->o->limits,
		.list = j->list ? &list : NULL,
		.res = &res,
		.final = { .icase = j->o->icase },
		.base = { .icase = j->o->icase },
		.path = GA_BUF_INIT,
		.data = GA_BUF_INIT,
		.lower_fd = -1,
		.extras_fd = -1,
		.err = err,
	};
	int rc;

	ga_progress_begin(&w.progress, j->o->progress ? j->o->progress_delay_ms : GA_PROGRESS_NEVER,
			  j->list ? "Looking through changed files" : "Capturing files", 0);
	if (fd < 0 || prepare(&w, j) || walk_upper(&w, fd))
		return -1;
	ga_progress_end(&w.progress);
	if (j->list) {
		struct ga_strv *const all[] = { &list.open, &list.closed, &list.barred,
						&list.unsure };

		for (size_t i = 0; i < GA_NELEMS(all); i++)
			ga_strv_sort_unique(all[i]);
		wire_listed(out, &list);
		return 0;
	}
	rc = finish(&w);
	if (rc)
		return rc;
	wire_result(out, &res);
	ga_batch_export(j->repo, out->b);
	return 0;
}

int ga_upper_capture(struct ga_repo *r, const struct ga_upper_opts *o, struct ga_upper_result *ret,
		     struct ga_error *err)
{
	struct job j = { r, o, false };
	cleanup_buf struct ga_buf answer = GA_BUF_INIT;
	cleanup_(ga_upper_result_release) struct ga_upper_result res = GA_UPPER_RESULT_INIT;
	struct child_job child = { do_walk, &j, o->limits->read_time, o->meanwhile, o->payload,
				   &res.reader };
	struct wire w;
	int rc;

	if ((!o->tracked || ga_oid_equal(o->tracked, o->base_tree)) && is_empty_layer(o->upper)) {
		*ret = (struct ga_upper_result){ .tree = *o->base_tree };
		return 0;
	}
	/* so that the child's memory has only its own objects */
	if (ga_batch_flush(r, err))
		return -1;
	rc = run_in_child(&child, &answer, &w, err);
	if (rc)
		return rc;
	wire_result(&w, &res);
	rc = w.bad ? fail_incomplete(err)
		   : ga_batch_import(r, answer.ptr + w.pos, answer.len - w.pos, err);
	if (rc)
		return -1;
	*ret = res;
	res = (struct ga_upper_result)GA_UPPER_RESULT_INIT;
	return 0;
}

int ga_upper_list(struct ga_repo *r, const struct ga_upper_opts *o, struct ga_upper_files *ret,
		  struct ga_error *err)
{
	struct job j = { r, o, true };
	struct child_job child = { do_walk, &j, o->limits->read_time, NULL, NULL, NULL };
	cleanup_buf struct ga_buf answer = GA_BUF_INIT;
	struct wire w;
	int rc = run_in_child(&child, &answer, &w, err);

	if (rc)
		return rc;
	wire_listed(&w, ret);
	return w.bad ? fail_incomplete(err) : 0;
}

/* ---- counting ---------------------------------------------------------- */

struct count_job {
	const char *upper, *path;
	const struct ga_limits *limits;
};

static int do_count(void *arg, struct wire *out, struct ga_error *err)
{
	struct count_job *j = arg;
	struct ga_upper_result res = GA_UPPER_RESULT_INIT;
	cleanup_close int fd = open_layer(j->upper, err);
	struct walk w = { .limits = j->limits, .res = &res, .path = GA_BUF_INIT, .lower_fd = -1,
			  .extras_fd = -1, .err = err };

	if (fd < 0)
		return -1;
	ga_buf_adds(&w.path, j->path);
	walk_count(&w, fd);
	wire_result(out, &res);
	ga_buf_release(&w.path);
	ga_upper_result_release(&res);
	return 0;
}

int ga_upper_count(const char *upper, const char *path, const struct ga_limits *limits,
		   struct ga_upper_result *ret, struct ga_error *err)
{
	struct count_job j = { upper, path, limits };
	struct child_job child = { do_count, &j, limits->read_time, NULL, NULL, NULL };
	cleanup_buf struct ga_buf answer = GA_BUF_INIT;
	cleanup_(ga_upper_result_release) struct ga_upper_result res = GA_UPPER_RESULT_INIT;
	struct wire w;
	int rc;

	if (is_empty_layer(upper))
		return 0;
	rc = run_in_child(&child, &answer, &w, err);
	if (rc)
		return rc;
	wire_result(&w, &res);
	if (w.bad)
		return fail_incomplete(err);
	ga_leftovers_extend(&ret->left, &res.left);
	ga_strv_extend(&ret->notes, &res.notes);
	ret->met |= res.met;
	return 0;
}
