/* SPDX-License-Identifier: MIT
 *
 * Asking the user on the terminal, which is standard input.
 */
#ifndef ASK_H
#define ASK_H

#include <stdbool.h>

#include "ga/base/buf.h"
#include "ga/base/error.h"

/* Print `prompt` (trusted or escaped) and wait for an answer: the first letter of a line, 0 for an
 * empty one; or, with `single_key`, one key. CLI_ASK_END when there is nothing more to read, -1 on
 * error. If a signal ends or stops us, the terminal is put back first. */
#define CLI_ASK_END 256
int cli_ask(const char *prompt, bool single_key, struct ga_error *err);
/* The same for a whole line, without its newline; `*ret_end`: there is nothing more to read. */
int cli_ask_line(const char *prompt, struct ga_buf *ret, bool *ret_end, struct ga_error *err);

#endif
