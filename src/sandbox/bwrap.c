/* SPDX-License-Identifier: MIT
 *
 * What is left for bwrap to do: namespaces, /proc, and giving up all privileges. Its root comes
 * from the stage, complete, by one bind: bwrap follows symlinks in destinations, and here an agent
 * cannot have made any.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/sandbox/plan.h"
#include "sandbox-internal.h"

static bool exists(const char *path)
{
	struct stat st;

	return !lstat(path, &st);
}

/* Uid 0 owns core_pattern and similar files, which it could write without any capability (a write
 * to /proc/scsi/scsi tells the kernel that a disk is gone), and lists that tell about the host; for
 * anybody else these are closed already. Each mount makes bwrap read the whole mount table, so none
 * is made without need. */
static void add_proc(const char *empty_file, struct ga_buf *b)
{
	static const char *const read_only[] = { "/proc/sys", "/proc/sysrq-trigger", "/proc/irq",
						 "/proc/bus", "/proc/acpi",	     "/proc/fs",
						 "/proc/scsi", "/proc/asound",	     "/proc/driver",
						 "/proc/dynamic_debug", "/proc/latency_stats" };
	static const char *const hidden[] = { "/proc/keys", "/proc/timer_list", "/proc/kcore",
					      "/proc/kmsg" };
	bool root = geteuid() == 0;

	sandbox_words(b, "--proc", "/proc", NULL);
	for (size_t i = 0; root && i < GA_NELEMS(read_only); i++)
		if (exists(read_only[i]))
			sandbox_words(b, "--ro-bind", read_only[i], read_only[i], NULL);
	/* keyrings have no namespace: the user's show in /proc/keys */
	for (size_t i = 0; i < (root ? GA_NELEMS(hidden) : 1); i++)
		if (exists(hidden[i]))
			sandbox_words(b, "--ro-bind", empty_file, hidden[i], NULL);
}

void ga_spec_bwrap_args(const struct ga_spec *s, struct ga_buf *ret)
{
	cleanup_free char *empty_file = ga_path_join(s->stage_dir, GA_PLAN_EMPTY_FILE);
	cleanup_free char *root = ga_path_join(s->stage_dir, "root");

	sandbox_words(ret, "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts",
		      "--unshare-cgroup", NULL);
	if (!s->network)
		sandbox_words(ret, "--unshare-net", NULL);
	if (!s->nested)
		sandbox_words(ret, "--disable-userns", NULL);
	sandbox_words(ret, "--cap-drop", "ALL", "--as-pid-1", NULL);
	/* a bind that allows devices; everything except the nodes of /dev is mounted nodev
	 * already */
	sandbox_words(ret, "--dev-bind", root, "/", NULL);
	add_proc(empty_file, ret);
	sandbox_words(ret, "--remount-ro", "/", "--chdir", "/", NULL);
}
