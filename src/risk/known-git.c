/* SPDX-License-Identifier: MIT
 *
 * Git's own files: attributes, submodules, configuration.
 */
#include <string.h>

#include "ga/ignore.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "ga/secret.h"
#include "known.h"

enum { IGNORE_LINES = 512 };

/* ---- .gitattributes ----------------------------------------------------------- */

static void check_attribute(struct ga_look *k, const char *word)
{
	static const char *const kinds[] = { "filter", "diff", "merge" };
	static const char hiding[] = "-diff binary linguist-generated linguist-generated=true "
				     "linguist-vendored linguist-vendored=true -text "
				     "export-ignore ident";
	static const char encoding[] = "working-tree-encoding=";
	const char *eq = strchr(word, '=');

	if (ga_has_word(hiding, word))
		ga_look_fire(k, "gitattributes-hide", ga_quote(word));
	if (!strncmp(word, encoding, strlen(encoding)))
		ga_look_fire_as(k, "gitattributes-hide", GA_CRITICAL, ga_quote(word));
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
		/* the first word is the pattern; the rest of a quoted one with blanks is taken for
		 * attributes, which does no harm */
		while ((word = strtok_r(NULL, " \t\r", &words)))
			check_attribute(f->k, word);
	}
}

/* ---- .gitmodules ---------------------------------------------------------------- */

static bool module_value_bad(const char *key, const char *value)
{
	if (strpbrk(value, "\r\n\033"))
		return true;
	if (!strcmp(key, "update"))
		return value[0] == '!';
	if (!strcmp(key, "path"))
		return value[0] == '-' || value[0] == '/' || strstr(value, "..") ||
		       ga_path_names_dotgit(value);
	if (!strcmp(key, "url"))
		return value[0] == '-' || strstr(value, "ext::") || strstr(value, "file:") ||
		       strstr(value, "fd::") || value[0] == '/' || strstr(value, "://-") ||
		       (strstr(value, "..") && strncmp(value, "../", 3) != 0);
	return false;
}

static void check_module(void *arg, const struct ga_known_variable *v)
{
	struct ga_look *k = arg;
	cleanup_free char *name = NULL, *shown = NULL;

	if (!v->name && (strstr(v->sub, "..") || strchr(v->sub, '\r')))
		ga_look_fire(k, "gitmodules-update-cmd", ga_quote(v->sub));
	if (!v->name || !v->value || !module_value_bad(v->name, v->value))
		return;
	name = ga_quote(v->name);
	shown = ga_quote(v->value);
	ga_look_fire(k, "gitmodules-update-cmd", ga_strf("%s = %s", name, shown));
}

void ga_known_modules(const struct ga_known *f)
{
	if (strlen(f->text->ptr) != f->text->len)
		ga_look_fire(f->k, "gitmodules-update-cmd", ga_strdup("holds a NUL"));
	else if (!ga_known_config(f->text, check_module, f->k))
		ga_look_fire(f->k, "gitmodules-update-cmd", ga_strdup("too long to be read"));
}

/* ---- .gitignore --------------------------------------------------------------------- */

/* Does the name say that it likely holds a secret, whatever is in it? */
static bool names_secret(const struct ga_look *k, const char *path)
{
	struct ga_secret_name name;

	if (!ga_secret_named(ga_matcher_secrets(k->matcher), path, &name) || name.example ||
	    name.fixture)
		return false;
	for (size_t i = 0; i < name.n; i++)
		if (name.rules[i]->tier >= GA_TIER_WARN &&
		    name.rules[i]->check != GA_CHECK_PASSWORD)
			return true;
	return false;
}

static bool is_ignored(const struct ga_ignore *ig, const char *path)
{
	for (const char *slash = path; (slash = strchr(slash, '/')); slash++) {
		cleanup_free char *dir = ga_strndup(path, (size_t)(slash - path));

		if (ga_ignore_check(ig, dir, true) == GA_IGNORE_YES)
			return true;
	}
	return ga_ignore_check(ig, path, false) == GA_IGNORE_YES;
}

struct ignored {
	const struct ga_look *k;
	struct ga_ignore was, is;
	size_t looked;
	struct ga_strv shown; /* lines about secrets, of which one is no longer ignored */
};

/* Look at a file that the pattern covers, and at one in a directory that it may be about. */
static void ignore_line(void *arg, char *line)
{
	cleanup_buf struct ga_buf path = GA_BUF_INIT;
	struct ignored *x = arg;

	for (const char *p = *line == '#' ? "" : line; *p; p++)
		if (!strchr("!*\\\r", *p) &&
		    (*p != '/' || (path.len && path.ptr[path.len - 1] != '/')))
			ga_buf_addch(&path, *p);
	for (int i = 0; path.len && i < 2; i++) {
		if (path.ptr[path.len - 1] == '/')
			ga_buf_addch(&path, 'x');
		if (names_secret(x->k, path.ptr) && x->looked++ < IGNORE_LINES &&
		    is_ignored(&x->was, path.ptr) && !is_ignored(&x->is, path.ptr)) {
			ga_strv_push(&x->shown, line);
			return;
		}
		ga_buf_addch(&path, '/');
	}
}

void ga_known_ignore(const struct ga_known *f)
{
	struct ignored x = { .k = f->k, .shown = GA_STRV_INIT };

	if (!ga_ends_in(f->k->base, "ignore"))
		return;
	ga_ignore_push(&x.was, "", f->old->ptr, f->old->len);
	ga_ignore_push(&x.is, "", f->text->ptr, f->text->len);
	ga_known_lines(f->old, ignore_line, &x);
	ga_known_lines(f->added, ignore_line, &x);
	for (size_t i = 0; i < f->k->n; i++) {
		const char *rule = f->k->v[i].rank ? f->k->v[i].rule->id : "";

		ga_known_say(f->k, rule, GA_HIGH, "no longer ignores ", &x.shown);
		if (x.looked > IGNORE_LINES)
			ga_look_say(f->k, rule, GA_HIGH, ga_strdup("too many secrets in it"));
	}
	ga_ignore_release(&x.was);
	ga_ignore_release(&x.is);
	ga_strv_release(&x.shown);
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

/* The variables that can run something, each with all its values: it depends on the variable which
 * of several counts, and whether one overrides those before it. */
struct config {
	struct ga_strv names;
	struct ga_buf *values; /* parallel */
	size_t n, cap;
	struct ga_strmap index; /* name -> place */
};

static void config_release(struct config *c)
{
	for (size_t i = 0; i < c->n; i++)
		ga_buf_release(&c->values[i]);
	free(c->values);
	ga_strmap_release(&c->index);
	ga_strv_release(&c->names);
}

static void add_variable(void *arg, const struct ga_known_variable *v)
{
	struct config *c = arg;
	cleanup_free char *name = NULL;
	int32_t node;
	size_t i = c->n;

	if (!v->name || !runs_something(v->section, v->name))
		return;
	name = ga_strf("%s%s%s.%s", v->section, *v->sub ? "." : "", v->sub, v->name);
	node = ga_strmap_first(&c->index, name, strlen(name));
	if (node >= 0) {
		i = c->index.nodes[node].value;
		ga_buf_addch(&c->values[i], '\n');
	} else {
		GA_GROW(c->values, c->n, c->cap);
		c->values[c->n++] = (struct ga_buf)GA_BUF_INIT;
		ga_strv_push(&c->names, name);
		ga_strmap_add(&c->index, c->names.v[i], strlen(name), (uint32_t)i);
	}
	/* escaped, so that one value cannot look like two */
	for (const char *p = v->value ? v->value : ""; *p; p++) {
		if (*p == '\n' || *p == '\\')
			ga_buf_addch(&c->values[i], '\\');
		ga_buf_addch(&c->values[i], *p);
	}
}

/* Does it have these values for the variable? */
static bool config_has(const struct config *c, const char *name, const char *values)
{
	int32_t node = ga_strmap_first(&c->index, name, strlen(name));

	return node >= 0 && !strcmp(c->values[c->index.nodes[node].value].ptr, values);
}

void ga_known_gitconfig(const struct ga_known *f)
{
	cleanup_(config_release) struct config a = { .n = 0 }, b = { .n = 0 };
	cleanup_strv struct ga_strv new = GA_STRV_INIT;

	/* if the old one is not read to its end, the rest counts as new */
	(void)ga_known_config(f->old, add_variable, &a);
	if (!ga_known_config(f->text, add_variable, &b)) {
		ga_look_say(f->k, "gitconfig-file", GA_CRITICAL, ga_strdup("too long to be read"));
		return;
	}
	for (size_t i = 0; i < b.n; i++)
		if (!config_has(&a, b.names.v[i], b.values[i].ptr))
			ga_strv_pushf(&new, "%s = %s", b.names.v[i], b.values[i].ptr);
	ga_strv_sort_unique(&new);
	ga_known_say(f->k, "gitconfig-file", GA_CRITICAL, "git would run or read: ", &new);
}
