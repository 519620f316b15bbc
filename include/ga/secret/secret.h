/* SPDX-License-Identifier: MIT
 *
 * Secrets: files whose name or content says that they hold one. The table of rules is data; one
 * scanner reads the content of files in bounded, linear time. Nothing here keeps, prints or returns
 * the value of a secret: results are kinds, and words for them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ga/base/buf.h"
#include "ga/base/error.h"
#include "ga/base/oid.h"
#include "ga/base/strv.h"
#include "ga/repo/repo.h"
#include "ga/repo/snapshot.h"

/* Later ones are worse. */
enum ga_tier {
	GA_TIER_NONE,
	GA_TIER_NOTE,  /* T3: may hold a secret, or holds one that is encrypted */
	GA_TIER_WARN,  /* T2: likely holds a secret */
	GA_TIER_BLOCK, /* T1: a live key or credential */
};
/* 1 to 3; 0 for none. */
unsigned ga_tier_number(enum ga_tier t);

/* Which content a rule requires. */
enum ga_secret_check {
	GA_CHECK_NAME,     /* none: the name suffices */
	GA_CHECK_HIT,      /* a secret in it, else it is no finding */
	GA_CHECK_HIT_NOTE, /* a secret in it, else it is T3 */
	GA_CHECK_PASSWORD, /* as HIT, but T2 unless it holds a key or token */
	GA_CHECK_DOTENV,
	GA_CHECK_SSH,
	GA_CHECK_PEM,
	GA_CHECK_KEYFILE,
	GA_CHECK_GPG,
	GA_CHECK_GCP,
	GA_CHECK_K8S,
	GA_CHECK_VAULT,
	GA_CHECK_RAILS,
	GA_CHECK_WALLET,
	GA_CHECK_GENERIC,
	GA_CHECK_TEXT,     /* text, with a key or token that is known by its form */
};

struct ga_secret_rule {
	const char *id;
	enum ga_tier tier;
	enum ga_secret_check check;
	const char *patterns; /* as in struct ga_rule; NULL: not by name */
	const char *reason;
};
/* The table of rules, of `*ret_n` rows. */
const struct ga_secret_rule *ga_secret_rules(size_t *ret_n);

/* ---- content ---------------------------------------------------------------- */

/* The number of bytes that are scanned of a file. */
#define GA_SECRET_SCAN_MAX ((size_t)1 << 20)

enum {
	GA_MARK_KEY = 1 << 0,           /* a private key without a passphrase */
	GA_MARK_KEY_LOCKED = 1 << 1,    /* a private key with a passphrase */
	GA_MARK_PUBLIC = 1 << 2,        /* a certificate or public key */
	GA_MARK_TOKEN = 1 << 3,         /* a token recognised by its form */
	GA_MARK_JWT = 1 << 4,
	GA_MARK_LOGIN = 1 << 5,         /* a URL with a password, or an Authorization header */
	GA_MARK_SECRET = 1 << 6,        /* a literal value of something called password, token
					 * ... */
	GA_MARK_RANDOM = 1 << 7,        /* such a value that looks random */
	GA_MARK_VALUE = 1 << 8,         /* any literal value at all */
	GA_MARK_OPAQUE = 1 << 9,        /* the whole file is one word that looks random */
	GA_MARK_SERVICE_ACCOUNT = 1 << 10,
	GA_MARK_AUTHORIZED_USER = 1 << 11,
	GA_MARK_KUBE_SECRET = 1 << 12,  /* a Kubernetes Secret with data */
	GA_MARK_SEALED = 1 << 13,       /* encrypted by SOPS, sealed-secrets, Ansible or Pulumi */
	GA_MARK_JWK = 1 << 14,          /* a JSON web key with its private part */
	GA_MARK_KEYSTORE = 1 << 15,     /* an encrypted keystore of a wallet */
	GA_MARK_PGP_SECRET = 1 << 16,   /* binary OpenPGP data that begins with a secret key */
	GA_MARK_FILTERED = 1 << 17,     /* encrypted by git-crypt or transcrypt: a git filter
					 * decrypts it at checkout */
	GA_MARK_BINARY = 1 << 18,       /* has NUL bytes: only keys and tokens were searched for */
};

#define GA_SECRET_PRINTS_MAX 64

struct ga_secret_marks {
	uint32_t bits;
	unsigned token; /* for GA_MARK_TOKEN: which kind, for ga_secret_reason() */
	/* Fingerprints of the values found, to tell the values of one version from those of
	 * another, independent of line endings. They are never stored or shown. */
	uint64_t prints[GA_SECRET_PRINTS_MAX];
	size_t n_prints;   /* GA_SECRET_PRINTS_MAX: there may be more */
	char *blot;        /* ga_secret_blot(): the text to overwrite */
};
/* Scan the first GA_SECRET_SCAN_MAX of `n` bytes, the content of `path`: in source files an
 * unquoted value may be an expression, in all others it is a value. UTF-16 is recognised by its
 * byte order mark. */
void ga_secret_scan(const char *path, const void *p, size_t n, struct ga_secret_marks *ret);
/* The same, but only what GA_CHECK_TEXT needs: secrets known by their form. */
void ga_secret_scan_forms(const char *path, const void *p, size_t n, struct ga_secret_marks *ret);
/* Replace every value found in a text by "***"; the prefix that tells whose token it is is kept. */
void ga_secret_blot(char *text);
/* Do the first bytes show that this is not text in any encoding? */
bool ga_secret_is_binary(const void *p, size_t n);
/* Does `path` end like a source file, in this sense? */
bool ga_secret_is_code(const char *path);
/* Is every value found in `a` in `b`, too? */
bool ga_secret_within(const struct ga_secret_marks *a, const struct ga_secret_marks *b);
/* Is it a placeholder of documentation or templates? */
bool ga_secret_placeholder(const char *value, size_t n);
/* The entropy of 256 bytes at most, in 1024ths of a bit. */
unsigned ga_secret_entropy(const char *p, size_t n);

/* ---- names ------------------------------------------------------------------- */

/* The compiled patterns of the rules and of the user. */
struct ga_secret_names;
/* `add`: patterns (ga_pattern_ok()) of files that are secret whatever their content; `allow`: of
 * files that are not. Either may be NULL. */
struct ga_secret_names *ga_secret_names_new(const struct ga_strv *add, const struct ga_strv *allow);
void ga_secret_names_free(struct ga_secret_names *n);
void ga_cleanup_secret_names(struct ga_secret_names **n);
#define cleanup_secret_names cleanup_(ga_cleanup_secret_names)
/* A fingerprint of the rules and these patterns. */
uint64_t ga_secret_rules_print(const struct ga_strv *add, const struct ga_strv *allow);

#define GA_SECRET_RULES_MAX 64 /* more than there are, so none displaces another */

struct ga_secret_name {
	const struct ga_secret_rule *rules[GA_SECRET_RULES_MAX];
	size_t n;
	bool content;  /* the content of the file matters */
	bool text;     /* that of any text does (ga_secret_any()) */
	bool allowed;  /* the user says that it is no secret: no rule counts */
	bool example;  /* a template, or documentation */
	bool fixture;  /* lies among tests or examples */
	bool copy;     /* a backup of a file with such a name */
};
/* Does any rule cover the path (relative, '/'-separated)? */
bool ga_secret_named(struct ga_secret_names *n, const char *path, struct ga_secret_name *ret);
/* The same, and the rule for the content of any text, whatever its name. False: it is `allowed`. */
bool ga_secret_any(struct ga_secret_names *n, const char *path, struct ga_secret_name *ret);
/* Does any rule cover this symlink, or a path beneath it? */
bool ga_secret_named_link(struct ga_secret_names *n, const char *path);
/* ga_secret_named() for a path that is already folded, as names are compared
 * (ga/names/names.h). */
bool ga_secret_named_folded(struct ga_secret_names *n, const char *folded,
			    struct ga_secret_name *ret);

/* ---- a verdict ---------------------------------------------------------------- */

struct ga_secret {
	enum ga_tier tier;                  /* GA_TIER_NONE: nothing to report */
	const struct ga_secret_rule *rule;
	uint32_t bits;                      /* what was found in it, and which token */
	unsigned token;
	bool example, copy;
};
/* `marks` NULL: the content could not be read, and the worst that it could have contained is
 * assumed. The same for binary content where text is expected. */
void ga_secret_judge(const struct ga_secret_name *name, const char *path,
		     const struct ga_secret_marks *marks, struct ga_secret *ret);
/* One line, for users. The caller frees it. */
char *ga_secret_reason(const struct ga_secret *s);

/* ---- exposure */

/* Secrets of a repository that a session would see, found before it starts and classified by
 * whether git tracks, ignores or has committed them. Paths are raw bytes, not escaped. */

enum ga_exposed_as {
	GA_EXPOSED_COMMITTED, /* in the tree that sessions start from */
	GA_EXPOSED_MODIFIED,  /* uncommitted, in a tracked file */
	GA_EXPOSED_UNTRACKED,
	GA_EXPOSED_IGNORED,
	GA_EXPOSED_HISTORY,   /* in another commit, a stash or a reflog */
	GA_EXPOSED_CONFIG,    /* in the repository's git configuration */
};
const char *ga_exposed_name(enum ga_exposed_as as);

enum ga_exposed_view {
	GA_VIEW_SEEN,
	GA_VIEW_MASKED, /* hidden from sessions by a mask */
	GA_VIEW_ABSENT, /* never visible to a session */
};
const char *ga_view_name(enum ga_exposed_view v);

struct ga_exposed {
	char *path; /* relative to the top of the working tree */
	struct ga_secret secret;
	enum ga_exposed_as as;
	enum ga_exposed_view view;
	bool clear; /* committed encrypted, but a git filter decrypts it at checkout */
};
struct ga_exposure {
	struct ga_exposed *v;
	size_t n, cap;
	bool incomplete; /* a limit was reached: there may be more */
};
#define GA_EXPOSURE_INIT { NULL, 0, 0, false }
void ga_exposure_release(struct ga_exposure *x);
#define cleanup_exposure cleanup_(ga_exposure_release)
/* Sort by severity, the worst first, then by path. */
void ga_exposure_sort(struct ga_exposure *x);

struct ga_exposure_opts {
	struct ga_repo *repo;
	const char *state_dir;       /* where results are cached (0600); NULL: no cache */
	bool dry;                    /* read the cache, but do not write it */
	const struct ga_strv *add, *allow; /* the user's patterns (ga/secret/secret.h) */
	const struct ga_scan *scan;  /* search the files in these lists and below the ignored
				      * directories among them; NULL: no files */
	const struct ga_oid *tree;   /* search committed files in this tree; NULL: none */
	bool all_dirs;               /* search directories that package managers fill, too */
};
/* Append all findings to `ret`. A file is read if its name matches a rule that asks for its
 * content, at most its first GA_SECRET_SCAN_MAX bytes. With a cache, a file is not read again, nor
 * a directory listed again, while its times, size and inode are the same, and of a tree only the
 * changes since are read. Directories that package managers fill (ga_exposure_skips()) are passed
 * over unless `all_dirs`. Links are not followed; but a file of the project to which a link with a
 * secret's name leads counts as that secret, and so does every other name (hard link) of a live
 * secret. At most half a GiB of committed content is read, each blob once; beyond that
 * `ret->incomplete` is set and the worst is assumed. */
int ga_exposure_find(const struct ga_exposure_opts *o, struct ga_exposure *ret,
		     struct ga_error *err);
/* The same for all commits reachable from any ref, stash or reflog, except for the content of
 * `o->tree`. Reads the whole history. */
int ga_exposure_history(const struct ga_exposure_opts *o, struct ga_exposure *ret,
			struct ga_error *err);
/* The same for the repository's git configuration, where a remote's URL or a header may hold a
 * token. */
void ga_exposure_config(const struct ga_gitconfig *c, struct ga_exposure *ret);

/* Mark as masked: live secrets (T1) that are not committed in clear text, except at and beneath the
 * paths in `expose`. Committed secrets are in every session's history and cannot be masked. */
void ga_exposure_mask(struct ga_exposure *x, const struct ga_strv *expose);

/* Is this the name of a directory that package managers fill? */
bool ga_exposure_skips(const char *name);
