/* SPDX-License-Identifier: MIT
 *
 * Child processes of the relay: they resolve names, which may block for long, and create sockets in
 * a sandbox's network namespace, send back the result and exit. They execute no program.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/if_addr.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/nsfs.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netdb.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ga/sys/fd.h"
#include "ga/sys/scm.h"
#include "relay-internal.h"

void net_child_end(struct net_child *c)
{
	int e = errno;

	ga_cleanup_closep(&c->fd);
	if (c->pid > 0) {
		/* it has sent everything, or is no longer needed */
		(void)kill(c->pid, SIGKILL);
		(void)TEMP_FAILURE_RETRY(waitpid(c->pid, NULL, 0));
	}
	*c = (struct net_child)NET_CHILD_INIT;
	errno = e;
}

/* ---- names */

static void take(const struct addrinfo *i, struct net_addrs *ret)
{
	const void *sa = i->ai_addr;

	if (i->ai_family == AF_INET6)
		ret->v[ret->n++] = ga_net_addr_make(true,
						    &((const struct sockaddr_in6 *)sa)->sin6_addr);
	else if (i->ai_family == AF_INET)
		ret->v[ret->n++] = ga_net_addr_make(false,
						    &((const struct sockaddr_in *)sa)->sin_addr);
}

static void __attribute__((noreturn)) look_up(const char *name, int out, pid_t parent)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM,
					.ai_flags = AI_ADDRCONFIG };
	struct addrinfo *list = NULL;
	struct net_addrs a = { 0 };

	/* close everything of the supervisor's: a sandbox lives as long as its socket is open */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent || dup2(out, 3) < 0 ||
	    fcntl(3, F_SETFD, FD_CLOEXEC) || syscall(SYS_close_range, 4u, ~0u, 0u))
		_exit(1);
	if (!getaddrinfo(name, NULL, &hints, &list))
		for (const struct addrinfo *i = list; i && a.n < NET_ADDRS_MAX; i = i->ai_next)
			take(i, &a);
	_exit(ga_write_full(3, &a, sizeof(a)) != 0);
}

/* Begin a look-up. False with errno on failure. */
/* Names are resolved as the host resolves them, by getaddrinfo(3), which reads files, loads what
 * nsswitch.conf names, and may block for many seconds. */
bool net_lookup_begin(struct net_child *ret, const char *name)
{
	pid_t self = getpid();
	int p[2];

	*ret = (struct net_child)NET_CHILD_INIT;
	if (pipe2(p, O_CLOEXEC | O_NONBLOCK))
		return false;
	ret->fd = p[0];
	ret->pid = fork();
	if (!ret->pid)
		look_up(name, p[1], self);
	(void)close(p[1]);
	if (ret->pid < 0)
		net_child_end(ret);
	return ret->fd >= 0;
}

void net_lookup_end(struct net_child *c, struct net_addrs *ret)
{
	/* one write of less than PIPE_BUF bytes: all of it, or nothing */
	if (read(c->fd, ret, sizeof(*ret)) != (ssize_t)sizeof(*ret) || ret->n > NET_ADDRS_MAX)
		*ret = (struct net_addrs){ 0 };
	net_child_end(c);
}

/* ---- the sandbox's network */

/* rtnetlink(7): what `ip` would do with
 *
 *     ip link set lo up
 *     ip addr add OWN dev lo
 *     ip route add local 0.0.0.0/0 dev lo table local
 *     ip route add local ::/0 dev lo table local */

#define LO 1 /* the first interface in every namespace */

struct request {
	struct nlmsghdr head;
	union {
		struct ifaddrmsg addr;
		struct rtmsg route;
		char room[128];
	};
};

static void add(struct request *r, unsigned short type, const void *p, size_t n)
{
	struct rtattr *a = (struct rtattr *)(void *)((char *)r + NLMSG_ALIGN(r->head.nlmsg_len));

	a->rta_type = type;
	a->rta_len = (unsigned short)RTA_LENGTH(n);
	memcpy(RTA_DATA(a), p, n);
	r->head.nlmsg_len = NLMSG_ALIGN(r->head.nlmsg_len) + (unsigned)RTA_LENGTH(n);
}

/* Send a request and wait for its acknowledgement. It is no error if the object exists. */
static int ask(int fd, const struct request *r)
{
	struct {
		struct nlmsghdr head;
		struct nlmsgerr err;
		char rest[512];
	} answer;
	ssize_t n;

	if (send(fd, r, r->head.nlmsg_len, 0) < 0)
		return -1;
	n = recv(fd, &answer, sizeof(answer), 0);
	if (n < (ssize_t)NLMSG_LENGTH(sizeof(answer.err)) ||
	    answer.head.nlmsg_type != NLMSG_ERROR) {
		errno = n < 0 ? errno : EPROTO;
		return -1;
	}
	errno = -answer.err.error;
	return errno && errno != EEXIST ? -1 : 0;
}

static struct request request(unsigned short type, size_t n)
{
	return (struct request){ .head = { .nlmsg_len = (unsigned)NLMSG_LENGTH(n),
					   .nlmsg_type = type,
					   .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK |
							  NLM_F_CREATE | NLM_F_EXCL } };
}

static int add_address(int fd, const struct ga_net_addr *a)
{
	struct request r = request(RTM_NEWADDR, sizeof(r.addr));
	unsigned char bytes = a->ip6 ? 16 : 4;

	r.addr = (struct ifaddrmsg){ .ifa_family = a->ip6 ? AF_INET6 : AF_INET,
				     .ifa_prefixlen = (unsigned char)(bytes * 8),
				     .ifa_flags = IFA_F_PERMANENT | IFA_F_NODAD,
				     .ifa_scope = RT_SCOPE_UNIVERSE, .ifa_index = LO };
	add(&r, IFA_LOCAL, a->b, bytes);
	add(&r, IFA_ADDRESS, a->b, bytes);
	return ask(fd, &r);
}

static int add_route(int fd, bool ip6)
{
	struct request r = request(RTM_NEWROUTE, sizeof(r.route));
	const int lo = LO;

	r.route = (struct rtmsg){ .rtm_family = ip6 ? AF_INET6 : AF_INET,
				  .rtm_table = RT_TABLE_LOCAL,
				  .rtm_protocol = RTPROT_BOOT, .rtm_type = RTN_LOCAL,
				  .rtm_scope = ip6 ? RT_SCOPE_UNIVERSE : RT_SCOPE_HOST };
	add(&r, RTA_OIF, &lo, sizeof(lo));
	return ask(fd, &r);
}

/* bwrap has done this already where it could. */
static int bring_up(void)
{
	cleanup_close int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq lo = { .ifr_name = "lo" };

	if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &lo))
		return -1;
	lo.ifr_flags |= IFF_UP;
	return ioctl(fd, SIOCSIFFLAGS, &lo);
}

/* Set up the network of the caller's namespace: lo up, the plan's own addresses on it, all others
 * local. -1 with errno, and in `*ret_what` what failed. */
static int net_set_up(const struct ga_net_plan *plan, const char **ret_what)
{
	cleanup_close int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	*ret_what = "bring up its loopback interface";
	if (fd < 0 || bring_up())
		return -1;
	*ret_what = "give it addresses";
	if (add_address(fd, &plan->own4) || (plan->ip6 && add_address(fd, &plan->own6)))
		return -1;
	*ret_what = "give it routes";
	return add_route(fd, false) || (plan->ip6 && add_route(fd, true)) ? -1 : 0;
}

#define AT_ONCE 200  /* descriptors per message; the kernel's SCM_MAX_FD is 253 */
#define BACKLOG 128
#define CHILD_S 10   /* usually it takes milliseconds */

/* Sockets in a sandbox's network. A socket belongs to the network namespace it was created in: a
 * child enters that namespace, creates the sockets, passes them out and exits. It executes nothing,
 * and no process inside sees it. The creator of the stage's user namespace has every capability
 * over those below it (user_namespaces(7)), so this needs no right of the sandbox's. */
void net_space_close(struct net_space *s)
{
	ga_cleanup_closep(&s->net);
	ga_cleanup_closep(&s->user);
	*s = (struct net_space)NET_SPACE_INIT;
}

/* Refuse our own namespace: sockets in it would be reachable from other machines, and the sandbox
 * could reach everything. */
static bool is_own_namespace(int net)
{
	struct stat a, b;

	return fstat(net, &a) || stat("/proc/self/ns/net", &b) ||
	       (a.st_dev == b.st_dev && a.st_ino == b.st_ino);
}

int net_space_open(struct net_space *s, pid_t pid, struct ga_error *err)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	s->net = open(path, O_RDONLY | O_CLOEXEC);
	if (s->net < 0)
		return ga_fail_errno(err, GA_ESTART, errno, "cannot open the sandbox's network");
	if (is_own_namespace(s->net))
		return ga_fail(err, GA_ESTART, "the sandbox has no network of its own");
	s->user = ioctl(s->net, NS_GET_USERNS);
	return s->user < 0 ? ga_fail_errno(err, GA_ESTART, errno,
					   "cannot open the sandbox's network") : 0;
}

struct told {
	char what[64]; /* empty: success */
	int errnum;
};

static int set_int(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value));
}

static int bind_stream(int fd, const struct net_want *w)
{
	struct sockaddr_storage sa;
	socklen_t n = net_sockaddr(&w->addr, w->port, &sa);

	/* every address is local by the route, but only some are assigned to lo */
	if (set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1) ||
	    (w->addr.ip6 ? set_int(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1) ||
				   set_int(fd, IPPROTO_IPV6, IPV6_FREEBIND, 1)
			 : set_int(fd, IPPROTO_IP, IP_FREEBIND, 1)) ||
	    bind(fd, (const struct sockaddr *)&sa, n))
		return -1;
	return w->type == SOCK_STREAM ? listen(fd, BACKLOG) : 0;
}

static int bind_packet(int fd, const struct net_want *w)
{
	const struct sockaddr_ll sa = { .sll_family = AF_PACKET, .sll_protocol = htons(w->port),
					.sll_ifindex = 1 };

	/* attach the filter before binding, so that nothing else is queued */
	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, w->filter,
			  sizeof(struct sock_fprog)) ||
			       bind(fd, (const struct sockaddr *)&sa, sizeof(sa))
		       ? -1 : 0;
}

static int open_in_namespace(const struct net_want *w)
{
	int fd = socket(w->family, w->type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0 && (w->filter ? bind_packet(fd, w) : w->listens && bind_stream(fd, w))) {
		int e = errno;

		(void)close(fd);
		errno = e;
		return -1;
	}
	return fd;
}

static int send_result(int to, const struct told *t, const int *fds, size_t n)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(AT_ONCE * sizeof(int))];
	} u;
	struct told copy = *t;
	struct iovec iov = { &copy, sizeof(copy) };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (n)
		ga_put_fds(&h, &u, fds, n);
	return ga_sendmsg(to, &h) == (ssize_t)sizeof(copy) ? 0 : -1;
}

static int make_all(int to, const struct net_want *want, size_t n, struct told *t)
{
	int fds[AT_ONCE];
	size_t held = 0;

	for (size_t i = 0; i < n; i++) {
		cleanup_free char *at = ga_net_addr_text(&want[i].addr);

		fds[held] = open_in_namespace(&want[i]);
		if (fds[held] < 0) {
			(void)snprintf(t->what, sizeof(t->what), "listen on %s, port %u", at,
				       want[i].port);
			return -1;
		}
		if (++held == AT_ONCE || i + 1 == n) {
			if (send_result(to, t, fds, held))
				return -1;
			while (held)
				(void)close(fds[--held]);
		}
	}
	return 0;
}

static void __attribute__((noreturn))
child(const struct net_space *s, const struct ga_net_plan *setup, const struct net_want *want,
      size_t n, int to, pid_t parent)
{
	struct told t = { .what = "" };
	const char *what = "enter it";
	int rc;

	/* the sandbox lives as long as somebody holds its socket, and we have a copy of it */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(1);
	rc = setns(s->user, CLONE_NEWUSER) || setns(s->net, CLONE_NEWNET) ? -1 : 0;
	if (!rc && setup)
		rc = net_set_up(setup, &what);
	if (rc)
		(void)snprintf(t.what, sizeof(t.what), "%s", what);
	else
		rc = make_all(to, want, n, &t);
	t.errnum = errno;
	_exit(rc && send_result(to, &t, NULL, 0));
}

static int failed(int errnum, const char *what, struct ga_error *err)
{
	(void)ga_fail_errno(err, GA_ESTART, errnum, "cannot set up the sandbox's network%s%s",
			    *what ? ": " : "", what);
	errno = errnum;
	return -1;
}

static int receive(int from, int *ret, size_t n, struct ga_error *err)
{
	size_t have = 0;

	while (have < n) {
		union {
			struct cmsghdr align;
			char buf[CMSG_SPACE(AT_ONCE * sizeof(int))];
		} u;
		struct told t;
		struct iovec iov = { &t, sizeof(t) };
		struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = u.buf,
				    .msg_controllen = sizeof(u.buf) };
		ssize_t r = recvmsg(from, &h, MSG_CMSG_CLOEXEC);
		size_t got;

		if (r < 0 && errno == EINTR)
			continue;
		if (r != (ssize_t)sizeof(t))
			return failed(r < 0 ? errno : EIO, "", err);
		t.what[sizeof(t.what) - 1] = '\0';
		if (t.what[0])
			return failed(t.errnum, t.what, err);
		got = ga_take_fds(&h, ret + have, n - have);
		if (!got || (h.msg_flags & MSG_CTRUNC))
			/* the kernel drops descriptors beyond our limit */
			return failed(EMFILE, "", err);
		have += got;
	}
	return 0;
}

int net_space_begin(const struct net_space *s, const struct ga_net_plan *setup,
		    const struct net_want *want, size_t n, struct net_child *ret,
		    struct ga_error *err)
{
	const struct timeval patience = { .tv_sec = CHILD_S };
	pid_t self = getpid();
	int pair[2];

	*ret = (struct net_child)NET_CHILD_INIT;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return failed(errno, "", err);
	ret->fd = pair[0];
	ret->pid = setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience))
			   ? -1 : fork();
	if (!ret->pid)
		child(s, setup, want, n, pair[1], self);
	(void)close(pair[1]);
	if (ret->pid > 0)
		return 0;
	(void)failed(errno, "", err);
	net_child_end(ret);
	return -1;
}

int net_space_end(struct net_child *c, int *ret, size_t n, struct ga_error *err)
{
	int rc;

	for (size_t i = 0; i < n; i++)
		ret[i] = -1;
	rc = receive(c->fd, ret, n, err);
	net_child_end(c);
	for (size_t i = 0; rc && i < n; i++)
		ga_cleanup_closep(&ret[i]);
	return rc;
}

int net_space_sockets(const struct net_space *s, const struct ga_net_plan *setup,
		      const struct net_want *want, size_t n, int *ret, struct ga_error *err)
{
	struct net_child c;

	return net_space_begin(s, setup, want, n, &c, err) || net_space_end(&c, ret, n, err)
		       ? -1 : 0;
}
