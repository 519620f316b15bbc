/* SPDX-License-Identifier: MIT */
#include "import-support.h"

TEST(history_of_every_kind_is_imported)
{
	cleanup_strv struct ga_strv keeps = GA_STRV_INIT;
	struct attempt a;

	a = try_pack("good", "echo 1 >new; echo 1 >$(printf x%.0s $(seq 255));"
			     "ln -s f l; printf '#!' >x; chmod +x x; git add .;"
			     "git update-index --add --cacheinfo 160000,$base,sub;"
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

/* ---- what is refused ------------------------------------------------------------ */

TEST(gt05_hostile_objects)
{
	/* the reason is git's where fsck knows the thing, ours where it does not */
	static const struct {
		const char *what, *script, *reason;
	} cases[] = {
		{ ".git", "tree 100644 .git", "" },
		{ ".GiT", "tree 100644 .GiT", "" },
		{ "git~1", "tree 100644 git~1", "" },
		{ "git~2", "tree 100644 git~2", "stands for .git" },
		{ ".git.", "tree 100644 .git.", "" },
		{ ".git::", "tree 100644 '.git::$INDEX_ALLOCATION'", "" },
		{ "HFS", "tree 100644 \"$(printf '.g\\342\\200\\214it')\"", "" },
		{ "backslash", "tree 100644 '.git\\x'", "" },
		{ "..", "tree 100644 ..", "" },
		{ ".", "tree 100644 .", "" },
		{ "slash", "tree 100644 a/b", "" },
		{ "slash ..", "tree 100644 ../../x", "" },
		{ "deeper .git", "t=$(entry 100644 .git $b | raw tree); tree 40000 d $t", "" },
		{ "0100777", "tree 0100777 f", "" },
		{ "100777", "tree 100777 f", "mode git does not write" },
		{ "100664", "tree 100664 f", "mode git does not write" },
		{ "mode 0", "tree 0 f", "" },
		{ "fifo", "tree 10000 f", "" },
		{ "not sorted",
		  "t=$( (entry 100644 b $b; entry 100644 a $b) | raw tree); commit $t", "" },
		{ "twice", "t=$( (entry 100644 a $b; entry 100755 a $b) | raw tree); commit $t",
		  "" },
		{ "file and dir",
		  "e=$(entry 100644 x $b | raw tree); t=$( (entry 100644 a $b;entry 100644 a.b $b; "
		  "entry 40000 a $e) | raw tree); commit $t", "" },
		{ "empty name", "tree 100644 ''", "" },
		{ "cut short", "t=$(entry 100644 a $b | head -c 20 | raw tree); commit $t", "" },
		{ ".gitmodules link", "tree 120000 .gitmodules", "" },
		{ ".GITATTRIBUTES link", "tree 120000 .GITATTRIBUTES",
		  "a symbolic link where git wants a file" },
		{ ".gitmodules option",
		  "m=$(printf '[submodule \"x\"]\\n\\tpath = x\\n\\turl = -u\\n' | git hash-object "
		  "-w --stdin); tree 100644 .gitmodules $m", "" },
		{ ".gitmodules directory",
		  "e=$(entry 100644 x $b | raw tree); tree 40000 .gitmodules $e",
		  "gitmodulesBlob" },
		{ "gitmod~1 link", "tree 120000 gitmod~1", "gitmodulesSymlink" },
		{ ".gitattributes line",
		  "m=$(perl -e 'print \"x\" x 3000' | git hash-object -w --stdin); tree 100644 "
		  ".gitattributes $m", "gitattributesLineLength" },
		{ "long name", "tree 100644 $(printf x%.0s $(seq 256))",
		  "longer than any system takes" },
		{ "padded mode", "e=$(entry 100644 x $b | raw tree); tree 040000 d $e",
		  "zeroPadded" },
		{ "no id", "tree 100644 a 0000000000000000000000000000000000000000", "" },
		{ "no gitlink", "tree 160000 a 0000000000000000000000000000000000000000",
		  "nullSha1" },
		{ "no mail", "was | sed '/^author/s/<.*>//' | raw commit", "" },
		{ "bad name", "was | sed '/^author/s/A/a > b/' | raw commit", "" },
		{ "bad zone", "was | sed '/^author/s/[^ ]*$/x/' | raw commit", "badTimezone" },
		{ "padded date", "was | sed '/^author/s/> /> 0/' | raw commit", "" },
		{ "NUL in header", "was | sed 's/^author A/author A\\x00/' | raw commit", "" },
		{ "NUL in message", "(was; printf 'a\\0b\\n') | raw commit", "" },
		{ "ESC in header", "was | sed '/^committer/a x-y \\x1b[31m' | raw commit",
		  "control characters" },
		{ "committer goes on", "was |sed 's/^committer .*/&\\n more/' | raw commit",
		  "goes on in a second line" },
		{ "two authors", "was | sed '/^author/p' | raw commit", "" },
		{ "no author", "was | sed '/^author/d' | raw commit", "" },
		{ "bad date", "was | sed '/^author/s/[0-9]* +/99999999999999999999 +/'| raw commit",
		  "" },
		{ "missing blob", "tree 100644 f $gone", "" },
		{ "missing tree", "tree 40000 f $gone", "" },
		{ "missing parent", "was | sed \"/^tree/a parent $gone\" | raw commit", "" },
		{ "blob for a tree", "tree 40000 f", "" },
		{ "65 parents",
		  "p=; for i in $(seq 65); do p=\"$p -p $(git commit-tree -m $i HEAD^{tree})\"; "
		  "done; git commit-tree -m octopus $p HEAD^{tree}", "too many parents" },
		{ "unreachable",
		  "entry 100644 git~3 $b | raw tree >/dev/null; echo y >f;git commit -qam 1; git "
		  "rev-parse HEAD", "stands for .git" },
		{ "tag",
		  "git tag -a -m t t >/dev/null; echo y >f; git commit -qam 1; git rev-parse HEAD",
		  "tag object" },
	};

	for_each (row, cases) {
		cleanup_strv struct ga_strv keeps = GA_STRV_INIT;
		struct attempt a = try_pack("bad", row->script, PACK_LOOSE, NULL, &keeps);
		cleanup_free char *reason = a.reason;

		if (a.rc != 1 || !reason || !*reason || strchr(reason, '\n'))
			fail_msg("%s: not refused", row->what);
		if (!strstr(reason, row->reason))
			fail_msg("%s: '%s' not in: %s", row->what, row->reason, reason);
		assert_nothing_came_in("bad", row->what);
	}
}

TEST(a_tip_that_is_no_commit_is_refused)
{
	static const struct {
		const char *script, *reason;
	} cases[] = {
		{ "echo 0123456789012345678901234567890123456789", "is missing" },
		{ "echo $b", "is not a commit" },
	};

	for_each (row, cases) {
		cleanup_strv struct ga_strv keeps = GA_STRV_INIT;
		struct attempt a = try_pack("tips", row->script, PACK_LOOSE, NULL, &keeps);
		cleanup_free char *reason = a.reason;

		assert_int_equal(a.rc, 1);
		assert_has(reason, row->reason);
		assert_nothing_came_in("tips", row->script);
	}
}

/* What is not in the pack is not good for being in the repository: this commit
 * lies there unreferenced, and its tree does not exist. */
TEST(gt05_gaps_outside_the_pack)
{
	cleanup_strv struct ga_strv keeps = GA_STRV_INIT;
	struct attempt a;
	cleanup_free char *reason = NULL;

	a = try_pack("gap", "git cat-file commit HEAD | sed '1s/ .*/ "
			    "0123456789012345678901234567890123456789/' | git -C ../host "
			    "hash-object "
			    "-w --stdin --literally -t commit", PACK_LOOSE, NULL, &keeps);
	reason = a.reason;
	assert_int_equal(a.rc, 1);
	assert_string_equal(a.stage, "check");
}

TEST(gt05_hostile_packs)
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

	for_each (row, cases) {
		cleanup_strv struct ga_strv keeps = GA_STRV_INIT;
		struct attempt a = try_pack("packs", script, row->pack, NULL, &keeps);
		cleanup_free char *reason = a.reason;

		if (a.rc != 1)
			fail_msg("%s: not refused", row->what);
		if (!strstr(reason, row->reason))
			fail_msg("%s: '%s' not in: %s", row->what, row->reason, reason);
		assert_nothing_came_in("packs", row->what);
	}
}

/* A pack of some entries, in Perl: v() a size, h() an entry's head, d() a delta whose base begins that many bytes
 * earlier, and $b, the first entry of most, with $n bytes. */
#define PACK_OF(entries)                                                                         \
	"perl -MCompress::Zlib -MDigest::SHA=sha1 -e '"                                          \
	"sub v { my $n=shift; my $s=\"\"; while ($n>127) { $s.=chr($n&127|128); $n>>=7 } $s.chr($n) }" \
	"sub h { my ($t,$n)=@_; my $c=$t<<4|$n&15; $n>>=4; my $s=\"\";"                          \
	" while ($n) { $s.=chr($c|128); $c=$n&127; $n>>=7 } $s.chr($c) }"                        \
	"sub d { my ($o,$d)=@_; my $e=chr($o&127); $e=chr((--$o&127)|128).$e while $o>>=7;"       \
	" h(6,length $d).$e.compress($d) }"                                                      \
	"my $n=100; my $b=h(3,$n).compress(\"a\" x $n); my @e=(" entries ");"                    \
	"my $p=\"PACK\".pack(\"NN\",2,scalar @e).join(\"\",@e); print $p,sha1($p)' >../pack"

/* Packs whose sum is right and whose entries are not: what one claims of its size, of what it is made from or of
 * what it makes. No entry is inflated beyond its claim, which git would do. */
TEST(gt05_packs_that_lie)
{
	static const struct {
		const char *what, *pack, *reason;
	} cases[] = {
		{ "longer", PACK_OF("h(3,10).compress(\"a\" x (1<<24))"), "longer than it says" },
		{ "one byte longer", PACK_OF("h(3,10).compress(\"a\" x 11)"), "longer than it says" },
		{ "shorter", PACK_OF("h(3,12).compress(\"a\" x 11)"), "shorter than it says" },
		{ "size", PACK_OF("(\"\\xbf\" x 12).\"\\x01\".compress(\"a\")"), "size is malformed" },
		{ "type 0", PACK_OF("h(0,1).compress(\"a\")"), "no known type" },
		{ "type 5", PACK_OF("h(5,1).compress(\"a\")"), "no known type" },
		{ "no zlib", PACK_OF("h(3,9).\"no stream\""), "cannot be inflated" },
		{ "no base", PACK_OF("$b,h(6,4).(\"\\xff\" x 12).compress(\"abcd\")"), "base is malformed" },
		{ "no delta", PACK_OF("$b,d(length $b,\"\")"), "delta is malformed" },
		{ "no end of a size", PACK_OF("$b,d(length $b,\"\\xff\" x 30)"), "delta is malformed" },
		{ "before the pack", PACK_OF("$b,d(5000,v($n).v(1).\"\\x01x\")"), "out of bound" },
		{ "of itself", PACK_OF("$b,d(0,v($n).v(1).\"\\x01x\")"), "out of bound" },
		{ "within an entry", PACK_OF("$b,d(length($b)-1,v($n).v(1).\"\\x01x\")"), "unresolved delta" },
		{ "of another size", PACK_OF("$b,d(length $b,v($n+1).v(1).\"\\x01x\")"), "delta" },
		{ "beyond its base", PACK_OF("$b,d(length $b,v($n).v(50).\"\\x91\\x33\\x32\")"), "delta" },
		{ "makes less", PACK_OF("$b,d(length $b,v($n).v(9).\"\\x01x\")"), "delta" },
		{ "makes more", PACK_OF("$b,d(length $b,v($n).v(1).\"\\x02xy\")"), "delta" },
		{ "reserved", PACK_OF("$b,d(length $b,v($n).v(1).\"\\x00\\x01x\")"), "delta" },
		{ "of what is nowhere", PACK_OF("h(7,5).(\"\\x12\" x 20).compress(v($n).v(1).\"\\x01xx\")"),
		  "unresolved delta" },
	};

	for_each (row, cases) {
		cleanup_strv struct ga_strv keeps = GA_STRV_INIT;
		struct attempt a = try_pack("lies", "echo $base", row->pack, NULL, &keeps);
		cleanup_free char *reason = a.reason;

		if (a.rc != 1 || strcmp(a.stage, "pack") != 0)
			fail_msg("%s: not refused", row->what);
		if (!strstr(reason, row->reason))
			fail_msg("%s: '%s' not in: %s", row->what, row->reason, reason);
		assert_nothing_came_in("lies", row->what);
	}
}

/* The repository has other bytes under the id of the agent's blob: what there is stays, and nothing that
 * leans on the agent's comes in. */
TEST(gt05_an_id_with_other_content)
{
	cleanup_strv struct ga_strv keeps = GA_STRV_INIT;
	struct attempt a;
	cleanup_free char *reason = NULL;

	a = try_pack("other", "o=$(echo other | git -C ../host hash-object -w --stdin); cd ../host/.git/objects;"
			      "mkdir -p ${b%${b#??}}; mv ${o%${o#??}}/${o#??} ${b%${b#??}}/${b#??}; cd ../../../agent;"
			      "echo blob >new; git add new; git commit -qm new; git rev-parse HEAD",
		     PACK, NULL, &keeps);
	reason = a.reason;
	assert_int_equal(a.rc, 1);
	assert_has(reason, "COLLISION");
	SH("other", "cd host; b=$(echo blob | git hash-object --stdin); test \"$(git cat-file blob $b)\" = other;"
		    "! git cat-file -e %s", GA_HEX(&a.tip));
}

/* Whatever `git fsck --strict` says of an object, be it an error or a warning, is a
 * reason to refuse it: commits and trees with a few bytes changed at random, one for each
 * import, against git's word on them. That we refuse more is shown above. */
TEST(gt05_as_strict_as_fsck)
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
	int said = 0, count = 40;

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

/* The shape a pack must have to get through the scan is git's own, deltas of
 * both kinds included. */
TEST(deltas_of_both_kinds_are_imported)
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

	for_each (row, packs) {
		cleanup_strv struct ga_strv keeps = GA_STRV_INIT;
		struct attempt a = try_pack("delta", script, *row, NULL, &keeps);
		cleanup_free char *reason = a.reason;

		if (a.rc)
			fail_msg("%s: %s", a.stage, reason);
	}
}

TEST_MAIN(scratch_setup, scratch_teardown)
