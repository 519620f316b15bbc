# SPDX-License-Identifier: MIT
#
# What flagcommits says of commits on standard input, as flags per 100 commits. Commits that touch
# nothing but manifests, lock files and what a release writes, and those of more than 30 paths, are
# counted on their own: a dependency that changes is to be flagged every time.
#
# A line for each group of each NAME=FILE, one for all of them where they are several, and of all
# the rules that fire most. With --goal, what is above it in ordinary commits is said, and fails.
#
#     table.py [--goal=CRITICAL,HIGH] [--rules=N] NAME=FILE...
import collections, fnmatch, sys

SEVERITIES = ("critical", "high", "medium", "low")
LARGE = 30
DEPENDENCIES = """package.json package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml pnpm-workspace.yaml
    Cargo.toml Cargo.lock go.mod go.sum go.work.sum pyproject.toml setup.py setup.cfg requirements*.txt requirements*.in
    poetry.lock uv.lock Pipfile Pipfile.lock Gemfile Gemfile.lock *.gemspec composer.json composer.lock pom.xml
    build.gradle build.gradle.kts libs.versions.toml gradle.lockfile *.csproj packages.lock.json mix.exs mix.lock
    .pre-commit-config.yaml CHANGELOG* CHANGES* History.md HISTORY* RELEASE* version* VERSION""".split()


def dependency(path):
    return "requirements/" in path or any(fnmatch.fnmatchcase(path.split("/")[-1], p) for p in DEPENDENCIES)


class Group:
    def __init__(self):
        self.commits, self.flags, self.rules = 0, collections.Counter(), collections.Counter()

    def per_100(self, severity):
        return 100 * self.flags[severity] / max(self.commits, 1)


NAMES = ("ordinary", "dependencies", "large")


def read(lines):
    groups = {name: Group() for name in NAMES}
    paths, flags = [], []

    def close():
        if paths:
            g = groups["large" if len(paths) > LARGE else "dependencies" if all(map(dependency, paths)) else "ordinary"]
            g.commits += 1
            g.flags.update(f[0] for f in flags)
            g.rules.update(f[:2] for f in flags)
        paths.clear(), flags.clear()

    for line in lines:
        kind, rest = line.rstrip("\n").split(" ", 1)
        if kind == "commit":
            close()
        elif kind == "path":
            paths.append(rest)
        else:
            flags.append(tuple(rest.split("\t", 1)[0].split(" ", 2)))
    close()
    return groups


def show(name, groups):
    for group in NAMES:
        g = groups[group]
        if g.commits:
            print("# %-20s %-13s %6d" % (name, group, g.commits), *("%9.1f" % g.per_100(s) for s in SEVERITIES))


def main():
    options = dict(a[2:].split("=") for a in sys.argv[1:] if a.startswith("--"))
    files = [a.split("=", 1) for a in sys.argv[1:] if not a.startswith("--")]
    everything = {name: Group() for name in NAMES}
    print("# %-20s %-13s %6s" % ("flags per 100", "", "commits"), *("%9s" % s for s in SEVERITIES))
    for name, path in files:
        with open(path, encoding="utf-8") as f:
            groups = read(f)
        for group, g in groups.items():
            everything[group].commits += g.commits
            everything[group].flags.update(g.flags)
            everything[group].rules.update(g.rules)
        show(name, groups)
    if len(files) > 1:
        show("all of these", everything)
    ordinary = everything["ordinary"]
    for (severity, rule), n in ordinary.rules.most_common(int(options.get("rules", 0))):
        print("#     %-9s %-24s %6.1f" % (severity, rule, 100 * n / ordinary.commits))
    if "goal" not in options:
        return 0
    above = [s for s, goal in zip(SEVERITIES, map(float, options["goal"].split(","))) if ordinary.per_100(s) > goal]
    for s in above:
        print("# too many that are %s: %.1f" % (s, ordinary.per_100(s)))
    return bool(above) or ordinary.commits < 100


if __name__ == "__main__":
    sys.exit(main())
