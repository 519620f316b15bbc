/* SPDX-License-Identifier: MIT
 *
 * Inside of git-agent-probe. Every attempt is one that does no harm where it succeeds: files are
 * opened for writing and not written, calls are made with arguments that the kernel refuses.
 */
#ifndef PROBE_H
#define PROBE_H

#include <stdbool.h>
#include <stddef.h>

/* What whoever runs it says about the host, each as a NAME=VALUE argument; NULL where not given. */
struct facts {
	const char *token;    /* in the environment outside, and in no file inside */
	const char *socket;   /* somebody listens there, outside */
	const char *abstract; /* and there, without its leading zero byte */
	const char *key;      /* description of a key in the session keyring outside */
	const char *pidns;    /* inode number of the pid namespace outside */
	const char **dirs;    /* a file named after the token is made in each */
	const char **hidden;  /* host paths that are not shown */
	const char **programs; /* host programs that a session is made of */
};

/* What became of one id: held until one of its attempts succeeds. */
struct result {
	bool failed;
	bool absent;       /* this kernel has nothing to hold it with */
	int errnum;        /* of the last attempt; of the one that succeeded: 0 */
	unsigned attempts;
	char what[160];    /* the attempt that succeeded */
};

/* Note an attempt: `ok` says that it came to nothing. */
void attempt(struct result *r, bool ok, int errnum, const char *what, ...)
	__attribute__((format(printf, 4, 5)));
/* The same for what the C library gives: succeeded if `rc` is not negative. */
void attempt_call(struct result *r, long rc, const char *what);

/* Run `fn` in a child: its errno, 0 if it returned 0 or more, KILLED + n for a signal. */
#define KILLED 1000
int in_child(long (*fn)(const void *arg), const void *arg);
/* Bytes of a file, at most `max` - 1, ended by NUL; -1 with errno. */
long slurp(const char *path, char *buf, size_t max);
bool starts_with(const char *s, const char *prefix);
/* Connect to a socket of the file system, or an abstract one: 0, or errno. */
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

#endif
