# SPDX-License-Identifier: MIT
#
# Sessions of one repository, started, killed, captured, landed and dropped at random by as many
# threads as run at once: python3 chaos.py REPO SEED AT_ONCE ROUNDS. A session notes in the agents'
# home what it wrote, after it wrote it: so whatever is killed, it is known what must not get lost.
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time

repo, seed, at_once, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
home = os.path.join(os.environ["HOME"], "aihome")
said = os.path.join(home, "said")
os.makedirs(said, exist_ok=True)
land_lock = threading.Lock()  # landing moves HEAD, one at a time as for a person
problems, landed, counts, lock = [], [], {}, threading.Lock()

# Writes one file after the other, commits some of them, and notes each.
WORK = r"""
mkdir -p "dir-$1"; i=0
while [ $i -lt "$2" ]; do
    echo "$1 $i" >"dir-$1/$i"
    [ $((i % 7)) != 3 ] || { git add -A && git commit -qm "$1 $i"; } 2>/dev/null
    echo "$i" >>"$HOME/said/$1"
    i=$((i + 1))
done
[ "$3" = 0 ] || sleep 600
"""


def count(what):
    with lock:
        counts[what] = counts.get(what, 0) + 1


def problem(name, *what):
    with lock:
        problems.append("%s: %s" % (name, " ".join(str(w) for w in what)))


def agent(*args):
    p = subprocess.run(["git-agent", *args], cwd=repo, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return p.returncode, p.stdout, p.stderr


def git(*args):
    return subprocess.run(["git", *args], cwd=repo, capture_output=True, text=True)


def written(name):
    try:
        with open(os.path.join(said, name)) as f:
            return [l for l in f.read().split("\n")[:-1]]
    except FileNotFoundError:
        return []


def family(top):
    """A process and all that descend from it."""
    children = {}
    for p in os.listdir("/proc"):
        if not p.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % p) as f:
                parent = int(f.read().rsplit(")", 1)[1].split()[1])
        except (OSError, IndexError):
            continue
        children.setdefault(parent, []).append(int(p))
    found, todo = [], [top]
    while todo:
        p = todo.pop()
        found.append(p)
        todo += children.get(p, [])
    return found


def kill_one(r, p, name, n):
    """Kill something of a session at any moment from its first to after its end."""
    until, moment = r.randrange(-10, n + 1), r.random() * 0.3
    if until < 0:
        time.sleep(moment)
    while len(written(name)) < until and p.poll() is None:
        time.sleep(0.005)
    while p.poll() is None:
        victims = family(p.pid)
        victim = p.pid if r.random() < 0.5 else r.choice(victims)
        count("killed supervisor" if victim == p.pid else "killed another")
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            continue
        # one that was not needed for the end, such as a git that ran just then
        for _ in range(40):
            if p.poll() is not None:
                return
            time.sleep(0.01)


def captured(name):
    """Whatever happened, all that was noted is on the branch, or there is no session."""
    rc, out, err = agent("capture", name)
    said_now = written(name)
    rc_list, listed, err_list = agent("list", "--json")
    if rc_list:
        problem(name, "list failed:", err_list)
        return False
    state = [s["state"] for s in json.loads(listed) if s["name"] == name]
    if state and state[0] not in ("captured", "landed"):
        problem(name, "state", state, "after capture", rc, err)
    tree = git("ls-tree", "-r", "--name-only", "agent/" + name, "--", "dir-" + name).stdout.split("\n")
    missing = [i for i in said_now if "dir-%s/%s" % (name, i) not in tree]
    if missing:
        problem(name, len(missing), "of", len(said_now), "files lost; capture said", rc, out, err)
    return bool(state) and bool(said_now)


def end(r, name):
    what = r.choice(("land", "land", "drop", "restore", "keep"))
    count(what)
    if what == "land":
        with land_lock:
            rc, out, err = agent("land", name)
            if rc:
                problem(name, "did not land:", rc, err)
            else:
                landed.append((name, written(name)))
        return
    if what == "keep":
        return
    rc, out, err = agent("drop", "--force", name)
    if rc:
        problem(name, "was not dropped:", rc, err)
    if what == "restore" and not rc:
        rc, out, err = agent("drop", "--restore", name)
        if rc:
            problem(name, "did not come back:", rc, err)
        captured(name)


def one(r, name):
    n, waits = r.randrange(5, 40), r.random() < 0.6
    p = subprocess.Popen(["git-agent", "start", "-q", "--name", name, "--", "sh", "-c", WORK, "work", name, str(n),
                          "1" if waits else "0"], cwd=repo, stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if waits:
        kill_one(r, p, name, n)
    err = p.communicate()[1].decode(errors="replace")
    if not waits and p.returncode:
        problem(name, "ended with", p.returncode, err)
    if captured(name):
        end(r, name)
    else:
        count("nothing written")


def worker(k):
    r = random.Random(seed * 1000 + k)
    for n in range(rounds):
        try:
            one(r, "w%dr%d" % (k, n))
        except Exception as e:
            problem("w%dr%d" % (k, n), repr(e))


threads = [threading.Thread(target=worker, args=(k,)) for k in range(at_once)]
for t in threads:
    t.start()
for t in threads:
    t.join()
for name, files in landed:
    there = git("ls-tree", "-r", "--name-only", "HEAD", "--", "dir-" + name).stdout.split("\n")
    for i in files:
        if "dir-%s/%s" % (name, i) not in there or not os.path.exists(os.path.join(repo, "dir-" + name, i)):
            problem(name, "landed, and lost", i)
            break
print("seed", seed, counts)
for p in problems:
    print(p)
sys.exit(bool(problems))
