/* SPDX-License-Identifier: MIT
 *
 * NUL-separated records, one file for each working tree:
 *
 *     MAGIC, a fingerprint of rules and options, the working tree
 *     "t" TREE, then "c" PATH, VERDICT for each secret in it and "l" PATH for each link
 *     "f" PATH, STAT, VERDICT for each secret, "k" FINGERPRINT of PATH and STAT for other files
 *     ""
 */
#include "finder.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ga/sys/fd.h"

#define MAGIC "git-agent secrets 4"
#define CACHE_MAX ((size_t)64 << 20)
#define TICK 2 /* seconds: the coarsest time stamps that a file system has */

/* ---- verdicts as text ----------------------------------------------------------- */

#define VERDICT "%x.%02x.%08x.%02x.%x"
#define VERDICT_LEN 18

static void add_verdict(struct ga_buf *b, const struct ga_secret *s)
{
	size_t n;
	const struct ga_secret_rule *rules = ga_secret_rules(&n);

	ga_buf_addf(b, VERDICT, (unsigned)s->tier, s->rule ? (unsigned)(s->rule - rules) : 0xffu,
		    (unsigned)s->bits, s->token & 0xff,
		    (unsigned)s->example | (unsigned)s->copy << 1);
	ga_buf_addch(b, '\0');
}

static bool hex(const char **p, unsigned digits, uint32_t *ret)
{
	*ret = 0;
	for (; digits; digits--, (*p)++) {
		char c = **p;

		if ((c < '0' || c > '9') && (c < 'a' || c > 'f'))
			return false;
		*ret = *ret << 4 | (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	return *(*p)++ == '.' || !(*p)[-1];
}

static bool parse_verdict(const char *p, struct ga_secret *ret)
{
	uint32_t tier, rule, bits, token, flags;
	size_t n;
	const struct ga_secret_rule *rules = ga_secret_rules(&n);

	if (strlen(p) != VERDICT_LEN || !hex(&p, 1, &tier) || !hex(&p, 2, &rule) ||
	    !hex(&p, 8, &bits) || !hex(&p, 2, &token) || !hex(&p, 1, &flags) ||
	    tier > GA_TIER_BLOCK || (rule >= n && tier))
		return false;
	*ret = (struct ga_secret){ .tier = (enum ga_tier)tier,
				   .rule = rule < n ? &rules[rule] : NULL,
				   .bits = bits,
				   .token = token,
				   .example = flags & 1,
				   .copy = flags & 2 };
	return true;
}

/* ---- the state of a file as text -------------------------------------- */

static void stat_text(const struct stat *st, char *out, size_t n)
{
	(void)snprintf(out, n, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %o %lld.%ld %lld.%ld",
		       (uint64_t)st->st_dev, (uint64_t)st->st_ino, (uint64_t)st->st_size,
		       st->st_mode, (long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec,
		       (long long)st->st_ctim.tv_sec, st->st_ctim.tv_nsec);
}

/* Would a change that happens after this show in its time stamps? */
static bool would_show_change(const struct secret_cache *c, const struct stat *st)
{
	return st->st_mtim.tv_sec < c->now - TICK && st->st_ctim.tv_sec < c->now - TICK;
}

/* ---- reading --------------------------------------------------------------------- */

static uint64_t fingerprint(const char *path, const struct stat *st)
{
	uint64_t h = 14695981039346656037u; /* FNV-1a */
	char text[160];

	stat_text(st, text, sizeof(text));
	for (const char *p = text; *p; p++)
		h = (h ^ (unsigned char)*p) * 1099511628211u;
	for (; *path; path++)
		h = (h ^ (unsigned char)*path) * 1099511628211u;
	return h;
}

static void add_clean(struct secret_cache *c, const char *text)
{
	uint32_t high, low;

	if (!hex(&text, 8, &high) || !hex(&text, 8, &low))
		return;
	GA_GROW(c->clean, c->n_clean, c->cap_clean);
	c->clean[c->n_clean++] = (uint64_t)high << 32 | low;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Index the records; false if the file was cut short. */
static bool index_records(struct secret_cache *c, size_t pos)
{
	const char *rec;

	while ((rec = ga_buf_next0(&c->old, &pos))) {
		/* every other record has a tag, so only the last one is empty */
		if (!*rec) {
			if (c->n_clean)
				qsort(c->clean, c->n_clean, sizeof(*c->clean), by_value);
			return pos == c->old.len;
		}
		if (*rec == 't')
			c->tree = pos - strlen(rec);
		else if (*rec == 'f')
			ga_strmap_add(&c->files, rec + 1, strlen(rec + 1), (uint32_t)pos);
		else if (*rec == 'k')
			add_clean(c, rec + 1);
	}
	return false;
}

static bool load(struct secret_cache *c, const char *rules)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	const char *want[] = { MAGIC, rules, c->workdir };
	size_t pos = 0;

	if (ga_read_file_at(AT_FDCWD, c->path, CACHE_MAX, &c->old, &ignored))
		return false;
	for (size_t i = 0; i < GA_NELEMS(want); i++) {
		const char *rec = ga_buf_next0(&c->old, &pos);

		if (!rec || strcmp(rec, want[i]))
			return false;
	}
	return index_records(c, pos);
}

void secret_cache_open(struct secret_cache *c, const struct ga_exposure_opts *o)
{
	uint64_t h = 14695981039346656037u; /* FNV-1a */
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
	for (const char *p = c->workdir; *p; p++)
		h = (h ^ (unsigned char)*p) * 1099511628211u;
	c->path = ga_strf("%s/secrets-%016" PRIx64, o->state_dir, h);
	if (load(c, rules))
		return;
	ga_strmap_release(&c->files);
	c->n_clean = c->tree = 0;
}

/* One rename replaces the file. It is not synced: a file that a power cut made short is recognised
 * by its missing end. */
static void store(struct secret_cache *c)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_free char *tmp = NULL;
	uint64_t r;

	if (ga_random(&r, sizeof(r), &ignored))
		return;
	tmp = ga_strf("%s.%016" PRIx64, c->path, r);
	if (ga_write_new(AT_FDCWD, tmp, c->new.ptr, c->new.len, 0600, &ignored) ||
	    rename(tmp, c->path))
		(void)unlink(tmp);
}

void secret_cache_close(struct secret_cache *c)
{
	ga_buf_add0(&c->new, "");
	if (c->path && !c->dry && c->new.len <= CACHE_MAX && !ga_buf_equal(&c->new, &c->old))
		store(c);
	ga_strmap_release(&c->files);
	free(c->clean);
	ga_buf_release(&c->old);
	ga_buf_release(&c->new);
	free(c->path);
	free(c->workdir);
}

bool secret_cache_file(const struct secret_cache *c, const char *path, const struct stat *st,
			struct ga_secret *ret)
{
	uint64_t print = fingerprint(path, st);
	int32_t node = ga_strmap_first(&c->files, path, strlen(path));
	char now[160];
	const char *rec;
	size_t pos;

	*ret = (struct ga_secret){ .tier = GA_TIER_NONE };
	if (c->n_clean && bsearch(&print, c->clean, c->n_clean, sizeof(print), by_value))
		return true;
	if (node < 0)
		return false;
	pos = c->files.nodes[node].value;
	stat_text(st, now, sizeof(now));
	rec = ga_buf_next0(&c->old, &pos);
	if (!rec || strcmp(rec, now) != 0)
		return false;
	rec = ga_buf_next0(&c->old, &pos);
	return rec && parse_verdict(rec, ret);
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
		const char *verdict = ga_buf_next0(&c->old, &pos);
		struct ga_secret s;

		if (!verdict || !parse_verdict(verdict, &s))
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
	uint64_t print;
	char text[160];

	if (!c->path || !would_show_change(c, st))
		return;
	if (s->tier == GA_TIER_NONE) {
		print = fingerprint(path, st);
		ga_buf_addf(&c->new, "k%08x.%08x", (unsigned)(print >> 32), (unsigned)print);
		ga_buf_addch(&c->new, '\0');
		return;
	}
	stat_text(st, text, sizeof(text));
	ga_buf_addch(&c->new, 'f');
	ga_buf_add0(&c->new, path);
	ga_buf_add0(&c->new, text);
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
