/* SPDX-License-Identifier: MIT
 *
 * Workflows of GitHub, Gitea and Forgejo: what gives a job more power than it had.
 */
#include <string.h>
#include <strings.h>

#include "ga/config/yaml.h"
#include "risk/content.h"

/* Find the next name and the member that is taken of it: "a.b", "a['b']" and "A [ 'b' ]" are the
 * same. `*ret_of` NULL: all of it is meant, or a member that is computed. Returns where to go on;
 * NULL: there is no more. */
static const char *next_name(const char *p, const char *end, char **ret_name, char **ret_of)
{
	static const char chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789_-";
	size_t n;

	*ret_name = *ret_of = NULL;
	while (p < end && !strchr(chars, *p))
		p++;
	n = strspn(p, chars);
	if (p >= end || !n)
		return NULL;
	*ret_name = ga_strndup(p, n);
	p += n + strspn(p + n, " \t\n");
	if (*p == '.')
		p += 1 + strspn(p + 1, " \t\n");
	else if (*p == '[' && p[1 + strspn(p + 1, " \t\n")] == '\'')
		p += 2 + strspn(p + 1, " \t\n");
	else
		return p;
	n = strspn(p, chars);
	if (n)
		*ret_of = ga_strndup(p, n);
	/* not skipped: it may begin a name of its own */
	return p;
}

/* Add what matters of what an expression reads: secrets, and, with `command`, the text of an event,
 * which anybody may have written. */
static void add_expression(const char *p, const char *end, bool command, struct ga_strv *ret)
{
	for (;;) {
		cleanup_free char *name = NULL, *of = NULL;

		p = next_name(p, end, &name, &of);
		if (!p)
			return;
		/* every job has a token, as powerful as its permissions say */
		if (!strcasecmp(name, "secrets") && (!of || strcasecmp(of, "GITHUB_TOKEN") != 0))
			ga_strv_pushf(ret, "secret %s", of ? of : "of any name");
		if (command && !strcasecmp(name, "github") &&
		    (!of || !strcasecmp(of, "event") || !strcasecmp(of, "head_ref")))
			ga_strv_push(ret, "a command made of an event's text");
	}
}

static void add_expressions(const char *key, const char *text, struct ga_strv *ret)
{
	bool command = !strcmp(key, "run") || !strcmp(key, "script");

	/* "if" is an expression even without "${{" */
	if (!strcmp(key, "if"))
		add_expression(text, text + strlen(text), false, ret);
	for (const char *p = text; (p = strstr(p, "${{"));) {
		const char *end = strstr(p, "}}");

		if (!end)
			end = p + strlen(p);
		add_expression(p + 3, end, command, ret);
		p = end;
	}
}

/* The action's owner, or what else it is taken from: a path of this repository, or an image. */
static void add_owner(const char *uses, struct ga_strv *ret)
{
	if (strncmp(uses, "./", 2) != 0)
		ga_strv_pushf(ret, "uses what %.*s publishes", (int)strcspn(uses, "/@"), uses);
}

static void add_text(const char *key, const char *text, struct ga_strv *ret)
{
	if (!strcmp(key, "on"))
		ga_strv_pushf(ret, "on %s", text);
	if (!strcmp(text, "write-all") || !strcmp(text, "write"))
		ga_strv_pushf(ret, "%s may %s", key, text);
	if (!strcmp(key, "runs-on") && strcasestr(text, "self-hosted"))
		ga_strv_push(ret, "runs on own machines");
	if (!strcmp(key, "uses"))
		add_owner(text, ret);
	if (!strcmp(key, "secrets") && !strcmp(text, "inherit"))
		ga_strv_push(ret, "secret of any name");
	add_expressions(key, text, ret);
}

/* In a job or step that goes on whatever comes of its commands. */
static void add_check(const char *key, const char *text, struct ga_strv *ret)
{
	cleanup_free char *tool = !strcmp(key, "run") ? ga_reach_check_in(text) : NULL;

	if (tool)
		ga_strv_pushf(ret, "goes on if %s fails", tool);
}

/* `key` is that of the node, or of the list it is in; `on`: it goes on if something in it fails.
 * It nests no deeper than the parser allows. */
static void add_findings(const struct ga_yaml *y, const char *key, bool on, struct ga_strv *ret)
{
	if (y->kind == GA_YAML_TEXT) {
		add_text(key, y->text, ret);
		if (on)
			add_check(key, y->text, ret);
		return;
	}
	for (size_t i = 0; y->kind == GA_YAML_MAP && i < y->n; i++)
		on |= !strcmp(y->v[i].key, "continue-on-error") &&
		      y->v[i].kind == GA_YAML_TEXT && !strcmp(y->v[i].text, "true");
	for (size_t i = 0; i < y->n; i++) {
		const struct ga_yaml *item = &y->v[i];

		if (y->kind == GA_YAML_LIST) {
			add_findings(item, key, on, ret);
			continue;
		}
		if (!strcmp(key, "on"))
			add_text(key, item->key, ret);
		if (!strcmp(key, "runs-on") && !strcmp(item->key, "group"))
			ga_strv_push(ret, "runs on own machines");
		add_findings(item, item->key, on, ret);
	}
}

static bool read_workflow(const struct ga_buf *text, struct ga_strv *ret)
{
	cleanup_yaml struct ga_yaml y = GA_YAML_INIT;
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;

	if (ga_yaml_parse("workflow", text->ptr, text->len, &y, &ignored))
		return false;
	add_findings(&y, "", false, ret);
	ga_strv_sort_unique(ret);
	return true;
}

/* "owner/name@COMMIT # TAG" on a line: the action, its commit and the tag; false: it is no pin. */
static bool is_pin(const char *line, char **ret_action, char **ret_rest)
{
	const char *uses = strstr(line, "uses:"), *at = uses ? strchr(uses, '@') : NULL, *tag;

	tag = at ? strchr(at, '#') : NULL;
	if (!tag || strspn(at + 1, "0123456789abcdef") != 40)
		return false;
	uses += 5 + strspn(uses + 5, " \t\"'");
	*ret_action = ga_strf("%.*s %s", (int)(at - uses), uses, tag);
	*ret_rest = ga_strndup(at + 1, 40);
	return true;
}

struct pins {
	struct ga_strv actions, commits; /* parallel; of the old version */
	struct ga_strv moved;
};

static void old_pin(void *arg, char *line)
{
	struct pins *p = arg;
	char *action, *commit;

	if (!is_pin(line, &action, &commit))
		return;
	ga_strv_take(&p->actions, action);
	ga_strv_take(&p->commits, commit);
}

/* A tag stays at its commit: the same one with another is what an attack looks like. Lines that
 * download something are what else is looked for. */
static void new_line(void *arg, char *line)
{
	struct pins *p = arg;
	char *action, *commit;

	if (strstr(line, "curl ") || strstr(line, "wget ") || strcasestr(line, "invoke-webrequest"))
		ga_strv_pushf(&p->moved, "downloads: %s", line + strspn(line, " \t-"));
	if (!is_pin(line, &action, &commit))
		return;
	for (size_t i = 0; i < p->actions.n; i++)
		if (!strcmp(p->actions.v[i], action) && strcmp(p->commits.v[i], commit) != 0)
			ga_strv_pushf(&p->moved, "%s is another commit under the same tag", action);
	free(action);
	free(commit);
}

static void say_lines(const struct ga_known *f, const char *rule)
{
	struct pins p = { .actions = GA_STRV_INIT };

	ga_known_lines(f->old, old_pin, &p);
	ga_known_lines(f->added, new_line, &p);
	ga_known_say(f->k, rule, GA_HIGH, "", &p.moved);
	ga_strv_release(&p.actions);
	ga_strv_release(&p.commits);
	ga_strv_release(&p.moved);
}

void ga_known_workflow(const struct ga_known *f)
{
	cleanup_strv struct ga_strv was = GA_STRV_INIT, is = GA_STRV_INIT, new = GA_STRV_INIT;
	const char *rule = ga_look_fired(f->k, "ci-github") ? "ci-github" : "ci-gitea-forgejo";

	if (!strstr(f->k->base, ".y"))
		return; /* not a workflow, but a script of an action */
	if (!read_workflow(f->text, &is)) {
		/* the service may understand it all the same, and what it does is not known then */
		ga_look_say(f->k, rule, GA_HIGH,
			    ga_strdup("is in no form that is understood here"));
		return;
	}
	(void)read_workflow(f->old, &was);
	say_lines(f, rule);
	for (size_t i = 0; i < is.n; i++)
		if (ga_strv_find(&was, is.v[i]) < 0)
			ga_strv_push(&new, is.v[i]);
	ga_known_say(f->k, rule, GA_HIGH, "", &new);
}
