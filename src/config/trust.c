/* SPDX-License-Identifier: MIT */
#include "ga/config/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/config/yaml.h"
#include "ga/sys/fd.h"

#define DIR_NAME "trust"
/* The lines for users may be longer than the file. */
#define TRUSTED_MAX (16 * GA_YAML_BYTES_MAX)

void ga_trust_list_release(struct ga_trust_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		ga_buf_release(&l->v[i].text);
	free(l->v);
	*l = (struct ga_trust_list)GA_TRUST_LIST_INIT;
}

void ga_trust_id(const void *text, size_t n, char ret[GA_SHA256_HEXSZ + 1])
{
	struct ga_sha h;

	ga_sha256_init(&h);
	ga_sha_add(&h, text, n);
	ga_sha256_end_hex(&h, ret);
}

static int fail_open(const char *path, struct ga_error *err)
{
	return ga_fail_path(err, errno, "open", path);
}

/* Returns 1, with the descriptor -1, if the directory does not exist. */
static int open_dir(const char *dir, int *ret, struct ga_error *err)
{
	cleanup_free char *path = ga_path_join(dir, DIR_NAME);
	struct stat st;

	*ret = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*ret < 0)
		return errno == ENOENT ? 1 : fail_open(path, err);
	if (fstat(*ret, &st) || st.st_uid != geteuid() || (st.st_mode & 022)) {
		cleanup_free char *word = ga_quote_shell(path);

		(void)close(*ret);
		*ret = -1;
		return ga_fail(err, GA_EFATAL,
			       "'%s' is not yours alone" GA_HINT
			       "chmod 0700 %s, or, if it is somebody else's, remove it",
			       path, word);
	}
	return 0;
}

/* Returns 0 if the file's content matches its name and it belongs to the user. */
static int read_one(int at, const char *name, struct ga_trusted *ret)
{
	struct stat st;

	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode) ||
	    st.st_uid != geteuid() || (st.st_mode & 022) ||
	    ga_read_file_at(at, name, TRUSTED_MAX, &ret->text, GA_IGNORED))
		return 1;
	ga_trust_id(ret->text.ptr, ret->text.len, ret->id);
	ret->when = (uint64_t)st.st_mtim.tv_sec;
	ret->when_ns = (uint32_t)st.st_mtim.tv_nsec;
	return strcmp(ret->id, name) != 0;
}

int ga_trust_has(const char *dir, const void *text, size_t n, struct ga_error *err)
{
	struct ga_trusted one = { .text = GA_BUF_INIT };
	char id[GA_SHA256_HEXSZ + 1];
	cleanup_close int at = -1;
	int rc = open_dir(dir, &at, err);

	if (rc)
		return rc < 0 ? -1 : 0;
	ga_trust_id(text, n, id);
	rc = read_one(at, id, &one);
	ga_buf_release(&one.text);
	return !rc;
}

static int by_age(const void *a, const void *b)
{
	const struct ga_trusted *x = a, *y = b;

	if (x->when != y->when)
		return x->when < y->when ? 1 : -1;
	if (x->when_ns != y->when_ns)
		return x->when_ns < y->when_ns ? 1 : -1;
	return strcmp(x->id, y->id);
}

int ga_trust_list(const char *dir, struct ga_trust_list *ret, struct ga_error *err)
{
	cleanup_free char *path = ga_path_join(dir, DIR_NAME);
	cleanup_close int at = -1;
	int rc = open_dir(dir, &at, err);
	struct dirent *e;
	cleanup_dir DIR *d = NULL;

	if (rc)
		return rc < 0 ? -1 : 0;
	d = opendir(path);
	if (!d)
		return fail_open(path, err);
	while ((e = ga_dir_next(d))) {
		struct ga_trusted one = { .text = GA_BUF_INIT };

		if (strlen(e->d_name) != GA_SHA256_HEXSZ || read_one(at, e->d_name, &one)) {
			ga_buf_release(&one.text);
			continue;
		}
		GA_GROW(ret->v, ret->n, ret->cap);
		ret->v[ret->n++] = one;
	}
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_age);
	return 0;
}

static int forget(int at, const char *id, struct ga_error *err)
{
	if (unlinkat(at, id, 0) && errno != ENOENT)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot remove '%s'", id);
	return 0;
}

static int drop_oldest(const char *dir, int at, struct ga_error *err)
{
	cleanup_trust_list struct ga_trust_list l = GA_TRUST_LIST_INIT;

	if (ga_trust_list(dir, &l, err))
		return -1;
	for (size_t i = GA_TRUST_MAX; i < l.n; i++)
		if (forget(at, l.v[i].id, err))
			return -1;
	return 0;
}

/* Make and sync the directory, without which a file in it would not survive a power cut. */
static int make_dir(const char *dir, const char *path, struct ga_error *err)
{
	cleanup_close int parent = -1;

	if (!mkdir(path, 0700)) {
		parent = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (parent >= 0 && !ga_fsync(parent))
			return 0;
	} else if (errno == EEXIST) {
		return 0;
	}
	return ga_fail_path(err, errno, "create", path);
}

int ga_trust_add(const char *dir, const void *text, size_t n, struct ga_error *err)
{
	cleanup_free char *path = ga_path_join(dir, DIR_NAME);
	char id[GA_SHA256_HEXSZ + 1];
	cleanup_close int at = -1;

	if (make_dir(dir, path, err) || open_dir(dir, &at, err))
		return -1;
	ga_trust_id(text, n, id);
	return ga_write_atomic(at, id, text, n, 0600, err) || drop_oldest(dir, at, err) ? -1 : 0;
}

int ga_trust_revoke_all(const char *dir, struct ga_error *err)
{
	cleanup_trust_list struct ga_trust_list l = GA_TRUST_LIST_INIT;
	cleanup_close int at = -1;
	int rc = open_dir(dir, &at, err);

	if (rc || ga_trust_list(dir, &l, err))
		return rc > 0 ? 1 : -1;
	for (size_t i = 0; i < l.n; i++)
		if (forget(at, l.v[i].id, err))
			return -1;
	if (l.n && ga_fsync(at))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot write what is trusted");
	return !l.n;
}
