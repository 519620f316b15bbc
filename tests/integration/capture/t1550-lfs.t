#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='LFS: objects made in a session are stored on the host, by their sum, and nothing else is'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

# make_lfs NAME: a repository that tracks *.bin with LFS and has one; git-lfs is set up
# for the user, as `git lfs install` does.
make_lfs() {
	git lfs install --skip-repo >/dev/null &&
	git init -q "$1" &&
	(
		cd "$1" &&
		git lfs track "*.bin" >/dev/null &&
		echo base >base.bin &&
		echo text >text &&
		test_commit base
	)
}

sum() {
	printf '%s\n' "$1" | sha256sum | cut -d ' ' -f 1
}

# Where an object of this id is, in the LFS store of the repository.
object() {
	echo ".git/lfs/objects/$(echo "$1" | cut -c 1-2)/$(echo "$1" | cut -c 3-4)/$1"
}

# store: its files, by name
store() {
	(cd .git/lfs && find . -type f | sort)
}

# same_store: its files are those of ../before
same_store() {
	store | test_cmp ../before -
}

# pointer TEXT [SIZE]: a pointer to the object that holds this line
pointer() {
	printf '%s\n' 'version https://git-lfs.github.com/spec/v1' \
		"oid sha256:$(sum "$1")" "size ${2:-$((${#1} + 1))}"
}

# What an agent plants goes into its own git dir, below this.
planted=.git/lfs/objects

# landed NAME: land it, and see that LFS has nothing to complain about
landed() {
	git agent land "$1" &&
	git lfs fsck &&
	git status --porcelain >../status &&
	test ! -s ../status
}

# with every program but git-lfs
test_that GITLFS 'without git-lfs, which a repository needs, a start says what to install' '
	make_lfs bare &&
	mkdir bin &&
	find /usr/bin /bin /usr/local/bin ! -name git-lfs -exec ln -sf {} bin \; &&
	cd bare &&
	touch -d 2001-01-01 base.bin &&
	test_says "filter\.lfs\.[a-z]* runs .git-lfs., which is not on the PATH" \
		test_must_fail env PATH="$TEST_BUILDDIR:$HOME/bin" git agent start -- true &&
	grep "hint: install .git-lfs." ../err
'

test_that GITLFS 'uncommitted work becomes a pointer on the branch, with its object in the store' '
	make_lfs rest &&
	cd rest &&
	test_session r "
		echo twothree >base.bin
		mkdir d
		echo new >d/y.bin
		echo t >>text" &&
	git cat-file blob agent/r:d/y.bin >../got &&
	pointer new >../want &&
	test_cmp ../want ../got &&
	test "$(cat "$(object "$(sum new)")")" = new &&
	test "$(cat "$(object "$(sum twothree)")")" = twothree &&
	test "$(stat -c %a "$(object "$(sum new)")")" = "$(stat -c %a "$(object "$(sum base)")")" &&
	test -z "$(ls -A .git/lfs/tmp)" &&
	git agent show r >../show &&
	! grep "LFS object" ../show &&
	landed r &&
	test "$(cat base.bin d/y.bin)" = "$(printf "twothree\nnew")" &&
	test_prints "base.bin\nd/y.bin" git lfs ls-files -n
'

test_that GITLFS 'objects of all commits, branches and the stash of the agent are in the store' '
	make_lfs commits &&
	cd commits &&
	test_session c "
		echo one >x.bin &&
		git add -A &&
		git commit -qm one &&
		echo two >x.bin &&
		git commit -qam two &&
		git switch -q -c side HEAD~1 &&
		echo side >s.bin &&
		git add -A &&
		git commit -qm side &&
		git switch -q agent/c &&
		echo stashed >x.bin &&
		git stash -q &&
		git rev-parse HEAD >\$HOME/tip
		echo rest >z.bin" &&
	git rev-parse agent/c~1 >../got &&
	test_cmp "$HOME/aihome/tip" ../got &&
	for text in one two side stashed rest; do
		test "$(cat "$(object "$(sum $text)")")" = $text || exit 1
	done &&
	landed c &&
	test "$(cat x.bin z.bin)" = "$(printf "two\nrest")" &&
	git switch -q --detach HEAD^2~2 &&
	test "$(cat x.bin)" = one &&
	git switch -q --detach refs/agent/c/heads/side &&
	test "$(cat s.bin)" = side &&
	git lfs fsck
'

test_that GITLFS 'objects of a linked worktree are stored' '
	make_lfs lw &&
	cd lw &&
	git worktree add -q ../lw2 &&
	(
		cd ../lw2 &&
		test_session w "
		echo linked >l.bin
		git add l.bin
		git commit -qm l"
	) &&
	test "$(cat "$(object "$(sum linked)")")" = linked
'

# git-lfs 3 does not expand a "~": what it says counts, whatever git would make of the value.
test_that GITLFS 'the store is where git-lfs looks for it, however lfs.storage is written' '
	make_lfs forms &&
	cd forms &&
	cp -r .git/lfs/objects ../objects &&
	n=0 &&
	for form in "~/store" "" rel "$TRASH//abs/"; do
		git config lfs.storage "$form" &&
		n=$((n + 1)) &&
		media=$(git lfs env | sed -n "s/^LocalMediaDir=//p") &&
		mkdir -p "$media" &&
		cp -r ../objects/. "$media/" &&
		test_session "f$n" "echo form$n >f$n.bin" &&
		git cat-file -e "agent/f$n:f$n.bin" &&
		id=$(sum "form$n") &&
		test "$(cat "$media/$(echo "$id" | cut -c 1-2)/$(echo "$id" | cut -c 3-4)/$id")" = "form$n" || exit 1
	done &&
	landed "f$n" &&
	test "$(cat "f$n.bin")" = "form$n"
'

test_that GITLFS 'a store that takes nothing costs no other work' '
	make_lfs broken &&
	cd broken &&
	echo file >"$(dirname "$(dirname "$(object "$(sum new)")")")" &&
	test_session b "
		echo new >n.bin
		echo t >t" &&
	test_shows "note: LFS objects stay in the session: " git agent show b &&
	test_holds agent/b:t t &&
	! git cat-file -e agent/b:n.bin 2>/dev/null &&
	git cat-file -e refs/agent/b/held:n.bin
'


test_that GITLFS 'an object that the agent planted and no pointer names is not stored, however many' '
	make_lfs many &&
	cd many &&
	store >../before &&
	test_session m "
		mkdir -p $planted/aa/aa &&
		cd $planted/aa/aa &&
		seq 2000 | split -l 1 -a 4 - \"\$(printf a%.0s \$(seq 60))\" &&
		ls | wc -l >\$HOME/n
		cd - >/dev/null
		echo t >>text
		echo x >\$HOME/x
		echo unused | git lfs clean >/dev/null" &&
	test "$(cat "$HOME/aihome/n")" = 2000 &&
	same_store &&
	test "$(git show agent/m:text | wc -l)" = 2
'

# For agents: commit the pointer of that text as x.bin, whatever git-lfs would say to it, and then
# something else in its place.
commit_pointer='blob=$(git hash-object -w --no-filters --stdin <$HOME/pointer) &&
	git update-index --add --cacheinfo 100644,$blob,x.bin && git commit -qm x &&
	git rm -q --cached x.bin && echo t >t && git add t && git commit -qm t'
has_pointer() {
	git cat-file blob "refs/agent/$1/orig~1:x.bin" >../got &&
	test_cmp "$HOME/aihome/pointer" ../got
}

# plant NAME COMMANDS NOTE: COMMANDS put something wrong where the object of the pointer
# x.bin belongs, in a session; the pointer is held, and the store is as it was.
plant() {
	store >../before &&
	test_session "$1" "
	o=$(sum wanted)
	dir=$planted/\$(echo \$o | cut -c 1-2)/\$(echo \$o | cut -c 3-4)
	$commit_pointer &&
	mkdir -p \$dir || exit 1
	$2" &&
	same_store &&
	git agent show "$1" >../show &&
	grep "note: x.bin: $3" ../show &&
	has_pointer "$1" &&
	git rev-parse -q --verify "agent/$1:t" &&
	test -z "$(git log --format=%h HEAD.."agent/$1" -- x.bin)"
}

test_that GITLFS 'an object with wrong bytes, or that is no file, is not stored, and its pointer held' '
	make_lfs wrong &&
	cd wrong &&
	test_aihome &&
	pointer wanted >"$HOME/aihome/pointer" &&
	not="its LFS object in the session does not match" &&
	plant digest "echo wanteD >\$dir/\$o" "$not" &&
	plant link "echo wanted >\$HOME/w; ln -s \$HOME/w \$dir/\$o" "$not" &&
	plant dirlink "
		mv $planted \$HOME/objects
		ln -s \$HOME/objects $planted
		echo wanted >\$HOME/objects\${dir#$planted}/\$o" "$not" &&
	plant dir "mkdir \$dir/\$o" "$not" &&
	plant none ":" "the LFS object of this pointer is neither here" &&
	pointer wanted 6 >"$HOME/aihome/pointer" &&
	plant size "echo wanted >\$dir/\$o" "$not" &&
	pointer wanted 3221225472 >"$HOME/aihome/pointer" &&
	plant huge "truncate -s 3G \$dir/\$o" "its LFS object is over the limit" &&
	git lfs fsck
'

# What is invented is not written anywhere, and read no further than the limit of all objects.
test_that GITLFS 'invented objects cost no disk, and time up to a limit' '
	make_lfs invented &&
	cd invented &&
	store >../before &&
	(cd .git/lfs && find . -type d | sort >../../../dirs) &&
	git agent -c limits.capture.total_size=12MiB start --name i -- python3 -c "
import hashlib, os
names = [hashlib.sha256(b\"%d\" % i).hexdigest() for i in range(8)]
for n in names: os.makedirs(\"$planted/%s/%s\" % (n[:2], n[2:4]))
first = None
for n in names:
    p = \"$planted/%s/%s/%s\" % (n[:2], n[2:4], n)
    if first: os.link(first, p)
    else:
        first = p; open(p, \"w\").truncate(4 << 20)
    text = \"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n\" % (n, 4 << 20)
    open(n[:8] + \".ptr\", \"w\").write(text)
open(\"$planted/x\", \"w\")
" &&
	same_store &&
	(cd .git/lfs && find . -type d | sort >../../../dirs2) &&
	test_cmp ../dirs ../dirs2 &&
	git agent show i | grep note: | sort -u >../show &&
	test "$(grep -c "ptr: its LFS object in the session does not match" ../show)" = 3 &&
	test "$(grep -c "ptr: its LFS object is over the limit.*total_size" ../show)" = 5
'

# root reads what nobody else can
test_lazy_prereq LFS_NOT_ROOT 'test_have_prereq GITLFS && test_have_prereq NOT_ROOT'
test_that LFS_NOT_ROOT 'an object that cannot be opened is named' '
	make_lfs closed &&
	cd closed &&
	pointer wanted >"$HOME/aihome/pointer" &&
	plant c "echo wanted >\$dir/\$o; chmod 000 \$dir/\$o" "its LFS object in the session cannot be opened"
'

test_that GITLFS 'pointers with odd syntax are held, and nothing is stored for them' '
	make_lfs odd &&
	cd odd &&
	o="oid sha256:$(sum wanted)" v="version https://git-lfs.github.com/spec/v1" n=0 &&
	store >../before &&
	mkdir "$HOME/aihome/pointers" &&
	for text in "$v\r\n$o\r\nsize 7\r\n" " $v\n$o\nsize 7\n" "$v\n$o\nsize +7\n" \
		"$v\n$o\nsize 7\n$(printf "%01100d" 0 | sed "s/0/\\\\n/g")" "$v\n$o\n$o\nsize 7\n" \
		"$v\noid sha256:../../../../../etc/passwd\nsize 7\n" "ext-0-a $o\n$v\n$o\nsize 7\n"; do
		n=$((n + 1)) &&
		printf "$text" >"$HOME/aihome/pointers/$n.bin" || exit 1
	done &&
	test_session o "
		echo wanted | git lfs clean >/dev/null &&
		test -d $planted &&
		for i in \$(seq $n); do
			blob=\$(git hash-object -w --no-filters \$HOME/pointers/\$i.bin)
			git update-index --add --cacheinfo 100644,\$blob,\$i.bin
		done
		git commit -qm x
		git rm -q --cached \*.bin" &&
	same_store &&
	git agent review --format=json o >../show &&
	for i in $(seq $n); do
		git cat-file blob refs/agent/o/orig~1:$i.bin | cmp "$HOME/aihome/pointers/$i.bin" - &&
		python3 -c "import json, sys; assert [f for f in json.load(open(sys.argv[1]))[\"flags\"] if
			(f[\"path\"], f[\"id\"]) == (sys.argv[2], \"lfs-pointer-change\")]" ../show $i.bin &&
		test -z "$(git log --format=%h HEAD..agent/o -- $i.bin)" || {
			echo "taken: $i"
			exit 1
		}
	done
'

test_that GITLFS 'a fifo in place of an object is not waited for' '
	make_lfs fifo &&
	cd fifo &&
	pointer wanted >"$HOME/aihome/pointer" &&
	store >../before &&
	o=$(object "$(sum wanted)") &&
	test_session f "
		mkdir -p $(dirname "$o") &&
		mkfifo $o &&
		echo t >t &&
		cat \$HOME/pointer >x.bin" &&
	same_store &&
	git agent show f | grep "note: x.bin: its LFS object in the session" &&
	test_holds agent/f:t t &&
	git cat-file -e refs/agent/f/held:x.bin &&
	! git cat-file -e agent/f:x.bin 2>/dev/null
'

# git-lfs removes an object whose size is not the one a pointer says.
test_that GITLFS 'a pointer that would make git-lfs remove an object of the user is held' '
	make_lfs remove &&
	cd remove &&
	pointer base 7 >"$HOME/aihome/pointer" &&
	test_session r "$commit_pointer" &&
	git agent review r >../show &&
	grep "^  critical" ../show &&
	grep "would remove the object" ../show &&
	has_pointer r &&
	test -z "$(git log --format=%h HEAD..agent/r -- x.bin)" &&
	git merge -q agent/r &&
	git lfs fsck
'

test_that GITLFS 'an object that is in the store already is never overwritten' '
	make_lfs mine &&
	cd mine &&
	o=$(object "$(sum mine)") &&
	mkdir -p "$(dirname "$o")" &&
	echo MINE >"$o" &&
	test_session m "
		echo mine >m.bin
		git add m.bin
		git commit -qm m" &&
	test "$(cat "$o")" = MINE &&
	o=$(object "$(sum dir)") &&
	mkdir -p "$o" &&
	test_session d "echo dir >d.bin" &&
	test -d "$o" &&
	git agent show d | grep "note: d.bin: its LFS object here does not match"
'

test_done
