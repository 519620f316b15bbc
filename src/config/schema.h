/* SPDX-License-Identifier: MIT
 *
 * The table of keys.
 */
#pragma once

#include <stdint.h>

#include "ga/config/config.h"

enum key_type {
	KEY_WORD,
	KEY_PATH,
	KEY_COUNT,
	KEY_SIZE,
	KEY_TIME,
	KEY_PATTERNS,
	KEY_PATHS,
	KEY_TEXTS, /* a list of words that `check` accepts, kept as they were written */
	KEY_PAIRS, /* a map, kept as a list of NAME=VALUE; for each name the last value counts */
};

/* How a repository's file may change a key. */
enum key_may {
	KEY_NEVER,
	KEY_STRICTER, /* a number: lower it; a word: choose a later one of its list; a list: add to
		       * it */
	KEY_TIGHTEN,  /* the same, and the opposite once the user trusts the file */
	KEY_TRUST,    /* only if the user trusts the file (ga_config.trusted) */
};

/* A number of which 0 means no limit, the loosest value. */
#define KEY_OR_NONE (-2)
#define NO_LIMIT (-1)

struct config_key {
	const char *name; /* full name, with dots */
	enum key_type type;
	enum key_may repository;
	size_t offset;    /* in struct ga_config: unsigned, char *, uint64_t or struct ga_strv by
			   * type */
	const char *value; /* default, as written in a file; NULL: set by ga_config_defaults() */
	const char *const *words; /* KEY_WORD: the words; KEY_PATH: words that it accepts besides
				   * paths; ended by NULL */
	uint64_t min, max;        /* for numbers */
	int limit;                /* enum ga_limit, NO_LIMIT, or KEY_OR_NONE */
	const char *help;
	bool (*check)(const char *text); /* KEY_TEXTS: is this word valid? */
	const char *takes;               /* KEY_TEXTS: what `check` accepts, for messages */
	/* KEY_TRUST: what it lets an agent do, for users; "%s" is the value (or the word of a
	 * list) */
	const char *grants;
	bool (*worse)(const char *text); /* KEY_TRUST: does this value grant more ... */
	const char *more;                /* ... then this is added to `grants` */
	bool repeats;                    /* KEY_TEXTS: a word may occur twice */
	bool named;                      /* KEY_TEXTS: the list is one of services, which can have
					  * names */
	const char *const *members;      /* KEY_TEXTS: the list is a map of names, each with these
					  * members; or NULL */
};
extern const struct config_key config_keys[GA_CONFIG_KEYS];

/* Valid names of environment variables to pass (a name may end in '*'), and valid NAME=VALUE. */
bool config_is_variable(const char *text);
bool config_is_assignment(const char *text);

/* The key of exactly this name, or NULL. */
const struct config_key *config_find(const char *name);
/* Is it the name of a group of keys? */
bool config_is_group(const char *name);
/* The key or group in `group` ("" is the top level) nearest to `word`, which may contain dots; NULL
 * if none is near. The caller frees it. */
char *config_nearest(const char *group, const char *word);

/* Parse a value. Returns false if the key does not accept it, with the accepted values in `ret`,
 * for users. The caller frees a path or pattern. */
union config_value {
	uint64_t n;
	char *path;
};
bool config_value_parse(const struct config_key *k, const char *user_home, const char *text,
			union config_value *ret, struct ga_buf *ret_takes);
uint64_t config_number(const struct ga_config *c, const struct config_key *k);
/* Is the key a list, or pairs? */
bool config_is_list(const struct config_key *k);
/* Is `n` looser than `than`? For numbers and words. */
bool config_is_looser(const struct config_key *k, uint64_t n, uint64_t than);
const struct ga_strv *config_list(const struct ga_config *c, const struct config_key *k);
void config_store(struct ga_config *c, const struct config_key *k, union config_value v);
/* What storing `text` would grant an agent, for users. The caller frees it. */
char *config_grant_text(const struct ga_config *c, const struct config_key *k, const char *text);
