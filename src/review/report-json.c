/* SPDX-License-Identifier: MIT
 *
 * The stored form of a report. Only the user's own tools can write the ref it is
 * on, but it is read back as strictly as if anybody could.
 */
#include "ga/review/report.h"

#include <string.h>

#include "ga/base/json.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/base/strmap.h"
#include "ga/session/session.h"
#include "review-internal.h"

#define REPORT_VERSION 2 /* 1 has no "more" */
#define REASONS_MAX 20000 /* beyond these a flag has the sentence of its rule */

/* ---- writing ------------------------------------------------------------ */

static json_t *strv_json(const struct ga_strv *sv)
{
	json_t *a = json_array();

	for (size_t i = 0; i < sv->n; i++) {
		json_t *o = json_object();

		ga_json_set_bytes(o, "s", sv->v[i]);
		ga_json_add(a, o);
	}
	return a;
}

static void set_strv(json_t *o, const char *key, const struct ga_strv *sv)
{
	if (sv->n)
		ga_json_set(o, key, strv_json(sv));
}

/* Flags that differ only by path and entry: "more" of the first one has those of the others, as
 * records "MODE ID COMMON LENGTH BYTES". The path begins with COMMON bytes of the one before; ID
 * "=" is the same as before. */
struct group {
	const struct ga_report_flag *first, *last;
	const char *reason;
	struct ga_buf more;
};
struct groups {
	struct group *v;
	size_t n, cap;
	struct ga_strv keys;
	struct ga_strmap by_key; /* index in `v` by all that they have in common */
};

static struct group *group_of(struct groups *g, const struct ga_report_flag *f)
{
	const struct ga_rule *rule = g->n < REASONS_MAX ? NULL : ga_rule_find(f->id);
	const char *reason = rule ? rule->reason : f->reason;
	cleanup_buf struct ga_buf key = GA_BUF_INIT;
	int32_t at;

	ga_buf_addf(&key, "%s %s %d%d%d%d%d %s", f->id, f->category, (int)f->severity,
		    (int)f->verdict, f->held, f->left, f->landing, reason);
	for (size_t i = 0; i < f->also.n; i++)
		ga_buf_addf(&key, "\n%s", f->also.v[i]);
	at = ga_strmap_first(&g->by_key, key.ptr, key.len);
	if (at >= 0)
		return &g->v[g->by_key.nodes[at].value];
	ga_strv_take(&g->keys, ga_buf_steal(&key));
	ga_strmap_add(&g->by_key, g->keys.v[g->n], strlen(g->keys.v[g->n]), (uint32_t)g->n);
	GA_GROW(g->v, g->n, g->cap);
	g->v[g->n] = (struct group){ .first = f, .reason = reason, .more = GA_BUF_INIT };
	return &g->v[g->n++];
}

static void group_flag(struct groups *g, const struct ga_report_flag *f)
{
	struct group *to = group_of(g, f);
	const struct ga_report_flag *was = to->last;
	size_t common = 0;

	to->last = f;
	if (!was)
		return;
	while (f->path[common] && f->path[common] == was->path[common])
		common++;
	ga_buf_addf(&to->more, "%o %s %zu %zu %s", f->entry.mode,
		    ga_oid_equal(&f->entry.oid, &was->entry.oid) ? "=" : GA_HEX(&f->entry.oid),
		    common, strlen(f->path + common), f->path + common);
}

static json_t *flag_json(const struct group *g)
{
	const struct ga_report_flag *f = g->first;
	json_t *o = json_object();

	ga_json_set_bytes(o, "id", f->id);
	set_strv(o, "also", &f->also);
	ga_json_set(o, "severity", json_string(ga_severity_name(f->severity)));
	ga_json_set_bytes(o, "category", f->category);
	ga_json_set_bytes(o, "path", f->path);
	ga_json_set_bytes(o, "reason", g->reason);
	ga_json_set(o, "mode", json_integer(f->entry.mode));
	ga_json_set_oid(o, "oid", &f->entry.oid);
	ga_json_set(o, "held", json_boolean(f->held));
	if (f->left)
		ga_json_set(o, "left", json_true());
	if (f->landing)
		ga_json_set(o, "landing", json_true());
	ga_json_set(o, "verdict", json_string(ga_verdict_name(f->verdict)));
	if (g->more.len)
		ga_json_set_bytes(o, "more", g->more.ptr);
	return o;
}

static json_t *flags_json(const struct ga_report *r)
{
	struct groups g = { .keys = GA_STRV_INIT, .by_key = GA_STRMAP_INIT };
	json_t *a = json_array();

	for (size_t i = 0; i < r->n_flags; i++)
		group_flag(&g, &r->flags[i]);
	for (size_t i = 0; i < g.n; i++) {
		ga_json_add(a, flag_json(&g.v[i]));
		ga_buf_release(&g.v[i].more);
	}
	free(g.v);
	ga_strv_release(&g.keys);
	ga_strmap_release(&g.by_key);
	return a;
}

static json_t *left_json(const struct ga_left *l)
{
	json_t *o = json_object();

	ga_json_set_bytes(o, "path", l->path);
	ga_json_set(o, "kind", json_string(ga_left_kind_name(l->kind)));
	ga_json_set(o, "count", json_integer((json_int_t)l->count));
	ga_json_set(o, "bytes", json_integer((json_int_t)l->bytes));
	return o;
}

char *ga_report_encode(const struct ga_report *r)
{
	json_t *o = json_object(), *left = json_array();
	char *text, *ret;

	ga_json_set(o, "version", json_integer(REPORT_VERSION));
	ga_json_set_bytes(o, "session", r->session);
	ga_json_set(o, "command", strv_json(&r->command));
	ga_json_set_oid(o, "base", &r->base);
	ga_json_set_oid(o, "tip", &r->tip);
	ga_json_set_oid(o, "held", &r->held);
	ga_json_set(o, "flags", flags_json(r));
	for (size_t i = 0; i < r->left.n; i++)
		ga_json_add(left, left_json(&r->left.v[i]));
	ga_json_set(o, "left", left);
	ga_json_set(o, "notes", strv_json(&r->notes));
	ga_json_set(o, "left_out", strv_json(&r->left_out));
	if (r->left_out.n) {
		ga_json_set_oid(o, "shown", &r->shown);
		ga_json_set_oid(o, "seen", &r->seen);
	}
	set_strv(o, "checks", &r->checks);
	set_strv(o, "limits", &r->limits);
	set_strv(o, "unkept", &r->unkept);
	if (r->unkept_more)
		ga_json_set(o, "unkept_more", json_integer((json_int_t)r->unkept_more));
	text = json_dumps(o, JSON_INDENT(1) | JSON_ENSURE_ASCII | JSON_PRESERVE_ORDER);
	json_decref(o);
	if (!text)
		GA_BUG("a report cannot be written as JSON");
	ret = ga_strf("%s\n", text);
	free(text);
	return ret;
}

/* ---- reading ------------------------------------------------------------ */

static int damaged(struct ga_error *err, const char *key)
{
	return ga_fail(err, GA_EFATAL, "'%s' is missing or wrong", key);
}

static int get_bytes(const json_t *o, const char *key, char **ret, struct ga_error *err)
{
	cleanup_free char *b64 = ga_strf("%s_b64", key);
	cleanup_buf struct ga_buf raw = GA_BUF_INIT;
	const char *s = json_string_value(json_object_get(o, key));

	if (s) {
		*ret = ga_strdup(s);
		return 0;
	}
	s = json_string_value(json_object_get(o, b64));
	if (!s || !ga_base64_decode(s, &raw) || memchr(raw.ptr, '\0', raw.len))
		return damaged(err, key);
	*ret = ga_buf_steal(&raw);
	return 0;
}

/* null stands for the zero id */
static int get_oid(const json_t *o, const char *key, struct ga_oid *ret, struct ga_error *err)
{
	const json_t *v = json_object_get(o, key);
	const char *s = json_string_value(v);

	memset(ret, 0, sizeof(*ret));
	if (json_is_null(v))
		return 0;
	if (!s || !ga_oid_parse(s, strlen(s), ret))
		return damaged(err, key);
	return 0;
}

static int get_count(const json_t *o, const char *key, uint64_t *ret, struct ga_error *err)
{
	const json_t *v = json_object_get(o, key);

	if (!json_is_integer(v) || json_integer_value(v) < 0)
		return damaged(err, key);
	*ret = (uint64_t)json_integer_value(v);
	return 0;
}

static int get_strv(const json_t *o, const char *key, bool optional, struct ga_strv *ret,
		    struct ga_error *err)
{
	const json_t *a = json_object_get(o, key);

	if (!a && optional)
		return 0;
	if (!json_is_array(a))
		return damaged(err, key);
	for (size_t i = 0; i < json_array_size(a); i++) {
		char *s;

		if (get_bytes(json_array_get(a, i), "s", &s, err))
			return -1;
		ga_strv_take(ret, s);
	}
	return 0;
}

/* The value from `first` to `last` that has the name. */
#define get_named(o, key, first, last, name_of, ret, err)                                   \
	({                                                                                  \
		const char *name_ = json_string_value(json_object_get((o), (key)));         \
		__typeof__(*(ret)) at_ = (first);                                           \
										    \
		while (name_ && at_ <= (last) && strcmp(name_, name_of(at_)) != 0)          \
			at_++;                                                              \
		*(ret) = at_;                                                               \
		name_ && at_ <= (last) ? 0 : damaged((err), (key));                         \
	})

static int check_mode(uint64_t mode, uint32_t *ret, struct ga_error *err)
{
	switch (mode) {
	case GA_MODE_NONE:
	case GA_MODE_FILE:
	case GA_MODE_EXEC:
	case GA_MODE_LINK:
	case GA_MODE_GITLINK:
	case GA_MODE_TREE:
		*ret = (uint32_t)mode;
		return 0;
	default:
		return damaged(err, "mode");
	}
}

/* A number that ends in a blank. */
static bool take_number(const char **p, unsigned base, size_t *ret)
{
	const char *start = *p;

	for (*ret = 0; **p >= '0' && **p < (char)('0' + base) && *p - start < 9; ++*p)
		*ret = *ret * base + (size_t)(**p - '0');
	return *p > start && *(*p)++ == ' ';
}

/* One record of "more", which follows the report's last flag. */
static int get_record(const char **p, struct ga_report *r, struct ga_error *err)
{
	const struct ga_report_flag *was = &r->flags[r->n_flags - 1];
	struct ga_entry e = was->entry;
	size_t mode, common, n;
	struct ga_buf path = GA_BUF_INIT;

	if (!take_number(p, 8, &mode))
		return damaged(err, "more");
	if (check_mode(mode, &e.mode, err))
		return -1;
	if (**p == '=')
		++*p;
	else if (strnlen(*p, GA_OID_HEXSZ) < GA_OID_HEXSZ ||
		 !ga_oid_parse(*p, GA_OID_HEXSZ, &e.oid))
		return damaged(err, "more");
	else
		*p += GA_OID_HEXSZ;
	if (*(*p)++ != ' ' || !take_number(p, 10, &common) || !take_number(p, 10, &n) ||
	    common > strlen(was->path) || strnlen(*p, n) < n)
		return damaged(err, "more");
	ga_buf_add(&path, was->path, common);
	ga_buf_add(&path, *p, n);
	*p += n;
	review_append_flag(r, was);
	free(r->flags[r->n_flags - 1].path);
	r->flags[r->n_flags - 1].path = ga_buf_steal(&path);
	r->flags[r->n_flags - 1].entry = e;
	return 0;
}

static int get_more(const json_t *o, struct ga_report *r, struct ga_error *err)
{
	cleanup_free char *more = NULL;

	if ((json_object_get(o, "more") || json_object_get(o, "more_b64")) &&
	    get_bytes(o, "more", &more, err))
		return -1;
	for (const char *p = more; p && *p;)
		if (get_record(&p, r, err))
			return -1;
	return 0;
}

static int get_flag(const json_t *o, struct ga_report *r, struct ga_error *err)
{
	uint64_t mode;
	const json_t *held = json_object_get(o, "held");
	struct ga_report_flag *f;

	GA_GROW(r->flags, r->n_flags, r->cap_flags);
	f = &r->flags[r->n_flags++];
	memset(f, 0, sizeof(*f));
	if (!json_is_boolean(held))
		return damaged(err, "held");
	f->held = json_is_true(held);
	/* reports of earlier versions do not have these */
	f->left = json_is_true(json_object_get(o, "left"));
	f->landing = json_is_true(json_object_get(o, "landing"));
	if (get_strv(o, "also", true, &f->also, err) || get_bytes(o, "id", &f->id, err) ||
	    get_bytes(o, "category", &f->category, err) || get_bytes(o, "path", &f->path, err) ||
	    get_bytes(o, "reason", &f->reason, err) ||
	    get_named(o, "severity", GA_LOW, GA_CRITICAL, ga_severity_name, &f->severity, err) ||
	    get_named(o, "verdict", GA_VERDICT_OPEN, GA_VERDICT_REJECTED, ga_verdict_name,
		      &f->verdict, err) ||
	    get_count(o, "mode", &mode, err) || check_mode(mode, &f->entry.mode, err) ||
	    get_oid(o, "oid", &f->entry.oid, err))
		return -1;
	return get_more(o, r, err);
}

static int get_left(const json_t *o, struct ga_left_list *l, struct ga_error *err)
{
	struct ga_left *v;

	GA_GROW(l->v, l->n, l->cap);
	v = &l->v[l->n++];
	memset(v, 0, sizeof(*v));
	return get_bytes(o, "path", &v->path, err) || get_count(o, "count", &v->count, err) ||
	       get_count(o, "bytes", &v->bytes, err) ||
	       get_named(o, "kind", GA_LEFT_IGNORED, GA_LEFT_LIMIT, ga_left_kind_name, &v->kind,
			 err) ? -1 : 0;
}

static int get_checks(const json_t *o, struct ga_strv *ret, struct ga_error *err)
{
	struct ga_check c;

	if (get_strv(o, "checks", true, ret, err))
		return -1;
	for (size_t i = 0; i < ret->n; i++)
		if (!ga_check_parse(ret->v[i], &c))
			return damaged(err, "checks");
	return 0;
}

static int get_lists(const json_t *o, struct ga_report *r, struct ga_error *err)
{
	const json_t *flags = json_object_get(o, "flags"), *left = json_object_get(o, "left");

	if (!json_is_array(flags))
		return damaged(err, "flags");
	for (size_t i = 0; i < json_array_size(flags); i++)
		if (get_flag(json_array_get(flags, i), r, err))
			return -1;
	review_sort_flags(r);
	if (!json_is_array(left))
		return damaged(err, "left");
	for (size_t i = 0; i < json_array_size(left); i++)
		if (get_left(json_array_get(left, i), &r->left, err))
			return -1;
	if (get_strv(o, "command", false, &r->command, err) ||
	    get_strv(o, "notes", false, &r->notes, err) ||
	    get_strv(o, "left_out", false, &r->left_out, err) ||
	    get_checks(o, &r->checks, err) || get_strv(o, "limits", true, &r->limits, err) ||
	    get_strv(o, "unkept", true, &r->unkept, err))
		return -1;
	/* reports of earlier versions do not have these */
	if ((json_object_get(o, "unkept_more") &&
	     get_count(o, "unkept_more", &r->unkept_more, err)) ||
	    (json_object_get(o, "seen") && (get_oid(o, "shown", &r->shown, err) ||
					    get_oid(o, "seen", &r->seen, err))))
		return -1;
	/* these paths will be opened in the user's working tree */
	for (size_t i = 0; i < r->left_out.n; i++)
		if (!ga_path_relative_ok(r->left_out.v[i]))
			return damaged(err, "left_out");
	return 0;
}

static int get_report(const json_t *o, struct ga_report *r, struct ga_error *err)
{
	uint64_t version;

	if (get_count(o, "version", &version, err))
		return -1;
	if (version < 1 || version > REPORT_VERSION)
		return ga_fail(err, GA_EFATAL, "it was written by another version of git-agent");
	if (get_bytes(o, "session", &r->session, err) || get_oid(o, "base", &r->base, err) ||
	    get_oid(o, "tip", &r->tip, err) || get_oid(o, "held", &r->held, err))
		return -1;
	return get_lists(o, r, err);
}

int ga_report_decode(const char *text, size_t n, struct ga_report *ret, struct ga_error *err)
{
	cleanup_report struct ga_report r = GA_REPORT_INIT;
	json_error_t why;
	json_t *o = json_loadb(text, n, JSON_REJECT_DUPLICATES, &why);
	int rc;

	if (!json_is_object(o)) {
		json_decref(o);
		return ga_fail(err, GA_EFATAL, "it is not a JSON object");
	}
	rc = get_report(o, &r, err);
	json_decref(o);
	if (rc)
		return -1;
	ga_report_release(ret);
	*ret = r;
	r = (struct ga_report)GA_REPORT_INIT;
	return 0;
}
