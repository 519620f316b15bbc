/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "cli/cli.h"
#include "ga/base/quote.h"
#include "ga/sys/process.h"

void cli_time_text(time_t t, char ret[CLI_TIME_MAX])
{
	struct tm tm;

	if (!localtime_r(&t, &tm) || !strftime(ret, CLI_TIME_MAX, "%Y-%m-%d %H:%M:%S %z", &tm))
		ret[0] = '\0';
}

size_t cli_width(FILE *f)
{
	struct winsize ws = { 0 };

	if (!isatty(fileno(f)))
		return 0;
	return ioctl(fileno(f), TIOCGWINSZ, &ws) || !ws.ws_col ? 80 : ws.ws_col;
}

/* Step over one character; returns its columns. Escaped text has no control characters. */
static size_t step(const char **p)
{
	mbstate_t st = { 0 };
	wchar_t c;
	size_t len = mbrtowc(&c, *p, strlen(*p), &st);
	bool odd = !len || len > strlen(*p);
	int width = odd ? 1 : wcwidth(c);

	*p += odd ? 1 : len;
	return width > 0 ? (size_t)width : 0;
}

size_t cli_columns(const char *s)
{
	size_t n = 0;

	while (*s)
		n += step(&s);
	return n;
}

char *cli_fit(const char *s, size_t room)
{
	size_t n = cli_columns(s);

	if (!room || n <= room)
		return ga_strdup(s);
	/* keep the end, which says most of a path */
	while (*s && n + 3 > room)
		n -= step(&s);
	return ga_strf("...%s", s);
}

int cli_print_json(json_t *j, struct ga_error *err)
{
	/* only ASCII: no control or bidirectional character reaches a terminal this way */
	char *text = json_dumps(j, JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_ENSURE_ASCII);

	json_decref(j);
	if (!text)
		return ga_fail(err, GA_EFATAL, "cannot write JSON");
	/* DEL is the one control character that the library leaves; it is only ever
	 * within a string */
	for (const char *p = text; *p; p++)
		if (*p == 0x7f)
			(void)fputs("\\u007f", stdout);
		else
			(void)fputc(*p, stdout);
	free(text);
	(void)fputc('\n', stdout);
	if (!ferror(stdout))
		return 0;
	if (errno != EPIPE)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot write");
	/* a reader that went away wants no more: no error */
	clearerr(stdout);
	return 0;
}

bool cli_manual(const struct cli_command *cmd)
{
	cleanup_free char *page = ga_strf("git-agent-%s", cmd->name);
	const char *const argv[] = { "man", page, NULL };
	cleanup_buf struct ga_buf errout = GA_BUF_INIT;
	struct ga_process p = GA_PROCESS_INIT;
	int status;

	p.argv = argv;
	p.in_fd = STDIN_FILENO;
	p.out_fd = STDOUT_FILENO;
	p.errout = &errout;
	return !ga_process_run(&p, &status, GA_IGNORED) && !status;
}

int cli_not_started(struct ga_error *err)
{
	if (err->code == GA_EFATAL)
		err->code = GA_ESTART;
	return -1;
}

void cli_print_error(const struct ga_error *err)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	/* whoever made the message quoted what is an agent's; this catches anything else */
	ga_buf_adds(&b, "git-agent: ");
	ga_quote_add_text(&b, err->msg, strlen(err->msg));
	for (size_t i = 0; i < b.len; i++)
		if (b.ptr[i] == '\n')
			b.ptr[i] = ' ';
	ga_buf_addch(&b, '\n');
	if (err->hint) {
		ga_buf_adds(&b, "hint: ");
		ga_quote_add_text(&b, err->hint, strlen(err->hint));
		ga_buf_addch(&b, '\n');
	}
	(void)fputs(b.ptr, stderr);
}

void cli_tell(const struct ga_error *err, int *status)
{
	int own = ga_error_status(err->code);

	cli_print_error(err);
	if (own > *status)
		*status = own;
}

void cli_say(char *line)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	ga_quote_add_text(&b, line, strlen(line));
	(void)fprintf(stderr, "%s\n", b.ptr);
	free(line);
}

bool cli_colour_wanted(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return !(no && *no) && term && strcmp(term, "dumb") != 0;
}
