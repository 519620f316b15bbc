#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The case table of docs/capture.md in a real sandbox: every cell that an agent can make
# a kernel write. A cell's id is its path. What no agent can is in
# tests/unit/capture/test-upper-cells.c; tests/lint/cases.t compares both with the table.
test_description='capture: each kind of entry over each kind of base'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

# id, outcome in the table's words, and what the agent does ($P is the path, the id)
cat >cells <<'EOT'
UP-REG/BASE-NONE|A|echo up >$P
UP-REG/BASE-REG|M|echo up >$P
UP-REG/BASE-EXE|M|echo up >$P
UP-REG/BASE-LNK|T|rm $P; echo up >$P
UP-REG/BASE-DIR|A D/|rm -r $P; echo up >$P
UP-REG/BASE-GITLINK|T|rmdir $P; echo up >$P
UP-REG/BASE-IGN|ignored|echo up >$P
UP-SAME/BASE-REG|=|echo base >$P
UP-SAME/BASE-EXE|=|touch $P
UP-SAME/BASE-LNK|=|touch -h $P
UP-SAME/BASE-IGN|ignored|touch $P
UP-MODE/BASE-REG|M|chmod +x $P
UP-MODE/BASE-EXE|M|chmod -x $P
UP-MODE/BASE-DIR|=|chmod 700 $P
UP-MODE/BASE-GITLINK|=|chmod 700 $P
UP-MODE/BASE-IGN|ignored|chmod +x $P
UP-LNK/BASE-NONE|A|ln -s up $P
UP-LNK/BASE-REG|T|ln -sf up $P
UP-LNK/BASE-EXE|T|ln -sf up $P
UP-LNK/BASE-LNK|M|ln -sfn up $P
UP-LNK/BASE-DIR|A D/|rm -r $P; ln -s up $P
UP-LNK/BASE-GITLINK|T|rmdir $P; ln -s up $P
UP-LNK/BASE-IGN|ignored|ln -s up $P
UP-DIR/BASE-NONE|A/|mkdir $P; echo up >$P/n
UP-DIR/BASE-DIR|A/|echo up >$P/n
UP-DIR/BASE-GITLINK|submodule|echo up >$P/n
UP-DIR/BASE-IGN|ignored|mkdir $P; echo up >$P/n
UP-OPQ/BASE-REG|D A/|rm $P; mkdir $P; echo up >$P/n
UP-OPQ/BASE-EXE|D A/|rm $P; mkdir $P; echo up >$P/n
UP-OPQ/BASE-LNK|D A/|rm $P; mkdir $P; echo up >$P/n
UP-OPQ/BASE-DIR|A/ D/|rm -r $P; mkdir $P; echo up >$P/n
UP-OPQ/BASE-GITLINK|submodule|rmdir $P; mkdir $P; echo up >$P/n
UP-WH/BASE-REG|D|rm $P
UP-WH/BASE-EXE|D|rm $P
UP-WH/BASE-LNK|D|rm $P
UP-WH/BASE-DIR|D/|rm -r $P
UP-WH/BASE-GITLINK|D|rmdir $P
UP-WH/BASE-IGN|=|rm $P
UP-FIFO/BASE-NONE|special|mkfifo $P
UP-FIFO/BASE-REG|D special|rm $P; mkfifo $P
UP-FIFO/BASE-EXE|D special|rm $P; mkfifo $P
UP-FIFO/BASE-LNK|D special|rm $P; mkfifo $P
UP-FIFO/BASE-DIR|D/ special|rm -r $P; mkfifo $P
UP-FIFO/BASE-GITLINK|D special|rmdir $P; mkfifo $P
UP-FIFO/BASE-IGN|special|mkfifo $P
UP-SOCK/BASE-NONE|special|sock $P
UP-SOCK/BASE-REG|D special|rm $P; sock $P
UP-SOCK/BASE-EXE|D special|rm $P; sock $P
UP-SOCK/BASE-LNK|D special|rm $P; sock $P
UP-SOCK/BASE-DIR|D/ special|rm -r $P; sock $P
UP-SOCK/BASE-GITLINK|D special|rmdir $P; sock $P
UP-SOCK/BASE-IGN|special|sock $P
UP-HARD/BASE-NONE|A|echo up >twin; ln twin $P
UP-HARD/BASE-REG|M|ln -f twin $P
UP-HARD/BASE-EXE|M|echo up >$P; ln $P twin2
UP-HARD/BASE-LNK|T|ln -f twin $P
UP-HARD/BASE-DIR|A D/|rm -r $P; ln twin $P
UP-HARD/BASE-GITLINK|T|rmdir $P; ln twin $P
UP-HARD/BASE-IGN|ignored|ln twin $P
UP-SPARSE/BASE-NONE|A|truncate -s 2M $P
UP-SPARSE/BASE-REG|M|truncate -s 2M $P
UP-SPARSE/BASE-EXE|M|truncate -s 2M $P
UP-SPARSE/BASE-LNK|T|rm $P; truncate -s 2M $P
UP-SPARSE/BASE-DIR|A D/|rm -r $P; truncate -s 2M $P
UP-SPARSE/BASE-GITLINK|T|rmdir $P; truncate -s 2M $P
UP-SPARSE/BASE-IGN|ignored|truncate -s 2M $P
UP-CLOSED/BASE-NONE|A|echo up >$P; chmod 0 $P
UP-CLOSED/BASE-REG|M|echo up >$P; chmod 0 $P
UP-CLOSED/BASE-EXE|M|echo up >$P; chmod 0 $P
UP-CLOSED/BASE-LNK|T|rm $P; echo up >$P; chmod 0 $P
UP-CLOSED/BASE-DIR|A D/|rm -r $P; echo up >$P; chmod 0 $P
UP-CLOSED/BASE-GITLINK|T|rmdir $P; echo up >$P; chmod 0 $P
UP-CLOSED/BASE-IGN|ignored|echo up >$P; chmod 0 $P
EOT

# What the user has: files that are ignored are shown to the agent too.
make_base() {
	test_enter r &&
	for u in REG SAME MODE LNK DIR OPQ WH FIFO SOCK HARD SPARSE CLOSED; do
		mkdir "UP-$u" &&
		cd "UP-$u" &&
		echo base >BASE-REG &&
		echo base >BASE-EXE &&
		chmod +x BASE-EXE &&
		ln -s base BASE-LNK &&
		mkdir BASE-DIR &&
		echo x >BASE-DIR/x &&
		cd .. || return 1
	done
	echo BASE-IGN >.gitignore &&
	git add -A &&
	for u in UP-*; do
		mkdir "$u/BASE-GITLINK" &&
		git update-index --add --cacheinfo \
			"160000,1111111111111111111111111111111111111111,$u/BASE-GITLINK" || return 1
	done
	git commit -qm base &&
	for u in SAME MODE WH; do echo base >UP-$u/BASE-IGN; done
}

test_that 'a session makes all the cells' '
	{
		echo "sock() { python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind(\\\"\$1\\\")\"; }" &&
		while IFS="|" read -r id want commands; do
			echo "P=$id; { $commands; } || echo \"$id: \$?\" >&2"
		done <cells &&
		echo "git hash-object UP-CLOSED/BASE-REG 2>&1 | grep -i denied; true"
	} >script &&
	make_base &&
	test_aihome &&
	cp ../script "$HOME/aihome/script" &&
	git agent start --name c -- sh "$HOME/script" >../out 2>&1 &&
	! grep "^UP-" ../out &&
	grep -i "denied" ../out &&
	full=$(git rev-parse -q --verify refs/agent/c/held || git rev-parse agent/c) &&
	git diff-tree -r --no-renames --name-status refs/agent/c/base "$full" >../result &&
	git agent review --format=json c >../json &&
	python3 -c "
import json
for x in json.load(open(\"../json\"))[\"left_behind\"]: print(x[\"kind\"], x[\"path\"], sep=\"\t\")" >>../result
'

# outcome ID: in the table's words
outcome() {
	awk -F'\t' -v id="$1" '
		$2 == id { at[$1] = 1 }
		index($2, id "/") == 1 { if ($1 ~ /^[AMTD]$/) at[$1 "/"] = 1; else at[$1] = 1 }
		END {
			n = split("A M T D A/ M/ T/ D/ ignored special submodule repository", order, " ")
			for (i = 1; i <= n; i++) if (order[i] in at) s = s " " order[i]
			print s ? substr(s, 2) : "="
		}' result
}

while IFS='|' read -r id want commands; do
	test_that "$id is $want" '
		echo "$want" >want &&
		outcome "$id" >got &&
		test_cmp want got
	'
done <cells

# left ID: mode and bytes of what the agent left at the path, as git would add it
left() {
	mode=100644
	case $1 in
	UP-LNK/*) mode=120000 ;;
	UP-MODE/BASE-REG) mode=100755 ;;
	UP-MODE/* | UP-CLOSED/*) ;;
	*/BASE-EXE) mode=100755 ;;
	esac
	case $1 in
	UP-LNK/*) printf up ;;
	UP-MODE/*) echo base ;;
	UP-SPARSE/BASE-REG | UP-SPARSE/BASE-EXE) echo base &&
	head -c $((2097152 - 5)) /dev/zero ;;
	UP-SPARSE/*) head -c 2097152 /dev/zero ;;
	*) echo up ;;
	esac >"$TRASH/bytes"
	printf '%s blob %s\t%s\n' $mode "$(git hash-object "$TRASH/bytes")" "$1"
}

test_that 'each captured cell has the mode and the bytes that the agent left there' '
	cd r &&
	full=$(git rev-parse -q --verify refs/agent/c/held || git rev-parse agent/c) &&
	: >../want &&
	: >../got &&
	while IFS="|" read -r id want commands; do
		case $want in
		A | M | T | "A D/") left "$id" >>../want &&
		git ls-tree "$full" "$id" >>../got || exit 1 ;;
		esac
	done <../cells &&
	test "$(grep -c . ../want)" = 32 &&
	test_cmp ../want ../got
'

test_done
