#!/bin/sh
# SPDX-License-Identifier: MIT
#
# make.sh [PICTURE]: docs/picture/session.svg, of a session in a scratch repository. A script plays
# the agent; everything else is as it comes out. `make picture` runs this.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
picture=$(realpath "${1:-$here/session.svg}")
for python in python3 /usr/bin/python3 ''; do
	! "$python" -c 'import pyte' 2>/dev/null || break
done
if [ -z "$python" ]; then
	echo "make.sh: the Python module pyte is needed (Debian: python3-pyte)" >&2
	exit 1
fi
# shellcheck source=tests/lib/scratch.sh
. "$here/../../tests/lib/scratch.sh"
scratch=$(mktemp -d "$(scratch_base)/git-agent-picture-XXXXXX")
trap 'chmod -R u+rwX "$scratch" && rm -rf "$scratch"' EXIT
HOME=$scratch/home
PATH=$HOME/.local/bin:$PATH
export HOME PATH GIT_CONFIG_NOSYSTEM=1 GIT_PAGER=cat TERM=xterm-256color LC_ALL=C.UTF-8
# of somebody who has used it before: nothing is made, and the agent is logged in
mkdir -p "$HOME/shop" "$HOME/.local/bin" "$HOME/aihome/.claude"
chmod 700 "$HOME/aihome"
echo '{}' >"$HOME/aihome/.claude/.credentials.json"
git config --global user.name 'Demo User'
git config --global user.email demo@example.com
git config --global init.defaultBranch main
cat >"$HOME/.local/bin/claude" <<'EOF_AGENT'
#!/bin/sh
printf '\033[36m> \033[0mCharge tax, and add a test\n'
printf 'tax = 19\n' >>config.ini && git commit -qam 'Charge tax'
printf '\033[32m*\033[0m Edited config.ini, committed\n'
mkdir -p tests && printf 'grep -q tax config.ini\n' >tests/tax.sh
printf 'export API=https://api.example.com\n' >.envrc
printf '\033[32m*\033[0m Wrote tests/tax.sh and .envrc\n'
EOF_AGENT
chmod +x "$HOME/.local/bin/claude"
cd "$HOME/shop"
git init -q && echo 'price = 10' >config.ini && git add -A && git commit -qm 'A small shop'
cat >"$scratch/type" <<'EOF_TYPE'
run() { printf '\033[1m$ %s\033[0m\n' "$*"; "$@"; }
run git agent start claude
run git agent review --stat
run git agent review --reject claude-1 .envrc
run git agent land
run git log --oneline --graph
EOF_TYPE
"$python" "$here/record.py" 60x100 "$scratch/cast" sh "$scratch/type"
"$python" "$here/svg.py" "$scratch/cast" >"$scratch/svg"
cp "$scratch/svg" "$picture"
