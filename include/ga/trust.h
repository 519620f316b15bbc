/* SPDX-License-Identifier: MIT
 *
 * Which contents of a repository's settings the user trusts: each with a NUL and, a line each, what
 * it was shown to let agents do. What that is depends on the user's own settings, so the same
 * content is another one once it would loosen more of them.
 *
 * Each is kept whole, so that what changed since can be shown, in a file of its own that is named
 * after the SHA-256 of it: <state directory of the repository>/trust/<64 hex digits>, mode 0600.
 * State directories are never visible inside a sandbox and belong to the user alone (ga/session.h),
 * so nobody but him gets a content in there. A file whose content is not what its name says, or
 * that is not his, counts for nothing.
 */
#ifndef GA_TRUST_H
#define GA_TRUST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ga/buf.h"
#include "ga/error.h"
#include "ga/sha.h"

/* More than that are not kept: the one that was trusted first goes. */
#define GA_TRUST_MAX 64

struct ga_trusted {
	char id[GA_SHA256_HEXSZ + 1];
	uint64_t when;      /* it was trusted; seconds since 1970 */
	uint32_t when_ns;   /* and nanoseconds: two within one second are told apart */
	struct ga_buf text; /* up to the NUL: the file */
};
struct ga_trust_list {
	struct ga_trusted *v; /* the latest first */
	size_t n, cap;
};
#define GA_TRUST_LIST_INIT { NULL, 0, 0 }
void ga_trust_list_release(struct ga_trust_list *l);
#define cleanup_trust_list cleanup_(ga_trust_list_release)

/* What a content is called there. */
void ga_trust_id(const void *text, size_t n, char ret[GA_SHA256_HEXSZ + 1]);
/* 1 if this very content is trusted, 0 if not. `dir` is the state directory of the repository,
 * which need not be there. */
int ga_trust_has(const char *dir, const void *text, size_t n, struct ga_error *err);
/* What is trusted already counts as trusted now. `dir` is there. On the disk when it returns. */
int ga_trust_add(const char *dir, const void *text, size_t n, struct ga_error *err);
int ga_trust_list(const char *dir, struct ga_trust_list *ret, struct ga_error *err);
/* One by its id, or (NULL) all. 1 if there is none. */
int ga_trust_revoke(const char *dir, const char *id, struct ga_error *err);

#endif
