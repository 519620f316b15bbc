/* SPDX-License-Identifier: MIT
 *
 * The messages between git-agent-init and a relay that learns (`start --learn`): init announces
 * each connect(2) of a command inside, and the relay answers. They go over one SOCK_SEQPACKET
 * socket, one struct ga_connect per message in either direction. Shared by src/net and src/init, so
 * it includes nothing else of the project.
 *
 * The connect(2) call blocks until it is answered; then it either continues as if unobserved, or
 * fails. At most GA_CONNECTS calls are unanswered at a time; further callers block until one is.
 * When the relay closes its end, all blocked calls continue.
 */
#ifndef GA_CONNECTS_H
#define GA_CONNECTS_H

#include <stdint.h>

#define GA_CONNECTS 64

struct ga_connect {
	uint64_t id;      /* identifies the call; the answer repeats `id` and `who` */
	uint32_t who;     /* init's slot for the call, below GA_CONNECTS */
	int32_t errnum;   /* in the answer: errno to fail with, or 0 to continue */
	uint16_t port;
	uint16_t ip6;     /* 1: `addr` is an IPv6 address, 0: the first four bytes are IPv4 */
	unsigned char addr[16]; /* the destination that the caller passed */
	uint32_t none;    /* padding, 0 */
};

#endif
