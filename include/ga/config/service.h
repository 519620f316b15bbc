/* SPDX-License-Identifier: MIT
 *
 * The user's commands that run in a session with the agent, as configured: `setup` and `finish` are
 * lists of shell commands, `services` are such commands with names.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "ga/base/strv.h"

#define GA_COMMAND_MAX ((size_t)16 << 10) /* bytes of one command */
#define GA_SERVICE_NAME_MAX 64
#define GA_SERVICES_MAX 16 /* greatest number in a configuration */

/* Is it a valid command: not empty, at most GA_COMMAND_MAX bytes, UTF-8 without control characters
 * other than newline and tab? */
bool ga_command_ok(const char *text);

/* Is it a valid word of the list: "COMMAND", or "NAME: COMMAND", or "NAME ready: COMMAND", the
 * command that succeeds once the service is up? */
bool ga_service_ok(const char *text);
/* Is it [A-Za-z0-9] then [A-Za-z0-9._-]*, which can be a file name? */
bool ga_service_name_ok(const char *name);

struct ga_service {
	char *name;    /* derived from the command if none was given; unique */
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
/* Parse valid words. If a name is repeated, the last one counts. A `ready` for a name that no
 * service has is dropped. */
void ga_services_parse(const struct ga_strv *words, struct ga_services *ret);

/* A command on one line, for users and for a trailer: escaped, and cut to `most` bytes. The caller
 * frees it. */
char *ga_command_text(const char *command, size_t most);
