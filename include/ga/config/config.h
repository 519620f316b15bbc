/* SPDX-License-Identifier: MIT
 *
 * The configuration: one table of keys, filled by layers, of which each overrides the one before:
 * the built-in defaults, the user's file, the repository's file, the command line.
 *
 * The repository's file may tighten as it likes. What in it loosens needs the user's trust
 * (ga/config/trust.h); ga_config_grants() lists that for the user to read. The caller reads the
 * file from the commit that the session is based on, never from a working tree.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "ga/base/buf.h"
#include "ga/base/error.h"
#include "ga/base/strv.h"
#include "ga/config/limits.h"

/* Later ones are stricter. */
enum ga_ignored { GA_IGNORED_SHARE, GA_IGNORED_HIDE };
enum ga_dirty { GA_DIRTY_CARRY, GA_DIRTY_IGNORE, GA_DIRTY_REFUSE };

/* What a session's project overlay has as its lower layer. */

/* How an agent's startup questions are answered. */
enum ga_questioned { GA_QUESTIONS_ANSWER, GA_QUESTIONS_ASK };

/* Who shares the agents' home: all sessions, those of one repository, or none (an overlay). */
enum ga_home_mode { GA_HOME_SHARED, GA_HOME_PROJECT, GA_HOME_OVERLAY };

enum ga_secrets { GA_SECRETS_OFF, GA_SECRETS_WARN, GA_SECRETS_MASK };

/* The network of a session: the host's, the listed hosts, none. Later ones are stricter. */
enum ga_network { GA_NETWORK_HOST, GA_NETWORK_ALLOW, GA_NETWORK_NONE };
const char *ga_network_name(enum ga_network n); /* "host", ... */

/* How to land, unless the command line says otherwise. */
enum ga_way { GA_WAY_MERGE, GA_WAY_SQUASH, GA_WAY_REBASE, GA_WAY_FF_ONLY };

enum ga_origin { GA_ORIGIN_DEFAULT, GA_ORIGIN_USER, GA_ORIGIN_REPOSITORY, GA_ORIGIN_COMMAND };
const char *ga_origin_name(enum ga_origin o); /* "default", "user", "repository", "command" */

#define GA_CONFIG_KEYS 63
#define GA_CONFIG_REPOSITORY_FILE ".agentdev.yaml"

/* Origins of the values, and the files that were read. */
struct ga_config_from {
	/* by key of the table: which layer set it, and where in the file */
	struct ga_config_set {
		enum ga_origin origin;
		unsigned line, column;
		bool left_out; /* the repository's file sets it otherwise, which needs trust */
	} set[GA_CONFIG_KEYS];
	bool trusted;     /* the user trusts the repository's file; set before it is read */
	bool untrusted;   /* untrusted: leave out what needs trust, instead of an error */
	char *user_home;  /* what "~" is */
	char *user_file;  /* for messages */
};

/* Paths and permissions inside. Each layer appends to the lists. */
struct ga_config_inside {
	struct ga_strv tools;   /* absolute paths of directories with programs */
	struct ga_strv ro, rw;  /* the same, of directories to show */
	struct ga_strv devices; /* words as in ga/config/devices.h */
	struct ga_strv filters; /* names of git's filters that run inside */
	unsigned rename;        /* serve renames of directories? 0 or 1 */
	unsigned nested;        /* may programs create sandboxes of their own? 0 or 1 */
};

struct ga_config {
	unsigned dirty;   /* enum ga_dirty */
	unsigned ignored; /* enum ga_ignored */
	char *home;       /* the agents' home */
	unsigned home_mode; /* enum ga_home_mode */
	unsigned questions; /* enum ga_questioned */
	struct ga_strv agents; /* in the form ga_presets_parse() takes */
	struct ga_strv hosts; /* in the form ga_host_find() takes */
	struct ga_config_inside inside;
	struct {
		struct ga_strv pass; /* names, perhaps ending in '*'; each layer appends */
		struct ga_strv set;  /* NAME=VALUE, each name once */
	} env;
	char *state_dir;  /* state directory of all repositories */
	uint64_t disk_free; /* bytes of disk space to leave free */
	unsigned terminal_filter; /* 0 or 1 */
	unsigned record;  /* record sessions? 0 or 1 */
	unsigned keep_unchanged; /* keep sessions that changed nothing? 0 or 1 */
	uint64_t transcript; /* greatest size of a recording in bytes */
	char *notify;     /* how to announce the end of a detached session: "none", "desktop", or a
			   * program */
	struct {
		struct ga_strv setup, finish; /* shell commands; each layer appends */
		struct ga_strv services; /* the same, in the form ga_services_parse() takes */
	} beside;
	unsigned land;    /* enum ga_way */
	struct {
		unsigned mode;             /* enum ga_secrets */
		struct ga_strv add, allow; /* patterns; each layer appends */
	} secret;
	struct {
		struct ga_strv add, allow, hold, block; /* the same (ga/risk/risk.h) */
		unsigned strict; /* hold what builds and tests execute? 0 or 1 */
	} risk;
	struct {
		unsigned mode; /* enum ga_network */
		/* each layer appends to these: rules (ga/net/netplan.h), paths, ports
		 * (ga/net/net.h) */
		struct ga_strv allow, sockets, publish;
	} net;
	struct ga_limits limits;
	struct ga_use_limits use; /* tasks_default is not set here: use ga_config_use() */
	struct ga_config_from from;
};
#define GA_CONFIG_INIT { .dirty = GA_DIRTY_CARRY, .secret.mode = GA_SECRETS_MASK }
void ga_config_release(struct ga_config *c);
#define cleanup_config cleanup_(ga_config_release)

/* Set the defaults. `state_home` is XDG_STATE_HOME or NULL, `user_file` the user's file, which need
 * not exist. */
void ga_config_defaults(struct ga_config *c, const char *home, const char *state_home,
			const char *user_file);
/* The limits on what a session may use. */
struct ga_use_limits ga_config_use(const struct ga_config *c);
/* Make `to`, which is uninitialised, a deep copy of `from`. */
void ga_config_copy(struct ga_config *to, const struct ga_config *from);

/* Apply the text of a file over `c`. Errors begin with "NAME:LINE:COLUMN: "; `c` may be changed
 * partly. It is an error if a repository's file sets what no repository may set, or, unless the
 * file is trusted, what needs trust; that includes any value looser than both the user's and the
 * default. */
int ga_config_read(struct ga_config *c, enum ga_origin origin, const char *name, const void *text,
		   size_t n, struct ga_error *err);
/* The settings of a repository's file, applied over `c`, that need trust. */
struct ga_grant {
	size_t key;            /* number in the table of keys */
	char *value;           /* the value, as written in the file */
	char *words;           /* what it would let an agent do, for users; one line, escaped */
	unsigned line, column;
};
struct ga_grants {
	struct ga_grant *v;
	size_t n, cap;
};
#define GA_GRANTS_INIT { NULL, 0, 0 }
void ga_grants_release(struct ga_grants *g);
#define cleanup_grants cleanup_(ga_grants_release)
/* Append to `ret`, in the file's order, what in it needs trust. Errors are those of
 * ga_config_read(), except for needing trust. */
int ga_config_grants(const struct ga_config *c, const char *name, const void *text, size_t n,
		     struct ga_grants *ret, struct ga_error *err);
/* Has the list one with the same key and value? */
bool ga_grants_have(const struct ga_grants *g, const struct ga_grant *one);

/* Read the user's file; it is no error if there is none. */
int ga_config_read_user(struct ga_config *c, struct ga_error *err);

/* Set one key from the command line; `value` is written as in a file. */
int ga_config_set_key(struct ga_config *c, const char *key, const char *value,
		      struct ga_error *err);
/* The same from "KEY=VALUE", once or for each word. */
int ga_config_set_word(struct ga_config *c, const char *word, struct ga_error *err);
int ga_config_set_words(struct ga_config *c, const struct ga_strv *words, struct ga_error *err);

/* The table of keys, by number below GA_CONFIG_KEYS. */
const char *ga_config_key(size_t i);
const char *ga_config_help(size_t i);
/* How a repository's file may change the key: "never", "stricter" (only make it stricter),
 * "tighten" (make it stricter, and looser with trust), "trust" (set it with trust). */
const char *ga_config_may(size_t i);
/* The value as in a file, without quotes; the words of a list are separated by ", ". The caller
 * frees it. */
char *ga_config_text(const struct ga_config *c, size_t i);
/* Is the value a number rather than a word, a path or a list? If so, `*ret` is it: bytes, seconds,
 * or a count. */
bool ga_config_number(const struct ga_config *c, size_t i, uint64_t *ret);
/* "default", "~/.config/git-agent/config.yaml:3", ".agentdev.yaml:1", "command line". The caller
 * frees it. */
char *ga_config_origin(const struct ga_config *c, size_t i);
/* The layer that set the key of this name. */
enum ga_origin ga_config_set_by(const struct ga_config *c, const char *key);
/* Where the key was set: "FILE:LINE:COLUMN", as in errors, or "the command line". The caller frees
 * it. */
char *ga_config_place(const struct ga_config *c, const char *key);

/* Append a user's file that would give the same configuration; with `origin`, each value is
 * followed by a comment that says where it comes from. */
void ga_config_print(const struct ga_config *c, bool origin, struct ga_buf *out);

/* "limits.capture.depth" */
const char *ga_limit_key(enum ga_limit l);

/* The value of that limit in `l`, as text. The caller frees it. */
char *ga_limit_text(const struct ga_limits *l, enum ga_limit which);

/* The defaults. */
void ga_limits_default(struct ga_limits *ret);
