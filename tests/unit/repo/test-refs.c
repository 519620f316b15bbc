/* SPDX-License-Identifier: MIT */
#include "ga/repo/history.h"
#include "../objects-support.h"

#include "ga/base/path.h"
#include "ga/base/trace.h"
#include "ga/repo/refs.h"
#include "ga/session/session.h"
#include "ga/sys/sync.h"

static struct ga_oid one, two;

static struct ga_repo *make(const char *dir)
{
	SH(dir, "git init -q; git commit -q --allow-empty -m one; git commit -q --allow-empty -m two");
	one = OID(dir, "git rev-parse HEAD~");
	two = OID(dir, "git rev-parse HEAD");
	return open_repo(dir);
}

TEST(refs_are_read_and_listed_by_prefix)
{
	cleanup_repo struct ga_repo *r = make("read");
	cleanup_refs struct ga_refs l = GA_REFS_INIT;
	struct ga_oid oid;

	SH("read", "git update-ref refs/agent/x/base %s; git update-ref refs/agent/x/held %s;"
		   "git update-ref refs/agent/xy/base %s; git pack-refs --all;"
		   "git update-ref refs/agent/x/aa %s; git symbolic-ref refs/agent/x/sym HEAD;"
		   "git symbolic-ref refs/agent/x/dangling refs/heads/none",
	   GA_HEX(&one), GA_HEX(&two), GA_HEX(&one), GA_HEX(&two));
	OK(ga_ref_read(r, "refs/agent/x/base", &oid, &err));
	assert_true(ga_oid_equal(&oid, &one));
	OK(ga_ref_read(r, "HEAD", &oid, &err));
	assert_true(ga_oid_equal(&oid, &two));
	{
		ERR(err);

		EQUAL(ga_ref_read(r, "refs/agent/none", &oid, &err), 1);
		EQUAL(ga_ref_read(r, "refs/agent/x/dangling", &oid, &err), 1);
	}
	OK(ga_refs_list(r, "refs/agent/x/", &l, &err));
	EQUAL(l.n, 4);
	STREQ(l.v[0].name, "refs/agent/x/aa");
	STREQ(l.v[1].name, "refs/agent/x/base");
	STREQ(l.v[2].name, "refs/agent/x/held");
	STREQ(l.v[3].name, "refs/agent/x/sym");
	assert_true(ga_oid_equal(&l.v[3].oid, &two));
	OK(ga_refs_list(r, "refs/agent/x", &l, &err));
	EQUAL(l.n, 5);
	OK(ga_refs_list(r, "refs/none/", &l, &err));
	EQUAL(l.n, 0);
	OK(ga_refs_list(r, "refs/*/", &l, &err));
	EQUAL(l.n, 0);
}

static void assert_refs(const char *dir, const char *want)
{
	cleanup_free char *got = sh(dir, "git for-each-ref --format='%%(refname) %%(objectname)'"
					 " refs/agent refs/heads/agent | sed 's/%s/1/;s/%s/2/'",
				    GA_HEX(&one), GA_HEX(&two));

	STREQ(got, want);
}

TEST(all_refs_are_updated_or_none)
{
	static const struct ga_oid zero;
	cleanup_repo struct ga_repo *r = make("txn");
	cleanup_free char *log = NULL;

	{
		cleanup_ref_updates struct ga_ref_updates u = GA_REF_UPDATES_INIT;

		OK(ga_refs_update(r, &u, "nothing", &err));
		ga_ref_updates_add(&u, "refs/heads/agent/x", &zero, &one);
		ga_ref_updates_add(&u, "refs/agent/x/base", &zero, &one);
		ga_ref_updates_add(&u, "refs/agent/x/held", NULL, &two);
		OK(ga_refs_update(r, &u, "git-agent: x", &err));
		assert_refs("txn", "refs/agent/x/base 1\nrefs/agent/x/held 2\nrefs/heads/agent/x 1");
		/* once more: they exist */
		FAILS(ga_refs_update(r, &u, "again", &err), "cannot update refs: ");
	}
	log = sh("txn", "cat .git/logs/refs/agent/x/base");
	assert_has(log, "git-agent: x");
	{
		cleanup_ref_updates struct ga_ref_updates u = GA_REF_UPDATES_INIT;

		ga_ref_updates_add(&u, "refs/heads/agent/x", &one, &two);
		ga_ref_updates_add(&u, "refs/agent/x/base", &two, NULL); /* it is `one` */
		FAILS(ga_refs_update(r, &u, "half", &err), "cannot update refs: ");
		assert_refs("txn", "refs/agent/x/base 1\nrefs/agent/x/held 2\nrefs/heads/agent/x 1");
	}
	{
		cleanup_ref_updates struct ga_ref_updates u = GA_REF_UPDATES_INIT;

		ga_ref_updates_add(&u, "refs/heads/agent/x", &one, &two);
		ga_ref_updates_add(&u, "refs/agent/x/base", &one, NULL);
		ga_ref_updates_add(&u, "refs/agent/x/held", NULL, NULL);
		OK(ga_refs_update(r, &u, "good", &err));
		assert_refs("txn", "refs/heads/agent/x 2");
	}
}

TEST(what_does_not_reach_the_disk_is_told)
{
	static const char *const known_names[] = { "refs", "refs/agent", "refs/agent/d" };
	cleanup_ref_updates struct ga_ref_updates u = GA_REF_UPDATES_INIT, second = GA_REF_UPDATES_INIT;
	STRV(known);
	REPOSITORY(r);
	struct ga_sync_job *sync;
	struct ga_refs_job *job;
	struct ga_oid head;

	r = make_repo("disk", "git commit -q --allow-empty -m x");
	OK(ga_ref_read(r, "HEAD", &head, &err));
	ga_ref_updates_add(&u, "refs/agent/d/base", NULL, &head);
	ga_fault_set("sync:fail");
	FAILS(ga_refs_update(r, &u, "m", &err), "cannot sync '");
	SH("disk", "git rev-parse --verify refs/agent/d/base");
	/* the file and its directory, and none above one that is known; few need no thread */
	for_each (row, known_names)
		ga_strv_take(&known, ga_path_join(ga_repo_info(r)->commondir, *row));
	ga_strv_sort_unique(&known);
	ga_ref_updates_add(&second, "refs/agent/d/report", NULL, &head);
	OK(ga_refs_begin(r, "m", -1, &job, &err));
	OK(ga_refs_end(r, job, &second, NULL, &known, &sync, &err));
	FAILS(ga_sync_end(sync, &err), "/.git/refs/agent/d': ");
	ga_fault_set(NULL);
	OK(ga_refs_update(r, &u, "m", &err));
}

TEST(no_hook_of_git_runs_for_our_refs)
{
	cleanup_repo struct ga_repo *r = make("hook");
	cleanup_ref_updates struct ga_ref_updates u = GA_REF_UPDATES_INIT;

	SH("hook", "printf '#!/bin/sh\\ntouch ../ran; exit 1\\n' >.git/hooks/reference-transaction;"
		   "chmod +x .git/hooks/reference-transaction");
	ga_ref_updates_add(&u, "refs/agent/x/base", NULL, &one);
	OK(ga_refs_update(r, &u, "m", &err));
	OK(ga_ref_create(r, "refs/agent/y/base", &one, "m", &err));
	SH("hook", "rm .git/hooks/reference-transaction; test ! -e ran -a ! -e ../ran");
	assert_refs("hook", "refs/agent/x/base 1\nrefs/agent/y/base 1");
}

TEST(one_ref_is_created_and_deleted_without_git)
{
	cleanup_repo struct ga_repo *r = make("one");
	struct ga_oid bad;

	OK(ga_ref_create(r, "refs/agent/x/base", &one, "why", &err));
	OK(ga_ref_create(r, "refs/heads/agent/log", &one, "why", &err));
	SH("one", "grep -q why .git/logs/refs/heads/agent/log && test ! -e .git/logs/refs/agent/x/base;"
		  "git branch -qD agent/log");
	FAILS(ga_ref_create(r, "refs/agent/x/base", &two, "why", &err), "exists already");
	FAILS(ga_ref_create(r, "refs/agent/x", &two, "why", &err), "cannot make ref 'refs/agent/x'");
	SH("one", "git pack-refs --all");
	FAILS(ga_ref_create(r, "refs/agent/x/base", &two, "why", &err), "exists already");
	memset(&bad, 7, sizeof(bad));
	FAILS(ga_ref_create(r, "refs/agent/y", &bad, "why", &err), "cannot make ref");
	FAILS(ga_ref_delete(r, "refs/agent/x/base", &two, &err), "has changed");
	assert_refs("one", "refs/agent/x/base 1");
	OK(ga_ref_delete(r, "refs/agent/x/base", &one, &err));
	OK(ga_ref_delete(r, "refs/agent/x/base", &one, &err));
	assert_refs("one", "");
	/* nothing left that conflicts with another name */
	OK(ga_ref_create(r, "refs/agent/x", &two, "why", &err));
}

TEST(pinned_objects_survive_gc)
{
	cleanup_repo struct ga_repo *r = make("pin");
	struct ga_oid lost[3];

	OK(ga_ref_create(r, "refs/agent/x/base", &one, "why", &err));
	lost[0] = OID("pin", "git commit-tree -m a HEAD^{tree}");
	lost[1] = OID("pin", "git commit-tree -m b HEAD^{tree}");
	lost[2] = OID("pin", "git commit-tree -m not-pinned HEAD^{tree}");
	OK(ga_reflog_pin(r, "refs/agent/x/base", lost, 2, &err));
	SH("pin", "git -c gc.reflogExpireUnreachable=1.second.ago gc -q --prune=now;"
		  "git cat-file -e %s; git cat-file -e %s; ! git cat-file -e %s 2>/dev/null",
	   GA_HEX(&lost[0]), GA_HEX(&lost[1]), GA_HEX(&lost[2]));
	SH("pin", "git fsck --no-dangling");
}

TEST(a_name_of_a_ref_is_what_git_takes_without_odd_bytes)
{
	static const char *const good[] = { "refs/heads/agent/claude-1", "refs/agent/x/heads/a.b",
					    "refs/agent/\xc3\xa4" };
	static const char *const bad[] = {
		"", "refs", "refs/", "heads/x", "HEAD", "refs/heads/-x", "refs/heads/a..b",
		"refs/heads/@{", "refs/heads/a\x1b[31m", "refs/heads/a\nb", "refs/heads/.x",
		"refs/heads/x.lock", "refs/heads/x/", "refs/heads//x", "refs/heads/a b",
		"refs/heads/a~1", "refs/heads/a^", "refs/heads/a:b", "refs/heads/a?",
		"refs/heads/a*", "refs/heads/[a", "refs/heads/a\\b", "refs/heads/x.",
		"refs/heads/git~1/x", "refs/heads/\xe2\x80\xae", "refs/heads/\xff",
	};
	BUF(longest);

	for_each (row, good)
		if (!ga_ref_name_ok(*row))
			fail_msg("refused: %s", *row);
	for_each (row, bad)
		if (ga_ref_name_ok(*row))
			fail_msg("accepted: %s", *row);
	ga_buf_adds(&longest, "refs/heads/");
	while (longest.len < 200)
		ga_buf_addch(&longest, 'x');
	assert_true(ga_ref_name_ok(longest.ptr));
	ga_buf_addch(&longest, 'x');
	assert_false(ga_ref_name_ok(longest.ptr));
}

TEST(refs_of_sessions_are_no_tips_of_the_user)
{
	static const struct {
		const char *ref;
		bool users;
	} cases[] = {
		{ "refs/heads/agent/x", false }, { "refs/heads/agent/x/y", false },
		{ "refs/remotes/o/agent/x", false }, { "refs/remotes/o/p/agent/x", false },
		{ "refs/agent/x/base", false },
		{ "refs/heads/agents", true }, { "refs/heads/a/agent/x", true },
		{ "refs/remotes/o/agents", true }, { "refs/tags/agent/x", true },
	};
	cleanup_repo struct ga_repo *r = make("tips");

	SH("tips", "git reset -q --hard HEAD~");
	for_each (row, cases) {
		cleanup_refs struct ga_refs host = GA_REFS_INIT;
		bool tip, on;

		SH("tips", "git update-ref '%s' %s", row->ref, GA_HEX(&two));
		OK(ga_session_host_refs(r, &host, &err));
		tip = ga_refs_find(&host, row->ref);
		OK(ga_is_on_branch(r, &two, NULL, false, &on, &err));
		if (tip != row->users || on != row->users)
			fail_msg("%s: a tip %d, on a branch %d", row->ref, tip, on);
		SH("tips", "git update-ref -d '%s'", row->ref);
	}
}

TEST(a_revision_is_resolved_as_git_does)
{
	static const char *const names[] = { "main", "heads/main", "tags/tag", "origin/main",
					     "origin", "twice", "ORIG_HEAD", "abcdef" };
	cleanup_repo struct ga_repo *r = make("resolve");
	cleanup_free char *trace = in_scratch("resolve-trace"), *asked = NULL;

	SH("resolve", "git branch twice HEAD~; git tag twice; git tag tag HEAD~; git tag abcdef HEAD~;"
		      "git update-ref ORIG_HEAD HEAD~; git update-ref refs/remotes/origin/main HEAD~;"
		      "git symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/main");
	for_each (row, names) {
		struct ga_oid want = OID("resolve", "git rev-parse '%s' 2>/dev/null", *row), oid;

		EQUAL(setenv("GIT_TRACE", trace, 1), 0);
		OK(ga_repo_resolve(r, *row, &oid, &err));
		EQUAL(unsetenv("GIT_TRACE"), 0);
		STREQ(GA_HEX(&oid), GA_HEX(&want));
	}
	asked = sh(".", "sed -n 's/.*end-of-options //p' resolve-trace");
	STREQ(asked, "twice\nORIG_HEAD");
}

TEST_MAIN(scratch_setup, scratch_teardown)
