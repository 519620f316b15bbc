/* SPDX-License-Identifier: MIT
 *
 * Manifests in TOML: pyproject.toml and Cargo.toml.
 */

#include "known.h"

/* List the keys that differ; false: one of the versions is not understood. */
static bool changed_keys(const struct ga_known *f, struct ga_strv *ret)
{
	cleanup_strv struct ga_strv a = GA_STRV_INIT, b = GA_STRV_INIT;

	if (!ga_toml_list(f->old, &a) || !ga_toml_list(f->text, &b))
		return false;
	ga_toml_changed(&a, &b, ret);
	return true;
}

static void judge(const struct ga_known *f, const char *rule, const char *harmless)
{
	cleanup_strv struct ga_strv keys = GA_STRV_INIT, telling = GA_STRV_INIT;
	cleanup_free char *list = NULL, *why = NULL;

	if (!changed_keys(f, &keys))
		return;
	for (size_t i = 0; i < keys.n; i++)
		if (!ga_known_in(keys.v[i], harmless))
			ga_strv_push(&telling, keys.v[i]);
	if (!keys.n && !f->old->len)
		return;
	if (telling.n) {
		ga_known_say(f->k, rule, GA_LOW, "changed: ", &telling);
		return;
	}
	list = ga_known_list(&keys);
	why = keys.n ? ga_strf("only %s changes", list) :
		       ga_strdup("only its layout and comments change");
	ga_look_lower(f->k, rule, why);
}

void ga_known_pyproject(const struct ga_known *f)
{
	/* the name of a table stands for the table being there at all */
	static const char harmless[] =
		"project project.version project.description project.authors project.maintainers "
		"project.keywords project.classifiers project.license project.urls project.urls.* "
		"tool.poetry.version tool.poetry.description tool.poetry.authors "
		"tool.poetry.maintainers tool.poetry.keywords tool.poetry.classifiers "
		"tool.poetry.license tool.poetry.homepage tool.poetry.repository "
		"tool.black tool.black.line-length tool.black.target-version "
		"tool.black.skip-string-normalization tool.black.skip-magic-trailing-comma "
		"tool.isort tool.isort.profile tool.isort.line_length "
		"tool.isort.multi_line_output tool.isort.known_first_party "
		"tool.ruff tool.ruff.line-length tool.ruff.indent-width "
		"tool.ruff.target-version tool.ruff.format tool.ruff.format.*";

	judge(f, "python-build", harmless);
}

void ga_known_cargo(const struct ga_known *f)
{
	static const char harmless[] =
		"package package.version package.description package.authors package.keywords "
		"package.categories package.license package.repository package.homepage "
		"package.documentation workspace.package workspace.package.version "
		"workspace.package.description workspace.package.authors workspace.package.license "
		"workspace.package.repository workspace.package.homepage "
		"profile.release profile.release.opt-level profile.release.debug "
		"profile.release.lto profile.release.strip profile.release.panic "
		"profile.release.codegen-units profile.release.incremental "
		"profile.release.overflow-checks profile.release.debug-assertions "
		"profile.dev profile.dev.opt-level profile.dev.debug profile.dev.lto "
		"profile.dev.strip profile.dev.panic profile.dev.codegen-units "
		"profile.dev.incremental profile.dev.overflow-checks profile.dev.debug-assertions";

	judge(f, "cargo", harmless);
}
