/* SPDX-License-Identifier: MIT
 *
 * The stored form of a report: a commit of one JSON file at refs/agent/NAME/report. Only the user
 * can write that ref, but its content is validated all the same.
 */
#include <string.h>

#include "ga/base/json.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/base/strmap.h"
#include "ga/repo/objects.h"
#include "ga/repo/refs.h"
#include "ga/session/session.h"
#include "review-internal.h"

#define REPORT_VERSION 2 /* 1 has no "more" */
#define REASONS_MAX 20000 /* beyond these a flag has the sentence of its rule */
/* All paths that a capture takes by its default limits, flagged twice each, stay below this. */
#define REPORT_MAX ((size_t)1 << 30)

/* ---- members ------------------------------------------------------------ */

/* An object that is written, or read and checked: its members are named once for both. An optional
 * member is not written if it is empty, and reports of earlier versions may not have it. */
struct io {
	json_t *o;
	bool writes;
	struct ga_error *err;
};

static int damaged(struct ga_error *err, const char *key)
{
	return ga_fail(err, GA_EFATAL, "'%s' is missing or wrong", key);
}

static int io_bytes(const struct io *io, const char *key, char **value)
{
	cleanup_free char *b64 = ga_strf("%s_b64", key);
	cleanup_buf struct ga_buf raw = GA_BUF_INIT;
	const char *s;

	if (io->writes) {
		ga_json_set_bytes(io->o, key, *value);
		return 0;
	}
	s = json_string_value(json_object_get(io->o, key));
	if (s) {
		*value = ga_strdup(s);
		return 0;
	}
	s = json_string_value(json_object_get(io->o, b64));
	if (!s || !ga_base64_decode(s, &raw) || memchr(raw.ptr, '\0', raw.len))
		return damaged(io->err, key);
	*value = ga_buf_steal(&raw);
	return 0;
}

/* null means the zero id */
static int io_oid(const struct io *io, const char *key, struct ga_oid *value)
{
	const json_t *v = json_object_get(io->o, key);
	const char *s = json_string_value(v);

	if (io->writes)
		ga_json_set_oid(io->o, key, value);
	else if (!json_is_null(v) && (!s || !ga_oid_parse(s, strlen(s), value)))
		return damaged(io->err, key);
	return 0;
}

static int io_count(const struct io *io, const char *key, bool optional, uint64_t *value)
{
	const json_t *v = json_object_get(io->o, key);

	if (optional && (io->writes ? !*value : !v))
		return 0;
	if (io->writes)
		ga_json_set(io->o, key, json_integer((json_int_t)*value));
	else if (!json_is_integer(v) || json_integer_value(v) < 0)
		return damaged(io->err, key);
	else
		*value = (uint64_t)json_integer_value(v);
	return 0;
}

static int io_bool(const struct io *io, const char *key, bool optional, bool *value)
{
	const json_t *v = json_object_get(io->o, key);

	if (optional && (io->writes ? !*value : !v))
		return 0;
	if (io->writes)
		ga_json_set(io->o, key, json_boolean(*value));
	else if (!json_is_boolean(v))
		return damaged(io->err, key);
	else
		*value = json_is_true(v);
	return 0;
}

/* The name of a value from 0 to `last`. */
#define io_named(io, key, last, name_of, value)                                               \
	({                                                                                    \
		const char *name_ = json_string_value(json_object_get((io)->o, (key)));       \
		__typeof__(*(value)) at_ = 0;                                                 \
										      \
		if ((io)->writes) {                                                           \
			at_ = *(value);                                                       \
			name_ = name_of(at_);                                                 \
			ga_json_set((io)->o, (key), json_string(name_));                      \
		}                                                                             \
		while (name_ && at_ <= (last) && strcmp(name_, name_of(at_)) != 0)            \
			at_++;                                                                \
		*(value) = at_;                                                               \
		name_ && at_ <= (last) ? 0 : damaged((io)->err, (key));                       \
	})

/* A list of objects, of which `*n` are written or were read. NULL: not a list. */
static json_t *io_list(const struct io *io, const char *key, size_t *n)
{
	json_t *a = io->writes ? json_array() : json_object_get(io->o, key);

	if (io->writes) {
		ga_json_set(io->o, key, a);
	} else if (!json_is_array(a)) {
		(void)damaged(io->err, key);
		return NULL;
	} else {
		*n = json_array_size(a);
	}
	return a;
}

static struct io io_element(const struct io *io, json_t *list, size_t i)
{
	struct io at = *io;

	at.o = io->writes ? json_object() : json_array_get(list, i);
	if (io->writes)
		ga_json_add(list, at.o);
	return at;
}

static int io_strv(const struct io *io, const char *key, bool optional, struct ga_strv *value)
{
	size_t n = value->n;
	json_t *a;

	if (optional && (io->writes ? !n : !json_object_get(io->o, key)))
		return 0;
	a = io_list(io, key, &n);
	for (size_t i = 0; a && i < n; i++) {
		struct io at = io_element(io, a, i);
		char *s = io->writes ? value->v[i] : NULL;

		if (io_bytes(&at, "s", &s))
			return -1;
		if (!io->writes)
			ga_strv_take(value, s);
	}
	return a ? 0 : -1;
}

/* ---- flags -------------------------------------------------------------- */

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
	const struct ga_flag *was = &r->flags.v[r->flags.n - 1];
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
	ga_flags_copy(&r->flags, was);
	free(r->flags.v[r->flags.n - 1].path);
	r->flags.v[r->flags.n - 1].path = ga_buf_steal(&path);
	r->flags.v[r->flags.n - 1].entry = e;
	return 0;
}

static int io_flag(const struct io *io, struct ga_flag *f)
{
	uint64_t mode = f->entry.mode;

	return io_bytes(io, "id", &f->rule) || io_strv(io, "also", true, &f->also) ||
	       io_named(io, "severity", GA_CRITICAL, ga_severity_name, &f->severity) ||
	       io_bytes(io, "category", &f->category) || io_bytes(io, "path", &f->path) ||
	       io_bytes(io, "reason", &f->reason) || io_count(io, "mode", false, &mode) ||
	       check_mode(mode, &f->entry.mode, io->err) || io_oid(io, "oid", &f->entry.oid) ||
	       io_bool(io, "held", false, &f->held) || io_bool(io, "left", true, &f->left) ||
	       io_bool(io, "landing", true, &f->landing) ||
	       io_named(io, "verdict", GA_VERDICT_REJECTED, ga_verdict_name, &f->verdict) ? -1 : 0;
}

static int read_flags(const struct io *io, struct ga_report *r)
{
	size_t n = 0;
	json_t *a = io_list(io, "flags", &n);

	for (size_t i = 0; a && i < n; i++) {
		struct io at = io_element(io, a, i);
		cleanup_free char *more = NULL;

		GA_GROW(r->flags.v, r->flags.n, r->flags.cap);
		r->flags.v[r->flags.n] = (struct ga_flag){ .also = GA_STRV_INIT };
		if (io_flag(&at, &r->flags.v[r->flags.n++]))
			return -1;
		if ((json_object_get(at.o, "more") || json_object_get(at.o, "more_b64")) &&
		    io_bytes(&at, "more", &more))
			return -1;
		for (const char *p = more; p && *p;)
			if (get_record(&p, r, io->err))
				return -1;
	}
	ga_flags_sort(&r->flags);
	return a ? 0 : -1;
}

/* Flags that differ only by path and entry: "more" of the first one has those of the others, as
 * records "MODE ID COMMON LENGTH BYTES". The path begins with COMMON bytes of the one before; ID
 * "=" is the same as before. */
struct group {
	const struct ga_flag *first, *last;
	const char *reason;
	struct ga_buf more;
};
struct groups {
	struct group *v;
	size_t n, cap;
	struct ga_strv keys;
	struct ga_strmap by_key; /* index in `v` by all that they have in common */
};

static struct group *group_of(struct groups *g, const struct ga_flag *f)
{
	const struct ga_rule *rule = g->n < REASONS_MAX ? NULL : ga_rule_find(f->rule);
	const char *reason = rule ? rule->reason : f->reason;
	cleanup_buf struct ga_buf key = GA_BUF_INIT;
	int32_t at;

	ga_buf_addf(&key, "%s %s %d%d%d%d%d %s", f->rule, f->category, (int)f->severity,
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

static void group_flag(struct groups *g, const struct ga_flag *f)
{
	struct group *to = group_of(g, f);
	const struct ga_flag *was = to->last;
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

static void write_flags(const struct io *io, const struct ga_report *r)
{
	struct groups g = { .keys = GA_STRV_INIT, .by_key = GA_STRMAP_INIT };
	size_t n = 0;
	json_t *a = io_list(io, "flags", &n);

	for (size_t i = 0; i < r->flags.n; i++)
		group_flag(&g, &r->flags.v[i]);
	for (size_t i = 0; i < g.n; i++) {
		struct io at = io_element(io, a, i);
		struct ga_flag f = *g.v[i].first;
		cleanup_free char *reason = ga_strdup(g.v[i].reason);

		f.reason = reason;
		(void)io_flag(&at, &f);
		if (g.v[i].more.len)
			ga_json_set_bytes(at.o, "more", g.v[i].more.ptr);
		ga_buf_release(&g.v[i].more);
	}
	free(g.v);
	ga_strv_release(&g.keys);
	ga_strmap_release(&g.by_key);
}

/* ---- the report --------------------------------------------------------- */

static int io_left(const struct io *io, struct ga_leftovers *l)
{
	size_t n = l->n;
	json_t *a = io_list(io, "left", &n);

	for (size_t i = 0; a && i < n; i++) {
		struct io at = io_element(io, a, i);

		if (!io->writes) {
			GA_GROW(l->v, l->n, l->cap);
			l->v[l->n++] = (struct ga_leftover){ NULL, 0, 0, 0 };
		}
		if (io_bytes(&at, "path", &l->v[i].path) ||
		    io_named(&at, "kind", GA_LEFTOVER_LIMIT, ga_leftover_kind_name,
			     &l->v[i].kind) ||
		    io_count(&at, "count", false, &l->v[i].count) ||
		    io_count(&at, "bytes", false, &l->v[i].bytes))
			return -1;
	}
	return a ? 0 : -1;
}

static int io_report(const struct io *io, struct ga_report *r)
{
	uint64_t version = REPORT_VERSION;

	if (io_count(io, "version", false, &version))
		return -1;
	if (version < 1 || version > REPORT_VERSION)
		return ga_fail(io->err, GA_EFATAL,
			       "it was written by another version of git-agent");
	if (io_bytes(io, "session", &r->session) || io_strv(io, "command", false, &r->command) ||
	    io_oid(io, "base", &r->base) || io_oid(io, "tip", &r->tip) ||
	    io_oid(io, "held", &r->held))
		return -1;
	if (io->writes)
		write_flags(io, r);
	else if (read_flags(io, r))
		return -1;
	if (io_left(io, &r->left) || io_strv(io, "notes", false, &r->notes) ||
	    io_strv(io, "left_out", false, &r->left_out))
		return -1;
	if ((io->writes ? r->left_out.n > 0 : json_object_get(io->o, "seen") != NULL) &&
	    (io_oid(io, "shown", &r->shown) || io_oid(io, "seen", &r->seen)))
		return -1;
	return io_strv(io, "checks", true, &r->checks) || io_strv(io, "limits", true, &r->limits) ||
	       io_strv(io, "unkept", true, &r->unkept) ||
	       io_count(io, "unkept_more", true, &r->unkept_more) ? -1 : 0;
}

char *ga_report_encode(const struct ga_report *r)
{
	struct ga_report members = *r;
	const struct io io = { .o = json_object(), .writes = true };
	char *text, *ret;

	(void)io_report(&io, &members);
	text = json_dumps(io.o, JSON_INDENT(1) | JSON_ENSURE_ASCII | JSON_PRESERVE_ORDER);
	json_decref(io.o);
	if (!text)
		GA_BUG("a report cannot be written as JSON");
	ret = ga_strf("%s\n", text);
	free(text);
	return ret;
}

static int check_report(const struct ga_report *r, struct ga_error *err)
{
	struct ga_check c;

	for (size_t i = 0; i < r->checks.n; i++)
		if (!ga_check_parse(r->checks.v[i], &c))
			return damaged(err, "checks");
	/* these paths will be opened in the user's working tree */
	for (size_t i = 0; i < r->left_out.n; i++)
		if (!ga_path_relative_ok(r->left_out.v[i]))
			return damaged(err, "left_out");
	return 0;
}

int ga_report_decode(const char *text, size_t n, struct ga_report *ret, struct ga_error *err)
{
	cleanup_report struct ga_report r = GA_REPORT_INIT;
	json_error_t why;
	const struct io io = { .o = json_loadb(text, n, JSON_REJECT_DUPLICATES, &why), .err = err };
	int rc;

	if (json_is_object(io.o))
		rc = io_report(&io, &r) || check_report(&r, err);
	else
		rc = ga_fail(err, GA_EFATAL, "it is not a JSON object");
	json_decref(io.o);
	if (rc)
		return -1;
	ga_report_release(ret);
	*ret = r;
	r = (struct ga_report)GA_REPORT_INIT;
	return 0;
}

/* ---- the commit --------------------------------------------------------- */

int ga_report_write(struct ga_repo *repo, const struct ga_report *r, const char *committer,
		    const struct ga_oid *parent_or_null, struct ga_oid *ret, struct ga_error *err)
{
	cleanup_free char *text = ga_report_encode(r), *who = ga_strdup(committer);
	cleanup_free char *message = ga_strf("Report of session '%s'\n", r->session);
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;
	struct ga_entry none = {0}, blob = {.mode = GA_MODE_FILE};
	struct ga_oid parent, *parents = NULL;
	char empty[1] = "";
	struct ga_commit c = {.author = who, .committer = who, .extra = empty, .message = message};

	if (strlen(text) > REPORT_MAX) {
		(void)ga_fail(err, GA_EFATAL, "the report of session '%s' is too long",
			      r->session);
		/* all that can be long in a report is about files */
		return ga_hint(err, "'git agent -c limits.capture.entries=1000 capture %s' looks "
				    "at fewer files, and leaves the rest in the session",
			       r->session);
	}
	if (ga_blob_write(repo, text, strlen(text), &blob.oid, err))
		return -1;
	(void)ga_changes_add(&changes, "report.json", &none, &blob);
	if (ga_tree_apply(repo, NULL, NULL, &changes, &c.tree, err))
		return -1;
	if (parent_or_null) {
		parent = *parent_or_null;
		parents = &parent;
		c.n_parents = 1;
	}
	c.parents = parents;
	return ga_commit_write(repo, &c, ret, err);
}

static int read_text(struct ga_repo *repo, const struct ga_oid *commit, struct ga_buf *out,
		     struct ga_error *err)
{
	struct ga_entry e;
	struct ga_oid tree;
	int rc;

	if (ga_commit_tree(repo, commit, &tree, err) ||
	    ga_tree_entry(repo, &tree, "report.json", &e, err))
		return -1;
	if (e.mode != GA_MODE_FILE)
		return ga_fail(err, GA_EFATAL, "it has no report.json");
	rc = ga_blob_read(repo, &e.oid, REPORT_MAX, out, err);
	if (rc > 0)
		return ga_fail(err, GA_EFATAL, "it is too long");
	return rc;
}

int ga_report_read_at(struct ga_repo *repo, const struct ga_session *s,
		      const struct ga_oid *commit, struct ga_report *ret, struct ga_error *err)
{
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	cleanup_report struct ga_report r = GA_REPORT_INIT;

	if (read_text(repo, commit, &text, err) || ga_report_decode(text.ptr, text.len, &r, err))
		return -1;
	if (strcmp(r.session, s->name) != 0)
		return ga_fail(err, GA_EFATAL, "it belongs to another session");
	ga_report_release(ret);
	*ret = r;
	r = (struct ga_report)GA_REPORT_INIT;
	return 0;
}

int ga_report_read(struct ga_repo *repo, const struct ga_session *s, struct ga_report *ret,
		   struct ga_error *err)
{
	cleanup_free char *ref = ga_session_ref(s, "report");
	struct ga_oid commit;
	int rc = ga_ref_read(repo, ref, &commit, err);

	if (rc)
		return rc;
	if (!ga_report_read_at(repo, s, &commit, ret, err))
		return 0;
	/* another command may have dropped the session */
	if (ga_ref_read(repo, ref, &commit, GA_IGNORED) == 1) {
		ga_error_release(err);
		return 1;
	}
	(void)ga_error_wrap(err, "the report of session '%s' is damaged", s->name);
	return ga_hint(err, "'git log %s' shows earlier ones", ref);
}

void ga_report_load(struct ga_repo *repo, struct ga_session *s)
{
	cleanup_report struct ga_report r = GA_REPORT_INIT;
	cleanup_error struct ga_error damaged = GA_ERROR_INIT;

	(void)ga_report_read(repo, s, &r, &damaged);
	ga_report_copy_result(&r, s);
}
