/* SPDX-License-Identifier: MIT
 *
 * Times two commands in turn, ROUNDS times, so that whatever else the machine does affects both
 * alike; which of them is first changes with each round. A "%" at the end of a word is replaced by
 * the number of the round. Standard input and output are /dev/null, except for the second command's
 * input with --input.
 *
 *     measure ROUNDS COMMAND... --against [--input FILE] COMMAND...
 *             [--before COMMAND...] [--between COMMAND...] [--after COMMAND...]
 *     measure --memory COMMAND...
 *
 * Prints three numbers for each of the two, in microseconds: median, least and ninth decile; and in a
 * third line by how much the first takes longer: the median of the differences between each of its
 * times and each of the second's, which wanders less than the difference of the medians. The commands
 * of --before and --after run before and after each round, that of --between after each of the two;
 * they are not timed. If a command fails, the exit status is 1.
 *
 * With --memory the command runs once, and two numbers are printed: the most memory that it and its
 * descendants had at one time, in KiB, and its time in microseconds. The memory is RssAnon, read
 * every two milliseconds; pages that a process shares with its parent since fork() count for both.
 * RssShmem is left out: it has mapped files if the session lies on a tmpfs.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ga/base/alloc.h"
#include "ga/base/parse.h"
#include "ga/base/strv.h"
#include "ga/sys/fd.h"
#include "ga/sys/process.h"

#define MAX_ROUNDS 2000

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
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void print(int64_t *us, size_t n)
{
	qsort(us, n, sizeof(*us), by_size);
	(void)printf("%lld %lld %lld\n", (long long)us[n / 2], (long long)us[0], (long long)us[n * 9 / 10]);
}

/* Read a short file of /proc; empty if the process is gone by now. */
static void read_proc(const char *path, char *ret, size_t max)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, ret, max - 1);

	ret[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		(void)close(fd);
}

static uint64_t kib_of(const char *status, const char *name)
{
	const char *at = strstr(status, name);

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static uint64_t memory_below(const char *pid);

/* Memory of the children of one thread and of all their descendants. */
static uint64_t memory_of_children(const char *path)
{
	char children[4096], *rest = children, *pid;
	uint64_t kib = 0;

	read_proc(path, children, sizeof(children));
	while ((pid = strsep(&rest, " ")))
		if (*pid) {
			cleanup_free char *name = ga_strf("/proc/%s/status", pid);
			char status[4096];

			read_proc(name, status, sizeof(status));
			kib += kib_of(status, "RssAnon:");
			kib += memory_below(pid);
		}
	return kib;
}

static uint64_t memory_below(const char *pid)
{
	cleanup_free char *tasks = ga_strf("/proc/%s/task", pid);
	DIR *d = opendir(tasks);
	uint64_t kib = 0;
	struct dirent *e;

	while (d && (e = readdir(d))) {
		cleanup_free char *path = ga_strf("%s/%s/children", tasks, e->d_name);

		if (*e->d_name != '.')
			kib += memory_of_children(path);
	}
	if (d)
		(void)closedir(d);
	return kib;
}

/* The most memory that a child and its descendants have until the child ends. */
static int watch(pid_t child, uint64_t *ret_most)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	cleanup_free char *pid = ga_strf("%d", (int)child);
	int status;
	pid_t rc;

	while (!(rc = waitpid(child, &status, WNOHANG))) {
		uint64_t kib = memory_below(pid);

		if (kib > *ret_most)
			*ret_most = kib;
		(void)nanosleep(&pause, NULL);
	}
	return rc == child && WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -1;
}

static int memory(char **words, size_t n)
{
	cleanup_strv struct ga_strv command = GA_STRV_INIT;
	uint64_t most = 0, ignored, start = now_us();
	pid_t child;

	for (size_t i = 0; i < n; i++)
		ga_strv_push(&command, words[i]);
	child = n ? fork() : -1;
	if (!child)
		_exit(run(&command, "/dev/null", 0, &ignored) ? 1 : 0);
	if (child < 0 || watch(child, &most))
		return 1;
	if (!most) {
		(void)fprintf(stderr, "measure: no memory seen: are there /proc/PID/task/TID/children here?\n");
		return 1;
	}
	(void)printf("%llu %llu\n", (unsigned long long)most, (unsigned long long)(now_us() - start));
	return 0;
}

enum { FIRST, SECOND, BEFORE, BETWEEN, AFTER, N_COMMANDS };

/* The median of all differences (the estimator of Hodges and Lehmann). */
static int64_t longer_by(const int64_t *first, const int64_t *second, size_t n)
{
	int64_t *all = ga_malloc(n * n * sizeof(*all)), result;

	for (size_t i = 0; i < n * n; i++)
		all[i] = first[i / n] - second[i % n];
	qsort(all, n * n, sizeof(*all), by_size);
	result = all[n * n / 2];
	free(all);
	return result;
}

static int run_if_any(const struct ga_strv *words, unsigned round)
{
	uint64_t ignored;

	return words->n ? run(words, "/dev/null", round, &ignored) : 0;
}

static int run_round(const struct ga_strv commands[], const char *input, unsigned round, int64_t ret_us[2])
{
	uint64_t us;

	if (run_if_any(&commands[BEFORE], round))
		return -1;
	for (unsigned i = 0; i < 2; i++) {
		unsigned which = (round + i) % 2 ? SECOND : FIRST;

		if (run(&commands[which], which == SECOND ? input : "/dev/null", round, &us) ||
		    run_if_any(&commands[BETWEEN], round))
			return -1;
		ret_us[which] = (int64_t)us;
	}
	return run_if_any(&commands[AFTER], round);
}

int main(int argc, char **argv)
{
	static const char *const OPTIONS[N_COMMANDS] = { "", "--against", "--before", "--between", "--after" };
	struct ga_strv commands[N_COMMANDS] = { GA_STRV_INIT };
	static int64_t us[2][MAX_ROUNDS];
	const char *input = "/dev/null";
	size_t which = FIRST;
	uint64_t rounds;

	if (argc > 2 && !strcmp(argv[1], "--memory"))
		return memory(argv + 2, (size_t)argc - 2);
	if (argc < 2 || !ga_parse_u64(argv[1], MAX_ROUNDS, &rounds) || !rounds)
		return 129;
	for (int i = 2; i < argc; i++) {
		size_t option = N_COMMANDS - 1;

		while (option && strcmp(argv[i], OPTIONS[option]) != 0)
			option--;
		if (option)
			which = option;
		else if (!strcmp(argv[i], "--input") && which == SECOND && !commands[SECOND].n && argv[i + 1])
			input = argv[++i];
		else
			ga_strv_push(&commands[which], argv[i]);
	}
	if (!commands[FIRST].n || !commands[SECOND].n)
		return 129;
	for (unsigned i = 0; i < rounds; i++) {
		int64_t round_us[2];

		if (run_round(commands, input, i, round_us))
			return 1;
		us[0][i] = round_us[0];
		us[1][i] = round_us[1];
	}
	print(us[0], rounds);
	print(us[1], rounds);
	(void)printf("%lld\n", (long long)longer_by(us[0], us[1], rounds));
	for (size_t i = 0; i < GA_NELEMS(commands); i++)
		ga_strv_release(&commands[i]);
	return 0;
}
