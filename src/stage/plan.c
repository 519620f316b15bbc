/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "ga/fd.h"
#include "ga/parse.h"
#include "ga/path.h"
#include "stage.h"

int stage_fail(struct stage_fault *f, enum ga_stage_step step, int errnum, const char *object)
{
	*f = (struct stage_fault){ step, errnum, object };
	return -1;
}

/* The words not yet read. */
struct words {
	const char **v;
	size_t n;
};

static const char *next(struct words *w)
{
	if (!w->n)
		return NULL;
	w->n--;
	return *w->v++;
}

static bool host_path(const char **ret, struct words *w)
{
	*ret = next(w);
	return *ret && (*ret)[0] == '/';
}

/* Beneath the staging directory, and there only beneath its three trees. */
static bool staged_path(const char **ret, struct words *w)
{
	const char *s = *ret = next(w);

	return s && ga_path_relative_ok(s) &&
	       (ga_path_inside(s, "root") || ga_path_inside(s, "project") || ga_path_inside(s, "home"));
}

static bool overlay(struct stage_op *op, struct words *w)
{
	const char *count;
	uint64_t n;

	if (!staged_path(&op->dest, w) || !host_path(&op->upper, w) || !host_path(&op->work, w))
		return false;
	count = next(w);
	if (!count || !ga_parse_u64(count, GA_PLAN_MAX_LAYERS, &n) || !n || n > w->n)
		return false;
	op->layers = w->v;
	op->n_layers = n;
	for (const char *layer; n; n--)
		if (!host_path(&layer, w))
			return false;
	return true;
}

static bool bind_op(struct stage_op *op, struct words *w)
{
	return host_path(&op->source, w) && staged_path(&op->dest, w);
}

static bool move_op(struct stage_op *op, struct words *w)
{
	return staged_path(&op->source, w) && staged_path(&op->dest, w);
}

static bool dest_op(struct stage_op *op, struct words *w)
{
	return staged_path(&op->dest, w);
}

static bool tmpfs_op(struct stage_op *op, struct words *w)
{
	const char *mode = next(w);

	op->mode = 0;
	if (!mode || strlen(mode) != 4)
		return false;
	for (; *mode; mode++) {
		if (*mode < '0' || *mode > '7')
			return false;
		op->mode = op->mode * 8 + (unsigned)(*mode - '0');
	}
	return staged_path(&op->dest, w);
}

static bool symlink_op(struct stage_op *op, struct words *w)
{
	op->source = next(w);
	return op->source && staged_path(&op->dest, w) && ga_path_inside(op->dest, "root");
}

static const struct {
	const char *word;
	enum stage_kind kind;
	bool (*parse)(struct stage_op *op, struct words *w);
} kinds[] = {
	{ "overlay", STAGE_OVERLAY, overlay },
	{ "bind-rw", STAGE_BIND_RW, bind_op },
	{ "bind-ro", STAGE_BIND_RO, bind_op },
	{ "mountpoint", STAGE_MOUNTPOINT, dest_op },
	{ "move", STAGE_MOVE, move_op },
	{ "device", STAGE_DEVICE, bind_op },
	{ "devpts", STAGE_DEVPTS, dest_op },
	{ "tmpfs", STAGE_TMPFS, tmpfs_op },
	{ "symlink", STAGE_SYMLINK, symlink_op },
	{ "read-only", STAGE_READ_ONLY, dest_op },
	{ "mask-file", STAGE_MASK_FILE, dest_op },
	{ "mask-dir", STAGE_MASK_DIR, dest_op },
};

static bool parse_op(const char *word, struct words *w, struct stage_op *op)
{
	for (size_t i = 0; i < GA_NELEMS(kinds); i++) {
		if (strcmp(word, kinds[i].word))
			continue;
		*op = (struct stage_op){ .kind = kinds[i].kind };
		return kinds[i].parse(op, w);
	}
	return false;
}

/* Words up to "end", which must be the last one. */
static int parse_ops(struct stage_plan *p, struct words *w, struct stage_fault *f)
{
	size_t cap = 0;

	for (const char *word; (word = next(w)) != NULL;) {
		if (!strcmp(word, "end"))
			return w->n ? stage_fail(f, GA_STEP_PLAN, EINVAL, word) : 0;
		if (p->n_ops == GA_PLAN_MAX_OPS)
			return stage_fail(f, GA_STEP_PLAN, E2BIG, word);
		GA_GROW(p->ops, p->n_ops, cap);
		if (!parse_op(word, w, &p->ops[p->n_ops]))
			return stage_fail(f, GA_STEP_PLAN, EINVAL, word);
		p->n_ops++;
	}
	return stage_fail(f, GA_STEP_PLAN, EINVAL, "end");
}

/* Nobody may change it under us: all three seals, or it is no plan. */
static int read_bytes(int fd, struct ga_buf *ret, struct stage_fault *f)
{
	const int seals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW;
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	int have = fcntl(fd, F_GET_SEALS);
	struct stat st;

	if (have < 0 || (have & seals) != seals || fstat(fd, &st))
		return stage_fail(f, GA_STEP_PLAN, EPERM, "seals");
	if (st.st_size > (off_t)GA_PLAN_MAX_BYTES)
		return stage_fail(f, GA_STEP_PLAN, E2BIG, "size");
	if (ga_read_fd(fd, GA_PLAN_MAX_BYTES, ret, &err))
		return stage_fail(f, GA_STEP_PLAN, EIO, "read");
	if (!ret->len || ret->ptr[ret->len - 1])
		return stage_fail(f, GA_STEP_PLAN, EINVAL, "end");
	return 0;
}

int stage_plan_read(int fd, struct stage_plan *ret, struct stage_fault *f)
{
	struct words w = { NULL, 0 };
	size_t pos = 0, cap = 0;
	const char *word;

	*ret = (struct stage_plan){ .bytes = GA_BUF_INIT };
	if (read_bytes(fd, &ret->bytes, f))
		return -1;
	while ((word = ga_buf_next0(&ret->bytes, &pos)) != NULL) {
		GA_GROW(ret->words, w.n, cap);
		ret->words[w.n++] = word;
	}
	w.v = ret->words;
	word = next(&w);
	if (!word || strcmp(word, GA_PLAN_MAGIC))
		return stage_fail(f, GA_STEP_PLAN, EPROTO, "version");
	if (!host_path(&ret->dir, &w))
		return stage_fail(f, GA_STEP_PLAN, EINVAL, "directory");
	return parse_ops(ret, &w, f);
}
