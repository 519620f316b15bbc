# SPDX-License-Identifier: MIT
#
# Whoever changes files, the user or the agent: a model of the working tree, random changes of it,
# and the shell commands that make them.
import collections
import shlex

Node = collections.namedtuple("Node", "kind text")  # kind: file, exec or link

LINES = 12
# names that both sides may come to use: collisions are wanted
NEW = ("n1", "n2", "d/n3", "e/n4", "e/m/n5", "x.ign", "out/n6")
MOVED = ("moved", "d/moved", "e/moved", "e/m/moved")
ODD = ("sp ace", 'q"uote', "t\tab", "\u00fcml", "-dash", "back\\slash", "d/new\nline", "[a]*")
IGNORED = (".ign", "out/")


def text(name):
    """What a file of the base has."""
    return "".join("%s %d\n" % (name, n) for n in range(1, LINES + 1))


def base_tree(features):
    """The files of the first commit."""
    tree = {n: Node("file", text(n)) for n in ("a", "b", "c", "old", "d/f", "d/g/h", "d2/i", "k/l")}
    tree["run"] = Node("exec", text("run"))
    tree["link"] = Node("link", "a")
    tree[".gitignore"] = Node("file", "*.ign\n/out/\n")
    attributes = ""
    if "crlf" in features:
        attributes += "*.crlf text eol=crlf\n"
        tree["w.crlf"] = Node("file", text("w").replace("\n", "\r\n"))
    if "filter" in features:
        attributes += "*.big filter=big\n"
        tree["v.big"] = Node("file", text("v"))
        tree["d/u.big"] = Node("file", text("u"))
    if attributes:
        tree[".gitattributes"] = Node("file", attributes)
    if "odd" in features:
        tree.update((n, Node("file", text("odd"))) for n in ODD)
    return tree


def ignored(path):
    """Do the rules of the base ignore this path?"""
    return path.endswith(".ign") or path.startswith("out/")


def quote(word):
    """A word for the shell that no command takes for an option."""
    return shlex.quote("./" + word if word.startswith("-") else word)


def literal(path):
    """A pathspec for exactly this path."""
    return shlex.quote(":(top,literal)" + path)


class Hand:
    """Makes changes in a working tree: `tree` is what it then is, `lines` are the commands."""

    def __init__(self, rng, tree, who, counts):
        self.rng, self.tree, self.who, self.counts = rng, dict(tree), who, counts
        self.lines, self.commits = [], 0
        self.touched = set()
        self.spots = (1, 5) if who == "agent" else (8, 12)

    # ---- changes of a named path

    def put(self, path, node):
        """Write a file or link, in place of what is at the path."""
        self.touched.add(path)
        self.tree[path] = node
        lines = self.lines
        if "/" in path:
            lines.append("mkdir -p -- " + quote(path.rsplit("/", 1)[0]))
        if node.kind == "link":
            lines.append("ln -sfn -- %s %s" % (quote(node.text), quote(path)))
        else:
            lines.append("printf %%s %s >%s" % (shlex.quote(node.text), quote(path)))
            if node.kind == "exec":
                lines.append("chmod +x -- " + quote(path))

    def remove(self, path):
        """Remove a file and the directories that are empty then."""
        self.touched.add(path)
        del self.tree[path]
        self.lines.append("rm -f -- " + quote(path))
        self.prune(path)

    def prune(self, path):
        """Remove directories that have become empty."""
        while "/" in path:
            path = path.rsplit("/", 1)[0]
            if any(p.startswith(path + "/") for p in self.tree):
                break
            self.lines.append("rmdir -- %s 2>/dev/null || :" % quote(path))

    def free(self, path):
        """Could there be a file: nothing is there, and no file where it needs a directory?"""
        parts = path.split("/")
        return (
            path not in self.tree
            and not any("/".join(parts[:i]) in self.tree for i in range(1, len(parts)))
            and not any(p.startswith(path + "/") for p in self.tree)
        )

    def plain(self):
        """Paths with lines to edit."""
        return sorted(
            p for p, n in self.tree.items() if n.kind != "link" and not p.startswith(".git")
        )

    # ---- random changes; each returns the path, or None if it cannot be made

    def edit(self, path=None):
        """Change one line of a file."""
        path = path or self.some(self.plain())
        if not path or self.tree[path].kind == "link":
            return None
        node = self.tree[path]
        lines = node.text.split("\n")
        low, high = self.spots if self.rng.random() < 0.8 else (1, LINES)
        spot = min(self.rng.randint(low, high), len(lines)) - 1
        end = "\r" if lines[spot].endswith("\r") else ""
        lines[spot] = "%s %d" % (self.who, self.rng.randrange(3)) + end
        changed = Node(node.kind, "\n".join(lines))
        if changed == node:
            return None
        self.touched.add(path)
        self.tree[path] = changed
        self.lines.append("printf %%s %s >%s" % (shlex.quote(changed.text), quote(path)))
        return path

    def add(self, names=NEW):
        """A file that is new."""
        path = self.some([p for p in names if self.free(p)])
        if path:
            same = self.rng.random() < 0.15
            lines = "same\n" if same else "%s %d\n" % (self.who, self.rng.randrange(3))
            kind = "exec" if self.rng.random() < 0.1 else "file"
            self.put(path, Node(kind, lines * self.rng.randrange(4)))
        return path

    def delete(self):
        """Remove a file."""
        path = self.some(sorted(self.own()))
        if path:
            self.remove(path)
        return path

    def rename(self):
        """Move a file elsewhere, perhaps with a change in it."""
        old = self.some(self.plain())
        new = self.some([p for p in MOVED if self.free(p)])
        if not old or not new:
            return None
        node = self.tree[old]
        if "/" in new:
            self.lines.append("mkdir -p -- " + quote(new.rsplit("/", 1)[0]))
        self.lines.append("mv -- %s %s" % (quote(old), quote(new)))
        del self.tree[old]
        self.tree[new] = node
        self.touched |= {old, new}
        self.prune(old)
        if self.rng.random() < 0.4:
            self.edit(new)
        return new

    def rename_directory(self):
        """Move a whole directory."""
        if not self.free("dd") or not any(p.startswith("d/") for p in self.tree):
            return None
        if "d/new\nline" in self.tree:
            return None
        for p in [p for p in self.tree if p.startswith("d/")]:
            self.tree["d" + p] = self.tree.pop(p)
            self.touched |= {p, "d" + p}
        self.lines.append("mv d dd")
        return "dd"

    def swap(self):
        """A directory in place of a file, or the reverse."""
        if self.rng.random() < 0.5:
            path = self.some([p for p in ("a", "old", "run", "d/f") if p in self.tree])
            if not path:
                return None
            self.remove(path)
            self.put(path + "/in", Node("file", self.who + " in\n"))
            return path + "/in"
        path = self.some([d for d in ("d/g", "d2", "k") if self.below(d)])
        if not path:
            return None
        for p in self.below(path):
            self.remove(p)
        self.put(path, Node("file", self.who + " file\n"))
        return path

    def below(self, folder):
        """Paths in a directory."""
        return sorted(p for p in self.tree if p.startswith(folder + "/"))

    def mode(self):
        """Make a file executable, or not."""
        path = self.some(self.plain())
        if path:
            node = self.tree[path]
            kind = "file" if node.kind == "exec" else "exec"
            self.tree[path] = Node(kind, node.text)
            self.lines.append("chmod %sx -- %s" % ("+" if kind == "exec" else "-", quote(path)))
            self.touched.add(path)
        return path

    def link(self):
        """A link in place of a file, or another target of one."""
        path = self.some([p for p in ("link", "b", "d/f", "run") if p in self.tree])
        if path:
            self.lines.append("rm -f -- " + quote(path))
            self.put(path, Node("link", self.rng.choice(("b", "nowhere", "d"))))
        return path

    # ---- choosing

    def some(self, names):
        """One of these, or None."""
        return self.rng.choice(names) if names else None

    def own(self):
        """Paths that are not for git itself."""
        return [p for p in self.tree if not p.startswith(".git")]

    def change(self, table):
        """One change, chosen by the weights of a table {name: weight}; counted."""
        for _ in range(8):
            name = self.rng.choices(list(table), list(table.values()))[0]
            path = getattr(self, name)()
            if path is not None:
                self.counts[self.who + ": " + name.replace("_", " ")] += 1
                return path
        return None

    def commit(self, message=None):
        """Commit everything."""
        self.commits += 1
        message = message or "%s %d" % (self.who, self.commits)
        self.lines.append("git add -A --sparse")
        self.lines.append("git commit -q --allow-empty -m " + shlex.quote(message))
