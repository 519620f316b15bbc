/* SPDX-License-Identifier: MIT
 *
 * Dispatch files of known kinds to their inspections.
 */
#include "risk/content.h"

#include <string.h>

#include "ga/base/quote.h"

/* package.json */

static void fire_value(struct ga_inspect *k, const char *where, const char *key,
		       const json_t *value)
{
	cleanup_free char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
	struct ga_buf b = GA_BUF_INIT;

	ga_buf_addf(&b, "%s%s: ", where, key);
	ga_risk_quote_start(&b, text ? text : "");
	ga_fire_rule(k, "npm-manifest-lifecycle", ga_buf_steal(&b));
}

static void compare_keys(struct ga_inspect *k, const json_t *old, const json_t *new,
			 const char *where, const char *const *keys, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const json_t *a = json_object_get(old, keys[i]), *b = json_object_get(new, keys[i]);

		if (b && !ga_known_json_same(a, b))
			fire_value(k, where, keys[i], b);
	}
}

/* Keys that make an installation or a commit run something. */
static void check_lifecycle(struct ga_inspect *k, const json_t *old, const json_t *new)
{
	static const char *const scripts[] = { "preinstall", "install", "postinstall",
					       "preprepare", "prepare", "postprepare",
					       "prepublish", "dependencies" };
	static const char *const keys[] = { "gypfile", "husky", "gitHooks", "simple-git-hooks",
					    "lint-staged", "pre-commit" };

	compare_keys(k, json_object_get(old, "scripts"), json_object_get(new, "scripts"),
		     "scripts.", scripts, GA_NELEMS(scripts));
	compare_keys(k, old, new, "", keys, GA_NELEMS(keys));
}

/* Is a version a path to code, instead of the version wanted? */
static bool is_local(const char *value)
{
	return ga_known_in(value, "file:* link:* portal:* patch:* ./* ../* /*");
}

/* Fire for entries of a map from packages whose values have become paths. */
static void check_map(struct ga_inspect *k, const json_t *old, const json_t *new, const char *where)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)new, key, value) {
		const char *to = json_string_value(value);
		cleanup_free char *shown = NULL;

		if (!to || key[0] == '.' || key[0] == '#' || !is_local(to) ||
		    ga_known_json_same(json_object_get(old, key), value))
			continue;
		shown = ga_quote(key);
		ga_fire_rule(k, "node-shadow", ga_strf("%s: %s", where, shown));
	}
}

static void check_shadow(struct ga_inspect *k, const json_t *old, const json_t *new)
{
	static const char *const maps[] = { "overrides", "resolutions", "browser", "imports",
					    "exports" };
	const json_t *a = json_object_get(old, "pnpm"), *b = json_object_get(new, "pnpm");

	for (size_t i = 0; i < GA_NELEMS(maps); i++)
		check_map(k, json_object_get(old, maps[i]), json_object_get(new, maps[i]),
			  maps[i]);
	check_map(k, json_object_get(a, "overrides"), json_object_get(b, "overrides"),
		  "pnpm.overrides");
	if (json_object_get(b, "patchedDependencies") &&
	    !ga_known_json_same(json_object_get(a, "patchedDependencies"),
				json_object_get(b, "patchedDependencies")))
		ga_fire_rule(k, "node-shadow", ga_strdup("pnpm.patchedDependencies"));
}

/* Fire what the host runs of a manifest: `f->text` is a script's name, or "*" for what hook
 * managers and lint-staged take from it. */
static void fire_reached(struct ga_inspect *k, const struct ga_reached *f, const json_t *old,
			 const json_t *new)
{
	static const char *const read[] = { "lint-staged", "nano-staged", "simple-git-hooks",
					    "gitHooks", "pre-commit", "husky" };
	static const char *const any[] = { "workspaces", "packageManager", "type", "imports" };
	const json_t *a = json_object_get(old, "scripts"), *b = json_object_get(new, "scripts");
	const char *const *keys = *f->text == '*' ? read : any;
	size_t n = *f->text == '*' ? GA_NELEMS(read) : GA_NELEMS(any);

	cleanup_free char *name = ga_quote(f->text);

	if (!new ||
	    !ga_known_json_same(json_object_get(a, f->text), json_object_get(b, f->text)))
		ga_fire_reached(k, f, ga_strf("%s runs scripts.%s", f->why, name));
	for (size_t i = 0; new && i < n; i++)
		if (!ga_known_json_same(json_object_get(old, keys[i]),
					json_object_get(new, keys[i])))
			ga_fire_reached(k, f, ga_strf("%s reads \"%s\"", f->why, keys[i]));
}

static void check_reached(struct ga_inspect *k, const json_t *old, const json_t *new)
{
	for (size_t i = 0; i < k->n_facts; i++)
		for (size_t j = 0; j < k->facts[i].h->n; j++)
			if (k->facts[i].h->v[j].what == GA_REACH_SCRIPT)
				fire_reached(k, &k->facts[i].h->v[j], old, new);
}

/* Members other than packages. */
static void ga_known_package_json(const struct ga_known *f)
{
	cleanup_json json_t *a = ga_known_json(f->old, false), *b = ga_known_json(f->text, false);

	check_reached(f->k, a, f->text->len ? b : NULL);
	if (!b || !f->text->len) {
		ga_fire_rule(f->k, "npm-manifest-lifecycle", ga_strdup("it could not be parsed"));
		return;
	}
	check_lifecycle(f->k, a, b);
	check_shadow(f->k, a, b);
}

/* Jupyter notebooks: cells are code, outputs are the results of running it. */

/* Are all outputs of plain types, which the page neither runs nor renders? */
static bool is_plain_output(const json_t *outputs)
{
	const json_t *output;
	const char *type;
	json_t *data;
	size_t i;

	json_array_foreach(outputs, i, output)
		json_object_foreach(json_object_get(output, "data"), type, data)
			if (!ga_has_word("text/plain image/png image/jpeg image/gif", type))
				return false;
	return true;
}

/* Remove the results of running from each cell; false: this is no notebook. */
static bool strip_outputs(json_t *notebook)
{
	json_t *cells = json_object_get(notebook, "cells"), *cell;
	size_t i;

	json_array_foreach(cells, i, cell) {
		(void)json_object_del(cell, "outputs");
		(void)json_object_del(cell, "execution_count");
	}
	return json_is_array(cells);
}

static bool all_plain(const json_t *notebook)
{
	const json_t *cell;
	size_t i;

	json_array_foreach(json_object_get(notebook, "cells"), i, cell)
		if (!is_plain_output(json_object_get(cell, "outputs")))
			return false;
	return true;
}

static void ga_known_notebook(const struct ga_known *f)
{
	cleanup_json json_t *a = NULL, *b = NULL;

	if (!f->old->len || !strstr(f->k->base, ".ipynb"))
		return;
	a = ga_known_json(f->old, false);
	b = ga_known_json(f->text, false);
	if (!a || !b || !all_plain(b))
		return;
	if (strip_outputs(a) && strip_outputs(b) && ga_known_json_same(a, b))
		ga_lower_rules(f->k, "jupyter", false, "only outputs of cells change");
}

/* Settings of VS Code, JetBrains IDEs and Claude Code. */

/* Settings of colours, sizes and blanks, which can neither run nor hide anything. */
static const char harmless_settings[] =
	"workbench.colorCustomizations workbench.colorTheme workbench.iconTheme editor.tabSize "
	"editor.indentSize editor.insertSpaces editor.detectIndentation editor.rulers "
	"editor.wordWrap editor.wordWrapColumn editor.fontSize editor.fontFamily "
	"editor.fontLigatures editor.lineHeight editor.renderWhitespace "
	"editor.renderLineHighlight editor.minimap.enabled editor.trimAutoWhitespace "
	"editor.bracketPairColorization.enabled files.eol files.insertFinalNewline "
	"files.trimFinalNewlines files.trimTrailingWhitespace";

/* Does the setting choose programs, arguments, or actions without confirmation? */
static bool is_sensitive_setting(const char *key)
{
	static const char *const parts[] = { "path", "command", "args", "interpreter",
					     "executable", "env", "autoapprove",
					     "automatictasks", "trust", "shell", "server", "mcp",
					     "hooks", "task.", "terminal." };

	return GA_FINDS_ANY(strcasestr, key, parts);
}

/* Add what changed between two objects of settings to `changed`, and what of it matters to
 * `telling`. `*harmless` stays true if all of it is harmless. */
static void sort_settings(const json_t *a, const json_t *b, bool top, struct ga_strv *telling,
			  struct ga_strv *changed, bool *harmless)
{
	cleanup_strv struct ga_strv keys = GA_STRV_INIT;

	ga_known_json_changed(a, b, &keys);
	for (size_t i = 0; i < keys.n; i++) {
		const json_t *was = json_object_get(a, keys.v[i]);
		const json_t *is = json_object_get(b, keys.v[i]);
		bool objects = (!was || json_is_object(was)) && (!is || json_is_object(is));

		/* "[c]": settings for files of one language, which cannot be nested */
		if (top && keys.v[i][0] == '[' && objects) {
			sort_settings(was, is, false, telling, changed, harmless);
			continue;
		}
		ga_strv_push(changed, keys.v[i]);
		*harmless &= ga_has_word(harmless_settings, keys.v[i]);
		if (is_sensitive_setting(keys.v[i]))
			ga_strv_push(telling, keys.v[i]);
	}
}

/* Add the changes as details, or lower the rules. A new empty file is ignored. */
static void judge_settings(const struct ga_known *f, const json_t *a, const json_t *b,
			   const char *rule, const char *lowered)
{
	cleanup_strv struct ga_strv telling = GA_STRV_INIT, changed = GA_STRV_INIT;
	cleanup_free char *list = NULL, *why = NULL;
	bool harmless = true;

	sort_settings(a, b, true, &telling, &changed, &harmless);
	if (!changed.n && !f->old->len)
		return;
	if (!harmless) {
		ga_known_add_detail(f->k, rule, GA_LOW, telling.n ? "sets " : "changed: ",
				    telling.n ? &telling : &changed);
		return;
	}
	list = ga_known_list(&changed);
	why = changed.n ? ga_strf("only colours, blanks and the like: %s", list) :
			  ga_strdup("only its layout and comments change");
	ga_lower_rules(f->k, lowered, false, why);
}

static void ga_known_vscode_settings(const struct ga_known *f)
{
	cleanup_json json_t *a = ga_known_json(f->old, true), *b = ga_known_json(f->text, true);

	if (a && b)
		judge_settings(f, a, b, "vscode-settings", "vscode-settings vscode-other");
}

/* List the tasks that start automatically, and whether any is hidden. */
static void list_tasks(struct ga_inspect *k, const char *rule, const json_t *tasks)
{
	cleanup_strv struct ga_strv start = GA_STRV_INIT;
	cleanup_free char *list = NULL;
	bool hidden = false;
	const json_t *task;
	size_t i;

	json_array_foreach(json_object_get(tasks, "tasks"), i, task) {
		const char *on = json_string_value(json_object_get(
			json_object_get(task, "runOptions"), "runOn"));
		const char *label = json_string_value(json_object_get(task, "label"));
		const char *reveal = json_string_value(json_object_get(
			json_object_get(task, "presentation"), "reveal"));

		if (on && !strcmp(on, "folderOpen"))
			ga_strv_push(&start, label ? label : "a task without a name");
		hidden |= reveal && !strcmp(reveal, "never");
	}
	if (!start.n && !hidden)
		return;
	list = ga_known_list(&start);
	ga_add_detail(k, rule, GA_LOW,
		      ga_strf("%s%s%s", start.n ? "starts when the folder opens: " : "", list,
			      hidden ? (start.n ? ", out of sight" : "runs out of sight") : ""));
}

static void ga_known_vscode_tasks(const struct ga_known *f)
{
	cleanup_json json_t *b = ga_known_json(f->text, true);

	list_tasks(f->k, "vscode-tasks", b);
}

static void ga_known_workspace(const struct ga_known *f)
{
	cleanup_json json_t *a = ga_known_json(f->old, true), *b = ga_known_json(f->text, true);
	cleanup_strv struct ga_strv keys = GA_STRV_INIT;

	if (!a || !b)
		return;
	list_tasks(f->k, "code-workspace", json_object_get(b, "tasks"));
	ga_known_json_changed(a, b, &keys);
	if (!keys.n || (keys.n == 1 && !strcmp(keys.v[0], "settings"))) {
		judge_settings(f, json_object_get(a, "settings"), json_object_get(b, "settings"),
			       "code-workspace", "code-workspace");
		return;
	}
	ga_known_add_detail(f->k, "code-workspace", GA_LOW, "changed: ", &keys);
}

/* List the names of all components; false: the file is not in the plain form that IDEs write. */
static bool list_components(const struct ga_buf *text, struct ga_strv *ret)
{
	static const char start[] = "<component";
	const char *p = text->ptr, *end = p + text->len;

	/* the template of an inspection can hold a script, which the IDE runs */
	if (strstr(p, "script"))
		return false;
	if (strstr(p, "<!") || strlen(p) != text->len || text->len > GA_KNOWN_MAX)
		return false;
	while ((p = strstr(p, start))) {
		const char *name, *close;

		p += strlen(start);
		if (strncmp(p, " name=\"", 7) != 0)
			return false;
		name = p + 7;
		close = memchr(name, '"', (size_t)(end - name));
		if (!close || memchr(name, '&', (size_t)(close - name)))
			return false;
		ga_strv_push_n(ret, name, (size_t)(close - name));
		p = close;
	}
	ga_strv_sort_unique(ret);
	return ret->n > 0;
}

static void ga_known_idea(const struct ga_known *f)
{
	static const char style[] =
		"ProjectCodeStyleConfiguration ProjectCodeStyleSettingsManager "
		"InspectionProjectProfileManager";
	static const char *const dirs[] = { ".idea/codeStyles/", ".idea/inspectionProfiles/" };
	cleanup_strv struct ga_strv before = GA_STRV_INIT, names = GA_STRV_INIT;
	bool harmless, in_dir = false;

	if (!list_components(f->text, &names))
		return;
	harmless = !f->old->len || list_components(f->old, &before);
	for (size_t i = 0; i < names.n; i++)
		harmless &= ga_has_word(style, names.v[i]);
	for (size_t i = 0; i < before.n; i++)
		harmless &= ga_has_word(style, before.v[i]);
	for (size_t i = 0; i < GA_NELEMS(dirs); i++)
		in_dir |= strcasestr(f->k->folded, dirs[i]) != NULL;
	if (harmless && in_dir)
		ga_lower_rules(f->k, "jetbrains", false, "only code style and inspections");
	else
		ga_known_add_detail(f->k,
				    ga_has_fired(f->k, "jetbrains-autorun") ? "jetbrains-autorun"
									    : "jetbrains",
				    GA_LOW, "components: ", &names);
}

static void ga_known_claude(const struct ga_known *f)
{
	static const char telling[] =
		"hooks permissions enableAllProjectMcpServers enabledMcpjsonServers env "
		"apiKeyHelper statusLine awsAuthRefresh awsCredentialExport otelHeadersHelper "
		"defaultMode sandbox additionalDirectories";
	cleanup_json json_t *a = ga_known_json(f->old, false), *b = ga_known_json(f->text, false);
	cleanup_strv struct ga_strv keys = GA_STRV_INIT, sets = GA_STRV_INIT;

	if (!a || !b)
		return;
	ga_known_json_changed(a, b, &keys);
	for (size_t i = 0; i < keys.n; i++)
		if (ga_has_word(telling, keys.v[i]))
			ga_strv_push(&sets, keys.v[i]);
	if (!keys.n && !f->old->len)
		return;
	if (!keys.n) {
		ga_lower_rules(f->k, "claude-settings claude-code-dirs", false,
			       "only its layout changes");
		return;
	}
	ga_known_add_detail(
		f->k, "claude-settings", GA_LOW,
		sets.n ? "changes what runs or is allowed: " : "changed: ", sets.n ? &sets : &keys);
}

void ga_inspect_known(const struct ga_known *f)
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
		    (!kinds[i].rules || ga_has_fired(f->k, kinds[i].rules)))
			kinds[i].look(f);
	}
}
