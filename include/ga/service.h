/* SPDX-License-Identifier: MIT
 *
 * Commands of the user's that run in a session beside the agent, as configuration has them:
 * `setup` and `finish` are lists of shell commands, `services` are such commands with names.
 */
#ifndef GA_SERVICE_H
#define GA_SERVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "ga/strv.h"

#define GA_COMMAND_MAX ((size_t)16 << 10) /* bytes of a command */
#define GA_SERVICE_NAME_MAX 64
#define GA_SERVICES_MAX 16 /* of a configuration, which does not take more */

/* Not empty, of that length, UTF-8 without control characters but newline and tab. */
bool ga_command_ok(const char *text);

/* A service is one word of a list, "COMMAND" or "NAME: COMMAND"; "NAME ready: COMMAND" is the
 * command that succeeds once it is up. */
bool ga_service_ok(const char *text);
/* [A-Za-z0-9] then [A-Za-z0-9._-]*: a file can be called that. */
bool ga_service_name_ok(const char *name);

struct ga_service {
	char *name;    /* made from the command where it was given none; no other has it */
	char *command;
	char *ready;   /* or NULL */
};
struct ga_services {
	struct ga_service *v;
	size_t n, cap;
};
#define GA_SERVICES_INIT { NULL, 0, 0 }
void ga_services_release(struct ga_services *s);
#define cleanup_services cleanup_(ga_services_release)
/* From words that are ok. Of a name that comes again the later counts. A `ready` for a name that
 * is none's is dropped. */
void ga_services_parse(const struct ga_strv *words, struct ga_services *ret);

/* A command on one line, for people and for a trailer: what is not to be shown is escaped, and
 * what is more than `most` bytes is cut. The caller frees it. */
char *ga_command_text(const char *command, size_t most);

#endif
