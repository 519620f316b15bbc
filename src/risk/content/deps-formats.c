/* SPDX-License-Identifier: MIT
 *
 * The formats of manifests and lock files: where each of them says what.
 */
#include "deps.h"

#include <string.h>

#include "ga/base/path.h"

#define NPM_MAPS "dependencies devDependencies peerDependencies optionalDependencies"
#define NPM_IGNORED "dev optional devOptional peer license engines os cpu libc bin hasBin " \
		    "funding deprecated extraneous inBundle bundleDependencies " \
		    "bundledDependencies hasShrinkwrap peerDependencies " \
		    "peerDependenciesMeta dependencies optionalDependencies " \
		    "devDependencies requires workspaces transitivePeerDependencies " \
		    "optionalPeers"
#define YARN_IGNORED "dependencies optionalDependencies peerDependencies peerDependenciesMeta " \
		     "dependenciesMeta bin languageName linkType conditions"
#define POETRY_LOCK "python-deps", .syntax = GA_DEPS_TOML, .where = "package", \
	.name = GA_DEPS_MEMBER, .member = "name", .proof = "files", \
	.origin = "source develop git ref revision path url editable subdirectory", \
	.ignored = "description category optional groups markers python-versions dependencies " \
		   "extras summary requires_python marker", \
	.skipped = "metadata.content-hash metadata.lock-version metadata.python-versions " \
		   "metadata.content_hash metadata.lock_version metadata.groups extras"
#define CARGO_MAPS(in) in "dependencies " in "dev-dependencies " in "build-dependencies"

static const char cargo_harmless[] =
	"package.description package.authors package.keywords "
	"package.categories package.license package.repository package.homepage "
	"package.documentation workspace.package.description workspace.package.authors "
	"workspace.package.license workspace.package.repository workspace.package.homepage "
	"profile.release.opt-level profile.release.debug profile.release.lto "
	"profile.release.strip profile.release.panic profile.release.codegen-units "
	"profile.release.incremental profile.release.overflow-checks "
	"profile.release.debug-assertions profile.dev.opt-level profile.dev.debug "
	"profile.dev.lto profile.dev.strip profile.dev.panic profile.dev.codegen-units "
	"profile.dev.incremental profile.dev.overflow-checks profile.dev.debug-assertions";

static const char pyproject_harmless[] =
	"project.version project.description project.authors project.authors* "
	"project.maintainers project.maintainers* "
	"project.keywords project.classifiers project.license project.license.* project.urls "
	"project.urls.* tool.poetry.version tool.poetry.description tool.poetry.authors "
	"tool.poetry.maintainers tool.poetry.keywords tool.poetry.classifiers "
	"tool.poetry.license tool.poetry.homepage tool.poetry.repository "
	"tool.black.line-length tool.black.target-version "
	"tool.black.skip-string-normalization tool.black.skip-magic-trailing-comma "
	"tool.isort.profile tool.isort.line_length tool.isort.multi_line_output "
	"tool.isort.known_first_party tool.ruff.line-length tool.ruff.indent-width "
	"tool.ruff.target-version tool.ruff.format tool.ruff.format.*";

static const char npm_harmless[] =
	"description keywords author author.* contributors contributors#* "
	"maintainers maintainers#* license licenses licenses#* homepage repository repository.* "
	"bugs bugs.* funding funding.* funding#*";

static const struct ga_deps_format formats[] = {
	/* JavaScript */
	{ "package.json", "npm-manifest", .where = NPM_MAPS, .name = GA_DEPS_ALIAS,
	  .own = "version engines.node engines.npm engines.pnpm engines.yarn",
	  .harmless = npm_harmless,
	  .lock = "package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml" },
	{ "lerna.json", "node-build-config", .own = "version" },
	{ "package-lock.json npm-shrinkwrap.json", "node-lockfiles",
	  .where = "packages dependencies",
	  .name = GA_DEPS_NPM, .member = "name", .origin = "resolved link integrity",
	  .edges = "dependencies optionalDependencies", .ignored = NPM_IGNORED,
	  .skipped = "name version requires lockfileVersion", .install = "npm ci",
	  .into = "node_modules" },
	{ "yarn.lock", "node-lockfiles", .syntax = GA_DEPS_BLOCKS, .where = "",
	  .name = GA_DEPS_YARN, .member = "resolution",
	  .origin = "resolved resolution integrity checksum",
	  .edges = "dependencies optionalDependencies", .ignored = YARN_IGNORED,
	  .install = "yarn install", .into = "node_modules" },
	{ "pnpm-lock.yaml", "node-lockfiles", .syntax = GA_DEPS_BLOCKS, .where = "packages",
	  .name = GA_DEPS_PNPM, .origin = "resolution name id",
	  .edges = "dependencies optionalDependencies", .ignored = NPM_IGNORED,
	  .install = "pnpm install", .into = "node_modules" },
	{ "pnpm-lock.yaml", .where = "snapshots", .name = GA_DEPS_PNPM,
	  .edges = "dependencies optionalDependencies", .ignored = "*" },
	{ "pnpm-lock.yaml",
	  .where = "importers.*.dependencies importers.*.devDependencies "
		   "importers.*.optionalDependencies catalogs.* dependencies devDependencies "
		   "optionalDependencies",
	  .name = GA_DEPS_ALIAS, .ignored = "specifier", .empty = "importers.*" },
	{ "deno.lock", "bun-deno", .where = "jsr npm", .name = GA_DEPS_PNPM,
	  .origin = "integrity", .ignored = "dependencies optionalDependencies os cpu bin",
	  .skipped = "specifiers" },
	/* Rust */
	{ "cargo.toml", "cargo", .syntax = GA_DEPS_TOML,
	  .where = CARGO_MAPS("") " " CARGO_MAPS("workspace.") " " CARGO_MAPS("target.*."),
	  .name = GA_DEPS_MEMBER, .member = "package",
	  .origin = "git branch tag rev path registry registry-index workspace",
	  .own = "package.version workspace.package.version package.rust-version "
		 "workspace.package.rust-version",
	  .harmless = cargo_harmless, .lock = "Cargo.lock" },
	{ "cargo.lock", "cargo-deps", .syntax = GA_DEPS_TOML, .where = "package",
	  .name = GA_DEPS_MEMBER, .member = "name", .origin = "source replace checksum",
	  .ignored = "dependencies", .skipped = "version" },
	/* Python */
	{ "pyproject.toml", "python-build", .syntax = GA_DEPS_TOML,
	  .where = "project.dependencies project.optional-dependencies.* dependency-groups.* "
		   "build-system.requires tool.poetry.dependencies tool.poetry.dev-dependencies "
		   "tool.poetry.group.*.dependencies",
	  .origin = "git branch tag rev path url source registry",
	  .own = "project.version project.requires-python tool.poetry.version",
	  .harmless = pyproject_harmless, .lock = "poetry.lock pdm.lock uv.lock" },
	{ "poetry.lock", POETRY_LOCK, .install = "poetry install", .into = ".venv venv" },
	{ "pdm.lock", POETRY_LOCK, .install = "pdm sync", .into = ".venv venv" },
	{ "uv.lock", "python-deps", .syntax = GA_DEPS_TOML, .where = "package",
	  .name = GA_DEPS_MEMBER, .member = "name", .origin = "source", .proof = "sdist wheels",
	  .ignored = "dependencies optional-dependencies dev-dependencies metadata "
		     "resolution-markers",
	  .skipped = "version revision requires-python resolution-markers supported-markers",
	  .install = "uv sync", .into = ".venv venv" },
	{ "pipfile.lock", "python-deps", .where = "default develop",
	  .origin = "index git ref file path editable hashes", .ignored = "markers extras",
	  .skipped = "_meta.hash", .install = "pipenv sync" },
	/* others */
	{ "composer.json", "php-deps", .where = "require require-dev", .lock = "composer.lock" },
	{ "composer.lock", "php-deps", .where = "packages packages-dev",
	  .name = GA_DEPS_MEMBER, .member = "name", .origin = "source dist type",
	  .edges = "require",
	  .ignored = "require-dev conflict replace provide suggest bin extra autoload "
		     "autoload-dev notification-url license authors description homepage "
		     "keywords support funding time abandoned",
	  .skipped = "_readme content-hash plugin-api-version", .install = "composer install",
	  .into = "vendor" },
	{ "flake.lock", "other-deps nix", .where = "nodes",
	  .origin = "locked original flake parent", .ignored = "inputs" },
	{ "pubspec.lock", "other-deps dart-flutter-android", .syntax = GA_DEPS_BLOCKS,
	  .where = "packages",
	  .origin = "source description", .ignored = "dependency", .skipped = "sdks" },
	{ "libs.versions.toml", "gradle", .syntax = GA_DEPS_TOML,
	  .where = "versions libraries plugins", .name = GA_DEPS_COORDINATE,
	  .origin = "module group name id version" },
	/* texts */
	{ "go.mod", "go-build", .line = ga_deps_gomod, .harmless = "go", .unordered = true },
	{ "go.sum go.work.sum", "go-deps", .line = ga_deps_gosum, .loose = true },
	{ "gemfile.lock gems.locked", "ruby-deps", .line = ga_deps_bundler,
	  .install = "bundle install", .into = "vendor" },
	{ "*.txt *.in", "python-deps", .line = ga_deps_requirements },
	{ "*.gradle *.gradle.kts gradle.properties", "gradle", .line = ga_deps_code },
	{ "pom.xml", "maven", .line = ga_deps_code },
	{ .base = NULL },
};

/* Is it one of the words, of which one that begins with '*' stands for all that end so? */
static bool is_called(const char *base, const char *words)
{
	const char *dot = strchr(base, '.');

	for (; dot; dot = strchr(dot + 1, '.')) {
		cleanup_free char *end = ga_strf("*%s", dot);

		if (ga_has_word(words, end))
			return true;
	}
	return ga_has_word(words, base);
}

const struct ga_deps_format *ga_deps_format(const char *base)
{
	for (const struct ga_deps_format *x = formats; x->base; x++)
		if (is_called(base, x->base))
			return x;
	return NULL;
}

const char *ga_risk_install(const char *path)
{
	cleanup_buf struct ga_buf base = GA_BUF_INIT;
	const struct ga_deps_format *x;

	ga_name_fold(&base, ga_path_base(path));
	x = ga_deps_format(base.ptr);
	return x ? x->install : NULL;
}

static bool is_installed(const char *name)
{
	for (const struct ga_deps_format *x = formats; x->base; x++)
		if (x->into && ga_has_word(x->into, name))
			return true;
	return false;
}

char *ga_risk_installed(const char *path)
{
	for (const char *p = path; *p;) {
		size_t n = strcspn(p, "/");
		cleanup_free char *name = ga_strndup(p, n);

		if (is_installed(name))
			return ga_strndup(path, (size_t)(p - path) + n);
		p += n + (p[n] == '/');
	}
	return NULL;
}
