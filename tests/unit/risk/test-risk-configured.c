/* SPDX-License-Identifier: MIT
 *
 * Paths that are configured: what each list does to the flags of a change, alone and against the
 * others.
 */
#include "risk-support.h"

/* Facts of nothing but these patterns: "LIST=PATTERN" each, parted by blanks. */
static void facts_of(const char *words, struct ga_risk_paths *p, struct ga_host_facts *ret)
{
	cleanup_free char *copy = ga_strdup(words);
	char *save = NULL;

	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		const char *pattern = strchr(w, '=') + 1;

		ga_strv_push(w[0] == 'h'   ? &p->hold
			     : w[0] == 'b' ? &p->block
			     : w[1] == 'd' ? &p->add
					   : &p->allow, pattern);
	}
	*ret = (struct ga_host_facts)GA_HOST_FACTS_INIT;
	ret->configured = ga_configured_new(p);
}

/* "severity rule[ held]" of each flag on the path, parted by "; ". */
static char *flags_text(const struct ga_flags *f, const struct ga_host_facts *h, const char *path)
{
	struct ga_buf b = GA_BUF_INIT;

	for (size_t i = 0; i < f->n; i++)
		if (!strcmp(f->v[i].path, path))
			ga_buf_addf(&b, "%s%s %s%s", b.len ? "; " : "",
				    ga_severity_name(f->v[i].severity), f->v[i].rule,
				    ga_flag_holds(h, &f->v[i]) ? " held" : "");
	return b.len ? ga_buf_steal(&b) : ga_strdup("");
}

#define NEW(path) { NULL, path, true, NONE, FILE_("x\n"), NULL }
#define EDIT(path) { NULL, path, true, FILE_("x\n"), FILE_("y\n"), NULL }
#define GONE(path) { NULL, path, true, FILE_("x\n"), NONE, NULL }
#define ADD "high configured-add"
#define HOLD "high configured-hold held"
#define BLOCK "critical configured-block held"

static const struct {
	const char *words;
	struct change_fixture x;
	const char *want;
} cases[] = {
	/* what is in no list */
	{ "", NEW("doc/x"), "" },
	{ "add=y hold=y block=y allow=y", NEW("doc/x"), "" },
	/* each list, and each kind of change */
	{ "add=x", NEW("doc/x"), ADD },
	{ "add=x", EDIT("doc/x"), ADD },
	{ "add=x", GONE("doc/x"), ADD },
	{ "hold=x", NEW("doc/x"), HOLD },
	{ "hold=x", GONE("doc/x"), HOLD },
	{ "block=x", EDIT("doc/x"), BLOCK },
	{ "block=x", GONE("doc/x"), BLOCK },
	/* the most severe list says it */
	{ "add=x hold=x", NEW("x"), HOLD },
	{ "hold=x block=x add=x", NEW("x"), BLOCK },
	{ "add=x add=*", NEW("x"), ADD },
	/* patterns */
	{ "add=/x", NEW("doc/x"), "" },
	{ "add=/x", NEW("x"), ADD },
	{ "add=doc/", NEW("doc/x"), ADD },
	{ "add=doc/", NEW("a/doc/b/x"), ADD },
	{ "add=doc", NEW("doc/x"), "" },
	{ "add=doc/*.c", NEW("a/doc/x.c"), ADD },
	{ "add=**", NEW("doc/a/x"), ADD },
	/* a name that another system takes for the one that is listed */
	{ "hold=Secret/Key.TXT", NEW("sEcret/kEy.txt"), HOLD },
	{ "block=\xc3\x84rger", NEW("doc/\xc3\xa4rger"), BLOCK },
	{ "block=x", NEW("x."), BLOCK "; medium name-windows-reserved" },
	{ "block=a...", NEW("a"), BLOCK },
	/* a link counts as what would be beneath it */
	{ "hold=conf/", { NULL, "conf", true, NONE, LINK_("d"), "d/x" },
	  HOLD "; medium symlink-any" },
	{ "hold=conf/", { NULL, "conf", true, NONE, FILE_("d"), NULL }, "" },
	{ "block=sub/", { NULL, "sub", true, NONE, MODULE_, NULL },
	  BLOCK "; high gitlink-changed" },
	/* allow: rules of all sorts, below critical */
	{ "", NEW("Makefile"), "high make" },
	{ "allow=Makefile", NEW("Makefile"), "" },
	{ "allow=/Makefile", NEW("sub/Makefile"), "high make" },
	{ "allow=sub/", NEW("a/sub/Makefile"), "" },
	{ "allow=run", { NULL, "run", true, FILE_("#!/bin/sh\n"), EXEC_("#!/bin/sh\n"), NULL }, "" },
	{ "allow=t.c", { NULL, "t.c", true, NONE, FILE_("a\xe2\x80\xae" "b\n"), NULL }, "" },
	/* ... and critical stays, as does what is to be held */
	{ "", NEW(".envrc"), "critical direnv held" },
	{ "allow=.envrc", NEW(".envrc"), "critical direnv held" },
	{ "allow=**", NEW(".vscode/tasks.json"), "critical vscode-tasks held" },
	{ "allow=Makefile hold=Makefile", NEW("Makefile"), HOLD },
	{ "allow=Makefile block=Makefile", NEW("Makefile"), BLOCK },
	{ "allow=Makefile add=*", NEW("Makefile"), "" },
	/* an allowed name is that name, and not what is like it */
	{ "allow=Makefile", NEW("makefile"), "high make" },
	{ "allow=sub/", NEW("Sub/Makefile"), "high make" },
	{ "allow=sub/", { NULL, "sub", true, NONE, LINK_("/etc"), NULL },
	  "high symlink-absolute" },
};

TEST(each_list_does_what_it_says_to_a_change)
{
	for_index (i, cases) {
		cleanup_risk_paths struct ga_risk_paths p = GA_RISK_PATHS_INIT;
		FACTS(h);
		FLAGS(f);
		cleanup_free char *got = NULL;

		facts_of(cases[i].words, &p, &h);
		classify_change(&cases[i].x, &h, &f);
		got = flags_text(&f, &h, cases[i].x.path);
		if (strcmp(got, cases[i].want) != 0)
			fail_msg("'%s' and '%s' (%zu): '%s', not '%s'", cases[i].words,
				 cases[i].x.path, i, got, cases[i].want);
	}
}

/* What the host's own state says of a path is no matter of taste. */
TEST(what_the_host_reaches_is_not_allowed_away)
{
	const struct change_fixture x = GONE("checks/check.sh");
	cleanup_risk_paths struct ga_risk_paths p = GA_RISK_PATHS_INIT;
	FACTS(h);
	FLAGS(f);
	const struct ga_flag *flag;

	facts_of("allow=**", &p, &h);
	reached(&h, GA_REACH_FILE, "host-hook-reached", "checks/check.sh", "a hook");
	classify_change(&x, &h, &f);
	flag = flag_of(&f, "checks/check.sh", "host-hook-reached");
	assert_non_null(flag);
	EQUAL(flag->severity, GA_HIGH);
}

TEST(paths_left_behind_are_blocked_too)
{
	cleanup_risk_paths struct ga_risk_paths p = GA_RISK_PATHS_INIT;
	FACTS(h);
	FLAGS(f);

	facts_of("block=out/ hold=x allow=Makefile", &p, &h);
	ga_classify_path(&h, "out/a", false, &f);
	ga_classify_path(&h, "x", true, &f);
	ga_classify_path(&h, "Makefile", false, &f);
	EQUAL(f.n, 1);
	STREQ(f.v[0].rule, "configured-block");
	STREQ(f.v[0].path, "out/a");
}

TEST(block_covers_what_is_beneath)
{
	static const struct {
		const char *path;
		bool link, want;
	} v[] = {
		{ "conf/x", false, true }, { "a/CONF/x", false, true }, { "conf", false, false },
		{ "conf", true, true },    { "hold", false, false },    { "conf2/x", false, false },
	};
	cleanup_risk_paths struct ga_risk_paths p = GA_RISK_PATHS_INIT;
	FACTS(h);

	facts_of("block=conf/ hold=hold add=conf2/", &p, &h);
	for_each (row, v)
		if (ga_risk_blocks(&p, row->path, row->link) != row->want)
			fail_msg("'%s'", row->path);
}

/* As many as a file of settings takes, each as much work as a pattern can be. */
TEST(thousands_of_patterns_are_fast_enough)
{
	cleanup_risk_paths struct ga_risk_paths p = GA_RISK_PATHS_INIT;
	BUF(deep);

	for (int i = 0; i < 125; i++)
		ga_buf_adds(&deep, "a/");
	for (int i = 0; i < 1000; i++) {
		ga_strv_pushf(&p.block, "%s%d", deep.ptr, i);
		ga_strv_pushf(&p.hold, "%sh%d", deep.ptr, i);
		ga_strv_pushf(&p.allow, "%sa%d", deep.ptr, i);
	}
	ga_buf_adds(&deep, "999");
	assert_true(ga_risk_blocks(&p, deep.ptr, false));
	ga_buf_adds(&deep, "9");
	assert_false(ga_risk_blocks(&p, deep.ptr, false));
	assert_true(ga_risk_blocks(&p, "a", true));
}

TEST_MAIN(setup, teardown)
