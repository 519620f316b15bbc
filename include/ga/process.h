/* SPDX-License-Identifier: MIT
 *
 * Finding another program and running it to its end. The caller is single-threaded. Signals
 * and their mask are reset in the child, but a SIGHUP that is ignored stays so, as with nohup(1);
 * descriptors are inherited only as given here.
 */
#ifndef GA_PROCESS_H
#define GA_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ga/buf.h"
#include "ga/error.h"
#include "ga/strv.h"

/* Instead of a PATH that names no directory. */
#define GA_SYSTEM_PATH "/usr/local/bin:/usr/bin:/bin"

/* Of PATH no program is found in, nor handed, anything but directories with absolute names: what
 * is in others depends on where one stands, and agents write there. */
struct ga_process {
	const char *const *argv; /* argv[0] is looked up in PATH of the parent */
	const char *const *envp; /* NULL: the parent's environment */
	const char *cwd;         /* NULL: the parent's */
	const void *in;          /* bytes for standard input; NULL with in_fd -1: /dev/null */
	size_t in_len;
	int in_fd;               /* used if >= 0, else `in` */
	struct ga_buf *out;      /* standard output goes here; NULL with out_fd -1: /dev/null */
	size_t out_max;          /* 0: 1 GiB; more output is an error and ends the program */
	int out_fd;              /* used if >= 0, else `out` */
	struct ga_buf *errout;   /* standard error goes here, its last 64 KiB; NULL: inherited */
	int keep_fd;             /* if >= 0, inherited as descriptor 3: a lock that must be held as
				  * long as the program runs, even if we are killed */
	unsigned timeout_ms;     /* 0: none; the program is killed after that and it is an error */
	uint64_t max_file;       /* bytes of a file that it or a child of its writes, and of */
	uint64_t max_memory;     /* memory that one has of its own (RLIMIT_DATA); 0: as ours */
};
#define GA_PROCESS_INIT { .in_fd = -1, .out_fd = -1, .keep_fd = -1 }

/* Run and wait. Returns 0 and `*ret_status`: the exit status, or 128 + the
 * signal that ended it. Fails only if it could not be started or fed, or went
 * over a limit. It is over when the program itself is: what a descendant that
 * outlives it writes later is not waited for. */
int ga_process_run(const struct ga_process *p, int *ret_status, struct ga_error *err);

/* The same in two steps, for who has something to do meanwhile: start it, and later wait
 * for it. What it writes stays in its pipes until then, so one that writes much waits too. The
 * buffers of `p` must live until the end; its words and descriptors need not. */
struct ga_process_job;
int ga_process_begin(const struct ga_process *p, struct ga_process_job **ret, struct ga_error *err);
int ga_process_end(struct ga_process_job *j, int *ret_status, struct ga_error *err);
/* Wait until what it wrote, to the buffer that is its `out`, ends with `text`: 1. 0 if it is gone
 * and that never came. Either way ga_process_end() is still to be called. */
int ga_process_wait_for(struct ga_process_job *j, const char *text, struct ga_error *err);
/* Kill it instead. NULL is fine. */
void ga_process_abandon(struct ga_process_job *j);
/* For a program that becomes another one: the job's descriptors stay open across exec, and what
 * ga_process_take_over() wants of the next program is appended to `ret`. Nothing may have been
 * read of the job yet. `p` says there what it said here of `out` and `errout`, each given or not,
 * of limits and of the name; the rest of it is not looked at. */
int ga_process_hand_over(struct ga_process_job *j, struct ga_buf *ret, struct ga_error *err);
int ga_process_take_over(const char *text, const struct ga_process *p, struct ga_process_job **ret,
			 struct ga_error *err);

/* Is it a regular file that may be executed? Links are followed. */
bool ga_is_program(const char *file);
/* Where `name`, which has no slash, is such a file by `path`, a list as in $PATH (NULL: an empty
 * one); NULL: nowhere. Only directories with absolute names count: what is in others depends on
 * where one stands, and agents write there. The caller frees it. */
char *ga_find_program(const char *path, const char *name);
/* The value of `name` in an environment, NULL-terminated as `environ` is or NULL for an empty one;
 * NULL: it is not set. Points into it. */
const char *ga_environ_get(const char *const *env, const char *name);

#endif
