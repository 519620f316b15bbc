/* SPDX-License-Identifier: MIT
 *
 * The formats of manifests and lock files: where each of them says what.
 */
#include <string.h>

#include "deps.h"

#define TREE .read = ga_deps_read_tree
#define NPM_MAPS "dependencies devDependencies peerDependencies optionalDependencies"
#define NPM_IGNORED "dev optional devOptional peer license engines os cpu libc bin hasBin funding " \
		    "deprecated extraneous inBundle bundleDependencies bundledDependencies " \
		    "hasShrinkwrap peerDependencies peerDependenciesMeta dependencies " \
		    "optionalDependencies devDependencies requires workspaces " \
		    "transitivePeerDependencies optionalPeers"
#define YARN_IGNORED "dependencies optionalDependencies peerDependencies peerDependenciesMeta " \
		     "dependenciesMeta bin languageName linkType conditions"
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
	{ "package.json", "npm-manifest", TREE, .where = NPM_MAPS, .name = GA_DEPS_ALIAS,
	  .own = "version engines.node engines.npm engines.pnpm engines.yarn",
	  .harmless = npm_harmless, .ignored = "" },
	{ "package-lock.json", "node-lockfiles", TREE, .where = "packages dependencies",
	  .name = GA_DEPS_NPM, .member = "name", .origin = "resolved link integrity",
	  .edges = "dependencies optionalDependencies", .ignored = NPM_IGNORED,
	  .skipped = "name version requires lockfileVersion" },
	{ "npm-shrinkwrap.json", "node-lockfiles", TREE, .where = "packages dependencies",
	  .name = GA_DEPS_NPM, .member = "name", .origin = "resolved link integrity",
	  .edges = "dependencies optionalDependencies", .ignored = NPM_IGNORED,
	  .skipped = "name version requires lockfileVersion" },
	{ "yarn.lock", "node-lockfiles", TREE, .syntax = GA_DEPS_BLOCKS, .where = "",
	  .name = GA_DEPS_YARN, .member = "resolution",
	  .origin = "resolved resolution integrity checksum",
	  .edges = "dependencies optionalDependencies", .ignored = YARN_IGNORED },
	{ "pnpm-lock.yaml", "node-lockfiles", TREE, .syntax = GA_DEPS_BLOCKS, .where = "packages",
	  .name = GA_DEPS_PNPM, .origin = "resolution name id",
	  .edges = "dependencies optionalDependencies", .ignored = NPM_IGNORED },
	{ "pnpm-lock.yaml", NULL, TREE, .where = "snapshots", .name = GA_DEPS_PNPM,
	  .edges = "dependencies optionalDependencies", .ignored = "*" },
	{ "pnpm-lock.yaml", NULL, TREE,
	  .where = "importers.*.dependencies importers.*.devDependencies "
		   "importers.*.optionalDependencies catalogs.* dependencies devDependencies "
		   "optionalDependencies",
	  .name = GA_DEPS_ALIAS, .ignored = "specifier", .empty = "importers.*" },
	/* Rust */
	{ "cargo.toml", "cargo", TREE, .syntax = GA_DEPS_TOML,
	  .where = CARGO_MAPS("") " " CARGO_MAPS("workspace.") " " CARGO_MAPS("target.*."),
	  .name = GA_DEPS_MEMBER, .member = "package",
	  .origin = "git branch tag rev path registry registry-index workspace", .ignored = "",
	  .own = "package.version workspace.package.version package.rust-version "
		 "workspace.package.rust-version",
	  .harmless = cargo_harmless },
	{ "cargo.lock", "cargo-deps", TREE, .syntax = GA_DEPS_TOML, .where = "package",
	  .name = GA_DEPS_MEMBER, .member = "name", .origin = "source replace checksum",
	  .ignored = "dependencies", .skipped = "version" },
	/* Python */
	{ "pyproject.toml", "python-build", TREE, .syntax = GA_DEPS_TOML,
	  .where = "project.dependencies project.optional-dependencies.* dependency-groups.* "
		   "build-system.requires tool.poetry.dependencies tool.poetry.dev-dependencies "
		   "tool.poetry.group.*.dependencies",
	  .origin = "git branch tag rev path url source registry", .ignored = "",
	  .own = "project.version project.requires-python tool.poetry.version", .harmless = pyproject_harmless },
	{ "poetry.lock", "python-deps", TREE, .syntax = GA_DEPS_TOML, .where = "package",
	  .name = GA_DEPS_MEMBER, .member = "name", .origin = "source develop", .proof = "files",
	  .ignored = "description category optional groups markers python-versions dependencies "
		     "extras",
	  .skipped = "metadata.content-hash metadata.lock-version metadata.python-versions extras" },
	{ "uv.lock", "python-deps", TREE, .syntax = GA_DEPS_TOML, .where = "package",
	  .name = GA_DEPS_MEMBER, .member = "name", .origin = "source", .proof = "sdist wheels",
	  .ignored = "dependencies optional-dependencies dev-dependencies metadata "
		     "resolution-markers",
	  .skipped = "version revision requires-python resolution-markers supported-markers" },
	{ "pipfile.lock", "python-deps", TREE, .where = "default develop",
	  .origin = "index git ref file path editable hashes", .ignored = "markers extras",
	  .skipped = "_meta.hash" },
	/* others */
	{ "composer.json", "php-deps", TREE, .where = "require require-dev", .ignored = "" },
	{ "composer.lock", "php-deps", TREE, .where = "packages packages-dev",
	  .name = GA_DEPS_MEMBER, .member = "name", .origin = "source dist type",
	  .edges = "require",
	  .ignored = "require-dev conflict replace provide suggest bin extra autoload "
		     "autoload-dev notification-url license authors description homepage "
		     "keywords support funding time abandoned",
	  .skipped = "_readme content-hash plugin-api-version" },
	{ "flake.lock", "other-deps nix", TREE, .where = "nodes",
	  .origin = "locked original inputs flake parent", .ignored = "" },
	{ "pubspec.lock", "other-deps dart-flutter-android", TREE, .syntax = GA_DEPS_BLOCKS, .where = "packages",
	  .origin = "source description", .ignored = "dependency", .skipped = "sdks" },
	{ "libs.versions.toml", "gradle", TREE, .syntax = GA_DEPS_TOML,
	  .where = "versions libraries plugins", .name = GA_DEPS_COORDINATE,
	  .origin = "module group name id version", .ignored = "" },
	/* texts */
	{ "go.mod", "go-build", .read = ga_deps_read_gomod, .harmless = "go" },
	{ "go.sum", "go-deps", .read = ga_deps_read_gosum, .loose = true },
	{ "go.work.sum", "go-deps", .read = ga_deps_read_gosum, .loose = true },
	{ "gemfile.lock", "ruby-deps", .read = ga_deps_read_bundler },
	{ "gems.locked", "ruby-deps", .read = ga_deps_read_bundler },
	{ "*.txt", "python-deps", .read = ga_deps_read_requirements },
	{ "*.in", "python-deps", .read = ga_deps_read_requirements },
	{ "*.gradle", "gradle", .read = ga_deps_read_code },
	{ "*.gradle.kts", "gradle", .read = ga_deps_read_code },
	{ "gradle.properties", "gradle", .read = ga_deps_read_code },
	{ "pom.xml", "maven", .read = ga_deps_read_code },
	{ NULL },
};

const struct ga_deps_format *ga_deps_format(const char *base)
{
	size_t n = strlen(base);

	for (const struct ga_deps_format *x = formats; x->base; x++) {
		size_t m = strlen(x->base) - 1;

		if (*x->base == '*' ? n > m && !strcmp(base + n - m, x->base + 1) :
				      !strcmp(base, x->base))
			return x;
	}
	return NULL;
}
