/* SPDX-License-Identifier: MIT
 *
 * Git's own files: attributes, submodules, configuration.
 */
#include <ctype.h>
#include <string.h>

#include "ga/base/ignore.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/repo/repo.h"
#include "ga/secret/secret.h"
#include "risk/content.h"

/* Files of lines "KEY=VALUE", settings of package managers, and files that name a version. */

static bool loader_variable(const char *name)
{
	static const char exact[] =
		"PATH NODE_OPTIONS PYTHONPATH PYTHONSTARTUP PYTHONHOME PERL5OPT PERL5LIB RUBYOPT "
		"RUBYLIB JAVA_TOOL_OPTIONS _JAVA_OPTIONS BASH_ENV ENV PROMPT_COMMAND EDITOR "
		"VISUAL PAGER LESSOPEN LESSCLOSE CODEX_HOME CLAUDE_CONFIG_DIR DOCKER_HOST "
		"KUBECONFIG NODE_EXTRA_CA_CERTS ZDOTDIR SSH_ASKPASS SUDO_ASKPASS BROWSER SHELL "
		"IFS PS4 SHELLOPTS BASHOPTS GCONV_PATH HOME XDG_CONFIG_HOME XDG_CONFIG_DIRS "
		"NODE_PATH PYTHONWARNINGS PYTHONBREAKPOINT PYTHONUSERBASE JDK_JAVA_OPTIONS "
		"CLASSPATH MAVEN_OPTS MAVEN_ARGS GRADLE_OPTS MAKEFLAGS RUSTFLAGS RUSTC GOFLAGS "
		"GOPROXY GOTOOLCHAIN DOTNET_STARTUP_HOOKS BUNDLE_GEMFILE GEM_HOME GEM_PATH "
		"PIP_CONFIG_FILE PIP_FIND_LINKS CARGO_HOME CARGO_BUILD_RUSTC RUSTUP_HOME "
		"RUSTUP_TOOLCHAIN";
	static const char *const suffixes[] = { "_PROXY", "_BASE_URL", "_API_URL", "_API_BASE",
						"_INDEX_URL", "_WRAPPER" };
	cleanup_free char *upper = ga_strdup(name);

	for (char *p = upper; *p; p++)
		*p = (char)toupper((unsigned char)*p);
	for (size_t i = 0; *name && i < GA_NELEMS(suffixes); i++)
		if (ga_ends_in(upper + 1, suffixes[i]))
			return true;
	return ga_has_word(exact, upper) ||
	       ga_known_in(name, "LD_* DYLD_* GIT_* SSL_CERT_* NPM_CONFIG_* npm_config_*");
}

void ga_known_dotenv(const struct ga_known *f)
{
	static const char name_chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
					 "0123456789_";

	for (const char *line = f->added->ptr; line && *line;) {
		/* to some readers a line also ends at '\r' */
		const char *next = strpbrk(line, "\r\n");
		const char *p = line + strspn(line, " \t");
		bool quoted;
		cleanup_free char *name = NULL;
		size_t n;

		if (!strncmp(p, "export ", 7) || !strncmp(p, "export\t", 7))
			p += 7 + strspn(p + 7, " \t");
		quoted = *p == '\'' || *p == '"';
		p += quoted;
		n = strspn(p, name_chars);
		name = ga_strndup(p, n);
		p += n;
		p += quoted && (*p == '\'' || *p == '"');
		p += strspn(p, " \t");
		/* direnv's PATH_add is a call, the rest are assignments. */
		if ((*p == '=' || *p == ':' || !strncmp(p, "+=", 2)) && loader_variable(name))
			ga_fire_rule(f->k, "dotenv-loader-vars", ga_strdup(name));
		line = next ? next + 1 : NULL;
	}
}

void ga_known_version(const struct ga_known *f)
{
	static const char *const words[] = { "/", "\\", ":", "..", "system" };
	const char *value = f->text->ptr + strspn(f->text->ptr, " \t\n");

	/* a slash is harmless only in nvm's names of long-term releases */
	if (!strncmp(value, "lts/", 4))
		value += 4;
	if (GA_FINDS_ANY(strstr, value, words))
		ga_fire_rule(f->k, "version-selector-odd", NULL);
}

/* The name that a line of INI, TOML, YAML or .yarnrc sets, or the XML element that it opens. */
static char *setting_of(const char *line)
{
	static const char name_chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
					 "0123456789_-.@:/";
	const char *p = line + strspn(line, " \t<\"'-");
	size_t n = strspn(p, name_chars);

	while (n && p[n - 1] == ':')
		n--;
	return ga_strndup(p, n);
}

static const char *describe_setting(const char *name)
{
	static const struct {
		const char *names, *what;
	} table[] = {
		{ "git script-shell node-options init-module yarn-path yarnPath plugins shell "
		  "rustc rustc-wrapper rustc-workspace-wrapper rustdoc runner linker rustflags "
		  "credential-provider keyring-provider preload", "names what is run" },
		{ "registry index-url extra-index-url index find-links npmRegistryServer proxy "
		  "https-proxy trusted-host url mirror packageSources replace-with add",
		  "chooses where packages come from" },
		{ "_authToken _auth _password npmAuthToken password username",
		  "holds what proves who you are" },
	};
	const char *colon = strrchr(name, ':');

	for (size_t i = 0; i < GA_NELEMS(table); i++)
		if (ga_has_word(table[i].names, name) ||
		    (colon && ga_has_word(table[i].names, colon + 1)))
			return table[i].what;
	return NULL;
}

struct rc {
	struct ga_inspect *k;
	const char *rule;
	const char *said[3];
	size_t n_said;
};

static void rc_line(void *arg, char *line)
{
	cleanup_free char *name = setting_of(line);
	const char *what = describe_setting(name);
	struct rc *rc = arg;

	for (size_t i = 0; what && i < rc->n_said; i++)
		if (rc->said[i] == what)
			return;
	if (what && rc->n_said < GA_NELEMS(rc->said)) {
		rc->said[rc->n_said++] = what;
		ga_add_detail(rc->k, rc->rule, GA_LOW,
			      ga_strf("%s %s%s", name, what,
				      strstr(line, "${") ? ", with the value of a variable" : ""));
	}
}

void ga_known_rc(const struct ga_known *f)
{
	static const struct {
		const char *base, *rule;
	} files[] = {
		{ ".npmrc", "npmrc" }, { "npmrc", "npmrc" }, { ".yarnrc", "yarn-classic" },
		{ ".yarnrc.yml", "yarn-berry" }, { "pip.conf", "python-deps" },
		{ "pip.ini", "python-deps" }, { "uv.toml", "python-deps" },
		{ "nuget.config", "nuget" }, { "settings.xml", "maven" },
		{ "config", "cargo-config" }, { "config.toml", "cargo-config" },
	};

	for (size_t i = 0; i < GA_NELEMS(files); i++) {
		struct rc rc = { .k = f->k, .rule = files[i].rule };

		if (!strcmp(f->k->base, files[i].base) && ga_has_fired(f->k, files[i].rule))
			ga_known_lines(f->added, rc_line, &rc);
	}
}

enum { IGNORE_LINES = 512, CONFIGS_MAX = 200 };

/* ---- .gitattributes ----------------------------------------------------------- */

static void check_attribute(struct ga_inspect *k, const char *word)
{
	static const char *const kinds[] = { "filter", "diff", "merge" };
	static const char hiding[] = "-diff binary linguist-generated linguist-generated=true "
				     "linguist-vendored linguist-vendored=true -text "
				     "export-ignore ident";
	static const char encoding[] = "working-tree-encoding=";
	const char *eq = strchr(word, '=');

	if (ga_has_word(hiding, word))
		ga_fire_rule(k, "gitattributes-hide", ga_quote(word));
	if (!strncmp(word, encoding, strlen(encoding)))
		ga_fire_rule_as(k, "gitattributes-hide", GA_CRITICAL, ga_quote(word));
	for (size_t i = 0; k->host && eq && i < GA_NELEMS(kinds); i++) {
		cleanup_free char *driver = ga_strf("%s:%s", kinds[i], eq + 1);

		if ((size_t)(eq - word) == strlen(kinds[i]) &&
		    !strncmp(word, kinds[i], strlen(kinds[i])) && strcmp(eq + 1, "lfs") != 0 &&
		    ga_strv_has(&k->host->drivers, driver))
			ga_fire_rule(k, "gitattributes-driver-hit", ga_quote(word));
	}
}

void ga_known_attributes(const struct ga_known *f)
{
	cleanup_free char *text = ga_strdup(f->added->ptr);
	char *lines = NULL, *words = NULL;

	for (char *line = strtok_r(text, "\n", &lines); line; line = strtok_r(NULL, "\n", &lines)) {
		char *word = strtok_r(line, " \t\r", &words);

		if (!word || word[0] == '#')
			continue;
		/* the first word is the pattern; the rest of a quoted one with blanks is taken for
		 * attributes, which does no harm */
		while ((word = strtok_r(NULL, " \t\r", &words)))
			check_attribute(f->k, word);
	}
}

/* ---- what both kinds of configuration share ---------------------------------------- */

/* Each takes a process of git's; whatever is beyond the bounds counts as one it refuses. */
static bool read_config(const struct ga_known *f, const struct ga_buf *text,
			struct ga_gitconfig *ret)
{
	return text->len <= GA_KNOWN_MAX && f->k->configs++ < CONFIGS_MAX &&
	       !ga_configfile_parse(f->k->repo, text, ret, GA_IGNORED);
}

/* ---- .gitmodules ---------------------------------------------------------------- */

static bool module_value_bad(const char *key, const char *value)
{
	if (strpbrk(value, "\r\n\033"))
		return true;
	if (!strcmp(key, "update"))
		return value[0] == '!';
	if (!strcmp(key, "path"))
		return value[0] == '-' || value[0] == '/' || strstr(value, "..") ||
		       ga_path_names_dotgit(value);
	if (!strcmp(key, "url"))
		return value[0] == '-' || strstr(value, "ext::") || strstr(value, "file:") ||
		       strstr(value, "fd::") || value[0] == '/' || strstr(value, "://-") ||
		       (strstr(value, "..") && strncmp(value, "../", 3) != 0);
	return false;
}

static void check_module(struct ga_inspect *k, const struct ga_gitconfig_item *it)
{
	const char *sub = strchr(it->key, '.'), *name = strrchr(it->key, '.');
	cleanup_free char *shown_sub = NULL, *shown_name = NULL, *shown = NULL;

	if (!sub)
		return;
	shown_sub = ga_strndup(sub, (size_t)(name - sub));
	if (strstr(shown_sub, ".."))
		ga_fire_rule(k, "gitmodules-update-cmd", ga_quote(shown_sub + 1));
	if (!module_value_bad(name + 1, it->value))
		return;
	shown_name = ga_quote(name + 1);
	shown = ga_quote(it->value);
	ga_fire_rule(k, "gitmodules-update-cmd", ga_strf("%s = %s", shown_name, shown));
}

/* Does it have a carriage return that does not end a line? Some versions of git strip it where
 * others take it for a part of the value or of the name. */
static bool has_stray_return(const struct ga_buf *b)
{
	for (const char *p = b->ptr; (p = strchr(p, '\r')); p++)
		if (p[1] != '\n')
			return true;
	return false;
}

void ga_known_modules(const struct ga_known *f)
{
	cleanup_(ga_gitconfig_release) struct ga_gitconfig c = GA_GITCONFIG_INIT;
	const char *why = strlen(f->text->ptr) != f->text->len ? "holds a NUL" :
			  has_stray_return(f->text) ? "holds a carriage return" :
			  !read_config(f, f->text, &c) ? "git cannot read it" : NULL;

	if (why)
		ga_fire_rule(f->k, "gitmodules-update-cmd", ga_strdup(why));
	for (size_t i = 0; i < c.n; i++)
		check_module(f->k, &c.v[i]);
}

/* ---- .gitignore --------------------------------------------------------------------- */

/* Does the name say that it likely holds a secret, whatever is in it? */
static bool names_secret(struct ga_inspect *k, const char *path)
{
	struct ga_secret_name name;

	if (!ga_secret_named(ga_inspect_secret_names(k), path, &name) || name.example ||
	    name.fixture)
		return false;
	for (size_t i = 0; i < name.n; i++)
		if (name.rules[i]->tier >= GA_TIER_WARN &&
		    name.rules[i]->check != GA_CHECK_PASSWORD)
			return true;
	return false;
}

static bool is_ignored(const struct ga_ignore *ig, const char *path)
{
	for (const char *slash = path; (slash = strchr(slash, '/')); slash++) {
		cleanup_free char *dir = ga_strndup(path, (size_t)(slash - path));

		if (ga_ignore_check(ig, dir, true) == GA_IGNORE_YES)
			return true;
	}
	return ga_ignore_check(ig, path, false) == GA_IGNORE_YES;
}

struct ignored {
	struct ga_inspect *k;
	struct ga_ignore was, is;
	size_t looked;
	struct ga_strv shown; /* lines about secrets, of which one is no longer ignored */
};

/* Look at a file that the pattern covers, and at one in a directory that it may be about. */
static void ignore_line(void *arg, char *line)
{
	cleanup_buf struct ga_buf path = GA_BUF_INIT;
	struct ignored *x = arg;

	for (const char *p = *line == '#' ? "" : line; *p; p++)
		if (!strchr("!*\\\r", *p) &&
		    (*p != '/' || (path.len && path.ptr[path.len - 1] != '/')))
			ga_buf_addch(&path, *p);
	for (int i = 0; path.len && i < 2; i++) {
		if (path.ptr[path.len - 1] == '/')
			ga_buf_addch(&path, 'x');
		if (names_secret(x->k, path.ptr) && x->looked++ < IGNORE_LINES &&
		    is_ignored(&x->was, path.ptr) && !is_ignored(&x->is, path.ptr)) {
			ga_strv_push(&x->shown, line);
			return;
		}
		ga_buf_addch(&path, '/');
	}
}

void ga_known_ignore(const struct ga_known *f)
{
	struct ignored x = { .k = f->k, .shown = GA_STRV_INIT };

	if (!ga_ends_in(f->k->base, "ignore"))
		return;
	ga_ignore_push(&x.was, "", f->old->ptr, f->old->len);
	ga_ignore_push(&x.is, "", f->text->ptr, f->text->len);
	ga_known_lines(f->old, ignore_line, &x);
	ga_known_lines(f->added, ignore_line, &x);
	for (size_t i = 0; i < f->k->n; i++) {
		const char *rule = f->k->v[i].rank ? f->k->v[i].rule->id : "";

		ga_known_add_detail(f->k, rule, GA_HIGH, "no longer ignores ", &x.shown);
		if (x.looked > IGNORE_LINES)
			ga_add_detail(f->k, rule, GA_HIGH, ga_strdup("too many secrets in it"));
	}
	ga_ignore_release(&x.was);
	ga_ignore_release(&x.is);
	ga_strv_release(&x.shown);
}

/* ---- configuration -------------------------------------------------------------------- */

/* Can git run something, or read other configuration, because of this variable? */
static bool runs_something(const char *key)
{
	static const struct {
		const char *section, *names; /* NULL: all of them */
	} table[] = {
		{ "core", "fsmonitor hookspath sshcommand editor pager askpass gitproxy "
			  "alternaterefscommand worktree attributesfile excludesfile" },
		{ "alias", NULL }, { "pager", NULL }, { "diff", "external command textconv" },
		{ "difftool", "cmd path" }, { "mergetool", "cmd path" }, { "merge", "driver" },
		{ "filter", "clean smudge process" }, { "credential", "helper" },
		{ "gpg", "program defaultkeycommand" }, { "hook", "command" },
		{ "interactive", "difffilter" }, { "sequence", "editor" },
		{ "trailer", "command cmd" }, { "browser", "cmd path" }, { "man", "cmd path" },
		{ "web", "browser" }, { "guitool", "cmd" }, { "instaweb", NULL },
		{ "imap", "tunnel" },
		{ "sendemail", "smtpserver tocmd cccmd headercmd sendmailcmd" },
		{ "uploadpack", "packobjectshook" }, { "receive", "procreceiverefs" },
		{ "remote", "uploadpack receivepack vcs proxy" },
		{ "url", "insteadof pushinsteadof" },
		{ "protocol", "allow" }, { "submodule", "update" }, { "gc", "recentobjectshook" },
		{ "lfs", "path clean smudge process" }, { "include", "path" },
		{ "includeif", "path" }, { "tar", "command" }, { "maintenance", NULL },
	};

	size_t n = strcspn(key, ".");

	for (size_t i = 0; key[n] && i < GA_NELEMS(table); i++)
		if (strlen(table[i].section) == n && !strncmp(key, table[i].section, n))
			return !table[i].names ||
			       ga_has_word(table[i].names, strrchr(key, '.') + 1);
	return false;
}

static void index_config(const struct ga_gitconfig *c, struct ga_strmap *ret)
{
	for (size_t i = 0; i < c->n; i++)
		if (runs_something(c->v[i].key))
			ga_strmap_add(ret, c->v[i].key, strlen(c->v[i].key), (uint32_t)i);
}

static const char *value_at(const struct ga_gitconfig *c, const struct ga_strmap *m, int32_t node)
{
	return node < 0 ? NULL : c->v[m->nodes[node].value].value;
}

/* Add all values of a variable if it had others, or in another order: it depends on the variable
 * which of several counts, and whether one overrides those before it. */
static void compare_values(const char *key, const struct ga_gitconfig *a,
			   const struct ga_strmap *was, const struct ga_gitconfig *b,
			   const struct ga_strmap *is, struct ga_strv *ret)
{
	int32_t i = ga_strmap_first(was, key, strlen(key));
	int32_t first = ga_strmap_first(is, key, strlen(key)), j = first;

	while (i >= 0 && j >= 0 && !strcmp(value_at(a, was, i), value_at(b, is, j))) {
		i = was->nodes[i].next;
		j = is->nodes[j].next;
	}
	if (i < 0 && j < 0)
		return;
	for (j = first; j >= 0; j = is->nodes[j].next)
		ga_strv_pushf(ret, "%s = %s", key, value_at(b, is, j));
}

void ga_known_gitconfig(const struct ga_known *f)
{
	cleanup_(ga_gitconfig_release) struct ga_gitconfig a = GA_GITCONFIG_INIT;
	cleanup_(ga_gitconfig_release) struct ga_gitconfig b = GA_GITCONFIG_INIT;
	cleanup_strmap struct ga_strmap was = GA_STRMAP_INIT, is = GA_STRMAP_INIT;
	cleanup_strv struct ga_strv new = GA_STRV_INIT;

	if (!read_config(f, f->text, &b)) {
		/* git's other files have other forms */
		if (!ga_has_word("attributes ignore", f->k->base))
			ga_add_detail(f->k, "gitconfig-file", GA_CRITICAL,
				      ga_strdup("git cannot read it"));
		return;
	}
	index_config(&b, &is);
	/* if git cannot read the old one, everything counts as new */
	if (is.n && read_config(f, f->old, &a))
		index_config(&a, &was);
	for (size_t i = 0; i < is.n_nodes; i++) {
		const char *key = b.v[is.nodes[i].value].key;

		if (ga_strmap_first(&is, key, strlen(key)) == (int32_t)i)
			compare_values(key, &a, &was, &b, &is, &new);
	}
	ga_strv_sort_unique(&new);
	ga_known_add_detail(f->k, "gitconfig-file", GA_CRITICAL, "git would run or read: ", &new);
}
