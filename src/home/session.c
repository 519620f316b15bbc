/* SPDX-License-Identifier: MIT
 *
 * The home of one session, from its start to its end.
 */
#include <unistd.h>

#include "ga/base/quote.h"
#include "ga/sys/fd.h"
#include "home-internal.h"

int ga_home_open_session(const struct ga_env *e, int *ret_lock, struct ga_strv *banner,
			 struct ga_error *err)
{
	cleanup_free char *q = ga_escape(e->agent_home);
	bool first = access(e->agent_home, F_OK) != 0;

	if (ga_home_open(e, ret_lock, err))
		return -1;
	if (first)
		ga_strv_pushf(banner, "made '%s', the agents' home: they see it in place of "
			      "yours, and logins that they make stay in it", q);
	return 0;
}

void ga_home_fill(const struct ga_env *e, const struct ga_preset *p, struct ga_spec *spec,
		  struct ga_strv *banner)
{
	cleanup_error struct ga_error odd = GA_ERROR_INIT;
	cleanup_free char *dir = ga_home_dir(e, e->conf.home_mode);

	if (e->conf.home_mode == GA_HOME_PROJECT && home_share_logins(e, dir, &odd))
		ga_strv_pushf(banner, "logins: %s", odd.msg);
	ga_error_release(&odd);
	if (home_write_notes(dir, p, &odd))
		ga_strv_pushf(banner, "notes for the agent: %s", odd.msg);
	ga_error_release(&odd);
	if (home_bring_versions(e->home, dir, &odd))
		ga_strv_pushf(banner, "versions of tools: %s", odd.msg);
	ga_error_release(&odd);
	if (home_bring_caches(dir, &odd))
		ga_strv_pushf(banner, "settings of caches: %s", odd.msg);
	free(spec->home_dir.source);
	spec->home_dir.source = ga_steal(&dir);
}

int ga_home_add_layer(const struct ga_env *e, const struct ga_session *s,
		      struct ga_spec *spec, struct ga_sandbox *sb, struct ga_error *err)
{
	if (e->conf.home_mode != GA_HOME_OVERLAY)
		return 0;
	spec->home_dir.upper = ga_session_path(s, "home/upper");
	spec->home_dir.work = ga_session_fresh_dir(s, "home", err);
	return !spec->home_dir.work || ga_mkdir_p(spec->home_dir.upper, 0700, err) ||
	       ga_home_run(e, spec, sb, err) ? -1 : 0;
}

void ga_home_close(const struct ga_env *e, const char *dir, int lock)
{
	/* if it fails, the next start tries again and reports it */
	if (e->conf.home_mode == GA_HOME_PROJECT)
		(void)home_share_logins(e, dir, GA_IGNORED);
	(void)home_sweep(e, lock);
}
