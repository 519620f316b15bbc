/* SPDX-License-Identifier: MIT
 *
 * pidfd_open(2) for what runs under a valgrind that does not know it (those before 3.20): preloaded by
 * tests/gates/valgrind.sh. A thread waits for the process and closes the other end of a pipe: poll(2)
 * wakes as it would, which is all that unit tests ask of one. Only of a child; of others it is not there.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct watch {
	id_t pid;
	int end;
};

static int look(id_t pid, int flags)
{
	siginfo_t info;

	return waitid(P_PID, pid, &info, WEXITED | WNOWAIT | flags);
}

static void *watch(void *p)
{
	struct watch *w = p;

	while (look(w->pid, 0) && errno == EINTR)
		;
	(void)close(w->end);
	free(w);
	return NULL;
}

static int open_pidfd(id_t pid)
{
	struct watch *w = malloc(sizeof(*w));
	sigset_t all, old;
	pthread_t thread;
	int ends[2], rc;

	if (!w || look(pid, WNOHANG) || pipe2(ends, O_CLOEXEC)) {
		free(w);
		errno = ENOSYS;
		return -1;
	}
	*w = (struct watch){ pid, ends[1] };
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&thread, NULL, watch, w);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc)
		abort();
	(void)pthread_detach(thread);
	return ends[0];
}

long syscall(long n, ...)
{
	static long (*next)(long n, ...);
	long a[6];
	va_list ap;

	va_start(ap, n);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (n == SYS_pidfd_open)
		return open_pidfd((id_t)a[0]);
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "syscall");
	return next(n, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* Not for what the test starts, which runs outside of valgrind. Valgrind itself has still to pass it on. */
static void __attribute__((constructor)) here_only(void)
{
	const char *names = getenv("LD_PRELOAD");

	if (names && strstr(names, "vgpreload"))
		(void)unsetenv("LD_PRELOAD");
}
