/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ga/sys/fd.h"

void fuzz_failed(const char *file, int line, const char *cond)
{
	(void)fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, cond);
	abort();
}

unsigned fuzz_byte(struct fuzz_in *in)
{
	if (!in->n)
		return 0;
	in->n--;
	return *in->p++;
}

char *fuzz_string(struct fuzz_in *in)
{
	const uint8_t *nul = in->n ? memchr(in->p, 0, in->n) : NULL;
	size_t len = nul ? (size_t)(nul - in->p) : in->n;
	char *s = len ? ga_strndup((const char *)in->p, len) : ga_strdup("");

	if (in->n) {
		in->p += len + (nul != NULL);
		in->n -= len + (nul != NULL);
	}
	return s;
}

char *fuzz_text(struct fuzz_in *in)
{
	return in->n ? ga_strndup((const char *)in->p, in->n) : ga_strdup("");
}

char *fuzz_exact(const void *p, size_t n)
{
	char *copy = ga_malloc(n ? n : 1);

	if (n)
		memcpy(copy, p, n);
	return copy;
}

int fuzz_file(const void *p, size_t n)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	CHECK(fd >= 0 && !ga_write_full(fd, p, n) && !lseek(fd, 0, SEEK_SET));
	return fd;
}

uint64_t fuzz_open_fds(void)
{
	uint64_t open_fds = 0;

	for (int fd = 0; fd < 64; fd++)
		open_fds |= (uint64_t)(fcntl(fd, F_GETFD) >= 0) << fd;
	return open_fds;
}

static char dir[128];
static pid_t owner;

static void remove_dir(void)
{
	cleanup_error struct ga_error err = GA_ERROR_INIT;

	if (getpid() == owner)
		(void)ga_rmtree_at(AT_FDCWD, dir, &err);
}

const char *fuzz_dir(void)
{
	const char *base = getenv("FUZZ_TMPDIR");

	if (*dir)
		return dir;
	if (!base)
		base = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
	(void)snprintf(dir, sizeof(dir), "%s/ga-fuzz.XXXXXX", base);
	CHECK(mkdtemp(dir));
	owner = getpid();
	CHECK(!atexit(remove_dir));
	return dir;
}
