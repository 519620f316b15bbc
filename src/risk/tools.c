/* SPDX-License-Identifier: MIT
 *
 * For tools that hooks call: the rules about files that a tool reads or runs.
 */
#include <string.h>

#include "internal.h"

#define NODE "npm-manifest npm-manifest-lifecycle npmrc node-lockfiles lockfile-swap pnpm " \
	     "yarn-classic yarn-berry pnp-loader node-build-config "
#define PYTHON "python-build python-tool-config py-autoload "
#define RUBY "ruby-deps ruby-autoload "

static const struct {
	const char *names, *rules;
} tools[] = {
	{ "make gmake", "make" },
	{ "cmake ctest", "cmake" },
	{ "meson ninja", "meson-ninja" },
	{ "just task mage invoke scons", "just-task-mage" },
	{ "npm npx yarn pnpm node nx turbo lerna jest vitest mocha", NODE },
	{ "bun bunx", NODE "bun-deno" },
	{ "deno", "bun-deno" },
	{ "eslint prettier stylelint", "node-lint-config npm-manifest" },
	{ "tsc", "ts-plugins npm-manifest" },
	{ "lint-staged", NODE "lint-staged node-lint-config" },
	{ "commitlint", "commit-msg-linters npm-manifest" },
	{ "cargo", "cargo cargo-config cargo-deps rust-toolchain" },
	{ "rustfmt", "rust-toolchain" },
	{ "go", "go-build go-deps go-generate" },
	{ "golangci-lint", "go-build" },
	{ "python python3 pytest hatch", PYTHON },
	{ "tox pip pip3 poetry uv pipenv", PYTHON "python-deps" },
	{ "nox", PYTHON "python-deps just-task-mage" },
	{ "pylint flake8 mypy ruff isort pyright", "python-tool-config" },
	{ "black", "python-build" },
	{ "pre-commit", "pre-commit python-tool-config" },
	{ "prek", "pre-commit" },
	{ "lefthook", "lefthook" },
	{ "overcommit", "overcommit" },
	{ "bundle rake rspec rails", RUBY },
	{ "rubocop", RUBY "editors-misc" },
	{ "composer php phpunit phpstan", "php-deps php-autoload" },
	{ "mvn mvnw", "maven jvm-deps" },
	{ "gradle gradlew", "gradle wrapper-gradle jvm-deps" },
	{ "sbt mill lein", "jvm-others" },
	{ "ant", "ant-ivy" },
	{ "dotnet msbuild", "dotnet nuget" },
	{ "mix rebar3", "beam other-deps" },
	{ "swift xcodebuild", "swift-xcode" },
	{ "dart flutter", "dart-flutter-android other-deps" },
	{ "stack cabal dune", "haskell-ocaml" },
	{ "zig nim", "zig-nim-d-v" },
	{ "bazel bazelisk", "bazel bazelisk" },
	{ "buck2 pants", "buck-pants-please" },
	{ "nix nix-shell nix-build", "nix" },
	{ "devbox pixi", "devbox-flox-etc" },
	{ "docker docker-compose podman", "dockerfile compose" },
	{ "vagrant", "vagrant-vm" },
	{ "terraform tofu ansible-playbook ansible-lint tflint", "infra-as-code" },
	{ "helm", "ci-k8s-gitops" },
	{ "Rscript julia", "r-julia-stats" },
	{ "perl prove", "perl-autoload" },
	{ "mise", "mise" },
	{ "direnv", "direnv" },
	{ "gitlint cz", "commit-msg-linters" },
	{ "cog", "hook-managers-misc" },
	{ "semgrep checkov gitleaks trivy", "scanner-config" },
	{ "mkdocs sphinx-build", "docs-build" },
};

const char *ga_tool_rules(const char *word)
{
	for (size_t i = 0; i < GA_NELEMS(tools); i++)
		if (ga_has_word(tools[i].names, word))
			return tools[i].rules;
	return NULL;
}

bool ga_tool_runs_tests(const char *word, const char *next)
{
	return ga_has_word("pytest tox nox rspec phpunit jest vitest mocha ctest prove", word) ||
	       (next && ga_has_word("test t check verify", next) && strcmp(word, "git") != 0);
}
