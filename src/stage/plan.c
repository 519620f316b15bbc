/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "ga/base/parse.h"
#include "ga/base/path.h"
#include "stage.h"

#define CHUNK ((size_t)16 << 10)

int stage_fail(struct stage_fault *f, enum ga_stage_step step, int errnum, const char *object)
{
	*f = (struct stage_fault){ step, errnum, object };
	return -1;
}

/* Read more of the plan, waiting for it. False at its end, or if it cannot be read. */
static bool read_more(struct stage_plan *p)
{
	ssize_t n;

	if (p->buf.len > GA_PLAN_MAX_BYTES)
		return false;
	n = TEMP_FAILURE_RETRY(read(p->fd, ga_buf_reserve(&p->buf, CHUNK), CHUNK));
	if (n <= 0)
		return false;
	p->buf.len += (size_t)n;
	p->buf.ptr[p->buf.len] = '\0';
	return true;
}

/* The next word; NULL if there is no complete one any more. */
static const char *next(struct stage_plan *p)
{
	for (;;) {
		const char *at = p->buf.ptr + p->pos;
		size_t left = p->buf.len - p->pos;

		if (left && memchr(at, '\0', left)) {
			p->pos += strlen(at) + 1;
			return ga_strdup(at);
		}
		if (left > GA_PLAN_MAX_WORD || !read_more(p))
			return NULL;
	}
}

static bool host_path(const char **ret, struct stage_plan *p)
{
	*ret = next(p);
	return *ret && (*ret)[0] == '/';
}

/* A path beneath the staging directory, in one of its four trees. */
static bool staged_path(const char **ret, struct stage_plan *p)
{
	const char *s = *ret = next(p);

	return s && ga_path_relative_ok(s) &&
	       (ga_path_inside(s, "root") || ga_path_inside(s, "project") ||
		ga_path_inside(s, "home") || ga_path_inside(s, "odb"));
}

static bool overlay(struct stage_op *op, struct stage_plan *p)
{
	const char *count;
	uint64_t n;

	if (!staged_path(&op->dest, p) || !host_path(&op->upper, p) || !host_path(&op->work, p))
		return false;
	count = next(p);
	if (!count || !ga_parse_u64(count, GA_PLAN_MAX_LAYERS, &n) || !n)
		return false;
	for (; op->n_layers < n; op->n_layers++)
		if (!host_path(&op->layers[op->n_layers], p))
			return false;
	return true;
}

static bool bind_op(struct stage_op *op, struct stage_plan *p)
{
	return host_path(&op->source, p) && staged_path(&op->dest, p);
}

static bool move_op(struct stage_op *op, struct stage_plan *p)
{
	return staged_path(&op->source, p) && staged_path(&op->dest, p);
}

static bool dest_op(struct stage_op *op, struct stage_plan *p)
{
	return staged_path(&op->dest, p);
}

static bool hide_op(struct stage_op *op, struct stage_plan *p)
{
	const char *count;
	uint64_t n;

	if (!staged_path(&op->dest, p) || !ga_path_inside(op->dest, "home"))
		return false;
	count = next(p);
	if (!count || !ga_parse_u64(count, GA_PLAN_MAX_LAYERS, &n) || !n)
		return false;
	for (; op->n_names < n; op->n_names++) {
		const char *name = op->names[op->n_names] = next(p);

		if (!name || !ga_path_relative_ok(name) || strchr(name, '/'))
			return false;
	}
	return true;
}

static bool disown_op(struct stage_op *op, struct stage_plan *p)
{
	op->dest = "root";
	return !p->begun && host_path(&op->source, p);
}

static bool sandbox_op(struct stage_op *op, struct stage_plan *p)
{
	bool again = p->sandbox;

	op->dest = "root";
	p->sandbox = true;
	return !again;
}

static bool mode_op(struct stage_op *op, struct stage_plan *p)
{
	const char *mode = next(p);

	op->mode = 0;
	if (!mode || strlen(mode) != 4)
		return false;
	for (; *mode; mode++) {
		if (*mode < '0' || *mode > '7')
			return false;
		op->mode = op->mode * 8 + (unsigned)(*mode - '0');
	}
	return staged_path(&op->dest, p);
}

static bool dir_op(struct stage_op *op, struct stage_plan *p)
{
	return mode_op(op, p) &&
	       (ga_path_inside(op->dest, "root") || ga_path_inside(op->dest, "home"));
}

static bool file_op(struct stage_op *op, struct stage_plan *p)
{
	const char *below = staged_path(&op->dest, p) ? ga_path_below(op->dest, "home") : NULL;

	return below && *below;
}

static bool text_op(struct stage_op *op, struct stage_plan *p)
{
	const char *below = staged_path(&op->dest, p) ? ga_path_below(op->dest, "odb") : NULL;
	const char *count = below && *below ? next(p) : NULL;
	uint64_t n;

	if (!count || !ga_parse_u64(count, GA_PLAN_MAX_BYTES, &n))
		return false;
	while (p->buf.len - p->pos < n)
		if (!read_more(p))
			return false;
	op->text = p->buf.ptr + p->pos;
	op->n_text = n;
	p->pos += n;
	return true;
}

static bool symlink_op(struct stage_op *op, struct stage_plan *p)
{
	op->source = next(p);
	return op->source && staged_path(&op->dest, p) &&
	       (ga_path_inside(op->dest, "root") || ga_path_inside(op->dest, "home"));
}

static const struct {
	const char *word;
	enum stage_kind kind;
	bool (*parse)(struct stage_op *op, struct stage_plan *p);
} kinds[] = {
	{ "overlay", STAGE_OVERLAY, overlay },
	{ "bind-rw", STAGE_BIND_RW, bind_op },
	{ "bind-ro", STAGE_BIND_RO, bind_op },
	{ "mountpoint", STAGE_MOUNTPOINT, dest_op },
	{ "move", STAGE_MOVE, move_op },
	{ "device", STAGE_DEVICE, bind_op },
	{ "devpts", STAGE_DEVPTS, dest_op },
	{ "tmpfs", STAGE_TMPFS, mode_op },
	{ "symlink", STAGE_SYMLINK, symlink_op },
	{ "read-only", STAGE_READ_ONLY, dest_op },
	{ "mask-file", STAGE_MASK_FILE, dest_op },
	{ "mask-dir", STAGE_MASK_DIR, dest_op },
	{ "hide", STAGE_HIDE, hide_op },
	{ "dir", STAGE_DIR, dir_op },
	{ "file", STAGE_FILE, file_op },
	{ "text", STAGE_TEXT, text_op },
	{ "disown", STAGE_DISOWN, disown_op },
	{ "sandbox", STAGE_SANDBOX, sandbox_op },
};

/* Is it an operation whose effect a running sandbox would not see? Only attaching a mount
 * propagates. */
static bool is_late(const struct stage_op *op)
{
	return ga_path_inside(op->dest, "root") && op->kind != STAGE_MOVE &&
	       op->kind != STAGE_DIR;
}

static bool parse_op(struct stage_plan *p, const char *word, struct stage_op *op)
{
	bool running = p->sandbox;

	for (size_t i = 0; i < GA_NELEMS(kinds); i++) {
		if (strcmp(word, kinds[i].word))
			continue;
		*op = (struct stage_op){ .kind = kinds[i].kind };
		if (op->kind != STAGE_DISOWN)
			p->begun = true;
		return kinds[i].parse(op, p) && !(running && is_late(op));
	}
	return false;
}

/* Fail with the reason why there is no next word. */
static int fail_at_end(const struct stage_plan *p, const char *object, struct stage_fault *f)
{
	bool too_long = p->buf.len > GA_PLAN_MAX_BYTES || p->buf.len - p->pos > GA_PLAN_MAX_WORD;

	return stage_fail(f, GA_STEP_PLAN, too_long ? E2BIG : EINVAL, object);
}

int stage_plan_open(int fd, struct stage_plan *ret, struct stage_fault *f)
{
	const char *word;

	*ret = (struct stage_plan){ .fd = fd, .buf = GA_BUF_INIT };
	word = next(ret);
	if (!word)
		return fail_at_end(ret, "version", f);
	if (strcmp(word, GA_PLAN_MAGIC))
		return stage_fail(f, GA_STEP_PLAN, EPROTO, "version");
	return host_path(&ret->dir, ret) ? 0 : fail_at_end(ret, "directory", f);
}

int stage_plan_next(struct stage_plan *p, struct stage_op *ret, struct stage_fault *f)
{
	const char *word = next(p);

	if (!word)
		return fail_at_end(p, "end", f);
	if (!strcmp(word, "end"))
		return !p->sandbox || next(p) || p->pos < p->buf.len ?
			       stage_fail(f, GA_STEP_PLAN, EINVAL, word) : 0;
	if (p->n_ops++ == GA_PLAN_MAX_OPS)
		return stage_fail(f, GA_STEP_PLAN, E2BIG, word);
	return parse_op(p, word, ret) ? 1 : fail_at_end(p, word, f);
}
