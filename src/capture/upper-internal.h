/* SPDX-License-Identifier: MIT
 *
 * The walk over an upper layer, and the transport of its result out of the child.
 */
#pragma once

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "ga/base/buf.h"
#include "ga/base/ignore.h"
#include "ga/base/oid.h"
#include "ga/base/out.h"
#include "ga/capture/upper.h"
#include "ga/repo/objects.h"

#define LIMITS_NAMED 10 /* most notes on single paths that are refused or beyond a limit */
/* Greatest total length of the paths of a layer, each of which is held several times: more than
 * real trees have, and always enough for one path. */
#define PATHS_MAX(limits) ((limits)->entries * 64 + PATH_MAX)
/* Greatest number of paths below a directory of the base, which is the user's own. */
#define BASE_PATHS_MAX ((size_t)10000000)

/* ---- ignore rules of a tree, for any path (upper-post.c) --------------- */

/* A directory whose .gitignore differs from the tree's. */
struct rules_override {
	char *dir;
	char *text; /* NULL: there is none */
	size_t len;
};

struct rules {
	struct ga_repo *repo;
	const struct ga_oid *tree;
	size_t max;                  /* bytes of one .gitignore */
	int user;                    /* the directory with the user's own, which count where the
				      * tree has none; -1: nowhere */
	const struct ga_oid *known;  /* tree whose .gitignore files are not the user's own; or
				      * NULL */
	bool too_long;               /* one was longer, and not read */
	struct rules_override *over; /* sorted by dir when `rules_ignored` is called */
	size_t n_over, cap_over;
	struct ga_ignore ig;
	/* the directories entered, down to the path asked about last */
	struct rules_dir {
		char *path;
		size_t mark; /* depth of `ig` before its own .gitignore */
		bool ignored;
	} *dirs;
	size_t n_dirs, cap_dirs;
};

void rules_init(struct rules *ru, struct ga_repo *r, const struct ga_oid *tree, const char *host,
		bool icase, size_t max);
void rules_release(struct rules *ru);
void rules_override(struct rules *ru, const char *dir, const char *text, size_t len);
/* Would git ignore `path` (not a directory) if it were untracked? Fast for sorted paths. */
int rules_ignored(struct rules *ru, const char *path, bool *ret, struct ga_error *err);

/* ---- the walk (upper-walk.c) ------------------------------------------ */

struct walk {
	struct ga_repo *repo;
	const struct ga_upper_opts *o;
	const struct ga_limits *limits;
	struct ga_pack *pack;         /* NULL: listing, no content is read */
	struct ga_upper_files *list;  /* regular files, when listing; else NULL */
	struct ga_upper_result *res;
	struct ga_ignore final, base;    /* rules of the result and of the base */
	struct rules overrides;       /* the rules of the result, for paths that the walk does not
				       * meet */
	struct ga_buf path;           /* the current path; "" at the root */
	struct ga_buf data;           /* content of one file */
	dev_t dev;
	int lower_fd, extras_fd;      /* of o->lower and o->extras, or -1 */
	struct ga_oidmap judged[2];   /* contents that git was asked about, as attributes and as
				       * submodules, and whether it refuses them */
	struct ga_strv kept;          /* paths that keep their former entry, as the present one
				       * stays behind */
	struct walk_met {
		uint64_t entries, bytes;
		uint64_t path_bytes;  /* of the paths of all entries */
		size_t odd;           /* half-renamed directories */
		size_t refused;       /* paths that stay behind because of their content */
		size_t limited;       /* paths that stay behind because of a limit */
	} met;
	bool stopped;                 /* at a limit, or because content must be converted */
	char *stopped_at;             /* the directory at which a limit was met: neither it nor
				       * anything after it was visited */
	bool convert;
	struct ga_progress progress;  /* entries visited */
	struct ga_error *err;
};

int walk_upper(struct walk *w, int fd);

/* Count everything in `fd` as one ignored line at the current path. */
void walk_count(struct walk *w, int fd);

#define WALK_OPEN_FLAGS (O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC)

/* Read the names in a directory, sorted, at most `max`. Returns 1 if there are more, -1 with
 * errno. */
int read_names(int fd, size_t max, struct ga_strv *names);

/* The extended attributes that overlayfs wrote on an entry. */
struct marks {
	bool opaque;     /* hides what lies beneath */
	bool xwhiteouts; /* empty files inside may be whiteouts */
	bool whiteout;
	char *odd;       /* an attribute no session writes (its name, quoted), or NULL */
};
void marks_release(struct marks *m);
void read_marks(int fd, struct marks *m);

/* A directory of the upper that is being walked. */
struct walk_dir {
	int fd;
	unsigned depth;
	struct marks marks;
	struct ga_tree_level base, tracked;
	const struct ga_oid *base_tree, *tracked_tree; /* NULL: none there */
	const struct ga_entry *instead; /* what the base has here, if no directory; or NULL */
	bool opaque;         /* it, or one above it, hides what is beneath ... */
	bool hidden;         /* ... or the base has no such directory */
	bool closed;         /* it, or one above it, cannot be entered without capabilities */
	bool barred;         /* in it or one above it a fifo is in the place of attributes ... */
	bool unsure;         /* ... or a file that git inside cannot open */
	const char *ignored; /* the topmost ignored directory it is in, or NULL */
	struct ga_strv names;
};

/* The current entry of it. */
struct walk_item {
	const char *name;
	struct stat st;
	struct ga_entry base, tracked;
};

static inline bool entry_is_content(const struct ga_entry *e)
{
	return e->mode == GA_MODE_FILE || e->mode == GA_MODE_EXEC || e->mode == GA_MODE_LINK;
}

/* For the current path: it stays behind; it is odd; the base's entry was removed. */
void walk_leave(struct walk *w, enum ga_leftover_kind kind, uint64_t count, uint64_t bytes);
void walk_note(struct walk *w, const char *what);
/* The current path is beyond a limit: it stays behind and counts as limited; the first few are
 * noted, with the limit. */
void walk_note_limit(struct walk *w, enum ga_limit which, const char *what);
void walk_limit(struct walk *w, enum ga_limit which, const char *what, uint64_t count,
		uint64_t bytes);
int walk_removed(struct walk *w, const struct ga_entry *base);
/* The current path is ignored: it is counted for `top`, the ignored directory it is in, or for
 * itself if that is NULL. */
void walk_ignored(struct walk *w, const char *top, uint64_t count, uint64_t bytes, bool is_dir);
/* Could git inside open this entry of the directory by its name? */
bool readable_inside(const struct walk_dir *d, const struct stat *st);
/* A regular file or link (upper-content.c). */
int walk_content(struct walk *w, const struct walk_dir *d, struct walk_item *it);

/* Does the directory hold a repository's `.git`? */
bool holds_repository(int fd);
/* Does this text ask git to convert content? */
bool attributes_convert(const char *text, size_t n);
/* Is it a name that no tree may have, whatever system it is checked out on? */
bool name_is_bad(const char *name, mode_t type);

/* Add paths that the walk does not visit, which only a commit of the agent changed (upper-post.c).
 * `changes` is sorted before and after. */
int add_unvisited(struct walk *w);

/* ---- out of the child (upper.c) ---------------------------------------- */

struct wire {
	struct ga_buf *b;
	size_t pos; /* of the reader */
	bool out;   /* it is written, not read */
	bool bad;   /* a record is incomplete; nothing more is read */
};
void wire_result(struct wire *w, struct ga_upper_result *r);
void wire_error(struct wire *w, struct ga_error *err);
