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

struct ga_import; /* a quarantine directory objects/tmp_objdir-git-agent-XXXXXX */

struct ga_import_limits {
	uint64_t max_pack_bytes;   /* of the stream */
	uint64_t max_object_bytes; /* of one inflated object */
	uint64_t max_total_bytes;  /* of all inflated objects, deltas and what they make */
	uint32_t max_objects;
	uint32_t max_commits;      /* new ones reachable from the tips */
	uint64_t max_paths;        /* in which the tree of one of these differs from the first
				    * of `hide`; and what their names come to together */
	uint64_t max_path_bytes;
	uint64_t max_all_paths;    /* the same, of all of them together */
	unsigned timeout_ms;       /* for all of an import, from its beginning */
};
/* Which of these was the reason of a refusal. */
enum ga_import_over {
	GA_IMPORT_WITHIN, /* none */
	GA_IMPORT_PACK_BYTES,
	GA_IMPORT_OBJECT_BYTES,
	GA_IMPORT_TOTAL_BYTES,
	GA_IMPORT_OBJECTS,
	GA_IMPORT_COMMITS,
	GA_IMPORT_PATHS, /* each of the three */
	GA_IMPORT_TIME,
};

/* The memory that git may take for a pack within these: what it keeps of each object, and a delta,
 * what it is one of, and what comes of it. Git makes none of what is larger than 512 MiB. */
uint64_t ga_import_memory(const struct ga_import_limits *l);
/* A blob above this that is no delta is read and written piece by piece. */
#define GA_IMPORT_PIECEWISE "core.bigFileThreshold=16m"
/* Configuration of git's that goes with it: a thread more is a stack, and deltas of its own. */
#define GA_IMPORT_CONFIG "pack.threads=1", GA_IMPORT_PIECEWISE

/* One import at a time for a handle. `l` is copied. */
int ga_import_begin(struct ga_repo *r, const struct ga_import_limits *l, struct ga_import **ret,
		    struct ga_error *err);
/* Say on standard error how far the reading of packs is, once one took longer than `delay_ms`. */
void ga_import_show(struct ga_import *im, int64_t delay_ms);
/* Take the pack stream read from `fd` to its end: spooled and counted under the
 * limits, before git sees a byte; then indexed (`git index-pack --strict`) into
 * the quarantine. A thin pack is refused. On refusal: 1 and a reason for people in
 * `*ret_reason` (one line, quoted, owned by the caller); the quarantine may be freed. */
int ga_import_pack(struct ga_import *im, int fd, char **ret_reason, struct ga_error *err);
/* Check every object of the quarantine, reachable or not: sizes, modes, names
 * (".git" in any folding, "..", "/"), order, headers; that there are no tag
 * objects; that each of `tips` is a commit; that no new commit has more or longer paths, or
 * deeper ones, than anybody can check out (some ten objects make more files than there are
 * atoms in a disk); and, by `rev-list --objects`, that everything
 * reachable from `tips` but not from `hide` is there. Gitlinks are accepted: rules report them.
 * 1 and a reason on refusal. Once it returned 0 the repository handle reads through the
 * quarantine (ga_git_run() does not), until ga_import_migrate() or ga_import_free(). */
int ga_import_check(struct ga_import *im, const struct ga_oid *tips, size_t n_tips,
		    const struct ga_oid *hide, size_t n_hide, char **ret_reason,
		    struct ga_error *err);
enum ga_import_over ga_import_over(const struct ga_import *im);
/* Can that much be written where objects are? An error says why not. */
int ga_import_probe(const struct ga_repo *r, uint64_t bytes, struct ga_error *err);
/* Does this component mean that file on some file system? Their content `git fsck` looks at. */
bool ga_name_means_gitmodules(const char *name);
bool ga_name_means_gitattributes(const char *name);
/* Could `git fsck --strict` mind what is in a file of this name? */
bool ga_import_minds_file(const char *name, const char *data, size_t n);
/* Does it? Git is asked, in a quarantine of its own. 1 and a reason as above, if so; no
 * other import may be under way. */
int ga_import_judge_file(struct ga_repo *r, const char *name, const char *data, size_t n,
			 char **ret_reason, struct ga_error *err);
/* Move the packs into the repository's object directory, synced, with a .keep; adds the
 * absolute paths of the .keep files to `keeps`. */
int ga_import_migrate(struct ga_import *im, struct ga_strv *keeps, struct ga_error *err);
/* Remove the quarantine. NULL is fine. */
void ga_import_free(struct ga_import *im);
/* Remove quarantines whose owner is dead, whoever and however long ago that was: the
 * living hold a lock on theirs. What cannot be removed stays. */
void ga_import_sweep(struct ga_repo *r);
/* Remove all .keep files of ours. The caller knows that nobody needs one any more. */
void ga_keeps_sweep(struct ga_repo *r);

#endif
