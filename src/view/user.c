/* SPDX-License-Identifier: MIT
 *
 * The user's name inside. A user that SSSD, LDAP, authd or systemd-homed knows is in no file, and
 * the sockets of these are not inside.
 */
#include <ctype.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ga/sys/fd.h"
#include "ga/view/spec.h"

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

/* Can it be a field of a line? */
static bool fits(const char *s)
{
	for (; s && *s; s++)
		if (*s == ':' || iscntrl((unsigned char)*s))
			return false;
	return s != NULL;
}

/* In files of old, "+" and "-" are no names. */
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
	    has_id(b.len ? b.ptr : "", id) || !(line = line_of(s)))
		return 0;
	ga_buf_addf(&b, "%s%s", b.len && b.ptr[b.len - 1] != '\n' ? "\n" : "", line);
	return ga_spec_replace_text(s, at, b.ptr, err);
}

int ga_view_show_user(struct ga_spec *s, struct ga_error *err)
{
	return show(s, "/etc/passwd", getuid(), user_line, err) ||
	       show(s, "/etc/group", getgid(), group_line, err) ? -1 : 0;
}
