/* SPDX-License-Identifier: MIT */
#include "objects-support.h"

#include <sys/wait.h>

#include "ga/import.h"

/* Each case has two repositories: "host", with one commit, and "agent", a copy
 * with objects of its own, as the private git dir of a session has them. */
static void make_pair(const char *dir)
{
	SH(dir, "rm -rf host agent pack; git init -q host; cd host; seq 1 2000 >f; mkdir d;"
		"echo x >d/x; git add .; git commit -qm base; cp -a . ../agent");
}

/* The helpers of the scripts below: `tree` makes a tree object of raw lines
 * "MODE NAME TYPE ID" whatever they say, `commit TREE` one on top of the base. */
#define LIB                                                                              \
	"raw() { git hash-object -w --stdin --literally -t $1; };"                       \
	"entry() { printf '%s %s\\0' \"$1\" \"$2\";"                                      \
	" printf %s $3 | perl -ne 'print pack(q(H*), $_)'; };"                            \
	"commit() { git commit-tree -p HEAD -m agent $1; };"                              \
	"cd agent; b=$(echo blob | git hash-object -w --stdin); base=$(git rev-parse HEAD);"

struct attempt {
	int rc;
	const char *stage;
	char *reason;
	struct ga_oid tip;
};

static const struct ga_import_limits wide = {
	.max_pack_bytes = 1 << 30, .max_object_bytes = 1 << 30, .max_total_bytes = 1 << 30,
	.max_objects = 1 << 20,	   .max_commits = 1 << 20,	.max_paths = 1 << 20,
	.max_path_bytes = 1 << 30, .max_all_paths = 1 << 30,	.timeout_ms = 600 * 1000,
};

/* Import what `script` (run with LIB) prints the tip of; `pack` makes the pack
 * of it, reading "$1 = tip, $2 = base" and writing ../pack. */
static struct attempt try_pack(const char *dir, const char *script, const char *pack,
			       const struct ga_import_limits *l, struct ga_strv *keeps)
{
	cleanup_free char *host = ga_strf("%s/host", dir), *file = ga_strf("%s/pack", dir);
	cleanup_free char *path = in_scratch(file);
	cleanup_repo struct ga_repo *r = NULL;
	cleanup_close int fd = -1;
	struct attempt a = { 0 };
	struct ga_import *im;
	struct ga_oid base;

	make_pair(dir);
	a.tip = OID(dir, "%s%s", LIB, script);
	base = OID(dir, "git -C host rev-parse HEAD");
	SH(dir, "cd agent; set -- %s %s; %s", GA_HEX(&a.tip), GA_HEX(&base), pack);
	r = open_repo(host);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	OK(ga_import_begin(r, l ? l : &wide, &im, &err));
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
		OK(ga_import_migrate(im, keeps, &err));
		OK(ga_commit_read(r, &a.tip, &c, &err));
		ga_commit_release(&c);
	}
	ga_import_free(im);
	return a;
}

#define PACK "(echo $1; echo ^$2) | git pack-objects --revs --stdout --window=0 -q >../pack"
/* Everything loose, reachable or not, in spite of what git thinks of it. */
#define PACK_LOOSE                                                                       \
	"(cd .git/objects; for f in [0-9a-f][0-9a-f]/*; do echo ${f%/*}${f#*/}; done) |"  \
	"while read o; do case $(git -C ../host cat-file -t $o 2>/dev/null) in "          \
	"'') echo $o;; esac; done | git pack-objects --stdout --window=0 -q >../pack"

static void assert_nothing_came_in(const char *dir, const char *what)
{
	cleanup_free char *out = sh(dir, "cd host; find .git/objects -name 'tmp_*' -o -name "
					 "'*.pack';"
					 "git count-objects | sed 's/ .*//'");

	if (strcmp(out, "5"))
		fail_msg("%s: left in the repository: %s", what, out);
}

static void good_history(void **state)
{
	cleanup_strv struct ga_strv keeps = GA_STRV_INIT;
	struct attempt a;

	(void)state;
	a = try_pack("good", "echo 1 >new; echo 1 >$(printf x%.0s $(seq 255));"
			     "ln -s f l; printf '#!' >x; chmod +x x; git add .;"
			     "git commit -qm 1; git checkout -q -b s HEAD~; git commit -q "
			     "--allow-empty -m 's\xc3\xa4'; git checkout -q main; git merge -q -m "
			     "m s;"
			     "git rm -qr d; git commit -qm 2; git rev-parse HEAD",
		     PACK, NULL, &keeps);
	if (a.rc)
		fail_msg("%s: %s", a.stage, a.reason);
	assert_int_equal(keeps.n, 1);
	SH("good", "cd host; test -f '%s'; git fsck --strict; git log %s | grep -q s\xc3\xa4;"
		   "test -z \"$(find .git/objects -name 'tmp_*')\"",
	   keeps.v[0], GA_HEX(&a.tip));
}

static void gitlinks_are_for_rules(void **state)
{
	cleanup_strv struct ga_strv keeps = GA_STRV_INIT;
	struct attempt a;

	(void)state;
	a = try_pack("link", "git update-index --add --cacheinfo 160000,$base,sub;"
			     "git commit -qm sub; git rev-parse HEAD", PACK, NULL, &keeps);
	assert_int_equal(a.rc, 0);
}

/* ---- what is refused ------------------------------------------------------------ */

static void gt05_hostile_objects(void **state)
{
	/* the reason is git's where fsck knows the thing, ours where it does not */
	static const struct {
		const char *what, *script, *reason;
	} cases[] = {
		{ ".git", "t=$(entry 100644 .git $b | raw tree); commit $t", "" },
		{ ".GiT", "t=$(entry 100644 .GiT $b | raw tree); commit $t", "" },
		{ "git~1", "t=$(entry 100644 git~1 $b | raw tree); commit $t", "" },
		{ "git~2", "t=$(entry 100644 git~2 $b | raw tree); commit $t", "stands for .git" },
		{ ".git.", "t=$(entry 100644 .git. $b | raw tree); commit $t", "" },
		{ ".git::", "t=$(entry 100644 '.git::$INDEX_ALLOCATION' $b | raw tree); commit "
		  "$t", "" },
		{ "HFS", "t=$(entry 100644 \"$(printf '.g\\342\\200\\214it')\" $b | raw tree); "
		  "commit $t", "" },
		{ "backslash", "t=$(entry 100644 '.git\\x' $b | raw tree); commit $t", "" },
		{ "..", "t=$(entry 100644 .. $b | raw tree); commit $t", "" },
		{ ".", "t=$(entry 100644 . $b | raw tree); commit $t", "" },
		{ "slash", "t=$(entry 100644 a/b $b | raw tree); commit $t", "" },
		{ "slash ..", "t=$(entry 100644 ../../x $b | raw tree); commit $t", "" },
		{ "deeper .git", "t=$(entry 100644 .git $b | raw tree); t=$(entry 40000 d $t |"
				 "raw tree); commit $t", "" },
		{ "0100777", "t=$(entry 0100777 f $b | raw tree); commit $t", "" },
		{ "100777", "t=$(entry 100777 f $b | raw tree); commit $t", "mode git does not "
		  "write" },
		{ "100664", "t=$(entry 100664 f $b | raw tree); commit $t", "mode git does not "
		  "write" },
		{ "mode 0", "t=$(entry 0 f $b | raw tree); commit $t", "" },
		{ "fifo", "t=$(entry 10000 f $b | raw tree); commit $t", "" },
		{ "not sorted", "t=$( (entry 100644 b $b; entry 100644 a $b) | raw tree); commit "
		  "$t", "" },
		{ "twice", "t=$( (entry 100644 a $b; entry 100755 a $b) | raw tree); commit "
		  "$t", "" },
		{ "file and dir", "e=$(entry 100644 x $b | raw tree); t=$( (entry 100644 a $b;"
				  "entry 100644 a.b $b; entry 40000 a $e) | raw tree); commit "
				  "$t", "" },
		{ "empty name", "t=$(entry 100644 '' $b | raw tree); commit $t", "" },
		{ "cut short", "t=$(entry 100644 a $b | head -c 20 | raw tree); commit $t", "" },
		{ ".gitmodules link", "t=$(entry 120000 .gitmodules $b | raw tree); commit "
		  "$t", "" },
		{ ".GITATTRIBUTES link", "t=$(entry 120000 .GITATTRIBUTES $b | raw tree); commit "
		  "$t",
		  "a symbolic link where git wants a file" },
		{ ".gitmodules option", "m=$(printf '[submodule \"x\"]\\n\\tpath = x\\n\\turl = "
		  "-u\\n' |"
					"git hash-object -w --stdin); t=$(entry 100644 "
					".gitmodules $m |"
					"raw tree); commit $t", "" },
		{ ".gitmodules directory", "e=$(entry 100644 x $b | raw tree); t=$(entry 40000 "
					   ".gitmodules $e | raw tree); commit $t", "gitmodulesBlob" },
		{ "gitmod~1 link", "t=$(entry 120000 gitmod~1 $b | raw tree); commit $t",
		  "gitmodulesSymlink" },
		{ ".gitattributes line", "m=$(perl -e 'print \"x\" x 3000' | git hash-object -w "
					 "--stdin); t=$(entry 100644 .gitattributes $m | raw tree); "
					 "commit $t", "gitattributesLineLength" },
		{ "long name", "t=$(entry 100644 $(printf x%.0s $(seq 256)) $b | raw tree); commit "
			       "$t", "longer than any system takes" },
		{ "padded mode", "e=$(entry 100644 x $b | raw tree); t=$(entry 040000 d $e | raw "
				 "tree); commit $t", "zeroPadded" },
		{ "no id", "t=$(entry 100644 a 0000000000000000000000000000000000000000 | raw tree); "
			   "commit $t", "" },
		{ "no gitlink", "t=$(entry 160000 a 0000000000000000000000000000000000000000 | raw "
				"tree); commit $t", "nullSha1" },
		{ "no mail", "git cat-file commit HEAD | sed '/^author/s/<.*>//' | raw commit", "" },
		{ "bad name", "git cat-file commit HEAD | sed '/^author/s/A/a > b/' | raw commit", "" },
		{ "bad zone", "git cat-file commit HEAD | sed '/^author/s/[^ ]*$/x/' | raw commit",
		  "badTimezone" },
		{ "padded date", "git cat-file commit HEAD | sed '/^author/s/> /> 0/' | raw commit",
		  "" },
		{ "NUL in header", "git cat-file commit HEAD | sed 's/^author A/author A\\x00/' |"
				   "raw commit", "" },
		{ "NUL in message", "(git cat-file commit HEAD; printf 'a\\0b\\n') | raw "
		  "commit", "" },
		{ "ESC in header", "git cat-file commit HEAD | sed '/^committer/a x-y \\x1b[31m' |"
				   "raw commit", "control characters" },
		{ "committer goes on", "git cat-file commit HEAD |"
				       "sed 's/^committer .*/&\\n more/' | raw commit",
		  "goes on in a second line" },
		{ "two authors", "git cat-file commit HEAD | sed '/^author/p' | raw commit", "" },
		{ "no author", "git cat-file commit HEAD | sed '/^author/d' | raw commit", "" },
		{ "bad date", "git cat-file commit HEAD | sed '/^author/s/[0-9]* "
		  "+/99999999999999999999 +/'"
			      "| raw commit", "" },
		{ "missing blob", "t=$(entry 100644 f 0123456789012345678901234567890123456789 | "
		  "raw "
				  "tree); commit $t", "" },
		{ "missing tree", "t=$(entry 40000 f 0123456789012345678901234567890123456789 | "
		  "raw "
				  "tree); commit $t", "" },
		{ "missing parent", "git cat-file commit HEAD | sed '/^tree/a parent "
				    "0123456789012345678901234567890123456789' | raw commit", "" },
		{ "blob for a tree", "t=$(entry 40000 f $b | raw tree); commit $t", "" },
		{ "65 parents", "p=; for i in $(seq 65); do p=\"$p -p $(git commit-tree -m $i "
				"HEAD^{tree})\"; done; git commit-tree -m octopus $p HEAD^{tree}",
		  "too many parents" },
		{ "unreachable", "entry 100644 git~3 $b | raw tree >/dev/null; echo y >f;"
				 "git commit -qam 1; git rev-parse HEAD", "stands for .git" },
		{ "tag", "git tag -a -m t t >/dev/null; echo y >f; git commit -qam 1; git "
		  "rev-parse HEAD",
		  "tag object" },
	};
	int refused = 0;

	(void)state;
	for (size_t i = 0; i < GA_NELEMS(cases); i++) {
		cleanup_strv struct ga_strv keeps = GA_STRV_INIT;
		struct attempt a = try_pack("bad", cases[i].script, PACK_LOOSE, NULL, &keeps);
		cleanup_free char *reason = a.reason;

		if (a.rc != 1 || !reason || !*reason || strchr(reason, '\n'))
			fail_msg("%s: not refused", cases[i].what);
		if (!strstr(reason, cases[i].reason))
			fail_msg("%s: '%s' not in: %s", cases[i].what, cases[i].reason, reason);
		if (getenv("GA_TEST_VERBOSE"))
			print_message("# %s: %s: %s\n", cases[i].what, a.stage, reason);
		assert_nothing_came_in("bad", cases[i].what);
		refused++;
	}
	assert_int_equal(refused, GA_NELEMS(cases));
}

static void tips_that_are_none(void **state)
{
	static const struct {
		const char *script, *reason;
	} cases[] = {
		{ "echo 0123456789012345678901234567890123456789", "is missing" },
		{ "echo $b", "is not a commit" },
	};

	(void)state;
	for (size_t i = 0; i < GA_NELEMS(cases); i++) {
		cleanup_strv struct ga_strv keeps = GA_STRV_INIT;
		struct attempt a = try_pack("tips", cases[i].script, PACK_LOOSE, NULL, &keeps);
		cleanup_free char *reason = a.reason;

		assert_int_equal(a.rc, 1);
		assert_non_null(strstr(reason, cases[i].reason));
		assert_nothing_came_in("tips", cases[i].script);
	}
}

/* What is not in the pack is not good for being in the repository: this commit
 * lies there unreferenced, and its tree does not exist. */
static void gt05_gaps_outside_the_pack(void **state)
{
	cleanup_strv struct ga_strv keeps = GA_STRV_INIT;
	struct attempt a;
	cleanup_free char *reason = NULL;

	(void)state;
	a = try_pack("gap", "git cat-file commit HEAD | sed '1s/ .*/ "
			    "0123456789012345678901234567890123456789/' | git -C ../host "
			    "hash-object "
			    "-w --stdin --literally -t commit", PACK_LOOSE, NULL, &keeps);
	reason = a.reason;
	assert_int_equal(a.rc, 1);
	assert_string_equal(a.stage, "check");
}

static void gt05_hostile_packs(void **state)
{
	static const char script[] = "head -c 3000 /dev/urandom >g; for i in 1 2 3 4 5 6 7 8; do "
				     "cat g g >h$i; echo $i >>h$i; done; echo 2001 >>f; git add .; "
				     "git commit -qm 1;"
				     "git rev-parse HEAD";
	static const struct {
		const char *what, *pack, *reason;
	} cases[] = {
		{ "empty", ": >../pack", "cut short" },
		{ "no pack", "seq 1 100 >../pack", "no pack" },
		{ "truncated", PACK "; truncate -s -100 ../pack", "" },
		{ "checksum", PACK "; perl -0777 -i -pe 'substr($_,-3,1) ^= chr(4)' ../pack", "" },
		{ "longer", PACK "; echo junk >>../pack", "follows the last object" },
		{ "bit flip", PACK "; perl -0777 -i -pe 'substr($_,200,1) ^= chr(4)' ../pack", "" },
		{ "count", PACK "; printf '\\377\\377' | dd of=../pack bs=1 seek=8 conv=notrunc "
			   "2>/dev/null", "too many objects" },
		{ "count less", PACK "; printf '\\000\\000\\000\\001' | dd of=../pack bs=1 seek=8 "
				"conv=notrunc 2>/dev/null", "follows the last object" },
		{ "thin", "(echo $1; echo ^$2) | git pack-objects --thin --revs --stdout -q "
		  ">../pack",
		  "unresolved delta" },
	};

	(void)state;
	for (size_t i = 0; i < GA_NELEMS(cases); i++) {
		cleanup_strv struct ga_strv keeps = GA_STRV_INIT;
		struct attempt a = try_pack("packs", script, cases[i].pack, NULL, &keeps);
		cleanup_free char *reason = a.reason;

		if (a.rc != 1)
			fail_msg("%s: not refused", cases[i].what);
		if (!strstr(reason, cases[i].reason))
			fail_msg("%s: '%s' not in: %s", cases[i].what, cases[i].reason, reason);
		if (getenv("GA_TEST_VERBOSE"))
			print_message("# %s: %s: %s\n", cases[i].what, a.stage, reason);
		assert_nothing_came_in("packs", cases[i].what);
	}
}

/* The repository has other bytes under the id of the agent's blob: what there is stays, and nothing that
 * leans on the agent's comes in. */
static void gt05_an_id_with_other_content(void **state)
{
	cleanup_strv struct ga_strv keeps = GA_STRV_INIT;
	struct attempt a;
	cleanup_free char *reason = NULL;

	(void)state;
	a = try_pack("other", "o=$(echo other | git -C ../host hash-object -w --stdin); cd ../host/.git/objects;"
			      "mkdir -p ${b%${b#??}}; mv ${o%${o#??}}/${o#??} ${b%${b#??}}/${b#??}; cd ../../../agent;"
			      "echo blob >new; git add new; git commit -qm new; git rev-parse HEAD",
		     PACK, NULL, &keeps);
	reason = a.reason;
	assert_int_equal(a.rc, 1);
	assert_non_null(strstr(reason, "COLLISION"));
	SH("other", "cd host; b=$(echo blob | git hash-object --stdin); test \"$(git cat-file blob $b)\" = other;"
		    "! git cat-file -e %s", GA_HEX(&a.tip));
}

/* Every limit, with a pack that keeps to it by one and one that does not. */
static void limits(void **state)
{
	static const char script[] = "head -c 100000 /dev/zero >zero; git add .; git commit -qm 1;"
				     "for i in 2 3; do git commit -q --allow-empty -m $i; done;"
				     "git rev-parse HEAD";
	struct ga_import_limits l = wide;

	(void)state;
#define LIMIT(field, good, what)                                                        \
	do {                                                                            \
		for (int over = 0; over < 2; over++) {                                  \
			cleanup_strv struct ga_strv keeps = GA_STRV_INIT;               \
			struct ga_import_limits m = l;                                  \
			struct attempt a;                                               \
			cleanup_free char *reason = NULL;                               \
			m.field = (good) - (over ? 1 : 0);                              \
			a = try_pack("limits", script, PACK, &m, &keeps);               \
			reason = a.reason;                                              \
			if (a.rc != over || (over && !strstr(reason, what)))            \
				fail_msg("%s %d: %s", #field, over, reason ? reason : "accepted"); \
			if (over)                                                       \
				assert_nothing_came_in("limits", #field);               \
		}                                                                       \
	} while (0)
	LIMIT(max_objects, 5, "too many objects");
	LIMIT(max_object_bytes, 100000, "an object is too large");
	LIMIT(max_commits, 3, "too many commits");
#undef LIMIT
	{
		cleanup_strv struct ga_strv keeps = GA_STRV_INIT;
		struct attempt a;
		cleanup_free char *reason = NULL;

		l.max_total_bytes = 100010;
		a = try_pack("limits", script, PACK, &l, &keeps);
		reason = a.reason;
		assert_int_equal(a.rc, 1);
		assert_string_equal(reason, "the objects are too large together");
		l = wide;
		l.max_pack_bytes = 300;
		free(reason);
		a = try_pack("limits", script, PACK, &l, &keeps);
		reason = a.reason;
		assert_int_equal(a.rc, 1);
		assert_string_equal(reason, "the pack is too large");
	}
}

/* Trees that make more paths, or longer ones, than anybody could list or check out. */
static void gt05_trees_beyond_limits(void **state)
{
	/* 2 * 10 files and 2 directories, as 22 paths of 2 * (1 + 10 * 3) bytes, on 3 commits */
	static const char script[] =
		"t=$(for i in 0 1 2 3 4 5 6 7 8 9; do entry 100644 $i $b; done | raw tree);"
		"t=$( (git cat-file tree HEAD^{tree}; entry 40000 x $t; entry 40000 y $t) | raw tree);"
		"c=$(commit $t); for i in 2 3; do c=$(git commit-tree -p $c -m $i $t); done; echo $c";
	static const struct {
		uint64_t paths, bytes, all;
		const char *reason;
	} cases[] = {
		{ 22, 62, 66, NULL },
		{ 21, 62, 66, "has too many paths" },
		{ 22, 61, 66, "has too many paths" },
		{ 22, 62, 65, "too many paths together" },
	};

	(void)state;
	for (size_t i = 0; i < GA_NELEMS(cases); i++) {
		cleanup_strv struct ga_strv keeps = GA_STRV_INIT;
		struct ga_import_limits l = wide;
		cleanup_free char *reason = NULL;
		struct attempt a;

		l.max_paths = cases[i].paths;
		l.max_path_bytes = cases[i].bytes;
		l.max_all_paths = cases[i].all;
		a = try_pack("paths", script, PACK, &l, &keeps);
		reason = a.reason;
		if (a.rc != (cases[i].reason ? 1 : 0) ||
		    (cases[i].reason && !strstr(reason, cases[i].reason)))
			fail_msg("case %zu: %s", i, reason ? reason : "accepted");
	}
}

/* Whatever `git fsck --strict` says of an object, be it an error or a warning, is a
 * reason to refuse it: commits and trees with a few bytes changed at random, one for each
 * import, against git's word on them. That we refuse more is shown above. */
static void gt05_as_strict_as_fsck(void **state)
{
	/* $1: seed. Prints the tip: a commit that is bad, or that has a tree that is. */
	static const char script[] =
		"mkdir -p n; cp f n/g; printf '#!' >n/x; chmod +x n/x; ln -s f l; git add .;"
		"git commit -qm 'one two'; git cat-file commit HEAD >c; git cat-file tree HEAD^{tree} >t;"
		"mutate() { perl -0777 -e 'srand(shift); $_ = <STDIN>; my @w = (\"\\0\", \"\\n\", \" \", \"/\","
		" \".\", \"..\", \".git\", \"0\", \"1\", \"7\", \">\", \"<\", \"author \", \"parent \", \"tree \","
		" \"-1\", \"\\xff\", \"40000 a\\0\", \"100644 b\\0\"); for my $n (0 .. int rand 2) {"
		" my $at = int rand length; my $how = int rand 4; substr($_, $at, $how == 2 ? 0 : 1 + int rand 3) ="
		" $how ? $how == 1 ? chr int rand 256 : $w[rand @w] : \"\"; } print' $1; };"
		"if test $((seed % 2)) = 0; then mutate $seed <c | raw commit;"
		"else t=$(mutate $seed <t | raw tree); commit $t; fi";
	int said = 0, count = 60;

	(void)state;
	rnd_seed();
	for (int i = 0; i < count; i++) {
		uint32_t seed = rnd(1u << 30);
		cleanup_free char *numbered = ga_strf("seed=%u; %s", seed, script), *reason = NULL;
		cleanup_free char *fsck = NULL;
		cleanup_strv struct ga_strv keeps = GA_STRV_INIT;
		struct attempt a = try_pack("fsck", numbered, PACK_LOOSE, NULL, &keeps);

		reason = a.reason;
		fsck = sh("fsck", "cd agent; git fsck --strict --no-dangling --no-progress %s 2>&1 |"
				  "grep -E '^(error|warning|missing|broken|fatal)' | head -3; true",
			  GA_HEX(&a.tip));
		said += *fsck != '\0';
		if (*fsck && !a.rc)
			fail_msg("seed %u: taken, although git fsck says: %s", seed, fsck);
		if (a.rc && (!reason || !*reason || strchr(reason, '\n')))
			fail_msg("seed %u: refused without a reason", seed);
	}
	print_message("# git fsck complains about %d of %d\n", said, count);
	assert_true(said > count / 3);
}

/* A stream that never ends is given up; nobody waits for the writer. */
static void gt05_stalled_stream(void **state)
{
	cleanup_repo struct ga_repo *r = NULL;
	struct ga_import_limits l = wide;
	cleanup_free char *reason = NULL;
	cleanup_error struct ga_error e = GA_ERROR_INIT;
	struct ga_import *im;
	int fds[2];

	(void)state;
	make_pair("stall");
	r = open_repo("stall/host");
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	l.timeout_ms = 100;
	OK(ga_import_begin(r, &l, &im, &err));
	assert_int_equal(ga_import_pack(im, fds[0], &reason, &e), 1);
	assert_string_equal(reason, "the pack took too long to arrive");
	ga_import_free(im);
	(void)close(fds[0]);
	(void)close(fds[1]);
	assert_nothing_came_in("stall", "stalled");
}

/* A delta of a few bytes that would come to a gigabyte. */
static void gt05_delta_bomb(void **state)
{
	static const char script[] = "echo $base";
	static const char pack[] =
		"perl -MCompress::Zlib -MDigest::SHA=sha1 -e '"
		"sub v { my $n=shift; my $s=\"\"; while ($n>127) { $s.=chr($n&127|128); $n>>=7 }"
		" $s.chr($n) }"
		"sub h { my ($t,$n)=@_; my $c=$t<<4|$n&15; $n>>=4; my $s=\"\";"
		" while ($n) { $s.=chr($c|128); $c=$n&127; $n>>=7 } $s.chr($c) }"
		"my $b=\"a\"x65536; my $p=\"PACK\".pack(\"NN\",2,2); my $o=length $p;"
		"$p.=h(3,65536).compress($b); my $d=v(65536).v(65536*20000).(\"\\x80\"x20000);"
		"my $off=length($p)-$o; my $e=chr($off&127); $e=chr((--$off&127)|128).$e while "
		"$off>>=7;"
		"$p.=h(6,length $d).$e.compress($d); print $p,sha1($p)' >../pack";
	cleanup_strv struct ga_strv keeps = GA_STRV_INIT;
	struct attempt a;
	cleanup_free char *reason = NULL;

	(void)state;
	a = try_pack("bomb", script, pack, NULL, &keeps);
	reason = a.reason;
	assert_int_equal(a.rc, 1);
	assert_string_equal(reason, "an object is too large");
	assert_nothing_came_in("bomb", "delta bomb");
}

/* The shape a pack must have to get through the scan is git's own, deltas of
 * both kinds included. */
static void deltas_are_understood(void **state)
{
	static const char script[] = "seq 1 5000 >n; git add .; git commit -qm 1; seq 1 5001 >n;"
				     "git commit -qam 2; git rev-parse HEAD";
	static const char *const packs[] = {
		"(echo $1; echo ^$2) | git pack-objects --revs --stdout --delta-base-offset -q "
		">../pack;"
		"mkdir i; cp ../pack i/x.pack; git index-pack i/x.pack >i/out;"
		"git verify-pack -v i/x.idx | grep -q chain",
		"(echo $1; echo ^$2) | git pack-objects --revs --stdout -q >../pack",
	};

	(void)state;
	for (size_t i = 0; i < GA_NELEMS(packs); i++) {
		cleanup_strv struct ga_strv keeps = GA_STRV_INIT;
		struct attempt a = try_pack("delta", script, packs[i], NULL, &keeps);
		cleanup_free char *reason = a.reason;

		if (a.rc)
			fail_msg("%s: %s", a.stage, reason);
	}
}

static void leftovers_are_swept(void **state)
{
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	cleanup_repo struct ga_repo *r = NULL;
	struct ga_import *im = NULL;

	(void)state;
	make_pair("sweep");
	r = open_repo("sweep/host");
	SH("sweep", "cd host/.git/objects; mkdir -p tmp_objdir-git-agent-left/pack/x tmp_objdir-other;"
		    "ln -s .. tmp_objdir-git-agent-link");
	assert_int_equal(ga_import_begin(r, &wide, &im, &err), 0);
	ga_import_sweep(r);
	SH("sweep", "cd host/.git/objects; test ! -e tmp_objdir-git-agent-left; test -d tmp_objdir-other;"
		    "test -L tmp_objdir-git-agent-link; rm tmp_objdir-git-agent-link;"
		    "test -d tmp_objdir-git-agent-*/pack");
	ga_import_free(im);
	SH("sweep", "cd host/.git/objects; test ! -e tmp_objdir-git-agent-*");
}

/* One that is just being made looks like one that was left. */
static void sweeping_spares_the_living(void **state)
{
	cleanup_repo struct ga_repo *r = NULL;
	int status = -1;
	pid_t pid;

	(void)state;
	make_pair("living");
	r = open_repo("living/host");
	pid = fork();
	assert_true(pid >= 0);
	for (int i = 0; !pid && i < 200; i++) {
		cleanup_error struct ga_error err = GA_ERROR_INIT;
		struct ga_import *im = NULL;

		if (ga_import_begin(r, &wide, &im, &err) ||
		    system("test -d living/host/.git/objects/tmp_objdir-git-agent-*/pack"))
			_exit(1);
		ga_import_free(im);
	}
	if (!pid)
		_exit(0);
	while (!waitpid(pid, &status, WNOHANG))
		ga_import_sweep(r);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_history),
		cmocka_unit_test(gitlinks_are_for_rules),
		cmocka_unit_test(deltas_are_understood),
		cmocka_unit_test(gt05_hostile_objects),
		cmocka_unit_test(tips_that_are_none),
		cmocka_unit_test(gt05_gaps_outside_the_pack),
		cmocka_unit_test(gt05_hostile_packs),
		cmocka_unit_test(gt05_an_id_with_other_content),
		cmocka_unit_test(limits),
		cmocka_unit_test(gt05_trees_beyond_limits),
		cmocka_unit_test(gt05_as_strict_as_fsck),
		cmocka_unit_test(gt05_stalled_stream),
		cmocka_unit_test(gt05_delta_bomb),
		cmocka_unit_test(leftovers_are_swept),
		cmocka_unit_test(sweeping_spares_the_living),
	};

	return cmocka_run_group_tests_name("import", tests, scratch_setup, scratch_teardown);
}
