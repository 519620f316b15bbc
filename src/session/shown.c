/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/session/session.h"
#include "ga/sys/fd.h"

/* What a capture or a fetch changes, and a verdict does not. */
static char *stand(const struct ga_session *s)
{
	return ga_strf("%" PRIu64 " %s %s %s\n", s->run.finished, GA_HEX(&s->view.tree),
		       GA_HEX(&s->result.remote_tip), GA_HEX(&s->result.remote_held));
}

/* The first line is the stand, the second the commit that was shown. False if it was not as now. */
static bool read_shown(const struct ga_session *s, const char *file, struct ga_oid *ret_commit)
{
	cleanup_free char *now = stand(s);
	cleanup_error struct ga_error unread = GA_ERROR_INIT;
	cleanup_buf struct ga_buf was = GA_BUF_INIT;
	const char *second;

	*ret_commit = (struct ga_oid){ 0 };
	if (ga_read_file_at(AT_FDCWD, file, 4096, &was, &unread))
		return false;
	second = strchr(was.ptr, '\n');
	if (second)
		(void)ga_oid_parse(second + 1, strcspn(second + 1, "\n"), ret_commit);
	return !strncmp(was.ptr, now, strlen(now));
}

int ga_session_mark_shown(const struct ga_session *s, const struct ga_oid *commit,
			  struct ga_oid *ret_former, struct ga_error *err)
{
	cleanup_free char *file = ga_path_join(s->dir, "shown"), *now = stand(s);
	cleanup_free char *text = ga_strf("%s%s\n", now, GA_HEX(commit));

	if (read_shown(s, file, ret_former) && ga_oid_equal(ret_former, commit))
		return 0;
	return ga_write_atomic(AT_FDCWD, file, text, strlen(text), 0600, err);
}

int ga_session_check_shown(const struct ga_session *s, struct ga_error *err)
{
	cleanup_free char *file = ga_path_join(s->dir, "shown");
	struct ga_oid commit;

	if ((access(file, F_OK) && errno == ENOENT) || read_shown(s, file, &commit))
		return 0;
	(void)ga_fail(err, GA_ECONFLICT, "agent/%s was captured again since it was shown", s->name);
	return ga_hint(err, "'git agent review %s' shows what it is now", s->name);
}
