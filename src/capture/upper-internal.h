/* SPDX-License-Identifier: MIT
 *
 * The walk over an upper layer and what carries its result out of the child.
 */
#ifndef CAPTURE_UPPER_INTERNAL_H
#define CAPTURE_UPPER_INTERNAL_H

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "ga/buf.h"
#include "ga/oidmap.h"
#include "ga/progress.h"
#include "ga/treelevel.h"
#include "ga/upper.h"
#include "ga/ignore.h"

#define LIMITS_NAMED 10 /* notes on single paths beyond a limit, or refused */
/* Bytes that the paths of a layer may have together, of which each is held several times over: more
 * than those of real trees have, and never too few for one. */
#define PATHS_MAX(limits) ((limits)->entries * 64 + PATH_MAX)
/* Below a directory of the base's, which is the user's own: more than anybody has. */
#define BASE_PATHS_MAX ((size_t)10000000)

/* ---- ignore rules of a tree, for any path (rules.c) -------------------- */

/* A directory whose .gitignore is not the tree's. */
struct rules_override {
	char *dir;
	char *text; /* NULL: there is none */
	size_t len;
};

struct rules {
	struct ga_repo *repo;
	const struct ga_oid *tree;
	size_t max;                  /* bytes of one .gitignore */
	int user;                    /* where the user's own lie, which counts for directories in
				      * which the tree has none; -1: nowhere */
	const struct ga_oid *known;  /* those that this tree has are not the user's own; or NULL */
	bool too_long;               /* there is a longer one: it was not read */
	struct rules_override *over; /* sorted by dir when `rules_ignored` is called */
	size_t n_over, cap_over;
	struct ga_ignore ig;
	/* the directories entered: of the path asked about last */
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
void rules_sort(struct rules *ru);
/* Would git ignore `path` (no directory), were it untracked? Fast for sorted paths. */
int rules_ignored(struct rules *ru, const char *path, bool *ret, struct ga_error *err);

/* ---- the walk (upper-walk.c, upper-read.c) ----------------------------- */

struct walk {
	struct ga_repo *repo;
	const struct ga_upper_opts *o;
	const struct ga_limits *limits;
	struct ga_pack *pack;         /* NULL: listing, no content is read */
	struct ga_upper_files *list;  /* regular files, when listing; else NULL */
	struct ga_upper_result *res;
	struct ga_ignore final, base;    /* rules of the result and of the base */
	struct rules overrides;       /* the result's rules, for paths the walk does not meet */
	struct ga_buf path;           /* where it stands; "" at the root */
	struct ga_buf data;           /* content of one file */
	dev_t dev;
	int lower_fd, extras_fd;      /* of o->lower and o->extras, or -1 */
	struct ga_oidmap judged[2];   /* contents git was asked about, as attributes and as
				       * submodules: are they refused? */
	struct ga_strv stood;         /* paths at which what was known stands */
	uint64_t entries, bytes;
	uint64_t path_bytes;          /* of the paths of all entries */
	size_t odd;                   /* directories half renamed */
	size_t refused;               /* paths that stay behind for what is in them */
	size_t limited;               /* paths that stay behind for a limit */
	bool stopped;                 /* at a limit, or because content must be converted */
	char *stopped_at;             /* the directory whose limit that was: it and all behind it
				       * was not visited */
	bool convert;
	struct ga_progress progress;  /* entries visited */
	struct ga_error *err;
};

int walk_upper(struct walk *w, int fd);

/* Count all that lies in `fd` as one ignored line at the current path. */
void walk_count(struct walk *w, int fd);

#define WALK_OPEN_FLAGS (O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC)

/* Names in a directory, sorted, at most `max`; 1 if there are more. -1 with errno. */
int read_names(int fd, size_t max, struct ga_strv *names);

/* What overlayfs wrote beside an entry. */
struct marks {
	bool opaque;     /* hides what lies beneath */
	bool xwhiteouts; /* empty files inside may be whiteouts */
	bool whiteout;
	char *odd;       /* an attribute no session writes (its name, quoted), or NULL */
};
void marks_release(struct marks *m);
void read_marks(int fd, struct marks *m);

/* A directory of the upper while it is walked. */
struct walk_dir {
	int fd;
	unsigned depth;
	struct marks marks;
	struct ga_tree_level base, tracked;
	const struct ga_oid *base_tree, *tracked_tree; /* NULL: none there */
	const struct ga_entry *instead; /* no directory, which the base has here; or NULL */
	bool opaque;         /* it, or one above it, hides what lies beneath ... */
	bool hidden;         /* ... or the base has no such directory */
	bool closed;         /* it, or one above it, cannot be entered without capabilities */
	bool barred;         /* in it or in one above it a fifo stands where attributes are ... */
	bool unsure;         /* ... or what git inside cannot open */
	const char *ignored; /* the topmost ignored directory it is in, or NULL */
	struct ga_strv names;
};

/* An entry of it while it is looked at. */
struct walk_item {
	const char *name;
	struct stat st;
	struct ga_entry base, tracked;
};

static inline bool entry_is_content(const struct ga_entry *e)
{
	return e->mode == GA_MODE_FILE || e->mode == GA_MODE_EXEC || e->mode == GA_MODE_LINK;
}

/* About the current path: it stays behind; something is odd; what the base has is gone. */
void walk_left(struct walk *w, enum ga_left_kind kind, uint64_t count, uint64_t bytes);
void walk_note(struct walk *w, const char *what);
/* It is beyond a limit: stays behind, and is said; the first few with which one. */
void walk_limit(struct walk *w, enum ga_limit which, const char *what, uint64_t count,
		uint64_t bytes);
int walk_removed(struct walk *w, const struct ga_entry *base);
/* It is ignored: counted in `top`, the ignored directory it is in, if that is not NULL. */
void walk_ignored(struct walk *w, const char *top, uint64_t count, uint64_t bytes, bool is_dir);
/* Could git inside open the entry, of this directory, by name? */
bool readable_inside(const struct walk_dir *d, const struct stat *st);
/* A regular file or link (upper-content.c). */
int walk_content(struct walk *w, const struct walk_dir *d, struct walk_item *it);

/* Does the directory hold a repository's `.git`? */
bool holds_repository(int fd);
/* Does this text ask git to convert content? */
bool attributes_convert(const char *text, size_t n);
/* A name that no tree may hold, on whatever system it is checked out. */
bool name_is_bad(const char *name, mode_t type);

/* Paths the walk cannot meet: what only a commit of the agent changed
 * (upper-post.c). `changes` is sorted before and after. */
int add_unmet(struct walk *w);

/* ---- the child that reads (upper.c) -------------------------------------- */

/* What is done in it: 0, 1 (content must be converted) or -1. */
typedef int work_fn(void *arg, struct ga_buf *out, struct ga_error *err);
struct child_job {
	work_fn *fn;
	void *arg;
	uint64_t seconds; /* longer than that, and it is killed: GA_UPPER_LATE */
	void (*meanwhile)(void *payload); /* done here, once the child has begun; or NULL */
	void *payload;
	pid_t *ret_pid; /* if not NULL: once it has answered its end is the caller's to wait for */
};
/* Run it in a child, which reads what has no mode for it, and get its answer; `*pos` is where
 * that begins. */
int in_child(const struct child_job *j, struct ga_buf *ret, size_t *pos, struct ga_error *err);

/* ---- out of the child (upper-wire.c) ----------------------------------- */

void wire_put_result(struct ga_buf *b, const struct ga_upper_result *r);
int wire_get_result(const struct ga_buf *b, size_t *pos, struct ga_upper_result *r);
void wire_put_u64(struct ga_buf *b, uint64_t v);
int wire_get_u64(const struct ga_buf *b, size_t *pos, uint64_t *ret);
void wire_put_strv(struct ga_buf *b, const struct ga_strv *sv);
int wire_get_strv(const struct ga_buf *b, size_t *pos, struct ga_strv *sv);
void wire_put_files(struct ga_buf *b, const struct ga_left_files *f);
int wire_get_files(const struct ga_buf *b, size_t *pos, struct ga_left_files *f);
void wire_put_listed(struct ga_buf *b, struct ga_upper_files *f); /* sorts it */
int wire_get_listed(const struct ga_buf *b, size_t *pos, struct ga_upper_files *f);
void wire_put_error(struct ga_buf *b, const struct ga_error *err);
int wire_get_error(const struct ga_buf *b, size_t *pos, struct ga_error *err);

#endif
