/* SPDX-License-Identifier: MIT
 *
 * A .keep beside a pack stops a concurrent `git repack -ad` from dropping what no
 * ref reaches yet. One that outlives its capture would stop every repack for good.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "capture-internal.h"
#include "ga/fd.h"
#include "ga/path.h"
#include "upper-internal.h"

#define KEEP_TEXT "git-agent\n" /* what ours hold; git and users write other things */
#define MAX_PACKS 1000000

static void sweep(const struct capture *c)
{
	cleanup_free char *path = ga_path_join(ga_repo_info(c->e->repo)->commondir, "objects/pack");
	cleanup_close int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_strv struct ga_strv names = GA_STRV_INIT;

	if (fd < 0 || read_names(fd, MAX_PACKS, &names) < 0)
		return;
	for (size_t i = 0; i < names.n; i++) {
		cleanup_error struct ga_error foreign = GA_ERROR_INIT;
		cleanup_buf struct ga_buf text = GA_BUF_INIT;
		size_t n = strlen(names.v[i]);

		if (n < 5 || strcmp(names.v[i] + n - 5, ".keep"))
			continue;
		if (!ga_read_file_at(fd, names.v[i], strlen(KEEP_TEXT), &text, &foreign) &&
		    !strcmp(text.ptr, KEEP_TEXT))
			(void)unlinkat(fd, names.v[i], 0);
	}
}

int lock_keeps(struct capture *c, struct ga_error *err)
{
	cleanup_free char *path =
		ga_path_join(ga_repo_info(c->e->repo)->commondir, "git-agent/capture.lock");
	cleanup_close int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);

	if (fd < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open '%s'", path);
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

	/* only now: until its refs exist, those of a capture that was cut short and is
	 * done again protect what it finds there and does not write anew */
	if (!ga_flock(lock, true, false, &busy))
		sweep(c);
}
