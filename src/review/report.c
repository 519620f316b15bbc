/* SPDX-License-Identifier: MIT */
#include "ga/review/review.h"

#include <string.h>

#include "ga/base/json.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/base/strmap.h"
#include "ga/session/session.h"
#include "review-internal.h"

static const char *const verdict_names[] = {
    [GA_VERDICT_OPEN] = "open",
    [GA_VERDICT_ACCEPTED] = "accepted",
    [GA_VERDICT_REJECTED] = "rejected",
};

const char *ga_verdict_name(enum ga_verdict v)
{
	return verdict_names[v];
}

void ga_report_release(struct ga_report *r)
{
	free(r->session);
	ga_strv_release(&r->command);
	ga_flags_release(&r->flags);
	ga_leftovers_release(&r->left);
	ga_strv_release(&r->notes);
	ga_strv_release(&r->left_out);
	ga_strv_release(&r->checks);
	ga_strv_release(&r->limits);
	ga_strv_release(&r->unkept);
	*r = (struct ga_report)GA_REPORT_INIT;
}

void ga_report_begin(struct ga_report *r, const struct ga_session *s)
{
	r->session = ga_strdup(s->name);
	ga_strv_extend(&r->command, &s->id.command);
	ga_strv_extend(&r->checks, &s->run.checks);
	r->base = *ga_session_own_base(s);
}

bool ga_report_is_empty(const struct ga_report *r)
{
	return ga_oid_is_zero(&r->tip) && ga_oid_is_zero(&r->held) && !r->flags.n && !r->left.n &&
	       !r->left_out.n && !r->notes.n && !r->limits.n;
}

/* The report has the same flag already. It gets the new one's reason and severity: the host may
 * have changed since. A verdict on a less severe flag does not hold for the more severe one. */
static void merge(struct ga_flag *have, const struct ga_flag *f)
{
	if (f->severity > have->severity)
		have->verdict = GA_VERDICT_OPEN;
	have->severity = f->severity;
	free(have->reason);
	have->reason = ga_strdup(f->reason);
	ga_strv_release(&have->also);
	ga_strv_extend(&have->also, &f->also);
	have->held = have->held || f->held;
	have->left = have->left && f->left;
	have->landing = have->landing && f->landing;
}

void ga_report_add_flags(struct ga_report *r, enum ga_flags_from from, const struct ga_flags *f,
			 const struct ga_strv *held_paths)
{
	cleanup_strmap struct ga_strmap held_ones = GA_STRMAP_INIT;
	size_t n_old;

	if (!f->n)
		return;
	for (size_t i = 0; held_paths && i < held_paths->n; i++)
		ga_strmap_add(&held_ones, held_paths->v[i], strlen(held_paths->v[i]), 0);
	/* sorted for bsearch(), so that many thousands of flags stay quick */
	if (r->flags.n)
		qsort(r->flags.v, r->flags.n, sizeof(*r->flags.v), ga_flag_compare);
	n_old = r->flags.n;
	for (size_t i = 0; i < f->n; i++) {
		struct ga_flag new = f->v[i], *have = NULL;

		new.held = ga_strmap_first(&held_ones, new.path, strlen(new.path)) >= 0;
		new.left = from == GA_FROM_LEFTOVERS;
		new.landing = from == GA_FROM_LANDING;
		if (n_old)
			have = bsearch(&new, r->flags.v, n_old, sizeof(new), ga_flag_compare);
		if (have)
			merge(have, &new);
		else
			ga_flags_copy(&r->flags, &new);
	}
	ga_flags_sort(&r->flags);
}

/* Is a flag with the rule and path of `f` among those in `by_path`? */
static bool has_rule(const struct ga_report *r, const struct ga_strmap *by_path,
		     const struct ga_flag *f)
{
	int32_t at = ga_strmap_first(by_path, f->path, strlen(f->path));

	for (; at >= 0; at = by_path->nodes[at].next)
		if (!strcmp(r->flags.v[by_path->nodes[at].value].rule, f->rule))
			return true;
	return false;
}

void ga_report_add_former(struct ga_report *r, const struct ga_report *former)
{
	cleanup_strmap struct ga_strmap by_path = GA_STRMAP_INIT;

	if (!former->flags.n)
		return;
	/* one for each path and rule: a path may have had many versions, with a flag each */
	for (size_t i = 0; i < r->flags.n; i++)
		if (!has_rule(r, &by_path, &r->flags.v[i]))
			ga_strmap_add(&by_path, r->flags.v[i].path, strlen(r->flags.v[i].path),
				      (uint32_t)i);
	for (size_t i = 0; i < former->flags.n; i++) {
		const struct ga_flag *f = &former->flags.v[i];

		if (!f->held && !f->left && !has_rule(r, &by_path, f))
			ga_flags_copy(&r->flags, f);
	}
	ga_flags_sort(&r->flags);
}

void ga_report_count(const struct ga_report *r, struct ga_report_counts *ret)
{
	*ret = (struct ga_report_counts){ .held = { 0 } };
	for (size_t i = 0; i < r->flags.n; i++) {
		const struct ga_flag *f = &r->flags.v[i];

		if (f->left)
			continue;
		ret->all++;
		ret->severity[f->severity]++;
		ret->verdict[f->verdict]++;
		ret->held[f->severity] += f->held;
	}
}

bool ga_report_flag_blocks(const struct ga_flag *f)
{
	return f->verdict == GA_VERDICT_OPEN && !f->left && (f->severity >= GA_HIGH || f->held);
}

size_t ga_report_open(const struct ga_report *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->flags.n; i++)
		n += ga_report_flag_blocks(&r->flags.v[i]);
	return n;
}

void ga_report_copy_result(const struct ga_report *r, struct ga_session *s)
{
	s->result.tip = r->tip;
	s->result.held = r->held;
	ga_strv_release(&s->result.notes);
	ga_strv_extend(&s->result.notes, &r->notes);
	ga_strv_release(&s->result.left_out);
	/* an earlier version noted what a landing applied in the state file only */
	if (s->state != GA_STATE_LANDED)
		ga_strv_extend(&s->result.left_out, &r->left_out);
}

/* ---- trailers and checks ---- */

#define KEY "-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

void ga_report_trailer(struct ga_buf *message, const char *key, const struct ga_flag *f,
		       bool verdict)
{
	cleanup_free char *q = ga_quote(f->path), *id = ga_escape(f->rule);

	ga_buf_addf(message, "%s: %s %s %s", key, ga_severity_name(f->severity), id, q);
	if (verdict)
		ga_buf_addf(message, " %06o %s", f->entry.mode, GA_HEX(&f->entry.oid));
	ga_buf_addch(message, '\n');
}

void ga_report_checks(const struct ga_strv *checks, struct ga_strv *ret)
{
	struct ga_check c;

	for (size_t i = 0; i < checks->n; i++) {
		cleanup_free char *text = NULL;
		cleanup_buf struct ga_buf safe = GA_BUF_INIT;

		if (!ga_check_parse(checks->v[i], &c))
			continue;
		/* it is safe already; escaping it again costs nothing */
		text = ga_check_text(&c);
		ga_quote_add_text(&safe, text, strlen(text));
		ga_strv_push(ret, safe.ptr);
	}
}

json_t *ga_report_checks_json(const struct ga_strv *checks)
{
	json_t *list = json_array();
	struct ga_check c;

	for (size_t i = 0; i < checks->n; i++) {
		json_t *o;

		if (!ga_check_parse(checks->v[i], &c))
			continue;
		o = json_object();
		ga_json_set_bytes(o, "command", c.command);
		ga_json_set(o, "end", json_string(ga_check_end_name(c.end)));
		ga_json_set(o, "status", c.end == GA_CHECK_EXITED ?
			    json_integer(c.status) : json_null());
		ga_json_add(list, o);
	}
	return list;
}

/* Is the last paragraph a block of trailers, to which more are added? */
static bool ends_in_trailers(const struct ga_buf *m)
{
	const char *last = m->ptr + m->len, *colon;
	size_t n;

	while (last > m->ptr && last[-1] != '\n')
		last--;
	n = strspn(last, KEY);
	colon = last + n;
	return last > m->ptr && n && colon[0] == ':' && colon[1] == ' ';
}

void ga_report_check_trailers(const struct ga_strv *checks, struct ga_buf *message)
{
	cleanup_strv struct ga_strv lines = GA_STRV_INIT;

	ga_report_checks(checks, &lines);
	if (!lines.n)
		return;
	while (message->len && message->ptr[message->len - 1] == '\n')
		ga_buf_chomp(message);
	ga_buf_adds(message, ends_in_trailers(message) ? "\n" : "\n\n");
	for (size_t i = 0; i < lines.n && i < GA_REPORT_TRAILERS; i++)
		ga_buf_addf(message, "Agent-Check: %s\n", lines.v[i]);
}

/* ---- how flags are listed ---- */

#define SINGLY 3  /* so many of one kind in a directory have a line each */
#define REASONS 3 /* different ones on a line */

void ga_flag_lines_release(struct ga_flag_lines *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].path);
		free(l->v[i].reason);
	}
	free(l->v);
	*l = (struct ga_flag_lines){ NULL, 0, 0 };
}

struct kind {
	size_t n, line, reasons; /* its flags; the line of all of them; what that says */
};
struct kinds {
	struct kind *v;
	size_t n, cap;
	size_t *of; /* index in `v` for each flag */
	struct ga_strv keys;
	struct ga_strmap by_key;
};

/* Instruction files for agents are listed together, across directories. */
static bool is_prose(const struct ga_flag *f)
{
	return !strcmp(f->rule, "instruction-files");
}

static void count_flag(struct kinds *k, size_t flag, const struct ga_flag *f)
{
	int dir = is_prose(f) ? 0 : (int)(ga_path_base(f->path) - f->path);
	char *key = ga_strf("%s %d%d%d %.*s", f->rule, (int)f->severity, (int)f->verdict, f->held,
			    dir, f->path);
	int32_t at = ga_strmap_first(&k->by_key, key, strlen(key));

	k->of[flag] = at >= 0 ? k->by_key.nodes[at].value : k->n;
	if (at < 0) {
		GA_GROW(k->v, k->n, k->cap);
		k->v[k->n] = (struct kind){ .line = SIZE_MAX };
		ga_strmap_add(&k->by_key, key, strlen(key), (uint32_t)k->n++);
	}
	ga_strv_take(&k->keys, key);
	k->v[k->of[flag]].n++;
}

static void add_line(struct ga_flag_lines *l, size_t flag, const struct ga_flag *f,
		     size_t n)
{
	cleanup_free char *dir = ga_path_parent(f->path), *q = ga_quote(*dir ? dir : ".");

	char *one = ga_quote(*f->path ? f->path : "."), *path = one;

	if (n > 1)
		path = is_prose(f) ? ga_strf("%s and %zu more", one, n - 1)
				   : ga_strf("%s/ (%zu paths)", q, n);
	if (path != one)
		free(one);
	GA_GROW(l->v, l->n, l->cap);
	l->v[l->n++] = (struct ga_flag_line){ flag, path, ga_strdup(f->reason) };
}

/* Append the part of another flag's reason after the sentence that all flags of the line share. */
static void add_reason(struct ga_flag_line *l, const struct ga_flag *f)
{
	cleanup_free char *q = ga_quote(is_prose(f) ? f->path : ga_path_base(f->path));
	size_t own = 0;
	char *both;

	for (size_t i = 0; f->reason[i] && f->reason[i] == l->reason[i]; i++)
		if (i && f->reason[i - 1] == ':' && f->reason[i] == ' ')
			own = i + 1;
	both = ga_strf("%s; %s: %s", l->reason, q, f->reason + own);
	free(l->reason);
	l->reason = both;
}

void ga_flag_lines(const struct ga_report *r, struct ga_flag_lines *ret)
{
	struct kinds k = { .of = ga_calloc(r->flags.n + 1, sizeof(*k.of)) };

	for (size_t i = 0; i < r->flags.n; i++)
		if (!r->flags.v[i].left)
			count_flag(&k, i, &r->flags.v[i]);
	for (size_t i = 0; i < r->flags.n; i++) {
		const struct ga_flag *f = &r->flags.v[i];
		struct kind *of = &k.v[k.of[i]];

		if (f->left)
			continue;
		if (of->n <= (is_prose(f) ? 1 : SINGLY)) {
			add_line(ret, i, f, 1);
		} else if (of->line == SIZE_MAX) {
			of->line = ret->n;
			add_line(ret, i, f, of->n);
		} else if (of->reasons < REASONS - 1 &&
			   !strstr(ret->v[of->line].reason, f->reason)) {
			add_reason(&ret->v[of->line], f);
			of->reasons++;
		}
	}
	free(k.v);
	free(k.of);
	ga_strv_release(&k.keys);
	ga_strmap_release(&k.by_key);
}

static const char *const sgr[] = {
    [RC_NONE] = "",          [RC_BOLD] = "\033[1m",    [RC_RED] = "\033[1;31m",
    [RC_GREEN] = "\033[32m", [RC_YELLOW] = "\033[33m", [RC_CYAN] = "\033[36m",
    [RC_DIM] = "\033[2m",
};

void review_paint(struct ga_buf *out, bool colour, enum review_colour c, const char *text)
{
	if (!colour || c == RC_NONE) {
		ga_buf_adds(out, text);
		return;
	}
	ga_buf_addf(out, "%s%s\033[m", sgr[c], text);
}

enum review_colour review_severity_colour(enum ga_severity s)
{
	switch (s) {
	case GA_CRITICAL:
		return RC_RED;
	case GA_HIGH:
		return RC_YELLOW;
	case GA_MEDIUM:
		return RC_CYAN;
	case GA_LOW:
		break;
	}
	return RC_NONE;
}

void review_put_reason(struct ga_buf *out, const char *reason, const char *rule)
{
	ga_quote_add_text(out, reason, strcspn(reason, "\n"));
	ga_buf_adds(out, " [");
	ga_quote_add(out, rule, strlen(rule));
	ga_buf_adds(out, "]");
}
