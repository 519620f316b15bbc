/* SPDX-License-Identifier: MIT
 *
 * The state file of a session: what can be read can be written, and reads back the same.
 */
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <sys/stat.h>
#include <unistd.h>

#include "repo/repo-internal.h"
#include "fuzz.h"
#include "ga/session/session.h"
#include "ga/sys/fd.h"

static int dirfd_of_session(void)
{
	static int fd = -1;

	if (fd < 0) {
		cleanup_error struct ga_error err = GA_ERROR_INIT;
		cleanup_free char *dir = ga_strf("%s/sessions/x", fuzz_dir());

		CHECK(!ga_mkdir_p(dir, 0700, &err));
		fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
		CHECK(fd >= 0);
	}
	return fd;
}

static void put_state(int dir, const void *p, size_t n)
{
	cleanup_close int fd = openat(dir, "session", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK(fd >= 0 && !ga_write_full(fd, p, n));
	(void)unlinkat(dir, "session.old", 0);
}

static void get_state(int dir, struct ga_buf *b)
{
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	cleanup_close int fd = openat(dir, "session", O_RDONLY | O_CLOEXEC);

	CHECK(fd >= 0 && !ga_read_fd(fd, (size_t)64 << 20, b, &err));
}

static void save(struct ga_session *s)
{
	cleanup_error struct ga_error err = GA_ERROR_INIT;

	CHECK(!ga_session_save(s, &err));
}

/* In place of libc's: a file that cannot be read is read again after pauses, should somebody be
 * writing it. */
int nanosleep(const struct timespec *t, struct timespec *left)
{
	(void)t;
	(void)left;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	cleanup_error struct ga_error err = GA_ERROR_INIT, err2 = GA_ERROR_INIT;
	cleanup_session struct ga_session s = GA_SESSION_INIT, again = GA_SESSION_INIT;
	cleanup_buf struct ga_buf first = GA_BUF_INIT, second = GA_BUF_INIT;
	int dir = dirfd_of_session(), rc;

	/* else every reading would start the library again */
	CHECK(git_libgit2_init() > 0);
	put_state(dir, data, n);
	rc = ga_session_load(fuzz_dir(), "x", &s, &err);
	if (rc) {
		/* what is cut short, with nothing beside it, is no session */
		CHECK(!s.name && (rc == 1 ? !err.msg : err.msg != NULL));
		return 0;
	}
	CHECK(!strcmp(s.name, "x") && s.id.project && s.id.gitdir && s.id.branch && s.dir);
	CHECK(s.state != GA_STATE_INTERRUPTED);
	save(&s);
	get_state(dir, &first);
	CHECK(!ga_session_load(fuzz_dir(), "x", &again, &err2));
	save(&again);
	get_state(dir, &second);
	CHECK(first.len == second.len && !memcmp(first.ptr, second.ptr, first.len));
	return 0;
}
