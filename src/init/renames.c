/* SPDX-License-Identifier: MIT
 *
 * Answer announced calls, in a thread of pid 1: Yama lets only an ancestor read a process's memory,
 * no signal from inside reaches pid 1, and all callers end with it. It is not the thread that
 * serves the control socket because a command can make reading its memory slow.
 *
 * A child process moves, and reports its result through a pipe; if it is killed, the rename fails.
 * Only one moves at a time, as their paths may be nested; others wait.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ga/sys/scm.h"
#include "init.h"
#include "renames-internal.h"

/* Missing in some headers: from Linux 5.19, without which any signal to the caller would restart a
 * call that is being served; and from 6.6, which saves a switch of processors. */
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif

/* One per command, or per set of processes that a command left running; commands that start at the
 * same time must not find the last one taken. */
#define MAX_LISTENERS (4 * MAX_COMMANDS)
#define MAX_JOBS 16

struct job {
	bool used;
	bool answered;   /* answered already: its caller is gone */
	int listener;
	uint64_t id;
	struct rename_call call;
	int result;      /* read end of the child's pipe; -1: not started yet */
	char temporary[NAME_MAX + 1];
	_Atomic pid_t pid;
};

struct renames {
	int sock;        /* new listeners are received here */
	int send;        /* the end on which commands send them */
	unsigned filters;
	struct shares shares;
	int listeners[MAX_LISTENERS];
	_Atomic unsigned n_listeners;
	struct job jobs[MAX_JOBS];
};

/* ---- in a command */

static int send_listener(int sock, int listener)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int))];
	} u;
	struct iovec iov = { (void *)(uintptr_t)"", 1 };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1 };

	ga_put_fds(&h, &u, &listener, 1);
	return ga_sendmsg(sock, &h) == 1 ? 0 : -1;
}

int renames_announce(const struct announced *a)
{
	const void *(*const compiled)(size_t *ret_n) =
		a->deep ? deep_program : renames_program;
	size_t n;
	const void *filter = compiled(&n);
	struct sock_fprog program = { .len = (unsigned short)(n / sizeof(struct sock_filter)) };
	long fd;
	int rc;

	memcpy(&program.filter, &filter, sizeof(filter));
	fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		     SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
		     &program);
	if (fd < 0)
		return -1;
	rc = send_listener(a->sock, (int)fd);
	(void)close((int)fd);
	return rc;
}

/* ---- answering */

static void end_job(struct job *j, int errnum)
{
	if (!j->answered)
		call_answer(j->listener, j->id, false, errnum);
	rename_call_close(&j->call);
	if (j->result >= 0)
		(void)close(j->result);
	j->result = -1;
	j->used = false;
}

/* ---- a process that moves */

/* Close the channels of commands that were being started when this child was forked: their readers
 * would otherwise wait until the moving is done. */
static void close_others(const int *keep, size_t n)
{
	unsigned from = 3;

	for (;;) {
		unsigned next = ~0u;

		for (size_t i = 0; i < n; i++)
			if (keep[i] >= (int)from && (unsigned)keep[i] < next)
				next = (unsigned)keep[i];
		if (next > from)
			(void)syscall(SYS_close_range, from, next - (next != ~0u), 0u);
		if (next == ~0u)
			return;
		from = next + 1;
	}
}

static void __attribute__((noreturn)) work(const struct job *j, int out)
{
	const int keep[] = { j->call.from.at, j->call.to.at, out };
	struct rlimit files;
	int errnum;

	close_others(keep, sizeof(keep) / sizeof(*keep));
	(void)umask(0);
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	errnum = rename_move(&j->call, j->temporary);
	if (write(out, &errnum, sizeof(errnum)) != (ssize_t)sizeof(errnum))
		_exit(1);
	_exit(0);
}

static void name_temporary(struct job *j)
{
	uint64_t r[2] = { 0, 0 };

	(void)TEMP_FAILURE_RETRY(getrandom(r, sizeof(r), 0));
	(void)snprintf(j->temporary, sizeof(j->temporary), GA_CTL_MOVING "%016llx%016llx",
		       (unsigned long long)r[0], (unsigned long long)r[1]);
}

static void start_job(struct job *j)
{
	uint64_t id = j->id;
	int p[2];
	pid_t pid;

	if (ioctl(j->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id)) {
		j->answered = true;
		end_job(j, 0);
		return;
	}
	name_temporary(j);
	if (pipe2(p, O_CLOEXEC)) {
		end_job(j, errno);
		return;
	}
	pid = fork();
	if (!pid)
		work(j, p[1]);
	(void)close(p[1]);
	j->result = p[0];
	if (pid < 0)
		end_job(j, errno);
	else
		atomic_store(&j->pid, pid);
}

static void on_result(struct job *j)
{
	int errnum;
	ssize_t n;

	n = TEMP_FAILURE_RETRY(read(j->result, &errnum, sizeof(errnum)));
	atomic_store(&j->pid, 0);
	end_job(j, n == (ssize_t)sizeof(errnum) ? errnum : EIO);
}

static bool is_moving(const struct renames *r)
{
	for (size_t i = 0; i < MAX_JOBS; i++)
		if (r->jobs[i].used && r->jobs[i].result >= 0)
			return true;
	return false;
}

static void start_next(struct renames *r)
{
	for (size_t i = 0; i < MAX_JOBS && !is_moving(r); i++)
		if (r->jobs[i].used)
			start_job(&r->jobs[i]);
}

static struct job *free_job(struct renames *r)
{
	for (size_t i = 0; i < MAX_JOBS; i++)
		if (!r->jobs[i].used)
			return &r->jobs[i];
	return NULL;
}

/* ---- listening */

static bool is_removal(int nr)
{
#ifdef SYS_rmdir
	if (nr == SYS_rmdir)
		return true;
#endif
	return nr == SYS_unlinkat;
}

static void on_call(struct renames *r, int listener)
{
	struct seccomp_notif n = { 0 };
	struct job *j = free_job(r);
	enum rename_verdict v;
	int errnum = 0, mount;

	/* ENOENT if the caller was killed */
	if (!j || shares_full(&r->shares) ||
	    ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &n))
		return;
	if (is_removal(n.data.nr)) {
		v = remove_check(listener, &n, r->filters, &mount);
	} else {
		v = rename_check(listener, &n, r->filters, &j->call, &errnum);
		mount = j->call.mount;
	}
	switch (v) {
	case RENAME_MOVE:
		j->listener = listener;
		j->id = n.id;
		j->result = -1;
		j->answered = false;
		j->used = true;
		break;
	case RENAME_DONE:
		call_answer(listener, n.id, false, errnum);
		break;
	case RENAME_CONTINUE:
		call_answer(listener, n.id, true, 0);
		break;
	case RENAME_MOUNT:
		shares_ask(&r->shares, listener, n.id, mount, !is_removal(n.data.nr));
		break;
	case RENAME_GONE:
		break;
	}
}

/* No process is left that could make a call. */
static void drop_listener(struct renames *r, size_t i)
{
	for (size_t k = 0; k < MAX_JOBS; k++) {
		struct job *j = &r->jobs[k];

		if (!j->used || j->listener != r->listeners[i])
			continue;
		j->answered = true;
		if (j->result < 0)
			end_job(j, 0);
	}
	shares_drop(&r->shares, r->listeners[i]);
	(void)close(r->listeners[i]);
	r->listeners[i] = -1;
	atomic_fetch_sub(&r->n_listeners, 1);
}

static int receive_listener(int sock)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int))];
	} u;
	char c;
	struct iovec iov = { &c, 1 };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1,
			    .msg_control = u.buf, .msg_controllen = sizeof(u.buf) };
	int fd = -1;

	if (recvmsg(sock, &h, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) == 1)
		(void)ga_take_fds(&h, &fd, 1);
	return fd;
}

static void on_listener(struct renames *r)
{
	int fd = receive_listener(r->sock);
	__u64 flags = SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP;

	if (fd < 0)
		return;
	(void)ioctl(fd, SECCOMP_IOCTL_NOTIF_SET_FLAGS, flags);
	for (size_t i = 0; i < MAX_LISTENERS; i++) {
		if (r->listeners[i] >= 0)
			continue;
		r->listeners[i] = fd;
		atomic_fetch_add(&r->n_listeners, 1);
		return;
	}
	/* calls of that command fail (ENOSYS) */
	(void)close(fd);
}

static void serve_once(struct renames *r)
{
	struct pollfd p[2 + MAX_LISTENERS + MAX_JOBS] = { { .fd = r->sock, .events = POLLIN } };
	struct pollfd *answers = &p[1 + MAX_LISTENERS + MAX_JOBS]; /* the last */
	bool full = !free_job(r) || shares_full(&r->shares);

	*answers = (struct pollfd){ .fd = r->shares.answers, .events = POLLIN };
	for (size_t i = 0; i < MAX_LISTENERS; i++)
		p[1 + i] = (struct pollfd){ .fd = full ? -1 : r->listeners[i], .events = POLLIN };
	for (size_t i = 0; i < MAX_JOBS; i++)
		p[1 + MAX_LISTENERS + i] = (struct pollfd){
			.fd = r->jobs[i].used ? r->jobs[i].result : -1, .events = POLLIN };
	if (poll(p, sizeof(p) / sizeof(*p), -1) < 0)
		return;
	for (size_t i = 0; i < MAX_JOBS; i++)
		if (p[1 + MAX_LISTENERS + i].revents)
			on_result(&r->jobs[i]);
	for (size_t i = 0; i < MAX_LISTENERS; i++) {
		if (p[1 + i].revents & POLLIN)
			on_call(r, r->listeners[i]);
		else if (p[1 + i].revents)
			drop_listener(r, i);
	}
	if (p[0].revents)
		on_listener(r);
	if (answers->revents)
		shares_answered(&r->shares);
	start_next(r);
}

static void *serve(void *payload)
{
	for (;;)
		serve_once(payload);
	return NULL;
}

void renames_forward(struct renames *r, const struct ga_ctl_msg *m)
{
	if (r)
		(void)send_msg(r->shares.tell, m);
}

/* `pairs`: of listeners, and of answers about shared directories. */
static struct renames *make_renames(int ctl, int pairs[2][2])
{
	struct renames *r = calloc(1, sizeof(*r));

	if (!r || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pairs[0])) {
		free(r);
		return NULL;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pairs[1])) {
		(void)close(pairs[0][0]);
		(void)close(pairs[0][1]);
		free(r);
		return NULL;
	}
	r->sock = pairs[0][0];
	r->send = pairs[0][1];
	r->shares.ctl = ctl;
	r->shares.answers = pairs[1][0];
	r->shares.tell = pairs[1][1];
	r->filters = rename_filters("self");
	for (size_t i = 0; i < MAX_LISTENERS; i++)
		r->listeners[i] = -1;
	for (size_t i = 0; i < MAX_JOBS; i++)
		r->jobs[i].result = r->jobs[i].call.from.at = r->jobs[i].call.to.at = -1;
	return r;
}

int renames_start(struct renames **ret, int ctl)
{
	struct renames *r = *ret;
	int pairs[2][2], rc;
	pthread_t thread;

	if (r) {
		errno = EAGAIN;
		return atomic_load(&r->n_listeners) > MAX_LISTENERS - MAX_COMMANDS ? -1 : r->send;
	}
	r = make_renames(ctl, pairs);
	if (!r)
		return -1;
	rc = pthread_create(&thread, NULL, serve, r);
	if (!rc) {
		*ret = r;
		return r->send;
	}
	for (size_t i = 0; i < 4; i++)
		(void)close(pairs[i / 2][i % 2]);
	free(r);
	errno = rc;
	return -1;
}

bool renames_has(const struct renames *r, pid_t pid)
{
	for (size_t i = 0; r && i < MAX_JOBS; i++)
		if (atomic_load(&r->jobs[i].pid) == pid)
			return true;
	return false;
}
