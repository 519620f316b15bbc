/* SPDX-License-Identifier: MIT
 *
 * Getting files to the disk without waiting for it. A disk may take longer for one
 * fsync(2) than a whole session that does nothing; what such a session makes at its start is
 * gone again before it matters. So files are synced by a thread, some time after they were
 * written, if whoever made them is still there. The thread does nothing but that:
 * no signal is delivered to it and it shares no data with the caller.
 */
#ifndef GA_LATER_H
#define GA_LATER_H

#include "ga/error.h"
#include "ga/strv.h"

/* fsync(2) each of these files and directories. One that is missing or cannot be opened
 * is passed over. */
void ga_sync_paths(const struct ga_strv *paths);

/* One under way; owned by the caller, ended by ga_sync_later_end(). */
struct ga_sync_later;

/* Sync `paths` (taken over, left empty) in `ms` milliseconds. */
int ga_sync_later(struct ga_strv *paths, unsigned ms, struct ga_sync_later **ret,
		  struct ga_error *err);
/* If the time has not come it never will; if it has, wait until all is on the disk. NULL
 * is fine. */
void ga_sync_later_end(struct ga_sync_later *l);

#endif
