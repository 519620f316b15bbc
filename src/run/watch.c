/* SPDX-License-Identifier: MIT
 *
 * The output of a running session, for a client that only reads it.
 */
#include <errno.h>
#include <poll.h>

#include "live-internal.h"

static int show(const struct ga_live_watch *w, struct ga_termfilter *f, const struct live_packet *p)
{
	char out[GA_TERMFILTER_ROOM(LIVE_BYTES)];

	return w->output(w->payload, out, ga_termfilter(f, p->bytes, p->n, out));
}

/* Returns 1 if there is no more. */
static int on_packet(const struct ga_live_watch *w, struct ga_termfilter *f, bool *begun,
		     const struct live_packet *p)
{
	switch (p->m.type) {
	case LIVE_RESET:
		*f = (struct ga_termfilter)GA_TERMFILTER_INIT;
		if (*begun && w->missed)
			w->missed(w->payload);
		*begun = true;
		return 0;
	case LIVE_OUTPUT:
		return show(w, f, p);
	case LIVE_DONE:
	case LIVE_EXITED:
		return 1;
	default:
		return 0;
	}
}

int ga_live_watch(const struct ga_live_peer *p, const struct ga_live_watch *w,
		  struct ga_error *err)
{
	struct ga_termfilter f = GA_TERMFILTER_INIT;
	bool begun = false;
	int rc = 0;

	if (live_say(p->fd, LIVE_WATCH, w->follow, 0) < 0)
		return GA_LIVE_OVER;
	while (!rc) {
		struct pollfd pfd = { .fd = p->fd, .events = POLLIN };
		struct live_packet k;

		if (poll(&pfd, 1, -1) < 0 && errno != EINTR && errno != EAGAIN)
			return ga_fail_errno(err, GA_EFATAL, errno, "cannot wait for the session");
		rc = live_recv(p->fd, &k);
		if (rc <= 0)
			continue;
		live_close_fds(&k);
		rc = on_packet(w, &f, &begun, &k);
	}
	if (rc < 0 && !begun)
		return GA_LIVE_OVER;
	return rc == GA_LIVE_UNREAD ? GA_LIVE_UNREAD : 0;
}
