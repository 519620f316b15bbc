/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of git-agent-probe. Every attempt does no harm if it succeeds: files are
 * opened for writing but not written, calls are made with arguments that the kernel refuses.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The caller's NAME=VALUE arguments about the host; NULL if not given. */
struct facts {
	const char *token;    /* a value that is in the environment outside and in no file inside */
	const char *socket;   /* path of a socket outside that accepts connections */
	const char *abstract; /* the same in the abstract namespace, without its leading zero
			       * byte */
	const char *key;      /* description of a key in the session keyring outside */
	const char *pidns;    /* inode number of the pid namespace outside */
	const char **dirs;    /* directories in each of which a file named after the token is
			       * created */
	const char **hidden;  /* host paths that are not shown */
	const char **programs; /* host programs that a session is made of */
};

/* The result for one id: held until one of its attempts succeeds. */
struct result {
	bool failed;
	bool absent;       /* the kernel lacks the protection */
	int errnum;        /* of the last attempt; 0 after one that succeeded */
	char what[160];    /* the attempt that succeeded */
};

/* Record an attempt; `ok`: it was refused. */
void attempt(struct result *r, bool ok, int errnum, const char *what, ...)
	__attribute__((format(printf, 4, 5)));
/* The same for a return value of the C library: the attempt succeeded if `rc` is not negative. */
void attempt_call(struct result *r, long rc, const char *what);

/* Run `fn` in a child: its errno, 0 if it returned 0 or more, KILLED + n for a signal. */
#define KILLED 1000
int in_child(long (*fn)(const void *arg), const void *arg);
/* Read at most `max` - 1 bytes of a file, and end them by NUL; -1 with errno. */
long slurp(const char *path, char *buf, size_t max);
bool starts_with(const char *s, const char *prefix);
/* Connect to a socket in the file system, or to an abstract one. Returns 0, or an errno. */
int connect_unix(const char *name, bool abstract);
const char *env_value(const char *name);

typedef void probe_fn(const struct facts *f, struct result *r);
/* calls.c */
probe_fn probe_namespaces, probe_table, probe_typing, probe_console, probe_processes;
/* files.c */
probe_fn probe_masks, probe_proc, probe_devices, probe_setuid, probe_pivots, probe_helpers,
	probe_credentials;
/* peers.c */
probe_fn probe_caps, probe_environment, probe_descriptors, probe_keyring, probe_sockets,
	probe_abstract, probe_bus, probe_display, probe_agents, probe_scope;
