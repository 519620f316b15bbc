/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/base/parse.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/repo/repo.h"
#include "repo/repo-internal.h"

#define CONFIG_MAX ((size_t)64 << 20)

void ga_gitconfig_release(struct ga_gitconfig *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->v[i].scope);
		free(c->v[i].origin);
		free(c->v[i].key);
		free(c->v[i].value);
	}
	free(c->v);
	*c = (struct ga_gitconfig)GA_GITCONFIG_INIT;
}

/* Format: scope NUL origin NUL key LF value NUL, without LF and value for a key written without
 * '='. */
int ga_gitconfig_parse(const struct ga_buf *out, struct ga_gitconfig *ret, struct ga_error *err)
{
	const char *scope, *origin, *entry, *nl;
	size_t pos = 0;

	while ((scope = ga_buf_next0(out, &pos))) {
		struct ga_gitconfig_item *it;

		origin = ga_buf_next0(out, &pos);
		entry = ga_buf_next0(out, &pos);
		if (!origin || !entry)
			return ga_fail(err, GA_EFATAL, "git config printed an incomplete list");
		nl = strchr(entry, '\n');
		GA_GROW(ret->v, ret->n, ret->cap);
		it = &ret->v[ret->n++];
		it->scope = ga_strdup(scope);
		it->origin = ga_strdup(origin);
		it->key = nl ? ga_strndup(entry, (size_t)(nl - entry)) : ga_strdup(entry);
		it->value = ga_strdup(nl ? nl + 1 : "");
		it->has_value = nl != NULL;
	}
	return 0;
}

struct ga_gitconfig_load {
	struct ga_process_job *job;
	struct ga_buf out, errout;
	char *gitdir;
};

static void load_free(struct ga_gitconfig_load *l)
{
	ga_process_abandon(l->job);
	ga_buf_release(&l->out);
	ga_buf_release(&l->errout);
	free(l->gitdir);
	free(l);
}

static struct ga_gitconfig_load *load_new(const char *gitdir)
{
	struct ga_gitconfig_load *l = ga_calloc(1, sizeof(*l));

	l->out = l->errout = (struct ga_buf)GA_BUF_INIT;
	l->gitdir = ga_strdup(gitdir);
	return l;
}

static int begin(const struct ga_repo *r, struct ga_gitconfig_load **ret, struct ga_error *err)
{
	static const char *const args[] = { "config", "-z", "--list", "--show-scope",
					    "--show-origin", NULL };
	struct ga_gitconfig_load *l = load_new(r->info.gitdir);
	struct ga_git g = GA_GIT(.args = args, .out = &l->out, .out_max = CONFIG_MAX,
				 .errout = &l->errout);

	/* without the configuration forced on other commands: it is not the user's */
	if (ga_git_spawn(r, &g, false, NULL, &l->job, err)) {
		load_free(l);
		return -1;
	}
	*ret = l;
	return 0;
}

struct ga_gitconfig_load *ga_gitconfig_guess(const char *workdir)
{
	cleanup_free char *gitdir = ga_path_join(workdir, ".git");
	const struct ga_repo guess = { .info.gitdir = gitdir };
	struct ga_gitconfig_load *ret = NULL;

	/* a failure will recur, and be reported, in ga_gitconfig_begin() */
	return begin(&guess, &ret, GA_IGNORED) ? NULL : ret;
}

int ga_gitconfig_hand_over(struct ga_gitconfig_load *l, struct ga_buf *ret, struct ga_error *err)
{
	if (ga_process_hand_over(l->job, ret, err))
		return -1;
	ga_buf_addf(ret, ":%s", l->gitdir);
	return 0;
}

int ga_gitconfig_take_over(const char *text, struct ga_gitconfig_load **ret, struct ga_error *err)
{
	size_t n = strcspn(text, ":");
	cleanup_free char *job = ga_strndup(text, n);
	struct ga_gitconfig_load *l = load_new(text[n] ? text + n + 1 : "");
	struct ga_process p = GA_PROCESS_INIT;

	p.argv = (const char *const[]){ "git", NULL };
	p.out = &l->out;
	p.out_max = CONFIG_MAX;
	p.errout = &l->errout;
	if (ga_process_take_over(job, &p, &l->job, err)) {
		load_free(l);
		return -1;
	}
	*ret = l;
	return 0;
}

int ga_gitconfig_begin(const struct ga_repo *r, struct ga_gitconfig_load **load,
		       struct ga_error *err)
{
	if (*load && !strcmp((*load)->gitdir, r->info.gitdir))
		return 0;
	ga_gitconfig_abandon(ga_steal(load));
	return begin(r, load, err);
}

static int end(struct ga_gitconfig_load *l, struct ga_gitconfig *ret, struct ga_error *err)
{
	int status;

	if (ga_process_end(ga_steal(&l->job), &status, err))
		return -1;
	if (status) {
		cleanup_free char *q = NULL;

		ga_buf_chomp(&l->errout);
		q = ga_quote(l->errout.ptr);
		return ga_fail(err, GA_EFATAL, "cannot read git's configuration: %s", q);
	}
	if (ga_gitconfig_parse(&l->out, ret, err)) {
		ga_gitconfig_release(ret);
		return -1;
	}
	return 0;
}

int ga_gitconfig_end(struct ga_gitconfig_load *l, struct ga_gitconfig *ret, struct ga_error *err)
{
	int rc = end(l, ret, err);

	load_free(l);
	return rc;
}

void ga_gitconfig_abandon(struct ga_gitconfig_load *l)
{
	if (l)
		load_free(l);
}

int ga_gitconfig_load(const struct ga_repo *r, struct ga_gitconfig *ret, struct ga_error *err)
{
	struct ga_gitconfig_load *l;

	return begin(r, &l, err) ? -1 : ga_gitconfig_end(l, ret, err);
}

static const struct ga_gitconfig_item *last_item(const struct ga_gitconfig *c, const char *key)
{
	for (size_t i = c->n; i-- > 0;)
		if (!strcmp(c->v[i].key, key))
			return &c->v[i];
	return NULL;
}

const char *ga_gitconfig_get(const struct ga_gitconfig *c, const char *key)
{
	const struct ga_gitconfig_item *it = last_item(c, key);

	return it ? it->value : NULL;
}

bool ga_gitconfig_bool(const struct ga_gitconfig *c, const char *key, bool def)
{
	const struct ga_gitconfig_item *it = last_item(c, key);
	int64_t n;
	bool b;

	if (!it)
		return def;
	if (!it->has_value)
		return true; /* a key without '=', as in `[core] bare`, means true */
	if (ga_parse_bool(it->value, &b))
		return b;
	return ga_parse_i64(it->value, &n) ? n != 0 : def;
}

void ga_gitconfig_push_filters(const struct ga_gitconfig *c, const char *workdir,
			       struct ga_strv *config)
{
	cleanup_free char *dir = ga_quote_shell(workdir);

	for (size_t i = 0; i < c->n; i++) {
		const struct ga_gitconfig_item *it = &c->v[i];
		cleanup_free char *name = ga_gitconfig_filter(it->key);
		const char *what = strrchr(it->key, '.');

		/* git splits "-c key=value" at the first '=' */
		if (!name || strchr(name, '=') || !it->has_value || !*it->value ||
		    (strcmp(what, ".smudge") != 0 && strcmp(what, ".clean") != 0 &&
		     strcmp(what, ".process") != 0))
			continue;
		ga_strv_pushf(config, "%s=unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE "
			      "GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES "
			      "GIT_CONFIG_PARAMETERS GIT_NO_REPLACE_OBJECTS "
			      "GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS GIT_AGENT_FALSE; "
			      "cd %s && %s", it->key, dir, it->value);
	}
}

char *ga_gitconfig_filter(const char *key)
{
	const char *dot = strrchr(key, '.');

	if (strncmp(key, "filter.", 7) || dot <= key + 7)
		return NULL;
	return ga_strndup(key + 7, (size_t)(dot - key - 7));
}

char *ga_repo_guess(void)
{
	cleanup_free char *at = getcwd(NULL, 0);

	while (at && *at == '/' && at[1]) {
		cleanup_free char *git = ga_path_join(at, ".git");
		struct stat st;

		if (!lstat(git, &st))
			return S_ISDIR(st.st_mode) ? ga_steal(&at) : NULL;
		ga_path_up(at);
	}
	return NULL;
}
