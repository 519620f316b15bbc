/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "net-internal.h"

socklen_t net_sockaddr(const struct ga_net_addr *a, uint16_t port, struct sockaddr_storage *ret)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)ret;
	struct sockaddr_in *in = (struct sockaddr_in *)ret;

	memset(ret, 0, sizeof(*ret));
	if (a->ip6) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(port);
		memcpy(&in6->sin6_addr, a->b, 16);
		return sizeof(*in6);
	}
	in->sin_family = AF_INET;
	in->sin_port = htons(port);
	memcpy(&in->sin_addr, a->b, 4);
	return sizeof(*in);
}
