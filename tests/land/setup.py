# SPDX-License-Identifier: MIT
#
# Make the world of a cell: the repository from a template, the session in a real sandbox, and the
# state of the user files.
import os

import hand
from world import SESSION, Broken, World, copy_tree

FILTER = ("git config filter.big.clean \"sed 's/^/packed /'\"",
          "git config filter.big.smudge \"sed 's/^packed //'\"",
          "git config filter.big.required true")
SUBMODULE = ("git init -q ../sub.git", "cd ../sub.git",
             "for i in one two three; do echo $i >x; git add x; git commit -qm $i; git branch $i",
             "done",
             "git switch -q one", "cd ../r",
             "git submodule --quiet add ../sub.git sub 2>/dev/null",
             "git -C sub switch -q --detach origin/one",
             "git -C sub branch -q two origin/two", "git -C sub branch -q three origin/three")


class Templates:
    """Repositories to copy: one for each set of features that asks for another."""

    def __init__(self, directory):
        self.dir, self.made = directory, {}

    def get(self, features, size):
        """The directory that has r, and sub.git if there is a submodule."""
        key = (features & {"crlf", "filter", "submodule", "odd"}, size)
        if key not in self.made:
            self.made[key] = self.make(key[0], size)
        return self.made[key]

    def make(self, features, size):
        """A repository with the base, and a branch beside it."""
        world = World(os.path.join(self.dir, "template.%d" % len(self.made)))
        os.makedirs(world.top)
        first = hand.Hand(None, {}, "user", {})
        world.script(["git init -q"])
        if "filter" in features:
            world.script(FILTER)
        for path, node in hand.base_tree(features).items():
            first.put(path, node)
        for n in range(size):
            first.put("many/%d/f%d" % (n % 7, n), hand.Node("file", "many %d\n" % n))
        world.script(first.lines)
        if "submodule" in features:
            world.script(SUBMODULE)
        world.script(["git add -A", "git commit -qm base", "git switch -q -c side",
                      "echo side >side", "git add side", "git commit -qm side",
                      "git switch -q main"])
        return world.home


def begin(session, directory, templates, verbose=False):
    """The world after the session has ended, and its flags are decided."""
    world = World(directory, verbose)
    template = templates.get(session.features, session.size)
    for name in os.listdir(template):
        if name != ".gitconfig":
            copy_tree(os.path.join(template, name), os.path.join(world.home, name))
    world.refresh()
    lines = []
    if session.setting:
        lines.append("git config %s %s" % tuple(session.setting.split("=")))
    if "split-index" in session.features:
        lines.append("git update-index --split-index")
    if "linked" in session.features:
        lines.append("git worktree add -q ../wt -b work")
        if "submodule" in session.features:
            lines.append("git -C ../wt submodule --quiet update --init")
    world.script(lines)
    world.linked = "linked" in session.features
    world.script(session.user_lines)
    world.base = world.ask("rev-parse", "HEAD").strip()
    work = ["-q", "--name", SESSION, "--", "sh", "-ec", "\n".join(session.agent_lines) or ":"]
    done = world.agent("start", *work)
    if done.rc:
        raise Broken("the session failed: " + done.text)
    accept(world)
    return world


def accept(world):
    """Decide about all flags."""
    done = world.agent("review", "--accept-all", "--critical", SESSION)
    if done.rc:
        raise Broken("review: " + done.text)


def apply(cell, world):
    """What the user does after the session."""
    world.script(cell.lines)
    hooks = os.path.join(world.home, "r", ".git", "hooks")
    for name, body in cell.hooks.items():
        os.makedirs(hooks, exist_ok=True)
        path = os.path.join(hooks, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(body)
        os.chmod(path, 0o755)

