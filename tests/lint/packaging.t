#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Builds elsewhere have all they need: every file of the repository is in the distribution, and the
# packages hold all that is installed.
cd "${TEST_SRCDIR:?}" || exit 1

. tests/lib/lint.sh

# tests/fuzz/corpus is distributed as a whole; files of use only in a clone are not
result 'every file is in Makefile.am' "$(
	find src include hooks docs tests -type f \( -name '*.[ch157]' -o -name '*.def' -o -name '*.t' -o -name '*.sh' \
		-o -name '*.py' -o -name '*.md' -o -name '*.txt' -o -name '*.awk' -o -path 'hooks/*' \
		-o -path 'docs/*' \) |
		awk 'FILENAME == "Makefile.am" { gsub("=", " "); for (i = 1; i <= NF; i++) listed[$i]; next }
			# made by the build
			/^src\/seccomp\/(program|nested)[.]c$|^src\/init\/filter.*[.]c$|-security[.]7$/ { next }
			/^tests\/(results|fuzz\/corpus|fuzz\/found)\// || /^docs\/packaging\/debian\// { next }
			# of which its program is made
			/^tests\/unit\/test-/ { sub(/[.]c$/, "") }
			/^hooks\// { sub(/^hooks\//, "") }
			!($0 in listed)' Makefile.am -
)"

# directories for Nix, so that it needs none of the user
nix=$(mktemp -d)
trap 'rm -rf "$nix"' EXIT
result 'the spec and the Nix expression parse, where there is what reads them' "$(
	! command -v rpmspec >/dev/null ||
		sed 's/@VERSION@/1/' docs/packaging/git-agent.spec | rpmspec -P /dev/stdin 2>&1 >/dev/null
	! command -v nix-instantiate >/dev/null ||
		NIX_STATE_DIR=$nix/state NIX_STORE_DIR=$nix/store NIX_LOG_DIR=$nix/log \
			nix-instantiate --parse docs/packaging/default.nix 2>&1 >/dev/null | grep -v '^warning: '
)"

# A machine of which only these programs are known, and on which nobody becomes root.
stubs=$(mktemp -d)
trap 'rm -rf "$nix" "$stubs"' EXIT
mkdir "$stubs/bin" "$stubs/src"
cp autogen.sh "$stubs/src"
for prog in cc make autoconf automake pkg-config git bwrap prove python3 pgrep pre-commit apt-get autoreconf; do
	printf '#!/bin/sh\n' >"$stubs/bin/$prog"
done
printf '#!/bin/sh\necho 1000\n' >"$stubs/bin/id"
printf '#!/bin/sh\necho configured\n' >"$stubs/src/configure"
chmod +x "$stubs"/bin/* "$stubs/src/configure"
for prog in awk cat dirname mkdir rm sh tr; do
	ln -s "$(command -v "$prog")" "$stubs/bin/$prog"
done
deps() { PATH=$stubs/bin "$stubs/src/autogen.sh" --deps 2>&1; }

result 'without root, only what the build cannot do without stops it' "$(
	[ "$(deps)" = "autogen.sh: not installed, for lack of root; tests that need it are skipped: strace
configured" ] || deps
	rm "$stubs/bin/bwrap"
	! deps >/dev/null || echo 'it continued without bwrap'
	[ "$(deps)" = "autogen.sh: root is needed to install: bubblewrap strace" ] || deps
)"

version=$(sed -n 's/^AC_INIT(\[git-agent\], \[\(.*\)\])/\1/p' configure.ac)
result 'packages have the version of configure.ac' "$(
	[ -n "$version" ] || echo "no version"
	grep -qF "version = \"$version\";" docs/packaging/default.nix ||
		echo "docs/packaging/default.nix is not of $version"
)"

result 'an RPM lists what is installed' "$(
	sed -n 's/^dist_\([a-z]*\)_DATA = .*/\1/p' Makefile.am | while read -r dir; do
		to=$(sed -n "s/^${dir}dir = \$(datadir)//p" Makefile.am)
		for f in $(sed -n "s/^dist_${dir}_DATA = //p" Makefile.am); do
			grep -qxF "%{_datadir}$to/${f##*/}" docs/packaging/git-agent.spec ||
				echo "$f is not in docs/packaging/git-agent.spec"
		done
	done
	for f in docs/man/*.[157]; do
		n=${f##*.}
		case $(basename "$f") in
		git-agent*.1 | git-agent*.7 | agentdev.yaml.5) ;;
		*) grep -q "man$n/${f##*/}" docs/packaging/git-agent.spec ||
			echo "$f is not in docs/packaging/git-agent.spec" ;;
		esac
	done
)"

echo "1..$count"
exit $failed
