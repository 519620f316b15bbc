/* SPDX-License-Identifier: MIT */
#include "ga/session/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/sys/fd.h"

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

/* The line of an event; if that is too long, one that only says so. */
static char *bounded_line(const char *event, json_t *fields)
{
	char *s = line(event, fields);

	if (!s || strlen(s) <= GA_JOURNAL_LINE_MAX)
		return s;
	free(s);
	return line(event, json_pack("{s:b}", "cut", 1));
}

int ga_journal(const char *session_dir, const char *event, json_t *fields)
{
	cleanup_free char *path = ga_path_join(session_dir, "journal.jsonl");
	cleanup_free char *text = bounded_line(event, fields);
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
	n = TEMP_FAILURE_RETRY(write(fd, b.ptr, b.len));
	if (n < 0)
		return -1;
	if ((size_t)n == b.len)
		return 0;
	/* so that the next event does not continue this incomplete line */
	(void)!write(fd, "\n", 1);
	errno = ENOSPC;
	return -1;
}

static int read_end(const char *path, struct ga_buf *out, struct ga_error *err)
{
	cleanup_close int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || fstat(fd, &st))
		return ga_fail_path(err, errno, "read", path);
	if (st.st_size > (off_t)GA_JOURNAL_READ_MAX &&
	    lseek(fd, st.st_size - (off_t)GA_JOURNAL_READ_MAX, SEEK_SET) < 0)
		return ga_fail_path(err, errno, "read", path);
	/* the file may grow while it is read */
	return ga_read_fd(fd, GA_JOURNAL_READ_MAX * 2, out, err);
}

int ga_journal_read(const char *session_dir, json_t **ret, struct ga_error *err)
{
	cleanup_free char *path = ga_path_join(session_dir, "journal.jsonl");
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	size_t pos = 0, n;
	const char *p;
	json_t *all;

	if (read_end(path, &text, err))
		return -1;
	all = json_array();
	while ((p = ga_buf_next_line(&text, &pos, &n))) {
		json_t *o = json_loadb(p, n, JSON_REJECT_DUPLICATES, NULL);

		if (json_is_object(o))
			(void)json_array_append(all, o);
		json_decref(o);
	}
	*ret = all;
	return 0;
}
