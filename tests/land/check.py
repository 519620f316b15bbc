# SPDX-License-Identifier: MIT
#
# The properties of one landing: (a) as git, (b) refused and untouched, (c) undone exactly.
import collections
import os
import re

import oracle
import picture
import setup
from world import BRANCH, SESSION

# Exit status of `git agent land`
LANDED, REFUSED, FLAGGED, CONFLICT, PARTLY, ERROR = 0, 2, 3, 4, 5, 128
TOUCHES = (LANDED, CONFLICT, PARTLY)

Failure = collections.namedtuple("Failure", "prop way symptom seed details")


def plainly(message):
    """The first line of a message without names, ids and numbers."""
    lines = [l for l in message.split("\n") if l.strip() and not l.startswith(("hint:", "  "))]
    line = lines[-1] if lines and "git-agent:" not in message else ""
    for l in lines:
        if l.startswith("git-agent:") or l.startswith("error:") or l.startswith("fatal:"):
            line = l
            break
    line = re.sub(r"^git-agent: |agent/s: ", "", line)
    line = re.sub(r"'[^']*'", "'X'", line)
    line = re.sub(r"\b[0-9a-f]{7,40}\b", "ID", line)
    line = re.sub(r"\b\d+\b", "N", line)
    return re.sub(r"(: )(?:[^:]*)$", r"\1...", line) if line.count(": ") else line


class Check:
    """Runs one landing and notes what does not hold."""

    def __init__(self, cell, world, say=lambda *_: None):
        self.cell, self.world, self.say = cell, world, say
        self.failures, self.counts, self.undoes = [], collections.Counter(), False

    def fail(self, prop, symptom, details=()):
        """Note that a property does not hold."""
        self.failures.append(Failure(prop, self.cell.way, symptom, self.cell.seed, list(details)))
        self.say("FAILED (%s) %s: %s" % (prop, self.cell.way, symptom))
        for line in details:
            self.say("    " + line)

    def same(self, prop, symptom, one, two):
        """Fail if two pictures differ."""
        found = picture.differences(one, two)
        if found:
            self.fail(prop, symptom + ": " + picture.kinds(found), picture.describe(found))
        return not found

    def land(self):
        """Land it; flags that only this landing raises are accepted, and it is landed again."""
        options, before = self.cell.land_options(), self.before
        done = self.world.agent("land", *options)
        if done.rc == FLAGGED:
            self.untouched(done, before)
            self.counts["flagged"] += 1
            setup.accept(self.world)
            done = self.world.agent("land", *options)
        self.counts["exit %d" % done.rc] += 1
        return done

    def untouched(self, done, before):
        """(b): whatever is not landed, is as it was."""
        self.counts["b"] += 1
        after = picture.take(self.world)
        return self.same("b", "exit %d, touched" % done.rc, before, after)

    def run(self, properties="abc"):
        """All of it; leaves the world as it is after the undo."""
        world, cell = self.world, self.cell
        setup.apply(cell, world)
        self.before = before = picture.take(world)
        if not oracle.tip(world) and not cell.session.dirty:
            self.counts["nothing to land"] += 1
        self.kept = world.keep()
        if "a" in properties:
            git = oracle.run(world, cell, before)
            world.back(self.kept)
        done = self.done = self.land()
        self.after = before
        if done.rc in TOUCHES:
            self.after = picture.take(world)
            self.undoes = done.rc != CONFLICT and not any(
                k[0] == "progress" and k not in before for k in self.after)
        else:
            self.untouched(done, before)
        if "a" in properties:
            self.counts["a"] += 1
            self.counts["git %s, land %d" % (git.kind, done.rc)] += 1
            if cell.session.dirty:
                self.own_work(done)
            if not self.failures:
                self.as_git(git, done)
        if "c" in properties and done.rc in TOUCHES:
            self.back_again(done)
        return self

    # ---- (a)

    def as_git(self, git, done):
        """(a): where git succeeds, so does landing, with the same result."""
        if done.rc in (LANDED, PARTLY):
            if git.kind == "ok":
                self.compare(git)
            elif git.kind in ("none", "refused"):
                self.by_path(git)
            elif git.kind == "stopped" and "no-commit" in self.cell.way:
                self.compare(git)
            elif "nothing to land" in done.text and done.rc == LANDED:
                self.counts["a merge that would change nothing"] += 1
            else:
                self.fail("a", "landed where git has a %s" % git.kind, [git.says])
        elif done.rc == CONFLICT:
            if git.kind in ("conflict", "stopped"):
                self.compare(git)
            else:
                self.fail("a", "a conflict where git is %s" % git.kind, [git.says, done.text])
        elif git.kind == "ok" and self.overwritten(git):
            self.counts["git overwrote what landing refuses to"] += 1
        elif git.kind == "ok" or (git.kind == "stopped" and "no-commit" in self.cell.way):
            self.fail("a", "refused where git merges: " + plainly(done.text),
                      [done.text, git.says])
        elif git.kind in ("conflict", "stopped") and self.cell.way != "rebase":
            self.fail("a", "refused where git has a %s: %s" % (git.kind, plainly(done.text)),
                      [done.text, git.says])
        elif git.kind == "none":
            self.refused_path(done)

    def overwritten(self, git):
        """Did git overwrite a file that it does not track, or one that it is told not to see?"""
        before = self.before
        for (what, path), value in before.items():
            unseen = what == "status" and value in ("!!", "??")
            if what == "index" and value[2]:
                unseen = picture.blob_id(before.get(("file", path))) != value[1]
            if unseen and git.after.get(("file", path)) != before.get(("file", path)):
                return True
        return False

    def changes_nothing(self, git):
        """Is all of it here already? Git makes a commit without changes of that, landing none."""
        was, now = (picture.by_content(self.world, p)["commit", ""]
                    for p in (self.before, self.after))
        made = str(git.after["commit", ""])
        return "nothing to land" in self.done.text and was == now and \
            was.split(",")[0] == made.split(",")[0]

    def carried(self):
        """Paths whose files need not be as git's merge has them: what was uncommitted."""
        if not self.cell.session.dirty:
            return set()
        s = self.cell.session
        own = s.dirty_paths()
        return {p for p in set(s.start) | set(s.seen)
                if s.start.get(p) != s.seen.get(p) and (p in own or self.beside(p, own))}

    def beside(self, path, own):
        """Could the path be one that counts as uncommitted: moved, or in place of a directory?"""
        s = self.cell.session
        return (path not in s.start or path not in s.seen
                or any(o.startswith(path + "/") or path.startswith(o + "/") for o in own))

    def compare(self, git):
        """The picture after the landing against git's, but for what was uncommitted."""
        self.counts["compared with git"] += 1
        world, hidden = self.world, self.carried()
        mine = picture.without(picture.by_content(world, self.after), hidden)
        gits = picture.without(git.after, hidden)
        if self.cell.way == "rebase":
            mine.pop(("progress", "sequencer"), None)
        for key, entry in mine.items():  # git loses marks now and then; to keep them is no fault
            if key[0] == "index" and gits.get(key, ())[:2] == entry[:2] and \
                    entry[2] == self.before.get(key, entry)[2]:
                gits[key] = entry
        for key in [k for k in gits if k[0] == "status" and k not in mine]:
            del gits[key]  # of the same files and index: git's idea of when it wrote them is stale
        if self.changes_nothing(git):
            self.counts["a merge that would change nothing"] += 1
            gits["commit", ""] = mine["commit", ""]
            gits = {k: v for k, v in gits.items() if k[0] != "progress"}
            self.same("a", "landed differs", gits, mine)
            return
        self.same("a", "landed differs", gits, mine)
        if git.kind != "ok" or self.cell.way == "rebase":
            return
        hooks = picture.hooks_run(world)
        if hooks != git.hooks:
            self.fail("a", "hooks: git ran %s, landing %s" % (
                " ".join(git.hooks) or "none", " ".join(hooks) or "none"))
        message = world.git("log", "-1", "--format=%B").out
        if self.cell.message and message != git.message:
            self.fail("a", "another message than the one given", [git.message, message])

    def by_path(self, git):
        """The result path by path: what the landing changes is its, all else is as before."""
        world, before = self.world, self.before
        new = oracle.merged(world, self.cell, before)
        if new is None:
            if self.cell.way != "rebase":
                self.fail("a", "landed what is a conflict", [git.says])
            return
        if "no-commit" in self.cell.way:
            return
        self.counts["compared by path"] += 1
        old = oracle.entries(world, before["commit", ""])
        made = oracle.entries(world, self.after["commit", ""])
        if made != new:
            if not self.cell.hooks:
                wrong = sorted(p for p in set(made) | set(new) if made.get(p) != new.get(p))
                self.fail("a", "another tree than the merge", wrong)
            return
        hidden, wrong = self.carried(), []
        for path in sorted(set(old) | set(new)):
            if old.get(path) == new.get(path) or path in hidden:
                continue
            index = before.get(("index", path))
            if index and index[2] or (index or (None, None))[:2] != old.get(path, (None, None)):
                self.counts["landed beside staged or marked changes"] += 1
            elif ("status", path) in before:
                self.counts["landed beside changes"] += 1
            elif (self.after.get(("index", path)) or (None, None))[:2] != \
                    new.get(path, (None, None)):
                wrong.append("%s: %r" % (path, self.after.get(("index", path))))
        if wrong:
            self.fail("a", "the index is not as committed", wrong)
        changed = {p for p in set(old) | set(new) if old.get(p) != new.get(p)} | hidden
        others = picture.differences(aside(before, changed), aside(self.after, changed))
        if others:
            self.fail("a", "other paths changed: " + picture.kinds(others),
                      picture.describe(others))

    def refused_path(self, done):
        """Some paths were refused: is there a reason?"""
        if self.cell.hooks or self.cell.session.dirty:
            return
        new = oracle.merged(self.world, self.cell, self.before)
        calm = not any(k[0] == "status" for k in self.before)
        if new is not None and calm and not self.progress():
            old = oracle.entries(self.world, self.before["commit", ""])
            if new != old:
                self.fail("a", "refused some paths: " + plainly(done.text), [done.text])

    def progress(self):
        """Is an operation of the user in progress?"""
        return any(k[0] == "progress" for k in self.before)

    # ---- uncommitted work at the start of the session

    def own_work(self, done):
        """What was uncommitted at the start is in no commit, and comes back uncommitted."""
        s, world = self.cell.session, self.world
        own = s.dirty_paths()
        self.counts["sessions on uncommitted work"] += 1
        tip = oracle.tip(world)
        if tip:
            text = world.ask("log", "--format=", "--raw", "-z", "-m", "--no-renames", "--no-abbrev",
                             world.base + ".." + BRANCH)
            parts = text.split("\0")
            in_commits = {parts[i + 1] for i in range(0, len(parts) - 1)
                          if parts[i].startswith(":")} if text else set()
            if in_commits & own:
                self.fail("a", "uncommitted work in the session's commits",
                          sorted(in_commits & own))
        if done.rc != LANDED or self.cell.way == "paths":
            return
        for path in sorted(own):
            before, now = self.before.get(("file", path)), self.after.get(("file", path))
            if s.start.get(path) == s.seen.get(path):
                if before != now and (not before or before[0] != "directory"):
                    self.fail("a", "uncommitted work changed that the agent left alone",
                              [path, picture.short(before), picture.short(now)])
            elif self.cell.now.get(path) == s.start.get(path):
                self.counts["brought as uncommitted"] += 1
                if not is_node(now, s.seen.get(path)) and "no-commit" not in self.cell.way:
                    self.fail("a", "the agent's change of uncommitted work was not brought",
                              [path, picture.short(before), picture.short(now)])
                elif self.committed(path):
                    self.fail("a", "the agent's change of uncommitted work was committed", [path])

    def committed(self, path):
        """Does the landing's commit change this path?"""
        head, was = self.after["commit", ""], self.before["commit", ""]
        return bool(was) and self.world.ask("ls-tree", head, "--", path) != \
            self.world.ask("ls-tree", was, "--", path)

    # ---- (c)

    def back_again(self, done):
        """(c): undone or given up, everything is as it was before; or that is refused."""
        world = self.world
        command = "--undo" if self.undoes else "--abort"
        self.counts["c " + command] += 1
        self.settled(world.agent("land", command, SESSION), command, "c", done.rc)

    def settled(self, back, command, prop, rc):
        """Is everything as before after --undo or --abort, or as landed if that refused?"""
        now = picture.take(self.world)
        if back.rc:
            self.counts["%s %s refused: %s" % (prop, command, plainly(back.text))] += 1
            if rc == CONFLICT:
                self.fail(prop, "%s refused: %s" % (command, plainly(back.text)), [back.text])
            self.same(prop, "%s refused and touched" % command, self.after, now)
            return False
        return self.as_before(prop, command, now)

    def like_before(self, now, before=None):
        """Differences to the picture of before, without what is given up, and what that was."""
        before, given = before or self.before, []
        if before == now:
            return [], ["exact"]
        changed = self.changed()
        no_modes = self.world.git("config", "core.fileMode").out.strip() == "false"
        for path in changed | self.carried():
            old, new = before.get(("index", path)), now.get(("index", path))
            if old and new and old != new and old[:2] == new[:2] and not new[2]:
                now = {**now, ("index", path): old}
                given.append("git forgets marks of what it writes")
        for path in changed:
            old, new = before.get(("file", path)), now.get(("file", path))
            alike = old and new and old != new and old[::2] == new[::2]
            if alike and (no_modes or not (old[1] ^ new[1]) & 0o100):
                now = {**now, ("file", path): old}
                given.append("permissions are as git writes them")
        new = [k for k, v in now.items() if k not in before and k[0] == "file" and k[1] and
               v[0] == "directory" and not any(o[1].startswith(k[1] + "/") for o in now
                                               if o[0] == "file" and now[o][0] != "directory")]
        if new:
            given.append("an empty directory is left")
            now = {k: v for k, v in now.items() if k not in new}
        gone = picture.deleted(before) & changed
        if before != now and gone:
            given.append("a deleted file is back")
            before, now = picture.without(before, gone), picture.without(now, gone)
        parents = {"/".join(p.split("/")[:i]) for p in changed | self.carried()
                   for i in range(1, p.count("/") + 1)}
        lost = [k for k, v in before.items() if k not in now and k[0] == "file" and k[1] in parents
                and v[0] == "directory"]
        if lost:
            given.append("an empty directory is gone")
            before = {k: v for k, v in before.items() if k not in lost}
        return picture.differences(before, now), sorted(set(given))

    def as_before(self, prop, command, now):
        """Is a picture that of before, but for what is given up?"""
        found, given = self.like_before(now)
        if found:
            self.fail(prop, "%s differs: %s" % (command, picture.kinds(found)),
                      picture.describe(found))
        else:
            self.counts["%s %s" % (prop, ", ".join(given))] += 1
        return not found

    def changed(self):
        """Paths that the landing changes, as git would commit them."""
        new = oracle.merged(self.world, self.cell, self.before)
        old = oracle.entries(self.world, self.before["commit", ""])
        if new is None:
            new = oracle.entries(self.world, BRANCH)
        return {p for p in set(old) | set(new) if old.get(p) != new.get(p)}


def aside(pic, changed):
    """A picture without the paths that the landing changes, and what depends on them."""
    pic = picture.without(pic, changed)
    # what is ignored is up to these files; the untracked files themselves are in the picture
    rules = any(os.path.basename(p) == ".gitignore" for p in changed)
    return {k: v for k, v in pic.items()
            if k[0] not in ("commit", "ref", "stash") and not (k[0] == "index" and k[1] in changed)
            and not (rules and k[0] == "status" and v in ("??", "!!"))
            and not (k[0] == "head" and v[:5] != "ref: ")
            and not (k[0] == "file" and v[0] == "directory")}


def is_node(seen, node):
    """Is a file of a picture what the model says?"""
    if node is None:
        return seen is None or seen[0] == "directory"
    if seen is None:
        return False
    if node.kind == "link":
        return seen[0] == "link" and seen[2] == os.fsencode(node.text)
    return (seen[0] == "file" and seen[2] == node.text.encode()
            and bool(seen[1] & 0o100) == (node.kind == "exec"))
