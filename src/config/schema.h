/* SPDX-License-Identifier: MIT
 *
 * The table of keys.
 */
#ifndef CONFIG_SCHEMA_H
#define CONFIG_SCHEMA_H

#include <stdint.h>

#include "ga/config.h"

enum key_type {
	KEY_WORD,
	KEY_PATH,
	KEY_COUNT,
	KEY_SIZE,
	KEY_TIME,
	KEY_PATTERNS,
	KEY_PATHS,
	KEY_TEXTS, /* a list of what `check` accepts, kept as it was written */
	KEY_PAIRS, /* a map of names, kept as a list of NAME=VALUE; a name counts as last set */
};

/* What a repository's file may do with a key. */
enum key_may {
	KEY_NEVER,
	KEY_STRICTER, /* a number: lower it; a word: give one that stands later in its list; a
		       * list: add to it */
	KEY_TIGHTEN,  /* the same, and the other way once the user trusts what it says */
	KEY_TRUST,    /* nothing, unless the user trusts what it says (ga_config.trusted) */
};

/* A number whose 0 is no limit at all, and looser than any other. */
#define KEY_OR_NONE (-2)
#define NO_LIMIT (-1)

struct config_key {
	const char *name; /* from the top, with dots */
	enum key_type type;
	enum key_may repository;
	size_t offset;    /* in struct ga_config: unsigned, char *, uint64_t or struct ga_strv by
			   * type */
	const char *value; /* default, as a file would have it; NULL: ga_config_defaults() knows */
	const char *const *words; /* KEY_WORD, or what KEY_PATH takes besides; ended by NULL */
	uint64_t min, max;        /* numbers */
	int limit;                /* enum ga_limit, NO_LIMIT, or KEY_OR_NONE */
	const char *help;
	bool (*check)(const char *text); /* KEY_TEXTS: is it one? */
	const char *takes;               /* KEY_TEXTS: what `check` accepts, for messages */
	const char *grants; /* KEY_TRUST: what it lets an agent do, for people, with "%s" for the
			     * value (or the word of a list) */
	bool (*worse)(const char *text); /* KEY_TRUST: does this one grant more: */
	const char *more;                /* what is said behind that, then */
	bool repeats;                    /* KEY_TEXTS: the same can be in it twice */
	bool named;                      /* KEY_TEXTS: of services, which can have names */
	const char *const *members;      /* KEY_TEXTS: names, each with lists of these; or NULL */
};
extern const struct config_key config_keys[GA_CONFIG_KEYS];

/* Names, and NAME=VALUE, that can be given to an environment; a name may end in '*'. */
bool config_is_variable(const char *text);
bool config_is_assignment(const char *text);

/* The key of exactly this name, or NULL. */
const struct config_key *config_find(const char *name);
/* Is it the name of a map in which there are keys? */
bool config_is_group(const char *name);
/* The key or group in `group` ("" at the top) nearest to `word`, which may have dots; NULL if none
 * is near. The caller frees it. */
char *config_nearest(const char *group, const char *word);

/* Read a value. False if it is none that the key takes; then `ret`, which holds what it would
 * take, for people. A path or pattern is the caller's to free. */
union config_value {
	uint64_t n;
	char *path;
};
bool config_value_parse(const struct config_key *k, const char *user_home, const char *text,
			union config_value *ret, struct ga_buf *ret_takes);
uint64_t config_number(const struct ga_config *c, const struct config_key *k);
/* Of a key that is a list, or pairs. */
bool config_is_list(const struct config_key *k);
/* Is `n` looser than `than`? Of numbers and words. */
bool config_is_looser(const struct config_key *k, uint64_t n, uint64_t than);
const struct ga_strv *config_list(const struct ga_config *c, const struct config_key *k);
void config_store(struct ga_config *c, const struct config_key *k, union config_value v);
/* What storing `text` grants an agent, for people. The caller frees it. */
char *config_grant_text(const struct ga_config *c, const struct config_key *k, const char *text);

#endif
