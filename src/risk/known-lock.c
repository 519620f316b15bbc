/* SPDX-License-Identifier: MIT
 *
 * Lock files: where packages come from, and the checksums that prove that they are the same.
 */
#include <string.h>

#include "known.h"

/* What the lines of a lock file say, in whatever format. */
struct lock {
	struct ga_strv hosts;    /* of https URLs */
	size_t sources, proofs;  /* lines with such a URL, and with a checksum */
	bool plain, local, git, script; /* anything by http, from a file, from git, that runs one */
};

static void lock_release(struct lock *l)
{
	ga_strv_release(&l->hosts);
}

static void lock_line(void *arg, char *line)
{
	static const char *const proofs[] = { "integrity", "checksum", "sha512-", "sha256", "hash",
					      "narHash", "h1:" };
	static const char *const local[] = { "\"file:", " file:", "'file:", "\"link:", "path = \"",
					     "path+file:" };
	static const char *const scripts[] = { "\"hasInstallScript\": true",
					       "requiresBuild: true" };
	static const char *const git[] = { "git+", "git://", "ssh://", "git@" };
	struct lock *l = arg;
	const char *https = strstr(line, "https://");

	l->sources += https != NULL;
	l->proofs += GA_FINDS_ANY(strstr, line, proofs);
	l->plain |= strstr(line, "http://") != NULL;
	l->local |= GA_FINDS_ANY(strstr, line, local);
	l->git |= GA_FINDS_ANY(strstr, line, git);
	l->script |= GA_FINDS_ANY(strstr, line, scripts);
	for (; https; https = strstr(https, "https://")) {
		size_t n;

		https += 8;
		n = strcspn(https, "/:?#\"' \t,)");
		if (!l->hosts.n || strlen(l->hosts.v[l->hosts.n - 1]) != n ||
		    strncmp(l->hosts.v[l->hosts.n - 1], https, n) != 0)
			ga_strv_push_n(&l->hosts, https, n);
	}
}

static void read_lock(const struct ga_buf *text, struct lock *ret)
{
	ga_known_lines(text, lock_line, ret);
	ga_strv_sort_unique(&ret->hosts);
}

void ga_known_lock(const struct ga_known *f)
{
	cleanup_(lock_release) struct lock was = { .plain = false }, is = { .plain = false },
					   added = { .plain = false };
	cleanup_strv struct ga_strv hosts = GA_STRV_INIT;
	const char *what = NULL;

	if (!strstr(f->k->base, "lock") && strcmp(f->k->base, "npm-shrinkwrap.json") != 0)
		return; /* the rules cover manifests too */
	read_lock(f->old, &was);
	read_lock(f->text, &is);
	read_lock(f->added, &added);
	for (size_t i = 0; f->old->len && i < added.hosts.n; i++)
		if (ga_strv_find(&was.hosts, added.hosts.v[i]) < 0)
			ga_strv_push(&hosts, added.hosts.v[i]);
	if (hosts.n && was.hosts.n) {
		cleanup_free char *list = ga_known_list(&hosts);

		ga_look_fire(f->k, "lockfile-swap", ga_strf("packages from elsewhere: %s", list));
		return;
	}
	if (added.plain)
		what = "a package over plain http";
	else if (added.git && !was.git)
		what = "a package from a git repository";
	else if (added.local && !was.local)
		what = "a package from a local file";
	else if (was.proofs && was.proofs >= was.sources && is.proofs < is.sources)
		what = "packages without a checksum";
	else if (added.script && f->old->len)
		what = "a package that runs a script when it is installed";
	if (what)
		ga_look_fire(f->k, "lockfile-swap", ga_strdup(what));
}
