/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "cli.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "sessions.h"

struct options {
	bool quiet;
};

static const struct cli_opt opts[] = {
	{ "quiet", 'q', CLI_FLAG, NULL, "print only errors", offsetof(struct options, quiet) },
};

/* A layer stands on the directory itself, not on its name: one that was made since in its place is
 * not under it. No file system that has no time of birth for it says so (statx(2)). */
static bool is_another(const struct ga_session *s, const char *shared)
{
	cleanup_free char *path = ga_path_join(s->project, shared);
	uint64_t since = s->resumed > s->started ? s->resumed : s->started;
	struct statx st;

	return !statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BTIME, &st) &&
	       (st.stx_mask & STATX_BTIME) && st.stx_btime.tv_sec > (int64_t)since;
}

static int check_shared(const struct ga_session *s, struct ga_error *err)
{
	for (size_t i = 0; i < s->shared.n; i++) {
		cleanup_free char *q = ga_escape(s->shared.v[i]);

		if (!is_another(s, s->shared.v[i]))
			continue;
		(void)ga_fail(err, GA_EFATAL, "'%s' itself was made anew since agent/%s started, "
			      "which has the former one", q, s->name);
		return ga_hint(err, "'git agent stop %s', and 'git agent resume' shows the new one",
			       s->name);
	}
	return 0;
}

static int refresh(struct cli *c, const char *name, const char *stage_dir, bool quiet,
		   struct ga_error *err)
{
	cleanup_live_peer struct ga_live_peer peer = GA_LIVE_PEER_INIT;
	cleanup_session struct ga_session s = GA_SESSION_INIT;

	if (cli_pick_running(c, name, &s, &peer, err) || ga_live_refresh(&peer, stage_dir, err) ||
	    check_shared(&s, err))
		return -1;
	if (!quiet)
		cli_note("agent/%s: sees what is shared with it as it is now", s.name);
	return 0;
}

static int run(struct cli *c, const void *p, size_t argc, char **argv, int *ret_status,
	       struct ga_error *err)
{
	const struct options *o = p;
	cleanup_free char *stage_dir = NULL;

	(void)ret_status;
	if (ga_store_stage(c->env.state_root, &stage_dir, err))
		return -1;
	for (size_t i = 0; i < argc; i++)
		if (refresh(c, argv[i], stage_dir, o->quiet, err))
			return -1;
	return 0;
}

const struct cli_command cli_refresh = {
	.name = "refresh",
	.usage = "[-q] NAME...",
	.summary = "show running sessions what was replaced in shared directories",
	.opts = opts,
	.n_opts = GA_NELEMS(opts),
	.opts_size = sizeof(struct options),
	.needs = CLI_NEED_REPO | CLI_NEED_STATE,
	.min_args = 1,
	.max_args = SIZE_MAX,
	.words = "SESSION...",
	.run = run,
};
