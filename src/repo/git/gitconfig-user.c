/* SPDX-License-Identifier: MIT
 *
 * Read from git's configuration the user's files, identity and hooks, and read other files in its
 * syntax.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "ga/base/parse.h"
#include "ga/base/path.h"
#include "ga/repo/repo.h"
#include "ga/sys/fd.h"
#include "ga/sys/process.h"
#include "repo/repo-internal.h"

/* The place where git looks if nothing is configured. */
static char *default_user_file(const char *name)
{
	const char *home = ga_env_get("HOME"), *xdg = ga_env_get("XDG_CONFIG_HOME");

	if (xdg && *xdg)
		return ga_strf("%s/git/%s", xdg, name);
	return home ? ga_strf("%s/.config/git/%s", home, name) : NULL;
}

/* Let git expand the value. Fails where every git command would, for example for a user who does
 * not exist. */
static int ask_for_path(const struct ga_repo *r, const char *key, char **ret, struct ga_error *err)
{
	const char *const args[] = { "config", "-z", "--type=path", "--get", key, NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	struct ga_git g = GA_GIT(.args = args, .out = &out);

	if (ga_git_ok(r, &g, err))
		return ga_error_wrap(err, "cannot expand '%s'", key);
	*ret = ga_buf_steal(&out); /* the string ends at the NUL that git printed */
	return 0;
}

static int expand(const struct ga_repo *r, const char *key, const char *value, char **ret,
		  struct ga_error *err)
{
	const char *home = ga_env_get("HOME");

	if (!strncmp(value, "~/", 2) && home)
		*ret = ga_path_join(home, value + 2);
	else if (*value != '~' && *value != '%' && *value != ':')
		*ret = ga_strdup(value);
	else
		return ask_for_path(r, key, ret, err);
	return 0;
}

int ga_user_file(const struct ga_repo *r, const struct ga_gitconfig *c, const char *key,
		 const char *name, char **ret, struct ga_error *err)
{
	const char *set = ga_gitconfig_get(c, key);
	cleanup_free char *path = NULL;

	*ret = NULL;
	if (!set) {
		*ret = default_user_file(name);
		return 0;
	}
	if (expand(r, key, set, &path, err))
		return -1;
	if (*path)
		*ret = *path == '/' ? ga_steal(&path) : ga_path_join(r->info.workdir, path);
	return 0;
}

int ga_user_file_read(const char *path, size_t max, struct ga_buf *out, struct ga_error *err)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
		return 0;
	if (ga_read_fd(fd, max, out, err))
		return ga_error_wrap(err, "cannot read '%s'", path);
	if (out->len && out->ptr[out->len - 1] != '\n')
		ga_buf_addch(out, '\n');
	return 0;
}

const char *ga_system_attributes(void)
{
	const char *set = ga_env_get("GIT_ATTR_NOSYSTEM");
	bool off = false;

	return set && ga_parse_bool(set, &off) && off ? NULL : "/etc/gitattributes";
}

/* Would git use this name or address unchanged? It strips punctuation from both ends and drops
 * angle brackets and newlines. */
static bool is_plain(const char *s)
{
	static const char crud[] = " \t.,:;<>\"\\'";
	size_t n = s ? strlen(s) : 0;

	if (!n || strchr(crud, s[0]) || strchr(crud, s[n - 1]))
		return false;
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == '<' || *s == '>' || *s == 0x7f)
			return false;
	return true;
}

/* Asks git, unless name and address are plain and in the configuration, as they usually are. */
int ga_repo_identity(const struct ga_repo *r, const struct ga_gitconfig *c, char **ret,
		     struct ga_error *err)
{
	static const char *const args[] = { "var", "GIT_COMMITTER_IDENT", NULL };
	const char *name = ga_gitconfig_get(c, "user.name");
	const char *mail = ga_gitconfig_get(c, "user.email");
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	char *end;
	int status;
	struct ga_git g = GA_GIT(.args = args, .out = &out);

	if (is_plain(name) && is_plain(mail) && !ga_env_get("GIT_COMMITTER_NAME") &&
	    !ga_env_get("GIT_COMMITTER_EMAIL") && !ga_gitconfig_get(c, "committer.name") &&
	    !ga_gitconfig_get(c, "committer.email")) {
		*ret = ga_strf("%s <%s>", name, mail);
		return 0;
	}
	if (ga_git_run(r, &g, &status, err))
		return -1;
	end = strrchr(out.ptr, '>');
	if (status || !end)
		return ga_fail(err, GA_EFATAL, "git does not know who you are"
			       GA_HINT "git config --global user.name 'Your Name' and git config "
			       "--global user.email you@example.com");
	*ret = ga_strndup(out.ptr, (size_t)(end + 1 - out.ptr));
	return 0;
}

int ga_repo_signature(const struct ga_repo *r, const struct ga_gitconfig *c, time_t at, char **ret,
		      struct ga_error *err)
{
	cleanup_(ga_gitconfig_release) struct ga_gitconfig own = GA_GITCONFIG_INIT;
	cleanup_free char *who = NULL;
	struct tm tm;
	long minutes;

	if (!c && ga_gitconfig_load(r, &own, err))
		return -1;
	if (ga_repo_identity(r, c ? c : &own, &who, err))
		return -1;
	if (!localtime_r(&at, &tm))
		return ga_fail(err, GA_EFATAL, "cannot get the local time");
	minutes = tm.tm_gmtoff / 60;
	*ret = ga_strf("%s %lld %c%02ld%02ld", who, (long long)at, minutes < 0 ? '-' : '+',
		       labs(minutes) / 60, labs(minutes) % 60);
	return 0;
}

/* Add the "hook.NAME.enabled" of a "hook.NAME.event", which a hook has once for each of its
 * events. */
static int take_hook(const git_config_entry *e, void *payload)
{
	static const char before[] = "hook.", behind[] = ".event";
	size_t n = strlen(e->name), around = sizeof(before) + sizeof(behind) - 2;
	struct ga_strv *off = payload;
	cleanup_free char *setting = NULL;

	if (n <= around)
		return 0;
	setting = ga_strf("%.*s.enabled", (int)(n - (sizeof(behind) - 1)), e->name);
	if (!off->n || strcmp(off->v[off->n - 1], setting) != 0)
		ga_strv_take(off, ga_steal(&setting));
	return 0;
}

int ga_hooks_find(struct ga_repo *r, struct ga_error *err)
{
	git_config *c = NULL;
	int rc = git_repository_config_snapshot(&c, r->repo);

	if (!rc)
		rc = git_config_foreach_match(c, "^hook\\..*\\.event$", take_hook, &r->hooks_off);
	git_config_free(c);
	return rc ? ga_fail_git(err, "cannot read git's configuration") : 0;
}

/* The directory of the hooks that are files. */
static char *hook_dir(const struct ga_repo *r, const struct ga_gitconfig *c)
{
	char *set = NULL;

	if (ga_gitconfig_get(c, "core.hookspath"))
		(void)ga_user_file(r, c, "core.hookspath", "hooks", &set, GA_IGNORED);
	return set ? set : ga_path_join(ga_repo_info(r)->commondir, "hooks");
}

static bool is_configured(const struct ga_gitconfig *c, const char *hook)
{
	for (size_t i = 0; i < c->n; i++) {
		const char *key = c->v[i].key, *dot = strrchr(key, '.');

		if (!strncmp(key, "hook.", 5) && dot && !strcmp(dot, ".event") &&
		    c->v[i].value && !strcmp(c->v[i].value, hook))
			return true;
	}
	return false;
}

bool ga_repo_has_hook(const struct ga_repo *r, const struct ga_gitconfig *c,
		      const char *const *names)
{
	cleanup_free char *dir = hook_dir(r, c);

	for (; *names; names++) {
		cleanup_free char *file = ga_path_join(dir, *names);

		if (ga_is_program(file) || is_configured(c, *names))
			return true;
	}
	return false;
}

#define LIST_MAX ((size_t)8 << 20) /* a section's name is in it for each of its variables */
enum { PARSE_MS = 10000 };

static int add(const git_config_entry *e, void *payload)
{
	struct ga_gitconfig *c = payload;

	/* from an included file: libgit2 follows includes */
	if (e->include_depth)
		return 0;
	GA_GROW(c->v, c->n, c->cap);
	c->v[c->n++] = (struct ga_gitconfig_item){
		.scope = ga_strdup("file"),
		.origin = ga_strdup(""),
		.key = ga_strdup(e->name),
		.value = ga_strdup(e->value ? e->value : ""),
		.has_value = e->value != NULL,
	};
	return 0;
}

int ga_configfile_read(const char *path, struct ga_gitconfig *ret, struct ga_error *err)
{
	struct ga_gitconfig c = GA_GITCONFIG_INIT;
	git_config *cfg = NULL;
	int rc;

	if (ga_library_begin(err))
		return -1;
	rc = git_config_open_ondisk(&cfg, path);
	if (!rc)
		rc = git_config_foreach(cfg, add, &c);
	if (rc < 0) {
		const git_error *e = git_error_last();

		(void)ga_fail(err, GA_EFATAL, "cannot read '%s': %s", path,
			      e && e->message ? e->message : "not in git-config syntax");
		ga_gitconfig_release(&c);
	} else {
		*ret = c;
	}
	git_config_free(cfg);
	(void)git_libgit2_shutdown();
	return rc < 0 ? -1 : 0;
}

int ga_configfile_parse(const struct ga_repo *r, const struct ga_buf *text,
			struct ga_gitconfig *ret, struct ga_error *err)
{
	static const char *const args[] = { "config", "--no-includes", "--file", "-", "-z",
					    "--list", "--show-scope", "--show-origin", NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT, said = GA_BUF_INIT;
	struct ga_git g = GA_GIT(.args = args, .in = text->ptr, .in_len = text->len, .out = &out,
				 .out_max = LIST_MAX, .timeout_ms = PARSE_MS, .errout = &said);
	struct ga_process_job *job;
	int status;

	/* it reads no object: what is not written yet can wait */
	if (ga_git_spawn(r, &g, true, NULL, &job, err) || ga_process_end(job, &status, err))
		return -1;
	return status ? ga_fail(err, GA_EFATAL, "git cannot parse it")
		      : ga_gitconfig_parse(&out, ret, err);
}
