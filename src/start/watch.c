/* SPDX-License-Identifier: MIT
 *
 * Journal and record a running session, and end it at the limits of time, layers and disk.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "ga/config/config.h"
#include "start-internal.h"
#include "ga/sys/ns.h"

/* Mounts of a start, or flags of a capture, in the journal. */
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

static void record_tick(const struct ga_session *s, struct ga_recorder *r, bool *noted)
{
	json_t *j;

	if (!r)
		return;
	ga_record_flush(r);
	if (ga_record_stopped(r) && !*noted) {
		*noted = true;
		j = json_object();
		if (ga_record_name(r))
			ga_json_set_bytes(j, "file", ga_record_name(r));
		ga_json_set_bytes(j, "stopped", ga_record_stopped(r));
		(void)ga_journal(s->dir, "recording", j);
	}
}

void start_record_end(struct ga_start *st, struct ga_recorder *r, bool *noted)
{
	if (!r)
		return;
	ga_record_end(r);
	record_tick(&st->session, r, noted);
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

	for (size_t i = 0; i < r->flags.n && i < NOTED_MAX; i++) {
		const struct ga_flag *f = &r->flags.v[i];
		json_t *o = json_object();

		ga_json_set_bytes(o, "path", f->path);
		(void)json_object_set_new(o, "id", json_string(f->rule));
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
	if (r->flags.n > NOTED_MAX)
		(void)json_object_set_new(j, "flags_more",
					  json_integer((json_int_t)(r->flags.n - NOTED_MAX)));
	(void)json_object_set_new(j, "left_behind", json_integer((json_int_t)r->left.n));
	(void)json_object_set_new(j, "notes", ga_json_strv(&r->notes));
	(void)json_object_set_new(j, "limits", ga_json_strv(&r->limits));
	(void)ga_journal(s->dir, "captured", j);
}

/* Wait this multiple of the last measurement of the layers, to spend at most a tenth of the
 * time. */
#define MEASURE_SHARE 10
#define DEEP 400 /* levels, each with a descriptor */

enum measured { FITS, OVER, TOO_DEEP, UNKNOWN };

struct sum {
	uint64_t bytes, most;
};

static enum measured measure_in(struct sum *sum, int fd, unsigned depth);

static enum measured measure_entry(struct sum *sum, int dir, const char *name, unsigned depth)
{
	cleanup_close int fd = -1;
	struct stat st;

	/* the running agent may have removed it */
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? FITS : UNKNOWN;
	/* count a share of a hard-linked file for each name */
	sum->bytes += (uint64_t)st.st_blocks * 512 / (S_ISDIR(st.st_mode) ? 1 : st.st_nlink);
	if (sum->bytes > sum->most)
		return OVER;
	if (!S_ISDIR(st.st_mode))
		return FITS;
	if (!depth)
		return TOO_DEEP;
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? FITS : UNKNOWN;
	return measure_in(sum, fd, depth - 1);
}

static enum measured measure_in(struct sum *sum, int fd, unsigned depth)
{
	cleanup_dir DIR *d = ga_dir_of(fcntl(fd, F_DUPFD_CLOEXEC, 3));
	enum measured m = d ? FITS : UNKNOWN;
	struct dirent *e;

	while (m == FITS && (e = ga_dir_next(d)))
		m = measure_entry(sum, fd, e->d_name, depth);
	return m;
}

/* Measure all that a session writes to: the layers of the project, of shared directories and of the
 * git dir. In a child of the supervisor. */
static enum measured measure(const struct ga_session *s, uint64_t most, pid_t parent)
{
	static const char *const names[] = { "upper", "shared", "git" };
	cleanup_close int dir = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct sum sum = { .most = most };
	enum measured m = FITS;
	struct rlimit files;

	/* a user namespace lets us read directories that the agent closed */
	if (dir < 0 || ga_ns_enter_user(GA_IGNORED) || getrlimit(RLIMIT_NOFILE, &files))
		return UNKNOWN;
	/* Never outlive the supervisor: we hold the socket by which process 1 notices its end, and
	 * its lock. Set after entering the user namespace, which clears it. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		return UNKNOWN;
	files.rlim_cur = files.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &files))
		return UNKNOWN;
	for (size_t i = 0; m == FITS && i < GA_NELEMS(names); i++)
		m = measure_entry(&sum, dir, names[i], DEEP);
	return m;
}

/* Tell the session to end. */
static void found(struct start_watch *w, const char *event, char *why)
{
	w->event = event;
	w->why = why;
}

static void on_measured(struct start_watch *w, enum measured m)
{
	cleanup_free char *most = ga_size_text(w->e->use.upper);

	w->measure = 0;
	w->next_measure = ga_now_ms() + MEASURE_SHARE * (ga_now_ms() - w->measured);
	if (m == OVER)
		found(w, "limit", ga_strf("it was ended when its layers took more than %s "
					  "(limits.upper)", most));
	else if (m == TOO_DEEP)
		found(w, "limit", ga_strf("it was ended when its layers were more than %d "
					  "directories deep (limits.upper)", DEEP));
	else if (m == UNKNOWN)
		found(w, "limit", ga_strdup("it was ended when its layers could not be measured "
					    "(limits.upper)"));
}

/* Measure in a child process, as the supervisor must not keep the agent waiting. */
static void watch_layers(struct start_watch *w)
{
	pid_t self = getpid();
	int st;

	if (w->measure) {
		if (waitpid(w->measure, &st, WNOHANG) == w->measure)
			on_measured(w, WIFEXITED(st) ? (enum measured)WEXITSTATUS(st) : UNKNOWN);
		return;
	}
	if (ga_now_ms() < w->next_measure)
		return;
	w->measured = ga_now_ms();
	w->measure = fork();
	if (!w->measure) {
		(void)setpriority(PRIO_PROCESS, 0, 10);
		_exit((int)measure(w->s, w->e->use.upper, self));
	}
	if (w->measure < 0)
		on_measured(w, UNKNOWN);
}

const char *start_full_place(const struct ga_env *e, const char *dir)
{
	return ga_disk_below(dir, e->conf.disk_free) ? dir
	       : ga_disk_below(e->agent_home, e->conf.disk_free) ? e->agent_home : NULL;
}

bool start_watch_tick(void *payload)
{
	struct start_watch *w = payload;
	const struct ga_use_limits *l = &w->e->use;
	const char *full;

	if (w->unsynced.n && !w->beside)
		w->beside = ga_sync_begin(&w->unsynced, 1);
	record_tick(w->s, w->recorder, &w->noted);
	start_note_network(w->s, w->relay, &w->connections);
	full = w->why ? NULL : start_full_place(w->e, w->s->dir);
	if (full) {
		cleanup_free char *least = ga_size_text(w->e->conf.disk_free);

		found(w, "disk", ga_strf("it was ended when less than %s were free for %s "
					 "(disk_free)", least, GA_QUOTED(full)));
	}
	if (!w->why && l->time && (uint64_t)(ga_now_ms() - w->begun) >= l->time * 1000) {
		cleanup_free char *t = ga_seconds_text(l->time);

		found(w, "limit", ga_strf("it was ended after %s (limits.time)", t));
	}
	if (!w->why && l->output && w->written > l->output) {
		cleanup_free char *most = ga_size_text(l->output);

		found(w, "limit", ga_strf("it was ended when it had written more than %s "
					  "(limits.output)", most));
	}
	if (!w->why && l->upper)
		watch_layers(w);
	return w->why != NULL;
}

int start_watch_end(struct start_watch *w, struct ga_session *s, struct ga_error *err)
{
	int rc;

	if (w->measure > 0) {
		(void)kill(w->measure, SIGKILL);
		(void)TEMP_FAILURE_RETRY(waitpid(w->measure, NULL, 0));
	}
	/* the capture syncs the same refs again, and reports a failure */
	rc = ga_sync_end(w->beside, err);
	ga_strv_release(&w->unsynced);
	if (w->why) {
		/* output of the command may be missing */
		free(s->view.incomplete);
		s->view.incomplete = ga_steal(&w->why);
		(void)ga_journal(s->dir, w->event, json_pack("{s:s}", "incomplete",
							     s->view.incomplete));
		(void)ga_session_save(s, GA_IGNORED);
	}
	return rc;
}
