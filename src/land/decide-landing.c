/* SPDX-License-Identifier: MIT
 *
 * Rejected paths that the branch leaves as they were, and that landing it changes all the same:
 * what the session changed elsewhere comes to them, as where the user has renamed a file. There is
 * nothing to put back at such a path, and the next landing would find its flags again.
 */
#include <string.h>

#include "decide.h"
#include "ga/objects.h"
#include "ga/quote.h"

/* Is the flag rejected, and nothing put back, dropped or cut out for that? */
static bool takes_nothing_back(const struct decision *d, size_t flag)
{
	const struct ga_report_flag *f = &d->report->flags[flag];

	return d->verdict[flag] == GA_VERDICT_REJECTED && *f->path && !f->left &&
	       !decide_undone(d, f->path) && !ga_changes_find(&d->cut, f->path) &&
	       !ga_changes_find(&d->cut_held, f->path);
}

/* Merge the branch, as it is going to be, into HEAD. */
static int preview(const struct decision *d, struct land *l, struct ga_error *err)
{
	cleanup_free char *branch = NULL;
	int rc = ga_repo_head(d->repo, &l->head, &branch, err);

	return rc || ga_commit_tree(d->repo, &l->head, &l->head_tree, err) || land_preview(l, err)
		   ? -1
		   : 0;
}

/* The path of the session's of which HEAD has this one for the new name; NULL: none is known. */
static int find_renamed(const struct decision *d, struct land *l, const struct ga_changes *own,
			const char *path, char **ret, struct ga_error *err)
{
	cleanup_strv struct ga_strv renames = GA_STRV_INIT;
	struct ga_oid base;
	int rc = land_merge_base(l, &base, err);

	if (rc < 0 || land_renames(l, GA_HEX(rc ? &d->s->onto : &base), &renames, err))
		return -1;
	for (size_t i = 0; i + 1 < renames.n && !*ret; i += 2)
		if (!strcmp(renames.v[i + 1], path) && ga_changes_find(own, renames.v[i]))
			*ret = ga_strdup(renames.v[i]);
	return 0;
}

/* The same for a file that the session put into a directory that has another name in HEAD. */
static char *find_moved(const struct land *l, const struct ga_changes *own,
			const struct ga_change *landing)
{
	for (size_t i = 0; i < own->n; i++)
		if (own->v[i].new.mode != GA_MODE_NONE &&
		    ga_entry_equal(&own->v[i].new, &landing->new) &&
		    !ga_changes_find(&l->changes, own->v[i].path))
			return ga_strdup(own->v[i].path);
	return NULL;
}

/* Where what comes to the path is in the session; NULL: that is not known. Caller frees. */
static char *find_source(const struct decision *d, struct land *l, const struct ga_change *landing)
{
	cleanup_changes struct ga_changes own = GA_CHANGES_INIT;
	cleanup_error struct ga_error unknown = GA_ERROR_INIT;
	char *source = NULL;

	if (ga_tree_diff(d->repo, &d->base_tree, &d->new_tip_tree, &own, &unknown) ||
	    find_renamed(d, l, &own, landing->path, &source, &unknown))
		return NULL;
	return source ? source : find_moved(l, &own, landing);
}

static int fail_landing(const struct decision *d, struct land *l, const struct ga_change *landing,
			struct ga_error *err)
{
	cleanup_free char *source = find_source(d, l, landing), *q = ga_escape(landing->path);
	cleanup_free char *qs = NULL, *word = NULL;
	const char *name = d->s->name;

	(void)ga_fail(err, GA_EFATAL, "rejecting '%s' takes nothing back: agent/%s changes it only "
		      "where it lands", q, name);
	if (!source)
		return ga_hint(err, "it comes of something else that lands: 'git diff "
			       "HEAD...agent/%s' shows all of that", name);
	qs = ga_escape(source);
	word = ga_quote_shell(source);
	return ga_hint(err, "it is '%s' that lands there: 'git agent review --reject %s %s' takes "
		       "that back", qs, name, word);
}

int decide_check_landing(struct decision *d, struct ga_error *err)
{
	struct land l = { .repo = d->repo, .s = d->s, .tip = d->new_tip };
	cleanup_error struct ga_error none = GA_ERROR_INIT;
	bool merged = false;
	int rc = 0;

	for (size_t i = 0; !rc && i < d->report->n_flags; i++) {
		const struct ga_change *c;

		if (!takes_nothing_back(d, i))
			continue;
		/* where it cannot be merged, nothing lands */
		if (!merged && preview(d, &l, &none))
			break;
		merged = true;
		c = ga_changes_find(&l.changes, d->report->flags[i].path);
		rc = c ? fail_landing(d, &l, c, err) : 0;
	}
	ga_changes_release(&l.changes);
	ga_strv_release(&l.conflicted);
	return rc;
}
