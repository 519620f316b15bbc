/* SPDX-License-Identifier: MIT
 *
 * Find the agent's commits that are on no branch: on a tag, in an older stash, on the HEAD of
 * another working tree, in an unfinished operation, on a former detached HEAD. Commits that the
 * agent discarded (by a reset, a dropped stash) do not count.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ga/repo/history.h"
#include "capture/capture-internal.h"
#include "ga/base/oid.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/repo/gitdir.h"
#include "ga/repo/objects.h"
#include "ga/sys/fd.h"

#define MAX_FOUND 10000 /* candidates: most turn out to be on a branch */
#define MAX_HOST 10000  /* refs of the host told to git inside; with more, the host is asked, too \
			 */
#define MAX_TREES 1000  /* entries in the directory of further working trees */
#define PSEUDO_MAX ((size_t)64 << 10) /* bytes of such a file: more merge heads than git takes */

/* Commits that git itself keeps in a file of its git dir. */
static const struct {
	const char *file, *name;
} pseudo[] = {
	{ "rebase-merge/autostash", "autostash" }, { "rebase-apply/autostash", "autostash" },
	{ "MERGE_AUTOSTASH", "autostash" },	   { "rebase-merge/orig-head", "rebasing" },
	{ "rebase-apply/orig-head", "rebasing" },  { "MERGE_HEAD", "merging" },
	{ "CHERRY_PICK_HEAD", "picking" },
};

static int open_git_dir(const struct capture *c)
{
	cleanup_free char *dir = ga_path_join(c->s->dir, "git");

	return open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Opened by descriptor: the agent may have put a symlink in place of any directory above it. */
static bool is_there(int dir, const char *name)
{
	cleanup_close int fd = dir < 0 ? -1 : ga_openat_beneath(dir, name, O_PATH | O_NOFOLLOW, 0);
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
}

/* The operation in progress in this git dir, or NULL. */
static const char *operation(int dir)
{
	static const struct {
		const char *name, *what;
	} states[] = {
		{ "rebase-merge", "a rebase" },
		{ "rebase-apply/applying", "applying patches" },
		{ "rebase-apply", "a rebase" },
		{ "MERGE_HEAD", "a merge" },
		{ "CHERRY_PICK_HEAD", "a cherry-pick" },
		{ "REVERT_HEAD", "a revert" },
		/* one of several was committed by hand, and the next is yet to come */
		{ "sequencer/todo", "cherry-picks or reverts" },
		{ "BISECT_LOG", "a bisection" },
	};

	for (size_t i = 0; i < GA_NELEMS(states); i++)
		if (is_there(dir, states[i].name))
			return states[i].what;
	return NULL;
}

bool left_unfinished(const struct capture *c, const char **ret)
{
	cleanup_close int dir = open_git_dir(c);

	*ret = operation(dir);
	return *ret != NULL;
}

/* ---- where there may be some ---------------------------------------------- */

struct others {
	struct capture *c;
	const struct ga_refs *theirs; /* the host's refs, sorted by name */
	struct ga_strv tags;   /* the agent's tags */
	struct ga_refs found;  /* candidates, with the names they will have ... */
	struct ga_refs left;   /* ... and those that count only if none of the former has them */
	struct ga_oidmap host; /* what the host's refs point to */
	bool more;             /* there are more than MAX_FOUND */
	bool failed;           /* git inside did not answer completely */
};

static void others_release(struct others *x)
{
	ga_strv_release(&x->tags);
	ga_refs_release(&x->found);
	ga_refs_release(&x->left);
	ga_oidmap_release(&x->host);
}

static void add_candidate(struct others *x, const struct ga_oid *oid, const char *kind,
			  const char *name)
{
	cleanup_free char *full = ga_strf("%s%s%s", GA_OTHERS, kind, name);

	if (ga_oidmap_get(&x->host, oid, NULL))
		return;
	if (x->found.n < MAX_FOUND)
		ga_refs_add(&x->found, full, oid);
	else
		x->more = true;
}

/* Ask git inside. No answer counts as an empty one, and is noted in `failed`. */
static int ask(struct others *x, const char *const *args, const struct ga_buf *in,
	       struct ga_buf *out, bool *failed, struct ga_error *err)
{
	cleanup_error struct ga_error inner = GA_ERROR_INIT;
	const struct inside i = INSIDE(.args = args, .in = in, .out = out);

	if (!run_inside_ok(x->c, &i, &inner))
		return 0;
	if (must_fail(x->c, &inner))
		return ga_error_move(err, &inner);
	ga_buf_clear(out);
	*failed = true;
	return 0;
}

int narrowed_checkout(struct capture *c, bool *ret, struct ga_error *err)
{
	static const char *const args[] = { "config", "--type=bool", "core.sparseCheckout", NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	cleanup_free char *path = ga_path_join(c->s->dir, "git");
	cleanup_close int dir = open_git_dir(c);
	struct others x = { .c = c };

	*ret = false;
	/* the file remains after `git sparse-checkout disable`, so git is asked */
	if (ga_gitconfig_bool(c->e->config, "core.sparsecheckout", false) ||
	    !is_there(dir, "info/sparse-checkout") || ga_gitdir_has_trap(path))
		return 0;
	allow_inside(c, 0, 0);
	if (ask(&x, args, NULL, &out, &x.failed, err))
		return -1;
	*ret = out.len && !strcmp(out.ptr, "true\n");
	return 0;
}

static bool has_prefix(const char *s, size_t n, const char *with)
{
	size_t len = strlen(with);

	return n >= len && !memcmp(s, with, len);
}

/* Note a tag that the agent made or moved. If the commit that it names is on a branch, only that is
 * kept of it. */
static void add_tag(struct others *x, const char *name, const struct ga_oid *oid)
{
	const char *tag = ga_path_below(name, "refs/tags");
	const struct ga_ref *was = ga_refs_find(x->theirs, name);

	if (tag && !(was && ga_oid_equal(&was->oid, oid)))
		ga_strv_push(&x->tags, tag);
}

/* Not from remote branches: fetched commits are not the agent's, and exist elsewhere. */
static int find_refs(struct others *x, struct ga_error *err)
{
	static const char *const args[] = { "for-each-ref", "--format=%(objectname) %(refname)",
					    NULL };
	static const char *const no[] = { "refs/heads/", "refs/remotes/" };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	const char *line;
	size_t pos = 0, n;

	if (ask(x, args, NULL, &out, &x->failed, err))
		return -1;
	while ((line = ga_buf_next_line(&out, &pos, &n))) {
		struct ga_oid oid;
		cleanup_free char *name = id_and_name(line, n, &oid);

		if (!name)
			continue;
		add_tag(x, name, &oid);
		if (!has_prefix(name, strlen(name), no[0]) &&
		    !has_prefix(name, strlen(name), no[1]) && strcmp(name, "refs/stash") != 0)
			add_candidate(x, &oid, "", name);
	}
	return 0;
}

/* The first of both lists, the newest stash and our own HEAD, is kept anyway. */
static int find_in_list(struct others *x, const char *const *args, const char *before,
			const char *kind, struct ga_error *err)
{
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	size_t pos = 0, n, nth = 0, skip = strlen(before);
	const char *line;

	if (ask(x, args, NULL, &out, &x->failed, err))
		return -1;
	while ((line = ga_buf_next_line(&out, &pos, &n))) {
		struct ga_oid oid;

		cleanup_free char *number = ga_strf("%zu", nth);

		if (n != skip + GA_OID_HEXSZ || !has_prefix(line, n, before) ||
		    !ga_oid_parse(line + skip, GA_OID_HEXSZ, &oid))
			continue;
		add_candidate(x, &oid, kind, number);
		nth++;
	}
	return 0;
}

/* `kind`: the beginning of their names. */
static void find_pseudo(struct others *x, int dir, const char *kind)
{
	for (size_t i = 0; dir >= 0 && i < GA_NELEMS(pseudo); i++) {
		cleanup_buf struct ga_buf text = GA_BUF_INIT;
		cleanup_close int fd = ga_openat_beneath(dir, pseudo[i].file,
							 O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
		size_t pos = 0, n, nth = 0;
		const char *line;
		struct stat st;

		if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
			continue;
		if (ga_read_fd(fd, PSEUDO_MAX, &text, GA_IGNORED)) {
			x->failed = true;
			continue;
		}
		/* a merge of several heads has a line for each */
		while ((line = ga_buf_next_line(&text, &pos, &n))) {
			cleanup_free char *more = nth ? ga_strf("-%zu", nth + 1) : NULL;
			cleanup_free char *name = ga_strf("%s%s", pseudo[i].name, more ? more : "");
			struct ga_oid oid;

			if (n < GA_OID_HEXSZ || !ga_oid_parse(line, GA_OID_HEXSZ, &oid))
				break;
			add_candidate(x, &oid, kind, name);
			nth++;
		}
	}
}

static void swap_left(struct others *x)
{
	struct ga_refs found = x->found;

	x->found = x->left;
	x->left = found;
}

/* Commits made on a detached HEAD that a checkout left. */
static void find_left(struct others *x, int dir, const char *kind)
{
	cleanup_free char *left = ga_strf("%sleft/", kind);
	cleanup_strv struct ga_strv ids = GA_STRV_INIT;
	struct ga_oid oid;

	x->failed |= dir >= 0 && !ga_gitdir_left(dir, &ids);
	swap_left(x);
	for (size_t i = 0; i < ids.n; i++)
		if (ga_oid_parse(ids.v[i], GA_OID_HEXSZ, &oid))
			add_candidate(x, &oid, left, ids.v[i]);
	swap_left(x);
}

/* Find what is unfinished in the working tree that git calls `name`. */
static void find_in_tree(struct others *x, int trees, const char *name, size_t *told)
{
	cleanup_close int dir = ga_openat_beneath(trees, name, O_RDONLY | O_DIRECTORY, 0);
	cleanup_free char *kind = ga_strf("worktrees/%s/", name);
	const char *what = dir < 0 ? NULL : operation(dir);

	find_pseudo(x, dir, kind);
	find_left(x, dir, kind);
	if (what && (*told)++ < NAMED_REFS) {
		cleanup_free char *q = ga_quote(name);

		ga_strv_pushf(&x->c->notes, "the agent stopped in the middle of %s in its working "
			      "tree %s: its work there may be half done", what, q);
	}
}

/* git has a directory for each working tree that the agent added, wherever that is. */
static void find_in_trees(struct others *x, int git_dir)
{
	cleanup_dir DIR *d = ga_dir_of(ga_openat_beneath(git_dir, "worktrees",
							 O_RDONLY | O_DIRECTORY, 0));
	cleanup_strv struct ga_strv names = GA_STRV_INIT;
	struct dirent *e;
	size_t told = 0;

	if (!d) {
		x->failed = true;
		return;
	}
	while ((e = ga_dir_next(d)) && names.n < MAX_TREES)
		ga_strv_push(&names, e->d_name);
	x->more |= e != NULL;
	/* the order of the file system must not matter */
	ga_strv_sort_unique(&names);
	for (size_t i = 0; i < names.n; i++)
		find_in_tree(x, dirfd(d), names.v[i], &told);
	if (told > NAMED_REFS)
		ga_strv_pushf(&x->c->notes, "and in %zu more of its working trees",
			      told - NAMED_REFS);
}

static int find_all(struct others *x, struct ga_error *err)
{
	static const char *const stashes[] = { "rev-list", "--walk-reflogs", "refs/stash", "--",
					       NULL };
	static const char *const trees[] = { "worktree", "list", "--porcelain", NULL };
	cleanup_close int dir = open_git_dir(x->c);
	cleanup_free char *path = ga_path_join(x->c->s->dir, "git");

	if (!ga_gitdir_only_branches(path) && find_refs(x, err))
		return -1;
	if (!ga_oid_is_zero(&x->c->git.stash) && find_in_list(x, stashes, "", "stash/", err))
		return -1;
	find_pseudo(x, dir, "");
	find_left(x, dir, "");
	if (!is_there(dir, "worktrees"))
		return 0;
	if (find_in_list(x, trees, "HEAD ", "worktree/", err))
		return -1;
	find_in_trees(x, dir);
	return 0;
}

/* ---- which of them there are ------------------------------------------------ */

/* Replace tags by their commits and drop what is no commit: git starts from nothing else. */
static int peel(struct others *x, struct ga_error *err)
{
	static const char *const args[] = { "cat-file", "--batch-check=%(objectname) %(objecttype)",
					    NULL };
	cleanup_buf struct ga_buf in = GA_BUF_INIT, out = GA_BUF_INIT;
	struct ga_refs *l = &x->found;
	size_t pos = 0, kept = 0, n;

	for (size_t i = 0; i < l->n; i++)
		ga_buf_addf(&in, "%s^{commit}\n", GA_HEX(&l->v[i].oid));
	if (ask(x, args, &in, &out, &x->failed, err))
		return -1;
	for (size_t i = 0; i < l->n; i++) {
		const char *line = ga_buf_next_line(&out, &pos, &n);

		if (line && n == GA_OID_HEXSZ + strlen(" commit") &&
		    ga_oid_parse(line, GA_OID_HEXSZ, &l->v[i].oid) &&
		    has_prefix(line + GA_OID_HEXSZ, n - GA_OID_HEXSZ, " commit"))
			l->v[kept++] = l->v[i];
		else
			free(l->v[i].name);
	}
	l->n = kept;
	return 0;
}

/* List what the candidates reach and neither a branch, the stash, a remote branch nor a ref of the
 * host does. Refs of the host are given by id, since the agent can have removed any of them
 * inside. */
static int list_unreachable(struct others *x, const struct ga_refs *host,
			    const struct ga_buf *known, struct ga_oidmap *ret, struct ga_error *err)
{
	static const char *const args[] = { "rev-list", "--ignore-missing", "--stdin", "--not",
					    "--remotes", NULL };
	struct capture *c = x->c;
	cleanup_free struct ga_oid **tips = ga_calloc(c->git.heads.n + 2, sizeof(*tips));
	cleanup_buf struct ga_buf in = GA_BUF_INIT, out = GA_BUF_INIT;
	size_t n_tips = agent_tips(c, tips), pos = 0, n;
	const char *line;
	bool failed = false;

	for (size_t i = 0; i < x->found.n; i++)
		ga_buf_addf(&in, "%s\n", GA_HEX(&x->found.v[i].oid));
	for (size_t i = 0; i < n_tips; i++)
		ga_buf_addf(&in, "^%s\n", GA_HEX(tips[i]));
	for (size_t i = 0; i < c->base.n_known; i++)
		ga_buf_addf(&in, "^%s\n", GA_HEX(&c->base.known[i]));
	for (size_t i = 0; i < host->n && i < MAX_HOST; i++)
		ga_buf_addf(&in, "^%s\n", GA_HEX(&host->v[i].oid));
	ga_buf_add(&in, known->ptr, known->len);
	if (ask(x, args, &in, &out, &failed, err))
		return -1;
	/* one that reaches a missing object is enough for git to list nothing: then all are
	 * tried */
	for (size_t i = 0; failed && i < x->found.n; i++)
		(void)ga_oidmap_add(ret, &x->found.v[i].oid, 0);
	while ((line = ga_buf_next_line(&out, &pos, &n))) {
		struct ga_oid oid;

		if (n == GA_OID_HEXSZ && ga_oid_parse(line, n, &oid))
			(void)ga_oidmap_add(ret, &oid, 0);
	}
	return 0;
}

/* If git inside was not told all refs of the host, drop what the others reach: it is not the
 * agent's either. */
static int find_on_host(struct others *x, const struct ga_refs *host,
			const struct ga_oidmap *alone, struct ga_oidmap *ret,
			struct ga_error *err)
{
	cleanup_free struct ga_oid *ask = NULL;
	size_t n = 0;

	if (host->n <= MAX_HOST)
		return 0;
	ask = ga_calloc(x->found.n, sizeof(*ask));
	for (size_t i = 0; i < x->found.n; i++)
		if (ga_oidmap_get(alone, &x->found.v[i].oid, NULL))
			ask[n++] = x->found.v[i].oid;
	return ga_find_on_branches(x->c->e->repo, ask, n, &x->c->base.agent,
				   x->c->e->limits->history, ret, err);
}

static int keep_unreachable(struct others *x, const struct ga_refs *host,
			    const struct ga_buf *known, struct ga_error *err)
{
	cleanup_oidmap struct ga_oidmap alone = GA_OIDMAP_INIT, on_host = GA_OIDMAP_INIT;
	struct capture *c = x->c;
	size_t odd = 0, more = 0;

	if (list_unreachable(x, host, known, &alone, err) ||
	    find_on_host(x, host, &alone, &on_host, err))
		return -1;
	for (size_t i = 0; i < x->found.n; i++) {
		const struct ga_ref *r = &x->found.v[i];

		if (!ga_oidmap_get(&alone, &r->oid, NULL) ||
		    ga_oidmap_get(&on_host, &r->oid, NULL))
			continue;
		if (c->git.heads.n < c->e->limits->branches)
			keep_head(c, r->name, &r->oid, &odd);
		else
			more++;
	}
	note_rest(c, "refs", odd, "commits on no branch", more);
	return 0;
}

int import_others(struct capture *c, const struct ga_refs *host, const struct ga_buf *known,
		  struct ga_error *err)
{
	cleanup_(others_release) struct others x = { .c = c, .theirs = host,
						     .host = GA_OIDMAP_INIT };
	cleanup_free char *named = NULL;

	for (size_t i = 0; i < host->n; i++)
		(void)ga_oidmap_add(&x.host, &host->v[i].oid, 0);
	if (find_all(&x, err))
		return -1;
	for (int i = 0; i < 2; i++) {
		if ((x.found.n && peel(&x, err)) ||
		    (x.found.n && keep_unreachable(&x, host, known, err)))
			return -1;
		swap_left(&x);
	}
	named = ga_quote_list(&x.tags, NAMED_REFS);
	if (x.tags.n)
		ga_strv_pushf(&c->notes,
			      "tags that are not here, or are others here, are not "
			      "taken: %s",
			      named);
	if (!x.failed && !x.more)
		return 0;
	/* what could not be read may still be there */
	c->git.unread = true;
	note_unkept(c, "not all that the agent left on tags, in stashes or in other working trees "
		       "could be read");
	return 0;
}
