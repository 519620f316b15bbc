/* SPDX-License-Identifier: MIT
 *
 * What a sandbox finds on the host: tools, their directories, bwrap, and why it did not start.
 */
#include "spec-support.h"

static char *tools_of(const char *path, const char *command)
{
	ERR(err);
	STRV(tools);
	BUF(b);
	cleanup_free char *at = ga_path_join(world.home, path);

	if (ga_spec_find_tools(world.home, at, command, &tools, &err))
		return ga_strf("! %s", err.msg);
	for (size_t i = 0; i < tools.n; i++)
		ga_buf_addf(&b, "%s%s", i ? " " : "", tools.v[i]);
	return ga_buf_steal(&b);
}

#define ASSERT_TOOLS(path, command, expect) \
	do { \
		cleanup_free char *got_ = tools_of((path), (command)); \
		STREQ(got_, (expect)); \
	} while (0)

TEST_WITH(directories_of_tools_are_found, setup, teardown)
{

	ASSERT_TOOLS("bin", "absent", "");
	make_file("home/.local/bin/x", "");
	make_dir("home/.cargo/bin");
	make_dir("home/.ssh");
	make_file("home/.cargo/credentials.toml", "");
	ASSERT_TOOLS("bin", "absent", ".cargo/bin .local/bin");
	ASSERT_TOOLS(".local/bin", "x", ".cargo/bin .local/bin");
	/* a symlink chain: the directory of the link and the package it leads to */
	make_file("home/npm/lib/node_modules/@scope/agent/cli.js", "#!/usr/bin/env node\n");
	make_link("../lib/node_modules/@scope/agent/cli.js", "home/npm/bin/agent");
	ASSERT_TOOLS("npm/bin", "agent", ".cargo/bin .local/bin npm/bin npm/lib/node_modules/@scope/agent");
	/* a link in ~/.local/bin to an absolute place, and a virtual environment */
	make_file("home/venvs/aider/bin/aider", "#!/bin/sh\n");
	{
		cleanup_free char *target = in("home/venvs/aider/bin/aider");

		make_link(target, "home/.local/bin/aider");
	}
	ASSERT_TOOLS(".local/bin", "aider", ".cargo/bin .local/bin venvs/aider");
	/* an interpreter below home */
	make_file("home/py/3/bin/python3", "");
	{
		cleanup_free char *line = ga_strf("#!%s/py/3/bin/python3 -I\n", world.home);

		make_file("home/apps/tool/run", line);
	}
	ASSERT_TOOLS("apps/tool", "run", ".cargo/bin .local/bin apps/tool py/3");
}

/* Rows with one beginning, of names that begin alike, and of a name that is no directory. */
TEST_WITH(toolchains_below_home_are_found, setup, teardown)
{

	make_dir("home/.nvm");
	make_dir("home/.nvmx");
	make_dir("home/.nv");
	make_dir("home/.local/share/mise");
	make_dir("home/.local/share/secret");
	make_dir("home/.local/lib");
	make_dir("home/.asdf");
	make_dir("home/.cache/ms-playwright/chromium-1");
	make_dir("home/.cache/other");
	make_file("home/.pyenv", "");
	make_dir("home/n/notes");
	make_dir("home/n/bin");
	make_link("../rustup", "home/.rustup");
	make_dir("rustup");
	ASSERT_TOOLS("bin", "absent", ".asdf .cache/ms-playwright .local/lib .local/share/mise .nvm .rustup n/bin");
}

TEST_WITH(a_directory_of_credentials_is_never_shown, setup, teardown)
{
	cleanup_free char *home = NULL;

	/* straight in home */
	make_file("home/agent", "");
	home = tools_of("", "agent");
	assert_true(home[0] == '!');
	assert_has(home, "may hold credentials");
	/* bin beside credentials: bin alone */
	make_file("home/.codex/bin/codex", "");
	make_file("home/.codex/auth.json", "");
	ASSERT_TOOLS(".codex/bin", "codex", ".codex/bin");
	make_file("home/.claude/local/claude", "");
	ASSERT_TOOLS(".claude/local", "claude", ".claude/local");
	/* within something that is secret as a whole */
	make_file("home/.ssh/bin/x", "");
	{
		cleanup_free char *got = tools_of(".ssh/bin", "x");

		assert_true(got[0] == '!');
	}
	/* a link that loops */
	make_link("loop", "home/l/loop");
	ASSERT_TOOLS("l", "loop", "");
}

TEST(a_failed_step_is_explained)
{
	const struct {
		const char *step;
		int errnum;
		const char *object, *message, *hint; /* hint NULL: none expected */
	} cases[] = {
		{ "dest", ELOOP, "home/x\033", "a symlink blocks the mount point", "remove it" },
		{ "dest", ENOTDIR, "home/x", "a file blocks the mount point", "remove it" },
		{ "dest", EROFS, "home/x", "cannot make the mount point", NULL },
		{ "overlay", EINVAL, "/proc", "cannot mount the overlay", "XDG_STATE_HOME" },
		{ "overlay", EINVAL, "/dev/shm", "cannot hold the writable layer", "XDG_STATE_HOME" },
		{ "overlay", EPERM, "/x", "cannot mount an overlay", "" },
		{ "overlay", ENODEV, "/x", "no overlay file system", "modprobe" },
		{ "hide", EPERM, "home/.nvm", "cannot cover the credentials in 'home/.nvm'", "" },
		{ "hide", EIO, "home/.nvm", "cannot cover the credentials in 'home/.nvm'", NULL },
		{ "overlay", ENOSPC, "/x", "cannot write to '/x'", NULL },
		{ "bind", ENOSYS, "home", "a system call that sandboxes need is not there", "" },
		{ "bind", EPERM, "home", "cannot mount 'home'", "" },
		{ "plan", ENOSYS, "descriptors", "a system call that sandboxes need is not there", "" },
		{ "userns", ENOSPC, "", "cannot create a user namespace", "" },
		{ "userns", ENOSYS, "", "this kernel has no user namespaces", "" },
		{ "source", ENOENT, "/gone", "cannot open '/gone'", NULL },
		{ "exec", ENOENT, "/usr/bin/bwrap", "cannot execute '/usr/bin/bwrap'", NULL },
		{ "caps", EPERM, "", "capabilities", NULL },
		{ "userns", EPERM, "", "user namespace", "" },
		{ "idmap", EPERM, "", "user namespace", "" },
		{ "nonsense", EPERM, "o", "refused its plan", NULL },
		{ "plan", EINVAL, "overlay", "refused its plan", NULL },
		{ "plan", E2BIG, "overlay", "too many directories to mount", "each submodule two" },
	};

	for_index (i, cases) {
		ERR(err);

		EQUAL(ga_stage_explain(cases[i].step, cases[i].errnum, cases[i].object, &err), -1);
		EQUAL(err.code, GA_ESTART);
		if (!strstr(err.msg, cases[i].message) || strchr(err.msg, '\033'))
			fail_msg("row %zu: %s", i, err.msg);
		if (!cases[i].hint != !err.hint || (err.hint && !strstr(err.hint, cases[i].hint)))
			fail_msg("row %zu: hint %s", i, err.hint ? err.hint : "missing");
	}
}

TEST(what_bwrap_says_is_explained)
{
	static const char *const no_namespace[] = {
		"bwrap: setting up uid map: Permission denied",
		"bwrap: Creating new namespace failed: Operation not permitted",
		"bwrap: No permissions to create new namespace, likely because ...",
		"bwrap: stat on /proc/self/ns/cgroup failed: Permission denied",
	};
	ERR(a);
	ERR(c);

	(void)ga_bwrap_explain("bwrap: Can't mount proc on /newroot/proc: Operation not permitted", &a);
	assert_has(a.msg, "Can't mount proc");
	assert_has(a.hint, "systempaths");
	for_each (row, no_namespace) {
		ERR(b);

		(void)ga_bwrap_explain(*row, &b);
		assert_has(b.msg, "user namespace");
	}
	(void)ga_bwrap_explain("bwrap: Can't find source path /x: No such file or directory", &c);
	assert_has(c.msg, "Can't find source path /x");
	EQUAL(c.code, GA_ESTART);
}

TEST_MAIN(NULL, NULL)
