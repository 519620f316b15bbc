/* SPDX-License-Identifier: MIT
 *
 * Formats of manifests and lock files.
 */
#include "risk/content.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "ga/base/path.h"

/* Packages as all formats say them: a name, a plain version, and where it comes from. */

void ga_deps_release(struct ga_deps *d)
{
	for (size_t i = 0; i < d->n; i++) {
		free(d->v[i].name);
		free(d->v[i].version);
		free(d->v[i].origin);
		ga_strv_release(&d->v[i].proofs);
	}
	free(d->v);
	ga_strv_release(&d->edges);
	ga_strv_release(&d->rest);
	*d = (struct ga_deps)GA_DEPS_INIT;
}

struct ga_dep *ga_deps_add(struct ga_deps *d, const char *name)
{
	GA_GROW(d->v, d->n, d->cap);
	d->v[d->n] = (struct ga_dep){ .name = ga_strdup(name), .version = ga_strdup(""),
				      .origin = ga_strdup("") };
	return &d->v[d->n++];
}

/* The end of a plain version at `p`; NULL: none. */
static const char *past_version(const char *p)
{
	static const char more[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789.+-_*!";
	const char *end;
	size_t n = strspn(p, "0123456789");

	if (*p == 'v' && isdigit((unsigned char)p[1]))
		return past_version(p + 1);
	end = p + strspn(p, more);
	/* a commit has letters among its digits, and is long */
	if (!n || n > 9 || (isalpha((unsigned char)p[n]) && !strchr("abcdprx", p[n])) ||
	    (strspn(p, "0123456789abcdef") >= 7 && strspn(p, "0123456789abcdef") > n))
		return NULL;
	return isalnum((unsigned char)end[-1]) || end[-1] == '*' ? end : NULL;
}

bool ga_dep_is_plain(const char *version)
{
	const char *p = version + strspn(version, "^~<>=! ");

	while (p && *p) {
		p = past_version(p);
		if (!p)
			return false;
		if (!strncmp(p, " - ", 3))
			p += 2;
		p += strspn(p, "^~<>=!|, ");
	}
	return *version != '\0';
}

void ga_dep_set(struct ga_dep *p, const char *version, const char *origin)
{
	struct ga_buf b = GA_BUF_INIT;
	bool plain = ga_dep_is_plain(version);
	size_t n = strlen(version);

	free(p->version);
	free(p->origin);
	p->version = ga_strdup(plain ? version : "");
	for (const char *s = origin, *at; plain && *s; s = at + n) {
		at = strstr(s, version);
		ga_buf_add(&b, s, at ? (size_t)(at - s) : strlen(s));
		if (!at)
			break;
		ga_buf_adds(&b, "{}");
	}
	if (!plain)
		ga_buf_addf(&b, "%s%s%s", origin, *origin && *version ? " " : "", version);
	p->origin = ga_buf_steal(&b);
}

bool ga_deps_add_python(struct ga_deps *d, const char *text)
{
	static const char chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789._-";
	size_t n = strspn(text, chars), extras;
	const char *p = text + n + strspn(text + n, " ");
	cleanup_free char *name = ga_strndup(text, n), *version = NULL, *origin = NULL;

	for (char *c = name; *c; c++)
		*c = *c == '_' || *c == '.' ? '-' : (char)tolower((unsigned char)*c);
	extras = *p == '[' ? strcspn(p, "]") + 1 : 0;
	if (!n || extras > strlen(p))
		return false;
	n = strcspn(p + extras, ";@");
	version = ga_strndup(p + extras, n);
	while (*version && strchr(" )", version[strlen(version) - 1]))
		version[strlen(version) - 1] = '\0';
	origin = ga_strf("%.*s%s", (int)extras, p, p + extras + n);
	ga_dep_set(ga_deps_add(d, name), version + strspn(version, " ("), origin);
	return true;
}

/* Formats that are lines: those of Go, pip and bundler, and build files that are code, in which
 * only versions may change. */

struct ga_deps_text {
	ga_deps_line_fn *line;
	struct ga_deps *ret;
	struct ga_buf block;  /* go.mod, bundler: what the lines are in */
	struct ga_buf origin; /* bundler: where the packages of the block are from */
	struct ga_buf name;   /* pom.xml: the last artifact */
	bool bad;
};

static void read_line(void *arg, char *line)
{
	struct ga_deps_text *t = arg;

	if (!t->bad)
		t->line(t, line);
}

bool ga_deps_read_text(const struct ga_deps_format *x, const struct ga_buf *text,
		       struct ga_deps *ret)
{
	struct ga_deps_text t = { .line = x->line, .ret = ret, .block = GA_BUF_INIT,
				  .origin = GA_BUF_INIT, .name = GA_BUF_INIT };

	t.bad = text->len > GA_KNOWN_MAX || memchr(text->ptr, '\0', text->len);
	ga_known_lines(text, read_line, &t);
	read_line(&t, (char[]){ "" }); /* ends a line that is continued last */
	ga_buf_release(&t.block);
	ga_buf_release(&t.origin);
	ga_buf_release(&t.name);
	return !t.bad;
}

static void chomp(char *line)
{
	size_t n = strlen(line);

	while (n && strchr(" \t\r", line[n - 1]))
		line[--n] = '\0';
}

/* Append the words of `s` with single blanks between them. */
static void put_words(struct ga_buf *out, char *s)
{
	char *save = NULL;

	for (char *w = strtok_r(s, " \t\r", &save); w; w = strtok_r(NULL, " \t\r", &save)) {
		if (out->len)
			ga_buf_addch(out, ' ');
		ga_buf_adds(out, w);
	}
}

/* Does it end in the time and the id of a commit? */
static bool is_commit(const char *version)
{
	size_t n = strlen(version);

	return n > 27 && strspn(version + n - 27, "0123456789") == 14 && version[n - 13] == '-' &&
	       strspn(version + n - 12, "0123456789abcdef") == 12;
}

/* "require MODULE VERSION", "go VERSION", or a line that is compared whole. */
static void mod_directive(struct ga_deps_text *t, char *line)
{
	char *name = strchr(line, ' '), *version = name ? strchr(name + 1, ' ') : NULL;

	if (version && !strncmp(line, "require ", 8) && !strchr(version + 1, ' ')) {
		*version++ = '\0';
		ga_dep_set(ga_deps_add(t->ret, name + 1), is_commit(version) ? "" : version,
			   is_commit(version) ? version : "");
	} else if (name && !version && !strncmp(line, "go ", 3) && ga_dep_is_plain(name + 1)) {
		ga_strv_pushf(&t->ret->rest, "go = %s", name + 1);
	} else {
		ga_strv_push(&t->ret->rest, line);
	}
}

static void ga_deps_gomod(struct ga_deps_text *t, char *line)
{
	cleanup_buf struct ga_buf words = GA_BUF_INIT;
	char *comment = strstr(line, "//");

	/* a string may have what looks like a comment */
	t->bad |= strpbrk(line, "\"`") || strstr(line, "/*");
	if (comment)
		*comment = '\0';
	ga_buf_add(&words, t->block.ptr, t->block.len);
	put_words(&words, line);
	if (words.len == t->block.len)
		return;
	if (t->block.len && words.len == t->block.len + 2 && words.ptr[words.len - 1] == ')') {
		ga_buf_clear(&t->block);
	} else if (words.len > 2 && !strcmp(words.ptr + words.len - 2, " (")) {
		t->bad |= t->block.len != 0;
		ga_buf_add(&t->block, words.ptr, words.len - 2);
		t->bad |= strchr(t->block.ptr, ' ') != NULL;
	} else {
		mod_directive(t, words.ptr);
	}
}

static void ga_deps_gosum(struct ga_deps_text *t, char *line)
{
	char *save = NULL, *name = strtok_r(line, " \r", &save);
	char *version = strtok_r(NULL, " \r", &save);
	char *sum = strtok_r(NULL, " \r", &save);
	cleanup_free char *whole = NULL;
	struct ga_dep *p;

	if (!name)
		return;
	if (!sum || strtok_r(NULL, " \r", &save)) {
		t->bad = true;
		return;
	}
	whole = ga_strf("%s %s", name, version);
	p = ga_deps_add(t->ret, whole);
	ga_strv_push(&p->proofs, sum);
}

/* A line, which a backslash continues. */
static void requirement(struct ga_deps_text *t, char *line)
{
	cleanup_buf struct ga_buf words = GA_BUF_INIT;
	cleanup_strv struct ga_strv proofs = GA_STRV_INIT;
	char *save = NULL;
	size_t n = t->ret->n;

	for (char *w = strtok_r(line, " \t\r", &save); w; w = strtok_r(NULL, " \t\r", &save)) {
		if (*w == '#')
			break;
		if (!strncmp(w, "--hash=", 7) && words.len)
			ga_strv_push(&proofs, w + 7);
		else
			ga_buf_addf(&words, "%s%s", words.len ? " " : "", w);
	}
	if (!words.len)
		return;
	if (*words.ptr == '-' || strpbrk(words.ptr, "@/\\$") || strstr(words.ptr, " --") ||
	    !ga_deps_add_python(t->ret, words.ptr)) {
		ga_strv_push(&t->ret->rest, words.ptr);
		ga_strv_extend(&t->ret->rest, &proofs);
		return;
	}
	ga_strv_sort_unique(&proofs);
	ga_strv_extend(&t->ret->v[n].proofs, &proofs);
}

static void ga_deps_requirements(struct ga_deps_text *t, char *line)
{
	chomp(line);
	ga_buf_adds(&t->block, line);
	/* a comment is not continued in any reader */
	if (t->block.len && t->block.ptr[t->block.len - 1] == '\\') {
		t->bad |= strchr(t->block.ptr, '#') != NULL;
		t->block.ptr[t->block.len - 1] = ' ';
		return;
	}
	requirement(t, t->block.ptr);
	ga_buf_clear(&t->block);
}

/* "    NAME (VERSION)" of a block's packages, with what it depends on indented further. */
static void bundler_package(struct ga_deps_text *t, size_t indent, char *line)
{
	char *version = strstr(line, " ("), *close = version ? strchr(version, ')') : NULL;
	bool sums = !strcmp(t->block.ptr, "CHECKSUMS");
	size_t n = version ? (size_t)(version - line) : strlen(line);
	cleanup_free char *name = ga_strndup(line, n);
	struct ga_dep *p;

	if (close)
		*close = '\0';
	if (indent == 6 || !strcmp(t->block.ptr, "DEPENDENCIES")) {
		if (close && close[1])
			ga_strv_pushf(&t->ret->edges, "%s%s", name, close + 1);
		else
			ga_strv_push(&t->ret->edges, name);
	} else if (close && (sums || (indent == 4 && !close[1]))) {
		p = ga_deps_add(t->ret, sums ? line : name);
		ga_dep_set(p, sums ? "" : version + 2, sums ? "" : t->origin.ptr);
		if (sums && close[1])
			ga_strv_push(&p->proofs, close + 1 + strspn(close + 1, " "));
	} else {
		t->bad = true;
	}
}

static void ga_deps_bundler(struct ga_deps_text *t, char *line)
{
	size_t indent = strspn(line, " ");
	bool source = ga_has_word("GEM GIT PATH PLUGIN", t->block.ptr);

	chomp(line);
	if (!line[0])
		return;
	if (!indent) {
		ga_buf_clear(&t->block);
		ga_buf_adds(&t->block, line);
		ga_buf_clear(&t->origin);
		ga_buf_adds(&t->origin, line);
	} else if (ga_has_word("CHECKSUMS DEPENDENCIES", t->block.ptr) || (source && indent > 2)) {
		bundler_package(t, indent, line + indent);
	} else if (source) {
		if (strcmp(line, "  specs:") != 0)
			ga_buf_addf(&t->origin, " %s", line + indent);
	} else {
		ga_strv_pushf(&t->ret->rest, "%s: %s", t->block.ptr, line + indent);
	}
}

static const char version_chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789.+-_";

/* Is a version expected at `at` on the line? Sets the name that it belongs to. */
static bool is_before_version(struct ga_deps_text *t, const char *line, size_t at, char after,
			      struct ga_buf *name)
{
	static const char *const never[] = { "toolchain", "gradleversion", "image", "jvm", "java",
					     "://", "docker", "nodeversion" };
	cleanup_free char *before = ga_strndup(line, at);
	char *start;

	for (char *p = before; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	if (GA_FINDS_ANY(strstr, before, never) || !at)
		return false;
	/* <version>1</version> */
	if (line[at - 1] == '>') {
		start = strrchr(before, '<');
		ga_buf_adds(name, t->name.len ? t->name.ptr : start ? start : "");
		return after == '<' && start && at > 8 && !strcmp(before + at - 8, "version>");
	}
	/* "group:name:1" */
	if (line[at - 1] == ':' && after && strchr("\"'", after)) {
		start = strrchr(before, after);
		if (!start)
			return false;
		start = start - before + (char *)(uintptr_t)line + 1;
		ga_buf_add(name, start, (size_t)(line + at - 1 - start));
		return strchr(name->ptr, ':') && !strpbrk(name->ptr, " /@$\"'");
	}
	/* xVersion = "1", id "x" version "1", VER_X=1 */
	start = before + strspn(before, " \t");
	ga_buf_add(name, line + (start - before), strcspn(start, " \t=\"'"));
	return strchr("\"'=", line[at - 1]) &&
	       (line[at - 1] == '=' ? !after : after == line[at - 1]) &&
	       (strstr(before, "version") || !strncmp(start, "ver_", 4));
}

/* Append the line without its versions, which make packages. */
static void ga_deps_code(struct ga_deps_text *t, char *line)
{
	cleanup_buf struct ga_buf rest = GA_BUF_INIT;
	char *id = strstr(line, "<artifactId>");

	chomp(line);
	if (id) {
		ga_buf_clear(&t->name);
		ga_buf_add(&t->name, id + 12, strcspn(id + 12, "<"));
	}
	for (char *p = line; *p;) {
		cleanup_buf struct ga_buf name = GA_BUF_INIT;
		size_t n = strspn(p, version_chars);
		cleanup_free char *version = ga_strndup(p, n);

		if (isdigit((unsigned char)*p) && strchr(version, '.') &&
		    ga_dep_is_plain(version) &&
		    is_before_version(t, line, (size_t)(p - line), p[n], &name)) {
			ga_dep_set(ga_deps_add(t->ret, name.ptr), version, "");
			ga_buf_adds(&rest, "{}");
		} else {
			n += n == 0;
			ga_buf_add(&rest, p, n);
		}
		p += n;
	}
	ga_strv_push(&t->ret->rest, rest.ptr);
}

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

/* Is it one of the words, of which one that begins with '*' matches all that end so? */
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
