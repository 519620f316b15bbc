/* SPDX-License-Identifier: MIT */
#include "import-support.h"

TEST(history_of_every_kind_is_imported)
{
	cleanup_attempt struct attempt a = try_pack("echo 1 >new; echo 1 >$(printf x%.0s $(seq 255));"
			 "ln -s f l; printf '#!' >x; chmod +x x; git add .;"
			 "git update-index --add --cacheinfo 160000,$base,sub;"
			 "git commit -qm 1; git checkout -q -b s HEAD~; git commit -q "
			 "--allow-empty -m 's\xc3\xa4'; git checkout -q main; git merge -q -m m s;"
			 "git rm -qr d; git commit -qm 2; git rev-parse HEAD", PACK, NULL);

	if (a.rc)
		fail_msg("%s: %s", a.stage, a.reason);
	EQUAL(a.keeps.n, 1);
	SH("import", "cd host; test -f '%s'; git fsck --strict; git log %s | grep -q s\xc3\xa4;"
		     "test -z \"$(find .git/objects -name 'tmp_*')\"",
	   a.keeps.v[0], GA_HEX(&a.tip));
}

/* ---- what is refused */

TEST(gt05_hostile_objects)
{
	/* the reason is git's where fsck knows the thing, ours where it does not */
	static const struct {
		const char *script, *reason;
	} cases[] = {
		{ "tree 100644 .git", "" },
		{ "tree 100644 .GiT", "" },
		{ "tree 100644 git~1", "" },
		{ "tree 100644 git~2", "means .git" },
		{ "tree 100644 .git.", "" },
		{ "tree 100644 '.git::$INDEX_ALLOCATION'", "" },
		{ "tree 100644 \"$(printf '.g\\342\\200\\214it')\"", "" },
		{ "tree 100644 '.git\\x'", "" },
		{ "tree 100644 ..", "" },
		{ "tree 100644 .", "" },
		{ "tree 100644 a/b", "" },
		{ "tree 100644 ../../x", "" },
		{ "t=$(entry 100644 .git $b | raw tree); tree 40000 d $t", "" },
		{ "tree 0100777 f", "" },
		{ "tree 100777 f", "mode git does not write" },
		{ "tree 100664 f", "mode git does not write" },
		{ "tree 0 f", "" },
		{ "tree 10000 f", "" },
		{ "t=$( (entry 100644 b $b; entry 100644 a $b) | raw tree); commit $t", "" },
		{ "t=$( (entry 100644 a $b; entry 100755 a $b) | raw tree); commit $t", "" },
		{ "e=$(entry 100644 x $b | raw tree); t=$( (entry 100644 a $b;entry 100644 a.b $b; "
		  "entry 40000 a $e) | raw tree); commit $t", "" },
		{ "tree 100644 ''", "" },
		{ "t=$(entry 100644 a $b | head -c 20 | raw tree); commit $t", "" },
		{ "tree 120000 .gitmodules", "" },
		{ "tree 120000 .GITATTRIBUTES", "a symbolic link where git wants a file" },
		{ "m=$(printf '[submodule \"x\"]\\n\\tpath = x\\n\\turl = -u\\n' | git hash-object "
		  "-w --stdin); tree 100644 .gitmodules $m", "" },
		{ "e=$(entry 100644 x $b | raw tree); tree 40000 .gitmodules $e", "gitmodulesBlob" },
		{ "tree 120000 gitmod~1", "gitmodulesSymlink" },
		{ "m=$(perl -e 'print \"x\" x 3000' | git hash-object -w --stdin); tree 100644 "
		  ".gitattributes $m", "gitattributesLineLength" },
		{ "tree 100644 $(printf x%.0s $(seq 256))", "longer than any system takes" },
		{ "e=$(entry 100644 x $b | raw tree); tree 040000 d $e", "zeroPadded" },
		{ "tree 100644 a 0000000000000000000000000000000000000000", "" },
		{ "tree 160000 a 0000000000000000000000000000000000000000", "nullSha1" },
		{ "was | sed '/^author/s/<.*>//' | raw commit", "" },
		{ "was | sed '/^author/s/A/a > b/' | raw commit", "" },
		{ "was | sed '/^author/s/[^ ]*$/x/' | raw commit", "badTimezone" },
		{ "was | sed '/^author/s/> /> 0/' | raw commit", "" },
		{ "was | sed 's/^author A/author A\\x00/' | raw commit", "" },
		{ "(was; printf 'a\\0b\\n') | raw commit", "" },
		{ "was | sed '/^committer/a x-y \\x1b[31m' | raw commit", "control characters" },
		{ "was |sed 's/^committer .*/&\\n more/' | raw commit", "continues in a second line" },
		{ "was | sed '/^author/p' | raw commit", "" },
		{ "was | sed '/^author/d' | raw commit", "" },
		{ "was | sed '/^author/s/[0-9]* +/99999999999999999999 +/'| raw commit", "" },
		{ "tree 100644 f $gone", "" },
		{ "tree 40000 f $gone", "" },
		{ "was | sed \"/^tree/a parent $gone\" | raw commit", "" },
		{ "tree 40000 f", "" },
		{ "p=; for i in $(seq 65); do p=\"$p -p $(git commit-tree -m $i HEAD^{tree})\"; "
		  "done; git commit-tree -m octopus $p HEAD^{tree}", "too many parents" },
		{ "entry 100644 git~3 $b | raw tree >/dev/null; echo y >f;git commit -qam 1; git "
		  "rev-parse HEAD", "means .git" },
		{ "git tag -a -m t t >/dev/null; echo y >f; git commit -qam 1; git rev-parse HEAD", "tag object" },
	};

	for_each (row, cases)
		refused(row->script, PACK_LOOSE, NULL, row->reason);
}

TEST(a_tip_that_is_no_commit_is_refused)
{
	static const struct {
		const char *script, *reason;
	} cases[] = {
		{ "echo 0123456789012345678901234567890123456789", "is missing" },
		{ "echo $b", "is not a commit" },
	};

	for_each (row, cases)
		refused(row->script, PACK_LOOSE, NULL, row->reason);
}

/* What is not in the pack is not good for being in the repository: this commit
 * lies there unreferenced, and its tree does not exist. */
TEST(gt05_gaps_outside_the_pack)
{
	cleanup_attempt struct attempt a =
		try_pack("git cat-file commit HEAD | sed \"1s/ .*/ $gone/\" | git -C ../host hash-object "
			 "-w --stdin --literally -t commit", PACK_LOOSE, NULL);

	EQUAL(a.rc, 1);
	STREQ(a.stage, "check");
}

TEST(gt05_hostile_packs)
{
	static const char script[] = "head -c 3000 /dev/urandom >g; for i in 1 2 3 4 5 6 7 8; do "
				     "cat g g >h$i; echo $i >>h$i; done; echo 2001 >>f; git add .; git commit -qm 1;"
				     "git rev-parse HEAD";
	static const struct {
		const char *pack, *reason;
	} cases[] = {
		{ ": >../pack", "cut short" },
		{ "seq 1 100 >../pack", "no pack" },
		{ PACK "; truncate -s -100 ../pack", "" },
		{ PACK "; perl -0777 -i -pe 'substr($_,-3,1) ^= chr(4)' ../pack", "" },
		{ PACK "; echo junk >>../pack", "follows the last object" },
		{ PACK "; perl -0777 -i -pe 'substr($_,200,1) ^= chr(4)' ../pack", "" },
		{ PACK "; printf '\\377\\377' | dd of=../pack bs=1 seek=8 conv=notrunc "
			   "2>/dev/null", "too many objects" },
		{ PACK "; printf '\\000\\000\\000\\001' | dd of=../pack bs=1 seek=8 "
				"conv=notrunc 2>/dev/null", "follows the last object" },
		{ "(echo $1; echo ^$2) | git pack-objects --thin --revs --stdout -q >../pack", "unresolved delta" },
	};

	for_each (row, cases)
		refused(script, row->pack, NULL, row->reason);
}

/* A pack of some entries, in Perl: v() a size, h() an entry's head, d() a delta whose base begins that many bytes
 * earlier, and $b, the first entry of most, with $n bytes. */
#define PACK_OF(entries) \
	"perl -MCompress::Zlib -MDigest::SHA=sha1 -e '" \
	"sub v { my $n=shift; my $s=\"\"; while ($n>127) { $s.=chr($n&127|128); $n>>=7 } $s.chr($n) }" \
	"sub h { my ($t,$n)=@_; my $c=$t<<4|$n&15; $n>>=4; my $s=\"\";" \
	" while ($n) { $s.=chr($c|128); $c=$n&127; $n>>=7 } $s.chr($c) }" \
	"sub d { my ($o,$d)=@_; my $e=chr($o&127); $e=chr((--$o&127)|128).$e while $o>>=7;" \
	" h(6,length $d).$e.compress($d) }" \
	"my $n=100; my $b=h(3,$n).compress(\"a\" x $n); my @e=(" entries ");" \
	"my $p=\"PACK\".pack(\"NN\",2,scalar @e).join(\"\",@e); print $p,sha1($p)' >../pack"

/* Packs whose sum is right and whose entries are not: what one claims of its size, of what it is made from or of
 * what it makes. No entry is inflated beyond its claim, which git would do. */
TEST(gt05_packs_that_lie)
{
	static const struct {
		const char *pack, *reason;
	} cases[] = {
		{ PACK_OF("h(3,10).compress(\"a\" x (1<<24))"), "longer than it says" },
		{ PACK_OF("h(3,10).compress(\"a\" x 11)"), "longer than it says" },
		{ PACK_OF("h(3,12).compress(\"a\" x 11)"), "shorter than it says" },
		{ PACK_OF("(\"\\xbf\" x 12).\"\\x01\".compress(\"a\")"), "size is malformed" },
		{ PACK_OF("h(0,1).compress(\"a\")"), "no known type" },
		{ PACK_OF("h(5,1).compress(\"a\")"), "no known type" },
		{ PACK_OF("h(3,9).\"no stream\""), "cannot be inflated" },
		{ PACK_OF("$b,h(6,4).(\"\\xff\" x 12).compress(\"abcd\")"), "base is malformed" },
		{ PACK_OF("$b,d(length $b,\"\")"), "delta is malformed" },
		{ PACK_OF("$b,d(length $b,\"\\xff\" x 30)"), "delta is malformed" },
		{ PACK_OF("$b,d(5000,v($n).v(1).\"\\x01x\")"), "out of bound" },
		{ PACK_OF("$b,d(0,v($n).v(1).\"\\x01x\")"), "out of bound" },
		{ PACK_OF("$b,d(length($b)-1,v($n).v(1).\"\\x01x\")"), "unresolved delta" },
		{ PACK_OF("$b,d(length $b,v($n+1).v(1).\"\\x01x\")"), "delta" },
		{ PACK_OF("$b,d(length $b,v($n).v(50).\"\\x91\\x33\\x32\")"), "delta" },
		{ PACK_OF("$b,d(length $b,v($n).v(9).\"\\x01x\")"), "delta" },
		{ PACK_OF("$b,d(length $b,v($n).v(1).\"\\x02xy\")"), "delta" },
		{ PACK_OF("$b,d(length $b,v($n).v(1).\"\\x00\\x01x\")"), "delta" },
		{ PACK_OF("h(7,5).(\"\\x12\" x 20).compress(v($n).v(1).\"\\x01xx\")"),
		  "unresolved delta" },
	};

	for_each (row, cases)
		refused("echo $base", row->pack, "pack", row->reason);
}

TEST(gt05_delta_bomb)
{
	refused("echo $base", PACK_OF("$b=h(3,65536).compress(\"a\" x 65536),"
				      "d(length $b,v(65536).v(65536*20000).(\"\x80\" x 20000))"),
		"pack", "an object is too large");
}

/* The repository has other bytes under the id of a blob of the agent: what there is stays, and nothing that
 * leans on the agent's comes in. */
TEST(gt05_an_id_with_other_content)
{
	cleanup_attempt struct attempt a =
		try_pack("o=$(echo other | git -C ../host hash-object -w --stdin); cd ../host/.git/objects;"
			 "mkdir -p ${b%${b#??}}; mv ${o%${o#??}}/${o#??} ${b%${b#??}}/${b#??}; cd ../../../agent;"
			 "echo blob >new; git add new; git commit -qm new; git rev-parse HEAD", PACK, NULL);

	EQUAL(a.rc, 1);
	assert_has(a.reason, "COLLISION");
	SH("import", "cd host; b=$(echo blob | git hash-object --stdin); test \"$(git cat-file blob $b)\" = other;"
		     "! git cat-file -e %s", GA_HEX(&a.tip));
}

/* Whatever `git fsck --strict` says of an object, be it an error or a warning, is a
 * reason to refuse it: commits and trees with a few bytes changed at random, one for each
 * import, against git's word on them. That we refuse more is shown above. */
TEST(gt05_as_strict_as_fsck)
{
	/* $1: seed. Prints the tip: a commit that is bad, or that has a tree that is. */
	static const char script[] = "mkdir -p n; cp f n/g; printf '#!' >n/x; chmod +x n/x; ln -s f l; git add .;"
		"git commit -qm 'one two'; git cat-file commit HEAD >c; git cat-file tree HEAD^{tree} >t;"
		"mutate() { perl -0777 -e 'srand(shift); $_ = <STDIN>; my @w = (\"\\0\", \"\\n\", \" \", \"/\","
		" \".\", \"..\", \".git\", \"0\", \"1\", \"7\", \">\", \"<\", \"author \", \"parent \", \"tree \","
		" \"-1\", \"\\xff\", \"40000 a\\0\", \"100644 b\\0\"); for my $n (0 .. int rand 2) {"
		" my $at = int rand length; my $how = int rand 4; substr($_, $at, $how == 2 ? 0 : 1 + int rand 3) ="
		" $how ? $how == 1 ? chr int rand 256 : $w[rand @w] : \"\"; } print' $1; };"
		"if test $((seed % 2)) = 0; then mutate $seed <c | raw commit;"
		"else t=$(mutate $seed <t | raw tree); commit $t; fi";
	int said = 0, count = 40;

	rnd_seed();
	for (int i = 0; i < count; i++) {
		uint32_t seed = rnd(1u << 30);
		cleanup_free char *numbered = ga_strf("seed=%u; %s", seed, script), *fsck = NULL;
		cleanup_attempt struct attempt a = try_pack(numbered, PACK_LOOSE, NULL);

		fsck = sh("import", "cd agent; git fsck --strict --no-dangling --no-progress %s 2>&1 |"
				    "grep -E '^(error|warning|missing|broken|fatal)' | head -3; true",
			  GA_HEX(&a.tip));
		said += *fsck != '\0';
		if (*fsck && !a.rc)
			fail_msg("seed %u: taken, although git fsck says: %s", seed, fsck);
		if (a.rc && (!a.reason || !*a.reason || strchr(a.reason, '\n')))
			fail_msg("seed %u: refused without a reason", seed);
	}
	print_message("# git fsck complains about %d of %d\n", said, count);
	assert_true(said > count / 3);
}

/* The shape a pack must have to get through the scan is git's own, deltas of
 * both kinds included. */
TEST(deltas_of_both_kinds_are_imported)
{
	static const char script[] = "seq 1 5000 >n; git add .; git commit -qm 1; seq 1 5001 >n;"
				     "git commit -qam 2; git rev-parse HEAD";
	static const char *const packs[] = {
		"(echo $1; echo ^$2) | git pack-objects --revs --stdout --delta-base-offset -q >../pack;"
		"mkdir i; cp ../pack i/x.pack; git index-pack i/x.pack >i/out;"
		"git verify-pack -v i/x.idx | grep -q chain",
		"(echo $1; echo ^$2) | git pack-objects --revs --stdout -q >../pack",
	};

	for_each (row, packs) {
		cleanup_attempt struct attempt a = try_pack(script, *row, NULL);

		if (a.rc)
			fail_msg("%s: %s", a.stage, a.reason);
	}
}

TEST_MAIN(scratch_setup, scratch_teardown)
