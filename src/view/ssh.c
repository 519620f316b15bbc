/* SPDX-License-Identifier: MIT
 *
 * The system's configuration of ssh. ssh takes a file that another one includes only if root or its
 * user owns it, and root is not mapped inside: so the user has copies there, in the places of these
 * files. The file that ssh begins with may be anybody's.
 */
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "ga/base/path.h"
#include "ga/sys/fd.h"
#include "view-internal.h"

#define SSH_DIR "/etc/ssh"
#define DEPTH_MAX 16 /* as in ssh itself */
#define FILES_MAX 64
#define BYTES_MAX ((size_t)1 << 20)

struct copies {
	struct ga_spec *spec;
	struct ga_strv seen; /* the real paths of what was read */
	size_t bytes;        /* of what was read */
	bool beyond;         /* a limit was reached */
};

static void release(struct copies *c)
{
	ga_strv_release(&c->seen);
}

static int include(struct copies *c, const char *text, unsigned depth, struct ga_error *err);

/* Could anybody read it? What only root can is hidden from a root inside. */
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

/* Read a file that was not read yet. False if ssh inside is to see it as it is. */
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

static int copy_included(struct copies *c, const char *path, unsigned depth, struct ga_error *err)
{
	cleanup_free char *real = realpath(path, NULL);
	cleanup_buf struct ga_buf text = GA_BUF_INIT;

	if (!real || c->beyond || !take(c, real, &text))
		return 0;
	/* a place that has nothing of the system's stays as it is */
	(void)ga_spec_replace_text(c->spec, real, text.len ? text.ptr : "", GA_IGNORED);
	return text.len && include(c, text.ptr, depth, err) ? -1 : 0;
}

/* One word of an Include; the user's own files are not the system's to include. */
static int include_word(struct copies *c, const char *word, unsigned depth, struct ga_error *err)
{
	cleanup_free char *pattern = *word == '/' ? ga_strdup(word) : ga_path_join(SSH_DIR, word);
	glob_t g;
	int rc = 0;

	if (!*word || *word == '~' || glob(pattern, 0, NULL, &g))
		return 0;
	for (size_t i = 0; !rc && i < g.gl_pathc; i++)
		rc = copy_included(c, g.gl_pathv[i], depth, err);
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

/* What the user has for these hosts comes first, as his own file would. */
static int show_hosts(struct copies *c, const char *config, struct ga_buf *hosts, const char *text,
		      const char *known, struct ga_error *err)
{
	ga_buf_addf(hosts, "Host *\n%s", text);
	(void)ga_spec_replace_text(c->spec, config, hosts->ptr, GA_IGNORED);
	return ga_spec_show_text(c->spec, VIEW_SSH_KNOWN, known, strlen(known), err);
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
	view_ask_ssh(e, s, notes, &hosts, &known);
	if (include(&c, text.len ? text.ptr : "", 0, err) ||
	    (hosts.len && show_hosts(&c, config, &hosts, text.len ? text.ptr : "",
				     known.len ? known.ptr : "", err)))
		return -1;
	if (c.beyond)
		ga_strv_push(notes, "ssh: the system's configuration includes more than can "
					 "be copied, which ssh inside may refuse");
	return 0;
}
