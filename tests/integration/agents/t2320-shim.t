#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='shims: an agent'\''s own name starts it in a sandbox'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

shims="$HOME/.local/share/git-agent/shims"
mkdir -p "$HOME/.local/bin" "$HOME/plain"
# an agent that says where it runs, with which arguments
cat >"$HOME/.local/bin/claude" <<\EOC
#!/bin/sh
printf '%s' "${GIT_AGENT_SESSION:-host}"
[ $# = 0 ] || printf ' <%s>' "$@"
echo
EOC
chmod +x "$HOME/.local/bin/claude"
cp "$HOME/.local/bin/claude" "$HOME/.local/bin/codex"
PATH=$HOME/.local/bin:$PATH
real=$PATH

test_that 'shim install writes shims of agents, prints a line for the profile, and changes nothing else' '
	git init -q r &&
	git -C r commit -q --allow-empty -m 1 &&
	touch .profile .bashrc &&
	test_shows "no shim" git agent shim status &&
	git agent shim install >out 2>err &&
	grep "^export PATH=$shims:\"[$]PATH\"$" out &&
	grep "^claude: " err &&
	grep "^codex: " err &&
	! grep gemini err &&
	test -x "$shims/claude" &&
	test ! -s .profile &&
	test ! -s .bashrc &&
	SHELL=/usr/bin/fish git agent shim install gemini >out &&
	grep "^fish_add_path --prepend --move $shims$" out &&
	git agent shim remove gemini &&
	test ! -e "$shims/gemini" &&
	git agent shim | grep "^claude  *not first for $HOME/.local/bin/claude$"
'

PATH=$shims:$PATH
test_that 'a shim starts a session with its arguments, and the shim is not in its PATH' '
	git agent shim install claude >none &&
	! grep . none &&
	git agent shim | grep "^claude  *in use" &&
	test "$(command -v claude)" = "$shims/claude" &&
	mkdir -p r/sub &&
	cd r/sub &&
	claude "a b" -- "" "*" "\$x" --quiet >../../out 2>/dev/null &&
	echo "claude-1 <--dangerously-skip-permissions> <a b> <--> <> <*> <\$x> <--quiet>" >../../want &&
	test_cmp ../../want ../../out &&
	test_prints "direct <--dangerously-skip-permissions> <x>" git agent start -q -n direct claude x &&
	test "$(git agent start -q -- sh -c "echo \$PATH" | grep -c "$shims")" = 0
'

test_that 'outside of repositories, in sessions, for --version and when off a shim runs the agent' '
	(cd plain && test "$(claude x)" = "host <x>") &&
	cd r &&
	test "$(claude --version)" = "host <--version>" &&
	test "$(GIT_AGENT_SHIM=off claude y)" = "host <y>" &&
	test "$(GIT_AGENT_SESSION=s claude y)" = "s <y>" &&
	(cd .git && test "$(claude z)" = "host <z>") &&
	! git agent list | grep claude-2
'

test_that 'a shim finds no other shim, by whatever name' '
	ln -s "$shims" link &&
	mkdir -p copy &&
	cp "$shims/claude" copy/ &&
	(
		PATH=$HOME/link/:$HOME/copy:$shims/:$shims:$real &&
		cd plain &&
		test "$(claude x)" = "host <x>" &&
		cd ../r &&
		test "$(claude 2>/dev/null | cut -c-7)" = claude-
	) &&
	(
		PATH=$shims:/usr/bin:/bin &&
		cd plain &&
		test_fails 127 "not found on PATH" claude
	)
'

test_that 'GT-20: a shim uses no directory of PATH that is relative' '
	mkdir -p r/bin &&
	printf "#!/bin/sh\necho planted\n" >r/claude &&
	cp r/claude r/bin/claude &&
	chmod +x r/claude r/bin/claude &&
	test_when_finished "rm -r $HOME/r/claude $HOME/r/bin" &&
	cd r &&
	for before in . bin "" ./bin ..; do
		(
			PATH=$shims:$before:$real &&
			test "$(claude --version)" = "host <--version>" &&
			git agent shim status | grep "^claude  *in use"
		) &&
		(PATH=$shims:/usr/bin:/bin:$before && test_expect_code 127 claude --version) &&
		(PATH=$before:$shims:$real && git agent shim status | grep "^claude  *not first") || {
			echo "at $before"
			exit 1
		}
	done
'

test_that 'a shim that cannot start a session does not run the agent' '
	test_enter busy &&
	test_empty 1 &&
	touch .git/MERGE_HEAD &&
	test_fails 125 "merge is in progress" claude &&
	! grep host ../err
'

test_that 'shims are made for agents only, and other files are neither replaced nor removed' '
	test_expect_code 129 git agent shim install bash &&
	test_expect_code 129 git agent shim install ../x &&
	test_expect_code 129 git agent shim some &&
	test_expect_code 129 git agent shim status x &&
	echo mine >"$shims/aider" &&
	test_fails 2 "not a shim of git-agent" git agent shim install aider &&
	test_expect_code 1 git agent shim remove aider &&
	test_expect_code 1 git agent shim remove ../shims/claude &&
	grep -x mine "$shims/aider" &&
	git agent shim status --json >j &&
	python3 -c "
import json
a, b = json.load(open(\"j\"))
assert a[\"name\"] == \"claude\" and a[\"first\"] and a[\"real\"].endswith(\"/.local/bin/claude\"), a
assert b[\"name\"] == \"codex\", b" &&
	rm "$shims/aider" &&
	git agent shim remove &&
	test ! -e "$shims" &&
	test "$(cd r && claude x)" = "host <x>" &&
	PATH=/usr/bin:/bin test_expect_code 1 "$(command -v git-agent)" shim install
'

test_done
