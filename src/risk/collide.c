/* SPDX-License-Identifier: MIT
 *
 * Names that are the same to a file system that ignores case, or how a character is composed. Only
 * new paths can collide, so only the directories above those are read, each once: changes are
 * sorted, and a stack holds the directories above the current one.
 */
#include <string.h>

#include "ga/base/quote.h"
#include "ga/repo/objects.h"
#include "internal.h"

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

/* The common form of a name: all names that some file system takes for this one have the same. */
static void add_common_form(struct stack *s, const char *name, struct ga_buf *out)
{
	ga_buf_clear(&s->folded);
	ga_name_fold(&s->folded, name);
	ga_name_decompose(out, s->folded.ptr);
}

/* Is it a name that is its own common form? Most are. */
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

static int push(struct ga_look *k, struct stack *s, const struct ga_oid *tree,
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

/* Another name in the directory with the same common form; NULL: there is none. */
static const char *twin(struct stack *s, const struct level *l, const char *name)
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

static void flag(const struct ga_change *c, const char *id, char *detail, struct ga_flags *ret)
{
	ga_flags_add_rule(ret, id, ga_rule_find(id)->severity, c->path, &c->new, detail);
	free(detail);
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

/* Go down to the file, and look for twins of each component; the first `known` levels were looked
 * at for the path before. */
static int descend(struct ga_look *k, struct stack *s, const struct ga_change *c, size_t known,
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
		other = twin(s, &s->v[depth], name);
		if (other) {
			cleanup_free char *dir = ga_strndup(c->path, (size_t)(p - c->path));
			cleanup_free char *path = ga_strf("%s%s", dir, other);
			cleanup_free char *shown = ga_quote(path);

			flag(c, same_letters(name, other) ? "name-case-collision" :
							    "name-unicode-collision",
			     ga_strf("the other is %s", shown), ret);
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

void ga_find_collisions(struct ga_look *k, struct ga_flags *ret)
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
			flag(c, "uninspected", ga_strf("its neighbours: %s", why.ptr), ret);
			ga_error_release(&err);
		}
		before = c->path;
	}
}
