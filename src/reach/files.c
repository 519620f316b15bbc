/* SPDX-License-Identifier: MIT
 *
 * The words of a file, by what kind of file it is.
 */
#include <ctype.h>
#include <fnmatch.h>
#include <jansson.h>
#include <string.h>

#include "ga/path.h"
#include "gather.h"

/* ---- makefiles ------------------------------------------------------------------- */

/* Variables and substitutions as the shell writes them, and lines that go on joined. */
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

/* ---- configuration of hook managers and task runners -------------------------------- */

/* The key of a line in YAML, TOML or JSON, and where its value begins; false: it has none. */
static bool key_of(const char *line, char key[64], const char **ret_value)
{
	const char *p = line + strspn(line, " \t-{\"'[");
	size_t n = strcspn(p, "\"': \t=]");

	if (!n || n >= 64)
		return false;
	memcpy(key, p, n);
	key[n] = '\0';
	p += n + strspn(p + n, "\"' \t");
	if (*line == '[') { /* a table of TOML: its first name */
		key[strcspn(key, ".")] = '\0';
		*ret_value = "";
		return true;
	}
	*ret_value = p + 1;
	return *p == '=' || (*p == ':' && (!p[1] || strchr(" \t\"'[{", p[1])));
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

/* The values of keys that have commands, those of other hooks left out. `keys`: NULL for any. */
static void commands_text(const char *text, const char *keys, const char *hook, struct ga_buf *out)
{
	size_t other = SIZE_MAX, block = SIZE_MAX; /* depths of keys whose values continue */
	cleanup_free char *lines = ga_strdup(text);
	enum ga_reach_when when;
	char *save = NULL;

	for (char *s = strtok_r(lines, "\n", &save); s; s = strtok_r(NULL, "\n", &save)) {
		/* what is below a key is indented more, or is a table's */
		size_t depth = *s == '[' ? 0 : 1 + strspn(s, " \t-");
		const char *value = s;
		char key[64];
		bool has_key = key_of(s, key, &value);

		if (!s[strspn(s, " \t")] || s[strspn(s, " \t")] == '#' || depth > other)
			continue;
		other = SIZE_MAX;
		block = depth > block ? block : SIZE_MAX;
		if (has_key && *hook && ga_reach_hook(key, &when) && strcmp(key, hook) != 0) {
			other = depth;
		} else if (block != SIZE_MAX) {
			add_value(out, s, ' ');
		} else if (!keys || (has_key && ga_has_word(keys, key))) {
			/* arguments belong to the command before them */
			if (!keys || strcmp(key, "args") != 0)
				ga_buf_addch(out, '\n');
			add_value(out, has_key ? value : s, keys ? ' ' : ';');
			block = keys ? depth : SIZE_MAX;
		}
	}
	ga_buf_addch(out, '\n');
}

/* ---- manifests ------------------------------------------------------------------------ */

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

/* ---- all of them ------------------------------------------------------------------------ */

static bool is_one_of(const char *name, const char *const *patterns, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!fnmatch(patterns[i], name, 0))
			return true;
	return false;
}
#define IS_ONE_OF(name, patterns) is_one_of((name), (patterns), GA_NELEMS(patterns))

/* The name of the program in the first line; "": there is none. */
static void first_line(const char *text, char ret[64])
{
	const char *p = text, *word, *base;
	size_t n;

	ret[0] = '\0';
	if (strncmp(p, "#!", 2))
		return;
	for (p += 2; *p && *p != '\n'; p += n) {
		p += strspn(p, " \t");
		word = p;
		n = strcspn(p, " \t\n");
		base = memrchr(word, '/', n);
		base = base ? base + 1 : word;
		if (*word != '-' && !(n - (size_t)(base - word) == 3 && !memcmp(base, "env", 3))) {
			n = n - (size_t)(base - word) < 63 ? n - (size_t)(base - word) : 63;
			memcpy(ret, base, n);
			ret[n] = '\0';
			return;
		}
	}
}

void ga_words_of_file(const char *name, const char *text, const char *part, const char *home,
		      struct ga_words *ret)
{
	static const char keys[] = "entry args run cmd cmds sh command commands script exec";
	static const char *const makefiles[] = { "[Mm]akefile", "GNUmakefile", "Makefile.*",
						 "*.mk" };
	static const char *const managers[] = {
		".pre-commit-config.y*ml", "prek.toml",	      "*lefthook*.y*ml",
		"*lefthook*.toml",	   ".overcommit.yml", "[Tt]askfile*.y*ml",
		"hk.pkl",
	};
	static const char *const staged[] = { ".lintstagedrc", ".lintstagedrc.y*ml" };
	static const char *const shells[] = { "*.sh",  "*.bash",      "*.zsh",     "*.fish",
					      "*.ksh", "[Jj]ustfile", ".justfile", ".envrc",
					      "*rc",   ".profile",    "*_profile", ".zshenv" };
	static const char code[] = "js mjs cjs ts mts cts tsx jsx py rb pl pm php lua rake coffee "
				   "exs ex groovy kts scala R jl ps1 json";
	const char *base = ga_path_base(name), *dot = strrchr(base, '.');
	bool manages = IS_ONE_OF(base, managers), stages = IS_ONE_OF(base, staged);
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	char program[64];

	first_line(text, program);
	if (ga_has_scripts(base)) {
		script_text(text, part, &b);
		ga_words_of_shell(b.ptr, home, ret);
	} else if (text[strspn(text, " \t\n")] == '{' || (dot && ga_has_word(code, dot + 1)) ||
	    ga_has_word("Rakefile rakefile Gemfile", base)) {
		ga_words_of_code(text, home, ret);
	} else if (IS_ONE_OF(base, makefiles) || manages || stages) {
		if (manages || stages)
			commands_text(text, stages ? NULL : keys, part, &b);
		else
			make_text(text, &b);
		ga_words_of_shell(b.ptr, home, ret);
	} else if (!*program || ga_command_kind(program) == GA_COMMAND_SHELL ||
		   IS_ONE_OF(base, shells)) {
		ga_words_of_shell(text, home, ret);
	} else {
		ga_words_of_code(text, home, ret);
	}
}
