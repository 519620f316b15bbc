/* SPDX-License-Identifier: MIT
 *
 * Paths and names as text, against what they are said to be.
 */
#include <string.h>

#include "fuzz.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/names/names.h"
#include "ga/repo/refs.h"
#include "ga/session/session.h"

static bool model_relative(const char *path)
{
	cleanup_free char *framed = ga_strf("/%s/", path);

	return !strstr(framed, "//") && !strstr(framed, "/./") && !strstr(framed, "/../");
}

static bool model_session_name(const char *s)
{
	static const char chars[] = "abcdefghijklmnopqrstuvwxyz0123456789._-";
	size_t n = strlen(s);

	return n && n <= GA_SESSION_NAME_MAX && strspn(s, chars) == n &&
	       strspn(s, "._-") == 0 && !strstr(s, "..") && s[n - 1] != '.' &&
	       (n < 5 || strcmp(s + n - 5, ".lock") != 0);
}

/* git-check-ref-format(1), rule by rule; what we refuse beyond that is not here. */
static bool git_takes_ref(const char *s)
{
	cleanup_free char *framed = ga_strf("/%s/", s);
	size_t n = strlen(s);

	if (strstr(framed, "//") || strstr(framed, "/.") || strstr(framed, ".lock/") ||
	    strstr(s, "..") || strstr(s, "@{") || strpbrk(s, " ~^:?*[\\") || !n || s[n - 1] == '.')
		return false;
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return false;
	return true;
}

static void check_ref(const char *s)
{
	cleanup_free char *escaped = ga_escape(s);

	if (!ga_ref_name_ok(s))
		return;
	CHECK(git_takes_ref(s) && ga_path_relative_ok(s) && strlen(s) <= 200);
	CHECK(!strncmp(s, "refs/", 5) && !strcmp(escaped, s));
}

static void check_session(const char *s)
{
	cleanup_free char *ref = ga_strf("%s%s", GA_SESSION_BRANCHES, s);
	cleanup_free char *own = ga_strf("%s%s/base", GA_SESSION_REFS, s);
	cleanup_free char *stem = ga_session_stem(s), *first = ga_strf("%s-1", stem);

	CHECK(ga_session_name_ok(s) == model_session_name(s));
	CHECK(ga_session_name_ok(first));
	if (ga_session_name_ok(s))
		CHECK(ga_ref_name_ok(ref) && ga_ref_name_ok(own));
}

static bool is_plain_ascii(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s >= 0x80)
			return false;
	return true;
}

/* The two foldings agree where both know the characters. */
static void check_fold(const char *name)
{
	cleanup_buf struct ga_buf once = GA_BUF_INIT, twice = GA_BUF_INIT;
	bool dotgit = ga_path_component_is_dotgit(name, strlen(name));

	ga_name_fold(&once, name);
	ga_name_fold(&twice, once.ptr);
	if (is_plain_ascii(name)) {
		CHECK(!strcmp(once.ptr, twice.ptr));
		if (!strcmp(once.ptr, ".git"))
			CHECK(dotgit);
	}
	if (ga_path_component_folds_to(name, strlen(name), ".git"))
		CHECK(dotgit);
}

static void check_split(const char *s)
{
	cleanup_free char *parent = ga_path_parent(s), *joined = NULL;
	const char *base = ga_path_base(s), *below;

	CHECK(ga_path_relative_ok(s) == model_relative(s));
	CHECK(!strchr(base, '/') && base >= s && base + strlen(base) == s + strlen(s));
	if (!ga_path_relative_ok(s))
		return;
	joined = ga_path_join(parent, base);
	CHECK(!strcmp(joined, s));
	below = ga_path_below(s, parent);
	if (*parent)
		CHECK(below && !strcmp(below, base) && ga_path_inside(s, parent));
	CHECK(ga_path_inside(s, s));
}

static void check_order(const char *a, const char *b)
{
	for (int k = 0; k < 4; k++) {
		cleanup_free char *x = ga_strf("%s%s", a, k & 1 ? "/" : "");
		cleanup_free char *y = ga_strf("%s%s", b, k & 2 ? "/" : "");
		int want = strcmp(x, y);
		int got = ga_path_tree_cmp(a, strlen(a), k & 1, b, strlen(b), k & 2);

		CHECK((got > 0) == (want > 0) && (got < 0) == (want < 0));
	}
}

/* A name resolved by text alone stays inside, whatever it is. */
static void check_resolve(const char *dir, const char *path)
{
	cleanup_free char *to = NULL;

	if (*dir && !ga_path_relative_ok(dir))
		return;
	to = ga_path_resolve(dir, path);
	CHECK(!to || !*to || ga_path_relative_ok(to));
	CHECK(!to || *path != '/');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct fuzz_in in = { data, n };
	cleanup_free char *a = fuzz_string(&in), *b = fuzz_text(&in);
	cleanup_free char *ref = ga_strf("refs/%s", a);

	check_split(a);
	check_session(a);
	check_ref(a);
	check_ref(ref);
	if (!strchr(a, '/'))
		check_fold(a);
	if (!strchr(a, '/') && !strchr(b, '/') && *a && *b)
		check_order(a, b);
	check_resolve(a, b);
	return 0;
}
