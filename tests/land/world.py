# SPDX-License-Identifier: MIT
#
# A home directory in which one cell happens: a frozen environment, processes in it, and copies of
# it to go back to.
import os
import shutil
import subprocess

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("TEST_BUILDDIR", SOURCE)
SESSION = "s"
BRANCH = "agent/" + SESSION
KEPT = ("LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS")

GITCONFIG = """\
[user]
\tname = A U Thor
\temail = author@example.com
[init]
\tdefaultBranch = main
\ttemplateDir =
[advice]
\tdetachedHead = false
[protocol "file"]
\tallow = always
[gc]
\tauto = 0
[maintenance]
\tauto = false
"""


def show(command):
    """Print a command of one line or more, shortened."""
    text = "\\n".join(command.split("\n"))
    if command.count("\n") > 12 or len(text) < 200:
        text = command.replace("\n", "\n    | ")
    else:
        text = text[:90] + " ... " + text[-90:]
    print("    | " + text)


class Done:
    """What a process that ended has left: exit status and output as text."""

    def __init__(self, rc, out, err):
        self.rc, self.out, self.err = rc, out, err

    @property
    def text(self):
        """Both outputs, for messages."""
        return (self.out + self.err).strip()


class Broken(Exception):
    """The harness itself failed: neither git nor landing is to blame."""


class World:
    """HOME with the repository r, and what git-agent keeps in .local and aihome."""

    def __init__(self, directory, verbose=False):
        self.dir = directory
        self.home = os.path.join(directory, "home")
        self.verbose = verbose
        self.linked = False  # the user works in the linked working tree wt
        self.copies = 0
        os.makedirs(self.home)
        with open(os.path.join(self.home, ".gitconfig"), "w", encoding="utf-8") as f:
            f.write(GITCONFIG)
        self.env = {k: os.environ[k] for k in KEPT if k in os.environ}
        self.env.update(
            HOME=self.home,
            PATH=BUILD + ":" + os.environ["PATH"],
            LC_ALL="C",
            TZ="UTC",
            TERM="dumb",
            GIT_CONFIG_NOSYSTEM="1",
        )

    @property
    def top(self):
        """The working tree in which the user works."""
        return os.path.join(self.home, "wt" if self.linked else "r")

    @property
    def gitdir(self):
        """The git directory of that working tree."""
        common = os.path.join(self.home, "r", ".git")
        return os.path.join(common, "worktrees", "wt") if self.linked else common

    def run(self, *argv, cwd=None, data=None, env=None):
        """Run a program in the working tree."""
        if self.verbose:
            show("$ " + " ".join(argv))
        p = subprocess.run(
            argv,
            cwd=cwd or self.top,
            env={**self.env, **env} if env else self.env,
            input=data,
            stdin=subprocess.DEVNULL if data is None else None,
            capture_output=True,
            check=False,
        )
        done = Done(p.returncode, os.fsdecode(p.stdout), os.fsdecode(p.stderr))
        if self.verbose and (done.text or done.rc):
            print("\n".join("    " + line for line in done.text.split("\n")))
            print("    exit status %d" % done.rc)
        return done

    def git(self, *argv, cwd=None):
        """Run git, whatever comes of it."""
        return self.run("git", *argv, cwd=cwd)

    def ask(self, *argv, cwd=None):
        """Output of a git command that has to succeed."""
        p = subprocess.run(
            ("git", *argv),
            cwd=cwd or self.top,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if p.returncode:
            raise Broken("git %s: %s" % (" ".join(argv), os.fsdecode(p.stderr)))
        return os.fsdecode(p.stdout)

    def agent(self, *argv, cwd=None):
        """Run git-agent, whatever comes of it."""
        return self.run("git-agent", *argv, cwd=cwd)

    def script(self, lines, cwd=None):
        """Run shell commands that all have to succeed."""
        if not lines:
            return
        text = "set -e\n" + "\n".join(lines) + "\n"
        if self.verbose:
            for line in lines:
                show(line)
        p = subprocess.run(
            ("sh", "-c", text),
            cwd=cwd or self.top,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if p.returncode:
            raise Broken("script:\n%s\n%s" % (text, os.fsdecode(p.stdout + p.stderr)))

    def keep(self):
        """Copy the whole home, to go back to it by back(); returns its name."""
        self.copies += 1
        copy = os.path.join(self.dir, "kept.%d" % self.copies)
        copy_tree(self.home, copy)
        return copy

    def back(self, copy, last=False):
        """Make the home as it was at keep(); last: the copy is not needed any more."""
        self.copies += 1
        os.rename(self.home, os.path.join(self.dir, "gone.%d" % self.copies))
        if self.copies % 40 == 0:
            for name in os.listdir(self.dir):
                if name.startswith("gone."):
                    remove_tree(os.path.join(self.dir, name))
        if last:
            os.rename(copy, self.home)
        else:
            copy_tree(copy, self.home)
        self.refresh()

    def refresh(self):
        """Copies have other inodes: let the index know them, those of marked files as well."""
        marks = {"S": ["skip-worktree"], "h": ["assume-unchanged"],
                 "s": ["skip-worktree", "assume-unchanged"]}
        lines = self.ask("ls-files", "-v", "-z").split("\0")[:-1]
        marked = [(marks[line[0]], line[2:]) for line in lines if line[0] in marks
                  and os.path.lexists(os.path.join(self.top, line[2:]))]
        for names, path in marked:
            for name in names:  # git takes one of these at a time
                self.git("update-index", "--no-" + name, "--", path)
        self.git("update-index", "-q", "--refresh")
        for names, path in marked:
            for name in names:
                self.git("update-index", "--" + name, "--", path)

    def remove(self):
        """Remove all of it."""
        remove_tree(self.dir)


def copy_tree(source, target):
    """Copy with times, modes and links; what cannot be read is made readable first."""
    command = ("cp", "-a", "--", source, target)
    if subprocess.run(command, capture_output=True, check=False).returncode:
        # an overlay leaves directories and files without permissions
        subprocess.run(
            ("find", source, "-perm", "000", "-exec", "chmod", "700", "{}", ";"),
            check=False,
            capture_output=True,
        )
        remove_tree(target)
        p = subprocess.run(command, capture_output=True, check=False)
        if p.returncode:
            raise Broken(os.fsdecode(p.stderr))


def remove_tree(path):
    """Remove a directory, whatever its permissions are."""
    if subprocess.run(("rm", "-rf", "--", path), capture_output=True, check=False).returncode:
        subprocess.run(("chmod", "-R", "u+rwx", "--", path), capture_output=True, check=False)
        shutil.rmtree(path, ignore_errors=True)
