/* SPDX-License-Identifier: MIT */
#include "../test.h"
#include <signal.h>
#include <sys/xattr.h>

#include "run/run-internal.h"
#include "ga/base/path.h"
#include "ga/run/confine.h"

/* A group of its own with one setting, in the kernel's own tree: only root has one everywhere, and
 * which controllers there are depends on the machine. */
static const struct run_cgroup_setting *setting_here(char **ret_parent)
{
	static const struct run_cgroup_setting some[] = {
		{ "pids", "pids.max", "17", false },
		{ "memory", "memory.max", "67108864", false },
		{ "hugetlb", "hugetlb.2MB.max", "2097152", false },
	};

	for_each (row, some) {
		*ret_parent = run_cgroup_find(row, 1, false);
		if (*ret_parent)
			return row;
	}
	return NULL;
}

/* On a machine with nothing delegated a controller can be had as root, for the time of the test. */
static char *delegate(void)
{
	cleanup_free char *own = run_cgroup_of(0);
	char *control = own ? ga_path_join(own, "cgroup.subtree_control") : NULL;
	int fd = control ? open(control, O_WRONLY | O_CLOEXEC) : -1;
	bool ok = fd >= 0 && write(fd, "+hugetlb", 8) == 8;

	if (fd >= 0)
		(void)close(fd);
	if (!ok) {
		free(control);
		return NULL;
	}
	return control;
}

static void undelegate(char *control)
{
	int fd = open(control, O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, "-hugetlb", 8) != 8)
		print_error("cannot undo '%s'\n", control);
	if (fd >= 0)
		(void)close(fd);
	free(control);
}

static void holds_a_process(const char *parent, const struct run_cgroup_setting *s)
{
	const struct run_cgroup_setting bad = { s->controller, "no.such.file", "1", false };
	const struct run_cgroup_setting both[] = { *s, { "", "no.such.file", "1", true } };
	char *dir = NULL, *again = NULL, *in;
	pid_t pid = fork();

	if (!pid) {
		(void)pause();
		_exit(0);
	}
	FAILS(run_cgroup_enter(parent, &bad, 1, pid, &dir, &err), "no.such.file");
	OK(run_cgroup_enter(parent, both, 2, pid, &dir, &err));
	in = run_cgroup_of(pid);
	STREQ(in, dir);
	assert_true(run_cgroup_has(dir, s->file, s->value));
	assert_false(run_cgroup_has(dir, s->file, "1"));
	/* there already; and one that is in use is not swept away */
	FAILS(run_cgroup_enter(parent, both, 1, pid, &again, &err), "");
	EQUAL(access(dir, F_OK), 0);
	EQUAL(kill(pid, SIGKILL), 0);
	EQUAL(waitpid(pid, NULL, 0), pid);
	/* what nobody removed the next one does */
	pid = fork();
	if (!pid) {
		(void)pause();
		_exit(0);
	}
	OK(run_cgroup_enter(parent, both, 1, pid, &again, &err));
	EQUAL(access(dir, F_OK), -1);
	EQUAL(kill(pid, SIGKILL), 0);
	EQUAL(waitpid(pid, NULL, 0), pid);
	EQUAL(rmdir(again), 0);
	free(dir);
	free(again);
	free(in);
}

/* Of all we may write to, none but what systemd leaves to others, and to no other manager. */
static void finds_what_is_marked(const struct run_cgroup_setting *s)
{
	char *dir = run_cgroup_find(s, 1, true), *manager, value = 0;

	assert_true(!dir || (getxattr(dir, "user.delegate", &value, 1) == 1 && value == '1') ||
		    (getxattr(dir, "trusted.delegate", &value, 1) == 1 && value == '1'));
	manager = dir ? ga_path_join(dir, "init.scope") : NULL;
	assert_true(!manager || access(manager, F_OK));
	free(manager);
	free(dir);
}

/* One that was just made is empty, but not left over. */
static void makes_many_at_once(const char *parent, const struct run_cgroup_setting *s)
{
	pid_t pids[12];
	int st, failed = 0;

	for_each (row, pids) {
		*row = fork();
		if (*row)
			continue;
		for (int k = 0; k < 20; k++) {
			struct ga_error err = GA_ERROR_INIT;
			char *dir = NULL;
			pid_t pid = fork();

			if (!pid) {
				(void)pause();
				_exit(0);
			}
			if (run_cgroup_enter(parent, s, 1, pid, &dir, &err))
				print_error("%s\n", err.msg);
			(void)kill(pid, SIGKILL);
			(void)waitpid(pid, NULL, 0);
			if (!dir)
				_exit(1);
			(void)rmdir(dir);
		}
		_exit(0);
	}
	for_each (row, pids) {
		EQUAL(waitpid(*row, &st, 0), *row);
		failed += st != 0;
	}
	EQUAL(failed, 0);
}

TEST(a_process_is_put_into_a_new_group)
{
	char *parent = NULL, *control = NULL;
	const struct run_cgroup_setting *s = setting_here(&parent);

	if (!s) {
		control = delegate();
		s = control ? setting_here(&parent) : NULL;
	}
	if (s) {
		holds_a_process(parent, s);
		makes_many_at_once(parent, s);
		finds_what_is_marked(s);
	} else {
		print_message("no control group can be made here\n");
	}
	free(parent);
	if (control)
		undelegate(control);
}

/* How each can be had depends on the machine; that none is had for nothing does not. */
TEST(a_plan_says_how_each_limit_is_kept)
{
	static const char *const env[] = { NULL };
	struct ga_confine c = GA_CONFINE_INIT;
	STRV(got);
	struct ga_use_limits l = { .time = 60, .output = 1 << 20, .upper = 2048 };

	OK(ga_confine_plan(&l, env, "", &c, &err));
	EQUAL(c.memory, GA_CONFINED_NOT);
	EQUAL(c.tasks, GA_CONFINED_NOT);
	EQUAL(c.cpu, GA_CONFINED_NOT);
	ga_confine_describe(&c, &got);
	EQUAL(got.n, 3);
	STREQ(got.v[0], "time 1m watch");
	STREQ(got.v[1], "output 1MiB watch");
	STREQ(got.v[2], "upper 2KiB watch");
	ga_confine_release(&c);
	l = (struct ga_use_limits){ .memory = 1 << 30, .tasks = 100, .tasks_default = true };
	OK(ga_confine_plan(&l, env, "", &c, &err));
	assert_int_not_equal(c.memory, GA_CONFINED_NOT);
	if (geteuid())
		EQUAL(c.tasks, GA_CONFINED_RLIMIT);
	ga_confine_release(&c);
}

TEST(numbers_are_read_by_their_name)
{
	char dir[] = "/tmp/test-cgroup-XXXXXX", file[64];
	FILE *f;

	assert_non_null(mkdtemp(dir));
	(void)snprintf(file, sizeof(file), "%s/memory.events", dir);
	f = fopen(file, "we");
	assert_non_null(f);
	(void)fputs("low 1\noom 5\noom_kill 3\noom_group_kill 7\n", f);
	EQUAL(fclose(f), 0);
	EQUAL(run_cgroup_number(dir, "memory.events", "oom_kill"), 3);
	EQUAL(run_cgroup_number(dir, "memory.events", "oom"), 5);
	EQUAL(run_cgroup_number(dir, "memory.events", "oo"), 0);
	EQUAL(run_cgroup_number(dir, "gone", "oom"), 0);
	EQUAL(unlink(file), 0);
	EQUAL(rmdir(dir), 0);
}

TEST_MAIN(NULL, NULL)
