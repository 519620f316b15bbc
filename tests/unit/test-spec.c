/* SPDX-License-Identifier: MIT */
#include "spec-support.h"

TEST_WITH(the_plan_of_a_project_below_home, setup, teardown)
{
	const struct world *w = *state;
	cleanup_spec struct ga_spec s = GA_SPEC_INIT;
	cleanup_free char *got = NULL;

	make_spec(w, "home/src/p", &s);
	make_dir(w, "home/src/p/node_modules");
	make_dir(w, "home/src/p/a/target");
	s.git_lower = in(w, "template");
	s.git_work = in(w, "s/gitwork");
	s.n_shared = 3;
	s.shared = ga_calloc(s.n_shared, sizeof(*s.shared));
	s.shared[0] = (struct ga_shared){ .rel = ga_strdup("node_modules"),
					  .lower = in(w, "home/src/p/node_modules"),
					  .upper = in(w, "s/0/upper"),
					  .work = in(w, "s/0/work") };
	s.shared[1] = (struct ga_shared){ .rel = ga_strdup("a/target"),
					  .lower = in(w, "home/src/p/a/target"),
					  .upper = in(w, "s/1/upper"),
					  .work = in(w, "s/1/work"),
					  .mask = in(w, "s/1/mask") };
	/* gone on the host by now */
	s.shared[2] = (struct ga_shared){ .rel = ga_strdup("dist"),
					  .lower = in(w, "home/src/p/dist"),
					  .upper = in(w, "s/2/upper"),
					  .work = in(w, "s/2/work") };
	ga_strv_push_many(&s.tools, ".local/bin", "src/p/bin", NULL);
	got = plan_of(w, &s);
	assert_string_equal(got, "bind-rw\n@/aihome\nhome\n"
				 "mountpoint\nhome/src/p\nmove\nhome/src\nhome/src\n"
				 "mountpoint\nhome/.local/bin\n"
				 "bind-ro\n@/home/.local/bin\nhome/.local/bin\n"
				 "overlay\nproject\n@/s/upper\n@/s/work\n2\n@/s/extras\n@/base\n"
				 "overlay\nproject/.git\n@/s/git\n@/s/gitwork\n1\n@/template\n"
				 "overlay\nproject/a/target\n@/s/1/upper\n@/s/1/work\n2\n@/s/1/mask\n"
				 "@/home/src/p/a/target\n"
				 "overlay\nproject/node_modules\n@/s/0/upper\n@/s/0/work\n1\n"
				 "@/home/src/p/node_modules\n"
				 "tmpfs\n0755\nodb\nread-only\nodb\nmove\nodb\nroot/run/git-agent/odb\n"
				 "move\nproject\nhome/src/p\n"
				 "move\nhome\nroot@/home\n"
				 "end\n");
}

/* Where an object directory and what lies beside it is shown, as a destination of a plan. */
static char *object_dest(const char *host)
{
	cleanup_free char *path = ga_spec_object_path(host), *dir = ga_path_parent(path);

	assert_int_equal(strncmp(dir, "/run/git-agent/odb/", 19), 0);
	return ga_strf("odb/%s", dir + 19);
}

static void make_part(const struct world *w, const char *project, const char *layers,
		      struct ga_spec *s)
{
	cleanup_free char *extras = ga_path_join(layers, "extras");
	cleanup_free char *upper = ga_path_join(layers, "upper");
	cleanup_free char *work = ga_path_join(layers, "work");
	cleanup_free char *git = ga_path_join(layers, "git");

	s->project = in(w, project);
	ga_strv_take(&s->lowers, in(w, extras));
	s->upper = in(w, upper);
	s->work = in(w, work);
	s->git_upper = in(w, git);
}

/* A submodule in its superproject, and what it holds in it; objects that the superproject
 * shows already are shown once. */
TEST_WITH(submodules_are_mounted_in_their_superproject, setup, teardown)
{
	const struct world *w = *state;
	cleanup_spec struct ga_spec s = GA_SPEC_INIT;
	cleanup_free char *got = NULL, *one = NULL, *two = NULL, *want = NULL;

	make_spec(w, "code/p", &s);
	make_dir(w, "repo/objects");
	make_dir(w, "repo/lfs");
	ga_strv_take(&s.object_dirs, in(w, "repo/objects"));
	s.parts = ga_calloc(1, sizeof(*s.parts));
	s.n_parts = 1;
	make_part(w, "code/p/sub", "s1", &s.parts[0]);
	ga_strv_take(&s.parts[0].object_dirs, in(w, "repo/objects"));
	ga_strv_take(&s.parts[0].object_dirs, in(w, "two"));
	s.feedback = ga_strdup("/state/feedback");
	s.parts[0].parts = ga_calloc(1, sizeof(*s.parts));
	s.parts[0].n_parts = 1;
	make_part(w, "code/p/sub/a/b", "s2", &s.parts[0].parts[0]);
	got = plan_of(w, &s);
	one = object_dest(s.object_dirs.v[0]);
	two = object_dest(s.parts[0].object_dirs.v[1]);
	want = ga_strf("bind-rw\n@/aihome\nhome\n"
		       "overlay\nproject\n@/s/upper\n@/s/work\n2\n@/s/extras\n@/base\n"
		       "bind-rw\n@/s/git\nproject/.git\n"
		       "overlay\nproject/sub\n@/s1/upper\n@/s1/work\n1\n@/s1/extras\n"
		       "bind-rw\n@/s1/git\nproject/sub/.git\n"
		       "overlay\nproject/sub/a/b\n@/s2/upper\n@/s2/work\n1\n@/s2/extras\n"
		       "bind-rw\n@/s2/git\nproject/sub/a/b/.git\n"
		       "tmpfs\n0755\nodb\n"
		       "bind-ro\n@/repo/objects\n%s/objects\n"
		       "mask-file\n%s/objects/info/alternates\n"
		       "bind-ro\n@/repo/lfs\n%s/lfs\n"
		       "bind-ro\n@/two\n%s/objects\n"
		       "mask-file\n%s/objects/info/alternates\n"
		       "bind-ro\n/state/feedback\nodb/feedback\n"
		       "read-only\nodb\nmove\nodb\nroot/run/git-agent/odb\n"
		       "move\nhome\nroot@/home\nmove\nproject\nroot@/code/p\n"
		       "end\n", one, one, one, two, two);
	assert_string_equal(got, want);
}

TEST_WITH(a_submodule_elsewhere_is_refused, setup, teardown)
{
	const struct world *w = *state;
	cleanup_spec struct ga_spec s = GA_SPEC_INIT;
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	make_spec(w, "code/p", &s);
	s.parts = ga_calloc(1, sizeof(*s.parts));
	s.n_parts = 1;
	make_part(w, "code/other", "s1", &s.parts[0]);
	FAILS(ga_spec_plan_trees(&s, &b, &err), "is no path inside a project");
}

TEST_WITH(a_shared_directory_behind_a_symlink_is_left_out, setup, teardown)
{
	const struct world *w = *state;
	cleanup_spec struct ga_spec s = GA_SPEC_INIT;
	cleanup_free char *got = NULL;

	make_spec(w, "code/p", &s);
	make_dir(w, "home/.ssh/x");
	make_link(w, w->home, "code/p/a");
	s.n_shared = 1;
	s.shared = ga_calloc(1, sizeof(*s.shared));
	s.shared[0] = (struct ga_shared){ .rel = ga_strdup("a/.ssh"),
					  .lower = in(w, "code/p/a/.ssh"),
					  .upper = in(w, "s/0/upper"),
					  .work = in(w, "s/0/work") };
	got = plan_of(w, &s);
	assert_null(strstr(got, ".ssh"));
}

TEST_WITH(credentials_of_tools_are_masked, setup, teardown)
{
	const struct world *w = *state;
	cleanup_spec struct ga_spec s = GA_SPEC_INIT;
	cleanup_free char *got = NULL;

	make_spec(w, "code/p", &s);
	make_file(w, "home/.local/share/uv/credentials/credentials.toml", "token");
	make_file(w, "nvm/versions/node/v20/etc/npmrc", "token");
	make_link(w, "../nvm", "home/.nvm");
	make_file(w, "home/n/lib/npmrc", "token");
	make_link(w, "../lib/npmrc", "home/n/etc/npmrc");
	ga_strv_push_many(&s.tools, ".local/share/uv", ".nvm", "n", NULL);
	got = plan_of(w, &s);
	assert_has(got, "\nmask-dir\nhome/.local/share/uv/credentials\n");
	assert_has(got, "\nhide\nhome/.nvm/versions/node/v20/etc\n1\nnpmrc\n");
	assert_has(got, "\nhide\nhome/n/lib\n1\nnpmrc\n");
}

/* Which repositories there are need not be known, nor the layers. */
TEST_WITH(the_root_shows_the_system_read_only, setup, teardown)
{
	const struct world *w = *state;
	cleanup_spec struct ga_spec s = GA_SPEC_INIT;
	cleanup_free char *got = NULL;
	const char *tail;

	make_spec(w, "code/p", &s);
	make_dir(w, "data");
	ga_strv_take(&s.ro, in(w, "home/data"));
	ga_strv_take(&s.ro, in(w, "data"));
	got = root_of(w, &s);
	assert_memory_equal(got, "git-agent-plan-5\n@/s/stage\n", 27);
	assert_has(got, "\nbind-ro\n/usr\nroot/usr\n");
	assert_has(got, "\ndevice\n/dev/null\nroot/dev/null\n");
	assert_has(got, "\ntmpfs\n1777\nroot/tmp\n");
	assert_null(strstr(got, "/sys\n"));
	assert_null(strstr(got, "bind-rw"));
	tail = strstr(got, "bind-ro\n@/");
	assert_non_null(tail);
	assert_string_equal(tail, "bind-ro\n@/data\nroot@/data\n"
				  "tmpfs\n0755\nroot/run/git-agent\n"
				  "bind-ro\n/lib/init\nroot/run/git-agent/init\n"
				  "dir\n0755\nroot/run/git-agent/odb\n"
				  "read-only\nroot/run/git-agent\nsandbox\n");
}

/* Where home or project could hide what is mounted before, bwrap has to wait for them. */
TEST_WITH(bwrap_starts_when_nothing_gets_hidden, setup, teardown)
{
	const struct world *w = *state;
	cleanup_spec struct ga_spec s = GA_SPEC_INIT;
	cleanup_free char *root = NULL, *trees = NULL;

	make_spec(w, "code/p", &s);
	ga_strv_take(&s.ro, in(w, "code"));
	root = root_of(w, &s);
	trees = plan_of(w, &s);
	assert_null(strstr(root, "\nsandbox\n"));
	assert_has(trees, "root@/code/p\nsandbox\nend\n");
}

TEST_WITH(bwrap_drops_capabilities_and_namespaces, setup, teardown)
{
	const struct world *w = *state;
	cleanup_spec struct ga_spec s = GA_SPEC_INIT;
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	cleanup_free char *got = NULL;
	static const char head[] = "--unshare-user\n--unshare-pid\n--unshare-ipc\n--unshare-uts\n"
				   "--unshare-cgroup\n--unshare-net\n--disable-userns\n"
				   "--cap-drop\nALL\n--as-pid-1\n"
				   "--dev-bind\n@/s/stage/root\n/\n--proc\n/proc\n";
	static const char tail[] = "--ro-bind\n@/s/stage/empty-file\n/proc/keys\n";

	make_spec(w, "code/p", &s);
	s.network = false;
	ga_spec_bwrap_args(&s, &b);
	got = text_of(w, &b);
	assert_memory_equal(got, head, strlen(head));
	assert_has(got, tail);
	assert_has(got, "\n--remount-ro\n/\n--chdir\n/\n");
}

TEST_WITH(a_place_that_would_show_too_much_is_refused, setup, teardown)
{
	const struct world *w = *state;
	const struct {
		const char *home, *project, *source, *stage, *ro, *say;
	} cases[] = {
		{ "/", NULL, NULL, NULL, NULL, "is part of the system" },
		{ "/etc", NULL, NULL, NULL, NULL, "is part of the system" },
		{ "/var", NULL, NULL, NULL, NULL, "is part of the system" },
		{ "/tmp", NULL, NULL, NULL, NULL, "is part of the system" },
		{ "home/../x", NULL, NULL, NULL, NULL, "absolute paths" },
		{ NULL, "/", NULL, NULL, NULL, "is part of the system" },
		{ NULL, "/usr", NULL, NULL, NULL, "is part of the system" },
		{ NULL, w->home, NULL, NULL, NULL, "is your home directory or holds it" },
		{ NULL, w->root, NULL, NULL, NULL, "is your home directory or holds it" },
		{ NULL, NULL, w->home, NULL, NULL, "is your own home or holds it" },
		{ NULL, NULL, "@code/p/ai", NULL, NULL, "lies inside the project" },
		{ NULL, NULL, "@code", NULL, NULL, "lies inside the agents' home" },
		{ NULL, NULL, "@s", NULL, NULL, "lies inside the agents' home" },
		{ NULL, NULL, NULL, "/opt/s", NULL, "would be visible inside" },
		{ NULL, NULL, NULL, "@code/p/s", NULL, "lies inside the project" },
		{ NULL, NULL, NULL, NULL, "/", "would show your home" },
		{ NULL, NULL, NULL, NULL, w->root, "would show your home" },
		{ NULL, NULL, NULL, NULL, "@code/p/x", "lies inside the project" },
		{ NULL, NULL, NULL, NULL, "@s", "would be visible inside" },
	};

	for (size_t i = 0; i < GA_NELEMS(cases); i++) {
		cleanup_error struct ga_error err = GA_ERROR_INIT;
		cleanup_spec struct ga_spec s = GA_SPEC_INIT;
		const char *const values[] = { cases[i].home, cases[i].project, cases[i].source,
					       cases[i].stage };
		char **const fields[] = { &s.home, &s.project, &s.home_source, &s.stage_dir };

		make_spec(w, "code/p", &s);
		for (size_t f = 0; f < GA_NELEMS(fields); f++) {
			if (!values[f])
				continue;
			free(*fields[f]);
			*fields[f] = values[f][0] == '@' ? in(w, values[f] + 1) : ga_strdup(values[f]);
		}
		if (cases[i].ro)
			ga_strv_take(&s.ro, cases[i].ro[0] == '@' ? in(w, cases[i].ro + 1)
								  : ga_strdup(cases[i].ro));
		if (!ga_spec_check(&s, &err))
			fail_msg("row %zu (%s) was accepted", i, cases[i].say);
		assert_int_equal(err.code, GA_ESTART);
		if (!strstr(err.msg, cases[i].say))
			fail_msg("row %zu says: %s", i, err.msg);
	}
}

TEST_WITH(the_environment_passes_only_what_is_listed, setup, teardown)
{
	const struct world *w = *state;
	cleanup_spec struct ga_spec s = GA_SPEC_INIT;
	cleanup_strv struct ga_strv pass = GA_STRV_INIT;
	cleanup_buf struct ga_buf got = GA_BUF_INIT;
	cleanup_free char *path = NULL, *want = NULL;
	const char *env[] = { "TERM=xterm", "SSH_AUTH_SOCK=/run/x", "AWS_SECRET_ACCESS_KEY=s",
			      "LC_TIME=C", "LC_=odd", "PATH", "USER=me", "SHELL=/home/none/sh",
			      "KEY_A=1", "KEY_B=2", "KEY=3", "LD_PRELOAD=x", "DISPLAY=:0",
			      "JAVA_HOME=/usr", "PYENV_ROOT=/home/none", NULL, NULL };
	cleanup_free char *nvm = ga_strf("NVM_DIR=%s/.local/bin", w->home);

	make_spec(w, "home/p", &s);
	make_dir(w, "home/.local/bin");
	make_dir(w, "home/private/bin");
	make_dir(w, "aihome/own/bin");
	ga_strv_push(&s.tools, ".local/bin");
	path = ga_strf("%s/.local/bin/:%s/private/bin:%s/own/bin:relative:/usr/bin::/sys/x:/tmp",
		       w->home, w->home, w->home);
	env[GA_NELEMS(env) - 2] = nvm;
	ga_strv_push_many(&pass, "KEY_*", "HOME", "SHELL", NULL);
	ga_spec_environment(&s, path, env, &pass);
	for (size_t i = 0; i < s.env.n; i++)
		ga_buf_addf(&got, "%s\n", s.env.v[i]);
	want = ga_strf("HOME=%s\nPATH=%s/.local/bin:%s/own/bin:/usr/bin:%s/.local/agent/bin\n"
		       "USER=me\nLOGNAME=me\nSHELL=/bin/sh\nJAVA_HOME=/usr\nNVM_DIR=%s/.local/bin\n"
		       "PIPX_BIN_DIR=%s/.local/agent/bin\nUV_TOOL_BIN_DIR=%s/.local/agent/bin\n"
		       "TERM=xterm\nLC_TIME=C\nLC_=odd\nKEY_A=1\nKEY_B=2\n",
		       w->home, w->home, w->home, w->home, w->home, w->home, w->home);
	assert_string_equal(got.ptr, want);
}

TEST_WITH(what_is_visible_inside_is_known, setup, teardown)
{
	const struct world *w = *state;
	cleanup_spec struct ga_spec s = GA_SPEC_INIT;
	const struct {
		const char *path;
		bool expect;
	} cases[] = {
		{ "/usr/bin", true },	     { "/bin/sh", true },     { "/etc/passwd", true },
		{ "/usr/no/such", false },   { "/tmp", false },	      { "/sys", false },
		{ "/home", false },	     { "relative", false },   { "/root/.bashrc", false },
		{ "@home", true },	     { "@home/x", false },    { "@home/mine", true },
		{ "@home/.local/bin", true }, { "@home/p/a", true },  { "@home/p/b", false },
		{ "@data/in", true },	     { "@other", false },
	};

	make_spec(w, "home/p", &s);
	make_dir(w, "home/p/a");
	make_dir(w, "home/x");
	make_dir(w, "home/.local/bin");
	make_dir(w, "aihome/mine");
	make_dir(w, "data/in");
	make_dir(w, "other");
	ga_strv_push(&s.tools, ".local/bin");
	ga_strv_take(&s.ro, in(w, "data"));
	for_each (row, cases) {
		const char *p = row->path;
		cleanup_free char *path = p[0] == '@' ? in(w, p + 1) : ga_strdup(p);

		if (ga_spec_visible(&s, path) != row->expect)
			fail_msg("%s: expected %d", p, row->expect);
	}
}

TEST_MAIN(NULL, NULL)
