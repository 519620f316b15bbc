/* SPDX-License-Identifier: MIT
 *
 * Getting files to the disk. It may take longer for one fsync(2) than a whole session that does
 * nothing, so some are left to threads, which share them. These do nothing else: no signal is
 * delivered to them, and the caller does not look at what they share.
 */
#ifndef GA_SYNC_H
#define GA_SYNC_H

#include "ga/strv.h"

/* fsync(2) each of these files and directories. One that is missing or cannot be opened
 * is passed over. */
void ga_sync_paths(const struct ga_strv *paths);

/* The same beside what the caller does; `paths` are taken over and left empty. To be ended by
 * ga_sync_beside_end(). NULL: no thread was to be had, or there is nothing to do, and it is
 * done. */
struct ga_sync_beside;
struct ga_sync_beside *ga_sync_beside(struct ga_strv *paths);
/* Wait until all is on the disk. NULL is fine. */
void ga_sync_beside_end(struct ga_sync_beside *b);

#endif
