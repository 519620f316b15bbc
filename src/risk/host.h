/* SPDX-License-Identifier: MIT
 *
 * Gathering what the host's own state makes critical.
 */
#ifndef GA_RISK_HOST_H
#define GA_RISK_HOST_H

#include "internal.h"

struct ga_gather {
	struct ga_repo *repo;
	const struct ga_repo_info *info;
	struct ga_host_facts *h;
	char *home;          /* what "~" means to git; NULL: there is none */
	bool have_tree;      /* HEAD is born */
	struct ga_oid tree;  /* HEAD's */
	struct ga_strv scripts; /* relative paths of scripts hooks name: read one step further */
	size_t scripts_read;
	struct ga_strv dirs;    /* directories that hooks name: tools may run there */
	struct ga_strv inputs;  /* files of tools that were read, and which of their scripts */
	struct ga_buf texts;    /* of the hooks, and of what they call */
	struct ga_changes all;  /* HEAD's files, once listed */
	struct ga_strmap by_base; /* last component -> index in `all` */
	bool listed;
	struct ga_strv tails; /* what was looked for by its last parts, and for which rule ... */
	struct ga_strmap tails_seen; /* ... so that it is done once */
	const char *cwd; /* where scripts and tools are started besides the root, or NULL */
	struct ga_error *err;
};

/* What is followed and read at most; the last is bytes of a file. What is more is not passed over
 * in silence: ga_gather_cut(). */
enum { GA_SCRIPTS_MAX = 512, GA_DIRS_MAX = 64, GA_INPUTS_MAX = 512, GA_HOST_TEXT_MAX = 4 << 20 };

/* What a text is, for the scanner. */
struct ga_scan {
	const char *what; /* for the reason: "the hook 'pre-commit'"; quoted */
	const char *rule;
	bool hook;        /* shell, run by git itself: its tools and directories count */
	bool command;     /* one command of the configuration, not lines of a script */
	bool deeper;      /* scripts it names are read as well */
	const char *dir;  /* where paths may start besides the root, or NULL */
};

void ga_gather_release(struct ga_gather *g);
/* Find HEAD's tree, if there is one. */
int ga_gather_tree(struct ga_gather *g);

/* Follow the scripts that were found, and what tools read that are called, until there is nothing
 * new. */
int ga_gather_reached(struct ga_gather *g);

/* Read `dir`/.envrc of the host's working tree, open as `workfd`: what it loads, names and runs. */
int ga_envrc_read(struct ga_gather *g, int workfd, const char *dir);

/* Find in a text of the host's what names something in the project. Returns -1
 * with g->err set if the repository cannot be read. */
int ga_scan_text(struct ga_gather *g, const struct ga_scan *s, const char *text);

/* Follow `path` (absolute) component by component on the host's file system. Each
 * symbolic link of the working tree on the way, and where it ends, becomes a fact. */
void ga_gather_path(struct ga_gather *g, const char *path, bool dir, const char *rule,
		    const char *what);

/* Something is not followed to its end, and `why` says what: any path may be meant, so every one
 * counts. `why` is quoted. */
void ga_gather_cut(struct ga_gather *g, const char *rule, const char *why);

/* Read a file of the host's working tree, links followed. Returns false if there is none; one that
 * is too long, or cannot be read, is what ga_gather_cut() is for. */
bool ga_gather_read(struct ga_gather *g, const char *path, const char *rule, struct ga_buf *out);

/* Raise one rule; `by` says what runs such files. */
void ga_gather_raise(struct ga_gather *g, const char *rule, const char *by);

/* host-home.c: where "~" is, and what of the user's own, outside the project, leads into it: links
 * in the home directory, PATH, units of systemd. */
void ga_gather_home(struct ga_gather *g);
void ga_gather_environment(struct ga_gather *g);

/* Raise the rules of a tool. */
void ga_gather_tool(struct ga_gather *g, const char *word, const char *next, const char *what);

/* Read the files of the tools that were raised, for what they run. May find more scripts, and
 * more tools. */
int ga_gather_inputs(struct ga_gather *g);

/* Is there such a file or directory, in HEAD or in the working tree? */
enum ga_kind { GA_KIND_NONE, GA_KIND_FILE, GA_KIND_DIR };
int ga_gather_kind(struct ga_gather *g, const char *path, enum ga_kind *ret);

#endif
