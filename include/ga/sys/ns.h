/* SPDX-License-Identifier: MIT
 *
 * User, mount and pid namespaces and capabilities of the calling process. Every function changes
 * the process for good: call them in a child, or in a program made for it. The process must have
 * one thread (the kernel refuses CLONE_NEWUSER with more).
 *
 * Functions without an error parameter return 0, or -1 with errno, so that a caller with a protocol
 * of its own (the stage) can report step and number.
 */
#pragma once

#include <stdbool.h>

#include "ga/base/error.h"

/* Enter a new user namespace. Until the ids are mapped, all files look as if they were owned by the
 * overflow ids. */
int ga_ns_unshare_user(void);

/* Map `uid` and `gid` (those the process had before ga_ns_unshare_user(); afterwards it cannot ask)
 * to themselves and nothing else. setgroups(2) is denied from here on, as the kernel requires of an
 * unprivileged caller. */
int ga_ns_map_self(unsigned uid, unsigned gid);

/* Enter a new mount namespace, in which nothing propagates in or out. */
int ga_ns_unshare_mounts(void);

/* Make a pid namespace for future children; the first of them is its pid 1. `*ret_blind`: that
 * child has to call ga_ns_show_pids() before it executes bwrap. bwrap looks for "/proc/2/ns" (2
 * being its child's pid in the new namespace), though it does nothing with the result. In the
 * initial pid namespace pid 2 is always a kernel thread (kthreadd); in any other, such as a
 * container's, there may be no process 2, and with hidepid a user does not see it. */
int ga_ns_unshare_pids(bool *ret_blind);
/* Enter a mount namespace with a /proc of this pid namespace. Shared mounts propagate into it, and
 * nothing propagates out. */
int ga_ns_show_pids(void);

/* ga_ns_unshare_user() and ga_ns_map_self() at once: afterwards the process holds every capability
 * over files of its own uid and gid, CAP_DAC_OVERRIDE among them, and can read and remove what it
 * owns whatever the mode. */
int ga_ns_enter_user(struct ga_error *err);

/* Enter the user and mount namespaces of the process that `pidfd` names, a child of the caller that
 * created both (Linux 5.8). Root and working directory become those of that mount namespace. */
int ga_ns_join(int pidfd);

/* From there, enter only the mount namespace of a process further inside. */
int ga_ns_join_mounts(int pidfd);

/* Drop every capability from every set (ambient, inheritable, bounding, permitted, effective) for
 * good, even across an exec as uid 0, and set no_new_privs. Uid 0 keeps CAP_SETFCAP over its
 * namespace, without which it could not map itself into the next one. */
int ga_ns_drop_caps(void);
