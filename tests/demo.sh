#!/bin/sh
# SPDX-License-Identifier: MIT
#
# shellcheck disable=SC2016,SC2034 # what must hold is evaluated later
#
# `make demo`: a scratch repository, a scripted agent in a real sandbox, review,
# landing. Exits non-zero if any step did not do what it says; the scratch
# directory is kept then.
set -eu

# shellcheck source=tests/lib/scratch.sh
. "$(dirname "$0")/lib/scratch.sh"
scratch=$(mktemp -d "$(scratch_base)/git-agent-demo-XXXXXX")
scratch=$(cd "$scratch" && pwd -P)
finish() {
	status=$?
	if [ "$status" = 0 ]; then
		chmod -R u+rwX "$scratch" && rm -rf "$scratch"
	else
		echo "demo: failed; what there is lies in $scratch" >&2
	fi
}
trap finish EXIT
for var in $(env | sed -n -e 's/^\(GIT_[A-Z0-9_]*\)=.*/\1/p' -e 's/^\(XDG_[A-Z0-9_]*\)=.*/\1/p'); do
	unset "$var"
done
HOME=$scratch/home
PATH=$HOME/.local/bin:$PATH
export HOME PATH GIT_CONFIG_NOSYSTEM=1 GIT_PAGER=cat
umask 022
mkdir -p "$HOME/src/shop" "$HOME/.local/bin" "$HOME/.ssh"
echo 'a private key' >"$HOME/.ssh/id_ed25519"
git config --global user.name 'Demo User'
git config --global user.email demo@example.com
git config --global init.defaultBranch main

if [ -t 1 ]; then
	bold=$(printf '\033[1m') plain=$(printf '\033[0m')
else
	bold='' plain=''
fi
step() { printf '\n%s# %s%s\n' "$bold" "$*" "$plain"; }
# Show a command, then run it.
run() {
	printf '$'
	for word; do
		case $word in
		*[!A-Za-z0-9_./=:@-]*) printf " '%s'" "$word" ;;
		*) printf ' %s' "$word" ;;
		esac
	done
	printf '\n'
	"$@"
}
# The claim in words, and the commands that hold if it is true.
must() {
	if eval "$2"; then
		echo "  ok: $1"
	else
		echo "demo: not so: $1" >&2
		exit 1
	fi
}
in_branch() { git cat-file -e "agent/demo:$1" 2>/dev/null; }

step "A repository with tracked, uncommitted, untracked and ignored files"
cd "$HOME/src/shop"
git init -q
printf 'price = 10\ncurrency = EUR\n\n\n\n\n\n\n# end\n' >config.ini
echo 'tax = 0' >tax.ini
printf '#!/bin/sh\ncat config.ini\n' >shop.sh
chmod +x shop.sh
echo 'to be removed' >old.txt
echo 'a guide' >guide.txt
echo 'to do' >todo.txt
printf 'node_modules/\n*.log\n' >.gitignore
git add -A
git commit -qm 'A small shop'
sed -i 's/^# end/# end, edited by me/' config.ini
echo 'buy milk' >>todo.txt
echo 'a thought' >notes.txt
mkdir -p node_modules/left-pad
echo 'module.exports = 1' >node_modules/left-pad/index.js
echo 'yesterday' >debug.log
run git status --short

step "An agent: edits, deletes, renames, commits some of it, adds an .envrc"
cat >"$HOME/.local/bin/demo-agent" <<'EOF_AGENT'
#!/bin/sh
set -e
cat todo.txt notes.txt                           # sees uncommitted work
test ! -e ~/.ssh                                 # sees nothing of the home
sed -i 's/^tax = 0/tax = 19/' tax.ini
git commit -qm 'Charge tax' tax.ini
sed -i 's/^price = 10/price = 12/' config.ini    # has an edit that is not committed
git mv guide.txt manual.txt
git commit -qm 'Rename the guide'
rm old.txt
mkdir src && echo 'int main(void) { return 0; }' >src/main.c
echo 'export API=https://api.example.com' >.envrc
cat node_modules/left-pad/index.js               # sees ignored files
echo 'changed inside' >node_modules/left-pad/index.js
echo 'today' >today.log
EOF_AGENT
chmod +x "$HOME/.local/bin/demo-agent"
run cat "$HOME/.local/bin/demo-agent"
echo
git status --porcelain >"$scratch/before"
base=$(git rev-parse HEAD)
run git agent start --name demo -m 'The rest of the work' demo-agent

step "Nothing of it is in the working tree; all of it is on refs"
run git log --oneline --graph --decorate --branches
git status --porcelain >"$scratch/after"
must "the working tree is as it was" 'cmp "$scratch/before" "$scratch/after"'
must "the deleted file is still there" '[ "$(cat old.txt)" = "to be removed" ]'
must "so is the dependency the agent changed" \
	'[ "$(cat node_modules/left-pad/index.js)" = "module.exports = 1" ]'
must "the agent's two commits are on the branch, and one with the rest" '
	[ "$(git log --format=%s "$base..agent/demo" | tr "\n" ";")" = \
		"The rest of the work;Rename the guide;Charge tax;" ]'
must "the branch has the agent's edit, and nothing of the file with mine" '
	git cat-file blob agent/demo:tax.ini | grep -q "^tax = 19" && git diff --quiet "$base" agent/demo -- config.ini'
must "deleted, renamed and new files are as the agent left them" \
	'! in_branch old.txt && ! in_branch guide.txt && in_branch manual.txt && in_branch src/main.c'
must "no untracked or ignored file of mine is on the branch" \
	'! in_branch notes.txt && ! in_branch debug.log && ! in_branch today.log && ! in_branch node_modules'
must "the .envrc is held from it" \
	'! in_branch .envrc && git cat-file -e refs/agent/demo/held:.envrc'

step "The review"
run git agent list
run git agent review demo
git agent review --format=json demo >"$scratch/review.json"
must "the review names the .envrc as held" \
	'grep -q "\"path\": \"\\.envrc\"" "$scratch/review.json" && grep -q "\"held\": true" "$scratch/review.json"'
must "and leftovers" \
	'git agent review demo | grep -q "today\\.log" && git agent review demo | grep -q "node_modules"'

step "Landing is refused while the .envrc has no verdict"
status=0
run git agent land demo || status=$?
must "exit status 3, and nothing was merged" '[ "$status" = 3 ] && [ "$(git rev-parse HEAD)" = "$base" ]'

step "It is read and accepted; the branch lands, and what is on no branch comes as an uncommitted change"
run git agent review --accept demo .envrc
run git agent land demo
run git log --graph --oneline --decorate --branches
must "HEAD is a merge of the branch" '[ "$(git rev-parse HEAD^2)" = "$(git rev-parse agent/demo)" ]'
must "config.ini has both edits, uncommitted" 'grep -q "^price = 12" config.ini && grep -q "edited by me" config.ini'
must "the rest arrived" \
	'[ ! -e old.txt ] && [ ! -e guide.txt ] && [ -e manual.txt ] && [ -e src/main.c ] && [ -e .envrc ]'
must "my uncommitted work is where it was" '
	[ "$(git status --porcelain | LC_ALL=C sort | tr "\n" ";")" = " M config.ini; M todo.txt;?? notes.txt;" ] &&
	grep -q "buy milk" todo.txt && [ "$(cat notes.txt)" = "a thought" ]'
must "the repository is sound" 'git fsck --strict --no-dangling --no-progress'
run git agent list
must "the session is known to have landed" 'git agent list | grep -q "^demo .*landed"'

step "Thrown away: the session, its branch and its refs"
run git agent drop demo
must "no ref of it is left" '[ -z "$(git for-each-ref refs/heads/agent refs/agent)" ]'

step "Done: every step did what it says"
