/* SPDX-License-Identifier: MIT
 *
 * Write and read recordings.
 */
#include "ga/run/record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ga/base/parse.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/run/termfilter.h"
#include "ga/sys/fd.h"
#include "run/run-internal.h"
#include "run/termfilter-internal.h"

#define FLUSH_AT ((size_t)64 << 10)
/* Bytes of one event, which bounds what the event can grow to. */
#define SLICE ((size_t)4 << 10)
/* Room for the end of the recording: what undoes modes, and a marker. */
#define RESERVE ((uint64_t)8 << 10)

struct ga_recorder {
	struct ga_run_sink sink;
	struct ga_termfilter filter;
	int dir, fd;            /* fd -1: there is no file yet, or it was closed */
	char *name, *stopped;
	struct ga_buf header;   /* until the first event: the part that does not depend on the
				 * size */
	struct ga_buf waiting;  /* lines that are not written yet */
	struct ga_buf text;
	uint64_t max, asked;    /* limit in bytes, and the one that was set */
	uint64_t written;
	int64_t began;          /* time of the beginning in microseconds */
	unsigned columns, rows; /* 0: there is no terminal */
	bool begun;             /* the header was written */
	bool over;
	char last;
	char part[4];           /* an incomplete character */
	size_t part_n;
};

static int64_t now_us(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

/* ---- the file */

static void stop(struct ga_recorder *r, char *why)
{
	if (!r->stopped)
		r->stopped = why;
	else
		free(why);
	r->over = true;
	ga_cleanup_closep(&r->fd);
	ga_buf_release(&r->waiting);
}

static char *record_file_name(unsigned run)
{
	return run == 1 ? ga_strdup("transcript.cast") : ga_strf("transcript-%u.cast", run);
}

static int make_file(struct ga_recorder *r)
{
	for (unsigned run = 1; run <= RECORD_RUNS_MAX && r->fd < 0; run++) {
		cleanup_free char *name = record_file_name(run);

		r->fd = openat(r->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			       0600);
		if (r->fd >= 0)
			r->name = ga_steal(&name);
		else if (errno != EEXIST)
			return -1;
	}
	return r->fd < 0 ? -1 : 0;
}

void ga_record_flush(struct ga_recorder *r)
{
	size_t n = r->waiting.len;

	if (!n || r->over)
		return;
	if ((r->fd < 0 && make_file(r)) || ga_write_full(r->fd, r->waiting.ptr, n)) {
		int why = errno;

		/* after a failure keep whole lines only */
		if (r->fd >= 0)
			(void)!ftruncate(r->fd, (off_t)r->written);
		stop(r, ga_strf("it could not be written: %s", strerror(why)));
		return;
	}
	r->written += n;
	ga_buf_clear(&r->waiting);
}

/* ---- lines */

/* `text` is UTF-8. */
static void add_string(struct ga_buf *out, const char *text, size_t n)
{
	json_t *s = json_stringn_nocheck(text, n);
	size_t room = 6 * n + 2, k;

	k = json_dumpb(s, ga_buf_reserve(out, room), room, JSON_ENCODE_ANY);
	out->len += k;
	out->ptr[out->len] = '\0';
	json_decref(s);
}

static void begin(struct ga_recorder *r)
{
	if (r->begun)
		return;
	r->begun = true;
	ga_buf_addf(&r->waiting, "{\"version\": 2, \"width\": %u, \"height\": %u, ",
		    r->columns ? r->columns : 80, r->rows ? r->rows : 24);
	ga_buf_add(&r->waiting, r->header.ptr, r->header.len);
	ga_buf_release(&r->header);
}

static void add_event(struct ga_recorder *r, char kind, const char *text, size_t n)
{
	int64_t t = now_us() - r->began;

	begin(r);
	ga_buf_addf(&r->waiting, "[%" PRId64 ".%06" PRId64 ", \"%c\", ", t / 1000000, t % 1000000,
		    kind);
	add_string(&r->waiting, text, n);
	ga_buf_adds(&r->waiting, "]\n");
}

static void undo(struct ga_recorder *r, bool cut)
{
	char end[GA_TERMFILTER_END];
	size_t n = ga_termfilter_end(&r->filter, cut, end);

	if (n)
		add_event(r, 'o', end, n);
}

/* Drop the last event and end the recording with a marker instead. */
static void reach_limit(struct ga_recorder *r, size_t keep)
{
	cleanup_free char *size = ga_size_text(r->max);
	cleanup_free char *why = ga_strf("it reached %s (%s)", size, r->max < r->asked ?
					 "RLIMIT_FSIZE" : "limits.transcript");
	cleanup_free char *mark = ga_strf("the recording ends here: %s", why);

	ga_buf_truncate(&r->waiting, keep);
	undo(r, true);
	add_event(r, 'm', mark, strlen(mark));
	ga_record_flush(r);
	stop(r, ga_steal(&why));
}

static void event(struct ga_recorder *r, char kind, const char *text, size_t n)
{
	size_t before;

	begin(r);
	before = r->waiting.len;
	add_event(r, kind, text, n);
	if (r->written + r->waiting.len > r->max - RESERVE)
		reach_limit(r, before);
	else if (r->waiting.len >= FLUSH_AT)
		ga_record_flush(r);
}

/* ---- what comes */

/* How many bytes at the end may be the beginning of a character. */
static size_t unfinished(const char *p, size_t n)
{
	for (size_t k = 1; k <= n && k < 4; k++) {
		unsigned char c = (unsigned char)p[n - k];

		if ((c & 0xc0) == 0x80)
			continue;
		return term_char_length(c) > k &&
		       (k == 1 || term_second_byte(c, (unsigned char)p[n - k + 1])) ? k : 0;
	}
	return 0;
}

/* Convert to valid UTF-8 with the line ends of a terminal. */
static void clean(struct ga_recorder *r, const char *p, size_t n, struct ga_buf *out)
{
	for (const char *end = p + n; p < end;) {
		const char *from = p;
		uint32_t c;
		size_t k = 0;

		while (p < end && (k = ga_utf8_decode(p, (size_t)(end - p), &c)) &&
		       (*p != '\n' || r->columns))
			p += k;
		if (p > from)
			r->last = p[-1];
		ga_buf_add(out, from, (size_t)(p - from));
		if (p == end)
			break;
		ga_buf_adds(out, !k ? "\xef\xbf\xbd" : r->last == '\r' ? "\n" : "\r\n");
		r->last = *p++;
	}
}

static void on_output(void *payload, const char *p, size_t n)
{
	struct ga_recorder *r = payload;
	char seen[sizeof(r->part) + GA_TERMFILTER_ROOM(SLICE)];

	while (n && !r->over) {
		size_t k = n < SLICE ? n : SLICE, got = r->part_n;

		/* the filter keeps characters whole, but a sequence that it drops may be within one
		 * that came in pieces, which the terminal then puts together */
		memcpy(seen, r->part, got);
		got += ga_termfilter(&r->filter, p, k, seen + got);
		r->part_n = unfinished(seen, got);
		got -= r->part_n;
		memcpy(r->part, seen + got, r->part_n);
		ga_buf_clear(&r->text);
		clean(r, seen, got, &r->text);
		if (r->text.len)
			event(r, 'o', r->text.ptr, r->text.len);
		p += k;
		n -= k;
	}
}

static void on_size(void *payload, unsigned columns, unsigned rows)
{
	struct ga_recorder *r = payload;
	char text[32];
	int n;

	if (r->over || !columns || !rows || (columns == r->columns && rows == r->rows))
		return;
	r->columns = columns;
	r->rows = rows;
	if (!r->begun)
		return;
	n = snprintf(text, sizeof(text), "%ux%u", columns, rows);
	event(r, 'r', text, (size_t)n);
}

/* ---- for those above */

/* The value is escaped, and so valid UTF-8; the journal has it raw. A command that is a whole
 * script is cut. */
static void add_member(struct ga_recorder *r, const char *key, const char *value)
{
	cleanup_buf struct ga_buf text = GA_BUF_INIT;

	ga_quote_add_text(&text, value, strnlen(value, SLICE));
	ga_buf_addf(&r->header, ", \"%s\": ", key);
	add_string(&r->header, text.ptr, text.len);
}

static void make_header(struct ga_recorder *r, const struct ga_record_opts *o)
{
	cleanup_free char *command = ga_quote_shell_words(o->command);

	ga_buf_addf(&r->header, "\"timestamp\": %" PRIu64, (uint64_t)time(NULL));
	add_member(r, "title", o->title);
	add_member(r, "command", command);
	for (size_t i = 0; o->envp[i]; i++) {
		if (strncmp(o->envp[i], "TERM=", 5) != 0 || strlen(o->envp[i]) > 100)
			continue;
		ga_buf_adds(&r->header, ", \"env\": {\"TERM\": ");
		add_string(&r->header, o->envp[i] + 5,
			   ga_utf8_valid(o->envp[i], strlen(o->envp[i])) ?
			   strlen(o->envp[i]) - 5 : 0);
		ga_buf_addch(&r->header, '}');
		break;
	}
	ga_buf_adds(&r->header, "}\n");
}

struct ga_recorder *ga_record_begin(const struct ga_record_opts *o)
{
	struct ga_recorder *r = ga_calloc(1, sizeof(*r));
	struct rlimit most;

	r->sink = (struct ga_run_sink){ on_output, on_size, r };
	r->filter.mute = true;
	r->fd = -1;
	r->header = r->waiting = r->text = (struct ga_buf)GA_BUF_INIT;
	r->asked = r->max = o->max < GA_RECORD_LEAST ? GA_RECORD_LEAST : o->max;
	/* beyond this limit the kernel kills the writer */
	if (!getrlimit(RLIMIT_FSIZE, &most) && most.rlim_cur < r->max)
		r->max = most.rlim_cur;
	r->began = now_us();
	make_header(r, o);
	r->dir = open(o->dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (r->max < GA_RECORD_LEAST)
		stop(r, ga_strdup("RLIMIT_FSIZE leaves no room for it"));
	return r;
}

const struct ga_run_sink *ga_record_sink(struct ga_recorder *r)
{
	return &r->sink;
}

const char *ga_record_name(const struct ga_recorder *r)
{
	return r->name;
}

const char *ga_record_stopped(const struct ga_recorder *r)
{
	return r->stopped;
}

void ga_record_end(struct ga_recorder *r)
{
	if (!r->over) {
		ga_buf_clear(&r->text);
		clean(r, r->part, r->part_n, &r->text);
		if (r->text.len)
			add_event(r, 'o', r->text.ptr, r->text.len);
		undo(r, false);
	}
	ga_record_flush(r);
	r->over = true;
	ga_cleanup_closep(&r->fd);
}

void ga_record_free(struct ga_recorder *r)
{
	if (!r)
		return;
	ga_cleanup_closep(&r->fd);
	ga_cleanup_closep(&r->dir);
	ga_buf_release(&r->header);
	ga_buf_release(&r->waiting);
	ga_buf_release(&r->text);
	free(r->name);
	free(r->stopped);
	free(r);
}

/* Reading a recording. An agent chose its content, so nothing in it is trusted. */

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
		rc = ga_fail(err, GA_EFATAL, "'%s' is not a recording", r->path);
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
