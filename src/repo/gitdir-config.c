/* SPDX-License-Identifier: MIT
 *
 * The configuration of a private git dir: made from an allowlist, since the configuration of the
 * host has credentials, commands and paths that are not for the agent.
 */
#include "gitdir-internal.h"

#include <stdio.h>
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
	"lfs.fetchexclude", "lfs.fetchinclude", "merge.conflictstyle", "merge.ff", "pull.ff",
	"pull.rebase", "push.default", "rebase.autosquash", "user.email", "user.name",
};

/* Settings copied from the user's own configuration file for repositories that agents make. */
static const char *const at_home[] = {
	"author.email", "author.name", "committer.email", "committer.name", "diff.algorithm",
	"diff.renames", "init.defaultbranch", "merge.conflictstyle", "merge.ff", "pull.ff",
	"pull.rebase", "push.default", "rebase.autosquash", "user.email", "user.name",
};

static const char *const remote_keys[] = { "fetch", "tagopt", "promisor", "partialclonefilter" };
static const char *const branch_keys[] = { "remote", "merge", "rebase", "pushremote" };
static const char *const filter_keys[] = { "clean", "smudge", "process", "required" };

static bool in(const char *s, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(s, list[i]))
			return true;
	return false;
}
#define IN(s, list) in((s), (list), GA_NELEMS(list))

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

/* Append one setting with a section header of its own: longer than by hand, but never wrong. */
static void add_setting(struct ga_buf *out, const char *key, const char *value)
{
	const char *first = strchr(key, '.'), *last = strrchr(key, '.');
	cleanup_free char *section = NULL, *sub = NULL;

	if (!first)
		GA_BUG(key);
	section = ga_strndup(key, (size_t)(first - key));
	ga_buf_addf(out, "[%s", section);
	if (last > first) {
		sub = ga_strndup(first + 1, (size_t)(last - first - 1));
		ga_buf_adds(out, " \"");
		add_escaped(out, sub, false);
		ga_buf_addch(out, '"');
	}
	ga_buf_addf(out, "]\n\t%s", last + 1);
	if (value) {
		ga_buf_adds(out, " = \"");
		add_escaped(out, value, true);
		ga_buf_addch(out, '"');
	}
	ga_buf_addch(out, '\n');
}

/* The URL without what gives access: for HTTP and FTP no user, password, query or fragment, for
 * others no password ("git@" is part of an ssh URL). NULL: it must not be shown. */
char *ga_gitdir_public_url(const char *url)
{
	const char *host = strstr(url, "://"), *end, *at = NULL, *colon = NULL, *p;
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	bool http = !strncasecmp(url, "http", 4) || !strncasecmp(url, "ftp", 3);

	p = strstr(url, "::"); /* a remote helper: what follows may be a command */
	if (p && (!host || p < host) && !memchr(url, '/', (size_t)(p - url)))
		return NULL;
	if (!host)
		return ga_strdup(url); /* a path, or user@host:path */
	host += 3;
	end = host + strcspn(host, "/?#");
	for (p = host; p < end; p++)
		if (*p == '@')
			at = p;
	for (p = host; at && p < at; p++)
		if (*p == ':' && !colon)
			colon = p;
	ga_buf_add(&b, url, (size_t)(host - url));
	if (at && !http)
		ga_buf_add(&b, host, (size_t)((colon ? colon : at) + 1 - host));
	if (at && !http && colon)
		b.ptr[b.len - 1] = '@';
	p = at ? at + 1 : host;
	ga_buf_add(&b, p, http ? strcspn(p, "?#") : strlen(p));
	return ga_buf_steal(&b);
}

static void add_url(struct ga_buf *out, const char *key, const char *url)
{
	cleanup_free char *shown = ga_gitdir_public_url(url);

	if (shown)
		add_setting(out, key, shown);
}

/* Is it the command of a filter that runs inside: LFS's, whose program does nothing else, or one
 * that the user named? */
static bool is_filter_inside(const char *key, const char *last, const struct ga_strv *filters)
{
	cleanup_free char *name = ga_gitconfig_filter(key);

	return name && IN(last, filter_keys) &&
	       (!strcmp(name, "lfs") || (filters && ga_strv_has(filters, name)));
}

static void add_item(struct ga_buf *out, const struct ga_gitconfig_item *it,
		     const struct ga_strv *filters)
{
	const char *value = it->has_value ? it->value : NULL, *last = strrchr(it->key, '.');

	if (!last)
		return;
	last++;
	if (IN(it->key, copied))
		add_setting(out, it->key, value);
	else if (!strncmp(it->key, "remote.", 7) && IN(last, remote_keys))
		add_setting(out, it->key, value);
	else if (!strncmp(it->key, "remote.", 7) && value &&
		 (!strcmp(last, "url") || !strcmp(last, "pushurl")))
		add_url(out, it->key, value);
	else if (!strncmp(it->key, "branch.", 7) && last > it->key + 7 && IN(last, branch_keys))
		add_setting(out, it->key, value);
	else if (!strncmp(it->key, "submodule.", 10) && !strcmp(last, "active"))
		add_setting(out, it->key, value);
	else if (!strncmp(it->key, "submodule.", 10) && value && !strcmp(last, "url"))
		add_url(out, it->key, value);
	else if (is_filter_inside(it->key, last, filters))
		add_setting(out, it->key, value);
	else if (!strcmp(it->key, "lfs.url") && value)
		add_url(out, it->key, value);
}

/* Write down an identity that is not in the configuration (but in the environment, or the system's
 * user database): without it the agent could not commit. */
static void add_identity(const struct ga_repo *r, const struct ga_gitconfig *c, struct ga_buf *out)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_free char *who = NULL, *name = NULL, *mail = NULL;
	const char *open, *close;

	if (ga_gitconfig_get(c, "user.name") && ga_gitconfig_get(c, "user.email"))
		return;
	if (ga_repo_identity(r, c, &who, &ignored))
		return; /* there is none: git inside will say so, as it does outside */
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
