#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Random work in real sandboxes: the tree that is captured is the one that
# `git add -A && git write-tree` makes of a plain copy of what the agent saw, and the
# agent's commits arrive with their ids. docs/capture.md lists what is left out on
# purpose. Every third session is then resumed, with other work, and every sixth once more after
# somebody committed on its branch.
#
#     SEED=123 make check T=tests/integration/capture/t4100-oracle.t
#
# does again what one seed did. ORACLE_STEPS=n stops each sequence after n steps.
test_description='capture against what git makes of a plain copy'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

per_repo=10 # sequences in one repository
test_random 120
oracle=$TEST_BUILDDIR/tests/helpers/oracle

test_aihome &&
cp "$oracle" "$HOME/aihome/oracle"

# ---- what git makes of it

# git over the copy, with an index and objects of its own: what capture forgot to
# write is not there
git_on_copy() {
	GIT_DIR=$repo/.git GIT_WORK_TREE=$out/tree GIT_INDEX_FILE=$out/index \
		GIT_OBJECT_DIRECTORY=$out/objects GIT_ALTERNATE_OBJECT_DIRECTORIES=$repo/.git/objects:$private \
		git -C "$out/tree" "$@"
}

# git with the session's own objects
git_inside() {
	GIT_ALTERNATE_OBJECT_DIRECTORIES=$private git -C "$repo" "$@"
}

# state KEY: what the state file says
state() {
	sed -n "s/^[[:space:]]*$1 = \"\(.*\)\"\$/\1/p" "$session/session"
}

# Repositories inside count for nothing, whether or not the agent has committed their
# ids; a submodule of the base (the generator knows one) is what HEAD says it is. A file in the
# place of one is tracked. `drop_links -d` drops where there is a directory.
drop_links() {
	git_on_copy ls-files -s -z | python3 -c '
import os, sys
for e in sys.stdin.buffer.read().split(b"\0")[:-1]:
    meta, path = e.split(b"\t", 1)
    at = os.path.join(os.fsencode(sys.argv[1]), path)
    if meta[:7] == b"160000 " and ("-d" not in sys.argv or (os.path.isdir(at) and not os.path.islink(at))):
        sys.stdout.buffer.write(b"0 " + meta.split()[1] + b"\t" + path + b"\0")' "$out/tree" "$@" |
		git_on_copy update-index -z --index-info
}

# What the session had when it was resumed, and was in no commit: tracked while commits leave it alone.
add_uncommitted() {
	git_inside ls-tree -r -z "$1" >"$out/ls" &&
	git_inside diff-tree -r -z --no-renames "$base" "$view" >"$out/uncommitted" &&
	python3 - "$out" <<-\END | git_on_copy update-index -z --add --replace --index-info
	import sys
	read = lambda name: open(sys.argv[1] + "/" + name, "rb").read().split(b"\0")[:-1]
	has = {l.split(b"\t", 1)[1]: l.split(b" ")[0] + l.split(b"\t")[0].split(b" ")[2] for l in read("ls")}
	raw = read("uncommitted")
	for meta, path in zip(raw[::2], raw[1::2]):
	    old, new, old_id, new_id, _ = meta[1:].split(b" ")
	    if new != b"000000" and has.get(path, b"000000" + b"0" * 40) == old + old_id:
	        sys.stdout.buffer.write(new + b" " + new_id + b"\t" + path + b"\0")
	END
}

# expected HEAD: the tree's id
expected() {
	mkdir "$out/objects" &&
	git_on_copy read-tree "$1" || return 1
	[ -z "$view" ] || add_uncommitted "$1" || return 1
	was=
	if git_inside ls-tree "$base" -- lib/m | grep -q '^160000'; then
		was=$(git_on_copy ls-files -s lib/m | sed -n 's/^160000 \([0-9a-f]*\) .*/160000,\1,lib\/m/p')
	fi
	drop_links -d &&
	[ -z "$was" ] || git_on_copy update-index --add --cacheinfo "$was" || return 1
	git_on_copy -c advice.addEmbeddedRepo=false add -A --ignore-errors 2>"$out/add.err"
	# git takes a path behind a link that leads to itself neither for there nor for gone
	sed -n 's/: Too many levels of symbolic links$//p' "$out/add.err" | tr '\n' '\0' |
		git_on_copy update-index -z --force-remove --stdin || return 1
	kept=$(git_on_copy ls-files -s lib/m | grep '^160000')
	drop_links &&
	[ -z "$kept" ] || [ -z "$was" ] ||
		git_on_copy update-index --add --cacheinfo "$was" || return 1
	git_on_copy write-tree
}

# ---- one sequence

# ref KIND: what the ref of the session is, or nothing
ref() {
	sed -n "s,^refs/$1 ,,p" "$out/refs.out"
}

bad() {
	[ -z "${KEEP-}" ] || { mkdir "$KEEP" && cp -a "$TRASH"/* "$KEEP"; }
	echo "seed $seed: $*"
	echo "what the agent did:"
	sed 's/^/    /' "$out/log"
	echo "once more: SEED=$seed make check T=tests/integration/capture/t4100-oracle.t"
	return 1
}

objects_of() {
	GIT_OBJECT_DIRECTORY=$out/objects GIT_ALTERNATE_OBJECT_DIRECTORIES=$repo/.git/objects:$private \
		git -C "$repo" "$@"
}

# newer TREE: if the agent turned its back on its base, paths that its history lacks changes of, and that it
# left alone; each ends with a NUL
newer() {
	! git_inside merge-base --is-ancestor "$base" "$head" || return 0
	fork=$(git_inside merge-base "$head" "$(git -C "$repo" rev-parse HEAD)") || return 0
	objects_of diff-tree -r -z --no-renames --name-only "$fork" "${snapshot:-HEAD}" |
		sort -z >"$out/changed"
	objects_of diff-tree -r -z --no-renames --name-only "$fork" "$1" | sort -z >"$out/touched"
	comm -z -23 "$out/changed" "$out/touched"
}

check_tree() {
	want=$(expected "$head") || bad "git does not take the copy: $(cat "$out/add.err")" ||
		return 1
	got=$(git_inside rev-parse "$full^{tree}") || bad "no tree of $full" || return 1
	newer "$want" >"$out/newer"
	[ "$want" = "$got" ] &&
	return 0
	objects_of diff-tree -r -z --no-renames --name-only "$want" "$got" | sort -z >"$out/differ"
	[ -n "$dirty" ] || [ -n "$(comm -z -23 "$out/differ" "$out/newer" | tr '\0' '\n')" ] || return 0
	objects_of diff-tree -r --no-renames "$want" "$got" >"$out/diff"
	bad "from git's tree to ours: $(cat "$out/diff")"
}

# The agent's HEAD is the history that was captured, or what its last commit is based on.
check_commits() {
	[ "$head" != "$base" ] || return 0
	if ! git_inside merge-base --is-ancestor "$base" "$head"; then
		echo strayed >>"$stats"
		[ -n "$dirty" ] || [ "$orig" = "$head" ] ||
			git -C "$repo" merge-base --is-ancestor "$head" HEAD ||
			bad "HEAD $head turned its back on its base and is not on orig"
		return
	fi
	# with uncommitted work in it, it is in the session's objects alone
	if [ -n "$dirty" ]; then
		git_inside rev-list --objects --quiet "$head" ||
			bad "objects of HEAD $head are missing"
		return
	fi
	# an earlier run's stays
	[ "$orig" != "$orig_before" ] || orig=
	history=${orig:-$tip}
	[ -n "$held" ] || echo free >>"$stats"
	[ "$history" = "$head" ] ||
		[ "$(git -C "$repo" rev-parse -q --verify "$history^")" = "$head" ] ||
		bad "HEAD was $head, the history captured is ${history:-none}"
}

# Its other branches and its stash.
check_heads() {
	[ -e "$out/refs" ] &&
	[ -z "$dirty" ] || return 0
	while read -r name id; do
		case $name in
		refs/stash) kind=stash ;;
		*) kind=heads/${name#refs/heads/} ;;
		esac
		[ "$id" != "$head" ] || [ "$name" != "refs/heads/agent/s$seed" ] || continue
		[ "$(ref "agent/s$seed/$kind")" = "$id" ] &&
		continue
		git -C "$repo" merge-base --is-ancestor "$id" "$base" 2>/dev/null ||
			bad "$name was $id, and is $(ref "agent/s$seed/$kind")" || return 1
	done <"$out/refs"
}

check_one() {
	out=$HOME/aihome/out/$seed view='' orig_before='' published_before='' private=''
	(
		cd "$repo" &&
		git agent start -q --name "s$seed" -- "$HOME/oracle" agent "$seed" "$HOME/out/$seed"
	) \
		2>"$repo.err" || {
		cat "$repo.err"
		bad "the session failed"
		return 1
	}
	check_result base || return 1
	[ $((seed % 3)) = 0 ] || return 0
	check_again || return 1
	[ $((seed % 6)) != 0 ] || check_host
}

# It is resumed: other work over the same layers, and with the same git.
check_again() {
	published_before=${held:-$tip}
	view=$(git_inside rev-parse "$full^{tree}") orig_before=$orig out=$HOME/aihome/out/$seed.2
	(
		cd "$repo" &&
		git agent resume -q "s$seed" -- "$HOME/oracle" agent "$((seed + 1000000007))" "$HOME/out/$seed.2"
	) \
		2>"$repo.err" || {
		cat "$repo.err"
		grep -q "git dir cannot be used" "$repo.err" || bad "it was not resumed"
		return
	}
	echo again >>"$stats"
	check_result from
}

# Once the uncommitted work is committed there, what the agent made of that is on the branch too;
# and so is what a rule ignored, or a submodule hid, that is not there any more.
uncovered() {
	git -C "$repo" merge-base --is-ancestor "$was" "agent/s$seed" &&
	! git -C "$repo" diff --quiet "$was" "agent/s$seed" ||
		return 1
	unignored=$(git -C "$repo" diff --name-only "$was^" "$was" | grep -c "gitignore\"*$")
	unlinked=$(git -C "$repo" diff-tree -r --no-renames "$was^" "$was" | sed -n "s/^:160000 .*	//p")
	git -C "$repo" diff-tree -r -z --no-renames --name-only "$was" "agent/s$seed" |
		BASE=$base FULL=$full WAS=$was NOW=agent/s$seed UNIGNORED=$unignored UNLINKED=$unlinked \
		xargs -0 -n 1 sh -c '
			cd "$1" && at() { git ls-tree "$1" -- "$2" | grep -v "^040000"; }
			for link in $UNLINKED; do
				case $2 in "$link"/*) exit 0 ;; esac
			done
			[ "$(at "$WAS" "$2")" = "$(at "$BASE" "$2")" ] || exit 1
			[ "$(at "$NOW" "$2")" = "$(at "$FULL" "$2")" ] ||
				{ [ "$UNIGNORED" != 0 ] && [ -z "$(at "$WAS" "$2")$(at "$FULL" "$2")" ]; }' sh "$repo"
}

# What was committed on its branch is not turned back, unless it is refused as a whole.
check_host() {
	git -C "$repo" worktree add -q "$repo.wt" "agent/s$seed" 2>/dev/null || return 0
	(
		cd "$repo.wt" &&
		"$oracle" dirty "$((seed + 7))" &&
		test_commit host
	) >"$repo.err" 2>&1
	git -C "$repo" worktree remove --force "$repo.wt" &&
	was=$(git -C "$repo" rev-parse "agent/s$seed")
	if (cd "$repo" && git agent resume -q "s$seed" -- true) 2>"$repo.err"; then
		echo host >>"$stats"
		[ "$(git -C "$repo" rev-parse "agent/s$seed")" = "$was" ] || uncovered ||
			bad "a commit on its branch was changed: $(git -C "$repo" diff-tree -r "$was" "agent/s$seed")"
	else
		grep -q -e "cannot be applied to the session" -e "was also changed on" "$repo.err" ||
			{
				cat "$repo.err"
				bad "it was not resumed"
			}
	fi
}

# check_result REF: what came of it, on top of that one
check_result() {
	git -C "$repo" for-each-ref --format='%(refname) %(objectname)' "refs/heads/agent/s$seed" \
		"refs/agent/s$seed" >"$out/refs.out"
	base=$(ref "agent/s$seed/$1") tip=$(ref "heads/agent/s$seed") held=$(ref "agent/s$seed/held")
	orig=$(ref "agent/s$seed/orig") full=${held:-${tip:-$base}}
	if [ -n "$dirty" ]; then
		read -r id <"$repo/.git/git-agent/id" || return 1
		session=$HOME/.local/state/git-agent/$id/sessions/s$seed
		private=$session/objects snapshot=$(state base) full=$(state view)
		base=$snapshot
		[ "$1" != from ] || base=$(state from)
	fi
	head=$base
	[ ! -e "$out/head" ] || read -r head <"$out/head"
	[ -z "$held" ] || echo held >>"$stats"
	check_tree &&
	check_commits &&
	check_heads &&
	check_work &&
	done_there <"$out/log" >>"$stats" &&
	rm -rf "$out"
}

# What the agent did, one word for each: "git-commit", "truncate", ...
done_there() {
	awk -v verbs="add commit init merge rebase rm stash switch" '
		BEGIN {
			for (n = split(verbs, v, " "); n; n--) known[v[n]] = v[n]
			known["checkout"] = known["cherry-pick"] = known["clean"] = known["reset"] = "back"
		}
		/^git / {
			for (i = 2; i <= NF && !($i in known); i++) ;
			if (i <= NF) print "git-" known[$i]
			if (i <= NF && /--amend/) print "git-amend"
			if (i <= NF) next
		}
		/^(append|chmod|link|mkfifo|rename|rmdir|setxattr|symlink|touch|truncate) / { print $1 }
		/^[a-z]+ "[^"]*\\/ { print "odd-name" }
		/^(directory|file) in place of / { print $1 "-in-place" }
		/^rm -r / { print "remove" }
		/^write / { print $2 ~ /gitignore/ ? "ignore-rules" : $2 ~ /gitattributes/ ? "attributes" : "write" }'
}

# A path with uncommitted work of the user is in no commit that is published; whatever else the agent did is;
# and of the rest it is said that it is left out, and what an earlier run published there stays.
check_work() {
	[ -n "$dirty" ] || return 0
	! git -C "$repo" cat-file -e "$snapshot" 2>/dev/null ||
		bad "the repository has the uncommitted work" ||
		return 1
	(cd "$repo" && git agent show --json "s$seed") >"$out/show" || bad "cannot be shown" ||
		return 1
	ours=$(git -C "$repo" rev-parse HEAD)
	git -C "$repo" diff-tree -r -z --no-renames "$ours" "${held:-${tip:-$ours}}" >"$out/published" &&
	git -C "$repo" diff-tree -r -z --no-renames "$ours" "${published_before:-$ours}" >"$out/was" &&
	git_inside diff-tree -r -z --no-renames "$ours" "$snapshot" >"$out/work" &&
	git_inside diff-tree -r -z --no-renames "$snapshot" "$full" >"$out/did" &&
	git_inside ls-tree -r -z "$full" >"$out/view" &&
	python3 - "$out" >"$out/said" <<-\END || bad "$(cat "$out/said")" || return 1
	import base64, json, sys
	read = lambda name: open(sys.argv[1] + "/" + name, "rb").read().split(b"\0")[:-1]
	none = (b"000000", b"0" * 40)
	def changes(name):
	    raw = read(name)
	    return {p: (m[1:].split(b" ")[1], m.split(b" ")[3]) for m, p in zip(raw[::2], raw[1::2])}
	view = {l.split(b"\t", 1)[1]: (l.split(b" ")[0], l.split(b"\t")[0].split(b" ")[2]) for l in read("view")}
	published, work, did, was = changes("published"), changes("work"), changes("did"), changes("was")
	left = json.load(open(sys.argv[1] + "/show"))["left_out"]
	left = {l.encode() if isinstance(l, str) else base64.b64decode(l["b64"]) for l in left}
	wrong = ["published: %r" % p for p in published if p in work]
	within = lambda p: any((p + b"/").startswith(l + b"/") for l in left)
	odd = [p for p, e in published.items() if view.get(p, none) != e and not (within(p) and was.get(p) == e)]
	wrong += ["not what the agent left: %r" % p for p in odd]
	newer = read("newer")
	wrong += ["lost: %r" % p for p, e in did.items() if p not in left and p not in newer and published.get(p) != e]
	print("\n".join(wrong))
	open(sys.argv[1] + "/part", "w").write("work\n" if left else "")
	sys.exit(bool(wrong))
	END
	cat "$out/part" >>"$stats"
}

# ---- many

# batch N: the sequences whose repository is the Nth
batch() {
	repo=$TRASH/repo.$1 stats=$TRASH/stats.$1 failed=0 dirty=''
	mkdir "$repo" &&
	(
		cd "$repo" &&
		"$oracle" base "$1" &&
		{ [ $(($1 % 4)) != 3 ] || "$oracle" dirty "$1"; } &&
		{ [ $(($1 % 3)) != 1 ] || "$oracle" rules "$1"; }
	) ||
		return 1
	git -C "$repo" status --porcelain >"$repo.before"
	[ ! -s "$repo.before" ] || dirty=1
	seed=$(($1 * per_repo))
	while [ $seed -lt $((($1 + 1) * per_repo)) ]; do
		if [ $seed -ge "$first" ] && [ $seed -lt $((first + count)) ]; then
			check_one || failed=1
		fi
		seed=$((seed + 1))
	done
	git -C "$repo" status --porcelain >"$repo.after"
	test_cmp "$repo.before" "$repo.after" &&
	git -C "$repo" fsck --connectivity-only --no-dangling &&
	! find "$repo/.git/objects" -name '*.keep' | grep . &&
	[ $failed = 0 ] || return 1
	# thousands of sessions are a lot of files; the id's file says on further lines whose it is
	read -r id <"$repo/.git/git-agent/id" &&
	cd "$HOME/.local/state/git-agent" &&
	test -d "$id" &&
	"$TEST_BUILDDIR/tests/helpers/rmtree" "$id" &&
	rm -rf "$repo" "$repo".*
}

mkdir -p "$HOME/aihome/out"
jobs=${ORACLE_JOBS:-2} b=$((first / per_repo)) z=$(((first + count - 1) / per_repo))
while [ $b -le $z ]; do
	n=$b
	while [ $n -le $z ] && [ $n -lt $((b + jobs)) ]; do
		(
			batch $n >"$TRASH/out.$n" 2>&1
			echo $? >"$TRASH/rc.$n"
		) &
		n=$((n + 1))
	done
	wait
	while [ $b -lt $n ]; do
		test_that "seeds $((b * per_repo)) to $((b * per_repo + per_repo - 1))" '
			cat "$TRASH/out.$b" &&
			test "$(cat "$TRASH/rc.$b")" = 0
		'
		b=$((b + 1))
	done
done

# What hardly happens is hardly tested: of 300 sequences, about twice as many as the number are of each kind, or have
# done such a thing so often. Half of the number, in proportion, are asked for, where that is enough for chance to
# decide nothing.
while read -r kind many; do
	there=$(cat "$TRASH"/stats.* | grep -c "^$kind\$")
	many=$((many * count / 300))
	[ "$many" -lt 20 ] || test_that "among them enough of $kind: $there" '
		test "$there" -ge $((many / 2))
	'
done <<-END
held 8
free 50
strayed 3
again 90
host 20
work 40
write 500
append 130
truncate 150
chmod 130
rename 150
remove 130
link 150
symlink 130
directory-in-place 130
file-in-place 150
odd-name 60
ignore-rules 130
attributes 1
mkfifo 8
rmdir 6
setxattr 6
touch 6
git-add 120
git-amend 6
git-back 15
git-commit 190
git-init 20
git-merge 6
git-rebase 25
git-rm 35
git-stash 60
git-switch 35
END

test_done
