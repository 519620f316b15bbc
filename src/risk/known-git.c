/* SPDX-License-Identifier: MIT
 *
 * Git's own files: attributes, submodules, configuration.
 */
#include <string.h>
#include <strings.h>

#include "ga/path.h"
#include "ga/quote.h"
#include "known.h"

/* ---- .gitattributes ----------------------------------------------------------- */

static void check_attribute(struct ga_look *k, const char *word)
{
	static const char *const kinds[] = { "filter", "diff", "merge" };
	static const char *const hiding[] = { "-diff", "binary", "linguist-generated",
					      "linguist-generated=true", "linguist-vendored",
					      "linguist-vendored=true", "-text", "export-ignore" };
	const char *eq = strchr(word, '=');

	for (size_t i = 0; i < GA_NELEMS(hiding); i++)
		if (!strcmp(word, hiding[i]))
			ga_look_fire(k, "gitattributes-hide", ga_quote(word));
	for (size_t i = 0; k->host && eq && i < GA_NELEMS(kinds); i++) {
		cleanup_free char *driver = ga_strf("%s:%s", kinds[i], eq + 1);

		if ((size_t)(eq - word) == strlen(kinds[i]) &&
		    !strncmp(word, kinds[i], strlen(kinds[i])) && strcmp(eq + 1, "lfs") != 0 &&
		    ga_strv_has(&k->host->drivers, driver))
			ga_look_fire(k, "gitattributes-driver-hit", ga_quote(word));
	}
}

void ga_known_attributes(const struct ga_known *f)
{
	cleanup_free char *text = ga_strdup(f->added->ptr);
	char *lines = NULL, *words = NULL;

	for (char *line = strtok_r(text, "\n", &lines); line; line = strtok_r(NULL, "\n", &lines)) {
		char *word = strtok_r(line, " \t\r", &words);

		if (!word || word[0] == '#')
			continue;
		/* The first word is a pattern, unless a quoted one had blanks: harmless, the rest
		 * of it is looked at as attributes then. */
		while ((word = strtok_r(NULL, " \t\r", &words)))
			check_attribute(f->k, word);
	}
}

/* ---- .gitmodules ---------------------------------------------------------------- */

static bool module_value_bad(const char *key, const char *value)
{
	if (strchr(value, '\r') || strchr(value, '\033'))
		return true;
	if (!strcasecmp(key, "update"))
		return value[0] == '!' || !strcasecmp(value, "!command");
	if (!strcasecmp(key, "path"))
		return value[0] == '-' || value[0] == '/' || strstr(value, "..") ||
		       ga_path_names_dotgit(value);
	if (!strcasecmp(key, "url"))
		return value[0] == '-' || strstr(value, "ext::") || strstr(value, "file:") ||
		       strstr(value, "fd::") || value[0] == '/' || strstr(value, "://-") ||
		       (strstr(value, "..") && strncmp(value, "../", 3) != 0);
	return false;
}

void ga_known_modules(const struct ga_known *f)
{
	cleanup_free char *copy = ga_strdup(f->text->ptr);
	char *lines = NULL;

	if (strlen(f->text->ptr) != f->text->len) {
		ga_look_fire(f->k, "gitmodules-update-cmd", ga_strdup("holds a NUL"));
		return;
	}
	for (char *line = strtok_r(copy, "\n", &lines); line; line = strtok_r(NULL, "\n", &lines)) {
		char *eq = strchr(line, '='), *key = line + strspn(line, " \t");
		char *value;

		if (line[0] == '[' && (strstr(line, "..") || strchr(line, '\r'))) {
			ga_look_fire(f->k, "gitmodules-update-cmd", ga_quote(line));
			continue;
		}
		if (!eq)
			continue;
		*eq = '\0';
		key[strcspn(key, " \t")] = '\0';
		value = eq + 1 + strspn(eq + 1, " \t\"");
		if (*value && value[strlen(value) - 1] == '"')
			value[strlen(value) - 1] = '\0';
		if (module_value_bad(key, value)) {
			cleanup_free char *shown = ga_quote(value);
			cleanup_free char *name = ga_quote(key);

			ga_look_fire(f->k, "gitmodules-update-cmd",
				     ga_strf("%s = %s", name, shown));
		}
	}
}

/* ---- .gitignore --------------------------------------------------------------------- */

void ga_known_ignore(const struct ga_known *f)
{
	cleanup_strv struct ga_strv shown = GA_STRV_INIT;
	cleanup_free char *text = ga_strdup(f->added->ptr), *list = NULL;
	char *save = NULL;

	for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		if (l[0] == '!')
			ga_strv_push(&shown, l + 1);
	if (!shown.n)
		return;
	list = ga_known_list(&shown);
	ga_look_say(f->k, "gitignore", GA_LOW, ga_strf("no longer ignores %s", list));
}

/* ---- configuration -------------------------------------------------------------------- */

/* Can git run something, or read other configuration, because of this variable? */
static bool runs_something(const char *section, const char *name)
{
	static const struct {
		const char *section, *names; /* NULL: all of them */
	} table[] = {
		{ "core", "fsmonitor hookspath sshcommand editor pager askpass gitproxy "
			  "alternaterefscommand worktree attributesfile excludesfile" },
		{ "alias", NULL }, { "pager", NULL }, { "diff", "external command textconv" },
		{ "difftool", "cmd path" }, { "mergetool", "cmd path" }, { "merge", "driver" },
		{ "filter", "clean smudge process" }, { "credential", "helper" },
		{ "gpg", "program defaultkeycommand" }, { "hook", "command" },
		{ "interactive", "difffilter" }, { "sequence", "editor" },
		{ "trailer", "command cmd" }, { "browser", "cmd path" }, { "man", "cmd path" },
		{ "web", "browser" }, { "guitool", "cmd" }, { "instaweb", NULL },
		{ "imap", "tunnel" },
		{ "sendemail", "smtpserver tocmd cccmd headercmd sendmailcmd" },
		{ "uploadpack", "packobjectshook" }, { "receive", "procreceiverefs" },
		{ "remote", "uploadpack receivepack vcs proxy" },
		{ "url", "insteadof pushinsteadof" },
		{ "protocol", "allow" }, { "submodule", "update" }, { "gc", "recentobjectshook" },
		{ "lfs", "path clean smudge process" }, { "include", "path" },
		{ "includeif", "path" }, { "tar", "command" }, { "maintenance", NULL },
	};

	for (size_t i = 0; i < GA_NELEMS(table); i++)
		if (!strcmp(section, table[i].section))
			return !table[i].names || ga_has_word(table[i].names, name);
	return false;
}

/* The name at `p` in lower case, and what is behind it. */
static char *config_name(const char *p, const char **ret_rest)
{
	size_t n = 0;
	char *name;

	while ((p[n] >= 'a' && p[n] <= 'z') || (p[n] >= 'A' && p[n] <= 'Z') ||
	       (p[n] >= '0' && p[n] <= '9') || p[n] == '-')
		n++;
	name = ga_strndup(p, n);
	for (char *c = name; *c; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c + 32);
	*ret_rest = p + n;
	return name;
}

struct config {
	char *section;
	struct ga_strv running; /* "section.name = value" of variables that run something */
};

static void config_release(struct config *c)
{
	free(c->section);
	ga_strv_release(&c->running);
}

static bool config_line(void *arg, char *line)
{
	struct config *c = arg;
	const char *p = line + strspn(line, " \t"), *rest;
	cleanup_free char *name = NULL;

	if (*p == '[') {
		free(c->section);
		c->section = config_name(p + 1 + strspn(p + 1, " \t"), &rest);
		/* a variable may stand behind it */
		p = strchr(rest, ']');
		p = p ? p + 1 + strspn(p + 1, " \t") : "";
	}
	if (!c->section || !*p || *p == '#' || *p == ';')
		return true;
	name = config_name(p, &rest);
	if (runs_something(c->section, name))
		ga_strv_pushf(&c->running, "%s.%s%s", c->section, name, rest);
	return true;
}

void ga_known_gitconfig(const struct ga_known *f)
{
	cleanup_(config_release) struct config a = { .section = NULL }, b = { .section = NULL };
	cleanup_strv struct ga_strv new = GA_STRV_INIT;
	cleanup_free char *list = NULL;

	ga_known_lines(f->old, config_line, &a);
	ga_known_lines(f->text, config_line, &b);
	ga_strv_sort_unique(&a.running);
	ga_strv_sort_unique(&b.running);
	for (size_t i = 0; i < b.running.n; i++)
		if (ga_strv_find(&a.running, b.running.v[i]) < 0)
			ga_strv_push(&new, b.running.v[i]);
	if (!new.n)
		return;
	list = ga_known_list(&new);
	ga_look_say(f->k, "gitconfig-file", GA_CRITICAL,
		    ga_strf("git would run or read: %s", list));
}
