/* SPDX-License-Identifier: MIT
 *
 * Which files are of which known kind.
 */
#include "risk/content.h"

#include <string.h>

void ga_look_known(const struct ga_known *f)
{
	/* Selected by base name, by a rule that fired on the path, or by both if both are given. */
	static const struct {
		const char *base, *rules;
		void (*look)(const struct ga_known *f);
	} kinds[] = {
		{ ".gitattributes", NULL, ga_known_attributes },
		{ ".gitmodules", NULL, ga_known_modules },
		{ NULL, "gitignore dockerfile agent-ignore cursor-rules aider", ga_known_ignore },
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
		{ NULL, "ci-github ci-gitea-forgejo", ga_known_workflow },
		{ NULL, "compose dockerfile", ga_known_container },
		{ NULL, "make", ga_known_makefile },
		{ "makefile.am", NULL, ga_known_automake },
		{ NULL, "cmake", ga_known_cmake },
		{ NULL, "scripts-by-convention", ga_known_script },
		{ NULL, NULL, ga_known_deps },
	};

	f->k->has_nul = memchr(f->old->ptr, '\0', f->old->len) ||
			memchr(f->text->ptr, '\0', f->text->len);
	/* what is known has a rule about its path as well */
	for (size_t i = 0; f->k->n && i < GA_NELEMS(kinds); i++) {
		if ((!kinds[i].base || !strcmp(f->k->base, kinds[i].base)) &&
		    (!kinds[i].rules || ga_look_fired(f->k, kinds[i].rules)))
			kinds[i].look(f);
	}
}
