/* SPDX-License-Identifier: MIT
 *
 * Single files and sockets, shown at paths of their own.
 */
#include <sys/stat.h>

#include "ga/path.h"
#include "ga/quote.h"
#include "sandbox-internal.h"

static void add(struct ga_spec *s, const char *source, const char *at)
{
	s->shown = ga_reallocarray(s->shown, s->n_shown + 1, sizeof(*s->shown));
	s->shown[s->n_shown++] =
		(struct ga_shown){ .source = ga_strdup(source), .at = ga_strdup(at) };
}

/* The real place of `path` inside: a directory on the way may be a symlink of the host's
 * (/var/run). */
static char *place(const char *path)
{
	cleanup_free char *parent = ga_path_parent(path), *real = sandbox_real(parent);

	return ga_path_join(real, ga_path_base(path));
}

/* Refused in home, in the project, and in a system directory where nothing exists that it could
 * replace. */
static int show(struct ga_spec *s, const char *source, const char *at, struct ga_error *err)
{
	cleanup_free char *real = place(at), *q = ga_escape(at);
	struct stat st;

	if (!ga_strv_above(&s->rw, real) && !ga_path_inside(real, s->home) &&
	    !ga_path_inside(real, s->project) &&
	    !ga_path_inside(real, "/proc") && !ga_path_inside(real, "/dev") &&
	    (!sandbox_shown_by(s, real) || (!lstat(real, &st) && !S_ISDIR(st.st_mode)))) {
		add(s, source, real);
		return 0;
	}
	(void)ga_fail(err, GA_ESTART, "'%s' cannot be shown inside", q);
	return ga_hint(err, "a socket can be shown where neither the system nor the project is, "
			    "nor what 'mounts.rw' names: in /run, /tmp or home, for example");
}

/* A symlink on the way in the user's home does not exist in the agents' home. */
static bool is_at_home(const struct ga_spec *s, const char *at)
{
	return ga_path_below(at, s->home) && !ga_path_inside(at, s->project) &&
	       !ga_strv_above(&s->rw, at);
}

int ga_spec_show_socket(struct ga_spec *s, const char *source, const char *at, struct ga_error *err)
{
	cleanup_free char *led = ga_spec_place(s, at);

	if (!is_at_home(s, led))
		return show(s, source, led, err);
	add(s, source, led);
	return 0;
}

void ga_spec_show_limits(struct ga_spec *s, const char *dir)
{
	add(s, dir, "/sys/fs/cgroup");
}

int ga_spec_show_file(struct ga_spec *s, const char *source, const char *at, struct ga_error *err)
{
	cleanup_free char *real = sandbox_real(at);
	struct stat st;

	/* a symlink in the path leads to the same place inside */
	return stat(real, &st) || !S_ISREG(st.st_mode) ? 0 : show(s, source, real, err);
}
