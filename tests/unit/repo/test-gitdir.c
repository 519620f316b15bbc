/* SPDX-License-Identifier: MIT */
#include "../repo-support.h"

#include "repo/gitdir/gitdir-internal.h"
#include "ga/base/path.h"
#include "ga/repo/gitdir.h"
#include "ga/repo/pool.h"
#include "ga/repo/refs.h"

/* What the agent sees of repository <name>: <name>-inside, a working tree from a
 * base tree with a private git dir on the template. Returns the git dir. */
static char *make_inside(const char *name)
{
	cleanup_repo struct ga_repo *r = open_repo(name);
	cleanup_(ga_gitconfig_release) struct ga_gitconfig c = GA_GITCONFIG_INIT;
	cleanup_base struct ga_base b = GA_BASE_INIT;
	STRV(dirs);
	cleanup_refs struct ga_refs refs = GA_REFS_INIT;
	cleanup_free char *rel = ga_strf("%s-state", name), *state = in_scratch(rel);
	cleanup_free char *inside = ga_strf("%s-inside", name), *dir = NULL, *git = NULL;
	struct ga_base_opts o = { .trusted = true };
	struct ga_gitdir_spec spec = { .branch = "refs/heads/agent/x-1", .config = &c,
				       .object_paths = &dirs, .refs = &refs };
	struct ga_oid head;

	OK(ga_gitconfig_load(r, &c, &err));
	o.config = &c;
	o.object_paths = &dirs;
	OK(ga_repo_resolve(r, "HEAD", &head, &err));
	spec.base = &head;
	OK(ga_repo_object_dirs(r, &dirs, &err));
	OK(ga_base_acquire(r, state, &head, &o, &b, &err));
	OK(ga_refs_list(r, "refs/", &refs, &err));
	/* where a session has it, and the project a mount */
	dir = in_scratch(rel);
	git = ga_path_join(dir, "session/git");
	SH(".", "cp -a '%s' %s; rmdir %s/.git; mkdir '%s/session'; mkdir -m 0700 '%s'; "
		"ln -s '%s' %s/.git", b.tree, inside, inside, dir, git, git, inside);
	OK(ga_gitdir_fill(r, git, b.git, &spec, &err));
	/* in place of an overlay */
	SH(".", "find '%s' -type f -printf '%%P\\n' | sort >written; cp -an '%s/.' '%s'", git, b.git, git);
	return ga_steal(&git);
}

static int untouched(const char *git)
{
	ERR(err);
	int rc = ga_gitdir_untouched(git, "refs/heads/agent/x-1", &err);

	if (rc < 0)
		fail_msg("%s", err.msg);
	return rc;
}

TEST(every_change_of_refs_is_noticed)
{
	static const struct {
		const char *way;
		bool other; /* there may be refs other than branches and the stash */
	} ways[] = {
		{ "git commit -q --allow-empty -m x", false },
		{ "git branch other", false },
		{ "git update-ref refs/remotes/origin/x HEAD", false },
		{ "git tag t", true },
		{ "git update-ref refs/notes/x HEAD", true },
		{ "git rev-parse HEAD >.git/refs/x", true },
		{ "git update-ref refs/stash/odd HEAD", true },
		{ "git rev-parse HEAD >.git/refs/remotes", true },
		{ "git checkout -q --detach", false },
		{ "git switch -qc side", false },
		{ "echo x >f; git stash -q; :", false },
		{ "git branch other; git pack-refs --all; git update-ref refs/heads/agent/x-1 HEAD", true },
		{ "git worktree add -q ../touch-wt", false },
		{ "rm .git/HEAD; mkfifo .git/HEAD", false },
		{ "rm -r .git/refs; ln -s /etc .git/refs", true },
		{ "rm .git/packed-refs", true },
		{ "ln -s /etc/passwd .git/refs/heads/link", false },
		{ "mkdir .git/reftable", true },
		{ ("d=.git/refs; for i in 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8; "
		   "do d=$d/$i; mkdir $d; done"), true },
		{ "for i in $(seq 300); do mkdir .git/refs/$i; done", true },
	};
	static const char *const harmless[] = { "git add -A; echo y >z; git add z",
						"git config a.b c", "git status", ":" };

	SH("touch", "git init -q; echo 1 >f; git add f; git commit -qm 1; git branch b2; git pack-refs --all");
	for (size_t i = 0; i < GA_NELEMS(ways) + GA_NELEMS(harmless); i++) {
		bool harm = i < GA_NELEMS(ways);
		const char *way = harm ? ways[i].way : harmless[i - GA_NELEMS(ways)];
		cleanup_free char *git = make_inside("touch");

		SH("touch-inside", "%s", way);
		if (untouched(git) != !harm || ga_gitdir_only_branches(git) != !(harm && ways[i].other))
			fail_msg("%s", way);
		SH(".", "rm -rf touch-inside touch-state/session touch-wt");
	}
}

/* Everything else is the template's, as long as the repository is as it was when that was
 * made. */
TEST(only_what_differs_is_written)
{
	static const struct {
		const char *change, *own;
	} cases[] = {
		{ ":", "HEAD\npacked-refs" },
		{ "git branch other", "HEAD\npacked-refs" },
		{ "git config user.email new@example.com", "HEAD\nconfig\npacked-refs" },
		{ "echo '*.new' >>.git/info/exclude", "HEAD\nconfig\ninfo/exclude\npacked-refs" },
		{ "git config user.email a@example.com; rm .git/info/exclude", "HEAD\ninfo/exclude\npacked-refs" },
		/* the commit decides: another one has a template of its own */
		{ "git commit -q --allow-empty -m 2", "HEAD\npacked-refs" },
	};

	SH("own", "git init -q; git config user.email a@example.com;git commit -q --allow-empty -m 1");
	for_each (row, cases) {
		cleanup_free char *git = NULL, *own = NULL, *out = NULL;

		SH("own", "%s", row->change);
		git = make_inside("own");
		own = sh(".", "cat written");
		STREQ(own, row->own);
		out = sh("own-inside", "git rev-parse HEAD 'HEAD@{0}' | uniq | wc -l;"
				       "git -C ../own config user.email >want;"
				       "git config user.email | diff - want && rm want; git status -s");
		STREQ(out, "1");
		SH(".", "rm -rf own-inside own-state/session");
	}
}

TEST(rules_are_taken_over_and_nothing_that_runs_or_is_secret)
{
	cleanup_free char *git = NULL, *out = NULL;

	SH(".", "mkdir -p .config/git; echo '*.global' >.config/git/ignore;"
		"echo '*.txt eol=crlf' >.config/git/attributes");
	SH("rules", "git init -q; echo '*.local' >>.git/info/exclude;"
		    "echo '*.dat -text' >.git/info/attributes; echo '* text=auto' >.gitattributes;"
		    "printf 'a\\r\\n' >a.txt; git add . 2>/dev/null; git commit -qm 1;"
		    "git config core.autocrlf input; git config user.signingKey K;"
		    "git config commit.gpgSign true; git config credential.helper store;"
		    "git config http.extraHeader 'Authorization: x'; git config alias.x '!sh';"
		    "git config url.https://t@x/.insteadOf https://x/; git config core.pager evil;"
		    "git config filter.lfs.clean 'git-lfs clean -- %%f';"
		    "git config filter.other.clean evil; git config core.sshCommand evil;"
		    "git config core.hooksPath /evil; git config remote.o.proxy http://u:p@h");
	git = make_inside("rules");
	/* a home of its own, as inside */
	out = sh("rules-inside", "export HOME=/nonexistent; touch a.global b.local c;"
				 "git check-attr eol a.txt | sed 's#.*: ##'; git status --porcelain");
	/* core.attributesFile is named by the path of the project, which is not here */
	STREQ(out, "unspecified\n?? c");
	free(out);
	out = sh("rules-inside", "cat .git/config .git/info/attributes-user .git/info/attributes");
	assert_has(out, "*.txt eol=crlf\n*.dat -text");
	assert_has(out, "/rules/.git/info/attributes-user\"");
	assert_has(out, "git-lfs clean -- %f");
	assert_has(out, "autocrlf = \"input\"");
	{
		static const char *const never[] = { "evil", "Authorization", "insteadof", "store",
						     "signingkey", "gpgsign", "alias", "proxy" };

		for_each (row, never)
			if (strcasestr(out, *row))
				fail_msg("'%s' in %s", *row, out);
	}
	SH(".", "rm -r .config");
}

TEST(addresses_lose_their_credentials)
{
	static const char *const cases[][2] = {
		{ "https://user:pass@example.com/a.git", "https://example.com/a.git" },
		{ "https://token@example.com:8443/a@b", "https://example.com:8443/a@b" },
		{ "https://u:p@ss@example.com/x?token=1#f", "https://example.com/x" },
		{ "HTTPS://u@h", "HTTPS://h" },
		{ "https://example.com/a@b.git", "https://example.com/a@b.git" },
		{ "ssh://git@example.com/a.git", "ssh://git@example.com/a.git" },
		{ "ssh://git:pw@example.com:22/a", "ssh://git@example.com:22/a" },
		{ "git@example.com:a/b.git", "git@example.com:a/b.git" },
		{ "/srv/git/a", "/srv/git/a" },
		{ "../a::b", "../a::b" },
		{ "file:///srv/a", "file:///srv/a" },
		{ "file://u:p@h/srv/a?b", "file://h/srv/a?b" },
		{ "git://u:p@h/a", "git://h/a" },
		{ "git+ssh://git:pw@h/a", "git+ssh://git@h/a" },
		{ "ssh+git://git:pw@h/a", "ssh+git://git@h/a" },
		{ "s3+https://t@h/a", "s3+https://h/a" },
		{ "https://u:p w@h/a", "https://h/a" },
		{ "ext::sh -c 'evil'", NULL },
		{ "codecommit::us-east-1://me@repo", NULL },
	};

	for_index (i, cases) {
		cleanup_free char *got = ga_gitdir_public_url(cases[i][0]);

		if (!got || !cases[i][1]) {
			if (got || cases[i][1])
				fail_msg("%s: %s", cases[i][0], got ? got : "(null)");
			continue;
		}
		STREQ(got, cases[i][1]);
	}
}

TEST(no_value_of_the_configuration_keeps_the_credentials_of_an_address)
{
	cleanup_free char *git = NULL, *out = NULL, *want = NULL;

	SH("urls", "git init -q; git commit -q --allow-empty -m x; u=https://me:glpat-X@h/p?t=glpat-X;"
		   "git config branch.main.remote $u; git config branch.main.pushRemote $u;"
		   "git config remote.$u.fetch +refs/heads/*:refs/x/*; git config submodule.s.url $u;"
		   "git config lfs.url $u; git config user.name \"A $u\"; git config remote.o.url $u;"
		   "git config filter.lfs.process \"x '$u' -y\"; git config remote.o.pushurl $u;"
		   "git config branch.x.remote 'ext::sh glpat-X'; git config user.email A::B");
	git = make_inside("urls");
	out = sh("urls-inside", "! grep glpat .git/config; export HOME=/nonexistent;"
				"for k in branch.main.remote branch.main.pushRemote submodule.s.url lfs.url"
				" user.name remote.o.url remote.o.pushurl filter.lfs.process user.email;"
				"do git config $k; done; git config remote.https://h/p.fetch;"
				"git config branch.x.remote || true");
	want = sh(".", "echo 'https://h/p\nhttps://h/p\nhttps://h/p\nhttps://h/p\nA https://h/p';"
		       "echo \"https://h/p\nhttps://h/p\nx 'https://h/p' -y\nA::B\";"
		       "echo '+refs/heads/*:refs/x/*'");
	STREQ(out, want);
}

TEST(odd_values_survive_the_configuration)
{
	cleanup_free char *git = NULL, *out = NULL;

	SH("odd", "git init -q; git commit -q --allow-empty -m x;"
		  "git config user.name 'A \"Q\" \\\\ ; # é'; git config 'remote.we \"ird].url' /a/b;"
		  "git config --add 'remote.we \"ird].fetch' '+refs/heads/*:refs/remotes/o/*'");
	git = make_inside("odd");
	out = sh("odd-inside", "git config user.name; git config 'remote.we \"ird].url';"
			       "git config 'remote.we \"ird].fetch'");
	STREQ(out, "A \"Q\" \\\\ ; # é\n/a/b\n+refs/heads/*:refs/remotes/o/*");
}

TEST(the_identity_may_come_from_the_environment)
{
	cleanup_free char *git = NULL, *out = NULL;

	SH("envid", "git init -q; git commit -q --allow-empty -m x");
	(void)setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
	(void)setenv("GIT_COMMITTER_NAME", "E N V", 1);
	(void)setenv("GIT_COMMITTER_EMAIL", "e@example.com", 1);
	git = make_inside("envid");
	(void)unsetenv("GIT_CONFIG_GLOBAL");
	(void)unsetenv("GIT_COMMITTER_NAME");
	(void)unsetenv("GIT_COMMITTER_EMAIL");
	out = sh("envid-inside", "export HOME=/nonexistent; git config user.name;"
				 "git config user.email");
	STREQ(out, "E N V\ne@example.com");
}

/* In a shared directory a submodule's files may show, but not its .git. */
TEST(files_of_a_submodule_are_not_added_to_its_superproject)
{
	cleanup_free char *git = NULL, *out = NULL;

	SH("mod", "git init -q lib; cd lib; echo 1 >s; git add .; git commit -qm l; cd ..;"
		  "git init -q top; cd top; git submodule add -q ../lib m 2>/dev/null;git commit -qm t");
	git = make_inside("mod/top");
	out = sh("mod/top-inside", "git status --porcelain; cp ../top/m/s m/; echo new >m/n;"
				   "git status --porcelain; git add -A; git status --porcelain;"
				   "git commit -q --allow-empty -m x; git ls-files -s m");
	EQUAL(strncmp(out, "160000 ", 7), 0);
}

TEST_MAIN(scratch_setup, scratch_teardown)
