/* SPDX-License-Identifier: MIT */
#include <sys/stat.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/repo/repo.h"

char *ga_repo_guess(void)
{
	cleanup_free char *at = getcwd(NULL, 0);

	while (at && *at == '/' && at[1]) {
		cleanup_free char *git = ga_path_join(at, ".git");
		struct stat st;

		if (!lstat(git, &st))
			return S_ISDIR(st.st_mode) ? ga_steal(&at) : NULL;
		ga_path_up(at);
	}
	return NULL;
}
