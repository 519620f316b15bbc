/* SPDX-License-Identifier: MIT
 *
 * interactive.diffFilter of the user's git: a program that makes a diff easier to read, line by
 * line. What it reads was escaped before; what it prints is shown as it is, like the user's own.
 */
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ga/base/quote.h"
#include "ga/sys/process.h"
#include "walk.h"

static size_t count_lines(const struct ga_buf *b)
{
	size_t n = b->len && b->ptr[b->len - 1] != '\n';

	for (size_t i = 0; i < b->len; i++)
		n += b->ptr[i] == '\n';
	return n;
}

/* The text behind the first `n` lines. */
static const char *skip_lines(const char *p, size_t n)
{
	for (; n && *p; n--) {
		p += strcspn(p, "\n");
		p += *p == '\n';
	}
	return p;
}

static int run(const char *filter, const struct ga_buf *in, struct ga_buf *ret,
	       struct ga_error *err)
{
	const char *const argv[] = { "sh", "-c", filter, NULL };
	cleanup_free char *q = ga_escape(filter);
	struct ga_process p = GA_PROCESS_INIT;
	size_t want = count_lines(in), got;
	int status;

	p.argv = argv;
	p.in = in->ptr;
	p.in_len = in->len;
	p.out = ret;
	if (ga_process_run(&p, &status, err))
		return -1;
	if (status == 126 || status == 127)
		return ga_fail(err, GA_EFATAL, "interactive.diffFilter '%s' cannot be run", q);
	/* any other exit status is ignored, as git does */
	got = count_lines(ret);
	if (got == want)
		return 0;
	return ga_fail(err, GA_EFATAL, "interactive.diffFilter '%s' made %zu lines of %zu" GA_HINT
		       "it has to print a line for each that it reads", q, got, want);
}

static size_t room(void)
{
	struct winsize ws = { 0 };

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) || ws.ws_row < 20)
		return 10;
	return ws.ws_row - 10U;
}

static void print_top(const char *text)
{
	size_t max = room(), rest = 0;
	const char *p = text;

	for (size_t n = 0; *p && n < max; n++) {
		const char *nl = strchr(p, '\n');
		size_t len = nl ? (size_t)(nl - p) + 1 : strlen(p);

		(void)fwrite(p, 1, len, stdout);
		p += len;
	}
	for (; *p; p++)
		rest += *p == '\n';
	if (rest)
		(void)printf("... %zu more lines: p shows all of them\n", rest);
}

void walk_print_diff(struct cli_walk *w, const struct ga_buf *head, const struct ga_buf *diff)
{
	cleanup_buf struct ga_buf in = GA_BUF_INIT, out = GA_BUF_INIT;
	cleanup_error struct ga_error err = GA_ERROR_INIT;

	ga_buf_add(&in, head->ptr, head->len);
	ga_buf_add(&in, diff->ptr, diff->len);
	/* as in git, it is used only with colours */
	if (!w->filter || !w->palette || !in.len) {
		print_top(diff->ptr);
	} else if (!run(w->filter, &in, &out, &err)) {
		print_top(skip_lines(out.ptr, count_lines(head)));
	} else {
		/* go on without the filter: the answers given so far must not be lost over it */
		(void)fflush(stdout);
		cli_print_error(&err);
		w->filter = NULL;
		print_top(diff->ptr);
	}
}
