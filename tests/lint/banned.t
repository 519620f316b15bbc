#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Functions that the code must not call, and what it calls in their place.
cd "${TEST_SRCDIR:?}" || exit 1

. tests/lib/lint.sh

# all code as "path:line: text", without comments and the content of strings
code=$(awk '
	FNR == 1 { inside = 0 }
	{
		s = $0
		gsub(/\\\\/, "", s); gsub(/\\"/, "", s); gsub(/"[^"]*"/, "\"\"", s)
		out = ""
		while (s != "") {
			if (inside) {
				i = index(s, "*/")
				if (!i) { s = ""; break }
				s = substr(s, i + 2); inside = 0
			} else {
				i = index(s, "/*")
				if (!i) { out = out s; break }
				out = out substr(s, 1, i - 1)
				s = substr(s, i + 2); inside = 1
			}
		}
		sub(/\/\/.*/, "", out)
		if (out ~ /[A-Za-z0-9_][ \t]*\(/) print FILENAME ":" FNR ": " out
	}' $(find src include -name "*.[ch]"))

# never NAMES PLACES REASON: the code of src and include calls none of the functions, except in PLACES
# (a pattern of paths, or -)
never() {
	result "$1: $3" "$(printf '%s\n' "$code" | grep -E "(^|[^A-Za-z0-9_])($1)[[:space:]]*\\(" | grep -v -E "^($2)")"
}

never 'strcpy|strcat|stpcpy|strncpy|strncat|sprintf|vsprintf|gets' - 'ga/base/buf.h'
never 'strtol|strtoul|strtoll|strtoull|strtod|atoi|atol|atoll|sscanf' 'src/init/|src/probe/' 'ga/base/parse.h'
never 'system|popen|execlp|execvp|execvpe' 'src/init/' 'ga/sys/process.h'
never 'tmpnam|tempnam|mktemp|tmpfile' - 'ga_write_atomic'
never 'strtok|localtime|gmtime|ctime|asctime' - 'hidden state'
never 'alloca' - 'unbounded stack'
never 'getenv|secure_getenv|setenv|unsetenv|putenv' 'src/cli/|src/init/' 'the environment is read by the command line'
never 'malloc|calloc|realloc|reallocarray|strdup|strndup' 'src/base/alloc\.c|src/init/' 'ga/base/alloc.h'
prints='src/cli/|src/seccomp/|src/stage/|src/init/|src/probe/'
exits='src/sys/process\.c|src/net/|src/run/|src/capture/|src/start/watch\.c'
never 'exit|_exit|printf|puts|putchar|perror' "$prints|$exits" 'a library neither prints nor exits'
never 'printf|puts|putchar|perror' "$prints" 'a library does not print'
never 'pipe|accept|dup|epoll_create|inotify_init|creat' 'src/init/' 'a program started later would inherit it'

echo "1..$count"
exit $failed
