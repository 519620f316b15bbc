/* SPDX-License-Identifier: MIT
 *
 * A growing byte string. `ptr` is always NUL-terminated and never NULL, so an
 * empty buffer is usable as "". NUL bytes inside are allowed; `len` counts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "ga/base/alloc.h"

struct ga_buf {
	char *ptr;
	size_t len;
	size_t cap; /* 0 while `ptr` is the shared empty string */
};
extern char ga_buf_empty[1];
#define GA_BUF_INIT { ga_buf_empty, 0, 0 }

void ga_buf_release(struct ga_buf *b); /* frees, back to the initial state */
void ga_buf_clear(struct ga_buf *b);   /* length 0, memory kept */
#define cleanup_buf cleanup_(ga_buf_release)

/* Append bytes, a string, a byte, or formatted text. */
void ga_buf_add(struct ga_buf *b, const void *p, size_t n);
void ga_buf_adds(struct ga_buf *b, const char *s);
void ga_buf_addch(struct ga_buf *b, char c);
void ga_buf_addf(struct ga_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Append `s` with its terminating NUL: for NUL-separated records. */
void ga_buf_add0(struct ga_buf *b, const char *s);
/* Make room for `n` more bytes and return where they go. The caller adds what it wrote to `len`. */
char *ga_buf_reserve(struct ga_buf *b, size_t n);
/* Shorten to `len` bytes (no-op if already shorter). */
void ga_buf_truncate(struct ga_buf *b, size_t len);
/* Remove one trailing newline, if there is one. */
void ga_buf_chomp(struct ga_buf *b);
/* Hand the string to the caller, who frees it; the buffer is empty again. */
char *ga_buf_steal(struct ga_buf *b);

bool ga_buf_equal(const struct ga_buf *a, const struct ga_buf *b);

/* Walk NUL-terminated records: `*pos` starts at 0; returns the next record or
 * NULL at the end. A last record without its NUL is returned too. */
const char *ga_buf_next0(const struct ga_buf *b, size_t *pos);
/* The line at `*pos` and its length, without its newline, which the last one may lack; moves `*pos`
 * past it. NULL at the end. */
const char *ga_buf_next_line(const struct ga_buf *b, size_t *pos, size_t *ret_n);

/* The last bytes of a stream. */
struct ga_tail {
	char v[1024];
	size_t n;
};
void ga_tail_add(struct ga_tail *t, const char *p, size_t n);
