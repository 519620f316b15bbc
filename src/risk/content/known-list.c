/* SPDX-License-Identifier: MIT
 *
 * What the looks at known files share: lists of names, and lines.
 */
#include <string.h>

#include "risk/content.h"

enum { LIST_SHOWN = 5 };

char *ga_known_list(const struct ga_strv *names)
{
	struct ga_buf b = GA_BUF_INIT;

	for (size_t i = 0; i < names->n && i < LIST_SHOWN; i++) {
		if (i)
			ga_buf_adds(&b, ", ");
		ga_risk_quote_start(&b, names->v[i]);
	}
	if (names->n > LIST_SHOWN)
		ga_buf_addf(&b, " and %zu more", names->n - LIST_SHOWN);
	return ga_buf_steal(&b);
}

void ga_known_say(struct ga_look *k, const char *rule, enum ga_severity s, const char *intro,
		  const struct ga_strv *names)
{
	cleanup_free char *list = ga_known_list(names);

	if (names->n)
		ga_look_say(k, rule, s, ga_strf("%s%s", intro, list));
}

bool ga_known_in(const char *name, const char *list)
{
	size_t n;

	for (const char *p = list; *p; p += n + (p[n] == ' ')) {
		n = strcspn(p, " ");
		if (p[n - 1] == '*' && !strncmp(name, p, n - 1))
			return true;
	}
	return ga_has_word(list, name);
}

void ga_known_lines(const struct ga_buf *text, void (*line)(void *arg, char *line), void *arg)
{
	const char *s;

	for (size_t pos = 0, n; (s = ga_buf_next_line(text, &pos, &n));) {
		cleanup_free char *copy = ga_strndup(s, n);

		line(arg, copy);
	}
}
