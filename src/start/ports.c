/* SPDX-License-Identifier: MIT
 *
 * Ports for what a session starts, where several share the host's.
 */
#include <fcntl.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/path.h"
#include "start.h"

#define FIRST 20480
#define EACH 16
#define RANGES ((32768 - FIRST) / EACH) /* above that the kernel takes ports for anybody */

/* The lock of one byte of a file is a range. It goes with the descriptor (F_OFD_SETLK), so with
 * the supervisor, however that ends. */
unsigned start_take_ports(const struct ga_start_env *e, int *ret_fd)
{
	cleanup_free char *path = ga_path_join(e->state_root, "ports");
	cleanup_close int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	for (unsigned i = 0; fd >= 0 && i < RANGES; i++) {
		struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = i,
				   .l_len = 1 };

		if (fcntl(fd, F_OFD_SETLK, &l))
			continue;
		*ret_fd = ga_steal_fd(&fd);
		return FIRST + i * EACH;
	}
	return 0;
}
