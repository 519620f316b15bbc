/* SPDX-License-Identifier: MIT
 *
 * Words of network.allow, where addresses lead, and the plan made of them.
 */
#include "../test.h"

#include "ga/net/netplan.h"

TEST(a_rule_has_one_canonical_form_or_is_refused)
{
	static const struct {
		const char *word;
		const char *text; /* canonical */
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
	};
	static const char *const refused[] = {
		"db:1-257",
		/* ports */
		"example.org", "example.org:", "example.org:0", "example.org:65536",
		"example.org:0443", "example.org:+443", "example.org:443 ", "example.org:443-",
		"example.org:-443", "example.org:444-443", "example.org:1-2-3", "example.org:https",
		"example.org:*", "example.org:443/path",
		/* hosts */
		"", ":443", ".:443", "example..org:443", ".example.org:443", "example.org..:443",
		"-example.org:443", "example-.org:443", "my_db:5432", "user@example.org:443",
		"https://example.org:443", "exa mple.org:443", ("b\xc3\xbc" "cher.example:443"),
		"example.org\n:443", "foo.localhost:80",
		/* wildcards */
		"*:443", "*.:443", "*.org:443", "*.org.:443", "*example.org:443",
		"a.*.example.org:443", "*.*.example.org:443", "**.example.org:443",
		"*.10.0.0.1:443", "*.[::1]:443", "*.localhost:443", "*.a.localhost:443",
		/* addresses */
		"1.2.3:80", "1.2.3.4.5:80", "127.1:80", "0177.0.0.1:80", "127.0.0.01:80",
		"2130706433:80", "0x7f000001:80", "0x7f.1:80", "a.0x:80", "256.0.0.1:80",
		"0.0.0.0:80", "0.1.2.3:80", "224.0.0.1:80", "255.255.255.255:80", "::1:80",
		"[::1]80", "[::1]", "[::1:80", "[::]:80", "[ff02::1]:80", "[fe80::1]:80",
		"[fe80::1%lo]:80", "[127.0.0.1]:80", "[example.org]:80", "[]:80",
	};

	for_each (row, cases) {
		cleanup_free char *text = NULL, *twice = NULL;
		struct ga_net_rule r, again;

		OK(ga_net_rule_parse(row->word, &r, &err));
		assert_true(ga_net_rule_ok(row->word));
		text = ga_net_rule_text(&r);
		if (strcmp(text, row->text) != 0 || r.kind != row->kind)
			fail_msg("'%s': '%s', %d", row->word, text, (int)r.kind);
		OK(ga_net_rule_parse(text, &again, &err));
		twice = ga_net_rule_text(&again);
		STREQ(text, twice);
	}
	for_each (row, refused) {
		ERR(err);
		struct ga_net_rule r;

		if (!ga_net_rule_parse(*row, &r, &err) || ga_net_rule_ok(*row))
			fail_msg("'%s' is accepted", *row);
		EQUAL(err.code, GA_EUSAGE);
		assert_non_null(err.hint);
	}
}

TEST(a_name_of_254_bytes_is_refused)
{
	struct ga_net_host h;
	char name[GA_NET_NAME_MAX + 2];

	memset(name, 'a', sizeof(name));
	name[63] = name[127] = name[191] = '.';
	assert_true(ga_net_host_parse(name, GA_NET_NAME_MAX, &h));
	EQUAL(strlen(h.name), GA_NET_NAME_MAX);
	name[GA_NET_NAME_MAX] = '.';
	assert_true(ga_net_host_parse(name, GA_NET_NAME_MAX + 1, &h));
	EQUAL(strlen(h.name), GA_NET_NAME_MAX);
	name[GA_NET_NAME_MAX] = 'a';
	assert_false(ga_net_host_parse(name, GA_NET_NAME_MAX + 1, &h));
	name[63] = 'a';
	assert_false(ga_net_host_parse(name, 100, &h));
	assert_false(ga_net_host_parse("a\0b", 3, &h));
	assert_false(ga_net_host_parse("a.example\0.org", 14, &h));
	assert_false(ga_net_host_parse("1.2.3.4\0", 8, &h));
}

TEST(a_rule_matches_its_hosts_and_ports_only)
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

	for_each (row, cases) {
		struct ga_net_rule r;
		struct ga_net_host h;

		OK(ga_net_rule_parse(row->word, &r, &err));
		assert_true(ga_net_host_parse(row->host, strlen(row->host), &h));
		if (ga_net_rule_match(&r, &h, row->port) != row->yes)
			fail_msg("%s and %s:%u", row->word, row->host, row->port);
	}
}

/* A plan of words with blanks between them. */
static int make_plan(const char *words, bool ip6, struct ga_net_plan *p, struct ga_error *err)
{
	STRV(allow);
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
	ERR(err);

	if (make_plan(words, ip6, p, &err))
		fail_msg("%s: %s", words, err.msg);
}

/* Where a name may lead: NW-02 metadata and link-local, NW-03 this machine, NW-04 rebinding. */
TEST(nw02_nw03_nw04_where_names_may_lead)
{
	static const char rules[] = "db.internal:80 *.example.org:80 10.9.9.9:80 localhost:5432 db.internal:5432";
	/* the rules for a name and for a wildcard; 10.9.9.9 is listed itself */
	static const char *const addrs[] = {
		/* both lead there */
		"93.184.216.34", "2606:2800:220:1::1", "10.9.9.9", "172.32.0.1", "100.128.0.1",
		"168.63.129.17", "64:ff9b::5db8:d822", "2002:5db8:d822::1",
		/* the name alone */
		"10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "fd12::1",
		"fec0::1", "fd00:ec3::23", "64:ff9b::a00:1", "64:ff9b:1::5db8:d822", "2001::1",
		/* neither */
		"127.0.0.1", "127.1.2.3", "0.0.0.0", "0.0.0.1", "::", "::1", "169.254.169.254",
		"169.254.0.1", "100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254",
		"fd00:ec2::23", "fd20:ce::254", "fd00:c1::a9fe:a9fe", "fd00:42::42",
		"fd00:a9fe:a9fe::1", "fd00:100::100:200", "fe80::1", "febf::1", "ff02::1",
		"224.0.0.1", "255.255.255.255", "::ffff:127.0.0.1", "::ffff:169.254.169.254",
		"::ffff:0:169.254.169.254", "::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b::7f00:1",
		"64:ff9b:1::a9fe:a9fe", "64:ff9b:1:1::7f00:1", "2002:a9fe:a9fe::1", "2002:7f00:1::",
	};
	const size_t n_both = 8, n_named = 19;
	cleanup_net_plan struct ga_net_plan p = GA_NET_PLAN_INIT;

	must_plan(rules, true, &p);
	for_index (i, addrs) {
		struct ga_net_host h;

		assert_true(ga_net_host_parse(addrs[i], strlen(addrs[i]), &h));
		if (ga_net_addr_allowed(&p, 0, &h.addr, 80) != (i < n_named) ||
		    ga_net_addr_allowed(&p, 1, &h.addr, 80) != (i < n_both))
			fail_msg("%s", addrs[i]);
		/* not the port of the rule */
		assert_false(ga_net_addr_allowed(&p, 0, &h.addr, 81));
		assert_false(ga_net_addr_allowed(&p, 1, &h.addr, 81));
		/* a literal leads to itself */
		EQUAL(ga_net_addr_allowed(&p, 2, &h.addr, 80), !strcmp(addrs[i], "10.9.9.9"));
		/* localhost to itself; and a name may lead there, as it is listed */
		EQUAL(ga_net_addr_allowed(&p, 3, &h.addr, 5432), !strcmp(addrs[i], "::1") ||
		      !strcmp(addrs[i], "127.0.0.1") || !strcmp(addrs[i], "::ffff:127.0.0.1"));
		if (!strcmp(addrs[i], "127.0.0.1"))
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

TEST(a_plan_has_a_listener_for_every_address)
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
	EQUAL(p.n_listeners, GA_NELEMS(want));
	for_each (row, want) {
		const struct ga_net_listener *l = find_listener(&p, row->text);

		if (!l || l->what != row->what || l->rule != row->rule)
			fail_msg("%s", row->text);
	}
	STREQ(p.hosts, "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n127.0.0.1 cage\n"
	      "127.64.0.2 api.example.org\nfd67:6974:6167::2 api.example.org\n"
	      "127.64.0.4 db\nfd67:6974:6167::3 db\n");
	STREQ(p.resolv, "nameserver 127.0.0.53\nsearch .\noptions ndots:0\n");
	EQUAL(p.env.n, 0);

	must_plan("db:80 cage:1", false, &q);
	EQUAL(q.n_listeners, 4);
	STREQ(q.hosts, "127.0.0.1 localhost\n127.64.0.2 db\n127.64.0.3 cage\n");
}

TEST(nw04_an_empty_list_is_nothing)
{
	cleanup_net_plan struct ga_net_plan p = GA_NET_PLAN_INIT;
	struct ga_net_host h;

	must_plan("", true, &p);
	EQUAL(p.n_rules, 0);
	/* there is nothing to ask a proxy for */
	EQUAL(p.n_listeners, 1);
	EQUAL(p.listeners[0].what, GA_NET_FOR_DNS);
	assert_true(ga_net_host_parse("example.org", 11, &h));
	EQUAL(ga_net_plan_match(&p, &h, 443), -1);
	assert_true(ga_net_host_parse("127.0.0.1", 9, &h));
	EQUAL(ga_net_plan_match(&p, &h, 443), -1);
}

TEST(proxy_variables_leave_out_what_has_a_listener)
{
	cleanup_net_plan struct ga_net_plan p = GA_NET_PLAN_INIT;

	/* what a wildcard covers, or lies above one, is for the proxy */
	must_plan("db:80 *.b.example.org:443 x.b.example.org:22 example.org:1 b.example.org:1 "
		  "c.example.org:1", true, &p);
	assert_true(ga_strv_has(&p.env, "https_proxy=http://127.0.0.53:3128"));
	assert_true(ga_strv_has(&p.env, "ALL_PROXY=http://127.0.0.53:3128"));
	assert_true(ga_strv_has(&p.env, "no_proxy=localhost,127.0.0.1,::1,db,c.example.org"));
	assert_true(ga_strv_has(&p.env, "NO_PROXY=localhost,127.0.0.1,::1,db,c.example.org"));
	EQUAL(p.env.n, 9);
}

TEST(a_plan_that_collides_with_itself_is_refused)
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

	for_each (row, cases) {
		cleanup_net_plan struct ga_net_plan p = GA_NET_PLAN_INIT;
		ERR(err);

		EQUAL(make_plan(row->words, row->ip6, &p, &err), -1);
		if (!strstr(err.msg, row->says))
			fail_msg("%s: %s", row->words, err.msg);
		assert_null(p.rules);
	}
}

TEST(more_rules_than_there_is_room_for_are_refused)
{
	cleanup_net_plan struct ga_net_plan p = GA_NET_PLAN_INIT;
	STRV(allow);
	struct ga_net_options o = { .ip6 = false };

	for (int i = 0; i < GA_NET_RULES_MAX; i++)
		ga_strv_pushf(&allow, "host-%d:80", i);
	OK(ga_net_plan_make(&allow, &o, &p, &err));
	EQUAL(p.n_names, GA_NET_RULES_MAX);
	assert_non_null(find_listener(&p, "127.64.1.1:80"));
	ga_net_plan_release(&p);
	ga_strv_push(&allow, "one-more:80");
	FAILS(ga_net_plan_make(&allow, &o, &p, &err), "");
}

/* Names that are asked for keep what they got, and what an address is for is found again. */
TEST(a_name_that_is_asked_for_has_an_address_of_its_own)
{
	static const char *const no_names[] = { "_x._tcp.example.org", "192.0.2.1", "a..b", "", "a\\032b" };
	cleanup_net_plan struct ga_net_plan p = GA_NET_PLAN_INIT;
	struct ga_net_options o = { .ip6 = true };
	struct ga_strv none = GA_STRV_INIT;
	struct ga_net_host host;

	OK(ga_net_plan_make(&none, &o, &p, &err));
	for_each (row, no_names)
		assert_false(ga_net_plan_add_name(&p, *row));
	assert_true(ga_net_plan_add_name(&p, "host.example.org"));
	assert_true(ga_net_plan_add_name(&p, "host.example.org"));
	ga_net_plan_host(&p, &p.names[0].ip6, &host);
	STREQ(host.name, "host.example.org");
}

TEST(nsswitch_looks_up_hosts_in_files_and_dns_alone)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "", "hosts: files dns\n" },
		{ "passwd: files\nhosts: files mdns4_minimal [NOTFOUND=return] resolve dns\nx: y",
		  "passwd: files\nx: y\nhosts: files dns\n" },
		{ " hosts : resolve\n#hosts: a\nhostsx: b\n", "#hosts: a\nhostsx: b\nhosts: files dns\n" },
	};

	for_each (row, cases) {
		cleanup_free char *got = ga_net_nsswitch(row->in);

		STREQ(got, row->out);
	}
}

TEST_MAIN(NULL, NULL)
