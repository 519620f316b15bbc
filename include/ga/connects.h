/* SPDX-License-Identifier: MIT
 *
 * What git-agent-init and the relay of a session that learns say to each other of each connect(2)
 * inside, over one SOCK_SEQPACKET socket: a struct ga_connect each, and the same back. Shared by
 * src/net and src/init, so it includes nothing else.
 *
 * The call waits until it is answered: then it goes on as it would have without all this, or
 * fails. Init never has more than GA_CONNECTS of them asked for; whoever calls beyond that waits
 * for these. Where the other end is closed all of them go on.
 */
#ifndef GA_CONNECTS_H
#define GA_CONNECTS_H

#include <stdint.h>

#define GA_CONNECTS 64

struct ga_connect {
	uint64_t id;      /* of the call; `id` and `who` come back as they are */
	uint32_t who;     /* below GA_CONNECTS */
	int32_t errnum;   /* in the answer: what it fails with, 0 to let it go on */
	uint16_t port;
	uint16_t ip6;     /* 1: `addr` is an IPv6 address, 0: the first four bytes are IPv4 */
	unsigned char addr[16]; /* as the caller named it */
	uint32_t none;    /* 0 */
};

#endif
