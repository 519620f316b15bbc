/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of this folder.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/base/oid.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/repo/objects.h"
#include "ga/sys/fd.h"
#include "ga/transfer/transfer.h"

/* remote.c: the refs, or ids without a name, that a remote is known to have (ga_fetch_session()),
 * and its remote-tracking branches of sessions. */
int remote_known(struct ga_env *e, const struct ga_fetch_opts *o, struct ga_refs *ret,
		 struct ga_refs *ret_sessions, struct ga_error *err);
/* fetch-uncommitted.c: for a fetch with a snapshot, make the uncommitted part of the session. */
int fetch_uncommitted(struct ga_env *e, const struct ga_fetch_opts *o,
		      struct ga_session *s, struct ga_report *r, struct ga_error *err);
