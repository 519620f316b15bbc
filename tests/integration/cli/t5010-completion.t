#!/bin/sh
# SPDX-License-Identifier: MIT

test_description='bash, zsh and fish complete commands, options, sessions and their values'

. "${TEST_SRCDIR:?}/tests/lib/test-lib.sh"

test_lazy_prereq BASH 'test -e /usr/share/bash-completion/completions/git && command -v bash'
test_lazy_prereq ZSH 'zsh -fc "zmodload zsh/zpty && autoload -Uz +X _git"'
test_lazy_prereq FISH 'fish -c "complete -C \"git che\"" | grep checkout'

# A line on standard input, what completes it on standard output: one line, sorted.
cat >bash-completes <<\EOF_BASH
. /usr/share/bash-completion/completions/git
. "$TEST_SRCDIR/docs/completion/git-agent"
while IFS= read -r line
do
	IFS=" " read -r -a COMP_WORDS <<<"$line."
	COMP_WORDS=("${COMP_WORDS[@]/%./}") COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	COMP_LINE="$line" COMP_POINT=${#COMP_LINE} COMPREPLY=()
	__git_wrap__git_main
	printf "%s\n" "${COMPREPLY[@]%" "}" | LC_ALL=C sort -u | paste -sd " " -
done
EOF_BASH

# Completion of zsh is part of its line editor: a terminal, a key that completes what a file has,
# and a compadd that writes down what it is given.
cat >zsh-completes <<\EOF_ZSH
zmodload zsh/zpty
dir=$HOME/zsh
mkdir -p $dir
mark() { for ((n = 0; n < 1200; n++)); do [[ -e $1 ]] && return; zpty -r -t z x; sleep 0.05; done; exit 1; }
zpty z env TERM=dumb zsh -f -i
zpty -w z "PS1= PROMPT_EOL_MARK=; dir=$dir"
zpty -w z "fpath=($TEST_SRCDIR/docs/completion \$fpath); autoload -Uz compinit; compinit -u -D"
zpty -w z 'compadd() {
	local -a hits
	[[ ${@[1,(i)(-|--)]} == *-[OAD]* ]] || { builtin compadd -A hits "$@"; print -rl -- $hits >>$dir/hits; }
	builtin compadd "$@"
}
grab() { compstate[insert]= compstate[list]=; : >$dir/done; }
line() {
	comppostfuncs=(grab)
	zle .kill-buffer
	BUFFER=$(<$dir/line) CURSOR=$#BUFFER
	zle expand-or-complete
	BUFFER=
}
zle -N line; bindkey "^X" line; : >$dir/ready'
mark $dir/ready
while IFS= read -r line; do
	print -rn -- "$line" >$dir/line
	: >$dir/hits
	rm -f $dir/done
	zpty -wn z $'\x18'
	mark $dir/done
	grep . $dir/hits | LC_ALL=C sort -u | paste -sd " " -
done
zpty -d z
EOF_ZSH

cat >fish-completes <<\EOF_FISH
set -p fish_complete_path $TEST_SRCDIR/docs/completion
source $TEST_SRCDIR/docs/completion/conf.d/git-agent.fish
while read -l line
	complete -C $line | string replace -r "\t.*" "" | string match -v -- --help | LC_ALL=C sort -u |
		paste -sd " " -
end
EOF_FISH

completes() {
	case $1 in
	bash) (cd r && bash "$HOME/bash-completes") ;;
	zsh) (cd r && zsh -f "$HOME/zsh-completes") ;;
	fish) (cd r && fish "$HOME/fish-completes") ;;
	esac
}

test_that 'a repository with sessions, and a word list of the commands' '
	test_enter r &&
	test_empty a &&
	git branch topic &&
	git remote add near /nowhere &&
	mkdir files &&
	: >files/one &&
	for s in tab tub; do
		git update-ref refs/agent/$s/base HEAD &&
		git update-ref refs/heads/agent/$s HEAD ||
			exit 1
	done &&
	git update-ref refs/agent-trash/old-20260101T000000/base HEAD &&
	git agent -h | sed -n "s/^    \([a-z]*\) .*/\1/p" >../commands &&
	test $(wc -l <../commands) -ge 20
'

test_that 'the options that are completed are those of -h, for every command' '
	: >wrong &&
	while read -r c; do
		git agent $c -h | sed -n "s/^    ....\(--[a-z0-9-]*\).*/\1/p" | sort >want &&
		{ test -s want || [ "$c" = send ]; } &&
		git agent --complete $c -- | sed "s/=*	.*//" | sort >got &&
		{
			cmp -s want got ||
				diff want got |
				sed -n "s/^</$c: not completed:/p; s/^>/$c: not in -h:/p" >>wrong
		} || exit 1
	done <commands &&
	test_cmp /dev/null wrong
'

test_that 'values of options are words in -h, and arguments complete to something' '
	: >wrong &&
	while read -r c; do
		git agent $c -h |
			grep -E "^    .* --[a-z-]+ (HOW|FORMAT|MODE|WHAT|WHICH) " |
			sed "s/^/$c: write the words themselves, as in on|off: /" >>wrong
		# it takes arguments, so something, or files, has to complete them
		case $(git agent $c -h | sed -n "s/^usage: git agent $c//; 1s/\[\(-[^]]*\)\]//gp") in
		*[A-Z]*) (cd r && git agent --complete $c "" | grep -q .) || echo "$c: .words are missing" >>wrong ;;
		esac
	done <commands &&
	test_cmp /dev/null wrong
'

# a full stop is where the cursor is
cat >lines <<\EOF
git agent l.
git agent land t.
git agent land t x -- .
git agent resume t.
git agent drop t.
git agent drop --restore o.
git agent review --format=.
git agent review --format ma.
git agent start --dirty=.
git agent start --base=to.
git agent start --quiet --nam.
git agent push .
git agent home .
git agent home diff t.
git agent home import cla.
git agent guard o.
git agent rules e.
git agent help dr.
git agent hel.
git agent -c limits.mem.
git agent -c dirty=refuse diff --h.
EOF

# where files are, all of them are the shell's
cat >want <<\EOF
land list logs
tab tub
files
tab tub
tab tub
old-20260101T000000
json markdown text
markdown
carry ignore refuse
topic
--name=
near tab tub
diff import reset show
tab tub
claude
off on
explain
drop
help
limits.memory=
--held
EOF

for shell in bash zsh fish; do
	prereq=$(echo $shell | tr a-z A-Z)
	test_that $prereq "$shell completes commands, options, sessions and values" '
		sed "s/[.]\$//" lines | completes '$shell' >got.'$shell' &&
		sed -E "s/--[a-z]+=([a-z])/\1/g; 3s/.*files.*/files/" got.'$shell' >got &&
		case '$shell' in bash) sed 3s/.*// want ;; *) cat want ;; esac | test_cmp - got
	'
	test_that $prereq "$shell completes the options of commands, and programs to be run" '
		mkdir -p bin &&
		echo "#!/bin/sh" >bin/an-agent &&
		chmod +x bin/an-agent &&
		PATH=$HOME/bin:$PATH &&
		export PATH &&
		{
			printf "%s\n" "git agent start an-ag" "git agent resume tab an-ag" "git agent start -q -- gi" &&
			printf "%s\n" "git agent start cl" "git agent start --" "git agent land --"
		} | completes '$shell' >got &&
		test_prints "an-agent\nan-agent" sed -n 1,2p got &&
		sed -n 3p got | grep -w git &&
		sed -n 4p got | grep -w claude &&
		for c in start land; do
			git agent --complete $c -- | sed "s/	.*//" | LC_ALL=C sort | paste -sd " " -
		done >want-options &&
		sed -n 5,6p got | test_cmp want-options -
	'
done

test_that 'outside of repositories, or for unknown words, nothing is completed and nothing fails' '
	mkdir none &&
	cd none &&
	for words in "land" "push" "nowhere" "list x" "home diff"; do
		git agent --complete $words "" || exit 1
	done >../out 2>&1 &&
	test_cmp /dev/null ../out &&
	git agent --complete start --base= >../out 2>&1 &&
	test_cmp /dev/null ../out &&
	git agent --complete >../out 2>&1 &&
	test_cmp /dev/null ../out
'

test_done
