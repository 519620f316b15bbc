/* SPDX-License-Identifier: MIT
 *
 * New files that shadow others: Python modules with the name of another one, and Node packages.
 */
#include <ctype.h>
#include <string.h>

#include "content.h"
#include "ga/base/path.h"
#include "ga/base/toml.h"

/* Modules that come with Python, and that programs import. */
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

/* Is it a directory that a program in it, or one started at the root, imports from first? */
static bool is_search_path(const char *dir)
{
	return !*dir || ga_has_word("src bin scripts tools", dir);
}

/* The module that a Python file in such a directory is, or NULL. */
static char *module_of(const char *path)
{
	const char *base = ga_path_base(path);
	size_t n = strlen(base);
	cleanup_free char *dir = NULL;

	if (n <= 3 || strcmp(base + n - 3, ".py") != 0)
		return NULL;
	dir = ga_path_parent(path);
	if (!strcmp(base, "__init__.py")) {
		cleanup_free char *above = ga_path_parent(dir);

		return *dir && is_search_path(above) ? ga_strdup(ga_path_base(dir)) : NULL;
	}
	return is_search_path(dir) ? ga_strndup(base, n - 3) : NULL;
}

/* Note the package that a requirement begins with, by its normalised name. */
static void add_required(struct ga_look *k, const char *s)
{
	static const char name_chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
					 "0123456789_-.";
	char *name = ga_strndup(s, strspn(s, name_chars));

	for (char *p = name; *p; p++)
		*p = *p == '-' ? '_' : (char)tolower((unsigned char)*p);
	ga_strv_take(&k->required.names, name);
	ga_strmap_add(&k->required.map, name, strlen(name), 0);
}

static void required_line(void *arg, char *line)
{
	add_required(arg, line + strspn(line, " \t"));
}

static void list_required(struct ga_look *k)
{
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	struct ga_entry e = ga_look_entry(k, k->new_tree, "requirements.txt");
	cleanup_json json_t *toml = NULL;
	json_t *v;
	size_t i;

	k->required.listed = true;
	if (e.mode == GA_MODE_FILE && !ga_look_blob(k, &e, GA_KNOWN_MAX, &text))
		ga_known_lines(&text, required_line, k);
	e = ga_look_entry(k, k->new_tree, "pyproject.toml");
	ga_buf_clear(&text);
	if (e.mode != GA_MODE_FILE || ga_look_blob(k, &e, GA_KNOWN_MAX, &text))
		return;
	toml = ga_toml_parse(&text);
	json_array_foreach(json_object_get(json_object_get(toml, "project"), "dependencies"), i, v)
		if (json_is_string(v))
			add_required(k, json_string_value(v));
}

static bool is_required(struct ga_look *k, const char *module)
{
	if (!k->required.listed)
		list_required(k);
	return ga_strmap_first(&k->required.map, module, strlen(module)) >= 0;
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
	else if (is_required(k, module))
		ga_look_fire(k, "py-shadow", ga_strdup("the project depends on it"));
}
