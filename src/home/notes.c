/* SPDX-License-Identifier: MIT
 *
 * Notes that tell agents where they are. They are the same in every session, so that one file in
 * the home does for all of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/config/preset.h"
#include "ga/sandbox/sandbox.h"
#include "ga/sys/fd.h"
#include "ga/view/spec.h"
#include "home-internal.h"

/* A file that begins like this is ours to write again; any other is not. */
#define MARKER "<!-- git-agent wrote this file and keeps it up to date."

static const char notes[] =
	MARKER " Without this line it is yours. -->\n"
	"# Where you are\n"
	"\n"
	"You run in a sandbox made by git-agent (`GIT_AGENT_SESSION` is its name), and may do\n"
	"in it whatever the task needs without asking.\n"
	"\n"
	"- The project shows the user's working tree, at its own path. What you write stays in\n"
	"  this session. When you end it is put on the branch `agent/$GIT_AGENT_SESSION`; the\n"
	"  user reviews it and decides what lands.\n"
	"- Commit as you like, with messages for a reader. What is left uncommitted is committed\n"
	"  for you. There is nothing to push, and nobody's credentials to push with.\n"
	"- Ignored directories (`node_modules`, `target`, `.venv` ...) are the user's, with your\n"
	"  changes on top. Once you remove one, it is not shown again.\n"
	"- Files with live secrets, such as `.env`, are left out. Do not make them up.\n"
	"- The home directory is not the user's but the agents' own. Toolchains in it, and the\n"
	"  system, are read-only: install into the project, or into `~/" GA_AGENT_BIN "`,\n"
	"  which is on `PATH`.\n"
	"- git-agent refuses what makes containers or sandboxes (docker, podman, that of a\n"
	"  browser), hosts that are not listed, if any are, and devices. The user can allow\n"
	"  them by `sandbox.nested`, `network.sockets`, `network.allow` and `devices`.\n"
	"- `/tmp` is empty at the start and gone at the end.\n"
	"- `GIT_AGENT_FEEDBACK`, if set, names a file with what the reviewer said of your work.\n";

static int write_one(int home, const char *rel, bool ours, struct ga_error *err)
{
	cleanup_close int fd = ga_openat_beneath(home, rel, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	char now[sizeof(notes)];
	ssize_t n;

	if (fd < 0 && errno == ENOENT)
		return home_write(home, rel, notes, sizeof(notes) - 1, 0644, err);
	if (fd < 0 && !ours)
		return ga_fail_path(err, errno, "open", rel);
	n = fd < 0 ? 0 : read(fd, now, sizeof(now));
	if (n == sizeof(notes) - 1 && !memcmp(now, notes, sizeof(notes) - 1))
		return 0;
	if (!ours && (n < (ssize_t)sizeof(MARKER) - 1 || memcmp(now, MARKER, sizeof(MARKER) - 1)))
		return 0;
	return home_write(home, rel, notes, sizeof(notes) - 1, 0644, err);
}

int home_write_notes(const char *dir, const struct ga_preset *p, struct ga_error *err)
{
	cleanup_close int home = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (home < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open the agents' home");
	return write_one(home, GA_VIEW_NOTES, true, err) ||
	       (p && p->notes && write_one(home, p->notes, false, err)) ? -1 : 0;
}
