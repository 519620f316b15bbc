/* SPDX-License-Identifier: MIT
 *
 * What is where in a session's directory.
 */
#include <fcntl.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/session/session.h"
#include "ga/sys/fd.h"

char *ga_session_path(const struct ga_session *s, const char *what)
{
	return ga_path_join(s->dir, what);
}

char *ga_session_removed(const struct ga_session *s, size_t i)
{
	return ga_strf("%s/shared/%zu/removed", s->dir, i);
}

bool ga_session_shares(const struct ga_session *s, size_t i)
{
	cleanup_free char *removed = ga_session_removed(s, i);

	return access(removed, F_OK) != 0;
}

void ga_session_shared(const struct ga_session *s, struct ga_strv *ret)
{
	for (size_t i = 0; i < s->view.shared.n; i++)
		if (ga_session_shares(s, i))
			ga_strv_push(ret, s->view.shared.v[i]);
}

/* A volatile overlay marks its work directory so that it cannot be mounted
 * again, and one left by a killed session may hold anything: every mount gets
 * a fresh one. */
char *ga_session_fresh_dir(const struct ga_session *s, const char *what, struct ga_error *err)
{
	cleanup_free char *parent = ga_session_path(s, "work"), *dir = NULL;
	uint64_t r;

	if (ga_random(&r, sizeof(r), err))
		return NULL;
	dir = ga_strf("%s/%s-%016llx", parent, what, (unsigned long long)r);
	if (ga_mkdir_p(dir, 0700, err))
		return NULL;
	return ga_steal(&dir);
}

void ga_session_remove_work(const char *session_dir)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_close int at = open(session_dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (at >= 0)
		(void)ga_rmtree_at(at, "work", &ignored);
}
