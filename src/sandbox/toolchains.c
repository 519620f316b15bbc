/* SPDX-License-Identifier: MIT
 *
 * The toolchain table: directories of the user's home that sandboxes show, and files in them that
 * may hold credentials.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/base/parse.h"
#include "ga/base/path.h"
#include "ga/sys/fd.h"
#include "toolchains.h"

/* Installed programs and what they run from, in byte order. Not listed: caches that the tool writes
 * to (a read-only go/pkg/mod or .cargo/registry breaks every download), and directories with
 * credentials and programs (.cargo, .claude, .config, .gem). Of a directory with other uses (n),
 * only the tool's part. */
static const char *const table[] = {
	".asdf",
	".bun/bin",
	".bun/install/global",
	".cache/ms-playwright",
	".cargo/bin",
	".composer/vendor",
	".deno/bin",
	".dotnet",
	".elan",
	".fnm",
	".foundry/bin",
	".ghcup",
	".goenv",
	".gvm",
	".jabba",
	".jenv",
	".juliaup",
	".krew/bin",
	".linuxbrew/Cellar",
	".linuxbrew/bin",
	".linuxbrew/etc/ca-certificates",
	".linuxbrew/etc/openssl@3",
	".linuxbrew/include",
	".linuxbrew/lib",
	".linuxbrew/libexec",
	".linuxbrew/opt",
	".linuxbrew/sbin",
	".linuxbrew/share",
	".local/bin",
	".local/go",
	".local/lib",
	".local/opt",
	".local/pipx",
	".local/share/claude",
	".local/share/cursor-agent",
	".local/share/fnm",
	".local/share/mise",
	".local/share/pipx",
	".local/share/pnpm",
	".local/share/pypoetry",
	".local/share/rtx",
	".local/share/swiftly",
	".local/share/uv",
	".nix-profile",
	".nodebrew",
	".nodenv",
	".npm-global",
	".nvm",
	".nvs",
	".opam",
	".opencode/bin",
	".phpenv",
	".pixi/bin",
	".pixi/envs",
	".plenv",
	".proto",
	".pyenv",
	".rbenv",
	".rustup",
	".rvm",
	".rye",
	".sdkman",
	".swiftly",
	".tfenv",
	".volta",
	".wasmer/bin",
	".wasmtime/bin",
	".yarn/bin",
	"anaconda3",
	"go/bin",
	"mambaforge",
	"micromamba",
	"miniconda3",
	"miniforge3",
	"n/bin",
	"n/include",
	"n/lib",
	"n/n",
};

/* Masked inside the directories above. A '*' matches any one name. */
static const struct sandbox_mask masks[] = {
	/* npm: _authToken */
	{ ".asdf/installs/nodejs/*/.npm/etc/npmrc", NULL },
	{ ".asdf/installs/nodejs/*/etc/npmrc", NULL },
	{ ".asdf/installs/nodejs/*/lib/node_modules/npm/npmrc", NULL },
	{ ".bun/install/global/.npmrc", NULL },
	{ ".bun/install/global/bunfig.toml", NULL },
	{ ".fnm/node-versions/*/installation/etc/npmrc", NULL },
	{ ".fnm/node-versions/*/installation/lib/node_modules/npm/npmrc", NULL },
	{ ".linuxbrew/lib/node_modules/npm/npmrc", NULL },
	{ ".local/lib/node_modules/npm/npmrc", NULL },
	{ ".local/share/fnm/node-versions/*/installation/etc/npmrc", NULL },
	{ ".local/share/fnm/node-versions/*/installation/lib/node_modules/npm/npmrc", NULL },
	{ ".local/share/mise/installs/node/*/etc/npmrc", NULL },
	{ ".local/share/mise/installs/node/*/lib/node_modules/npm/npmrc", NULL },
	{ ".local/share/pnpm/.npmrc", NULL },
	{ ".local/share/pnpm/global/*/.npmrc", NULL },
	{ ".local/share/rtx/installs/node/*/etc/npmrc", NULL },
	{ ".nodenv/versions/*/etc/npmrc", NULL },
	{ ".nodenv/versions/*/lib/node_modules/npm/npmrc", NULL },
	{ ".npm-global/.npmrc", NULL },
	{ ".npm-global/etc/npmrc", NULL },
	{ ".nvm/.npmrc", NULL },
	{ ".nvm/versions/node/*/etc/npmrc", NULL },
	{ ".nvm/versions/node/*/lib/node_modules/npm/npmrc", NULL },
	{ ".volta/tools/image/node/*/etc/npmrc", NULL },
	{ ".volta/tools/image/node/*/lib/node_modules/npm/npmrc", NULL },
	{ ".volta/tools/image/packages/*/etc/npmrc", NULL },
	{ "n/etc/npmrc", NULL },
	{ "n/lib/node_modules/npm/npmrc", NULL },
	/* pip: an index-url with a password; conda: tokens of channels */
	{ ".asdf/installs/python/*/pip.conf", NULL },
	{ ".local/pipx/venvs/*/pip.conf", NULL },
	{ ".local/share/mise/installs/python/*/pip.conf", NULL },
	{ ".local/share/pipx/venvs/*/pip.conf", NULL },
	{ ".local/share/uv/credentials", NULL },
	{ ".local/share/uv/tools/*/pip.conf", NULL },
	{ ".local/share/uv/tools/*/uv-receipt.toml", "@" },
	{ ".pyenv/versions/*/pip.conf", NULL },
	{ ".rye/config.toml", NULL },
	{ ".rye/credentials", NULL },
	{ "anaconda3/.condarc", NULL },
	{ "anaconda3/pip.conf", NULL },
	{ "mambaforge/.condarc", NULL },
	{ "mambaforge/pip.conf", NULL },
	{ "micromamba/.condarc", NULL },
	{ "miniconda3/.condarc", NULL },
	{ "miniconda3/pip.conf", NULL },
	{ "miniforge3/.condarc", NULL },
	{ "miniforge3/pip.conf", NULL },
	/* gem: sources with a password */
	{ ".asdf/installs/ruby/*/etc/gemrc", NULL },
	{ ".local/share/mise/installs/ruby/*/etc/gemrc", NULL },
	{ ".rbenv/versions/*/etc/gemrc", NULL },
	{ ".rvm/rubies/*/etc/gemrc", NULL },
	/* cargo */
	{ ".asdf/installs/rust/*/credentials", NULL },
	{ ".asdf/installs/rust/*/credentials.toml", NULL },
	{ ".local/share/mise/installs/rust/*/credentials.toml", NULL },
	/* Gradle and Maven. Maven rejects an empty settings file, so these are masked only if they
	 * contain more than the examples that come with every release. */
	{ ".asdf/installs/gradle/*/gradle.properties", NULL },
	{ ".asdf/installs/gradle/*/init.d", NULL },
	{ ".asdf/installs/maven/*/conf/settings-security.xml", NULL },
	{ ".asdf/installs/maven/*/conf/settings.xml", "<password>" },
	{ ".local/share/mise/installs/gradle/*/gradle.properties", NULL },
	{ ".local/share/mise/installs/gradle/*/init.d", NULL },
	{ ".local/share/mise/installs/maven/*/*/conf/settings.xml", "<password>" },
	{ ".local/share/mise/installs/maven/*/conf/settings-security.xml", NULL },
	{ ".local/share/mise/installs/maven/*/conf/settings.xml", "<password>" },
	{ ".sdkman/candidates/gradle/*/gradle.properties", NULL },
	{ ".sdkman/candidates/gradle/*/init.d", NULL },
	{ ".sdkman/candidates/maven/*/conf/settings-security.xml", NULL },
	{ ".sdkman/candidates/maven/*/conf/settings.xml", "<password>" },
	/* private keys of certificates */
	{ ".dotnet/corefx", NULL },
	/* plugins' and hosts' tokens */
	{ ".local/share/mise/.env", NULL },
	{ ".local/share/pypoetry/auth.toml", NULL },
};

static int by_first_name(const void *key, const void *row)
{
	const char *name = key, *path = *(const char *const *)row;
	size_t n = strcspn(path, "/");
	int rc = strncmp(name, path, n);

	return rc ? rc : name[n] != '\0';
}

static size_t first_of(const char *const *row)
{
	size_t i = (size_t)(row - table), n = strcspn(*row, "/");

	while (i && !strncmp(table[i - 1], *row, n) && strchr("/", table[i - 1][n]))
		i--;
	return i;
}

/* Add those rows that begin with `name`, which exists. */
static void add_rows(int home, const char *name, size_t i, struct ga_strv *ret)
{
	size_t n = strlen(name);
	struct stat st;

	for (; i < GA_NELEMS(table) && !strncmp(table[i], name, n) && strchr("/", table[i][n]); i++)
		if (!fstatat(home, table[i], &st, 0) && S_ISDIR(st.st_mode))
			ga_strv_push(ret, table[i]);
}

/* Reading the directory is faster than testing each row. */
void sandbox_toolchains(const char *home, struct ga_strv *ret)
{
	cleanup_dir DIR *d = opendir(home);
	struct dirent *e;

	while ((e = ga_dir_next(d))) {
		const char *const *row = bsearch(e->d_name, table, GA_NELEMS(table),
						 sizeof(*table), by_first_name);

		if (row)
			add_rows(dirfd(d), e->d_name, first_of(row), ret);
	}
}

const char *sandbox_toolchain_above(const char *rel)
{
	for (size_t i = 0; i < GA_NELEMS(table); i++)
		if (ga_path_inside(rel, table[i]))
			return table[i];
	return NULL;
}

size_t sandbox_masks(const struct sandbox_mask **ret)
{
	*ret = masks;
	return GA_NELEMS(masks);
}

static const struct sandbox_environment environments[] = {
#define ENVIRONMENT(marker, like, names) { marker, like, names },
#include "environments.def"
#undef ENVIRONMENT
};

static bool has_marker(int dir, const char *marker)
{
	for (const char *p = marker; *p; p += strspn(p, " ")) {
		cleanup_free char *path = ga_strndup(p, strcspn(p, " "));

		if (faccessat(dir, path, F_OK, AT_SYMLINK_NOFOLLOW))
			return false;
		p += strlen(path);
	}
	return true;
}

/* Has the directory only these names? */
static bool has_only(int dir, const char *names)
{
	cleanup_dir DIR *d = ga_dir_of(openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	struct dirent *e;

	while ((e = ga_dir_next(d)))
		if (!ga_has_word(names, e->d_name))
			return false;
	return d != NULL;
}

const struct sandbox_environment *sandbox_environment_at(const char *dir, size_t *i)
{
	cleanup_close int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	/* masks would treat a '*' as a pattern */
	for (; fd >= 0 && !strchr(dir, '*') && *i < GA_NELEMS(environments); ++*i) {
		const struct sandbox_environment *e = &environments[*i];

		if (has_marker(fd, e->marker) && (!e->names || has_only(fd, e->names)))
			return &environments[(*i)++];
	}
	return NULL;
}
