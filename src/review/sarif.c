/* SPDX-License-Identifier: MIT
 *
 * The flags as a SARIF 2.1.0 log, for tools that show findings beside code: one run, a rule for
 * each id that fired, a result for each flag except those of leftover places.
 */
#include <stdlib.h>
#include <string.h>

#include "ga/json.h"
#include "ga/quote.h"
#include "review-internal.h"

#define SCHEMA                                                                                  \
	"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"                   \
	"sarif-schema-2.1.0.json"

static const struct {
	const char *level;
	const char *score; /* what forges sort by */
} severities[] = {
	[GA_LOW] = { "note", "2.0" },
	[GA_MEDIUM] = { "warning", "5.0" },
	[GA_HIGH] = { "error", "8.0" },
	[GA_CRITICAL] = { "error", "9.5" },
};

/* In SARIF messages braces stand for arguments and brackets for links: both are escaped. */
static json_t *message(const char *s)
{
	cleanup_buf struct ga_buf safe = GA_BUF_INIT, text = GA_BUF_INIT;

	ga_quote_add_text(&safe, s, strcspn(s, "\n"));
	for (const char *p = safe.ptr; *p; p++) {
		if (strchr("[]\\", *p))
			ga_buf_addch(&text, '\\');
		else if (strchr("{}", *p))
			ga_buf_addch(&text, *p);
		ga_buf_addch(&text, *p);
	}
	return json_pack("{s:s}", "text", text.ptr);
}

/* A path of any bytes as a URI relative to the top of the project. */
static char *uri(const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-._~/";
	struct ga_buf out = GA_BUF_INIT;

	for (; *path; path++)
		if (strchr(plain, *path))
			ga_buf_addch(&out, *path);
		else
			ga_buf_addf(&out, "%%%02X", (unsigned char)*path);
	return ga_buf_steal(&out);
}

/* ---- rules ---------------------------------------------------------------- */

static int compare_ids(const void *a, const void *b)
{
	const struct ga_report_flag *const *x = a, *const *y = b;

	return strcmp((*x)->id, (*y)->id);
}

struct rules {
	const struct ga_report_flag **v; /* one flag for each id, sorted by id */
	size_t n;
};

static void rules_release(struct rules *l)
{
	free(l->v);
}

static void find_rules(const struct ga_report *r, struct rules *l)
{
	size_t n = 0;

	l->v = ga_calloc(r->n_flags + 1, sizeof(*l->v));
	l->n = 0;
	for (size_t i = 0; i < r->n_flags; i++)
		if (!r->flags[i].left)
			l->v[l->n++] = &r->flags[i];
	if (l->n)
		qsort(l->v, l->n, sizeof(*l->v), compare_ids);
	for (size_t i = 0; i < l->n; i++)
		if (!n || strcmp(l->v[n - 1]->id, l->v[i]->id) != 0)
			l->v[n++] = l->v[i];
	l->n = n;
}

static json_t *rule_json(const struct ga_report_flag *f)
{
	const struct ga_rule *rule = ga_rule_find(f->id);
	enum ga_severity s = rule ? rule->severity : f->severity;
	/* a rule that this version does not have: what the flag says */
	const char *reason = rule ? rule->reason : f->reason;
	json_t *o = json_object();

	ga_json_set(o, "id", json_string(f->id));
	ga_json_set(o, "shortDescription", message(reason));
	ga_json_set(o, "fullDescription", message(reason));
	ga_json_set(o, "help", message(reason));
	ga_json_set(o, "defaultConfiguration", json_pack("{s:s}", "level", severities[s].level));
	ga_json_set(o, "properties", json_pack("{s:[s,s],s:s}", "tags", "security", f->category,
				       "security-severity", severities[s].score));
	return o;
}

static json_t *driver_json(const struct rules *rules)
{
	json_t *o = json_object(), *list = json_array();

	ga_json_set(o, "name", json_string("git-agent"));
	ga_json_set(o, "version", json_string(PACKAGE_VERSION));
	for (size_t i = 0; i < rules->n; i++)
		ga_json_add(list, rule_json(rules->v[i]));
	ga_json_set(o, "rules", list);
	return o;
}

/* ---- results ---------------------------------------------------------------- */

/* Flags are about whole files; tools that show them want a line. */
static json_t *location_json(const char *path)
{
	cleanup_free char *at = uri(path);

	return json_pack("{s:{s:{s:s,s:s},s:{s:i}}}", "physicalLocation", "artifactLocation",
			 "uri", at, "uriBaseId", "%SRCROOT%", "region", "startLine", 1);
}

static json_t *suppression_json(enum ga_verdict v)
{
	/* without a status: that counts as accepted, and editions of the schema differ in the
	 * member's name */
	return json_pack("{s:s,s:s}", "kind", "external", "justification", ga_verdict_name(v));
}

/* The reason, and whether only commits on the way have it. */
static json_t *finding(const struct ga_report_flag *f, const struct ga_past_flag *past)
{
	cleanup_buf struct ga_buf text = GA_BUF_INIT;

	if (!past || !ga_past_any(past))
		return message(f->reason);
	ga_buf_add(&text, f->reason, strcspn(f->reason, "\n"));
	ga_buf_adds(&text, "; ");
	ga_past_text(past, &text);
	return message(text.ptr);
}

static json_t *result_json(const struct ga_report_flag *f, const struct ga_past_flag *past,
			   const struct rules *rules)
{
	const struct ga_report_flag **at = bsearch(&f, rules->v, rules->n, sizeof(*rules->v),
						   compare_ids);
	/* the fingerprint is what a verdict binds to */
	cleanup_free char *where = uri(f->path);
	cleanup_free char *print = ga_strf("%s %06o %s %s", f->id, f->entry.mode,
					   GA_HEX(&f->entry.oid), where);
	json_t *o = json_object(), *locations = json_array(), *p;

	ga_json_set(o, "ruleId", json_string(f->id));
	ga_json_set(o, "ruleIndex", json_integer((json_int_t)(at - rules->v)));
	ga_json_set(o, "level", json_string(severities[f->severity].level));
	ga_json_set(o, "message", finding(f, past));
	/* a flag about the session as a whole has no location */
	if (*f->path)
		ga_json_add(locations, location_json(f->path));
	ga_json_set(o, "locations", locations);
	ga_json_set(o, "partialFingerprints", json_pack("{s:s}", "gitAgentFlag/v1", print));
	if (f->verdict != GA_VERDICT_OPEN)
		ga_json_set(o, "suppressions", json_pack("[o]", suppression_json(f->verdict)));
	p = json_pack("{s:s,s:s}", "severity", ga_severity_name(f->severity), "verdict",
		      ga_verdict_name(f->verdict));
	ga_json_set(p, "held", json_boolean(f->held));
	ga_json_set(p, "leftBehind", json_boolean(f->left));
	ga_json_set(p, "also", ga_json_strv(&f->also));
	if (past)
		ga_json_set(p, "inCommitsOnly", review_past_json(past));
	ga_json_set(o, "properties", p);
	return o;
}

json_t *ga_report_sarif(const struct ga_report *r, const struct ga_past *past)
{
	cleanup_(rules_release) struct rules rules;
	json_t *o = json_object(), *run = json_object(), *results = json_array(), *tool;

	find_rules(r, &rules);
	tool = json_object();
	ga_json_set(tool, "driver", driver_json(&rules));
	ga_json_set(run, "tool", tool);
	for (size_t i = 0; i < r->n_flags; i++)
		if (!r->flags[i].left)
			ga_json_add(results, result_json(&r->flags[i],
					past ? &past->v[i] : NULL, &rules));
	ga_json_set(run, "results", results);
	ga_json_set(o, "$schema", json_string(SCHEMA));
	ga_json_set(o, "version", json_string("2.1.0"));
	ga_json_set(o, "runs", json_pack("[o]", run));
	return o;
}
