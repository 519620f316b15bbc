/* SPDX-License-Identifier: MIT
 *
 * The addresses of this machine, which no table can list.
 */
#include <ifaddrs.h>

#include "net/net-internal.h"

static bool is_this(const struct sockaddr *sa, const struct ga_net_addr *a)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)(const void *)sa;
	const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)sa;
	struct ga_net_addr own;

	if (!sa || (sa->sa_family != AF_INET && sa->sa_family != AF_INET6))
		return false;
	own = sa->sa_family == AF_INET ? ga_net_addr_make(false, &in->sin_addr)
				       : ga_net_addr_make(true, &in6->sin6_addr);
	return ga_net_addr_same(&own, a);
}

bool net_is_own(const struct ga_net_addr *a)
{
	struct ifaddrs *list;
	bool own = false;

	/* true in doubt */
	if (getifaddrs(&list))
		return true;
	for (const struct ifaddrs *i = list; i && !own; i = i->ifa_next)
		own = is_this(i->ifa_addr, a);
	freeifaddrs(list);
	return own;
}
