/* SPDX-License-Identifier: MIT
 *
 * Capture a session by git in a sandbox like the session's own.
 */
#include "start-internal.h"
#include "ga/capture/capture.h"
#include "ga/run/confine.h"

/* The sandbox of git during capture: the session's layers, without network, over a base tree, which
 * is made if it is missing. */
struct capture_sandbox {
	struct ga_env *e;
	const struct ga_session *s;
	struct ga_sandbox **ended; /* the session's sandbox, which still has the layers mounted */
	struct ga_base base;
	struct ga_spec spec;
};

static int open_base(void *payload, const char **ret, struct ga_error *err)
{
	struct capture_sandbox *c = payload;

	if (!c->base.tree && ga_view_get_base(c->e, c->s, &c->base, err))
		return -1;
	*ret = c->base.tree;
	return 0;
}

/* Git reads an agent's files: a link to a device, or an object that claims to be huge, must not
 * exhaust the machine's memory. Each process gets half of it at most. */
static int limit_memory(const struct ga_env *e, struct ga_sandbox *sb, struct ga_error *err)
{
	uint64_t half = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 2;
	struct ga_confine c = GA_CONFINE_INIT;

	c.limits.memory = e->use.memory && e->use.memory < half ? e->use.memory : half;
	c.memory = GA_CONFINED_RLIMIT;
	return ga_run_confine(sb, &c, err);
}

static int open_sandbox(void *payload, struct ga_sandbox **ret, struct ga_error *err)
{
	struct capture_sandbox *c = payload;
	cleanup_free char *home = NULL;
	const char *lower;
	struct ga_run_paths paths;
	struct ga_sandbox *sb = NULL;

	if (!c->e->bwrap && ga_find_bwrap(c->e->path, false, &c->e->bwrap, err))
		return -1;
	paths = (struct ga_run_paths){ c->e->stage, c->e->init, c->e->bwrap };
	if (c->ended) {
		ga_run_finish(*c->ended);
		*c->ended = NULL;
	}
	ga_spec_release(&c->spec);
	if (open_base(c, &lower, err))
		return -1;
	/* at the agent's path, which its git dirs may name */
	if (ga_view_make_surroundings(c->e, c->s->id.project, &c->spec, err) ||
	    ga_view_find_tools(c->e, "git", &c->spec, err) ||
	    ga_view_make_trees(c->s, &c->base, &c->spec, err))
		return -1;
	ga_view_add_environment(c->e, NULL, &c->spec, c->s);
	/* Git needs nothing from the agents' home, which may be unreadable or have a link at the
	 * project's mount point. */
	home = ga_session_fresh_dir(c->s, "home", err);
	if (!home)
		return -1;
	free(c->spec.home_dir.source);
	c->spec.home_dir.source = ga_steal(&home);
	ga_strv_release(&c->spec.host.tools);
	ga_strv_release(&c->spec.host.ro);
	c->spec.network = c->spec.nested = false;
	if (ga_run_launch(&c->spec, &paths, &sb, err))
		return -1;
	if (limit_memory(c->e, sb, err)) {
		ga_run_finish(sb);
		return -1;
	}
	*ret = sb;
	return 0;
}

/* The configuration that git reads inside is the agent's. A missing object must not run the command
 * of a remote that the agent made up: a process it left running could write into the output of the
 * next git. */
const char *const ga_start_git_env[] = { ("PATH=" GA_SYSTEM_PATH), "HOME=/tmp", "LC_ALL=C",
				       "GIT_CONFIG_NOSYSTEM=1", "GIT_OPTIONAL_LOCKS=0",
				       "GIT_TERMINAL_PROMPT=0", "GIT_NO_REPLACE_OBJECTS=1",
				       "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=", NULL };

static void capture_env(struct ga_env *e, struct capture_sandbox *payload,
			struct ga_capture_env *ret)
{
	*ret = (struct ga_capture_env){ .repo = e->repo,
					.config = &e->config,
					.limits = &e->conf.limits,
					.risk = &e->risk,
					.config_file = e->conf.from.user_file,
					.open_base = open_base,
					.open_sandbox = open_sandbox,
					.payload = payload,
					.sandbox_env = ga_start_git_env,
					.lock = -1,
					.progress = e->progress,
					.progress_delay_ms = e->progress_delay_ms };
}

/* Open the working tree that the session was started in, whose HEAD, configuration and files the
 * work is compared with. False: it is the current one, or gone. */
static bool open_own(const struct ga_env *e, const struct ga_session *s, struct ga_env *own)
{
	const struct ga_repo_info *here = ga_repo_info(e->repo), *there;
	cleanup_repo struct ga_repo *r = NULL;

	if (!strcmp(here->workdir, s->id.project) || ga_repo_open(s->id.project, &r, GA_IGNORED))
		return false;
	there = ga_repo_info(r);
	if (strcmp(there->workdir, s->id.project) != 0 ||
	    strcmp(there->commondir, here->commondir) != 0)
		return false;
	*own = *e;
	own->config = (struct ga_gitconfig)GA_GITCONFIG_INIT;
	own->loading = NULL;
	if (ga_gitconfig_load(r, &own->config, GA_IGNORED))
		return false;
	own->repo = ga_steal(&r);
	return true;
}

static int capture(struct ga_env *e, struct ga_session *s, int lock,
		   struct ga_sandbox **ended, struct ga_report *ret, struct ga_error *err);

struct captured {
	const struct ga_env *e; /* of the superproject */
	const struct ga_session *of;
	struct ga_sandbox **ended;
	struct ga_links *links;
};

/* Capture the superproject without a part whose repository is gone. Refused while the superproject
 * still has the submodule: its repository may return, and its work must not be lost. */
static int capture_without(const struct captured *c, const struct ga_part_at *at,
			   struct ga_link *l, struct ga_error *err)
{
	cleanup_strv struct ga_strv links = GA_STRV_INIT;
	cleanup_free char *word = ga_quote_shell(at->path);
	cleanup_buf struct ga_buf safe = GA_BUF_INIT;

	if (ga_repo_gitlinks(c->e->repo, &links, err))
		return -1;
	l->gone = true;
	l->lost = "its repository was not found, its changes are only in its session: "
		  "'git agent list' in its new place captures them";
	if (!ga_strv_has(&links, at->path))
		return 0;
	(void)ga_fail(err, GA_EFATAL, "submodule '%s': %s", at->path, at->why->msg);
	ga_quote_add_text(&safe, word, strlen(word));
	return ga_hint(err, "%s%s'git rm --cached %s' removes it",
		       at->why->hint ? at->why->hint : "", at->why->hint ? "; " : "", safe.ptr);
}

static int capture_part(const struct captured *c, const struct ga_part_at *at, struct ga_link *l,
			struct ga_error *err)
{
	cleanup_report struct ga_report r = GA_REPORT_INIT;
	struct ga_session *s = at->s;

	if (!s->run.finished)
		s->run.finished = c->of->run.finished;
	/* a part that has landed separately is final */
	if (s->state == GA_STATE_LANDED ? ga_report_read(at->env->repo, s, &r, err) < 0
					: capture(at->env, s, at->lock, c->ended, &r, err))
		return ga_error_wrap(err, "submodule '%s'", at->path);
	l->tip = s->result.tip;
	l->told = !ga_report_is_empty(&r);
	return 0;
}

static int capture_or_not(const struct ga_part_at *at, void *payload, struct ga_error *err)
{
	struct captured *c = payload;
	struct ga_links *links = c->links;
	struct ga_link *l;

	GA_GROW(links->v, links->n, links->cap);
	l = &links->v[links->n++];
	*l = (struct ga_link){ .path = ga_strdup(at->path), .dir = ga_strdup(at->dir) };
	if (!at->env)
		return capture_without(c, at, l, err);
	if (at->s)
		return capture_part(c, at, l, err);
	l->lost = "its session was dropped";
	return 0;
}

static int capture_in(struct ga_env *e, struct ga_session *s, int lock,
		      struct ga_sandbox **ended, struct ga_report *ret, struct ga_error *err)
{
	struct capture_sandbox c = { .e = e, .s = s, .ended = ended, .base = GA_BASE_INIT };
	cleanup_(ga_links_release) struct ga_links links = GA_LINKS_INIT;
	struct captured of = { e, s, ended, &links };
	struct ga_capture_env ce;
	int rc;

	if (ga_start_each_part(e, s, true, capture_or_not, &of, err))
		return -1;
	capture_env(e, &c, &ce);
	ce.links = &links;
	ce.lock = lock;
	rc = ga_capture(&ce, s, ret, err);
	if (!rc)
		start_note_captured(s, ret);
	ga_base_release(&c.base);
	ga_spec_release(&c.spec);
	return rc;
}

static int capture(struct ga_env *e, struct ga_session *s, int lock,
		   struct ga_sandbox **ended, struct ga_report *ret, struct ga_error *err)
{
	struct ga_env own;
	int rc;

	if (!open_own(e, s, &own))
		return capture_in(e, s, lock, ended, ret, err);
	rc = capture_in(&own, s, lock, ended, ret, err);
	/* capture_in() finds an unknown one */
	e->bwrap = own.bwrap;
	ga_gitconfig_release(&own.config);
	ga_repo_free(own.repo);
	return rc;
}

int ga_start_capture(struct ga_env *e, struct ga_session *s, int lock,
		     struct ga_sandbox **ended, struct ga_report *ret, struct ga_error *err)
{
	cleanup_free char *first = NULL;

	if (!capture(e, s, lock, ended, ret, err))
		return 0;
	first = ga_steal(&err->hint);
	return ga_hint(err, "%s%sthe agent's work is safe in '%s'; 'git agent capture %s' tries "
			    "again", first ? first : "", first ? "; " : "", s->dir, s->name);
}

int ga_start_peek(struct ga_env *e, const struct ga_session *s, struct ga_oid *ret_tree,
		  struct ga_strv *notes, struct ga_error *err)
{
	struct capture_sandbox c = { .e = e, .s = s, .base = GA_BASE_INIT };
	struct ga_capture_env ce;
	int rc;

	capture_env(e, &c, &ce);
	rc = ga_capture_peek(&ce, s, ret_tree, notes, err);
	ga_base_release(&c.base);
	return rc;
}
