/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/journal.h"
#include "ga/json.h"
#include "start.h"

/* git holds the lock of a ref for some milliseconds. */
#define STALE_MS 1000

static bool is_there(int at, const char *path, struct stat *ret)
{
	return !fstatat(at, path, ret, AT_SYMLINK_NOFOLLOW) && S_ISREG(ret->st_mode);
}

/* The lock of a ref that no one but the session and its user writes: whoever held it is gone if
 * it is still the same file after a while. */
static void clear(int at, const char *ref, const struct ga_session *s)
{
	cleanup_free char *path = ga_strf("%s.lock", ref);
	const struct timespec t = { STALE_MS / 1000, STALE_MS % 1000 * 1000000 };
	struct stat before, now;

	if (!is_there(at, path, &before))
		return;
	(void)nanosleep(&t, NULL);
	if (!is_there(at, path, &now) || now.st_ino != before.st_ino ||
	    now.st_ctim.tv_sec != before.st_ctim.tv_sec ||
	    now.st_ctim.tv_nsec != before.st_ctim.tv_nsec)
		return;
	if (!unlinkat(at, path, 0))
		(void)ga_journal(s->dir, "lock", json_pack("{s:s}", "removed", path));
}

void start_clear_locks(struct ga_repo *r, const struct ga_session *s)
{
	static const char *const kinds[] = { "base", "from", "held", "carried", "orig", "report" };
	cleanup_close int at = open(ga_repo_info(r)->commondir,
				    O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (at < 0)
		return;
	clear(at, s->branch, s);
	for (size_t i = 0; i < GA_NELEMS(kinds); i++) {
		cleanup_free char *ref = ga_session_ref(s, kinds[i]);

		clear(at, ref, s);
	}
}
