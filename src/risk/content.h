/* SPDX-License-Identifier: MIT
 *
 * Inspect content: added text of any file, and files of known syntax. Functions for the latter get
 * both versions, add details of the change to the path rules that fired, and lower these if the
 * change consists only of items listed as harmless. If either version cannot be parsed, the rules
 * are not lowered.
 */
#pragma once

#include <jansson.h>

#include "internal.h"

/* ---- added text (text.c) ------------------------------------------------------- */

/* Characters that deceive a reader or a terminal. */
void ga_text_characters(struct ga_inspect *k, const struct ga_buf *added);
/* Lines that hide something, or pull something in. `added` holds no NUL. */
void ga_text_lines(struct ga_inspect *k, const struct ga_buf *added);
/* dangers.c: lines that match the table of dangers.def. */
void ga_text_dangers(struct ga_inspect *k, const struct ga_buf *added);
/* Guards that the new version lacks. */
void ga_text_guards(struct ga_inspect *k, const struct ga_buf *old, const struct ga_buf *text);
/* Fire a rule with the beginning of a line, once for a change. */
void ga_text_quote(struct ga_inspect *k, const char *rule, const char *line);
/* Do coding agents read the file as instructions, by what fired on its path? */
bool ga_text_is_for_agents(const struct ga_inspect *k);
/* If they do: instructions that a rendered page does not show. `added` holds no NUL. */
void ga_text_hidden(struct ga_inspect *k, const struct ga_buf *old, const struct ga_buf *text,
		    const struct ga_buf *added);
/* Settings that an editor takes from the first and last lines of the file. */
void ga_text_modelines(struct ga_inspect *k, const struct ga_buf *old, const struct ga_buf *text);

/* ---- known files (known.c) ------------------------------------------------------ */

#define GA_KNOWN_MAX ((size_t)4 << 20) /* bytes of a file that is parsed */

struct ga_known {
	struct ga_inspect *k;
	const struct ga_buf *old, *text; /* `old` is empty if there was none */
	const struct ga_buf *added;      /* lines of `text` that `old` has not; holds no NUL */
};

/* Inspect the current change; called once its path rules have fired. */
void ga_inspect_known(const struct ga_known *f);

void ga_known_attributes(const struct ga_known *f); /* known-git.c */
void ga_known_modules(const struct ga_known *f);
void ga_known_gitconfig(const struct ga_known *f);
void ga_known_ignore(const struct ga_known *f);
void ga_known_dotenv(const struct ga_known *f);
void ga_known_version(const struct ga_known *f);
void ga_known_rc(const struct ga_known *f);
void ga_known_workflow(const struct ga_known *f); /* known-build.c */
void ga_known_container(const struct ga_known *f);
void ga_known_makefile(const struct ga_known *f);
void ga_known_automake(const struct ga_known *f);
void ga_known_cmake(const struct ga_known *f);
void ga_known_script(const struct ga_known *f);
void ga_known_deps(const struct ga_known *f); /* deps.c */

/* ---- shared (parse.c) ---------------------------------------------------------- */

/* Some of the names, quoted, and how many more there are. */
char *ga_known_list(const struct ga_strv *names);
/* Add `intro` and such a list as a detail, unless the list is empty: see ga_add_detail(). */
void ga_known_add_detail(struct ga_inspect *k, const char *rule, enum ga_severity s,
			 const char *intro, const struct ga_strv *names);
/* Is `name` one of the words of `list`? One that ends in '*' matches all that begin so. */
bool ga_known_in(const char *name, const char *list);
/* Call for each line of `text` without its end. */
void ga_known_lines(const struct ga_buf *text, void (*line)(void *arg, char *line), void *arg);

/* ---- JSON, and similar trees --------------------------------------------------------- */

/* Parse an object without duplicate keys; NULL: it is not one. With `comments`, comments and commas
 * before a closing bracket are allowed, as editors do. An empty text is an empty object. */
json_t *ga_known_json(const struct ga_buf *text, bool comments);
#define cleanup_json cleanup_(ga_known_json_release)
void ga_known_json_release(json_t **j);
/* Are they the same? The order of keys counts. Either may be NULL. */
bool ga_known_json_same(const json_t *a, const json_t *b);
/* Keys whose values are not the same in both objects. */
void ga_known_json_changed(const json_t *a, const json_t *b, struct ga_strv *ret);

/* Parse the subset of YAML that lock files use or, with `yarn`, yarn's older format. NULL: it is
 * neither, or a key is repeated. */
json_t *ga_known_blocks(const struct ga_buf *text, bool yarn);

struct ga_dep {
	char *name;
	char *version;         /* plain; "": none is given, or no plain one */
	char *origin;          /* everything else that decides what it is, but for the version and
				* the proofs; "" is the registry */
	struct ga_strv proofs; /* checksums, sorted */
	bool runs;             /* when it is installed */
	bool mention;          /* another entry has its proofs */
};
struct ga_deps {
	struct ga_dep *v;
	size_t n, cap;
	struct ga_strv edges;  /* names that packages ask for */
	struct ga_strv rest;   /* what else the file says that counts, in order: "KEY = VALUE" of a
				* tree, lines of a text */
};
#define GA_DEPS_INIT { NULL, 0, 0, GA_STRV_INIT, GA_STRV_INIT }
void ga_deps_release(struct ga_deps *d);
#define cleanup_deps cleanup_(ga_deps_release)

/* Append a package, without version and origin. `d->v` moves. */
struct ga_dep *ga_deps_add(struct ga_deps *d, const char *name);
/* Set both: the version is cut out of the origin, and is part of it unless it is plain. */
void ga_dep_set(struct ga_dep *p, const char *version, const char *origin);
/* Is it numbers, and what releases are called beyond, behind operators of a range? Never a branch,
 * tag, address, path or commit. */
bool ga_dep_is_plain(const char *version);
/* A requirement as Python's tools write it: "name[extra]>=1; marker". Returns false if it is not
 * one. */
bool ga_deps_add_python(struct ga_deps *d, const char *text);

struct ga_deps_text;
typedef void ga_deps_line_fn(struct ga_deps_text *t, char *line);

/* A format. Lists are words separated by blanks. Paths have dots; "*" is every key, "" the top. */
struct ga_deps_format {
	const char *base;      /* the file's name, folded, or "*" and its end */
	const char *rules;     /* path rules about it */
	ga_deps_line_fn *line; /* reads a line of a text; NULL: it is a tree */
	enum ga_deps_syntax { GA_DEPS_JSON, GA_DEPS_TOML, GA_DEPS_BLOCKS } syntax; /* of a tree */
	const char *where;     /* tables and lists of packages; "": the top is one; NULL: none */
	enum ga_deps_name {
		GA_DEPS_KEY, GA_DEPS_MEMBER, GA_DEPS_NPM, GA_DEPS_PNPM, GA_DEPS_YARN, GA_DEPS_ALIAS,
		GA_DEPS_COORDINATE,
	} name;                /* where its name is: for the second, in `member` */
	const char *member;
	const char *origin;    /* members that decide what it is; NULL: another row says that */
	const char *proof;     /* members that are proofs; those in origins are known */
	const char *edges;     /* members that name packages */
	const char *ignored;   /* members without effect of their own; "*": all */
	const char *skipped;   /* paths of what is not compared */
	const char *empty;     /* paths of tables that mean nothing without content */
	const char *own;       /* paths of the project's own version and of what it runs on */
	const char *harmless;  /* what else may change as far as the file's name goes */
	const char *lock;      /* names of lock files, there or further up, that say what is new */
	const char *install;   /* the command that installs what this lock file says; NULL: none is
				* needed */
	const char *into;      /* names of directories, beside it, that it installs into */
	bool loose;            /* which names and versions there are does not matter */
	bool unordered;        /* nor in which order the rest is */
};
/* The adjacent rows for a name; NULL: none. */
const struct ga_deps_format *ga_deps_format(const char *base);
bool ga_deps_read_tree(const struct ga_deps_format *x, const struct ga_buf *text,
		       struct ga_deps *ret); /* deps-tree.c */
bool ga_deps_read_text(const struct ga_deps_format *x, const struct ga_buf *text,
		       struct ga_deps *ret); /* deps-formats.c */

/* The lock file that was read last, for the manifests below it. */
struct ga_deps_lock {
	struct ga_oid oid;
	struct ga_deps deps;
};
