/* SPDX-License-Identifier: MIT
 *
 * The control protocol between git-agent and git-agent-init, over one SOCK_SEQPACKET socket. Shared
 * by src/run and src/init (which is static and includes no other header of the project but
 * ga/connects.h).
 *
 * git-agent-init CONTROL_FD PROJECT, pid 1 of the sandbox, inherits that socket from bwrap, with
 * standard input and output on /dev/null and standard error on the supervisor's log pipe. It is
 * non-dumpable, sends GA_CTL_READY, then serves requests. End of file on the socket at any time
 * means: kill everything and exit. It never exits while the socket is open unless told GA_CTL_QUIT.
 *
 * Every GA_CTL_WATCH_MS, and before it reports that a command ended, init checks that the project
 * is still mounted at PROJECT: this agent, others and the user can rename the directories above it.
 * If it is not, init says GA_CTL_LOST, once.
 *
 * Every process inside is started by a GA_CTL_SPAWN request. One message is one struct ga_ctl_msg;
 * a SPAWN carries descriptors by SCM_RIGHTS: first the read end of a pipe with the payload, then,
 * with GA_SPAWN_TTY, one pty end, else three (standard input, output, error). Payload, read to end
 * of file, at most GA_CTL_PAYLOAD_MAX bytes: CWD\0 ARGC\0 ARG\0... ENVC\0 NAME=VALUE\0...
 * A variable PWD is the project as the user spells it; the command gets that of CWD, if it leads
 * there.
 *
 * The terminal is the sandbox's own: GA_CTL_PTY asks for one, and init opens it in the /dev/pts
 * that its commands see, where alone they find a name for it. The descriptor in the answer is the
 * only one that ever comes out of the sandbox, and it is used only if it is the master of a pty.
 *
 * With GA_SPAWN_TTY a small leader process makes the terminal the controlling one of a new session
 * and runs the command in a foreground process group of its own, so that Ctrl-C, Ctrl-Z and fg
 * work; without it, the command gets a session of its own. The leader outlives the command until
 * the other end of the terminal is closed: its exit would hang up the terminal and discard output
 * that was not read yet. A hang-up before that is passed on to the command.
 *
 * With GA_SPAWN_RENAMES init performs those renames of directories, by the command and all it
 * starts, that the overlay refuses with EXDEV: a second filter announces calls of rename, renameat
 * and renameat2 to it (seccomp_unotify(2)). A directory is moved under a temporary name that begins
 * with GA_CTL_MOVING, beside its destination; such a name remains only if the sandbox is killed
 * during the move.
 *
 * It also sees removals of directories by path, and with GA_SPAWN_DEEP all. If one meets a mount
 * it asks by GA_CTL_SHARED whether that is a shared directory and, if it is and is empty, to have
 * it removed.
 *
 * CWD and its parents are created if they are missing. argv[0] is looked up in the PATH of the
 * given environment. The command starts with default signal dispositions, an empty mask and no
 * descriptor but 0, 1 and 2.
 */
#pragma once

#include <stdint.h>

enum ga_ctl_type {
	/* to init */
	GA_CTL_SPAWN = 1, /* id, flags */
	GA_CTL_SIGNAL,    /* id, value: signal to the command's process group */
	GA_CTL_CONT,      /* id: continue a stopped command in the foreground */
	GA_CTL_QUIT,      /* kill everything and exit 0 */
	GA_CTL_PTY,       /* open a terminal */
	/* from init */
	GA_CTL_READY,     /* value64: inode of the pid namespace; sent with SCM_CREDENTIALS */
	GA_CTL_STARTED,   /* id, value: its process group inside; the command was executed. flags:
			   * errno if GA_SPAWN_RENAMES cannot be had here */
	GA_CTL_FAILED,    /* id, value: errno, flags: the enum ga_ctl_step that failed; it was not
			   * executed */
	GA_CTL_STOPPED,   /* id, value: the signal that stopped it */
	GA_CTL_EXITED,    /* id, value: exit status, 128 + n for signal n */
	GA_CTL_PTY_OPEN,  /* the pty's master by SCM_RIGHTS, or value: errno */
	GA_CTL_SHARED,    /* flags: an enum ga_ctl_shared about the mount with the device number
			   * value64; id 0. To init: the same with value, 0 or an errno */
	GA_CTL_LOST,      /* the project is no longer mounted where it was; id 0 */
};

#define GA_CTL_WATCH_MS 2000

/* What failed, in `flags` of GA_CTL_FAILED. */
enum ga_ctl_step {
	GA_CTL_STEP_SETUP = 1, /* the request, a process, descriptors */
	GA_CTL_STEP_TTY,       /* taking the terminal as the controlling one */
	GA_CTL_STEP_CWD,       /* entering the directory */
	GA_CTL_STEP_EXEC,      /* executing the program */
};

/* Requests about a mount. EBUSY: it is not a shared directory. */
enum ga_ctl_shared {
	GA_SHARED_IS,     /* is it a shared directory? */
	GA_SHARED_REMOVE, /* remove it, which is empty, and what it is mounted on */
};

enum ga_spawn_flags {
	GA_SPAWN_TTY = 1 << 0,
	GA_SPAWN_RENAMES = 1 << 1,
	GA_SPAWN_DEEP = 1 << 2, /* with GA_SPAWN_RENAMES: every removal of a directory */
};

struct ga_ctl_msg {
	uint32_t type;
	uint32_t id;
	uint32_t flags;
	int32_t value;
	uint64_t value64;
};

#define GA_CTL_MOVING ".git-agent-moving-"

#define GA_CTL_PAYLOAD_MAX (4u << 20)
