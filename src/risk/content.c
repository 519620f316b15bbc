/* SPDX-License-Identifier: MIT
 *
 * Inspect the type of a file and the lines added to it, without regular expressions, so that no
 * content can make it slow.
 */
#include <ctype.h>
#include <string.h>

#include "content.h"
#include "ga/base/path.h"
#include "ga/base/toml.h"
#include "ga/repo/history.h"
#include "ga/repo/lfs.h"
#include "ga/secret/secret.h"
#include "risk/internal.h"

/* Find secrets that a commit would publish, by the scanner of ga/secret/secret.h. No value is kept
 * or shown. */

/* Marks of certain secrets in any file, and of likely ones. */
enum {
	SURE = GA_MARK_KEY | GA_MARK_TOKEN | GA_MARK_JWK | GA_MARK_PGP_SECRET,
	LIKELY = GA_MARK_KEY_LOCKED | GA_MARK_LOGIN,
};

static void check_content(struct ga_inspect *k, const struct ga_buf *old,
			  const struct ga_secret_marks *is)
{
	const struct ga_secret found = { .tier = GA_TIER_BLOCK, /* the reason says what it is */
					 .bits = is->bits & (SURE | LIKELY),
					 .token = is->token };
	cleanup_free char *reason = NULL;
	struct ga_secret_marks was;

	if (!found.bits)
		return;
	ga_secret_scan(k->c->path, old->ptr, old->len, &was);
	/* nothing new if the old version has it too */
	if ((was.bits & found.bits) == found.bits && ga_secret_within(is, &was))
		return;
	reason = ga_secret_reason(&found);
	ga_fire_rule_as(k, "secret-content", found.bits & SURE ? GA_HIGH : GA_MEDIUM,
			ga_strdup(reason + strspn(reason, ": ")));
}

static void check_name(struct ga_inspect *k, const struct ga_secret_marks *marks)
{
	struct ga_secret_name name;
	struct ga_secret found;

	if (!ga_secret_named_folded(ga_inspect_secret_names(k), k->folded, &name))
		return;
	ga_secret_judge(&name, k->c->path, marks, &found);
	if (found.tier >= GA_TIER_WARN)
		ga_fire_rule_as(k, "secret-file", found.tier == GA_TIER_BLOCK ? GA_HIGH : GA_MEDIUM,
				ga_secret_reason(&found));
}

/* Of the two versions of a file */
static void ga_inspect_leaks(struct ga_inspect *k, const struct ga_buf *old,
			     const struct ga_buf *text)
{
	struct ga_secret_marks marks;

	ga_secret_scan(k->c->path, text->ptr, text->len, &marks);
	check_content(k, old, &marks);
	check_name(k, &marks);
}

/* New files that shadow others: Python modules with the name of another one, and Node packages. */

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

static void add_required(struct ga_inspect *k, const char *s)
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

static void list_required(struct ga_inspect *k)
{
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	struct ga_entry e = ga_inspect_entry(k, k->new_tree, "requirements.txt");
	cleanup_json json_t *toml = NULL;
	json_t *v;
	size_t i;

	k->required.listed = true;
	if (e.mode == GA_MODE_FILE && !ga_inspect_blob(k, &e, GA_KNOWN_MAX, &text))
		ga_known_lines(&text, required_line, k);
	e = ga_inspect_entry(k, k->new_tree, "pyproject.toml");
	ga_buf_clear(&text);
	if (e.mode != GA_MODE_FILE || ga_inspect_blob(k, &e, GA_KNOWN_MAX, &text))
		return;
	toml = ga_toml_parse(&text);
	json_array_foreach(json_object_get(json_object_get(toml, "project"), "dependencies"), i, v)
		if (json_is_string(v))
			add_required(k, json_string_value(v));
}

static bool is_required(struct ga_inspect *k, const char *module)
{
	if (!k->required.listed)
		list_required(k);
	return ga_strmap_first(&k->required.map, module, strlen(module)) >= 0;
}

void ga_inspect_shadowing(struct ga_inspect *k)
{
	cleanup_free char *module = NULL;

	if (k->c->old.mode != GA_MODE_NONE)
		return;
	if (!strncmp(k->folded, "node_modules/", 13) || strstr(k->folded, "/node_modules/"))
		ga_fire_rule(k, "node-shadow", NULL);
	module = module_of(k->folded);
	if (!module)
		return;
	if (ga_has_word(stdlib, module))
		ga_fire_rule(k, "py-shadow", ga_strdup("it comes with Python"));
	else if (is_required(k, module))
		ga_fire_rule(k, "py-shadow", ga_strdup("the project depends on it"));
}

enum { HEAD = 8000 };

static bool starts(const struct ga_buf *b, const char *magic, size_t n)
{
	return b->len >= n && !memcmp(b->ptr, magic, n);
}
#define STARTS(b, magic) starts((b), (magic), sizeof(magic) - 1)

static bool is_program(const struct ga_buf *b)
{
	return STARTS(b, "\177ELF") || STARTS(b, "\xfe\xed\xfa\xce") ||
	       STARTS(b, "\xfe\xed\xfa\xcf") || STARTS(b, "\xce\xfa\xed\xfe") ||
	       STARTS(b, "\xcf\xfa\xed\xfe") || STARTS(b, "\xca\xfe\xba\xbe") ||
	       STARTS(b, "MZ") || STARTS(b, "dex\n03") || STARTS(b, "\0asm") ||
	       STARTS(b, "!<arch>\n") || STARTS(b, "\xed\xab\xee\xdb") ||
	       STARTS(b, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1");
}

/* Pictures, sounds and fonts, which are binary and expected to be. */
static bool is_media(const struct ga_buf *b)
{
	return STARTS(b, "\x89PNG\r\n") || STARTS(b, "\xff\xd8\xff") || STARTS(b, "GIF8") ||
	       (STARTS(b, "RIFF") && b->len > 12) || STARTS(b, "\0\0\1\0") || STARTS(b, "BM") ||
	       STARTS(b, "wOFF") || STARTS(b, "wOF2") || STARTS(b, "\0\1\0\0\0") ||
	       STARTS(b, "OTTO") || STARTS(b, "ID3") || STARTS(b, "OggS") ||
	       STARTS(b, "fLaC") || STARTS(b, "II*\0") || STARTS(b, "MM\0*") ||
	       (b->len > 12 && !memcmp(b->ptr + 4, "ftyp", 4));
}

/* Does it have many bytes that text in a usual encoding has not? */
static bool is_garbled(const struct ga_buf *b)
{
	size_t n = b->len < HEAD ? b->len : HEAD, odd = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)b->ptr[i];

		odd += (c < ' ' && !memchr("\b\t\n\v\f\r\033", c, 7)) || c == 0x7f;
	}
	return odd * 20 > n;
}

/* Does it have a media file's name? A script may begin with the bytes of one and run all the same.
 */
static bool is_called_media(const char *base)
{
	static const char names[] = "png jpg jpeg gif webp ico cur bmp tif tiff avif heic woff "
				    "woff2 ttf otf mp3 mp4 m4a m4v mov wav avi ogg oga ogv opus "
				    "flac";
	const char *dot = strrchr(base, '.');

	return dot && ga_has_word(names, dot + 1);
}

/* The data appended to a picture, which other programs would read; NULL if none is found. */
static const char *behind_media(const struct ga_buf *b)
{
	static const char png_end[] = { 0, 0, 0, 0, 'I', 'E', 'N', 'D', '\xae', 'B', '`', '\x82' };
	enum { ZIP_END_MAX = 22 + 65535 };
	size_t tail = b->len < ZIP_END_MAX ? b->len : ZIP_END_MAX;
	const char *end;

	if (memmem(b->ptr + b->len - tail, tail, "PK\5\6", 4))
		return "an archive is behind the picture";
	if (!STARTS(b, "\x89PNG\r\n"))
		return NULL;
	end = memmem(b->ptr, b->len, png_end, sizeof(png_end));
	return end && end + sizeof(png_end) != b->ptr + b->len ?
		       "something is behind the end of the picture" : NULL;
}

/* Is it media only, as its name says? */
static bool check_binary(struct ga_inspect *k, const struct ga_buf *b)
{
	const char *behind = NULL;

	if (is_media(b) && is_called_media(k->base) && !(behind = behind_media(b)))
		return true;
	ga_fire_rule(k, "binary-blob", behind ? ga_strdup(behind) : NULL);
	return false;
}

/* A new document with scripts in it is expected only where a project keeps its pages. */
static void check_document(struct ga_inspect *k)
{
	static const char dirs[] = "docs doc web www public static assets site html templates "
				   "views "
				   "resources res images img icons test tests fixtures examples "
				   "data src app";
	const char *p = k->folded;

	if (k->c->old.mode != GA_MODE_NONE || !ga_has_fired(k, "active-document"))
		return;
	/* if it is a tool's file, the rule about that says more */
	for (size_t i = 0; i < k->n; i++)
		if (k->v[i].rank && k->v[i].severity >= GA_MEDIUM)
			return;
	for (const char *slash; (slash = strchr(p, '/')); p = slash + 1) {
		cleanup_free char *dir = ga_strndup(p, (size_t)(slash - p));

		if (ga_has_word(dirs, dir))
			return;
	}
	ga_add_detail(k, "active-document", GA_MEDIUM, ga_strdup("not where pages usually are"));
}

/* ---- modes and names that depend on content ----------------------------- */

static bool on_path_like_dir(const struct ga_inspect *k)
{
	cleanup_free char *dir = ga_path_parent(k->folded);

	return !*dir || ga_has_word("bin .bin sbin tools", ga_path_base(dir));
}

static bool common_command(const char *name)
{
	static const char commands[] =
		"git ls cd cat cp mv rm less more grep rg find sed awk tar node npm npx yarn pnpm "
		"bun deno pip pip3 uv poetry make cmake ninja gcc cc clang cargo rustc go java mvn "
		"gradle ruby gem bundle rake php composer perl docker podman kubectl terraform "
		"ssh scp curl wget code vim nvim vi emacs nano sudo su bash sh zsh fish env which "
		"man gh glab tmux direnv claude codex gemini opencode";

	return ga_has_word(commands, name) || (!strncmp(name, "python", 6) &&
					       !name[6 + strspn(name + 6, "0123456789.")]);
}

static void check_exec(struct ga_inspect *k, const struct ga_buf *text)
{
	bool runs;

	if (k->c->new.mode != GA_MODE_EXEC || k->c->old.mode == GA_MODE_EXEC)
		return;
	/* a script is an explicit step; what cannot be read is not */
	runs = is_program(text) || (!STARTS(text, "#!") && on_path_like_dir(k));
	ga_fire_rule_as(k, "exec-bit-added", runs ? GA_HIGH : GA_MEDIUM, NULL);
	if (on_path_like_dir(k) && common_command(k->base))
		ga_fire_rule(k, "path-shadow-bin", NULL);
}

/* Do its first bytes, name or mode say that it is executable? */
static bool may_run(const struct ga_inspect *k, const struct ga_buf *text)
{
	return STARTS(text, "#!") || ga_secret_is_code(k->folded) ||
	       ga_reach_is_script(k->folded) || k->c->new.mode == GA_MODE_EXEC ||
	       ga_has_fired(k, "scripts-by-convention");
}

/* If the host has the LFS filter, checking out a pointer fetches an object that is not there. */
static void check_lfs(struct ga_inspect *k, const struct ga_buf *text)
{
	static const struct {
		enum ga_severity severity;
		const char *reason;
	} as[] = {
		[GA_LFS_HERE] = { GA_MEDIUM, "its object is here" },
		[GA_LFS_ABSENT] = { GA_CRITICAL, "git-lfs on this host would fetch it" },
		[GA_LFS_ODD] = { GA_CRITICAL, "git-lfs on this host would remove the object of "
					      "that id, which has another size" },
	};
	struct ga_lfs_pointer p;
	enum ga_lfs_have have = GA_LFS_ABSENT;

	if (!ga_lfs_is_pointer(text->ptr, text->len))
		return;
	if (may_run(k, text))
		ga_fire_uninspected(k, "its content is an LFS object", NULL);
	if (!k->host || !ga_strv_has(&k->host->drivers, "filter:lfs")) {
		ga_fire_rule(k, "lfs-pointer-change", NULL);
		return;
	}
	/* if only git-lfs can parse it, its object was not searched for: it counts as absent */
	if (k->host->lfs_store && ga_lfs_parse(text->ptr, text->len, &p))
		have = ga_lfs_find(k->host->lfs_store, &p);
	ga_fire_rule_as(k, "lfs-pointer-change", as[have].severity, ga_strdup(as[have].reason));
}

static void check_minified(struct ga_inspect *k, const struct ga_buf *text)
{
	static const char sources[] =
		"js mjs cjs ts jsx tsx css py rb php sh go c h java lua pl rs";
	const char *dot = strrchr(k->base, '.');
	bool source = dot && ga_has_word(sources, dot + 1);
	size_t lines = 1;

	for (size_t pos = 0, n; source && ga_buf_next_line(text, &pos, &n); lines++)
		if (n > 5000) {
			ga_fire_rule(k, "minified", ga_strf("a line of %zu bytes", n));
			return;
		}
	if (source && text->len > 5000 && text->len / lines > 500)
		ga_fire_rule(k, "minified", ga_strf("%zu bytes a line", text->len / lines));
}

/* ---- added text ----------------------------------------------------------- */

/* Lines of `text` that `old` has nowhere, each with its newline; NUL becomes a
 * space, so that the result is a string. Returns how many. */
static size_t added_lines(const struct ga_buf *old, const struct ga_buf *text, struct ga_buf *out)
{
	cleanup_strmap struct ga_strmap lines = GA_STRMAP_INIT;
	size_t pos = 0, n, count = 0;
	const char *s;

	while ((s = ga_buf_next_line(old, &pos, &n)))
		if (ga_strmap_first(&lines, s, n) < 0)
			ga_strmap_add(&lines, s, n, 0);
	/* A byte order mark is expected here and nowhere else. */
	pos = STARTS(text, "\xef\xbb\xbf") ? 3 : 0;
	while ((s = ga_buf_next_line(text, &pos, &n))) {
		if (ga_strmap_first(&lines, s, n) >= 0)
			continue;
		ga_buf_add(out, s, n);
		ga_buf_addch(out, '\n');
		count++;
	}
	for (size_t i = 0; i < out->len; i++)
		if (!out->ptr[i])
			out->ptr[i] = ' ';
	return count;
}

/* The first line that is not blank, trimmed; NULL: none. */
static char *first_nonblank(const struct ga_buf *lines)
{
	size_t pos = 0, n;
	const char *s;

	while ((s = ga_buf_next_line(lines, &pos, &n))) {
		cleanup_free char *line = ga_strndup(s, n);
		const char *start = line + strspn(line, " \t\r");

		if (strlen(start) > 3 && !strchr("#/*-<", *start))
			return ga_strdup(start);
	}
	return NULL;
}

/* A path rule without a detail shows an added line. */
static void add_first_line(struct ga_inspect *k, const struct ga_buf *added)
{
	cleanup_free char *line = first_nonblank(added);

	for (size_t i = 0; line && i < k->n; i++) {
		struct ga_pending *p = &k->v[i];
		struct ga_buf b = GA_BUF_INIT;

		if (!p->rank || p->detail || p->severity < GA_HIGH ||
		    !strcmp(p->rule->category, "secrets"))
			continue;
		ga_buf_adds(&b, "adds ");
		ga_risk_quote_start(&b, line);
		p->detail = ga_buf_steal(&b);
	}
}

static void check_text(struct ga_inspect *k, const struct ga_buf *old, const struct ga_buf *text)
{
	cleanup_buf struct ga_buf added = GA_BUF_INIT;

	if (old->len == text->len && !memcmp(old->ptr, text->ptr, old->len))
		return; /* only the mode changed */
	k->added.lines += added_lines(old, text, &added);
	ga_text_characters(k, &added);
	ga_text_lines(k, &added);
	ga_text_guards(k, old, text);
	ga_text_hidden(k, old, text, &added);
	ga_text_modelines(k, old, text);
	check_minified(k, text);
	ga_inspect_known(&(struct ga_known){ .k = k, .old = old, .text = text, .added = &added });
	add_first_line(k, &added);
}

/* A file with a NUL in it. Shells, git and parsers of settings read it all the same, so it is
 * checked as text. A review shows its beginning at most. */
static void check_with_nul(struct ga_inspect *k, const struct ga_buf *old,
			   const struct ga_buf *text)
{
	cleanup_buf struct ga_buf added = GA_BUF_INIT;
	bool media = check_binary(k, text);

	if (may_run(k, text) || (!media && !is_garbled(text))) {
		ga_fire_uninspected(k, "a NUL makes it binary, and yet it reads as text or may run",
				    NULL);
		check_text(k, old, text);
		return;
	}
	(void)added_lines(old, text, &added);
	ga_inspect_known(&(struct ga_known){ .k = k, .old = old, .text = text, .added = &added });
}

static bool is_regular(const struct ga_entry *e)
{
	return e->mode == GA_MODE_FILE || e->mode == GA_MODE_EXEC;
}

/* Read both versions, and flag what a review cannot show. A new one that cannot be read is left
 * empty; without the old one, everything counts as added. */
static void read_versions(struct ga_inspect *k, struct ga_buf *old, struct ga_buf *text)
{
	struct ga_error err = GA_ERROR_INIT;
	int kind = ga_diff_read(k->repo, &k->c->old, &k->c->new, old, text, &err);

	if (kind < 0)
		ga_fire_uninspected(k, "content", &err);
	else if (!text->len && ga_diff_is_absent(k->repo, &k->c->new))
		ga_fire_uninspected(k, "this partial clone has not fetched it", NULL);
	else if (kind == GA_DIFF_TOO_LONG)
		ga_fire_uninspected(k,
				    text->len ? "its old version is too long to be compared"
					      : "too long to be shown",
				    NULL);
	else if (kind == GA_DIFF_TOO_MANY)
		ga_fire_uninspected(k, "too many lines may differ to be compared", NULL);
	if (kind == GA_DIFF_TOO_LONG)
		ga_fire_rule(k, "huge-file", NULL);
	if (kind < 0 || kind == GA_DIFF_TOO_LONG || !is_regular(&k->c->old))
		ga_buf_clear(old);
}

void ga_inspect_content(struct ga_inspect *k)
{
	cleanup_buf struct ga_buf old = GA_BUF_INIT, text = GA_BUF_INIT;
	bool binary;

	if (!is_regular(&k->c->new))
		return;
	read_versions(k, &old, &text);
	ga_inspect_filters(k, &text);
	k->added.bytes += text.len;
	binary = ga_diff_is_binary(&text);
	check_document(k);
	check_exec(k, &text);
	check_lfs(k, &text);
	if (is_program(&text))
		ga_fire_rule(k, "binary-executable", NULL);
	else if (binary)
		check_with_nul(k, &old, &text);
	else
		check_text(k, &old, &text);
	if (!binary && is_garbled(&text))
		ga_fire_rule(k, "binary-blob", NULL);
	if (old.len != text.len || memcmp(old.ptr, text.ptr, old.len) != 0)
		ga_inspect_leaks(k, &old, &text);
}
