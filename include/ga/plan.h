/* SPDX-License-Identifier: MIT
 *
 * The stage plan: what git-agent asks git-agent-stage to mount, and how the
 * stage reports failure. Shared by src/sandbox (writes it) and src/stage (reads
 * it); the plan travels as NUL-terminated strings through a pipe, and is carried out as it
 * comes: what does not depend on a session is mounted while the session is made.
 *
 * The stage enters a user and mount namespace with the caller's own uid and gid mapped,
 * mounts a tmpfs on STAGE_DIR with the empty directories "root", "project", "home" and "odb",
 * and executes the operations in order, until the word "end" and the end of the pipe. "root"
 * becomes what bwrap makes "/" with one bind: a mount costs the stage a few microseconds,
 * and bwrap a reading of the whole mount table. Beside the four, where no DEST reaches, are
 * "empty-file" and "empty-dir", laid over what should not be read; bwrap uses them too; and a
 * directory for each "hide".
 *
 * At the operation "sandbox" bwrap is started. What is attached below "root" after that, with
 * "move", shows inside by propagation (mount_namespaces(7)): until "end" bwrap's root is a slave
 * of ours, after that of nobody's. So bwrap comes up while the layers of a session are
 * made. Of mounts only attaching propagates, and nothing but that and "dir" may be done below
 * "root" by then.
 *
 * Every DEST is relative to STAGE_DIR and is resolved by openat2(RESOLVE_BENEATH |
 * RESOLVE_NO_SYMLINKS), mounts crossed, so that no symlink an agent planted is
 * ever followed; every SOURCE and layer is an absolute host path outside every tree
 * an agent can write (or the root of one), opened by the stage after unshare and named
 * to the kernel as /proc/self/fd/N. A DEST below "root" or "odb" is made if it is missing, with
 * what is on the way (0755): a directory, or an empty file for the SOURCE of a bind that is none.
 * bwrap gets no capability (uid 0 keeps CAP_SETFCAP over the namespace: bwrap could not map
 * it otherwise) and is the first process of a pid namespace, with the stage waiting outside: a
 * bwrap killed at any moment of its own setup leaves a child that waits for it for ever, unless
 * the kernel ends that child with the namespace. The stage dies with its parent, and bwrap with
 * the stage.
 *
 *     "git-agent-plan-5"
 *     STAGE_DIR
 *     then operations, each its word and its arguments:
 *     "disown" SOURCE       before any other, when the stage still is who it was: what a later
 *                           "bind-ro" shows of just this SOURCE and is root's is nobody's there,
 *                           so that it takes a mode for others to read it, whatever comes to
 *                           be there. Where that cannot be had (ga_mount_disown()), SOURCE is
 *                           loose, see below. At most GA_PLAN_MAX_DISOWNED
 *     "overlay" DEST UPPER WORK COUNT LAYER...
 *                           layers topmost first; userxattr, volatile, nosuid, nodev;
 *                           WORK exists, is empty and fresh
 *     "bind-rw" SOURCE DEST recursive copy of the mount; nosuid, nodev
 *     "bind-ro" SOURCE DEST the same, read-only
 *     "mountpoint" DEST     make DEST if it is not there: a directory, missing parents
 *                           0755, the last one 0555 with the marker file inside; parents
 *                           closed to their owner, the caller, are opened to him
 *     "move" DEST_FROM DEST_TO
 *                           attach a recursive copy of a staged mount elsewhere
 *     "device" SOURCE DEST  a device node of the host; nosuid, noexec
 *     "devpts" DEST         terminals of its own: a new instance with its own ptmx; nosuid, noexec
 *     "tmpfs" MODE DEST     an empty, writable one, nosuid, nodev; MODE in octal
 *     "symlink" TARGET DEST below "root" only; TARGET is any string
 *     "read-only" DEST      what is mounted there, and nothing mounted below it
 *     "dir" MODE DEST       an empty directory, in "root" or "home", if nothing is there; MODE in
 *                           octal, missing parents 0755
 *     "file" DEST           an empty file to mount on, below "home", if nothing is there
 *     "mask-file" DEST      cover a file by an empty read-only one (missing: skipped)
 *     "mask-dir" DEST       cover a directory by an empty read-only one (missing: skipped)
 *     "hide" DEST COUNT NAME...
 *                           below "home": let empty files be what the directory DEST has by these
 *                           names (missing: skipped). What covers a file goes when the host puts
 *                           another in its place; this stays, being an overlay over DEST. Where
 *                           one is not possible (EINVAL), as over what the host has mounted below
 *                           DEST, each is covered as by "mask-file", and DEST is loose, see below
 *     "sandbox"             start bwrap; once in each plan
 *     "end"
 *
 * DEST is or begins with "root", "project", "home" or "odb". A plan that is not exactly this, goes
 * over a limit below or ends before "end" is refused, and with the stage goes its namespace.
 *
 *     git-agent-stage --plan FD --status FD [--keep FD]... -- BWRAP ARG...
 *
 * BWRAP is an absolute path; it is executed with an empty environment. Descriptors 0, 1, 2 and
 * those named by --keep
 * (whatever bwrap's arguments name, and what init inherits through bwrap) stay
 * open; every other one is closed first. The umask passes through unchanged.
 *
 * On failure it writes one record to the status descriptor, "STEP\0ERRNO\0OBJECT\0"
 * (step: a word of GA_STAGE_STEPS below; errno in decimal; the path or word concerned),
 * and exits 125. End of file on the status descriptor without such a record means that bwrap was
 * executed and everything is mounted; bwrap may still be coming up. Before that end it writes, for
 * each DEST or SOURCE that is loose, a record "loose\0ERRNO\0PATH\0", which is no failure.
 */
#ifndef GA_PLAN_H
#define GA_PLAN_H

#define GA_PLAN_MAGIC "git-agent-plan-5"
#define GA_PLAN_MARKER ".git-agent-mount-point"
#define GA_PLAN_EMPTY_FILE "empty-file"
#define GA_PLAN_EMPTY_DIR "empty-dir"

#define GA_STAGE_LOOSE "loose"

#define GA_PLAN_MAX_BYTES (4u << 20)
#define GA_PLAN_MAX_OPS 4096
#define GA_PLAN_MAX_DISOWNED 8
/* Layers are named "/proc/self/fd/N" in the one page mount(2) takes as options. */
#define GA_PLAN_MAX_LAYERS 128

/* Steps that can fail, as reported. */
#define GA_STAGE_STEPS(X)                                                                  \
	X(GA_STEP_PLAN, "plan")         /* the plan is malformed */                        \
	X(GA_STEP_USERNS, "userns")     /* unshare(CLONE_NEWUSER) */                       \
	X(GA_STEP_IDMAP, "idmap")       /* uid_map, gid_map, setgroups */                  \
	X(GA_STEP_MOUNTNS, "mountns")   /* unshare(CLONE_NEWNS), making it private */      \
	X(GA_STEP_TMPFS, "tmpfs")       /* the staging tmpfs */                            \
	X(GA_STEP_SOURCE, "source")     /* opening a source or layer */                    \
	X(GA_STEP_DEST, "dest")         /* resolving or making a destination */            \
	X(GA_STEP_OVERLAY, "overlay")   /* mounting an overlay */                          \
	X(GA_STEP_HIDE, "hide")         /* the overlay of a "hide" */                      \
	X(GA_STEP_BIND, "bind")         /* open_tree, mount_setattr, move_mount */         \
	X(GA_STEP_PROPAGATION, "propagation") /* of what is mounted later */               \
	X(GA_STEP_PIDNS, "pidns")       /* a pid namespace, and bwrap's process in it */   \
	X(GA_STEP_PROC, "proc")         /* a /proc for that process */                     \
	X(GA_STEP_CAPS, "caps")         /* dropping capabilities, no_new_privs */          \
	X(GA_STEP_EXEC, "exec")         /* executing bwrap */

enum ga_stage_step {
#define X(id, word) id,
	GA_STAGE_STEPS(X)
#undef X
};

#endif
