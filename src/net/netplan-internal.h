/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of this folder.
 */
#pragma once

#include "ga/net/netplan.h"

/* Parse a constant that is valid. (Text from outside, such as "[2001:db8::1]", is for
 * ga_net_host_parse().) */
struct ga_net_addr net_addr(const char *text);

/* The entry of a name; NULL if it has no addresses of its own. */
struct ga_net_name *net_find_name(const struct ga_net_plan *p, const char *name);

/* Does `name` consist of at least one label, a dot and `suffix`? */
bool net_name_below(const char *name, const char *suffix);

/* The class of an address; the most severe of all its interpretations. */
enum net_class {
	NET_ORDINARY,
	NET_PRIVATE,
	NET_MACHINE,  /* this machine */
	NET_SPECIAL,  /* link-local, metadata services, multicast, reserved */
};
enum net_class net_addr_class(const struct ga_net_addr *a);
/* May a connection for this rule go to that address, without regard to other rules? */
bool net_rule_leads_to(const struct ga_net_rule *r, const struct ga_net_addr *a, uint16_t port);
/* Is the address in the network `net` with a prefix of `bits`? */
bool net_addr_within(const struct ga_net_addr *a, const struct ga_net_addr *net, unsigned bits);
/* 127.0.0.1 or ::1 */
bool net_addr_is_localhost(const struct ga_net_addr *a);

/* Parse a port of exactly `n` digits: 1 to 65535, without leading zeros. */
bool net_port_parse(const char *s, size_t n, uint16_t *ret);
