/* SPDX-License-Identifier: MIT */
#include "../land-support.h"

#include "review/review-internal.h"
#include "ga/base/quote.h"
#include "ga/repo/history.h"

static struct ga_entry entry(char fill)
{
	struct ga_entry e = {.mode = GA_MODE_FILE};

	memset(e.oid.id, fill, sizeof(e.oid.id));
	return e;
}

static void add(struct ga_flags *f, const char *rule, enum ga_severity sev, const char *path, char fill)
{
	GA_GROW(f->v, f->n, f->cap);
	f->v[f->n++] = (struct ga_flag){.rule = ga_strdup(rule), .category = ga_strdup("test"), .severity = sev,
					.path = ga_strdup(path), .reason = ga_strdup("because"),
					.entry = entry(fill)};
}

static struct ga_flag *find(const struct ga_report *r, const char *rule, const char *path, const struct ga_entry *e)
{
	return ga_flags_find(&r->flags, &(struct ga_flag){.rule = (char *)(uintptr_t)rule,
							  .path = (char *)(uintptr_t)path, .entry = *e});
}

/* What the session is based on, and then what it does. */
#define BASE "git add .; git commit -qm one; git tag onto; git switch -qc agent/s1;"

/* ---- the value */

TEST(flags_keep_verdicts)
{
	FLAGS(f);
	FLAGS(g);
	cleanup_report struct ga_report r = GA_REPORT_INIT;
	STRV(held);
	struct ga_entry one = entry(1), two = entry(2);
	struct ga_flag *x;

	add(&f, "low", GA_LOW, "z", 1);
	add(&f, "high", GA_HIGH, "b", 1);
	add(&f, "crit", GA_CRITICAL, "c", 1);
	add(&f, "high", GA_HIGH, "a", 1);
	ga_strv_push(&held, "c");
	ga_report_add_flags(&r, GA_FROM_SESSION, &f, &held);
	EQUAL(r.flags.n, 4);
	STREQ(r.flags.v[0].path, "c");
	assert_true(r.flags.v[0].held);
	STREQ(r.flags.v[1].path, "a");
	STREQ(r.flags.v[3].path, "z");
	EQUAL(ga_report_open(&r), 3);
	for (size_t i = 0; i < r.flags.n; i++)
		r.flags.v[i].verdict = GA_VERDICT_ACCEPTED;
	EQUAL(ga_report_open(&r), 0);
	/* the same again: still accepted; other content: not; more severe: not */
	add(&g, "high", GA_HIGH, "a", 1);
	add(&g, "high", GA_HIGH, "b", 2);
	add(&g, "low", GA_CRITICAL, "z", 1);
	ga_report_add_flags(&r, GA_FROM_SESSION, &g, NULL);
	EQUAL(r.flags.n, 5);
	EQUAL(ga_report_open(&r), 2);
	x = find(&r, "high", "a", &one);
	EQUAL(x->verdict, GA_VERDICT_ACCEPTED);
	x = find(&r, "high", "b", &two);
	EQUAL(x->verdict, GA_VERDICT_OPEN);
	x = find(&r, "low", "z", &one);
	EQUAL(x->verdict, GA_VERDICT_OPEN);
	EQUAL(x->severity, GA_CRITICAL);
	/* held blocks a landing whatever its severity */
	x->severity = GA_LOW;
	EQUAL(ga_report_open(&r), 1);
	x->held = true;
	EQUAL(ga_report_open(&r), 2);
}

static void sample(struct ga_report *r)
{
	FLAGS(f);
	struct ga_entry e = entry(3);

	r->session = ga_strdup("s1");
	ga_strv_push_many(&r->command, "claude", "-p", "do \"it\"\n", "\xff", NULL);
	r->base = e.oid;
	ga_strv_push(&r->notes, "a note");
	ga_strv_push(&r->left_out, "dir/\xfe");
	add(&f, "rule", GA_HIGH, "path\x1b[31m\xff", 1);
	add(&f, "rule", GA_MEDIUM, "p\xc3\xa4th", 2);
	ga_strv_push(&f.v[1].also, "other");
	ga_report_add_flags(r, GA_FROM_SESSION, &f, NULL);
	r->flags.v[0].held = true;
	r->flags.v[1].verdict = GA_VERDICT_REJECTED;
	r->left.v = ga_calloc(1, sizeof(*r->left.v));
	r->left.n = r->left.cap = 1;
	r->left.v[0] = (struct ga_leftover){ga_strdup("node_modules"), GA_LEFTOVER_IGNORED, 7, 1ULL << 40};
}

TEST(a_report_is_read_as_it_was_written)
{
	cleanup_report struct ga_report r = GA_REPORT_INIT, back = GA_REPORT_INIT;
	cleanup_free char *text = NULL, *again = NULL;

	sample(&r);
	text = ga_report_encode(&r);
	for (const char *p = text; *p; p++)
		assert_true(*p == '\n' || (*p >= ' ' && *p < 127));
	OK(ga_report_decode(text, strlen(text), &back, &err));
	again = ga_report_encode(&back);
	STREQ(text, again);
	STREQ(back.flags.v[0].path, "path\x1b[31m\xff");
	EQUAL(back.flags.v[1].verdict, GA_VERDICT_REJECTED);
	EQUAL(back.flags.v[1].also.n, 1);
	STREQ(back.flags.v[1].also.v[0], "other");
	assert_true(ga_entry_equal(&back.flags.v[1].entry, &r.flags.v[1].entry));
	EQUAL(back.left.v[0].bytes, 1ULL << 40);
	STREQ(back.left_out.v[0], "dir/\xfe");
	STREQ(back.command.v[3], "\xff");
	assert_true(ga_oid_is_zero(&back.held));
}

/* Whatever order a stored report has them in. */
TEST(stored_flags_are_found)
{
	static const char crit[] = "\"severity\": \"critical\"", low[] = "\"severity\": \"low\"";
	cleanup_report struct ga_report r = GA_REPORT_INIT, back = GA_REPORT_INIT;
	FLAGS(f);
	cleanup_free char *text = NULL;
	char *first;

	r.session = ga_strdup("s1");
	for (unsigned i = 0; i < 100; i++) {
		cleanup_free char *path = ga_strf("p%02u", i);

		add(&f, "rule", (enum ga_severity)(i % 4), path, (char)i);
	}
	ga_report_add_flags(&r, GA_FROM_SESSION, &f, NULL);
	text = ga_report_encode(&r);
	/* the first of all is the least severe now */
	first = strstr(text, crit);
	assert_non_null(first);
	memset(first, ' ', sizeof(crit) - 1);
	memcpy(first, low, sizeof(low) - 1);
	OK(ga_report_decode(text, strlen(text), &back, &err));
	for (size_t i = 0; i < f.n; i++) {
		struct ga_entry other = entry((char)(i + 100));
		const struct ga_flag *g = &f.v[i];
		const struct ga_flag *x = find(&back, g->rule, g->path, &g->entry);

		assert_non_null(x);
		STREQ(x->path, g->path);
		assert_null(find(&back, g->rule, g->path, &other));
		assert_null(find(&back, "other", g->path, &g->entry));
	}
	/* all that were stored with it are so */
	STREQ(back.flags.v[back.flags.n - 1].path, "p99");
}

/* Each has its path and entry again; what only differs by these needs little room, and however many
 * different reasons there are, a report stays readable. */
TEST(any_number_of_flags_is_stored)
{
	cleanup_report struct ga_report r = GA_REPORT_INIT, back = GA_REPORT_INIT;
	FLAGS(f);
	cleanup_free char *text = NULL, *again = NULL;

	r.session = ga_strdup("s1");
	for (unsigned i = 0; i < 50000; i++) {
		cleanup_free char *path = ga_strf("a/directory/%u/a-name-with-\xff-%05u", i / 999, i);

		add(&f, i < 25000 ? "make" : "gradle", GA_HIGH, path, (char)(i / 9));
		free(f.v[i].reason);
		f.v[i].reason = i < 25000 ? ga_strf("says %u", i) : ga_strdup("because");
	}
	ga_report_add_flags(&r, GA_FROM_SESSION, &f, NULL);
	text = ga_report_encode(&r);
	assert_true(strlen(text) < 16 << 20);
	OK(ga_report_decode(text, strlen(text), &back, &err));
	EQUAL(back.flags.n, r.flags.n);
	for (size_t i = 0; i < r.flags.n; i++) {
		const struct ga_flag *a = &r.flags.v[i], *b = &back.flags.v[i];

		STREQ(a->path, b->path);
		STREQ(a->rule, b->rule);
		assert_true(ga_entry_equal(&a->entry, &b->entry));
		if (strcmp(a->reason, b->reason) != 0)
			STREQ(b->reason, ga_rule_find(a->rule)->reason);
	}
	STREQ(back.flags.v[0].reason, r.flags.v[0].reason);
	again = ga_report_encode(&back);
	STREQ(text, again);
}

/* As JSON in these tests is written: with ' for ". */
static char *json_of(const char *text)
{
	char *json = ga_strdup(text);

	for (char *p = json; (p = strchr(p, '\'')) != NULL;)
		*p = '"';
	return json;
}

TEST(a_report_with_one_thing_wrong_is_refused)
{
	static const struct {
		const char *from, *to, *why;
	} v[] = {
	    {"'version': 2", "'version': 3", "another version"},
	    {"'held': true", "'held': true, 'more': ' = 0 1 a'", "'more'"},
	    {"'held': true", "'held': true, 'more': '100643 = 0 1 a'", "'mode'"},
	    {"'held': true", "'held': true, 'more': '100644 0 0 1 a'", "'more'"},
	    {"'held': true", "'held': true, 'more': '100644 = 99 1 a'", "'more'"},
	    {"'held': true", "'held': true, 'more': '100644 = 0 2 a'", "'more'"},
	    {"'held': true", "'held': true, 'more': '100644 = 0 1234567890 a'", "'more'"},
	    {"'held': true", "'held': true, 'more': '100644 = 0 1 aa'", "'more'"},
	    {"'also': [", "'also': 1, 'x': [", "'also'"},
	    {"'session': 's1'", "'session': 1", "'session'"},
	    {"'tip': null", "'tip': '00'", "'tip'"},
	    {"'tip': null", "'tap': null", "'tip'"},
	    {"'tip': null", "'tip': null, 'tip': null", "not a JSON object"},
	    {"'severity': 'high'", "'severity': 'fatal'", "'severity'"},
	    {"'verdict': 'open'", "'verdict': 'yes'", "'verdict'"},
	    {"'held': true", "'held': 1", "'held'"},
	    {"'mode': 33188", "'mode': 33189", "'mode'"},
	    {"'kind': 'ignored'", "'kind': 'odd'", "'kind'"},
	    {"'count': 7", "'count': -7", "'count'"},
	    {"'ZGlyL/4='", "'ZGlyL/4'", "'s'"},             /* no padding */
	    {"'ZGlyL/4='", "'ZGlyL/5='", "'s'"},            /* stray bits */
	    {"'ZGlyL/4='", "'ZGlyAP8='", "'s'"},            /* a NUL */
	    {"'ZGlyL/4='", "'Li4vLi4vZQ=='", "'left_out'"}, /* ../../e */
	    {"'ZGlyL/4='", "'L2V0Yw=='", "'left_out'"},     /* /etc */
	    {"'s': 'a note'", "'s': 'a\\u0000b'", "not a JSON object"},
	    {"'flags': [", "'flags': 1, 'x': [", "'flags'"},
	};
	cleanup_report struct ga_report r = GA_REPORT_INIT, back = GA_REPORT_INIT;
	cleanup_free char *text = NULL;

	sample(&r);
	text = ga_report_encode(&r);
	for_each (row, v) {
		cleanup_free char *from = json_of(row->from), *to = json_of(row->to), *bad = NULL;
		const char *at = strstr(text, from);

		if (!at)
			fail_msg("%s is not in %s", from, text);
		bad = ga_strf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
		FAILS(ga_report_decode(bad, strlen(bad), &back, &err), row->why);
	}
	/* cut short anywhere */
	for (size_t n = strlen(text) - 2; n; n -= n > 7 ? 7 : n)
		FAILS(ga_report_decode(text, n, &back, &err), "not a JSON object");
	memset(text, '[', strlen(text));
	FAILS(ga_report_decode(text, strlen(text), &back, &err), "not a JSON object");
	assert_null(back.session);
}

TEST(a_session_has_its_result_from_the_report)
{
	cleanup_report struct ga_report r = GA_REPORT_INIT, none = GA_REPORT_INIT;
	cleanup_session struct ga_session s = GA_SESSION_INIT;

	r.tip.id[0] = 1;
	r.held.id[0] = 2;
	ga_strv_push(&r.notes, "a note");
	ga_strv_push(&r.left_out, "mine");
	for (int again = 0; again < 2; again++) {
		ga_report_copy_result(&r, &s);
		assert_true(ga_oid_equal(&s.result.tip, &r.tip));
		assert_true(ga_oid_equal(&s.result.held, &r.held));
		EQUAL(s.result.notes.n, 1);
		EQUAL(s.result.left_out.n, 1);
		STREQ(s.result.left_out.v[0], "mine");
	}
	s.state = GA_STATE_LANDED;
	ga_report_copy_result(&r, &s);
	EQUAL(s.result.left_out.n, 0);
	ga_report_copy_result(&none, &s);
	assert_true(ga_oid_is_zero(&s.result.tip) && ga_oid_is_zero(&s.result.held));
	EQUAL(s.result.notes.n, 0);
}

TEST(a_report_is_read_from_its_ref_and_no_other_sessions)
{
	cleanup_report struct ga_report back = GA_REPORT_INIT;
	struct stay t;

	SH("ref", "git init -q .; echo a >a;" BASE "echo b >>a; git commit -qam two; git switch -q main");
	stay_open(&t, "ref");
	OK(ga_report_read(t.repo, &t.s, &back, &err));
	assert_true(ga_oid_equal(&back.tip, &t.s.result.tip));
	t.s.result.tip = t.s.result.held;
	ga_report_load(t.repo, &t.s);
	assert_true(ga_oid_equal(&back.tip, &t.s.result.tip));
	EXPECT("ref", "report.json", "git ls-tree --name-only refs/agent/s1/report");
	EXPECT("ref", "", "git fsck --strict --no-dangling 2>&1");
	/* somebody else's */
	SH("ref", "git update-ref refs/agent/s2/report refs/agent/s1/report");
	free(t.s.name);
	t.s.name = ga_strdup("s2");
	FAILS(ga_report_read(t.repo, &t.s, &back, &err), "belongs to another session");
	SH("ref", "git update-ref refs/agent/s2/report onto");
	FAILS(ga_report_read(t.repo, &t.s, &back, &err), "damaged: it has no report.json");
	SH("ref", "git update-ref -d refs/agent/s2/report");
	{
		ERR(err);

		EQUAL(ga_report_read(t.repo, &t.s, &back, &err), 1);
	}
	stay_close(&t);
}

/* ---- renderings */

/* A repository of everything that should not reach a terminal. */
static void hostile(struct stay *t, const char *dir)
{
	SH(dir, "git init -q .; seq 9 >lines; printf 'a\\000b' >bin; echo gone >gone; echo x >mode; ln -s one link;"
	   BASE
	   "printf 'evil\\033[2J\\r\\302\\233\\342\\200\\256\\n' >>lines; printf 'a\\000bc' >bin; git rm -q gone;"
	   "chmod +x mode; ln -sf /etc/passwd link; printf '%%200scode()\\n' '' >blanks;"
	   "printf '\\302\\240\\343\\200\\200\\342\\240\\200 %%.0s' $(seq 20) >>blanks; echo 'far()' >>blanks;"
	   "printf '#!/bin/sh\\necho \\000\\033[31m\\n' >Makefile;"
	   "echo n >\"$(printf 'na\\033[31mme\\nnext')\"; echo n >\"$(printf 'by\\377te')\"; git add -A;"
	   "GIT_AUTHOR_DATE='1900000000 +0130' GIT_COMMITTER_DATE='1900000000 +0130' git commit -q "
	   "-m \"$(printf 'sub\\033[1mject')\"; git switch -q main");
	stay_open(t, dir);
	ga_strv_push(&t->r.command, "arg\x1b]0;x\a\n");
}

static void expect_clean(const struct ga_buf *b, bool colour)
{
	for (size_t i = 0; i < b->len; i++) {
		unsigned char c = (unsigned char)b->ptr[i];

		if (c == 0x1b && colour) {
			size_t n = strspn(b->ptr + i + 2, "0123456789;");

			/* only colours, and those we know */
			EQUAL(b->ptr[i + 1], '[');
			EQUAL(b->ptr[i + 2 + n], 'm');
			assert_true(n <= 4);
			continue;
		}
		if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
			fail_msg("byte %02x at: %.40s", c, b->ptr + i);
	}
	assert_true(ga_utf8_valid(b->ptr, b->len));
	assert_null(strstr(b->ptr, "\xc2\x9b"));
	assert_null(strstr(b->ptr, "\xe2\x80\xae"));
}

static void expect_in(const struct ga_buf *b, const char *what)
{
	if (!strstr(b->ptr, what))
		fail_msg("'%s' is not in:\n%s", what, b->ptr);
}

TEST(nothing_of_the_agents_reaches_a_terminal_raw)
{
	BUF(text);
	BUF(diff);
	BUF(text_colour);
	BUF(diff_colour);
	const char *mk, *first;
	struct stay t;

	hostile(&t, "hostile");
	OK(text_of(&t, false, &text, &err));
	expect_clean(&text, false);
	expect_in(&text, "sub\\e[1mject");
	expect_in(&text, "\"na\\e[31mme\\nnext\"");
	expect_in(&text, "\"by\\xffte\"");
	expect_in(&text, "  D      +0     -1  gone\n");
	expect_in(&text, "  M      +0     -0  mode (mode 100755, was 100644)\n");
	expect_in(&text, "  M         binary  bin\n");
	expect_in(&text, " (symlink)\n");
	OK(text_of(&t, true, &text_colour, &err));
	expect_clean(&text_colour, true);
	assert_non_null(strchr(text_colour.ptr, 0x1b));

	OK(diff_of(&t, false, &diff, &err));
	expect_clean(&diff, false);
	expect_in(&diff, "+evil\\e[2J\\r\\u{9b}\\u{202e}\n");
	expect_in(&diff, "diff --git \"a/na\\e[31mme\\nnext\" \"b/na\\e[31mme\\nnext\"\n");
	expect_in(&diff, "+\\x20{200}code()\n");
	expect_in(&diff, "+\\x20{80}far()\n");
	expect_in(&diff, "old mode 100644\nnew mode 100755\n");
	expect_in(&diff, "deleted file mode 100644\n");
	expect_in(&diff, "-one\n\\ No newline at end of file\n+/etc/passwd\n");
	/* binary is named; binary and flagged is shown */
	expect_in(&diff, "diff --git a/bin b/bin\n");
	expect_in(&diff, "+echo \\x00\\e[31m\n");
	/* what is flagged comes first */
	mk = strstr(diff.ptr, "b/Makefile");
	first = strstr(diff.ptr, "b/blanks");
	assert_true(mk && first && mk < first);
	OK(diff_of(&t, true, &diff_colour, &err));
	expect_clean(&diff_colour, true);
	expect_in(&diff_colour, "\033[32m+evil\\e[2J");
	stay_close(&t);
}

TEST(the_diff_begins_with_what_is_held_back)
{
	BUF(out);
	BUF(txt);
	struct stay t;

	SH("parts", "git init -q .; echo a >a;" BASE "echo new >n; git add .; git commit -qm two;"
	   "git switch -q --detach; echo secret >.envrc; git add .; git commit -qm held;"
	   "git update-ref refs/agent/s1/held HEAD; git switch -q --detach onto; echo mine >a;"
	   "git commit -qam snap; git update-ref refs/agent/s1/base HEAD; echo theirs >a; git commit -qam c;"
	   "git update-ref refs/agent/s1/carried HEAD; git switch -q main");
	stay_open(&t, "parts");
	left_out(&t, "a");
	OK(diff_of(&t, false, &out, &err));
	expect_in(&out, "+new\n");
	expect_in(&out, "==== held: not on the branch until accepted\ndiff --git a/.envrc b/.envrc");
	expect_in(&out, "+secret\n");
	/* before what is on the branch, whatever that has */
	expect_in(&out, "+secret\n\n==== on the branch\ndiff --git a/n b/n");
	expect_in(&out, "==== uncommitted changes");
	expect_in(&out, "-mine\n+theirs\n");
	OK(text_of(&t, false, &txt, &err));
	expect_in(&txt, "held, on refs/agent/s1/held until accepted\n  .envrc\n");
	expect_in(&txt, "(landing applies them, uncommitted)\n  a\n");
	stay_close(&t);
}

TEST(no_attribute_hides_a_change_from_the_diff)
{
	BUF(out);
	struct stay t;

	SH("hide", "git init -q .; echo a >a;" BASE "echo '* -diff linguist-generated' >.gitattributes; echo shown >>a;"
	   "{ yes | head -700000; echo end; } >long;"
	   "{ head -c 3000000 /dev/zero | tr '\\0' x; echo far; } >wide; truncate -s 9M huge;"
	   " git add .; git commit -qm two; git switch -q main;echo '* -diff' >.git/info/attributes");
	stay_open(&t, "hide");
	OK(diff_of(&t, false, &out, &err));
	expect_in(&out, "+shown\n");
	expect_in(&out, "+y\n+end\n");
	expect_in(&out, "xxfar\n");
	expect_in(&out, "diff --git a/huge b/huge\n");
	expect_in(&out, "longer than 8 MiB: not shown\n");
	stay_close(&t);
}

/* What docs/json.md says of dates, binary files and bytes that are no text. */
TEST(dates_have_their_zone_and_binary_files_no_counts)
{
	static const char want[] = "{'commits':['2030-03-17T14:16:40-03:30','1970-01-01T00:00:00+00:00'],'files':["
	    "{'path':'bin','status':'modified','additions':null,'deletions':null},"
	    "{'path_b64':'bP8=','status':'added','additions':1,'deletions':0}]}";
	json_t *j = NULL, *got, *commits = json_array(), *one;
	cleanup_free char *text = NULL, *wanted = json_of(want);
	struct stay t;
	size_t i;

	SH("json", "git init -q .; printf 'a\\000b' >bin;" BASE "printf 'a\\000bc' >bin;"
		   "GIT_AUTHOR_DATE='1900000000 -0330' git commit -qam two;ln -s a \"$(printf 'l\\377')\"; git add .;"
		   "GIT_AUTHOR_DATE='@0 +0000' git commit -qm three; git switch -q main");
	stay_open(&t, "json");
	OK((j = ga_report_json(t.repo, &t.r, &err)) == NULL);
	json_array_foreach(json_object_get(j, "commits"), i, one)
		json_array_append(commits, json_object_get(one, "date"));
	got = json_pack("{s:o,s:O}", "commits", commits, "files", json_object_get(j, "files"));
	text = json_dumps(got, JSON_COMPACT);
	STREQ(text, wanted);
	json_decref(got);
	json_decref(j);
	stay_close(&t);
}

TEST(line_counts_are_those_of_git)
{
	cleanup_diff_stat struct ga_diff_stat s = GA_DIFF_STAT_INIT;
	BUF(out);
	cleanup_free char *want = NULL;
	struct ga_repo *r;
	struct ga_oid old, new;

	SH("stat", "git init -q .; for i in $(seq 40); do seq $i $((i * 3)) >f$i; done; printf 'a\\000' >bin;"
	   "printf 'no newline' >nn; : >empty; mkdir d; echo x >d/f; ln -s f1 l; git add .; git commit -qm one;"
	   "for i in $(seq 1 3 40); do sed -i \"$((i / 2 + 1))d;s/${i}1/x/\" f$i; done; printf 'no newline\\n' >nn;"
	   "echo >empty; rm f2 f3; seq 5 >f2; rm -r d; echo d >d; rm l; echo l >l; chmod +x f5;"
	   "printf 'b\\000' >bin; git add -A; git commit -qm two");
	want = sh("stat", "git diff --numstat --no-renames HEAD~ HEAD | tr '\\t' ' '");
	r = open_repo("stat");
	old = OID("stat", "git rev-parse HEAD~^{tree}");
	new = OID("stat", "git rev-parse HEAD^{tree}");
	OK(ga_diff_stat(r, &old, &new, &s, &err));
	for (size_t i = 0; i < s.changes.n; i++) {
		const struct ga_diff_lines *l = &s.lines[i];

		if (l->additions < 0)
			ga_buf_addf(&out, "- - %s\n", s.changes.v[i].path);
		else
			ga_buf_addf(&out, "%d %d %s\n", (int)l->additions, (int)l->deletions, s.changes.v[i].path);
	}
	ga_buf_chomp(&out);
	STREQ(out.ptr, want);
	ga_repo_free(r);
}

TEST_MAIN(scratch_setup, scratch_teardown)
