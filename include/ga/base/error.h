/* SPDX-License-Identifier: MIT
 *
 * The one way functions fail.
 *
 * A function that can fail returns 0 or -1 and takes `struct ga_error *err` last. On failure it
 * fills `err` exactly once; on success it leaves it alone. `err` is never NULL. Library code
 * neither prints nor exits: the command line prints the error once and maps its code to an exit
 * status.
 *
 * The message is one line, lower case, without the program's name, and names the object in single
 * quotes. Control characters, and what else is not safe to show, are escaped when it is set, so a
 * name can go into it as it is; one without quotes around it goes through ga_quote(). The hint, if
 * any, says what to do next; the words of a command in it are quoted by ga_quote_shell().
 */
#ifndef GA_ERROR_H
#define GA_ERROR_H

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
	X(GA_EPART, 5, "landed, but not all of it could be brought")                \
	X(GA_ETIME, 124, "it took too long")                                        \
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
	bool ignored; /* neither is kept */
};
#define GA_ERROR_INIT { GA_OK, NULL, NULL, false }
/* For a call whose result says all that its caller wants to know. */
#define GA_IGNORED (&(struct ga_error){ .ignored = true })

void ga_error_release(struct ga_error *err);
#define cleanup_error cleanup_(ga_error_release)

/* What the macros below call; the text is taken over. */
void ga_error_set(struct ga_error *err, enum ga_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void ga_error_path(struct ga_error *err, int errnum, const char *verb, const char *path);
void ga_error_hint(struct ga_error *err, char *hint, bool instead);
void ga_error_hint_more(struct ga_error *err, char *line);
void ga_error_prefix(struct ga_error *err, char *prefix);
void ga_error_take(struct ga_error *to, struct ga_error *from);

/* That these are macros makes the -1 visible at each call, so that compilers and analyzers see that
 * nothing is read after a failure which only a success fills in.
 *
 * Set the error and return -1: `return ga_fail(err, GA_EFATAL, "...")`. Filling an error that is
 * already set is a bug and aborts. The hint can be given at once: "message" GA_HINT "hint". */
#define ga_fail(err, code, ...) ({ ga_error_set((err), (code), __VA_ARGS__); -1; })
#define GA_HINT "\nhint: "
/* The same, with ": " and strerror(errnum) behind the message. */
#define ga_fail_errno(err, code, errnum, fmt, ...) \
	ga_fail((err), (code), fmt ": %s", ##__VA_ARGS__, strerror(errnum))

/* The same of a file: "cannot open '<path>': <strerror(errnum)>", */
#define ga_fail_path(err, errnum, verb, path) \
	({ ga_error_path((err), (errnum), (verb), (path)); -1; })

/* Attach what to do next to an error that is already set; returns -1. A hint that is already there
 * stays: the innermost one knows most. */
#define ga_hint(err, ...) ({ ga_error_hint((err), ga_strf(__VA_ARGS__), false); -1; })
/* The same in place of a hint that is already there, where that would lead astray. */
#define ga_hint_instead(err, ...) ({ ga_error_hint((err), ga_strf(__VA_ARGS__), true); -1; })

/* Add a line to the hint, or begin it. */
#define ga_hint_more(err, ...) ({ ga_error_hint_more((err), ga_strf(__VA_ARGS__)); -1; })

/* Put context in front: "cannot start session 'x'" becomes
 * "cannot start session 'x': <what was there>". Returns -1. */
#define ga_error_wrap(err, ...) ({ ga_error_prefix((err), ga_strf(__VA_ARGS__)); -1; })

/* Move the error of `from` to `to`, which must hold none; `from` holds none afterwards. Returns
 * -1. */
#define ga_error_move(to, from) ({ ga_error_take((to), (from)); -1; })

/* Does a message, ours or a program's, say that a disk or a quota is full? False for NULL. */
bool ga_means_no_space(const char *text);
/* The same, or that a disk is broken or read-only. Only for messages of our own, which end in
 * strerror()'s text. */
bool ga_means_disk_trouble(const char *text);

/* Exit status of a code (the second column above). */
int ga_error_status(enum ga_code code);

#endif
