/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/path.h"
#include "ga/session.h"

/* What a capture or a fetch changes, and a verdict does not. */
static char *stand(const struct ga_session *s)
{
	return ga_strf("%" PRIu64 " %s %s %s\n", s->run.finished, GA_HEX(&s->view.tree),
		       GA_HEX(&s->result.remote_tip), GA_HEX(&s->result.remote_held));
}

static bool is_marked(const struct ga_session *s, const char *file)
{
	cleanup_free char *now = stand(s);
	cleanup_error struct ga_error unread = GA_ERROR_INIT;
	cleanup_buf struct ga_buf was = GA_BUF_INIT;

	return !ga_read_file_at(AT_FDCWD, file, 4096, &was, &unread) && !strcmp(was.ptr, now);
}

int ga_session_mark_shown(const struct ga_session *s, struct ga_error *err)
{
	cleanup_free char *file = ga_path_join(s->dir, "shown"), *now = stand(s);

	return is_marked(s, file) ? 0 : ga_write_atomic(AT_FDCWD, file, now, strlen(now), 0600,
							err);
}

int ga_session_check_shown(const struct ga_session *s, struct ga_error *err)
{
	cleanup_free char *file = ga_path_join(s->dir, "shown");

	if ((access(file, F_OK) && errno == ENOENT) || is_marked(s, file))
		return 0;
	(void)ga_fail(err, GA_ECONFLICT, "agent/%s was captured again since it was shown", s->name);
	return ga_hint(err, "'git agent review %s' shows what it is now", s->name);
}
