/* SPDX-License-Identifier: MIT */
#include "ga/base/out.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "ga/base/alloc.h"
#include "ga/base/clock.h"

/* Below this, the system call costs more than copying the bytes. */
#define WORTH_IT ((size_t)16 << 10)

void ga_out_release(struct ga_out *o)
{
	ga_buf_release(&o->text);
}

int ga_out_flush(struct ga_out *o, struct ga_error *err)
{
	int rc;

	if (!o->write || !o->text.len)
		return 0;
	rc = o->write(o->to, o->text.ptr, o->text.len, err);
	ga_buf_clear(&o->text);
	return rc;
}

int ga_out_offer(struct ga_out *o, struct ga_error *err)
{
	return o->text.len < WORTH_IT ? 0 : ga_out_flush(o, err);
}

#define EVERY_STEPS 64  /* between readings of the clock */
#define EVERY_MS 100    /* between writes */

void ga_progress_begin(struct ga_progress *p, int64_t delay_ms, const char *title, uint64_t total)
{
	*p = (struct ga_progress){ .title = title, .total = total,
				   .due = delay_ms < 0 ? -1 : ga_now_ms() + delay_ms };
}

/* In one write, so that nothing gets in between. An error ends the display; a short write is
 * ignored. */
static void show(struct ga_progress *p, const char *end)
{
	cleanup_free char *line =
		p->total ? ga_strf("%s: %3d%% (%" PRIu64 "/%" PRIu64 ")%s", p->title,
				   (int)(p->n * 100 / p->total), p->n, p->total, end) :
			   ga_strf("%s: %" PRIu64 "%s", p->title, p->n, end);

	if (write(STDERR_FILENO, line, strlen(line)) < 0)
		p->due = -1;
	p->shown = true;
}

void ga_progress_step(struct ga_progress *p)
{
	int64_t now;

	if (p->n++ % EVERY_STEPS || p->due < 0)
		return;
	now = ga_now_ms();
	if (now < p->due)
		return;
	p->due = now + EVERY_MS;
	show(p, "\r");
}

void ga_progress_end(struct ga_progress *p)
{
	if (p->shown)
		show(p, p->n < p->total ? "\n" : ", done.\n");
	p->shown = false;
}
