/* SPDX-License-Identifier: MIT
 *
 * Reading an upper layer: hostile input. Everything by descriptor, no symlink
 * followed, nothing opened that could block, limits on depth, entries and bytes.
 */
#ifndef GA_UPPER_H
#define GA_UPPER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ga/error.h"
#include "ga/left.h"
#include "ga/limits.h"
#include "ga/objects.h"
#include "ga/oid.h"
#include "ga/repo.h"
#include "ga/strv.h"

struct ga_upper_opts {
	const char *upper;              /* absolute path of the layer */
	const struct ga_oid *base_tree; /* what lies beneath */
	const struct ga_oid *tracked;   /* tree of the agent's HEAD: what it has counts as tracked,
					 * and what it dropped from the base no longer does;
					 * NULL: the base decides */
	const char *host_excludes;      /* the host's core.excludesFile and info/exclude; "" */
	bool filemode;                  /* core.fileMode: the executable bit counts */
	bool icase;                     /* core.ignoreCase */
	/* What else lies beneath the upper; each may be NULL. */
	const char *lower;              /* the checkout, where it may lack paths of the base
					 * (sparse): what it never showed cannot be deleted */
	const char *extras;             /* the layer between, or a live working tree: a path that
					 * only it and a commit of the agent have keeps the
					 * commit's entry */
	const struct ga_strv *shared;   /* directories with overlays of their own: there too */
	/* Content git would convert on the way in (eol, filters). */
	const struct ga_strv *cleaned_paths;    /* whose blobs were made inside the sandbox */
	const struct ga_entry *cleaned_entries; /* and their entries; both sorted by path */
	bool raw;                       /* bytes as they are, whatever attributes say */
	const struct ga_limits *limits;
	bool progress;                  /* say how far it is, on standard error ... */
	int64_t progress_delay_ms;      /* ... once it took longer than that */
	/* What the caller has to do in any case, and can do while the child reads; or NULL */
	void (*meanwhile)(void *payload);
	void *payload;
};

struct ga_upper_result {
	struct ga_oid tree;           /* base tree + upper */
	struct ga_changes changes;    /* against the base tree */
	struct ga_left_list left;
	struct ga_strv newly_ignored; /* ignored by the result's rules but not by the base's ... */
	struct ga_strv newly_ignored_by; /* ... and, parallel, what pattern of which file does it,
					  * for people, quoted */
	struct ga_strv set_id, linked; /* changed files with such a bit, and with other names */
	struct ga_strv notes;         /* odd things met, for people, quoted */
	uint64_t met;                 /* limits that kept something away: a bit for each */
	pid_t reader;                 /* has answered, and may not be gone yet; 0: nobody */
	char *keep;                   /* the new pack's .keep, or NULL if no object was written */
};
#define GA_UPPER_RESULT_INIT { 0 }
/* Waits for the reader, too. */
void ga_upper_result_release(struct ga_upper_result *r);

/* Compute it, writing blobs and trees into the repository as one pack, or into the batch that is
 * open. Runs in
 * a child with the own uid mapped in a user namespace, whose CAP_DAC_OVERRIDE
 * reads mode-000 files without changing a mode.
 *
 * Returns 1, with nothing written, if a .gitattributes met on the way asks for
 * conversion, `raw` is not set and `cleaned_paths` is NULL: list, clean, and come
 * again with the answers. A path not among them then is taken as it is.
 *
 * This, and what follows, returns GA_UPPER_LATE if it took longer than limits->read_time, which
 * a layer made for that can. What was written stays in a quarantine to be swept. */
#define GA_UPPER_LATE 2
int ga_upper_capture(struct ga_repo *r, const struct ga_upper_opts *o, struct ga_upper_result *ret,
		     struct ga_error *err);

/* The regular files of the upper that would be captured, by what git inside can do with them: what
 * the clean pass is asked about. Each sorted. */
struct ga_upper_files {
	struct ga_strv open;   /* it can open them ... */
	uint64_t bytes;        /* ... and what they hold together by their size */
	struct ga_strv closed; /* it can be asked about their attributes, and no more: their mode
				* or that of a directory is in its way */
	struct ga_strv barred; /* not even that: it would wait at a fifo that stands where it looks
				* for attributes */
	struct ga_strv unsure; /* of open and closed those for which there are attributes that it
				* cannot read */
};
#define GA_UPPER_FILES_INIT { .bytes = 0 }
void ga_upper_files_release(struct ga_upper_files *f);

/* List them, without reading content. */
int ga_upper_list(struct ga_repo *r, const struct ga_upper_opts *o, struct ga_upper_files *ret,
		  struct ga_error *err);

/* Count what lies in one shared directory's upper, as left behind at `path`: added to what `ret`
 * has of that, notes and limits. */
int ga_upper_count(const char *upper, const char *path, const struct ga_limits *limits,
		   struct ga_upper_result *ret, struct ga_error *err);

#endif
