/* SPDX-License-Identifier: MIT
 *
 * What the host listens on, according to the kernel: probing the ports would be noticed by whoever
 * listens there.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ga/base/clock.h"
#include "ga/base/path.h"
#include "net-internal.h"

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
