/* SPDX-License-Identifier: MIT
 *
 * Formats that are lines: those of Go, pip and bundler, and build files that are code, in which
 * only versions may change.
 */
#include <ctype.h>
#include <string.h>

#include "deps.h"

struct ga_deps_text {
	ga_deps_line_fn *line;
	struct ga_deps *ret;
	struct ga_buf block;  /* go.mod, bundler: what the lines are in */
	struct ga_buf origin; /* bundler: where the packages of the block are from */
	struct ga_buf name;   /* pom.xml: the last artifact */
	bool bad;
};

static void read_line(void *arg, char *line)
{
	struct ga_deps_text *t = arg;

	if (!t->bad)
		t->line(t, line);
}

bool ga_deps_read_text(const struct ga_deps_format *x, const struct ga_buf *text,
		       struct ga_deps *ret)
{
	struct ga_deps_text t = { .line = x->line, .ret = ret, .block = GA_BUF_INIT,
				  .origin = GA_BUF_INIT, .name = GA_BUF_INIT };

	t.bad = text->len > GA_KNOWN_MAX || memchr(text->ptr, '\0', text->len);
	ga_known_lines(text, read_line, &t);
	read_line(&t, (char[]){ "" }); /* ends a line that is continued last */
	ga_buf_release(&t.block);
	ga_buf_release(&t.origin);
	ga_buf_release(&t.name);
	return !t.bad;
}

static void chomp(char *line)
{
	size_t n = strlen(line);

	while (n && strchr(" \t\r", line[n - 1]))
		line[--n] = '\0';
}

/* Append the words of `s` with single blanks between them. */
static void put_words(struct ga_buf *out, char *s)
{
	char *save = NULL;

	for (char *w = strtok_r(s, " \t\r", &save); w; w = strtok_r(NULL, " \t\r", &save)) {
		if (out->len)
			ga_buf_addch(out, ' ');
		ga_buf_adds(out, w);
	}
}

/* Does it end in the time and the id of a commit? */
static bool is_commit(const char *version)
{
	size_t n = strlen(version);

	return n > 27 && strspn(version + n - 27, "0123456789") == 14 && version[n - 13] == '-' &&
	       strspn(version + n - 12, "0123456789abcdef") == 12;
}

/* "require MODULE VERSION", "go VERSION", or a line that is compared whole. */
static void mod_directive(struct ga_deps_text *t, char *line)
{
	char *name = strchr(line, ' '), *version = name ? strchr(name + 1, ' ') : NULL;

	if (version && !strncmp(line, "require ", 8) && !strchr(version + 1, ' ')) {
		*version++ = '\0';
		ga_dep_set(ga_deps_add(t->ret, name + 1), is_commit(version) ? "" : version,
			   is_commit(version) ? version : "");
	} else if (name && !version && !strncmp(line, "go ", 3) && ga_dep_is_plain(name + 1)) {
		ga_strv_pushf(&t->ret->rest, "go = %s", name + 1);
	} else {
		ga_strv_push(&t->ret->rest, line);
	}
}

void ga_deps_gomod(struct ga_deps_text *t, char *line)
{
	cleanup_buf struct ga_buf words = GA_BUF_INIT;
	char *comment = strstr(line, "//");

	/* a string may have what looks like a comment */
	t->bad |= strpbrk(line, "\"`") || strstr(line, "/*");
	if (comment)
		*comment = '\0';
	ga_buf_add(&words, t->block.ptr, t->block.len);
	put_words(&words, line);
	if (words.len == t->block.len)
		return;
	if (t->block.len && words.len == t->block.len + 2 && words.ptr[words.len - 1] == ')') {
		ga_buf_clear(&t->block);
	} else if (words.len > 2 && !strcmp(words.ptr + words.len - 2, " (")) {
		t->bad |= t->block.len != 0;
		ga_buf_add(&t->block, words.ptr, words.len - 2);
		t->bad |= strchr(t->block.ptr, ' ') != NULL;
	} else {
		mod_directive(t, words.ptr);
	}
}

void ga_deps_gosum(struct ga_deps_text *t, char *line)
{
	char *save = NULL, *name = strtok_r(line, " \r", &save);
	char *version = strtok_r(NULL, " \r", &save);
	char *sum = strtok_r(NULL, " \r", &save);
	cleanup_free char *whole = NULL;
	struct ga_dep *p;

	if (!name)
		return;
	if (!sum || strtok_r(NULL, " \r", &save)) {
		t->bad = true;
		return;
	}
	whole = ga_strf("%s %s", name, version);
	p = ga_deps_add(t->ret, whole);
	ga_strv_push(&p->proofs, sum);
}

/* A line, which a backslash continues. */
static void requirement(struct ga_deps_text *t, char *line)
{
	cleanup_buf struct ga_buf words = GA_BUF_INIT;
	cleanup_strv struct ga_strv proofs = GA_STRV_INIT;
	char *save = NULL;
	size_t n = t->ret->n;

	for (char *w = strtok_r(line, " \t\r", &save); w; w = strtok_r(NULL, " \t\r", &save)) {
		if (*w == '#')
			break;
		if (!strncmp(w, "--hash=", 7) && words.len)
			ga_strv_push(&proofs, w + 7);
		else
			ga_buf_addf(&words, "%s%s", words.len ? " " : "", w);
	}
	if (!words.len)
		return;
	if (*words.ptr == '-' || strpbrk(words.ptr, "@/\\$") || strstr(words.ptr, " --") ||
	    !ga_deps_add_python(t->ret, words.ptr)) {
		ga_strv_push(&t->ret->rest, words.ptr);
		ga_strv_extend(&t->ret->rest, &proofs);
		return;
	}
	ga_strv_sort_unique(&proofs);
	ga_strv_extend(&t->ret->v[n].proofs, &proofs);
}

void ga_deps_requirements(struct ga_deps_text *t, char *line)
{
	chomp(line);
	ga_buf_adds(&t->block, line);
	/* what is commented out is not continued, whoever reads it */
	if (t->block.len && t->block.ptr[t->block.len - 1] == '\\') {
		t->bad |= strchr(t->block.ptr, '#') != NULL;
		t->block.ptr[t->block.len - 1] = ' ';
		return;
	}
	requirement(t, t->block.ptr);
	ga_buf_clear(&t->block);
}

/* "    NAME (VERSION)" of a block's packages, with what it depends on indented further. */
static void bundler_package(struct ga_deps_text *t, size_t indent, char *line)
{
	char *version = strstr(line, " ("), *close = version ? strchr(version, ')') : NULL;
	bool sums = !strcmp(t->block.ptr, "CHECKSUMS");
	size_t n = version ? (size_t)(version - line) : strlen(line);
	cleanup_free char *name = ga_strndup(line, n);
	struct ga_dep *p;

	if (close)
		*close = '\0';
	if (indent == 6 || !strcmp(t->block.ptr, "DEPENDENCIES")) {
		if (close && close[1])
			ga_strv_pushf(&t->ret->edges, "%s%s", name, close + 1);
		else
			ga_strv_push(&t->ret->edges, name);
	} else if (close && (sums || (indent == 4 && !close[1]))) {
		p = ga_deps_add(t->ret, sums ? line : name);
		ga_dep_set(p, sums ? "" : version + 2, sums ? "" : t->origin.ptr);
		if (sums && close[1])
			ga_strv_push(&p->proofs, close + 1 + strspn(close + 1, " "));
	} else {
		t->bad = true;
	}
}

void ga_deps_bundler(struct ga_deps_text *t, char *line)
{
	size_t indent = strspn(line, " ");
	bool source = ga_has_word("GEM GIT PATH PLUGIN", t->block.ptr);

	chomp(line);
	if (!line[0])
		return;
	if (!indent) {
		ga_buf_clear(&t->block);
		ga_buf_adds(&t->block, line);
		ga_buf_clear(&t->origin);
		ga_buf_adds(&t->origin, line);
	} else if (ga_has_word("CHECKSUMS DEPENDENCIES", t->block.ptr) || (source && indent > 2)) {
		bundler_package(t, indent, line + indent);
	} else if (source) {
		if (strcmp(line, "  specs:") != 0)
			ga_buf_addf(&t->origin, " %s", line + indent);
	} else {
		ga_strv_pushf(&t->ret->rest, "%s: %s", t->block.ptr, line + indent);
	}
}

static const char version_chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789.+-_";

/* Is what ends at `at` on a line something whose version comes next? Sets what it is called. */
static bool is_before_version(struct ga_deps_text *t, const char *line, size_t at, char after,
			      struct ga_buf *name)
{
	static const char *const never[] = { "toolchain", "gradleversion", "image", "jvm", "java",
					     "://", "docker", "nodeversion" };
	cleanup_free char *before = ga_strndup(line, at);
	char *start;

	for (char *p = before; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	if (GA_FINDS_ANY(strstr, before, never) || !at)
		return false;
	/* <version>1</version> */
	if (line[at - 1] == '>') {
		start = strrchr(before, '<');
		ga_buf_adds(name, t->name.len ? t->name.ptr : start ? start : "");
		return after == '<' && start && at > 8 && !strcmp(before + at - 8, "version>");
	}
	/* "group:name:1" */
	if (line[at - 1] == ':' && after && strchr("\"'", after)) {
		start = strrchr(before, after);
		if (!start)
			return false;
		start = start - before + (char *)(uintptr_t)line + 1;
		ga_buf_add(name, start, (size_t)(line + at - 1 - start));
		return strchr(name->ptr, ':') && !strpbrk(name->ptr, " /@$\"'");
	}
	/* xVersion = "1", id "x" version "1", VER_X=1 */
	start = before + strspn(before, " \t");
	ga_buf_add(name, line + (start - before), strcspn(start, " \t=\"'"));
	return strchr("\"'=", line[at - 1]) &&
	       (line[at - 1] == '=' ? !after : after == line[at - 1]) &&
	       (strstr(before, "version") || !strncmp(start, "ver_", 4));
}

/* Append the line without its versions, which make packages. */
void ga_deps_code(struct ga_deps_text *t, char *line)
{
	cleanup_buf struct ga_buf rest = GA_BUF_INIT;
	char *id = strstr(line, "<artifactId>");

	chomp(line);
	if (id) {
		ga_buf_clear(&t->name);
		ga_buf_add(&t->name, id + 12, strcspn(id + 12, "<"));
	}
	for (char *p = line; *p;) {
		cleanup_buf struct ga_buf name = GA_BUF_INIT;
		size_t n = strspn(p, version_chars);
		cleanup_free char *version = ga_strndup(p, n);

		if (isdigit((unsigned char)*p) && strchr(version, '.') &&
		    ga_dep_is_plain(version) &&
		    is_before_version(t, line, (size_t)(p - line), p[n], &name)) {
			ga_dep_set(ga_deps_add(t->ret, name.ptr), version, "");
			ga_buf_adds(&rest, "{}");
		} else {
			n += n == 0;
			ga_buf_add(&rest, p, n);
		}
		p += n;
	}
	ga_strv_push(&t->ret->rest, rest.ptr);
}
