/* SPDX-License-Identifier: MIT */
#include <sys/utsname.h>

#include "doctor.h"

/* The doctor starts a real sandbox over scratch layers in the state directory: whatever would stop
 * a session stops this one, with the same error and hint. */

struct options {
	bool json, deep;
};

static const struct cli_opt opts[] = {
	CLI_FLAG_JSON,
	CLI_FLAG(deep, "deep", 0, "also try attacks in real sessions, and report what held"),
};

/* landing needs git merge-tree --write-tree */
#define GIT_MAJOR 2
#define GIT_MINOR 38

static void check_git(struct checks *k)
{
	static const char install[] = "git must be installed and on the PATH";
	const char *const argv[] = { "git", "--version", NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	const struct ga_process p = GA_PROCESS(.argv = argv, .out = &out);
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	cleanup_free char *old = NULL;
	struct ga_version v;
	int status;

	if (ga_process_run(&p, &status, &err)) {
		(void)ga_hint(&err, install);
		doctor_add_error(k, "git", &err);
		return;
	}
	ga_buf_chomp(&out);
	if (status || !ga_parse_version(out.ptr, "git version", &v)) {
		doctor_add(k, "git", false, "'git --version' prints no version", install);
		return;
	}
	if (ga_version_before(&v, GIT_MAJOR, GIT_MINOR))
		old = ga_strf("%s is too old: %d.%d is needed", out.ptr, GIT_MAJOR, GIT_MINOR);
	doctor_add(k, "git", !old, old ? old : out.ptr,
		   old ? "install a newer git, or put one first in PATH" : NULL);
}

/* Never fails: sessions work without Landlock, since namespaces confine them. */
static void check_landlock(struct checks *k)
{
	int abi = ga_landlock_abi();
	cleanup_free char *text = ga_strf(
		abi >= GA_LANDLOCK_SCOPES
			? "version %d: scopes abstract sockets and signals"
			: "version %d: a session can reach abstract sockets, as X11 has one",
		abi);

	doctor_add(k, "landlock", true, text,
		   abi >= GA_LANDLOCK_SCOPES ? NULL
					     : "Linux 6.12 or newer with Landlock scopes them");
}

/* Show how each limit of a session would be enforced. */
static void check_limits(struct cli *c, struct checks *k)
{
	static const struct ga_use_limits each[] = { { .memory = 1u << 30 }, { .tasks = 100 },
						     { .cpu = 100 } };
	static const char *const names[] = { "memory", "tasks", "cpu" };
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	bool all = true;

	for (size_t i = 0; i < GA_NELEMS(each); i++) {
		cleanup_confine struct ga_confine plan = GA_CONFINE_INIT;
		const char *sep = i ? ", " : "";
		enum ga_confined by;

		if (ga_confine_plan(&each[i], c->env.environ, c->env.path, &plan, GA_IGNORED)) {
			ga_buf_addf(&text, "%sno %s", sep, names[i]);
			all = false;
			continue;
		}
		by = plan.memory | plan.tasks | plan.cpu;
		ga_buf_addf(&text, "%s%s by %s%s", sep, names[i], ga_confined_name(by),
			    !i && by == GA_CONFINED_RLIMIT ? " (of each process)" : "");
		all = all && (i || by != GA_CONFINED_RLIMIT);
	}
	doctor_add(k, "limits", true, text.ptr,
		   all ? NULL : "systemd's manager for your user, or a control group delegated to "
				"you, would keep all of them (agentdev.yaml(5))");
}

static void check_path(struct cli *c, struct checks *k)
{
	const struct ga_env *e = &c->env;
	const struct ga_mount_place place = { e->home, NULL, e->path, e->state_root,
					      e->agent_home, &e->conf.inside.rw };
	cleanup_strv struct ga_strv ro = GA_STRV_INIT, dropped = GA_STRV_INIT;

	ga_strv_extend(&ro, &e->conf.inside.tools);
	ga_path_show(&place, e->environ, &ro, &dropped);
	for (size_t i = 0; i + 2 < dropped.n; i += 3) {
		cleanup_free char *hint = ga_strf("'tools: [%s]' in %s shows it",
						  GA_QUOTED(dropped.v[i]), e->conf.from.user_file);

		doctor_add(k, "PATH", true, dropped.v[i + 1], *dropped.v[i + 2] ? hint : NULL);
	}
}

static bool check_bwrap(struct cli *c, struct checks *k)
{
	cleanup_error struct ga_error err = GA_ERROR_INIT;

	if (ga_find_bwrap(c->env.path, true, &c->env.bwrap, &err)) {
		doctor_add_error(k, "bubblewrap", &err);
		return false;
	}
	doctor_add(k, "bubblewrap", true, c->env.bwrap, NULL);
	return true;
}

static int scratch_spec(struct cli *c, const char *dir, struct ga_spec *s, struct ga_error *err)
{
	static const char *const dirs[] = { "project",	"base", "extras/.git", "upper", "work",
					    "git",	"home", "stage",       "shared/lower",
					    "shared/upper", "shared/work" };

	for (size_t i = 0; i < GA_NELEMS(dirs); i++) {
		cleanup_free char *p = ga_path_join(dir, dirs[i]);

		if (ga_mkdir_p(p, 0700, err))
			return -1;
	}
	s->stage_dir = ga_path_join(dir, "stage");
	s->project = ga_path_join(dir, "project");
	s->home = ga_strdup(c->env.home);
	s->home_dir.source = ga_path_join(dir, "home");
	ga_strv_take(&s->lowers, ga_path_join(dir, "extras"));
	ga_strv_take(&s->lowers, ga_path_join(dir, "base"));
	s->upper = ga_path_join(dir, "upper");
	s->work = ga_path_join(dir, "work");
	s->git.upper = ga_path_join(dir, "git");
	ga_spec_environment(s, c->env.path, c->env.environ, &(const struct ga_strv)GA_STRV_INIT);
	return 0;
}

static int try_sandbox(struct cli *c, const char *dir, struct ga_strv *ret_loose,
		       struct ga_error *err)
{
	cleanup_spec struct ga_spec s = GA_SPEC_INIT;
	struct ga_run_paths paths = { c->env.stage, c->env.init, c->env.bwrap };
	/* a file written inside and visible outside proves that the overlay works */
	const char *const argv[] = { "/bin/sh", "-c", "echo written >probe", NULL };
	cleanup_buf struct ga_buf errout = GA_BUF_INIT;
	cleanup_free char *probe = ga_path_join(dir, "upper/probe");
	struct ga_sandbox *sb = NULL;
	struct ga_run_exec x = { .argv = argv, .out_fd = -1, .errout = &errout };
	int status = -1, rc;

	if (scratch_spec(c, dir, &s, err) || ga_run_launch(&s, &paths, &sb, err))
		return -1;
	x.cwd = s.project;
	x.envp = (const char *const *)s.env.v;
	rc = ga_run_exec(sb, &x, &status, err);
	ga_run_loose(sb, ret_loose);
	ga_run_finish(sb);
	if (rc)
		return -1;
	if (status || access(probe, F_OK)) {
		ga_buf_chomp(&errout);
		return ga_fail(err, GA_ESTART, "the sandbox started but could not write: %s",
			       errout.ptr);
	}
	return 0;
}

static void check_sandbox(struct cli *c, struct checks *k)
{
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	cleanup_strv struct ga_strv loose = GA_STRV_INIT;
	const char *root = c->env.state_root;
	cleanup_free char *dir = NULL;
	cleanup_close int at = -1;

	if (ga_mkdir_p(root, 0700, &err)) {
		doctor_add_error(k, "state directory", &err);
		return;
	}
	dir = ga_path_join(root, "doctor-XXXXXX");
	if (!mkdtemp(dir)) {
		(void)ga_fail_path(&err, errno, "write", root);
		(void)ga_hint(&err, "set XDG_STATE_HOME or state_dir to a directory you can write");
		doctor_add_error(k, "state directory", &err);
		return;
	}
	doctor_add(k, "state directory", true, root, NULL);
	if (try_sandbox(c, dir, &loose, &err))
		doctor_add_error(k, "sandbox", &err);
	else
		/* this sandbox shows no home, so a loose file is the system's */
		doctor_add(k, "sandbox", true, "namespaces, overlay, bubblewrap and seccomp work",
			   loose.n ? "as root: what only root may read shows in a session if it "
				     "is put into /etc while that runs" : NULL);
	at = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (at >= 0)
		(void)ga_rmtree_at(at, ga_path_base(dir), GA_IGNORED);
}

static void print(const struct checks *k)
{
	size_t i;
	json_t *j;

	json_array_foreach(k->list, i, j) {
		const char *hint = json_string_value(json_object_get(j, "hint"));
		const char *detail = json_string_value(json_object_get(j, "detail"));
		cleanup_buf struct ga_buf b = GA_BUF_INIT;

		if (detail)
			ga_quote_add_text(&b, detail, strlen(detail));
		(void)printf("%-4s %-16s %s\n",
			     json_is_true(json_object_get(j, "ok")) ? "ok" : "FAIL",
			     json_string_value(json_object_get(j, "check")), b.ptr);
		if (hint)
			(void)printf("     %-16s %s\n", "", hint);
	}
}

static int run(struct cli *c, const void *p, size_t argc, char **argv, struct ga_error *err)
{
	const struct options *o = p;
	struct checks k = { .list = json_array() };
	bool nested = c->env.conf.inside.nested, root = geteuid() == 0;
	struct utsname u;

	(void)argc;
	(void)argv;
	if (!uname(&u))
		doctor_add(&k, "kernel", true, u.release, NULL);
	if (ga_machine())
		doctor_add(&k, "machine", true, ga_machine(), NULL);
	check_landlock(&k);
	check_limits(c, &k);
	check_git(&k);
	if (check_bwrap(c, &k))
		check_sandbox(c, &k);
	if (nested && root)
		doctor_add(&k, "nested", false, "sandbox.nested: the kernel maps uid 0 no further",
			   "set it to false, or be an ordinary user");
	else if (nested)
		doctor_add(&k, "nested", true,
			   "sandbox.nested: sandboxes can be made inside sessions", NULL);
	check_path(c, &k);
	if (o->deep && !k.failed)
		doctor_deep(c, &k);
	if (root)
		doctor_add(&k, "user", true, "root: sessions work, an ordinary user is safer",
			   NULL);
	c->status = k.failed ? ga_error_status(GA_ENEGATIVE) : 0;
	if (o->json)
		return cli_print_json(k.list, err);
	print(&k);
	json_decref(k.list);
	return 0;
}

CLI_COMMAND(doctor, "[--deep] [--json]", "check whether sessions can run on this machine", NULL,
	    .needs = CLI_NEED_SETTINGS);
