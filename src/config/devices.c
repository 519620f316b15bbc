/* SPDX-License-Identifier: MIT */
#include <glob.h>
#include <string.h>
#include <sys/stat.h>

#include "ga/base/path.h"
#include "ga/config/devices.h"

/* Documentation/admin-guide/devices.txt of Linux; nvidia's driver is not listed, and makes its own
 * nodes. */
static const struct {
	const char *word, *pattern;
} kinds[] = { { "kvm", "/dev/kvm" }, { "dri", "/dev/dri" }, { "nvidia", "/dev/nvidia*" } };

static const char *pattern_of(const char *word)
{
	for (size_t i = 0; i < GA_NELEMS(kinds); i++)
		if (!strcmp(word, kinds[i].word))
			return kinds[i].pattern;
	return NULL;
}

bool ga_device_ok(const char *word)
{
	/* a sandbox has its own terminals, shared memory and queues */
	static const char *const own[] = { "/dev/pts", "/dev/shm", "/dev/mqueue", NULL };

	return pattern_of(word) || (!strncmp(word, "/dev/", 5) && ga_path_relative_ok(word + 1) &&
				    !strpbrk(word, "*?[\\") && !ga_path_within(word, own));
}

static void find(const char *pattern, struct ga_strv *ret)
{
	struct stat st;
	glob_t g;

	if (glob(pattern, 0, NULL, &g))
		return;
	for (size_t i = 0; i < g.gl_pathc; i++)
		if (!lstat(g.gl_pathv[i], &st) && S_ISCHR(st.st_mode))
			ga_strv_push(ret, g.gl_pathv[i]);
	globfree(&g);
}

void ga_devices_find(const char *word, struct ga_strv *ret)
{
	const char *pattern = pattern_of(word);
	cleanup_free char *below = ga_strf("%s/*", pattern ? pattern : word);

	find(pattern ? pattern : word, ret);
	find(below, ret);
}
