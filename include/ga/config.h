/* SPDX-License-Identifier: MIT
 *
 * Configuration: one table of keys, filled by layers. Each layer counts more than the one before:
 * what is built in, the user's file, the repository's file, the command line.
 *
 * The repository's file may tighten as it likes. What in it loosens needs the user's trust
 * (ga/trust.h): ga_config_grants() lists that, for him to read. It is read from the commit that a
 * session stands on, by the caller: never from a working tree.
 */
#ifndef GA_CONFIG_H
#define GA_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "ga/buf.h"
#include "ga/error.h"
#include "ga/limits.h"
#include "ga/strv.h"

/* Later ones are stricter. */
enum ga_ignored { GA_IGNORED_SHARE, GA_IGNORED_HIDE };
enum ga_dirty { GA_DIRTY_CARRY, GA_DIRTY_IGNORE, GA_DIRTY_REFUSE };

/* What lies beneath a session. */
enum ga_tree { GA_TREE_BASE, GA_TREE_LIVE };

/* Whose the agents' home is. */
enum ga_home_mode { GA_HOME_SHARED, GA_HOME_PROJECT, GA_HOME_OVERLAY };

enum ga_secrets { GA_SECRETS_OFF, GA_SECRETS_WARN, GA_SECRETS_MASK };

/* What a session can reach: all that the host can, what is listed, nothing. Later ones are
 * stricter. */
enum ga_network { GA_NETWORK_HOST, GA_NETWORK_ALLOW, GA_NETWORK_NONE };
const char *ga_network_name(enum ga_network n); /* "host", ... */

/* To land, unless the command line says. */
enum ga_way { GA_WAY_MERGE, GA_WAY_SQUASH, GA_WAY_REBASE, GA_WAY_FF_ONLY };

enum ga_origin { GA_ORIGIN_DEFAULT, GA_ORIGIN_USER, GA_ORIGIN_REPOSITORY, GA_ORIGIN_COMMAND };
const char *ga_origin_name(enum ga_origin o); /* "default", "user", "repository", "command" */

#define GA_CONFIG_KEYS 58
#define GA_CONFIG_REPOSITORY_FILE ".agentdev.yaml"

struct ga_config {
	unsigned dirty;   /* enum ga_dirty */
	unsigned ignored; /* enum ga_ignored */
	unsigned tree;    /* enum ga_tree */
	char *home;       /* the agents' home */
	unsigned home_mode; /* enum ga_home_mode */
	struct ga_strv agents; /* as ga_presets_parse() takes them */
	struct ga_strv tools; /* absolute paths; each layer adds to them */
	struct ga_strv mounts_ro, mounts_rw; /* the same, of directories to be shown */
	struct ga_strv env_pass; /* names of variables, some ending in '*'; each layer adds */
	struct ga_strv env_set; /* NAME=VALUE, each name once */
	char *state_dir;  /* where the state of all repositories is kept */
	uint64_t disk_free; /* bytes that are left to others */
	unsigned terminal_filter; /* 0 or 1 */
	unsigned record;  /* are sessions recorded? 0 or 1 */
	uint64_t transcript; /* bytes of a recording */
	char *notify;     /* of the end of a detached session: "none", "desktop", or a program */
	struct ga_strv setup, finish; /* shell commands; each layer adds to them */
	struct ga_strv services; /* the same, as ga_services_parse() takes them */
	unsigned land;    /* enum ga_way */
	unsigned rename;  /* are renames of directories served inside? 0 or 1 */
	unsigned nested;  /* may programs inside make sandboxes of their own? 0 or 1 */
	unsigned secrets; /* enum ga_secrets */
	struct ga_strv secrets_add, secrets_allow; /* patterns; each layer adds to them */
	struct ga_strv risk_add, risk_allow, risk_hold, risk_block; /* the same (ga/risk.h) */
	struct ga_strv filters; /* names of git's filters that run inside */
	unsigned network; /* enum ga_network */
	/* of these each layer adds to the former: rules (ga/netplan.h), paths, ports (ga/net.h) */
	struct ga_strv network_allow, network_sockets, network_publish;
	struct ga_limits limits;
	struct ga_use_limits use; /* but for tasks_default: ga_config_use() */
	/* where each key of the table was set, and at which place of the file */
	struct ga_config_set {
		enum ga_origin origin;
		unsigned line, column;
		bool left_out; /* the repository's file says something else, which needs trust */
	} set[GA_CONFIG_KEYS];
	bool trusted;     /* does the user trust what the repository's file says? Set before that */
	bool untrusted;   /* he does not: what needs it is left out, instead of being an error */
	char *user_home;  /* what "~" is */
	char *user_file;  /* for messages */
};
#define GA_CONFIG_INIT { .dirty = GA_DIRTY_CARRY, .secrets = GA_SECRETS_MASK }
void ga_config_release(struct ga_config *c);
#define cleanup_config cleanup_(ga_config_release)

/* The defaults. `state_home` is $XDG_STATE_HOME or NULL, `user_file` the user's file, whether it
 * is there or not. */
void ga_config_defaults(struct ga_config *c, const char *home, const char *state_home,
			const char *user_file);
/* What a session may use. */
struct ga_use_limits ga_config_use(const struct ga_config *c);
void ga_config_copy(struct ga_config *to, const struct ga_config *from);

/* Take a file in. Errors begin with "NAME:LINE:COLUMN: "; then `c` may hold a part of it. A
 * repository's file that sets what no repository may is an error; so is, unless it is trusted,
 * what needs trust, among it what is looser than both the user and what is built in. */
int ga_config_read(struct ga_config *c, enum ga_origin origin, const char *name, const void *text,
		   size_t n, struct ga_error *err);
/* What a repository's file, taken in over `c`, has that needs trust. */
struct ga_grant {
	size_t key;            /* of the table */
	char *value;           /* as it stands in the file */
	char *words;           /* what it lets an agent do, for people; one line, escaped */
	unsigned line, column;
};
struct ga_grants {
	struct ga_grant *v;
	size_t n, cap;
};
#define GA_GRANTS_INIT { NULL, 0, 0 }
void ga_grants_release(struct ga_grants *g);
#define cleanup_grants cleanup_(ga_grants_release)
/* Errors are those of ga_config_read(), but for what needs trust: that is appended to `ret`, in the
 * file's order. */
int ga_config_grants(const struct ga_config *c, const char *name, const void *text, size_t n,
		     struct ga_grants *ret, struct ga_error *err);
/* Is there one that says the same? */
bool ga_grants_have(const struct ga_grants *g, const struct ga_grant *one);

/* The user's file; none is no error. */
int ga_config_read_user(struct ga_config *c, struct ga_error *err);

/* One key from the command line, its value as in a file. */
int ga_config_set_key(struct ga_config *c, const char *key, const char *value,
		      struct ga_error *err);
/* "KEY=VALUE" */
int ga_config_set_word(struct ga_config *c, const char *word, struct ga_error *err);
int ga_config_set_words(struct ga_config *c, const struct ga_strv *words, struct ga_error *err);

/* The table, by number below GA_CONFIG_KEYS. */
const char *ga_config_key(size_t i);
const char *ga_config_help(size_t i);
/* What a repository's file may do with it: "never" (nothing), "stricter", "tighten" (make it
 * stricter, and looser with trust), "trust" (set it with trust). */
const char *ga_config_may(size_t i);
/* The value as a file would have it, without quotes; of a list its words, parted by ", ". The
 * caller frees it. */
char *ga_config_text(const struct ga_config *c, size_t i);
/* Is it a number rather than a word, a path or a list? Then `*ret` is that: bytes, seconds, or a
 * count. */
bool ga_config_number(const struct ga_config *c, size_t i, uint64_t *ret);
/* "default", "~/.config/git-agent/config.yaml:3", ".agentdev.yaml:1", "command line". The caller
 * frees it. */
char *ga_config_origin(const struct ga_config *c, size_t i);
/* Of a key, by its name. */
enum ga_origin ga_config_set_by(const struct ga_config *c, const char *key);
/* Of a key that was set: "FILE:LINE:COLUMN", as errors have it, or "the command line". */
char *ga_config_place(const struct ga_config *c, const char *key);

/* All of it as a file of the user's that would give the same; with `origin`, where each value comes
 * from behind it, as a comment. */
void ga_config_print(const struct ga_config *c, bool origin, struct ga_buf *out);

#endif
