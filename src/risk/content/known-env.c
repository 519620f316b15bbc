/* SPDX-License-Identifier: MIT
 *
 * Files of lines "KEY=VALUE", settings of package managers, and files that name a version.
 */
#include <ctype.h>
#include <string.h>

#include "risk/content.h"

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
			ga_look_fire(f->k, "dotenv-loader-vars", ga_strdup(name));
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
		ga_look_fire(f->k, "version-selector-odd", NULL);
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

static const char *what_it_does(const char *name)
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
	struct ga_look *k;
	const char *rule;
	const char *said[3];
	size_t n_said;
};

static void rc_line(void *arg, char *line)
{
	cleanup_free char *name = setting_of(line);
	const char *what = what_it_does(name);
	struct rc *rc = arg;

	for (size_t i = 0; what && i < rc->n_said; i++)
		if (rc->said[i] == what)
			return;
	if (what && rc->n_said < GA_NELEMS(rc->said)) {
		rc->said[rc->n_said++] = what;
		ga_look_say(rc->k, rc->rule, GA_LOW,
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

		if (!strcmp(f->k->base, files[i].base) && ga_look_fired(f->k, files[i].rule))
			ga_known_lines(f->added, rc_line, &rc);
	}
}
