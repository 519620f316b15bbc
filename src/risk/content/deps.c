/* SPDX-License-Identifier: MIT
 *
 * Compare the packages of two versions of a file, and decide which changes are harmless, in the
 * same way for all formats.
 */
#include "risk/content.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "ga/base/path.h"

enum { SAME_NAME_MAX = 500 }; /* entries of one name, each of which is compared with each */

void ga_deps_lock_free(struct ga_deps_lock *l)
{
	if (l)
		ga_deps_release(&l->deps);
	free(l);
}

/* ---- versions --------------------------------------------------------------- */

/* 1.0-rc is before 1.0, which is before 1.0.1 and 1.0.post1: what comes behind the same number. */
static int rank(const char *s)
{
	if (isdigit((unsigned char)*s) || *s == '.' || !strncmp(s, "post", 4))
		return 2;
	return strchr(" ,|", *s) ? 1 : 0;
}

/* Compare the first numbers in them, as releases are numbered: <0, 0, >0. */
static int compare_versions(const char *a, const char *b)
{
	for (a += strcspn(a, "0123456789"), b += strcspn(b, "0123456789"); *a || *b;) {
		size_t n = strspn(a, "0123456789"), m = strspn(b, "0123456789");

		if (n && m) {
			for (; n && *a == '0'; n--)
				a++;
			for (; m && *b == '0'; m--)
				b++;
			if (n != m || strncmp(a, b, n) != 0)
				return n != m ? (n > m ? 1 : -1) : strncmp(a, b, n);
			a += n;
			b += m;
		} else if (*a == *b) {
			a++;
			b++;
		} else {
			int x = rank(a), y = rank(b);

			return x != y ? x - y : x == 1 ? 0 : *a - *b;
		}
	}
	return 0;
}

/* ---- what changed ------------------------------------------------------------ */

struct diff {
	struct ga_inspect *k;
	const struct ga_deps *old, *new;
	const char *locks; /* names of its lock files; NULL: none */
	/* For users: what is not harmless, the worst first, and what is. */
	struct ga_strv bad, names, good;
};

static int compare_deps(const void *a, const void *b)
{
	const struct ga_dep *x = a, *y = b;
	int c = strcmp(x->name, y->name);

	return c ? c : compare_versions(x->version, y->version);
}

static bool read_deps(const struct ga_deps_format *x, const struct ga_buf *text,
		      struct ga_deps *ret)
{
	bool ok = x->line ? ga_deps_read_text(x, text, ret) : ga_deps_read_tree(x, text, ret);

	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), compare_deps);
	ga_strv_sort_unique(&ret->edges);
	if (x->unordered || x->syntax == GA_DEPS_TOML)
		ga_strv_sort_unique(&ret->rest);
	return ok;
}

/* How many entries from `i` on have its name. */
static size_t same_name(const struct ga_deps *d, size_t i)
{
	size_t n = i;

	while (n < d->n && !strcmp(d->v[n].name, d->v[i].name))
		n++;
	return n - i;
}

/* Does one of `n` entries have the version of `p`? */
static bool has_version(const struct ga_dep *v, size_t n, const struct ga_dep *p)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(v[i].version, p->version))
			return true;
	return false;
}

/* The next lower entry of `v` below `*i` whose version is not among the `m` of `other`; NULL. */
static const struct ga_dep *lower(const struct ga_dep *v, size_t n, size_t *i,
				  const struct ga_dep *other, size_t m)
{
	while (*i) {
		const struct ga_dep *p = &v[--*i];

		if ((*i + 1 == n || strcmp(p[0].version, p[1].version) != 0) &&
		    !has_version(other, m, p))
			return p;
	}
	return NULL;
}

/* Find what falls from `a` to `b`: the highest that came is against the highest that went, and so
 * on, and what came beyond these against the lowest that there was. */
static void find_downgrades(struct diff *x, const struct ga_dep *a, size_t n,
			    const struct ga_dep *b, size_t m)
{
	size_t i = n, j = m;
	const struct ga_dep *went = lower(a, n, &i, b, m), *came = lower(b, m, &j, a, n);

	if (went && !came && compare_versions(b[m - 1].version, a[n - 1].version) < 0)
		came = &b[m - 1];
	for (; came; came = lower(b, m, &j, a, n)) {
		const struct ga_dep *was = went ? went : a;

		if (compare_versions(came->version, was->version) < 0)
			ga_strv_pushf(&x->bad, "%s falls from %s to %s", came->name, was->version,
				      *came->version ? came->version : "none");
		else if (*came->version)
			ga_strv_pushf(&x->good, "%s %s -> %s", came->name, was->version,
				      came->version);
		went = went ? lower(a, n, &i, b, m) : NULL;
	}
}

static bool has_all(const struct ga_strv *of, const struct ga_strv *in)
{
	for (size_t i = 0; i < of->n; i++)
		if (ga_strv_find(in, of->v[i]) < 0)
			return false;
	return true;
}

static bool has_origin(const struct ga_dep *v, size_t n, const struct ga_dep *p)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(v[i].origin, p->origin))
			return true;
	return false;
}

/* Compare one entry with the `n` of its name that there were. */
static void check_entry(struct diff *x, const struct ga_dep *a, size_t n, const struct ga_dep *p)
{
	bool proof = false, proven = false, same = false, proves = false, runs = false;

	for (size_t i = 0; i < n; i++) {
		bool is = !strcmp(a[i].version, p->version) && !strcmp(a[i].origin, p->origin);

		runs |= a[i].runs;
		proves |= a[i].proofs.n != 0;
		same |= is;
		proven |= is && a[i].proofs.n;
		proof |= is && a[i].proofs.n && has_all(&a[i].proofs, &p->proofs);
	}
	if (!p->mention && (same ? proven && !proof : proves && !p->proofs.n))
		ga_strv_pushf(&x->bad, "%s %s %s", p->name, p->version,
			      p->proofs.n ? "has another checksum" : "has no checksum any more");
	if (p->runs && !runs)
		ga_strv_pushf(&x->bad, "%s %s runs a script when it is installed", p->name,
			      p->version);
}

static const struct ga_deps *read_lock(struct ga_inspect *k, const char *path,
				       const struct ga_entry *e)
{
	cleanup_buf struct ga_buf text = GA_BUF_INIT, base = GA_BUF_INIT;

	if (k->lock && ga_oid_equal(&k->lock->oid, &e->oid))
		return &k->lock->deps;
	ga_deps_lock_free(k->lock);
	k->lock = ga_calloc(1, sizeof(*k->lock));
	k->lock->oid = e->oid;
	ga_name_fold(&base, ga_path_base(path));
	if (ga_inspect_blob(k, e, GA_KNOWN_MAX, &text) ||
	    !read_deps(ga_deps_format(base.ptr), &text, &k->lock->deps))
		ga_deps_release(&k->lock->deps);
	return &k->lock->deps;
}

/* The packages of the nearest lock file, in this directory or above; NULL: none. */
static const struct ga_deps *find_lock(struct ga_inspect *k, const char *names)
{
	cleanup_free char *dir = ga_path_parent(k->c->path);

	for (;;) {
		char *up;

		for (const char *p = names; *p; p += strcspn(p, " "), p += *p == ' ') {
			cleanup_free char *name = ga_strndup(p, strcspn(p, " "));
			cleanup_free char *path = ga_path_join(dir, name);
			struct ga_entry e = ga_inspect_entry(k, k->new_tree, path);

			if (e.mode == GA_MODE_FILE)
				return read_lock(k, path, &e);
		}
		if (!*dir)
			return NULL;
		up = ga_path_parent(dir);
		free(dir);
		dir = up;
	}
}

static int compare_name(const void *name, const void *dep)
{
	return strcmp(name, ((const struct ga_dep *)dep)->name);
}

static bool has_name(const struct ga_deps *d, const char *name)
{
	return d->n && bsearch(name, d->v, d->n, sizeof(*d->v), compare_name);
}

/* Are its `n` entries all decided by the lock file? */
static bool is_locked(const struct diff *x, const struct ga_dep *v, size_t n)
{
	const struct ga_deps *lock;

	for (size_t i = 0; i < n; i++)
		if (*v[i].origin)
			return false;
	lock = x->locks ? find_lock(x->k, x->locks) : NULL;
	return lock && has_name(lock, v->name);
}

/* Compare what `x->new` has of one name. Returns how many entries that are. */
static size_t check_name(struct diff *x, bool loose, size_t i, size_t j)
{
	const struct ga_dep *p = &x->new->v[j];
	size_t n = i < x->old->n && !strcmp(x->old->v[i].name, p->name) ? same_name(x->old, i) : 0;
	size_t m = same_name(x->new, j);
	const struct ga_dep *a = n ? &x->old->v[i] : NULL;

	if (n > SAME_NAME_MAX || m > SAME_NAME_MAX) {
		ga_strv_pushf(&x->bad, "%s is there too often to be compared", p->name);
	} else if (!n && !loose) {
		/* the lock file has the flag, if it is new there */
		if (is_locked(x, p, m))
			ga_strv_pushf(&x->good, "%s, which the lock file has", p->name);
		else
			ga_strv_pushf(&x->names, "new: %s%s%s%s%s", p->name,
				      *p->version ? " " : "", p->version,
				      *p->origin ? " from " : "", p->origin);
	} else if (n) {
		if (!loose)
			find_downgrades(x, a, n, p, m);
		for (size_t k = 0; k < m; k++) {
			if (!has_origin(a, n, &p[k]) && !has_origin(p, k, &p[k])) {
				ga_strv_pushf(&x->bad, "%s comes from %s", p->name,
					      *p[k].origin ? p[k].origin : "the registry");
				ga_strv_pushf(&x->bad, "before from %s",
					      *a->origin ? a->origin : "the registry");
			}
			check_entry(x, a, n, &p[k]);
		}
	}
	return m;
}

static void check_deps(struct diff *x, bool loose)
{
	size_t i = 0, j = 0;

	while (j < x->new->n) {
		while (i < x->old->n && strcmp(x->old->v[i].name, x->new->v[j].name) < 0)
			i++;
		j += check_name(x, loose, i, j);
	}
	for (size_t k = 0; !loose && k < x->new->edges.n; k++) {
		const char *name = x->new->edges.v[k];

		/* new names with an entry are listed above */
		if (ga_strv_find(&x->old->edges, name) < 0 && !has_name(x->old, name) &&
		    !has_name(x->new, name))
			ga_strv_pushf(&x->names, "new: %s, which a package asks for", name);
	}
}

/* ---- what else changed --------------------------------------------------------- */

/* Where the value of "KEY = VALUE" begins; NULL: it is a line. */
static const char *value_of(const char *s)
{
	const char *at = strstr(s, " = ");

	return at ? at + 3 : NULL;
}

static void push_rest(struct ga_strv *ret, const char *a, const char *b)
{
	const char *x = a ? value_of(a) : NULL, *y = b ? value_of(b) : NULL;
	const char *s = b ? b : a;

	s += strspn(s, " \t");
	if (x || y)
		ga_strv_pushf(ret, "%.*s: %.40s -> %s", (int)((y ? y : x) - s - 3), s,
			      x ? x : "none", y ? y : "none");
	else
		ga_strv_pushf(ret, "%c%s", b ? '+' : '-', s);
}

static bool same_key(const char *a, const char *b)
{
	const char *x = value_of(a), *y = value_of(b);

	return x && y && x - a == y - b && !strncmp(a, b, (size_t)(x - a));
}

enum harm { NONE, NONE_BY_NAME, HARM };

/* How harmful is the change of this key to "KEY = VALUE"? */
static enum harm rate_change(const struct ga_deps_format *x, const char *key, const char *to)
{
	const char *v = to ? value_of(to) : NULL;
	cleanup_free char *text = v && *v == '"' ? ga_strndup(v + 1, strlen(v) - 2) : NULL;

	if (text && x->own && ga_known_in(key, x->own) && ga_dep_is_plain(text))
		return NONE;
	return x->harmless && ga_known_in(key, x->harmless) ? NONE_BY_NAME : HARM;
}

/* List differing values, old and new, and return the worst change. */
static enum harm changed_rest(const struct ga_deps_format *x, const struct ga_strv *old,
			      const struct ga_strv *new, struct ga_strv *ret)
{
	enum harm worst = NONE;
	cleanup_strv struct ga_strv a = GA_STRV_INIT, b = GA_STRV_INIT;
	bool same = old->n == new->n;

	for (size_t i = 0; same && i < old->n; i++)
		same = !strcmp(old->v[i], new->v[i]);
	if (same)
		return NONE;
	ga_strv_extend(&a, old);
	ga_strv_extend(&b, new);
	ga_strv_sort_unique(&a);
	ga_strv_sort_unique(&b);
	for (size_t i = 0, j = 0; i < a.n || j < b.n;) {
		int c = i == a.n ? 1 : j == b.n ? -1 : strcmp(a.v[i], b.v[j]);
		bool both = c && i < a.n && j < b.n && same_key(a.v[i], b.v[j]);
		const char *s = c < 0 ? a.v[i] : j < b.n ? b.v[j] : NULL;
		const char *end = s ? value_of(s) : NULL;
		cleanup_free char *key = s ? ga_strndup(s, end ? (size_t)(end - s) - 3 :
							       strlen(s)) : NULL;

		if (c) {
			const char *to = both || c > 0 ? b.v[j] : NULL;
			enum harm h = rate_change(x, key, to);

			push_rest(ret, both || c < 0 ? a.v[i] : NULL, to);
			worst = h > worst ? h : worst;
		}
		i += c <= 0 || both;
		j += c >= 0 || both;
	}
	if (ret->n)
		return worst;
	ga_strv_push(ret, "their order");
	return HARM;
}

/* ---- reporting ------------------------------------------------------------------- */

/* Add a list to the first of the rules that fired. */
static void add_list(struct ga_inspect *k, const char *rules, const char *intro,
		     const struct ga_strv *what)
{
	for (const char *p = rules; *p; p += strcspn(p, " "), p += *p == ' ') {
		cleanup_free char *rule = ga_strndup(p, strcspn(p, " "));

		if (ga_has_fired(k, rule)) {
			ga_known_add_detail(k, rule, GA_HIGH, intro, what);
			return;
		}
	}
}

void ga_known_deps(const struct ga_known *f)
{
	const struct ga_deps_format *x = ga_deps_format(f->k->base);
	cleanup_deps struct ga_deps old = GA_DEPS_INIT, new = GA_DEPS_INIT;
	cleanup_strv struct ga_strv rest = GA_STRV_INIT;
	struct diff d = { .k = f->k, .old = &old, .new = &new, .locks = x ? x->lock : NULL };
	cleanup_free char *list = NULL, *why = NULL;
	enum harm harm;

	if (!x || !ga_has_fired(f->k, x->rules))
		return;
	if (!read_deps(x, f->text, &new) || !read_deps(x, f->old, &old)) {
		ga_strv_push(&d.bad, "it is in no form that is understood here");
		add_list(f->k, x->rules, "", &d.bad);
	} else {
		check_deps(&d, x->loose);
		ga_strv_extend(&d.bad, &d.names);
		harm = changed_rest(x, &old.rest, &new.rest, &rest);
		add_list(f->k, x->rules, "", &d.bad);
		if (!f->old->len || d.bad.n || harm == HARM) {
			add_list(f->k, x->rules, "changed: ", &rest);
		} else {
			ga_strv_extend(&rest, &d.good);
			list = ga_known_list(&rest);
			why = *list ? ga_strf("only %s", list) :
				      ga_strdup("only its layout, or more checksums");
			ga_lower_rules(f->k, x->rules, harm == NONE, why);
		}
	}
	ga_strv_release(&d.bad);
	ga_strv_release(&d.names);
	ga_strv_release(&d.good);
}
