/* SPDX-License-Identifier: MIT
 *
 * Makefiles, CMake, containers and scripts. Only their own tools can parse these, so they are
 * searched for telling words. A rule is lowered only if just lists of files change.
 */
#include <string.h>
#include <strings.h>

#include "ga/config/yaml.h"
#include "risk/content.h"

/* Workflows of GitHub, Gitea and Forgejo: find changes that give a job more power. */

/* Find the next name and the member that is taken of it: "a.b", "a['b']" and "A [ 'b' ]" are the
 * same. `*ret_of` NULL: all of it is meant, or a member that is computed. Returns where to
 * continue; NULL: there is no more. */
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

/* Add sensitive values that an expression reads: secrets, and, with `command`, the text of an
 * event, which anyone may have written. */
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

/* In a job or step that continues whatever its commands return. */
static void add_check(const char *key, const char *text, struct ga_strv *ret)
{
	cleanup_free char *tool = !strcmp(key, "run") ? ga_reach_find_check(text) : NULL;

	if (tool)
		ga_strv_pushf(ret, "continues if %s fails", tool);
}

/* `key` is that of the node, or of the list it is in; `on`: it continues if something in it fails.
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

	if (ga_yaml_parse("workflow", text->ptr, text->len, &y, GA_IGNORED))
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

/* Find pinned actions whose commit changes under the same tag, as in an attack, and lines that
 * download something. */
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

static void fire_added_lines(const struct ga_known *f, const char *rule)
{
	struct pins p = { .actions = GA_STRV_INIT };

	ga_known_lines(f->old, old_pin, &p);
	ga_known_lines(f->added, new_line, &p);
	ga_known_add_detail(f->k, rule, GA_HIGH, "", &p.moved);
	ga_strv_release(&p.actions);
	ga_strv_release(&p.commits);
	ga_strv_release(&p.moved);
}

void ga_known_workflow(const struct ga_known *f)
{
	cleanup_strv struct ga_strv was = GA_STRV_INIT, is = GA_STRV_INIT, new = GA_STRV_INIT;
	const char *rule = ga_has_fired(f->k, "ci-github") ? "ci-github" : "ci-gitea-forgejo";

	if (!strstr(f->k->base, ".y"))
		return; /* not a workflow, but a script of an action */
	if (!read_workflow(f->text, &is)) {
		/* the service may accept it all the same, with unknown effect */
		ga_add_detail(f->k, rule, GA_HIGH,
			      ga_strdup("is in no form that is understood here"));
		return;
	}
	(void)read_workflow(f->old, &was);
	fire_added_lines(f, rule);
	for (size_t i = 0; i < is.n; i++)
		if (ga_strv_find(&was, is.v[i]) < 0)
			ga_strv_push(&new, is.v[i]);
	ga_known_add_detail(f->k, rule, GA_HIGH, "", &new);
}

/* Add the new ones of the words, in upper or lower case, as a detail. */
static void show_added_words(const struct ga_known *f, const char *rule, enum ga_severity s,
			     const char *intro, const char *const *words, size_t n)
{
	cleanup_strv struct ga_strv found = GA_STRV_INIT;

	for (size_t i = 0; i < n; i++)
		if (strcasestr(f->added->ptr, words[i]))
			ga_strv_push(&found, words[i]);
	ga_known_add_detail(f->k, rule, s, intro, &found);
}

void ga_known_container(const struct ga_known *f)
{
	static const char *const reach[] = {
		"privileged: true", "--privileged", "pid: host", "network_mode: host", "ipc: host",
		"userns_mode: host", "--network=host", "--pid=host", "docker.sock", "cap_add",
		"devices:", "security_opt", "--security=insecure", "seccomp=unconfined",
		"apparmor=unconfined",
	};

	show_added_words(f, ga_has_fired(f->k, "compose") ? "compose" : "dockerfile", GA_HIGH,
			 "reaches out of the container: ", reach, GA_NELEMS(reach));
}

/* Rules of a makefile: each "target\nprerequisites and recipe". */
struct makefile {
	struct ga_strv rules;
	struct ga_buf rule;
};

static void makefile_release(struct makefile *m)
{
	ga_strv_release(&m->rules);
	ga_buf_release(&m->rule);
}

static void end_rule(struct makefile *m)
{
	if (m->rule.len)
		ga_strv_push(&m->rules, m->rule.ptr);
	ga_buf_clear(&m->rule);
}

static void makefile_line(void *arg, char *line)
{
	struct makefile *m = arg;
	size_t colon = strcspn(line, ":=");

	if (line[0] == '\t') {
		if (m->rule.len)
			ga_buf_addf(&m->rule, "\n%s", line);
		return;
	}
	if (!line[0] || strchr(" #", line[0]))
		return;
	end_rule(m);
	if (line[colon] == ':' && line[colon + 1] != '=' && line[0] != '.') {
		ga_buf_add(&m->rule, line, colon);
		ga_buf_addf(&m->rule, "\n%s", line + colon);
	}
}

static void read_makefile(const struct ga_buf *text, struct makefile *ret)
{
	ga_known_lines(text, makefile_line, ret);
	end_rule(ret);
	ga_strv_sort_unique(&ret->rules);
}

/* Show the first new line of a recipe. */
static void show_recipe(const struct ga_known *f)
{
	const char *at = f->added->ptr[0] == '\t' ? f->added->ptr : strstr(f->added->ptr, "\n\t");
	cleanup_free char *line = NULL;
	struct ga_buf b = GA_BUF_INIT;

	if (!at)
		return;
	at += strspn(at, "\n\t @-");
	line = ga_strndup(at, strcspn(at, "\n"));
	ga_buf_adds(&b, "adds ");
	ga_risk_quote_start(&b, line);
	ga_add_detail(f->k, "make", GA_LOW, ga_buf_steal(&b));
}

void ga_known_makefile(const struct ga_known *f)
{
	static const char *const at_once[] = { "$(shell ", "${shell ", "!= " };
	cleanup_(makefile_release) struct makefile a = { .rule = GA_BUF_INIT },
						   b = { .rule = GA_BUF_INIT };
	cleanup_strv struct ga_strv targets = GA_STRV_INIT;

	show_added_words(f, "make", GA_LOW, "runs a command on merely being read: ", at_once,
			 GA_NELEMS(at_once));
	read_makefile(f->old, &a);
	read_makefile(f->text, &b);
	for (size_t i = 0; i < b.rules.n; i++)
		if (ga_strv_find(&a.rules, b.rules.v[i]) < 0)
			ga_strv_push_n(&targets, b.rules.v[i], strcspn(b.rules.v[i], "\n"));
	ga_known_add_detail(f->k, "make", GA_LOW, "changes what these do: ", &targets);
	show_recipe(f);
}

/* The words of "NAME = words" or "NAME += words", if make would expand nothing in them; else NULL.
 */
static const char *list_value(const char *line, size_t *ret_name)
{
	static const char word_chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
					 "0123456789_./+-@ \t";
	static const char name_chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
					 "0123456789_";
	size_t n = strspn(line, name_chars);
	const char *p = line + n + strspn(line + n, " \t");

	p += *p == '+';
	*ret_name = n;
	return *p == '=' && !p[1 + strspn(p + 1, word_chars)] ? p + 1 : NULL;
}

static bool is_file_list(const char *line)
{
	static const char *const ends[] = { "_SOURCES", "_HEADERS", "_MANS",
					    "_LIBRARIES", "_LTLIBRARIES", "EXTRA_DIST" };
	bool known = false;
	size_t n;

	if (!list_value(line, &n))
		return false;
	/* not a mere list: make builds these before all else */
	if (n == strlen("BUILT_SOURCES") && !memcmp(line, "BUILT_SOURCES", n))
		return false;
	for (size_t i = 0; i < GA_NELEMS(ends); i++)
		known |= ga_ends_in_n(line, n, ends[i]);
	return known;
}

/* A Makefile.am without its lists of files; lines continued by a backslash are joined, as make
 * does. */
struct rest {
	struct ga_buf all, line;
	struct ga_strv tests; /* "NAME CONDITIONS WORD" for each word of a list of tests */
	struct ga_strv lists; /* the names of these lists */
	size_t conditions;    /* how many lines so far begin, turn or end a condition */
};

/* Take the words of a list of tests, if it names nothing but files in test directories: whoever can
 * change these gains nothing by naming one. False: it is no such list, or it says which tests may
 * fail, or it drops what the list had before. */
static bool add_tests(struct rest *r, const char *line)
{
	size_t n, before = r->tests.n;
	const char *value = list_value(line, &n);
	cleanup_free char *words = ga_strdup(value ? value : ""), *name = ga_strndup(line, n);
	char *save = NULL;
	bool ok = value && !ga_ends_in_n(line, n, "XFAIL_TESTS") &&
		  (ga_ends_in_n(line, n, "TESTS") || ga_ends_in_n(line, n, "check_PROGRAMS"));

	if (!ok)
		return false;
	/* where a list begins, possibly again, no other may; each has something before "=" */
	if (value[-2] != '+') {
		if (ga_strv_has(&r->lists, name))
			return false;
		ga_buf_addf(&r->all, "%s =\n", name);
	}
	ga_strv_push(&r->lists, name);
	for (char *w = strtok_r(words, " \t", &save); ok && w; w = strtok_r(NULL, " \t", &save)) {
		ok = (!strncmp(w, "tests/", 6) || !strncmp(w, "test/", 5)) && !strstr(w, "..") &&
		     !strchr(w, '@');
		/* with the name of the list and the conditions before it: if it moves to another
		 * list, or under another condition, it may not be run any more */
		ga_strv_pushf(&r->tests, "%s %zu %s", name, r->conditions, w);
	}
	return ok && r->tests.n > before;
}

/* Is it a condition, of automake or of make? */
static bool is_condition(const char *line)
{
	line += strspn(line, " \t");
	return ga_has_word_n("if else endif ifeq ifneq ifdef ifndef", line,
			     strcspn(line, " \t(\"'#"));
}

static void rest_release(struct rest *r)
{
	ga_buf_release(&r->all);
	ga_buf_release(&r->line);
	ga_strv_release(&r->tests);
	ga_strv_release(&r->lists);
}

static void rest_line(void *arg, char *line)
{
	struct rest *r = arg;
	size_t n = strlen(line);
	bool more = n && line[n - 1] == '\\';

	ga_buf_add(&r->line, line, n - more);
	ga_buf_addch(&r->line, more ? ' ' : '\n');
	if (more)
		return;
	ga_buf_chomp(&r->line);
	r->conditions += is_condition(r->line.ptr);
	if (!is_file_list(r->line.ptr) && !add_tests(r, r->line.ptr))
		ga_buf_addf(&r->all, "%s\n", r->line.ptr);
	ga_buf_clear(&r->line);
}

/* Are all tests of `a` still in `b`? */
static bool keeps_tests(struct rest *a, struct rest *b)
{
	ga_strv_sort_unique(&b->tests);
	for (size_t i = 0; i < a->tests.n; i++)
		if (ga_strv_find(&b->tests, a->tests.v[i]) < 0)
			return false;
	return true;
}

void ga_known_automake(const struct ga_known *f)
{
	cleanup_(rest_release) struct rest a = { .all = GA_BUF_INIT, .line = GA_BUF_INIT },
					   b = { .all = GA_BUF_INIT, .line = GA_BUF_INIT };

	if (!f->old->len)
		return;
	ga_known_lines(f->old, rest_line, &a);
	ga_known_lines(f->text, rest_line, &b);
	/* a last line that is continued is left in `line` */
	if (!a.line.len && !b.line.len && !strcmp(a.all.ptr, b.all.ptr) && keeps_tests(&a, &b))
		ga_lower_rules(f->k, "autotools make", false, "only lists of files change");
}

void ga_known_cmake(const struct ga_known *f)
{
	static const char *const commands[] = {
		"execute_process", "file(DOWNLOAD", "FetchContent_", "ExternalProject_Add",
		"add_custom_command", "add_custom_target", "try_run", "CMAKE_TOOLCHAIN_FILE",
		"_COMPILER_LAUNCHER",
	};

	show_added_words(f, "cmake", GA_LOW, "adds ", commands, GA_NELEMS(commands));
}

void ga_known_script(const struct ga_known *f)
{
	if (f->k->c->new.mode == GA_MODE_EXEC || !strncmp(f->text->ptr, "#!", 2))
		ga_add_detail(f->k, "obfuscated-blob", GA_HIGH, ga_strdup("in a script"));
}
