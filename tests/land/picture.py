# SPDX-License-Identifier: MIT
#
# Picture of a repository: everything that a landing may touch, as a dictionary from what it is to
# what it is like, and the comparison of two of them.
import hashlib
import os
import re
import stat

# What git keeps in the git directory while something is in progress: of the first the content
# counts, of the others only that they exist.
STATES = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "MERGE_AUTOSTASH", "SQUASH_MSG")
PRESENT = ("MERGE_MSG", "MERGE_MODE", "rebase-merge", "rebase-apply", "sequencer", "BISECT_LOG")
# assume-unchanged, intent-to-add, skip-worktree
SKIP = 0x40000000
MARKS = 0x8000 | 0x20000000 | SKIP
SIDE = re.compile(r"~([0-9a-f]{40}|agent_s)\b")
MARKER = re.compile(rb"^(<<<<<<<|>>>>>>>|\|\|\|\|\|\|\|) .*$", re.M)


def read(path):
    """Bytes of a file, or None."""
    try:
        with open(path, "rb") as f:
            return f.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except IsADirectoryError:
        return b"directory"


def take_files(top, into):
    """Files, links and directories of a working tree, without the git directory."""
    todo = [top]
    while todo:
        folder = todo.pop()
        for entry in os.scandir(folder):
            if entry.name == ".git":
                continue
            path = os.path.relpath(entry.path, top)
            mode = entry.stat(follow_symlinks=False).st_mode
            perm = stat.S_IMODE(mode)
            if stat.S_ISDIR(mode):
                into["file", path] = ("directory", perm, b"")
                todo.append(entry.path)
            elif stat.S_ISLNK(mode):
                into["file", path] = ("link", 0, os.readlink(os.fsencode(entry.path)))
            elif stat.S_ISREG(mode):
                into["file", path] = ("file", perm, read(entry.path))
            else:
                into["file", path] = ("other", perm, b"")


def take_refs(common, into):
    """All refs but those below refs/agent; returns them."""
    refs = {}
    for line in (read(os.path.join(common, "packed-refs")) or b"").decode().split("\n"):
        if line and line[0] not in "#^":
            oid, name = line.split(" ", 1)
            refs[name] = oid
    base = os.path.join(common, "refs")
    for folder, dirs, names in os.walk(base):
        if folder == base and "agent" in dirs:
            dirs.remove("agent")
        for name in names:
            path = os.path.join(folder, name)
            if not name.endswith(".lock"):
                refs[os.path.relpath(path, common)] = (read(path) or b"").decode().strip()
    for name, oid in refs.items():
        if not name.startswith("refs/agent/"):
            into["ref", name] = oid
    return refs


def take_index(world, top, into):
    """Entries of the index: stage, mode, id and marks."""
    shown = world.ask("ls-files", "-s", "-z", "--debug", cwd=top)
    # the first five lines of a part are about the entry that the part before named
    parts = shown.split("\0")
    for before, after in zip(parts, parts[1:]):
        meta, name = (before.split("\n", 5)[5] if before[:2] == "  " else before).split("\t", 1)
        mode, oid, stage = meta.split(" ")
        flags = int(after.split("\n", 5)[4].rsplit("flags: ", 1)[1], 16) & MARKS
        into["index", name + ("" if stage == "0" else ":" + stage)] = (mode, oid, flags)


def take_status(world, top, into):
    """What git status says, ignored files included."""
    status = world.ask("--no-optional-locks", "status", "--porcelain", "-uall", "--ignored",
                       "--no-renames", "-z", cwd=top)
    for entry in status.split("\0")[:-1]:
        into["status", entry[3:]] = entry[:2]


def take_sparse(world, top, into):
    """What a sparse checkout leaves in the index alone counts as being there: git takes a staged
    file outside of it out of the working tree at the next merge."""
    for (what, path), (mode, oid, flags) in [i for i in into.items() if i[0][0] == "index"]:
        if not flags & SKIP or ("file", path) in into or mode == "160000":
            continue
        kind = "link" if mode == "120000" else "file"
        perm = 0 if kind == "link" else int(mode[-3:], 8)
        into["file", path] = (kind, perm,
                              os.fsencode(world.ask("cat-file", "blob", oid, cwd=top)))
        into[what, path] = (mode, oid, flags & ~SKIP)
        while os.path.dirname(path):
            path = os.path.dirname(path)
            into.setdefault(("file", path), ("directory", 0o755, b""))


def take_states(gitdir, common, into):
    """What is in progress, locks, stashes and the configuration."""
    for name in STATES:
        content = read(os.path.join(gitdir, name))
        if content is not None:
            into["progress", name] = content
    for name in PRESENT:
        if os.path.lexists(os.path.join(gitdir, name)):
            into["progress", name] = b""
    for folder, dirs, names in os.walk(common):
        if folder == common:
            dirs[:] = [d for d in dirs if d not in ("objects", "git-agent", "modules")]
        for name in names:
            if name.endswith(".lock"):
                into["lock", os.path.relpath(os.path.join(folder, name), common)] = b""
    into["stash", ""] = read(os.path.join(common, "logs", "refs", "stash"))
    into["config", ""] = read(os.path.join(common, "config"))


def take(world, top=None, gitdir=None, common=None):
    """Picture of the working tree of a world, or of the one given."""
    top = top or world.top
    gitdir = gitdir or world.gitdir
    common = common or os.path.join(world.home, "r", ".git")
    into = {}
    head = (read(os.path.join(gitdir, "HEAD")) or b"").decode().strip()
    into["head", ""] = head
    refs = take_refs(common, into)
    if head.startswith("ref: "):
        into["commit", ""] = refs.get(head[5:], "")
    else:
        into["commit", ""] = head
    take_index(world, top, into)
    take_status(world, top, into)
    take_files(top, into)
    if os.path.exists(os.path.join(gitdir, "info", "sparse-checkout")):
        take_sparse(world, top, into)
    take_states(gitdir, common, into)
    sub = os.path.join(common, "modules", "sub")
    if os.path.exists(os.path.join(top, "sub", ".git")) and os.path.isdir(sub):
        for key, value in take(world, os.path.join(top, "sub"), sub, sub).items():
            into[("sub:" + key[0], key[1])] = value
    return into


def commit_of(world, picture):
    """The commit of a picture without new ids: its tree, and how many parents."""
    commit = picture["commit", ""]
    if not commit:
        return ""
    tree, *parents = world.ask("log", "-1", "--format=%T %P", commit).split()
    return "%s, parents: %d" % (tree, len(parents))


def by_content(world, picture):
    """The same without ids of commits that are rewritten: the tree in place of HEAD's commit."""
    head = picture["head", ""]
    own = ("ref", head[5:]) if head.startswith("ref: ") else None
    result = {k: v for k, v in picture.items() if k != own}
    result["commit", ""] = commit_of(world, picture)
    if not own:
        result["head", ""] = "detached"
    for key, value in picture.items():
        if key[0] == "file" and b"<<<<<<<" in value[2]:
            value = result[key] = value[:2] + (MARKER.sub(rb"\1", value[2]),)
        if "~" in key[1]:  # where a file cannot be beside a directory, git names it after the side
            result[key[0], SIDE.sub("~THEIRS", key[1])] = result.pop(key)
    return result


def blob_id(value):
    """Id that git would give the content of a file or link of a picture."""
    if not value:
        return ""
    return hashlib.sha1(b"blob %d\0" % len(value[2]) + value[2]).hexdigest()


def hooks_run(world):
    """Which user hooks have run, in their order."""
    return (read(os.path.join(world.home, "hooks.log")) or b"").decode().split()


def differences(one, two):
    """What differs, as (what, name, in the one, in the other)."""
    found = []
    for key in sorted(set(one) | set(two)):
        if one.get(key) != two.get(key):
            found.append((key[0], key[1], one.get(key), two.get(key)))
    return found


def kinds(found):
    """The differences as words, without names: what a kind of failure is recognized by."""
    words = set()
    for what, name, one, two in found:
        if what.endswith("file"):
            part = "directory" if "directory" in ((one or two)[0], (two or one)[0]) else "file"
            if one is None or two is None:
                words.add(part + (" extra" if one is None else " missing"))
            elif one[0] != two[0]:
                words.add("type")
            elif one[1] != two[1]:
                words.add(part + " mode")
            if one and two and one[2] != two[2]:
                words.add("content")
        elif what.endswith("index"):
            if one is None or two is None:
                words.add("entry" + (" extra" if one is None else " missing"))
            elif one[:2] != two[:2]:
                words.add("entry")
            elif one[2] != two[2]:
                words.add("marks")
        elif what in ("progress", "lock"):
            word = name.split("/")[-1] if what == "lock" else name
            words.add(what + " " + word + (" missing" if two is None else ""))
        elif what == "ref":
            words.add("ref " + name.replace("refs/heads/", ""))
        else:
            words.add(what)
    if words - {"status"}:
        words.discard("status")
    return ", ".join(sorted(words))


def without(picture, names):
    """A picture without some paths and the directories that lead to them."""
    parents = {"/".join(n.split("/")[:i]) for n in names for i in range(1, n.count("/") + 1)}
    hidden = set(names) | parents
    return {
        k: v
        for k, v in picture.items()
        if k[0] not in ("file", "status") or k[1] not in hidden
    }


def deleted(picture):
    """Paths that the user deleted, staged or not, marked or not."""
    return {
        k[1]
        for k, v in picture.items()
        if k[0] == "status" and "D" in v
        or k[0] == "index" and v[2] and ("file", k[1]) not in picture
    }


def describe(found, limit=12):
    """Lines that show differences to people."""
    lines = []
    for what, name, one, two in found[:limit]:
        lines.append("%s %s: %s -> %s" % (what, name, short(one), short(two)))
    if len(found) > limit:
        lines.append("and %d more" % (len(found) - limit))
    return lines


def short(value):
    """A value of a picture in a few characters."""
    if isinstance(value, tuple) and value and isinstance(value[-1], bytes):
        text = value[-1].decode("utf-8", "replace")
        mark = hashlib.sha1(value[-1]).hexdigest()[:7]
        return "%s %o %s %r" % (value[0], value[1], mark, text if len(text) < 90 else text[:90])
    return repr(value)
