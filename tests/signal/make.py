# SPDX-License-Identifier: MIT
#
#     make.py TABLE | git fast-import
#
# Branches "SECTION" of a table of commits: each commit of it changes one tree by itself, the branch
# merges them all. A line is "COUNT PATH=CHANGE...", a number of commits; "%" in a path is another
# number for each. CHANGE: new, gone, edit, exec (a new program), bin, link:TARGET, say:TEXT, run:TEXT
# (a program); of a file that has a template below, dep, ver, cmd, list or doc change that part of
# it. In a word \s is a blank, \t, \n, \r and \xNN are what they are in C, in bytes. What comes behind
# "#" is the commit's message. A line that begins with a tab belongs to the one before. "! SEVERITY PATH
# TEXT" is a new file, "~ SEVERITY PATH OLD ==> NEW" one that changes, in a directory of its own.
import fnmatch, re, sys

TEMPLATES = {
    "package.json": '{\n  "name": "x",\n  "version": "@ver@",\n  "description": "@doc@",\n'
                    '  "scripts": {\n    "test": "node @cmd@"\n  },\n'
                    '  "dependencies": {\n    "left": "^@dep@"\n  }\n}\n',
    "*.lock": 'left@^1:\n  version "@dep@"\n  integrity sha512-@dep@\n',
    "Cargo.lock": 'version = 3\n\n[[package]]\nname = "left"\nversion = "@dep@"\n',
    "Cargo.toml": '[package]\nname = "x"\nversion = "@ver@"\ndescription = "@doc@"\n\n[dependencies]\nleft = "@dep@"\n',
    "go.mod": "module example.com/x\n\ngo 1.20\n\nrequire example.com/left v@dep@\n",
    "go.sum": "example.com/left v@dep@ h1:x=\nexample.com/left v@dep@/go.mod h1:x=\n",
    "requirements*": "left==@dep@\n",
    "*requirements/*.txt": "left==@dep@\n",
    "pyproject.toml": '[project]\nname = "x"\nversion = "@ver@"\ndescription = "@doc@"\n'
                      'dependencies = ["left>=@dep@"]\n\n[tool.ruff]\nselect = ["@list@"]\n',
    "tox.ini": "[testenv]\ncommands = pytest @cmd@\ndeps = left>=@dep@\n",
    ".pre-commit-config.yaml": "repos:\n- repo: https://example.com/lint\n  rev: v@dep@\n  hooks:\n  - id: lint\n",
    "setup.py": 'from setuptools import setup\nsetup(name="x", version="@ver@", install_requires=["left>=@dep@"])\n',
    "Makefile": "SRCS = a.c @list@\nall:\n\tcc -o x $(SRCS) @cmd@\n",
    "Makefile.am": "bin_PROGRAMS = x\nx_SOURCES = a.c @list@\nEXTRA_DIST = README @doc@\n"
                   "check-local:\n\t$(srcdir)/@cmd@\n",
    "CMakeLists.txt": "project(x VERSION @ver@)\nadd_library(x a.cc @list@)\n"
                      "add_custom_command(OUTPUT y COMMAND @cmd@)\n",
    "pom.xml": "<project>\n<version>@ver@</version>\n"
               "<dependency><artifactId>left</artifactId><version>@dep@</version></dependency>\n</project>\n",
    "build.gradle*": 'version = "@ver@"\ndependencies { implementation("example:left:@dep@") }\n'
                     'task x { doLast { @cmd@ } }\n',
    "Gemfile": "source 'https://example.com'\ngem 'left', '~> @dep@'\n",
    "*.gemspec": "Gem::Specification.new { |s| s.version = '@ver@' }\n",
    "Rakefile": "task :x do\n  sh '@cmd@'\nend\n",
    "composer.json": '{\n  "name": "x/x",\n  "require": {"left/left": "^@dep@"}\n}\n',
    "phpunit.xml*": '<phpunit bootstrap="vendor/autoload.php" colors="@doc@"></phpunit>\n',
    "*.yml": "on: push\njobs:\n  t:\n    runs-on: ubuntu\n    steps:\n"
             "    - uses: actions/checkout@v@dep@\n    - run: make @cmd@\n",
    "Dockerfile": "FROM debian:@dep@\nRUN apt-get install @cmd@\n",
    ".gitignore": "*.o\n@list@\n",
    "tsconfig.json": '{\n  "compilerOptions": {"target": "@doc@"}\n}\n',
    "*.config.*": "export default { input: '@cmd@' }\n",
    ".eslintrc*": '{"rules": {"@list@": 1}}\n',
    ".gitattributes": "*.c text\n*.@list@ eol=lf\n",
    "conftest.py": "import pytest\nX = '@cmd@'\n",
}
PARTS = {"dep": ("1.0.0", "1.1.0"), "ver": ("2.0.0", "2.0.1"), "cmd": ("one", "two"), "list": ("b", "b c"),
         "doc": ("old", "new")}


def template(path):
    name = path.split("/")[-1]
    for pattern, text in sorted(TEMPLATES.items(), key=lambda x: ("*" in x[0], -len(x[0]))):
        if fnmatch.fnmatchcase(path if "/" in pattern else name, pattern):
            return text
    return "".join("line %d\n" % i for i in range(20)) + "@cmd@\n"


def fill(path, changed):
    text = template(path)
    for part, (old, new) in PARTS.items():
        text = text.replace("@%s@" % part, new if part == changed else old)
    return text.encode()


MODES = {"link": "120000", "say": "100644", "run": "100755"}


def new_file(path, change):
    kind, colon, text = change.partition(":")
    if colon:
        return MODES[kind], text.encode("latin-1")
    if change == "exec":
        return "100755", b"#!/bin/sh\necho\n"
    if change == "bin":
        return "100644", bytes(range(256)) * 4
    if change == "new":
        return "100644", fill(path, None)
    part = "cmd" if change == "edit" else change
    if part not in PARTS or b"@" not in template(path).encode() or fill(path, part) == fill(path, None):
        sys.exit("no such change: %s=%s" % (path, change))
    return "100644", fill(path, part)


def data(b):
    return b"data %d\n%s\n" % (len(b), b)


def commit(out, branch, mark, parents, message, files):
    out.write(b"commit refs/heads/%s\nmark :%d\n" % (branch.encode(), mark))
    out.write(b"committer A U Thor <author@example.com> %d +0000\n" % (1900000000 + mark))
    out.write(data(message.encode()))
    for i, p in enumerate(parents):
        out.write(b"%s :%d\n" % (b"merge" if i else b"from", p))
    for path, f in files:
        quoted = b'"%s"' % b"".join(b"\\%03o" % c for c in path.encode("latin-1"))
        out.write(b"D %s\n" % quoted if f is None else b"M %s inline %s\n%s" % (f[0].encode(), quoted, data(f[1])))


def unescape(word):
    named = {"s": " ", "t": "\t", "n": "\n", "r": "\r"}
    return re.sub(r"\\(s|t|n|r|x[0-9a-f]{2})", lambda m: named.get(m[1]) or chr(int(m[1][1:], 16)), word)


def main():
    sections, before, number, mark, out = {}, {}, 0, 0, sys.stdout.buffer
    for line in open(sys.argv[1], encoding="ascii").read().replace("\n\t", " ").splitlines():
        if line.startswith("["):
            name = line.strip("[]")
            commits = sections.setdefault(name, [])
        elif line.startswith("! "):
            number += 1
            _, severity, path, text = line.split(" ", 3)
            commits.append(("%s %s: %s" % (severity, path, text), [[path, "say:" + unescape(text) + "\n"]]))
        elif line.startswith("~ "):
            number += 1
            _, severity, path, text = line.split(" ", 3)
            was, text = (unescape(t) for t in text.split(" ==> "))
            path = "%d/%s" % (number, path)
            commits.append(("%s %s" % (severity, line.split(" ", 2)[2]), [[path, "say:" + text]]))
            before.setdefault(name, {})[path] = new_file(path, "say:" + was)
        elif line and not line.startswith("#"):
            count, _, rest = line.partition(" ")
            words, _, message = rest.partition(" # ")
            for _ in range(int(count)):
                number += 1
                files = [w.replace("%", str(number)).split("=", 1) for w in words.split()]
                commits.append((message or words, [[unescape(x) for x in f] for f in files]))
    for name, commits in sections.items():
        old = {p: ("100644", fill(p, None)) for _, files in commits for p, c in files
               if c in PARTS or c in ("edit", "gone")}
        old.update(before.get(name, {}))
        mark += 1
        base = mark
        commit(out, name, mark, [], "base", sorted(old.items()))
        tips = []
        for message, files in commits:
            mark += 1
            tips.append(mark)
            out.write(b"reset refs/heads/%s\nfrom :%d\n\n" % (name.encode(), base))
            commit(out, name, mark, [base], message, [(p, None if c == "gone" else new_file(p, c)) for p, c in files])
        while len(tips) > 1:
            mark += 1
            commit(out, name, mark, tips[:16], "merge", [])
            tips = tips[16:] + [mark]


if __name__ == "__main__":
    main()
