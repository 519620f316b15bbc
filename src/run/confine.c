/* SPDX-License-Identifier: MIT */
#include "ga/run/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "ga/base/parse.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/sys/fd.h"
#include "ga/sys/mount.h"
#include "ga/sys/process.h"
#include "run-internal.h"

/* Control groups, version 2. */

#define NAME "git-agent-"
#define FILE_MAX ((size_t)1 << 20)

static bool slurp(const char *path, struct ga_buf *ret)
{
	return !ga_read_file_at(AT_FDCWD, path, FILE_MAX, ret, GA_IGNORED);
}

/* The mount point of the whole version 2 hierarchy; NULL: none. */
static char *mount_point(void)
{
	cleanup_strv struct ga_strv all = GA_STRV_INIT;

	if (ga_mount_list(&all, GA_IGNORED))
		return NULL;
	for (size_t i = 0; i < all.n; i += GA_MOUNT_WORDS)
		if (!strcmp(all.v[i + GA_MOUNT_TYPE], "cgroup2") &&
		    !strcmp(all.v[i + GA_MOUNT_ROOT], "/"))
			return ga_strdup(all.v[i]);
	return NULL;
}

char *run_cgroup_of(pid_t pid)
{
	cleanup_free char *path = pid ? ga_strf("/proc/%d/cgroup", (int)pid)
				      : ga_strdup("/proc/self/cgroup");
	cleanup_free char *mount = mount_point();
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	char *save = NULL;

	if (!mount || !slurp(path, &b))
		return NULL;
	for (char *l = strtok_r(b.ptr, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		if (!strncmp(l, "0::/", 4))
			return l[4] ? ga_path_join(mount, l + 4) : ga_strdup(mount);
	return NULL;
}

static bool has_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = text; (p = strstr(p, word)); p += n)
		if ((p == text || p[-1] == ' ') && (!p[n] || p[n] == ' ' || p[n] == '\n'))
			return true;
	return false;
}

static bool may_make_in(const char *dir, const struct run_cgroup_setting *v, size_t n)
{
	cleanup_free char *procs = ga_path_join(dir, "cgroup.procs");
	cleanup_free char *control = ga_path_join(dir, "cgroup.subtree_control");
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	if (access(dir, W_OK) || access(procs, W_OK) || !slurp(control, &b))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!has_word(b.ptr, v[i].controller))
			return false;
	return true;
}

/* Does systemd mark the group as delegated? It may be delegated to another manager, the user's,
 * which is then in the group itself. */
static bool is_marked(const char *dir)
{
	static const char *const names[] = { "trusted.delegate", "user.delegate" };
	cleanup_free char *manager = ga_path_join(dir, "init.scope");
	char value;

	if (!access(manager, F_OK))
		return false;
	for (size_t i = 0; i < GA_NELEMS(names); i++)
		if (getxattr(dir, names[i], &value, 1) == 1 && value == '1')
			return true;
	return false;
}

/* Our group, or one above it: a process can only be moved within a subtree that is delegated to
 * us. */
char *run_cgroup_find(const struct run_cgroup_setting *v, size_t n, bool marked)
{
	cleanup_free char *mount = mount_point(), *dir = mount ? run_cgroup_of(0) : NULL;

	while (dir && ga_path_inside(dir, mount)) {
		if (may_make_in(dir, v, n) && (!marked || is_marked(dir)))
			return ga_steal(&dir);
		if (!strcmp(dir, mount))
			break;
		ga_path_up(dir);
	}
	return NULL;
}

/* Remove groups of sessions whose supervisor was killed; rmdir(2) fails for groups in use. */
static void remove_stale_groups(DIR *parent)
{
	struct dirent *e;

	while ((e = ga_dir_next(parent)))
		if (!strncmp(e->d_name, NAME, strlen(NAME)))
			(void)unlinkat(dirfd(parent), e->d_name, AT_REMOVEDIR);
}

static int write_value(int dir, const char *file, const char *value)
{
	cleanup_close int fd = openat(dir, file, O_WRONLY | O_CLOEXEC);

	/* in one write, as the kernel requires */
	return fd < 0 || write(fd, value, strlen(value)) < 0 ? -1 : 0;
}

static int set_up(int dir, const struct run_cgroup_setting *v, size_t n, pid_t pid,
		  struct ga_error *err)
{
	cleanup_free char *number = ga_strf("%d", (int)pid);

	for (size_t i = 0; i < n; i++)
		if (write_value(dir, v[i].file, v[i].value) && !(v[i].optional && errno == ENOENT))
			return ga_fail_errno(err, GA_ESTART, errno, "cannot write '%s' to %s",
					     v[i].value, v[i].file);
	if (write_value(dir, "cgroup.procs", number))
		return ga_fail_errno(err, GA_ESTART, errno, "cannot move the session there");
	return 0;
}

int run_cgroup_enter(const char *parent, const struct run_cgroup_setting *v, size_t n, pid_t pid,
		     char **ret, struct ga_error *err)
{
	cleanup_free char *path = ga_strf("%s/" NAME "%d", parent, (int)pid);
	cleanup_dir DIR *d = opendir(parent);
	cleanup_close int dir = -1;

	/* another process may be making one, which is empty until a process is in it */
	if (!d)
		return ga_fail_errno(err, GA_ESTART, errno, "cannot open the directory of '%s'",
				     path);
	if (ga_flock(dirfd(d), true, true, err))
		return -1;
	remove_stale_groups(d);
	if (mkdir(path, 0755))
		return ga_fail_errno(err, GA_ESTART, errno, "cannot make the control group '%s'",
				     path);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		(void)ga_fail_errno(err, GA_ESTART, errno, "cannot open it");
	if (dir < 0 || set_up(dir, v, n, pid, err)) {
		(void)rmdir(path);
		return ga_error_wrap(err, "cannot set up the control group '%s'", path);
	}
	*ret = ga_steal(&path);
	return 0;
}

bool run_cgroup_has(const char *dir, const char *file, const char *value)
{
	cleanup_free char *path = ga_path_join(dir, file);
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	if (!slurp(path, &b))
		return false;
	ga_buf_chomp(&b);
	return !strcmp(b.ptr, value);
}

uint64_t run_cgroup_number(const char *dir, const char *file, const char *word)
{
	cleanup_free char *path = ga_path_join(dir, file);
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	size_t n = strlen(word);
	char *save = NULL;
	uint64_t v;

	if (!slurp(path, &b))
		return 0;
	for (char *l = strtok_r(b.ptr, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		if (!strncmp(l, word, n) && l[n] == ' ' && ga_parse_u64(l + n + 1, UINT64_MAX, &v))
			return v;
	return 0;
}

#define PERIOD_US 100000 /* period of cpu.max */
#define SCOPE_MS 5000    /* time for systemd to move a process */

const char *ga_confined_name(enum ga_confined c)
{
	static const char *const names[] = { [GA_CONFINED_NOT] = "none",
					     [GA_CONFINED_RLIMIT] = "rlimit",
					     [GA_CONFINED_CGROUP] = "cgroup",
					     [GA_CONFINED_SYSTEMD] = "systemd" };

	return names[c];
}

void ga_confine_release(struct ga_confine *c)
{
	free(c->cgroup);
	free(c->busctl);
	*c = (struct ga_confine)GA_CONFINE_INIT;
}

/* ---- detection -------------------------------------------------------------- */

/* Does RLIMIT_NPROC count per user namespace? Before Linux 5.14 it counted all processes of the
 * user. Root's are never limited. */
static bool counts_tasks(void)
{
	struct ga_version v;
	struct utsname u;

	return geteuid() && !uname(&u) && ga_parse_release(u.release, &v) &&
	       !ga_version_before(&v, 5, 14);
}

static bool has_file(const char *dir, const char *name)
{
	cleanup_free char *path = ga_path_join(dir, name);

	return !access(path, F_OK);
}

/* Find busctl, if the bus to carry the question exists: a manager alone, as without
 * dbus-user-session, cannot be asked. */
static char *find_busctl(const char *const *env, const char *run, const char *path, bool system)
{
	const char *bus = ga_environ_get(env, system ? "DBUS_SYSTEM_BUS_ADDRESS"
						     : "DBUS_SESSION_BUS_ADDRESS");

	if ((!bus || !*bus) && !has_file(run, system ? "dbus/system_bus_socket" : "bus"))
		return NULL;
	return ga_find_program(path, "busctl");
}

#define MAX_SETTINGS 5

/* What to write into which file, for the limits that a cgroup enforces. */
struct settings {
	struct run_cgroup_setting v[MAX_SETTINGS];
	size_t n;
	char memory[24], tasks[24], cpu[48];
};

static void make_settings(const struct ga_confine *c, enum ga_confined by, struct settings *s)
{
	const struct ga_use_limits *l = &c->limits;

	s->n = 0;
	(void)snprintf(s->memory, sizeof(s->memory), "%" PRIu64, l->memory & ~(uint64_t)4095);
	(void)snprintf(s->tasks, sizeof(s->tasks), "%" PRIu64, l->tasks);
	(void)snprintf(s->cpu, sizeof(s->cpu), "%" PRIu64 " %d", l->cpu * (PERIOD_US / 100),
		       PERIOD_US);
	if (c->memory == by) {
		s->v[s->n++] = (struct run_cgroup_setting){ "memory", "memory.max", s->memory,
							    false };
		s->v[s->n++] = (struct run_cgroup_setting){ "memory", "memory.swap.max", "0",
							    true };
		/* no memory.oom.group: killing the whole session might seem better than a part of
		 * it, but its first process would be killed with it */
	}
	if (c->tasks == by)
		s->v[s->n++] = (struct run_cgroup_setting){ "pids", "pids.max", s->tasks, false };
	if (c->cpu == by)
		s->v[s->n++] = (struct run_cgroup_setting){ "cpu", "cpu.max", s->cpu, false };
}

static int cannot(const char *what, struct ga_error *err)
{
	return ga_fail(err, GA_ESTART, "%s cannot be limited here"
		       GA_HINT "it needs systemd's manager for your user (loginctl enable-linger; "
		       "XDG_RUNTIME_DIR with its bus, and busctl), or a control group delegated to "
		       "you; or set it to 0", what);
}

int ga_confine_plan(const struct ga_use_limits *l, const char *const *env, const char *path,
		    struct ga_confine *ret, struct ga_error *err)
{
	struct ga_confine c = { .limits = *l, .system = geteuid() == 0 };
	enum ga_confined group = GA_CONFINED_CGROUP;
	const char *own = ga_environ_get(env, "XDG_RUNTIME_DIR");
	const char *run = c.system ? "/run" : own;
	struct settings s;
	bool counted = counts_tasks(), asked;

	c.memory = l->memory ? group : GA_CONFINED_NOT;
	c.cpu = l->cpu ? group : GA_CONFINED_NOT;
	c.tasks = !l->tasks ? GA_CONFINED_NOT : counted ? GA_CONFINED_RLIMIT : group;
	make_settings(&c, group, &s);
	if (!s.n) {
		*ret = c;
		return 0;
	}
	asked = run && has_file(run, "systemd/private");
	if (asked)
		c.busctl = find_busctl(env, run, path, c.system);
	/* where systemd runs, cgroups are its own, even if we may write to them: when one of its
	 * units ends it removes controllers, and the limits with them */
	c.cgroup = run_cgroup_find(s.v, s.n, asked || has_file("/run", "systemd/system"));
	if (!c.cgroup)
		group = c.busctl ? GA_CONFINED_SYSTEMD : GA_CONFINED_NOT;
	c.cpu = l->cpu ? group : GA_CONFINED_NOT;
	c.memory = l->memory ? group : GA_CONFINED_NOT;
	if (l->memory && group == GA_CONFINED_NOT)
		c.memory = GA_CONFINED_RLIMIT;
	if (c.tasks == GA_CONFINED_CGROUP)
		c.tasks = group;
	*ret = c;
	if (l->cpu && c.cpu == GA_CONFINED_NOT)
		return cannot("processor time (limits.cpu)", err);
	if (l->tasks && !l->tasks_default && c.tasks == GA_CONFINED_NOT)
		return cannot("the number of tasks (limits.tasks)", err);
	return 0;
}

void ga_confine_describe(const struct ga_confine *c, struct ga_strv *ret)
{
	const struct ga_use_limits *l = &c->limits;
	cleanup_free char *memory = ga_size_text(l->memory), *output = ga_size_text(l->output);
	cleanup_free char *upper = ga_size_text(l->upper), *t = ga_seconds_text(l->time);

	if (c->memory != GA_CONFINED_NOT)
		ga_strv_pushf(ret, "memory %s %s", memory, ga_confined_name(c->memory));
	if (c->tasks != GA_CONFINED_NOT)
		ga_strv_pushf(ret, "tasks %" PRIu64 " %s", l->tasks, ga_confined_name(c->tasks));
	if (l->files)
		ga_strv_pushf(ret, "files %" PRIu64 " rlimit", l->files);
	if (c->cpu != GA_CONFINED_NOT)
		ga_strv_pushf(ret, "cpu %" PRIu64 " %s", l->cpu, ga_confined_name(c->cpu));
	if (l->time)
		ga_strv_pushf(ret, "time %s watch", t);
	if (l->output)
		ga_strv_pushf(ret, "output %s watch", output);
	if (l->upper)
		ga_strv_pushf(ret, "upper %s watch", upper);
}

/* ---- enforcement ----------------------------------------------------------------- */

/* Limit pid 1: everything else inside is its descendant, and cannot raise the limit again. */
static int set_rlimit(const struct ga_sandbox *sb, enum __rlimit_resource what, uint64_t n,
		      struct ga_error *err)
{
	struct rlimit r = { (rlim_t)n, (rlim_t)n }, now;

	if (!prlimit(sb->is.pid, what, NULL, &now)) {
		r.rlim_max = now.rlim_max < r.rlim_max ? now.rlim_max : r.rlim_max;
		r.rlim_cur = now.rlim_cur < r.rlim_cur ? now.rlim_cur : r.rlim_cur;
	}
	if (prlimit(sb->is.pid, what, &r, NULL))
		return ga_fail_errno(err, GA_ESTART, errno, "cannot limit the session");
	return 0;
}

/* A property of the scope in busctl's format. */
static void push_property(struct ga_strv *argv, const char *name, uint64_t value)
{
	ga_strv_push_many(argv, name, "t", NULL);
	ga_strv_pushf(argv, "%" PRIu64, value);
}

/* `survive`: when the kernel kills one process for lack of memory, the others continue. */
static void scope_words(const struct ga_confine *c, const char *unit, pid_t pid, bool survive,
			struct ga_strv *argv)
{
	const struct ga_use_limits *l = &c->limits;
	bool memory = c->memory == GA_CONFINED_SYSTEMD, tasks = c->tasks == GA_CONFINED_SYSTEMD;
	bool cpu = c->cpu == GA_CONFINED_SYSTEMD;

	ga_strv_push_many(argv, c->busctl, c->system ? "--system" : "--user", "--quiet", "call",
			  "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
			  "org.freedesktop.systemd1.Manager", "StartTransientUnit",
			  "ssa(sv)a(sa(sv))", unit, "fail", NULL);
	survive = survive && memory;
	ga_strv_pushf(argv, "%d", 1 + 2 * memory + survive + tasks + cpu);
	ga_strv_push_many(argv, "PIDs", "au", "1", NULL);
	ga_strv_pushf(argv, "%d", (int)pid);
	if (memory) {
		push_property(argv, "MemoryMax", l->memory);
		push_property(argv, "MemorySwapMax", 0);
	}
	if (survive)
		ga_strv_push_many(argv, "OOMPolicy", "s", "continue", NULL);
	if (tasks)
		push_property(argv, "TasksMax", l->tasks);
	if (cpu)
		push_property(argv, "CPUQuotaPerSecUSec", l->cpu * 10000);
	ga_strv_push(argv, "0");
}

/* Trust only the kernel: the process must be in the scope, and the limits set. */
static bool is_in_scope(const struct ga_sandbox *sb, const char *unit, const struct settings *s)
{
	cleanup_free char *dir = run_cgroup_of(sb->is.pid);

	if (!dir || strcmp(ga_path_base(dir), unit) != 0)
		return false;
	for (size_t i = 0; i < s->n; i++)
		if (!s->v[i].optional && !run_cgroup_has(dir, s->v[i].file, s->v[i].value))
			return false;
	return true;
}

static int refused_scope(const char *said, struct ga_error *err)
{
	cleanup_free char *q = ga_quote(said);

	return ga_fail(err, GA_ESTART, "systemd did not limit the session: %s"
		       GA_HINT "'systemd-run --%s --scope -p MemoryMax=1G true' must work, or "
		       "set limits.memory and limits.cpu to 0", q, geteuid() ? "user" : "system");
}

static int ask_for_scope(const struct ga_sandbox *sb, const struct ga_confine *c,
			 const char *unit, bool survive, struct ga_buf *said, int *ret_status,
			 struct ga_error *err)
{
	cleanup_strv struct ga_strv argv = GA_STRV_INIT;
	struct ga_process p = GA_PROCESS_INIT;

	scope_words(c, unit, sb->is.pid, survive, &argv);
	p.argv = (const char *const *)argv.v;
	p.errout = said;
	p.timeout_ms = SCOPE_MS;
	ga_buf_clear(said);
	if (ga_process_run(&p, ret_status, err))
		return ga_error_wrap(err, "cannot limit the session");
	ga_buf_chomp(said);
	return 0;
}

static int enter_scope(const struct ga_sandbox *sb, const struct ga_confine *c,
		       struct ga_error *err)
{
	cleanup_free char *unit = ga_strf("git-agent-%d-%" PRIu64 ".scope", (int)sb->is.pid,
					  sb->is.pidns);
	cleanup_buf struct ga_buf said = GA_BUF_INIT;
	struct settings s;
	int status;

	make_settings(c, GA_CONFINED_SYSTEMD, &s);
	if (ask_for_scope(sb, c, unit, true, &said, &status, err))
		return -1;
	/* a systemd that does not know OOMPolicy for scopes does not stop them either */
	if (status && strstr(said.ptr, "OOMPolicy") &&
	    ask_for_scope(sb, c, unit, false, &said, &status, err))
		return -1;
	if (status)
		return refused_scope(said.ptr, err);
	for (int ms = 0; !is_in_scope(sb, unit, &s); ms += 5) {
		struct timespec t = { 0, 5000000 };

		if (ms >= SCOPE_MS)
			return refused_scope("the limits did not come into force", err);
		(void)nanosleep(&t, NULL);
	}
	return 0;
}

int ga_run_confine(struct ga_sandbox *sb, const struct ga_confine *c, struct ga_error *err)
{
	struct settings s;

	if (c->cgroup) {
		make_settings(c, GA_CONFINED_CGROUP, &s);
		if (run_cgroup_enter(c->cgroup, s.v, s.n, sb->is.pid, &sb->cgroup, err))
			return -1;
	}
	if ((c->memory == GA_CONFINED_SYSTEMD || c->tasks == GA_CONFINED_SYSTEMD ||
	     c->cpu == GA_CONFINED_SYSTEMD) && enter_scope(sb, c, err))
		return -1;
	/* not RLIMIT_AS: many programs reserve far more address space than they use */
	if (c->memory == GA_CONFINED_RLIMIT && set_rlimit(sb, RLIMIT_DATA, c->limits.memory, err))
		return -1;
	if (c->limits.files && set_rlimit(sb, RLIMIT_NOFILE, c->limits.files, err))
		return -1;
	return c->tasks == GA_CONFINED_RLIMIT ? set_rlimit(sb, RLIMIT_NPROC, c->limits.tasks, err)
					      : 0;
}

uint64_t ga_run_oom_kills(const struct ga_sandbox *sb, const struct ga_confine *c)
{
	bool group = c->memory == GA_CONFINED_CGROUP || c->memory == GA_CONFINED_SYSTEMD;
	cleanup_free char *dir = group ? run_cgroup_of(sb->is.pid) : NULL;

	return dir ? run_cgroup_number(dir, "memory.events", "oom_kill") : 0;
}
