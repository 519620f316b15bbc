/* SPDX-License-Identifier: MIT
 *
 * Lists of findings, and the cache of verdicts: NUL-separated records, one file for each working
 * tree:
 *
 *     MAGIC, a fingerprint of rules and options, the working tree
 *     "t" TREE, then "c" PATH, VERDICT for each secret in it and "l" PATH for each link
 *     "f" FINGERPRINT of PATH and STAT, VERDICT for each file
 *     ""
 */
#include "secret-internal.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ga/base/parse.h"
#include "ga/base/path.h"
#include "ga/sys/fd.h"

/* ---- findings as values ------------------------------------------------------ */

void ga_exposure_release(struct ga_exposure *x)
{
	for (size_t i = 0; i < x->n; i++)
		free(x->v[i].path);
	free(x->v);
	*x = (struct ga_exposure)GA_EXPOSURE_INIT;
}

static int worse(const void *a, const void *b)
{
	const struct ga_exposed *x = a, *y = b;

	if (x->secret.tier != y->secret.tier)
		return x->secret.tier > y->secret.tier ? -1 : 1;
	if (strcmp(x->path, y->path))
		return strcmp(x->path, y->path);
	return x->as < y->as ? -1 : x->as > y->as;
}

void ga_exposure_sort(struct ga_exposure *x)
{
	if (x->n)
		qsort(x->v, x->n, sizeof(*x->v), worse);
}

void secret_add(struct ga_exposure *x, const char *path, const struct ga_secret *s,
		 enum ga_exposed_as as)
{
	GA_GROW(x->v, x->n, x->cap);
	x->v[x->n++] = (struct ga_exposed){ .path = ga_strdup(path), .secret = *s, .as = as,
					    .view = GA_VIEW_SEEN };
}

const char *ga_exposed_name(enum ga_exposed_as as)
{
	static const char *const names[] = { "committed", "modified", "untracked", "ignored",
					     "history", "config" };

	return names[as];
}

const char *ga_view_name(enum ga_exposed_view v)
{
	static const char *const names[] = { "seen", "masked", "absent" };

	return names[v];
}

static bool is_exposed(const char *path, const struct ga_strv *expose)
{
	for (size_t i = 0; expose && i < expose->n; i++)
		if (ga_path_inside(path, expose->v[i]))
			return true;
	return false;
}

void ga_exposure_mask(struct ga_exposure *x, const struct ga_strv *expose)
{
	for (size_t i = 0; i < x->n; i++) {
		struct ga_exposed *e = &x->v[i];
		bool loose = e->as == GA_EXPOSED_MODIFIED || e->as == GA_EXPOSED_UNTRACKED ||
			     e->as == GA_EXPOSED_IGNORED || e->clear;

		if (loose && e->view == GA_VIEW_SEEN && e->secret.tier == GA_TIER_BLOCK &&
		    !is_exposed(e->path, expose))
			e->view = GA_VIEW_MASKED;
	}
}

bool ga_exposure_skips(const char *name)
{
	return ga_has_word("node_modules bower_components site-packages dist-packages __pycache__ "
			   ".mypy_cache .pytest_cache .ruff_cache jspm_packages", name);
}

/* ---- verdicts as text ------------------------------------------------------- */

#define MAGIC "git-agent secrets 5"
#define CACHE_MAX ((size_t)64 << 20)
#define TICK 2 /* seconds: the coarsest time stamps that a file system has */

static void add_verdict(struct ga_buf *b, const struct ga_secret *s)
{
	size_t n;
	const struct ga_secret_rule *rules = ga_secret_rules(&n);

	ga_buf_addf(b, "%d,%d,%d,%d,%d", (int)s->tier, s->rule ? (int)(s->rule - rules) : -1,
		    (int)s->bits, (int)s->token, s->example | s->copy << 1);
	ga_buf_addch(b, '\0');
}

static bool parse_verdict(const char *p, struct ga_secret *ret)
{
	int v[5]; /* in the order of add_verdict() */
	size_t n;
	const struct ga_secret_rule *rules = ga_secret_rules(&n);

	for (size_t i = 0; i < GA_NELEMS(v); i++)
		if (!p || !ga_parse_next_int(&p, &v[i]))
			return false;
	if (v[0] < 0 || v[0] > GA_TIER_BLOCK || v[1] >= (int)n || (v[1] < 0 && v[0]))
		return false;
	*ret = (struct ga_secret){ .tier = (enum ga_tier)v[0],
				   .rule = v[1] < 0 ? NULL : &rules[v[1]],
				   .bits = (uint32_t)v[2],
				   .token = (unsigned)v[3],
				   .example = v[4] & 1,
				   .copy = v[4] & 2 };
	return true;
}

static uint64_t fingerprint(const char *path, const struct stat *st)
{
	char text[160];

	(void)snprintf(text, sizeof(text),
		       "%" PRIu64 " %" PRIu64 " %" PRIu64 " %o %lld.%ld %lld.%ld",
		       (uint64_t)st->st_dev, (uint64_t)st->st_ino, (uint64_t)st->st_size,
		       st->st_mode, (long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec,
		       (long long)st->st_ctim.tv_sec, st->st_ctim.tv_nsec);
	return secret_hash(secret_hash(SECRET_HASH, text), path);
}

/* Would a change that happens after this show in its time stamps? */
static bool would_show_change(const struct secret_cache *c, const struct stat *st)
{
	return st->st_mtim.tv_sec < c->now - TICK && st->st_ctim.tv_sec < c->now - TICK;
}

/* ---- reading --------------------------------------------------------------------- */

static int by_print(const void *a, const void *b)
{
	const struct secret_cached *x = a, *y = b;

	return x->print < y->print ? -1 : x->print > y->print;
}

/* Take the files; false if the records were cut short. */
static bool read_records(struct secret_cache *c, size_t pos)
{
	struct secret_cached f;
	const char *rec;

	while ((rec = ga_buf_next0(&c->old, &pos)) && *rec) {
		if (*rec == 't')
			c->tree = pos - strlen(rec);
		if (*rec != 'f')
			continue;
		if (!ga_parse_u64(rec + 1, UINT64_MAX, &f.print) ||
		    !parse_verdict(ga_buf_next0(&c->old, &pos), &f.secret))
			return false;
		GA_GROW(c->files, c->n, c->cap);
		c->files[c->n++] = f;
	}
	if (c->n)
		qsort(c->files, c->n, sizeof(*c->files), by_print);
	/* every other record has a tag, so only the last one is empty */
	return rec && pos == c->old.len;
}

static bool load(struct secret_cache *c, const char *rules)
{
	const char *want[] = { MAGIC, rules, c->workdir };
	size_t pos = 0;

	if (ga_read_file_at(AT_FDCWD, c->path, CACHE_MAX, &c->old, GA_IGNORED))
		return false;
	for (size_t i = 0; i < GA_NELEMS(want); i++) {
		const char *rec = ga_buf_next0(&c->old, &pos);

		if (!rec || strcmp(rec, want[i]))
			return false;
	}
	return read_records(c, pos);
}

void secret_cache_open(struct secret_cache *c, const struct ga_exposure_opts *o)
{
	uint64_t print = ga_secret_rules_print(o->add, o->allow);
	cleanup_free char *rules = ga_strf("%016" PRIx64 "%d", print, o->all_dirs);

	*c = (struct secret_cache){ .old = GA_BUF_INIT, .new = GA_BUF_INIT };
	c->workdir = ga_strdup(ga_repo_info(o->repo)->workdir);
	c->now = (int64_t)time(NULL);
	c->dry = o->dry;
	ga_buf_add0(&c->new, MAGIC);
	ga_buf_add0(&c->new, rules);
	ga_buf_add0(&c->new, c->workdir);
	if (!o->state_dir)
		return;
	c->path = ga_strf("%s/secrets-%016" PRIx64, o->state_dir,
			  secret_hash(SECRET_HASH, c->workdir));
	if (!load(c, rules))
		c->n = c->tree = 0;
}

/* One rename replaces the file. It is not synced: a file that a power cut made short is recognised
 * by its missing end. */
static void store(struct secret_cache *c)
{
	cleanup_free char *tmp = NULL;
	uint64_t r;

	if (ga_random(&r, sizeof(r), GA_IGNORED))
		return;
	tmp = ga_strf("%s.%016" PRIx64, c->path, r);
	if (ga_write_new(AT_FDCWD, tmp, c->new.ptr, c->new.len, 0600, GA_IGNORED) ||
	    rename(tmp, c->path))
		(void)unlink(tmp);
}

void secret_cache_close(struct secret_cache *c)
{
	ga_buf_add0(&c->new, "");
	if (c->path && !c->dry && c->new.len <= CACHE_MAX && !ga_buf_equal(&c->new, &c->old))
		store(c);
	free(c->files);
	ga_buf_release(&c->old);
	ga_buf_release(&c->new);
	free(c->path);
	free(c->workdir);
}

bool secret_cache_file(const struct secret_cache *c, const char *path, const struct stat *st,
			struct ga_secret *ret)
{
	const struct secret_cached key = { .print = fingerprint(path, st) };
	const struct secret_cached *f =
		c->n ? bsearch(&key, c->files, c->n, sizeof(key), by_print) : NULL;

	*ret = f ? f->secret : key.secret;
	return f != NULL;
}

bool secret_cache_tree(const struct secret_cache *c, struct ga_oid *ret_tree,
			struct ga_exposure *ret, struct ga_strv *ret_links)
{
	size_t pos = c->tree;
	const char *rec;

	if (!pos)
		return false;
	rec = ga_buf_next0(&c->old, &pos);
	if (!rec || !ga_oid_parse(rec, strlen(rec), ret_tree))
		return false;
	while ((rec = ga_buf_next0(&c->old, &pos)) && *rec == 'c') {
		struct ga_secret s;

		if (!parse_verdict(ga_buf_next0(&c->old, &pos), &s))
			return false;
		secret_add(ret, rec + 1, &s, GA_EXPOSED_COMMITTED);
	}
	for (; rec && *rec == 'l'; rec = ga_buf_next0(&c->old, &pos))
		ga_strv_push(ret_links, rec + 1);
	return true;
}

/* ---- writing ---------------------------------------------------------------------- */

void secret_cache_add_file(struct secret_cache *c, const char *path, const struct stat *st,
			    const struct ga_secret *s)
{
	if (!c->path || !would_show_change(c, st))
		return;
	ga_buf_addf(&c->new, "f%" PRIu64, fingerprint(path, st));
	ga_buf_addch(&c->new, '\0');
	add_verdict(&c->new, s);
}

void secret_cache_add_tree(struct secret_cache *c, const struct ga_oid *tree,
			    const struct ga_exposure *found, const struct ga_strv *links)
{
	if (!c->path)
		return;
	ga_buf_addch(&c->new, 't');
	ga_buf_add0(&c->new, GA_HEX(tree));
	for (size_t i = 0; i < found->n; i++) {
		ga_buf_addch(&c->new, 'c');
		ga_buf_add0(&c->new, found->v[i].path);
		add_verdict(&c->new, &found->v[i].secret);
	}
	for (size_t i = 0; i < links->n; i++) {
		ga_buf_addch(&c->new, 'l');
		ga_buf_add0(&c->new, links->v[i]);
	}
}
