/* SPDX-License-Identifier: MIT
 *
 * Which contents of a repository's configuration file the user trusts. A trusted text is the file,
 * then a NUL, then one line for each thing the user was told that it lets agents do. Those lines
 * depend on the user's own settings, so the same file needs trust again once it would loosen more
 * of them.
 *
 * Each text is kept whole, so that later changes can be shown, in a file named after its SHA-256:
 * <state directory of the repository>/trust/<64 hex digits>, mode 0600. State directories are never
 * visible inside a sandbox and belong to the user alone (ga/session/session.h), so nobody else can
 * put a text there. A file whose content does not match its name, or that is not the user's, is
 * ignored.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "ga/base/buf.h"
#include "ga/base/error.h"
#include "ga/base/sha.h"

/* Beyond this, the oldest one is removed. */
#define GA_TRUST_MAX 64

struct ga_trusted {
	char id[GA_SHA256_HEXSZ + 1];
	uint64_t when;      /* when it was trusted, in seconds since 1970 */
	uint32_t when_ns;   /* and nanoseconds, to order two within one second */
	struct ga_buf text; /* the whole text; up to the NUL it is the file */
};
struct ga_trust_list {
	struct ga_trusted *v; /* the latest first */
	size_t n, cap;
};
#define GA_TRUST_LIST_INIT { NULL, 0, 0 }
void ga_trust_list_release(struct ga_trust_list *l);
#define cleanup_trust_list cleanup_(ga_trust_list_release)

/* The id of a text: its SHA-256. */
void ga_trust_id(const void *text, size_t n, char ret[GA_SHA256_HEXSZ + 1]);
/* Is this very text trusted? Returns 1 or 0. `dir` is the state directory of the repository, which
 * need not exist. */
int ga_trust_has(const char *dir, const void *text, size_t n, struct ga_error *err);
/* Trust a text; if it is trusted already, its time is renewed. `dir` exists. On the disk when this
 * returns. */
int ga_trust_add(const char *dir, const void *text, size_t n, struct ga_error *err);
/* Read all trusted texts; none if `dir` does not exist. */
int ga_trust_list(const char *dir, struct ga_trust_list *ret, struct ga_error *err);
/* Revoke all. Returns 1 if there is none. */
int ga_trust_revoke_all(const char *dir, struct ga_error *err);
