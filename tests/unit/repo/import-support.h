/* SPDX-License-Identifier: MIT
 *
 * A repository with another one, from which packs are imported.
 */
#pragma once

#include "../objects-support.h"

#include "ga/repo/import.h"

/* Each case has two repositories in "import": "host", with one commit, and "agent", a copy
 * with objects of its own, as the private git dir of a session has them. Both are
 * copies of one that is made once. */
static inline void make_pair(void)
{
	SH("import", "rm -rf host agent pack; test -e ../pair || { git init -q --template= ../pair; cd ../pair;"
		     "seq 1 2000 >f; mkdir d; echo x >d/x; git add .; git commit -qm base; cd \"$OLDPWD\"; };"
		     "cp -a ../pair host; cp -a ../pair agent");
}

/* For the scripts below: an object of any bytes, a line of a tree, a commit with a tree that is there,
 * one with a tree of a single line (MODE NAME, and $b or another ID), and what HEAD's commit says. */
#define LIB \
	"raw() { git hash-object -w --stdin --literally -t $1; };" \
	"entry() { printf '%s %s\\0' \"$1\" \"$2\";" \
	" printf %s $3 | perl -ne 'print pack(q(H*), $_)'; };" \
	"commit() { git commit-tree -p HEAD -m agent $1; };" \
	"tree() { commit $(entry $1 \"$2\" ${3-$b} | raw tree); };" \
	"was() { git cat-file commit HEAD; }; gone=0123456789012345678901234567890123456789;" \
	"cd agent; b=$(echo blob | git hash-object -w --stdin); base=$(git rev-parse HEAD);"

struct attempt {
	int rc;
	const char *stage;
	char *reason;
	struct ga_oid tip;
	struct ga_strv keeps;
};

static inline void attempt_release(struct attempt *a)
{
	free(a->reason);
	ga_strv_release(&a->keeps);
}
#define cleanup_attempt cleanup_(attempt_release)

static const struct ga_import_limits wide = {
	.max_pack_bytes = 1 << 30, .max_object_bytes = 1 << 30, .max_total_bytes = 1 << 30,
	.max_objects = 1 << 20,	   .max_commits = 1 << 20,	.max_paths = 1 << 20,
	.max_path_bytes = 1 << 30, .max_all_paths = 1 << 30,	.timeout_ms = 600 * 1000,
};

/* Import what `script` (run with LIB) prints the tip of; `pack` makes the pack
 * of it, reading "$1 = tip, $2 = base" and writing ../pack. */
static inline struct attempt try_pack(const char *script, const char *pack, const struct ga_import_limits *l)
{
	cleanup_free char *path = in_scratch("import/pack");
	REPOSITORY(r);
	cleanup_close int fd = -1;
	struct attempt a = { 0 };
	struct ga_import *im;
	struct ga_oid base;

	make_pair();
	a.tip = OID("import", "%s%s", LIB, script);
	base = OID("import", "git -C host rev-parse HEAD");
	SH("import", "cd agent; set -- %s %s; %s", GA_HEX(&a.tip), GA_HEX(&base), pack);
	r = open_repo("import/host");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	OK(ga_import_begin(r, l ? l : &wide, GA_PROGRESS_NEVER, &im, &err));
	a.stage = "pack";
	OK((a.rc = ga_import_pack(im, fd, &a.reason, &err)) < 0);
	if (!a.rc) {
		a.stage = "check";
		OK((a.rc = ga_import_check(im, &a.tip, 1, &base, 1, &a.reason, &err)) < 0);
	}
	if (!a.rc) {
		struct ga_commit c = { 0 };

		/* readable through the handle before it is in */
		OK(ga_commit_read(r, &a.tip, &c, &err));
		ga_commit_release(&c);
		OK(ga_import_migrate(im, &a.keeps, &err));
		OK(ga_commit_read(r, &a.tip, &c, &err));
		ga_commit_release(&c);
	}
	ga_import_free(im);
	return a;
}

#define PACK "(echo $1; echo ^$2) | git pack-objects --revs --stdout --window=0 -q >../pack"
/* Everything loose, reachable or not, in spite of what git thinks of it. */
#define PACK_LOOSE \
	"(cd .git/objects; printf '%s\n' [0-9a-f][0-9a-f]/*) | tr -d / |" \
	"git -C ../host cat-file --batch-check | sed -n 's/ missing$//p' |" \
	"git pack-objects --stdout --window=0 -q >../pack"

static inline void assert_nothing_came_in(const char *what)
{
	cleanup_free char *out = sh("import", "cd host; find .git/objects -name 'tmp_*' -o -name '*.pack';"
					      "git count-objects | sed 's/ .*//'");

	if (strcmp(out, "5"))
		fail_msg("%s: left in the repository: %s", what, out);
}

/* That the pack is refused, at a stage (any if NULL) and for a reason, and that nothing of it came in. */
static inline void refused_within(const struct ga_import_limits *l, const char *script, const char *pack,
				  const char *stage, const char *why)
{
	cleanup_attempt struct attempt a = try_pack(script, pack, l);

	if (a.rc != 1 || !a.reason || !*a.reason || strchr(a.reason, '\n') || (stage && strcmp(a.stage, stage) != 0))
		fail_msg("not refused: %s; %s", script, pack);
	if (!strstr(a.reason, why))
		fail_msg("%s; %s: '%s' not in: %s", script, pack, why, a.reason);
	assert_nothing_came_in(script);
}

static inline void refused(const char *script, const char *pack, const char *stage, const char *why)
{
	refused_within(&wide, script, pack, stage, why);
}
