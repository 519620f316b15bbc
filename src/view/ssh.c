/* SPDX-License-Identifier: MIT
 *
 * Show the system's ssh configuration. ssh accepts an included file only if root or its user owns
 * it, and root is not mapped inside: so copies owned by the user replace these files. The first
 * file may have any owner.
 */
#include <ctype.h>
#include <glob.h>
#include <strings.h>

#include "view-internal.h"

#define HOSTS_MAX 16
#define OUTPUT_MAX ((size_t)256 << 10)
#define TIMEOUT_MS 10000

static bool is_made_of(const char *s, const char *marks)
{
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr(marks, *s))
			return false;
	return true;
}

/* The user, host and port of a URL. */
struct place {
	char *user, *host, *port; /* `user` and `port` may be NULL */
};

static void place_release(struct place *p)
{
	free(p->user);
	free(p->host);
	free(p->port);
	*p = (struct place){ 0 };
}
#define cleanup_place cleanup_(place_release)

/* The authority of an ssh URL, or NULL. The caller frees it. */
static char *authority(const char *url, bool *ret_scheme)
{
	static const char *const schemes[] = { "ssh://", "git+ssh://", "ssh+git://" };
	size_t n = strcspn(url, ":/");

	for (size_t i = 0; i < GA_NELEMS(schemes); i++) {
		const char *rest = url + strlen(schemes[i]);

		*ret_scheme = !strncmp(url, schemes[i], strlen(schemes[i]));
		if (*ret_scheme)
			return ga_strndup(rest, strcspn(rest, "/"));
	}
	/* HOST:PATH; another scheme and a helper have more after the colon */
	return url[n] != ':' || !strncmp(url + n, "://", 3) || url[n + 1] == ':'
		       ? NULL : ga_strndup(url, n);
}

/* Is it safe to pass to ssh? */
static bool parse(const char *url, struct place *ret)
{
	bool scheme;
	cleanup_free char *all = authority(url, &scheme);
	char *host = all ? strrchr(all, '@') : NULL, *port;

	if (!all)
		return false;
	if (host) {
		ret->user = ga_strndup(all, strcspn(all, ":@"));
		host++;
	} else {
		host = all;
	}
	port = *host == '[' ? strchr(host, ']') : NULL;
	if (port) {
		host++;
		*port++ = '\0';
		port = *port == ':' ? port : NULL;
	} else {
		port = strchr(host, ':');
	}
	if (port) {
		*port++ = '\0';
		ret->port = *port ? ga_strdup(port) : NULL;
	}
	ret->host = ga_strdup(host);
	return *host && *host != '-' && is_made_of(host, "._-:") &&
	       (!ret->user || (*ret->user && *ret->user != '-' && is_made_of(ret->user, "._-+"))) &&
	       (!ret->port || (isdigit((unsigned char)*ret->port) && is_made_of(ret->port, "")));
}

static int run(const char *const *argv, struct ga_buf *out, int *ret_status, struct ga_error *err)
{
	cleanup_buf struct ga_buf said = GA_BUF_INIT;
	const struct ga_process p = { .argv = argv, .cwd = "/", .in_fd = -1, .out_fd = -1,
				      .keep_fd = -1, .out = out, .out_max = OUTPUT_MAX,
				      .errout = &said, .timeout_ms = TIMEOUT_MS };

	return ga_process_run(&p, ret_status, err);
}

/* The value of `key` in what `ssh -G` printed, or NULL. The caller frees it. */
static char *value_of(const char *text, const char *key)
{
	size_t n = strlen(key);

	for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n')
		if (!strncmp(p, key, n) && p[n] == ' ')
			return ga_strndup(p + n + 1, strcspn(p + n + 1, "\n"));
	return NULL;
}

static void add_line(struct ga_buf *config, const char *key, const char *value)
{
	if (value && *value && is_made_of(value, "._-:+@"))
		ga_buf_addf(config, "    %s %s\n", key, value);
}

/* Append the keys that ssh-keygen found for `name`, for that name only: a line may have further
 * names and a comment. */
static void add_keys(const char *text, const char *name, struct ga_buf *known)
{
	for (const char *p = text; *p; p += *p == '\n') {
		size_t n = strcspn(p, "\n"), marker = *p == '@' ? strcspn(p, " \t\n") : 0;
		const char *type = p + marker + strspn(p + marker, " \t"), *key, *end;

		type += strcspn(type, " \t\n");
		type += strspn(type, " \t");
		key = type + strcspn(type, " \t\n");
		end = key + strspn(key, " \t");
		end += strcspn(end, " \t\n");
		if (*p != '#' && key > type && end > key)
			ga_buf_addf(known, "%.*s%s%s %.*s\n", (int)marker, p, marker ? " " : "",
				    name, (int)(end - type), type);
		p += n;
	}
}

/* Find the keys of the host `name` in `files`, separated by spaces. An older ssh leaves "~" in
 * them. */
static int find_keys(const char *home, const char *name, const char *files, struct ga_buf *known,
		     struct ga_error *err)
{
	for (; *files; files += strcspn(files, " "), files += *files == ' ') {
		bool tilde = !strncmp(files, "~/", 2);
		cleanup_free char *word = ga_strndup(files, strcspn(files, " "));
		cleanup_free char *f = ga_strf("%s%s", tilde ? home : "", word + tilde);
		const char *const argv[] = { "ssh-keygen", "-F", name, "-f", f, NULL };
		cleanup_buf struct ga_buf out = GA_BUF_INIT;
		int status;

		if (*f != '/')
			continue;
		if (run(argv, &out, &status, err))
			return -1;
		/* other statuses: no such host or file */
		if (!status && out.len)
			add_keys(out.ptr, name, known);
	}
	return 0;
}

static int add_host(const char *home, const struct place *at, const char *text,
		    struct ga_buf *config, struct ga_buf *known, struct ga_error *err)
{
	cleanup_free char *host = value_of(text, "hostname"), *port = value_of(text, "port");
	cleanup_free char *user = value_of(text, "user"), *alias = value_of(text, "hostkeyalias");
	cleanup_free char *files = value_of(text, "userknownhostsfile");
	cleanup_free char *more = value_of(text, "globalknownhostsfile"), *name = NULL;

	if (!host || !port)
		return ga_fail(err, GA_ESTART, "'ssh -G' names no address");
	ga_buf_addf(config, "Host %s\n", at->host);
	add_line(config, "HostName", host);
	/* user and port of a URL do not apply to other URLs of this host */
	add_line(config, "Port", at->port ? NULL : port);
	add_line(config, "User", at->user ? NULL : user);
	add_line(config, "HostKeyAlias", alias);
	ga_buf_addf(config, "    GlobalKnownHostsFile %s %s\n", VIEW_SSH_KNOWN,
		    more && is_made_of(more, "._-/ ") ? more : "");
	name = alias ? ga_strdup(alias) : !strcmp(port, "22") ? ga_strdup(host)
					: ga_strf("[%s]:%s", host, port);
	return files && *name != '-' && is_made_of(name, "._-:+@[]")
		       ? find_keys(home, name, files, known, err) : 0;
}

static int ask(const char *home, const struct place *at, struct ga_buf *config,
	       struct ga_buf *known, struct ga_error *err)
{
	cleanup_free char *to = at->user ? ga_strf("%s@%s", at->user, at->host)
					 : ga_strdup(at->host);
	const char *const argv[] = { "ssh", "-G", "-p", at->port, to, NULL };
	const char *const plain[] = { "ssh", "-G", to, NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	int status;

	if (run(at->port ? argv : plain, &out, &status, err))
		return -1;
	if (status || !out.len)
		return ga_fail(err, GA_ESTART, "'ssh -G' fails");
	return add_host(home, at, out.ptr, config, known, err);
}

/* Is SSH_AUTH_SOCK inside a socket that the settings name? */
static bool has_agent(const struct ga_env *e, const struct ga_spec *spec)
{
	const char *want = ga_environ_get((const char *const *)spec->env.v, "SSH_AUTH_SOCK");
	cleanup_free char *place = want ? ga_spec_place(spec, want) : NULL;
	bool found = false;

	if (e->net.mode == GA_NETWORK_NONE || !want)
		return false;
	for (size_t i = 0; !found && e->net.sockets && i < e->net.sockets->n; i++) {
		cleanup_net_socket struct ga_net_socket s;
		cleanup_free char *inside = NULL;

		if (!ga_net_socket_parse(e->net.sockets->v[i], e->home, &s))
			continue;
		inside = ga_spec_place(spec, s.inside);
		found = !strcmp(inside, place);
	}
	return found;
}

static bool is_address(const char *key)
{
	const char *last = strrchr(key, '.');

	return !strncmp(key, "remote.", 7) && (!strcmp(last, ".url") || !strcmp(last, ".pushurl"));
}

/* If the session has the socket of an ssh-agent, append the user's ssh settings for the hosts of
 * his remotes: addresses, ports, users and aliases to `config`, keys to `known`. Hosts that ssh
 * cannot resolve go to the notes. */
static void ask_ssh(const struct ga_env *e, const struct ga_spec *s, struct ga_strv *notes,
		    struct ga_buf *config, struct ga_buf *known)
{
	cleanup_strv struct ga_strv seen = GA_STRV_INIT, hosts = GA_STRV_INIT;

	if (!has_agent(e, s))
		return;
	for (size_t i = 0; i < e->config.n && seen.n < HOSTS_MAX; i++) {
		const struct ga_gitconfig_item *it = &e->config.v[i];
		cleanup_error struct ga_error odd = GA_ERROR_INIT;
		cleanup_place struct place at = { 0 };
		cleanup_free char *all = NULL;

		if (!is_address(it->key) || !parse(it->value, &at))
			continue;
		all = ga_strf("%s@%s:%s", at.user ? at.user : "", at.host, at.port ? at.port : "");
		if (ga_strv_has(&seen, all))
			continue;
		ga_strv_push(&seen, all);
		if (!ask(e->home, &at, config, known, &odd))
			ga_strv_push(&hosts, at.host);
		else
			ga_strv_pushf(notes, "ssh: nothing of '%s' is known inside: %s",
				      at.host, odd.msg);
	}
	ga_strv_sort_unique(&hosts);
	ga_view_describe_paths("ssh inside knows", &hosts, notes);
}

#define SSH_DIR "/etc/ssh"
#define DEPTH_MAX 16 /* as in ssh itself */
#define FILES_MAX 64
#define BYTES_MAX ((size_t)1 << 20)

struct copies {
	struct ga_spec *spec;
	struct ga_strv seen; /* real paths of the files read */
	size_t bytes;        /* of the files read */
	bool beyond;         /* a limit was reached */
};

static void release(struct copies *c)
{
	ga_strv_release(&c->seen);
}

static int include(struct copies *c, const char *text, unsigned depth, struct ga_error *err);

/* Is it world-readable? Root-only files are hidden from uid 0 inside. */
static bool is_public(const char *real)
{
	cleanup_free char *up = ga_strdup(real);
	struct stat st;

	if (stat(real, &st) || !S_ISREG(st.st_mode) || !(st.st_mode & S_IROTH))
		return false;
	for (ga_path_up(up); strcmp(up, "/") != 0; ga_path_up(up))
		if (stat(up, &st) || !(st.st_mode & S_IXOTH))
			return false;
	return true;
}

/* Read a file, once. False if ssh inside must see the original. */
static bool take(struct copies *c, const char *real, struct ga_buf *ret)
{
	if (ga_strv_has(&c->seen, real) || !is_public(real))
		return false;
	c->beyond |= c->seen.n == FILES_MAX ||
		     ga_read_file_at(AT_FDCWD, real, BYTES_MAX - c->bytes, ret, GA_IGNORED);
	ga_strv_push(&c->seen, real);
	c->bytes += ret->len;
	return !c->beyond && !(ret->len && memchr(ret->ptr, '\0', ret->len));
}

/* Handle one word of an Include; the system's files must not include the user's. */
static int include_word(struct copies *c, const char *word, unsigned depth, struct ga_error *err)
{
	cleanup_free char *pattern = *word == '/' ? ga_strdup(word) : ga_path_join(SSH_DIR, word);
	glob_t g;
	int rc = 0;

	if (!*word || *word == '~' || glob(pattern, 0, NULL, &g))
		return 0;
	for (size_t i = 0; !rc && i < g.gl_pathc; i++) {
		cleanup_free char *real = realpath(g.gl_pathv[i], NULL);
		cleanup_buf struct ga_buf text = GA_BUF_INIT;

		if (!real || c->beyond || !take(c, real, &text))
			continue;
		/* skip a place without system files */
		(void)ga_spec_replace_text(c->spec, real, text.ptr, GA_IGNORED);
		rc = include(c, text.ptr, depth, err);
	}
	globfree(&g);
	return rc;
}

static int include_line(struct copies *c, const char *p, const char *end, unsigned depth,
			struct ga_error *err)
{
	static const char key[] = "include", blank[] = " \t\r\f=";

	p += strspn(p, blank);
	if (strncasecmp(p, key, sizeof(key) - 1) != 0 || !strchr(" \t=\"", p[sizeof(key) - 1]))
		return 0;
	for (p += sizeof(key) - 1; p < end && *p != '#'; p += strspn(p, blank)) {
		bool quoted = *p == '"';
		size_t n = strcspn(p += quoted, quoted ? "\"\n" : " \t\r\f=\n");
		cleanup_free char *word = ga_strndup(p, n);

		if (include_word(c, word, depth, err))
			return -1;
		p += n + (quoted && p[n] == '"');
	}
	return 0;
}

static int include(struct copies *c, const char *text, unsigned depth, struct ga_error *err)
{
	c->beyond |= depth > DEPTH_MAX;
	for (const char *end; *text && !c->beyond; text = end + (*end == '\n')) {
		end = text + strcspn(text, "\n");
		if (include_line(c, text, end, depth + 1, err))
			return -1;
	}
	return 0;
}

int ga_view_show_ssh(const struct ga_env *e, struct ga_spec *s, struct ga_strv *notes,
		     struct ga_error *err)
{
	cleanup_buf struct ga_buf text = GA_BUF_INIT, hosts = GA_BUF_INIT, known = GA_BUF_INIT;
	cleanup_(release) struct copies c = { .spec = s };
	cleanup_free char *config = realpath(SSH_DIR "/ssh_config", NULL);

	if (!config)
		config = realpath("/usr" SSH_DIR "/ssh_config", NULL);
	if (!config || !take(&c, config, &text))
		return 0;
	ask_ssh(e, s, notes, &hosts, &known);
	if (include(&c, text.ptr, 0, err))
		return -1;
	if (hosts.len) {
		/* the user's settings for these hosts come first, as in ssh */
		ga_buf_addf(&hosts, "Host *\n%s", text.ptr);
		(void)ga_spec_replace_text(s, config, hosts.ptr, GA_IGNORED);
		if (ga_spec_show_text(s, VIEW_SSH_KNOWN, known.ptr, known.len, err))
			return -1;
	}
	if (c.beyond)
		ga_strv_push(notes, "ssh: the system's configuration includes more than can "
					 "be copied, which ssh inside may refuse");
	return 0;
}
