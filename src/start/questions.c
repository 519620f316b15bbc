/* SPDX-License-Identifier: MIT
 *
 * Answers to what an agent asks before it begins, and the files of a project for which only the
 * user can answer: they have the agent run commands without its model, with the logins in reach.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/config/trust.h"
#include "ga/repo/objects.h"
#include "ga/repo/treelevel.h"
#include "ga/start/home.h"
#include "ga/sys/fd.h"
#include "ga/sys/process.h"
#include "base.h"
#include "home.h"
#include "layers.h"
#include "start.h"

#define SETTINGS_MAX ((size_t)64 << 10) /* longer ones are not read, and so not harmless */
#define NOTED_MAX ((size_t)16 << 20)
#define FILES_MAX 1000
#define KEY_END 20 /* of a key, by which Claude Code notes that it may use it */

void ga_agents_config_release(struct ga_agents_config *c)
{
	ga_strv_release(&c->paths);
	ga_buf_release(&c->text);
	free(c->why);
}

/* ---- what can run commands ---------------------------------------------------------- */

static bool has(const char *const *list, const char *word)
{
	while (*list && strcmp(*list, word) != 0)
		list++;
	return *list;
}

/* Only ASCII without a backslash: git may write the file in another encoding (the attribute
 * working-tree-encoding), which can make quotes of the rest, or end strings elsewhere. */
static bool has_only_harmless(const struct ga_questions *q, const struct ga_buf *text)
{
	json_t *j = json_loadb(text->ptr, text->len, JSON_REJECT_DUPLICATES, NULL), *value;
	bool ret = json_is_object(j);
	const char *key;

	for (size_t i = 0; i < text->len; i++)
		ret = ret && text->ptr[i] != '\\' && !(text->ptr[i] & 0x80);
	json_object_foreach(j, key, value)
		ret = ret && ga_has_word(q->harmless, key);
	json_decref(j);
	return ret;
}

static void add(struct ga_agents_config *c, const char *path, const char *why)
{
	cleanup_free char *quoted = ga_quote(path);

	if (ga_strv_has(&c->paths, path))
		return;
	ga_strv_push(&c->paths, path);
	if (why && !c->why)
		c->why = ga_strf("%s %s", quoted, why);
}

static void add_entry(struct ga_repo *r, const struct ga_preset *p, const char *rel,
		      const char *path, const struct ga_entry *entry, struct ga_agents_config *ret)
{
	const struct ga_questions *q = p->questions;
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_free char *quoted = ga_quote(path);
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	bool file = entry->mode == GA_MODE_FILE || entry->mode == GA_MODE_EXEC;

	if (file && has(q->settings, rel) &&
	    !ga_blob_read(r, &entry->oid, SETTINGS_MAX, &text, &ignored) &&
	    has_only_harmless(q, &text))
		return;
	add(ret, path, file ? NULL : "is not a file");
	ga_buf_addf(&ret->text, "have %s run commands from %s (%06o %s)\n", p->name, quoted,
		    (unsigned)entry->mode, GA_HEX(&entry->oid));
}

/* `rel`: the path from the directory that the agent looks in. */
static void add_config(struct ga_repo *r, const struct ga_preset *p, const char *rel,
		       const char *path, const struct ga_entry *entry,
		       struct ga_agents_config *ret)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_changes struct ga_changes list = GA_CHANGES_INIT;

	if (entry->mode != GA_MODE_TREE)
		add_entry(r, p, rel, path, entry, ret);
	else if (ga_tree_list(r, &entry->oid, FILES_MAX, &list, &ignored))
		add(ret, path, "cannot be listed, or has too many files");
	for (size_t i = 0; i < list.n; i++) {
		cleanup_free char *rel_in = ga_path_join(rel, list.v[i].path);
		cleanup_free char *path_in = ga_path_join(path, list.v[i].path);

		add_entry(r, p, rel_in, path_in, &list.v[i].new, ret);
	}
}

/* In the directory `at`, which `tree` is, and those on the way to `below` in it. Git checks out all
 * entries of a name that a tree has more than once. */
static int add_committed(struct ga_repo *r, const struct ga_preset *p, const struct ga_oid *tree,
			 const char *at, const char *below, struct ga_agents_config *ret,
			 struct ga_error *err)
{
	cleanup_tree_level struct ga_tree_level l = GA_TREE_LEVEL_INIT;
	size_t n = strcspn(below, "/");
	cleanup_free char *next = ga_strndup(below, n);

	if (ga_tree_level_read(r, tree, &l, err))
		return -1;
	for (size_t i = 0; i < l.n; i++) {
		const struct ga_entry *entry = &l.v[i].entry;
		cleanup_free char *path = ga_path_join(at, l.v[i].name);

		if (has(p->questions->configs, l.v[i].name))
			add_config(r, p, l.v[i].name, path, entry, ret);
		if (!strcmp(l.v[i].name, next) && entry->mode == GA_MODE_TREE &&
		    add_committed(r, p, &entry->oid, path, below + n + (below[n] == '/'), ret, err))
			return -1;
	}
	return 0;
}

/* In the working tree: a file of harmless settings, or a directory with nothing else in it? */
static bool is_harmless(int top, const struct ga_questions *q, const char *rel, const char *path,
			bool enter)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	cleanup_dir DIR *d = ga_dir_of(ga_openat_beneath(top, path, O_RDONLY | O_DIRECTORY, 0));
	struct dirent *e;
	bool ret = d && enter;

	if (!d)
		return has(q->settings, rel) &&
		       !ga_read_beneath(top, path, SETTINGS_MAX, &text, &ignored) &&
		       has_only_harmless(q, &text);
	while (ret && (e = ga_dir_next(d))) {
		cleanup_free char *rel_in = ga_path_join(rel, e->d_name);
		cleanup_free char *path_in = ga_path_join(path, e->d_name);

		ret = is_harmless(top, q, rel_in, path_in, false);
	}
	return ret;
}

/* Of `paths`, which no commit has and the session shows; nothing of a repository is ignored, so
 * the user has put it there. */
static void add_loose(int top, const struct ga_questions *q, const struct ga_strv *paths,
		      const struct ga_strv *masked, const char *rel, const char *path,
		      struct ga_agents_config *ret)
{
	for (size_t i = 0; i < paths->n; i++) {
		bool in = ga_path_inside(paths->v[i], path);
		const char *at = in ? paths->v[i] : path;
		cleanup_close int fd = -1;

		if (!in && !ga_path_inside(path, paths->v[i]))
			continue;
		fd = ga_openat_beneath(top, at, O_PATH, 0);
		if ((fd >= 0 || errno != ENOENT) && !ga_strv_has(masked, at) &&
		    !is_harmless(top, q, at + (strlen(path) - strlen(rel)), at, true))
			add(ret, at, "is in no commit");
	}
}

/* Find them all, also those that the session shows and no commit has. */
static int find(struct ga_start_env *e, const struct start_base *b, const struct ga_oid *tree,
		const struct ga_start *st, struct ga_agents_config *ret, struct ga_error *err)
{
	const struct ga_strv *const loose[] = { &b->scan.ignored_dirs, &b->scan.ignored_files,
						&b->scan.apart, &b->scan.changed,
						&b->scan.untracked };
	/* a dry run commits nothing; a live session shows what comes later */
	bool all = !st->spec.home_source || st->session.id.live;
	const struct ga_questions *q = st->preset->questions;
	const char *workdir = ga_repo_info(e->repo)->workdir;
	cleanup_close int top = open(workdir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_free char *dir = ga_start_cwd(workdir);

	if (ga_agents_find_config(e->repo, st->preset, tree, ret, err))
		return -1;
	for (; ga_path_inside(dir, workdir); ga_path_up(dir))
		for (size_t i = 0; q->configs[i]; i++) {
			const char *rel = q->configs[i];
			cleanup_free char *path = ga_path_join(ga_path_below(dir, workdir), rel);

			for (size_t k = 0; k < (all ? GA_NELEMS(loose) : 3); k++)
				add_loose(top, q, loose[k], &st->session.view.masked, rel, path,
					  ret);
		}
	return 0;
}

int ga_agents_find_config(struct ga_repo *r, const struct ga_preset *p, const struct ga_oid *tree,
			  struct ga_agents_config *ret, struct ga_error *err)
{
	const char *workdir = ga_repo_info(r)->workdir;
	cleanup_free char *cwd = ga_start_cwd(workdir);

	ga_buf_addch(&ret->text, '\0');
	return p->questions ? add_committed(r, p, tree, "", ga_path_below(cwd, workdir), ret, err)
			    : 0;
}

/* ---- answering -------------------------------------------------------------------- */

/* Insert the flags behind those of the preset. False if the project's path cannot be in one. */
static bool insert_flags(const struct ga_questions *q, const char *project, struct ga_start *st)
{
	struct ga_strv argv = GA_STRV_INIT;

	if (strpbrk(project, "\"\\\n\t\x7f") || !ga_utf8_valid(project, strlen(project)))
		return false;
	for (size_t i = 0; i <= st->argv.n; i++) {
		for (size_t k = 0; i == st->own_words && q->flags[k]; k++) {
			const char *at = strchr(q->flags[k], '%');
			size_t n = at ? (size_t)(at - q->flags[k]) : strlen(q->flags[k]);

			ga_strv_pushf(&argv, "%.*s%s%s", (int)n, q->flags[k], at ? project : "",
				      at ? at + 1 : "");
		}
		if (i < st->argv.n)
			ga_strv_push(&argv, st->argv.v[i]);
	}
	ga_strv_release(&st->argv);
	st->argv = argv;
	return true;
}

/* Make the file that answers what is asked once. It never replaces one, which an agent that runs
 * may be about to make. If it cannot be made, the agent asks. */
static void write_first(const struct ga_start_env *e, const struct ga_questions *q,
			const struct ga_agents_found *f, const char *home)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
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
		(void)ga_write_new(at, q->first, text.ptr, text.len, 0600, &ignored);
}

/* May a file below home say that the user trusts the directory, or one above it? */
static bool is_noted(const char *home, const struct ga_questions *q, char *dir)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_close int at = open(home, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	bool ret = at >= 0 && ga_read_beneath(at, q->noted, NOTED_MAX, &text, &ignored);
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
	return f->importable ? ga_hint(err, "'git agent home import %s' brings your login%s",
				       p->name, key)
			     : ga_hint(err, "start it without --detach and %s%s", p->login, key);
}

static int answer(struct ga_start_env *e, const struct ga_agents_found *f, const char *home,
		  struct ga_start *st, struct ga_error *err)
{
	const struct ga_questions *q = st->preset->questions;

	if (st->detach.now && st->at_prompt && q->logins && !f->login &&
	    (!f->key || q->keys_ignored) && !may_log_in(home, q))
		return fail_login(st->preset, f, err);
	if (!insert_flags(q, ga_repo_info(e->repo)->workdir, st)) {
		ga_strv_pushf(&st->notes, "the name of the project's directory keeps %s from being "
			      "told to trust it", st->preset->name);
		return 0;
	}
	for (size_t i = 0; q->set[i]; i++) {
		size_t n = strcspn(q->set[i], "=");
		cleanup_free char *name = ga_strndup(q->set[i], n);

		/* the user's settings come first */
		if (!ga_environ_get((const char *const *)e->conf.env.set.v, name))
			start_set_variable(&st->spec.env, name, q->set[i] + n + 1);
	}
	if (q->first && st->spec.home_source && (f->login || f->key))
		write_first(e, q, f, home);
	return 0;
}

/* The user has to know what may run, or to be asked by the agent where he sees it. */
static int leave_unanswered(const struct ga_start_env *e, const struct ga_agents_config *c,
			    const char *home, struct ga_start *st, struct ga_error *err)
{
	const struct ga_preset *p = st->preset;
	cleanup_free char *paths = ga_quote_list(&c->paths, 3);
	cleanup_free char *cwd = ga_start_cwd(ga_repo_info(e->repo)->workdir);
	bool asks = p->questions->noted && st->at_prompt && !is_noted(home, p->questions, cwd);
	cleanup_free char *how = c->why ? ga_strf("cannot be trusted: %s", c->why)
					: ga_strdup("'git agent trust' trusts it as committed");

	if (!asks || !st->detach.now) {
		ga_strv_pushf(&st->notes, "%s %s commands from %s (%s)", p->name,
			      asks ? "asks before it runs" : "may run, without asking,", paths,
			      how);
		return 0;
	}
	(void)ga_fail(err, GA_ESTART, "%s would ask, where nobody sees it, before it runs commands "
		      "from %s (%s)", p->name, paths, how);
	return ga_hint(err, "or start it once without --detach, and answer");
}

/* Is it known what it asks? If not, say so. */
static bool is_known(struct ga_start *st, const struct ga_agents_found *f)
{
	const struct ga_preset *p = st->preset;
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

int start_answer(struct ga_start_env *e, const struct start_base *b, const struct ga_oid *tree,
		 struct ga_start *st, struct ga_error *err)
{
	cleanup_(ga_agents_found_release) struct ga_agents_found f = { 0 };
	cleanup_agents_config struct ga_agents_config c = GA_AGENTS_CONFIG_INIT;
	cleanup_free char *home = ga_home_dir(e, e->conf.home_mode);
	struct ga_oid base;
	int trusted;

	if (!st->preset || !st->preset->login || e->conf.questions == GA_QUESTIONS_ASK)
		return 0;
	ga_agents_look(e, st->preset, &f);
	if (!is_known(st, &f))
		return 0;
	if ((!tree && ga_commit_tree(e->repo, &b->base, &base, err)) ||
	    find(e, b, tree ? tree : &base, st, &c, err))
		return -1;
	trusted = !c.paths.n ? 1 : c.why ? 0
		: ga_trust_has(e->state_dir, c.text.ptr, c.text.len, err);
	if (trusted < 0)
		return -1;
	return trusted ? answer(e, &f, home, st, err) : leave_unanswered(e, &c, home, st, err);
}
