# SPDX-License-Identifier: MIT
#
# Property (d): a landing, its undo and its abort, killed at a system call that writes. What the
# next `git agent land --abort` makes of that is the state of before, or everything has landed.
import os
import random

import picture
from check import ERROR, TOUCHES
from world import BUILD, SESSION

HELPER = os.path.join(BUILD, "tests", "helpers", "killat")
# all: every process; main: only git-agent-main; caller: the one that calls; int: Ctrl-C for all
MODES = ("all", "all", "main", "caller", "int")


# Programs whose death is that of the landing; others are started by the user's hooks.
OURS = ("by git", "by git-agent", "by git-agent-main")


class Kills:
    """Kills for one cell, of which `check` has run the landing without any."""

    def __init__(self, check, seed):
        self.check, self.world = check, check.world
        self.rng = random.Random("kills %d" % seed)
        self.report = os.path.join(self.world.dir, "report")
        self.at = ""
        self.landed = picture.by_content(self.world, check.after)

    # ---- one command, killed

    def killed(self, argv, n, mode):
        """Run git-agent killed at the nth call; returns what came of it."""
        home = self.world.home
        options = ["-m", "all", "-s", "2"] if mode == "int" else ["-m", mode]
        dirs = []
        for name in ("r", "wt", ".local"):
            dirs += ["-d", os.path.join(home, name)]
        if os.path.exists(self.report):
            os.unlink(self.report)
        done = self.world.run(HELPER, "-n", str(n), *options, "-o", self.report, *dirs, "--",
                              "git-agent", *argv)
        self.at = ""
        with open(self.report, encoding="utf-8", errors="replace") as f:
            for line in f:
                word, rest = line.rstrip("\n").split(" ", 1)
                if word == "calls":
                    self.calls = int(rest)
                else:
                    self.at = rest.replace(home + "/", "")
        self.check.say("killed at: " + self.at)
        return done

    def count(self, argv, copy):
        """How many calls a command makes that can be killed at."""
        self.world.back(copy)
        self.killed(argv, 0, "all")
        return self.calls

    def points(self, calls, many):
        """The calls to kill at, each with a mode: some at random, or all."""
        if many is None:
            return [(n, mode) for n in range(1, calls + 1)
                    for mode in ("all", self.rng.choice(MODES[2:]))]
        return [(self.rng.randint(1, calls), self.rng.choice(MODES)) for _ in range(many)]

    def fail(self, what, mode, found):
        """Note a failure, keyed by what was killed and what differs."""
        self.check.fail("d", "%s killed (%s): %s" % (what, mode, picture.kinds(found)),
                        ["at " + self.at] + picture.describe(found))

    # ---- what has to be so afterwards

    def settle(self, what, mode):
        """After a kill: --abort, and if it has landed, --undo."""
        check = self.check
        done = self.world.agent("land", "--abort", SESSION)
        now = picture.take(self.world)
        if self.is_before(now):
            check.counts["d before"] += 1
            return
        found, _ = check.like_before(picture.by_content(self.world, now), self.landed)
        if check.done.rc in TOUCHES and not found:
            check.counts["d landed"] += 1
            if check.undoes:
                self.undo(what, mode)
            return
        if check.cell.hooks and (not self.at.endswith(OURS) or "changed since" in done.text):
            check.counts["d a hook's work is left, and named, or was killed"] += 1
            return
        before, _ = check.like_before(now)
        if len(before) <= len(found):
            found = before
        self.fail(what, mode, found)
        check.say(done.text)

    def undo(self, what, mode):
        """It has landed: --undo gives what was before, or is refused as without a kill."""
        landed = picture.take(self.world)
        done = self.world.agent("land", "--undo", SESSION)
        now = picture.take(self.world)
        if done.rc and now == landed:
            self.check.counts["d undo refused"] += 1
        elif not self.is_before(now):
            self.fail(what, mode + ", then undone", picture.differences(self.check.before, now))
            self.check.say(done.text)

    def is_before(self, now):
        """Is it as before, but for what is given up?"""
        return self.check.like_before(now)[0] == []

    def after(self, done, what, mode):
        """What has to hold after a command that was killed, or a part of it."""
        check = self.check
        check.counts["d %s %s" % (what, mode)] += 1
        if not self.at:
            check.counts["d ended before"] += 1
        if mode in ("caller", "int") and done.rc <= ERROR and what == "land":
            if done.rc not in TOUCHES:
                now = picture.take(self.world)
                if not self.is_before(now):
                    self.fail(what + " exits %d" % done.rc, mode,
                              picture.differences(check.before, now))
                return
        self.settle(what, mode)

    # ---- which commands

    def run(self, many):
        """Kill the landing, then its undo or abort, then the recovery of one that was killed."""
        check, land = self.check, ["land"] + self.check.cell.land_options()
        if check.done.rc not in TOUCHES or check.counts["flagged"]:
            return
        calls = self.count(land, check.kept)
        for n, mode in self.points(calls, many):
            self.world.back(check.kept)
            self.after(self.killed(land, n, mode), "land", mode)
        self.recoveries(land, calls, many)
        self.world.back(check.kept)
        if self.world.agent(*land).rc != check.done.rc:
            return
        copy = self.world.keep()
        back = ["land", "--undo" if check.undoes else "--abort", SESSION]
        calls = self.count(back, copy)
        for n, mode in self.points(calls, many) if calls else ():
            self.world.back(copy)
            done = self.killed(back, n, mode)
            self.after(done, back[1][2:], mode)

    def recoveries(self, land, calls, many):
        """Kill a landing, and the --abort that recovers from it as well."""
        for _ in range(1 if many else 0 if many == 0 else calls):
            self.world.back(self.check.kept)
            self.killed(land, self.rng.randint(1, calls), "all")
            first = self.at
            self.killed(["land", "--abort", SESSION], self.rng.randint(1, 30), "all")
            self.at = first + ", then " + self.at
            self.check.counts["d recovery"] += 1
            self.settle("recovery", "all")
