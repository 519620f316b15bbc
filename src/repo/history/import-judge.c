/* SPDX-License-Identifier: MIT
 *
 * What `git index-pack --strict` accepts and we refuse: modes that fsck only mentions, names that
 * mean ".git" or a special file on some file system, headers of commits with characters that a
 * terminal would act upon.
 */
#include "repo/objects-internal.h"

#include <limits.h>
#include <string.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"

#define PARENTS_MAX 64
#define COMMIT_MAX ((size_t)4 << 20)

/* Compared as text: a mode such as "0100644" is the same number, but makes another tree. */
static bool mode_ok(const char *p)
{
	static const char *const modes[] = { "100644 ", "100755 ", "120000 ", "40000 ", "160000 " };

	for (size_t i = 0; i < GA_NELEMS(modes); i++)
		if (!strncmp(p, modes[i], strlen(modes[i])))
			return true;
	return false;
}

static const char *judge_name(const struct ga_tree_item *it)
{
	static const char *const special[] = { ".gitmodules", ".gitattributes", ".gitignore",
					       ".mailmap" };

	if (memchr(it->name, '/', it->len))
		return "a name with a slash";
	if (it->len > NAME_MAX)
		return "a name longer than any system takes";
	if (it->len <= 2 && !memcmp(it->name, "..", it->len))
		return "the name of a parent directory";
	if (ga_path_component_is_dotgit(it->name, it->len))
		return "a name that stands for .git";
	/* git refuses only the first and follows none of them, but other tools follow them */
	if (ga_canonical_mode(it->mode) != GA_MODE_LINK)
		return NULL;
	for (size_t i = 0; i < GA_NELEMS(special); i++)
		if (ga_path_component_folds_to(it->name, it->len, special[i]))
			return "a symbolic link where git wants a file";
	return NULL;
}

static char *describe(const char *what, const struct ga_tree_item *it)
{
	cleanup_free char *name = ga_strndup(it->name, it->len), *q = ga_quote(name);

	return ga_strf("a tree has %s: %s", what, q);
}

char *ga_import_judge_tree(const char *p, size_t n)
{
	const char *end = p + n, *start = p, *bad;
	struct ga_tree_item it, last = { .len = 0 };
	int rc;

	while ((rc = ga_tree_next(&p, end, &it)) > 0) {
		if (!mode_ok(start))
			return describe("a mode git does not write", &it);
		bad = judge_name(&it);
		if (bad)
			return describe(bad, &it);
		if (last.len && ga_path_tree_cmp(last.name, last.len, ga_item_is_tree(&last),
						 it.name, it.len, ga_item_is_tree(&it)) >= 0)
			return describe("entries out of order", &it);
		last = it;
		start = p;
	}
	return rc < 0 ? ga_strdup("a tree is malformed") : NULL;
}

static bool has_control(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (((unsigned char)p[i] < 0x20 && p[i] != '\n' && p[i] != '\t' && p[i] != '\r') ||
		    p[i] == 0x7f)
			return true;
	return false;
}

/* Is this a header that must not be continued? A line that begins with a blank continues the header
 * before it. After these, some readers would take it for part of a name or an id, while git ignores
 * it and accepts the commit. */
static bool is_one_line(const char *line, size_t n)
{
	static const char *const names[] = { "tree ", "parent ", "author ", "committer " };

	for (size_t i = 0; i < GA_NELEMS(names); i++)
		if (n >= strlen(names[i]) && !memcmp(line, names[i], strlen(names[i])))
			return true;
	return false;
}

/* Names and mail addresses may contain control characters: git accepts them, and they are escaped
 * when the commits are rewritten. No other header has a reason to. */
static const char *judge_header(const char *line, size_t n, size_t *parents)
{
	if (n > 7 && !memcmp(line, "parent ", 7))
		return ++*parents > PARENTS_MAX ? "a commit has too many parents" : NULL;
	if ((n > 7 && !memcmp(line, "author ", 7)) || (n > 10 && !memcmp(line, "committer ", 10)))
		return NULL;
	return has_control(line, n) ? "a commit's header has control characters" : NULL;
}

char *ga_import_judge_commit(const char *p, size_t n)
{
	const char *end = p + n, *bad = NULL;
	size_t parents = 0;
	bool one_line = true;

	if (n > COMMIT_MAX)
		return ga_strdup("a commit is too large");
	/* what follows a NUL counts for the id, but nobody sees it */
	if (memchr(p, '\0', n))
		return ga_strdup("a commit has a NUL");
	while (!bad && p < end && *p != '\n') {
		const char *nl = memchr(p, '\n', (size_t)(end - p));

		if (!nl)
			return ga_strdup("a commit is malformed");
		if (*p == ' ' && one_line)
			return ga_strdup("a commit's header goes on in a second line");
		if (*p != ' ')
			one_line = is_one_line(p, (size_t)(nl - p));
		bad = judge_header(p, (size_t)(nl - p), &parents);
		p = nl + 1;
	}
	return bad ? ga_strdup(bad) : NULL;
}
