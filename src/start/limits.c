/* SPDX-License-Identifier: MIT
 *
 * The limits of a session: how they are enforced, what is shown of them, and room on the disk.
 */
#include <string.h>
#include <unistd.h>

#include "ga/base/parse.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/sys/fd.h"
#include "ga/view/spec.h"
#include "start-internal.h"

int ga_start_plan_limits(const struct ga_env *e, struct ga_start *st, struct ga_error *err)
{
	/* in a dry run there is no sandbox, and nothing else has set it */
	st->spec.nested = e->conf.inside.nested;
	if (e->conf.inside.nested && geteuid() == 0)
		return ga_fail(err, GA_ESTART, "no sandbox can be made inside one of root's: the "
			       "kernel maps uid 0 no further" GA_HINT "start the session as an "
			       "ordinary user, or with 'git agent -c sandbox.nested=false start'");
	ga_confine_release(&st->confine);
	return ga_confine_plan(&e->use, e->environ, e->path, &st->confine, err);
}

static int show_limit(struct ga_start *st, const char *name, uint64_t value, const char *rest,
		      struct ga_error *err)
{
	cleanup_free char *at = ga_path_join("/sys/fs/cgroup", name);
	cleanup_free char *text = value ? ga_strf("%llu%s\n", (unsigned long long)value, rest)
					: ga_strf("max%s\n", rest);

	return ga_spec_show_text(&st->spec, at, text, strlen(text), err);
}

/* Files instead of a control group: that of a session may be made only once its sandbox is there,
 * or not at all, and the host's says nothing about it. */
static int show_limits(struct ga_start *st, struct ga_error *err)
{
	const struct ga_confine *c = &st->confine;

	return show_limit(st, "memory.max", c->memory ? c->limits.memory : 0, "", err) ||
	       show_limit(st, "pids.max", c->tasks ? c->limits.tasks : 0, "", err) ||
	       show_limit(st, "cpu.max", c->cpu ? c->limits.cpu * 1000 : 0, " 100000", err) ?
	       -1 : 0;
}

int ga_start_show_texts(const struct ga_env *e, struct ga_start *st, struct ga_error *err)
{
	return show_limits(st, err) || ga_view_show_user(&st->spec, err) ||
	       ga_view_show_ssh(e, &st->spec, &st->notes, err) ||
	       ga_view_add_host_files(e, &st->spec, &st->notes, err) ? -1 : 0;
}

/* The default limit of tasks, which nobody asked for, is not worth a line. */
void ga_start_describe_limits(struct ga_start *st)
{
	cleanup_strv struct ga_strv limits = GA_STRV_INIT;
	cleanup_buf struct ga_buf line = GA_BUF_INIT;

	ga_confine_describe(&st->confine, &limits);
	for (size_t i = 0; i < limits.n; i++)
		if (strncmp(limits.v[i], "tasks ", 6) != 0 || !st->confine.limits.tasks_default)
			ga_buf_addf(&line, "%s%s", line.len ? ", " : "limits: ", limits.v[i]);
	if (line.len)
		ga_strv_push(&st->banner, line.ptr);
	if (st->spec.nested)
		ga_strv_push(&st->banner, "programs inside may make sandboxes of their own");
}

const char *start_full_place(const struct ga_env *e, const char *dir)
{
	return ga_disk_below(dir, e->conf.disk_free) ? dir
	       : ga_disk_below(e->agent_home, e->conf.disk_free) ? e->agent_home : NULL;
}

int ga_start_check_room(const struct ga_env *e, struct ga_error *err)
{
	const char *dir = start_full_place(e, e->state_dir);
	cleanup_free char *least = NULL, *q = NULL;

	if (!dir)
		return 0;
	least = ga_size_text(e->conf.disk_free);
	q = ga_escape(dir);
	return ga_fail(err, GA_ESTART, "less than %s is free for '%s'" GA_HINT "free some space, "
		       "or set XDG_STATE_HOME, state_dir or home to a directory elsewhere, or "
		       "disk_free to less", least, q);
}
