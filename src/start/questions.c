/* SPDX-License-Identifier: MIT
 *
 * Answer the questions that an agent asks at startup.
 */
#include <jansson.h>

#include "start-internal.h"
#include "ga/agents/agents.h"
#include "ga/config/trust.h"

#define NOTED_MAX ((size_t)16 << 20)
#define KEY_END 20 /* the end of a key, by which Claude Code records its approval */

/* Insert the flags behind those of the preset. False if the project's path cannot be in one. */
static bool insert_flags(const struct ga_questions *q, const char *project, struct ga_start *st)
{
	struct ga_strv argv = GA_STRV_INIT;

	if (strpbrk(project, "\"\\\n\t\x7f") || !ga_utf8_valid(project, strlen(project)))
		return false;
	for (size_t i = 0; i <= st->command.argv.n; i++) {
		for (size_t k = 0; i == st->command.own_words && q->flags[k]; k++) {
			const char *at = strchr(q->flags[k], '%');
			size_t n = at ? (size_t)(at - q->flags[k]) : strlen(q->flags[k]);

			ga_strv_pushf(&argv, "%.*s%s%s", (int)n, q->flags[k], at ? project : "",
				      at ? at + 1 : "");
		}
		if (i < st->command.argv.n)
			ga_strv_push(&argv, st->command.argv.v[i]);
	}
	ga_strv_release(&st->command.argv);
	st->command.argv = argv;
	return true;
}

/* Make the file that answers one-time questions. Never replace one: a running agent may be writing
 * it. If this fails, the agent asks. */
static void write_first(const struct ga_env *e, const struct ga_questions *q,
			const struct ga_agents_found *f, const char *home)
{
	cleanup_close int at = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool by_key = f->key && !f->login && !strcmp(f->key, q->key);
	const char *key = by_key ? ga_environ_get(e->environ, q->key) : NULL;
	size_t n = key ? strlen(key) : 0;
	cleanup_buf struct ga_buf text = GA_BUF_INIT;

	ga_buf_adds(&text, q->text);
	if (key && !strpbrk(key, "\"\\") && ga_utf8_valid(key, n))
		ga_buf_addf(&text, "%s%s\"]}", q->key_text, n > KEY_END ? key + n - KEY_END : key);
	ga_buf_adds(&text, "}\n");
	if (at >= 0)
		(void)ga_write_new(at, q->first, text.ptr, text.len, 0600, GA_IGNORED);
}

/* May a file below home say that the user trusts the directory, or one above it? */
static bool is_noted(const char *home, const struct ga_questions *q, char *dir)
{
	cleanup_close int at = open(home, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	bool ret = at >= 0 && ga_read_beneath(at, q->noted, NOTED_MAX, &text, GA_IGNORED);
	json_t *j = q->member ? json_loadb(text.ptr, text.len, 0, NULL) : NULL;
	const json_t *all = json_object_get(j, "projects");

	for (; !ret && text.len && strlen(dir) > 1; ga_path_up(dir)) {
		cleanup_free char *word = ga_strf("\"%s\"", dir);

		ret = !q->member ? memmem(text.ptr, text.len, word, strlen(word)) != NULL
				 : json_is_true(json_object_get(json_object_get(all, dir),
								q->member));
	}
	json_decref(j);
	return ret;
}

/* Is there a file that may log the agent in? */
static bool may_log_in(const char *home, const struct ga_questions *q)
{
	bool ret = false;

	for (size_t i = 0; !ret && q->logins[i]; i++) {
		cleanup_free char *path = q->logins[i][0] == '/' ? ga_strdup(q->logins[i])
								 : ga_path_join(home, q->logins[i]);

		ret = !faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW);
	}
	return ret;
}

static int fail_login(const struct ga_preset *p, const struct ga_agents_found *f,
		      struct ga_error *err)
{
	cleanup_free char *key = p->questions->keys_ignored ? ga_strdup("")
							    : ga_strf(", or set %s", p->keys[0]);

	(void)ga_fail(err, GA_ESTART, "%s is not logged in: it would wait for a login that nobody "
		      "sees", p->name);
	return f->importable ? ga_hint(err, "'git agent home import %s' copies your login%s",
				       p->name, key)
			     : ga_hint(err, "start it without --detach and %s%s", p->login, key);
}

static int answer(struct ga_env *e, const struct ga_agents_found *f, const char *home,
		  struct ga_start *st, struct ga_error *err)
{
	const struct ga_questions *q = st->command.preset->questions;

	if (st->detach.now && st->command.at_prompt && q->logins && !f->login &&
	    (!f->key || q->keys_ignored) && !may_log_in(home, q))
		return fail_login(st->command.preset, f, err);
	if (!insert_flags(q, ga_repo_info(e->repo)->workdir, st)) {
		ga_strv_pushf(&st->notes, "the name of the project's directory keeps %s from being "
			      "told to trust it", st->command.preset->name);
		return 0;
	}
	for (size_t i = 0; q->set[i]; i++) {
		size_t n = strcspn(q->set[i], "=");
		cleanup_free char *name = ga_strndup(q->set[i], n);

		/* the user's settings take precedence */
		if (!ga_environ_get((const char *const *)e->conf.env.set.v, name))
			ga_environ_set(&st->spec.env, name, q->set[i] + n + 1);
	}
	if (q->first && st->spec.home_dir.source && (f->login || f->key))
		write_first(e, q, f, home);
	return 0;
}

/* The user must know what may run, or see the agent's question. */
static int leave_unanswered(const struct ga_env *e, const struct ga_agents_config *c,
			    const char *home, struct ga_start *st, struct ga_error *err)
{
	const struct ga_preset *p = st->command.preset;
	cleanup_free char *paths = ga_quote_list(&c->paths, 3);
	cleanup_free char *cwd = ga_agents_cwd(ga_repo_info(e->repo)->workdir);
	bool asks = p->questions->noted && st->command.at_prompt &&
		    !is_noted(home, p->questions, cwd);
	cleanup_free char *how = c->why ? ga_strf("cannot be trusted: %s", c->why)
					: ga_strdup("'git agent trust' trusts it as committed");

	if (!asks || !st->detach.now) {
		ga_strv_pushf(&st->notes, "%s %s commands from %s (%s)", p->name,
			      asks ? "asks before it runs" : "may run, without asking,", paths,
			      how);
		return 0;
	}
	return ga_fail(err, GA_ESTART, "%s would ask, where nobody sees it, before it runs "
		       "commands from %s (%s)" GA_HINT "or start it once without --detach, and "
		       "answer", p->name, paths, how);
}

/* Are the questions of this version known? If not, say so. */
static bool is_known(struct ga_start *st, const struct ga_agents_found *f)
{
	const struct ga_preset *p = st->command.preset;
	const char *versions = p->questions ? p->questions->versions : NULL;

	if (versions && f->version && !strncmp(f->version, versions, strlen(versions)))
		return true;
	if (versions)
		ga_strv_pushf(&st->notes, "%s %s: what it asks before it begins is unknown, and "
			      "not answered", p->name, f->version ? f->version
								  : "of an unknown version");
	else if (st->detach.now)
		ga_strv_pushf(&st->notes, "it is unknown whether %s asks something before it "
			      "begins: 'git agent attach' shows it", p->name);
	return false;
}

int ga_start_answer(struct ga_env *e, const struct ga_view_base *b, const struct ga_oid *tree,
		    struct ga_start *st, struct ga_error *err)
{
	cleanup_(ga_agents_found_release) struct ga_agents_found f = { 0 };
	cleanup_agents_config struct ga_agents_config c = GA_AGENTS_CONFIG_INIT;
	cleanup_free char *home = ga_home_dir(e, e->conf.home_mode);
	const struct ga_preset *p = st->command.preset;
	struct ga_oid base;
	int trusted;

	if (!p || !p->login || e->conf.questions == GA_QUESTIONS_ASK)
		return 0;
	ga_agents_find(e, p, &f);
	if (!is_known(st, &f))
		return 0;
	if ((!tree && ga_commit_tree(e->repo, &b->base, &base, err)) ||
	    ga_agents_find_config(e->repo, p, tree ? tree : &base, &c, err))
		return -1;
	/* a dry run commits nothing */
	ga_agents_find_loose(e->repo, p, &b->scan, !st->spec.home_dir.source,
			     &st->session.view.masked, &c);
	trusted = !c.paths.n ? 1 : c.why ? 0
		: ga_trust_has(e->state_dir, c.text.ptr, c.text.len, err);
	if (trusted < 0)
		return -1;
	return trusted ? answer(e, &f, home, st, err) : leave_unanswered(e, &c, home, st, err);
}
