/* SPDX-License-Identifier: MIT
 *
 * If a hook calls a build or package tool, that runs what its own files name: recipes of a
 * makefile, scripts of a package. These files are read from the host's working tree, as hooks are.
 */
#include "host.h"

#include <ctype.h>
#include <jansson.h>
#include <string.h>

#include "ga/path.h"
#include "ga/quote.h"

static const char reached[] = "host-hook-reached";

enum kind {
	RECIPES, /* of a makefile: its commands, and other makefiles it includes */
	ENTRIES, /* YAML: lines that say what is run */
	WHOLE,   /* nearly all of it is commands */
	SCRIPTS, /* JSON: the members of "scripts" that something names */
};

static const struct {
	const char *rule; /* raised when a hook calls the tool */
	const char *files;
	enum kind kind;
} inputs[] = {
	{ "make", "GNUmakefile makefile Makefile", RECIPES },
	{ "npm-manifest", "package.json", SCRIPTS },
	{ "php-deps", "composer.json", SCRIPTS },
	{ "pre-commit", ".pre-commit-config.yaml .pre-commit-config.yml", ENTRIES },
	{ "lefthook", "lefthook.yml lefthook.yaml .lefthook.yml .lefthook.yaml lefthook-local.yml",
	  WHOLE },
	{ "lint-staged", ".lintstagedrc .lintstagedrc.json .lintstagedrc.yml .lintstagedrc.yaml",
	  WHOLE },
	{ "just-task-mage", "justfile Justfile .justfile Taskfile.yml Taskfile.yaml taskfile.yml "
			    "taskfile.yaml tasks.py noxfile.py dodo.py", WHOLE },
	{ "ruby-deps", "Rakefile rakefile", WHOLE },
};

static int read_input(struct ga_gather *g, const char *dir, const char *name, enum kind kind);

/* Scan the commands of a tool's file: what they name, and what scripts that they name do, is
 * reached. */
static int scan_commands(struct ga_gather *g, const char *dir, const char *file, const char *text)
{
	cleanup_free char *shown = ga_quote(file);
	cleanup_free char *what = ga_strf("%s, which a tool reads that a hook or an .envrc calls",
					    shown);
	struct ga_scan s = { .what = what, .rule = reached, .hook = true,
			     .deeper = true, .dir = dir };

	ga_buf_adds(&g->texts, text);
	ga_buf_addch(&g->texts, '\n');
	return ga_scan_text(g, &s, text);
}

/* ---- makefiles ---------------------------------------------------------------- */

static int follow_includes(struct ga_gather *g, const char *dir, const char *line)
{
	cleanup_free char *words = ga_strdup(line);
	char *save = NULL, *word = strtok_r(words, " \t", &save);

	if (!word || (strcmp(word, "include") && strcmp(word, "-include") &&
		      strcmp(word, "sinclude")))
		return 0;
	while ((word = strtok_r(NULL, " \t", &save))) {
		cleanup_free char *path = ga_path_resolve(dir, word);

		if (path && !strpbrk(word, "$*?#") && read_input(g, dir, word, RECIPES))
			return -1;
	}
	return 0;
}

/* Does a variable's value look like a command? Lists of sources are values too. */
static bool assigns_command(const char *line)
{
	static const char *const marks[] = { "$(shell", "./", "sh ", "python", "perl ", "node ",
					     "ruby " };
	const char *value = strchr(line, '=');

	return (value && GA_FINDS_ANY(strstr, value, marks)) || strstr(line, "$(shell");
}

static int scan_makefile(struct ga_gather *g, const char *dir, const char *file, const char *text)
{
	cleanup_buf struct ga_buf commands = GA_BUF_INIT;
	cleanup_free char *copy = ga_strdup(text);
	char *save = NULL;

	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (follow_includes(g, dir, line))
			return -1;
		if (line[0] != '\t' && !assigns_command(line))
			continue;
		ga_buf_adds(&commands, line + (line[0] == '\t' ? strspn(line, "\t @-+") : 0));
		ga_buf_addch(&commands, '\n');
	}
	return scan_commands(g, dir, file, commands.ptr);
}

/* ---- YAML and JSON ---------------------------------------------------------------- */

static int scan_entries(struct ga_gather *g, const char *dir, const char *file, const char *text)
{
	cleanup_buf struct ga_buf commands = GA_BUF_INIT;
	cleanup_free char *copy = ga_strdup(text);
	char *save = NULL;

	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		const char *key = line + strspn(line, " -");

		if (!strncmp(key, "entry:", 6) || !strncmp(key, "args:", 5)) {
			ga_buf_adds(&commands, strchr(key, ':') + 1);
			ga_buf_addch(&commands, '\n');
		}
	}
	return scan_commands(g, dir, file, commands.ptr);
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("-_.:/", c));
}

static bool names(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = text; n && (p = strstr(p, word)); p++)
		if ((p == text || !is_name(p[-1])) && !is_name(p[n]))
			return true;
	return false;
}

/* Is the script called: by its name, before or after one that is, or by an installation? */
static bool called(const char *texts, const char *script)
{
	static const char *const installing[] = { "preinstall", "postinstall", "prepare",
						  "preprepare", "postprepare", "prepublish",
						  "dependencies", "post-install-cmd",
						  "post-update-cmd", "post-autoload-dump" };
	bool installs = names(texts, "install") || names(texts, "ci") || names(texts, "i");

	if (names(texts, script) || (!strncmp(script, "pre", 3) && names(texts, script + 3)) ||
	    (!strncmp(script, "post", 4) && names(texts, script + 4)) ||
	    (!strcmp(script, "test") && names(texts, "t")))
		return true;
	for (size_t i = 0; installs && i < GA_NELEMS(installing); i++)
		if (!strcmp(script, installing[i]))
			return true;
	return false;
}

static int scan_script(struct ga_gather *g, const char *dir, const char *file, const json_t *value)
{
	const char *text = json_string_value(value);

	if (text)
		return scan_commands(g, dir, file, text);
	for (size_t i = 0; i < json_array_size(value); i++)
		if (scan_script(g, dir, file, json_array_get(value, i)))
			return -1;
	return 0;
}

/* Note that a file, or a script of one, is read. False: too many are. */
static bool count_input(struct ga_gather *g, const char *key)
{
	if (g->inputs.n >= GA_INPUTS_MAX) {
		ga_gather_cut(g, reached, "what hooks call reads more files than are followed");
		return false;
	}
	ga_strv_push(&g->inputs, key);
	return true;
}

/* Scan the scripts of a manifest that are called, until no more are: each may call others. */
static int scan_manifest(struct ga_gather *g, const char *dir, const char *file, const char *text)
{
	json_error_t ignored;
	json_t *o = json_loads(text, 0, &ignored), *scripts = json_object_get(o, "scripts"), *value;
	const char *name;
	bool more = true;
	int rc = 0;

	while (!rc && more) {
		more = false;
		json_object_foreach(scripts, name, value) {
			cleanup_free char *key = ga_strf("%s: %s", file, name);

			if (rc || ga_strv_has(&g->inputs, key) || !called(g->texts.ptr, name) ||
			    !count_input(g, key))
				continue;
			rc = scan_script(g, dir, file, value);
			more = true;
		}
	}
	json_decref(o);
	return rc;
}

/* ---- all of them ---------------------------------------------------------------------- */

/* Read a tool's file once; but a manifest each time, since more of its scripts may be named by now.
 */
static int read_input(struct ga_gather *g, const char *dir, const char *name, enum kind kind)
{
	cleanup_free char *path = ga_path_resolve(dir, name);
	cleanup_buf struct ga_buf text = GA_BUF_INIT;

	if (!path || (kind != SCRIPTS && ga_strv_has(&g->inputs, path)) ||
	    !ga_gather_read(g, path, reached, &text) ||
	    (kind != SCRIPTS && !count_input(g, path)))
		return 0;
	switch (kind) {
	case RECIPES:
		return scan_makefile(g, dir, path, text.ptr);
	case ENTRIES:
		return scan_entries(g, dir, path, text.ptr);
	case SCRIPTS:
		return scan_manifest(g, dir, path, text.ptr);
	case WHOLE:
		break;
	}
	return scan_commands(g, dir, path, text.ptr);
}

static int read_inputs(struct ga_gather *g, const char *dir, size_t row)
{
	cleanup_free char *files = ga_strdup(inputs[row].files);
	char *save = NULL;

	for (char *f = strtok_r(files, " ", &save); f; f = strtok_r(NULL, " ", &save))
		if (read_input(g, dir, f, inputs[row].kind))
			return -1;
	return 0;
}

int ga_gather_inputs(struct ga_gather *g)
{
	for (size_t i = 0; i < GA_NELEMS(inputs); i++) {
		if (!ga_strv_has(&g->h->raised, inputs[i].rule))
			continue;
		if (read_inputs(g, "", i) || (g->cwd && read_inputs(g, g->cwd, i)))
			return -1;
		for (size_t k = 0; k < g->dirs.n; k++)
			if (read_inputs(g, g->dirs.v[k], i))
				return -1;
	}
	return 0;
}
