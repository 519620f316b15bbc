/* SPDX-License-Identifier: MIT
 *
 * The review of a session as a value, its stored form on
 * refs/agent/<name>/report, and its renderings.
 */
#ifndef GA_REPORT_H
#define GA_REPORT_H

#include <jansson.h>
#include <stdbool.h>

#include "ga/buf.h"
#include "ga/error.h"
#include "ga/left.h"
#include "ga/oid.h"
#include "ga/out.h"
#include "ga/palette.h"
#include "ga/repo.h"
#include "ga/risk.h"
#include "ga/session.h"
#include "ga/strv.h"

enum ga_verdict { GA_VERDICT_OPEN, GA_VERDICT_ACCEPTED, GA_VERDICT_REJECTED };
const char *ga_verdict_name(enum ga_verdict v); /* "open", "accepted", "rejected" */

struct ga_report_flag {
	char *id, *category, *path, *reason;
	struct ga_strv also;     /* ids of the other rules that it speaks for */
	enum ga_severity severity;
	struct ga_entry entry;
	bool held;
	bool left;               /* about a path left behind: in the way of bringing that only */
	enum ga_verdict verdict; /* bound to (path, entry) */
};

/* Is it said of a place that was left behind, by its name alone? Then it is shown there, with its
 * severity there, and counts among no others. No verdict on it is taken: it would not be one on
 * what is there when that is brought. */
bool ga_report_flag_of_place(const struct ga_report_flag *f);

struct ga_report {
	char *session;
	struct ga_strv command;
	struct ga_oid base, tip, held;  /* base: what the branch stands on; others may be zero */
	struct ga_report_flag *flags;   /* most severe first, then by path */
	size_t n_flags, cap_flags;
	struct ga_left_list left;
	struct ga_strv notes;           /* for people, already quoted */
	struct ga_strv left_out;        /* paths on `carried` that are not on the branch */
	struct ga_strv checks;          /* ga/check.h */
	struct ga_strv limits;          /* keys of those that kept something away */
	struct ga_strv unkept;          /* of the notes, those on commits that may be in the
					 * session's own repository alone, ... */
	uint64_t unkept_more;           /* ... and how many more there are that one stands for */
};
#define GA_REPORT_INIT { 0 }
void ga_report_release(struct ga_report *r);
#define cleanup_report cleanup_(ga_report_release)

/* Of this session, and that it did nothing: what the rest is added to. A captured session
 * without a stored report has no other. */
void ga_report_begin(struct ga_report *r, const struct ga_session *s);

/* Does it say no more than that? */
bool ga_report_says_nothing(const struct ga_report *r);

/* Add flags; `held_paths` (may be NULL) says which are held. A flag already
 * there with the same rule, path and entry keeps its verdict, unless it is
 * more severe than it was then: it is open again. Keeps the order. */
void ga_report_add_flags(struct ga_report *r, const struct ga_flags *f,
			 const struct ga_strv *held_paths);

/* The same for flags of paths that were left behind. */
void ga_report_add_left_flags(struct ga_report *r, const struct ga_flags *f);

/* Those of a former report that are about what is on the branch, with their verdicts; not where a
 * path has one of the same rule by now. */
void ga_report_add_former(struct ga_report *r, const struct ga_report *former);

/* The flag of this rule on exactly this path and entry, or NULL; found quickly among many. */
struct ga_report_flag *ga_report_find(const struct ga_report *r, const char *rule, const char *path,
				      const struct ga_entry *entry);

/* That of a flag which was added just now, found quickly among many. */
struct ga_report_flag *ga_report_find_added(const struct ga_report *r, const struct ga_flag *f);

/* A trailer for a commit of the tool's own: "KEY: severity rule path", and, of a verdict, what it
 * binds to behind that: mode and object id. */
void ga_report_trailer(struct ga_buf *message, const char *key, enum ga_severity s,
		       const char *rule, const char *path, const struct ga_entry *entry_or_null);
/* So many of a kind at most in one commit. */
#define GA_REPORT_TRAILERS 100

/* How many flags there are of each, and in all; those of places are none. */
struct ga_report_counts {
	size_t severity[GA_CRITICAL + 1], verdict[GA_VERDICT_REJECTED + 1];
	size_t held[GA_CRITICAL + 1]; /* of these are held back */
	size_t all;
};
void ga_report_count(const struct ga_report *r, struct ga_report_counts *ret);

/* Is landing up to the user: open and high, critical or held back, and on the branch? */
bool ga_report_flag_blocks(const struct ga_report_flag *f);
/* How many flags do. */
size_t ga_report_open(const struct ga_report *r);

/* Of each flag whose path is not so at the tip: which commits of the branch have the path otherwise
 * than the base and the tip. One brought it, a later one took it away; landing the commits brings
 * both, landing their sum neither. */
#define GA_PAST_COMMITS 3
struct ga_past_flag {
	size_t n; /* commits */
	struct ga_oid commits[GA_PAST_COMMITS]; /* the oldest of them */
	bool unknown; /* too many to look into all of them; n is 0 */
	bool others;  /* none has it as it is flagged, as where it has lines of the user's too */
};
struct ga_past {
	struct ga_past_flag *v; /* by flag, as the report has them now */
	size_t n;
};
#define GA_PAST_INIT { NULL, 0 }
void ga_past_release(struct ga_past *p);
#define cleanup_past cleanup_(ga_past_release)
/* None of what was accepted. `tip` may be zero. */
int ga_report_past(struct ga_repo *repo, const struct ga_report *r, const struct ga_oid *tip,
		   struct ga_past *ret, struct ga_error *err);
/* Does a flag have any, or is that unknown? */
bool ga_past_any(const struct ga_past_flag *p);
/* That of one flag which does, in a line, with what to do about it if that is to leave them out. */
void ga_past_text(const struct ga_past_flag *p, struct ga_buf *out);

/* The stored form: one JSON object. Written as a commit (parent: the former report, or none) whose
 * tree has one blob "report.json"; not yet on the ref: the caller updates it with the others.
 * `committer` is a raw header value: "Name <mail> seconds zone". */
int ga_report_write(struct ga_repo *repo, const struct ga_report *r, const char *committer,
		    const struct ga_oid *parent_or_null, struct ga_oid *ret, struct ga_error *err);
/* Returns 1 if the session has none. What is stored is checked field by field;
 * a damaged or foreign report is an error. */
int ga_report_read(struct ga_repo *repo, const struct ga_session *s, struct ga_report *ret,
		   struct ga_error *err);

/* The same of one that was on the ref once, by its id; one that is missing is an error as well. */
int ga_report_read_at(struct ga_repo *repo, const struct ga_session *s,
		      const struct ga_oid *commit, struct ga_report *ret, struct ga_error *err);

/* Stored form to text and back; the text is ASCII. */
char *ga_report_encode(const struct ga_report *r);
int ga_report_decode(const char *text, size_t n, struct ga_report *ret, struct ga_error *err);

/* The object of `review --format=json` (docs/json.md). New reference, NULL on failure. */
json_t *ga_report_json(struct ga_repo *repo, const struct ga_report *r, struct ga_error *err);

/* The flags as a SARIF 2.1.0 log (`review --format=sarif`, docs/json.md), with what
 * ga_report_past() found for them (NULL: nobody looked). New reference. */
json_t *ga_report_sarif(const struct ga_report *r, const struct ga_past *past);

/* The report as Markdown that can be pasted into a pull request: nothing of the agent's makes
 * a link, mentions anybody or breaks a table. Of a length forges take. */
int ga_report_markdown(struct ga_repo *repo, const struct ga_session *s, const struct ga_report *r,
		       struct ga_buf *out, struct ga_error *err);

/* The review as one HTML page that needs no network and no script, for a browser and for people
 * without this program: all of the report, the session's journal, and the diff. Nothing of the
 * agent's is more than text in it. Returns 0; 1: nobody reads on (ga/out.h); -1. */
int ga_report_html(struct ga_repo *repo, const struct ga_session *s, const struct ga_report *r,
		   struct ga_out *out, struct ga_error *err);

/* How commands ended that ran after the agent (ga/check.h), a line each, safe to show; adds to
 * `ret`. And for JSON: an array of {"command", "end", "status"}. New reference. */
void ga_report_checks(const struct ga_strv *checks, struct ga_strv *ret);
json_t *ga_report_checks_json(const struct ga_strv *checks);
/* The same as trailers for the message of a commit, GA_REPORT_TRAILERS at most. */
void ga_report_check_trailers(const struct ga_strv *checks, struct ga_buf *message);

/* A list of paths for JSON: an array of {"path"} or {"path_b64"}. New reference. */
json_t *ga_report_paths_json(const struct ga_strv *paths);

/* Header, commits, flags, held, left behind, diffstat as text, with what to type
 * next at the end, which is to go on where a landing `waits` to be finished; everything of the
 * agent's escaped. What needs no content to be read comes first, and is written before any is.
 * Returns 0; 1: nobody reads on (ga/out.h); -1. */
int ga_report_text(struct ga_repo *repo, const struct ga_session *s, const struct ga_report *r,
		   bool waits, bool colour, struct ga_out *out, struct ga_error *err);

/* Every file that was left behind, with the flags its name raises on this host, under the
 * lines of the report: as text, and as the object of `review --left-behind --json`. */
void ga_left_text(const struct ga_report *r, const struct ga_left_files *files,
		  const struct ga_host_facts *facts, bool colour, struct ga_buf *out);
json_t *ga_left_json(const struct ga_report *r, const struct ga_left_files *files,
		     const struct ga_host_facts *facts);

struct ga_review_opts {
	const struct ga_palette *palette; /* NULL: no colours */
	/* Have git show each file, running what the user's configuration has for it: textconv
	 * programs, and external diffs. On content of the agent's, so only if the user asks. */
	bool textconv, ext_diff;
};

/* The diff base..tip with flagged files first, then what is held back, then what
 * was left out of the branch, file by file as each is made. Made in process from blob
 * bytes: no attribute, driver, filter or configuration is consulted, but for what `o` (NULL:
 * nothing of it) asks for. Bytes of the agent's are escaped; colour escapes are ours alone. A file
 * that is binary but flagged is shown escaped. Bounded in bytes by file and in all; what is cut is
 * said. Returns 0; 1: nobody reads on; -1. */
int ga_review_diff(struct ga_repo *repo, const struct ga_report *r, const struct ga_review_opts *o,
		   struct ga_out *out, struct ga_error *err);

/* The same for any two trees (NULL: the empty one), and for one file. */
int ga_review_tree_diff(struct ga_repo *repo, const struct ga_oid *old_tree,
			const struct ga_oid *new_tree, const struct ga_review_opts *o,
			struct ga_out *out, struct ga_error *err);
int ga_review_file_diff(struct ga_repo *repo, const struct ga_change *c, bool flagged,
			const struct ga_review_opts *o, struct ga_out *out, struct ga_error *err);

/* Raw lines of ga_diff_hunks() for a terminal. */
void ga_review_hunks_text(const struct ga_buf *hunks, const struct ga_palette *palette_or_null,
			  struct ga_buf *out);

/* ---- deciding ---------------------------------------------------------- */

enum ga_review_where {
	GA_REVIEW_BRANCH,
	GA_REVIEW_HELD,
	GA_REVIEW_LEFT_OUT,
	GA_REVIEW_ELSEWHERE, /* flagged, and no change: left behind, or about the session */
};

struct ga_review_item {
	struct ga_change change; /* its path is owned; of no change both sides are zero */
	enum ga_review_where where;
	bool flagged;
};
struct ga_review_items {
	struct ga_review_item *v;
	size_t n, cap;
};
void ga_review_items_release(struct ga_review_items *l);
#define cleanup_items cleanup_(ga_review_items_release)

/* Everything a user can decide about, in the order of the diff: flagged paths first, each once. */
int ga_review_items(struct ga_repo *repo, const struct ga_report *r, struct ga_review_items *ret,
		    struct ga_error *err);

/* What there is to know of one before its diff: where it is and what its flags are. */
void ga_review_item_text(const struct ga_report *r, const struct ga_review_item *item, bool colour,
			 struct ga_buf *out);

/* What the user says to the agent; of path "": to all of it. */
struct ga_remarks {
	struct ga_strv paths, texts;
};
#define GA_REMARKS_INIT { GA_STRV_INIT, GA_STRV_INIT }
void ga_remarks_release(struct ga_remarks *r);
void ga_remarks_add(struct ga_remarks *r, const char *path, const char *text);

/* What ga_decide() gave as rejected, for `resume --feedback`: patches, bytes as they are, and the
 * remarks on each path. One that is too much for what resume takes is only named, and so
 * is what is binary. */
#define GA_FEEDBACK_PATCHES ((size_t)900 << 10)
int ga_feedback(struct ga_repo *repo, const char *session, const struct ga_changes *rejected,
		const struct ga_remarks *remarks, struct ga_buf *out, struct ga_error *err);

#endif
