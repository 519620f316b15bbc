/* SPDX-License-Identifier: MIT
 *
 * Show a session the host's variables, the user's name, and files that variables name: certificates
 * of a company's proxy, the terminal's terminfo entry. A session gets copies of the recognised
 * content only, so that a variable cannot expose a secret file.
 */
#include <ctype.h>
#include <grp.h>
#include <pwd.h>

#include "ga/view/view.h"
#include "view-internal.h"
#include "ga/view/env.h"

int ga_env_config(struct ga_env *e, struct ga_error *err)
{
	return e->loading ? ga_gitconfig_end(ga_steal(&e->loading), &e->config, err) : 0;
}

void ga_view_add_environment(struct ga_env *e, const struct ga_preset *preset,
			     struct ga_spec *spec, const struct ga_session *s)
{
	cleanup_strv struct ga_strv pass = GA_STRV_INIT;

	for (size_t i = 0; preset && preset->keys[i]; i++)
		ga_strv_push(&pass, preset->keys[i]);
	for (size_t i = 0; preset && preset->pass[i]; i++)
		ga_strv_push(&pass, preset->pass[i]);
	ga_strv_extend(&pass, &e->conf.env.pass);
	ga_spec_environment(spec, e->path, e->environ, &pass);
	for (size_t i = 0; preset && preset->set[i]; i++)
		ga_environ_put(&spec->env, preset->set[i]);
	for (size_t i = 0; i < e->conf.env.set.n; i++)
		ga_environ_put(&spec->env, e->conf.env.set.v[i]);
	ga_strv_push(&spec->env, "IS_SANDBOX=1");
	ga_strv_pushf(&spec->env, "GIT_AGENT_NOTES=%s/" GA_VIEW_NOTES, spec->home);
	ga_strv_pushf(&spec->env, "GIT_AGENT_SESSION=%s", s->name);
}

int ga_view_find_tools(const struct ga_env *e, const char *command, struct ga_spec *ret,
		       struct ga_error *err)
{
	return ga_repo_object_dirs(e->repo, &ret->object_dirs, err) ||
	       ga_spec_find_tools(e->home, e->path, command, &ret->host.tools, err) ? -1 : 0;
}

#define FILE_MAX ((size_t)4 << 20)

/* Does a passwd or group file have this id, which in both is the third field? */
static bool has_id(const char *text, unsigned id)
{
	cleanup_free char *field = ga_strf(":%u:", id);

	for (const char *p = text; *p; p += strspn(p, "\n")) {
		p += strcspn(p, ":\n");
		p += *p == ':';
		p += strcspn(p, ":\n");
		if (!strncmp(p, field, strlen(field)))
			return true;
		p += strcspn(p, "\n");
	}
	return false;
}

static bool fits(const char *s)
{
	for (; s && *s; s++)
		if (*s == ':' || iscntrl((unsigned char)*s))
			return false;
	return s != NULL;
}

/* In old files, "+" and "-" are no names. */
static bool is_name(const char *s)
{
	return fits(s) && *s && !strchr("+-", *s);
}

static const char *path_or(const char *s, const char *other)
{
	return fits(s) && *s == '/' ? s : other;
}

static char *user_line(const struct ga_spec *s)
{
	const struct passwd *pw = getpwuid(getuid());

	return pw && is_name(pw->pw_name)
		       ? ga_strf("%s:x:%u:%u:%s:%s:%s\n", pw->pw_name, getuid(),
				 getgid(), fits(pw->pw_gecos) ? pw->pw_gecos : "",
				 path_or(pw->pw_dir, s->home),
				 path_or(pw->pw_shell, "/bin/sh"))
		       : NULL;
}

static char *group_line(const struct ga_spec *s)
{
	const struct group *gr = getgrgid(getgid());

	(void)s;
	return gr && is_name(gr->gr_name)
		       ? ga_strf("%s:x:%u:\n", gr->gr_name, getgid()) : NULL;
}

static int show(struct ga_spec *s, const char *at, unsigned id,
		char *(*line_of)(const struct ga_spec *s), struct ga_error *err)
{
	cleanup_free char *real = realpath(at, NULL), *line = NULL;
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	if (!real || ga_read_file_at(AT_FDCWD, real, FILE_MAX, &b, GA_IGNORED) ||
	    has_id(b.ptr, id) || !(line = line_of(s)))
		return 0;
	ga_buf_addf(&b, "%s%s", b.len && b.ptr[b.len - 1] != '\n' ? "\n" : "", line);
	return ga_spec_replace_text(s, at, b.ptr, err);
}

int ga_view_show_user(struct ga_spec *s, struct ga_error *err)
{
	return show(s, "/etc/passwd", getuid(), user_line, err) ||
	       show(s, "/etc/group", getgid(), group_line, err) ? -1 : 0;
}

#define INSIDE "/run/git-agent-host" /* where copies are shown */
#define CERTIFICATES_MAX ((size_t)4 << 20)
#define ENTRY_MAX ((size_t)32768)    /* term(5) */

/* Each names a file of certificates. */
static const char *const certificates[] = {
	"AWS_CA_BUNDLE", "BUNDLE_SSL_CA_CERT", "CARGO_HTTP_CAINFO", "CURL_CA_BUNDLE", "DENO_CERT",
	"GIT_SSL_CAINFO", "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", "HTTPLIB2_CA_CERTS",
	"NIX_SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "NPM_CONFIG_CAFILE", "PIP_CERT",
	"REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "npm_config_cafile",
};

/* Show `text` inside, as `rel` below INSIDE. */
static int show_copy(struct ga_spec *s, const char *rel, const struct ga_buf *text,
		     struct ga_error *err)
{
	cleanup_free char *at = ga_path_join(INSIDE, rel);

	return ga_spec_show_text(s, at, text->ptr, text->len, err);
}

static int read_file(const char *path, size_t max, struct ga_buf *ret, struct ga_error *err)
{
	cleanup_close int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return ga_fail(err, GA_ESTART, "%s", strerror(errno));
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size > max)
		return ga_fail(err, GA_ESTART, "it is no file of at most %zu bytes", max);
	return ga_read_fd(fd, max, ret, err);
}

/* The end of a block's text, base64 in lines. */
static const char *end_of_base64(const char *p)
{
	return p + strspn(p, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
			     "\r\n \t");
}

static void keep_blocks(const char *text, struct ga_buf *ret)
{
	static const char *const marks[][2] = {
		{ "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----" },
		{ "-----BEGIN TRUSTED CERTIFICATE-----", "-----END TRUSTED CERTIFICATE-----" },
	};

	while ((text = strstr(text, "-----BEGIN ")) != NULL) {
		const char *begin = text++;

		for (size_t i = 0; i < GA_NELEMS(marks); i++) {
			size_t n = strlen(marks[i][0]), m = strlen(marks[i][1]);
			const char *end;

			if (strncmp(begin, marks[i][0], n))
				continue;
			end = end_of_base64(begin + n);
			if (!strncmp(end, marks[i][1], m)) {
				ga_buf_add(ret, begin, (size_t)(end - begin) + m);
				ga_buf_addch(ret, '\n');
			}
		}
	}
}

static int read_certificates(const char *path, struct ga_buf *ret, struct ga_error *err)
{
	cleanup_buf struct ga_buf text = GA_BUF_INIT;

	if (path[0] != '/')
		return ga_fail(err, GA_ESTART, "it is no absolute path");
	if (read_file(path, CERTIFICATES_MAX, &text, err))
		return -1;
	if (memmem(text.ptr, text.len, "PRIVATE KEY-----", 16))
		return ga_fail(err, GA_ESTART, "it has a private key");
	keep_blocks(text.ptr, ret);
	return ret->len ? 0 : ga_fail(err, GA_ESTART, "it has no certificate");
}

static int add_certificates(const struct ga_env *e, const char *name, struct ga_spec *s,
			    struct ga_strv *notes, struct ga_error *err)
{
	const char *value = ga_environ_get(e->environ, name);
	const char *now = ga_environ_get((const char *const *)s->env.v, name);
	cleanup_error struct ga_error why = GA_ERROR_INIT;
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	cleanup_free char *rel = ga_strf("%s.pem", name);

	/* env.set takes precedence */
	if (!value || !*value || (now && strcmp(now, value) != 0))
		return 0;
	if (ga_spec_visible(s, value)) {
		ga_environ_set(&s->env, name, value);
		return 0;
	}
	if (read_certificates(value, &text, &why)) {
		ga_strv_pushf(notes, "%s: %s is not shown: %s", name, GA_QUOTED(value), why.msg);
		return 0;
	}
	if (show_copy(s, rel, &text, err))
		return -1;
	free(rel);
	rel = ga_strf(INSIDE "/%s.pem", name);
	ga_environ_set(&s->env, name, rel);
	return 0;
}

static const char *const terminals[] = { "/etc/terminfo", "/lib/terminfo", "/usr/share/terminfo",
					 "/usr/lib/terminfo", NULL };

/* The path of a terminal's entry in a terminfo database: below its first letter, or that as two
 * hexadecimal digits. */
static char *entry_in(const char *dir, const char *term, bool hex)
{
	return hex ? ga_strf("%s/%02x/%s", dir, (unsigned char)*term, term)
		   : ga_strf("%s/%c/%s", dir, *term, term);
}

static bool is_known(const char *term)
{
	for (size_t i = 0; terminals[i]; i++) {
		cleanup_free char *at = entry_in(terminals[i], term, false);
		cleanup_free char *hex = entry_in(terminals[i], term, true);

		if (!access(at, F_OK) || !access(hex, F_OK))
			return true;
	}
	return false;
}

/* Is it a compiled entry whose names (term(5)) have `term` among them? */
static bool is_entry(const struct ga_buf *b, const char *term)
{
	const unsigned char *p = (const unsigned char *)b->ptr;
	size_t names = b->len > 12 ? p[2] | (size_t)p[3] << 8 : 0, n = strlen(term);
	const char *at = b->ptr + 12, *end = at + names;

	if (!names || names > b->len - 12 || ((p[0] != 0x1a || p[1] != 1) &&
					      (p[0] != 0x1e || p[1] != 2)))
		return false;
	for (; at < end; at++) {
		const char *next = at + strcspn(at, "|");

		if (next == at + n && !strncmp(at, term, n))
			return true;
		at = next;
	}
	return false;
}

static bool find_entry(const struct ga_env *e, const char *term, struct ga_buf *ret)
{
	const char *own = ga_environ_get(e->environ, "TERMINFO");
	const char *more = ga_environ_get(e->environ, "TERMINFO_DIRS");
	cleanup_free char *dirs = ga_strf("%s:%s/.terminfo:%s", own ? own : "", e->home,
					  more ? more : "");
	char *save = NULL;

	for (char *d = strtok_r(dirs, ":", &save); d; d = strtok_r(NULL, ":", &save))
		for (int hex = 0; *d == '/' && hex < 2; hex++) {
			cleanup_free char *path = entry_in(d, term, hex);

			ga_buf_truncate(ret, 0);
			if (!read_file(path, ENTRY_MAX, ret, GA_IGNORED) && is_entry(ret, term))
				return true;
		}
	return false;
}

static int add_terminal(const struct ga_env *e, struct ga_spec *s, struct ga_error *err)
{
	const char *term = ga_environ_get(e->environ, "TERM");
	const char *now = ga_environ_get((const char *const *)s->env.v, "TERM");
	const char *other = is_known("xterm-256color") ? "xterm-256color" : "xterm";
	cleanup_buf struct ga_buf entry = GA_BUF_INIT;
	cleanup_free char *rel = NULL;

	if (!term || !now || strcmp(now, term) != 0 || !*term || *term == '.' ||
	    strchr(term, '/') || strchr(term, '|') || is_known(term))
		return 0;
	if (find_entry(e, term, &entry)) {
		rel = entry_in("terminfo", term, false);
		ga_environ_set(&s->env, "TERMINFO", INSIDE "/terminfo");
		return show_copy(s, rel, &entry, err);
	}
	if (is_known(other))
		ga_environ_set(&s->env, "TERM", other);
	return 0;
}

int ga_view_add_host_files(const struct ga_env *e, struct ga_spec *s, struct ga_strv *notes,
			   struct ga_error *err)
{
	for (size_t i = 0; i < GA_NELEMS(certificates); i++)
		if (add_certificates(e, certificates[i], s, notes, err))
			return -1;
	return add_terminal(e, s, err);
}
