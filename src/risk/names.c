/* SPDX-License-Identifier: MIT
 *
 * Check the names of changed paths.
 */
#include <string.h>
#include <strings.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/repo/objects.h"
#include "internal.h"
#include "risk/internal.h"

/* Names that collide on a file system that ignores case or Unicode normal forms. Only new paths can
 * collide, so only the directories above those are read, each once: changes are sorted, and a stack
 * holds the directories above the current one. */

enum { DEPTH_MAX = 1024 };

/* One directory of the new tree, and the common forms of those of its names that are not plain. */
struct level {
	struct ga_tree_level tree;
	struct ga_buf forms;    /* a NUL after each */
	struct ga_strmap index; /* form -> number of the name */
};

struct stack {
	struct level *v;
	size_t n, cap;
	struct ga_buf folded, form; /* of the name at hand */
};

static void level_release(struct level *l)
{
	ga_tree_level_release(&l->tree);
	ga_buf_release(&l->forms);
	ga_strmap_release(&l->index);
}

static void stack_release(struct stack *s)
{
	while (s->n)
		level_release(&s->v[--s->n]);
	free(s->v);
	ga_buf_release(&s->folded);
	ga_buf_release(&s->form);
}

/* The common form of a name, equal for all names that some file system considers equal. */
static void add_common_form(struct stack *s, const char *name, struct ga_buf *out)
{
	ga_buf_clear(&s->folded);
	ga_name_fold(&s->folded, name);
	ga_name_decompose(out, s->folded.ptr);
}

/* Is the name its own common form? Most are. */
static bool is_plain(const char *name)
{
	const char *p = name;

	while ((*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') || *p == '-' || *p == '_' ||
	       *p == '.')
		p++;
	return !*p && p > name && p[-1] != '.';
}

/* Do the names differ only in case? */
static bool same_letters(const char *a, const char *b)
{
	cleanup_buf struct ga_buf x = GA_BUF_INIT, y = GA_BUF_INIT;

	ga_name_fold(&x, a);
	ga_name_fold(&y, b);
	return !strcmp(x.ptr, y.ptr);
}

static int push(struct ga_inspect *k, struct stack *s, const struct ga_oid *tree,
		struct ga_error *err)
{
	struct level *l;
	const char *form;
	size_t pos = 0;

	GA_GROW(s->v, s->n, s->cap);
	l = &s->v[s->n];
	*l = (struct level){ .tree = GA_TREE_LEVEL_INIT, .forms = GA_BUF_INIT };
	if (ga_tree_level_read(k->repo, tree, &l->tree, err))
		return -1;
	s->n++;
	for (size_t i = 0; i < l->tree.n; i++) {
		if (is_plain(l->tree.v[i].name))
			continue;
		add_common_form(s, l->tree.v[i].name, &l->forms);
		ga_buf_addch(&l->forms, '\0');
	}
	/* once all are there, they do not move any more */
	for (uint32_t i = 0; l->forms.len && i < l->tree.n; i++)
		if (!is_plain(l->tree.v[i].name) && (form = ga_buf_next0(&l->forms, &pos)))
			ga_strmap_add(&l->index, form, strlen(form), i);
	return 0;
}

/* Another name in the directory with the same common form; NULL: none. */
static const char *find_collision(struct stack *s, const struct level *l, const char *name)
{
	const char *form = name, *other;

	if (!is_plain(name)) {
		ga_buf_clear(&s->form);
		add_common_form(s, name, &s->form);
		form = s->form.ptr;
		/* the plain name of that form is the form itself */
		if (is_plain(form) && ga_tree_level_find(&l->tree, form).mode != GA_MODE_NONE)
			return form;
	}
	for (int32_t i = ga_strmap_first(&l->index, form, strlen(form)); i >= 0;
	     i = l->index.nodes[i].next) {
		other = l->tree.v[l->index.nodes[i].value].name;
		if (strcmp(other, name) != 0)
			return other;
	}
	return NULL;
}

/* How many directories of the stack are above `path` as well, and were above
 * `before`: the root, and one for each component they share. */
static size_t shared(const char *before, const char *path)
{
	size_t n = 1;

	for (size_t i = 0; before[i] && before[i] == path[i]; i++)
		n += path[i] == '/';
	return n;
}

/* Descend to the file, and find collisions of each component; the first `known` levels were checked
 * for the previous path. */
static int descend(struct ga_inspect *k, struct stack *s, const struct ga_change *c, size_t known,
		   struct ga_flags *ret, struct ga_error *err)
{
	const char *p = c->path;

	while (s->n > known)
		level_release(&s->v[--s->n]);
	if (!s->n && push(k, s, k->new_tree, err))
		return -1;
	for (size_t depth = 0;; depth++) {
		size_t n = (size_t)(strchrnul(p, '/') - p);
		cleanup_free char *name = NULL;
		const char *other;
		struct ga_entry e;

		if (depth + 1 < known) {
			p += n + 1;
			continue;
		}
		name = ga_strndup(p, n);
		other = find_collision(s, &s->v[depth], name);
		if (other) {
			cleanup_free char *dir = ga_strndup(c->path, (size_t)(p - c->path));
			cleanup_free char *path = ga_strf("%s%s", dir, other);
			cleanup_free char *shown = ga_quote(path);

			ga_flags_found(ret, same_letters(name, other) ? "name-case-collision" :
									"name-unicode-collision",
				       c->path, &c->new, ga_strf("the other is %s", shown));
		}
		if (!p[n])
			return 0;
		if (depth >= DEPTH_MAX)
			return ga_fail(err, GA_EFATAL, "nested too deep");
		e = ga_tree_level_find(&s->v[depth].tree, name);
		if (e.mode != GA_MODE_TREE)
			return ga_fail(err, GA_EFATAL, "a directory above it is not in the tree");
		if (s->n == depth + 1 && push(k, s, &e.oid, err))
			return -1;
		p += n + 1;
	}
}

void ga_find_collisions(struct ga_inspect *k, struct ga_flags *ret)
{
	cleanup_(stack_release) struct stack s = { .folded = GA_BUF_INIT, .form = GA_BUF_INIT };
	const char *before = "";

	for (size_t i = 0; k->new_tree && i < k->changes->n; i++) {
		const struct ga_change *c = &k->changes->v[i];
		struct ga_error err = GA_ERROR_INIT;
		size_t known;

		if (c->old.mode != GA_MODE_NONE || c->new.mode == GA_MODE_NONE)
			continue;
		known = shared(before, c->path);
		if (known > s.n)
			known = s.n;
		if (descend(k, &s, c, known, ret, &err)) {
			cleanup_buf struct ga_buf why = GA_BUF_INIT;

			ga_quote_add(&why, err.msg, strlen(err.msg));
			ga_flags_found(ret, "uninspected", c->path, &c->new,
				       ga_strf("its neighbours: %s", why.ptr));
			ga_error_release(&err);
		}
		before = c->path;
	}
}

static void fire_on(struct ga_inspect *k, const char *rule, const char *name, size_t n)
{
	cleanup_free char *part = ga_strndup(name, n);

	ga_fire_rule(k, rule, ga_quote(part));
}

static bool starts_with_short_name(const char *s, size_t n)
{
	static const char *const prefixes[] = { "gitmod~", "gitatt~", "gitign~", "gi7eba~",
						"gi7d29~", "gi250a~" };

	for (size_t i = 0; i < GA_NELEMS(prefixes); i++) {
		size_t len = strlen(prefixes[i]);

		if (n > len && !strncasecmp(s, prefixes[i], len) && s[len] >= '0' && s[len] <= '9')
			return true;
	}
	return false;
}

/* Could a file system resolve the name to one of git's files? A quick check that rules out most
 * names.
 */
static bool maybe_alias(const char *s, size_t n)
{
	bool odd = n && s[0] == '.';

	for (size_t i = 0; i < n && !odd; i++)
		odd = (s[i] & 0x80) || s[i] == '~' || s[i] == '\\' || s[i] == ':';
	return odd;
}

static void check_git_alias(struct ga_inspect *k, const char *s, size_t n)
{
	static const char *const files[] = { ".gitmodules", ".gitattributes", ".gitignore",
					     ".gitconfig" };

	/* A backslash separates components on Windows. */
	for (size_t i = 0; i < n;) {
		const char *sep = memchr(s + i, '\\', n - i);
		size_t len = sep ? (size_t)(sep - (s + i)) : n - i;

		if (ga_path_component_is_dotgit(s + i, len))
			fire_on(k, n == 4 && !memcmp(s, ".git", 4) ? "dotgit-component" :
								    "name-dotgit-alias", s, n);
		i += len + 1;
	}
	for (size_t i = 0; i < GA_NELEMS(files); i++)
		if (ga_path_component_folds_to(s, n, files[i]) &&
		    (n != strlen(files[i]) || memcmp(s, files[i], n) != 0))
			fire_on(k, "name-gitfile-alias", s, n);
	if (starts_with_short_name(s, n))
		fire_on(k, "name-gitfile-alias", s, n);
}

static void check_traversal(struct ga_inspect *k, const char *s, size_t n)
{
	bool dots = n == 0 || (n == 1 && s[0] == '.') || (n >= 2 && !memcmp(s, "..", 2) &&
							  (n == 2 || s[2] == '\\'));

	for (size_t i = 0; memchr(s, '\\', n) && i + 3 <= n && !dots; i++)
		dots = !memcmp(s + i, "\\..", 3) && (i + 3 == n || s[i + 3] == '\\');
	if (n >= 3 && s[1] == ':' && s[2] == '\\')
		dots = true;
	if (dots)
		fire_on(k, "name-traversal", s, n);
}

static void check_windows(struct ga_inspect *k, const char *s, size_t n)
{
	static const char *const devices[] = { "con", "prn", "aux", "nul", "conin$", "conout$" };
	size_t stem = 0;
	bool bad = false;

	while (stem < n && s[stem] != '.' && s[stem] != ':')
		stem++;
	while (stem && s[stem - 1] == ' ')
		stem--;
	for (size_t i = 0; i < GA_NELEMS(devices); i++)
		bad |= stem == strlen(devices[i]) && !strncasecmp(s, devices[i], stem);
	if (stem == 4 && (!strncasecmp(s, "com", 3) || !strncasecmp(s, "lpt", 3)))
		bad |= s[3] >= '0' && s[3] <= '9';
	for (size_t i = 0; i < n; i++)
		bad |= strchr("<>:\"|?*\\", s[i]) != NULL;
	if (n && (s[n - 1] == ' ' || s[n - 1] == '.'))
		bad = true;
	if (bad)
		fire_on(k, "name-windows-reserved", s, n);
}

static void check_characters(struct ga_inspect *k, const char *s, size_t n)
{
	bool control = false, hidden = false, mixed = false, valid = true;
	unsigned scripts = 0;
	uint32_t c;

	for (size_t i = 0, len; i < n; i += len) {
		len = ga_utf8_decode(s + i, n - i, &c);
		if (!len) {
			valid = false;
			len = 1;
			continue;
		}
		control |= c < 0x20 || (c >= 0x7f && c <= 0x9f);
		hidden |= ga_is_invisible(c);
		/* anything but a letter ends a word: "тест.py" is not mixed */
		scripts = ga_script_of(c) ? scripts | ga_script_of(c) : 0;
		mixed |= scripts > GA_SCRIPT_LATIN && scripts & GA_SCRIPT_LATIN;
	}
	if (control)
		fire_on(k, "name-control-chars", s, n);
	if (hidden)
		fire_on(k, "name-bidi-zero-width", s, n);
	if (mixed)
		fire_on(k, "name-homoglyph", s, n);
	if (!valid)
		fire_on(k, "name-invalid-utf8", s, n);
	if (!ga_name_composed(s, n))
		fire_on(k, "name-unicode-collision", s, n);
}

/* Append `s` with each letter that looks Latin replaced by the Latin one. True: there was one. */
static bool put_latin(struct ga_buf *out, const char *s)
{
	size_t n = strlen(s);
	bool any = false;
	uint32_t c;

	for (size_t i = 0, len; i < n; i += len) {
		char latin;

		len = ga_utf8_decode(s + i, n - i, &c);
		latin = len > 1 ? ga_lookalike(c) : '\0';
		if (!len)
			len = 1;
		any |= latin != '\0';
		if (latin)
			ga_buf_addch(out, latin);
		else
			ga_buf_add(out, s + i, len);
	}
	return any;
}

/* Does the path look like one that a high or critical rule covers? Replaced both before and after
 * folding, since a capital need not look like the same Latin letter as its small form. */
static void check_lookalike(struct ga_inspect *k)
{
	cleanup_buf struct ga_buf seen = GA_BUF_INIT, folded = GA_BUF_INIT, plain = GA_BUF_INIT;
	cleanup_hits struct ga_hits hits = GA_HITS_INIT;
	const char *at = k->c->path;
	bool any;

	while (*at && !(*at & 0x80))
		at++;
	if (!*at)
		return;
	any = put_latin(&seen, k->c->path);
	ga_name_fold(&folded, seen.ptr);
	any |= put_latin(&plain, folded.ptr);
	if (!any)
		return;
	ga_matcher_find(k->matcher, plain.ptr, false, &hits);
	for (size_t i = 0; i < hits.n; i++)
		if (((const struct ga_rule *)hits.v[i].of)->severity >= GA_HIGH) {
			cleanup_free char *shown = ga_quote(plain.ptr);

			ga_fire_rule(k, "name-homoglyph", ga_strf("reads as %s", shown));
			return;
		}
}

/* Is it a file name that a web framework's router prescribes? As an editor's "+command" it would do
 * nothing. */
static bool router_name(const char *s, size_t n)
{
	static const char *const prefixes[] = { "+page", "+layout", "+server", "+error" };

	for (size_t i = 0; i < GA_NELEMS(prefixes); i++)
		if (n >= strlen(prefixes[i]) && !memcmp(s, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

static void check_option(struct ga_inspect *k, const char *s, size_t n)
{
	cleanup_free char *part = NULL;

	if (!n || !strchr("-+~=", s[0]))
		return;
	part = ga_strndup(s, n);
	ga_fire_rule_as(k, "name-leading-dash-plus", router_name(s, n) ? GA_MEDIUM : GA_HIGH,
			ga_quote(part));
}

/* Routers of web frameworks use brackets, braces and "$name" in file names. Characters that
 * substitute, separate or redirect have no such use. */
static void check_shell(struct ga_inspect *k, const char *s, size_t n)
{
	cleanup_free char *part = NULL;
	bool strong = n && (s[0] == ' ' || s[n - 1] == ' '), weak = false;

	for (size_t i = 0; i < n; i++) {
		strong |= strchr("`;&|<>\"*?", s[i]) != NULL;
		strong |= s[i] == '$' && i + 1 < n && (s[i + 1] == '(' || s[i + 1] == '{');
		weak |= strchr("(){}[]'!$", s[i]) != NULL;
	}
	if (!strong && !weak)
		return;
	part = ga_strndup(s, n);
	ga_fire_rule_as(k, "name-shell-meta", strong ? GA_HIGH : GA_MEDIUM, ga_quote(part));
}

static void check_double_ext(struct ga_inspect *k)
{
	static const char documents[] = "pdf doc docx xls xlsx ppt pptx jpg jpeg png gif bmp webp "
					"mp3 mp4 avi mov zip rar";
	static const char programs[] = "exe scr bat cmd com js vbs ps1 sh desktop lnk hta jar msi "
				       "py pl app command";
	const char *ext = strrchr(k->base, '.'), *before = ext;
	cleanup_free char *middle = NULL;

	if (!ext || ext == k->base || !ga_has_word(programs, ext + 1))
		return;
	while (before > k->base && before[-1] != '.')
		before--;
	middle = ga_strndup(before, (size_t)(ext - before));
	if ((before > k->base && *middle && ga_has_word(documents, middle)) ||
	    strstr(k->base, "     "))
		ga_fire_rule(k, "name-double-ext", NULL);
}

/* Does the name pass all checks of a component? A quick test for most names. */
static bool plain_name(const char *s, size_t n)
{
	static const char devices[] = "acnlp"; /* what they begin with */
	const char *dot = memchr(s, '.', n);
	size_t stem = dot ? (size_t)(dot - s) : n;

	/* "con", "com1" */
	if (!n || s[0] == '.' || s[0] == '-' || s[n - 1] == '.' ||
	    ((stem == 3 || stem == 4) && strchr(devices, s[0])))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!(s[i] >= 'a' && s[i] <= 'z') && !(s[i] >= '0' && s[i] <= '9') &&
		    s[i] != '.' && s[i] != '-' && s[i] != '_')
			return false;
	return true;
}

static void check_component(struct ga_inspect *k, const char *s, size_t n, bool added)
{
	if (maybe_alias(s, n))
		check_git_alias(k, s, n);
	check_traversal(k, s, n);
	if (!added)
		return;
	check_windows(k, s, n);
	check_characters(k, s, n);
	check_option(k, s, n);
	check_shell(k, s, n);
}

void ga_inspect_names(struct ga_inspect *k)
{
	const char *p = k->c->path;
	bool added = k->c->old.mode == GA_MODE_NONE;
	size_t depth = 0;
	bool long_part = false;

	for (;;) {
		size_t n = (size_t)(strchrnul(p, '/') - p);

		depth++;
		long_part |= n > 200;
		if (!plain_name(p, n))
			check_component(k, p, n, added);
		if (!p[n])
			break;
		p += n + 1;
	}
	if (!added)
		return;
	if (long_part || depth > 64 || strlen(k->c->path) > 1024)
		ga_fire_rule(k, "name-too-long", NULL);
	check_double_ext(k);
	check_lookalike(k);
}
