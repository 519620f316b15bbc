/* SPDX-License-Identifier: MIT
 *
 * Starting a session on another machine: depot, base, start. Each step may be repeated.
 */

#include "ga/base/json.h"
#include "ga/base/quote.h"
#include "ga/base/trace.h"
#include "on-internal.h"

#define PUSH_MS 3600000

/* Send base and snapshot to the depot. git compares what is there, so that only what is missing
 * travels. */
static int push_base(struct ga_repo *r, const struct ga_on *o, struct ga_error *err)
{
	static const char *const config[] = { "protocol.ext.allow=always", "push.followTags=false",
					      "push.negotiate=false", NULL };
	bool carries = !ga_oid_is_zero(&o->snapshot);
	cleanup_free char *url = ga_on_url(o), *line = NULL, *q = ga_escape(o->host);
	cleanup_free char *base = ga_strf("%s:refs/agent-on/%s/base", GA_HEX(&o->base), o->far);
	cleanup_free char *snapshot = ga_strf("%s:refs/agent-on/%s/snapshot",
					      GA_HEX(&o->snapshot), o->far);
	const char *const args[] = { "push", "--quiet", "--no-verify", "--no-signed",
				     "--recurse-submodules=no", "--", url, base,
				     carries ? snapshot : NULL, NULL };
	cleanup_buf struct ga_buf why = GA_BUF_INIT;
	const struct ga_git g = GA_GIT(.args = args, .config = config, .errout = &why,
				       .private_dir = GA_PRIVATE_READ, .timeout_ms = PUSH_MS,
				       .lazy_fetch = true);
	int status;

	if (ga_git_run(r, &g, &status, err))
		return -1;
	if (!status)
		return 0;
	line = ga_git_last_line(&why);
	return ga_fail(err, GA_EFATAL, "cannot push the base of '%s' to '%s': %s", o->name, q,
		       line ? line : "git failed");
}

static json_t *values_of(const char *const *keys)
{
	json_t *ret = json_object();

	for (; keys && *keys; keys++)
		if (ga_env_get(*keys))
			ga_json_set(ret, *keys, json_string(ga_env_get(*keys)));
	return ret;
}

/* Have it done there, with this input (taken over). */
static int call(const struct ga_on *o, const char *action, json_t *input, struct ga_error *err)
{
	cleanup_buf struct ga_buf in = GA_BUF_INIT;

	ga_json_add_text(input, &in);
	json_decref(input);
	return ga_on_call(o, action, &in, NULL, err);
}

static int start(struct ga_on *o, const char *const *keys, struct ga_error *err)
{
	json_t *input = json_pack("{s:o, s:o, s:b, s:o, s:b, s:s?, s:o}", "options",
				  ga_json_strv(&o->options), "command", ga_json_strv(&o->command),
				  "trusted", o->trusted, "keys", values_of(keys), "slurm",
				  o->way.slurm, "scratch", o->way.scratch, "sbatch",
				  ga_json_strv(&o->way.sbatch));
	int rc = call(o, "start", input, err);

	o->submitted = rc <= 0;
	return rc ? -1 : 0;
}

int ga_on_resume(const struct ga_on *o, const struct ga_strv *words,
		 const char *const *keys, struct ga_error *err)
{
	return call(o, "resume", json_pack("{s:o, s:o}", "words", ga_json_strv(words), "keys",
					   values_of(keys)), err) ? -1 : 0;
}

int ga_on_submit(struct ga_repo *r, const char *state_dir, struct ga_on *o,
		 const char *const *keys, struct ga_error *err)
{
	if (ga_on_call(o, "open", NULL, NULL, err) || ga_fault_stop("on:opened", err) ||
	    push_base(r, o, err) || ga_fault_stop("on:pushed", err))
		return -1;
	o->submitted = true;
	return ga_on_save(state_dir, o, err) || ga_fault_stop("on:noted", err) ||
	       start(o, keys, err) || ga_fault_stop("on:started", err) ? -1 : 0;
}
