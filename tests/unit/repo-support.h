/* SPDX-License-Identifier: MIT
 *
 * For tests that need a repository: a scratch directory, a frozen environment
 * and shell scripts run in it.
 */
#pragma once

#include "ga/base/buf.h"
#include "ga/repo/repo.h"
#include "ga/sys/process.h"

#include "scratch.h"

/* The scratch directory of this program; every test makes its own beneath. */
static char scratch[4096];

static inline int scratch_setup(void **state)
{
	static const char *const unset[] = {
		"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_CONFIG_GLOBAL",
		"GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "XDG_CONFIG_HOME", "GIT_TRACE",
		"GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_AUTHOR_NAME",
		"GIT_AUTHOR_EMAIL", "EMAIL",
	};
	FILE *f;

	(void)state;
	if (scratch_make(scratch, sizeof(scratch)))
		return -1;
	for_each (row, unset)
		(void)unsetenv(*row);
	(void)setenv("HOME", scratch, 1);
	(void)setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	(void)setenv("LC_ALL", "C", 1);
	(void)setenv("TZ", "UTC", 1);
	if (chdir(scratch))
		return -1;
	f = fopen(".gitconfig", "we");
	if (!f)
		return -1;
	(void)fputs("[user]\n\tname = A U Thor\n\temail = author@example.com\n"
		    "[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n"
		    "[advice]\n\tdetachedHead = false\n", f);
	return fclose(f);
}

static inline int scratch_teardown(void **state)
{
	ERR(err);

	(void)state;
	return chdir("/") || ga_rmtree_at(AT_FDCWD, scratch, &err) ? -1 : 0;
}

/* Run a shell script (set -e) in `dir`, relative to the scratch directory,
 * which is made if it is not there. Returns what it printed. */
static inline char *sh(const char *dir, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static inline char *sh(const char *dir, const char *fmt, ...)
{
	BUF(out);
	cleanup_free char *path = ga_strf("%s/%s", scratch, dir);
	char *script = NULL;
	struct ga_process p = GA_PROCESS_INIT;
	va_list ap;
	int status;

	va_start(ap, fmt);
	assert_true(vasprintf(&script, fmt, ap) >= 0);
	va_end(ap);
	OK(ga_mkdir_p(path, 0755, &err));
	{
		const char *const argv[] = { "sh", "-ec", script, NULL };

		p.argv = argv;
		p.cwd = path;
		p.out = &out;
		OK(ga_process_run(&p, &status, &err));
	}
	if (status)
		fail_msg("status %d of: %s", status, script);
	free(script);
	ga_buf_chomp(&out);
	return ga_buf_steal(&out);
}
#define SH(...) free(sh(__VA_ARGS__))

static inline char *in_scratch(const char *rel)
{
	return ga_strf("%s/%s", scratch, rel);
}

/* The repository there. */
static inline struct ga_repo *open_repo(const char *rel)
{
	cleanup_free char *dir = in_scratch(rel);
	struct ga_repo *r = NULL;

	OK(ga_repo_open(dir, &r, &err));
	return r;
}

/* A new one there, after commands in it, formatted as by printf(3). */
#define make_repo(rel, ...) (SH(rel, "git init -q; " __VA_ARGS__), open_repo(rel))
