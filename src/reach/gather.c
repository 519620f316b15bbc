/* SPDX-License-Identifier: MIT
 *
 * All that the host executes of a repository, gathered from each place that can say so.
 */
#include "gather.h"

int ga_reach_gather(struct ga_repo *r, const struct ga_gitconfig *c, struct ga_reach *ret,
		    struct ga_error *err)
{
	cleanup_(ga_gather_release) struct ga_gather g = {
		.repo = r, .info = ga_repo_info(r), .reach = ret, .err = err, .workfd = -1
	};

	/* one after the other, so that a moment's reason is that of its own source */
	return ga_gather_begin(&g) || ga_gather_hooks(&g, c) || ga_gather_follow(&g) ||
			       ga_gather_settings(&g, c) || ga_gather_home(&g) ||
			       ga_gather_follow(&g) || ga_gather_envrc(&g, "")
		       ? -1
		       : 0;
}
