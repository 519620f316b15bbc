/* SPDX-License-Identifier: MIT
 *
 * mkplan STAGE BWRAP ARG...: run the stage with standard input as its plan, print the status
 * record, if there is one, as "STEP ERRNO OBJECT" on standard error, and exit as the stage or
 * bwrap did. Descriptors from 7 that the shell left open are closed, except those in MKPLAN_KEEP
 * ("7 8").
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ga/base/strv.h"
#include "ga/sys/fd.h"

static int die(const char *what)
{
	fprintf(stderr, "mkplan: %s: %s\n", what, strerror(errno));
	return 99;
}

static void run_stage(int plan, int status, char **argv)
{
	cleanup_strv struct ga_strv a = GA_STRV_INIT;
	cleanup_free char *keep = ga_strdup(getenv("MKPLAN_KEEP") ? getenv("MKPLAN_KEEP") : "");
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	ga_strv_push(&a, argv[1]);
	ga_strv_push(&a, "--plan");
	ga_strv_pushf(&a, "%d", plan);
	ga_strv_push(&a, "--status");
	ga_strv_pushf(&a, "%d", status);
	for (char *save = NULL, *k = strtok_r(keep, " ", &save); k; k = strtok_r(NULL, " ", &save)) {
		ga_strv_push(&a, "--keep");
		ga_strv_push(&a, k);
	}
	ga_strv_push(&a, "--");
	for (char **p = argv + 2; *p; p++)
		ga_strv_push(&a, *p);
	(void)fcntl(plan, F_SETFD, 0);
	(void)fcntl(status, F_SETFD, 0);
	(void)dup2(null, 0);
	(void)execv(argv[1], a.v);
	_exit(die(argv[1]));
}

int main(int argc, char **argv)
{
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	cleanup_buf struct ga_buf record = GA_BUF_INIT;
	int plan, status[2], code;
	const char *word;
	size_t pos = 0;
	pid_t pid;

	if (argc < 3)
		return 99;
	plan = fcntl(0, F_DUPFD_CLOEXEC, 3);
	if (plan < 0 || pipe2(status, O_CLOEXEC))
		return die("plan");
	pid = fork();
	if (pid < 0)
		return die("fork");
	if (!pid)
		run_stage(plan, status[1], argv);
	(void)close(status[1]);
	if (ga_read_fd(status[0], 65536, &record, &err))
		return die("status");
	while ((word = ga_buf_next0(&record, &pos)) != NULL)
		fprintf(stderr, "%s%s", word, pos < record.len ? " " : "\n");
	if (waitpid(pid, &code, 0) != pid)
		return die("wait");
	return WIFEXITED(code) ? WEXITSTATUS(code) : 128 + WTERMSIG(code);
}
