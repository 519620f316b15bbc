/* SPDX-License-Identifier: MIT
 *
 * Packages as all formats say them: a name, a plain version, and where it comes from.
 */
#include "deps.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void ga_deps_release(struct ga_deps *d)
{
	for (size_t i = 0; i < d->n; i++) {
		free(d->v[i].name);
		free(d->v[i].version);
		free(d->v[i].origin);
		ga_strv_release(&d->v[i].proofs);
	}
	free(d->v);
	ga_strv_release(&d->edges);
	ga_strv_release(&d->rest);
	*d = (struct ga_deps)GA_DEPS_INIT;
}

struct ga_dep *ga_deps_add(struct ga_deps *d, const char *name)
{
	GA_GROW(d->v, d->n, d->cap);
	d->v[d->n] = (struct ga_dep){ .name = ga_strdup(name), .version = ga_strdup(""),
				      .origin = ga_strdup("") };
	return &d->v[d->n++];
}

/* The end of a plain version at `p`; NULL: there is none. */
static const char *past_version(const char *p)
{
	static const char more[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789.+-_*!";
	const char *end;
	size_t n = strspn(p, "0123456789");

	if (*p == 'v' && isdigit((unsigned char)p[1]))
		return past_version(p + 1);
	end = p + strspn(p, more);
	/* a commit has letters among its digits, and is long */
	if (!n || n > 9 || (isalpha((unsigned char)p[n]) && !strchr("abcdprx", p[n])) ||
	    (strspn(p, "0123456789abcdef") >= 7 && strspn(p, "0123456789abcdef") > n))
		return NULL;
	return isalnum((unsigned char)end[-1]) || end[-1] == '*' ? end : NULL;
}

bool ga_dep_is_plain(const char *version)
{
	const char *p = version + strspn(version, "^~<>=! ");

	while (p && *p) {
		p = past_version(p);
		if (!p)
			return false;
		if (!strncmp(p, " - ", 3))
			p += 2;
		p += strspn(p, "^~<>=!|, ");
	}
	return *version != '\0';
}

void ga_dep_set(struct ga_dep *p, const char *version, const char *origin)
{
	struct ga_buf b = GA_BUF_INIT;
	bool plain = ga_dep_is_plain(version);
	size_t n = strlen(version);

	free(p->version);
	free(p->origin);
	p->version = ga_strdup(plain ? version : "");
	for (const char *s = origin, *at; plain && *s; s = at + n) {
		at = strstr(s, version);
		ga_buf_add(&b, s, at ? (size_t)(at - s) : strlen(s));
		if (!at)
			break;
		ga_buf_adds(&b, "{}");
	}
	if (!plain)
		ga_buf_addf(&b, "%s%s%s", origin, *origin && *version ? " " : "", version);
	p->origin = ga_buf_steal(&b);
}

bool ga_deps_add_python(struct ga_deps *d, const char *text)
{
	static const char chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789._-";
	size_t n = strspn(text, chars), extras;
	const char *p = text + n + strspn(text + n, " ");
	cleanup_free char *name = ga_strndup(text, n), *version = NULL, *origin = NULL;

	for (char *c = name; *c; c++)
		*c = *c == '_' || *c == '.' ? '-' : (char)tolower((unsigned char)*c);
	extras = *p == '[' ? strcspn(p, "]") + 1 : 0;
	if (!n || extras > strlen(p))
		return false;
	n = strcspn(p + extras, ";@");
	version = ga_strndup(p + extras, n);
	while (*version && strchr(" )", version[strlen(version) - 1]))
		version[strlen(version) - 1] = '\0';
	origin = ga_strf("%.*s%s", (int)extras, p, p + extras + n);
	ga_dep_set(ga_deps_add(d, name), version + strspn(version, " ("), origin);
	return true;
}
