/* SPDX-License-Identifier: MIT
 *
 * The stage plan: what git-agent asks git-agent-stage to mount, and how the stage reports failure.
 * Shared by src/sandbox, which writes it, and src/stage, which reads it. The plan travels as NUL-
 * terminated strings (but for the bytes of "text") through a pipe and is executed as it arrives,
 * so what does not depend on a session is mounted while the session is still being made.
 *
 * The stage enters a user and mount namespace with the caller's own uid and gid mapped (below one
 * that the file STAGE_DIR.users tells of, which it makes and keeps), mounts a tmpfs on STAGE_DIR
 * with the empty directories "root", "project", "home" and "odb", and executes the operations in
 * order, up to the word "end" and the end of the pipe. "root" becomes bwrap's "/" by a single
 * bind: each further mount costs the stage a few microseconds, but would cost bwrap a reading of
 * the whole mount table. Beside these four, where no DEST reaches, are "empty-file" and
 * "empty-dir", which cover what must not be readable and which bwrap uses, too; and one directory
 * for each "hide".
 *
 * The operation "sandbox" starts bwrap. What "move" attaches below "root" after that appears inside
 * by propagation (mount_namespaces(7)): until "end" the mount of bwrap's root is a slave of ours,
 * afterwards it is private. So bwrap starts while the layers of a session are being made. Only
 * attaching a mount propagates, so after "sandbox" only "move" and "dir" are allowed below "root".
 *
 * Every DEST is relative to STAGE_DIR and is resolved by openat2(RESOLVE_BENEATH |
 * RESOLVE_NO_SYMLINKS), crossing mounts, so that no symlink planted by an agent is ever followed.
 * Every SOURCE and layer is an absolute host path outside every tree an agent can write (or the
 * root of one); the stage opens it after unshare(2) and names it to the kernel as /proc/self/fd/N.
 * A DEST below "root" or "odb" that is missing is created with its parents (0755): a directory, or
 * an empty file if the SOURCE of the bind is not a directory.
 *
 * bwrap gets no capability (except that uid 0 keeps CAP_SETFCAP over the namespace, without which
 * bwrap could not map it). It is the first process of a pid namespace, and the stage waits outside:
 * if bwrap is killed during its own setup it leaves a child that waits for it for ever, unless the
 * kernel kills that child with the namespace. The stage dies with its parent, and bwrap with the
 * stage.
 *
 *     "git-agent-plan-6"
 *     STAGE_DIR
 *     then operations, each its word and its arguments:
 *     "disown" SOURCE       before all others, while the stage is still in the user's own
 *                           namespaces: where a later "bind-ro" shows exactly this SOURCE, files
 *                           owned by root appear as nobody's, so that only those that everybody
 *                           may read can be read, including files that appear later. Where the
 *                           kernel cannot do this (ga_mount_disown()), SOURCE is loose, see below.
 *                           At most GA_PLAN_MAX_DISOWNED
 *     "overlay" DEST UPPER WORK COUNT LAYER...
 *                           layers topmost first; userxattr, volatile, nosuid, nodev;
 *                           WORK exists, is empty and fresh
 *     "bind-rw" SOURCE DEST recursive copy of the mount; nosuid, nodev
 *     "bind-ro" SOURCE DEST the same, read-only
 *     "mountpoint" DEST     create DEST if it is missing: a directory, missing parents 0755, the
 *                           last one 0555 with the marker file inside; parents that their owner,
 *                           the caller, may not enter are opened to him
 *     "move" DEST_FROM DEST_TO
 *                           attach a recursive copy of a staged mount elsewhere
 *     "device" SOURCE DEST  a device node of the host; nosuid, noexec
 *     "devpts" DEST         a new devpts instance with its own ptmx; nosuid, noexec
 *     "tmpfs" MODE DEST     an empty, writable one; nosuid, nodev; MODE in octal
 *     "symlink" TARGET DEST below "root", or below "home" if that is possible there; TARGET is any
 *                           string
 *     "read-only" DEST      make the mount at DEST read-only, but none mounted below it
 *     "dir" MODE DEST       an empty directory, in "root" or "home", if nothing is there; MODE in
 *                           octal, missing parents 0755
 *     "text" DEST COUNT BYTES
 *                           below "odb": a new file, 0444, with these bytes, of which there are
 *                           COUNT, and no NUL after them
 *     "file" DEST           an empty file to mount on, below "home", if nothing is there
 *     "mask-file" DEST      cover a file by an empty read-only one (missing: skipped)
 *     "mask-dir" DEST       cover a directory by an empty read-only one (missing: skipped)
 *     "hide" DEST COUNT NAME...
 *                           below "home": replace the files of these names in the directory DEST
 *                           by empty ones (missing: skipped). A mount on a file is lost when the
 *                           host replaces the file; this is not, being an overlay over DEST. Where
 *                           that overlay is not possible (EINVAL), as over a directory with host
 *                           mounts below it, each is covered as by "mask-file", and DEST is loose,
 *                           see below
 *     "sandbox"             start bwrap; once in each plan
 *     "end"
 *
 * DEST is or begins with "root", "project", "home" or "odb". A plan that is not exactly this,
 * exceeds a limit below or ends before "end" is refused, and the namespace goes with the stage.
 *
 *     git-agent-stage --plan FD --status FD [--keep FD]... -- BWRAP ARG...
 *
 * BWRAP is an absolute path; it is executed with an empty environment. Descriptors 0, 1, 2 and
 * those named by --keep (what bwrap's arguments name, and what init inherits through bwrap) stay
 * open; every other one is closed first. The umask is passed on unchanged.
 *
 * On failure the stage writes one record to the status descriptor, "STEP\0ERRNO\0OBJECT\0" (STEP: a
 * word of GA_STAGE_STEPS below; ERRNO in decimal; OBJECT: the path or word concerned), and exits
 * 125. End of file on the status descriptor without such a record means that bwrap was executed and
 * everything is mounted; bwrap may still be starting. Before that it writes for each loose DEST or
 * SOURCE a record "loose\0ERRNO\0PATH\0", which is no failure.
 */
#pragma once

#define GA_PLAN_MAGIC "git-agent-plan-6"
#define GA_PLAN_MARKER ".git-agent-mount-point"
#define GA_PLAN_EMPTY_FILE "empty-file"
#define GA_PLAN_EMPTY_DIR "empty-dir"

#define GA_STAGE_LOOSE "loose"

#define GA_PLAN_MAX_BYTES (64u << 20)
#define GA_PLAN_MAX_WORD (64u << 10)
#define GA_PLAN_MAX_OPS 4096
#define GA_PLAN_MAX_DISOWNED 8
/* Layers are named "/proc/self/fd/N" in the one page mount(2) takes as options. */
#define GA_PLAN_MAX_LAYERS 128

/* Steps that can fail, as reported. */
#define GA_STAGE_STEPS(X)                                                                  \
	X(GA_STEP_PLAN, "plan")         /* malformed plan */                        \
	X(GA_STEP_USERNS, "userns")     /* unshare(CLONE_NEWUSER) */                       \
	X(GA_STEP_IDMAP, "idmap")       /* uid_map, gid_map, setgroups */                  \
	X(GA_STEP_MOUNTNS, "mountns")   /* unshare(CLONE_NEWNS), making it private */      \
	X(GA_STEP_TMPFS, "tmpfs")       /* the staging tmpfs */                            \
	X(GA_STEP_SOURCE, "source")     /* opening a source or layer */                    \
	X(GA_STEP_DEST, "dest")         /* resolving or making a destination */            \
	X(GA_STEP_OVERLAY, "overlay")   /* mounting an overlay */                          \
	X(GA_STEP_HIDE, "hide")         /* the overlay of a "hide" */                      \
	X(GA_STEP_BIND, "bind")         /* open_tree, mount_setattr, move_mount */         \
	X(GA_STEP_PROPAGATION, "propagation") /* making later mounts propagate */               \
	X(GA_STEP_PIDNS, "pidns")       /* a pid namespace, and bwrap's process in it */   \
	X(GA_STEP_PROC, "proc")         /* a /proc for that process */                     \
	X(GA_STEP_CAPS, "caps")         /* dropping capabilities, no_new_privs */          \
	X(GA_STEP_EXEC, "exec")         /* executing bwrap */

enum ga_stage_step {
#define X(id, word) id,
	GA_STAGE_STEPS(X)
#undef X
};
