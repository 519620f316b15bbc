/* SPDX-License-Identifier: MIT
 *
 * Run `git agent doctor --deep`: try an agent's attacks in sessions like a user's. Set up targets
 * on the host for the probe, and search the host afterwards, since a write that succeeds inside
 * does not tell where it went.
 */
#include <inttypes.h>
#include <linux/keyctl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "doctor.h"

#define OUT_MAX ((size_t)256 << 10)
#define RUN_MS 120000
#define UP_MS 20000
#define STEP_MS 20
#define TOKEN "GIT_AGENT_PROBE_TOKEN"

struct deep {
	struct cli *c;
	struct checks *k;
	char *dir;                /* scratch directory of the rest */
	char *project, *state, *home;
	char *self;               /* git-agent-main */
	char token[17];
	char *socket, *abstract, *key;
	int by_path, by_name;     /* sockets that listen at `socket` and `abstract` */
	int leak;                 /* a descriptor of "/", which must not get inside */
	struct ga_strv dirs, ids; /* directories that the probe tries to write to, and whose id */
};

static void deep_release(struct deep *d)
{
	free(d->dir);
	free(d->project);
	free(d->state);
	free(d->home);
	free(d->self);
	free(d->socket);
	free(d->abstract);
	free(d->key);
	ga_cleanup_closep(&d->by_path);
	ga_cleanup_closep(&d->by_name);
	ga_cleanup_closep(&d->leak);
	ga_strv_release(&d->dirs);
	ga_strv_release(&d->ids);
}

/* ---- what is there to be found ---------------------------------------------- */

static int listen_at(const char *name, bool abstract, struct ga_error *err)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	cleanup_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	size_t at = abstract ? 1 : 0, n = strlen(name);

	if (at + n >= sizeof(a.sun_path))
		return ga_fail(err, GA_EFATAL, "'%s' is too long a name for a socket", name);
	memcpy(a.sun_path + at, name, n);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&a,
			   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + at + n)) ||
	    listen(fd, 16))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot listen at '%s'", name);
	return ga_steal_fd(&fd);
}

static void add_dir(struct deep *d, const char *id, const char *dir)
{
	ga_strv_push(&d->ids, id);
	ga_strv_push(&d->dirs, dir);
}

static void list_dirs(struct deep *d)
{
	static const struct {
		const char *id, *rel;
	} in_home[] = {
		{ "PS-02", "" }, { "PS-02", ".config/git" }, { "PS-02", ".ssh" },
		{ "PS-02", ".claude" }, { "PS-02", ".codex" }, { "PS-04", ".cache" },
		{ "PS-04", ".cache/pip" }, { "PS-04", ".cache/pre-commit" },
		{ "PS-04", ".cache/ccache" }, { "PS-04", ".ccache" }, { "PS-04", ".npm/_cacache" },
		{ "PS-04", ".cargo/registry" }, { "PS-04", ".gradle/caches" },
		{ "PS-04", ".m2/repository" }, { "PS-04", "go/pkg/mod" },
		{ "PS-06", ".config/git/template" }, { "PS-08", ".config/systemd/user" },
		{ "PS-08", ".config/autostart" }, { "SB-20", ".config" }, { "SB-20", ".local" },
		{ "SB-20", ".local/bin" }, { "SB-20", "bin" },
	};
	static const struct {
		const char *id, *dir;
	} system[] = {
		{ "PS-06", "/usr/share/git-core/templates" }, { "PS-08", "/etc/cron.d" },
		{ "PS-08", "/var/spool/cron/crontabs" }, { "PS-08", "/var/spool/at" },
		{ "PS-08", "/etc/systemd/system" }, { "SB-20", "/usr/local/bin" },
	};

	for (size_t i = 0; i < GA_NELEMS(in_home); i++) {
		cleanup_free char *dir = ga_path_join(d->c->env.home, in_home[i].rel);

		add_dir(d, in_home[i].id, *in_home[i].rel ? dir : d->c->env.home);
	}
	for (size_t i = 0; i < GA_NELEMS(system); i++)
		add_dir(d, system[i].id, system[i].dir);
	for (const char *p = d->c->env.path; *p; p += strspn(p, ":")) {
		cleanup_free char *dir = ga_strndup(p, strcspn(p, ":"));

		if (dir[0] == '/' && d->dirs.n < 100)
			add_dir(d, "SB-20", dir);
		p += strcspn(p, ":");
	}
}

static int lay_out(struct deep *d, struct ga_error *err)
{
	cleanup_free char *outside = ga_path_join(d->dir, "outside"), *at = NULL;
	cleanup_close int dir = -1;
	uint64_t r;

	if (ga_random(&r, sizeof(r), err) || ga_mkdir_p(outside, 0700, err))
		return -1;
	dir = open(outside, O_PATH | O_DIRECTORY | O_CLOEXEC);
	/* relative: a path may be too long for a socket's address */
	at = ga_strf("/proc/self/fd/%d/s", dir);
	(void)snprintf(d->token, sizeof(d->token), "%016" PRIx64, r);
	if (setenv(TOKEN, d->token, 1))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot set a variable");
	d->socket = ga_path_join(outside, "s");
	d->abstract = ga_strf("git-agent-probe-%s", d->token);
	d->by_path = listen_at(at, false, err);
	d->by_name = d->by_path < 0 ? -1 : listen_at(d->abstract, true, err);
	if (d->by_name < 0)
		return -1;
	d->leak = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (d->leak < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open '/'");
	/* in a keyring of this process, not the user's */
	d->key = ga_strf("git-agent-probe-%s", d->token);
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) >= 0)
		(void)syscall(SYS_add_key, "user", d->key, "x", (size_t)1,
			      KEY_SPEC_SESSION_KEYRING);
	list_dirs(d);
	return 0;
}

/* ---- a repository, and sessions in it ----------------------------------------- */

static int git(struct deep *d, struct ga_error *err, ...)
{
	cleanup_strv struct ga_strv argv = GA_STRV_INIT;
	cleanup_buf struct ga_buf errout = GA_BUF_INIT;
	struct ga_process p;
	const char *word;
	int status;
	va_list ap;

	ga_strv_push_many(&argv, "git", "-c", "core.hooksPath=/dev/null", "-c",
			  "commit.gpgSign=false", "-c", "user.name=doctor", "-c",
			  "user.email=doctor@localhost", NULL);
	va_start(ap, err);
	while ((word = va_arg(ap, const char *)) != NULL)
		ga_strv_push(&argv, word);
	va_end(ap);
	p = (struct ga_process)GA_PROCESS(.argv = (const char *const *)argv.v, .cwd = d->project,
					  .errout = &errout);
	if (ga_process_run(&p, &status, err))
		return -1;
	ga_buf_chomp(&errout);
	if (!status)
		return 0;
	return ga_fail(err, GA_EFATAL, "git failed in a scratch repository: %s", errout.ptr);
}

static int copy_probe(struct deep *d, struct ga_error *err)
{
	cleanup_free char *dir = ga_path_parent(d->self);
	cleanup_free char *file = ga_path_join(dir, "git-agent-probe");
	cleanup_close int to = open(d->project, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_close int from = open(file, O_RDONLY | O_CLOEXEC);

	if (from < 0 || to < 0) {
		(void)ga_fail_path(err, errno, "open", file);
		return ga_hint(err, "the installation of git-agent is incomplete: run "
				    "'make install' in its build directory");
	}
	if (ga_copy_fd_to(from, to, "probe", err))
		return -1;
	if (fchmodat(to, "probe", 0755, 0))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot make a file executable");
	return 0;
}

/* "start" and its words, with settings that separate it from the user's sessions. */
static void start_words(const struct deep *d, const char *home, const char *name,
			struct ga_strv *argv)
{
	ga_strv_push_many(argv, d->self, "-c", NULL);
	ga_strv_pushf(argv, "home=%s", home);
	ga_strv_push(argv, "-c");
	ga_strv_pushf(argv, "state_dir=%s", d->state);
	ga_strv_push_many(argv, "start", "-q", "--name", name, "--", "./probe", NULL);
}

static int run(const struct deep *d, const struct ga_strv *argv, struct ga_buf *out,
	       struct ga_buf *errout, int *ret_status, struct ga_error *err)
{
	const struct ga_process p = {
		.argv = (const char *const *)argv->v, .cwd = d->project, .in_fd = -1, .out = out,
		.out_max = OUT_MAX, .out_fd = -1, .errout = errout, .keep_fd = d->leak,
		.timeout_ms = RUN_MS,
	};

	return ga_process_run(&p, ret_status, err);
}

/* ---- what the probe says ---------------------------------------------------------- */

/* A line of the probe: "ID\tRESULT\tERRNO\tWHAT". */
static bool add_line(struct checks *k, char *line)
{
	char *field[4] = { line };
	json_t *last;

	for (size_t i = 1; i < GA_NELEMS(field); i++) {
		char *tab = strchr(field[i - 1], '\t');

		if (!tab)
			return false;
		*tab = '\0';
		field[i] = tab + 1;
	}
	if (!strcmp(field[1], "absent")) {
		cleanup_free char *what = ga_strf("%s: not in this kernel", field[3]);

		doctor_add(k, field[0], true, what, "Linux 6.12 or newer with Landlock has it");
	} else {
		doctor_add(k, field[0], !strcmp(field[1], "held"), field[3], NULL);
	}
	last = json_array_get(k->list, json_array_size(k->list) - 1);
	ga_json_set(last, "errno", json_string(field[2]));
	return true;
}

static void probe_words(const struct deep *d, struct ga_strv *argv)
{
	struct stat st = { 0 };
	const char *const hidden[] = { d->socket, d->state };
	const char *const programs[] = { d->self, d->c->env.stage, d->c->env.init,
					 d->c->env.bwrap };

	start_words(d, d->home, "probe", argv);
	ga_strv_pushf(argv, "token=%s", d->token);
	ga_strv_pushf(argv, "socket=%s", d->socket);
	ga_strv_pushf(argv, "abstract=%s", d->abstract);
	ga_strv_pushf(argv, "key=%s", d->key);
	(void)stat("/proc/self/ns/pid", &st);
	ga_strv_pushf(argv, "pidns=%ju", (uintmax_t)st.st_ino);
	for (size_t i = 0; i < GA_NELEMS(hidden); i++)
		ga_strv_pushf(argv, "hidden=%s", hidden[i]);
	for (size_t i = 0; i < GA_NELEMS(programs); i++)
		ga_strv_pushf(argv, "program=%s", programs[i]);
	for (size_t i = 0; i < d->dirs.n; i++)
		ga_strv_pushf(argv, "dir=%s", d->dirs.v[i]);
}

static int probe(struct deep *d, struct ga_error *err)
{
	cleanup_strv struct ga_strv argv = GA_STRV_INIT;
	cleanup_buf struct ga_buf out = GA_BUF_INIT, errout = GA_BUF_INIT;
	size_t lines = 0;
	char *save = NULL;
	int status;

	probe_words(d, &argv);
	if (run(d, &argv, &out, &errout, &status, err))
		return -1;
	for (char *l = strtok_r(out.ptr, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		lines += add_line(d->k, l);
	ga_buf_chomp(&errout);
	if (status > 1 || !lines)
		return ga_fail(err, GA_EFATAL, "the probe ended with status %d: %s", status,
			       errout.ptr);
	return 0;
}

/* Check that files the probe created are not on the host. */
static void find_traces(struct deep *d)
{
	static const struct {
		const char *id, *what;
	} ids[] = { { "PS-02", "the agents' home is not yours" },
		    { "PS-04", "the host's caches are out of reach" },
		    { "PS-06", "templates are out of reach" },
		    { "PS-08", "nothing that starts later can be left" },
		    { "SB-20", "no directory on PATH can be written" } };

	for (size_t i = 0; i < GA_NELEMS(ids); i++) {
		cleanup_buf struct ga_buf found = GA_BUF_INIT;

		for (size_t n = 0; n < d->dirs.n; n++) {
			cleanup_free char *file = ga_strf("%s/git-agent-probe-%s", d->dirs.v[n],
							  d->token);

			if (strcmp(d->ids.v[n], ids[i].id) != 0 || unlink(file))
				continue;
			ga_buf_addf(&found, "%s%s", found.len ? ", " : ": ", d->dirs.v[n]);
		}
		{
			cleanup_free char *what = ga_strf("%s%s", ids[i].what, found.ptr);

			doctor_add(d->k, ids[i].id, !found.len, what, NULL);
		}
	}
}

/* ---- sessions that must not start, and one that must not live on ------------------------- */

/* Start a session that must be refused. `*ret`: it was, for the reason `why`. */
static int refused(struct deep *d, const char *home, const char *name, const char *why, bool *ret,
		   struct ga_error *err)
{
	cleanup_strv struct ga_strv argv = GA_STRV_INIT;
	cleanup_buf struct ga_buf out = GA_BUF_INIT, errout = GA_BUF_INIT;
	int status;

	start_words(d, home, name, &argv);
	if (run(d, &argv, &out, &errout, &status, err))
		return -1;
	*ret = status == ga_error_status(GA_ESTART) && strstr(errout.ptr, why);
	return 0;
}

/* Try a link in the agents' home where a start mounts something, as if an earlier session made
 * it. */
static int planted_link(struct deep *d, struct ga_error *err)
{
	const char *rel = ga_path_below(d->project, d->c->env.home);
	cleanup_free char *home = ga_path_join(d->dir, "home2"), *first = NULL, *link = NULL;
	cleanup_free char *victim = ga_path_join(d->dir, "victim");
	bool ok;

	if (!rel)
		return 0; /* the project is outside of the home, so no mount covers the link */
	first = ga_strndup(rel, strcspn(rel, "/"));
	link = ga_path_join(home, first);
	if (ga_mkdir_p(home, 0700, err) || ga_mkdir_p(victim, 0700, err))
		return -1;
	if (symlink(victim, link))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot make a link");
	if (refused(d, home, "link", "a symlink blocks the mount point", &ok, err))
		return -1;
	doctor_add(d->k, "SB-04", ok && ga_dir_is_empty(victim),
		   "links where something is mounted are not followed", NULL);
	return 0;
}

static int widening_file(struct deep *d, struct ga_error *err)
{
	static const char text[] = "home: /\nstate_dir: /tmp/elsewhere\n";
	cleanup_close int dir = open(d->project, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool ok;

	if (dir < 0)
		return ga_fail_path(err, errno, "open", d->project);
	if (ga_write_new(dir, GA_CONFIG_REPOSITORY_FILE, text, strlen(text), 0600, err) ||
	    git(d, err, "add", "-A", NULL) || git(d, err, "commit", "-q", "-m", "widen", NULL) ||
	    refused(d, d->home, "widen", ": " GA_CONFIG_REPOSITORY_FILE ":1:", &ok, err))
		return -1;
	doctor_add(d->k, "PS-01", ok, "a repository cannot loosen what you have configured", NULL);
	return git(d, err, "reset", "-q", "--hard", "HEAD~", NULL);
}

/* The state directory of the scratch repository, the only one. */
static char *repository_state(const struct deep *d)
{
	cleanup_dir DIR *dir = opendir(d->state);
	struct dirent *e;

	while ((e = ga_dir_next(dir))) {
		cleanup_free char *sessions = ga_strf("%s/%s/sessions", d->state, e->d_name);

		if (e->d_name[0] != '.' && !access(sessions, F_OK))
			return ga_path_join(d->state, e->d_name);
	}
	return NULL;
}

static int killed(struct deep *d, struct ga_error *err)
{
	cleanup_free char *state = repository_state(d);
	cleanup_free char *up = ga_strf("%s/sessions/kill/upper/up", state ? state : "");
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_strv struct ga_strv argv = GA_STRV_INIT;
	struct ga_process_job *job;
	struct ga_process p;
	bool came;

	if (!state)
		return ga_fail(err, GA_EFATAL, "the sessions are not in '%s'", d->state);
	start_words(d, d->home, "kill", &argv);
	ga_strv_push_many(&argv, "--linger", "up", NULL);
	p = (struct ga_process)GA_PROCESS(.argv = (const char *const *)argv.v, .cwd = d->project);
	if (ga_process_begin(&p, &job, err))
		return -1;
	for (int ms = 0; access(up, F_OK) && ms < UP_MS; ms += STEP_MS)
		(void)poll(NULL, 0, STEP_MS);
	came = !access(up, F_OK);
	/* sends SIGKILL */
	ga_process_abandon(job);
	if (!came || ga_session_load(state, "kill", &s, err))
		return came ? -1 : ga_fail(err, GA_EFATAL, "a session did not start");
	for (int ms = 0; ga_run_alive(s.run.pid, s.run.pidns) && ms < UP_MS; ms += STEP_MS)
		(void)poll(NULL, 0, STEP_MS);
	doctor_add(d->k, "RS-01", !ga_run_alive(s.run.pid, s.run.pidns),
		   "a session whose supervisor is killed ends", NULL);
	return 0;
}

/* ---- all of it ----------------------------------------------------------------------------- */

static int all(struct deep *d, struct ga_error *err)
{
	d->project = ga_path_join(d->dir, "project");
	d->state = ga_path_join(d->dir, "state");
	d->home = ga_path_join(d->dir, "home");
	d->self = cli_own_program(err);
	if (!d->self || ga_mkdir_p(d->project, 0700, err) || ga_mkdir_p(d->home, 0700, err) ||
	    copy_probe(d, err) || git(d, err, "init", "-q", "--template=", NULL) ||
	    git(d, err, "config", "user.name", "doctor", NULL) ||
	    git(d, err, "config", "user.email", "doctor@localhost", NULL) ||
	    git(d, err, "add", "-A", NULL) ||
	    git(d, err, "commit", "-q", "-m", "probe", NULL) || lay_out(d, err) || probe(d, err))
		return -1;
	find_traces(d);
	return planted_link(d, err) || widening_file(d, err) || killed(d, err) ? -1 : 0;
}

void doctor_deep(struct cli *c, struct checks *k)
{
	cleanup_error struct ga_error err = GA_ERROR_INIT, second = GA_ERROR_INIT;
	cleanup_(deep_release) struct deep d = { .c = c, .k = k, .by_path = -1, .by_name = -1,
						 .leak = -1 };
	cleanup_close int at = open(c->env.state_root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	d.dir = ga_path_join(c->env.state_root, "doctor-XXXXXX");
	if (at < 0 || !mkdtemp(d.dir)) {
		(void)ga_fail_path(&err, errno, "write", c->env.state_root);
		doctor_add_error(k, "probes", &err);
		return;
	}
	if (all(&d, &err))
		doctor_add_error(k, "probes", &err);
	if (ga_rmtree_at(at, ga_path_base(d.dir), &second))
		doctor_add_error(k, "probes", &second);
}

void doctor_add(struct checks *k, const char *check, bool ok, const char *detail, const char *hint)
{
	json_t *j = json_object();

	ga_json_set(j, "check", json_string(check));
	ga_json_set(j, "ok", json_boolean(ok));
	ga_json_set_bytes(j, "detail", detail);
	if (hint)
		ga_json_set_bytes(j, "hint", hint);
	ga_json_add(k->list, j);
	k->failed = k->failed || !ok;
}

void doctor_add_error(struct checks *k, const char *check, const struct ga_error *err)
{
	doctor_add(k, check, false, err->msg, err->hint);
}
