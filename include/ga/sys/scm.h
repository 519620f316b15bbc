/* SPDX-License-Identifier: MIT
 *
 * Passing descriptors over unix sockets (SCM_RIGHTS, unix(7)).
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

struct msghdr;

/* To send `n` > 0 of them: `room` has CMSG_SPACE(n * sizeof(int)) bytes, is aligned as a struct
 * cmsghdr, and must live until the message is sent. */
void ga_put_fds(struct msghdr *h, void *room, const int *fds, size_t n);

/* Take up to `n` descriptors received in h->msg_control into `ret`, and close the rest. Returns how
 * many were taken. */
size_t ga_take_fds(struct msghdr *h, int *ret, size_t n);

/* sendmsg(2), restarted after EINTR; a closed peer is EPIPE, without SIGPIPE.
 *
 * The kernel counts the descriptors that all of a user's processes have sent and that were not
 * received yet, and with more of them than the sender's soft RLIMIT_NOFILE refuses every message
 * that carries one (ETOOMANYREFS; not for CAP_SYS_RESOURCE or CAP_SYS_ADMIN): so any program of
 * that user could keep others from sending. The soft limit is raised to the hard one for such a
 * call; where that is not enough either, this waits up to 5 seconds for receivers, then fails with
 * ETOOMANYREFS. */
ssize_t ga_sendmsg(int fd, const struct msghdr *h);
