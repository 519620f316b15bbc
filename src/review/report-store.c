/* SPDX-License-Identifier: MIT
 *
 * The report as a commit of one JSON file at refs/agent/NAME/report.
 */
#include <string.h>

#include "ga/repo/objects.h"
#include "ga/repo/refs.h"
#include "ga/session/session.h"
#include "review-internal.h"

/* All paths that a capture takes by its default limits, flagged twice each, stay below this. */
#define REPORT_MAX ((size_t)1 << 30)

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
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	struct ga_oid commit;
	int rc = ga_ref_read(repo, ref, &commit, err);

	if (rc)
		return rc;
	if (!ga_report_read_at(repo, s, &commit, ret, err))
		return 0;
	/* of a session that another command drops meanwhile there is none any more */
	if (ga_ref_read(repo, ref, &commit, &ignored) == 1) {
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
	ga_report_tell(&r, s);
}
