/* SPDX-License-Identifier: MIT
 *
 * Named points of the program, for fault injection and tracing by the tests.
 */
#ifndef GA_TRACE_H
#define GA_TRACE_H

#include "ga/error.h"

/* Set once by the command line from GIT_AGENT_TRACE: a line for each point that is reached and each
 * program that is run, with the process and the milliseconds since this was called, to the end of a
 * file (an absolute path), or to standard error ("1"). NULL, "" and "0": none. */
void ga_trace_set(const char *spec);
/* A program is about to be run. */
void ga_trace_run(const char *const *argv);

/* Set once by the command line from GIT_AGENT_FAULT: "POINT:kill" ends the
 * process with SIGKILL at that point, "POINT:fail" makes it return -1 with errno EIO, "POINT:stop"
 * stops it there with SIGSTOP until it is continued, for others to change what it looked at.
 * NULL: nothing. */
void ga_fault_set(const char *spec);

/* Returns 0, or -1 with errno set. Never returns when told to kill. */
int ga_fault(const char *point);
/* The same, with an error that names the point. */
int ga_fault_stop(const char *point, struct ga_error *err);

#endif
