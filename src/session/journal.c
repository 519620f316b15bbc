/* SPDX-License-Identifier: MIT */
#include "ga/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/path.h"

static json_t *now(void)
{
	struct timespec ts;
	struct tm tm;
	char day[32];
	cleanup_free char *s = NULL;

	(void)clock_gettime(CLOCK_REALTIME, &ts);
	if (!gmtime_r(&ts.tv_sec, &tm) || !strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm))
		return json_null();
	s = ga_strf("%s.%03ldZ", day, ts.tv_nsec / 1000000);
	return json_string(s);
}

/* "time" and "event" first, as a reader of the raw file expects. */
static char *line(const char *event, json_t *fields)
{
	json_t *o = json_object();
	char *s = NULL;

	if (!json_object_set_new(o, "time", now()) &&
	    !json_object_set_new(o, "event", json_string(event)) &&
	    (!fields || !json_object_update(o, fields)))
		s = json_dumps(o, JSON_COMPACT);
	json_decref(o);
	json_decref(fields);
	return s;
}

int ga_journal(const char *session_dir, const char *event, json_t *fields)
{
	cleanup_free char *path = ga_path_join(session_dir, "journal.jsonl");
	cleanup_free char *text = line(event, fields);
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	cleanup_close int fd = -1;
	ssize_t n;

	if (!text) {
		errno = EINVAL;
		return -1;
	}
	ga_buf_adds(&b, text);
	ga_buf_addch(&b, '\n');
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	do
		n = write(fd, b.ptr, b.len);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -1;
	if ((size_t)n == b.len)
		return 0;
	/* the next event is not to be read as part of this one */
	(void)!write(fd, "\n", 1);
	errno = ENOSPC;
	return -1;
}
