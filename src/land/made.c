/* SPDX-License-Identifier: MIT
 *
 * Did git begin at the HEAD that was checked? It takes HEAD as it finds it, and the user may have
 * committed in between: what git made tells where it began. Only that is ever taken back, and
 * nothing below it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ga/objects.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "ga/refs.h"
#include "land-internal.h"
#include "note.h"

/* What git keeps of a commit that it applies again: the author's address and date, and the subject,
 * to which a hook may add. */
struct picks {
	struct ga_strv authors, subjects;
};

static void picks_release(struct picks *p)
{
	ga_strv_release(&p->authors);
	ga_strv_release(&p->subjects);
}

/* From the address on: the name is in the commit's own encoding. */
static const char *author(const struct ga_commit *c)
{
	const char *address = strrchr(c->author, '<');

	return address ? address : c->author;
}

int land_is_made_again(struct land *l, const struct ga_oid *commit, const struct ga_oid *of,
		       const struct ga_oid *at, struct ga_error *err)
{
	cleanup_commit struct ga_commit is = { .n_parents = 0 }, was = { .n_parents = 0 };

	if (ga_commit_read(l->repo, commit, &is, err) || ga_commit_read(l->repo, of, &was, err))
		return -1;
	return is.n_parents == 1 && ga_oid_equal(&is.parents[0], at) &&
	       !strcmp(author(&is), author(&was));
}

/* Not in UTF-8: git converts the message as it applies the commit, or did so before. */
static bool is_encoded(const struct ga_commit *c)
{
	return !strncmp(c->extra, "encoding ", 9) || strstr(c->extra, "\nencoding ");
}

/* The part that every commit made of it has: nothing, if that may be converted. */
static char *subject(const struct ga_commit *c)
{
	size_t n = is_encoded(c) ? 0 : strcspn(c->message, "\n");

	while (n && strchr(" \t\r\v\f", c->message[n - 1]))
		n--;
	return ga_strndup(c->message, n);
}

static int picks_read(struct land *l, struct picks *ret, struct ga_error *err)
{
	for (const char *s = l->picks.ptr; s && *s; s += strcspn(s, "\n"), s += *s == '\n') {
		cleanup_commit struct ga_commit c = { .n_parents = 0 };
		struct ga_oid id;

		if (!ga_oid_parse(s, strcspn(s, "\n"), &id))
			return ga_fail(err, GA_EFATAL, "cannot tell which commits are made again");
		if (ga_commit_read(l->repo, &id, &c, err))
			return -1;
		ga_strv_push(&ret->authors, author(&c));
		ga_strv_take(&ret->subjects, subject(&c));
	}
	return 0;
}

static bool is_pick(const struct picks *p, const struct ga_commit *c)
{
	for (size_t i = 0; i < p->authors.n; i++)
		if (!strcmp(p->authors.v[i], author(c)) &&
		    (is_encoded(c) || strstr(c->message, p->subjects.v[i])))
			return c->n_parents == 1;
	return false;
}

/* By its author alone: if the user resolved it, the message can be any. */
static bool is_of_picks(const struct picks *p, const struct ga_commit *c)
{
	for (size_t i = 0; i < p->authors.n; i++)
		if (!strcmp(p->authors.v[i], author(c)))
			return true;
	return false;
}

int land_has_own(struct land *l, const struct ga_oid *head, struct ga_error *err)
{
	cleanup_(picks_release) struct picks picks = { GA_STRV_INIT, GA_STRV_INIT };
	struct ga_oid at = *head;

	if (picks_read(l, &picks, err))
		return -1;
	while (!ga_oid_equal(&at, &l->head)) {
		cleanup_commit struct ga_commit c = { .n_parents = 0 };

		if (ga_commit_read(l->repo, &at, &c, err))
			return -1;
		if (c.n_parents != 1 || !is_of_picks(&picks, &c))
			return 1;
		at = c.parents[0];
	}
	return 0;
}

/* The merge itself commits nothing. */
static bool is_staged(const struct land *l)
{
	return l->opts->how == GA_LAND_SQUASH || l->opts->no_commit;
}

static bool is_merge(const struct land *l, const struct ga_commit *c)
{
	return c->n_parents == 2 && ga_oid_equal(&c->parents[1], &l->tip);
}

static bool is_made(const struct land *l, const struct ga_commit *c, const struct picks *p)
{
	return l->rebase ? is_pick(p, c) : is_merge(l, c);
}

/* While a hook runs after the merge commit, git still has MERGE_HEAD, so that a commit of the
 * hook's looks like the merge, too. The merge is the lower one then, and `*at` stays above it. */
static int below_merge(struct land *l, const struct ga_commit *top, struct ga_oid *at,
		       struct ga_error *err)
{
	cleanup_commit struct ga_commit below = { .n_parents = 0 };

	if (ga_commit_read(l->repo, &top->parents[0], &below, err))
		return -1;
	if (!is_merge(l, &below))
		*at = top->parents[0];
	return 0;
}

/* Move `*at` below the commits on top that git made. */
static int walk(struct land *l, struct ga_oid *at, struct ga_error *err)
{
	cleanup_(picks_release) struct picks picks = { GA_STRV_INIT, GA_STRV_INIT };

	if (l->rebase && picks_read(l, &picks, err))
		return -1;
	while (!ga_oid_equal(at, &l->head)) {
		cleanup_commit struct ga_commit c = { .n_parents = 0 };

		if (ga_commit_read(l->repo, at, &c, err))
			return -1;
		if (!is_made(l, &c, &picks))
			break;
		if (!l->rebase)
			return below_merge(l, &c, at, err);
		*at = c.parents[0];
	}
	return 0;
}

/* HEAD, and where git began, which is below what it made. */
static int began_at(struct land *l, struct ga_oid *ret_head, struct ga_oid *ret,
		    struct ga_error *err)
{
	cleanup_free char *branch = NULL;
	int rc = ga_repo_head(l->repo, ret_head, &branch, err);

	if (rc)
		return rc < 0 ? -1 : ga_fail(err, GA_EFATAL, "this branch has no commit");
	*ret = *ret_head;
	if (is_staged(l))
		return 0;
	if (l->opts->how == GA_LAND_FF_ONLY && ga_oid_equal(ret, &l->tip)) {
		*ret = l->head;
		return 0;
	}
	return walk(l, ret, err);
}

int land_hint_moved(struct land *l, const char *why, struct ga_error *err)
{
	cleanup_error struct ga_error unread = GA_ERROR_INIT;
	struct ga_oid head, began;

	if (began_at(l, &head, &began, &unread))
		return ga_hint(err, "%s; %s", why, unread.msg);
	if (ga_oid_equal(&head, &began))
		return ga_hint(err, "%s; see 'git status'", why);
	return ga_hint(err, "%s; 'git reset --keep %s' goes back", why, GA_HEX(&began));
}

/* Check the tree of HEAD if nobody has: what is there may be the session's commits, which cannot be
 * recognized if, for instance, a hook rewrote their messages. */
static int judge_top(struct land *l, struct ga_error *err)
{
	cleanup_free char *branch = NULL;
	struct ga_oid head, tree;

	if (!l->rebase && !(is_staged(l) && land_has_options(l)))
		return 0;
	if (ga_repo_head(l->repo, &head, &branch, err) ||
	    ga_commit_tree(l->repo, &head, &tree, err))
		return -1;
	if (ga_oid_equal(&tree, &l->merged))
		return 0;
	l->merged = tree;
	ga_changes_release(&l->changes);
	return ga_tree_diff(l->repo, &l->head_tree, &tree, &l->changes, err) ||
	       land_check_flags(l, err) ? -1 : 0;
}

/* What happened, and the branch on which it can be seen, quoted for a shell: "" is HEAD. */
static char *what_moved(const struct land *l, char **ret_on)
{
	cleanup_error struct ga_error unread = GA_ERROR_INIT;
	cleanup_free char *to = NULL, *q = NULL;
	const char *was, *is;

	if (land_is_switched(l, &to, &unread) <= 0) {
		*ret_on = ga_strdup("");
		return ga_strf("your branch moved while agent/%s was brought", l->s->name);
	}
	was = ga_ref_branch(l->ref);
	is = ga_ref_branch(to);
	q = ga_escape(is ? is : "no branch");
	*ret_on = ga_quote_shell(was ? was : "HEAD@{1}");
	return ga_strf("HEAD was switched to '%s' while agent/%s was brought", q, l->s->name);
}

static int fail_on_top(struct land *l, struct ga_error *err)
{
	cleanup_free char *on = NULL, *moved = what_moved(l, &on);
	cleanup_free char *what = ga_strf("%s, and nothing was taken back of that", moved);

	if (!judge_top(l, err)) {
		(void)ga_fail(err, GA_ELOSE, "%s", what);
		return ga_hint(err, "'git log %.10s..%s' shows what is there, also what a hook of "
			       "yours committed; 'git agent land %s' lands what is not",
			       GA_HEX(&l->head), on, l->s->name);
	}
	(void)ga_error_wrap(err, "%s", what);
	return ga_hint_instead(err, "'git log %.10s..%s' shows what is there, 'git agent review "
			       "%s' what is flagged", GA_HEX(&l->head), on, l->s->name);
}

/* Is all that was staged in HEAD by now, as when a hook of the user's committed it? 1 yes. */
static int is_committed(struct land *l, const struct ga_oid *head, struct ga_error *err)
{
	struct ga_oid index, tree;

	return land_index_tree(l, NULL, &index, err) || ga_commit_tree(l->repo, head, &tree, err)
		       ? -1
		       : ga_oid_equal(&index, &tree);
}

/* Is what was to be committed in HEAD, on top of where git began? 1 yes. */
static int is_brought(struct land *l, struct ga_error *err)
{
	cleanup_commit struct ga_commit c = { .n_parents = 0 };
	cleanup_free char *branch = NULL;
	struct ga_oid head;
	int rc = ga_repo_head(l->repo, &head, &branch, err);

	if (rc || ga_oid_equal(&head, &l->head))
		return rc < 0 ? -1 : 0;
	if (ga_commit_read(l->repo, &head, &c, err))
		return -1;
	if (l->opts->how == GA_LAND_FF_ONLY ? !ga_oid_equal(&head, &l->tip)
					    : !c.n_parents ||
					      !ga_oid_equal(&c.parents[0], &l->head) ||
					      (l->opts->how == GA_LAND_MERGE && !is_merge(l, &c)))
		return 0;
	return is_committed(l, &head, err);
}

int land_heed_commit(struct land *l, int *status, struct ga_error *err)
{
	static const char *const quit[] = { "merge", "--quit", NULL };
	int rc = land_is_interrupted(*status) ? is_brought(l, err) : 0;

	if (rc <= 0)
		return rc;
	/* after a merge git would have removed that */
	if (ga_repo_operation(l->repo) && land_ask_git(l, quit, NULL, NULL, NULL, err))
		return -1;
	*status = 0;
	return 0;
}

int land_take_made(struct land *l, const char *how, struct ga_error *err)
{
	/* git leaves it, and the user's next commit message would begin with it */
	cleanup_free char *message = ga_path_join(ga_repo_info(l->repo)->gitdir, "SQUASH_MSG");
	struct land there = *l;
	struct ga_oid head;
	int rc;

	if (began_at(l, &head, &there.head, err))
		return -1;
	rc = is_staged(l) && !ga_oid_equal(&head, &l->head) ? is_committed(l, &head, err) : 0;
	if (rc)
		return rc < 0 ? -1 : fail_on_top(l, err);
	if (!is_staged(l) && ga_oid_equal(&head, &there.head) && !ga_oid_equal(&head, &l->head))
		return fail_on_top(l, err);
	if (land_go_back(&there, how, err))
		return -1;
	if (unlink(message) && errno != ENOENT)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot remove 'SQUASH_MSG'");
	return 0;
}

int land_check_on_head(struct land *l, struct ga_error *err)
{
	cleanup_commit struct ga_commit c = { .n_parents = 0 };

	if (ga_commit_read(l->repo, &l->ret->commit, &c, err))
		return -1;
	return c.n_parents && ga_oid_equal(&c.parents[0], &l->head) ? 0 : fail_on_top(l, err);
}

int land_check_made(struct land *l, const char *how, struct ga_error *err)
{
	struct ga_oid began;

	if (began_at(l, &l->ret->commit, &began, err))
		return ga_hint(err, "what git made of it stays, and nobody looked at it; "
			       "'git reset %s %s' goes back", how, GA_HEX(&l->head));
	if (ga_oid_equal(&began, &l->head))
		return 0;
	if (land_take_made(l, how, err))
		return -1;
	(void)ga_fail(err, GA_ELOSE, "your branch moved meanwhile, and what git made of agent/%s "
		      "there was taken back", l->s->name);
	return ga_hint(err, "you are at %.10s; land again, or, if a hook of yours commits, "
		       "'git -c core.hooksPath=/dev/null agent land %s'", GA_HEX(&began),
		       l->s->name);
}
