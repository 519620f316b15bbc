/* SPDX-License-Identifier: MIT
 *
 * Inside the start flow: what ssh inside is told.
 */
#ifndef SSH_H
#define SSH_H

#include "ga/start/start.h"

/* ssh.c: show the system's configuration so that ssh inside takes it, and with it what
 * start_ask_ssh() has. */
int start_show_ssh(const struct ga_start_env *e, struct ga_spec *s, struct ga_strv *notes,
		   struct ga_error *err);

/* Where the keys of hosts that the user knows are inside. */
#define START_SSH_KNOWN "/run/git-agent-ssh/known_hosts"
/* ssh-hosts.c: only if the session has the socket of an ssh-agent, append what the user's ssh says
 * of the hosts of his remotes: to `config` their addresses, ports, users and aliases, and to
 * `known` their keys. What cannot be asked is named in the notes. */
void start_ask_ssh(const struct ga_start_env *e, const struct ga_spec *s, struct ga_strv *notes,
		   struct ga_buf *config, struct ga_buf *known);

#endif
