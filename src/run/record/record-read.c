/* SPDX-License-Identifier: MIT
 *
 * Reading a recording. An agent chose its content, so nothing in it is trusted.
 */
#include "ga/run/record.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/sys/fd.h"
#include "run/run-internal.h"

#define LINE_MAX_BYTES ((size_t)1 << 20)
#define READ_AT_ONCE ((size_t)64 << 10)
/* A year; no recording is longer. */
#define SECONDS_MAX 31536000.0

struct ga_record {
	int fd;
	char *path;           /* the path, escaped */
	struct ga_buf have;   /* bytes that were read; not parsed yet from `at` on */
	size_t at;
	bool skipping;        /* skipping a line that is too long */
	bool end;
	json_t *event;        /* the event returned last */
	uint64_t time, us;
	size_t damaged;
};

char *record_file_name(unsigned run)
{
	return run == 1 ? ga_strdup("transcript.cast") : ga_strf("transcript-%u.cast", run);
}

void ga_record_names(const char *dir, struct ga_strv *ret)
{
	for (unsigned run = 1; run <= RECORD_RUNS_MAX; run++) {
		cleanup_free char *name = record_file_name(run), *path = ga_path_join(dir, name);
		struct stat st;

		if (lstat(path, &st))
			return;
		ga_strv_take(ret, ga_steal(&name));
	}
}

static int fill(struct ga_record *r, struct ga_error *err)
{
	ssize_t n;

	memmove(r->have.ptr, r->have.ptr + r->at, r->have.len - r->at);
	r->have.len -= r->at;
	r->at = 0;
	n = TEMP_FAILURE_RETRY(read(r->fd, ga_buf_reserve(&r->have, READ_AT_ONCE), READ_AT_ONCE));
	if (n < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot read '%s'", r->path);
	r->have.len += (size_t)n;
	r->end = !n;
	return 0;
}

/* The next line that is complete and not too long. Returns 1, 0 at the end, or -1. */
static int next_line(struct ga_record *r, const char **ret, size_t *ret_n, struct ga_error *err)
{
	for (;;) {
		const char *p = r->have.ptr + r->at;
		const char *nl = memchr(p, '\n', r->have.len - r->at);

		if (nl) {
			bool skip = r->skipping || (size_t)(nl - p) > LINE_MAX_BYTES;

			*ret = p;
			*ret_n = (size_t)(nl - p);
			r->at += *ret_n + 1;
			r->skipping = false;
			if (!skip)
				return 1;
			r->damaged++;
			continue;
		}
		if (r->end)
			return 0;
		if (r->have.len - r->at > LINE_MAX_BYTES) {
			r->skipping = true;
			r->at = r->have.len;
		}
		if (fill(r, err))
			return -1;
	}
}

/* Parse [seconds, "o", "text"]. */
static bool take_event(struct ga_record *r, json_t *j, struct ga_record_event *ret)
{
	const json_t *data = json_array_get(j, 2);
	const char *kind = json_string_value(json_array_get(j, 1));
	double t = json_number_value(json_array_get(j, 0));

	if (json_array_size(j) != 3 || !json_is_number(json_array_get(j, 0)) || !kind ||
	    !strchr("ormi", *kind) || !*kind || kind[1] || !json_is_string(data) || !(t >= 0) ||
	    t > SECONDS_MAX)
		return false;
	if ((uint64_t)(t * 1e6) > r->us)
		r->us = (uint64_t)(t * 1e6);
	*ret = (struct ga_record_event){ r->us, *kind, json_string_value(data),
					 json_string_length(data) };
	return true;
}

int ga_record_next(struct ga_record *r, struct ga_record_event *ret, struct ga_error *err)
{
	const char *line;
	size_t n;
	int rc;

	while ((rc = next_line(r, &line, &n, err)) > 0) {
		json_decref(r->event);
		r->event = json_loadb(line, n, JSON_ALLOW_NUL, NULL);
		if (take_event(r, r->event, ret))
			return 1;
		r->damaged++;
	}
	return rc;
}

static int read_header(struct ga_record *r, struct ga_error *err)
{
	const char *line;
	size_t n;
	json_t *j;
	int rc = next_line(r, &line, &n, err);

	if (rc < 0)
		return -1;
	j = rc ? json_loadb(line, n, 0, NULL) : NULL;
	if (json_integer_value(json_object_get(j, "version")) == 2) {
		json_int_t t = json_integer_value(json_object_get(j, "timestamp"));

		r->time = t > 0 ? (uint64_t)t : 0;
		rc = 0;
	} else {
		rc = ga_fail(err, GA_EFATAL, "'%s' is no recording", r->path);
	}
	json_decref(j);
	return rc;
}

int ga_record_open(const char *dir, const char *name, struct ga_record **ret, struct ga_error *err)
{
	cleanup_free char *path = ga_path_join(dir, name);
	struct ga_record *r = ga_calloc(1, sizeof(*r));
	struct stat st;

	r->have = (struct ga_buf)GA_BUF_INIT;
	r->path = ga_escape(path);
	r->fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (r->fd < 0 || fstat(r->fd, &st))
		(void)ga_fail_errno(err, GA_EFATAL, errno, "cannot read '%s'", r->path);
	else if (!S_ISREG(st.st_mode))
		(void)ga_fail(err, GA_EFATAL, "'%s' is not a file", r->path);
	else if (!read_header(r, err)) {
		*ret = r;
		return 0;
	}
	ga_record_close(r);
	return -1;
}

uint64_t ga_record_time(const struct ga_record *r)
{
	return r->time;
}

size_t ga_record_damaged(const struct ga_record *r)
{
	return r->damaged;
}

void ga_record_close(struct ga_record *r)
{
	if (!r)
		return;
	ga_cleanup_closep(&r->fd);
	json_decref(r->event);
	ga_buf_release(&r->have);
	free(r->path);
	free(r);
}
