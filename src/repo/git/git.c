/* SPDX-License-Identifier: MIT */
#include "repo/objects-internal.h"

#include <string.h>

#include "ga/base/quote.h"
#include "ga/sys/process.h"

#define LINE_MAX_SHOWN 300

/* The batch is flushed first: git only sees what is on the disk. */
static int begin(const struct ga_repo *r, const struct ga_git *g, struct ga_buf *dropped,
		 struct ga_process_job **ret, struct ga_error *err)
{
	return ga_batch_flush(r, err) || ga_git_spawn(r, g, true, dropped, ret, err) ? -1 : 0;
}

int ga_git_run(const struct ga_repo *r, const struct ga_git *g, int *ret_status,
	       struct ga_error *err)
{
	cleanup_buf struct ga_buf dropped = GA_BUF_INIT;
	struct ga_process_job *job;

	return begin(r, g, &dropped, &job, err) ? -1 : ga_process_end(job, ret_status, err);
}

int ga_git_begin(const struct ga_repo *r, const struct ga_git *g, struct ga_process_job **ret,
		 struct ga_error *err)
{
	return begin(r, g, NULL, ret, err);
}

/* The beginning of the last line in `s`, up to `*end`, that is not empty; `*end` is moved to where
 * that line ends. */
static const char *last_line(const char *s, const char **end)
{
	const char *start;

	while (*end > s && strchr(" \t\r\n", (*end)[-1]))
		(*end)--;
	for (start = *end; start > s && start[-1] != '\n' && start[-1] != '\r';)
		start--;
	return start;
}

char *ga_git_last_line(const struct ga_buf *b)
{
	static const char *const prefixes[] = { "fatal: ", "error: ", NULL };
	static const char unread[] = "fatal: Could not read from remote repository.";
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	const char *end = b->ptr + b->len, *start, *lock = strstr(b->ptr, ".lock'");
	const char *remote = strstr(b->ptr, unread);

	/* git's message about a taken lock is followed by an empty line and advice without its
	 * name */
	if (lock && strstr(lock, "\n\n") == strchr(lock, '\n'))
		end = lock + strcspn(lock, "\n");
	/* so is the one about a remote, after the actual error */
	if (remote)
		end = remote > b->ptr ? remote : remote + strlen(unread);
	start = last_line(b->ptr, &end);
	/* as do the refs that were rejected, with the reason */
	while (start > b->ptr && (!strncmp(start, "hint:", 5) ||
				  !strncmp(start, "error: failed to push some refs", 31))) {
		end = start;
		start = last_line(b->ptr, &end);
	}
	for (const char *const *p = prefixes; *p; p++) {
		size_t n = strlen(*p);

		if ((size_t)(end - start) > n && !strncmp(start, *p, n))
			start += n;
	}
	if (start == end)
		return NULL;
	ga_quote_add(&out, start,
		     end - start < LINE_MAX_SHOWN ? (size_t)(end - start) : LINE_MAX_SHOWN);
	return ga_buf_steal(&out);
}

/* If the program of a filter is missing, git's last message is that the other end hung up. Returns
 * 1 for any other failure. */
static int fail_filter(const struct ga_repo *r, const char *command, const struct ga_buf *errout,
		       struct ga_error *err)
{
	cleanup_(ga_gitconfig_release) struct ga_gitconfig c = GA_GITCONFIG_INIT;

	if (ga_gitconfig_load(r, &c, GA_IGNORED))
		return 1;
	for (size_t i = 0; i < c.n; i++) {
		cleanup_free char *name = ga_gitconfig_filter(c.v[i].key), *found = NULL, *q = NULL;
		size_t n = strspn(c.v[i].value, "abcdefghijklmnopqrstuvwxyz0123456789-_.+");
		cleanup_free char *program = ga_strndup(c.v[i].value, n);

		/* a plain word is a program for certain, and the shell has named it */
		if (!name || !n || (c.v[i].value[n] && c.v[i].value[n] != ' ') ||
		    !strstr(errout->ptr, program))
			continue;
		found = ga_find_program(ga_env_get("PATH"), program);
		if (found)
			continue;
		q = ga_quote(c.v[i].key);
		return ga_fail(err, GA_EFATAL, "git %s failed: %s runs '%s', which is not on the "
			       "PATH"
			       GA_HINT "install '%s', or see 'git config --show-origin %s' for "
			       "where the filter is set", command, q, program, program, q);
	}
	return 1;
}

int ga_git_failed(const struct ga_repo *r, const char *command, int status,
		  const struct ga_buf *errout, struct ga_error *err)
{
	cleanup_free char *why = ga_git_last_line(errout);

	if (r && fail_filter(r, command, errout, err) < 0)
		return -1;
	if (why)
		return ga_fail(err, GA_EFATAL, "git %s failed: %s", command, why);
	return ga_fail(err, GA_EFATAL, "git %s failed with status %d", command, status);
}

int ga_git_ok(const struct ga_repo *r, const struct ga_git *g, struct ga_error *err)
{
	cleanup_buf struct ga_buf own = GA_BUF_INIT;
	struct ga_git mine = *g;
	int status;

	if (!mine.errout)
		mine.errout = &own;
	if (ga_git_run(r, &mine, &status, err))
		return -1;
	return status ? ga_git_failed(r, g->args[0], status, mine.errout, err) : 0;
}
