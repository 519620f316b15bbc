/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include <git2/sys/repository.h>

#include "ga/base/clock.h"
#include "ga/base/out.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/repo/import.h"
#include "ga/sys/fd.h"
#include "repo/objects-internal.h"

#define CHUNK ((size_t)64 << 10)
/* Greatest size of a tree or commit: a tree of a million entries fits. */
#define TREE_MAX ((size_t)64 << 20)

/* git's memory: for itself, and for each object; and the size of the largest object that it makes
 * deltas of. */
#define MEMORY_MIN ((uint64_t)256 << 20)
#define MEMORY_OBJECT 512
#define WHOLE_MAX ((uint64_t)512 << 20)

struct ga_import {
	struct ga_repo *r;
	struct ga_import_limits l;
	int64_t deadline;
	enum ga_import_over over;
	struct ga_quarantine *q;
	git_odb *saved; /* the handle's own database, while it reads through the quarantine */
	int64_t progress_delay_ms;
};

int ga_import_begin(struct ga_repo *r, const struct ga_import_limits *l, int64_t progress_delay_ms,
		    struct ga_import **ret, struct ga_error *err)
{
	struct ga_quarantine *q;
	struct ga_import *im;

	if (r->quarantine)
		GA_BUG("two imports at once");
	if (ga_quarantine_begin(r, &q, err))
		return -1;
	im = ga_calloc(1, sizeof(*im));
	*im = (struct ga_import){ .r = r,
				  .l = *l,
				  .q = q,
				  .deadline = ga_now_ms() + l->timeout_ms,
				  .progress_delay_ms = progress_delay_ms };
	*ret = im;
	return 0;
}

uint64_t ga_import_memory(const struct ga_import_limits *l)
{
	uint64_t whole = l->max_object_bytes < WHOLE_MAX ? l->max_object_bytes : WHOLE_MAX;

	return MEMORY_MIN + (uint64_t)l->max_objects * MEMORY_OBJECT + 3 * whole;
}

enum ga_import_over ga_import_over(const struct ga_import *im)
{
	return im->over;
}

/* Refuse because a limit was exceeded. Returns 1. */
static int refuse_limit(struct ga_import *im, enum ga_import_over which, const char *reason,
			char **ret_reason)
{
	im->over = which;
	*ret_reason = ga_strdup(reason);
	return 1;
}

/* Refuse if time is up. Returns 1 then. */
static int check_time(struct ga_import *im, char **ret_reason)
{
	return ga_now_ms() < im->deadline
		       ? 0
		       : refuse_limit(im, GA_IMPORT_TIME, GA_IMPORT_LATE, ret_reason);
}

/* Restore the handle's own object database: with a removed directory among its alternates libgit2
 * no longer finds new objects. */
static void restore_odb(struct ga_import *im)
{
	if (!im->saved)
		return;
	(void)git_repository_set_odb(im->r->repo, im->saved);
	if (im->r->own == im->r->odb)
		im->r->own = im->saved;
	git_odb_free(im->r->odb);
	im->r->odb = im->saved;
	im->r->quarantine = NULL;
	im->saved = NULL;
}

void ga_import_free(struct ga_import *im)
{
	if (!im)
		return;
	restore_odb(im);
	ga_quarantine_free(im->q);
	free(im);
}

/* ---- the stream ------------------------------------------------------------------- */

/* Wait for bytes or the end of the stream. Returns 0, 1 when time is up, -1 with errno. */
static int wait_for(int fd, int64_t deadline)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	while (ga_now_ms() < deadline) {
		int rc = poll(&p, 1, ga_poll_timeout(deadline));

		if (rc > 0)
			return 0;
		if (rc < 0 && errno != EINTR)
			return -1;
	}
	return 1;
}

static int spool(struct ga_import *im, int from, int to, uint64_t *ret_size, char **ret_reason,
		 struct ga_error *err)
{
	cleanup_free char *buf = ga_malloc(CHUNK);
	uint64_t size = 0;

	for (;;) {
		int rc = wait_for(from, im->deadline);
		ssize_t got = rc ? -1 : read(from, buf, CHUNK);

		if (rc > 0)
			return refuse_limit(im, GA_IMPORT_TIME, "the pack took too long to arrive",
					    ret_reason);
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (got < 0)
			return ga_fail_errno(err, GA_EFATAL, errno, "cannot read a pack");
		if (!got)
			break;
		size += (size_t)got;
		if (size > im->l.max_pack_bytes)
			return refuse_limit(im, GA_IMPORT_PACK_BYTES, "the pack is too large",
					    ret_reason);
		if (ga_write_full(to, buf, (size_t)got))
			return ga_fail_errno(err, GA_EFATAL, errno, "cannot write a pack");
	}
	*ret_size = size;
	return 0;
}

/* The first line is fsck's message about an object, the last only reports that git failed. */
static char *first_error_line(const struct ga_buf *errout)
{
	static const char mark[] = "error: ";
	const char *line = strstr(errout->ptr, mark);
	cleanup_buf struct ga_buf out = GA_BUF_INIT;

	if (!line)
		return NULL;
	line += sizeof(mark) - 1;
	ga_quote_add(&out, line, strcspn(line, "\n"));
	return ga_buf_steal(&out);
}

/* Run git with the quarantine as its object directory. Any failure is a reason to refuse: whether
 * time is up or objects are bad, the caller continues without these commits and loses nothing. */
static int run_git(struct ga_import *im, const struct ga_git *what, char **ret_reason)
{
	struct ga_git g = *what;
	cleanup_error struct ga_error e = GA_ERROR_INIT;
	cleanup_buf struct ga_buf errout = GA_BUF_INIT;
	int64_t left = im->deadline - ga_now_ms();

	if (left <= 0)
		return check_time(im, ret_reason);
	g.errout = &errout;
	g.object_dir = im->q->path;
	g.timeout_ms = (unsigned)left;
	if (!ga_git_ok(im->r, &g, &e))
		return 0;
	if (check_time(im, ret_reason))
		return 1;
	*ret_reason = first_error_line(&errout);
	if (!*ret_reason)
		*ret_reason = ga_strdup(e.msg);
	return 1;
}

static int index_pack(struct ga_import *im, int fd, char **ret_reason, struct ga_error *err)
{
	cleanup_free char *max = ga_strf("--max-input-size=%llu",
					 (unsigned long long)im->l.max_pack_bytes);
	static const char *const config[] = { GA_IMPORT_CONFIG, NULL };
	/* --strict also wants every object that one names, of which a partial clone may lack some;
	 * list_objects() tells those from others, as git's own fetch does */
	const char *const args[] = { "index-pack",
				     ga_repo_is_partial(im->r) ? "--fsck-objects" : "--strict",
				     "--stdin", max, NULL };
	struct ga_git g = GA_GIT(.args = args, .config = config,
				 .max_memory = ga_import_memory(&im->l));

	if (lseek(fd, 0, SEEK_SET) < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot read a pack");
	g.in_fd = fd;
	return run_git(im, &g, ret_reason);
}

int ga_import_pack(struct ga_import *im, int fd, char **ret_reason, struct ga_error *err)
{
	cleanup_free char *path = ga_path_join(im->q->path, "stream");
	cleanup_close int file = -1;
	uint64_t size = 0;
	int rc;

	file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot write a pack");
	(void)unlink(path);
	rc = spool(im, fd, file, &size, ret_reason, err);
	if (!rc)
		rc = ga_import_scan(file, size, &im->l, im->deadline, im->progress_delay_ms,
				    &im->over, ret_reason, err);
	return rc ? rc : index_pack(im, file, ret_reason, err);
}

/* ---- every object --------------------------------------------------------------------- */

struct walk {
	struct ga_import *im;
	git_odb *odb;       /* the quarantine alone */
	char *reason;
};

static int judge_bytes(struct walk *w, const git_oid *id, git_object_t type)
{
	cleanup_odb_object git_odb_object *o = NULL;
	const char *data;
	size_t n;

	if (git_odb_read(&o, w->odb, id))
		return -1;
	data = git_odb_object_data(o);
	n = git_odb_object_size(o);
	w->reason = type == GIT_OBJECT_TREE ? ga_import_judge_tree(data, n) :
					      ga_import_judge_commit(data, n);
	return w->reason ? -1 : 0;
}

static int judge_object(const git_oid *id, void *data)
{
	struct walk *w = data;
	git_object_t type;
	size_t size;

	if (git_odb_read_header(&size, &type, w->odb, id))
		return -1;
	if (check_time(w->im, &w->reason))
		return -1;
	if (size > w->im->l.max_object_bytes)
		(void)refuse_limit(w->im, GA_IMPORT_OBJECT_BYTES, "an object is too large",
				   &w->reason);
	else if (type != GIT_OBJECT_BLOB && size > TREE_MAX)
		w->reason = ga_strdup("a tree or commit is too large");
	else if (type == GIT_OBJECT_TREE || type == GIT_OBJECT_COMMIT)
		return judge_bytes(w, id, type);
	else if (type != GIT_OBJECT_BLOB)
		w->reason = ga_strdup("there is a tag object");
	return w->reason ? -1 : 0;
}

static int judge_all(struct ga_import *im, char **ret_reason, struct ga_error *err)
{
	struct walk w = { .im = im };
	int rc;

	if (git_odb_open(&w.odb, im->q->path))
		return ga_fail_git(err, "cannot read imported objects");
	rc = git_odb_foreach(w.odb, judge_object, &w);
	if (rc && !w.reason)
		(void)ga_fail_git(err, "cannot read imported objects");
	git_odb_free(w.odb);
	*ret_reason = w.reason;
	return w.reason ? 1 : rc ? -1 : 0;
}

/* ---- connectivity and size -------------------------------------------------------------- */

static int attach_odb(struct ga_import *im, struct ga_error *err)
{
	cleanup_free char *common = ga_path_join(im->r->info.commondir, "objects");
	git_odb *odb = NULL;

	if (im->saved)
		return 0;
	if (git_odb_open(&odb, im->q->objects) || git_odb_add_disk_alternate(odb, im->q->path) ||
	    (im->r->private && git_odb_add_disk_alternate(odb, common)) ||
	    git_repository_set_odb(im->r->repo, odb)) {
		(void)ga_fail_git(err, "cannot read imported objects");
		git_odb_free(odb);
		return -1;
	}
	im->saved = im->r->odb;
	if (im->r->own == im->saved)
		im->r->own = odb;
	im->r->odb = odb;
	im->r->quarantine = im->q->path;
	return 0;
}

static int check_tips(struct ga_import *im, const struct ga_oid *tips, size_t n, char **ret_reason)
{
	for (size_t i = 0; i < n; i++) {
		git_oid id = ga_to_git_oid(&tips[i]);
		git_object_t type;
		size_t size;

		if (git_odb_read_header(&size, &type, im->r->odb, &id))
			*ret_reason = ga_strf("commit %s is missing", GA_HEX(&tips[i]));
		else if (type != GIT_OBJECT_COMMIT)
			*ret_reason = ga_strf("%s is not a commit", GA_HEX(&tips[i]));
		else
			continue;
		return 1;
	}
	return 0;
}

static int new_commits(struct ga_import *im, const struct ga_buf *revs, struct ga_buf *ret,
		       char **ret_reason)
{
	cleanup_free char *max = ga_strf("--max-count=%lu", (unsigned long)im->l.max_commits + 1);
	const char *const args[] = { "rev-list", max, "--stdin", NULL };
	struct ga_git g = GA_GIT(.args = args, .in = revs->ptr, .in_len = revs->len, .out = ret);

	if (run_git(im, &g, ret_reason))
		return 1;
	if (ret->len / (GA_OID_HEXSZ + 1) <= im->l.max_commits)
		return 0;
	return refuse_limit(im, GA_IMPORT_COMMITS, "there are too many commits", ret_reason);
}

static const char *too_much(const struct ga_tree_size *size, const struct ga_tree_size *limit)
{
	if (size->longest > limit->longest)
		return "has a path longer than any system takes";
	if (size->paths > limit->paths || size->bytes > limit->bytes)
		return "has too many paths";
	return "has directories nested too deep";
}

/* Limit the paths of the new commits: later readers make lists of them in memory. */
static int measure_commits(struct ga_import *im, const struct ga_buf *commits,
			   const struct ga_oid *base, char **ret_reason, struct ga_error *err)
{
	struct ga_tree_size limit = { .paths = im->l.max_paths, .bytes = im->l.max_path_bytes,
				      .longest = PATH_MAX - 1 };
	uint64_t all = 0;
	struct ga_oid from;

	if (ga_commit_tree(im->r, base, &from, err))
		return -1;
	for (const char *p = commits->ptr; *p; p += GA_OID_HEXSZ + 1) {
		struct ga_tree_size size;
		struct ga_oid id, tree;
		int rc;

		if (check_time(im, ret_reason))
			return 1;
		if (!ga_oid_parse(p, GA_OID_HEXSZ, &id))
			return ga_fail(err, GA_EFATAL, "git rev-list printed no commit");
		if (ga_commit_tree(im->r, &id, &tree, err))
			return -1;
		rc = ga_tree_measure(im->r, &from, &tree, &limit, &size, err);
		all += size.paths;
		if (rc > 0) {
			if (size.paths > limit.paths || size.bytes > limit.bytes)
				im->over = GA_IMPORT_PATHS;
			*ret_reason = ga_strf("commit %s %s", GA_HEX(&id), too_much(&size, &limit));
		} else if (!rc && all > im->l.max_all_paths) {
			(void)refuse_limit(im, GA_IMPORT_PATHS,
					   "the commits have too many paths together", ret_reason);
		}
		if (rc || *ret_reason)
			return rc < 0 ? -1 : 1;
	}
	return 0;
}

/* List all objects that these revisions reach, and perhaps some that a hidden one does. Each is
 * looked up, which checks connectivity as fetch and receive-pack do. In a partial clone objects
 * that the promisor remote owes do not count as missing. */
static int list_objects(struct ga_import *im, const struct ga_buf *revs, struct ga_buf *ret,
			char **ret_reason)
{
	const char *const args[] = { "rev-list",
				     "--objects",
				     ret ? "--no-object-names" : "--quiet",
				     "--stdin",
				     ga_repo_is_partial(im->r) ? "--exclude-promisor-objects"
							       : NULL,
				     NULL };
	struct ga_git g = GA_GIT(.args = args, .in = revs->ptr, .in_len = revs->len, .out = ret);

	return run_git(im, &g, ret_reason);
}

static int check(struct ga_import *im, const struct ga_oid *tips, size_t n_tips,
		 const struct ga_oid *hide, size_t n_hide, char **ret_reason, struct ga_error *err)
{
	cleanup_buf struct ga_buf revs = GA_BUF_INIT, commits = GA_BUF_INIT;
	int rc = judge_all(im, ret_reason, err);

	if (rc)
		return rc;
	if (attach_odb(im, err))
		return -1;
	ga_rev_input(tips, n_tips, hide, n_hide, &revs);
	if (check_tips(im, tips, n_tips, ret_reason) ||
	    new_commits(im, &revs, &commits, ret_reason) ||
	    list_objects(im, &revs, NULL, ret_reason))
		return 1;
	return n_hide ? measure_commits(im, &commits, &hide[0], ret_reason, err) : 0;
}

int ga_import_check(struct ga_import *im, const struct ga_oid *tips, size_t n_tips,
		    const struct ga_oid *hide, size_t n_hide, char **ret_reason,
		    struct ga_error *err)
{
	int rc = check(im, tips, n_tips, hide, n_hide, ret_reason, err);

	if (rc)
		restore_odb(im);
	return rc;
}

static int find_absent(struct ga_import *im, const struct ga_buf *list, struct ga_oidmap *ret,
		       struct ga_error *err)
{
	git_odb *odb;

	if (git_odb_open(&odb, im->q->path))
		return ga_fail_git(err, "cannot read imported objects");
	for (const char *p = list->ptr; *p; p += GA_OID_HEXSZ + 1) {
		struct ga_oid oid;
		git_oid id;

		if (!ga_oid_parse(p, GA_OID_HEXSZ, &oid))
			break;
		id = ga_to_git_oid(&oid);
		if (!git_odb_exists(odb, &id))
			(void)ga_oidmap_add(ret, &oid, 0);
	}
	git_odb_free(odb);
	return 0;
}

int ga_import_check_origin(struct ga_import *im, const struct ga_oid *tips, size_t n_tips,
			   const struct ga_oid *known, size_t n_known, char **ret_reason,
			   struct ga_error *err)
{
	cleanup_buf struct ga_buf list = GA_BUF_INIT, all = GA_BUF_INIT, revs = GA_BUF_INIT;
	cleanup_buf struct ga_buf known_revs = GA_BUF_INIT;
	cleanup_oidmap struct ga_oidmap absent = GA_OIDMAP_INIT;
	size_t found = 0;

	ga_rev_input(tips, n_tips, known, n_known, &revs);
	ga_rev_input(known, n_known, NULL, 0, &known_revs);
	if (list_objects(im, &revs, &list, ret_reason))
		return 1;
	if (find_absent(im, &list, &absent, err))
		return -1;
	/* git leaves out only what the tips of `known` have: a file restored to an old version of
	 * their history need not be in the pack */
	if (absent.n && list_objects(im, &known_revs, &all, ret_reason))
		return 1;
	for (const char *p = all.ptr; absent.n && *p; p += GA_OID_HEXSZ + 1) {
		struct ga_oid oid;

		if (!ga_oid_parse(p, GA_OID_HEXSZ, &oid))
			break;
		found += ga_oidmap_get(&absent, &oid, NULL);
	}
	if (found == absent.n)
		return 0;
	*ret_reason = ga_strdup("it refers to objects that are here, and did not come with it");
	return 1;
}

int ga_import_migrate(struct ga_import *im, struct ga_strv *keeps, struct ga_error *err)
{
	restore_odb(im);
	return ga_quarantine_migrate(im->r, im->q, keeps, err);
}
