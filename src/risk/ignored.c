/* SPDX-License-Identifier: MIT
 *
 * What capture left in the session: it is in no tree, but can be executed from where it lies.
 */
#include <string.h>
#include <sys/stat.h>

#include "internal.h"

/* Directories that editors and builds run programs from, or read. */
static bool is_executed(const char *name, size_t n)
{
	static const char names[] =
		"node_modules .venv venv env .tox .nox __pycache__ target build dist out bin obj "
		".gradle .next .nuxt .turbo .parcel-cache .cache .eggs _build deps .dart_tool "
		".terraform .direnv .devenv .mypy_cache .pytest_cache .ruff_cache .yarn pods "
		"deriveddata bundle";
	cleanup_free char *part = ga_strndup(name, n);

	return ga_has_word(names, part) || !strncmp(part, "cmake-build-", 12);
}

static bool lies_in_executed(const char *folded)
{
	for (const char *p = folded;;) {
		size_t n = strcspn(p, "/");

		if (is_executed(p, n))
			return true;
		if (!p[n])
			return false;
		p += n + 1;
	}
}

void ga_classify_place(const struct ga_left_file *f, bool severe, struct ga_flags *ret)
{
	const struct ga_entry none = { GA_MODE_NONE, { { 0 } } };
	cleanup_buf struct ga_buf folded = GA_BUF_INIT;

	ga_name_fold(&folded, f->path);
	if (f->kind == GA_LEFT_IGNORED && severe)
		ga_flags_add_rule(ret, "ignored-config", GA_CRITICAL, f->path, &none, NULL);
	if (f->kind == GA_LEFT_IGNORED && lies_in_executed(folded.ptr))
		ga_flags_add_rule(ret, "ignored-executables", GA_CRITICAL, f->path, &none, NULL);
	if (f->kind == GA_LEFT_SPECIAL)
		ga_flags_add_rule(ret, "special-file", GA_CRITICAL, f->path, &none, NULL);
	if (S_ISREG(f->mode) && (f->mode & (S_ISUID | S_ISGID)))
		ga_flags_add_rule(ret, "setuid-caps-xattr", GA_CRITICAL, f->path, &none, NULL);
}

bool ga_flag_is_severe_in_place(const struct ga_flag *f)
{
	return f->severity >= GA_HIGH && strcmp(f->category, "filename") != 0 &&
	       strcmp(f->rule, "ignore-rules-source") != 0;
}

void ga_classify_left(const struct ga_host_facts *h, const struct ga_left_file *f,
		      struct ga_flags *ret)
{
	bool dir = f->mode ? S_ISDIR(f->mode) : f->kind != GA_LEFT_SPECIAL, severe = false;
	size_t from = ret->n;

	ga_classify_path(h, f->path, dir, ret);
	for (size_t i = from; i < ret->n; i++)
		severe |= ga_flag_is_severe_in_place(&ret->v[i]);
	ga_classify_place(f, severe, ret);
}
