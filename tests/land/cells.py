# SPDX-License-Identifier: MIT
#
# What happens in a cell, from one seed: the repository and the session, which some neighbouring
# seeds have in common because a session takes longest, and then what the user did meanwhile and how
# it is landed.
import collections
import random

import hand
from hand import Node, literal, quote
from world import SESSION

PER_SESSION = 4

AGENT = {"edit": 10, "add": 4, "delete": 2, "rename": 2, "swap": 1.5, "mode": 1, "link": 1,
         "rename_directory": 0.4, "onto_ignored": 1}
COMMITTED = {"edit": 8, "add": 2, "delete": 1, "rename": 1, "mode": 0.5, "link": 0.3, "swap": 0.4}
STATES = {"edited": 6, "staged": 3, "edited_and_staged": 2, "new_staged": 2, "intent_to_add": 2,
          "untracked": 4, "untracked_ignored": 3, "assume_unchanged": 2, "skip_worktree": 2,
          "mode_changed": 1, "link_changed": 1, "deleted": 2, "removed": 1, "moved": 1,
          "swapped": 1, "permissions": 1, "empty_directory": 1}
WAYS = {"merge": 8, "squash": 5, "ff-only": 2, "rebase": 3, "no-commit": 1, "squash-no-commit": 0.7,
        "paths": 3}
FEATURES = {"crlf": 0.12, "filter": 0.1, "submodule": 0.07, "odd": 0.15, "linked": 0.12,
            "split-index": 0.08, "sparse": 0.08}
SETTINGS = ("merge.conflictStyle=diff3", "merge.renames=false", "merge.ff=only", "index.version=4",
            "status.showUntrackedFiles=no", "core.untrackedCache=true", "diff.renames=copies",
            "merge.directoryRenames=true", "rerere.enabled=true", "core.fileMode=false",
            "merge.log=true", "core.quotePath=false", "status.renames=false")
HOOKS = {"commit-msg": 3, "prepare-commit-msg": 2, "pre-merge-commit": 2, "pre-commit": 2,
         "post-merge": 2, "post-commit": 1, "post-checkout": 1, "refusing": 2}
SAYS = 'echo "%s" >>"$HOME/hooks.log"\n'
FORMATS = """git diff --cached --name-only --diff-filter=AM | while read -r p; do
\tcase $p in *\\"*) continue ;; esac
\tif [ -f "$p" ] && [ ! -L "$p" ]; then sed -i 's/^agent/Agent/' "$p" && git add -- "$p"; fi
done
"""


class Agent(hand.Hand):
    """The agent: what it did ends up on the session's branch."""

    def onto_ignored(self):
        """Commit a file at a path that the rules ignore."""
        path = self.some([p for p in ("x.ign", "out/n6", "d/y.ign") if self.free(p)])
        if path:
            self.put(path, Node("file", "agent forced\n"))
            self.lines.append("git add -f --sparse -- " + literal(path))
        return path

    def submodule(self):
        """Move the submodule to another commit that there is."""
        self.lines.append("git -C sub checkout -q two")
        return "sub"


class User(hand.Hand):
    """The user: commits, and states of files."""

    def __init__(self, rng, tree, counts, hot):
        super().__init__(rng, tree, "user", counts)
        self.hot = sorted(hot)  # what the agent has changed
        self.tracked = set(tree)
        self.marks = set()
        self.was = dict(tree)
        self.early = False  # before the session, which does not see changes of marked files

    def some(self, names):
        """One of these, sometimes by preference one that the agent has changed."""
        if self.early:
            names = [n for n in names if n not in self.marks]
        if names and self.rng.random() < 0.2:
            names = [n for n in names if n in self.hot] or names
        return super().some(names)

    def commit(self, message=None):
        super().commit(message)
        self.tracked = {p for p in self.tree if not hand.ignored(p) or p in self.tracked}

    def stage(self, path):
        """Stage what is at a path, or that nothing is."""
        if hand.ignored(path) and path not in self.tracked or path in self.marks:
            return
        if path not in self.tree and path not in self.tracked:
            return
        self.lines.append("git add -A --sparse -- " + literal(path))
        if path in self.tree:
            self.tracked.add(path)
        else:
            self.tracked.discard(path)

    def state(self):
        """One file, or more, in some state; counted."""
        for _ in range(8):
            name = self.rng.choices(list(STATES), list(STATES.values()))[0]
            if getattr(self, name)() is not None:
                self.counts["state: " + name.replace("_", " ")] += 1
                return

    def edited(self):
        return self.edit()

    def staged(self):
        path = self.edit()
        if path:
            self.stage(path)
        return path

    def edited_and_staged(self):
        path = self.staged()
        return path and (self.edit(path) or path)

    def untracked(self):
        return self.add([n for n in hand.NEW if not hand.ignored(n)])

    def new_staged(self):
        path = self.untracked()
        if path:
            self.stage(path)
            if self.rng.random() < 0.2:
                self.remove(path)
        return path

    def intent_to_add(self):
        path = self.untracked()
        if path:
            self.lines.append("git add -N -- " + literal(path))
            self.tracked.add(path)
        return path

    def untracked_ignored(self):
        return self.add(["x.ign", "d/y.ign", "out/n6", "out/m"])

    def marked(self, option):
        """Mark a tracked file, mostly one that is changed as well."""
        path = self.some(sorted(p for p in self.tracked if p in self.tree and p != ".gitattributes"
                                and not p.startswith("-") and "\n" not in p
                                and not (self.early and self.tree[p] != self.was.get(p))))
        if path:
            self.lines.append("git update-index %s -- %s" % (option, quote(path)))
            if self.rng.random() < 0.6 and not self.early:
                self.edit(path)
            self.marks.add(path)
        return path

    def assume_unchanged(self):
        return self.marked("--assume-unchanged")

    def skip_worktree(self):
        return self.marked("--skip-worktree")

    def maybe_stage(self, path):
        """Stage a path, or not."""
        if path and self.rng.random() < 0.4:
            self.stage(path)
        return path

    def mode_changed(self):
        return self.maybe_stage(self.mode())

    def link_changed(self):
        return self.maybe_stage(self.link())

    def deleted(self):
        return self.delete()

    def removed(self):
        path = self.delete()
        if path:
            self.stage(path)
        return path

    def moved(self):
        before = set(self.tree)
        path = self.rename()
        if path:
            for p in before - set(self.tree) | {path}:
                if p in self.tracked or p in self.tree:
                    self.stage(p)
        return path

    def swapped(self):
        before = set(self.tree)
        path = self.swap()
        if path and self.rng.random() < 0.4:
            for p in sorted(before - set(self.tree)) + [path]:
                if p in self.tracked or p in self.tree:
                    self.stage(p)
        return path

    def permissions(self):
        path = self.some(sorted(p for p in self.plain() if self.tree[p].kind == "file"))
        if path:
            self.lines.append("chmod 600 -- " + quote(path))
        return path

    def empty_directory(self):
        if not self.free("e"):
            return None
        self.lines.append("mkdir -p e/m")
        return "e"


class Session:
    """The repository and what the agent does in it: the same for some neighbouring seeds."""

    def __init__(self, number, size=0):
        rng = random.Random("session %d" % number)
        self.counts = collections.Counter()
        self.size = size
        self.features = frozenset(f for f, p in FEATURES.items() if rng.random() < p)
        for f in self.features:
            self.counts["feature: " + f] += 1
        self.base = hand.base_tree(self.features)
        self.setting = rng.choice(SETTINGS) if rng.random() < 0.15 else None
        if self.setting:
            self.counts["setting: " + self.setting] += 1
        user = User(rng, self.base, self.counts, ())
        user.early = True
        if "sparse" in self.features:
            narrow(user)
        self.dirty = rng.random() < 0.3
        if self.dirty:
            for _ in range(rng.randint(1, 3)):
                user.state()
            self.counts["uncommitted work at the start"] += 1
        self.user_lines, self.start, self.tracked = user.lines, user.tree, user.tracked
        agent = Agent(rng, self.start, "agent", self.counts)
        table = dict(AGENT, submodule=6) if "submodule" in self.features else AGENT
        for _ in range(rng.randint(1, 5)):
            agent.change(table)
            if rng.random() < 0.35:
                agent.commit()
        self.agent_lines, self.seen, self.agent_touched = agent.lines, agent.tree, agent.touched

    def dirty_paths(self):
        """Paths that had uncommitted changes at the start, as far as files differ."""
        names = set(self.base) | set(self.start)
        return {p for p in names if self.base.get(p) != self.start.get(p)
                and not (hand.ignored(p) and p not in self.base)}


class Cell:
    """One landing: what the user does after the session, and the way it is landed."""

    def __init__(self, seed, size=0):
        self.seed = seed
        self.session = s = Session(seed // PER_SESSION, size)
        rng = random.Random("cell %d" % seed)
        self.counts = collections.Counter()
        user = User(rng, s.start, self.counts, s.agent_touched)
        user.tracked = set(s.tracked)
        self.meanwhile(rng, user)
        self.lines, self.now = user.lines, user.tree
        self.way = rng.choices(list(WAYS), list(WAYS.values()))[0]
        self.counts["way: " + self.way] += 1
        self.message = "Chosen message" if rng.random() < 0.2 else None
        if self.message and "no-commit" not in self.way and self.way not in ("ff-only", "rebase"):
            self.counts["message given"] += 1
        else:
            self.message = None
        self.paths = self.choose_paths(rng)
        self.hooks = self.choose_hooks(rng)

    def meanwhile(self, rng, user):
        """The user's own commits, where HEAD is, and states of files."""
        s = self.session
        self.head = rng.choices(("branch", "detached", "unborn", "other"), (85, 8, 2, 5))[0]
        if s.dirty and self.head == "unborn":
            self.head = "branch"
        if self.head == "detached":
            user.lines.append("git switch -q --detach")
        elif self.head == "unborn":
            user.lines += ["git switch -q --orphan empty", "git clean -qfdx -e /sub"]
            user.tree, user.tracked = {}, set()
        elif self.head == "other":
            user.lines.append("git switch -q -c other")
        self.counts["HEAD: " + self.head] += 1
        self.mine = rng.random() < 0.4 and self.head != "unborn"
        if self.mine:
            self.counts["own commits"] += 1
            for _ in range(rng.randint(1, 2)):
                self.own_commit(rng, user)
        if rng.random() < 0.04 and self.head != "unborn" and not s.dirty and user.edit():
            self.counts["stash"] += 1
            user.lines.append("git stash -q")
            user.tree = dict(s.start) if not self.mine else user.tree
            if self.mine:
                user.lines.append("git stash apply -q --index || git reset -q --hard")
        for _ in range(rng.choices((0, 1, 2, 3), (35, 35, 20, 10))[0]):
            user.state()
        if "submodule" in s.features and self.head != "unborn" and rng.random() < 0.3:
            self.counts["state: submodule"] += 1
            user.lines.append(rng.choice(("echo user >>sub/x", "git -C sub checkout -q three",
                                          "echo new >sub/n")))
        if rng.random() < 0.03 and self.head != "unborn":
            self.counts["a merge of the user in progress"] += 1
            user.lines.append("git merge -q --no-ff --no-commit side || :")

    def own_commit(self, rng, user):
        """A commit of the user; if there is uncommitted work, of one path or of all."""
        if not self.session.dirty:
            for _ in range(rng.randint(1, 2)):
                user.change(COMMITTED)
            user.commit()
        elif rng.random() < 0.5:
            user.commit("my work")
        else:
            path = user.edit()
            wide = "sparse" not in self.session.features or path and "/" not in path
            if path and wide and not (hand.ignored(path) and path not in user.tracked):
                user.stage(path)
                user.lines.append("git commit -q --allow-empty -m one -- " + literal(path))

    def choose_paths(self, rng):
        """What to land, for the way that lands only some paths."""
        if self.way != "paths":
            return []
        names = sorted(p for p in self.session.agent_touched if not hand.ignored(p)) or ["a"]
        chosen = {rng.choice(names) for _ in range(rng.randint(1, 2))}
        return sorted(p.split("/")[0] if rng.random() < 0.3 else p for p in chosen)

    def choose_hooks(self, rng):
        """{name: text} of the user hooks."""
        hooks = {}
        if rng.random() < 0.25:
            for _ in range(rng.randint(1, 2)):
                name = rng.choices(list(HOOKS), list(HOOKS.values()))[0]
                body = SAYS % name
                if name == "refusing":
                    name = rng.choice(("pre-merge-commit", "commit-msg", "pre-commit",
                                       "prepare-commit-msg"))
                    body = (SAYS % name) + "echo refused >&2\nexit 1\n"
                elif name == "commit-msg":
                    body += 'echo "Seen: yes" >>"$1"\n'
                elif name == "pre-commit":
                    body += FORMATS
                self.counts["hook: " + name + (" refuses" if "exit 1" in body else "")] += 1
                hooks[name] = "#!/bin/sh\n" + body
        return hooks

    def land_options(self):
        """Arguments of `git agent land` for the way."""
        way = {"merge": ["--merge"], "squash": ["--squash"], "ff-only": ["--ff-only"],
               "rebase": ["--rebase"], "no-commit": ["--no-commit"], "paths": [],
               "squash-no-commit": ["--squash", "--no-commit"]}[self.way]
        return way + (["-m", self.message] if self.message else []) + [SESSION] + \
            (["--"] + self.paths if self.paths else [])


def narrow(user):
    """Leave all but some directories out of the working tree."""
    user.lines.append("git sparse-checkout set --cone d e")
    user.tree = {p: n for p, n in user.tree.items() if "/" not in p or p[:2] in ("d/", "e/")}
    user.tracked = {p for p in user.tracked if p in user.tree}
