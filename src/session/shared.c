/* SPDX-License-Identifier: MIT */
#include <unistd.h>

#include "ga/session/session.h"

char *ga_session_removed(const struct ga_session *s, size_t i)
{
	return ga_strf("%s/shared/%zu/removed", s->dir, i);
}

bool ga_session_shares(const struct ga_session *s, size_t i)
{
	cleanup_free char *removed = ga_session_removed(s, i);

	return access(removed, F_OK) != 0;
}

void ga_session_shared(const struct ga_session *s, struct ga_strv *ret)
{
	for (size_t i = 0; i < s->view.shared.n; i++)
		if (ga_session_shares(s, i))
			ga_strv_push(ret, s->view.shared.v[i]);
}
