/* SPDX-License-Identifier: MIT
 *
 * Settings of VS Code, JetBrains IDEs and Claude Code.
 */
#include <string.h>

#include "risk/content.h"

/* Settings of colours, sizes and blanks, by which nothing can be run or hidden. */
static const char harmless_settings[] =
	"workbench.colorCustomizations workbench.colorTheme workbench.iconTheme editor.tabSize "
	"editor.indentSize editor.insertSpaces editor.detectIndentation editor.rulers "
	"editor.wordWrap editor.wordWrapColumn editor.fontSize editor.fontFamily "
	"editor.fontLigatures editor.lineHeight editor.renderWhitespace "
	"editor.renderLineHighlight editor.minimap.enabled editor.trimAutoWhitespace "
	"editor.bracketPairColorization.enabled files.eol files.insertFinalNewline "
	"files.trimFinalNewlines files.trimTrailingWhitespace";

/* Is it a setting that chooses programs or arguments, or what is done without asking? */
static bool telling_setting(const char *key)
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
		if (telling_setting(keys.v[i]))
			ga_strv_push(telling, keys.v[i]);
	}
}

/* Say what changed, or lower the rules. Nothing is done about a new file with nothing in it. */
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
		ga_known_say(f->k, rule, GA_LOW, telling.n ? "sets " : "changed: ",
			     telling.n ? &telling : &changed);
		return;
	}
	list = ga_known_list(&changed);
	why = changed.n ? ga_strf("only colours, blanks and the like: %s", list) :
			  ga_strdup("only its layout and comments change");
	ga_look_lower(f->k, lowered, false, why);
}

void ga_known_vscode_settings(const struct ga_known *f)
{
	cleanup_json json_t *a = ga_known_json(f->old, true), *b = ga_known_json(f->text, true);

	if (a && b)
		judge_settings(f, a, b, "vscode-settings", "vscode-settings vscode-other");
}

/* Say which tasks start by themselves, and whether any runs out of sight. */
static void say_tasks(struct ga_look *k, const char *rule, const json_t *tasks)
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
	ga_look_say(k, rule, GA_LOW,
		    ga_strf("%s%s%s", start.n ? "starts when the folder opens: " : "", list,
			    hidden ? (start.n ? ", out of sight" : "runs out of sight") : ""));
}

void ga_known_vscode_tasks(const struct ga_known *f)
{
	cleanup_json json_t *b = ga_known_json(f->text, true);

	say_tasks(f->k, "vscode-tasks", b);
}

void ga_known_workspace(const struct ga_known *f)
{
	cleanup_json json_t *a = ga_known_json(f->old, true), *b = ga_known_json(f->text, true);
	cleanup_strv struct ga_strv keys = GA_STRV_INIT;

	if (!a || !b)
		return;
	say_tasks(f->k, "code-workspace", json_object_get(b, "tasks"));
	ga_known_json_changed(a, b, &keys);
	if (!keys.n || (keys.n == 1 && !strcmp(keys.v[0], "settings"))) {
		judge_settings(f, json_object_get(a, "settings"), json_object_get(b, "settings"),
			       "code-workspace", "code-workspace");
		return;
	}
	ga_known_say(f->k, "code-workspace", GA_LOW, "changed: ", &keys);
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

void ga_known_idea(const struct ga_known *f)
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
		ga_look_lower(f->k, "jetbrains", false, "only code style and inspections");
	else
		ga_known_say(f->k, ga_look_fired(f->k, "jetbrains-autorun") ? "jetbrains-autorun" :
									      "jetbrains",
			     GA_LOW, "components: ", &names);
}

void ga_known_claude(const struct ga_known *f)
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
		ga_look_lower(f->k, "claude-settings claude-code-dirs", false,
			      "only its layout changes");
		return;
	}
	ga_known_say(f->k, "claude-settings", GA_LOW,
		     sets.n ? "changes what runs or is allowed: " : "changed: ",
		     sets.n ? &sets : &keys);
}
