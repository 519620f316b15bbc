#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='package managers from npm: their caches are in the agents'\'' home, and none is in the project'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
. "$TEST_SRCDIR/tests/agents/lib.sh"
need REGISTRY "npm_config_cache=$TRASH/npm timeout 60 npm view pnpm version" "npm or its registry cannot be reached"
test_enter p &&
printf 'node_modules\n' >.gitignore &&
mkdir -p packages/one &&
printf 'packages:\n  - packages/*\n' >pnpm-workspace.yaml &&
echo '{"name": "all", "private": true, "workspaces": ["packages/*"]}' >package.json &&
echo '{"name": "one", "version": "1.0.0", "dependencies": {"is-number": "7.0.0"}}' >packages/one/package.json &&
test_commit all &&
test_settings "tools: [~/managers]\n" || exit 1

# install PACKAGE@VERSION: $bin are its programs then, for the node of the system
install() {
	mkdir -p "$HOME/managers/$1" &&
	(cd "$HOME/managers/$1" && npm_config_cache=$TRASH/npm npm install --silent --no-fund --no-audit "$1") &&
	bin=$HOME/managers/$1/node_modules/.bin
}
at_top='[^/]*\(lock\|yaml\|json\|yml\)\|^.gitignore\|install-state'
# fetches PACKAGE PLACE COMMAND...: the store is there, and what the session leaves is at most a lock file
fetches() {
	place=$2
	install "$1" &&
	shift 2 &&
	git agent start -q --name m -- sh -c "PATH=$bin:\$PATH; $* && npm config get cache" >../out 2>../err &&
	test -d "$HOME/aihome/$place" &&
	! grep -i "unknown env config" ../out ../err &&
	git agent show m >/dev/null &&
	! git ls-tree -r --name-only agent/m | grep -v "^packages/one/package.json\|^$at_top" &&
	git agent drop --force m
}

for v in 9 10 latest; do
	test_that "pnpm@$v keeps its store in the agents' home" "
		rm -rf '$HOME/aihome/.cache/pnpm-store' &&
		fetches pnpm@$v .cache/pnpm-store 'pnpm install && pnpm store path'
	"
done

test_that 'yarn 1 and 4, bun and npm keep their caches in the home of the agents' '
	# of root yarn 1 has the cache in /usr/local, or in /tmp
	{ test "$(id -u)" = 0 || fetches yarn@1 .cache/yarn "yarn install --no-lockfile"; } &&
	fetches @yarnpkg/cli-dist@4 .yarn/berry/cache "YARN_NODE_LINKER=node-modules yarn install --no-immutable" &&
	fetches bun .bun/install/cache "bun install" &&
	fetches npm .npm/_cacache "npm install --no-audit --no-fund"
'

test_done
