/* SPDX-License-Identifier: MIT
 *
 * Error convention of all functions that can fail.
 *
 * A function that can fail returns 0 or -1 and takes `struct ga_error *err` last. On failure it
 * fills `err` exactly once; on success it leaves it alone. `err` is never NULL. Library code
 * neither prints nor exits: the command line prints the error once and maps its code to an exit
 * status.
 *
 * The message is one line, lower case, without the program's name, and names the object in single
 * quotes. Control characters and other unsafe text are escaped when it is set, so a name needs no
 * escaping inside the quotes; a name without quotes goes through ga_quote(). The hint, if any, says
 * what to do next; names in a command are quoted by ga_quote_shell().
 */
#pragma once

#include <stdbool.h>
#include <string.h>

#include "ga/base/alloc.h"

/* code, exit status, meaning */
#define GA_ERROR_CODES(X)                                                           \
	X(GA_OK, 0, "no error")                                                     \
	X(GA_ENEGATIVE, 1, "the answer is no")                                      \
	X(GA_ELOSE, 2, "continuing would lose work")                                  \
	X(GA_EFLAGS, 3, "open flags block it")                                \
	X(GA_ECONFLICT, 4, "a conflict is left for the user")                       \
	X(GA_EPART, 5, "landed in part")                                            \
	X(GA_ETIME, 124, "timed out")                                               \
	X(GA_ESTART, 125, "the sandbox could not be started")                       \
	X(GA_EFATAL, 128, "anything else")                                          \
	X(GA_EUSAGE, 129, "the command line is wrong")

enum ga_code {
#define X(code, status, meaning) code,
	GA_ERROR_CODES(X)
#undef X
};

struct ga_error {
	enum ga_code code;
	char *msg;  /* owned; NULL while there is no error */
	char *hint; /* owned; may be NULL */
	bool ignored; /* GA_IGNORED: message and hint are discarded */
};
#define GA_ERROR_INIT { GA_OK, NULL, NULL, false }
/* For a caller that needs only the return value. */
#define GA_IGNORED (&(struct ga_error){ .ignored = true })

void ga_error_release(struct ga_error *err);
#define cleanup_error cleanup_(ga_error_release)

/* Used by the macros below; they take ownership of the text. */
void ga_error_set(struct ga_error *err, enum ga_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void ga_error_path(struct ga_error *err, int errnum, const char *verb, const char *path);
void ga_error_hint(struct ga_error *err, char *hint, bool instead);
void ga_error_hint_more(struct ga_error *err, char *line);
void ga_error_prefix(struct ga_error *err, char *prefix);
void ga_error_take(struct ga_error *to, struct ga_error *from);

/* These are macros so that compilers and analyzers see the -1 at each call, and that no result is
 * read after a failure.
 *
 * Set the error and return -1: `return ga_fail(err, GA_EFATAL, "...")`. Filling an error that is
 * already set is a bug and aborts. A hint can follow the message: "message" GA_HINT "hint". */
#define ga_fail(err, code, ...) ({ ga_error_set((err), (code), __VA_ARGS__); -1; })
#define GA_HINT "\nhint: "
/* The same, with ": " and strerror(errnum) appended. */
#define ga_fail_errno(err, code, errnum, fmt, ...) \
	ga_fail((err), (code), fmt ": %s", ##__VA_ARGS__, strerror(errnum))

/* The same for a file: "cannot open '<path>': <strerror(errnum)>". */
#define ga_fail_path(err, errnum, verb, path) \
	({ ga_error_path((err), (errnum), (verb), (path)); -1; })

/* Add a hint to an error that is already set; returns -1. An existing hint is kept: the innermost
 * is the most specific. */
#define ga_hint(err, ...) ({ ga_error_hint((err), ga_strf(__VA_ARGS__), false); -1; })
/* The same, replacing an existing hint that would mislead. */
#define ga_hint_instead(err, ...) ({ ga_error_hint((err), ga_strf(__VA_ARGS__), true); -1; })

/* Add a line to the hint, or begin it. */
#define ga_hint_more(err, ...) ({ ga_error_hint_more((err), ga_strf(__VA_ARGS__)); -1; })

/* Prepend context: "cannot start session 'x': <former message>". Returns -1. */
#define ga_error_wrap(err, ...) ({ ga_error_prefix((err), ga_strf(__VA_ARGS__)); -1; })

/* Move the error of `from` to `to`, which must hold none; `from` holds none afterwards. Returns
 * -1. */
#define ga_error_move(to, from) ({ ga_error_take((to), (from)); -1; })

/* Does a message of ours or of a program mean that a disk or quota is full? False for NULL. */
bool ga_means_no_space(const char *text);
/* The same, or that a disk is broken or read-only. Only for messages of our own, which end in
 * strerror()'s text. */
bool ga_means_disk_trouble(const char *text);

/* Exit status of a code (the second column above). */
int ga_error_status(enum ga_code code);
