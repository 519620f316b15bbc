/* SPDX-License-Identifier: MIT
 *
 * Objects an agent made, as bytes: the first byte says whether they are a tree or a commit.
 */
#include <string.h>

#include "repo/objects-internal.h"
#include "fuzz.h"
#include "ga/base/path.h"
#include "ga/repo/objects.h"

/* Of what is let pass. */
static void check_tree(const char *p, size_t n)
{
	const char *end = p + n;
	struct ga_tree_item it;
	int rc;

	while ((rc = ga_tree_next(&p, end, &it)) > 0) {
		cleanup_free char *name = ga_strndup(it.name, it.len);

		CHECK(ga_path_relative_ok(name) && !strchr(name, '/') && strlen(name) == it.len);
		CHECK(!ga_path_component_is_dotgit(name, it.len));
		CHECK(it.mode == ga_canonical_mode(it.mode));
	}
	CHECK(!rc);
}

static void store_tree(const char *p, size_t n)
{
	cleanup_tree_level struct ga_tree_level l = GA_TREE_LEVEL_INIT;
	cleanup_changes struct ga_changes c = GA_CHANGES_INIT;
	cleanup_error struct ga_error err = GA_ERROR_INIT, err2 = GA_ERROR_INIT;
	struct ga_oid oid;

	CHECK(!ga_odb_write(fuzz_repo(), GIT_OBJECT_TREE, p, n, &oid, &err));
	if (!ga_tree_level_read(fuzz_repo(), &oid, &l, &err))
		for (size_t i = 0; i < l.n; i++)
			(void)ga_tree_level_find(&l, l.v[i].name);
	(void)ga_tree_list(fuzz_repo(), &oid, 1000, &c, &err2);
}

static void look_at_tree(const char *p, size_t n)
{
	cleanup_free char *bad = ga_import_judge_tree(p, n);

	if (!bad)
		check_tree(p, n);
	else
		CHECK(*bad && !strchr(bad, '\n'));
	store_tree(p, n);
}

static bool same_commit(const struct ga_commit *a, const struct ga_commit *b)
{
	return ga_oid_equal(&a->tree, &b->tree) && a->n_parents == b->n_parents &&
	       (!a->n_parents ||
		!memcmp(a->parents, b->parents, a->n_parents * sizeof(*a->parents))) &&
	       !strcmp(a->author, b->author) && !strcmp(a->committer, b->committer) &&
	       !strcmp(a->extra, b->extra) && !strcmp(a->message, b->message);
}

static void store_commit(const char *p, size_t n)
{
	cleanup_commit struct ga_commit c = { 0 }, again = { 0 };
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	struct ga_oid oid;

	CHECK(!ga_odb_write(fuzz_repo(), GIT_OBJECT_COMMIT, p, n, &oid, &err));
	if (ga_commit_read(fuzz_repo(), &oid, &c, &err)) {
		CHECK(err.msg);
		return;
	}
	CHECK(c.author && c.committer && c.extra && c.message);
	CHECK(!ga_commit_write(fuzz_repo(), &c, &oid, &err));
	CHECK(!ga_commit_read(fuzz_repo(), &oid, &again, &err));
	CHECK(same_commit(&c, &again));
}

static void look_at_commit(const char *p, size_t n)
{
	cleanup_free char *bad = ga_import_judge_commit(p, n);

	if (!bad)
		CHECK(!memchr(p, '\0', n));
	else
		CHECK(*bad && !strchr(bad, '\n'));
	store_commit(p, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	cleanup_free char *exact = NULL;

	if (!n)
		return 0;
	(void)fuzz_repo();
	exact = fuzz_exact(data + 1, n - 1);
	if (data[0] & 1)
		look_at_commit(exact, n - 1);
	else
		look_at_tree(exact, n - 1);
	fuzz_repo_forget();
	return 0;
}
