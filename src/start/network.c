/* SPDX-License-Identifier: MIT
 *
 * The network of a session: from the settings to the sandbox and its relay, and the report.
 */
#include <inttypes.h>
#include <limits.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "start-internal.h"
#include "ga/base/sha.h"

#define FIRST 20480
#define EACH 16
#define RANGES ((32768 - FIRST) / EACH) /* from 32768 on the kernel hands out ephemeral ports */

/* A range is taken by locking one byte of a file. The lock belongs to the open file description
 * (F_OFD_SETLK), and so ends with the supervisor. */
static bool lock_range(int fd, unsigned i, short how)
{
	struct flock l = { .l_type = how, .l_whence = SEEK_SET, .l_start = i, .l_len = 1 };

	return !fcntl(fd, F_OFD_SETLK, &l);
}

/* Could a server of the session listen there? Binds a socket, without listening. */
static bool port_free(unsigned port)
{
	const struct sockaddr_in6 any6 = { .sin6_family = AF_INET6,
					   .sin6_port = htons((uint16_t)port) };
	const struct sockaddr_in any4 = { .sin_family = AF_INET,
					  .sin_port = htons((uint16_t)port) };
	cleanup_close int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const int on = 1, off = 0;
	bool ip6 = fd >= 0;

	if (!ip6)
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	/* ignore closed connections (SO_REUSEADDR); check both address families */
	return fd >= 0 && !setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) &&
	       (!ip6 || !setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off))) &&
	       !bind(fd, ip6 ? (const struct sockaddr *)&any6 : (const struct sockaddr *)&any4,
		     ip6 ? sizeof(any6) : sizeof(any4));
}

static bool take_range(int fd, unsigned i, bool host)
{
	if (!lock_range(fd, i, F_WRLCK))
		return false;
	for (unsigned k = 0; host && k < EACH; k++) {
		if (port_free(FIRST + i * EACH + k))
			continue;
		(void)lock_range(fd, i, F_UNLCK);
		return false;
	}
	return true;
}

/* Take a range of ports that no other session of the user has, as long as `*ret_fd` is open; with
 * the host's network also none that is in use. Returns its first port, or 0. Prefers the range at
 * `former` (0: none), else takes the first free one from where `any` points. */
static unsigned start_take_ports(const struct ga_env *e, uint64_t former, unsigned any, int *ret_fd)
{
	cleanup_free char *path = ga_path_join(e->state_root, "ports");
	cleanup_close int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	bool host = e->net.mode == GA_NETWORK_HOST;
	unsigned first = any % RANGES;

	if (former >= FIRST && former < FIRST + RANGES * EACH)
		first = (unsigned)(former - FIRST) / EACH;
	for (unsigned n = 0; fd >= 0 && n < RANGES; n++) {
		unsigned i = (first + n) % RANGES;

		if (!take_range(fd, i, host))
			continue;
		*ret_fd = ga_steal_fd(&fd);
		return FIRST + i * EACH;
	}
	return 0;
}

#define NSSWITCH_MAX ((size_t)64 << 10)
#define REFUSED_KEPT 50

/* Only the repository's setting is noted: git-agent knows the others before it begins a sandbox.
 * The note is a guess: a sandbox begun with the wrong network is begun again. */
void start_note_guess(const struct ga_env *e)
{
	cleanup_close int dir = open(e->state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0 || (e->net.options && e->net.options->n))
		return;
	if (e->net.by_repository)
		(void)ga_write_new(dir, START_NETWORK_NOTE, "own\n", 4, 0600, GA_IGNORED);
	else
		(void)unlinkat(dir, START_NETWORK_NOTE, 0);
}

void start_add_allowed(const struct ga_env *e, const struct ga_preset *p, struct ga_strv *ret)
{
	if (e->net.allow)
		ga_strv_extend(ret, e->net.allow);
	for (size_t i = 0; p && p->hosts[i]; i++)
		if (!ga_strv_has(ret, p->hosts[i]))
			ga_strv_push(ret, p->hosts[i]);
}

static int make_plan(const struct ga_env *e, struct ga_start *st, struct ga_error *err)
{
	cleanup_strv struct ga_strv allow = GA_STRV_INIT;
	char name[HOST_NAME_MAX + 1] = "";
	cleanup_close int ip6 = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct ga_net_options o = { .ip6 = ip6 >= 0,
				    .nothing = e->net.mode == GA_NETWORK_NONE };

	if (!gethostname(name, sizeof(name) - 1) && *name)
		o.hostname = name;
	if (e->net.mode == GA_NETWORK_ALLOW)
		start_add_allowed(e, st->command.preset, &allow);
	return ga_net_plan_make(&allow, &o, &st->net.plan, err);
}

/* Show the sockets of network.sockets inside, and add their paths on the host to `ret`. */
static int show_sockets(const struct ga_env *e, struct ga_start *st, const char *dir,
			struct ga_strv *ret, struct ga_error *err)
{
	for (size_t i = 0; e->net.sockets && i < e->net.sockets->n; i++) {
		cleanup_free char *source = ga_strf("%s/%zu", dir, i);
		cleanup_net_socket struct ga_net_socket at;
		struct stat found;

		if (!ga_net_socket_parse(e->net.sockets->v[i], e->home, &at))
			GA_BUG("a path that the settings do not take");
		if (ga_spec_show_socket(&st->spec, source, at.inside, err))
			return -1;
		/* no error: a server may start later, and is looked up at each connection */
		if (stat(at.host, &found))
			ga_strv_pushf(&st->notes, "network.sockets: there is no '%s' now: what "
				      "connects to it is refused until there is",
				      GA_ESCAPED(at.host));
		else if (!S_ISSOCK(found.st_mode))
			ga_strv_pushf(&st->notes, "network.sockets: '%s' is no socket",
				      GA_ESCAPED(at.host));
		ga_strv_push(ret, at.host);
	}
	return 0;
}

static void push_real(struct ga_strv *ret, const char *path)
{
	char *real = realpath(path, NULL);

	ga_strv_take(ret, real ? real : ga_strdup(path));
}

/* Hosts named in the banner. */
#define LISTED_MAX 4

static char *describe_listed(const struct ga_strv *allow)
{
	return allow && allow->n ? ga_quote_list(allow, LISTED_MAX) : ga_strdup("nothing");
}

void start_describe_network(const struct ga_env *e, struct ga_start *st)
{
	const struct ga_session *s = &st->session;
	const struct ga_preset *p = st->command.preset;
	cleanup_free char *listed = describe_listed(e->net.allow), *needed = NULL;
	cleanup_strv struct ga_strv hosts = GA_STRV_INIT;

	if (e->net.mode == GA_NETWORK_NONE)
		ga_strv_push(&st->notes, "network: none");
	else if (e->net.mode == GA_NETWORK_ALLOW)
		ga_strv_pushf(&st->notes, "network: only what is listed: %s", listed);
	/* hosts that the agent needs are allowed unlisted */
	for (size_t i = 0; p && e->net.mode == GA_NETWORK_ALLOW && p->hosts[i]; i++)
		ga_strv_push(&hosts, p->hosts[i]);
	needed = describe_listed(&hosts);
	if (hosts.n)
		ga_strv_pushf(&st->notes, "network: and what '%s' needs: %s", p->name, needed);
	for (size_t i = 0; i < s->run.published.n; i++) {
		const char *inside = strrchr(s->run.published.v[i], ':');

		ga_strv_pushf(&st->notes, "port %s is published at %.*s%s", inside + 1,
			      (int)(inside - s->run.published.v[i]), s->run.published.v[i],
			      ga_net_publish_open(s->run.published.v[i])
				      ? ", where others on the network reach it" : "");
	}
	if (e->net.mode == GA_NETWORK_HOST && e->net.publish && e->net.publish->n)
		ga_strv_push(&st->notes, "network.publish says nothing of the host's own network, "
					 "where every port is there as it is");
	if (e->net.allow_at)
		ga_strv_pushf(&st->notes, "%s: 'network.allow' has no effect: 'network.mode' is "
					  "%s, not allow", e->net.allow_at,
			      ga_network_name(e->net.mode));
}

/* Name the host's proxy, through which connections are made; the URL may have a password. */
static void describe_proxy(const struct ga_env *e, struct ga_start *st)
{
	cleanup_free char *at = NULL;
	const char *variable = ga_relay_proxy(st->net.relay, &at);

	if (!variable || e->net.mode == GA_NETWORK_NONE)
		return;
	if (at)
		ga_strv_pushf(&st->notes, "network: through the proxy %s of %s", at, variable);
	else
		ga_strv_pushf(&st->notes, "network: the proxy of %s is no http:// one, and is not "
					  "used", variable);
}

/* Open the relay, the host's side, and add what it needs to the spec. */
static int open_relay(const struct ga_env *e, struct ga_start *st, struct ga_error *err)
{
	bool sockets = e->net.mode != GA_NETWORK_NONE && e->net.sockets && e->net.sockets->n;
	const struct ga_strv *publish = e->net.mode == GA_NETWORK_HOST ? NULL : e->net.publish;
	cleanup_strv struct ga_strv paths = GA_STRV_INIT, written = GA_STRV_INIT;
	struct ga_relay_opts o = { .sockets = &paths, .publish = publish, .socket_dir = -1,
				   .written = &written };
	cleanup_buf struct ga_buf nsswitch = GA_BUF_INIT;
	cleanup_free char *dir = NULL, *switches = NULL;
	cleanup_close int at = -1;

	if (e->net.mode == GA_NETWORK_HOST && !sockets)
		return 0;
	dir = ga_session_fresh_dir(&st->session, "net", err);
	at = dir ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (at < 0)
		return dir ? ga_fail_errno(err, GA_ESTART, errno, "cannot open '%s'", dir) : -1;
	/* `none` has a plan too: refused connections are reported */
	if (e->net.mode != GA_NETWORK_HOST) {
		(void)ga_read_file_at(AT_FDCWD, "/etc/nsswitch.conf", NSSWITCH_MAX, &nsswitch,
				      GA_IGNORED);
		switches = ga_net_nsswitch(nsswitch.ptr);
		if (make_plan(e, st, err) ||
		    ga_spec_replace_text(&st->spec, "/etc/hosts", st->net.plan.hosts, err) ||
		    ga_spec_replace_text(&st->spec, "/etc/resolv.conf", st->net.plan.resolv, err) ||
		    ga_spec_replace_text(&st->spec, "/etc/nsswitch.conf", switches, err))
			return -1;
		o.plan = &st->net.plan;
		o.environ = e->environ;
		ga_strv_extend(&st->spec.env, &st->net.plan.env);
	}
	o.socket_dir = at;
	/* places that agents of any session can write, and where their work lands */
	push_real(&written, st->spec.project);
	push_real(&written, st->spec.home_dir.source);
	push_real(&written, e->agent_home);
	push_real(&written, e->state_root);
	ga_strv_extend(&written, &st->spec.host.rw);
	if ((sockets && show_sockets(e, st, dir, &paths, err)) ||
	    ga_relay_open(&o, &st->net.relay, err))
		return -1;
	describe_proxy(e, st);
	ga_relay_published(st->net.relay, &st->session.run.published);
	return 0;
}

/* Take a range of ports, the former one if possible: servers may be configured with it. */
static void take_ports(const struct ga_env *e, struct ga_start *st, const char *id)
{
	uint64_t former = st->session.run.ports;
	unsigned any = 0, ports;

	for (const char *p = id; *p; p++)
		any = any * 31 + (unsigned char)*p;
	ports = start_take_ports(e, former, any, &st->net.ports);
	if (!ports) {
		/* keep session.ports: the next run may get them again */
		ga_strv_push(&st->notes, "GIT_AGENT_PORT_BASE is not set: no 16 ports are free "
					 "for it");
		return;
	}
	st->session.run.ports = ports;
	ga_strv_pushf(&st->spec.env, "GIT_AGENT_PORT_BASE=%u", ports);
	if (former && ports != former)
		ga_strv_pushf(&st->notes, "GIT_AGENT_PORT_BASE is %u, and was %" PRIu64 ": one of "
					  "those 16 is in use, or they are another session's",
			      ports, former);
}

/* The id is derived from the session's directory: it is unique across repositories, and the same
 * after a resume. */
static void add_environment(const struct ga_env *e, struct ga_start *st)
{
	char hex[GA_SHA256_HEXSZ + 1];
	struct ga_sha h;

	ga_sha256_init(&h);
	ga_sha_add(&h, st->session.dir, strlen(st->session.dir));
	ga_sha256_end_hex(&h, hex);
	ga_strv_pushf(&st->spec.env, "GIT_AGENT_SESSION_ID=%.12s", hex);
	take_ports(e, st, hex);
}

int ga_start_make_network(struct ga_env *e, struct ga_start *st, struct ga_error *err)
{
	struct ga_session *s = &st->session;

	free(s->run.network);
	s->run.network = ga_strdup(ga_network_name(e->net.mode));
	ga_strv_release(&s->run.network_options);
	if (e->net.options)
		ga_strv_extend(&s->run.network_options, e->net.options);
	ga_strv_release(&s->run.published);
	ga_strv_release(&s->run.refused);
	s->run.unlisted = 0;
	ga_strv_release(&s->run.forbidden);
	add_environment(e, st);
	if (open_relay(e, st, err))
		return -1;
	start_describe_network(e, st);
	return 0;
}

int ga_start_enter_network(struct ga_start *st, struct ga_error *err)
{
	/* only a session with the host's network has none: ga_relay_enter() fails for any other
	 * that has no network of its own */
	if (!st->net.relay)
		return 0;
	if (ga_relay_enter(st->net.relay, ga_run_facts(st->sandbox)->pid, err))
		return -1;
	ga_run_relay(st->sandbox, st->net.relay);
	return 0;
}

void start_note_network(const struct ga_session *s, const struct ga_relay *r, size_t *noted)
{
	const struct ga_use *u;
	uint64_t more;
	size_t n;

	if (!r)
		return;
	u = ga_relay_uses(r, &n, &more);
	for (; *noted < n; ++*noted) {
		json_t *j = json_pack("{s:s}", "how", ga_use_name(u[*noted].kind));

		ga_json_set_bytes(j, "to", u[*noted].to);
		ga_json_set(j, "after", json_integer((json_int_t)(u[*noted].first / 1000)));
		(void)ga_journal(s->dir, "connection", j);
	}
}

static json_t *counts_json(const struct ga_use *u, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++) {
		json_t *j = json_object();

		ga_json_set_bytes(j, "to", u[i].to);
		(void)json_object_set_new(j, "how", json_string(ga_use_name(u[i].kind)));
		(void)json_object_set_new(j, "count", json_integer((json_int_t)u[i].count));
		(void)json_object_set_new(j, "in", json_integer((json_int_t)u[i].in));
		(void)json_object_set_new(j, "out", json_integer((json_int_t)u[i].out));
		(void)json_array_append_new(list, j);
	}
	return list;
}

static void keep_refused(struct ga_session *s, const struct ga_use *u)
{
	struct ga_strv *to = u->kind == GA_USE_FORBIDDEN ? &s->run.forbidden : &s->run.refused;

	if (u->kind != GA_USE_REFUSED && u->kind != GA_USE_FORBIDDEN)
		return;
	/* a Unix socket: no rule could allow it */
	if (u->to[0] == '/')
		ga_strv_pushf(&s->run.remarks, "it was kept from the socket %s, whose path leads "
			      "through a directory that agents can write", GA_QUOTED(u->to));
	else if (to->n < REFUSED_KEPT)
		ga_strv_pushf(to, "%" PRIu64 " %s", u->count, u->to);
	else
		s->run.unlisted += to == &s->run.refused;
}

void start_end_network(struct ga_start *st, size_t *noted)
{
	struct ga_session *s = &st->session;
	const struct ga_use *u;
	uint64_t more;
	size_t n;

	ga_strv_release(&s->run.published);
	if (!st->net.relay)
		return;
	start_note_network(s, st->net.relay, noted);
	u = ga_relay_uses(st->net.relay, &n, &more);
	for (size_t i = 0; i < n; i++)
		keep_refused(s, &u[i]);
	if (n || more)
		(void)ga_journal(s->dir, "network",
				 json_pack("{s:o, s:I}", "connections", counts_json(u, n), "more",
					   (json_int_t)more));
	ga_run_relay(st->sandbox, NULL);
	ga_relay_close(ga_steal(&st->net.relay));
}
