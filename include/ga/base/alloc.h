/* SPDX-License-Identifier: MIT
 *
 * Allocation that cannot fail, and the cleanup attributes that go with it.
 *
 * Every allocation of the project goes through these wrappers: they abort
 * with one line when memory runs out, so no caller handles NULL. Memory they
 * return is released by free().
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

void *ga_malloc(size_t n) __attribute__((malloc, returns_nonnull));
void *ga_calloc(size_t n, size_t size) __attribute__((malloc, returns_nonnull));
void *ga_realloc(void *p, size_t n) __attribute__((returns_nonnull));
/* Grow an array: like realloc(p, n * size), aborting on overflow. */
void *ga_reallocarray(void *p, size_t n, size_t size) __attribute__((returns_nonnull));
char *ga_strdup(const char *s) __attribute__((malloc, returns_nonnull, nonnull));
/* Does `s`, or its first `n` bytes, end in `end`? */
bool ga_ends_in(const char *s, const char *end);
bool ga_ends_in_n(const char *s, size_t n, const char *end);
/* ASCII lower case, independent of the locale. */
static inline char ga_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}
/* Is `word` in `list`, whose words are separated by single blanks? */
bool ga_has_word(const char *list, const char *word);
bool ga_has_word_n(const char *list, const char *word, size_t n);
/* Does strstr() or strcasestr() find any of the words? */
typedef char *ga_find_fn(const char *text, const char *word);
bool ga_finds_any(ga_find_fn *find, const char *text, const char *const *words, size_t n);
#define GA_FINDS_ANY(find, text, words) ga_finds_any((find), (text), (words), GA_NELEMS(words))
/* A copy of at most `n` bytes of `s`, always terminated. */
char *ga_strndup(const char *s, size_t n) __attribute__((malloc, returns_nonnull, nonnull));
/* A copy of the `n` bytes at `p`. */
void *ga_memdup(const void *p, size_t n) __attribute__((malloc, returns_nonnull));
/* The formatted string. */
char *ga_vstrf(const char *fmt, va_list ap)
	__attribute__((malloc, returns_nonnull, format(printf, 1, 0)));
char *ga_strf(const char *fmt, ...) __attribute__((malloc, returns_nonnull, format(printf, 1, 2)));

/* Abort with one line naming the place: for states that cannot happen. */
void ga_bug(const char *file, int line, const char *what) __attribute__((noreturn));
#define GA_BUG(what) ga_bug(__FILE__, __LINE__, (what))

/* `cleanup_free char *p = NULL;` is freed when it goes out of scope. */
void ga_cleanup_freep(void *pp);
#define cleanup_free __attribute__((cleanup(ga_cleanup_freep)))

/* `cleanup_(ga_buf_release) struct ga_buf b = GA_BUF_INIT;` */
#define cleanup_(fn) __attribute__((cleanup(fn)))

/* Hand over ownership: yields the pointer and leaves NULL behind. The temporaries have the
 * pointer's own type, because accessing one pointer type through an lvalue of another is
 * undefined. */
#define ga_steal(pp)                                                                \
	({                                                                          \
		__typeof__(pp) ga_from_ = (pp);                                     \
		__typeof__(*ga_from_) ga_taken_ = *ga_from_;                        \
		*ga_from_ = NULL;                                                   \
		ga_taken_;                                                          \
	})

/* Make room for one more element in an array kept as (ptr, n, cap). */
#define GA_GROW(ptr, n, cap)                                                        \
	do {                                                                        \
		if ((n) >= (cap)) {                                                 \
			(cap) = (cap) ? (cap) * 2 : 16;                             \
			(ptr) = ga_reallocarray((ptr), (cap), sizeof(*(ptr)));      \
		}                                                                   \
	} while (0)

#define GA_NELEMS(a) (sizeof(a) / sizeof((a)[0]))
