/* SPDX-License-Identifier: MIT
 *
 * Internals of git-agent-init. Nothing here allocates except the child that reads a payload; pid 1
 * itself uses only its stack.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ga/run/init-protocol.h"

#define MAX_COMMANDS 32
#define MAX_FDS 4

/* One command. Its first process is the command itself or, with a terminal,
 * the leader; `chan` is the end of a pipe that closes on exec, or of the
 * leader's socket. */
struct command {
	uint32_t id;
	pid_t pid;     /* the first process; 0: this slot is free */
	pid_t pgrp;    /* process group of the command; 0 before it was executed */
	int chan;      /* -1 once it is over */
	bool tty;
	bool reported; /* FAILED or EXITED was sent */
	uint32_t no_renames; /* errno of GA_CTL_STARTED's flags */
};

/* A child's report if it could not execute the command. */
struct exec_failure {
	uint32_t step;
	int32_t errnum;
};
/* A `step` that is no failure: renames cannot be served, for this errno. */
#define STEP_NO_RENAMES 0
/* Read the next one; false at the end. */
bool read_failure(int fd, struct exec_failure *ret);

/* The descriptors of a request, in the order of ga/run/init-protocol.h. */
struct request_fds {
	int v[MAX_FDS];
	size_t n;
};

void close_fds(struct request_fds *f);

/* The calls of a command that are announced to pid 1 (renames.h). */
struct announced {
	int sock; /* from renames_start(); -1: none */
	bool renames, deep; /* `deep`: renames, and all removals of directories */
};

/* Fork the command or its leader. The slot is filled on success; -1 with errno. */
int command_start(struct command *c, const struct ga_ctl_msg *m, struct request_fds *f, int ctl,
		  struct announced a);

/* Send one message; retries EINTR. Returns 0, or -1 with errno. */
int send_msg(int fd, const struct ga_ctl_msg *m);
/* The same with a descriptor. */
int send_msg_fd(int fd, const struct ga_ctl_msg *m, int pass);
/* Returns 1 with a message, 0 at end of file or on an error, -1 if there is none now (EAGAIN). */
int recv_msg(int fd, struct ga_ctl_msg *m, struct request_fds *f);

/* ---- what is mounted at the project's path */

struct project {
	const char *path;
	bool opened;
	int fd;            /* -1 before it is opened, and after it was found to be gone */
	char at[PATH_MAX]; /* its path at the start, as the kernel reports it */
};

/* The exit status, 128 + n for a signal, as in shells. */
int32_t status_value(int status);
