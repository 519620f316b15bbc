/* SPDX-License-Identifier: MIT
 *
 * Import an agent's objects into the user's repository: a pack stream from inside the sandbox is
 * indexed outside under limits, into a quarantine, checked, and only then moved in.
 */
#pragma once

#include "ga/base/error.h"
#include "ga/base/oid.h"
#include "ga/base/out.h"
#include "ga/base/strv.h"
#include "ga/repo/repo.h"

struct ga_import; /* a quarantine directory objects/tmp_objdir-git-agent-XXXXXX */

struct ga_import_limits {
	uint64_t max_pack_bytes;   /* bytes of the pack stream */
	uint64_t max_object_bytes; /* of one inflated object */
	uint64_t max_total_bytes;  /* of all inflated objects: deltas and what they expand to */
	uint32_t max_objects;
	uint32_t max_commits;      /* new ones reachable from the tips */
	uint64_t max_paths;        /* paths in which the tree of one new commit differs from that of
				    * the first of `hide`, and the sum of their lengths */
	uint64_t max_path_bytes;
	uint64_t max_all_paths;    /* the same, for all new commits together */
	unsigned timeout_ms;       /* for the whole import, from ga_import_begin() */
};
/* The limit that caused a refusal. */
enum ga_import_over {
	GA_IMPORT_WITHIN, /* no limit */
	GA_IMPORT_PACK_BYTES,
	GA_IMPORT_OBJECT_BYTES,
	GA_IMPORT_TOTAL_BYTES,
	GA_IMPORT_OBJECTS,
	GA_IMPORT_COMMITS,
	GA_IMPORT_PATHS, /* any of the three on paths */
	GA_IMPORT_TIME,
};

/* The memory that git may need for a pack within these limits: its bookkeeping for each object, and
 * a delta, its base and its result. Git makes no deltas of objects above 512 MiB. */
uint64_t ga_import_memory(const struct ga_import_limits *l);
/* git streams a blob above this size that is no delta, instead of holding it in memory */
#define GA_IMPORT_PIECEWISE "core.bigFileThreshold=16m"
/* Configuration for git that ga_import_memory() assumes: a further thread would need a stack and
 * deltas of its own. */
#define GA_IMPORT_CONFIG "pack.threads=1", GA_IMPORT_PIECEWISE

/* Begin an import, one at a time per repository handle. Copies `l`. Progress is shown on standard
 * error once reading packs has taken longer than `progress_delay_ms` (or GA_PROGRESS_NEVER). */
int ga_import_begin(struct ga_repo *r, const struct ga_import_limits *l, int64_t progress_delay_ms,
		    struct ga_import **ret, struct ga_error *err);
/* Read a pack stream from `fd` to its end. It is spooled and counted under the limits before git
 * sees a byte, then indexed (`git index-pack --strict`) into the quarantine. A thin pack is
 * refused. On refusal returns 1 and in `*ret_reason` a reason for users (one line, quoted; the
 * caller frees it); then ga_import_free() is all that is left to do. */
int ga_import_pack(struct ga_import *im, int fd, char **ret_reason, struct ga_error *err);
/* Check every object of the quarantine, reachable or not: sizes, modes, names (".git" in any
 * folding, "..", "/"), order, headers; that there are no tag objects; that each of `tips` is a
 * commit; that no new commit has more, longer or deeper paths than can be checked out (some ten
 * objects can describe more files than there are atoms in a disk); and, by `rev-list --objects`,
 * that everything reachable from `tips` but not from `hide` is there. Gitlinks are accepted; rules
 * report them. Returns 1 and a reason on refusal. After it returned 0 the repository handle reads
 * through the quarantine (git commands of ga_git_run() do not), until ga_import_migrate() or
 * ga_import_free(). */
int ga_import_check(struct ga_import *im, const struct ga_oid *tips, size_t n_tips,
		    const struct ga_oid *hide, size_t n_hide, char **ret_reason,
		    struct ga_error *err);
/* After ga_import_check(): returns 1 and a reason unless all objects that `tips` reach and `known`
 * does not came in this import: a pack can name objects of the repository that its author has never
 * seen. */
int ga_import_check_origin(struct ga_import *im, const struct ga_oid *tips, size_t n_tips,
			   const struct ga_oid *known, size_t n_known, char **ret_reason,
			   struct ga_error *err);
/* The limit behind the last refusal; GA_IMPORT_WITHIN if it was not for a limit. */
enum ga_import_over ga_import_over(const struct ga_import *im);
/* Can `bytes` bytes be written to the object directory? The error says why not. */
int ga_import_probe(const struct ga_repo *r, uint64_t bytes, struct ga_error *err);
/* Does this path component mean ".gitmodules", or ".gitattributes", on some file system? `git fsck`
 * checks the content of such files. */
bool ga_name_means_gitmodules(const char *name);
bool ga_name_means_gitattributes(const char *name);
/* Could `git fsck --strict` object to the content of a file of this name? */
bool ga_import_needs_check(const char *name, const char *data, size_t n);
/* Ask git, in a quarantine of its own, while no other import is in progress. Returns 1 and a reason
 * if it objects. */
int ga_import_check_file(struct ga_repo *r, const char *name, const char *data, size_t n,
			 char **ret_reason, struct ga_error *err);
/* Move the packs into the repository's object directory, synced, each with a .keep file, whose
 * absolute path is added to `keeps`. */
int ga_import_migrate(struct ga_import *im, struct ga_strv *keeps, struct ga_error *err);
/* Remove the quarantine and free the handle. NULL is fine. */
void ga_import_free(struct ga_import *im);
