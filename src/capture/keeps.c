/* SPDX-License-Identifier: MIT
 *
 * A .keep file beside a pack stops a concurrent `git repack -ad` from dropping what no ref reaches
 * yet. One that outlives its capture would keep the pack out of every repack for good.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "capture-internal.h"
#include "ga/base/path.h"
#include "ga/repo/import.h"
#include "ga/sys/fd.h"

int ga_capture_lock_keeps(const struct ga_repo *r, struct ga_error *err)
{
	cleanup_free char *path =
		ga_path_join(ga_repo_info(r)->commondir, "git-agent/capture.lock");
	cleanup_close int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);

	if (fd < 0)
		return ga_fail_path(err, errno, "open", path);
	if (ga_flock(fd, false, true, err))
		return -1;
	return ga_steal_fd(&fd);
}

void drop_keeps(struct capture *c)
{
	for (size_t i = 0; i < c->keeps.n; i++)
		(void)unlink(c->keeps.v[i]);
	ga_strv_release(&c->keeps);
}

void sweep_keeps(struct capture *c, int lock)
{
	cleanup_error struct ga_error busy = GA_ERROR_INIT;

	/* not earlier: a capture that is done again after it was cut short does not write anew what
	 * it finds in such packs, and until its refs exist only these files protect that */
	if (!ga_flock(lock, true, false, &busy))
		ga_keeps_sweep(c->e->repo);
}
