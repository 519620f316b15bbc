/* SPDX-License-Identifier: MIT
 *
 * Mounts by descriptor, for a process that has CAP_SYS_ADMIN over its mount namespace
 * (ga/sys/ns.h). No function takes a path, so names may hold any byte and nothing can be swapped
 * between a check and its use. Functions without an error parameter return -1 with errno on
 * failure.
 *
 * Needs Linux 5.12 (mount_setattr(2)); overlays by ordinary users came in 5.11.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "ga/base/error.h"
#include "ga/base/strv.h"

/* Mount a tmpfs (nosuid, nodev) with this mode on the directory `at`; `size` in mount(8)'s
 * notation, NULL for the kernel's default. Returns a descriptor of its root. */
int ga_mount_tmpfs(int at, unsigned mode, const char *size);

/* Mount an overlay (userxattr, volatile; nosuid, nodev) on the directory `at`. Layers are topmost
 * first and must have been opened in this mount namespace. With `upper` and `work` -1 it consists
 * of at least two lower layers alone and is read-only. ENAMETOOLONG if there are more layers than
 * one page of options can name. EINVAL also if the host has mounted something below a lower
 * layer. */
int ga_mount_overlay(int at, const int *lowers, size_t n, int upper, int work);

/* Mount a new devpts instance (nosuid, noexec) on the directory `at`, with a ptmx that anybody may
 * open. */
int ga_mount_devpts(int at);

enum ga_copy { GA_COPY_RW, GA_COPY_RO, GA_COPY_DEVICE };
/* A recursive copy, not yet attached, of what is mounted at `fd`: nosuid and nodev, and on request
 * read-only, throughout; for a device node nosuid and noexec. Returns its descriptor. */
int ga_mount_copy(int fd, enum ga_copy how);

/* Map the owners that such a copy shows by the user namespace `userns` (an idmapped mount),
 * throughout where that is possible, else for the topmost mount alone; and make it private. Returns
 * 1 if only the topmost is mapped. Only real root may do this (EPERM); EINVAL if the file system
 * does not support it, as overlays do not. */
int ga_mount_disown(int copy, int userns);

/* Make the mount whose root is `fd` read-only, but none mounted below it. */
int ga_mount_read_only(int fd);

/* Make the mount whose root is `fd`, and all below it, shared or no longer shared: whether what is
 * attached there from now on propagates to copies of them in other namespaces. */
int ga_mount_share(int fd, bool share);

/* Attach such a copy at `at`: a directory on a directory, a file on a file. */
int ga_mount_attach(int copy, int at);

/* Is `fd` the root of a mounted overlay? (Linux 5.8) */
bool ga_mount_is_overlay(int fd);

/* Drop the dentry cache of the overlay whose root is `at`, wherever it is mounted. An overlay does
 * not notice that a layer was modified: a directory that replaced another looks empty in it.
 * Reconfiguring a file system without a change drops that cache (reconfigure_super() calls
 * shrink_dcache_sb()), except for what a process has open or as its working directory. EPERM if the
 * mount does not belong to the caller's user namespace. */
int ga_mount_refresh(int at);

enum { GA_MOUNT_PATH, GA_MOUNT_TYPE, GA_MOUNT_DEVICE, GA_MOUNT_ROOT, GA_MOUNT_WORDS };
/* List what is mounted in the caller's mount namespace, in the order of mounting (the only function
 * here that needs no capability). Appends to `ret` for each mount its path, the type of its file
 * system, "MAJOR:MINOR", which is the same wherever that file system is mounted, and the path in it
 * that is mounted there, as the kernel writes it. */
int ga_mount_list(struct ga_strv *ret, struct ga_error *err);
