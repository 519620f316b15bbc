/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "run/control-internal.h"

#define CHUNK ((size_t)4 << 10)

size_t run_ring_get(const struct run_ring *r, uint64_t at, char *to, size_t n)
{
	size_t from = (size_t)(at % GA_CONTROL_KEPT), left = GA_CONTROL_KEPT - from;

	if (n > r->end - at)
		n = (size_t)(r->end - at);
	memcpy(to, r->buf + from, n < left ? n : left);
	if (n > left)
		memcpy(to + left, r->buf, n - left);
	return n;
}

/* Discard the first `n` bytes to make room. */
static void discard_front(struct run_ring *r, size_t n)
{
	char gone[CHUNK], out[GA_TERMFILTER_ROOM(CHUNK)];

	while (n) {
		size_t k = run_ring_get(r, r->start, gone, n < CHUNK ? n : CHUNK);

		(void)ga_termfilter(&r->before, gone, k, out);
		r->start += k;
		n -= k;
	}
}

static void add(struct run_ring *r, const char *p, size_t n)
{
	size_t at = (size_t)(r->end % GA_CONTROL_KEPT), left = GA_CONTROL_KEPT - at;
	uint64_t used = r->end - r->start;

	if (used + n > GA_CONTROL_KEPT)
		discard_front(r, (size_t)(used + n - GA_CONTROL_KEPT));
	memcpy(r->buf + at, p, n < left ? n : left);
	if (n > left)
		memcpy(r->buf, p + left, n - left);
	r->end += n;
}

void run_ring_add(struct run_ring *r, const char *p, size_t n)
{
	/* pages are allocated only when they are written to */
	if (!r->buf)
		r->buf = ga_malloc(GA_CONTROL_KEPT);
	while (n) {
		size_t k = n < CHUNK ? n : CHUNK;

		add(r, p, k);
		p += k;
		n -= k;
	}
}

uint64_t run_ring_begin(const struct run_ring *r, struct ga_termstate *ret)
{
	struct ga_termfilter f = r->before;
	char out[GA_TERMFILTER_ROOM(1)], c;
	uint64_t at = r->start;

	/* the state is 0 between sequences */
	for (; at < r->end && (f.state || f.part_n); at++) {
		(void)run_ring_get(r, at, &c, 1);
		(void)ga_termfilter(&f, &c, 1, out);
	}
	*ret = f.on;
	return at;
}

/* Run the filter over what is kept up to `end`. */
static void filter_kept(const struct run_ring *r, uint64_t *at, uint64_t end,
			struct ga_termfilter *f)
{
	char out[GA_TERMFILTER_ROOM(CHUNK)], piece[CHUNK];

	while (*at < end) {
		size_t n = end - *at < CHUNK ? (size_t)(end - *at) : CHUNK;

		n = run_ring_get(r, *at, piece, n);
		(void)ga_termfilter(f, piece, n, out);
		*at += n;
	}
}

void run_ring_end(const struct run_ring *r, struct ga_termstate *ret)
{
	struct ga_termfilter f = r->before;
	uint64_t at = r->start;

	filter_kept(r, &at, r->end, &f);
	*ret = f.on;
}

bool run_ring_rang(const struct run_ring *r, uint64_t since)
{
	struct ga_termfilter f = r->before;
	uint64_t at = r->start;
	uint32_t rings;

	filter_kept(r, &at, since, &f);
	rings = f.rings;
	filter_kept(r, &at, r->end, &f);
	return f.rings != rings;
}
