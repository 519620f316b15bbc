/* SPDX-License-Identifier: MIT
 *
 * Times two commands, one after the other, as often as asked, so that what else
 * the machine does meets both alike. A "%" at the end of a word becomes the number
 * of the round. Standard output is /dev/null, and standard input too, but for the
 * second command with --input.
 *
 *     measure ROUNDS COMMAND... --against [--input FILE] COMMAND...
 *             [--before COMMAND...] [--after COMMAND...]
 *     measure --memory COMMAND...
 *
 * Prints three numbers for each of the two, in microseconds: median, least and
 * ninth decile. The last two are run before and after each round and not timed. A
 * command that fails ends it with exit status 1. With --memory the command is run once, and
 * the most memory that it or a process it waited for had resident is printed, in KiB.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "ga/fd.h"
#include "ga/parse.h"
#include "ga/process.h"
#include "ga/strv.h"

#define MAX_ROUNDS 10000

static uint64_t now_us(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

static int run(const struct ga_strv *words, const char *input, unsigned round, uint64_t *ret_us)
{
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	cleanup_buf struct ga_buf errout = GA_BUF_INIT;
	cleanup_strv struct ga_strv argv = GA_STRV_INIT;
	cleanup_close int in = open(input, O_RDONLY | O_CLOEXEC);
	struct ga_process p = GA_PROCESS_INIT;
	uint64_t start;
	int status;

	for (size_t i = 0; i < words->n; i++) {
		const char *w = words->v[i];
		size_t n = strlen(w);

		if (n && w[n - 1] == '%')
			ga_strv_pushf(&argv, "%.*s%u", (int)n - 1, w, round);
		else
			ga_strv_push(&argv, w);
	}
	p.argv = (const char *const *)argv.v;
	p.errout = &errout;
	p.in_fd = in;
	start = now_us();
	if (ga_process_run(&p, &status, &err)) {
		(void)fprintf(stderr, "measure: %s\n", err.msg);
		return -1;
	}
	*ret_us = now_us() - start;
	if (status) {
		(void)fprintf(stderr, "measure: '%s' failed with %d: %s\n", argv.v[0], status, errout.ptr);
		return -1;
	}
	return 0;
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void print(uint64_t *us, size_t n)
{
	qsort(us, n, sizeof(*us), by_size);
	(void)printf("%llu %llu %llu\n", (unsigned long long)us[n / 2], (unsigned long long)us[0],
		     (unsigned long long)us[n * 9 / 10]);
}

static int memory(char **words, size_t n)
{
	cleanup_strv struct ga_strv command = GA_STRV_INIT;
	struct rusage usage;
	uint64_t ignored;

	for (size_t i = 0; i < n; i++)
		ga_strv_push(&command, words[i]);
	if (!n || run(&command, "/dev/null", 0, &ignored) || getrusage(RUSAGE_CHILDREN, &usage))
		return 1;
	(void)printf("%ld\n", usage.ru_maxrss);
	return 0;
}

int main(int argc, char **argv)
{
	enum { FIRST, SECOND, BEFORE, AFTER, N_COMMANDS };
	struct ga_strv commands[N_COMMANDS] = { GA_STRV_INIT };
	static uint64_t us[2][MAX_ROUNDS];
	uint64_t rounds, ignored;
	const char *input = "/dev/null";
	size_t which = FIRST;

	if (argc > 2 && !strcmp(argv[1], "--memory"))
		return memory(argv + 2, (size_t)argc - 2);
	if (argc < 2 || !ga_parse_u64(argv[1], MAX_ROUNDS, &rounds) || !rounds)
		return 129;
	for (int i = 2; i < argc; i++) {
		if (!strcmp(argv[i], "--against"))
			which = SECOND;
		else if (!strcmp(argv[i], "--before"))
			which = BEFORE;
		else if (!strcmp(argv[i], "--after"))
			which = AFTER;
		else if (!strcmp(argv[i], "--input") && which == SECOND && !commands[SECOND].n &&
			 argv[i + 1])
			input = argv[++i];
		else
			ga_strv_push(&commands[which], argv[i]);
	}
	if (!commands[FIRST].n || !commands[SECOND].n)
		return 129;
	for (unsigned i = 0; i < rounds; i++)
		if ((commands[BEFORE].n && run(&commands[BEFORE], "/dev/null", i, &ignored)) ||
		    run(&commands[FIRST], "/dev/null", i, &us[0][i]) ||
		    run(&commands[SECOND], input, i, &us[1][i]) ||
		    (commands[AFTER].n && run(&commands[AFTER], "/dev/null", i, &ignored)))
			return 1;
	print(us[0], rounds);
	print(us[1], rounds);
	for (size_t i = 0; i < GA_NELEMS(commands); i++)
		ga_strv_release(&commands[i]);
	return 0;
}
