/* SPDX-License-Identifier: MIT
 *
 * A directory of its own for a test of files, on a real file system, entered
 * as an ordinary user: root would pass every permission check untested.
 */
#ifndef SCRATCH_H
#define SCRATCH_H

#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/fd.h"

static char scratch_dir[] = "/var/tmp/ga-unit-XXXXXX";
static int scratch_parent = -1;

static inline int scratch_enter(void **state)
{
	(void)state;
	(void)umask(022);
	if (!mkdtemp(scratch_dir) || chmod(scratch_dir, 0777))
		return -1;
	scratch_parent = open("/var/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (scratch_parent < 0 || chdir(scratch_dir))
		return -1;
	if (geteuid())
		return 0;
	/* nobody; the kernel hides /proc/self from a process that changed its uid */
	if (chown(scratch_dir, 65534, 65534) || setgroups(0, NULL) || setresgid(65534, 65534, 65534) ||
	    setresuid(65534, 65534, 65534))
		return -1;
	return prctl(PR_SET_DUMPABLE, 1);
}

static inline int scratch_leave(void **state)
{
	cleanup_error struct ga_error err = GA_ERROR_INIT;

	(void)state;
	if (chdir("/"))
		return -1;
	/* /var/tmp is sticky: the directory itself may be root's to remove */
	(void)ga_rmtree_at(scratch_parent, strrchr(scratch_dir, '/') + 1, &err);
	return close(scratch_parent);
}

#endif
