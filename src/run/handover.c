/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/base/parse.h"
#include "run-internal.h"

/* The values handed over for a sandbox that has begun and whose plan is not complete. */
#define N_HANDED 5

static void members(struct ga_sandbox *sb, int *ret[N_HANDED])
{
	int *const all[N_HANDED] = { &sb->ctl, &sb->child, &sb->status, &sb->log, &sb->plan };

	memcpy(ret, all, sizeof(all));
}

static bool set_inherited(int fd, bool across_exec)
{
	return !fcntl(fd, F_SETFD, across_exec ? 0 : FD_CLOEXEC);
}

int ga_run_hand_over(struct ga_sandbox *sb, struct ga_buf *ret, struct ga_error *err)
{
	int *fds[N_HANDED];

	members(sb, fds);
	ga_buf_addf(ret, "%d,%d", (int)sb->bwrap, (int)sb->teller);
	for (size_t i = 0; i < N_HANDED; i++) {
		if (!set_inherited(*fds[i], true))
			return ga_fail_errno(err, GA_ESTART, errno, "cannot keep a descriptor");
		ga_buf_addf(ret, ",%d", *fds[i]);
	}
	return 0;
}

int ga_run_take_over(const char *text, struct ga_sandbox **ret, struct ga_error *err)
{
	struct ga_sandbox *sb = run_sandbox_new();
	int *fds[N_HANDED], pid, teller;
	bool ok = ga_parse_next_int(&text, &pid) && pid > 0 && ga_parse_next_int(&text, &teller);

	members(sb, fds);
	for (size_t i = 0; ok && i < N_HANDED; i++)
		ok = ga_parse_next_int(&text, fds[i]) && *fds[i] > STDERR_FILENO &&
		     set_inherited(*fds[i], false);
	if (!ok || *text) {
		free(sb);
		return ga_fail(err, GA_ESTART, "cannot go on with a sandbox that has begun");
	}
	sb->bwrap = pid;
	sb->teller = teller;
	*ret = sb;
	return 0;
}
