/* SPDX-License-Identifier: MIT
 *
 * Rules of the network, a line each, then a host to be asked for. What is accepted reads back the same;
 * a host that a rule names is written as the resolver would read it; a plan has no two listeners
 * in one place.
 */
#include <string.h>

#include "fuzz.h"
#include "ga/net/netplan.h"

static void check_host(const char *text)
{
	struct ga_net_host h, again;
	cleanup_free char *shown = NULL;

	if (!ga_net_host_parse(text, strlen(text), &h))
		return;
	CHECK(strlen(h.name) <= GA_NET_NAME_MAX);
	CHECK(!strpbrk(h.name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ /:@%[]*\\"));
	shown = ga_net_host_text(&h, 1);
	shown[strlen(shown) - 2] = 0;
	CHECK(ga_net_host_parse(shown, strlen(shown), &again));
	CHECK(!strcmp(h.name, again.name) && ga_net_addr_same(&h.addr, &again.addr));
	free(ga_steal(&shown));
}

static void check_rule(const char *word)
{
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	cleanup_free char *text = NULL, *twice = NULL;
	struct ga_net_rule r, again;

	CHECK(ga_net_rule_ok(word) == !ga_net_rule_parse(word, &r, &err));
	if (err.msg)
		return;
	CHECK(r.first >= 1 && r.first <= r.last);
	text = ga_net_rule_text(&r);
	CHECK(!ga_net_rule_parse(text, &again, &err));
	twice = ga_net_rule_text(&again);
	CHECK(!strcmp(text, twice));
	if (r.kind == GA_NET_WILDCARD)
		CHECK(!ga_net_rule_match(&r, &r.host, r.first));
	else
		CHECK(ga_net_rule_match(&r, &r.host, r.first) && ga_net_rule_match(&r, &r.host, r.last));
}

static void check_plan(const struct ga_strv *words, const char *host)
{
	cleanup_net_plan struct ga_net_plan p = GA_NET_PLAN_INIT;
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	struct ga_net_options o = { .ip6 = true, .hostname = host };
	struct ga_net_host h;

	if (ga_net_plan_make(words, &o, &p, &err)) {
		CHECK(err.msg && !p.rules);
		return;
	}
	CHECK(p.n_listeners <= GA_NET_LISTENERS_MAX && strlen(p.hosts) < 1 << 20);
	for (size_t i = 0; i < p.n_listeners && i < 64; i++)
		for (size_t k = 0; k < i; k++)
			CHECK(p.listeners[i].port != p.listeners[k].port ||
			      !ga_net_addr_same(&p.listeners[i].addr, &p.listeners[k].addr));
	if (!ga_net_host_parse(host, strlen(host), &h) || *h.name)
		return;
	for (size_t i = 0; i < p.n_rules; i++)
		if (p.rules[i].kind == GA_NET_WILDCARD && ga_net_addr_allowed(&p, i, &h.addr, p.rules[i].first) &&
		    ga_net_plan_match(&p, &h, p.rules[i].first) < 0)
			CHECK(h.addr.ip6 || (h.addr.b[0] != 127 && h.addr.b[0] != 10));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct fuzz_in in = { data, n };
	cleanup_free char *host = fuzz_string(&in), *rules = fuzz_text(&in);
	cleanup_free char *services = ga_net_nsswitch(rules);
	cleanup_strv struct ga_strv words = GA_STRV_INIT;
	const char *at = rules;

	CHECK(strstr(services, "hosts: files dns\n"));
	check_host(host);
	while (*at && words.n < 40) {
		size_t len = strcspn(at, "\n");

		ga_strv_push_n(&words, at, len);
		check_rule(words.v[words.n - 1]);
		at += len + (at[len] == '\n');
	}
	check_plan(&words, host);
	return 0;
}
