/* SPDX-License-Identifier: MIT
 *
 * User and mount namespaces and capabilities of the calling process. Every
 * function changes the process for good: call them in a child, or in a program
 * made for it. The process must have one thread (the kernel refuses
 * CLONE_NEWUSER with more).
 *
 * Functions without an error parameter return 0, or -1 with errno, so that a
 * caller with a protocol of its own (the stage) can report step and number.
 */
#ifndef GA_NS_H
#define GA_NS_H

#include <stdbool.h>

#include "ga/error.h"

/* Leave for a new user namespace. Until the ids are mapped, everything looks
 * as if owned by the overflow ids. */
int ga_ns_unshare_user(void);

/* Map `uid` and `gid` (those the process had before it left: afterwards it
 * cannot ask) to themselves and nothing else. setgroups(2) is refused from
 * here on, as the kernel demands of an unprivileged caller. */
int ga_ns_map_self(unsigned uid, unsigned gid);

/* A mount namespace of its own, in which nothing propagates in or out. */
int ga_ns_unshare_mounts(void);

/* A pid namespace for the children to come; the first of them is its pid 1. `*ret_blind`: that one
 * needs ga_ns_show_pids() before it executes bwrap, which looks for "/proc/2/ns" (2 is its child's
 * pid in this namespace), though it does nothing with what it finds. The first pid namespace of a
 * machine has a kernel thread of that number (kthreadd) for ever; any other, a container's, may
 * have nothing, and who is shown only his own processes (hidepid) does not see it. */
int ga_ns_unshare_pids(bool *ret_blind);
/* A mount namespace with a /proc of this pid namespace. What is shared propagates into it, and
 * nothing out of it. */
int ga_ns_show_pids(void);

/* Both first steps at once: afterwards the process holds every capability
 * over files of its own uid and gid, CAP_DAC_OVERRIDE among them, and can read
 * and remove what it owns whatever the mode says. */
int ga_ns_enter_user(struct ga_error *err);

/* Enter the user and mount namespace of the process that `pidfd` names, one of the caller's own
 * that made both (Linux 5.8). Root and working directory are those of that mount namespace then. */
int ga_ns_join(int pidfd);

/* From there enter the mount namespace alone of a process further inside. */
int ga_ns_join_mounts(int pidfd);

/* Give up every capability in every set (ambient, inheritable, bounding,
 * permitted, effective) with no way back, uid 0's exec included, and set
 * no_new_privs. Uid 0 keeps CAP_SETFCAP over its namespace, without which it
 * could not have itself mapped into the next one. */
int ga_ns_drop_caps(void);

#endif
