/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of this folder: sources (gather.c) give texts and words, which are followed
 * (follow.c).
 */
#pragma once

#include "ga/reach/reach.h"
#include "words-internal.h"

/* Where words come from. */
struct ga_source {
	const char *what; /* for the reason: "the hook 'pre-commit'"; quoted */
	const char *rule;
	enum ga_reach_when when;
	const char *hook;     /* the name of the hook that it is or that runs it, or "" */
	const char *dir;      /* directory of the project that it lies in, or NULL */
	const char *host_dir; /* directory outside of the project that it lies in, or NULL */
	const char *name;     /* its file's name, or "" */
	const char *part;     /* which of its file counts: a hook's, or a script's name; "": all */
	const struct ga_strv *dirs; /* that it changes to, or NULL */
	bool absolute;        /* only paths into the project count: it runs elsewhere */
};

struct ga_gather {
	struct ga_repo *repo;
	const struct ga_repo_info *info;
	struct ga_reach *reach;
	char *home;               /* the value of "~"; NULL: none */
	int workfd;               /* the working tree, -1 before ga_gather_begin() */
	bool have_tree;           /* HEAD is born */
	struct ga_oid tree;       /* HEAD's */
	struct ga_changes all;    /* HEAD's files, once `listed` */
	struct ga_strmap by_base; /* last component -> index in `all` */
	bool listed;
	struct ga_strv seen_files; /* "WHEN PATH" of files that were read ... */
	struct ga_strmap seen;
	struct ga_queued {
		struct ga_source from;
		char *path, *what, *hook, *part; /* owned */
	} * queue;                               /* files that are still to be read */
	size_t next, n_queue, cap_queue, n_files;
	struct ga_strv scripts; /* names of scripts that were found, "WHEN NAME" */
	struct ga_error *err;
};

/* Limits; the last one is bytes of a file. Beyond them everything counts as reached: see
 * ga_gather_cut(). */
enum { GA_FILES_MAX = 512, GA_REACHED_MAX = 8192, GA_HOST_TEXT_MAX = 4 << 20 };

int ga_gather_begin(struct ga_gather *g);
void ga_gather_release(struct ga_gather *g);

/* Read the text of a file of the host, with blanks for NULs, behind which shells read on. Returns 1
 * if it has no text: no descriptor, not a regular file, or machine code; -1 if it is longer than
 * GA_HOST_TEXT_MAX. */
int ga_gather_read(int fd, struct ga_buf *out);
/* Add a path of the host, following links: each link of the working tree that it passes is reached,
 * and so is where it ends. */
void ga_gather_path(struct ga_gather *g, const struct ga_source *s, const char *path, bool dir);
/* A limit was hit, as `why` (quoted) says: everything counts as reached. */
void ga_gather_cut(struct ga_gather *g, const struct ga_source *s, const char *why);
void ga_gather_reached(struct ga_gather *g, const struct ga_source *s, enum ga_reach_what what,
		       const char *text);
/* The part of an absolute path beneath the working tree, or NULL if it is outside or in the git
 * directory.
 */
const char *ga_gather_below(const struct ga_gather *g, const char *path);
/* Directories that a path may be relative to: the top, the script's, and those it changes to. */
void ga_gather_places(const struct ga_source *s, struct ga_strv *ret);
/* Queue a file to be read: `path` is relative to the top, or absolute and outside the project. */
void ga_gather_queue(struct ga_gather *g, const struct ga_source *s, const char *path);
/* Queue the tracked files that match, and those in directories that the pattern may be relative
 * to. */
int ga_gather_matching(struct ga_gather *g, const struct ga_source *s, const char *pattern,
		       bool given);
/* Read a file of the host outside the project: next to a hook, in the git directory, in the
 * home. */
void ga_gather_outside(struct ga_gather *g, const struct ga_source *s, const char *path);
/* Add what words reach, and queue the files that match. */
int ga_gather_words(struct ga_gather *g, const struct ga_source *s, const struct ga_words *w);
/* The words of a text, by the name and content of the file that it is of. */
int ga_gather_text(struct ga_gather *g, const struct ga_source *s, const char *text);
/* Read all queued files, including those queued meanwhile. */
int ga_gather_follow(struct ga_gather *g);

/* The script of this name of any manifest, "*": what lint-staged and its like run. */
int ga_gather_script(struct ga_gather *g, const struct ga_source *s, const char *name);
/* A file with commands, of which those of `s->hook` count. */
int ga_gather_file(struct ga_gather *g, const struct ga_source *s, const char *name);

/* files.c: the words of a text, by the name that its file has and by its first line. `part`: only
 * what a manager's configuration says for this hook, or a manifest for this script. */
void ga_words_of_file(const char *name, const char *text, const char *part, const char *home,
		      struct ga_words *ret);
/* Is it a manifest with scripts that are called by name? */
bool ga_has_scripts(const char *name);

/* tools.c: add what a tool reads, its files and the scripts that it runs. */
int ga_gather_tool(struct ga_gather *g, const struct ga_source *s, const char *name,
		   const char *more);

/* Sources. */
int ga_gather_envrc(struct ga_gather *g, const char *dir);

/* The words of a program in another language: its strings, and what it imports. */
void ga_words_of_code(const char *text, const char *home, struct ga_words *ret);

/* The words of shell text. `home`: what "~" and $HOME are, or NULL. */
void ga_words_of_shell(const char *text, const char *home, struct ga_words *ret);
