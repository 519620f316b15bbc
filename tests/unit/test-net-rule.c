/* SPDX-License-Identifier: MIT
 *
 * Words of network.allow, where addresses lead, and the plan made of them.
 */
#include "test.h"

#include "ga/netplan.h"

TEST(rules)
{
	static const struct {
		const char *word;
		const char *text; /* canonical, NULL: refused */
		enum ga_net_kind kind;
	} cases[] = {
		{ "api.example.org:443", "api.example.org:443", GA_NET_NAMED },
		{ "API.Example.ORG.:443", "api.example.org:443", GA_NET_NAMED },
		{ "db:3306", "db:3306", GA_NET_NAMED },
		{ "3com.example:1", "3com.example:1", GA_NET_NAMED },
		{ "1.2.3.4.example.org:1", "1.2.3.4.example.org:1", GA_NET_NAMED },
		{ "xn--bcher-kva.example:443", "xn--bcher-kva.example:443", GA_NET_NAMED },
		{ "db:8000-8010", "db:8000-8010", GA_NET_NAMED },
		{ "db:8000-8000", "db:8000", GA_NET_NAMED },
		{ "db:1-256", "db:1-256", GA_NET_NAMED },
		{ "db:1-257", NULL, 0 },
		{ "*.example.org:443", "*.example.org:443", GA_NET_WILDCARD },
		{ "*.a.example.org:1-65535", "*.a.example.org:1-65535", GA_NET_WILDCARD },
		{ "localhost:5432", "localhost:5432", GA_NET_LOCALHOST },
		{ "LocalHost.:5432", "localhost:5432", GA_NET_LOCALHOST },
		{ "127.0.0.1:5432", "127.0.0.1:5432", GA_NET_LITERAL },
		{ "10.0.0.255:65535", "10.0.0.255:65535", GA_NET_LITERAL },
		{ "169.254.169.254:80", "169.254.169.254:80", GA_NET_LITERAL },
		{ "[2001:DB8:0:0::1]:443", "[2001:db8::1]:443", GA_NET_LITERAL },
		{ "[::1]:5432", "[::1]:5432", GA_NET_LITERAL },
		{ "[::ffff:192.0.2.1]:80", "192.0.2.1:80", GA_NET_LITERAL },
		/* ports */
		{ "example.org", NULL, 0 },
		{ "example.org:", NULL, 0 },
		{ "example.org:0", NULL, 0 },
		{ "example.org:65536", NULL, 0 },
		{ "example.org:0443", NULL, 0 },
		{ "example.org:+443", NULL, 0 },
		{ "example.org:443 ", NULL, 0 },
		{ "example.org:443-", NULL, 0 },
		{ "example.org:-443", NULL, 0 },
		{ "example.org:444-443", NULL, 0 },
		{ "example.org:1-2-3", NULL, 0 },
		{ "example.org:https", NULL, 0 },
		{ "example.org:*", NULL, 0 },
		{ "example.org:443/path", NULL, 0 },
		/* hosts */
		{ "", NULL, 0 },
		{ ":443", NULL, 0 },
		{ ".:443", NULL, 0 },
		{ "example..org:443", NULL, 0 },
		{ ".example.org:443", NULL, 0 },
		{ "example.org..:443", NULL, 0 },
		{ "-example.org:443", NULL, 0 },
		{ "example-.org:443", NULL, 0 },
		{ "my_db:5432", NULL, 0 },
		{ "user@example.org:443", NULL, 0 },
		{ "https://example.org:443", NULL, 0 },
		{ "exa mple.org:443", NULL, 0 },
		{ "b\xc3\xbc""cher.example:443", NULL, 0 },
		{ "example.org\n:443", NULL, 0 },
		{ "foo.localhost:80", NULL, 0 },
		/* wildcards */
		{ "*:443", NULL, 0 },
		{ "*.:443", NULL, 0 },
		{ "*.org:443", NULL, 0 },
		{ "*.org.:443", NULL, 0 },
		{ "*example.org:443", NULL, 0 },
		{ "a.*.example.org:443", NULL, 0 },
		{ "*.*.example.org:443", NULL, 0 },
		{ "**.example.org:443", NULL, 0 },
		{ "*.10.0.0.1:443", NULL, 0 },
		{ "*.[::1]:443", NULL, 0 },
		{ "*.localhost:443", NULL, 0 },
		{ "*.a.localhost:443", NULL, 0 },
		/* addresses */
		{ "1.2.3:80", NULL, 0 },
		{ "1.2.3.4.5:80", NULL, 0 },
		{ "127.1:80", NULL, 0 },
		{ "0177.0.0.1:80", NULL, 0 },
		{ "127.0.0.01:80", NULL, 0 },
		{ "2130706433:80", NULL, 0 },
		{ "0x7f000001:80", NULL, 0 },
		{ "0x7f.1:80", NULL, 0 },
		{ "a.0x:80", NULL, 0 },
		{ "256.0.0.1:80", NULL, 0 },
		{ "0.0.0.0:80", NULL, 0 },
		{ "0.1.2.3:80", NULL, 0 },
		{ "224.0.0.1:80", NULL, 0 },
		{ "255.255.255.255:80", NULL, 0 },
		{ "::1:80", NULL, 0 },
		{ "[::1]80", NULL, 0 },
		{ "[::1]", NULL, 0 },
		{ "[::1:80", NULL, 0 },
		{ "[::]:80", NULL, 0 },
		{ "[ff02::1]:80", NULL, 0 },
		{ "[fe80::1]:80", NULL, 0 },
		{ "[fe80::1%lo]:80", NULL, 0 },
		{ "[127.0.0.1]:80", NULL, 0 },
		{ "[example.org]:80", NULL, 0 },
		{ "[]:80", NULL, 0 },
	};

	for (size_t i = 0; i < GA_NELEMS(cases); i++) {
		cleanup_error struct ga_error err = GA_ERROR_INIT, again_err = GA_ERROR_INIT;
		cleanup_free char *text = NULL, *twice = NULL;
		struct ga_net_rule r, again;
		int got = ga_net_rule_parse(cases[i].word, &r, &err);

		if (got != (cases[i].text ? 0 : -1) || ga_net_rule_ok(cases[i].word) != !got)
			fail_msg("'%s': %s", cases[i].word, err.msg ? err.msg : "accepted");
		if (got) {
			assert_int_equal(err.code, GA_EUSAGE);
			assert_non_null(err.hint);
			continue;
		}
		text = ga_net_rule_text(&r);
		if (strcmp(text, cases[i].text) != 0 || r.kind != cases[i].kind)
			fail_msg("'%s': '%s', %d", cases[i].word, text, (int)r.kind);
		assert_int_equal(ga_net_rule_parse(text, &again, &again_err), 0);
		twice = ga_net_rule_text(&again);
		assert_string_equal(text, twice);
	}
}

/* The longest name there is, and one byte more. */
TEST(long_names)
{
	struct ga_net_host h;
	char name[GA_NET_NAME_MAX + 2];

	memset(name, 'a', sizeof(name));
	name[63] = name[127] = name[191] = '.';
	assert_true(ga_net_host_parse(name, GA_NET_NAME_MAX, &h));
	assert_int_equal(strlen(h.name), GA_NET_NAME_MAX);
	name[GA_NET_NAME_MAX] = '.';
	assert_true(ga_net_host_parse(name, GA_NET_NAME_MAX + 1, &h));
	assert_int_equal(strlen(h.name), GA_NET_NAME_MAX);
	name[GA_NET_NAME_MAX] = 'a';
	assert_false(ga_net_host_parse(name, GA_NET_NAME_MAX + 1, &h));
	name[63] = 'a';
	assert_false(ga_net_host_parse(name, 100, &h));
	assert_false(ga_net_host_parse("a\0b", 3, &h));
	assert_false(ga_net_host_parse("a.example\0.org", 14, &h));
	assert_false(ga_net_host_parse("1.2.3.4\0", 8, &h));
}

TEST(matches)
{
	static const struct {
		const char *word, *host;
		uint16_t port;
		bool yes;
	} cases[] = {
		{ "example.org:443", "EXAMPLE.org", 443, true },
		{ "example.org:443", "example.org.", 443, true },
		{ "example.org:443", "example.org", 80, false },
		{ "example.org:443", "a.example.org", 443, false },
		{ "example.org:443", "xexample.org", 443, false },
		{ "example.org:80-82", "example.org", 79, false },
		{ "example.org:80-82", "example.org", 82, true },
		{ "example.org:80-82", "example.org", 83, false },
		{ "*.example.org:443", "a.example.org", 443, true },
		{ "*.example.org:443", "a.b.Example.org.", 443, true },
		{ "*.example.org:443", "my_a.example.org", 443, true },
		{ "*.example.org:443", "example.org", 443, false },
		{ "*.example.org:443", "aexample.org", 443, false },
		{ "*.example.org:443", "a.example.org.evil.net", 443, false },
		{ "*.example.org:443", "10.0.0.1", 443, false },
		{ "localhost:5432", "localhost", 5432, true },
		{ "localhost:5432", "127.0.0.1", 5432, true },
		{ "localhost:5432", "::1", 5432, true },
		{ "localhost:5432", "127.0.0.2", 5432, false },
		{ "localhost:5432", "a.localhost", 5432, false },
		{ "127.0.0.1:5432", "localhost", 5432, false },
		{ "192.0.2.1:80", "::ffff:192.0.2.1", 80, true },
		{ "192.0.2.1:80", "[::ffff:c000:201]", 80, true },
		{ "192.0.2.1:80", "192.0.2.2", 80, false },
		{ "[2001:db8::1]:80", "[2001:db8:0::1]", 80, true },
		{ "[2001:db8::1]:80", "192.0.2.1", 80, false },
	};

	for (size_t i = 0; i < GA_NELEMS(cases); i++) {
		struct ga_net_rule r;
		struct ga_net_host h;

		OK(ga_net_rule_parse(cases[i].word, &r, &err));
		assert_true(ga_net_host_parse(cases[i].host, strlen(cases[i].host), &h));
		if (ga_net_rule_match(&r, &h, cases[i].port) != cases[i].yes)
			fail_msg("%s and %s:%u", cases[i].word, cases[i].host, cases[i].port);
	}
}

/* A plan of words with blanks between them. */
static int make_plan(const char *words, bool ip6, struct ga_net_plan *p, struct ga_error *err)
{
	cleanup_strv struct ga_strv allow = GA_STRV_INIT;
	struct ga_net_options o = { .ip6 = ip6, .hostname = "cage" };

	while (*words) {
		size_t n = strcspn(words, " ");

		ga_strv_push_n(&allow, words, n);
		words += n + (words[n] == ' ');
	}
	return ga_net_plan_make(&allow, &o, p, err);
}

static void must_plan(const char *words, bool ip6, struct ga_net_plan *p)
{
	cleanup_error struct ga_error err = GA_ERROR_INIT;

	if (make_plan(words, ip6, p, &err))
		fail_msg("%s: %s", words, err.msg);
}

/* Where a name may lead: NW-02 metadata and link-local, NW-03 this machine, NW-04 rebinding. */
TEST(nw02_nw03_nw04_where_names_may_lead)
{
	static const char rules[] = "db.internal:80 *.example.org:80 10.9.9.9:80 localhost:5432 "
				    "db.internal:5432";
	static const struct {
		const char *addr;
		bool named, wild;
	} cases[] = {
		{ "93.184.216.34", true, true },
		{ "2606:2800:220:1::1", true, true },
		{ "10.0.0.1", true, false },
		{ "10.9.9.9", true, true }, /* listed itself */
		{ "172.16.0.1", true, false },
		{ "172.31.255.255", true, false },
		{ "172.32.0.1", true, true },
		{ "192.168.1.1", true, false },
		{ "100.64.0.1", true, false },
		{ "100.128.0.1", true, true },
		{ "fd12::1", true, false },
		{ "fec0::1", true, false },
		{ "127.0.0.1", false, false },
		{ "127.1.2.3", false, false },
		{ "0.0.0.0", false, false },
		{ "0.0.0.1", false, false },
		{ "::", false, false },
		{ "::1", false, false },
		{ "169.254.169.254", false, false },
		{ "169.254.0.1", false, false },
		{ "100.100.100.200", false, false },
		{ "168.63.129.16", false, false },
		{ "168.63.129.17", true, true },
		{ "192.0.0.192", false, false },
		{ "fd00:ec2::254", false, false },
		{ "fd00:ec2::23", false, false },
		{ "fd00:ec3::23", true, false },
		{ "fd20:ce::254", false, false },
		{ "fd00:c1::a9fe:a9fe", false, false },
		{ "fd00:42::42", false, false },
		{ "fd00:a9fe:a9fe::1", false, false },
		{ "fd00:100::100:200", false, false },
		{ "fe80::1", false, false },
		{ "febf::1", false, false },
		{ "ff02::1", false, false },
		{ "224.0.0.1", false, false },
		{ "255.255.255.255", false, false },
		{ "::ffff:127.0.0.1", false, false },
		{ "::ffff:169.254.169.254", false, false },
		{ "::ffff:0:169.254.169.254", false, false },
		{ "::127.0.0.1", false, false },
		{ "64:ff9b::a9fe:a9fe", false, false },
		{ "64:ff9b::7f00:1", false, false },
		{ "64:ff9b::a00:1", true, false },
		{ "64:ff9b::5db8:d822", true, true },
		{ "64:ff9b:1::a9fe:a9fe", false, false },
		{ "64:ff9b:1:1::7f00:1", false, false },
		{ "64:ff9b:1::5db8:d822", true, false },
		{ "2002:a9fe:a9fe::1", false, false },
		{ "2002:7f00:1::", false, false },
		{ "2002:5db8:d822::1", true, true },
		{ "2001::1", true, false },
	};
	cleanup_net_plan struct ga_net_plan p = GA_NET_PLAN_INIT;

	must_plan(rules, true, &p);
	for (size_t i = 0; i < GA_NELEMS(cases); i++) {
		struct ga_net_host h;

		assert_true(ga_net_host_parse(cases[i].addr, strlen(cases[i].addr), &h));
		if (ga_net_addr_allowed(&p, 0, &h.addr, 80) != cases[i].named ||
		    ga_net_addr_allowed(&p, 1, &h.addr, 80) != cases[i].wild)
			fail_msg("%s", cases[i].addr);
		/* not the port of the rule */
		assert_false(ga_net_addr_allowed(&p, 0, &h.addr, 81));
		assert_false(ga_net_addr_allowed(&p, 1, &h.addr, 81));
		/* a literal leads to itself */
		assert_int_equal(ga_net_addr_allowed(&p, 2, &h.addr, 80),
				 !strcmp(cases[i].addr, "10.9.9.9"));
		/* localhost to itself; and a name may lead there, as it is listed */
		assert_int_equal(ga_net_addr_allowed(&p, 3, &h.addr, 5432),
				 !strcmp(cases[i].addr, "::1") ||
				 !strcmp(cases[i].addr, "127.0.0.1") ||
				 !strcmp(cases[i].addr, "::ffff:127.0.0.1"));
		if (!strcmp(cases[i].addr, "127.0.0.1"))
			assert_true(ga_net_addr_allowed(&p, 4, &h.addr, 5432));
	}
	{
		/* as a socket has it */
		struct ga_net_addr raw = { .ip6 = true, .b = { [10] = 0xff, 0xff, 127, 0, 0, 1 } };

		assert_false(ga_net_addr_allowed(&p, 0, &raw, 80));
		assert_true(ga_net_addr_allowed(&p, 3, &raw, 5432));
	}
}

static const struct ga_net_listener *find_listener(const struct ga_net_plan *p, const char *want)
{
	for (size_t i = 0; i < p->n_listeners; i++) {
		struct ga_net_host h = { .addr = p->listeners[i].addr };
		cleanup_free char *text = ga_net_host_text(&h, p->listeners[i].port);

		if (!strcmp(text, want))
			return &p->listeners[i];
	}
	return NULL;
}

TEST(plans)
{
	cleanup_net_plan struct ga_net_plan p = GA_NET_PLAN_INIT, q = GA_NET_PLAN_INIT;
	static const struct {
		const char *text;
		enum ga_net_for what;
		size_t rule;
	} want[] = {
		{ "127.0.0.53:53", GA_NET_FOR_DNS, 0 },
		{ "127.0.0.53:3128", GA_NET_FOR_PROXY, 0 },
		{ "127.64.0.2:443", GA_NET_FOR_RULE, 0 },
		{ "[fd67:6974:6167::2]:443", GA_NET_FOR_RULE, 0 },
		{ "127.0.0.1:5432", GA_NET_FOR_RULE, 1 },
		{ "[::1]:5432", GA_NET_FOR_RULE, 1 },
		{ "127.64.0.2:22", GA_NET_FOR_RULE, 2 },
		{ "[fd67:6974:6167::2]:22", GA_NET_FOR_RULE, 2 },
		{ "127.64.0.4:80", GA_NET_FOR_RULE, 3 },
		{ "127.64.0.4:81", GA_NET_FOR_RULE, 3 },
		{ "[fd67:6974:6167::3]:80", GA_NET_FOR_RULE, 3 },
		{ "[fd67:6974:6167::3]:81", GA_NET_FOR_RULE, 3 },
		{ "127.64.0.3:7", GA_NET_FOR_RULE, 4 },
	};

	/* the fifth takes an address that the second name would have had; the last is there already */
	must_plan("api.example.org:443 localhost:5432 API.example.org:22 db:80-81 127.64.0.3:7 "
		  "127.0.0.1:5432", true, &p);
	assert_int_equal(p.n_listeners, GA_NELEMS(want));
	for (size_t i = 0; i < GA_NELEMS(want); i++) {
		const struct ga_net_listener *l = find_listener(&p, want[i].text);

		if (!l || l->what != want[i].what || l->rule != want[i].rule)
			fail_msg("%s", want[i].text);
	}
	assert_string_equal(p.hosts,
			    "127.0.0.1 localhost\n"
			    "::1 localhost ip6-localhost ip6-loopback\n"
			    "127.0.0.1 cage\n"
			    "127.64.0.2 api.example.org\nfd67:6974:6167::2 api.example.org\n"
			    "127.64.0.4 db\nfd67:6974:6167::3 db\n");
	assert_string_equal(p.resolv, "nameserver 127.0.0.53\nsearch .\noptions ndots:0\n");
	assert_int_equal(p.env.n, 0);

	must_plan("db:80 cage:1", false, &q);
	assert_int_equal(q.n_listeners, 4);
	assert_string_equal(q.hosts, "127.0.0.1 localhost\n127.64.0.2 db\n127.64.0.3 cage\n");
}

/* "NW-04 empty list": an empty list is nothing, and never all. */
TEST(nw04_an_empty_list_is_nothing)
{
	cleanup_net_plan struct ga_net_plan p = GA_NET_PLAN_INIT;
	struct ga_net_host h;

	must_plan("", true, &p);
	assert_int_equal(p.n_rules, 0);
	/* there is nothing to ask a proxy for */
	assert_int_equal(p.n_listeners, 1);
	assert_int_equal(p.listeners[0].what, GA_NET_FOR_DNS);
	assert_true(ga_net_host_parse("example.org", 11, &h));
	assert_int_equal(ga_net_plan_match(&p, &h, 443), -1);
	assert_true(ga_net_host_parse("127.0.0.1", 9, &h));
	assert_int_equal(ga_net_plan_match(&p, &h, 443), -1);
}

TEST(variables)
{
	cleanup_net_plan struct ga_net_plan p = GA_NET_PLAN_INIT;

	/* what a wildcard covers, or lies above one, is for the proxy */
	must_plan("db:80 *.b.example.org:443 x.b.example.org:22 example.org:1 b.example.org:1 "
		  "c.example.org:1", true, &p);
	assert_true(ga_strv_has(&p.env, "https_proxy=http://127.0.0.53:3128"));
	assert_true(ga_strv_has(&p.env, "ALL_PROXY=http://127.0.0.53:3128"));
	assert_true(ga_strv_has(&p.env, "no_proxy=localhost,127.0.0.1,::1,db,c.example.org"));
	assert_true(ga_strv_has(&p.env, "NO_PROXY=localhost,127.0.0.1,::1,db,c.example.org"));
	assert_int_equal(p.env.n, 9);
}

TEST(plans_that_cannot_be)
{
	static const struct {
		const char *words, *says;
		bool ip6;
	} cases[] = {
		{ "db:80 127.0.0.53:53", "'127.0.0.53:53'", true },
		{ "127.0.0.53:3000-3200", "'127.0.0.53:3128'", true },
		{ "a:1 b", "'b'", true },
		{ "[2001:db8::1]:1", "'[2001:db8::1]:1'", false },
		{ "a:1-256 b:1-256", "1024 listeners", true },
	};

	for (size_t i = 0; i < GA_NELEMS(cases); i++) {
		cleanup_net_plan struct ga_net_plan p = GA_NET_PLAN_INIT;
		cleanup_error struct ga_error err = GA_ERROR_INIT;

		assert_int_equal(make_plan(cases[i].words, cases[i].ip6, &p, &err), -1);
		if (!strstr(err.msg, cases[i].says))
			fail_msg("%s: %s", cases[i].words, err.msg);
		assert_null(p.rules);
	}
}

TEST(too_many_rules)
{
	cleanup_net_plan struct ga_net_plan p = GA_NET_PLAN_INIT;
	cleanup_strv struct ga_strv allow = GA_STRV_INIT;
	struct ga_net_options o = { .ip6 = false };

	for (int i = 0; i < GA_NET_RULES_MAX; i++)
		ga_strv_pushf(&allow, "host-%d:80", i);
	OK(ga_net_plan_make(&allow, &o, &p, &err));
	assert_int_equal(p.n_names, GA_NET_RULES_MAX);
	assert_non_null(find_listener(&p, "127.64.1.1:80"));
	ga_net_plan_release(&p);
	ga_strv_push(&allow, "one-more:80");
	FAILS(ga_net_plan_make(&allow, &o, &p, &err), "");
}

/* A plan that learns: names keep what they got, what an address stands for is found again, and a
 * rule is made once. */
TEST(learnt)
{
	static const struct {
		const char *host;
		uint16_t port;
		const char *text; /* NULL: none can be had */
		bool listable;
	} cases[] = {
		{ "db.example.org", 5432, "db.example.org:5432", true },
		{ "192.0.2.1", 80, "192.0.2.1:80", true },
		{ "2001:db8::1", 80, "[2001:db8::1]:80", true },
		{ "127.0.0.1", 80, "localhost:80", true },
		{ "::1", 80, "localhost:80", true },
		{ "localhost", 81, "localhost:81", true },
		{ "127.0.0.2", 80, "127.0.0.2:80", true },
		{ "my_db", 80, "my_db:80", false },
		{ "0.0.0.0", 80, "0.0.0.0:80", false },
		{ "a.localhost", 80, NULL, false },
	};
	static const char *const no_names[] = { "_x._tcp.example.org", "192.0.2.1", "a..b", "", "a\\032b" };
	cleanup_net_plan struct ga_net_plan p = GA_NET_PLAN_INIT;
	struct ga_net_options o = { .ip6 = true, .learns = true };
	struct ga_strv none = GA_STRV_INIT;
	struct ga_net_host host;

	OK(ga_net_plan_make(&none, &o, &p, &err));
	for (size_t i = 0; i < GA_NELEMS(cases); i++) {
		ssize_t rule;

		assert_true(ga_net_host_parse(cases[i].host, strlen(cases[i].host), &host));
		rule = ga_net_plan_learn_rule(&p, &host, cases[i].port);
		assert_int_equal(rule >= 0, cases[i].text != NULL);
		if (rule >= 0) {
			cleanup_free char *text = ga_net_rule_text(&p.rules[rule]);

			assert_string_equal(text, cases[i].text);
			assert_int_equal(ga_net_rule_ok(text), cases[i].listable);
			assert_int_equal(ga_net_plan_learn_rule(&p, &host, cases[i].port), rule);
		}
	}
	assert_int_equal(p.n_rules, 8);
	for (size_t i = 0; i < GA_NELEMS(no_names); i++)
		assert_false(ga_net_plan_add_name(&p, no_names[i]));
	for (int i = 0; i < GA_NET_ASKED_NAMES; i++) {
		cleanup_free char *name = ga_strf("host-%d.example.org", i);

		assert_true(ga_net_plan_add_name(&p, name));
		assert_true(ga_net_plan_add_name(&p, name));
		ga_net_plan_host(&p, &p.names[i].ip4, &host);
		assert_string_equal(host.name, name);
		ga_net_plan_host(&p, &p.names[i].ip6, &host);
		assert_string_equal(host.name, name);
	}
	assert_false(ga_net_plan_add_name(&p, "one-more.example.org"));
	for (unsigned port = 1; p.n_rules < GA_NET_LEARN_RULES; port++)
		assert_true(ga_net_plan_learn_rule(&p, &host, (uint16_t)port) >= 0);
	assert_true(ga_net_plan_learn_rule(&p, &host, UINT16_MAX) < 0);
}

TEST(name_services)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "", "hosts: files dns\n" },
		{ "passwd: files\nhosts: files mdns4_minimal [NOTFOUND=return] resolve dns\nx: y",
		  "passwd: files\nx: y\nhosts: files dns\n" },
		{ " hosts : resolve\n#hosts: a\nhostsx: b\n", "#hosts: a\nhostsx: b\nhosts: files dns\n" },
	};

	for (size_t i = 0; i < GA_NELEMS(cases); i++) {
		cleanup_free char *got = ga_net_nsswitch(cases[i].in);

		assert_string_equal(got, cases[i].out);
	}
}

TEST_MAIN(NULL, NULL)
