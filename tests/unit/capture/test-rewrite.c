/* SPDX-License-Identifier: MIT */
#include "rewrite-support.h"

/* ---- holding */

TEST(critical_paths_are_held_back_and_the_rest_is_published)
{
	REWRITE(w);
	struct ga_oid tip;

	SH("one", START "echo 2 >f;" C "1; echo evil >hook; echo x >crit/x; rm crit/c; echo 3 >f;" C
		  "2; echo 4 >f;" C "3; git update-ref refs/agent/x HEAD");
	w = run("one", "base", "refs/agent/x", NULL);
	tip = rev("one", "refs/agent/x");
	assert_true(ga_oid_equal(&w.orig, &tip));
	assert_list(&w.held_paths, "crit/c crit/x hook");
	/* commit 1 is as it was, 2 and 3 are without, everything else is in place */
	assert_out("one", "test $(git rev-parse refs/agent/tip~2) = $(git rev-parse refs/agent/x~2);"
			  "git diff --name-only base refs/agent/tip; git diff --name-only refs/agent/x~1 "
			  "refs/agent/tip~1; git log --format=%s%an%ae base..refs/agent/tip; git show refs/agent/tip:f",
		   "f\ncrit/c\ncrit/x\nhook\n3A U Thorauthor@example.com\n"
		   "2A U Thorauthor@example.com\n1A U Thorauthor@example.com\n4");
	assert_out("one", "test $(git rev-parse refs/agent/held^{tree}) = $(git rev-parse "
			  "refs/agent/x^{tree}); git log -1 --format='%B%an <%ae> %at%n%cn' refs/agent/held;"
			  "git log --format=%ad -1 refs/agent/tip~1 >a; git log --format=%ad -1 "
			  "refs/agent/x~1 | cmp - a",
		   "held: 3 paths\n\nAgent-Session: test-1\nAgent-Flagged: critical critical crit/c\n"
		   "Agent-Flagged: critical critical crit/x\n"
		   "Agent-Flagged: critical critical hook\nC O Mitter <c@example.com> 1700000000\nC O Mitter");
	for (size_t i = 0; i < w.flags.n; i++)
		for (size_t k = 0; k < i; k++)
			assert_false(!strcmp(w.flags.v[i].path, w.flags.v[k].path) &&
				     !strcmp(w.flags.v[i].rule, w.flags.v[k].rule));
}

TEST(a_change_on_top_of_what_is_held_is_held)
{
	REWRITE(w);

	SH("note", START "echo evil 1 >note;" C "1; echo evil 2 >note;" C "2; echo g >g;" C "3;"
		   "git update-ref refs/agent/x HEAD; echo good >note;" C "4;git update-ref refs/agent/y HEAD");
	w = run("note", "base", "refs/agent/x", NULL);
	assert_list(&w.held_paths, "note");
	assert_out("note", "git log --format=%s base..refs/agent/tip -- note", "");
	ga_rewrite_release(&w);
	w = run("note", "base", "refs/agent/y", NULL);
	EQUAL(w.held_paths.n, 0);
	assert_out("note", "git log --format=%s base..refs/agent/tip -- note; git show refs/agent/tip:note", "4\ngood");
}

TEST(a_flag_of_an_earlier_commit_is_kept)
{
	REWRITE(w);
	int severe = 0, mild = 0;

	SH("graded", START "echo evil >graded;" C "1; echo evil 2 >graded;" C "2; echo good >graded;" C "3;"
		     "git update-ref refs/agent/x HEAD");
	w = run("graded", "base", "refs/agent/x", NULL);
	for (size_t i = 0; i < w.flags.n; i++) {
		const struct ga_flag *f = &w.flags.v[i];

		severe += !strcmp(f->rule, "graded") && ga_flag_holds(NULL, f);
		mild += !strcmp(f->rule, "graded") && !ga_flag_holds(NULL, f);
	}
	EQUAL(severe, 1);
	EQUAL(mild, 1);
}

TEST(merges_keep_both_parents)
{
	REWRITE(w);

	/* upstream changed the hook itself; the agent has its own idea and merges */
	SH("merge", START "git checkout -q -b upstream; echo better >hook; echo u >u;" C "up;"
		    "git checkout -q --detach base; echo x >crit/x; echo 2 >f;" C "1;"
		    "git merge -q --no-ff -m m upstream; echo after >g;" C "3;git update-ref refs/agent/x HEAD");
	w = run("merge", "base", "refs/agent/x", NULL);
	assert_list(&w.held_paths, "crit/x");
	assert_out("merge", "git show refs/agent/tip:hook; git show refs/agent/tip:u; git log -1 "
			    "--format=%s refs/agent/tip~1; git rev-parse refs/agent/tip~1^2 "
			    "upstream | uniq | wc -l; git diff --name-only upstream refs/agent/tip",
		   "better\nu\nm\n1\nf\ng");
	SH("merge", "git checkout -q --detach base; echo 2 >f;" C "1; git merge -q --no-ff "
	   "--no-commit upstream; echo evil >hook; git add -A; git commit -qm evil-merge;"
		    "git update-ref refs/agent/y HEAD");
	ga_rewrite_release(&w);
	w = run("merge", "base", "refs/agent/y", NULL);
	assert_list(&w.held_paths, "hook");
	assert_out("merge", "git show refs/agent/tip:hook", "better");
	/* two branches of the agent, one of them with what is held */
	SH("merge", "git checkout -q --detach base; echo x >crit/x;" C "1; git tag side1;"
		    "git checkout -q --detach base; echo 5 >f;" C "2; git merge -q --no-ff -m both side1;"
		    "git tag -d side1; git update-ref refs/agent/z HEAD");
	ga_rewrite_release(&w);
	w = run("merge", "base", "refs/agent/z", NULL);
	assert_list(&w.held_paths, "crit/x");
	assert_out("merge", "git diff --name-only base refs/agent/tip; git rev-list "
		   "base..refs/agent/tip | while read c; do git ls-tree $c crit/x; done", "f");
}

TEST(merging_old_history_turns_no_critical_path_back)
{
	REWRITE(w);

	SH("stale", START "echo new >hook;" C "newer; git tag -f base >/dev/null; git checkout -q "
	   "-b old base~; git checkout -q --detach base; echo 2 >f;" C "1; git commit-tree -p "
		    "HEAD -p old -m m $(echo evil >hook; git add hook; git write-tree) >t;"
		    "git update-ref refs/agent/x $(cat t)");
	w = run("stale", "base", "refs/agent/x", NULL);
	assert_list(&w.held_paths, "hook");
	assert_out("stale", "git show refs/agent/tip:hook", "new");
	/* what the host had once is no news, should the agent want it back */
	SH("stale", "git commit-tree -p refs/agent/x^ -p old -m m $(echo old >hook; git add hook;"
		    "git write-tree) >t; git update-ref refs/agent/y $(cat t)");
	ga_rewrite_release(&w);
	w = run("stale", "base", "refs/agent/y", NULL);
	EQUAL(w.held_paths.n, 0);
}

TEST(paths_that_are_always_held_stay_held)
{
	REWRITE(w);
	STRV(always);

	ga_strv_push_many(&always, "notes.txt", "aaa", "none", NULL);
	SH("always", START "echo n >notes.txt; echo g >g;" C "1; echo a >aaa; echo n2 >notes.txt;" C
		     "2; git update-ref refs/agent/x HEAD");
	w = run("always", "base", "refs/agent/x", &always);
	assert_list(&w.held_paths, "aaa notes.txt");
	assert_out("always", "git diff --name-only base refs/agent/tip", "g");
	/* a file where a held path has its directory */
	ga_strv_push(&always, "dir/kept");
	SH("always", "git checkout -q --detach base; mkdir dir; echo k >dir/kept; echo o >dir/other;" C
		     "b; git update-ref refs/agent/b HEAD; rm -r dir; echo file >dir;" C "1;"
		     "git update-ref refs/agent/y HEAD");
	ga_rewrite_release(&w);
	w = run("always", "refs/agent/b", "refs/agent/y", &always);
	assert_list(&w.held_paths, "dir dir/kept");
	assert_out("always", "git diff --name-status refs/agent/b refs/agent/tip", "D\tdir/other");
}

TEST(commits_that_the_user_has_stay)
{
	REWRITE(w);
	struct ga_oid tip;

	SH("known", START "git checkout -q -b feature; echo x >crit/x;" C "1; git checkout -q --detach");
	w = run("known", "base", "feature", NULL);
	tip = rev("known", "feature");
	assert_true(ga_oid_equal(&w.tip, &tip));
	assert_true(ga_oid_is_zero(&w.held));
	assert_true(w.flags.n > 0);
}

TEST(empty_commits_go_and_the_users_stay)
{
	static const struct {
		const char *script, *count; /* commits published */
	} cases[] = {
		{ "echo 1 >hook;" C "crit", "0" },
		{ C "empty", "1" },
		{ C "empty; echo 1 >hook;" C "crit", "1" },
		{ "echo 1 >hook;" C "crit; git rm -qr crit;" C "again; git revert --no-edit HEAD", "0" },
		{ "echo 1 >hook;" C "crit; echo 2 >f;" C "f; echo 1 >f;" C "f2", "2" },
	};

	for_index (i, cases) {
		REWRITE(w);
		cleanup_free char *dir = ga_strf("left%zu", i), *got = NULL;

		SH(dir, START "%s; git update-ref refs/agent/x HEAD", cases[i].script);
		w = run(dir, "base", "refs/agent/x", NULL);
		got = sh(dir, "git rev-list --count base..refs/agent/tip | tr -d '\n'");
		if (strcmp(got, cases[i].count))
			fail_msg("%s: %s commits", cases[i].script, got);
	}
}

/* Flags begin before what is rewritten, without what the user's branch has just so; what was
 * published stays as it is, be it critical. */
TEST(flags_begin_after_what_was_published)
{
	REWRITE(w);
	REPOSITORY(r);
	struct ga_oid since, under, users, t;
	BUF(got);

	SH("since", START "echo acc >hook; echo u >crit/u;" C "accepted; git tag under;"
	   "echo 2 >f; echo n >crit/n;" C "new; git tag tip;"
	   "git checkout -q base; echo u >crit/u;" C "users; git tag users");
	r = open_repo("since");
	since = rev("since", "base");
	under = rev("since", "under^{commit}");
	users = rev("since", "users");
	t = rev("since", "tip");
	SH("since", "git update-ref refs/agent/x tip; git update-ref refs/agent/y under;"
	   "git update-ref refs/agent/z users; git tag -d under tip users");
	OK(ga_rewrite(r, &(struct ga_rewrite_opts){ .base = &under, .since = &since, .users = &users, .tip = &t,
						    .facts = &facts, .committer = COMMITTER,
						    .session = "test-1" }, &w, &err));
	assert_list(&w.held_paths, "crit/n");
	for (size_t i = 0; i < w.flags.n; i++)
		if (w.flags.v[i].severity == GA_CRITICAL)
			ga_buf_addf(&got, "%s ", w.flags.v[i].path);
	STREQ(got.ptr, "crit/n hook ");
	SH("since", "test $(git rev-parse %s^) = %s", GA_HEX(&w.tip), GA_HEX(&under));
}

/* ---- texts */

TEST(texts_are_cleaned)
{
	STRV(keeps);
	REPOSITORY(r);
	struct ga_oid base, tips[3];
	size_t cleaned;

	SH("text", START C "\"$(printf 'esc \\033]0;x\\007 bidi \\342\\200\\256 end\\n\\ntab\\there')\";"
		   "GIT_AUTHOR_NAME=\"$(printf 'N \\033[31m')\"; export GIT_AUTHOR_NAME;" C "2;"
		   "unset GIT_AUTHOR_NAME; t=$(git rev-parse HEAD^{tree}); p=$(git rev-parse HEAD);"
		   "p=$( (printf 'tree %%s\\nparent %%s\\nauthor A <a@b> 1 +0000\\ncommitter A <a@b> 1 "
		   "+0000\\nencoding UTF-7\\n\\nx +ABs-[31m\\n' $t $p) | git hash-object -w -t commit --stdin);"
		   "p=$( (printf 'tree %%s\\nparent %%s\\nauthor A <a@b> 1 +0000\\ncommitter A <a@b> 1 "
		   "+0000\\nencoding ISO-8859-1\\n\\nx \\303\\2331m\\n' $t $p) | git hash-object "
		   "-w -t commit --stdin); p=$( (printf 'tree %%s\\nparent %%s\\nauthor A <a@b> 1 "
		   "+0000\\ncommitter A <a@b> 1 "
		   "+0000\\nencoding ISO-8859-1\\ngpgsig x\\n y\\n\\ngr\\374n\\n' $t $p) | git "
		   "hash-object -w -t commit --stdin); git update-ref refs/agent/x $p");
	/* one within, one beside that is clean */
	SH("text", "git update-ref refs/agent/mid refs/agent/x~1; git checkout -q --detach base;" C
		   "clean; git update-ref refs/agent/clean HEAD");
	r = open_repo("text");
	base = rev("text", "base");
	tips[0] = rev("text", "refs/agent/x");
	tips[1] = rev("text", "refs/agent/mid");
	tips[2] = rev("text", "refs/agent/clean");
	OK(ga_rewrite_texts(r, &base, 1, tips, 3, &cleaned, NULL, &keeps, &err));
	EQUAL(cleaned, 4);
	SH("text", "git update-ref refs/agent/tip %s; git fsck --strict --no-dangling;"
		   "test %s = $(git rev-parse refs/agent/tip~1); test %s = $(git rev-parse refs/agent/clean)",
	   GA_HEX(&tips[0]), GA_HEX(&tips[1]), GA_HEX(&tips[2]));
	assert_out("text", "git log --reverse --format='%an %s %b' base..refs/agent/tip | "
			   "LC_ALL=C grep -c -P '[\\x00-\\x08\\x0b-\\x1f\\x7f]' || :; git log "
			   "--reverse --format='%an|%B' base..refs/agent/tip; git cat-file commit "
			   "refs/agent/tip | grep -c gpgsig || :",
		   "0\nA U Thor|esc \\e]0;x\\x07 bidi \\u{202e} end\n\ntab\there\n\nN \\e[31m|2\n\n"
		   "A|x +ABs-[31m\n\nA|x \xc3\x9b" "1m\n\nA|gr\xc3\xbcn\n\n0");
}

/* ---- at random */

/* Whatever the agent did: no published commit has a critical path with a value
 * other than the base's, everything else is as it was made, and accepting all
 * gives its tree. */
TEST(random_histories_publish_no_critical_path)
{
	static const char *const paths[] = { "hook", "hook/x", "crit/a", "crit/b", "crit", "f",      "d/f",    "d" };

	rnd_seed();
	for (int round = 0; round < 6; round++) {
		REWRITE(w);
		BUF(b);
		cleanup_free char *dir = ga_strf("random%d", round);

		ga_buf_adds(&b, START "git config core.safecrlf false;");
		for (unsigned i = rnd(6) + 2; i; i--) {
			for (unsigned k = rnd(3) + 1; k; k--) {
				const char *p = paths[rnd(GA_NELEMS(paths))];

				if (rnd(4))
					ga_buf_addf(&b, "rm -rf %s; d=$(dirname %s); test -d $d || rm -rf $d;"
							"mkdir -p $d; echo %u >%s;", p, p, rnd(3), p);
				else
					ga_buf_addf(&b, "rm -rf %s;", p);
			}
			ga_buf_addf(&b, C "%u;", i);
			if (!rnd(3))
				ga_buf_adds(&b, "git branch -f tmp; git checkout -q --detach base;");
			if (!rnd(3))
				ga_buf_adds(&b, "git rev-parse -q --verify tmp >/dev/null && git "
						"merge -q -s ours -m m tmp || :;");
		}
		ga_buf_adds(&b, "git branch -D tmp >/dev/null 2>&1 || :; git update-ref refs/agent/x HEAD");
		SH(dir, "%s", b.ptr);
		w = run(dir, "base", "refs/agent/x", NULL);
		assert_out(dir, "for c in $(git rev-list base..refs/agent/tip); do git diff "
				"--name-status base $c -- crit hook; done", "");
		assert_out(dir, "h=refs/agent/held; git rev-parse -q --verify $h >/dev/null || "
				"h=refs/agent/tip; git diff --name-status refs/agent/x $h", "");
		/* none is new, and none is gone that changes anything else */
		assert_out(dir, "git log --format=%s%ad base..refs/agent/x | sort >a;"
				"git log --format=%s%ad base..refs/agent/tip | sort >b; comm -13 a b;"
				"for c in $(git rev-list --no-merges base..refs/agent/x); do "
				"git diff --quiet $c^ $c -- f d || ! git log -1 --format=%s%ad $c | "
				"comm -23 - b | grep .; done", "");
		{
			cleanup_free char *held = joined(&w.held_paths);
			cleanup_free char *want = sh(dir, "git diff --no-renames --name-only refs/agent/tip "
							  "refs/agent/x | tr '\\n' ' ' | sed 's/ $//'");

			STREQ(held, want);
		}
	}
}

TEST_MAIN(scratch_setup, scratch_teardown)
