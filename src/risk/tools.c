/* SPDX-License-Identifier: MIT
 *
 * For tools that hooks call: the rules about files that a tool reads or runs.
 */
#include <string.h>

#include "internal.h"

#define NODE "npm-manifest npm-manifest-lifecycle npmrc node-lockfiles lockfile-swap pnpm " \
	     "yarn-classic yarn-berry pnp-loader node-build-config "
#define PYTHON "python-build python-tool-config py-autoload "
#define GRADLE "gradle wrapper-gradle jvm-deps"
#define MAVEN "maven jvm-deps"
#define RUBY "ruby-deps ruby-autoload "

static const struct {
	const char *tool, *rules;
} tools[] = {
	{ "make", "make" }, { "gmake", "make" }, { "cmake", "cmake" },
	{ "ctest", "cmake" }, { "meson", "meson-ninja" }, { "ninja", "meson-ninja" },
	{ "just", "just-task-mage" }, { "task", "just-task-mage" },
	{ "mage", "just-task-mage" }, { "invoke", "just-task-mage" },
	{ "scons", "just-task-mage" },
	{ "npm", NODE }, { "npx", NODE }, { "yarn", NODE }, { "pnpm", NODE },
	{ "node", NODE }, { "nx", NODE }, { "turbo", NODE }, { "lerna", NODE },
	{ "bun", NODE "bun-deno" }, { "bunx", NODE "bun-deno" }, { "deno", "bun-deno" },
	{ "eslint", "node-lint-config npm-manifest" },
	{ "prettier", "node-lint-config npm-manifest" },
	{ "stylelint", "node-lint-config npm-manifest" },
	{ "tsc", "ts-plugins npm-manifest" }, { "jest", NODE }, { "vitest", NODE },
	{ "mocha", NODE }, { "lint-staged", NODE "lint-staged node-lint-config" },
	{ "commitlint", "commit-msg-linters npm-manifest" },
	{ "cargo", "cargo cargo-config cargo-deps rust-toolchain" },
	{ "rustfmt", "rust-toolchain" },
	{ "go", "go-build go-deps go-generate" }, { "golangci-lint", "go-build" },
	{ "python", PYTHON }, { "python3", PYTHON }, { "pytest", PYTHON },
	{ "tox", PYTHON "python-deps" }, { "nox", PYTHON "python-deps just-task-mage" },
	{ "pip", PYTHON "python-deps" }, { "pip3", PYTHON "python-deps" },
	{ "poetry", PYTHON "python-deps" }, { "uv", PYTHON "python-deps" },
	{ "pipenv", PYTHON "python-deps" }, { "hatch", PYTHON },
	{ "pylint", "python-tool-config" }, { "flake8", "python-tool-config" },
	{ "mypy", "python-tool-config" }, { "ruff", "python-tool-config" },
	{ "black", "python-build" }, { "isort", "python-tool-config" },
	{ "pyright", "python-tool-config" },
	{ "pre-commit", "pre-commit python-tool-config" }, { "prek", "pre-commit" },
	{ "lefthook", "lefthook" }, { "overcommit", "overcommit" },
	{ "bundle", RUBY }, { "rake", RUBY }, { "rspec", RUBY }, { "rails", RUBY },
	{ "rubocop", RUBY "editors-misc" },
	{ "composer", "php-deps php-autoload" }, { "php", "php-deps php-autoload" },
	{ "phpunit", "php-deps php-autoload" }, { "phpstan", "php-deps php-autoload" },
	{ "mvn", MAVEN }, { "mvnw", MAVEN }, { "gradle", GRADLE }, { "gradlew", GRADLE },
	{ "sbt", "jvm-others" }, { "mill", "jvm-others" }, { "lein", "jvm-others" },
	{ "ant", "ant-ivy" },
	{ "dotnet", "dotnet nuget" }, { "msbuild", "dotnet nuget" },
	{ "mix", "beam other-deps" }, { "rebar3", "beam other-deps" },
	{ "swift", "swift-xcode" }, { "xcodebuild", "swift-xcode" },
	{ "dart", "dart-flutter-android other-deps" },
	{ "flutter", "dart-flutter-android other-deps" },
	{ "stack", "haskell-ocaml" }, { "cabal", "haskell-ocaml" },
	{ "dune", "haskell-ocaml" }, { "zig", "zig-nim-d-v" }, { "nim", "zig-nim-d-v" },
	{ "bazel", "bazel bazelisk" }, { "bazelisk", "bazel bazelisk" },
	{ "buck2", "buck-pants-please" }, { "pants", "buck-pants-please" },
	{ "nix", "nix" }, { "nix-shell", "nix" }, { "nix-build", "nix" },
	{ "devbox", "devbox-flox-etc" }, { "pixi", "devbox-flox-etc" },
	{ "docker", "dockerfile compose" }, { "docker-compose", "compose dockerfile" },
	{ "podman", "dockerfile compose" }, { "vagrant", "vagrant-vm" },
	{ "terraform", "infra-as-code" }, { "tofu", "infra-as-code" },
	{ "ansible-playbook", "infra-as-code" }, { "ansible-lint", "infra-as-code" },
	{ "tflint", "infra-as-code" }, { "helm", "ci-k8s-gitops" },
	{ "Rscript", "r-julia-stats" }, { "julia", "r-julia-stats" },
	{ "perl", "perl-autoload" }, { "prove", "perl-autoload" },
	{ "mise", "mise" }, { "direnv", "direnv" }, { "gitlint", "commit-msg-linters" },
	{ "cz", "commit-msg-linters" }, { "cog", "hook-managers-misc" },
	{ "semgrep", "scanner-config" }, { "checkov", "scanner-config" },
	{ "gitleaks", "scanner-config" }, { "trivy", "scanner-config" },
	{ "mkdocs", "docs-build" }, { "sphinx-build", "docs-build" },
};

const char *ga_tool_rules(const char *word)
{
	for (size_t i = 0; i < GA_NELEMS(tools); i++)
		if (!strcmp(tools[i].tool, word))
			return tools[i].rules;
	return NULL;
}

bool ga_tool_runs_tests(const char *word, const char *next)
{
	static const char *const always[] = { "pytest", "tox", "nox", "rspec", "phpunit", "jest",
					      "vitest", "mocha", "ctest", "prove" };

	for (size_t i = 0; i < GA_NELEMS(always); i++)
		if (!strcmp(word, always[i]))
			return true;
	return next && (!strcmp(next, "test") || !strcmp(next, "t") || !strcmp(next, "check") ||
			!strcmp(next, "verify")) && strcmp(word, "git") != 0;
}
