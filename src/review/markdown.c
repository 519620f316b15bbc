/* SPDX-License-Identifier: MIT
 *
 * Render the report as Markdown, for a pull request or an issue. Forges turn names of people,
 * numbers of issues, links and HTML into links and markup everywhere but in code, and split a
 * table's row at every bar. So all text that an agent could have chosen is put as code, in which
 * the two characters with a meaning there, bar and backtick, are escaped.
 */
#include <inttypes.h>
#include <string.h>

#include "ga/base/quote.h"
#include "ga/repo/history.h"
#include "review-internal.h"

#define COMMITS_SHOWN 20
#define MINOR_FLAGS_SHOWN 20
#define FILES_SHOWN 100
#define LEFT_SHOWN 20
#define NOTES_SHOWN 20
/* Bytes in all: forges refuse longer comments. */
#define ALL_SHOWN ((size_t)48 << 10)
/* Bytes of one name or reason. */
#define CODE_MAX 300

static void put_bytes(struct ga_buf *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (s[i] == '|' || s[i] == '`')
			ga_buf_addf(out, "\\x%02x", s[i]);
		else
			ga_buf_addch(out, s[i]);
}

/* Put the first line of text that is escaped for a terminal as code. */
static void put_code(struct ga_buf *out, const char *safe)
{
	size_t n = strcspn(safe, "\n"), max = CODE_MAX;
	bool cut = n > max;

	while (cut && max && ((unsigned char)safe[max] & 0xc0) == 0x80)
		max--;
	ga_buf_addch(out, '`');
	put_bytes(out, safe, cut ? max : n);
	ga_buf_adds(out, cut ? "...`" : "`");
}

static void put_path(struct ga_buf *out, const char *path)
{
	cleanup_free char *q = ga_quote(path);

	put_code(out, q);
}

static void put_text(struct ga_buf *out, const char *s)
{
	cleanup_buf struct ga_buf safe = GA_BUF_INIT;

	ga_quote_add(&safe, s, strcspn(s, "\n"));
	put_code(out, safe.len ? safe.ptr : "\"\"");
}

/* Put our own words as text, or as code if a forge would turn them into a link. */
static void put_words(struct ga_buf *out, const char *s, size_t n)
{
	cleanup_free char *words = ga_strndup(s, n);

	if (strpbrk(words, "@#") || strstr(words, "://") || strstr(words, "www.")) {
		put_code(out, words);
		return;
	}
	for (const char *p = words; *p; p++) {
		if (strchr("\\`*_{}[]<>()+-.!|~$&\"'^=:", *p))
			ga_buf_addch(out, '\\');
		ga_buf_addch(out, *p);
	}
}

/* Put the rule's reason as text, and the agent's text in it as code. */
static void put_reason(struct ga_buf *out, const char *id, const char *reason)
{
	static const char removed[] = "removed: ";
	const struct ga_rule *rule = ga_rule_find(id);
	cleanup_buf struct ga_buf safe = GA_BUF_INIT;
	size_t at = 0, n = rule ? strlen(rule->reason) : 0;

	ga_quote_add_text(&safe, reason, strcspn(reason, "\n"));
	if (!strncmp(safe.ptr, removed, strlen(removed)))
		at = strlen(removed);
	if (!rule || strncmp(safe.ptr + at, rule->reason, n) != 0) {
		put_code(out, safe.ptr);
		return;
	}
	ga_buf_add(out, removed, at);
	put_words(out, safe.ptr + at, n);
	at += n;
	if (!safe.ptr[at])
		return;
	ga_buf_adds(out, ": ");
	put_code(out, safe.ptr + at + strspn(safe.ptr + at, ": "));
}

static bool full(const struct ga_buf *out)
{
	return out->len > ALL_SHOWN;
}

static void put_more(struct ga_buf *out, size_t n, const char *what)
{
	if (n)
		ga_buf_addf(out, "\n%zu more %s.\n", n, what);
}

static void put_head(struct ga_buf *out, const struct ga_session *s, const struct ga_report *r,
		     const struct ga_diff_stat *stat, size_t commits)
{
	size_t open = ga_report_open(r);
	int64_t add = 0, del = 0;

	for (size_t i = 0; i < stat->changes.n; i++) {
		add += stat->lines[i].additions > 0 ? stat->lines[i].additions : 0;
		del += stat->lines[i].deletions > 0 ? stat->lines[i].deletions : 0;
	}
	ga_buf_adds(out, "### Session ");
	put_code(out, s->name);
	ga_buf_addf(out, "\n\n%zu commit%s, %zu file%s, %" PRId64 " lines added, %" PRId64
		    " removed, on `%.12s`. ", commits, commits == 1 ? "" : "s", stat->changes.n,
		    stat->changes.n == 1 ? "" : "s", add, del, GA_HEX(&r->base));
	if (open)
		ga_buf_addf(out, "**%zu flag%s open.**\n", open, open == 1 ? " is" : "s are");
	else
		ga_buf_adds(out, "No flag is open.\n");
}

static void put_past(struct ga_buf *out, const struct ga_past_flag *p)
{
	cleanup_buf struct ga_buf text = GA_BUF_INIT;

	if (!ga_past_any(p))
		return;
	ga_past_text(p, &text);
	ga_buf_adds(out, ", ");
	put_code(out, text.ptr);
}

static void put_flags(struct ga_buf *out, const struct ga_report *r, const struct ga_past *past)
{
	cleanup_flag_lines struct ga_flag_lines lines = { NULL, 0, 0 };
	size_t minor = 0, hidden = 0;

	ga_flag_lines(r, &lines);
	if (!lines.n)
		return;
	ga_buf_adds(out, "\n#### Flags\n\n| severity | path | why | rule | state |\n"
			 "|---|---|---|---|---|\n");
	for (size_t i = 0; i < lines.n; i++) {
		const struct ga_flag *f = &r->flags.v[lines.v[i].first];

		minor += !ga_report_flag_blocks(f);
		if (full(out) || (!ga_report_flag_blocks(f) && minor > MINOR_FLAGS_SHOWN)) {
			hidden++;
			continue;
		}
		ga_buf_addf(out, "| %s | ", ga_severity_name(f->severity));
		put_code(out, lines.v[i].path);
		ga_buf_adds(out, " | ");
		put_reason(out, f->rule, lines.v[i].reason);
		put_past(out, &past->v[lines.v[i].first]);
		ga_buf_adds(out, " | ");
		put_text(out, f->rule);
		ga_buf_addf(out, " | %s |\n", review_flag_state(f));
	}
	put_more(out, hidden, hidden == 1 ? "flag" : "flags");
}

static void put_commits(struct ga_buf *out, const struct review_commits *c)
{
	size_t first = c->n > COMMITS_SHOWN ? c->n - COMMITS_SHOWN : 0;

	if (!c->n || full(out))
		return;
	ga_buf_adds(out, "\n#### Commits\n\n");
	for (size_t i = first; i < c->n; i++) {
		ga_buf_addf(out, "- `%.12s` ", GA_HEX(&c->v[i].id));
		put_text(out, c->v[i].subject);
		ga_buf_addch(out, '\n');
	}
	put_more(out, first, first == 1 ? "commit before" : "commits before");
}

static void put_files(struct ga_buf *out, const struct ga_diff_stat *stat)
{
	size_t n = stat->changes.n, i;

	if (!n || full(out))
		return;
	ga_buf_adds(out, "\n#### Files\n\n| lines | path |\n|---|---|\n");
	for (i = 0; i < n && i < FILES_SHOWN && !full(out); i++) {
		const struct ga_diff_lines *l = &stat->lines[i];

		if (l->additions < 0)
			ga_buf_addf(out, "| %s | ", review_no_lines(l));
		else
			ga_buf_addf(out, "| +%" PRId64 " -%" PRId64 " | ", l->additions,
				    l->deletions);
		put_path(out, stat->changes.v[i].path);
		ga_buf_adds(out, " |\n");
	}
	put_more(out, n - i, n - i == 1 ? "file" : "files");
}

/* Flags of what would run or be loaded from a place, each rule once. */
static void put_place_flags(struct ga_buf *out, const struct ga_flags *stored, const char *place)
{
	cleanup_flags struct ga_flags flags = GA_FLAGS_INIT;

	review_place_flags(stored, place, &flags);
	for (size_t i = 0; i < flags.n; i++) {
		ga_buf_addf(out, "%s%s ", i ? ", " : "", ga_severity_name(flags.v[i].severity));
		put_text(out, flags.v[i].rule);
	}
}

static void put_left(struct ga_buf *out, const struct ga_report *r)
{
	cleanup_(ga_leftovers_release) struct ga_leftovers groups = GA_LEFTOVER_INIT;
	cleanup_flags struct ga_flags stored = GA_FLAGS_INIT;
	size_t i;

	review_left_flags(r, &stored);
	if (!r->left.n || full(out))
		return;
	ga_leftovers_group(&r->left, &groups);
	ga_buf_adds(out, "\n#### Leftovers\n\n| kind | files | path | flags |\n"
			 "|---|---|---|---|\n");
	for (i = 0; i < groups.n && i < LEFT_SHOWN; i++) {
		ga_buf_addf(out, "| %s | %" PRIu64 " | ", ga_leftover_kind_name(groups.v[i].kind),
			    groups.v[i].count);
		put_path(out, groups.v[i].path);
		ga_buf_adds(out, " | ");
		put_place_flags(out, &stored, groups.v[i].path);
		ga_buf_adds(out, " |\n");
	}
	put_more(out, groups.n - i, "places");
}

static void put_list(struct ga_buf *out, const char *title, const struct ga_strv *l, bool paths)
{
	size_t i;

	if (!l->n || full(out))
		return;
	ga_buf_addf(out, "\n#### %s\n\n", title);
	for (i = 0; i < l->n && i < NOTES_SHOWN; i++) {
		ga_buf_adds(out, "- ");
		if (paths)
			put_path(out, l->v[i]);
		else
			put_text(out, l->v[i]);
		ga_buf_addch(out, '\n');
	}
	put_more(out, l->n - i, paths ? "paths" : "notes");
}

int ga_report_markdown(struct ga_repo *repo, const struct ga_session *s, const struct ga_report *r,
		       struct ga_buf *out, struct ga_error *err)
{
	cleanup_facts struct review_facts f = { .past = GA_PAST_INIT };
	cleanup_diff_stat struct ga_diff_stat stat = GA_DIFF_STAT_INIT;
	cleanup_strv struct ga_strv checks = GA_STRV_INIT;

	if (review_facts_read(repo, r, &f, err) ||
	    ga_diff_stat(repo, &r->base, review_end(r), &stat, err))
		return -1;
	put_head(out, s, r, &stat, f.commits.n);
	ga_report_checks(&r->checks, &checks);
	put_list(out, "Checks", &checks, false);
	put_flags(out, r, &f.past);
	put_commits(out, &f.commits);
	put_files(out, &stat);
	put_list(out, "Uncommitted changes", &r->left_out, true);
	put_left(out, r);
	put_list(out, "Notes", &r->notes, false);
	return 0;
}
