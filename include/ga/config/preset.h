/* SPDX-License-Identifier: MIT
 *
 * The table of common agents: flags for a sandbox, environment variables, and their files in a
 * home.
 */
#pragma once

#include <stdbool.h>

#include "ga/base/strv.h"

/* An agent's startup questions, and their answers. Lists are NULL-terminated. */
struct ga_questions {
	const char *versions;      /* prefixes of the versions that this is known of */
	const char *const *flags;  /* inserted behind those of the preset; "%" in one of them is
				    * the path of the project */
	const char *const *set;    /* NAME=VALUE */
	/* NULL, or the file below home that answers what is asked only once: made where there is
	 * none, of `text` and "}"; if the variable `key` is the only login, with `key_text`, the
	 * end of its value and "\"]}" in between */
	const char *first, *text, *key, *key_text;
	/* files and directories of a project that can have it run commands without its model; those
	 * of them that are in `settings` are JSON, and cannot with no member but `harmless` */
	const char *const *configs, *const *settings;
	const char *harmless;
	const char *noted;         /* it asks before it uses those, unless this file below home
				    * says that the user trusts the project; NULL: it never asks */
	/* that file is JSON, and this member of each of its "projects" says so; NULL: any mention
	 * of a project counts */
	const char *member;
	const char *const *logins; /* files, below home or absolute, that may have it log in by
				    * other means; NULL: it asks for no login */
	bool keys_ignored;         /* interactively, it asks for one even if a key is set */
};

struct ga_preset {
	const char *name;
	const char *const *flags; /* NULL-terminated; inserted between the command and its
				   * arguments */
	const char *const *resume; /* the same, inserted before those to continue the last
				    * conversation, without arguments; empty if the agent has no
				    * such words */
	/* arguments to continue with one more prompt, which follows them, and exit; NULL:
	 * unknown */
	const char *resume_prompt;
	const char *task;         /* the option before a first task, or "" if the task is an
				   * argument by itself; NULL: not known */
	/* NULL-terminated names of environment variables it may see: `keys`, any one of which
	 * serves as a login, and others */
	const char *const *keys, *const *pass;
	const char *const *set;   /* NULL-terminated NAME=VALUE */
	/* paths below home, NULL-terminated: all of the agent's state ... */
	const char *const *state;
	const char *const *logins; /* ... and the files among it that are only a login */
	/* NULL: none; else NULL-terminated: directories below home with its conversations and
	 * nothing else, of which each session has its own; and NAME=PATH (below home), set in
	 * sessions so that it keeps them there */
	const char *const *conversations, *const *conversation_env;
	const char *login_key;    /* `logins` are JSON of which only this member is the login; NULL:
				   * whole files */
	const char *login;        /* how to log in, for users; NULL: no login is needed */
	const char *notes;        /* the file below home that it reads before every task, or NULL */
	/* HOST:PORT that it needs to work, NULL-terminated, as in `network.allow`: exact names, or
	 * "*.NAME" for all below one */
	const char *const *hosts;
	const char *package;      /* name of its npm package; NULL: npm does not have it */
	const char *program;      /* the program to run; NULL: the one called `name` */
	const struct ga_questions *questions; /* NULL: unknown */
};

/* Agents that the user defines, from the words of the setting `agents`: "NAME", or "NAME MEMBER:
 * VALUE" for each value of a member. */
struct ga_presets {
	struct ga_own_preset *v;
	size_t n, cap;
};
#define GA_PRESETS_INIT { NULL, 0, 0 }
#define GA_PRESETS_MAX 32
void ga_presets_release(struct ga_presets *p);
/* Is it such a word? `ga_preset_members` holds the names of the members, ended by NULL. */
bool ga_preset_word_ok(const char *word);
extern const char *const ga_preset_members[];
/* Parse words that are ok; if a member can have one value only, the last one counts. Returns false
 * if there are more than GA_PRESETS_MAX names. */
bool ga_presets_parse(const struct ga_strv *words, struct ga_presets *ret);

/* The preset of a command word (exactly its name, no path), or NULL. The user's own (`own`, may be
 * NULL) take precedence over those built in. */
const struct ga_preset *ga_preset_find(const struct ga_presets *own, const char *command);
/* The i-th preset of all; NULL behind the last. */
const struct ga_preset *ga_preset_at(const struct ga_presets *own, size_t i);
/* The program to run for it: `program`, or else `name`. */
const char *ga_preset_program(const struct ga_preset *p);
