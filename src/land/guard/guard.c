/* SPDX-License-Identifier: MIT */
#include "ga/repo/history.h"
#include "guard-internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/repo/objects.h"
#include "ga/repo/refs.h"
#include "ga/review/review.h"
#include "ga/session/session.h"
#include "ga/sys/fd.h"

#define COMMITS_MAX 2000000 /* of one session: more than limits.capture.commits can be set to */

struct undecided {
	struct ga_strv lines;   /* entries, as `git ls-tree -r` prints them */
	struct ga_strv decided; /* those that were accepted in any session */
	struct ga_strv paths;
	struct ga_strv commits;
	size_t flags, sessions;
};

static void undecided_release(struct undecided *u)
{
	ga_strv_release(&u->lines);
	ga_strv_release(&u->decided);
	ga_strv_release(&u->paths);
	ga_strv_release(&u->commits);
}

/* A deleted path is in no tree, so there is nothing that the hooks could look for. */
static void add_entry(struct undecided *u, const struct ga_flag *f)
{
	bool accepted = f->verdict == GA_VERDICT_ACCEPTED;
	cleanup_buf struct ga_buf path = GA_BUF_INIT;
	const char *quote;

	if (f->entry.mode == GA_MODE_NONE || !*f->path)
		return;
	quote = ga_quote_git_add(&path, f->path) ? "\"" : "";
	ga_strv_pushf(accepted ? &u->decided : &u->lines, "%06o %s %s\t%s%s%s", f->entry.mode,
		      f->entry.mode == GA_MODE_GITLINK ? "commit" : "blob",
		      GA_HEX(&f->entry.oid), quote, path.ptr, quote);
	if (!accepted)
		ga_strv_push(&u->paths, f->path);
}

/* Add the commits that were not published because of what they contain. */
static int add_commits(struct ga_repo *r, const struct ga_session *s, struct undecided *u,
		       struct ga_error *err)
{
	cleanup_free char *orig = ga_session_ref(s, "orig"), *held = ga_session_ref(s, "held");
	const char *const names[] = { orig, held };
	struct ga_oid tips[GA_NELEMS(names)], hide[] = { s->id.onto, s->result.tip };
	cleanup_error struct ga_error gone = GA_ERROR_INIT;
	size_t n_tips = 0, n = 0;
	cleanup_free struct ga_oid *v = NULL;

	for (size_t i = 0; i < GA_NELEMS(names); i++) {
		int rc = ga_ref_read(r, names[i], &tips[n_tips], err);

		if (rc < 0)
			return -1;
		n_tips += !rc;
	}
	if (!n_tips || ga_oid_is_zero(&s->result.held))
		return 0;
	/* the branch may have been deleted, and its commits with it */
	if (ga_rev_list(r, tips, n_tips, hide,
			ga_commit_exists(r, &s->result.tip, &gone) > 0 ? 2 : 1, COMMITS_MAX, &v, &n,
			err))
		return -1;
	for (size_t i = 0; i < n; i++)
		ga_strv_push(&u->commits, GA_HEX(&v[i]));
	return 0;
}

/* Add the commits of the branch with blocking entries that the tip lacks: a merge of the tip
 * includes them. None if the tip is not in the repository. */
static int add_past(struct ga_repo *r, const struct ga_report *report, struct undecided *u,
		    struct ga_error *err)
{
	cleanup_past struct ga_past past = GA_PAST_INIT;
	int rc = ga_commit_exists(r, &report->tip, err);

	if (rc <= 0)
		return rc;
	if (ga_report_past(r, report, &report->tip, &past, err))
		return -1;
	for (size_t i = 0; i < past.n; i++)
		for (size_t k = 0; k < past.v[i].n && k < GA_PAST_COMMITS; k++)
			if (ga_report_flag_blocks(&report->flags.v[i]))
				ga_strv_push(&u->commits, GA_HEX(&past.v[i].commits[k]));
	return 0;
}

static int add_session(struct ga_repo *r, const char *state_dir, const char *name,
		       struct undecided *u, struct ga_error *err)
{
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_report struct ga_report report = GA_REPORT_INIT;
	cleanup_error struct ga_error damaged = GA_ERROR_INIT;
	size_t before = u->flags;

	/* a session that cannot be read is reported by whatever command asks for it */
	if (ga_session_load(state_dir, name, &s, &damaged) ||
	    ga_report_read(r, &s, &report, &damaged))
		return 0;
	ga_report_copy_result(&report, &s);
	for (size_t i = 0; i < report.flags.n; i++) {
		bool blocks = ga_report_flag_blocks(&report.flags.v[i]);

		u->flags += blocks;
		if (blocks || report.flags.v[i].verdict == GA_VERDICT_ACCEPTED)
			add_entry(u, &report.flags.v[i]);
	}
	if (u->flags == before)
		return 0;
	u->sessions++;
	return add_past(r, &report, u, err) || add_commits(r, &s, u, err) ? -1 : 0;
}

/* A verdict is about an entry: what was accepted in one session is decided in all. */
static void drop_decided(struct undecided *u)
{
	size_t kept = 0;

	ga_strv_sort_unique(&u->decided);
	for (size_t i = 0; i < u->lines.n; i++) {
		if (ga_strv_find(&u->decided, u->lines.v[i]) >= 0)
			free(u->lines.v[i]);
		else
			u->lines.v[kept++] = u->lines.v[i];
	}
	u->lines.n = kept;
	if (u->lines.v)
		u->lines.v[kept] = NULL;
}

static int gather(struct ga_repo *r, const char *state_dir, struct undecided *u,
		  struct ga_error *err)
{
	cleanup_strv struct ga_strv names = GA_STRV_INIT;

	if (ga_session_names(state_dir, &names, err))
		return -1;
	for (size_t i = 0; i < names.n; i++)
		if (add_session(r, state_dir, names.v[i], u, err))
			return -1;
	ga_strv_sort_unique(&u->lines);
	drop_decided(u);
	ga_strv_sort_unique(&u->paths);
	ga_strv_sort_unique(&u->commits);
	return 0;
}

/* Write a file, unless it has that content already. */
static int put(int dir, const char *name, const struct ga_buf *b, mode_t mode,
	       struct ga_error *err)
{
	cleanup_buf struct ga_buf have = GA_BUF_INIT;

	if (!ga_read_file_at(dir, name, b->len + 1, &have, GA_IGNORED) && have.len == b->len &&
	    !memcmp(have.ptr, b->ptr, b->len))
		return 0;
	return ga_write_atomic(dir, name, b->ptr, b->len, mode, err);
}

static int put_list(int dir, const char *name, const struct ga_strv *sv, char end,
		    struct ga_error *err)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	for (size_t i = 0; i < sv->n; i++) {
		ga_buf_adds(&b, sv->v[i]);
		ga_buf_addch(&b, end);
	}
	return put(dir, name, &b, 0600, err);
}

static int put_files(const char *path, const struct undecided *u, struct ga_error *err)
{
	cleanup_close int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open the guard's directory");
	return put_list(dir, "lines", &u->lines, '\n', err) ||
	       put_list(dir, "paths", &u->paths, '\0', err) ||
	       put_list(dir, "commits", &u->commits, '\n', err) ? -1 : 0;
}

static int remove_files(const char *path, struct ga_error *err)
{
	cleanup_free char *parent = ga_path_parent(path);
	cleanup_close int at = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return at < 0 ? 0 : ga_rmtree_at(at, ga_path_base(path), err);
}

static int lock(struct ga_repo *r, int *ret, struct ga_error *err)
{
	cleanup_free char *path = ga_path_join(ga_repo_info(r)->commondir, "git-agent/id");

	*ret = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (*ret < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open the guard's lock");
	return ga_flock(*ret, true, true, err);
}

static int settle(struct ga_repo *r, const struct ga_gitconfig *c, const char *dir, bool wanted,
		  const struct undecided *u, struct ga_error *err)
{
	if (!wanted)
		return guard_remove(r, c, err) || remove_files(dir, err) ? -1 : 0;
	/* first the lists, then the hooks that read them */
	return ga_mkdir_p(dir, 0700, err) || put_files(dir, u, err) || guard_install(r, c, err)
		       ? -1 : 0;
}

int ga_guard_refresh(struct ga_repo *r, const char *state_dir, bool change, struct ga_guard *ret,
		     struct ga_error *err)
{
	cleanup_(ga_gitconfig_release) struct ga_gitconfig c = GA_GITCONFIG_INIT;
	cleanup_(undecided_release) struct undecided u = { .flags = 0 };
	cleanup_free char *dir = guard_dir(r);
	cleanup_close int fd = -1;
	bool on;

	/* another process may be doing the same: read everything after it is done */
	if ((change && lock(r, &fd, err)) || ga_gitconfig_load(r, &c, err))
		return -1;
	on = ga_gitconfig_bool(&c, "agent.guard", false);
	if ((on || !change) && gather(r, state_dir, &u, err))
		return -1;
	if (change && settle(r, &c, dir, on && u.flags, &u, err))
		return -1;
	if (!ret)
		return 0;
	*ret = (struct ga_guard){ .on = on, .undecided = u.flags, .sessions = u.sessions };
	/* read again, as it may just have been changed */
	ga_gitconfig_release(&c);
	if (ga_gitconfig_load(r, &c, err))
		return -1;
	ret->installed = guard_installed(r, &c, &ret->elsewhere);
	return 0;
}

bool ga_guard_idle(const struct ga_repo *r, const struct ga_gitconfig *c)
{
	cleanup_free char *dir = guard_dir(r);

	return !ga_gitconfig_bool(c, "agent.guard", false) && access(dir, F_OK);
}
