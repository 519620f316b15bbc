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
	struct ga_strv scripts; /* relative paths of scripts that hooks name; they are read too */
	size_t scripts_read;    /* how many of them were */
	struct ga_strv dirs;    /* directories that hooks name: tools may run there */
	struct ga_strv inputs;  /* tools' files that were read, and "FILE: SCRIPT" of manifests */
	struct ga_buf texts;    /* all text that was scanned, for names of scripts of manifests */
	struct ga_changes all;  /* HEAD's files, once `listed` */
	struct ga_strmap by_base; /* last component -> index in `all` */
	bool listed;
	struct ga_strv tails; /* ends of paths that were searched for, with the rule ... */
	struct ga_strmap tails_seen; /* ... so that each is searched for once */
	const char *cwd; /* directory where scripts and tools may run, besides the root; or NULL */
	struct ga_error *err;
};

/* Limits on what is followed and read; the last is bytes of a file. What is beyond is not ignored
 * in silence: see ga_gather_cut(). */
enum { GA_SCRIPTS_MAX = 512, GA_DIRS_MAX = 64, GA_INPUTS_MAX = 512, GA_HOST_TEXT_MAX = 4 << 20 };

/* What a text is, for the scanner. */
struct ga_scan {
	const char *what; /* for the reason: "the hook 'pre-commit'"; quoted */
	const char *rule;
	bool hook;        /* it is shell that git runs: tools and directories it names count */
	bool command;     /* it is one command of the configuration, not lines of a script */
	bool deeper;      /* scripts that it names are read as well */
	const char *dir;  /* directory that paths may be relative to, besides the root; or NULL */
};

void ga_gather_release(struct ga_gather *g);
/* Find HEAD's tree, if there is one. */
int ga_gather_tree(struct ga_gather *g);

/* Read the scripts that were found, and the files of tools that are called, until nothing new is
 * found. */
int ga_gather_reached(struct ga_gather *g);

/* Read `dir`/.envrc of the host's working tree (`workfd`), and add what it loads, names and runs.
 */
int ga_envrc_read(struct ga_gather *g, int workfd, const char *dir);

/* Add what a text of the host's names in the project. Returns -1 with g->err set if the repository
 * cannot be read. */
int ga_scan_text(struct ga_gather *g, const struct ga_scan *s, const char *text);

/* Follow `path` (absolute) component by component on the host's file system. Each
 * symbolic link of the working tree on the way, and where it ends, becomes a fact. */
void ga_gather_path(struct ga_gather *g, const char *path, bool dir, const char *rule,
		    const char *what);

/* Something is not followed to its end, as `why` (quoted) says. It may name any path, so a fact is
 * added that covers all. */
void ga_gather_cut(struct ga_gather *g, const char *rule, const char *why);

/* Read a file of the host's working tree, following links. False if there is none, or it cannot be
 * read to its end, for which ga_gather_cut() is called. */
bool ga_gather_read(struct ga_gather *g, const char *path, const char *rule, struct ga_buf *out);

/* Make a rule critical; `by` says what runs such files. */
void ga_gather_raise(struct ga_gather *g, const char *rule, const char *by);

/* host-home.c: find the home directory. */
void ga_gather_home(struct ga_gather *g);
/* Add what leads into the project from outside of it: links in the home directory, PATH, units of
 * systemd. */
void ga_gather_environment(struct ga_gather *g);

/* If `word` is a tool, raise its rules. `next`: the word after it, or NULL; `what` calls it. */
void ga_gather_tool(struct ga_gather *g, const char *word, const char *next, const char *what);

/* Read the files of the tools whose rules were raised, for what they run. May find more scripts,
 * and more tools. */
int ga_gather_inputs(struct ga_gather *g);

/* Is there such a file or directory, in HEAD or in the working tree? */
enum ga_kind { GA_KIND_NONE, GA_KIND_FILE, GA_KIND_DIR };
int ga_gather_kind(struct ga_gather *g, const char *path, enum ga_kind *ret);

#endif
