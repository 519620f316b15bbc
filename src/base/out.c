/* SPDX-License-Identifier: MIT */
#include "ga/base/out.h"

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
