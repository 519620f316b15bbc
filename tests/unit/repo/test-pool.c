/* SPDX-License-Identifier: MIT */
#include "pool-support.h"

#include <signal.h>

#include "ga/base/path.h"
#include "ga/repo/snapshot.h"

TEST(a_base_is_made_found_or_moved)
{
	cleanup_base struct ga_base a = GA_BASE_INIT, b = GA_BASE_INIT;

	SH("basic", "git init -q; mkdir -p d/e; echo 1 >d/e/f; echo x >x; ln -s x l; chmod +x x;"
		    "printf 'sp ace' >'a\nb'; git add .; git commit -qm 1; echo 2 >d/e/f; git rm -q l;"
		    "mkdir l; echo n >l/n; git add .; git commit -qm 2; git tag two; git tag one HEAD~1");
	acquire("basic", "one", &a);
	EQUAL(a.how, GA_BASE_MADE);
	assert_checkout("basic", "one", &a);
	assert_template("basic", "one", &a);
	acquire("basic", "one", &b);
	EQUAL(b.how, GA_BASE_FOUND);
	STREQ(a.tree, b.tree);
	ga_base_release(&a);
	/* something is still based on it */
	acquire("basic", "two", &a);
	EQUAL(a.how, GA_BASE_MADE);
	assert_string_not_equal(a.tree, b.tree);
	ga_base_release(&a);
	ga_base_release(&b);
	acquire("basic", "one", &b);
	EQUAL(b.how, GA_BASE_FOUND);
	acquire("basic", "HEAD", &a);
	EQUAL(a.how, GA_BASE_FOUND);
	ga_base_release(&a);
	SH("basic", "echo 3 >d/e/f; git commit -qam 3");
	acquire("basic", "HEAD", &a);
	EQUAL(a.how, GA_BASE_MOVED);
	assert_checkout("basic", "HEAD", &a);
	assert_template("basic", "HEAD", &a);
	assert_checkout("basic", "one", &b);
}

static char *times(const char *dir)
{
	return sh(".", "cd '%s'; find . ! -path './.git*' -printf '%%P %%T@\\n' | LC_ALL=C sort", dir);
}

TEST(files_of_the_same_content_have_the_users_times)
{
	cleanup_base struct ga_base a = GA_BASE_INIT;
	cleanup_free char *dir = in_scratch("times"), *users = NULL, *bases = NULL;
	struct stat st;

	SH("times", "git init -q; mkdir -p d/e sub; for i in 1 2 3 4; do echo $i >d/e/$i; done;"
		    "echo x >top; ln -s top l; : >empty; git add .; git commit -qm 1;"
		    "touch -hd '2001-02-03 04:05:06.123456789' l d/e/1 top; touch -d 2002-02-02 d/e d;"
		    /* new ones, however long the rest takes */
		    "touch -d '1 hour' d/e/2 d/e/3 d/e/4; chmod 0750 .; touch -d '2003-03-03 03:03:03.3' .");
	acquire("times", "HEAD", &a);
	users = times(dir);
	bases = times(a.tree);
	/* "sub" is empty and not git's; everything else is there */
	SH("times", "rmdir sub; touch -d '2003-03-03 03:03:03.3' .");
	free(users);
	users = times(dir);
	STREQ(bases, users);
	EQUAL(stat(a.tree, &st), 0);
	EQUAL(st.st_mode & 07777, 0750);
	assert_template("times", "HEAD", &a);
	/* known by their stat data alone: diff-files lists what it would have to read */
	SH("times", "cp -p '%s/index' ../t.index; GIT_INDEX_FILE=$PWD/../t.index "
		    "GIT_WORK_TREE='%s' git -c core.checkStat=minimal -c core.trustctime=false "
		    "diff-files --name-only >../listed; ! grep -e d/e/1 -e top -e l ../listed;"
		    "[ \"$(wc -l <../listed)\" = 3 ]", a.git, a.tree);
	ga_base_release(&a);
	/* a move carries what the user touched meanwhile, too */
	SH("times", "touch -d 2011-11-11 d/e/2; echo new >d/e/3; git add .; git commit -qm 2;"
		    "touch -d 2012-12-12 d/e/3; echo differs >d/e/4");
	acquire("times", "HEAD", &a);
	EQUAL(a.how, GA_BASE_MOVED);
	assert_template("times", "HEAD", &a);
	SH("times", "for f in d/e/1 d/e/2 d/e/3 top d/e d; do "
		    "[ \"$(stat -c %%y $f)\" = \"$(stat -c %%y '%s'/$f)\" ] || { echo $f >&2; exit 1; }; done;"
		    "[ \"$(stat -c %%y d/e/4)\" != \"$(stat -c %%y '%s'/d/e/4)\" ]", a.tree, a.tree);
}

TEST(uncommitted_files_keep_their_times)
{
	REPOSITORY(r);
	cleanup_base struct ga_base b = GA_BASE_INIT;
	cleanup_scan struct ga_scan s = GA_SCAN_INIT;
	cleanup_free char *dir = in_scratch("carry"), *branch = NULL, *users = NULL, *bases = NULL;
	struct ga_oid head, snap;

	SH("carry", "git init -q; for i in 1 2 3; do echo $i >f$i; done; git add .; git commit -qm 1;"
		    "touch -d 2001-01-01 f1; echo edited >f2; touch -d 2005-05-05 f2; rm f3;"
		    "mkdir new; echo u >new/u; touch -d 2006-06-06 new/u");
	acquire("carry", "HEAD", &b);
	ga_base_release(&b);
	r = open_repo("carry");
	OK(ga_repo_head(r, &head, &branch, &err));
	OK(ga_scan_worktree(r, UINT64_MAX, &s, &err));
	OK(ga_snapshot_commit(r, NULL, &s, &head, NULL, &snap, &err));
	acquire("carry", GA_HEX(&snap), &b);
	EQUAL(b.how, GA_BASE_MOVED);
	users = times(dir);
	bases = times(b.tree);
	STREQ(bases, users);
	assert_template("carry", GA_HEX(&snap), &b);
}

/* An edit of the same size within the second of the checkout must be seen by
 * git inside, which looks at whole seconds and size only. */
TEST(quick_edits_are_seen)
{
	cleanup_base struct ga_base b = GA_BASE_INIT;
	cleanup_free char *out = NULL;

	SH("quick", "git init -q; echo 1 >f; git add f; git commit -qm 1; echo 2 >f;git commit -qam 2");
	acquire("quick", "HEAD", &b); /* f is as young as it can be on both sides */
	out = sh("quick", "cp -a '%s' ../quick-inside; cp -p '%s/index' ../quick.index;"
			  "echo 3 >../quick-inside/f; GIT_INDEX_FILE=$PWD/../quick.index "
			  "GIT_WORK_TREE=$PWD/../quick-inside git -c core.checkStat=minimal "
			  "-c core.trustctime=false status --porcelain", b.tree, b.git);
	STREQ(out, " M f");
}

TEST(incomplete_bases_are_made_anew)
{
	static const char *const damage[] = {
		"rm -f commit; rm tree/f; echo bad >tree/bad; touch index.lock",
		"rm -f commit; rm -rf tree index",
		": >commit; echo bad >tree/f",
		"rm key",
		"rm -f commit; cp key making; chmod 0555 tree",
	};

	SH("broken", "git init -q; echo 1 >f; git add f; git commit -qm 1");
	for_each (row, damage) {
		cleanup_base struct ga_base a = GA_BASE_INIT, b = GA_BASE_INIT;
		cleanup_free char *count = NULL;

		acquire("broken", "HEAD", &a);
		ga_base_release(&a);
		SH("broken-state/bases/1", "%s", *row);
		acquire("broken", "HEAD", &b);
		EQUAL(b.how, GA_BASE_MADE);
		assert_checkout("broken", "HEAD", &b);
		count = sh("broken-state/bases", "ls -d [0-9]* | wc -l");
		STREQ(count, "1");
	}
}

/* After a crash of the machine, the last writes may be missing. */
TEST(after_a_crash_of_the_machine_a_base_is_checked)
{
	cleanup_base struct ga_base a = GA_BASE_INIT, b = GA_BASE_INIT;

	SH("boot", "git init -q; for i in 1 2 3; do echo $i >f$i; done; git add .; git commit -qm 1");
	acquire("boot", "HEAD", &a);
	ga_base_release(&a);
	SH("boot-state/bases/1", "sed -i '2s/.*/other/' commit; : >tree/f2; rm tree/f3");
	acquire("boot", "HEAD", &b);
	EQUAL(b.how, GA_BASE_MOVED);
	assert_checkout("boot", "HEAD", &b);
	assert_template("boot", "HEAD", &b);
}

TEST(changed_rules_make_a_whole_checkout)
{
	cleanup_base struct ga_base b = GA_BASE_INIT;
	cleanup_free char *count = NULL;

	SH("rules", "git init -q; printf 'a\\nb\\n' >t; git add .; git commit -qm 1;"
		    "echo '* text eol=crlf' >.gitattributes; git add .; git commit -qm 2");
	acquire("rules", "HEAD~1", &b);
	ga_base_release(&b);
	/* t is the same blob in both: only the attribute says to write it again */
	acquire("rules", "HEAD", &b);
	assert_checkout("rules", "HEAD", &b);
	ga_base_release(&b);
	SH("rules", "printf 't -text\\n' >.git/info/attributes");
	acquire("rules", "HEAD", &b);
	EQUAL(b.how, GA_BASE_MADE);
	assert_checkout("rules", "HEAD", &b);
	ga_base_release(&b);
	SH("rules", "rm .git/info/attributes; git config core.autocrlf true");
	acquire("rules", "HEAD~1", &b);
	EQUAL(b.how, GA_BASE_MADE);
	assert_checkout("rules", "HEAD~1", &b);
	count = sh("rules-state/bases", "ls -d [0-9]* | wc -l");
	STREQ(count, "1");
}

/* Git with several workers would forget them. */
TEST(encodings_of_each_directory_hold)
{
	cleanup_base struct ga_base b = GA_BASE_INIT;
	cleanup_free char *out = NULL;

	SH("enc", "git init -q; for d in a b c d; do mkdir -p $d/e; for f in f g h e/i; do "
		  "echo 12 >$d/$f.txt; done; echo '*.txt working-tree-encoding=UTF-16LE' "
		  ">$d/.gitattributes; done; for f in */*.txt */*/*.txt; do "
		  "iconv -t UTF-16LE $f >f; mv f $f; done; git add .; git commit -qm 1; git tag one;"
		  "rm -r *; mkdir -p d/e; echo '*.txt working-tree-encoding=UTF-32LE' "
		  ">d/.gitattributes; echo 12 | iconv -t UTF-32LE | tee d/f.txt >d/e/i.txt; "
		  "git add .; git commit -qm 2");
	acquire("enc", "one", &b);
	assert_checkout("enc", "one", &b);
	out = sh("enc", "stat -c %%s '%s'/*/*.txt '%s'/*/*/*.txt | sort -u", b.tree, b.tree);
	STREQ(out, "6");
	ga_base_release(&b);
	acquire("enc", "HEAD", &b);
	EQUAL(b.how, GA_BASE_MOVED);
	assert_checkout("enc", "HEAD", &b);
	ga_base_release(&b);
}

TEST(a_linked_worktree_has_a_base_of_its_own)
{
	REPOSITORY(r);
	cleanup_base struct ga_base a = GA_BASE_INIT, b = GA_BASE_INIT;
	cleanup_free char *state_dir = in_scratch("wt-state");
	const struct ga_strv none = GA_STRV_INIT;
	struct ga_base_opts o = { .trusted = true, .object_paths = &none };
	struct ga_oid head;

	SH("wt", "git init -q; touch f; git add f; git commit -qm 1; git worktree add -q ../wt2");
	acquire("wt", "HEAD", &a);
	r = open_repo("wt2");
	OK(ga_repo_resolve(r, "HEAD", &head, &err));
	OK(ga_base_acquire(r, state_dir, &head, &o, &b, &err));
	assert_string_not_equal(a.tree, b.tree);
}

TEST(hooks_and_the_users_tree_are_left_alone)
{
	cleanup_base struct ga_base b = GA_BASE_INIT;
	cleanup_free char *before = NULL, *after = NULL;

	SH("alone", "git init -q; echo 1 >f; git add f; git commit -qm 1; echo 2 >f; git commit -qam 2;"
		    "for h in post-checkout post-index-change; do "
		    "printf '#!/bin/sh\\ntouch %s/hook-ran\\n' >.git/hooks/$h; chmod +x .git/hooks/$h;"
		    "done; echo edit >f", scratch);
	before = sh("alone", "git --no-optional-locks status --porcelain; find . -path ./.git/git-agent "
			     "-prune -o -printf '%%p %%T@\\n' | sort");
	acquire("alone", "HEAD", &b);
	ga_base_release(&b);
	acquire("alone", "HEAD~1", &b);
	after = sh("alone", "git --no-optional-locks status --porcelain; find . -path ./.git/git-agent "
			    "-prune -o -printf '%%p %%T@\\n' | sort");
	/* .git itself got the directory of the repository's id */
	SH(".", "[ ! -e hook-ran ]");
	EQUAL(strlen(before), strlen(after));
	assert_has(after, " M f\n");
}

/* ---- many at once, and death at any moment */

static void make_big(const char *name)
{
	SH(name, "git init -q; for d in 1 2 3 4 5 6 7 8; do mkdir d$d; for i in 1 2 3 4 5 6 7 8 9 0 a b;"
		 "do echo $d $i >d$d/f$i; done; done; git add .; git commit -qm 1; git tag c0;"
		 "for c in 1 2 3; do for d in 1 3 5; do echo $c >d$d/f$c; rm d$d/f$((c + 3));"
		 "echo $c >d$d/n$c; done; git add -A; git commit -qm $c; git tag c$c; done");
}

static pid_t acquire_in_child(const char *name, const char *rev, unsigned hold_ms)
{
	pid_t pid = fork();

	if (!pid) {
		ERR(err);
		struct ga_base b = GA_BASE_INIT;
		struct timespec ts = { 0, (long)hold_ms * 1000000 };

		if (try_acquire(name, rev, true, &b, &err)) {
			(void)fprintf(stderr, "# %s\n", err.msg);
			_exit(1);
		}
		(void)nanosleep(&ts, NULL);
		/* what we are based on must not have changed under us */
		{
			cleanup_free char *cmd = ga_strf(
				"cd '%s/%s' && GIT_INDEX_FILE='%s/index' GIT_WORK_TREE='%s' git -c "
				"core.checkStat=minimal -c core.trustctime=false "
				"--no-optional-locks diff --quiet && GIT_INDEX_FILE='%s/index' git "
				"diff-index --cached --quiet %s", scratch, name, b.git, b.tree,
				b.git, rev);
			const char *const argv[] = { "sh", "-c", cmd, NULL };
			struct ga_process p = GA_PROCESS_INIT;
			int status = 1;

			p.argv = argv;
			if (ga_process_run(&p, &status, &err) || status)
				_exit(2);
		}
		ga_base_release(&b);
		_exit(0);
	}
	return pid;
}

TEST(processes_share_a_base_and_never_see_it_change)
{
	static const char *const revs[] = { "c0", "c1", "c2", "c3" };
	pid_t pids[10];

	make_big("many");
	for (unsigned round = 0; round < 3; round++) {
		/* the first time all of one commit */
		for_index (i, pids)
			pids[i] = acquire_in_child("many", round ? revs[(i * 7 + round) % 4] : "c0",
						   round ? (unsigned)(i * 13) % 50 : 300);
		for_each (row, pids) {
			int st = -1;

			EQUAL(waitpid(*row, &st, 0), *row);
			EQUAL(st, 0);
		}
		if (!round)
			SH("many-state/bases", "test $(ls -d [0-9]* | wc -l) = 1");
	}
	SH("many-state/bases", "test $(ls -d [0-9]* | wc -l) -le 10");
}

TEST(a_process_that_is_killed_leaves_a_base_that_can_be_used)
{
	static const char *const revs[] = { "c0", "c3", "c1", "c2" };

	make_big("death");
	for (unsigned i = 0; i < 16; i++) {
		cleanup_base struct ga_base b = GA_BASE_INIT;
		const char *rev = revs[i % 4];
		struct timespec ts = { 0, (long)(i * 2050) % 30000 * 1000 };
		pid_t pid = acquire_in_child("death", rev, 0);
		int st;

		(void)nanosleep(&ts, NULL);
		(void)kill(pid, SIGKILL);
		EQUAL(waitpid(pid, &st, 0), pid);
		acquire("death", rev, &b);
		assert_checkout("death", rev, &b);
		assert_template("death", rev, &b);
	}
}

TEST_MAIN(scratch_setup, scratch_teardown)
