/* SPDX-License-Identifier: MIT
 *
 * Ignore rules against a model: one byte of options, a path, NUL, the rules of the root, NUL,
 * the rules of the path's first directory.
 */
#include <string.h>
#include <strings.h>

#include "ga/ignore.h"
#include "fuzz.h"
#include "ga/path.h"
#include "ga/wildmatch.h"
#include "model-wildmatch.h"

/* Cut off blanks at the end that no backslash protects. */
static void trim(char *s)
{
	char *end = s;

	for (char *p = s; *p;) {
		if (*p == ' ') {
			p++;
			continue;
		}
		if (*p == '\\' && !p[1])
			return;
		p += *p == '\\' ? 2 : 1;
		end = p;
	}
	*end = '\0';
}

static bool same(const char *a, const char *b, size_t n, bool icase)
{
	return icase ? !strncasecmp(a, b, n) : !strncmp(a, b, n);
}

/* What one line says about `rel`, the path below the directory of its file. */
static enum ga_ignore_verdict line_says(char *s, const char *rel, bool is_dir, bool icase)
{
	enum ga_ignore_verdict verdict = GA_IGNORE_YES;
	size_t literal, n;
	bool anywhere, hit;

	trim(s);
	if (*s == '!') {
		verdict = GA_IGNORE_NO;
		s++;
	}
	n = strlen(s);
	if (n && s[n - 1] == '/') {
		if (!is_dir)
			return GA_IGNORE_UNDECIDED;
		s[--n] = '\0';
	}
	anywhere = !strchr(s, '/');
	if (*s == '/')
		s++, n--;
	if (!n || n > MODEL_MAX)
		return GA_IGNORE_UNDECIDED;
	if (anywhere)
		rel = ga_path_base(rel);
	literal = strcspn(s, "*?[\\");
	if (!s[literal])
		hit = strlen(rel) == n && same(s, rel, n, icase);
	else if (strlen(rel) < literal || !same(s, rel, literal, icase))
		hit = false;
	else if (anywhere)
		hit = model_wildmatch(s, rel, icase);
	else /* what stands before the first wildcard is no part of the pattern */
		hit = model_wildmatch(s + literal, rel + literal, icase);
	return hit ? verdict : GA_IGNORE_UNDECIDED;
}

static enum ga_ignore_verdict text_says(const char *text, const char *rel, bool is_dir, bool icase)
{
	enum ga_ignore_verdict ret = GA_IGNORE_UNDECIDED;

	if (!strncmp(text, "\xef\xbb\xbf", 3))
		text += 3;
	while (*text) {
		size_t n = strcspn(text, "\n");
		cleanup_free char *line = ga_strndup(text, n);
		enum ga_ignore_verdict v;

		text += n + (text[n] == '\n');
		if (*line == '#')
			continue;
		if (n && line[n - 1] == '\r')
			line[n - 1] = '\0';
		v = line_says(line, rel, is_dir, icase);
		if (v != GA_IGNORE_UNDECIDED)
			ret = v;
	}
	return ret;
}

static bool has_long_line(const char *text)
{
	for (; *text; text += text[strcspn(text, "\n")] ? strcspn(text, "\n") + 1 : strlen(text))
		if (strcspn(text, "\n") > MODEL_MAX)
			return true;
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct fuzz_in in = { data, n };
	unsigned options = fuzz_byte(&in);
	bool icase = options & 1, is_dir = options & 2;
	cleanup_free char *path = fuzz_string(&in), *root = fuzz_string(&in), *sub = fuzz_text(&in);
	size_t dir_len = strcspn(path, "/");
	cleanup_free char *dir = dir_len && path[dir_len] ? ga_strndup(path, dir_len) : NULL;
	struct ga_ignore ig = { .icase = icase };
	enum ga_ignore_verdict want = GA_IGNORE_UNDECIDED, got;

	if (!ga_path_relative_ok(path))
		return 0;
	ga_ignore_push(&ig, "", root, strlen(root));
	if (dir)
		ga_ignore_push(&ig, dir, sub, strlen(sub));
	got = ga_ignore_check(&ig, path, is_dir);
	if (strlen(path) <= MODEL_MAX && !has_long_line(root) && !has_long_line(sub)) {
		if (dir)
			want = text_says(sub, path + dir_len + 1, is_dir, icase);
		if (want == GA_IGNORE_UNDECIDED)
			want = text_says(root, path, is_dir, icase);
		CHECK(got == want);
	}
	ga_ignore_release(&ig);
	return 0;
}
