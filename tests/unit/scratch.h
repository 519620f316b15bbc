/* SPDX-License-Identifier: MIT
 *
 * A directory of its own for a test of files, on a real file system, entered
 * as an ordinary user: root would pass every permission check untested.
 */
#pragma once

#include <grp.h>
#include <sys/prctl.h>

#include "test.h"

#include "ga/sys/fd.h"

static char scratch_dir[4096];
static int scratch_parent = -1;

/* A directory in GIT_AGENT_TEST_TMPDIR, as those of tests in shell; its path in `dir`. */
static inline int scratch_make(char *dir, size_t size)
{
	const char *in = getenv("GIT_AGENT_TEST_TMPDIR");
	int n = snprintf(dir, size, "%s/ga-unit-XXXXXX", in && *in ? in : "/var/tmp");

	return n > 0 && (size_t)n < size && mkdtemp(dir) ? 0 : -1;
}

/* For a test that needs nothing but a directory, in *state. */
static inline int make_dir(void **state)
{
	char dir[4096];

	if (scratch_make(dir, sizeof(dir)))
		return -1;
	*state = ga_strdup(dir);
	return 0;
}

static inline int remove_dir(void **state)
{
	ERR(err);
	int rc = ga_rmtree_at(AT_FDCWD, *state, &err);

	free(*state);
	return rc;
}

static inline int scratch_enter(void **state)
{
	cleanup_free char *parent = NULL;

	(void)state;
	(void)umask(022);
	if (scratch_make(scratch_dir, sizeof(scratch_dir)) || chmod(scratch_dir, 0777))
		return -1;
	parent = strndup(scratch_dir, (size_t)(strrchr(scratch_dir, '/') - scratch_dir));
	scratch_parent = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
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
	ERR(err);

	(void)state;
	if (chdir("/"))
		return -1;
	/* the directory itself may be root's to remove */
	(void)ga_rmtree_at(scratch_parent, strrchr(scratch_dir, '/') + 1, &err);
	return close(scratch_parent);
}
