/* SPDX-License-Identifier: MIT
 *
 * Logins between homes. Agents wrote both sides: a file that is none, or is too large for a login,
 * is left alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/preset.h"
#include "home.h"

#define LOGIN_MAX ((size_t)1 << 20)

struct login {
	bool there, odd;
	struct timespec changed; /* which nobody can set */
	struct ga_buf bytes;
};

static void login_release(struct login *l)
{
	ga_buf_release(&l->bytes);
}

static bool is_later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

static void read_login(int home, const char *rel, struct login *ret)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_close int fd = ga_openat_beneath(home, rel, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	struct stat st, now;

	if (fd < 0) {
		ret->odd = errno != ENOENT;
		return;
	}
	ret->there = true;
	ret->odd = fstat(fd, &st) || !S_ISREG(st.st_mode) || (size_t)st.st_size > LOGIN_MAX ||
		   ga_read_fd(fd, LOGIN_MAX, &ret->bytes, &ignored) || fstat(fd, &now);
	/* one that is being written is no login yet */
	if (!ret->odd)
		ret->odd = !ret->bytes.len || is_later(&now.st_ctim, &st.st_ctim) ||
			   (uint64_t)now.st_size != ret->bytes.len;
	if (!ret->odd)
		ret->changed = st.st_ctim;
}

static int share(const int *homes, const char *rel, struct ga_error *err)
{
	cleanup_(login_release) struct login one = { .bytes = GA_BUF_INIT };
	cleanup_(login_release) struct login two = { .bytes = GA_BUF_INIT };
	const struct login *from;

	read_login(homes[0], rel, &one);
	read_login(homes[1], rel, &two);
	if (one.odd || two.odd || (!one.there && !two.there))
		return 0;
	if (one.there && two.there && one.bytes.len == two.bytes.len &&
	    (!one.bytes.len || !memcmp(one.bytes.ptr, two.bytes.ptr, one.bytes.len)))
		return 0;
	from = !two.there || (one.there && is_later(&one.changed, &two.changed)) ? &one : &two;
	return home_write(homes[from == &one], rel, from->bytes.ptr, from->bytes.len, 0600, err);
}

int home_share_logins(const char *one, const char *two, struct ga_error *err)
{
	cleanup_close int a = open(one, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_close int b = open(two, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const int homes[] = { a, b };
	const struct ga_preset *p;

	if (a < 0 || b < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open the agents' homes");
	for (size_t i = 0; (p = ga_preset_at(i)) != NULL; i++)
		for (size_t j = 0; p->logins[j]; j++)
			if (share(homes, p->logins[j], err))
				return -1;
	return 0;
}
