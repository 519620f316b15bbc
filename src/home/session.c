/* SPDX-License-Identifier: MIT
 *
 * Prepare the home of one session: notes, tools, caches, git configuration, conversations.
 */
#include "home-internal.h"
#include "ga/repo/gitdir.h"
#include "ga/sandbox/sandbox.h"
#include "ga/view/view.h"

/* A file that begins like this is ours to rewrite. */
#define MARKER "<!-- git-agent wrote this file and keeps it up to date."

static const char notes[] =
	MARKER " Without this line it is yours. -->\n"
	"# Where you are\n"
	"\n"
	"You run in a sandbox made by git-agent (`GIT_AGENT_SESSION` is its name), and may do\n"
	"in it whatever the task needs without asking.\n"
	"\n"
	"- The project shows the user's working tree, at its own path. What you write stays in\n"
	"  this session. When you end it is put on the branch `agent/$GIT_AGENT_SESSION`; the\n"
	"  user reviews it and decides what lands.\n"
	"- Commit as you like, with messages for a reader. What is left uncommitted is committed\n"
	"  for you. There is nothing to push, and nobody's credentials to push with.\n"
	"- Ignored directories (`node_modules`, `target`, `.venv` ...) are the user's, with your\n"
	"  changes on top. Once you remove one, it is not shown again.\n"
	"- Files with live secrets, such as `.env`, are left out. Do not make them up.\n"
	"- The home directory is not the user's but the agents' own. Toolchains in it, and the\n"
	"  system, are read-only: install into the project, or into `~/" GA_AGENT_BIN "`,\n"
	"  which is on `PATH`.\n"
	"- git-agent refuses what makes containers or sandboxes (docker, podman, that of a\n"
	"  browser), hosts that are not listed, if any are, and devices. The user can allow\n"
	"  them by `sandbox.nested`, `network.sockets`, `network.allow` and `devices`.\n"
	"- `/tmp` is empty at the start and gone at the end.\n"
	"- `GIT_AGENT_FEEDBACK`, if set, names a file with what the reviewer said of your work.\n";

static int write_one(int home, const char *rel, bool ours, struct ga_error *err)
{
	cleanup_close int fd = ga_openat_beneath(home, rel, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	char now[sizeof(notes)];
	ssize_t n;

	if (fd < 0 && errno == ENOENT)
		return home_write(home, rel, notes, sizeof(notes) - 1, 0644, err);
	if (fd < 0 && !ours)
		return ga_fail_path(err, errno, "open", rel);
	n = fd < 0 ? 0 : read(fd, now, sizeof(now));
	if (n == sizeof(notes) - 1 && !memcmp(now, notes, sizeof(notes) - 1))
		return 0;
	if (!ours && (n < (ssize_t)sizeof(MARKER) - 1 || memcmp(now, MARKER, sizeof(MARKER) - 1)))
		return 0;
	return home_write(home, rel, notes, sizeof(notes) - 1, 0644, err);
}

/* Write notes about the sandbox into the home `dir`: our file, and the one that the agent (NULL:
 * none) reads before each task, unless it is not ours. */
static int write_notes(const char *dir, const struct ga_preset *p, struct ga_error *err)
{
	cleanup_close int home = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (home < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open the agents' home");
	return write_one(home, GA_VIEW_NOTES, true, err) ||
	       (p && p->notes && write_one(home, p->notes, false, err)) ? -1 : 0;
}

#define VERSIONS_MAX ((size_t)64 << 10)

/* The lines of the tables [tools] and [tools.NAME]. */
static void keep_tools(const struct ga_buf *from, struct ga_buf *ret)
{
	size_t pos = 0, n;
	const char *p;
	bool in = false;

	while ((p = ga_buf_next_line(from, &pos, &n))) {
		size_t blank = 0;

		while (blank < n && (p[blank] == ' ' || p[blank] == '\t'))
			blank++;
		if (blank < n && p[blank] == '[')
			in = n - blank > 6 && (!strncmp(p + blank, "[tools]", 7) ||
					       !strncmp(p + blank, "[tools.", 7));
		if (in)
			ga_buf_addf(ret, "%.*s\n", (int)n, p);
	}
}

static int copy_file(int user, int home, const char *rel, bool tools_only, struct ga_error *err)
{
	cleanup_buf struct ga_buf text = GA_BUF_INIT, kept = GA_BUF_INIT;
	cleanup_close int there = -1;

	/* in the user's own home, where it may be a link */
	cleanup_close int fd = openat(user, rel, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	there = ga_openat_beneath(home, rel, O_PATH | O_NOFOLLOW, 0);
	if (there >= 0 || ga_read_fd(fd, VERSIONS_MAX, &text, GA_IGNORED) || !text.len)
		return 0;
	if (tools_only)
		keep_tools(&text, &kept);
	else
		ga_buf_add(&kept, text.ptr, text.len);
	return kept.len ? home_write(home, rel, kept.ptr, kept.len, 0644, err) : 0;
}

/* Copy the versions of tools that the user has set into the home `dir`, if it has none.
 */
static int copy_versions(const char *user, const char *dir, struct ga_error *err)
{
	cleanup_close int from = open(user, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_close int to = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (from < 0 || to < 0)
		return 0;
	return copy_file(from, to, ".tool-versions", false, err) ||
	       copy_file(from, to, ".config/mise/config.toml", true, err) ? -1 : 0;
}

/* Write the settings that keep caches in the home (ga_cache_file()), where there are none. */
static int write_cache_settings(const char *dir, struct ga_error *err)
{
	cleanup_close int to = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	const char *file, *text;

	for (size_t i = 0; to >= 0 && (file = ga_cache_file(i, &text)) != NULL; i++) {
		cleanup_close int there = ga_openat_beneath(to, file, O_PATH | O_NOFOLLOW, 0);

		if (there < 0 && errno == ENOENT &&
		    home_write(to, file, text, strlen(text), 0644, err))
			return -1;
	}
	return 0;
}

/* The session's private git dir has a configuration of its own; this is for other repositories that
 * agents make or clone. */
int ga_home_copy_git(const char *dir, const struct ga_gitconfig *c, struct ga_error *err)
{
	static const char *const names[] = { ".gitconfig", ".config/git/config" };
	cleanup_close int to = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_buf struct ga_buf text = GA_BUF_INIT;

	for (size_t i = 0; i < GA_NELEMS(names); i++) {
		cleanup_close int there = ga_openat_beneath(to, names[i], O_PATH, 0);

		if (to < 0 || there >= 0 || errno != ENOENT)
			return 0;
	}
	ga_gitdir_home_config(c, &text);
	return text.len ? home_write(to, names[0], text.ptr, text.len, 0644, err) : 0;
}

static bool overlaps(const char *a, const char *b)
{
	return ga_path_inside(a, b) || ga_path_inside(b, a);
}

/* Skip a path that the user's settings show. */
static bool is_free(const struct ga_spec *s, const char *rel)
{
	const struct ga_strv *const shown[] = { &s->host.ro, &s->host.rw };
	cleanup_free char *path = ga_path_join(s->home, rel);

	for (size_t k = 0; k < GA_NELEMS(shown); k++)
		for (size_t i = 0; i < shown[k]->n; i++)
			if (overlaps(shown[k]->v[i], path))
				return false;
	for (size_t i = 0; i < s->host.tools.n; i++)
		if (overlaps(s->host.tools.v[i], rel))
			return false;
	return !overlaps(s->project, path);
}

/* Separate directories, as agents write in each of them. */
static int add_store(const char *dir, const char *rel, struct ga_spec *s, struct ga_error *err)
{
	cleanup_free char *name = ga_strdup(rel), *store = NULL;

	for (char *p = name; (p = strchr(p, '/')); p++)
		*p = ':';
	store = ga_path_join(dir, name);
	if (mkdir(store, 0700) && errno != EEXIST)
		return ga_fail_path(err, errno, "make", store);
	ga_strv_push(&s->kept, rel);
	ga_strv_take(&s->kept, ga_steal(&store));
	return 0;
}

static bool has_store(const struct ga_spec *s, const char *path)
{
	for (size_t i = 0; i < s->kept.n; i += 2)
		if (ga_path_inside(path, s->kept.v[i]))
			return true;
	return false;
}

/* Have the agent keep its conversations there, unless the user sets that variable. */
static void set_places(const struct ga_env *e, const struct ga_preset *p, struct ga_spec *s)
{
	for (size_t i = 0; p->conversation_env && p->conversation_env[i]; i++) {
		const char *equals = strchr(p->conversation_env[i], '=');
		cleanup_free char *name = NULL, *path = NULL;

		if (!equals || !has_store(s, equals + 1))
			continue;
		name = ga_strndup(p->conversation_env[i],
				  (size_t)(equals - p->conversation_env[i]));
		path = ga_path_join(s->home, equals + 1);
		if (!ga_environ_get((const char *const *)e->conf.env.set.v, name))
			ga_environ_set(&s->env, name, path);
	}
}

int ga_home_keep_conversations(const struct ga_env *e, const struct ga_session *session,
			       struct ga_spec *s, struct ga_error *err)
{
	cleanup_free char *dir = ga_session_path(session, "conversations");
	cleanup_strv struct ga_strv all = GA_STRV_INIT;
	const struct ga_preset *p;

	for (size_t i = 0; (p = ga_preset_at(&e->agents, i)) != NULL; i++)
		for (size_t j = 0; p->conversations && p->conversations[j]; j++)
			ga_strv_push(&all, p->conversations[j]);
	/* a path within another sorts after it and is part of it */
	ga_strv_sort_unique(&all);
	if (all.n && ga_mkdir_p(dir, 0700, err))
		return -1;
	for (size_t i = 0; i < all.n; i++)
		if (!has_store(s, all.v[i]) && is_free(s, all.v[i]) &&
		    add_store(dir, all.v[i], s, err))
			return -1;
	for (size_t i = 0; (p = ga_preset_at(&e->agents, i)) != NULL; i++)
		set_places(e, p, s);
	return 0;
}

int ga_home_open_session(const struct ga_env *e, int *ret_lock, struct ga_strv *banner,
			 struct ga_error *err)
{
	bool first = access(e->agent_home, F_OK) != 0;

	if (ga_home_open(e, ret_lock, err))
		return -1;
	if (first)
		ga_strv_pushf(banner, "made '%s', the agents' home: they see it in place of yours, "
			      "and logins that they make stay in it", GA_ESCAPED(e->agent_home));
	return 0;
}

void ga_home_fill(const struct ga_env *e, const struct ga_preset *p, struct ga_spec *spec,
		  struct ga_strv *banner)
{
	cleanup_error struct ga_error odd = GA_ERROR_INIT;
	cleanup_free char *dir = ga_home_dir(e, e->conf.home_mode);

	if (e->conf.home_mode == GA_HOME_PROJECT && home_share_logins(e, dir, &odd))
		ga_strv_pushf(banner, "logins: %s", odd.msg);
	ga_error_release(&odd);
	if (write_notes(dir, p, &odd))
		ga_strv_pushf(banner, "notes for the agent: %s", odd.msg);
	ga_error_release(&odd);
	if (copy_versions(e->home, dir, &odd))
		ga_strv_pushf(banner, "versions of tools: %s", odd.msg);
	ga_error_release(&odd);
	if (write_cache_settings(dir, &odd))
		ga_strv_pushf(banner, "settings of caches: %s", odd.msg);
	free(spec->home_dir.source);
	spec->home_dir.source = ga_steal(&dir);
}

int ga_home_add_layer(const struct ga_env *e, const struct ga_session *s,
		      struct ga_spec *spec, struct ga_sandbox *sb, struct ga_error *err)
{
	if (e->conf.home_mode != GA_HOME_OVERLAY)
		return 0;
	spec->home_dir.upper = ga_session_path(s, "home/upper");
	spec->home_dir.work = ga_session_fresh_dir(s, "home", err);
	return !spec->home_dir.work || ga_mkdir_p(spec->home_dir.upper, 0700, err) ||
	       ga_home_run(e, spec, sb, err) ? -1 : 0;
}

void ga_home_close(const struct ga_env *e, const char *dir, int lock)
{
	/* on failure the next start tries again and reports it */
	if (e->conf.home_mode == GA_HOME_PROJECT)
		(void)home_share_logins(e, dir, GA_IGNORED);
	(void)home_sweep(e, lock);
}
