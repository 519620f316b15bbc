/* SPDX-License-Identifier: MIT
 *
 * Taking objects an agent made into the user's repository: a pack stream from
 * inside the sandbox, indexed outside with strict checks and under limits into
 * a quarantine, verified, and only then moved in.
 */
#ifndef GA_IMPORT_H
#define GA_IMPORT_H

#include "ga/error.h"
#include "ga/oid.h"
#include "ga/repo.h"
#include "ga/strv.h"

struct ga_import; /* a quarantine directory objects/tmp_objdir-XXXXXX */

struct ga_import_limits {
	uint64_t max_pack_bytes;   /* of the stream */
	uint64_t max_object_bytes; /* of one inflated object */
	uint64_t max_total_bytes;  /* of all inflated objects */
	uint32_t max_objects;
	uint32_t max_commits;
	unsigned timeout_ms;
};
extern const struct ga_import_limits ga_import_limits_default;

int ga_import_begin(struct ga_repo *r, const struct ga_import_limits *l, struct ga_import **ret,
		    struct ga_error *err);
/* Index the pack stream read from `fd` (`git index-pack --strict --stdin` under
 * the limits, into the quarantine). On refusal: 1 and a reason for people in
 * `*ret_reason` (owned by the caller); the quarantine may be freed. */
int ga_import_pack(struct ga_import *im, int fd, char **ret_reason, struct ga_error *err);
/* Check that everything reachable from each of `tips` but not from `hide` is
 * there, that modes, names (".git" in any folding, "..", "/", NUL), gitlinks
 * and headers are ones we accept, by `rev-list --objects` and our own walk of the new trees.
 * 1 and a reason on refusal. Reads through the returned quarantine work for the
 * repository handle from here on (it is added as an alternate of the handle). */
int ga_import_check(struct ga_import *im, const struct ga_oid *tips, size_t n_tips,
		    const struct ga_oid *hide, size_t n_hide, char **ret_reason,
		    struct ga_error *err);
/* Move the packs into the repository's object directory, synced, with a .keep; adds the
 * absolute paths of the .keep files to `keeps`. */
int ga_import_migrate(struct ga_import *im, struct ga_strv *keeps, struct ga_error *err);
/* Remove the quarantine. NULL is fine. */
void ga_import_free(struct ga_import *im);
/* Remove quarantines a crash left behind, older than a day. */
void ga_import_sweep(struct ga_repo *r);

#endif
