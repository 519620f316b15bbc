/* SPDX-License-Identifier: MIT
 *
 * Write the configuration of a private git dir from an allowlist: the host's has credentials,
 * commands and paths that are not for the agent.
 */
#include "gitdir-internal.h"

#include <ctype.h>
#include <string.h>

/* Settings copied unchanged. None of them names a command, a key or a file. */
static const char *const copied[] = {
	"author.email", "author.name", "branch.autosetuprebase", "commit.cleanup",
	"committer.email", "committer.name", "core.abbrev", "core.autocrlf",
	"core.bigfilethreshold", "core.commentchar", "core.eol", "core.filemode",
	"core.ignorecase", "core.precomposeunicode", "core.protecthfs", "core.protectntfs",
	"core.quotepath", "core.safecrlf", "core.sparsecheckout", "core.sparsecheckoutcone",
	"core.symlinks", "core.whitespace", "diff.algorithm", "diff.renames",
	"i18n.commitencoding", "i18n.logoutputencoding", "init.defaultbranch",
	"lfs.fetchexclude", "lfs.fetchinclude", "lfs.url", "merge.conflictstyle", "merge.ff",
	"pull.ff", "pull.rebase", "push.default", "rebase.autosquash", "user.email", "user.name",
};

/* Settings copied from the user's own configuration file for repositories that agents make. */
static const char *const at_home[] = {
	"author.email", "author.name", "committer.email", "committer.name", "diff.algorithm",
	"diff.renames", "init.defaultbranch", "merge.conflictstyle", "merge.ff", "pull.ff",
	"pull.rebase", "push.default", "rebase.autosquash", "user.email", "user.name",
};

static const char *const remote_keys[] = { "fetch", "tagopt", "promisor", "partialclonefilter",
					   "url", "pushurl" };
static const char *const branch_keys[] = { "remote", "merge", "rebase", "pushremote" };
static const char *const submodule_keys[] = { "active", "url" };
static const char *const filter_keys[] = { "clean", "smudge", "process", "required" };

static bool is_listed(const char *s, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(s, list[i]))
			return true;
	return false;
}
#define IN(s, list) is_listed((s), (list), GA_NELEMS(list))

static void add_escaped(struct ga_buf *out, const char *s, bool newlines)
{
	for (; *s; s++) {
		if (*s == '\n' && newlines) {
			ga_buf_adds(out, "\\n");
			continue;
		}
		if (*s == '"' || *s == '\\')
			ga_buf_addch(out, '\\');
		ga_buf_addch(out, *s);
	}
}

/* Where the scheme of the URL begins that has its "://" at `colon`. */
static const char *scheme_of(const char *text, const char *colon)
{
	while (colon > text && (isalnum((unsigned char)colon[-1]) || memchr("+-.", colon[-1], 3)))
		colon--;
	return colon;
}

/* Append the rest of a URL after "://" without credentials: no password and, unless it is ssh's,
 * whose "git@" is part of the address, no user, query or fragment. Returns its end. */
static const char *add_place(struct ga_buf *out, const char *scheme, const char *host)
{
	size_t n = strcspn(host, "/?#");
	bool ssh = !strncasecmp(scheme, "ssh+", 4) ||
		   (host - scheme >= 6 && !strncasecmp(host - 6, "ssh://", 6));
	bool file = !strncasecmp(scheme, "file:", 5);
	const char *at = memrchr(host, '@', n), *colon = at ? memchr(host, ':', n) : NULL;

	if (at && ssh)
		ga_buf_add(out, host, (size_t)((colon && colon < at ? colon : at) - host));
	if (at && ssh)
		ga_buf_addch(out, '@');
	host = at ? at + 1 : host;
	n = ssh || file ? 0 : strcspn(host, "?#\"' \t\n");
	ga_buf_add(out, host, n);
	host += n;
	return *host == '?' || *host == '#' ? host + strcspn(host, "\"' \t\n") : host;
}

char *ga_gitdir_public(const char *text)
{
	struct ga_buf b = GA_BUF_INIT;
	const char *colon;

	while ((colon = strstr(text, "://"))) {
		ga_buf_add(&b, text, (size_t)(colon + 3 - text));
		text = add_place(&b, scheme_of(text, colon), colon + 3);
	}
	ga_buf_adds(&b, text);
	return ga_buf_steal(&b);
}

char *ga_gitdir_public_url(const char *url)
{
	const char *p = strstr(url, "::");

	return p && p == url + strcspn(url, ":/") ? NULL : ga_gitdir_public(url);
}

/* Append one setting with a section header of its own, and no credentials in any part of it. */
static void add_setting(struct ga_buf *out, const char *key, const char *value)
{
	const char *first = strchr(key, '.'), *last = strrchr(key, '.');
	cleanup_free char *section = NULL, *sub = NULL, *name = NULL, *shown = NULL;

	if (!first)
		GA_BUG(key);
	section = ga_strndup(key, (size_t)(first - key));
	ga_buf_addf(out, "[%s", section);
	if (last > first) {
		sub = ga_strndup(first + 1, (size_t)(last - first - 1));
		name = ga_gitdir_public(sub);
		ga_buf_adds(out, " \"");
		add_escaped(out, name, false);
		ga_buf_addch(out, '"');
	}
	ga_buf_addf(out, "]\n\t%s", last + 1);
	if (value) {
		shown = ga_gitdir_public(value);
		ga_buf_adds(out, " = \"");
		add_escaped(out, shown, true);
		ga_buf_addch(out, '"');
	}
	ga_buf_addch(out, '\n');
}

/* Is it the command of a filter that runs inside: LFS's, or one that the user named? */
static bool is_filter_inside(const char *key, const char *last, const struct ga_strv *filters)
{
	cleanup_free char *name = ga_gitconfig_filter(key);

	return name && IN(last, filter_keys) &&
	       (!strcmp(name, "lfs") || (filters && ga_strv_has(filters, name)));
}

/* Is it a setting for a session to see? */
static bool is_shown(const char *key, const char *last, const struct ga_strv *filters)
{
	if (!strncmp(key, "remote.", 7))
		return IN(last, remote_keys);
	if (!strncmp(key, "branch.", 7) && last > key + 7)
		return IN(last, branch_keys);
	if (!strncmp(key, "submodule.", 10))
		return IN(last, submodule_keys);
	return IN(key, copied) || is_filter_inside(key, last, filters);
}

static void add_item(struct ga_buf *out, const struct ga_gitconfig_item *it,
		     const struct ga_strv *filters)
{
	static const char *const addresses[] = { "pushremote", "pushurl", "remote", "url" };
	const char *value = it->has_value ? it->value : NULL, *last = strrchr(it->key, '.');
	cleanup_free char *url = NULL;

	if (!last || !is_shown(it->key, last + 1, filters))
		return;
	if (IN(last + 1, addresses)) {
		url = it->has_value ? ga_gitdir_public_url(it->value) : NULL;
		if (!url)
			return;
		value = url;
	}
	add_setting(out, it->key, value);
}

/* Add an identity that comes from the environment or the system's user database: without it the
 * agent could not commit. */
static void add_identity(const struct ga_repo *r, const struct ga_gitconfig *c, struct ga_buf *out)
{
	cleanup_free char *who = NULL, *name = NULL, *mail = NULL;
	const char *open, *close;

	if (ga_gitconfig_get(c, "user.name") && ga_gitconfig_get(c, "user.email"))
		return;
	if (ga_repo_identity(r, c, &who, GA_IGNORED))
		return; /* there is none: git inside reports that, as outside */
	open = strrchr(who, '<');
	close = strrchr(who, '>');
	if (!open || !close || open > close || open == who)
		return;
	name = ga_strndup(who, (size_t)(open - 1 - who));
	mail = ga_strndup(open + 1, (size_t)(close - open - 1));
	add_setting(out, "user.name", name);
	add_setting(out, "user.email", mail);
}

void ga_gitdir_config(const struct ga_repo *r, const struct ga_gitconfig *c, bool attributes,
		      const struct ga_strv *filters, struct ga_buf *out)
{
	const char *promisor = ga_gitconfig_get(c, "extensions.partialclone");

	ga_buf_addf(out, "[core]\n\trepositoryformatversion = %d\n\tbare = false\n"
			 "\tlogallrefupdates = true\n", promisor ? 1 : 0);
	/* the overlay changes inode, ctime and device of files whose content stays the same */
	ga_buf_adds(out, "\tcheckStat = minimal\n\ttrustctime = false\n");
	for (size_t i = 0; i < c->n; i++)
		add_item(out, &c->v[i], filters);
	add_identity(r, c, out);
	if (promisor)
		add_setting(out, "extensions.partialclone", promisor);
	if (attributes) {
		cleanup_free char *path = ga_strf("%s/.git/" GA_GITDIR_ATTRIBUTES, r->info.workdir);

		add_setting(out, "core.attributesfile", path);
	}
}

void ga_gitdir_home_config(const struct ga_gitconfig *c, struct ga_buf *out)
{
	for (size_t i = 0; i < c->n; i++)
		if (!strcmp(c->v[i].scope, "global") && IN(c->v[i].key, at_home))
			add_setting(out, c->v[i].key, c->v[i].has_value ? c->v[i].value : NULL);
}
