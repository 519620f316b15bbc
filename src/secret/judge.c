/* SPDX-License-Identifier: MIT
 *
 * Judging whether a file is a secret, by its name and its content together.
 */

#include "secret-internal.h"

/* Marks of content that make a file a secret whatever its name: surely, and at all. */
#define LIVE (GA_MARK_KEY | GA_MARK_TOKEN | GA_MARK_SERVICE_ACCOUNT | GA_MARK_AUTHORIZED_USER)
#define HIT (LIVE | GA_MARK_KEY_LOCKED | GA_MARK_LOGIN | GA_MARK_SECRET)

/* For the lower tiers only the rule's own reason is given. */
static const char *found(const struct ga_secret *s)
{
	static const struct {
		uint32_t bits;
		const char *what;
	} rows[] = {
		{ GA_MARK_SERVICE_ACCOUNT, "the key of a service account" },
		{ GA_MARK_KEY | GA_MARK_PGP_SECRET, "a private key" },
		{ GA_MARK_TOKEN, NULL },
		{ GA_MARK_KEY_LOCKED, "a private key with a passphrase" },
		{ GA_MARK_AUTHORIZED_USER, "a login" },
		{ GA_MARK_LOGIN, "a URL or header with a password" },
		{ GA_MARK_SECRET | GA_MARK_RANDOM, "a password or token" },
		{ GA_MARK_OPAQUE, "what looks like a token" },
	};

	for (size_t i = 0; s->tier > GA_TIER_NOTE && i < GA_NELEMS(rows); i++)
		if (s->bits & rows[i].bits)
			return rows[i].what ? rows[i].what : secret_token_name(s->token);
	return NULL;
}

static bool is_picture(const char *path)
{
	return secret_has_ending(path, "svg png jpg jpeg gif ico webp woff woff2 ttf wasm");
}

/* Source files in the wider sense: also scripts of shells, whose values are plain text, and
 * pictures. */
static bool is_source(const char *path)
{
	return ga_secret_is_code(path) || is_picture(path) ||
	       secret_has_ending(path, "sh bash zsh fish snap");
}

/* What content makes of a file for a rule that looks at it: the first row of its check that has any
 * of the bits, or 0. */
#define OWN (GA_TIER_BLOCK + 1) /* the rule's tier */
#define KEYS(check)                                                                         \
	{ check, GA_MARK_KEY | GA_MARK_TOKEN | GA_MARK_JWK, GA_TIER_BLOCK },                \
	{ check, GA_MARK_KEY_LOCKED, GA_TIER_WARN }
static const struct {
	enum ga_secret_check check;
	uint32_t bits;
	unsigned tier;
} tiers[] = {
	{ GA_CHECK_HIT, HIT | GA_MARK_JWT, OWN },
	{ GA_CHECK_HIT_NOTE, HIT | GA_MARK_JWT, OWN },
	{ GA_CHECK_HIT_NOTE, 0, GA_TIER_NOTE },
	{ GA_CHECK_PASSWORD, LIVE, GA_TIER_BLOCK },
	{ GA_CHECK_PASSWORD, HIT, GA_TIER_WARN },
	{ GA_CHECK_DOTENV, HIT | GA_MARK_JWT, GA_TIER_BLOCK },
	{ GA_CHECK_DOTENV, GA_MARK_VALUE, GA_TIER_WARN },
	{ GA_CHECK_DOTENV, 0, GA_TIER_NOTE },
	KEYS(GA_CHECK_SSH),
	KEYS(GA_CHECK_PEM),
	{ GA_CHECK_PEM, GA_MARK_OPAQUE, GA_TIER_WARN },
	{ GA_CHECK_KEYFILE, GA_MARK_KEY | GA_MARK_SECRET, OWN },
	{ GA_CHECK_KEYFILE, GA_MARK_KEY_LOCKED, GA_TIER_WARN },
	{ GA_CHECK_GPG, GA_MARK_PGP_SECRET | LIVE, GA_TIER_BLOCK },
	{ GA_CHECK_GCP, GA_MARK_SERVICE_ACCOUNT | GA_MARK_AUTHORIZED_USER | GA_MARK_KEY,
	  GA_TIER_BLOCK },
	{ GA_CHECK_GCP, HIT, GA_TIER_WARN },
	{ GA_CHECK_K8S, GA_MARK_SEALED, GA_TIER_NONE },
	{ GA_CHECK_K8S, GA_MARK_KUBE_SECRET, GA_TIER_WARN },
	/* "client-key-data" has a key in base64, "token" a token */
	{ GA_CHECK_K8S, HIT | GA_MARK_RANDOM, GA_TIER_BLOCK },
	{ GA_CHECK_VAULT, LIVE, GA_TIER_BLOCK },
	{ GA_CHECK_VAULT, GA_MARK_SEALED, GA_TIER_NOTE },
	{ GA_CHECK_VAULT, HIT, OWN },
	{ GA_CHECK_RAILS, LIVE | GA_MARK_OPAQUE, GA_TIER_BLOCK },
	{ GA_CHECK_RAILS, HIT, GA_TIER_WARN },
	{ GA_CHECK_WALLET, GA_MARK_KEYSTORE, GA_TIER_WARN },
	{ GA_CHECK_WALLET, 0, OWN },
	{ GA_CHECK_GENERIC, LIVE, GA_TIER_BLOCK },
	{ GA_CHECK_GENERIC, GA_MARK_SEALED, GA_TIER_NOTE },
	{ GA_CHECK_GENERIC, GA_MARK_RANDOM | GA_MARK_LOGIN | GA_MARK_OPAQUE | GA_MARK_KEY_LOCKED |
	  GA_MARK_SECRET, GA_TIER_WARN },
	{ GA_CHECK_TEXT, GA_MARK_AUTHORIZED_USER, GA_TIER_BLOCK },
	KEYS(GA_CHECK_TEXT),
};

/* The bits that count for a file of this name. */
static uint32_t counted(enum ga_secret_check check, const char *path, uint32_t bits)
{
	/* a name that says little: in source files, where anything can have such a name, only what
	 * looks random or is a login counts, besides what is surely a key or token */
	if (check == GA_CHECK_GENERIC && is_source(path))
		return bits & (LIVE | GA_MARK_RANDOM | GA_MARK_LOGIN);
	/* only ".key" may be a key that has no format, such as 32 bytes for a cipher */
	if (check == GA_CHECK_PEM && !ga_ends_in(path, ".key"))
		return bits & ~(uint32_t)GA_MARK_OPAQUE;
	if (check == GA_CHECK_SSH && ga_ends_in(path, ".pub"))
		return bits & LIVE ? GA_MARK_KEY : 0;
	/* a name that says nothing: that a file is a login or a web key is told by words, which
	 * code that deals with these has too */
	if (check == GA_CHECK_TEXT && bits & GA_MARK_BINARY)
		return 0;
	if (check == GA_CHECK_TEXT && !ga_ends_in(path, ".json"))
		return bits & ~(uint32_t)(GA_MARK_AUTHORIZED_USER | GA_MARK_JWK);
	return bits;
}

static enum ga_tier tier_of(const struct ga_secret_rule *r, const char *path, uint32_t bits)
{
	bits = counted(r->check, path, bits);
	for (size_t i = 0; i < GA_NELEMS(tiers); i++)
		if (tiers[i].check == r->check && (!tiers[i].bits || bits & tiers[i].bits))
			return tiers[i].tier == OWN ? r->tier : (enum ga_tier)tiers[i].tier;
	return (r->check == GA_CHECK_SSH && ga_ends_in(path, ".pub")) ||
			       (r->check == GA_CHECK_GPG && !ga_ends_in(path, ".asc"))
		       ? GA_TIER_NOTE : GA_TIER_NONE;
}

/* Is a file text if it is what its name says? */
static bool is_text(enum ga_secret_check check)
{
	static const uint32_t texts = 1u << GA_CHECK_HIT | 1u << GA_CHECK_HIT_NOTE |
				      1u << GA_CHECK_PASSWORD | 1u << GA_CHECK_DOTENV |
				      1u << GA_CHECK_GCP | 1u << GA_CHECK_K8S |
				      1u << GA_CHECK_VAULT | 1u << GA_CHECK_RAILS;

	return texts >> check & 1;
}

/* The tier that one rule gives the file. Content that was not seen (`marks` NULL) may be a key. */
static enum ga_tier judge_one(const struct ga_secret_rule *r, const char *path,
			      const struct ga_secret_marks *marks)
{
	uint32_t bits = marks ? marks->bits : 0;
	enum ga_tier t;

	if (r->check == GA_CHECK_NAME)
		return r->tier;
	if (!marks && r->check == GA_CHECK_TEXT)
		return GA_TIER_NONE;
	if (!marks || ((bits & GA_MARK_BINARY) && is_text(r->check) && !is_picture(path)))
		return GA_TIER_BLOCK;
	/* "id.json", of Solana, is too common a name for a wallet by its name alone */
	if (r->check == GA_CHECK_WALLET && ga_ends_in(path, "id.json") &&
	    !(bits & (HIT | GA_MARK_KEYSTORE)))
		return GA_TIER_NONE;
	t = tier_of(r, path, bits);
	/* neither the name nor the binary content says much */
	if (r->check == GA_CHECK_GENERIC && (bits & GA_MARK_BINARY) && !is_source(path) && !t)
		t = GA_TIER_NOTE;
	return t;
}

static void lower(struct ga_secret *s, const struct ga_secret_name *name, bool live)
{
	/* an example may hold anything but a key that works */
	if (name->example && !live)
		s->tier = GA_TIER_NONE;
	s->example = name->example && s->tier != GA_TIER_NONE;
	if (s->example)
		s->tier = GA_TIER_BLOCK;
	if (name->fixture && s->tier != GA_TIER_NONE)
		s->tier--;
}

void ga_secret_judge(const struct ga_secret_name *name, const char *path,
		     const struct ga_secret_marks *marks, struct ga_secret *ret)
{
	uint32_t bits = marks ? marks->bits : 0;
	/* keys and tokens are secrets in any file, and content that was not seen may be one */
	bool live = marks ? bits & (GA_MARK_KEY | GA_MARK_TOKEN) &&
				    (name->content || !(bits & GA_MARK_BINARY)) : name->content;
	const struct ga_secret_rule *note = NULL;

	*ret = (struct ga_secret){ .bits = bits, .token = marks ? marks->token : 0,
				   .copy = name->copy };
	for (size_t i = 0; i < name->n; i++) {
		const struct ga_secret_rule *r = name->rules[i];
		enum ga_tier t = judge_one(r, path, marks);

		/* the user has configured it: nothing else counts */
		if (!r->patterns && r->check == GA_CHECK_NAME) {
			ret->tier = r->tier;
			ret->rule = r;
			return;
		}
		if (r->check == GA_CHECK_NAME && r->tier == GA_TIER_NOTE && !note)
			note = r;
		if (!ret->rule || t > ret->tier) {
			ret->tier = t;
			ret->rule = r;
		}
	}
	/* a rule that knows the file to be encrypted, or public, overrides one that only knows a
	 * likely name */
	if (note && !live) {
		ret->tier = GA_TIER_NOTE;
		ret->rule = note;
	}
	if (live && ret->rule)
		ret->tier = GA_TIER_BLOCK;
	lower(ret, name, live);
}

char *ga_secret_reason(const struct ga_secret *s)
{
	const char *what = found(s);

	return ga_strf("%s%s%s%s%s", s->rule ? s->rule->reason : "", what ? ": " : "",
		       what ? what : "", s->copy ? ", in a copy" : "",
		       s->example ? ", in what is called an example" : "");
}
