/* SPDX-License-Identifier: MIT */
#include "ga/capture/capture.h"
#include "ga/repo/history.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture-internal.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/base/trace.h"
#include "ga/repo/import.h"
#include "ga/repo/objects.h"
#include "ga/repo/snapshot.h"
#include "ga/session/session.h"
#include "ga/sys/fd.h"
#include "ga/sys/sync.h"

static void capture_release(struct capture *c)
{
	free(c->out.committer);
	ga_host_facts_release(&c->out.facts);
	ga_refs_abandon(c->out.refs);
	/* something else failed, and that is reported */
	(void)ga_sync_end(c->out.syncing_early, GA_IGNORED);
	(void)ga_sync_end(c->out.syncing, GA_IGNORED);
	ga_strv_release(&c->out.early);
	ga_changes_release(&c->out.newer);
	ga_changes_release(&c->out.rest.changes);
	ga_flags_release(&c->out.rest.flags);
	ga_strv_release(&c->out.hold_always);
	ga_rewrite_release(&c->out.rewrite);
	ga_strv_release(&c->out.left_out);
	ga_strv_release(&c->out.renamed);
	close_inside(c);
	free(c->base.wip_bases);
	free(c->base.known);
	ga_strv_release(&c->keeps);
	ga_strv_release(&c->notes);
	ga_strv_release(&c->unkept);
	ga_refs_release(&c->git.heads);
	ga_refs_release(&c->git.standing);
	ga_buf_release(&c->convert.excludes);
	ga_buf_release(&c->convert.attributes);
	ga_buf_release(&c->convert.info_attributes);
	ga_strv_release(&c->convert.paths);
	ga_strv_release(&c->convert.unfiltered);
	free(c->convert.entries);
	ga_upper_result_release(&c->upper);
}

static int begin(struct capture *c, const struct ga_capture_env *e, struct ga_session *s,
		 struct ga_error *err)
{
	c->e = e;
	c->s = s;
	if (ga_wip_use(e->repo, s, err))
		return -1;
	if (ga_commit_tree(e->repo, &s->id.base, &c->base.tree, err))
		return -1;
	c->base.agent = *ga_session_agent_base(s);
	c->base.branch = *ga_session_branch_base(s);
	if (ga_commit_tree(e->repo, &c->base.agent, &c->base.agent_tree, err))
		return -1;
	return read_host_patterns(c, err);
}

/* ---- the final tree ---------------------------------------------------- */

struct layers {
	char *upper, *extras;
	struct ga_strv shared;
	struct ga_upper_opts upper_opts;
};

static void layers_release(struct layers *l)
{
	free(l->upper);
	free(l->extras);
	ga_strv_release(&l->shared);
}

/* A session that was resumed has its layers on the base they always had, its history on the branch
 * as it was at the resume. The difference between the two, what was held or is based on the user's
 * uncommitted work, is in the layers but in no commit.
 *
 * What the layers showed at the resume and the agent's commits lack counts as tracked unless they
 * changed the path: otherwise ignore rules could take away what is held. */
static int add_uncommitted(struct capture *c, struct ga_oid *tree, struct ga_error *err)
{
	cleanup_changes struct ga_changes shown = GA_CHANGES_INIT, add = GA_CHANGES_INIT;
	struct ga_repo *r = c->e->repo;

	if (ga_tree_diff(r, &c->base.agent_tree, &c->s->view.tree, &shown, err))
		return -1;
	for (size_t i = 0; i < shown.n; i++) {
		const struct ga_change *s = &shown.v[i];
		struct ga_entry e, was;

		if (s->new.mode == GA_MODE_NONE)
			continue;
		/* if this replaced a directory, that is compared, too */
		if (ga_tree_entry(r, &c->base.agent_tree, s->path, &was, err) ||
		    ga_tree_entry(r, tree, s->path, &e, err))
			return -1;
		if (ga_entry_equal(&e, &was))
			(void)ga_changes_add(&add, s->path, &s->old, &s->new);
	}
	return add.n ? ga_tree_apply(r, NULL, tree, &add, tree, err) : 0;
}

static int find_tracked_tree(struct capture *c, const struct ga_oid **ret, struct ga_error *err)
{
	bool own = !ga_oid_is_zero(&c->git.head);

	*ret = NULL;
	if (!own && !c->s->run.resumed)
		return 0;
	c->git.tracked_tree = own ? c->git.head_tree : c->base.agent_tree;
	*ret = &c->git.tracked_tree;
	return c->s->run.resumed ? add_uncommitted(c, &c->git.tracked_tree, err) : 0;
}

static int find_layers(struct capture *c, struct layers *l, struct ga_error *err)
{
	const struct ga_gitconfig *conf = c->e->config;
	const struct ga_session *s = c->s;

	l->upper = ga_path_join(s->dir, "upper");
	l->extras = ga_path_join(s->dir, "extras");
	ga_session_shared(s, &l->shared);
	l->upper_opts = (struct ga_upper_opts){
		.upper = l->upper,
		.base_tree = &c->base.tree,
		.host_excludes = c->convert.excludes.ptr,
		.filemode = ga_gitconfig_bool(conf, "core.filemode", true),
		.icase = ga_gitconfig_bool(conf, "core.ignorecase", false),
		.extras = l->extras,
		.shared = &l->shared,
		.limits = c->e->limits,
		.progress = c->e->progress,
		.progress_delay_ms = c->e->progress_delay_ms,
	};
	if (find_tracked_tree(c, &l->upper_opts.tracked, err))
		return -1;
	if (!ga_gitconfig_bool(conf, "core.sparsecheckout", false))
		return 0;
	/* which paths were shown at all can only be told from the checkout itself */
	return c->e->open_base(c->e->payload, &l->upper_opts.lower, err);
}

static int clean(struct capture *c, struct ga_upper_opts *u, struct ga_error *err)
{
	cleanup_error struct ga_error inner = GA_ERROR_INIT;
	int rc = clean_content(c, u, &inner);

	if (c->late)
		return GA_UPPER_LATE;
	if (rc) {
		if (rc < 0 || must_fail(c, &inner))
			return ga_error_move(err, &inner);
		ga_strv_pushf(&c->notes,
			      "content was captured unconverted (%s)",
			      inner.msg);
		u->raw = true;
		return 0;
	}
	u->cleaned_paths = &c->convert.paths;
	u->cleaned_entries = c->convert.entries;
	return 0;
}

/* Returns 1 if it has to be repeated with converted content. */
static int read_upper(struct capture *c, struct layers *l, bool convert, struct ga_error *err)
{
	int rc = convert ? clean(c, &l->upper_opts, err) : 0;

	/* the result must not be read from a mounted layer: git inside could still write to it */
	close_inside(c);
	return rc ? rc : ga_upper_capture(c->e->repo, &l->upper_opts, &c->upper, err);
}

/* Reading took too long. If the agent's commits were imported they are kept, and all else stays in
 * the session. Otherwise the session does not change; nor does one that was captured before, whose
 * result is kept. */
static int upper_late(struct capture *c, struct ga_error *err)
{
	cleanup_free char *note = NULL;

	/* remove what the killed reader wrote to the object store */
	ga_import_sweep(c->e->repo);
	if (ga_oid_is_zero(&c->git.head) || ga_oid_equal(&c->git.head, &c->base.agent) ||
	    c->s->state == GA_STATE_CAPTURED || !ga_oid_is_zero(&c->s->result.held))
		return fail_late(c, err);
	note = limit_met(c, GA_LIMIT_READ_TIME, "reading what the agent wrote took too long: what "
						"it did not commit stays in the session");
	ga_strv_push(&c->notes, note);
	ga_leftovers_add(&c->upper.left, ".", GA_LEFTOVER_LIMIT, 1, 0);
	c->upper.tree = c->git.head_tree;
	return 0;
}

/* Prepare what a result needs. A step that fails is repeated when its result is needed. */
static void prepare_result(void *payload)
{
	cleanup_error struct ga_error no_facts = GA_ERROR_INIT, no_refs = GA_ERROR_INIT;
	struct capture *c = payload;

	/* our own work first: most machines cannot run the reader, git and a thread at once, and
	 * the last two can wait */
	(void)need_facts(c, &no_facts);
	(void)need_refs(c, &no_refs);
	sync_early(c);
}

static int write_upper_tree(struct capture *c, struct ga_error *err)
{
	cleanup_(layers_release) struct layers l = { 0 };
	int rc;

	if (find_layers(c, &l, err))
		return -1;
	l.upper_opts.meanwhile = prepare_result;
	l.upper_opts.payload = c;
	rc = read_upper(c, &l, config_converts(c), err);
	if (rc == 1)
		rc = end_sync_early(c, err) ? -1 : read_upper(c, &l, true, err);
	if (rc == GA_UPPER_LATE)
		return upper_late(c, err);
	if (rc)
		return rc < 0 ? -1 : ga_fail(err, GA_EFATAL, "content could not be converted");
	if (c->upper.keep)
		ga_strv_push(&c->keeps, c->upper.keep);
	return 0;
}

/* Its content is unknown, but it is there. */
static void add_uncounted_shared(struct capture *c, const char *path)
{
	cleanup_free char *q = ga_quote(path);
	cleanup_free char *note = limit_met(c, GA_LIMIT_READ_TIME,
					    "counting what was written there took too long");

	ga_strv_pushf(&c->notes, "%s: %s", q, note);
	ga_leftovers_add(&c->upper.left, path, GA_LEFTOVER_LIMIT, 1, 0);
}

/* What the agent wrote into shared ignored directories stays with the session. */
static int count_shared(struct capture *c, struct ga_error *err)
{
	for (size_t i = 0; i < c->s->view.shared.n; i++) {
		cleanup_free char *upper = ga_strf("%s/shared/%zu/upper", c->s->dir, i);
		int rc;

		if (!ga_session_shares(c->s, i) || (access(upper, F_OK) && errno == ENOENT))
			continue;
		if (end_sync_early(c, err))
			return -1;
		rc = ga_upper_count(upper, c->s->view.shared.v[i], c->e->limits, &c->upper, err);
		if (rc < 0)
			return -1;
		if (rc)
			add_uncounted_shared(c, c->s->view.shared.v[i]);
	}
	ga_leftovers_sort(&c->upper.left);
	c->met |= c->upper.met;
	return 0;
}

/* ---- submodules --------------------------------------------------------- */

/* `rm -rf` of a submodule fails at its mount points after everything else is gone. That must not
 * become a commit that deletes everything; for git, too, an empty directory is a submodule that was
 * not checked out. */
static int check_emptied(struct capture *c, struct ga_error *err)
{
	cleanup_changes struct ga_changes all = GA_CHANGES_INIT;

	if (!c->s->id.within || !c->git.headless)
		return 0;
	if (ga_tree_diff(c->e->repo, NULL, &c->upper.tree, &all, err))
		return -1;
	if (all.n)
		return 0;
	c->upper.tree = c->base.tree;
	ga_strv_release(&c->notes); /* these only say that the git dir cannot be read */
	ga_strv_release(&c->unkept);
	ga_strv_push(&c->notes, "the agent removed all files of the submodule and its git dir: it "
		     "is left as it was ('git rm --cached' and a commit inside remove one)");
	return 0;
}

/* ---- a checkout that was narrowed ---------------------------------------- */

/* Note the files outside a sparse checkout of the agent's: the agent's index is not read, so they
 * count as deleted. */
static int note_narrowed(struct capture *c, bool narrowed, struct ga_error *err)
{
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;
	const struct ga_oid *was = ga_oid_is_zero(&c->git.head) ? &c->base.agent_tree
		: &c->git.head_tree;
	size_t n = 0;

	if (!narrowed)
		return 0;
	if (ga_tree_diff(c->e->repo, was, &c->upper.tree, &changes, err))
		return -1;
	for (size_t i = 0; i < changes.n; i++)
		n += changes.v[i].new.mode == GA_MODE_NONE;
	if (n)
		ga_strv_pushf(&c->notes, "the agent narrowed its checkout (git sparse-checkout): "
			      "%zu file%s not in it count%s as deleted", n, n == 1 ? "" : "s",
			      n == 1 ? "s" : "");
	return 0;
}

/* ---- the whole --------------------------------------------------------- */

static int capture_all(struct capture *c, struct ga_error *err)
{
	bool narrowed;

	if (ga_fault_stop("capture:export", err) || find_wip_bases(c, err) ||
	    import_commits(c, err) || narrowed_checkout(c, &narrowed, err) ||
	    ga_fault_stop("capture:imported", err))
		return -1;
	if (write_upper_tree(c, err) || ga_fault_stop("capture:upper", err) ||
	    count_shared(c, err) || capture_links(c, err) || check_emptied(c, err) ||
	    note_narrowed(c, narrowed, err))
		return -1;
	return import_lfs(c, err);
}

/* Does the agent's history contain the commit that the resume merged? The agent may have aborted
 * that merge. */
static int note_updated(struct capture *c, const struct ga_oid *history, struct ga_error *err)
{
	struct ga_session *s = c->s;
	int rc = ga_oid_is_zero(&s->view.update) ? 0
		 : ga_is_ancestor(c->e->repo, &s->view.update, history, err);

	if (rc > 0)
		s->view.updated = s->view.update;
	return rc < 0 ? -1 : 0;
}

static int rewrite(struct capture *c, struct ga_error *err)
{
	bool own = c->git.related && !ga_oid_is_zero(&c->git.head);
	bool fresh = !own || ga_oid_equal(&c->git.head, &c->base.agent);
	struct ga_oid users;
	struct ga_rewrite_opts ro = { .base = &c->base.branch,
				      .tip = &c->out.history,
				      .fresh = fresh,
				      .facts = &c->out.facts,
				      .known = &c->out.rest,
				      .hold_always = &c->out.hold_always,
				      .shows = shows_beneath,
				      .payload = c,
				      .committer = c->out.committer,
				      .session = c->s->name };

	if (leave_wip(c, err))
		return -1;
	name_others(c);
	if (ga_oid_equal(&c->out.history, &c->base.branch) && !c->s->run.resumed)
		return ga_commit_tree(c->e->repo, &c->base.branch, &c->out.rewrite.full, err);
	if (gather_holds(c, err) || note_claims(c, err) || note_updated(c, &c->out.history, err) ||
	    find_users(c, &users, &ro.users, err))
		return -1;
	ro.since = ga_session_own_base(c->s);
	if (ga_rewrite(c->e->repo, &ro, &c->out.rewrite, err))
		return -1;
	ga_strv_extend(&c->keeps, &c->out.rewrite.keeps);
	return 0;
}

/* A resume adds to the layers what they lack. */
static int leave_newer(struct capture *c, struct ga_error *err)
{
	cleanup_changes struct ga_changes back = GA_CHANGES_INIT;

	for (size_t i = 0; i < c->out.newer.n; i++)
		(void)ga_changes_add(&back, c->out.newer.v[i].path, &c->out.newer.v[i].new,
				     &c->out.newer.v[i].old);
	return ga_tree_apply(c->e->repo, NULL, &c->out.rewrite.full, &back, &c->out.rewrite.full,
			     err);
}

/* Is there anything that rules could apply to? What the host has that makes paths dangerous is not
 * gathered for a session that did nothing. */
static bool has_any_work(const struct capture *c)
{
	bool commits = !ga_oid_is_zero(&c->git.head) && !ga_oid_equal(&c->git.head, &c->s->id.base);

	return commits || c->s->run.resumed || c->upper.left.n ||
	       !ga_oid_equal(&c->upper.tree, &c->base.tree);
}

static int conclude(struct capture *c, struct ga_error *err)
{
	if (has_any_work(c) && need_facts(c, err))
		return -1;
	if (make_committer(c, err))
		return -1;
	if (ga_fault_stop("capture:tree", err) || commit_rest(c, err) ||
	    ga_fault_stop("capture:commit", err))
		return -1;
	if (rewrite(c, err) || leave_newer(c, err) || ga_fault_stop("capture:rewrite", err))
		return -1;
	if (make_report(c, err) || ga_fault_stop("capture:report", err))
		return -1;
	return publish(c, err);
}

/* Name a full disk first. */
static int explain(const struct ga_capture_env *e, struct ga_error *err)
{
	if (!ga_explain_full(err, ga_repo_info(e->repo)->commondir))
		return -1;
	/* the hint so far does not tell that this command can be repeated */
	return ga_hint_instead(err, "free some space first");
}

static int capture(const struct ga_capture_env *e, struct ga_session *s,
		   struct ga_report *ret_report, struct ga_error *err)
{
	cleanup_(capture_release) struct capture c = CAPTURE_INIT;
	cleanup_close int lock = -1;
	int rc;

	c.out.report = ret_report;
	if (begin(&c, e, s, err))
		return explain(e, err);
	/* what a killed capture left may be what fills the disk */
	ga_import_sweep(e->repo);
	lock = ga_capture_lock_keeps(c.e->repo, err);
	rc = lock < 0 || ga_fault_stop("capture:begin", err) || ga_batch_begin(e->repo, err) ||
	     capture_all(&c, err) || conclude(&c, err);
	if (rc) {
		ga_batch_abandon(e->repo);
		return explain(e, err);
	}
	sweep_keeps(&c, lock);
	return 0;
}

/* Later users of the handle write to the repository, unless it was private before. */
static int leave(const struct ga_capture_env *e, bool private, int rc, struct ga_error *err)
{
	return private ? rc : ga_repo_leave_private(e->repo, rc ? GA_IGNORED : err) ? -1 : rc;
}

int ga_capture(const struct ga_capture_env *e, struct ga_session *s, struct ga_report *ret_report,
	       struct ga_error *err)
{
	bool private = ga_repo_is_private(e->repo);

	return leave(e, private, capture(e, s, ret_report, err), err);
}

static int peek(const struct ga_capture_env *e, const struct ga_session *s,
		struct ga_oid *ret_tree, struct ga_strv *notes, struct ga_error *err)
{
	cleanup_(ga_session_release) struct ga_session copy = GA_SESSION_INIT;
	cleanup_(capture_release) struct capture c = CAPTURE_INIT;
	cleanup_(layers_release) struct layers l = { 0 };
	cleanup_close int lock = -1;
	int rc;

	/* only what is needed to find the layers: a peek changes no session */
	copy.name = ga_strdup(s->name);
	copy.dir = ga_strdup(s->dir);
	copy.id.project = ga_strdup(s->id.project);
	copy.id.base = s->id.base;
	copy.id.onto = s->id.onto;
	copy.view.agent_base = s->view.agent_base;
	copy.view.branch_base = s->view.branch_base;
	copy.view.tree = s->view.tree;
	copy.run.resumed = s->run.resumed;
	copy.id.trusted = s->id.trusted;
	ga_strv_extend(&copy.view.shared, &s->view.shared);
	if (begin(&c, e, &copy, err) || find_layers(&c, &l, err))
		return -1;
	lock = ga_capture_lock_keeps(c.e->repo, err);
	if (lock < 0)
		return -1;
	l.upper_opts.raw = l.upper_opts.running = true;
	rc = ga_upper_capture(e->repo, &l.upper_opts, &c.upper, err);
	if (rc == GA_UPPER_LATE) {
		ga_import_sweep(e->repo);
		return fail_late(&c, err);
	}
	if (rc)
		return explain(e, err);
	if (c.upper.met)
		ga_strv_extend(notes, &c.upper.notes);
	/* reachable from nothing, and needed only while this command runs */
	if (c.upper.keep)
		(void)unlink(c.upper.keep);
	*ret_tree = c.upper.tree;
	return 0;
}

int ga_capture_peek(const struct ga_capture_env *e, const struct ga_session *s,
		    struct ga_oid *ret_tree, struct ga_strv *notes, struct ga_error *err)
{
	bool private = ga_repo_is_private(e->repo);

	return leave(e, private, peek(e, s, ret_tree, notes, err), err);
}

int ga_capture_find_blocked(const struct ga_capture_env *e, struct ga_session *s,
			    const struct ga_oid *commits, size_t n, struct ga_strv *ret,
			    struct ga_error *err)
{
	cleanup_(capture_release) struct capture c = CAPTURE_INIT;
	struct ga_oid onto;

	c.e = e;
	c.s = s;
	if (ga_commit_tree(e->repo, &s->id.onto, &onto, err) || read_host_patterns(&c, err) ||
	    find_in_the_way(&c, commits, n, &onto, ret, err))
		return -1;
	ga_strv_sort_unique(ret);
	return 0;
}
