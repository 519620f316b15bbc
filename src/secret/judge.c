/* SPDX-License-Identifier: MIT
 *
 * Judging whether a file is a secret, by its name and its content together.
 */

#include "internal.h"

/* Marks of content that make a file a secret whatever its name: surely, and at all. */
#define LIVE (GA_MARK_KEY | GA_MARK_TOKEN | GA_MARK_SERVICE_ACCOUNT | GA_MARK_AUTHORIZED_USER)
#define HIT (LIVE | GA_MARK_KEY_LOCKED | GA_MARK_LOGIN | GA_MARK_SECRET)

static const char *found(const struct ga_secret *s)
{
	uint32_t bits = s->bits;

	/* for the lower tiers only the rule's own reason is given */
	if (s->tier <= GA_TIER_NOTE)
		return NULL;
	if (bits & GA_MARK_SERVICE_ACCOUNT)
		return "the key of a service account";
	if (bits & (GA_MARK_KEY | GA_MARK_PGP_SECRET))
		return "a private key";
	if (bits & GA_MARK_TOKEN)
		return secret_token_name(s->token);
	if (bits & GA_MARK_KEY_LOCKED)
		return "a private key with a passphrase";
	if (bits & GA_MARK_AUTHORIZED_USER)
		return "a login";
	if (bits & GA_MARK_LOGIN)
		return "a URL or header with a password";
	if (bits & (GA_MARK_SECRET | GA_MARK_RANDOM))
		return "a password or token";
	return bits & GA_MARK_OPAQUE ? "what looks like a token" : NULL;
}

static enum ga_tier key_tier(uint32_t bits)
{
	if (bits & (GA_MARK_KEY | GA_MARK_TOKEN | GA_MARK_JWK))
		return GA_TIER_BLOCK;
	return bits & GA_MARK_KEY_LOCKED ? GA_TIER_WARN : GA_TIER_NONE;
}

static enum ga_tier dotenv_tier(uint32_t bits)
{
	if (bits & (HIT | GA_MARK_JWT))
		return GA_TIER_BLOCK;
	return bits & GA_MARK_VALUE ? GA_TIER_WARN : GA_TIER_NOTE;
}

static enum ga_tier pem_tier(const char *path, uint32_t bits)
{
	enum ga_tier t = key_tier(bits);

	/* a key that has no format, such as 32 bytes for a cipher */
	if (t == GA_TIER_NONE && (bits & GA_MARK_OPAQUE) && ga_ends_in(path, ".key"))
		t = GA_TIER_WARN;
	return t;
}

static enum ga_tier k8s_tier(uint32_t bits)
{
	if (bits & GA_MARK_SEALED)
		return GA_TIER_NONE;
	if (bits & GA_MARK_KUBE_SECRET)
		return GA_TIER_WARN;
	/* "client-key-data" has a key in base64, "token" a token */
	return bits & (HIT | GA_MARK_RANDOM) ? GA_TIER_BLOCK : GA_TIER_NONE;
}

static enum ga_tier gcp_tier(uint32_t bits)
{
	if (bits & (GA_MARK_SERVICE_ACCOUNT | GA_MARK_AUTHORIZED_USER | GA_MARK_KEY))
		return GA_TIER_BLOCK;
	return bits & HIT ? GA_TIER_WARN : GA_TIER_NONE;
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

/* For a name that says little. In source files, where anything can have such a name, only what
 * looks random or is a login counts, besides what is surely a key or token. */
static enum ga_tier generic_tier(const char *path, uint32_t bits)
{
	uint32_t enough = GA_MARK_RANDOM | GA_MARK_LOGIN | GA_MARK_OPAQUE | GA_MARK_KEY_LOCKED;

	if (bits & LIVE)
		return GA_TIER_BLOCK;
	if (is_source(path))
		return bits & (GA_MARK_RANDOM | GA_MARK_LOGIN) ? GA_TIER_WARN : GA_TIER_NONE;
	if (bits & GA_MARK_SEALED)
		return GA_TIER_NOTE;
	return bits & (enough | GA_MARK_SECRET) ? GA_TIER_WARN : GA_TIER_NONE;
}

/* For a name that says nothing. That a file is a login or a web key is told by words, which code
 * that deals with these has too. */
static enum ga_tier text_tier(const char *path, uint32_t bits)
{
	if (bits & GA_MARK_BINARY)
		return GA_TIER_NONE;
	if (!ga_ends_in(path, ".json"))
		bits &= ~(uint32_t)(GA_MARK_AUTHORIZED_USER | GA_MARK_JWK);
	return bits & GA_MARK_AUTHORIZED_USER ? GA_TIER_BLOCK : key_tier(bits);
}

static enum ga_tier tier_of(const struct ga_secret_rule *r, const char *path, uint32_t bits)
{
	switch (r->check) {
	case GA_CHECK_NAME:
		return r->tier;
	case GA_CHECK_HIT:
		return bits & (HIT | GA_MARK_JWT) ? r->tier : GA_TIER_NONE;
	case GA_CHECK_HIT_NOTE:
		return bits & (HIT | GA_MARK_JWT) ? r->tier : GA_TIER_NOTE;
	case GA_CHECK_PASSWORD:
		return bits & LIVE ? GA_TIER_BLOCK : bits & HIT ? GA_TIER_WARN : GA_TIER_NONE;
	case GA_CHECK_DOTENV:
		return dotenv_tier(bits);
	case GA_CHECK_SSH:
		if (ga_ends_in(path, ".pub"))
			return bits & LIVE ? GA_TIER_BLOCK : GA_TIER_NOTE;
		return key_tier(bits);
	case GA_CHECK_PEM:
		return pem_tier(path, bits);
	case GA_CHECK_KEYFILE:
		return bits & (GA_MARK_KEY | GA_MARK_SECRET) ? r->tier :
		       bits & GA_MARK_KEY_LOCKED ? GA_TIER_WARN : GA_TIER_NONE;
	case GA_CHECK_GPG:
		if (bits & GA_MARK_PGP_SECRET)
			return GA_TIER_BLOCK;
		return bits & LIVE ? GA_TIER_BLOCK :
		       ga_ends_in(path, ".asc") ? GA_TIER_NONE : GA_TIER_NOTE;
	case GA_CHECK_GCP:
		return gcp_tier(bits);
	case GA_CHECK_K8S:
		return k8s_tier(bits);
	case GA_CHECK_VAULT:
		if (bits & GA_MARK_SEALED)
			return bits & LIVE ? GA_TIER_BLOCK : GA_TIER_NOTE;
		return bits & HIT ? r->tier : GA_TIER_NONE;
	case GA_CHECK_RAILS:
		if (bits & (LIVE | GA_MARK_OPAQUE))
			return GA_TIER_BLOCK;
		return bits & HIT ? GA_TIER_WARN : GA_TIER_NONE;
	case GA_CHECK_WALLET:
		return bits & GA_MARK_KEYSTORE ? GA_TIER_WARN : r->tier;
	case GA_CHECK_GENERIC:
		return generic_tier(path, bits);
	case GA_CHECK_TEXT:
		return text_tier(path, bits);
	}
	return r->tier;
}

/* Is the file a wallet by its name alone? "id.json", of Solana, is too common a name for that. */
static bool is_wallet(const char *path)
{
	return !ga_ends_in(path, "id.json");
}

/* Is a file text if it is what its name says? */
static bool is_text(enum ga_secret_check check)
{
	switch (check) {
	case GA_CHECK_HIT:
	case GA_CHECK_HIT_NOTE:
	case GA_CHECK_PASSWORD:
	case GA_CHECK_DOTENV:
	case GA_CHECK_GCP:
	case GA_CHECK_K8S:
	case GA_CHECK_VAULT:
	case GA_CHECK_RAILS:
		return true;
	case GA_CHECK_NAME:
	case GA_CHECK_SSH:
	case GA_CHECK_PEM:
	case GA_CHECK_KEYFILE:
	case GA_CHECK_GPG:
	case GA_CHECK_WALLET:
	case GA_CHECK_GENERIC:
	case GA_CHECK_TEXT:
		return false;
	}
	return false;
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
	if (r->check == GA_CHECK_WALLET && !is_wallet(path) && !(bits & (HIT | GA_MARK_KEYSTORE)))
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

	*ret = (struct ga_secret){ .tier = GA_TIER_NONE };
	for (size_t i = 0; i < name->n; i++) {
		const struct ga_secret_rule *r = name->rules[i];
		enum ga_tier t = judge_one(r, path, marks);

		/* the user has configured it: nothing else counts */
		if (!r->patterns && r->check == GA_CHECK_NAME) {
			*ret = (struct ga_secret){ .tier = r->tier, .rule = r, .bits = bits,
						   .token = marks ? marks->token : 0,
						   .copy = name->copy };
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
	ret->copy = name->copy;
	ret->bits = bits;
	ret->token = marks ? marks->token : 0;
}

char *ga_secret_reason(const struct ga_secret *s)
{
	const char *what = found(s);

	return ga_strf("%s%s%s%s%s", s->rule ? s->rule->reason : "", what ? ": " : "",
		       what ? what : "", s->copy ? ", in a copy" : "",
		       s->example ? ", in what is called an example" : "");
}
