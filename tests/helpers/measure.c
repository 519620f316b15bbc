/* SPDX-License-Identifier: MIT
 *
 * Times two commands, one after the other, as often as asked, so that what else
 * the machine does meets both alike. In their words "%" alone becomes the number
 * of the round. Standard output is /dev/null, and standard input too, but for the
 * second command with --input.
 *
 *     measure ROUNDS COMMAND... --against [--input FILE] COMMAND... [--after COMMAND...]
 *
 * Prints three numbers for each of the two, in microseconds: median, least and
 * ninth decile. The third command is run after each round and not timed. A
 * command that fails ends it with exit status 1.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
		if (strcmp(words->v[i], "%"))
			ga_strv_push(&argv, words->v[i]);
		else
			ga_strv_pushf(&argv, "round%u", round);
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

int main(int argc, char **argv)
{
	struct ga_strv commands[3] = { GA_STRV_INIT, GA_STRV_INIT, GA_STRV_INIT };
	static uint64_t us[2][MAX_ROUNDS];
	uint64_t rounds, ignored;
	const char *input = "/dev/null";
	size_t which = 0;

	if (argc < 2 || !ga_parse_u64(argv[1], MAX_ROUNDS, &rounds) || !rounds)
		return 129;
	for (int i = 2; i < argc; i++) {
		if (!strcmp(argv[i], "--against"))
			which = 1;
		else if (!strcmp(argv[i], "--after"))
			which = 2;
		else if (!strcmp(argv[i], "--input") && which == 1 && !commands[1].n && argv[i + 1])
			input = argv[++i];
		else
			ga_strv_push(&commands[which], argv[i]);
	}
	if (!commands[0].n || !commands[1].n)
		return 129;
	for (unsigned i = 0; i < rounds; i++)
		if (run(&commands[0], "/dev/null", i, &us[0][i]) ||
		    run(&commands[1], input, i, &us[1][i]) ||
		    (commands[2].n && run(&commands[2], "/dev/null", i, &ignored)))
			return 1;
	print(us[0], rounds);
	print(us[1], rounds);
	for (size_t i = 0; i < GA_NELEMS(commands); i++)
		ga_strv_release(&commands[i]);
	return 0;
}
