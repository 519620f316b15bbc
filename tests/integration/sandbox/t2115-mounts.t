#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='mount points in what agents write: planted links, races, and shared directories'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

canary=$TRASH/canary
mkdir -p "$HOME/w" "$HOME/.nvm" "$HOME/.local/bin"
mkdir -p "$canary/p/.git" "$canary/bin" "$canary/node_modules"
echo nvm >"$HOME/.nvm/id" &&
echo bin >"$HOME/.local/bin/id" &&
echo mine >"$canary/f" &&
echo mine >"$canary/p/a"
test_enter "$HOME/w/p" &&
mkdir -p pkg/node_modules &&
echo m >pkg/node_modules/m &&
printf 'node_modules/\nout\nerr\n' >.gitignore &&
echo a >a &&
echo s >pkg/s &&
test_commit base
cd "$TRASH" || exit 1

# What nobody may change, and where nothing may be mounted.
state_of_host() {
	(cd "$canary" && find . -printf '%p %y %m %i %n %s %C@\n' | sort) &&
	grep -F "$TRASH" /proc/self/mountinfo
	(cd "$HOME" && find .nvm .local/bin w/p/pkg -printf '%p %y %m %i %s %T@\n' | sort)
}
state_of_host >before
unharmed() {
	state_of_host >"$TRASH/after" &&
	test_cmp "$TRASH/before" "$TRASH/after"
}
# no_home: as if no session had ever been
no_home() {
	{ test ! -e "$HOME/aihome" || chmod -R u+rwx "$HOME/aihome"; } &&
	rm -rf "$HOME/aihome"
}
# All is in its place, or one line says why nothing was started. Never anything else.
right_or_refused() {
	rm -f out err
	timeout 180 git agent start -q -- sh -c '
		cd ~/w/p &&
		cat a pkg/node_modules/m ~/.nvm/id ~/.local/bin/id &&
		! touch ~/.nvm/x 2>/dev/null &&
		touch new' >out 2>err
	rc=$?
	if [ $rc = 0 ]; then
		printf 'a\nm\nnvm\nbin\n' | cmp - out &&
		test -z "$(git ls-tree -r HEAD new)"
	elif [ $rc = 125 ]; then
		test ! -s out &&
		test "$(grep -c '^git-agent: ' err)" = 1 &&
		grep -q '^hint: ' err &&
		test "$(wc -l <err)" -le 3
	else
		echo "status $rc" &&
		cat err &&
		false
	fi
}

# home_of MODE: the home of sessions in that mode, $home, which there is not yet
home_of() {
	test_settings "home_mode: $1" &&
	cd "$HOME/w/p" &&
	no_home &&
	home=$(git agent home --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["path"])')
}
# plant PLACE COMMANDS: a home in which the commands have put something else at that place, $at
plant() {
	{ test ! -e "$home" || chmod -R u+rwx "$home"; } &&
	rm -rf "$home" &&
	mkdir -p -m 700 "$home" &&
	at=$home/$1 &&
	mkdir -p "$(dirname "$at")" &&
	eval "$2"
}
# refused_link PLACE TARGET: a link there keeps the session from starting, and stays
refused_link() {
	plant "$1" "ln -s \"$2\" \"\$at\"" &&
	right_or_refused &&
	test $rc = 125 &&
	grep "symlink blocks the mount point" err &&
	test -L "$at" || {
		echo "failed: $1 -> $2"
		cat err
		return 1
	}
}

test_that 'SB-04: a link in the home in place of a mount point, or above one, is refused' '
	home_of shared &&
	right_or_refused &&
	test $rc = 0 &&
	for place in w/p w .local/bin .local .nvm; do
		for target in "/oldroot$canary" "/proc/self/root$canary" ../../canary "$canary" "$place"; do
			refused_link $place "$target" || exit 1
		done
	done &&
	unharmed
'

for mode in project overlay; do
	test_that "SB-04: such a link is refused with home_mode $mode" '
		home_of '$mode' &&
		right_or_refused &&
		test $rc = 0 &&
		for place in w/p .local; do
			for target in "/proc/self/root$canary" "$canary" nowhere; do
				refused_link $place "$target" || exit 1
			done
		done &&
		no_home &&
		unharmed
	'
done

test_that 'SB-04: a fifo, file or socket in place of a mount point is refused' '
	home_of shared &&
	cat >../bind.py <<-\END &&
	import os, socket, sys
	os.chdir(sys.argv[1])
	socket.socket(socket.AF_UNIX).bind(sys.argv[2])
	END
	for place in w/p .local; do
		for how in "mkfifo \"\$at\"" "touch \"\$at\"" \
			"python3 ../bind.py \"\$(dirname \"\$at\")\" \"\$(basename \"\$at\")\""; do
			plant $place "$how" &&
			right_or_refused &&
			test $rc = 125 &&
			grep "blocks the mount point" err || {
				echo "failed: $place $how"
				cat err
				exit 1
			}
		done
	done &&
	no_home &&
	unharmed
'

# An earlier session's layer, as nothing inside could make it: mount points are busy there.
test_that 'SB-04: a link in a session'\''s layer in place of a mount point or of .git is refused' '
	cd "$HOME/w/p" &&
	no_home &&
	test_session u "echo 1 >x" &&
	upper=$(test_dir u)/upper &&
	test -e "$upper/x" &&
	chmod -R u+rwx "${upper%/*}/work" &&
	rm -rf "${upper%/*}/work" &&
	cp -a "${upper%/*}" ../kept &&
	for place in .git pkg pkg/node_modules; do
		for target in "$canary" "/proc/self/root$canary" ../../../../../../../canary; do
			rm -rf "$upper/$place" &&
			mkdir -p "$(dirname "$upper/$place")" &&
			ln -s "$target" "$upper/$place" &&
			rc=0 &&
			{ timeout 180 git agent resume -q u -- true >out 2>err || rc=$?; } &&
			{ [ $rc = 125 ] || test $rc = 128; } &&
			test "$(grep -c "^git-agent: " err)" = 1 &&
			unharmed || {
				echo "failed: $place -> $target: $rc"
				cat err
				exit 1
			}
			chmod -R u+rwx "${upper%/*}" &&
			rm -rf "${upper%/*}" &&
			cp -a ../kept "${upper%/*}" ||
				exit 1
		done
	done &&
	test_resume u "cat pkg/node_modules/m x" >out &&
	printf "m\n1\n" | cmp - out
'

# In the home of a session that looks on, what others mount on is a directory like any other.
test_that 'SB-04 PS-02: links swapped in a loop while sessions start lead no mount elsewhere' '
	test_settings &&
	cd "$HOME/w/p" &&
	no_home &&
	mv "$HOME/.nvm" "$HOME/.local/bin" "$TRASH" &&
	git init -q "$HOME/q" &&
	(cd "$HOME/q" && git commit -q --allow-empty -m q) &&
	cat >"$HOME/q/swap.py" <<-\EOF &&
	import ctypes, os
	libc, home = ctypes.CDLL(None), os.environ["HOME"]
	os.chdir(home)
	for d in "w", ".local", ".nvm", "w/p":
	    os.makedirs(d, exist_ok=True)
	links = {}
	for i, d in enumerate(("w", ".local", ".nvm", "w/p")):
	    links[d] = "link%d" % i
	    os.symlink(CANARY, links[d])
	open("up", "w").close()
	while not os.path.exists("stop"):
	    for d in links:
	        libc.renameat2(-100, d.encode(), -100, links[d].encode(), 2)
	        libc.renameat2(-100, d.encode(), -100, links[d].encode(), 2)
	EOF
	sed -i "s,CANARY,\"$canary\"," "$HOME/q/swap.py" &&
	test_when_finished "touch \"$HOME/aihome/stop\"; wait" &&
	{ (cd "$HOME/q" && timeout 300 git agent start -q -- python3 swap.py) & } &&
	swap=$! &&
	test_wait_for "test -e $HOME/aihome/up" &&
	mv "$TRASH/.nvm" "$HOME" &&
	mv "$TRASH/bin" "$HOME/.local" &&
	good=0 refused=0 lost=0 failed= &&
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
		right_or_refused
		held=$?
		case $rc in
		0) good=$((good + 1)) ;;
		125) refused=$((refused + 1)) ;;
		*) lost=$((lost + 1)) held=0 ;;
		esac
		test $held = 0 &&
		test $rc != 124 || {
			failed="$failed $i:$rc"
			cat out err
		}
	done &&
	touch "$HOME/aihome/stop" &&
	wait $swap &&
	echo "right $good, refused $refused, taken away $lost, failed:$failed" | tee "$TRASH/counts" &&
	test -z "$failed" &&
	test $((good + refused + lost)) = 12 &&
	unharmed &&
	! (cd "$canary" && ls new p/new)
'

test_that 'mount points in the home are marked, and no other session or command removes them' '
	test_settings &&
	cd "$HOME/w/p" &&
	no_home &&
	rm -f "$HOME/q/swap.py" &&
	test_when_finished "touch \"$HOME/aihome/stop\"; wait" &&
	{
		test_inside "
		touch ~/up
		while test ! -e ~/stop; do sleep 0.05; done
		cat a ~/.nvm/id ~/.local/bin/id" >out &
	} &&
	pid=$! &&
	test_wait_for "test -e $HOME/aihome/up" &&
	for d in w/p .nvm .local/bin; do
		test "$(stat -c %a "$HOME/aihome/$d")" = 555 &&
		test -f "$HOME/aihome/$d/.git-agent-mount-point" ||
			exit 1
	done &&
	(
		cd "$HOME/q" &&
		test_inside "
		! rm -rf ~/w ~/.local 2>/dev/null &&
		test -e ~/w/p/.git-agent-mount-point" &&
		test_expect_code 2 git agent home reset &&
		git agent gc &&
		git agent home
	) &&
	for d in w/p .nvm .local/bin; do
		test -f "$HOME/aihome/$d/.git-agent-mount-point" || exit 1
	done &&
	touch "$HOME/aihome/stop" &&
	wait $pid &&
	printf "a\nnvm\nbin\n" | cmp - out
'

# no_marks: nothing that a sandbox made is in the home
no_marks() {
	! find "$HOME/aihome" -name .git-agent-mount-point -o -perm 555 | grep .
}

test_that 'between sessions no mount point is in a home, and a tool makes its directory there' '
	cd "$HOME/w/p" &&
	no_home &&
	test_inside "test -e ~/.nvm/id && mkdir -p ~/.local/own" &&
	no_marks &&
	test -d "$HOME/aihome/.local/own" &&
	test ! -e "$HOME/aihome/w" &&
	rm -rf "$HOME/aihome" &&
	git agent -c home_mode=overlay start -q --name o -- true &&
	mv "$HOME/.nvm" "$HOME/nvm" &&
	test_when_finished "mv \"$HOME/nvm\" \"$HOME/.nvm\"" &&
	git agent -c home_mode=overlay resume o -- sh -c "mkdir ~/.nvm && touch ~/.nvm/own" &&
	git agent home diff o >out &&
	grep "^A.*nvm/own" out &&
	test_inside "mkdir ~/.nvm && touch ~/.nvm/own" &&
	rm -r "$HOME/aihome/.nvm"
'

test_that 'a start removes the mount points that a killed session left' '
	cd "$HOME/w/p" &&
	no_home &&
	{ "$GIT_AGENT" start -q -- sh -c "touch ~/up; sleep 1000" & } &&
	pid=$! &&
	test_wait_for "test -e $HOME/aihome/up" &&
	kill -9 $pid &&
	{ wait $pid 2>/dev/null || true; } &&
	test -e "$HOME/aihome/.nvm/.git-agent-mount-point" &&
	mv "$HOME/.nvm" "$HOME/nvm" &&
	test_when_finished "mv \"$HOME/nvm\" \"$HOME/.nvm\"" &&
	test_inside "mkdir ~/.nvm" &&
	no_marks
'

test_that 'a shared directory can be emptied and filled' '
	cd "$HOME/w/p" &&
	git agent start --name e -- sh -c "
		find pkg/node_modules -mindepth 1 -delete &&
		echo n >pkg/node_modules/n &&
		ls pkg/node_modules
		rm pkg/node_modules/n
		touch pkg/node_modules/again" >out &&
	echo n | cmp - out &&
	test "$(cat pkg/node_modules/m)" = m &&
	test_resume e "ls pkg/node_modules" >out &&
	echo again | cmp - out &&
	unharmed
'

# what any machine may have that no sandbox shows by itself
for device in /dev/net/tun /dev/fuse /dev/kvm /dev/hwrng /dev/tty0 ''; do
	[ ! -c "$device" ] || break
done
test_lazy_prereq DEVICE 'test -n "$device"'

test_that DEVICE 'a device is there if it is listed, with the directory it is in' '
	cd "$HOME/w/p" &&
	test_expect_code 1 git agent start -q -- test -e "$device" &&
	for listed in "$device" "${device%/*}"; do
		[ "$listed" != /dev ] || continue
		git agent -c devices=$listed -c devices=/dev/absent start -- \
			stat -c %t:%T "$device" >out 2>err || exit 1
		grep "devices: .*$device" err &&
		grep "left out: devices: /dev/absent" err &&
		[ "$(cat out)" = "$(stat -c %t:%T "$device")" ] || exit 1
	done
'

test_that 'no disk is shown, and what is no device is no value' '
	cd "$HOME/w/p" &&
	for word in "/dev/../etc" /dev/pts/0 "/dev/nvme*" usb /etc; do
		test_expect_code 129 git agent -c "devices=$word" start -- true || exit 1
	done &&
	disk=$(find /dev -maxdepth 1 -type b | sed 1q) &&
	test_expect_code 1 git agent -c "devices=${disk:-/dev/none}" start -q -- test -e "${disk:-/dev/none}"
'

test_done
