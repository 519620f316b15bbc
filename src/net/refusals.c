/* SPDX-License-Identifier: MIT
 *
 * Detect connections that the kernel refused: it resets a connection to a port without listener and
 * tells no program. But a sandbox's network consists only of lo, and a packet socket on it sees the
 * reset with which the kernel answers: the segment with RST and ACK and sequence number 0 (RFC
 * 9293, 3.10.7.1: the answer to a segment without ACK, so to the first one of a connection). A
 * datagram is answered by an ICMP error that contains its first bytes (RFC 792, 4443).
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <stdio.h>
#include <string.h>

#include "ga/base/clock.h"
#include "ga/base/path.h"
#include "relay-internal.h"

#define TCP 6
#define RST_ACK 0x14
#define TCP_SEQ 4
#define TCP_FLAGS 13
#define ICMP 1
#define ICMP6 58
#define ICMP_HEADER 8
#define NO_PORT 0x0303  /* type and code of "port unreachable" */
#define NO_PORT6 0x0104
#define UDP 17
#define UDP_PORT 2      /* its destination port */
#define IP4_HEADER 20
#define IP6_HEADER 40
#define SNAP 128 /* bytes of a packet that are read */

/* Packets that the kernel itself makes have neither options nor extension headers. */
static const struct sock_filter ip4_filter[] = {
	BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x45, 0, 14),
	BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 9),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ICMP, 0, 6),
	BPF_STMT(BPF_LD | BPF_H | BPF_ABS, IP4_HEADER),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NO_PORT, 0, 10),
	BPF_STMT(BPF_LD | BPF_B | BPF_ABS, IP4_HEADER + ICMP_HEADER),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x45, 0, 8),
	BPF_STMT(BPF_LD | BPF_B | BPF_ABS, IP4_HEADER + ICMP_HEADER + 9),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, UDP, 5, 6),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TCP, 0, 5),
	BPF_STMT(BPF_LD | BPF_B | BPF_ABS, IP4_HEADER + TCP_FLAGS),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, RST_ACK, 0, 3),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, IP4_HEADER + TCP_SEQ),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
	BPF_STMT(BPF_RET | BPF_K, SNAP),
	BPF_STMT(BPF_RET | BPF_K, 0),
};
static const struct sock_filter ip6_filter[] = {
	BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 6),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ICMP6, 0, 4),
	BPF_STMT(BPF_LD | BPF_H | BPF_ABS, IP6_HEADER),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NO_PORT6, 0, 8),
	BPF_STMT(BPF_LD | BPF_B | BPF_ABS, IP6_HEADER + ICMP_HEADER + 6),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, UDP, 5, 6),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TCP, 0, 5),
	BPF_STMT(BPF_LD | BPF_B | BPF_ABS, IP6_HEADER + TCP_FLAGS),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, RST_ACK, 0, 3),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, IP6_HEADER + TCP_SEQ),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
	BPF_STMT(BPF_RET | BPF_K, SNAP),
	BPF_STMT(BPF_RET | BPF_K, 0),
};

struct net_want net_refusal_want(bool ip6)
{
	static const struct sock_fprog ip4 = { .len = (unsigned short)GA_NELEMS(ip4_filter),
					       .filter = (struct sock_filter *)(uintptr_t)
							 ip4_filter };
	static const struct sock_fprog six = { .len = (unsigned short)GA_NELEMS(ip6_filter),
					       .filter = (struct sock_filter *)(uintptr_t)
							 ip6_filter };

	return (struct net_want){ .family = AF_PACKET, .type = SOCK_DGRAM,
				  .port = ip6 ? ETH_P_IPV6 : ETH_P_IP,
				  .filter = ip6 ? &six : &ip4 };
}

/* The sender of the reset is the destination that was refused. */
static bool read_reset(const unsigned char *b, size_t n, bool ip6, struct net_refusal *ret)
{
	size_t head = ip6 ? IP6_HEADER : IP4_HEADER;

	if (n < head + TCP_FLAGS + 1)
		return false;
	ret->addr = ga_net_addr_make(ip6, b + (ip6 ? 8 : 12));
	ret->port = (uint16_t)(b[head] << 8 | b[head + 1]);
	return true;
}

/* The ICMP header is followed by the beginning of the datagram. */
static bool read_error(const unsigned char *b, size_t n, bool ip6, struct net_refusal *ret)
{
	size_t head = ip6 ? IP6_HEADER : IP4_HEADER, port = 2 * head + ICMP_HEADER + UDP_PORT;

	if (n < port + 2)
		return false;
	ret->addr = ga_net_addr_make(ip6, b + head + ICMP_HEADER + (ip6 ? 24 : 16));
	ret->port = (uint16_t)(b[port] << 8 | b[port + 1]);
	ret->udp = true;
	return true;
}

bool net_refusal_read(const void *p, size_t n, bool ip6, struct net_refusal *ret)
{
	const unsigned char *b = p;

	*ret = (struct net_refusal){ .ip6 = ip6 };
	if (n < IP4_HEADER)
		return false;
	return b[ip6 ? 6 : 9] == TCP ? read_reset(b, n, ip6, ret) : read_error(b, n, ip6, ret);
}

/* Listening ports of the host, from the kernel's tables: servers would notice probes. */

#define FRESH_MS 1000 /* programs inside can trigger this at any time */
#define LISTEN "0A"   /* TCP_LISTEN */
#define LINES_MAX 4096

/* The next word of a line, or the field after `c` in it. */
static const char *next(const char *p, char c)
{
	p = strchr(p, c);
	return p ? p + strspn(p, " :") : "";
}

static unsigned hex(const char *p)
{
	static const char digits[] = "0123456789ABCDEF";
	unsigned v = 0;

	for (const char *d; *p && (d = strchr(digits, *p)); p++)
		v = v << 4 | (unsigned)(d - digits);
	return v;
}

static void all_listen(struct net_ports *p)
{
	memset(p->bits, 0xff, sizeof(p->bits));
}

/* Listening sockets come first (Documentation/networking/proc_net_tcp.rst). Connections, of which
 * programs inside can make any number, are not read. */
void net_ports_add(struct net_ports *p, FILE *f)
{
	char line[512];
	int n = 0;

	/* "  0: ADDRESS:PORT ADDRESS:PORT STATE ...", below a line of headings */
	if (!fgets(line, sizeof(line), f))
		return;
	while (fgets(line, sizeof(line), f)) {
		const char *local = next(line, ':'), *remote = next(local, ' ');
		uint16_t port = (uint16_t)hex(next(local, ':'));

		if (strncmp(next(remote, ' '), LISTEN, strlen(LISTEN)) != 0)
			return;
		if (++n > LINES_MAX) {
			all_listen(p);
			return;
		}
		p->bits[port / 8] |= (unsigned char)(1U << port % 8);
	}
}

/* A table that may be missing may only be missing; any other error means that all ports count. */
static void add_table(struct net_ports *p, const char *dir, const char *name, bool may_be_missing)
{
	cleanup_free char *path = ga_path_join(dir, name);
	FILE *f = fopen(path, "re");

	if (!f) {
		if (errno != ENOENT || !may_be_missing)
			all_listen(p);
		return;
	}
	net_ports_add(p, f);
	if (ferror(f))
		all_listen(p);
	(void)fclose(f);
}

void net_ports_read(struct net_ports *p, const char *dir)
{
	memset(p->bits, 0, sizeof(p->bits));
	add_table(p, dir, "tcp", false);
	/* a kernel without IPv6 has no such table */
	add_table(p, dir, "tcp6", true);
}

bool net_host_listens(struct net_ports *p, uint16_t port)
{
	int64_t now = ga_now_ms();

	if (!p->read || now - p->read >= FRESH_MS) {
		net_ports_read(p, "/proc/net");
		p->read = now;
	}
	return p->bits[port / 8] & 1U << port % 8;
}
