/* SPDX-License-Identifier: MIT
 *
 * The plan as the stage reads it: what it accepts names nothing outside its four trees,
 * and changes nothing that a sandbox would not see.
 */
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "ga/base/path.h"

/* The stage never frees a word: it executes bwrap, or ends. */
static char *words[1 << 16];
static size_t n_words;

static char *keep_word(const char *s)
{
	CHECK(n_words < GA_NELEMS(words));
	return words[n_words++] = ga_strdup(s);
}
#define ga_strdup(s) keep_word(s)
#include "stage/plan.c"
#undef ga_strdup

static void check_place(const char *s)
{
	CHECK(s && ga_path_relative_ok(s));
	CHECK(!strncmp(s, "root", 4) || !strncmp(s, "home", 4) || !strncmp(s, "project", 7) || !strncmp(s, "odb", 3));
	CHECK(!strchr("", s[strcspn(s, "/")]) || strlen(s) <= 7);
}

static void check_op(const struct stage_op *op)
{
	check_place(op->dest);
	switch (op->kind) {
	case STAGE_OVERLAY:
		CHECK(*op->upper == '/' && *op->work == '/');
		CHECK(op->n_layers && op->n_layers <= GA_PLAN_MAX_LAYERS);
		for (size_t i = 0; i < op->n_layers; i++)
			CHECK(op->layers[i][0] == '/');
		break;
	case STAGE_BIND_RW:
	case STAGE_BIND_RO:
	case STAGE_DEVICE:
	case STAGE_DISOWN:
		CHECK(*op->source == '/');
		break;
	case STAGE_TEXT:
		CHECK(!strncmp(op->dest, "odb/", 4));
		CHECK(op->n_text <= GA_PLAN_MAX_BYTES);
		break;
	case STAGE_MOVE:
		check_place(op->source);
		break;
	case STAGE_TMPFS:
		CHECK(op->mode <= 07777);
		break;
	case STAGE_SYMLINK:
		CHECK(op->source && !strncmp(op->dest, "root", 4));
		break;
	case STAGE_HIDE:
		CHECK(!strncmp(op->dest, "home", 4));
		CHECK(op->n_names && op->n_names <= GA_PLAN_MAX_LAYERS);
		for (size_t i = 0; i < op->n_names; i++)
			CHECK(ga_path_relative_ok(op->names[i]) && !strchr(op->names[i], '/'));
		break;
	case STAGE_DIR:
		CHECK(op->mode <= 07777);
		CHECK(!strncmp(op->dest, "root", 4) || !strncmp(op->dest, "home", 4));
		break;
	case STAGE_FILE:
		CHECK(!strncmp(op->dest, "home/", 5));
		break;
	case STAGE_SANDBOX:
		CHECK(!strncmp(op->dest, "root", 4));
		break;
	case STAGE_MOUNTPOINT:
	case STAGE_DEVPTS:
	case STAGE_READ_ONLY:
	case STAGE_MASK_FILE:
	case STAGE_MASK_DIR:
		break;
	}
}

static void check_fault(const struct stage_fault *f)
{
	CHECK(f->step == GA_STEP_PLAN && f->errnum > 0 && f->object);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct stage_plan p = { .fd = -1, .buf = GA_BUF_INIT };
	struct stage_fault f;
	struct stage_op op;
	unsigned started = 0;
	int fd, rc;

	if (n > sizeof(words) / sizeof(words[0]) / 2)
		return 0;
	fd = fuzz_file(data, n);
	if (stage_plan_open(fd, &p, &f)) {
		check_fault(&f);
	} else {
		CHECK(*p.dir == '/');
		while ((rc = stage_plan_next(&p, &op, &f)) > 0) {
			check_op(&op);
			if (started)
				CHECK(op.kind == STAGE_MOVE || op.kind == STAGE_DIR ||
				      strncmp(op.dest, "root", 4) != 0);
			started += op.kind == STAGE_SANDBOX;
		}
		CHECK(started <= 1);
		if (rc < 0)
			check_fault(&f);
		else
			CHECK(started && p.pos == n && n >= 4 && !memcmp(data + n - 4, "end", 4));
	}
	(void)close(fd);
	ga_buf_release(&p.buf);
	while (n_words)
		free(words[--n_words]);
	return 0;
}
