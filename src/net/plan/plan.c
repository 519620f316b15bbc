/* SPDX-License-Identifier: MIT
 *
 * Make a plan from rules: addresses, listeners, and the files and variables that direct clients to
 * them.
 */
#include "net/netplan-internal.h"

#include <string.h>

/* The k-th of our addresses. The first of each family is the interface's own, those of names
 * follow. 127.0.0.0/10 is left to well-known addresses (127.0.0.53, 127.0.1.1); the IPv6 prefix is
 * one of our own in fd00::/8. */
static struct ga_net_addr own_addr(bool ip6, size_t k)
{
	struct ga_net_addr a = net_addr(ip6 ? "fd67:6974:6167::" : "127.64.0.0");
	unsigned char *end = a.b + (ip6 ? 16 : 4);

	end[-1] = (unsigned char)(k + 1);
	end[-2] = (unsigned char)((k + 1) >> 8);
	return a;
}

void ga_net_plan_release(struct ga_net_plan *p)
{
	free(p->rules);
	for (size_t i = 0; i < p->n_names; i++)
		free(p->names[i].name);
	free(p->names);
	free(p->listeners);
	free(p->hosts);
	free(p->resolv);
	ga_strv_release(&p->env);
	*p = (struct ga_net_plan)GA_NET_PLAN_INIT;
}

ssize_t ga_net_plan_match(const struct ga_net_plan *p, const struct ga_net_host *h, uint16_t port)
{
	for (size_t i = 0; i < p->n_rules; i++)
		if (ga_net_rule_match(&p->rules[i], h, port))
			return (ssize_t)i;
	return -1;
}

static bool is_listed_addr(const struct ga_net_plan *p, const struct ga_net_addr *a)
{
	for (size_t i = 0; i < p->n_rules; i++)
		if (p->rules[i].kind == GA_NET_LITERAL &&
		    ga_net_addr_same(&p->rules[i].host.addr, a))
			return true;
	return false;
}

/* The next of our addresses, from `*k` on, that no rule lists. */
static struct ga_net_addr next_addr(const struct ga_net_plan *p, bool ip6, size_t *k)
{
	struct ga_net_addr a;

	do
		a = own_addr(ip6, (*k)++);
	while (is_listed_addr(p, &a));
	return a;
}

struct ga_net_name *net_find_name(const struct ga_net_plan *p, const char *name)
{
	for (size_t i = 0; i < p->n_names; i++)
		if (!strcmp(p->names[i].name, name))
			return &p->names[i];
	return NULL;
}

static void add_name(struct ga_net_plan *p, const char *name)
{
	p->names[p->n_names++] = (struct ga_net_name){
		.name = ga_strdup(name),
		.ip4 = next_addr(p, false, &p->next4),
		.ip6 = next_addr(p, true, &p->next6),
	};
}

static void name_hosts(struct ga_net_plan *p, bool nothing)
{
	p->own4 = next_addr(p, false, &p->next4);
	p->own6 = next_addr(p, true, &p->next6);
	p->names = ga_calloc(p->n_rules + GA_NET_ASKED_NAMES, sizeof(*p->names));
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct ga_net_rule *r = &p->rules[i];

		if (r->kind == GA_NET_NAMED && !net_find_name(p, r->host.name))
			add_name(p, r->host.name);
	}
	p->max_names = p->n_names + (nothing ? 0 : GA_NET_ASKED_NAMES);
}

static size_t rule_addrs(const struct ga_net_plan *p, const struct ga_net_rule *r,
			 struct ga_net_addr ret[2])
{
	const struct ga_net_name *name;

	switch (r->kind) {
	case GA_NET_WILDCARD:
		return 0;
	case GA_NET_LITERAL:
		ret[0] = r->host.addr;
		return 1;
	case GA_NET_LOCALHOST:
		ret[0] = net_addr("127.0.0.1");
		ret[1] = net_addr("::1");
		break;
	case GA_NET_NAMED:
		name = net_find_name(p, r->host.name);
		if (!name)
			GA_BUG("a listed name without addresses");
		ret[0] = name->ip4;
		ret[1] = name->ip6;
		break;
	}
	return p->ip6 ? 2 : 1;
}

/* Is there a listener already at this address and port? `*ret` is its purpose. */
static bool is_taken(const struct ga_net_plan *p, const struct ga_net_addr *a, uint16_t port,
		     enum ga_net_for *ret)
{
	for (size_t i = 0; i < p->n_listeners; i++) {
		const struct ga_net_listener *l = &p->listeners[i];

		if (l->port == port && ga_net_addr_same(&l->addr, a)) {
			*ret = l->what;
			return true;
		}
	}
	return false;
}

static int add_listener(struct ga_net_plan *p, const struct ga_net_addr *a, uint16_t port,
			size_t rule, struct ga_error *err)
{
	enum ga_net_for what;

	if (is_taken(p, a, port, &what)) {
		if (what == GA_NET_FOR_RULE)
			return 0;
		return ga_fail(err, GA_EUSAGE, "cannot allow '" GA_NET_SERVICE_ADDRESS ":%u': "
			       "the sandbox uses that port itself", (unsigned)port);
	}
	if (p->n_listeners == GA_NET_LISTENERS_MAX)
		return ga_fail(err, GA_EUSAGE, "cannot allow all that is listed: it takes more "
			       "than %d listeners, one for each address and port"
			       GA_HINT "list fewer ports in network.allow, or a wildcard: its "
			       "ports are reached through one proxy", GA_NET_LISTENERS_MAX);
	p->listeners[p->n_listeners++] = (struct ga_net_listener){
		.addr = *a, .port = port, .what = GA_NET_FOR_RULE, .rule = rule
	};
	return 0;
}

static int add_rule_listeners(struct ga_net_plan *p, size_t rule, struct ga_error *err)
{
	const struct ga_net_rule *r = &p->rules[rule];
	struct ga_net_addr addrs[2];
	size_t n = rule_addrs(p, r, addrs);

	if (r->kind == GA_NET_LITERAL && r->host.addr.ip6 && !p->ip6) {
		cleanup_free char *text = ga_net_rule_text(r);

		return ga_fail(err, GA_EUSAGE, "cannot allow '%s': this machine has no IPv6", text);
	}
	for (size_t i = 0; i < n; i++)
		for (unsigned port = r->first; port <= r->last; port++)
			if (add_listener(p, &addrs[i], (uint16_t)port, rule, err))
				return -1;
	return 0;
}

static int add_listeners(struct ga_net_plan *p, struct ga_error *err)
{
	struct ga_net_addr service = net_addr(GA_NET_SERVICE_ADDRESS);

	p->listeners = ga_calloc(GA_NET_LISTENERS_MAX, sizeof(*p->listeners));
	p->listeners[p->n_listeners++] = (struct ga_net_listener){
		.addr = service, .port = GA_NET_DNS_PORT, .what = GA_NET_FOR_DNS
	};
	/* without rules there is nothing to ask the proxy for */
	if (p->n_rules)
		p->listeners[p->n_listeners++] = (struct ga_net_listener){
			.addr = service, .port = GA_NET_PROXY_PORT, .what = GA_NET_FOR_PROXY
		};
	for (size_t i = 0; i < p->n_rules; i++)
		if (add_rule_listeners(p, i, err))
			return -1;
	return 0;
}

static void add_host(struct ga_buf *b, const struct ga_net_addr *a, const char *names)
{
	cleanup_free char *text = ga_net_addr_text(a);

	ga_buf_addf(b, "%s %s\n", text, names);
}

/* Only what is reachable: the host's own file is used where names are resolved. */
static char *hosts_text(const struct ga_net_plan *p, const char *hostname)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	struct ga_net_host own;

	ga_buf_adds(&b, "127.0.0.1 localhost\n");
	if (p->ip6)
		ga_buf_adds(&b, "::1 localhost ip6-localhost ip6-loopback\n");
	if (hostname && ga_net_host_parse(hostname, strlen(hostname), &own) && *own.name &&
	    strcmp(own.name, "localhost") != 0 && !net_find_name(p, own.name))
		ga_buf_addf(&b, "127.0.0.1 %s\n", own.name);
	for (size_t i = 0; i < p->n_names; i++) {
		add_host(&b, &p->names[i].ip4, p->names[i].name);
		if (p->ip6)
			add_host(&b, &p->names[i].ip6, p->names[i].name);
	}
	return ga_buf_steal(&b);
}

/* Clients connect directly to such names and to all below them: so not if a wildcard covers
 * something below, which only the proxy can reach. */
static bool is_direct(const struct ga_net_plan *p, const char *name)
{
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct ga_net_rule *r = &p->rules[i];
		const char *wild = r->host.name;

		if (r->kind == GA_NET_WILDCARD && (!strcmp(name, wild) ||
		    net_name_below(name, wild) || net_name_below(wild, name)))
			return false;
	}
	return true;
}

/* Programs read either spelling. ALL_PROXY is the HTTP proxy as well, because clients without SOCKS
 * fail if it names that. */
static void add_env(struct ga_net_plan *p)
{
	cleanup_free char *url = ga_strf("http://" GA_NET_SERVICE_ADDRESS ":%d", GA_NET_PROXY_PORT);
	cleanup_buf struct ga_buf direct = GA_BUF_INIT;

	ga_buf_adds(&direct, "localhost,127.0.0.1,::1");
	for (size_t i = 0; i < p->n_names; i++)
		if (is_direct(p, p->names[i].name))
			ga_buf_addf(&direct, ",%s", p->names[i].name);
	ga_strv_pushf(&p->env, "HTTP_PROXY=%s", url);
	ga_strv_pushf(&p->env, "HTTPS_PROXY=%s", url);
	ga_strv_pushf(&p->env, "ALL_PROXY=%s", url);
	ga_strv_pushf(&p->env, "NO_PROXY=%s", direct.ptr);
	ga_strv_pushf(&p->env, "http_proxy=%s", url);
	ga_strv_pushf(&p->env, "https_proxy=%s", url);
	ga_strv_pushf(&p->env, "all_proxy=%s", url);
	ga_strv_pushf(&p->env, "no_proxy=%s", direct.ptr);
	/* node (24, 22.21) reads the others only if this is set */
	ga_strv_push(&p->env, "NODE_USE_ENV_PROXY=1");
}

static bool has_wildcard(const struct ga_net_plan *p)
{
	for (size_t i = 0; i < p->n_rules; i++)
		if (p->rules[i].kind == GA_NET_WILDCARD)
			return true;
	return false;
}

static int fill_plan(const struct ga_strv *allow, const struct ga_net_options *o,
		     struct ga_net_plan *p, struct ga_error *err)
{
	p->ip6 = o->ip6;
	if (allow->n > GA_NET_RULES_MAX)
		return ga_fail(err, GA_EUSAGE, "cannot allow %zu hosts: at most %d can be listed",
			       allow->n, GA_NET_RULES_MAX);
	p->rules = ga_calloc(allow->n + 1, sizeof(*p->rules));
	for (; p->n_rules < allow->n; p->n_rules++)
		if (ga_net_rule_parse(allow->v[p->n_rules], &p->rules[p->n_rules], err))
			return -1;
	name_hosts(p, o->nothing);
	if (add_listeners(p, err))
		return -1;
	p->hosts = hosts_text(p, o->hostname);
	/* Names are to be asked for as they are. Without `search`, glibc also appends the domain of
	 * the host's own name. musl cannot search in the root, but does not search for names with
	 * at least `ndots` dots. */
	p->resolv = ga_strdup("nameserver " GA_NET_SERVICE_ADDRESS "\nsearch .\n"
			      "options ndots:0\n");
	if (has_wildcard(p))
		add_env(p);
	return 0;
}

int ga_net_plan_make(const struct ga_strv *allow, const struct ga_net_options *o,
		     struct ga_net_plan *ret, struct ga_error *err)
{
	cleanup_net_plan struct ga_net_plan p = GA_NET_PLAN_INIT;

	if (fill_plan(allow, o, &p, err))
		return -1;
	*ret = p;
	p = (struct ga_net_plan)GA_NET_PLAN_INIT;
	return 0;
}

/* ---- names added later */

void ga_net_plan_host(const struct ga_net_plan *p, const struct ga_net_addr *a,
		      struct ga_net_host *ret)
{
	*ret = (struct ga_net_host){ .addr = *a };
	if (net_addr_is_localhost(a)) {
		(void)ga_net_host_parse("localhost", strlen("localhost"), ret);
		return;
	}
	for (size_t i = 0; i < p->n_names; i++)
		if (ga_net_addr_same(a, &p->names[i].ip4) || ga_net_addr_same(a, &p->names[i].ip6))
			(void)ga_net_host_parse(p->names[i].name, strlen(p->names[i].name), ret);
}

bool ga_net_plan_add_name(struct ga_net_plan *p, const char *name)
{
	struct ga_net_host h;

	if (name[0] == '_' || !ga_net_host_parse(name, strlen(name), &h) || !*h.name)
		return false;
	if (net_find_name(p, h.name))
		return true;
	if (p->n_names == p->max_names)
		return false;
	add_name(p, h.name);
	p->names[p->n_names - 1].refused = true;
	return true;
}

/* ---- */

char *ga_net_nsswitch(const char *text)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	while (*text) {
		size_t n = strcspn(text, "\n"), blank = strspn(text, " \t");
		const char *word = text + blank;

		if (strncmp(word, "hosts", 5) != 0 || word[5 + strspn(word + 5, " \t")] != ':') {
			ga_buf_add(&b, text, n);
			ga_buf_addch(&b, '\n');
		}
		text += n + (text[n] == '\n');
	}
	ga_buf_adds(&b, "hosts: files dns\n");
	return ga_buf_steal(&b);
}

/* Does a rule list exactly this address (or localhost, if it is that) and port? */
static bool is_listed(const struct ga_net_plan *p, const struct ga_net_addr *a, uint16_t port)
{
	struct ga_net_host h = { .addr = *a };

	return ga_net_plan_match(p, &h, port) >= 0;
}

bool ga_net_addr_allowed(const struct ga_net_plan *p, size_t rule, const struct ga_net_addr *a,
			 uint16_t port)
{
	struct ga_net_addr plain = ga_net_addr_make(a->ip6, a->b);

	return is_listed(p, &plain, port) || net_rule_leads_to(&p->rules[rule], &plain, port);
}
