/* SPDX-License-Identifier: MIT
 *
 * Committed files: those of one tree, of which only what changed since the last one is read; those
 * of all history; and the repository's own configuration.
 */
#include "secret-internal.h"

#include <string.h>

#include "ga/repo/objects.h"

#define TREE_MAX 5000000
#define BLOB_MAX ((uint64_t)64 << 20)
#define BLOB_COST 4096 /* bytes charged for each blob on top of its size */
#define HISTORY_MAX ((size_t)1 << 30)

/* Does the verdict depend on the content? Of a name that blocks by itself too: the file may be
 * encrypted by a filter. */
static bool is_read(const struct ga_secret_name *name)
{
	bool live = name->content || name->text;

	for (size_t i = 0; i < name->n; i++)
		live |= name->rules[i]->tier == GA_TIER_BLOCK;
	return live;
}

/* Read it into `f->content`; false if that failed, or it is longer than what may be read. */
static bool read_blob(struct finder *f, const struct ga_oid *oid)
{
	uint64_t max = f->left < BLOB_MAX ? f->left : BLOB_MAX;
	int rc = ga_blob_read(f->o->repo, oid, (size_t)max, &f->content, GA_IGNORED);
	uint64_t cost = f->content.len + BLOB_COST;

	if (rc > 0 && max < BLOB_MAX) {
		f->ret->incomplete = true;
		cost = f->left;
	}
	f->left -= cost < f->left ? cost : f->left;
	return !rc;
}

/* Scan a blob and remember the result: any number of paths can have the same blob. */
static bool scan_blob(struct finder *f, const char *path, const struct ga_oid *oid,
		      struct ga_secret_marks *ret)
{
	struct ga_oidmap *known = &f->blob_at[ga_secret_is_code(path)];
	bool got;

	ga_buf_clear(&f->content);
	got = read_blob(f, oid);
	if (got) {
		ga_secret_scan(path, f->content.ptr, f->content.len, ret);
		explicit_bzero(f->content.ptr, f->content.len);
		if (ga_oidmap_add(known, oid, f->n_blobs)) {
			GA_GROW(f->blobs, f->n_blobs, f->cap_blobs);
			f->blobs[f->n_blobs++] = (struct finder_blob){ ret->bits, ret->token };
		}
	}
	return got;
}

void finder_blob(struct finder *f, const char *path, const struct ga_oid *oid,
		 const struct ga_secret_name *name, struct ga_secret *ret,
		 struct ga_secret_marks *ret_marks)
{
	struct ga_secret_marks marks = { .bits = 0 };
	bool seen = true;
	size_t at;

	if (is_read(name) && !ret_marks &&
	    ga_oidmap_get(&f->blob_at[ga_secret_is_code(path)], oid, &at)) {
		marks.bits = f->blobs[at].bits;
		marks.token = f->blobs[at].token;
	} else if (is_read(name)) {
		seen = scan_blob(f, path, oid, &marks);
	}
	ga_secret_judge(name, path, seen ? &marks : NULL, ret);
	if (ret_marks)
		*ret_marks = marks;
}

static void judge_entry(struct finder *f, const char *path, const struct ga_entry *e,
			struct ga_exposure *ret)
{
	struct ga_secret_name name;
	struct ga_secret s;

	if (e->mode == GA_MODE_LINK && ga_secret_named_link(finder_names(f), path))
		finder_note_link(f, &f->tree_links, path);
	if ((e->mode != GA_MODE_FILE && e->mode != GA_MODE_EXEC) ||
	    !ga_secret_named(finder_names(f), path, &name))
		return;
	finder_blob(f, path, &e->oid, &name, &s, NULL);
	if (s.tier != GA_TIER_NONE || s.bits & GA_MARK_FILTERED)
		secret_add(ret, path, &s, GA_EXPOSED_COMMITTED);
}

/* Copy the findings of the last tree at unchanged paths. */
static void keep_unchanged(struct finder *f, const struct ga_exposure *before,
			   const struct ga_strv *links, const struct ga_changes *changes,
			   struct ga_exposure *ret)
{
	for (size_t i = 0; i < before->n; i++)
		if (!ga_changes_find(changes, before->v[i].path))
			secret_add(ret, before->v[i].path, &before->v[i].secret,
				    GA_EXPOSED_COMMITTED);
	for (size_t i = 0; i < links->n; i++)
		if (!ga_changes_find(changes, links->v[i]))
			finder_note_link(f, &f->tree_links, links->v[i]);
}

static int list_changes(struct finder *f, const struct ga_oid *tree, struct ga_changes *changes,
			struct ga_exposure *ret, struct ga_error *err)
{
	cleanup_error struct ga_error gone = GA_ERROR_INIT;
	cleanup_exposure struct ga_exposure before = GA_EXPOSURE_INIT;
	cleanup_strv struct ga_strv links = GA_STRV_INIT;
	struct ga_oid old;

	if (secret_cache_tree(&f->cache, &old, &before, &links) &&
	    (ga_oid_equal(&old, tree) || !ga_tree_diff(f->o->repo, &old, tree, changes, &gone))) {
		keep_unchanged(f, &before, &links, changes, ret);
		return 0;
	}
	ga_changes_release(changes);
	return ga_tree_list(f->o->repo, tree, TREE_MAX, changes, err);
}

int finder_tree(struct finder *f, const struct ga_oid *tree, struct ga_error *err)
{
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;
	cleanup_exposure struct ga_exposure found = GA_EXPOSURE_INIT;

	if (list_changes(f, tree, &changes, &found, err))
		return -1;
	for (size_t i = 0; i < changes.n; i++)
		judge_entry(f, changes.v[i].path, &changes.v[i].new, &found);
	/* an incomplete search must not be remembered as a complete one */
	if (!f->ret->incomplete)
		secret_cache_add_tree(&f->cache, tree, &found, &f->tree_links);
	for (size_t i = 0; i < found.n; i++) {
		const struct ga_exposed *x = &found.v[i];

		/* the working tree's version may be decrypted or not, at any time */
		if (x->secret.bits & GA_MARK_FILTERED)
			finder_filtered(f, x->path);
		else
			secret_add(f->ret, x->path, &x->secret, GA_EXPOSED_COMMITTED);
	}
	return 0;
}

struct history {
	struct finder f;
	struct ga_strv seen; /* "ID PATH" of judged versions ... */
	struct ga_strmap map; /* ... to be found quickly */
};

/* Does the tree that sessions start from have the same blob at the same path? Then it was counted
 * there, not as history. */
static int in_tree(struct history *h, const char *path, const struct ga_oid *oid,
		   struct ga_error *err)
{
	struct ga_entry e;

	if (!h->f.o->tree)
		return 0;
	if (ga_tree_entry(h->f.o->repo, h->f.o->tree, path, &e, err))
		return -1;
	return e.mode != GA_MODE_NONE && ga_oid_equal(&e.oid, oid);
}

static int look_at_version(struct history *h, const char *path, const char *id,
			   struct ga_error *err)
{
	cleanup_free char *key = ga_strf("%.40s %s", id, path);
	struct ga_secret_name name;
	struct ga_secret s;
	struct ga_oid oid;
	int rc;

	if (!ga_oid_parse(id, GA_OID_HEXSZ, &oid) || ga_oid_is_zero(&oid) ||
	    !ga_secret_named(finder_names(&h->f), path, &name) ||
	    ga_strmap_first(&h->map, key, strlen(key)) >= 0)
		return 0;
	ga_strv_push(&h->seen, key);
	ga_strmap_add(&h->map, h->seen.v[h->seen.n - 1], strlen(key), 0);
	rc = in_tree(h, path, &oid, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	finder_blob(&h->f, path, &oid, &name, &s, NULL);
	if (s.tier != GA_TIER_NONE)
		secret_add(h->f.ret, path, &s, GA_EXPOSED_HISTORY);
	return 0;
}

/* Records of `git log --raw -z`: ":MODE MODE ID ID S", PATH; of a merge one for each parent. */
static int read_log(struct history *h, const struct ga_buf *log, struct ga_error *err)
{
	const char *rec, *path;
	size_t pos = 0;

	while ((rec = ga_buf_next0(log, &pos))) {
		if (*rec == '\n')
			rec++;
		if (*rec != ':')
			continue;
		path = ga_buf_next0(log, &pos);
		/* ":100644 100644 " then two ids; links and gitlinks are no files */
		if (!path || strlen(rec) < 15 + 2 * (GA_OID_HEXSZ + 1) ||
		    strncmp(rec + 8, "100", 3) != 0)
			continue;
		if (look_at_version(h, path, rec + 15 + GA_OID_HEXSZ + 1, err))
			return -1;
	}
	return 0;
}

/* A path may have had many versions: keep the worst of each. */
static void thin_out(struct ga_exposure *x)
{
	cleanup_strmap struct ga_strmap seen = GA_STRMAP_INIT;
	size_t n = 0;

	ga_exposure_sort(x);
	for (size_t i = 0; i < x->n; i++) {
		const char *path = x->v[i].path;

		if (ga_strmap_first(&seen, path, strlen(path)) >= 0) {
			free(x->v[i].path);
			continue;
		}
		ga_strmap_add(&seen, path, strlen(path), 0);
		x->v[n++] = x->v[i];
	}
	x->n = n;
}

int ga_exposure_history(const struct ga_exposure_opts *o, struct ga_exposure *ret,
			struct ga_error *err)
{
	static const char *const args[] = { "log", "--all", "--reflog", "-m", "--raw", "-z",
					    "--no-abbrev", "--no-renames", "--format=",
					    "--diff-filter=AMT", NULL };
	static const char *const config[] = { "log.showRoot=true", "log.showSignature=false",
					      NULL };
	cleanup_exposure struct ga_exposure found = GA_EXPOSURE_INIT;
	cleanup_buf struct ga_buf log = GA_BUF_INIT;
	/* the user asked for all of it: no bound on what is read */
	struct history h = { .f = { .o = o, .ret = &found, .work = -1, .content = GA_BUF_INIT,
				    .left = UINT64_MAX } };
	int rc;
	struct ga_git g = GA_GIT(.args = args, .config = config, .out = &log,
				 .out_max = HISTORY_MAX);

	rc = ga_git_ok(o->repo, &g, err) || read_log(&h, &log, err) ? -1 : 0;
	thin_out(&found);
	for (size_t i = 0; !rc && i < found.n; i++)
		secret_add(ret, found.v[i].path, &found.v[i].secret, GA_EXPOSED_HISTORY);
	ga_strv_release(&h.seen);
	ga_strmap_release(&h.map);
	finder_release(&h.f);
	return rc ? ga_error_wrap(err, "cannot look through the history") : 0;
}

void ga_exposure_config(const struct ga_gitconfig *c, struct ga_exposure *ret)
{
	cleanup_secret_names struct ga_secret_names *names = ga_secret_names_new(NULL, NULL);
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	struct ga_secret_marks marks;
	struct ga_secret_name name;
	struct ga_secret s;

	for (size_t i = 0; i < c->n; i++) {
		const struct ga_gitconfig_item *it = &c->v[i];
		const char *last = strrchr(it->key, '.');

		if ((strcmp(it->scope, "local") && strcmp(it->scope, "worktree")) || !last)
			continue;
		/* the last part of the key only: the output must not tell what else is configured
		 */
		ga_buf_addf(&text, "%s = %s\n", last + 1, it->value);
	}
	if (!text.len || !ga_secret_named(names, ".git/config", &name))
		return;
	ga_secret_scan(".git/config", text.ptr, text.len, &marks);
	explicit_bzero(text.ptr, text.len);
	ga_secret_judge(&name, ".git/config", &marks, &s);
	if (s.tier == GA_TIER_NONE)
		return;
	secret_add(ret, ".git/config", &s, GA_EXPOSED_CONFIG);
	ret->v[ret->n - 1].view = GA_VIEW_ABSENT;
}
