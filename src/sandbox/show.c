/* SPDX-License-Identifier: MIT
 *
 * Sockets, and files with texts of ours, shown at paths of their own.
 */
#include <string.h>
#include <sys/stat.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "sandbox-internal.h"

/* `source` NULL: the text. */
struct what {
	const char *source;
	const void *text;
	size_t n;
};

static void add(struct ga_spec *s, const struct what *what, const char *at)
{
	struct ga_shown *sh;

	s->shown = ga_reallocarray(s->shown, s->n_shown + 1, sizeof(*s->shown));
	sh = &s->shown[s->n_shown++];
	*sh = (struct ga_shown){ .text = GA_BUF_INIT, .at = ga_strdup(at) };
	if (what->source)
		sh->source = ga_strdup(what->source);
	else
		ga_buf_add(&sh->text, what->text, what->n);
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
static int show(struct ga_spec *s, const struct what *what, const char *at, struct ga_error *err)
{
	cleanup_free char *real = place(at), *q = ga_escape(at);
	struct stat st;

	if (!ga_strv_above(&s->host.rw, real) && !ga_path_inside(real, s->home) &&
	    !ga_path_inside(real, s->project) &&
	    !ga_path_inside(real, "/proc") && !ga_path_inside(real, "/dev") &&
	    (!sandbox_shown_by(s, real) || (!lstat(real, &st) && !S_ISDIR(st.st_mode)))) {
		add(s, what, real);
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
	       !ga_strv_above(&s->host.rw, at);
}

static int show_as_well(struct ga_spec *s, const struct what *what, const char *at,
			struct ga_error *err)
{
	cleanup_free char *led = ga_spec_place(s, at);

	if (!is_at_home(s, led))
		return show(s, what, led, err);
	add(s, what, led);
	return 0;
}

int ga_spec_show_socket(struct ga_spec *s, const char *source, const char *at, struct ga_error *err)
{
	return show_as_well(s, &(struct what){ .source = source }, at, err);
}

int ga_spec_show_text(struct ga_spec *s, const char *at, const void *text, size_t n,
		      struct ga_error *err)
{
	return show_as_well(s, &(struct what){ .text = text, .n = n }, at, err);
}

int ga_spec_replace_text(struct ga_spec *s, const char *at, const char *text, struct ga_error *err)
{
	cleanup_free char *real = sandbox_real(at);
	const struct what what = { .text = text, .n = strlen(text) };
	struct stat st;

	/* a symlink in the path leads to the same place inside */
	return stat(real, &st) || !S_ISREG(st.st_mode) ? 0 : show(s, &what, real, err);
}
