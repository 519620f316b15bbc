/* SPDX-License-Identifier: MIT
 *
 * Scan for keys and tokens of known forms, and files of known structure. Every byte is read a
 * bounded number of times, whatever the content.
 */
#include <string.h>

#include "ga/base/alloc.h"
#include "ga/base/buf.h"
#include "ga/base/quote.h"
#include "secret-internal.h"

#define KEY_BYTES_MIN 64 /* with less between BEGIN and END it is documentation */
#define LABEL_MAX 100
#define HEADERS_MAX 8 /* "Proc-Type: ..." and the like */
#define OPAQUE_MAX 4096
#define PREFIXES_MAX 256
#define TOKEN_MIN ((size_t)16) /* bytes of the shortest token with its prefix */
#define EXAMPLE_MAX 512        /* bytes of a token in which words of an example are looked for */

/* ---- private keys ------------------------------------------------------------ */

struct span {
	const char *p, *end;
};

static bool starts(const struct span *s, const char *with)
{
	size_t n = strlen(with);

	return (size_t)(s->end - s->p) >= n && !memcmp(s->p, with, n);
}

/* Skip blanks, and the two characters that mean a newline in JSON or a shell's string. */
static void skip_blank(struct span *s)
{
	while (s->p < s->end) {
		if (strchr(" \t\r\n", *s->p) && *s->p)
			s->p++;
		else if (starts(s, "\\n") || starts(s, "\\r"))
			s->p += 2;
		else
			return;
	}
}

/* Skip "Name: value" lines before the body of a key. True: one says that it has a passphrase. */
static bool skip_headers(struct span *s)
{
	bool locked = false;

	for (int i = 0; i < HEADERS_MAX; i++) {
		size_t room = (size_t)(s->end - s->p), n = 0;
		bool header = false;

		skip_blank(s);
		room = (size_t)(s->end - s->p);
		while (n < room && n < 200 && s->p[n] != '\n' && s->p[n] != '\\')
			header |= s->p[n++] == ':';
		if (!header)
			break;
		locked |= memmem(s->p, n, "ENCRYPTED", 9) != NULL;
		s->p += n;
	}
	return locked;
}

static bool is_base64(char c)
{
	return secret_is_word(c) || c == '+' || c == '/' || c == '=' || c == '-';
}

/* Skip the body of a key, which begins at `*ret_first`; returns its number of characters. */
static size_t body_of(struct span *s, const char **ret_first)
{
	size_t n = 0;

	skip_blank(s);
	*ret_first = s->p;
	while (s->p < s->end && is_base64(*s->p) && !starts(s, "-----")) {
		n++;
		s->p++;
		skip_blank(s);
	}
	return n;
}

/* The first bytes of OpenSSH's own format say whether there is a passphrase. */
static bool openssh_locked(const char *body, const char *end)
{
	static const char form[] = "b3BlbnNzaC1rZXktdjEAAAAA", open[] = "BG5vbmU";
	size_t n = sizeof(form) - 1, k = sizeof(open) - 1;

	return (size_t)(end - body) >= n + k && !memcmp(body, form, n) &&
	       memcmp(body + n, open, k) != 0;
}

/* At "-----BEGIN ". */
static void look_at_pem(struct span s, struct ga_secret_marks *m)
{
	const char *label = s.p + strlen("-----BEGIN "), *first;
	size_t n = 0, room = (size_t)(s.end - label), body;
	bool locked, whole;

	while (n < room && n < LABEL_MAX &&
	       (label[n] == ' ' || (label[n] >= 'A' && label[n] <= 'Z') ||
		(label[n] >= '0' && label[n] <= '9')))
		n++;
	if (memmem(label, n, "PRIVATE KEY", 11) == NULL) {
		if (memmem(label, n, "CERTIFICATE", 11) || memmem(label, n, "PUBLIC KEY", 10))
			m->bits |= GA_MARK_PUBLIC;
		return;
	}
	s.p = label + n;
	if (!starts(&s, "-----"))
		return;
	s.p += 5;
	locked = memmem(label, n, "ENCRYPTED", 9) != NULL;
	locked |= skip_headers(&s);
	body = body_of(&s, &first);
	/* it may be cut off by our own limit, which counts as an end */
	whole = s.p == s.end || starts(&s, "-----END");
	if (body < KEY_BYTES_MIN || !whole)
		return;
	locked |= openssh_locked(first, s.end);
	secret_add_value(m, locked ? GA_MARK_KEY_LOCKED : GA_MARK_KEY, first,
			 (size_t)(s.p - first));
}

static void look_for_keys(const char *p, size_t n, struct ga_secret_marks *m)
{
	struct span s = { p, p + n };
	const char *at;

	while ((at = memmem(s.p, (size_t)(s.end - s.p), "-----BEGIN ", 11))) {
		s.p = at;
		look_at_pem(s, m);
		s.p += 11;
	}
	if (n >= 21 && !memcmp(p, "PuTTY-User-Key-File-", 20)) {
		bool open = memmem(p, n, "Encryption: none", 16) != NULL;

		secret_add_value(m, open ? GA_MARK_KEY : GA_MARK_KEY_LOCKED, p, n);
	}
}

/* Is it a private key in DER: a sequence that begins with a small integer, and continues as these
 * do? Certificates and public keys begin differently. */
static bool is_der_key(const unsigned char *p, size_t n)
{
	size_t head;

	if (n < KEY_BYTES_MIN || p[0] != 0x30)
		return false;
	head = p[1] < 0x80 ? 2 : p[1] == 0x81 ? 3 : p[1] == 0x82 ? 4 : 0;
	if (!head || p[head] != 0x02 || p[head + 1] != 0x01 || p[head + 2] > 1)
		return false;
	return strchr("\x30\x02\x04", p[head + 3]) != NULL && p[head + 3] != 0;
}

/* Is the first packet of binary OpenPGP a secret key (tag 5 or 7)? */
static bool is_pgp_secret(const unsigned char *p, size_t n)
{
	unsigned tag = p[0] & 0x40 ? p[0] & 0x3f : (p[0] >> 2) & 0xf;

	return n > KEY_BYTES_MIN && (p[0] & 0x80) && (tag == 5 || tag == 7);
}

/* ---- tokens ------------------------------------------------------------------- */

enum set { WORD, DASHED, DOTTED, HEX, ALNUM, BASE32, BECH32, BASE64, PLACE };

struct form {
	const char *prefixes; /* with blanks in between */
	enum set set;
	size_t min, max; /* characters after the prefix */
	const char *name;
};

static const struct form forms[] = {
#define TOKEN(prefixes, set, min, max, name) { prefixes, set, min, max, name },
#include "forms.def"
#undef TOKEN
};
_Static_assert(GA_NELEMS(forms) <= SECRET_TOKENS, "a byte says which form it is");

const char *secret_token_name(unsigned token)
{
	return token < GA_NELEMS(forms) ? forms[token].name : "a token";
}

static bool in_set(enum set set, char c)
{
	bool digit = c >= '0' && c <= '9', upper = c >= 'A' && c <= 'Z';

	switch (set) {
	case WORD:
		return secret_is_word(c);
	case DASHED:
		return secret_is_word(c) || c == '-';
	case DOTTED:
		return secret_is_word(c) || c == '-' || c == '.';
	case HEX:
		return digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
	case ALNUM:
		return secret_is_word(c) && c != '_';
	case BASE32:
		return upper || (c >= '2' && c <= '7');
	case BECH32:
		return digit || (c >= 'a' && c <= 'z');
	case BASE64:
		return is_base64(c);
	case PLACE:
		return secret_is_word(c) || (c && strchr("-/@:.", c));
	}
	return false;
}

/* Is it a placeholder of documentation, such as "xxxxxxxx" or "EXAMPLE"? */
static bool is_example(const char *p, size_t n)
{
	static const char *const words[] = { "EXAMPLE",   "example",  "xxxxxx", "XXXXXX", "000000",
					     "123456789", "abcdefgh", "your",   "YOUR" };
	bool seen[256] = { false };
	size_t distinct = 0;

	for (size_t i = 0; i < n && i < 64; i++) {
		distinct += !seen[(unsigned char)p[i]];
		seen[(unsigned char)p[i]] = true;
	}
	if (distinct < (n < 16 ? 5 : 8))
		return true;
	for (size_t i = 0; i < GA_NELEMS(words); i++)
		if (memmem(p, n, words[i], strlen(words[i])))
			return true;
	return false;
}

/* Prefixes of all forms: for each first byte a set of second ones, in which those that differ only
 * in the upper three bits share a place, and all prefixes. */
struct begins {
	uint32_t second[256];
	struct prefix {
		const char *p;
		size_t n, form;
	} v[PREFIXES_MAX];
	size_t n;
};

static void add_begin(struct begins *b, const char *with)
{
	b->second[(unsigned char)with[0]] |= (uint32_t)1 << (with[1] & 31);
}

static void add_forms(struct begins *b)
{
	for (size_t i = 0; i < GA_NELEMS(forms); i++) {
		const char *p = forms[i].prefixes;

		for (size_t n; *p; p += n + (p[n] == ' ')) {
			n = strcspn(p, " ");
			if (b->n == PREFIXES_MAX || n + forms[i].min < TOKEN_MIN)
				GA_BUG("a prefix of tokens that there is no room for");
			b->v[b->n++] = (struct prefix){ p, n, i };
			add_begin(b, p);
		}
	}
}

static bool may_begin(const struct begins *b, const struct span *s)
{
	uint32_t second = b->second[(unsigned char)*s->p];

	return second && s->end - s->p > 1 && second >> (s->p[1] & 31) & 1;
}

/* Returns the length of the token that begins here, 0: none does. */
static size_t token_at(const struct begins *b, const struct span *s, struct ga_secret_marks *m)
{
	size_t room = (size_t)(s->end - s->p);

	for (size_t i = 0; i < b->n; i++) {
		const struct form *f = &forms[b->v[i].form];
		size_t pre = b->v[i].n, n = 0;

		if (*s->p != *b->v[i].p || room < pre || memcmp(s->p, b->v[i].p, pre) != 0)
			continue;
		while (pre + n < room && n <= f->max && in_set(f->set, s->p[pre + n]))
			n++;
		if (n < f->min || (n > f->max && f->set != BASE64) ||
		    is_example(s->p + pre, n < EXAMPLE_MAX ? n : EXAMPLE_MAX))
			continue;
		m->token = m->bits & GA_MARK_TOKEN ? m->token : (unsigned)b->v[i].form;
		secret_add_value(m, GA_MARK_TOKEN, s->p + pre, n);
		return pre + n;
	}
	return 0;
}

/* Three parts of base64url, the first two of which are JSON objects. */
static size_t jwt_at(const struct span *s, struct ga_secret_marks *m)
{
	size_t room = (size_t)(s->end - s->p), n = 0, first = 0, dots = 0;

	while (n < room && n < 4096 && dots < 3 && in_set(DOTTED, s->p[n])) {
		if (s->p[n] == '.' && ++dots == 1)
			first = n + 1;
		n++;
	}
	if (dots != 2 || n < 40 || room - first < 3 || memcmp(s->p + first, "eyJ", 3))
		return 0;
	/* the well-known example of jwt.io is not a secret */
	if (memmem(s->p, n, "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c", 43))
		return n;
	secret_add_value(m, GA_MARK_JWT, s->p, n);
	return n;
}

/* Most files that are short have none, and so no token. */
static bool has_long_word(const char *p, size_t n)
{
	size_t run = 0;

	for (size_t i = 0; i < n && run < TOKEN_MIN; i++)
		run = (unsigned char)p[i] > ' ' ? run + 1 : 0;
	return run == TOKEN_MIN;
}

static void look_for_tokens(const char *p, size_t n, struct ga_secret_marks *m)
{
	struct begins begins;
	struct span s = { p, p + n };
	bool within = false; /* are we within a word? */

	if (!has_long_word(p, n))
		return;
	begins = (struct begins){ .n = 0 };
	add_forms(&begins);
	add_begin(&begins, "eyJ");
	while (s.p < s.end) {
		size_t took = 0;

		if (!within && may_begin(&begins, &s)) {
			took = token_at(&begins, &s, m);
			if (!took && starts(&s, "eyJ"))
				took = jwt_at(&s, m);
		}
		s.p += took ? took : 1;
		within = secret_is_word(s.p[-1]) || s.p[-1] == '-';
	}
}

/* ---- structure ----------------------------------------------------------------- */

static bool has(const char *p, size_t n, const char *word)
{
	/* memmem() takes its time to begin */
	return memchr(p, *word, n) && memmem(p, n, word, strlen(word));
}

static void look_at_json(const char *p, size_t n, struct ga_secret_marks *m)
{
	if ((m->bits & GA_MARK_KEY) && has(p, n, "service_account") && has(p, n, "\"private_key\""))
		m->bits |= GA_MARK_SERVICE_ACCOUNT;
	if (has(p, n, "authorized_user") && has(p, n, "\"refresh_token\""))
		m->bits |= GA_MARK_AUTHORIZED_USER;
	if (has(p, n, "\"kty\"") && (has(p, n, "\"d\":") || has(p, n, "\"k\":")))
		m->bits |= GA_MARK_JWK;
	if (has(p, n, "\"ciphertext\"") && has(p, n, "\"kdf"))
		m->bits |= GA_MARK_KEYSTORE;
}

static void look_at_structure(const char *p, size_t n, struct ga_secret_marks *m)
{
	if (memchr(p, '"', n))
		look_at_json(p, n, m);
	if (has(p, n, "$ANSIBLE_VAULT;") || has(p, n, "ENC[AES256_GCM,") ||
	    has(p, n, "SealedSecret") || has(p, n, "  secure: "))
		m->bits |= GA_MARK_SEALED;
	if (has(p, n, "Secret") && (has(p, n, "data:") || has(p, n, "stringData:")) &&
	    (has(p, n, "kind:") || has(p, n, "\"kind\"")))
		m->bits |= GA_MARK_KUBE_SECRET;
}

/* Is the file nothing but one word that looks random: a password or token? */
static void scan_single_word(const char *p, size_t n, struct ga_secret_marks *m)
{
	while (n && strchr(" \t\r\n", p[n - 1]) && p[n - 1])
		n--;
	while (n && strchr(" \t\r\n", *p) && *p)
		p++, n--;
	if (!n || n > OPAQUE_MAX)
		return;
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)p[i] <= ' ' || (unsigned char)p[i] >= 0x7f)
			return;
	if (secret_random(p, n) && !ga_secret_placeholder(p, n))
		secret_add_value(m, GA_MARK_OPAQUE, p, n);
}

/* Is it what git has stored of a file that a filter decrypts at checkout? */
static bool is_filtered(const char *p, size_t n)
{
	static const char crypt[] = "\0GITCRYPT", salted[] = "U2FsdGVkX1";

	return (n >= sizeof(crypt) && !memcmp(p, crypt, sizeof(crypt))) ||
	       (n >= sizeof(salted) && !memcmp(p, salted, sizeof(salted) - 1));
}

static void look_at_text(const char *path, const char *p, size_t n, bool known,
			 struct ga_secret_marks *m)
{
	look_for_keys(p, n, m);
	look_for_tokens(p, n, m);
	if (known && !memchr(p, 0, n)) {
		if (m->bits & GA_MARK_KEY || ga_ends_in(path, ".json"))
			look_at_json(p, n, m);
		return;
	}
	/* keys and tokens can be text in a binary file; names with values are not looked for there
	 */
	if (memchr(p, 0, n)) {
		m->bits |= GA_MARK_BINARY;
		return;
	}
	secret_scan_lines(p, n, ga_secret_is_code(path), m);
	if (!m->n_prints)
		scan_single_word(p, n, m);
	look_at_structure(p, n, m);
}

/* Convert UTF-16 with a byte order mark to UTF-8, and scan that. Surrogates count as characters,
 * since no form contains any. */
static void scan_utf16(const char *path, const unsigned char *p, size_t n, bool known,
		       struct ga_secret_marks *m)
{
	unsigned high = p[0] == 0xfe ? 0 : 1;
	cleanup_buf struct ga_buf text = GA_BUF_INIT;

	/* two bytes become three at most: with that reserved no copy of it is left in freed memory
	 */
	(void)ga_buf_reserve(&text, n / 2 * 3);
	for (size_t i = 2; i + 1 < n; i += 2)
		ga_utf8_put(&text, (uint32_t)p[i + high] << 8 | p[i + 1 - high]);
	look_at_text(path, text.ptr, text.len, known, m);
	explicit_bzero(text.ptr, text.len);
}

static bool is_wide(const unsigned char *p, size_t n)
{
	return n > 2 && ((p[0] == 0xff && p[1] == 0xfe) || (p[0] == 0xfe && p[1] == 0xff));
}

bool ga_secret_is_binary(const void *p, size_t n)
{
	return n && !is_wide(p, n) && memchr(p, 0, n);
}

static void scan(const char *path, const void *bytes, size_t n, bool known,
		 struct ga_secret_marks *ret)
{
	*ret = (struct ga_secret_marks){ .bits = 0 };
	if (n > GA_SECRET_SCAN_MAX)
		n = GA_SECRET_SCAN_MAX;
	if (!n)
		return;
	if (is_filtered(bytes, n)) {
		ret->bits = GA_MARK_FILTERED;
		return;
	}
	if (is_wide(bytes, n))
		scan_utf16(path, bytes, n, known, ret);
	else
		look_at_text(path, bytes, n, known, ret);
	if (is_der_key(bytes, n))
		secret_add_value(ret, GA_MARK_KEY, bytes, n);
	if (is_pgp_secret(bytes, n))
		secret_add_value(ret, GA_MARK_PGP_SECRET, bytes, n);
}

void ga_secret_scan(const char *path, const void *p, size_t n, struct ga_secret_marks *ret)
{
	scan(path, p, n, false, ret);
}

void ga_secret_scan_forms(const char *path, const void *p, size_t n, struct ga_secret_marks *ret)
{
	scan(path, p, n, true, ret);
}

void ga_secret_blot(char *text)
{
	struct ga_secret_marks m = { .blot = text };
	size_t n = strlen(text), k = 0, stars = 0;

	look_for_keys(text, n, &m);
	look_for_tokens(text, n, &m);
	secret_scan_lines(text, n, true, &m);
	if (!m.bits)
		return;
	for (size_t i = 0; i < n; i++) {
		stars = text[i] == '*' ? stars + 1 : 0;
		if (stars <= 3)
			text[k++] = text[i];
	}
	text[k] = '\0';
}
