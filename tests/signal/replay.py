# SPDX-License-Identifier: MIT
#
# What reviewers of real projects would be asked: the rules on the newest commits of each repository of a
# folder, on a host without hooks, and with the hooks that the repository configures itself.
#
#     replay.py FLAGCOMMITS FOLDER [--commits=N] [--rules=N] [--goal]
#
# Of 100 commits: how many have a critical flag, a high one, something held (with hooks as well), what share
# of sessions of five commits needs a verdict, and how many of the reasons say nothing of the change itself.
import collections
import os
import re
import subprocess
import sys
import tempfile

GOALS = {"high": (12, 25), "critical": (0.5, 2), "held": (None, 3), "sessions": (42, None), "fixed": (None, 15)}
HOOKS = ("pre-commit", "commit-msg", "prepare-commit-msg", "pre-push", "post-merge", "post-checkout", "post-commit")


def git(repo, *args):
    return subprocess.run(["git", "-C", repo, *args], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=False).stdout.decode("utf-8", "replace")


def put(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(path, 0o755)


def has(repo, *names):
    return any(os.path.lexists(os.path.join(repo, n)) for n in names)


def install_hooks(repo):
    """What the set-up of the project's developers installs. Returns its name."""
    hooks = os.path.join(repo, ".git/hooks")
    os.makedirs(hooks, exist_ok=True)
    for directory in (".githooks", ".git-hooks", ".husky", "githooks"):
        if any(has(repo, directory + "/" + h) for h in HOOKS):
            git(repo, "config", "core.hooksPath", directory + ("/_" if directory == ".husky" else ""))
            return directory
    if has(repo, "lefthook.yml", ".lefthook.yml", "lefthook.yaml"):
        for h in HOOKS:
            put(os.path.join(hooks, h), '#!/bin/sh\nlefthook run "%s" "$@"\n' % h)
        return "lefthook"
    if has(repo, ".pre-commit-config.yaml"):
        put(os.path.join(hooks, "pre-commit"), '#!/usr/bin/env bash\nexec pre-commit hook-impl '
            '--config=.pre-commit-config.yaml --hook-type=pre-commit --hook-dir "$HERE" -- "$@"\n')
        return "pre-commit"
    if "simple-git-hooks" in git(repo, "show", "HEAD:package.json"):
        put(os.path.join(hooks, "pre-commit"), "#!/bin/sh\nnpx lint-staged\n")
        return "simple-git-hooks"
    return ""


def read(output):
    commits = []
    for line in output.splitlines():
        kind, rest = line.split(" ", 1)
        if kind == "commit":
            commits.append((rest.split(" ", 1)[0], []))
        elif kind == "flag":
            what, reason = rest.split("\t", 1)
            commits[-1][1].append((*what.split(" ", 2), reason))
    return commits


def run(flagcommits, repo, count, *host):
    done = subprocess.run([flagcommits, repo, git(repo, "rev-parse", "HEAD").strip(), str(count), *host],
                          stdout=subprocess.PIPE, check=True)
    return read(done.stdout.decode("utf-8", "replace"))


def share(commits, severities):
    return 100 * sum(any(f[0] in severities for f in flags) for _, flags in commits) / max(len(commits), 1)


def sessions(commits):
    """Share of five commits in a row of which one has a flag that needs a verdict."""
    needs = [any(f[0] in ("high", "critical") for f in flags) for _, flags in commits]
    groups = [needs[i:i + 5] for i in range(0, len(needs) - 4, 5)]
    return 100 * sum(map(any, groups)) / max(len(groups), 1)


def fixed(repo, commits):
    """Share of the severe flags whose reason has no word of the lines that changed."""
    said = total = 0
    for commit, flags in commits:
        severe = [f for f in flags if f[0] in ("high", "critical")]
        if not severe:
            continue
        lines = [line[1:] for line in git(repo, "show", "--format=", "-U0", "--no-color", commit).splitlines()
                 if line[:1] in "+-" and line[:3] not in ("+++", "---")]
        words = set(re.findall(r"[\w.@/:-]{3,}", "\n".join(lines)))
        parts = {p for w in words for p in re.findall(r"[\w-]{3,}", w)} | words
        for _, _, path, reason in severe:
            total += 1
            own = reason.split(": ", 1)[1] if ": " in reason else ""
            told = set(re.findall(r"[\w-]{3,}", own)) - set(re.findall(r"[\w-]{3,}", path))
            said += not told & parts
    return 100 * said / max(total, 1)


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def main():
    flagcommits, folder = [a for a in sys.argv[1:] if not a.startswith("--")]
    options = dict((a[2:].split("=") + [""])[:2] for a in sys.argv[1:] if a.startswith("--"))
    count, n_rules = int(options.get("commits", 500)), int(options.get("rules", 8))
    rows, rules, held_rules = [], collections.Counter(), collections.Counter()
    print("%-24s %7s %8s %8s %8s %-16s %8s %8s" % ("of 100 commits", "commits", "critical", "high", "held", "with",
                                                  "sessions", "fixed"))
    with tempfile.TemporaryDirectory(dir=os.environ.get("GIT_AGENT_TEST_TMPDIR")) as scratch:
        for name in sorted(os.listdir(folder)):
            source = os.path.join(folder, name)
            for git_dir in ("repo", "."):
                if os.path.exists(os.path.join(source, git_dir, "HEAD")) or os.path.exists(
                        os.path.join(source, git_dir, ".git")):
                    source = os.path.join(source, git_dir)
                    break
            else:
                continue
            repo = os.path.join(scratch, name)
            subprocess.run(["git", "clone", "-q", "--shared", "-n", source, repo], check=True)
            plain = run(flagcommits, repo, count)
            git(repo, "reset", "-q", "--hard")
            hooks = install_hooks(repo)
            hosted = run(flagcommits, repo, count, "host") if hooks else plain
            rules.update(f[:2] for _, flags in plain for f in set(g[:2] for g in flags) if f[0] in ("critical", "high"))
            held_rules.update(f[:2] for _, flags in hosted for f in set(g[:2] for g in flags) if f[0] == "critical")
            row = {"critical": share(plain, ("critical",)), "high": share(plain, ("high",)),
                   "held": share(hosted, ("critical",)), "sessions": sessions(plain), "fixed": fixed(repo, plain)}
            rows.append(row)
            print("%-24s %7d %8.1f %8.1f %8.1f %-16s %8.1f %8.1f" % (
                name[:24], len(plain), row["critical"], row["high"], row["held"], hooks or "no hooks",
                row["sessions"], row["fixed"]), flush=True)
    above = []
    for key, (middle, worst) in GOALS.items():
        values = [r[key] for r in rows]
        print("%-10s median %5.1f%s, worst %5.1f%s" % (
            key, median(values), " (goal %s)" % middle if middle else "", max(values),
            " (goal %s)" % worst if worst else ""))
        if middle and median(values) > middle or worst and max(values) > worst:
            above.append(key)
    total = sum(500 for _ in rows)
    for title, counter in (("without hooks", rules), ("held with hooks", held_rules)):
        print(title)
        for (severity, rule), n in counter.most_common(n_rules):
            print("    %-9s %-26s %6.1f" % (severity, rule, 100 * n / total))
    return bool("goal" in options and above)


if __name__ == "__main__":
    sys.exit(main())
