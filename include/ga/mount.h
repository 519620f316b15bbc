/* SPDX-License-Identifier: MIT
 *
 * Mounts by descriptor, for a process that has CAP_SYS_ADMIN over its mount
 * namespace (ga/ns.h). No function takes a path, so that names hold any byte
 * and nothing can be swapped between a check and its use. All without an error parameter return -1
 * with errno on failure.
 *
 * Needs Linux 5.12 (mount_setattr; overlays by ordinary users are 5.11).
 */
#ifndef GA_MOUNT_H
#define GA_MOUNT_H

#include <stdbool.h>
#include <stddef.h>

#include "ga/error.h"
#include "ga/strv.h"

/* A tmpfs (nosuid, nodev) with this mode on the directory `at`; `size` as mount(8) has it, NULL
 * for the kernel's default. Returns a descriptor of its root. */
int ga_mount_tmpfs(int at, unsigned mode, const char *size);

/* An overlay (userxattr, volatile; nosuid, nodev) on the directory `at`. Layers
 * are topmost first and must have been opened in this mount namespace; `upper` and `work` -1: of
 * lower ones alone, two at least, read-only. ENAMETOOLONG if there are more of them than one page
 * of options can name. EINVAL also where the host has mounted something below a lower one. */
int ga_mount_overlay(int at, const int *lowers, size_t n, int upper, int work);

/* Terminals of their own (nosuid, noexec) on the directory `at`, with a ptmx anybody may open. */
int ga_mount_devpts(int at);

enum ga_copy { GA_COPY_RW, GA_COPY_RO, GA_COPY_DEVICE };
/* A recursive copy of what is mounted at `fd`, attached nowhere yet: nosuid and
 * nodev, read-only too if asked, all through; of a device node nosuid and noexec.
 * Returns its descriptor. */
int ga_mount_copy(int fd, enum ga_copy how);

/* Let what such a copy shows, here and in all that is mounted below where that is possible, else
 * here alone, belong to whom the user namespace `userns` maps its owners to; and tie it to nothing
 * outside. Returns 1 where it is here alone. For root of the machine alone (EPERM); EINVAL of a
 * file system that knows no such thing, as an overlay. */
int ga_mount_disown(int copy, int userns);

/* Make the mount whose root is `fd` read-only, and none that is mounted below it. */
int ga_mount_read_only(int fd);

/* From here on what is attached to the mount whose root is `fd`, or to one below it, shows in
 * copies made of them by other namespaces, or no longer does. */
int ga_mount_share(int fd, bool share);

/* Attach such a copy on `at`, a directory for a directory, a file for a file. */
int ga_mount_attach(int copy, int at);

/* Is it the root of an overlay that is mounted there? (Linux 5.8) */
bool ga_mount_is_overlay(int fd);

/* Have the overlay whose root is `at`, wherever it shows, look again at its layers. It remembers
 * what it found there, also when somebody changes a layer: a directory that was put in
 * the place of another is empty in it. Reconfiguring a file system, if nothing about it changes,
 * drops what is remembered (reconfigure_super() calls shrink_dcache_sb()), but for what
 * a process has open or stands in. EPERM if the mount is none of the caller's user namespace. */
int ga_mount_refresh(int at);

/* What is mounted in the namespace of the caller, in the order of mounting (the only one here that
 * needs no capability): of each, appended to `ret`, its path, the type of its file system, and
 * "MAJOR:MINOR", which the same file system has wherever it shows. */
int ga_mount_list(struct ga_strv *ret, struct ga_error *err);

#endif
