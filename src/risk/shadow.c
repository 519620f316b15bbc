/* SPDX-License-Identifier: MIT
 *
 * New modules of Python with the name of another one, and packages of Node in the tree.
 */
#include <ctype.h>
#include <string.h>

#include "ga/path.h"
#include "ga/quote.h"
#include "known.h"

/* Modules that come with Python and that programs import. */
static const char stdlib[] =
	"abc argparse array ast asyncio base64 bdb binascii bisect builtins bz2 calendar cmath cmd "
	"code codecs collections colorsys compileall concurrent configparser contextlib "
	"contextvars copy copyreg csv ctypes curses dataclasses datetime dbm decimal difflib dis "
	"doctest email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch "
	"fractions ftplib functools gc getopt getpass gettext glob graphlib grp gzip hashlib heapq "
	"hmac html http imaplib importlib inspect io ipaddress itertools json keyword linecache "
	"locale logging lzma mailbox marshal math mimetypes mmap modulefinder multiprocessing "
	"netrc ntpath numbers opcode operator optparse os pathlib pdb pickle pickletools pkgutil "
	"platform plistlib poplib posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc "
	"queue quopri random re readline reprlib resource runpy sched secrets select selectors "
	"shelve shlex shutil signal site smtplib socket socketserver sqlite3 ssl stat statistics "
	"string stringprep struct subprocess symtable sys sysconfig syslog tarfile tempfile "
	"termios textwrap threading time timeit tkinter token tokenize tomllib trace traceback "
	"tracemalloc tty turtle types typing unicodedata unittest urllib uuid venv warnings wave "
	"weakref webbrowser wsgiref xml xmlrpc zipapp zipfile zipimport zlib zoneinfo";

/* Directories that a program of theirs, or one started at the top, imports from first. */
static bool is_search_path(const char *dir)
{
	static const char *const dirs[] = { "", "src", "bin", "scripts", "tools" };

	for (size_t i = 0; i < GA_NELEMS(dirs); i++)
		if (!strcmp(dir, dirs[i]))
			return true;
	return false;
}

/* The module that a path of Python is at the top of such a directory, or NULL. */
static char *module_of(const char *path)
{
	cleanup_free char *dir = ga_path_parent(path);
	const char *base = ga_path_base(path);
	size_t n = strlen(base);

	if (!strcmp(base, "__init__.py")) {
		cleanup_free char *above = ga_path_parent(dir);

		return *dir && is_search_path(above) ? ga_strdup(ga_path_base(dir)) : NULL;
	}
	if (n <= 3 || strcmp(base + n - 3, ".py") != 0 || !is_search_path(dir))
		return NULL;
	return ga_strndup(base, n - 3);
}

/* Is there "name" in a list of requirements, as a word that a version may follow? */
static bool requires(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = list; (p = strcasestr(p, name)); p += n)
		if ((p == list || strchr("\n\"'[,", p[-1])) &&
		    (!p[n] || strchr(" \n\r\"'<>=~!;[,", p[n])))
			return true;
	return false;
}

static bool is_declared(struct ga_look *k, const char *name)
{
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	cleanup_strv struct ga_strv values = GA_STRV_INIT;
	struct ga_entry e = ga_look_entry(k, k->new_tree, "requirements.txt");

	if (e.mode == GA_MODE_FILE && !ga_look_blob(k, &e, GA_KNOWN_MAX, &text) &&
	    requires(text.ptr, name))
		return true;
	e = ga_look_entry(k, k->new_tree, "pyproject.toml");
	ga_buf_clear(&text);
	if (e.mode != GA_MODE_FILE || ga_look_blob(k, &e, GA_KNOWN_MAX, &text) ||
	    !ga_toml_list(&text, &values))
		return false;
	for (size_t i = 0; i < values.n; i++)
		if (!strncmp(values.v[i], "project.dependencies = ", 23) &&
		    requires(values.v[i], name))
			return true;
	return false;
}

void ga_look_shadow(struct ga_look *k)
{
	cleanup_free char *module = NULL;

	if (k->c->old.mode != GA_MODE_NONE)
		return;
	if (!strncmp(k->folded, "node_modules/", 13) || strstr(k->folded, "/node_modules/"))
		ga_look_fire(k, "node-shadow", NULL);
	module = module_of(k->folded);
	if (!module)
		return;
	if (ga_has_word(stdlib, module))
		ga_look_fire(k, "py-shadow", ga_strdup("it comes with Python"));
	else if (is_declared(k, module))
		ga_look_fire(k, "py-shadow", ga_strdup("the project depends on it"));
}
