/* SPDX-License-Identifier: MIT
 *
 * Read an upper layer, which is hostile input: everything is accessed by descriptor, no symlink is
 * followed, nothing is opened that could block, and depth, entries and bytes are limited.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ga/base/error.h"
#include "ga/base/leftovers.h"
#include "ga/base/oid.h"
#include "ga/base/strv.h"
#include "ga/config/limits.h"
#include "ga/repo/objects.h"
#include "ga/repo/repo.h"

struct ga_upper_opts {
	const char *upper;              /* absolute path of the layer */
	const struct ga_oid *base_tree; /* the tree of the base, beneath the upper */
	const struct ga_oid *tracked;   /* tree of the agent's HEAD: what it has counts as tracked,
					 * and what it dropped from the base no longer does; NULL:
					 * the base decides */
	const char *host_excludes;      /* the host's core.excludesFile and info/exclude, joined;
					 * "" */
	bool filemode;                  /* core.fileMode: the executable bit counts */
	bool icase;                     /* core.ignoreCase */
	/* What else lies beneath the upper; each may be NULL. */
	const char *lower;              /* the checkout, if it may lack paths of the base (sparse):
					 * a path that was never checked out cannot have been
					 * deleted */
	const char *extras;             /* the layer in between: a path that only it and a commit of
					 * the agent have keeps the commit's entry */
	const struct ga_strv *shared;   /* shared directories, whose own overlays lie there, too */
	/* Content that git would convert when adding it (eol, filters). */
	const struct ga_strv *cleaned_paths;    /* paths whose blobs were made inside the sandbox */
	const struct ga_entry *cleaned_entries; /* and their entries, parallel; sorted by path */
	bool raw;                       /* take bytes as they are, whatever attributes say */
	bool running;                   /* the agent may be running: a file that grows is read up to
					 * its size from stat */
	const struct ga_limits *limits;
	bool progress;                  /* show progress on standard error ... */
	int64_t progress_delay_ms;      /* ... once it has taken this long */
	/* Work of the caller's that can be done while the child reads; or NULL */
	void (*meanwhile)(void *payload);
	void *payload;
};

struct ga_upper_result {
	struct ga_oid tree;           /* base tree + upper */
	struct ga_changes changes;    /* against the base tree */
	struct ga_leftovers left;
	struct ga_strv newly_ignored; /* ignored by the rules of the result but not by those of the
				       * base ... */
	struct ga_strv newly_ignored_by; /* ... and, parallel to it, the pattern and file that do
					  * it, for users, quoted */
	struct ga_strv set_id, linked; /* changed files with a set-id bit, and with further hard
					* links */
	struct ga_strv notes;         /* notes on odd entries, for users, quoted */
	uint64_t met;                 /* limits that were exceeded: a bit 1 << enum ga_limit for
				       * each */
	pid_t reader;                 /* the child, which has answered but may still be running; 0:
				       * none */
	char *keep;                   /* path of the new pack's .keep; NULL if no pack was
				       * written */
};
#define GA_UPPER_RESULT_INIT { 0 }
/* Also waits for the reader. */
void ga_upper_result_release(struct ga_upper_result *r);

/* Compute the result, writing blobs and trees into the repository as one pack, or into the open
 * batch. Runs in a child with its own uid mapped in a user namespace, where CAP_DAC_OVERRIDE lets
 * it read mode-000 files without changing a mode.
 *
 * Returns 1, with nothing written, if a .gitattributes above it asks for conversion, `raw` is not
 * set and `cleaned_paths` is NULL: call ga_upper_list(), have the files cleaned, and call this
 * again with the result. A path that is not in it is then taken as it is.
 *
 * This and the functions below return GA_UPPER_LATE if they took longer than limits->read_time,
 * which a layer can be crafted to cause. What was written stays in a quarantine that is swept
 * later. */
#define GA_UPPER_LATE 2
int ga_upper_capture(struct ga_repo *r, const struct ga_upper_opts *o, struct ga_upper_result *ret,
		     struct ga_error *err);

/* The regular files of the upper that would be captured, grouped by what git inside can do with
 * them: these are what the clean pass is asked about. Each list is sorted. */
struct ga_upper_files {
	struct ga_strv open;   /* git can open them ... */
	uint64_t bytes;        /* ... and the sum of their sizes */
	struct ga_strv closed; /* git can read their attributes but not open them: their mode or
			        * that of a directory forbids it */
	struct ga_strv barred; /* git would block at a fifo in place of .gitattributes */
	struct ga_strv unsure; /* those of `open` and `closed` for which there are attributes that
				* git cannot read */
};
#define GA_UPPER_FILES_INIT { .bytes = 0 }
void ga_upper_files_release(struct ga_upper_files *f);

/* List them, without reading content. */
int ga_upper_list(struct ga_repo *r, const struct ga_upper_opts *o, struct ga_upper_files *ret,
		  struct ga_error *err);

/* Count what lies in the upper of one shared directory, as leftovers at `path`; adds to the list,
 * notes and limits of `ret`. */
int ga_upper_count(const char *upper, const char *path, const struct ga_limits *limits,
		   struct ga_upper_result *ret, struct ga_error *err);
