/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/sys/fd.h"
#include "ga/sys/process.h"
#include "sandbox-internal.h"
#include "toolchains.h"

/* Where credentials are kept. A directory is never shown if it is one of these, contains one or,
 * where all contents are secret, is in one. */
static const struct {
	const char *path;
	bool whole;
} secrets[] = {
	{ ".ssh", true },	      { ".gnupg", true },
	{ ".aws", true },	      { ".azure", true },
	{ ".kube", true },	      { ".docker", true },
	{ ".password-store", true },  { ".mozilla", true },
	{ ".thunderbird", true },     { ".local/share/keyrings", true },
	{ ".config/gh", true },	      { ".config/gcloud", true },
	{ ".config/git", true },      { ".local/state/git-agent", true },
	{ ".claude.json", false },    { ".claude/.credentials.json", false },
	{ ".codex/auth.json", false }, { ".gemini/oauth_creds.json", false },
	{ ".cargo/credentials", false }, { ".cargo/credentials.toml", false },
	{ ".local/share/opencode/auth.json", false }, { ".netrc", false },
	{ ".git-credentials", false }, { ".npmrc", false },
	{ ".pypirc", false },	      { ".m2/settings.xml", false },
	{ ".m2/settings-security.xml", false }, { ".ivy2/.credentials", false },
	{ ".sbt/.credentials", false }, { ".pip/pip.conf", false },
	{ ".gradle/gradle.properties", false }, { ".gem/credentials", false },
	{ ".bundle/config", false },  { ".rye/credentials", false },
	{ ".composer/auth.json", false }, { ".terraform.d", true },
	{ ".foundry/keystores", true }, { ".julia/servers", true },
	{ ".dotnet/corefx", true },   { ".android", true },
	{ ".conda", false },     { ".condarc", false },
	{ ".copilot", false },	      { ".local/share/gem/credentials", false },
	{ ".config", false },	      { ".local/share", false },
	{ ".local/state", false },    { ".npm", false },
	{ "go", false },
};

bool sandbox_is_secret(const char *rel)
{
	if (!*rel)
		return true;
	for (size_t i = 0; i < GA_NELEMS(secrets); i++)
		if (ga_path_inside(secrets[i].path, rel) ||
		    (secrets[i].whole && ga_path_inside(rel, secrets[i].path)))
			return true;
	return false;
}

struct finder {
	const char *home;      /* as in $HOME */
	const char *real_home; /* the same with symlinks resolved, for targets of chains */
	const char *path;
	struct ga_strv *tools;
	unsigned depth;        /* of scripts and their interpreters */
};

static const char *below_home(const struct finder *f, const char *path)
{
	const char *rel = ga_path_below(path, f->home);

	return rel ? rel : ga_path_below(path, f->real_home);
}

/* Show `dir` if it is below home. Returns false if that would expose credentials. */
static bool show(struct finder *f, const char *dir)
{
	const char *rel = below_home(f, dir);

	if (!rel || ga_strv_above(f->tools, rel))
		return true;
	if (sandbox_is_secret(rel))
		return false;
	ga_strv_push(f->tools, rel);
	return true;
}

/* The directory that an executable belongs to: its npm package, or the parent of its bin (a virtual
 * environment, an unpacked release). The caller frees it. */
static char *package_of(const char *file)
{
	static const char modules[] = "/node_modules/";
	const char *m = strstr(file, modules);
	char *dir;

	if (m) {
		const char *end = m + strlen(modules);

		end += strcspn(end, "/");
		if (m[strlen(modules)] == '@' && *end)
			end += 1 + strcspn(end + 1, "/");
		if (*end)
			return ga_strndup(file, (size_t)(end - file));
	}
	dir = ga_path_parent(file);
	if (!strcmp(ga_path_base(dir), "bin")) {
		char *up = ga_path_parent(dir);

		free(dir);
		return up;
	}
	return dir;
}

static int refuse(const char *file, struct ga_error *err)
{
	cleanup_free char *dir = ga_path_parent(file);

	return ga_fail(err, GA_ESTART, "'%s' cannot be shown inside: '%s' may hold credentials"
		       GA_HINT "install it in a directory of its own, or below /usr/local or "
		       "~/.local/bin", file, dir);
}

static int add_program(struct finder *f, const char *name, struct ga_error *err);

/* "#!/path arg" and "#!/usr/bin/env name": the interpreter may live below home too. */
static int add_interpreter(struct finder *f, const char *file, struct ga_error *err)
{
	cleanup_close int fd = open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char line[256], *word, *save = NULL;
	ssize_t n = fd < 0 ? 0 : read(fd, line, sizeof(line) - 1);

	if (n < 3 || line[0] != '#' || line[1] != '!' || f->depth > 3)
		return 0;
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	word = strtok_r(line + 2, " \t", &save);
	if (word && !strcmp(ga_path_base(word), "env")) {
		do
			word = strtok_r(NULL, " \t", &save);
		while (word && (word[0] == '-' || strchr(word, '=')));
	}
	return word && word[0] != '.' ? add_program(f, word, err) : 0;
}

static int add_target(struct finder *f, const char *file, struct ga_error *err)
{
	cleanup_free char *package = package_of(file), *dir = ga_path_parent(file);

	if (!show(f, package) && !show(f, dir))
		return refuse(file, err);
	f->depth++;
	return add_interpreter(f, file, err);
}

/* Normalise textually: "a/./b/../c" -> "a/c". The caller frees it. */
static char *normalise(const char *path)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	for (const char *p = path; *p;) {
		size_t n;

		p += strspn(p, "/");
		n = strcspn(p, "/");
		if (n == 2 && !strncmp(p, "..", 2)) {
			const char *slash = strrchr(b.ptr, '/');

			ga_buf_truncate(&b, slash ? (size_t)(slash - b.ptr) : 0);
		} else if (n && !(n == 1 && *p == '.')) {
			ga_buf_addch(&b, '/');
			ga_buf_add(&b, p, n);
		}
		p += n;
	}
	return b.len ? ga_buf_steal(&b) : ga_strdup("/");
}

/* Resolve a symlink in `dir`. Inside, `dir` is a mount at this path, so ".." is relative to it; on
 * the host it is relative to the real `dir`. */
static char *link_target(const char *dir, const char *target)
{
	cleanup_free char *joined = NULL, *named = NULL, *real = NULL;

	if (target[0] == '/')
		return normalise(target);
	joined = ga_path_join(dir, target);
	named = normalise(joined);
	if (ga_is_program(named))
		return ga_steal(&named);
	free(joined);
	real = sandbox_real(dir);
	joined = ga_path_join(real, target);
	return normalise(joined);
}

/* Follow the symlinks one by one: each directory that contains one is needed. */
static int add_chain(struct finder *f, const char *start, struct ga_error *err)
{
	cleanup_free char *at = normalise(start);

	for (unsigned hops = 0; hops < 40; hops++) {
		cleanup_free char *dir = ga_path_parent(at);
		char target[PATH_MAX];
		ssize_t n = readlink(at, target, sizeof(target) - 1);

		if (n < 0)
			return add_target(f, at, err);
		target[n] = '\0';
		if (!show(f, dir))
			return refuse(at, err);
		free(at);
		at = link_target(dir, target);
	}
	return 0;
}

static int add_program(struct finder *f, const char *name, struct ga_error *err)
{
	cleanup_free char *file = NULL;

	if (name[0] == '/')
		return ga_is_program(name) ? add_chain(f, name, err) : 0;
	if (strchr(name, '/'))
		return 0;
	file = ga_find_program(f->path, name);
	return file ? add_chain(f, file, err) : 0;
}

/* A directory within another one that is shown needs no mount of its own. */
static void drop_nested(struct ga_strv *tools)
{
	struct ga_strv kept = GA_STRV_INIT;

	ga_strv_sort_unique(tools);
	for (size_t i = 0; i < tools->n; i++)
		if (!ga_strv_above(&kept, tools->v[i]))
			ga_strv_push(&kept, tools->v[i]);
	ga_strv_release(tools);
	*tools = kept;
}

int ga_spec_find_tools(const char *home, const char *path, const char *command,
		       struct ga_strv *tools, struct ga_error *err)
{
	cleanup_free char *real_home = sandbox_real(home);
	struct finder f = { home, real_home, path, tools, 0 };
	int rc;

	sandbox_toolchains(home, tools);
	rc = command ? add_program(&f, command, err) : 0;
	drop_nested(tools);
	return rc;
}

/* Enough for a settings file; a longer file may contain anything. */
#define LOOK_MAX ((size_t)256 << 10)

/* Does the file contain these bytes outside comments? True in doubt. */
static bool has(const char *path, const char *bytes)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	const char *end;

	if (ga_read_file_at(AT_FDCWD, path, LOOK_MAX, &b, GA_IGNORED))
		return true;
	if (!b.len)
		return false;
	end = b.ptr + b.len;
	for (const char *p = b.ptr; p && p < end;) {
		const char *comment = memmem(p, (size_t)(end - p), "<!--", 4);

		if (memmem(p, (size_t)((comment ? comment : end) - p), bytes, strlen(bytes)))
			return true;
		p = comment ? memmem(comment, (size_t)(end - comment), "-->", 3) : NULL;
	}
	return false;
}

/* Mask the file at its real path, as a symlink cannot be a mount point; it may be shown in several
 * places. */
static void add_mask(const char *home, const struct ga_strv *tools, const char *rel,
		     const char *if_has, struct ga_strv *ret)
{
	cleanup_free char *path = ga_path_join(home, rel), *real = NULL;
	struct stat st;

	if (stat(path, &st))
		return;
	real = sandbox_real(path);
	if (if_has && !has(real, if_has))
		return;
	for (size_t i = 0; i < tools->n; i++) {
		cleanup_free char *tool = ga_path_join(home, tools->v[i]);
		cleanup_free char *real_tool = sandbox_real(tool);
		const char *below = ga_path_below(real, real_tool);
		cleanup_free char *dest = below && *below ? ga_path_join(tools->v[i], below)
							  : ga_strdup(tools->v[i]);

		/* versions may be symlinks to another one */
		if (!below || ga_strv_has(ret, dest))
			continue;
		ga_strv_push(ret, S_ISDIR(st.st_mode) ? "mask-dir" : "mask-file");
		ga_strv_take(ret, ga_steal(&dest));
	}
}

static void expand_mask(const char *home, const struct ga_strv *tools, const char *pattern,
			const char *if_has, struct ga_strv *ret)
{
	const char *star = strchr(pattern, '*');
	cleanup_free char *before = NULL, *dir = NULL;
	cleanup_dir DIR *d = NULL;
	struct dirent *e;

	if (!star) {
		add_mask(home, tools, pattern, if_has, ret);
		return;
	}
	before = ga_strndup(pattern, (size_t)(star - pattern - 1));
	dir = ga_path_join(home, before);
	d = opendir(dir);
	while ((e = ga_dir_next(d))) {
		cleanup_free char *rel = ga_strf("%s/%s%s", before, e->d_name, star + 1);

		/* a '*' in a name would be a pattern */
		if (e->d_name[0] != '.' && !strchr(e->d_name, '*'))
			expand_mask(home, tools, rel, if_has, ret);
	}
}

/* Does the pattern concern a shown toolchain? Nothing else of the user's home is shown. Only the
 * first component is compared, because symlinks lead from one directory of a toolchain to
 * another. */
static bool concerns(const struct ga_strv *tools, const char *pattern)
{
	size_t n = strcspn(pattern, "/");

	for (size_t i = 0; i < tools->n; i++)
		if (!strncmp(tools->v[i], pattern, n) && strchr("/", tools->v[i][n]))
			return true;
	return false;
}

/* The same for an environment, or part of one, in another place. */
static void add_alike(const char *home, const struct ga_strv *tools, const char *tool,
		      struct ga_strv *ret)
{
	cleanup_free char *dir = ga_path_join(home, tool);
	const struct sandbox_environment *e;
	const struct sandbox_mask *masks;
	size_t n = sandbox_masks(&masks), row = 0;

	while ((e = sandbox_environment_at(dir, &row)))
		for (size_t i = 0; e->like && i < n; i++) {
			const char *rest = ga_path_below(masks[i].path, e->like);
			cleanup_free char *at = rest ? ga_path_join(tool, rest) : NULL;

			if (at)
				expand_mask(home, tools, at, masks[i].if_has, ret);
		}
}

void sandbox_tool_masks(const char *home, const struct ga_strv *tools, struct ga_strv *ret)
{
	const struct sandbox_mask *masks;
	size_t n = sandbox_masks(&masks);

	for (size_t i = 0; i < n; i++)
		if (concerns(tools, masks[i].path))
			expand_mask(home, tools, masks[i].path, masks[i].if_has, ret);
	for (size_t i = 0; i < tools->n; i++)
		if (!sandbox_toolchain_above(tools->v[i]))
			add_alike(home, tools, tools->v[i], ret);
}
