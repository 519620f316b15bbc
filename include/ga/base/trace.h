/* SPDX-License-Identifier: MIT
 *
 * Named points in the program, for fault injection and tracing by tests.
 */
#pragma once

#include "ga/base/error.h"

/* Set once by the command line from GIT_AGENT_TRACE: a line for each point that is reached and each
 * program that is run, with the process and the milliseconds since this call, appended to a file
 * (an absolute path), or written to standard error ("1"). NULL, "" and "0": none. */
void ga_trace_set(const char *spec);
/* Trace that a program is about to be run. */
void ga_trace_run(const char *const *argv);

/* Set once by the command line from GIT_AGENT_FAULT: "POINT:kill" kills the process with SIGKILL at
 * that point, "POINT:fail" makes ga_fault() return -1 with errno EIO, "POINT:stop" stops the
 * process there with SIGSTOP until it is continued, so that a test can change what it has read.
 * NULL: nothing. */
void ga_fault_set(const char *spec);

/* Reach a point. Returns 0, or -1 with errno set; does not return if told to kill. */
int ga_fault(const char *point);
/* The same, with an error that names the point. */
int ga_fault_stop(const char *point, struct ga_error *err);
