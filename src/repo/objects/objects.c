/* SPDX-License-Identifier: MIT */
#include "repo/objects-internal.h"

#include <git2/sys/odb_backend.h>
#include <stdio.h>
#include <string.h>

int ga_blob_read(struct ga_repo *r, const struct ga_oid *oid, size_t max, struct ga_buf *out,
		 struct ga_error *err)
{
	cleanup_odb_object git_odb_object *obj = NULL;
	git_oid id = ga_to_git_oid(oid);
	git_object_t type;
	size_t size;

	/* the header first, so that an object that is too long is never inflated */
	if (ga_odb_read_header(r, &id, &size, &type))
		return ga_fail_git(err, "cannot read object %s", GA_HEX(oid));
	if (type == GIT_OBJECT_BLOB && size > max)
		return 1;
	if (ga_odb_read(r, oid, GIT_OBJECT_BLOB, &obj, err))
		return -1;
	ga_buf_add(out, git_odb_object_data(obj), git_odb_object_size(obj));
	return 0;
}

int ga_blob_write(struct ga_repo *r, const void *data, size_t n, struct ga_oid *ret,
		  struct ga_error *err)
{
	return ga_odb_write(r, GIT_OBJECT_BLOB, data, n, ret, err);
}

int ga_blob_id_of(const void *data, size_t n, struct ga_oid *ret, struct ga_error *err)
{
	git_oid id;

	if (git_odb_hash(&id, data, n, GIT_OBJECT_BLOB))
		return ga_fail_git(err, "cannot hash a link");
	*ret = ga_from_git_oid(&id);
	return 0;
}

bool ga_collision_found(void)
{
	bool yes = ga_collided();

	git_error_clear();
	return yes;
}

int ga_blob_id(int fd, struct ga_oid *ret, struct ga_error *err)
{
	char path[64];
	git_oid id;

	/* libgit2 has no other way to hash a file that is open already */
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (git_odb_hashfile(&id, path, GIT_OBJECT_BLOB))
		return ga_fail_git(err, "cannot hash a file");
	*ret = ga_from_git_oid(&id);
	return 0;
}

void ga_commit_release(struct ga_commit *c)
{
	free(c->parents);
	free(c->author);
	free(c->committer);
	free(c->extra);
	free(c->message);
	*c = (struct ga_commit){ 0 };
}

/* One header with its continuation lines, which begin with a space: `raw` is all of it, with the
 * last newline; `value` is what follows the name, without that newline. */
struct header {
	const char *raw, *value;
	size_t raw_len, value_len;
};

/* Returns false at the blank line that ends the headers, and at the end of a commit without one. */
static bool next_header(const char **p, const char *end, struct header *h)
{
	const char *nl, *space;

	if (*p >= end)
		return false;
	if (**p == '\n') {
		(*p)++;
		return false;
	}
	h->raw = *p;
	do {
		nl = memchr(*p, '\n', (size_t)(end - *p));
		*p = nl ? nl + 1 : end;
	} while (*p < end && **p == ' ');
	h->raw_len = (size_t)(*p - h->raw);
	space = memchr(h->raw, ' ', h->raw_len);
	h->value = space ? space + 1 : *p;
	h->value_len = (size_t)(*p - h->value);
	if (h->value_len && h->value[h->value_len - 1] == '\n')
		h->value_len--;
	return true;
}

static bool is_header(const struct header *h, const char *name)
{
	size_t n = strlen(name);

	return h->raw_len > n && !memcmp(h->raw, name, n) && h->raw[n] == ' ';
}

/* These two refuse what could not be written again unchanged: a line that is cut short or has a
 * NUL, and a name that is missing or continued on a second line. */
static bool is_whole(const struct header *h)
{
	return h->raw[h->raw_len - 1] == '\n' && !memchr(h->raw, '\0', h->raw_len);
}

static bool is_name(const struct header *h)
{
	return h->value_len && !memchr(h->value, '\n', h->value_len);
}

static bool take_header(struct ga_commit *c, const struct header *h, size_t *cap,
			struct ga_buf *extra)
{
	struct ga_oid oid;

	if (!is_whole(h))
		return false;
	if (is_header(h, "parent") && !c->author) {
		if (!ga_oid_parse(h->value, h->value_len, &oid))
			return false;
		GA_GROW(c->parents, c->n_parents, *cap);
		c->parents[c->n_parents++] = oid;
	} else if (is_header(h, "author") && !c->author) {
		if (!is_name(h))
			return false;
		c->author = ga_strndup(h->value, h->value_len);
	} else if (is_header(h, "committer") && !c->committer) {
		if (!is_name(h))
			return false;
		c->committer = ga_strndup(h->value, h->value_len);
	} else {
		ga_buf_add(extra, h->raw, h->raw_len);
	}
	return true;
}

static bool parse_commit(const char *p, size_t n, struct ga_commit *c)
{
	cleanup_buf struct ga_buf extra = GA_BUF_INIT;
	const char *end = p + n;
	struct header h;
	size_t cap = 0;

	if (!next_header(&p, end, &h) || !is_header(&h, "tree") ||
	    !ga_oid_parse(h.value, h.value_len, &c->tree))
		return false;
	while (next_header(&p, end, &h))
		if (!take_header(c, &h, &cap, &extra))
			return false;
	if (!c->author || !c->committer)
		return false;
	c->extra = ga_buf_steal(&extra);
	c->message = ga_strndup(p, (size_t)(end - p));
	return true;
}

int ga_commit_read(struct ga_repo *r, const struct ga_oid *oid, struct ga_commit *ret,
		   struct ga_error *err)
{
	cleanup_odb_object git_odb_object *obj = NULL;
	struct ga_commit c = { 0 };

	if (ga_odb_read(r, oid, GIT_OBJECT_COMMIT, &obj, err))
		return -1;
	if (!parse_commit(git_odb_object_data(obj), git_odb_object_size(obj), &c)) {
		ga_commit_release(&c);
		return ga_fail(err, GA_EFATAL, "commit %s is malformed", GA_HEX(oid));
	}
	*ret = c;
	return 0;
}

int ga_commit_exists(struct ga_repo *r, const struct ga_oid *commit, struct ga_error *err)
{
	git_oid id = ga_to_git_oid(commit);
	git_object_t type;
	size_t size;
	int rc = ga_odb_read_header(r, &id, &size, &type);

	if (rc == GIT_ENOTFOUND)
		return 0;
	return rc ? ga_fail_git(err, "cannot read object %s", GA_HEX(commit))
		  : type == GIT_OBJECT_COMMIT;
}

bool ga_object_exists(struct ga_repo *r, const struct ga_oid *oid)
{
	git_oid id = ga_to_git_oid(oid);

	return git_odb_exists(r->odb, &id);
}

int ga_commit_tree(struct ga_repo *r, const struct ga_oid *commit, struct ga_oid *ret,
		   struct ga_error *err)
{
	cleanup_odb_object git_odb_object *obj = NULL;
	const char *p;
	struct header h;

	if (ga_odb_read(r, commit, GIT_OBJECT_COMMIT, &obj, err))
		return -1;
	p = git_odb_object_data(obj);
	if (!next_header(&p, p + git_odb_object_size(obj), &h) || !is_header(&h, "tree") ||
	    !ga_oid_parse(h.value, h.value_len, ret))
		return ga_fail(err, GA_EFATAL, "commit %s is malformed", GA_HEX(commit));
	return 0;
}

static bool one_line(const char *s)
{
	return s && *s && !strchr(s, '\n');
}

/* The bytes of a commit object. */
static int format(const struct ga_commit *c, struct ga_buf *out, struct ga_error *err)
{
	const char *extra = c->extra ? c->extra : "";
	size_t n = strlen(extra);

	/* a blank line among the headers would end them */
	if (!one_line(c->author) || !one_line(c->committer) || *extra == '\n' ||
	    strstr(extra, "\n\n") || (n && extra[n - 1] != '\n'))
		return ga_fail(err, GA_EFATAL, "cannot write a commit with such headers");
	ga_buf_addf(out, "tree %s\n", GA_HEX(&c->tree));
	for (size_t i = 0; i < c->n_parents; i++)
		ga_buf_addf(out, "parent %s\n", GA_HEX(&c->parents[i]));
	ga_buf_addf(out, "author %s\ncommitter %s\n%s\n", c->author, c->committer, extra);
	ga_buf_adds(out, c->message ? c->message : "");
	return 0;
}

int ga_commit_write(struct ga_repo *r, const struct ga_commit *c, struct ga_oid *ret,
		    struct ga_error *err)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	return format(c, &b, err) ? -1 : ga_odb_write(r, GIT_OBJECT_COMMIT, b.ptr, b.len, ret, err);
}

int ga_pack_add_commit(struct ga_pack *p, const struct ga_commit *c, struct ga_oid *ret,
		       struct ga_error *err)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	return format(c, &b, err) ? -1 : ga_pack_add(p, GIT_OBJECT_COMMIT, b.ptr, b.len, ret, err);
}
