/* SPDX-License-Identifier: MIT
 *
 * Secrets that a commit would publish, found by the scanner that also looks for them before a
 * session starts (ga/secret/secret.h). No value is kept or shown.
 */
#include <string.h>

#include "ga/secret/secret.h"
#include "risk/internal.h"

/* Marks of what is surely a secret, wherever it is, and of what often is one. */
enum {
	SURE = GA_MARK_KEY | GA_MARK_TOKEN | GA_MARK_JWK | GA_MARK_PGP_SECRET,
	LIKELY = GA_MARK_KEY_LOCKED | GA_MARK_LOGIN,
};

static void check_content(struct ga_look *k, const struct ga_buf *old,
			  const struct ga_secret_marks *is)
{
	const struct ga_secret found = { .tier = GA_TIER_BLOCK, /* the reason says what it is */
					 .bits = is->bits & (SURE | LIKELY),
					 .token = is->token };
	cleanup_free char *reason = NULL;
	struct ga_secret_marks was;

	if (!found.bits)
		return;
	ga_secret_look(k->c->path, old->ptr, old->len, &was);
	/* nothing new if the old version has it too */
	if ((was.bits & found.bits) == found.bits && ga_secret_within(is, &was))
		return;
	reason = ga_secret_reason(&found);
	ga_look_fire_as(k, "secret-content", found.bits & SURE ? GA_HIGH : GA_MEDIUM,
			ga_strdup(reason + strspn(reason, ": ")));
}

static void check_name(struct ga_look *k, const struct ga_secret_marks *marks)
{
	struct ga_secret_name name;
	struct ga_secret found;

	if (!ga_secret_named_folded(ga_look_secrets(k), k->folded, &name))
		return;
	ga_secret_judge(&name, k->c->path, marks, &found);
	if (found.tier >= GA_TIER_WARN)
		ga_look_fire_as(k, "secret-file", found.tier == GA_TIER_BLOCK ? GA_HIGH : GA_MEDIUM,
				ga_secret_reason(&found));
}

void ga_look_leaks(struct ga_look *k, const struct ga_buf *old, const struct ga_buf *text)
{
	struct ga_secret_marks marks;

	ga_secret_look(k->c->path, text->ptr, text->len, &marks);
	check_content(k, old, &marks);
	check_name(k, &marks);
}
