/* SPDX-License-Identifier: MIT
 *
 * What is typed on its way to a session, and our own keys in it: Ctrl-\ and then d. Terminals send
 * keys as bytes or, if the program asked for it, as sequences with the number of the key (CSI
 * number ; modifiers u, CSI 27 ; modifiers ; number ~). A sequence is recognised only if all of it
 * arrives at once, as it does in practice: the Escape key must not be delayed.
 */
#include <string.h>

#include "run/run-internal.h"

#define CTRL_BACKSLASH '\034'
#define WITH_SHIFT 1u
#define WITH_CTRL 4u
#define WITH_LOCKS (64u | 128u)
#define RELEASE 3

struct key {
	unsigned code, modifiers, event;
	bool known; /* it is a key, not another sequence */
};

/* Parse "12:3;4:5" into numbers, those behind a colon into `sub`; returns how many there are, and
 * where they end. */
static size_t numbers(const char *in, size_t n, unsigned v[3], unsigned sub[3], size_t *ret_at)
{
	size_t at = 0, k = 0;
	unsigned *to = &v[0];

	memset(v, 0, 3 * sizeof(*v));
	memset(sub, 0, 3 * sizeof(*sub));
	for (; at < n && ((in[at] >= '0' && in[at] <= '9') || in[at] == ';' || in[at] == ':');
	     at++) {
		if (in[at] == ';') {
			if (++k == 3)
				break;
			to = &v[k];
		} else if (in[at] == ':') {
			to = &sub[k];
			*to = 0;
		} else if (*to < 100000) {
			*to = *to * 10 + (unsigned)(in[at] - '0');
		}
	}
	*ret_at = at;
	return k + 1;
}

/* Parse what follows CSI. Returns its length, 0 if it is not complete. */
static size_t read_sequence(const char *in, size_t n, struct key *ret)
{
	unsigned v[3], sub[3];
	size_t at, k = numbers(in, n, v, sub, &at), end = at;

	while (end < n && (in[end] < 0x40 || in[end] > 0x7e))
		end++;
	if (end >= n)
		return 0;
	if (end == at && in[at] == 'u')
		*ret = (struct key){ v[0], v[1] ? v[1] - 1 : 0, sub[1], true };
	else if (end == at && in[at] == '~' && k == 3 && v[0] == 27)
		*ret = (struct key){ v[2], v[1] ? v[1] - 1 : 0, 0, true };
	return end + 1;
}

/* Parse the key at `in`; returns its length in bytes. */
static size_t read_key(const char *in, size_t n, struct key *ret)
{
	size_t k;

	*ret = (struct key){ .known = false };
	if (n > 2 && in[0] == '\033' && in[1] == '[') {
		k = read_sequence(in + 2, n - 2, ret);
		if (k)
			return 2 + k;
	}
	if (in[0] == CTRL_BACKSLASH)
		*ret = (struct key){ '\\', WITH_CTRL, 0, true };
	else
		*ret = (struct key){ (unsigned char)in[0], 0, 0, true };
	return 1;
}

static bool is_prefix(const struct key *k)
{
	return k->known && k->code == '\\' &&
	       (k->modifiers & ~(WITH_LOCKS | WITH_SHIFT)) == WITH_CTRL;
}

/* Modifier keys alone do not count as the second key. */
static bool is_modifier(const struct key *k)
{
	return k->known && k->code >= 57441 && k->code <= 57454;
}

static bool is_detach(const struct key *k)
{
	return k->known && k->code == 'd' && !(k->modifiers & ~WITH_LOCKS);
}

bool run_keys(struct run_keys *k, const char *in, size_t n, char *out, size_t *ret_n)
{
	char *to = out;

	for (size_t at = 0, len; at < n; at += len) {
		struct key key;

		len = read_key(in + at, n - at, &key);
		if (k->n && key.known && !is_modifier(&key) && key.event != RELEASE) {
			if (is_detach(&key)) {
				*ret_n = (size_t)(to - out);
				return true;
			}
			memcpy(to, k->held, k->n);
			to += k->n;
			k->n = 0;
			/* typed twice: the program gets one */
			if (is_prefix(&key))
				continue;
		} else if (is_prefix(&key) && key.event != RELEASE && len <= sizeof(k->held)) {
			memcpy(k->held, in + at, len);
			k->n = len;
			continue;
		}
		memcpy(to, in + at, len);
		to += len;
	}
	*ret_n = (size_t)(to - out);
	return false;
}
