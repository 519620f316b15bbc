/* SPDX-License-Identifier: MIT
 *
 * rtnetlink(7): what `ip` would do with
 *
 *     ip link set lo up
 *     ip addr add OWN dev lo
 *     ip route add local 0.0.0.0/0 dev lo table local
 *     ip route add local ::/0 dev lo table local
 */
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>

#include "ga/sys/fd.h"
#include "net-internal.h"

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

int net_set_up(const struct ga_net_plan *plan, const char **ret_what)
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
