/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/session/session.h"
#include "ga/sys/fd.h"

/* Everything below the state directory decides what is mounted and what is
 * committed, so nobody else may be able to change it: each directory down to it
 * belongs to us or to root and is not writable for others (a sticky one such as
 * /tmp is fine: names in it cannot be taken over). */
static int check_parents(const char *dir, struct ga_error *err)
{
	cleanup_free char *path = ga_strdup(dir);

	for (;;) {
		cleanup_free char *word = ga_quote_shell(path);
		struct stat st;

		if (stat(path, &st))
			return ga_fail_errno(err, GA_EFATAL, errno, "cannot stat '%s'", path);
		if (st.st_uid != geteuid() && st.st_uid != 0)
			return ga_fail(err, GA_EFATAL, "'%s' belongs to another user"
				       GA_HINT "set XDG_STATE_HOME or state_dir to a directory of "
				       "your own", path);
		if ((st.st_mode & 022) && !(st.st_mode & S_ISVTX) && !strcmp(path, dir))
			return ga_fail(err, GA_EFATAL, "'%s' can be written by others"
				       GA_HINT "chmod go-w %s", path, word);
		if ((st.st_mode & 002) && !(st.st_mode & S_ISVTX))
			return ga_fail(err, GA_EFATAL, "'%s' can be written by everybody"
				       GA_HINT "chmod o-w %s, or set XDG_STATE_HOME or state_dir "
				       "elsewhere", path, word);
		if (!strcmp(path, "/"))
			return 0;
		ga_path_up(path);
	}
}

/* Make `dir` if it is missing, and check that it is writable and that nobody else can change it;
 * returns its real path. */
static int own_dir(const char *base, const char *dir, char **ret, struct ga_error *err)
{
	cleanup_free char *real = NULL;

	if (ga_mkdir_p(dir, 0700, err))
		return ga_hint(err,
			       "sessions are kept below '%s'; set XDG_STATE_HOME or state_dir to a "
			       "directory you can write",
			       base);
	real = realpath(dir, NULL);
	if (!real || access(real, W_OK | X_OK)) {
		(void)ga_fail_path(err, errno, "write state directory", dir);
		return ga_hint(err,
			       "give yourself write permission, or set XDG_STATE_HOME or state_dir "
			       "elsewhere");
	}
	if (check_parents(real, err))
		return -1;
	*ret = ga_steal(&real);
	return 0;
}

int ga_store_open(const char *base, const char *repo_id, char **ret_state_dir, struct ga_error *err)
{
	cleanup_free char *dir = ga_path_join(base, repo_id), *sessions = NULL, *real = NULL;

	sessions = ga_path_join(dir, "sessions");
	return own_dir(base, sessions, &real, err) || own_dir(base, dir, ret_state_dir, err) ? -1
											    : 0;
}

int ga_store_stage(const char *base, char **ret, struct ga_error *err)
{
	cleanup_free char *dir = ga_path_join(base, "stage");

	return own_dir(base, dir, ret, err);
}
