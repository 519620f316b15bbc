# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For tests of resuming.

# repo_with_ignored_directories: the repository r, entered, in which two ignored directories have files
repo_with_ignored_directories() {
	git init -q r &&
	cd r &&
	echo a >a &&
	mkdir -p d/e &&
	echo f >d/e/f &&
	printf "out/\nd/e/cache/\n*.log\n" >.gitignore &&
	git add -A &&
	git commit -qm base &&
	mkdir out d/e/cache &&
	echo host >out/host &&
	echo host >d/e/cache/host
}
