/* SPDX-License-Identifier: MIT
 *
 * The review of a session as a value, its stored form on refs/agent/<name>/report, and its
 * renderings.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "ga/base/buf.h"
#include "ga/base/error.h"
#include "ga/base/leftovers.h"
#include "ga/base/oid.h"
#include "ga/base/out.h"
#include "ga/base/strv.h"
#include "ga/repo/repo.h"
#include "ga/risk/risk.h"
#include "ga/session/session.h"

const char *ga_verdict_name(enum ga_verdict v); /* "open", "accepted", "rejected" */

struct ga_report {
	char *session;
	struct ga_strv command;
	struct ga_oid base, tip, held;  /* base: what the branch is based on; the others may be
					 * zero */
	struct ga_flags flags;          /* in the order of ga_flags_sort() */
	struct ga_leftovers left;
	struct ga_strv notes;           /* for users, already quoted */
	struct ga_strv left_out;        /* paths of the uncommitted part: on no branch */
	struct ga_oid shown, seen;      /* the commit of what the agent was shown and the tree of
					 * what it left, which differ in these; zero: none */
	struct ga_strv checks;          /* ga/session/check.h */
	struct ga_strv limits;          /* keys of the limits that kept something out */
	struct ga_strv unkept;          /* those of the notes about commits that may exist in the
					 * session's private git dir alone, ... */
	uint64_t unkept_more;           /* ... and how many more commits one of them stands for */
};
#define GA_REPORT_INIT { 0 }
void ga_report_release(struct ga_report *r);
#define cleanup_report cleanup_(ga_report_release)

/* Initialise an empty report. This is also the report of a captured session that has none
 * stored. */
void ga_report_begin(struct ga_report *r, const struct ga_session *s);

/* Is it unchanged since ga_report_begin()? */
bool ga_report_is_empty(const struct ga_report *r);

/* Add flags found in `from`; `held_paths` (may be NULL) says which are held. An existing flag of
 * the same rule, path and entry keeps its verdict, unless it has become more severe: then it is
 * open again. Keeps the order. */
enum ga_flags_from { GA_FROM_SESSION, GA_FROM_LEFTOVERS, GA_FROM_LANDING };
void ga_report_add_flags(struct ga_report *r, enum ga_flags_from from, const struct ga_flags *f,
			 const struct ga_strv *held_paths);

/* Copy a former report's flags about the branch, with their verdicts, except where the path already
 * has a flag of the same rule. */
void ga_report_add_former(struct ga_report *r, const struct ga_report *former);

/* Append a trailer for a commit made by the tool: "KEY: severity rule path", followed, for a
 * `verdict`, by the mode and object id it binds to. */
void ga_report_trailer(struct ga_buf *message, const char *key, const struct ga_flag *f,
		       bool verdict);
/* Greatest number of trailers of one kind in a commit. */
#define GA_REPORT_TRAILERS 100

/* The number of flags by severity, by verdict and in all, without those about places. */
struct ga_report_counts {
	size_t severity[GA_CRITICAL + 1], verdict[GA_VERDICT_REJECTED + 1];
	size_t held[GA_CRITICAL + 1]; /* those that are held, by severity */
	size_t all;
};
void ga_report_count(const struct ga_report *r, struct ga_report_counts *ret);

/* Does this flag block landing: is it open, on the branch, and high, critical or held? */
bool ga_report_flag_blocks(const struct ga_flag *f);
/* The number of flags that block. */
size_t ga_report_open(const struct ga_report *r);

/* For each flag whose path is not in this state at the tip: the commits of the branch in which the
 * path differs from both base and tip. One commit introduced it and a later one removed it; landing
 * the commits one by one adds both, landing their sum neither. */
#define GA_PAST_COMMITS 3
struct ga_past_flag {
	size_t n; /* number of commits */
	struct ga_oid commits[GA_PAST_COMMITS]; /* the oldest ones */
	bool unknown; /* too many commits to examine; n is 0 */
	bool others;  /* no commit has the flagged entry itself, for instance because that also
		       * contains the user's lines */
};
struct ga_past {
	struct ga_past_flag *v; /* by index of the report's flags */
	size_t n;
};
#define GA_PAST_INIT { NULL, 0 }
void ga_past_release(struct ga_past *p);
#define cleanup_past cleanup_(ga_past_release)
/* Accepted flags are left out. `tip` may be zero. */
int ga_report_past(struct ga_repo *repo, const struct ga_report *r, const struct ga_oid *tip,
		   struct ga_past *ret, struct ga_error *err);
/* Does a flag have such commits, or is it unknown? */
bool ga_past_any(const struct ga_past_flag *p);
/* Append one line about these commits, and how to leave them out. */
void ga_past_text(const struct ga_past_flag *p, struct ga_buf *out);

/* Write the stored form, one JSON object, as a commit (parent: the former report, or none) whose
 * tree has the single blob "report.json". The ref is not updated: the caller does that together
 * with the others. `committer` is a raw header value: "Name <mail> seconds zone". */
int ga_report_write(struct ga_repo *repo, const struct ga_report *r, const char *committer,
		    const struct ga_oid *parent_or_null, struct ga_oid *ret, struct ga_error *err);
/* Read the stored report. Returns 1 if the session has none. Every field is validated; a damaged or
 * foreign report is an error. */
int ga_report_read(struct ga_repo *repo, const struct ga_session *s, struct ga_report *ret,
		   struct ga_error *err);

/* The same for an earlier report, by its commit id; a missing one is an error. */
int ga_report_read_at(struct ga_repo *repo, const struct ga_session *s,
		      const struct ga_oid *commit, struct ga_report *ret, struct ga_error *err);

/* Copy the result from the report into the session: tip, held, notes and left_out. */
void ga_report_copy_result(const struct ga_report *r, struct ga_session *s);
/* The same from the stored report. Without one, or with a damaged one, they stay empty; commands
 * that need the report fail. */
void ga_report_load(struct ga_repo *repo, struct ga_session *s);

/* The stored form as text, and back; the text is ASCII. The caller frees it. */
char *ga_report_encode(const struct ga_report *r);
int ga_report_decode(const char *text, size_t n, struct ga_report *ret, struct ga_error *err);

/* The object printed by `review --format=json` (docs/json.md). New reference, NULL on failure. */
json_t *ga_report_json(struct ga_repo *repo, const struct ga_report *r, struct ga_error *err);

/* The report as Markdown to be pasted into a pull request: text of the agent cannot make a link,
 * mention a user or break a table. Kept to a length that forges accept. */
int ga_report_markdown(struct ga_repo *repo, const struct ga_session *s, const struct ga_report *r,
		       struct ga_buf *out, struct ga_error *err);

/* Append to `ret` how the commands of `finish` ended (ga/session/check.h), one line each, safe to
 * show; and for JSON, as an array of {"command", "end", "status"} (new reference). */
void ga_report_checks(const struct ga_strv *checks, struct ga_strv *ret);
json_t *ga_report_checks_json(const struct ga_strv *checks);
/* The same as trailers of a commit message, at most GA_REPORT_TRAILERS: added to its trailers, or
 * as a new paragraph. */
void ga_report_check_trailers(const struct ga_strv *checks, struct ga_buf *message);

/* A list of paths for JSON: an array of {"path"} or {"path_b64"}. New reference. */
json_t *ga_report_paths_json(const struct ga_strv *paths);

/* How flags are listed for users: those of one rule, severity and state in one directory are one
 * line, if there are more than three; and so are all of one severity and state about what agents
 * are told. Those of places have none. */
struct ga_flag_line {
	size_t first;        /* index of its first flag */
	char *path, *reason; /* owned; the path is quoted, or a directory's, with a count */
};
struct ga_flag_lines {
	struct ga_flag_line *v;
	size_t n, cap;
};
void ga_flag_lines(const struct ga_report *r, struct ga_flag_lines *ret);
void ga_flag_lines_release(struct ga_flag_lines *l);
#define cleanup_flag_lines cleanup_(ga_flag_lines_release)

/* The report as text: header, commits, flags, held, leftovers, diffstat and, at the end, the
 * commands to type next (if a landing `waits` to be finished: to continue it). All text of the
 * agent is escaped. Parts that need no file content are written first. Returns 0; 1 if the reader
 * has closed its end (ga/base/out.h); -1. */
int ga_report_text(struct ga_repo *repo, const struct ga_session *s, const struct ga_report *r,
		   bool waits, bool colour, struct ga_out *out, struct ga_error *err);

/* ---- the colours of a diff, from the user's git configuration (color.diff.*) ---- */

enum ga_paint { GA_PAINT_META, GA_PAINT_FRAG, GA_PAINT_OLD, GA_PAINT_NEW, GA_PAINT_CONTEXT };
#define GA_PAINTS 5

/* Longer than any sequence. */
#define GA_SGR_MAX 128

struct ga_palette {
	char sgr[GA_PAINTS][GA_SGR_MAX]; /* the escape sequence; "": none */
};

/* The colours that git's configuration sets, with git's defaults for the others. A value that git
 * would not accept is an error that names it. */
int ga_palette_read(const struct ga_repo *r, const struct ga_gitconfig *c, struct ga_palette *ret,
		    struct ga_error *err);

/* In a partial clone, fetch the versions of the session's base that a review compares with
 * (ga_diff_fetch()). */
int ga_review_fetch(struct ga_repo *repo, const struct ga_report *r, struct ga_error *err);
/* The diff base..tip with flagged files first, then held changes, then changes left out of the
 * branch, written file by file. Computed in process from blob bytes: no attribute, driver, filter
 * or configuration is consulted. Bytes of the agent are escaped; the only colour escapes are ours.
 * A flagged binary file is shown escaped. Files that ga_diff_read() does not show are named.
 * Returns 0; 1 if the reader has closed its end; -1. */
int ga_review_diff(struct ga_repo *repo, const struct ga_report *r,
		   const struct ga_palette *palette_or_null, struct ga_out *out,
		   struct ga_error *err);

/* The commit that a review shows: the held one, else the tip; zero: neither. */
const struct ga_oid *ga_review_commit(const struct ga_report *r);
/* The diff of what changed since the review of commit `then`, of paths that differ from the base
 * now; nothing if `then` is zero or missing. */
int ga_review_since(struct ga_repo *repo, const struct ga_report *r, const struct ga_oid *then,
		    const struct ga_palette *palette_or_null, struct ga_out *out,
		    struct ga_error *err);
/* The same for any two trees (NULL: the empty tree), and for one file. */
int ga_review_tree_diff(struct ga_repo *repo, const struct ga_oid *old_tree,
			const struct ga_oid *new_tree, const struct ga_palette *palette_or_null,
			struct ga_out *out, struct ga_error *err);
int ga_review_file_diff(struct ga_repo *repo, const struct ga_change *c, bool flagged,
			const struct ga_palette *palette_or_null, struct ga_out *out,
			struct ga_error *err);

/* ---- deciding ---------------------------------------------------------- */

enum ga_review_where {
	GA_REVIEW_BRANCH,
	GA_REVIEW_HELD,
	GA_REVIEW_LEFT_OUT,
	GA_REVIEW_ELSEWHERE, /* flagged, but not a change: a leftover, or about the session */
};

struct ga_review_item {
	struct ga_change change; /* its path is owned; without a change both sides are zero */
	enum ga_review_where where;
	bool flagged;
};
struct ga_review_items {
	struct ga_review_item *v;
	size_t n, cap;
};
void ga_review_items_release(struct ga_review_items *l);
#define cleanup_items cleanup_(ga_review_items_release)

/* All changes and flags that the user can decide, in the order of the diff: flagged paths first,
 * each once. */
int ga_review_items(struct ga_repo *repo, const struct ga_report *r, struct ga_review_items *ret,
		    struct ga_error *err);

/* The heading of an item before its diff: its path and flags. */
void ga_review_item_text(const struct ga_report *r, const struct ga_review_item *item, bool colour,
			 struct ga_buf *out);

/* What the agent of the next resume is told: what ga_decide() returned as rejected, as patches with
 * raw bytes, and the user's remark. Patches beyond GA_FEEDBACK_PATCHES bytes, and those of binary
 * files, are only named. */
#define GA_FEEDBACK_PATCHES ((size_t)900 << 10)
int ga_feedback(struct ga_repo *repo, const char *session, const struct ga_changes *rejected,
		const char *remark, struct ga_buf *out, struct ga_error *err);
