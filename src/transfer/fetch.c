/* SPDX-License-Identifier: MIT
 *
 * Make a session from a remote's refs. git fetches into a separate object directory and to no ref;
 * from there the pack is imported and checked like an agent's.
 */
#include <time.h>

#include "ga/repo/history.h"
#include "transfer-internal.h"
#include "ga/base/trace.h"
#include "ga/capture/capture.h"
#include "ga/capture/rewrite.h"
#include "ga/repo/import.h"
#include "ga/session/journal.h"
#include "ga/session/session.h"

#define FETCH_MS 3600000
#define TIPS_MAX 10000 /* known commits that git names as arguments; more would only save bytes */

struct fetch {
	struct ga_env *e;
	struct ga_repo *r;
	const struct ga_fetch_opts *o;
	const struct ga_remote_session *from;
	struct ga_session *s;
	struct ga_refs known;    /* commits that the remote has, without its sessions ... */
	struct ga_refs sessions; /* ... and remote-tracking branches of these */
	bool lacks;              /* the fetch is incomplete */
	struct ga_oid tip, held; /* what was fetched; `held` zero: none, or it does not fit `tip` */
	struct ga_oid onto;
	struct ga_rewrite rewrite;
	struct ga_strv keeps;
	struct ga_strv notes;
};

static void fetch_release(struct fetch *f)
{
	ga_refs_release(&f->known);
	ga_refs_release(&f->sessions);
	ga_rewrite_release(&f->rewrite);
	ga_strv_release(&f->keeps);
	ga_strv_release(&f->notes);
}

static struct ga_oid *known_ids(const struct fetch *f)
{
	struct ga_oid *v = ga_calloc(f->known.n + 1, sizeof(*v));

	for (size_t i = 0; i < f->known.n; i++)
		v[i] = f->known.v[i].oid;
	return v;
}

/* Did the session's commit come from the remote before, with this or with plain `git fetch`? */
static bool was_fetched(const struct fetch *f, const struct ga_oid *oid)
{
	bool ret = ga_oid_equal(oid, &f->s->result.remote_tip) ||
		   ga_oid_equal(oid, &f->s->result.remote_held);

	for (size_t i = 0; !ret && i < f->sessions.n; i++)
		ret = ga_oid_equal(&f->sessions.v[i].oid, oid);
	return ret && ga_object_exists(f->r, oid);
}

static int run_git(struct fetch *f, const struct ga_git *what, struct ga_error *err)
{
	cleanup_buf struct ga_buf why = GA_BUF_INIT;
	cleanup_free char *line = NULL;
	struct ga_git g = *what;
	int status;

	g.errout = &why;
	g.timeout_ms = FETCH_MS;
	if (ga_git_run(f->r, &g, &status, err))
		return -1;
	if (!status)
		return 0;
	line = ga_git_last_line(&why);
	return ga_fail(err, GA_EFATAL, "cannot fetch session '%s': %s" GA_HINT "what git refuses "
		       "of it, or is more than limits.capture.pack_size or .object_size, does not "
		       "come in", f->from->name, line ? line : "git failed");
}

/* Fetch `ids` into `dir`, checked by git, to no ref and no file of the repository. Bounded in the
 * size of each file, of which a pack is one, in memory and in time. Git tells the remote of no
 * commits but those that it is known to have. With `whole` not even of these: git then fetches
 * existing objects too, which proves that the remote has them. */
static int download(struct fetch *f, const char *dir, const struct ga_import_limits *limits,
		    const struct ga_oid *ids, size_t n, bool whole, struct ga_error *err)
{
	const char *const config[] = {
		"fetch.fsckObjects=true", "transfer.fsckObjects=true", "fetch.unpackLimit=1",
		"transfer.unpackLimit=1", "fetch.writeCommitGraph=false", "fetch.bundleURI=",
		/* git treats all refs here as those of an alternate, and announces them anyway */
		"core.alternateRefsCommand=:", GA_IMPORT_CONFIG,
		f->o->label ? "protocol.ext.allow=always" : NULL, NULL,
	};
	cleanup_strv struct ga_strv args = GA_STRV_INIT;
	struct ga_git g = GA_GIT(.work_tree = ga_repo_info(f->r)->workdir,
				 .object_dir = dir, .config = config,
				 .max_file = limits->max_pack_bytes,
				 .max_memory = ga_import_memory(limits), .lazy_fetch = true);

	ga_strv_push_many(&args, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head",
			  "--refmap=", "--no-recurse-submodules", "--no-prune",
			  "--no-auto-maintenance", "--no-filter", whole ? "--refetch" : NULL, NULL);
	for (size_t i = 0; i < f->known.n && i < TIPS_MAX; i++)
		ga_strv_pushf(&args, "--negotiation-tip=%s", GA_HEX(&f->known.v[i].oid));
	ga_strv_push_many(&args, "--", f->o->remote, NULL);
	for (size_t i = 0; i < n; i++)
		ga_strv_push(&args, GA_HEX(&ids[i]));
	g.args = (const char *const *)args.v;
	return run_git(f, &g, err);
}

/* Pack existing objects, to check them like the rest: plain `git fetch` hardly does. */
static int pack_here(struct fetch *f, const char *dir, const struct ga_oid *ids, size_t n,
		     struct ga_error *err)
{
	static const char *const args[] = { "pack-objects", "--quiet", "--revs", "--stdout", NULL };
	static const char *const config[] = { GA_IMPORT_CONFIG, NULL };
	cleanup_free char *packs = ga_path_join(dir, "pack");
	cleanup_free char *path = ga_path_join(packs, "here.pack");
	cleanup_buf struct ga_buf revs = GA_BUF_INIT;
	cleanup_close int fd = -1;
	struct ga_git g = GA_GIT(.args = args, .config = config);

	if (ga_mkdir_p(packs, 0700, err))
		return -1;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return ga_fail_path(err, errno, "write", path);
	for (size_t i = 0; i < n; i++)
		ga_buf_addf(&revs, "%s\n", GA_HEX(&ids[i]));
	for (size_t i = 0; i < f->known.n; i++)
		ga_buf_addf(&revs, "^%s\n", GA_HEX(&f->known.v[i].oid));
	g.in = revs.ptr;
	g.in_len = revs.len;
	g.out_fd = fd;
	return run_git(f, &g, err);
}

static int gather(struct fetch *f, const char *dir, const struct ga_import_limits *limits,
		  struct ga_error *err)
{
	const struct ga_oid ids[] = { f->tip, f->held };
	struct ga_oid there[2], here[2];
	size_t n_there = 0, n_here = 0;
	bool whole = f->lacks;

	for (size_t i = 0; i < 2 && !ga_oid_is_zero(&ids[i]); i++) {
		if (!f->lacks && was_fetched(f, &ids[i])) {
			here[n_here++] = ids[i];
			continue;
		}
		there[n_there++] = ids[i];
		whole |= ga_object_exists(f->r, &ids[i]);
	}
	/* in a partial clone they are the promisor's, and need not be complete */
	if (n_here && !ga_repo_is_partial(f->r) && pack_here(f, dir, here, n_here, err))
		return -1;
	return n_there ? download(f, dir, limits, there, n_there, whole, err) : 0;
}

/* Import the fetched packs. Returns 1 and a reason when they are refused. */
static int import_packs(struct ga_import *im, const char *dir, char **ret_reason,
			struct ga_error *err)
{
	cleanup_free char *path = ga_path_join(dir, "pack");
	cleanup_dir DIR *d = opendir(path);
	struct dirent *e;
	int rc = 0;

	while (!rc && (e = ga_dir_next(d))) {
		cleanup_close int fd = -1;

		if (!ga_ends_in(e->d_name, ".pack"))
			continue;
		fd = openat(dirfd(d), e->d_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			rc = ga_fail_errno(err, GA_EFATAL, errno, "cannot read what was fetched");
		else
			rc = ga_import_pack(im, fd, ret_reason, err);
	}
	return rc;
}

static int import(struct fetch *f, const char *dir, const struct ga_import_limits *limits,
		  struct ga_error *err)
{
	const struct ga_oid tips[] = { f->tip, f->held };
	const size_t n_tips = ga_oid_is_zero(&f->held) ? 1 : 2, n = f->known.n;
	cleanup_free struct ga_oid *known = known_ids(f);
	cleanup_free struct ga_oid *hide = ga_calloc(n + 1, sizeof(*hide));
	cleanup_free char *branch = NULL, *reason = NULL;
	struct ga_import *im = NULL;
	/* the first is what sizes are compared with */
	int rc = ga_repo_head(f->r, &hide[0], &branch, err);
	size_t n_head = !rc;

	if (rc < 0)
		return -1;
	memcpy(hide + n_head, known, n * sizeof(*hide));
	if (ga_import_begin(f->r, limits,
			    f->e->progress ? f->e->progress_delay_ms : GA_PROGRESS_NEVER, &im, err))
		return -1;
	rc = import_packs(im, dir, &reason, err);
	if (!rc)
		rc = ga_import_check(im, tips, n_tips, hide, n_head + n, &reason, err);
	if (!rc) {
		rc = ga_import_check_origin(im, tips, n_tips, known, n, &reason, err);
		f->lacks = rc > 0;
	}
	if (!rc)
		rc = ga_import_migrate(im, &f->keeps, err);
	ga_import_free(im);
	return rc > 0 ? ga_fail(err, GA_EFATAL, "session '%s' of the remote is refused: %s",
				f->from->name, reason)
		      : rc;
}

static int fetch_once(struct fetch *f, int at, const struct ga_import_limits *limits,
		      struct ga_error *err)
{
	cleanup_free char *sessions = ga_path_join(f->e->state_dir, "sessions");
	cleanup_free char *dir = ga_path_join(sessions, ".new-XXXXXX");
	int rc;

	if (!mkdtemp(dir))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot write the state directory");
	rc = gather(f, dir, limits, err) || ga_fault_stop("fetch:downloaded", err) ||
	     import(f, dir, limits, err) ? -1 : 0;
	(void)ga_rmtree_at(at, ga_path_base(dir), GA_IGNORED);
	return rc;
}

/* git omits objects of other refs that both sides have, as after an earlier fetch: then fetch
 * all. */
static int fetch_objects(struct fetch *f, struct ga_error *err)
{
	cleanup_free char *sessions = ga_path_join(f->e->state_dir, "sessions");
	cleanup_close int at = open(sessions, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct ga_import_limits limits;

	if (at < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot write the state directory");
	ga_capture_import_limits(&f->e->conf.limits, &limits);
	if (!fetch_once(f, at, &limits, err))
		return 0;
	if (!f->lacks)
		return -1;
	ga_error_release(err);
	*err = (struct ga_error)GA_ERROR_INIT;
	return fetch_once(f, at, &limits, err);
}

static int hint_base(const struct fetch *f, struct ga_error *err)
{
	cleanup_free char *q = ga_quote_shell(f->o->remote);

	return ga_hint(err, "'git fetch %s', or name a commit that it is based on: --base REV", q);
}

static int fail_onto(struct fetch *f, struct ga_error *err)
{
	if (f->o->base)
		return ga_fail(err, GA_EFATAL, "session '%s' has no commit in common with %.12s",
			       f->from->name, GA_HEX(f->o->base));
	(void)ga_fail(err, GA_EFATAL, "cannot tell what session '%s' is based on: no branch or tag "
		      "of '%s' that is here has a commit of it", f->from->name,
		      f->o->remote);
	return hint_base(f, err);
}

/* Fail if a remote branch that is not here has commits of the session: they would count as the
 * agent's. */
static int check_upstream(struct fetch *f, const struct ga_oidmap *new, struct ga_error *err)
{
	for (size_t i = 0; !f->o->base && i < f->o->refs->n; i++) {
		const struct ga_ref *ref = &f->o->refs->v[i];
		const char *branch = ga_ref_branch(ref->name);
		cleanup_free char *qb = branch ? ga_escape(branch) : NULL;

		if (!branch || ga_oid_equal(&ref->oid, &f->tip) ||
		    !ga_oidmap_get(new, &ref->oid, NULL))
			continue;
		(void)ga_fail(err, GA_EFATAL, "session '%s' is based on branch '%s' of the remote, "
			      "which has commits that are not here", f->from->name, qb);
		return hint_base(f, err);
	}
	return 0;
}

/* Fails if the session has commits of the user's branches, which would land with it: only the user
 * can say that the remote has them too. With a base, any remote's commits may have been merged into
 * it. */
static int check_private(struct fetch *f, struct ga_error *err)
{
	const struct ga_oid *top = ga_oid_is_zero(&f->held) ? &f->tip : &f->held;
	cleanup_free struct ga_oid *hide = NULL, *all = NULL, *own = NULL;
	cleanup_oidmap struct ga_oidmap is_own = GA_OIDMAP_INIT;
	cleanup_refs struct ga_refs host = GA_REFS_INIT;
	const uint64_t max = f->e->conf.limits.commits;
	size_t n_all, n_own, n = 0, n_known;

	if (ga_session_host_refs(f->r, &host, err))
		return -1;
	hide = ga_calloc(f->known.n + 2 * host.n, sizeof(*hide));
	for (; n < f->known.n; n++)
		hide[n] = f->known.v[n].oid;
	for (size_t i = 0; f->o->base && i < host.n; i++)
		if (!strncmp(host.v[i].name, "refs/remotes/", 13))
			hide[n++] = host.v[i].oid;
	n_known = n;
	for (size_t i = 0; i < host.n; i++)
		hide[n++] = host.v[i].oid;
	if (ga_rev_list(f->r, top, 1, hide, n_known, max, &all, &n_all, err) ||
	    ga_rev_list(f->r, top, 1, hide, n, max, &own, &n_own, err))
		return -1;
	if (!n_own)
		return ga_fail(err, GA_ENEGATIVE, "session '%s' has nothing that is not on a "
			       "branch here", f->from->name);
	for (size_t i = 0; i < n_own; i++)
		(void)ga_oidmap_add(&is_own, &own[i], 0);
	while (n_all && ga_oidmap_get(&is_own, &all[n_all - 1], NULL))
		n_all--;
	if (!n_all)
		return 0;
	return ga_fail(err, GA_EFATAL, "session '%s' has commits of a branch or tag here that the "
		       "remote is not known to have" GA_HINT "'git for-each-ref --contains %.12s' "
		       "lists them; name the one that it is based on: --base REV", f->from->name,
		       GA_HEX(&all[n_all - 1]));
}

static int find_onto(struct fetch *f, struct ga_error *err)
{
	cleanup_free struct ga_oid *known = known_ids(f), *new = NULL;
	cleanup_oidmap struct ga_oidmap is_new = GA_OIDMAP_INIT;
	struct ga_oid at = f->tip;
	size_t n_new = 0;

	if (ga_rev_list(f->r, &f->tip, 1, known, f->known.n, f->e->conf.limits.commits, &new,
			&n_new, err))
		return -1;
	for (size_t i = 0; i < n_new; i++)
		(void)ga_oidmap_add(&is_new, &new[i], i);
	for (size_t i = 0; i <= n_new; i++) {
		cleanup_commit struct ga_commit c = { .parents = NULL };

		if (!ga_oidmap_get(&is_new, &at, NULL)) {
			f->onto = at;
			return check_upstream(f, &is_new, err);
		}
		if (ga_commit_read(f->r, &at, &c, err))
			return -1;
		if (!c.n_parents)
			break;
		at = c.parents[0];
	}
	return fail_onto(f, err);
}

static int rewrite(struct fetch *f, const char *committer, struct ga_error *err)
{
	cleanup_host_facts struct ga_host_facts facts = GA_HOST_FACTS_INIT;
	cleanup_risk_paths struct ga_risk_paths paths = GA_RISK_PATHS_INIT;
	cleanup_strv struct ga_strv in_the_way = GA_STRV_INIT;
	bool held = !ga_oid_is_zero(&f->held);
	struct ga_oid top = held ? f->held : f->tip;
	struct ga_rewrite_opts o = { .base = &f->onto, .tip = &top,
				     .facts = &facts, .hold_always = &in_the_way,
				     .committer = committer, .session = f->s->name };
	const struct ga_capture_env e = { .repo = f->r, .config = &f->e->config,
					  .limits = &f->e->conf.limits, .lock = -1 };
	cleanup_free struct ga_oid *v = NULL;
	size_t cleaned, n;

	if (f->o->risk(f->o->payload, &f->onto, &paths, err) ||
	    ga_host_facts_gather(f->r, &f->e->config, &paths, &facts, err) ||
	    ga_commit_tree(f->r, &f->onto, &facts.attributes_tree, err) ||
	    ga_rewrite_texts(f->r, &f->onto, 1, &top, 1, &cleaned, NULL, &f->keeps, err))
		return -1;
	if (cleaned)
		ga_strv_pushf(&f->notes, "%zu %s had control characters in names or message, which "
			      "are escaped now", cleaned, cleaned == 1 ? "commit" : "commits");
	f->s->id.onto = f->onto;
	/* what of any of the commits a plain merge would overwrite is held */
	if (ga_rev_list(f->r, &top, 1, &f->onto, 1, f->e->conf.limits.history, &v, &n, err) ||
	    ga_capture_find_blocked(&e, f->s, v, n, &in_the_way, err) ||
	    ga_rewrite(f->r, &o, &f->rewrite, err))
		return -1;
	ga_strv_extend(&f->keeps, &f->rewrite.keeps);
	return 0;
}

static void fill(struct fetch *f, struct ga_report *r)
{
	struct ga_session *s = f->s;

	s->state = GA_STATE_CAPTURED;
	s->id.onto = s->id.base = f->onto;
	s->result.landed = ga_oid_none;
	s->result.remote_tip = f->from->tip;
	s->result.remote_held = f->from->held;
	ga_report_begin(r, s);
	r->tip = ga_oid_equal(&f->rewrite.tip, &f->onto) ? ga_oid_none : f->rewrite.tip;
	r->held = f->rewrite.held;
	ga_report_add_flags(r, GA_FROM_SESSION, &f->rewrite.flags, &f->rewrite.held_paths);
	ga_strv_extend(&r->notes, &f->notes);
}

static int publish(struct fetch *f, const struct ga_report *r, const char *committer,
		   struct ga_error *err)
{
	cleanup_ref_updates struct ga_ref_updates u = GA_REF_UPDATES_INIT;
	cleanup_free char *base = ga_session_ref(f->s, "base");
	cleanup_free char *held = ga_session_ref(f->s, "held");
	cleanup_free char *orig = ga_session_ref(f->s, "orig");
	cleanup_free char *report = ga_session_ref(f->s, "report");
	struct ga_oid report_id;

	if (ga_report_write(f->r, r, committer, NULL, &report_id, err) ||
	    ga_ref_updates_set(f->r, &u, f->s->id.branch, &f->s->result.tip, err) < 0 ||
	    ga_ref_updates_set(f->r, &u, base, &f->onto, err) < 0 ||
	    ga_ref_updates_set(f->r, &u, held, &f->s->result.held, err) < 0 ||
	    ga_ref_updates_set(f->r, &u, orig, &f->rewrite.orig, err) < 0 ||
	    ga_ref_updates_set(f->r, &u, report, &report_id, err) < 0 ||
	    ga_fault_stop("fetch:objects", err) ||
	    ga_refs_update(f->r, &u, "agent: fetch", err) || ga_fault_stop("fetch:refs", err))
		return -1;
	return ga_session_save(f->s, err);
}

int ga_fetch_touched(struct ga_env *e, const struct ga_session *s, struct ga_error *err)
{
	cleanup_report struct ga_report r = GA_REPORT_INIT;
	struct ga_oid oid;
	bool touched;

	if (ga_ref_read(e->repo, s->id.branch, &oid, err) < 0 ||
	    ga_report_read(e->repo, s, &r, err) < 0)
		return -1;
	touched = s->state == GA_STATE_LANDED || !ga_oid_equal(&oid, &r.tip);
	for (size_t i = 0; i < r.flags.n; i++)
		touched = touched || r.flags.v[i].verdict != GA_VERDICT_OPEN;
	return touched;
}

static int check_untouched(struct fetch *f, struct ga_error *err)
{
	const struct ga_session *s = f->s;
	int rc = ga_fetch_touched(f->e, s, err);

	if (rc <= 0)
		return rc ? -1 : ga_worktree_check_free(f->r, s, err);
	(void)ga_fail(err, GA_ELOSE, "session '%s' has local review decisions, and its remote "
		      "branch has changed", s->name);
	if (f->o->label)
		return ga_hint(err, "'git agent drop --force %s' drops it here and on '%s'",
			       s->name, f->o->label);
	return ga_hint(err, "'git agent drop%s %s', then fetch it again",
		       s->state == GA_STATE_LANDED ? "" : " --force", s->name);
}

static const char *source(const struct fetch *f)
{
	return f->o->label ? f->o->label : f->o->remote;
}

static int begin_new(struct fetch *f, const char *name, int *ret_lock, struct ga_error *err)
{
	const struct ga_repo_info *info = ga_repo_info(f->r);
	cleanup_strv struct ga_strv taken = GA_STRV_INIT;

	if (ga_session_taken_names(f->r, &taken, err) ||
	    ga_session_create(f->e->state_dir, name, NULL, &taken, f->s, ret_lock, err))
		return -1;
	f->s->state = GA_STATE_NEW;
	f->s->id.project = ga_strdup(info->workdir);
	f->s->id.gitdir = ga_strdup(info->gitdir);
	f->s->id.remote = ga_strdup(source(f));
	f->s->id.started = f->s->run.finished = (uint64_t)time(NULL);
	return 0;
}

/* Returns 1 if nothing has changed on the remote. */
static int begin(struct fetch *f, const char *name, int *ret_lock, struct ga_error *err)
{
	int rc = ga_session_load(f->e->state_dir, name, f->s, err);

	if (rc)
		return rc < 0 ? -1 : begin_new(f, name, ret_lock, err);
	if (!f->s->id.remote || strcmp(f->s->id.remote, source(f)))
		return ga_fail(err, GA_ELOSE, "there is another session '%s' here" GA_HINT
			       "give it another name here: '%s:NAME'", name, f->from->name);
	rc = ga_session_lock(f->s, false, ret_lock, err);
	if (rc)
		return rc < 0 ? -1 : ga_fail(err, GA_EFATAL, "session '%s' is in use", name);
	if (!f->o->base && ga_oid_equal(&f->s->result.remote_tip, &f->from->tip) &&
	    ga_oid_equal(&f->s->result.remote_held, &f->from->held))
		return 1;
	return check_untouched(f, err);
}

/* Another machine may show an older result. A remote's branches are its users'. */
static int check_descends(struct fetch *f, struct ga_error *err)
{
	const struct ga_oid *was = &f->s->result.remote_tip;
	int rc = 1;

	if (f->o->label && !ga_oid_is_zero(was))
		rc = !ga_oid_is_zero(&f->tip) && ga_object_exists(f->r, was)
			     ? ga_is_ancestor(f->r, was, &f->tip, err)
			     : 0;
	if (rc)
		return rc < 0 ? -1 : 0;
	return ga_fail(err, GA_EFATAL, "session '%s' is refused: what '%s' has of it is not based "
		       "on what was fetched before" GA_HINT "it was rolled back, or its agent "
		       "rewrote commits; 'git agent drop --force %s' drops it here and there",
		       f->s->name, f->o->label, f->s->name);
}

static int fetch_history(struct fetch *f, const char *committer, struct ga_error *err)
{
	int rc;

	if (fetch_objects(f, err) || check_descends(f, err))
		return -1;
	if (!ga_oid_is_zero(&f->held)) {
		rc = ga_is_ancestor(f->r, &f->tip, &f->held, err);
		if (rc < 0)
			return -1;
		if (!rc) {
			f->held = (struct ga_oid){ { 0 } };
			ga_strv_push(&f->notes, "what is held there is not based on the "
						"branch, and was not fetched");
		}
	}
	return find_onto(f, err) || check_private(f, err) || rewrite(f, committer, err) ? -1 : 0;
}

static int fetch_result(struct fetch *f, struct ga_report *report, struct ga_error *err)
{
	cleanup_free char *committer = NULL;
	/* it may have changed nothing but uncommitted work */
	bool none = f->o->snapshot && ga_oid_is_zero(&f->from->tip);

	f->tip = f->from->tip;
	f->held = f->from->held;
	if (remote_known(f->e, f->o, &f->known, &f->sessions, err))
		return -1;
	if (!f->known.n)
		return fail_onto(f, err);
	if (none)
		f->onto = f->rewrite.tip = *f->o->base;
	if (ga_repo_signature(f->r, &f->e->config, time(NULL), &committer, err) ||
	    (none ? check_descends(f, err) : fetch_history(f, committer, err)))
		return -1;
	fill(f, report);
	if (f->o->snapshot && fetch_uncommitted(f->e, f->o, f->s, report, err))
		return -1;
	ga_report_copy_result(report, f->s);
	return publish(f, report, committer, err);
}

int ga_fetch_session(struct ga_env *e, const struct ga_fetch_opts *o,
		     const struct ga_remote_session *from, const char *name, struct ga_session *ret,
		     int *ret_lock, struct ga_report *ret_report, struct ga_error *err)
{
	cleanup_(fetch_release) struct fetch f = { .e = e, .r = e->repo, .o = o, .from = from,
						   .s = ret };
	cleanup_close int lock = -1, keeps = -1;
	bool made;
	int rc = begin(&f, name, &lock, err);

	if (rc)
		return rc;
	made = ret->state == GA_STATE_NEW;
	keeps = ga_capture_lock_keeps(e->repo, err);
	rc = keeps < 0 ? -1 : fetch_result(&f, ret_report, err);
	for (size_t i = 0; i < f.keeps.n; i++)
		(void)unlink(f.keeps.v[i]);
	if (rc && made) {
		cleanup_free char *sessions = ga_path_join(e->state_dir, "sessions");
		cleanup_close int at = open(sessions, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (at >= 0)
			(void)ga_rmtree_at(at, name, GA_IGNORED);
	}
	if (rc)
		return -1;
	(void)ga_journal(ret->dir, "fetched", NULL);
	*ret_lock = ga_steal_fd(&lock);
	return 0;
}
