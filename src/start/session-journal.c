/* SPDX-License-Identifier: MIT
 *
 * What the journal of a session says of its runs, and the recording of each.
 */

#include "ga/base/json.h"
#include "ga/base/parse.h"
#include "ga/base/path.h"
#include "ga/session/journal.h"
#include "start-internal.h"
#include "watch.h"

/* How many mounts of a start, or flags of a capture, are noted. */
#define NOTED_MAX 200

struct mounts {
	json_t *list;
	size_t more; /* that are not in it */
};

/* `mode`: "ro", "rw", or "layer" for what is written to a layer of the session's. */
static void add_mount(struct mounts *m, const char *path, const char *from, const char *mode)
{
	json_t *o;

	if (json_array_size(m->list) >= NOTED_MAX) {
		m->more++;
		return;
	}
	o = json_object();
	ga_json_set_bytes(o, "path", path);
	ga_json_set_bytes(o, "from", from);
	(void)json_object_set_new(o, "mode", json_string(mode));
	(void)json_array_append_new(m->list, o);
}

/* A project, or a submodule that is a part of it. */
static void add_project(struct mounts *m, const struct ga_spec *s)
{
	cleanup_free char *git = ga_path_join(s->project, ".git");

	add_mount(m, s->project, s->lowers.n ? s->lowers.v[s->lowers.n - 1] : s->upper, "layer");
	if (s->git.upper)
		add_mount(m, git, s->git.upper, "rw");
	for (size_t i = 0; i < s->n_shared; i++) {
		cleanup_free char *path = ga_path_join(s->project, s->shared[i].rel);

		add_mount(m, path, s->shared[i].lower, "layer");
	}
	for (size_t i = 0; i < s->object_dirs.n; i++) {
		cleanup_free char *path = ga_spec_object_path(s->object_dirs.v[i]);

		add_mount(m, path, s->object_dirs.v[i], "ro");
	}
	for (size_t i = 0; i < s->n_parts; i++)
		add_project(m, &s->parts[i]);
}

static void add_mounts(json_t *j, const struct ga_env *e, const struct ga_spec *s)
{
	struct mounts m = { json_array(), 0 };

	if (s->home_dir.source)
		add_mount(&m, s->home, s->home_dir.source, "rw");
	add_project(&m, s);
	for (size_t i = 0; i < s->host.tools.n; i++) {
		cleanup_free char *path = ga_path_join(s->home, s->host.tools.v[i]);
		cleanup_free char *from = ga_path_join(e->home, s->host.tools.v[i]);

		add_mount(&m, path, from, "ro");
	}
	for (size_t i = 0; i < s->host.ro.n; i++)
		add_mount(&m, s->host.ro.v[i], s->host.ro.v[i], "ro");
	for (size_t i = 0; i + 1 < s->kept.n; i += 2) {
		cleanup_free char *path = ga_path_join(s->home, s->kept.v[i]);

		add_mount(&m, path, s->kept.v[i + 1], "rw");
	}
	if (s->feedback)
		add_mount(&m, GA_FEEDBACK_INSIDE, s->feedback, "ro");
	(void)json_object_set_new(j, "mounts", m.list);
	if (m.more)
		(void)json_object_set_new(j, "mounts_more", json_integer((json_int_t)m.more));
}

/* The limits as KEY=VALUE, as -c takes them. */
static json_t *limits_json(const struct ga_env *e)
{
	cleanup_strv struct ga_strv list = GA_STRV_INIT;
	cleanup_free char *free_least = ga_size_text(e->conf.disk_free);
	cleanup_free char *transcript = ga_size_text(e->conf.transcript);

	ga_strv_pushf(&list, "disk_free=%s", free_least);
	if (e->conf.record)
		ga_strv_pushf(&list, "limits.transcript=%s", transcript);
	for (size_t i = 0; i < GA_LIMITS_N; i++) {
		cleanup_free char *text = ga_limit_text(&e->conf.limits, (enum ga_limit)i);

		ga_strv_pushf(&list, "%s=%s", ga_limit_key((enum ga_limit)i), text);
	}
	return ga_json_strv(&list);
}

void start_note_begin(const struct ga_env *e, const struct ga_start *st)
{
	cleanup_strv struct ga_strv confined = GA_STRV_INIT, allow = GA_STRV_INIT;
	cleanup_strv struct ga_strv shared = GA_STRV_INIT;
	const struct ga_session *s = &st->session;
	json_t *j = json_object();

	ga_json_set_bytes(j, "project", s->id.project);
	ga_json_set_oid(j, "base", &s->id.base);
	ga_json_set_oid(j, "onto", &s->id.onto);
	if (st->resumed)
		ga_json_set_oid(j, "from", &s->view.branch_base);
	(void)json_object_set_new(j, "command", ga_json_strv(&st->command.argv));
	if (st->cwd)
		ga_json_set_bytes(j, "cwd", st->cwd);
	ga_session_shared(s, &shared);
	(void)json_object_set_new(j, "shared", ga_json_strv(&shared));
	(void)json_object_set_new(j, "skipped", ga_json_strv(&s->view.skipped));
	(void)json_object_set_new(j, "masked", ga_json_strv(&s->view.masked));
	(void)json_object_set_new(j, "exposed", ga_json_strv(&s->view.exposed));
	(void)json_object_set_new(j, "tools", ga_json_strv(&st->spec.host.tools));
	add_mounts(j, e, &st->spec);
	(void)json_object_set_new(j, "network", json_string(ga_network_name(e->net.mode)));
	if (e->net.mode == GA_NETWORK_ALLOW) {
		start_add_allowed(e, st->command.preset, &allow);
		(void)json_object_set_new(j, "allow", ga_json_strv(&allow));
	}
	(void)json_object_set_new(j, "published", ga_json_strv(&s->run.published));
	(void)json_object_set_new(j, "nested", json_boolean(st->spec.nested));
	(void)json_object_set_new(j, "terminal_filter", json_boolean(!st->unfiltered));
	ga_confine_describe(&st->confine, &confined);
	(void)json_object_set_new(j, "confined", ga_json_strv(&confined));
	(void)json_object_set_new(j, "limits", limits_json(e));
	(void)ga_journal(s->dir, st->resumed ? "resume" : "start", j);
}

struct ga_recorder *start_record(const struct ga_env *e, const struct ga_start *st)
{
	cleanup_free char *title = ga_strf("git agent: %s", st->session.name);
	const struct ga_record_opts o = {
		.dir = st->session.dir,
		.title = title,
		.command = &st->command.argv,
		.envp = (const char *const *)st->spec.env.v,
		.max = e->conf.transcript,
	};

	return e->conf.record ? ga_record_begin(&o) : NULL;
}

static void note_recording(const struct ga_session *s, const struct ga_recorder *r)
{
	json_t *j = json_object();

	if (ga_record_name(r))
		ga_json_set_bytes(j, "file", ga_record_name(r));
	ga_json_set_bytes(j, "stopped", ga_record_stopped(r));
	(void)ga_journal(s->dir, "recording", j);
}

void start_record_tick(const struct ga_session *s, struct ga_recorder *r, bool *noted)
{
	if (!r)
		return;
	ga_record_flush(r);
	if (ga_record_stopped(r) && !*noted) {
		*noted = true;
		note_recording(s, r);
	}
}

void start_record_end(struct ga_start *st, struct ga_recorder *r, bool *noted)
{
	if (!r)
		return;
	ga_record_end(r);
	start_record_tick(&st->session, r, noted);
	if (ga_record_name(r))
		st->transcript = ga_strdup(ga_record_name(r));
	ga_record_free(r);
}

void start_note_exit(const struct ga_start *st)
{
	const struct ga_session *s = &st->session;
	json_t *j = json_object();

	(void)json_object_set_new(j, "status", json_integer(s->run.exit_status));
	if (st->transcript)
		ga_json_set_bytes(j, "transcript", st->transcript);
	(void)ga_journal(s->dir, "exit", j);
}

static json_t *flags_json(const struct ga_report *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->n_flags && i < NOTED_MAX; i++) {
		const struct ga_report_flag *f = &r->flags[i];
		json_t *o = json_object();

		ga_json_set_bytes(o, "path", f->path);
		(void)json_object_set_new(o, "id", json_string(f->id));
		(void)json_object_set_new(o, "severity",
					  json_string(ga_severity_name(f->severity)));
		(void)json_object_set_new(o, "held", json_boolean(f->held));
		(void)json_object_set_new(o, "left_behind", json_boolean(f->left));
		(void)json_array_append_new(list, o);
	}
	return list;
}

void start_note_captured(const struct ga_session *s, const struct ga_report *r)
{
	json_t *j = json_object();

	ga_json_set_oid(j, "tip", &s->result.tip);
	ga_json_set_oid(j, "held", &s->result.held);
	(void)json_object_set_new(j, "flags", flags_json(r));
	if (r->n_flags > NOTED_MAX)
		(void)json_object_set_new(j, "flags_more",
					  json_integer((json_int_t)(r->n_flags - NOTED_MAX)));
	(void)json_object_set_new(j, "left_behind", json_integer((json_int_t)r->left.n));
	(void)json_object_set_new(j, "notes", ga_json_strv(&r->notes));
	(void)json_object_set_new(j, "limits", ga_json_strv(&r->limits));
	(void)ga_journal(s->dir, "captured", j);
}
