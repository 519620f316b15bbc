/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "ga/fd.h"
#include "ga/process.h"

char *cli_count(size_t n, const char *singular, const char *plural)
{
	return ga_strf("%zu %s", n, n == 1 ? singular : plural);
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
	return ferror(stdout) ? ga_fail(err, GA_EFATAL, "cannot write JSON") : 0;
}

bool cli_manual(const struct cli_command *cmd)
{
	cleanup_free char *page = ga_strf("git-agent-%s", cmd->name);
	const char *const argv[] = { "man", page, NULL };
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_buf struct ga_buf errout = GA_BUF_INIT;
	struct ga_process p = GA_PROCESS_INIT;
	int status;

	p.argv = argv;
	p.in_fd = STDIN_FILENO;
	p.out_fd = STDOUT_FILENO;
	p.errout = &errout;
	return !ga_process_run(&p, &status, &ignored) && !status;
}

int cli_page(struct cli *c, const char *text, size_t n, struct ga_error *err)
{
	const char *pager = getenv("GIT_PAGER");
	struct ga_process p = GA_PROCESS_INIT;
	const char *argv[] = { "sh", "-c", NULL, NULL };
	int status;

	if (fflush(stdout))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot write");
	if (!pager)
		pager = ga_gitconfig_get(&c->env.config, "core.pager");
	if (!pager)
		pager = getenv("PAGER");
	if (!pager)
		pager = "less";
	if (!isatty(STDOUT_FILENO) || !*pager || !strcmp(pager, "cat")) {
		if (ga_write_full(STDOUT_FILENO, text, n) && errno != EPIPE)
			return ga_fail_errno(err, GA_EFATAL, errno, "cannot write");
		return 0;
	}
	/* the defaults git gives less; LESSOPEN would run a program on our text */
	(void)setenv("LESS", "FRX", 0);
	(void)setenv("LV", "-c", 0);
	(void)unsetenv("LESSOPEN");
	argv[2] = pager;
	p.argv = argv;
	p.in = text;
	p.in_len = n;
	p.out_fd = STDOUT_FILENO;
	return ga_process_run(&p, &status, err);
}
