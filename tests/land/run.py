#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# Landing against git on random states: see docs/testing.md.
#
#     python3 tests/land/run.py --cells 100
#     python3 tests/land/run.py --seed 123
import argparse
import collections
import fnmatch
import multiprocessing
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import cells  # noqa: E402
import check  # noqa: E402
import kills  # noqa: E402
import setup  # noqa: E402
import world as worlds  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def scratch():
    """Where the worlds are: on a real file system, unless the environment says where."""
    return os.environ.get("GIT_AGENT_TEST_TMPDIR") or "/var/tmp"


# What hardly happens is hardly tested: of 1000 cells or 250 sessions, so many have at least this.
ENOUGH = {
    "landed: merge": 170, "landed: squash": 110, "landed: ff-only": 20, "landed: rebase": 45,
    "landed: paths": 60, "landed: no-commit": 15, "landed: squash-no-commit": 10,
    "= compared with git": 250, "= compared by path": 120, "= brought as uncommitted": 40,
    "uncommitted work at the start": 50, "own commits": 280, "HEAD: detached": 50,
    "feature: submodule": 8, "feature: sparse": 10, "feature: linked": 18, "feature: odd": 22,
    "feature: filter": 15, "feature: crlf": 18, "feature: split-index": 10,
}


def rare(counts):
    """Kinds that occurred much less often than they should, by four times the deviation."""
    found = []
    for name, n in sorted(ENOUGH.items()):
        expected = n * counts["cells"] / 1000
        # cells of one session are alike
        least = expected - 4 * (cells.PER_SESSION * expected) ** 0.5
        if counts[name] < least:
            found.append("%s: %d of %d" % (name, counts[name], expected))
    return found


class Result:
    """What came of the cells of one session."""

    def __init__(self):
        self.failures, self.broken, self.counts = [], [], collections.Counter()


def run_session(number, seeds, options, directory, templates):
    """The cells of one session."""
    result = Result()
    session = cells.Session(number, options.repo_size)
    place = os.path.join(directory, "session.%d" % number)
    try:
        world = setup.begin(session, place, templates, options.verbose)
        kept = world.keep()
    except worlds.Broken as e:
        result.broken.append("session %d (seed %d): %s" % (number, seeds[0], e))
        return result
    result.counts.update(session.counts)
    for seed in seeds:
        try:
            cell = cells.Cell(seed, options.repo_size)
            world.back(kept)
            one = check.Check(cell, world, print if options.verbose else lambda *_: None)
            one.run(options.properties)
            if "d" in options.properties:
                kills.Kills(one, seed).run(how_many(options.kills, seed))
            result.failures += one.failures
            result.counts.update(cell.counts)
            result.counts["cells"] += 1
            result.counts["landed: " + cell.way] += one.done.rc in check.TOUCHES
            result.counts.update({"= " + k: n for k, n in one.counts.items()})
        except worlds.Broken as e:
            result.broken.append("seed %d: %s" % (seed, e))
        except Exception:
            result.broken.append("seed %d: %s" % (seed, traceback.format_exc()))
    if not options.seed:
        world.remove()
    return result


def how_many(average, seed):
    """Kills in a cell: so many on average, or None for all."""
    if average == "all":
        return None
    whole = int(float(average))
    return whole + (random.Random("many %d" % seed).random() < float(average) - whole)


STATE = {}


def begin_job(options, directory):
    """What each process of the pool has."""
    mine = os.path.join(directory, "job.%d" % os.getpid())
    os.makedirs(mine)
    STATE.update(options=options, directory=mine, templates=setup.Templates(mine))


def job(task):
    """One session in a process of the pool."""
    number, seeds = task
    return run_session(number, seeds, STATE["options"], STATE["directory"], STATE["templates"])


def known_kinds():
    """Patterns of the limits of landing: [(property, way, pattern)]."""
    found = []
    with open(os.path.join(HERE, "limits.txt"), encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                found.append(tuple(w.strip() for w in line.split("|")[:3]))
    return found


def is_known(failure, known):
    """Is it a difference of a kind that is listed?"""
    return any(failure.prop in p and fnmatch.fnmatchcase(failure.way, w)
               and fnmatch.fnmatchcase(failure.symptom, s) for p, w, s in known)


def report(total, known, options, seconds):
    """Print what came of it; returns the exit status."""
    groups = collections.defaultdict(list)
    for f in total.failures:
        groups[is_known(f, known), f.prop, f.way, f.symptom].append(f)
    if options.list:
        for name, n in sorted(total.counts.items()):
            print("# %6d %s" % (n, name))
    unknown = 0
    for (listed, prop, way, symptom), found in sorted(groups.items(), key=lambda g: g[0]):
        unknown += 0 if listed else len(found)
        print("%s %5d (%s) %s | %s | seeds %s" % (
            "# known " if listed else "FAILED  ", len(found), prop, way, symptom,
            " ".join(str(f.seed) for f in found[:4])))
        if not listed:
            for line in found[0].details[:14]:
                print("             " + line.replace("\n", "\n             "))
    few = rare(total.counts) if options.enough else []
    for line in few:
        print("RARE     " + line)
    for line in total.broken:
        print("BROKEN   " + line)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print("# %d cells in %.0f s, %.2f s of a processor each; %d failures, %d of them known" % (
        total.counts["cells"], seconds,
        (used.ru_utime + used.ru_stime) / max(1, total.counts["cells"]),
        len(total.failures), len(total.failures) - unknown))
    # a script of the generator that git refuses in some rare state is no failure, but many are
    cells_run = total.counts["cells"]
    return 1 if unknown or few or len(total.broken) > 1 + cells_run // 30 or not cells_run else 0


def arguments():
    """The options of the command line."""
    parser = argparse.ArgumentParser(description="landing against git on random states")
    parser.add_argument("--cells", type=int, default=100, help="how many")
    parser.add_argument("--first", type=int, help="the first seed (default: of the time)")
    parser.add_argument("--seed", type=int, help="one cell, verbosely; the repository is kept")
    parser.add_argument("--properties", default="abc", help="some of abcd")
    parser.add_argument("--kills", default="1", help="of each command of a cell, or all (with d)")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--repo-size", type=int, default=0, help="further files of the base")
    parser.add_argument("--list", action="store_true", help="print how often what occurred")
    parser.add_argument("--enough", action="store_true", help="fail if something hardly occurred")
    options = parser.parse_args()
    options.verbose = options.seed is not None
    if options.verbose:
        options.cells, options.first, options.jobs = 1, options.seed, 1
    elif options.first is None:
        options.first = int(time.time()) % 100000000 * 10
    return options


def main():
    """Run the cells, and say what came of them."""
    options = arguments()
    directory = tempfile.mkdtemp(prefix="land-", dir=scratch())
    tasks = collections.defaultdict(list)
    for seed in range(options.first, options.first + options.cells):
        tasks[seed // cells.PER_SESSION].append(seed)
    print("# seeds %d to %d" % (options.first, options.first + options.cells - 1), flush=True)
    total, began = Result(), time.time()
    if options.jobs > 1:
        pool = multiprocessing.Pool(options.jobs, begin_job, (options, directory))
        results = pool.imap_unordered(job, tasks.items())
    else:
        begin_job(options, directory)
        results = map(job, tasks.items())
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        for result in results:
            total.failures += result.failures
            total.broken += result.broken
            total.counts.update(result.counts)
    except KeyboardInterrupt:
        print("# interrupted")
        if options.jobs > 1:
            pool.terminate()
    if options.jobs > 1:
        pool.close()
        pool.join()
    status = report(total, known_kinds(), options, time.time() - began)
    if options.verbose:
        print("# kept: " + directory)
    else:
        worlds.remove_tree(directory)
    return status


if __name__ == "__main__":
    sys.exit(main())
