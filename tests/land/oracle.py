# SPDX-License-Identifier: MIT
#
# What git itself makes of the landing of a cell, in the same place: the outcome, and the picture
# of what it left.
import os

import picture
from world import BRANCH

# ok: committed; stopped: all merged and no commit, as git was told or a hook refused;
# conflict: paths are unmerged; refused: git did nothing; none: git has no such command


def tip(world):
    """The commit that the session's branch is at, or nothing if it has done nothing."""
    return world.git("rev-parse", "-q", "--verify", "refs/heads/" + BRANCH).out.strip()


class Outcome:
    """What came of git's command: kind, picture by content, and what git said."""

    def __init__(self, world, kind, after, says):
        self.kind, self.says = kind, says
        self.after = picture.by_content(world, after)
        self.hooks = picture.hooks_run(world)
        self.message = world.git("log", "-1", "--format=%B").out


def staged(before):
    """Has the user staged anything? Then some commands of git's commit it with the merge."""
    return any(k[0] == "status" and v[0] not in " ?!" for k, v in before.items())


def unmerged(after):
    """Are there entries of the index with a stage?"""
    return any(k[0] == "index" and k[1][-2:] in (":1", ":2", ":3") for k in after)


def outcome(world, done, before):
    """Sort what a command of git's has done by what is there now."""
    after = picture.take(world)
    if unmerged(after):
        return Outcome(world, "conflict", after, done.text)
    if ("progress", "MERGE_HEAD") in after and ("progress", "MERGE_HEAD") not in before:
        return Outcome(world, "stopped", after, done.text)
    if ("progress", "SQUASH_MSG") in after and ("progress", "SQUASH_MSG") not in before:
        return Outcome(world, "stopped", after, done.text)
    return Outcome(world, "refused" if done.rc else "ok", after, done.text)


def merge(world, cell, before, options):
    """git merge, with options."""
    message = ["-m", cell.message] if cell.message else ["--no-edit"]
    return outcome(world, world.git("merge", *options, *message, BRANCH), before)


def squash(world, cell, before, commit):
    """git merge --squash, and git commit unless told otherwise."""
    if staged(before):
        return Outcome(world, "refused", before, "what is staged would be committed as well")
    # the way that is asked for counts for more than merge.ff, as with "--no-ff"
    done = world.git("merge", "--ff", "--squash", BRANCH)
    if done.rc or not commit:
        return outcome(world, done, before)
    if not world.git("diff", "--cached", "--quiet").rc:
        return Outcome(world, "ok", picture.take(world), "nothing to commit")
    message = ["-m", cell.message] if cell.message else ["--no-edit"]
    return outcome(world, world.git("commit", "-q", *message), before)


def rebase(world, before):
    """Cherry-pick each commit that is no merge; those that are empty are left out."""
    says = ""
    if not before["commit", ""]:
        return Outcome(world, "none", before, says)
    for commit in world.ask("rev-list", "--reverse", "--topo-order", "--no-merges",
                            "HEAD.." + BRANCH).split():
        # no hook of a message's runs for a rebase
        done = world.git("-c", "core.hooksPath=/dev/null", "cherry-pick", commit)
        says = done.text
        if not done.rc:
            continue
        after = picture.take(world)
        if unmerged(after):
            return Outcome(world, "conflict", after, says)
        if not os.path.exists(os.path.join(world.gitdir, "CHERRY_PICK_HEAD")):
            return Outcome(world, "refused", after, says)
        if world.git("cherry-pick", "--skip").rc:
            return Outcome(world, "refused", after, says)
    after = picture.take(world)
    after.pop(("progress", "sequencer"), None)  # left by --skip
    return Outcome(world, "ok", after, says)


def run(world, cell, before):
    """Outcome of what git has for the way of the cell."""
    way = cell.way
    if not tip(world):
        return Outcome(world, "none", before, "there is no branch")
    if way == "merge":
        return merge(world, cell, before, ["--no-ff"])
    if way == "no-commit":
        return merge(world, cell, before, ["--no-ff", "--no-commit"])
    if way == "ff-only":
        return merge(world, cell, before, ["--ff-only"])
    if way == "squash":
        return squash(world, cell, before, True)
    if way == "squash-no-commit":
        return squash(world, cell, before, False)
    if way == "rebase":
        return rebase(world, before)
    return Outcome(world, "none", before, "")


# ---- what is expected path by path, where git refuses because of other files, or has no command

def entries(world, commit):
    """{path: (mode, id)} of a commit or tree, or of none."""
    found = {}
    if not commit:
        return found
    for line in world.ask("ls-tree", "-r", "-z", commit).split("\0")[:-1]:
        meta, path = line.split("\t", 1)
        mode, _, oid = meta.split(" ")
        found[path] = (mode, oid)
    return found


def merged(world, cell, before):
    """The entries of the result that was to come, or None if that is a conflict."""
    head = before["commit", ""]
    if not tip(world):
        return entries(world, head)
    if not head:
        return entries(world, BRANCH)
    done = world.git("merge-tree", "--write-tree", "--name-only", "-z", "--no-messages",
                     head, BRANCH)
    parts = done.out.split("\0")
    new, conflicts = entries(world, parts[0]), parts[1:-1]
    if cell.way == "paths":
        old = entries(world, head)
        for p in set(old) | set(new):
            if chosen(cell, p) or p not in new and in_place_of(cell, p):
                old.pop(p, None)
                if p in new:
                    old[p] = new[p]
        new, conflicts = old, [p for p in conflicts if chosen(cell, p)]
    return None if conflicts else new


def chosen(cell, path):
    """Is the path one of those that are to land?"""
    return any(path == c or path.startswith(c + "/") for c in cell.paths)


def in_place_of(cell, path):
    """Would it be in place of a directory of one?"""
    return any(c.startswith(path + "/") for c in cell.paths)
