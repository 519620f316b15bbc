/* SPDX-License-Identifier: MIT */
#include "spec-support.h"

/* Beside others, a directory that is shared; layers in s/LAYERS. */
static struct ga_shared *share(struct ga_spec *s, const char *project, const char *rel, const char *layers)
{
	cleanup_free char *lower = ga_path_join(project, rel), *upper = ga_strf("s/%s/upper", layers);
	cleanup_free char *work = ga_strf("s/%s/work", layers);

	s->shared = ga_realloc(s->shared, (s->n_shared + 1) * sizeof(*s->shared));
	s->shared[s->n_shared] = (struct ga_shared){ .rel = ga_strdup(rel), .lower = in(lower),
						     .upper = in(upper), .work = in(work) };
	return &s->shared[s->n_shared++];
}

TEST_WITH(the_plan_of_a_project_below_home, setup, teardown)
{
	cleanup_spec struct ga_spec s = GA_SPEC_INIT;
	cleanup_free char *got = NULL;

	make_spec("home/src/p", &s);
	make_dir("home/src/p/node_modules");
	make_dir("home/src/p/a/target");
	s.git.lower = in("template");
	s.git.work = in("s/gitwork");
	share(&s, "home/src/p", "node_modules", "0");
	share(&s, "home/src/p", "a/target", "1")->mask = in("s/1/mask");
	/* gone on the host by now */
	share(&s, "home/src/p", "dist", "2");
	ga_strv_push_many(&s.host.tools, ".local/bin", "src/p/bin", NULL);
	got = plan_of(&s);
	STREQ(got, "bind-rw\n@/aihome\nhome\nmountpoint\nhome/src/p\nmove\nhome/src\nhome/src\n"
		   "mountpoint\nhome/.local/bin\nbind-ro\n@/home/.local/bin\nhome/.local/bin\n"
		   "overlay\nproject\n@/s/upper\n@/s/work\n2\n@/s/extras\n@/base\n"
		   "overlay\nproject/.git\n@/s/git\n@/s/gitwork\n1\n@/template\n"
		   "overlay\nproject/a/target\n@/s/1/upper\n@/s/1/work\n2\n@/s/1/mask\n"
		   "@/home/src/p/a/target\noverlay\nproject/node_modules\n@/s/0/upper\n@/s/0/work\n1\n"
		   "@/home/src/p/node_modules\n"
		   "tmpfs\n0755\nodb\nread-only\nodb\nmove\nodb\nroot/run/git-agent/odb\n"
		   "move\nproject\nhome/src/p\nmove\nhome\nroot@/home\nend\n");
}

/* Where an object directory and what lies beside it is shown, as a destination of a plan. */
static char *object_dest(const char *host)
{
	cleanup_free char *path = ga_spec_object_path(host), *dir = ga_path_parent(path);

	EQUAL(strncmp(dir, "/run/git-agent/odb/", 19), 0);
	return ga_strf("odb/%s", dir + 19);
}

static void make_part(const char *project, const char *layers, struct ga_spec *s)
{
	cleanup_free char *extras = ga_path_join(layers, "extras");
	cleanup_free char *upper = ga_path_join(layers, "upper");
	cleanup_free char *work = ga_path_join(layers, "work");
	cleanup_free char *git = ga_path_join(layers, "git");

	s->project = in(project);
	ga_strv_take(&s->lowers, in(extras));
	s->upper = in(upper);
	s->work = in(work);
	s->git.upper = in(git);
}

/* A submodule in its superproject, and what it holds in it; objects that the superproject
 * shows already are shown once. */
TEST_WITH(submodules_are_mounted_in_their_superproject, setup, teardown)
{
	cleanup_spec struct ga_spec s = GA_SPEC_INIT;
	cleanup_free char *got = NULL, *one = NULL, *two = NULL, *want = NULL;

	make_spec("code/p", &s);
	make_dir("repo/objects");
	make_dir("repo/lfs");
	ga_strv_take(&s.object_dirs, in("repo/objects"));
	s.parts = ga_calloc(1, sizeof(*s.parts));
	s.n_parts = 1;
	make_part("code/p/sub", "s1", &s.parts[0]);
	ga_strv_take(&s.parts[0].object_dirs, in("repo/objects"));
	ga_strv_take(&s.parts[0].object_dirs, in("two"));
	s.feedback = ga_strdup("/state/feedback");
	s.parts[0].parts = ga_calloc(1, sizeof(*s.parts));
	s.parts[0].n_parts = 1;
	make_part("code/p/sub/a/b", "s2", &s.parts[0].parts[0]);
	got = plan_of(&s);
	one = object_dest(s.object_dirs.v[0]);
	two = object_dest(s.parts[0].object_dirs.v[1]);
	want = ga_strf("bind-rw\n@/aihome\nhome\noverlay\nproject\n@/s/upper\n@/s/work\n2\n@/s/extras\n@/base\n"
		       "bind-rw\n@/s/git\nproject/.git\noverlay\nproject/sub\n@/s1/upper\n@/s1/work\n1\n@/s1/extras\n"
		       "bind-rw\n@/s1/git\nproject/sub/.git\n"
		       "overlay\nproject/sub/a/b\n@/s2/upper\n@/s2/work\n1\n@/s2/extras\n"
		       "bind-rw\n@/s2/git\nproject/sub/a/b/.git\ntmpfs\n0755\nodb\n"
		       "bind-ro\n@/repo/objects\n%s/objects\nmask-file\n%s/objects/info/alternates\n"
		       "bind-ro\n@/repo/lfs\n%s/lfs\nbind-ro\n@/two\n%s/objects\n"
		       "mask-file\n%s/objects/info/alternates\nbind-ro\n/state/feedback\nodb/feedback\n"
		       "read-only\nodb\nmove\nodb\nroot/run/git-agent/odb\n"
		       "move\nhome\nroot@/home\nmove\nproject\nroot@/code/p\nend\n", one, one, one, two, two);
	STREQ(got, want);
}

TEST_WITH(a_submodule_elsewhere_is_refused, setup, teardown)
{
	cleanup_spec struct ga_spec s = GA_SPEC_INIT;
	BUF(b);

	make_spec("code/p", &s);
	s.parts = ga_calloc(1, sizeof(*s.parts));
	s.n_parts = 1;
	make_part("code/other", "s1", &s.parts[0]);
	FAILS(ga_spec_plan_trees(&s, &b, &err), "is no path inside a project");
}

TEST_WITH(a_shared_directory_behind_a_symlink_is_left_out, setup, teardown)
{
	cleanup_spec struct ga_spec s = GA_SPEC_INIT;
	cleanup_free char *got = NULL;

	make_spec("code/p", &s);
	make_dir("home/.ssh/x");
	make_link(world.home, "code/p/a");
	share(&s, "code/p", "a/.ssh", "0");
	got = plan_of(&s);
	assert_null(strstr(got, ".ssh"));
}

TEST_WITH(credentials_of_tools_are_masked, setup, teardown)
{
	cleanup_spec struct ga_spec s = GA_SPEC_INIT;
	cleanup_free char *got = NULL;

	make_spec("code/p", &s);
	make_file("home/.local/share/uv/credentials/credentials.toml", "token");
	make_file("nvm/versions/node/v20/etc/npmrc", "token");
	make_link("../nvm", "home/.nvm");
	make_file("home/n/lib/npmrc", "token");
	make_link("../lib/npmrc", "home/n/etc/npmrc");
	ga_strv_push_many(&s.host.tools, ".local/share/uv", ".nvm", "n", NULL);
	got = plan_of(&s);
	assert_has(got, "\nmask-dir\nhome/.local/share/uv/credentials\n");
	assert_has(got, "\nhide\nhome/.nvm/versions/node/v20/etc\n1\nnpmrc\n");
	assert_has(got, "\nhide\nhome/n/lib\n1\nnpmrc\n");
}

/* Which repositories there are need not be known, nor the layers. */
TEST_WITH(the_root_shows_the_system_read_only, setup, teardown)
{
	cleanup_spec struct ga_spec s = GA_SPEC_INIT;
	cleanup_free char *got = NULL;
	const char *tail;

	make_spec("code/p", &s);
	make_dir("data");
	ga_strv_take(&s.host.ro, in("home/data"));
	ga_strv_take(&s.host.ro, in("data"));
	got = root_of(&s);
	assert_memory_equal(got, "git-agent-plan-6\n@/s/stage\n", 27);
	assert_has(got, "\nbind-ro\n/usr\nroot/usr\n");
	assert_has(got, "\ndevice\n/dev/null\nroot/dev/null\n");
	assert_has(got, "\ntmpfs\n1777\nroot/tmp\n");
	assert_null(strstr(got, "/sys\n"));
	assert_null(strstr(got, "bind-rw"));
	tail = strstr(got, "bind-ro\n@/");
	assert_non_null(tail);
	STREQ(tail, "bind-ro\n@/data\nroot@/data\ntmpfs\n0755\nroot/run/git-agent\n"
		    "bind-ro\n/lib/init\nroot/run/git-agent/init\ndir\n0755\nroot/run/git-agent/odb\n"
		    "read-only\nroot/run/git-agent\nsandbox\n");
}

/* Where home or project could hide what is mounted before, bwrap has to wait for them. */
TEST_WITH(bwrap_starts_when_nothing_gets_hidden, setup, teardown)
{
	cleanup_spec struct ga_spec s = GA_SPEC_INIT;
	cleanup_free char *root = NULL, *trees = NULL;

	make_spec("code/p", &s);
	ga_strv_take(&s.host.ro, in("code"));
	root = root_of(&s);
	trees = plan_of(&s);
	assert_null(strstr(root, "\nsandbox\n"));
	assert_has(trees, "root@/code/p\nsandbox\nend\n");
}

TEST_WITH(bwrap_drops_capabilities_and_namespaces, setup, teardown)
{
	cleanup_spec struct ga_spec s = GA_SPEC_INIT;
	BUF(b);
	cleanup_free char *got = NULL;
	static const char head[] = "--unshare-user\n--unshare-pid\n--unshare-ipc\n--unshare-uts\n"
				   "--unshare-cgroup\n--unshare-net\n--disable-userns\n--cap-drop\nALL\n--as-pid-1\n"
				   "--dev-bind\n@/s/stage/root\n/\n--proc\n/proc\n";
	static const char tail[] = "--ro-bind\n@/s/stage/empty-file\n/proc/keys\n";

	make_spec("code/p", &s);
	s.network = false;
	ga_spec_bwrap_args(&s, &b);
	got = text_of(&b);
	assert_memory_equal(got, head, strlen(head));
	assert_has(got, tail);
	assert_has(got, "\n--remount-ro\n/\n--chdir\n/\n");
}

TEST_WITH(a_place_that_would_show_too_much_is_refused, setup, teardown)
{
	enum { HOME, PROJECT, SOURCE, STAGE, RO };
	const struct {
		int field;
		const char *value, *say;
	} cases[] = {
		{ HOME, "/", "is part of the system" },
		{ HOME, "/etc", "is part of the system" },
		{ HOME, "/var", "is part of the system" },
		{ HOME, "/tmp", "is part of the system" },
		{ HOME, "home/../x", "absolute paths" },
		{ PROJECT, "/", "is part of the system" },
		{ PROJECT, "/usr", "is part of the system" },
		{ PROJECT, world.home, "is your home directory or holds it" },
		{ PROJECT, world.root, "is your home directory or holds it" },
		{ SOURCE, world.home, "is your own home or holds it" },
		{ SOURCE, "@code/p/ai", "lies inside the project" },
		{ SOURCE, "@code", "lies inside the agents' home" },
		{ SOURCE, "@s", "lies inside the agents' home" },
		{ STAGE, "/opt/s", "would be visible inside" },
		{ STAGE, "@code/p/s", "lies inside the project" },
		{ RO, "/", "would show your home" },
		{ RO, world.root, "would show your home" },
		{ RO, "@code/p/x", "lies inside the project" },
		{ RO, "@s", "would be visible inside" },
	};

	for_each (row, cases) {
		ERR(err);
		cleanup_spec struct ga_spec s = GA_SPEC_INIT;
		char **const fields[] = { &s.home, &s.project, &s.home_dir.source, &s.stage_dir };
		char *value = row->value[0] == '@' ? in(row->value + 1) : ga_strdup(row->value);

		make_spec("code/p", &s);
		if (row->field == RO) {
			ga_strv_take(&s.host.ro, value);
		} else {
			free(*fields[row->field]);
			*fields[row->field] = value;
		}
		if (!ga_spec_check(&s, &err))
			fail_msg("'%s' was accepted (%s)", row->value, row->say);
		EQUAL(err.code, GA_ESTART);
		assert_has(err.msg, row->say);
	}
}

TEST_WITH(the_environment_passes_only_what_is_listed, setup, teardown)
{
	cleanup_spec struct ga_spec s = GA_SPEC_INIT;
	STRV(pass);
	BUF(got);
	cleanup_free char *path = NULL, *want = NULL;
	const char *env[] = { "TERM=xterm", "SSH_AUTH_SOCK=/run/x", "AWS_SECRET_ACCESS_KEY=s",
			      "LC_TIME=C", "LC_=odd", "PATH", "USER=me", "SHELL=/home/none/sh",
			      "KEY_A=1", "KEY_B=2", "KEY=3", "LD_PRELOAD=x", "DISPLAY=:0",
			      "JAVA_HOME=/usr", "PYENV_ROOT=/home/none",
			      "HTTPS_PROXY=http://u:p@q@h:1/", "all_proxy=u:p@h:2", NULL, NULL };
	cleanup_free char *nvm = ga_strf("NVM_DIR=%s/.local/bin", world.home);

	make_spec("home/p", &s);
	make_dir("home/.local/bin");
	make_dir("home/private/bin");
	make_dir("aihome/own/bin");
	ga_strv_push(&s.host.tools, ".local/bin");
	path = ga_strf("%s/.local/bin/:%s/private/bin:%s/own/bin:relative:/usr/bin::/sys/x:/tmp",
		       world.home, world.home, world.home);
	env[GA_NELEMS(env) - 2] = nvm;
	ga_strv_push_many(&pass, "KEY_*", "HOME", "SHELL", NULL);
	ga_spec_environment(&s, path, env, &pass);
	for (size_t i = 0; i < s.env.n; i++)
		ga_buf_addf(&got, "%s\n", s.env.v[i]);
	want = ga_strf("HOME=%s\nPATH=%s/.local/bin:%s/own/bin:/usr/bin:%s/.local/agent/bin\n"
		       "USER=me\nLOGNAME=me\nSHELL=/bin/sh\nJAVA_HOME=/usr\nNVM_DIR=%s/.local/bin\n"
		       "PIPX_BIN_DIR=%s/.local/agent/bin\nUV_TOOL_BIN_DIR=%s/.local/agent/bin\n"
		       "pnpm_config_store_dir=%s/.cache/pnpm-store\nTERM=xterm\nLC_TIME=C\nLC_=odd\nKEY_A=1\nKEY_B=2\n"
		       "HTTPS_PROXY=http://h:1/\nall_proxy=h:2\n",
		       world.home, world.home, world.home, world.home, world.home, world.home, world.home, world.home);
	STREQ(got.ptr, want);
}

TEST_WITH(what_is_visible_inside_is_known, setup, teardown)
{
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

	make_spec("home/p", &s);
	make_dir("home/p/a");
	make_dir("home/x");
	make_dir("home/.local/bin");
	make_dir("aihome/mine");
	make_dir("data/in");
	make_dir("other");
	ga_strv_push(&s.host.tools, ".local/bin");
	ga_strv_take(&s.host.ro, in("data"));
	for_each (row, cases) {
		const char *p = row->path;
		cleanup_free char *path = p[0] == '@' ? in(p + 1) : ga_strdup(p);

		if (ga_spec_visible(&s, path) != row->expect)
			fail_msg("%s: expected %d", p, row->expect);
	}
}

TEST_MAIN(NULL, NULL)
