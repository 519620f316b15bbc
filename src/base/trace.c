/* SPDX-License-Identifier: MIT */
#include "ga/trace.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The one thing outside the command line that outlives a call: a fault point is
 * meant to be reachable from anywhere without being handed down. */
static const char *fault_point; /* not owned: the environment's */
static size_t fault_len;
static bool fault_kill;

void ga_fault_set(const char *spec)
{
	const char *what = spec ? strrchr(spec, ':') : NULL;

	fault_point = NULL;
	if (!what || (strcmp(what, ":kill") && strcmp(what, ":fail")))
		return;
	fault_point = spec;
	fault_len = (size_t)(what - spec);
	fault_kill = !strcmp(what, ":kill");
}

int ga_fault(const char *point)
{
	if (!fault_point || strlen(point) != fault_len || strncmp(point, fault_point, fault_len))
		return 0;
	if (fault_kill) {
		/* what a power cut or the OOM killer does: no handler, no atexit */
		(void)raise(SIGKILL);
		abort();
	}
	errno = EIO;
	return -1;
}

int ga_fault_stop(const char *point, struct ga_error *err)
{
	return ga_fault(point) ? ga_fail_errno(err, GA_EFATAL, errno, "stopped at '%s'", point) : 0;
}
