/* SPDX-License-Identifier: MIT
 *
 * Files whose syntax is known well enough to say more than their name does.
 */
#include <jansson.h>
#include <string.h>

#include "ga/path.h"
#include "ga/quote.h"
#include "internal.h"

enum { JSON_MAX = 1 << 20 };

/* ---- .gitattributes ----------------------------------------------------------- */

static void check_attribute(struct ga_look *k, const char *word)
{
	static const char *const kinds[] = { "filter", "diff", "merge" };
	static const char *const hiding[] = { "-diff", "binary", "linguist-generated",
					      "linguist-generated=true", "linguist-vendored",
					      "linguist-vendored=true", "-text", "export-ignore" };
	const char *eq = strchr(word, '=');

	for (size_t i = 0; i < GA_NELEMS(hiding); i++)
		if (!strcmp(word, hiding[i]))
			ga_look_fire(k, "gitattributes-hide", ga_quote(word));
	for (size_t i = 0; k->host && eq && i < GA_NELEMS(kinds); i++) {
		cleanup_free char *driver = ga_strf("%s:%s", kinds[i], eq + 1);

		if ((size_t)(eq - word) == strlen(kinds[i]) &&
		    !strncmp(word, kinds[i], strlen(kinds[i])) && strcmp(eq + 1, "lfs") != 0 &&
		    ga_strv_has(&k->host->drivers, driver))
			ga_look_fire(k, "gitattributes-driver-hit", ga_quote(word));
	}
}

void ga_look_attributes(struct ga_look *k, const struct ga_buf *added)
{
	cleanup_free char *text = ga_strdup(added->ptr);
	char *lines = NULL, *words = NULL;

	for (char *line = strtok_r(text, "\n", &lines); line; line = strtok_r(NULL, "\n", &lines)) {
		char *word = strtok_r(line, " \t\r", &words);

		if (!word || word[0] == '#')
			continue;
		/* The first word is a pattern, unless a quoted one had blanks: harmless, the rest
		 * of it is looked at as attributes then. */
		while ((word = strtok_r(NULL, " \t\r", &words)))
			check_attribute(k, word);
	}
}

/* ---- .gitmodules ---------------------------------------------------------------- */

static bool module_value_bad(const char *key, const char *value)
{
	if (strchr(value, '\r') || strchr(value, '\033'))
		return true;
	if (!strcasecmp(key, "update"))
		return value[0] == '!' || !strcasecmp(value, "!command");
	if (!strcasecmp(key, "path"))
		return value[0] == '-' || value[0] == '/' || strstr(value, "..") ||
		       ga_path_names_dotgit(value);
	if (!strcasecmp(key, "url"))
		return value[0] == '-' || strstr(value, "ext::") || strstr(value, "file:") ||
		       strstr(value, "fd::") || value[0] == '/' || strstr(value, "://-") ||
		       (strstr(value, "..") && strncmp(value, "../", 3) != 0);
	return false;
}

void ga_look_modules(struct ga_look *k, const struct ga_buf *text)
{
	cleanup_free char *copy = ga_strdup(text->ptr);
	char *lines = NULL;

	if (strlen(text->ptr) != text->len) {
		ga_look_fire(k, "gitmodules-update-cmd", ga_strdup("holds a NUL"));
		return;
	}
	for (char *line = strtok_r(copy, "\n", &lines); line; line = strtok_r(NULL, "\n", &lines)) {
		char *eq = strchr(line, '='), *key = line + strspn(line, " \t");
		char *value;

		if (line[0] == '[' && (strstr(line, "..") || strchr(line, '\r'))) {
			ga_look_fire(k, "gitmodules-update-cmd", ga_quote(line));
			continue;
		}
		if (!eq)
			continue;
		*eq = '\0';
		key[strcspn(key, " \t")] = '\0';
		value = eq + 1 + strspn(eq + 1, " \t\"");
		if (*value && value[strlen(value) - 1] == '"')
			value[strlen(value) - 1] = '\0';
		if (module_value_bad(key, value)) {
			cleanup_free char *shown = ga_quote(value);
			cleanup_free char *name = ga_quote(key);

			ga_look_fire(k, "gitmodules-update-cmd", ga_strf("%s = %s", name, shown));
		}
	}
}

/* ---- environment files -------------------------------------------------------------- */

static bool loader_variable(const char *name)
{
	static const char *const exact[] = {
		"PATH", "NODE_OPTIONS", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "PERL5OPT",
		"PERL5LIB", "RUBYOPT", "RUBYLIB", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "BASH_ENV",
		"ENV", "PROMPT_COMMAND", "EDITOR", "VISUAL", "PAGER", "LESSOPEN", "LESSCLOSE",
		"CODEX_HOME", "CLAUDE_CONFIG_DIR", "DOCKER_HOST", "KUBECONFIG",
		"NODE_EXTRA_CA_CERTS", "ZDOTDIR", "SSH_ASKPASS", "BROWSER", "SHELL", "IFS",
	};
	static const char *const prefixes[] = { "LD_", "DYLD_", "GIT_", "SSL_CERT_" };
	static const char *const suffixes[] = { "_PROXY", "_BASE_URL", "_API_URL" };
	size_t n = strlen(name);

	for (size_t i = 0; i < GA_NELEMS(exact); i++)
		if (!strcasecmp(name, exact[i]))
			return true;
	for (size_t i = 0; i < GA_NELEMS(prefixes); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	for (size_t i = 0; i < GA_NELEMS(suffixes); i++)
		if (n > strlen(suffixes[i]) &&
		    !strcasecmp(name + n - strlen(suffixes[i]), suffixes[i]))
			return true;
	return false;
}

void ga_look_dotenv(struct ga_look *k, const struct ga_buf *added)
{
	static const char name_chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
					 "0123456789_";

	for (const char *line = added->ptr; line && *line;) {
		const char *next = strchr(line, '\n');
		const char *p = line + strspn(line, " \t");
		cleanup_free char *name = NULL;
		size_t n;

		if (!strncmp(p, "export ", 7) || !strncmp(p, "export\t", 7))
			p += 7 + strspn(p + 7, " \t");
		n = strspn(p, name_chars);
		name = ga_strndup(p, n);
		p += n + strspn(p + n, " \t");
		/* direnv's PATH_add is a call, the rest are assignments. */
		if ((*p == '=' || *p == ':' || !strncmp(p, "+=", 2)) && loader_variable(name))
			ga_look_fire(k, "dotenv-loader-vars", ga_strdup(name));
		line = next ? next + 1 : NULL;
	}
}

/* ---- version selectors --------------------------------------------------------------- */

void ga_look_version(struct ga_look *k, const struct ga_buf *text)
{
	static const char *const words[] = { "/", "\\", ":", "..", "system" };
	const char *value = text->ptr + strspn(text->ptr, " \t\n");

	/* nvm's names for long-term releases are the one slash with a meaning. */
	if (!strncmp(value, "lts/", 4))
		value += 4;
	for (size_t i = 0; i < GA_NELEMS(words); i++)
		if (strstr(value, words[i])) {
			ga_look_fire(k, "version-selector-odd", NULL);
			return;
		}
}

/* ---- package.json ------------------------------------------------------------------- */

static json_t *parse(const struct ga_buf *b)
{
	json_error_t ignored;

	if (!b->len || b->len > JSON_MAX)
		return NULL;
	return json_loadb(b->ptr, b->len, JSON_REJECT_DUPLICATES, &ignored);
}

static void compare_key(struct ga_look *k, const json_t *old, const json_t *new, const char *where,
			const char *key)
{
	const json_t *a = json_object_get(old, key), *b = json_object_get(new, key);

	if (b && !(a && json_equal(a, b)))
		ga_look_fire(k, "npm-manifest-lifecycle", ga_strf("%s%s", where, key));
}

void ga_look_manifest(struct ga_look *k, const struct ga_buf *old, const struct ga_buf *text)
{
	static const char *const scripts[] = { "preinstall", "install", "postinstall",
					       "preprepare", "prepare", "postprepare",
					       "prepublish", "dependencies" };
	static const char *const keys[] = { "gypfile", "husky", "gitHooks", "simple-git-hooks",
					    "lint-staged", "pre-commit" };
	json_t *a = parse(old), *b = parse(text);

	if (!b || !json_is_object(b))
		ga_look_fire(k, "npm-manifest-lifecycle", ga_strdup("it could not be parsed"));
	for (size_t i = 0; b && i < GA_NELEMS(scripts); i++)
		compare_key(k, json_object_get(a, "scripts"), json_object_get(b, "scripts"),
			    "scripts.", scripts[i]);
	for (size_t i = 0; b && i < GA_NELEMS(keys); i++)
		compare_key(k, a, b, "", keys[i]);
	json_decref(a);
	json_decref(b);
}
