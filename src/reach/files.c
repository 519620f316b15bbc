/* SPDX-License-Identifier: MIT
 *
 * Extract the words of a file, by its type.
 */
#include <fnmatch.h>
#include <jansson.h>
#include <string.h>

#include "ga/base/path.h"
#include "reach-internal.h"

/* Variables and substitutions as the shell writes them, and continued lines joined. */
static char *shell_dollars(const char *text)
{
	struct ga_buf b = GA_BUF_INIT;

	for (const char *p = text; *p;) {
		size_t name = !strncmp(p, "$(", 2) ? strcspn(p + 2, " \t\n,:$()") : 0;

		if (!strncmp(p, "\\\n", 2)) {
			ga_buf_adds(&b, "  ");
			p += 2;
		} else if (name && p[2 + name] == ')') {
			ga_buf_addf(&b, "${%.*s}", (int)name, p + 2);
			p += name + 3;
		} else if (!strncmp(p, "$(shell ", 8)) {
			ga_buf_adds(&b, "$(");
			p += 8;
		} else {
			p += !strncmp(p, "$$", 2);
			ga_buf_addch(&b, *p++);
		}
	}
	return ga_buf_steal(&b);
}

/* A makefile as shell text: recipes are lines, variables are set, what is included is sourced. */
static void make_text(const char *text, struct ga_buf *out)
{
	cleanup_free char *all = shell_dollars(text);
	char *save = NULL;

	for (char *s = strtok_r(all, "\n", &save); s; s = strtok_r(NULL, "\n", &save)) {
		char *word = s + strspn(s, " -s"), *value = strchr(s, '=');

		if (s[0] == '\t') {
			ga_buf_addf(out, "%s\n", s + strspn(s, "\t @-+"));
		} else if (!strncmp(word, "include ", 8)) {
			ga_buf_addf(out, ". %s\n", word + 8);
		} else if (value && value > s) {
			char *end = value;

			while (end > s && strchr(" \t:?+!", end[-1]))
				end--;
			*end = '\0';
			for (char *q = value + 1; *q; q++)
				*q = *q == '"' ? '\'' : *q;
			ga_buf_addf(out, "%s=\"%s\"\n", s, value + 1 + strspn(value + 1, " \t"));
		} else {
			ga_buf_addf(out, "true %s\n", s);
		}
	}
}

/* The key of a line in YAML or TOML, and where its value begins; false: it has none. */
static bool key_of(const char *line, char key[64], const char **ret_value)
{
	const char *p = line + strspn(line, " \t-{\"'[");
	size_t n = strcspn(p, *line == '[' ? ".]" : "\"': \t=");

	if (!n || n >= 64)
		return false;
	memcpy(key, p, n);
	key[n] = '\0';
	p += n + strspn(p + n, "\"' \t");
	*ret_value = *line == '[' ? "" : p + 1; /* a table of TOML: its first name */
	return *line == '[' || *p == '=' || (*p == ':' && (!p[1] || strchr(" \t\"'[{", p[1])));
}

static void add_value(struct ga_buf *out, const char *value, char comma)
{
	cleanup_free char *s = ga_strdup(value + strspn(value, " \t-"));

	/* what a block begins with, and the brackets of lists, are no words */
	if (strspn(s, "|>-+0123456789") == strlen(s))
		return;
	for (char *p = s; *p; p++)
		*p = *p == ',' ? comma : strchr("[]", *p) ? ' ' : *p;
	ga_buf_addf(out, "%s ", s);
}

/* The values of keys that have commands, those of other hooks left out. `keys`: NULL for any. What
 * follows a value without a key of its own belongs to it. */
static void commands_text(const char *text, const char *keys, const char *hook, struct ga_buf *out)
{
	size_t other = SIZE_MAX; /* the depth of another hook */
	cleanup_free char *lines = ga_strdup(text);
	bool on = false, folded = false;
	enum ga_reach_when when;
	char *save = NULL;

	for (char *s = strtok_r(lines, "\n", &save); s; s = strtok_r(NULL, "\n", &save)) {
		/* what is below a key is indented more, or is a table's */
		size_t depth = *s == '[' ? 0 : 1 + strspn(s, " \t-");
		const char *value = s;
		char key[64];
		bool has_key = key_of(s, key, &value), args;

		if (!s[strspn(s, " \t")] || s[strspn(s, " \t")] == '#' || depth > other)
			continue;
		other = SIZE_MAX;
		args = has_key && keys && !strcmp(key, "args");
		if (has_key && *hook && ga_reach_hook(key, &when) && strcmp(key, hook) != 0) {
			other = depth;
		} else if (!keys || (has_key && ga_has_word(keys, key))) {
			/* arguments belong to the command before them, as folded lines do */
			ga_buf_addch(out, args ? ' ' : '\n');
			add_value(out, has_key ? value : s, keys ? ' ' : ';');
			value += has_key ? strspn(value, " \t") : 0;
			folded = args || (*value && *value != '|');
			on = true;
		} else if (has_key && (!*value || value[-1] != '=')) {
			on = false;
		} else if (on) {
			ga_buf_addch(out, folded ? ' ' : '\n');
			add_value(out, s, ' ');
		}
	}
	ga_buf_addch(out, '\n');
}

bool ga_has_scripts(const char *name)
{
	return ga_has_word("package.json composer.json", ga_path_base(name));
}

/* All strings of a value, a line each. */
static void strings(const json_t *o, struct ga_buf *out)
{
	const char *key;
	json_t *value;

	if (json_is_string(o))
		ga_buf_addf(out, "%s\n", json_string_value(o));
	for (size_t i = 0; i < json_array_size(o); i++)
		strings(json_array_get(o, i), out);
	json_object_foreach((json_t *)(uintptr_t)o, key, value) strings(value, out);
}

/* What a script of this name runs; with "*", what lint-staged and its like do. */
static void script_text(const char *manifest, const char *name, struct ga_buf *out)
{
	static const char *const staged[] = { "lint-staged", "nano-staged", "simple-git-hooks",
					      "gitHooks", "pre-commit" };
	json_error_t ignored;
	json_t *o = json_loads(manifest, 0, &ignored);

	strings(json_object_get(json_object_get(o, "scripts"), name), out);
	for (size_t i = 0; i < GA_NELEMS(staged) && *name == '*'; i++)
		strings(json_object_get(o, staged[i]), out);
	if (*name == '*')
		strings(json_object_get(json_object_get(o, "husky"), "hooks"), out);
	json_decref(o);
}

enum format { SHELL, CODE, MAKE, MANAGER, STAGED, MANIFEST, UNKNOWN };

/* By its name. */
static enum format named(const char *base)
{
	static const struct {
		enum format format;
		const char *names;
	} rows[] = {
		{ MANIFEST, "package.json composer.json" },
		{ MAKE, "[Mm]akefile GNUmakefile Makefile.* *.mk" },
		{ MANAGER, ".pre-commit-config.y*ml prek.toml *lefthook*.y*ml *lefthook*.toml "
			   ".overcommit.yml [Tt]askfile*.y*ml hk.pkl" },
		{ STAGED, ".lintstagedrc .lintstagedrc.y*ml" },
		{ CODE, "*.js *.mjs *.cjs *.ts *.mts *.cts *.tsx *.jsx *.py *.rb *.pl *.pm *.php "
			"*.lua *.rake *.coffee *.exs *.ex *.groovy *.kts *.scala *.R *.jl *.ps1 "
			"*.json Rakefile rakefile Gemfile" },
	};

	for (size_t i = 0; i < GA_NELEMS(rows); i++) {
		cleanup_free char *names = ga_strdup(rows[i].names);
		char *save = NULL;

		for (char *n = strtok_r(names, " ", &save); n; n = strtok_r(NULL, " ", &save))
			if (!fnmatch(n, base, 0))
				return rows[i].format;
	}
	return UNKNOWN;
}

/* By the program in its first line; without one it is the shell's. */
static enum format by_first_line(const char *text)
{
	cleanup_free char *line = ga_strndup(text, strcspn(text, "\n"));
	char *save = NULL;

	if (strncmp(line, "#!", 2) != 0)
		return SHELL;
	for (char *w = strtok_r(line + 2, " \t", &save); w; w = strtok_r(NULL, " \t", &save)) {
		enum ga_command_kind kind = ga_command_kind(ga_path_base(w));

		if (*w != '-' && kind != GA_COMMAND_WRAPPER)
			return kind == GA_COMMAND_SHELL	      ? SHELL
			       : kind == GA_COMMAND_INTERPRETER ? CODE
								: UNKNOWN;
	}
	return SHELL;
}

void ga_words_of_file(const char *name, const char *text, const char *part, const char *home,
		      struct ga_words *ret)
{
	static const char keys[] = "entry args run cmd cmds sh command commands script exec";
	enum format format = named(ga_path_base(name));
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	if (format == STAGED && text[strspn(text, " \t\n")] == '{')
		format = CODE; /* JSON */
	if (format == UNKNOWN)
		format = by_first_line(text);
	if (format == CODE || format == UNKNOWN)
		ga_words_of_code(text, home, ret);
	switch (format) {
	case CODE:
		return;
	case MAKE:
		make_text(text, &b);
		break;
	case MANAGER:
	case STAGED:
		commands_text(text, format == STAGED ? NULL : keys, part, &b);
		break;
	case MANIFEST:
		script_text(text, part, &b);
		break;
	case SHELL:
	case UNKNOWN:
		ga_buf_adds(&b, text);
		break;
	}
	ga_words_of_shell(b.ptr, home, ret);
}
