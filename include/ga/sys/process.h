/* SPDX-License-Identifier: MIT
 *
 * Find programs and run them to completion. The caller is single-threaded. In the child, signal
 * dispositions and mask are reset, except that an ignored SIGHUP stays ignored, as with nohup(1);
 * only the descriptors given here are inherited.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ga/base/buf.h"
#include "ga/base/error.h"
#include "ga/base/strv.h"

/* Used instead of a PATH that names no directory. */
#define GA_SYSTEM_PATH "/usr/local/bin:/usr/bin:/bin"

/* Only directories of PATH with absolute names are searched, and only those are passed on: what a
 * relative one is depends on the current directory, and agents write there. */
struct ga_process {
	const char *const *argv; /* argv[0] is looked up in the parent's PATH */
	const char *const *envp; /* NULL: the parent's environment */
	const char *cwd;         /* NULL: the parent's */
	const void *in;          /* bytes for standard input; NULL with in_fd -1: /dev/null */
	size_t in_len;
	int in_fd;               /* used if >= 0, else `in` */
	struct ga_buf *out;      /* standard output goes here; NULL with out_fd -1: /dev/null */
	size_t out_max;          /* 0: 1 GiB; more output is an error and kills the program */
	int out_fd;              /* used if >= 0, else `out` */
	struct ga_buf *errout;   /* the last 64 KiB of standard error go here; NULL: inherited */
	int keep_fd;             /* if >= 0, inherited as descriptor 3: a lock that must be held for
				  * as long as the program runs, even if we are killed */
	unsigned timeout_ms;     /* 0: none; after that it is killed, which is an error */
	uint64_t max_file;       /* limit in bytes on a file that it or its children write
				  * (RLIMIT_FSIZE); 0: ours */
	uint64_t max_memory;     /* limit on the memory of each of them (RLIMIT_DATA); 0: ours */
};
#define GA_PROCESS_INIT { .in_fd = -1, .out_fd = -1, .keep_fd = -1 }
/* The same with these members set. */
#define GA_PROCESS(...) { .in_fd = -1, .out_fd = -1, .keep_fd = -1, __VA_ARGS__ }

/* Run it and wait. Returns 0 and `*ret_status`: the exit status, or 128 + the signal that ended it.
 * Fails only if it could not be started or fed, or exceeded a limit. Descendants that outlive the
 * program are not waited for. */
int ga_process_run(const struct ga_process *p, int *ret_status, struct ga_error *err);

/* The same in two steps, for a caller that has something to do in between: start it, and later wait
 * for it. Its output stays in the pipes until then, so a program that writes much blocks. The
 * buffers of `p` must live until the end; its words and descriptors need not. */
struct ga_process_job;
int ga_process_begin(const struct ga_process *p, struct ga_process_job **ret, struct ga_error *err);
int ga_process_end(struct ga_process_job *j, int *ret_status, struct ga_error *err);
/* Wait until its `out` buffer ends with `text`. Returns 1, or 0 if the program exited before.
 * ga_process_end() must still be called. */
int ga_process_wait_for(struct ga_process_job *j, const char *text, struct ga_error *err);
/* Wait until there is something to read from `fd`, the caller's end of `out_fd`, or nothing more;
 * what it writes to standard error is read, so that it never blocks. Returns 1, or 0 if
 * nothing came until the deadline, as in ga_poll_timeout(). */
int ga_process_readable(struct ga_process_job *j, int fd, int64_t deadline, struct ga_error *err);
/* Kill it instead of waiting. NULL is allowed. */
void ga_process_abandon(struct ga_process_job *j);
/* For a program that is about to execute another: keep the job's descriptors open across exec, and
 * append to `ret` the text from which ga_process_take_over(), in the next program, gets the job.
 * Nothing may have been read from the job yet. The `p` given there must agree with the one given
 * here on whether `out` and `errout` are set, on limits and on the name; the rest of it is not
 * used. */
int ga_process_hand_over(struct ga_process_job *j, struct ga_buf *ret, struct ga_error *err);
int ga_process_take_over(const char *text, const struct ga_process *p, struct ga_process_job **ret,
			 struct ga_error *err);

/* The environment of a user program, whichever command of ours starts it: what we were given
 * ourselves, without the variables that name a repository, which main() removed (git sets those for
 * the programs that it starts). A caller adds only what git adds for such a program. Appends to
 * `ret`. */
void ga_user_environ(struct ga_strv *ret);

/* Is it an executable regular file? Symlinks are followed. */
bool ga_is_program(const char *file);
/* Find the program `name`, which has no slash, in `path`, a list as in PATH (NULL: empty). Only
 * directories with absolute names count, as above. NULL: not found. The caller frees it. */
char *ga_find_program(const char *path, const char *name);
/* The value of `name` in an environment, a NULL-terminated list like `environ` (NULL: empty); NULL
 * if it is not set. Points into it. */
const char *ga_environ_get(const char *const *env, const char *name);
/* Add "NAME=VALUE", replacing the former value of NAME. */
void ga_environ_put(struct ga_strv *env, const char *entry);
void ga_environ_set(struct ga_strv *env, const char *name, const char *value);
