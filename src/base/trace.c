/* SPDX-License-Identifier: MIT */
#include "ga/base/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ga/base/quote.h"

/* The only state outside the command line that outlives a call: a fault point must be reachable
 * from anywhere without being passed down. */
static int trace_fd = -1;
static struct timespec trace_begun;

void ga_trace_set(const char *spec)
{
	if (!spec || !*spec || !strcmp(spec, "0"))
		return;
	if (*spec == '/')
		trace_fd = open(spec, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
	else
		trace_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	(void)clock_gettime(CLOCK_MONOTONIC, &trace_begun);
}

static void trace_line(const char *what, const char *const *words)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	struct timespec now;
	int saved = errno;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	ga_buf_addf(&b, "git-agent[%d] %8.3f ms %s", (int)getpid(),
		    (double)(now.tv_sec - trace_begun.tv_sec) * 1e3 +
			    (double)(now.tv_nsec - trace_begun.tv_nsec) / 1e6, what);
	for (; words && *words; words++) {
		ga_buf_addch(&b, ' ');
		ga_quote_add(&b, *words, strlen(*words));
	}
	ga_buf_addch(&b, '\n');
	/* in one write, so that lines of several processes do not mix */
	if (write(trace_fd, b.ptr, b.len) < 0)
		trace_fd = -1;
	errno = saved;
}

void ga_trace_run(const char *const *argv)
{
	if (trace_fd >= 0)
		trace_line("runs", argv);
}

static const char *fault_point; /* not owned: the environment's */
static size_t fault_len;
static char fault_how; /* first letter */

void ga_fault_set(const char *spec)
{
	const char *what = spec ? strrchr(spec, ':') : NULL;

	fault_point = NULL;
	if (!what || (strcmp(what, ":kill") && strcmp(what, ":fail") && strcmp(what, ":stop")))
		return;
	fault_point = spec;
	fault_len = (size_t)(what - spec);
	fault_how = what[1];
}

int ga_fault(const char *point)
{
	if (trace_fd >= 0)
		trace_line(point, NULL);
	if (!fault_point || strlen(point) != fault_len || strncmp(point, fault_point, fault_len))
		return 0;
	if (fault_how == 's')
		return raise(SIGSTOP);
	if (fault_how == 'k') {
		/* like a power cut or the OOM killer: no handler, no atexit */
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
