/* SPDX-License-Identifier: MIT
 *
 * Trees against a list of paths: two rounds of changes, each a number of records of a kind, a
 * letter for the content, and a path with its NUL.
 */
#include <string.h>

#include "repo/objects-internal.h"
#include "fuzz.h"
#include "ga/base/path.h"
#include "ga/repo/objects.h"

enum { CHANGES_MAX = 40 };

static struct ga_entry entry_of(unsigned kind, unsigned content)
{
	static const uint32_t modes[] = { GA_MODE_NONE, GA_MODE_FILE, GA_MODE_EXEC, GA_MODE_LINK, GA_MODE_GITLINK };
	struct ga_entry e = { modes[kind % GA_NELEMS(modes)], { { 0 } } };

	if (e.mode)
		memset(e.oid.id, (int)(content % 26 + 'a'), sizeof(e.oid.id));
	return e;
}

static void read_changes(struct fuzz_in *in, struct ga_changes *c)
{
	static const struct ga_entry none;
	unsigned n = fuzz_byte(in) % CHANGES_MAX;

	while (n-- && in->n) {
		unsigned kind = fuzz_byte(in), content = fuzz_byte(in);
		cleanup_free char *path = fuzz_string(in);
		struct ga_entry e = entry_of(kind, content);
		bool twice = false;

		for (size_t i = 0; i < c->n; i++)
			twice |= !strcmp(c->v[i].path, path);
		if (!twice)
			(void)ga_changes_add(c, path, &none, &e);
	}
	ga_changes_sort(c);
}

/* ---- the model: all paths in one list */

static bool beneath(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return !strncmp(path, dir, n) && path[n] == '/';
}

static bool model_refuses(const struct ga_changes *c)
{
	for (size_t i = 0; i < c->n; i++) {
		cleanup_free char *copy = ga_strdup(c->v[i].path);
		char *save = NULL;
		size_t depth = 1;

		for (const char *p = copy; *p; p++)
			depth += *p == '/';
		for (char *w = strtok_r(copy, "/", &save); w; w = strtok_r(NULL, "/", &save))
			if (c->v[i].new.mode && ga_path_component_is_dotgit(w, strlen(w)))
				return true;
		if (depth > GA_TREE_DEPTH_MAX)
			return true;
		if (c->v[i].new.mode && !ga_path_relative_ok(c->v[i].path))
			return true;
		for (size_t k = 0; k < c->n; k++)
			if (c->v[i].new.mode && c->v[k].new.mode && beneath(c->v[i].path, c->v[k].path))
				return true;
	}
	return false;
}

static void drop(struct ga_changes *l, size_t i)
{
	free(l->v[i].path);
	l->v[i] = l->v[--l->n];
}

static void model_apply(struct ga_changes *l, const struct ga_changes *c)
{
	static const struct ga_entry none;

	for (size_t k = 0; k < c->n; k++)
		for (size_t i = l->n; i-- > 0;)
			if (!strcmp(l->v[i].path, c->v[k].path) || beneath(l->v[i].path, c->v[k].path) ||
			    (c->v[k].new.mode && beneath(c->v[k].path, l->v[i].path)))
				drop(l, i);
	for (size_t k = 0; k < c->n; k++)
		if (c->v[k].new.mode)
			(void)ga_changes_add(l, c->v[k].path, &none, &c->v[k].new);
	ga_changes_sort(l);
}

/* ---- what is in the trees */

static void check_same(const struct ga_changes *got, const struct ga_changes *want)
{
	CHECK(got->n == want->n);
	for (size_t i = 0; i < got->n; i++) {
		CHECK(!strcmp(got->v[i].path, want->v[i].path));
		CHECK(ga_entry_equal(&got->v[i].new, &want->v[i].new));
	}
}

/* As the bytes of one level, every tree is what git writes. */
static void check_level(const struct ga_oid *tree, const struct ga_changes *want)
{
	cleanup_tree_level struct ga_tree_level l = GA_TREE_LEVEL_INIT;
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	cleanup_odb_object git_odb_object *obj = NULL;
	cleanup_free char *bad = NULL;

	CHECK(!ga_tree_level_read(fuzz_repo(), tree, &l, &err));
	CHECK(!ga_odb_read(fuzz_repo(), tree, GIT_OBJECT_TREE, &obj, &err));
	bad = ga_import_judge_tree(git_odb_object_data(obj), git_odb_object_size(obj));
	/* refused of an agent, not by the builder: a link with a name that git looks for, and a name
	 * that only a tree can hold */
	CHECK(!bad || strstr(bad, "symbolic link") || strstr(bad, "longer than any system"));
	for (size_t i = 0; i < want->n; i++) {
		size_t n = strcspn(want->v[i].path, "/");
		cleanup_free char *name = ga_strndup(want->v[i].path, n);
		struct ga_entry e = ga_tree_level_find(&l, name), by_path;

		CHECK(e.mode == (want->v[i].path[n] ? GA_MODE_TREE : want->v[i].new.mode));
		CHECK(!ga_tree_entry(fuzz_repo(), tree, want->v[i].path, &by_path, &err));
		CHECK(ga_entry_equal(&by_path, &want->v[i].new));
	}
	CHECK(!want->n == !l.n);
}

static void check_diff(const struct ga_oid *old, const struct ga_changes *was,
		       const struct ga_oid *new, const struct ga_changes *is)
{
	cleanup_changes struct ga_changes diff = GA_CHANGES_INIT;
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	size_t n = 0;

	CHECK(!ga_tree_diff(fuzz_repo(), old, new, &diff, &err));
	for (size_t i = 0; i < was->n; i++) {
		const struct ga_change *now = ga_changes_find(is, was->v[i].path);
		const struct ga_change *d = ga_changes_find(&diff, was->v[i].path);
		bool same = now && ga_entry_equal(&now->new, &was->v[i].new);

		CHECK(same == !d && (!d || ga_entry_equal(&d->old, &was->v[i].new)));
		n += !same;
	}
	for (size_t i = 0; i < is->n; i++) {
		const struct ga_change *d = ga_changes_find(&diff, is->v[i].path);

		CHECK(!d || ga_entry_equal(&d->new, &is->v[i].new));
		if (!ga_changes_find(was, is->v[i].path)) {
			CHECK(d && !d->old.mode);
			n++;
		}
	}
	CHECK(diff.n == n);
}

/* False: the changes were refused, as they had to be. */
static bool round_of(const struct ga_oid *base, const struct ga_changes *c,
		     struct ga_changes *model, struct ga_oid *ret)
{
	cleanup_changes struct ga_changes got = GA_CHANGES_INIT;
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	int rc = ga_tree_apply(fuzz_repo(), NULL, base, c, ret, &err);

	CHECK((rc != 0) == model_refuses(c));
	if (rc)
		return false;
	model_apply(model, c);
	CHECK(!ga_tree_list(fuzz_repo(), ret, 1000, &got, &err));
	ga_changes_sort(&got);
	check_same(&got, model);
	check_level(ret, model);
	return true;
}

static void copy_model(const struct ga_changes *from, struct ga_changes *to)
{
	for (size_t i = 0; i < from->n; i++)
		(void)ga_changes_add(to, from->v[i].path, &from->v[i].old, &from->v[i].new);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	cleanup_changes struct ga_changes first = GA_CHANGES_INIT, second = GA_CHANGES_INIT;
	cleanup_changes struct ga_changes model = GA_CHANGES_INIT, before = GA_CHANGES_INIT;
	struct fuzz_in in = { data, n };
	struct ga_oid base, tree;

	(void)fuzz_repo();
	read_changes(&in, &first);
	read_changes(&in, &second);
	if (round_of(NULL, &first, &model, &base)) {
		copy_model(&model, &before);
		if (round_of(&base, &second, &model, &tree))
			check_diff(&base, &before, &tree, &model);
	}
	fuzz_repo_forget();
	return 0;
}
