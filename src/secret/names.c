/* SPDX-License-Identifier: MIT
 *
 * Judge files by name: compiled patterns of the rules, and names of examples, fixtures and copies.
 */
#include <stdlib.h>
#include <string.h>

#include "ga/base/path.h"
#include "ga/names/names.h"
#include "ga/secret/secret.h"
#include "secret-internal.h"

#define SECRET(id, tier, check, patterns, reason) \
	{ id, GA_TIER_##tier, GA_CHECK_##check, patterns, reason },

static const struct ga_secret_rule rules[] = {
#include "rules.def"
};

#undef SECRET

_Static_assert(GA_NELEMS(rules) < GA_SECRET_RULES_MAX, "a name has room for all rules");

const struct ga_secret_rule *ga_secret_rules(size_t *ret_n)
{
	*ret_n = GA_NELEMS(rules);
	return rules;
}

unsigned ga_tier_number(enum ga_tier t)
{
	return t == GA_TIER_NONE ? 0 : 4 - (unsigned)t;
}

enum { CONFIGURED, ALLOWED, EXAMPLE, FIXTURE, MORE };

static const char example_patterns[] =
	".env.{example,sample,template,dist,defaults,schema}, .env.*.{example,sample,template}, "
	"*.example, *.sample, *.template, *.tmpl, *.tpl, *.dist, *.example.*, *.sample.*, "
	"*.template.*, example.*, sample.*, *.erb, *.j2, *.md, *.rst, *.adoc, *-example.*, "
	"*-sample.*, *_example.*, *_sample.*, .env-{example,sample,template}";
static const char fixture_patterns[] =
	"test/**, tests/**, testdata/**, fixtures/**, __fixtures__/**, __tests__/**, examples/**, "
	"example/**, docs/**, doc/**, spec/**, debug.keystore";

struct ga_secret_names {
	struct ga_matcher *matcher;
	/* their addresses stand for the rules and for what is more in hits */
	char marks[GA_NELEMS(rules) + MORE];
	char *add, *allow;
	struct ga_buf folded, stem;
	struct ga_hits hits;
};

/* Patterns of a setting in the form of a rule's; a directory covers what is in it. */
static char *join(const struct ga_strv *patterns)
{
	struct ga_buf b = GA_BUF_INIT;

	for (size_t i = 0; patterns && i < patterns->n; i++) {
		const char *p = patterns->v[i];

		ga_buf_addf(&b, "%s%s%s", b.len ? ", " : "", p,
			    p[strlen(p) - 1] == '/' ? "**" : "");
	}
	return b.len ? ga_buf_steal(&b) : NULL;
}

struct ga_secret_names *ga_secret_names_new(const struct ga_strv *add, const struct ga_strv *allow)
{
	struct ga_secret_names *n = ga_calloc(1, sizeof(*n));
	const char *more = n->marks + GA_NELEMS(rules);

	n->folded = n->stem = (struct ga_buf)GA_BUF_INIT;
	n->hits = (struct ga_hits)GA_HITS_INIT;
	n->add = join(add);
	n->allow = join(allow);
	n->matcher = ga_matcher_new();
	for (size_t i = 0; i < GA_NELEMS(rules); i++)
		ga_matcher_add(n->matcher, rules[i].patterns, &n->marks[i]);
	ga_matcher_add(n->matcher, n->add, &more[CONFIGURED]);
	ga_matcher_add(n->matcher, n->allow, &more[ALLOWED]);
	ga_matcher_add(n->matcher, example_patterns, &more[EXAMPLE]);
	ga_matcher_add(n->matcher, fixture_patterns, &more[FIXTURE]);
	return n;
}

void ga_secret_names_free(struct ga_secret_names *n)
{
	if (!n)
		return;
	ga_matcher_free(n->matcher);
	ga_hits_release(&n->hits);
	ga_buf_release(&n->folded);
	ga_buf_release(&n->stem);
	free(n->add);
	free(n->allow);
	free(n);
}

void ga_cleanup_secret_names(struct ga_secret_names **n)
{
	ga_secret_names_free(*n);
}

static void add_print(uint64_t *h, const char *s)
{
	*h = secret_hash(secret_hash(*h, s ? s : ""), "\xff");
}

uint64_t ga_secret_rules_print(const struct ga_strv *add, const struct ga_strv *allow)
{
	cleanup_free char *a = join(add), *b = join(allow);
	uint64_t h = SECRET_HASH;

	for (size_t i = 0; i < GA_NELEMS(rules); i++) {
		add_print(&h, rules[i].id);
		add_print(&h, rules[i].patterns);
		h += (uint64_t)rules[i].tier * 64 + rules[i].check;
	}
	for (unsigned i = 0; i < SECRET_TOKENS; i++)
		add_print(&h, secret_token_name(i));
	add_print(&h, example_patterns);
	add_print(&h, fixture_patterns);
	add_print(&h, PACKAGE_VERSION " links to directories");
	add_print(&h, a);
	add_print(&h, b);
	return h;
}

static bool needs_content(const struct ga_secret_rule *r)
{
	return r->check != GA_CHECK_NAME;
}

static void add_rule(struct ga_secret_name *ret, const struct ga_secret_rule *r)
{
	for (size_t i = 0; i < ret->n; i++)
		if (ret->rules[i] == r)
			return;
	ret->rules[ret->n++] = r;
	ret->content |= needs_content(r);
}

/* The most specific pattern first; among equals, the rule that comes first in the table. */
static int by_rank(const void *a, const void *b)
{
	const struct ga_hit *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	return (const char *)x->of < (const char *)y->of ? -1 : x->of != y->of;
}

/* Find the rules that cover `folded`. */
static void find(struct ga_secret_names *n, const char *folded, struct ga_secret_name *ret)
{
	const char *more = n->marks + GA_NELEMS(rules);

	ga_matcher_find(n->matcher, folded, false, &n->hits);
	if (n->hits.n > 1)
		qsort(n->hits.v, n->hits.n, sizeof(*n->hits.v), by_rank);
	for (size_t i = 0; i < n->hits.n; i++) {
		const char *r = n->hits.v[i].of;

		if (r < more)
			add_rule(ret, &rules[r - n->marks]);
		else if (r == &more[CONFIGURED])
			add_rule(ret, &rules[0]);
		else if (r == &more[EXAMPLE])
			ret->example = true;
		else if (r == &more[FIXTURE])
			ret->fixture = true;
		else
			ret->allowed = true;
	}
}

/* If it is a name that editors or people give a copy of a file, the length of the original's name;
 * 0: it is not. */
static size_t stem_of(const char *name, size_t n)
{
	static const char ends[] = "bak old orig save swp swo swn copy backup tmp 1 2";
	const char *dot = strrchr(name, '.');

	if (n > 4 && !strcmp(name + n - 4, ".~1~"))
		return n - 4;
	if (n > 1 && name[n - 1] == '~')
		return n - 1;
	if (dot > name && ga_has_word(ends, dot + 1))
		return (size_t)(dot - name);
	/* in the history of an editor: name_20240131235959 */
	if (n > 15 && name[n - 15] == '_' && strspn(name + n - 14, "0123456789") == 14)
		return n - 15;
	return 0;
}

/* Is it in a directory where editors keep earlier versions? */
static bool is_history(const char *folded)
{
	static const char *const dirs[] = { ".history/", ".idea/shelf/", ".vscode-history/" };

	return GA_FINDS_ANY(strstr, folded, dirs);
}

/* The path that `folded` is a copy of, judging by its name; NULL: it is no copy. */
static const char *original(struct ga_secret_names *n, const char *folded)
{
	const char *base = ga_path_base(folded);
	size_t dir = (size_t)(base - folded), len = strlen(base), stem = stem_of(base, len);
	const char *name = base;
	bool history = is_history(folded);

	if (!strncmp(base, ".#", 2))
		name = base + 2;
	else if (stem && base[0] == '.' && len > 4 && !strncmp(base + len - 4, ".sw", 3))
		name = base + 1; /* vim: .NAME.swp */
	if (name != base && !stem)
		stem = len;
	if (!stem && !history)
		return NULL;
	ga_buf_clear(&n->stem);
	ga_buf_add(&n->stem, folded, dir);
	ga_buf_add(&n->stem, name, (stem ? stem : len) - (size_t)(name - base));
	return n->stem.ptr;
}

bool ga_secret_named(struct ga_secret_names *n, const char *path, struct ga_secret_name *ret)
{
	ga_buf_clear(&n->folded);
	ga_name_fold(&n->folded, path);
	return ga_secret_named_folded(n, n->folded.ptr, ret);
}

bool ga_secret_named_link(struct ga_secret_names *n, const char *path)
{
	const char *more = n->marks + GA_NELEMS(rules);
	struct ga_secret_name name;

	if (ga_secret_named(n, path, &name))
		return true;
	ga_matcher_find(n->matcher, n->folded.ptr, true, &n->hits);
	for (size_t i = 0; i < n->hits.n; i++)
		if ((const char *)n->hits.v[i].of <= &more[CONFIGURED])
			return true;
	return false;
}

bool ga_secret_named_folded(struct ga_secret_names *n, const char *folded,
			    struct ga_secret_name *ret)
{
	const char *of;

	*ret = (struct ga_secret_name){ .n = 0 };
	find(n, folded, ret);
	of = original(n, folded);
	if (of) {
		struct ga_secret_name as = { .n = 0 };

		find(n, of, &as);
		for (size_t i = 0; i < as.n; i++)
			add_rule(ret, as.rules[i]);
		ret->example |= as.example;
		ret->allowed |= as.allowed;
		ret->copy = as.n > 0;
	}
	if (ret->allowed)
		ret->n = 0;
	return ret->n > 0;
}

bool ga_secret_any(struct ga_secret_names *n, const char *path, struct ga_secret_name *ret)
{
	(void)ga_secret_named(n, path, ret);
	if (ret->allowed)
		return false;
	/* what this rule finds does not make the content matter to others */
	ret->rules[ret->n++] = &rules[GA_NELEMS(rules) - 1];
	ret->text = true;
	return true;
}

/* ---- a verdict ---- */

/* Marks of content that make a file a secret whatever its name: surely, and at all. */
#define LIVE (GA_MARK_KEY | GA_MARK_TOKEN | GA_MARK_SERVICE_ACCOUNT | GA_MARK_AUTHORIZED_USER)
#define HIT (LIVE | GA_MARK_KEY_LOCKED | GA_MARK_LOGIN | GA_MARK_SECRET)

/* For the lower tiers only the rule's own reason is given. */
static const char *found_in(const struct ga_secret *s)
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
static uint32_t mask_bits(enum ga_secret_check check, const char *path, uint32_t bits)
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
	bits = mask_bits(r->check, path, bits);
	for (size_t i = 0; i < GA_NELEMS(tiers); i++)
		if (tiers[i].check == r->check && (!tiers[i].bits || bits & tiers[i].bits))
			return tiers[i].tier == OWN ? r->tier : (enum ga_tier)tiers[i].tier;
	return (r->check == GA_CHECK_SSH && ga_ends_in(path, ".pub")) ||
			       (r->check == GA_CHECK_GPG && !ga_ends_in(path, ".asc"))
		       ? GA_TIER_NOTE : GA_TIER_NONE;
}

/* Does the name promise a text file? */
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

static void lower_tier(struct ga_secret *s, const struct ga_secret_name *name, bool live)
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
	lower_tier(ret, name, live);
}

char *ga_secret_reason(const struct ga_secret *s)
{
	const char *what = found_in(s);

	return ga_strf("%s%s%s%s%s", s->rule ? s->rule->reason : "", what ? ": " : "",
		       what ? what : "", s->copy ? ", in a copy" : "",
		       s->example ? ", in what is called an example" : "");
}
