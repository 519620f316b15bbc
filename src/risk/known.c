/* SPDX-License-Identifier: MIT
 *
 * Which files are of which known kind, and what their looks share.
 */
#include "known.h"

#include <string.h>

enum { LIST_SHOWN = 5 };

void ga_look_known(const struct ga_known *f)
{
	/* Selected by base name, by a rule that fired on the path, or by both if both are given. */
	static const struct {
		const char *base, *rules;
		void (*look)(const struct ga_known *f);
	} kinds[] = {
		{ ".gitattributes", NULL, ga_known_attributes },
		{ ".gitmodules", NULL, ga_known_modules },
		{ ".gitignore", NULL, ga_known_ignore },
		{ NULL, "gitconfig-file", ga_known_gitconfig },
		{ NULL, "dotenv direnv", ga_known_dotenv },
		{ NULL, "version-selectors tool-versions", ga_known_version },
		{ ".bazelversion", NULL, ga_known_version },
		{ NULL, "npmrc yarn-classic yarn-berry python-deps nuget maven cargo-config",
		  ga_known_rc },
		{ "package.json", NULL, ga_known_package_json },
		{ NULL, "vscode-settings", ga_known_vscode_settings },
		{ NULL, "vscode-tasks", ga_known_vscode_tasks },
		{ NULL, "code-workspace", ga_known_workspace },
		{ NULL, "jetbrains jetbrains-autorun", ga_known_idea },
		{ NULL, "claude-settings", ga_known_claude },
		{ NULL, "jupyter", ga_known_notebook },
		{ "pyproject.toml", NULL, ga_known_pyproject },
		{ "cargo.toml", NULL, ga_known_cargo },
		{ "go.mod", NULL, ga_known_gomod },
		{ NULL, "ci-github ci-gitea-forgejo", ga_known_workflow },
		{ NULL, "compose dockerfile", ga_known_container },
		{ NULL, "make", ga_known_makefile },
		{ "makefile.am", NULL, ga_known_automake },
		{ NULL, "cmake", ga_known_cmake },
		{ NULL, "scripts-by-convention", ga_known_script },
		{ NULL, "node-lockfiles bun-deno python-deps ruby-deps php-deps cargo-deps "
			"other-deps",
		  ga_known_lock },
	};

	f->k->has_nul = memchr(f->old->ptr, '\0', f->old->len) ||
			memchr(f->text->ptr, '\0', f->text->len);
	/* what is known has a rule about its path as well */
	for (size_t i = 0; f->k->n && i < GA_NELEMS(kinds); i++) {
		bool is = !kinds[i].base || !strcmp(f->k->base, kinds[i].base);
		bool fired = !kinds[i].rules;

		for (size_t j = 0; is && !fired && j < f->k->n; j++)
			fired = ga_has_word(kinds[i].rules, f->k->v[j].rule->id);
		if (is && fired)
			kinds[i].look(f);
	}
}

char *ga_known_list(const struct ga_strv *names)
{
	struct ga_buf b = GA_BUF_INIT;

	for (size_t i = 0; i < names->n && i < LIST_SHOWN; i++) {
		if (i)
			ga_buf_adds(&b, ", ");
		ga_risk_quote_start(&b, names->v[i]);
	}
	if (names->n > LIST_SHOWN)
		ga_buf_addf(&b, " and %zu more", names->n - LIST_SHOWN);
	return ga_buf_steal(&b);
}

bool ga_known_in(const char *name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(list[i]);
		bool open = list[i][len - 1] == '*';

		if (open ? !strncmp(name, list[i], len - 1) : !strcmp(name, list[i]))
			return true;
	}
	return false;
}

void ga_known_lines(const struct ga_buf *text, bool (*line)(void *arg, char *line), void *arg)
{
	for (size_t i = 0, n; i < text->len; i += n + 1) {
		const char *end = memchr(text->ptr + i, '\n', text->len - i);
		cleanup_free char *copy = NULL;

		n = end ? (size_t)(end - text->ptr) - i : text->len - i;
		copy = ga_strndup(text->ptr + i, n);
		if (!line(arg, copy))
			return;
	}
}
