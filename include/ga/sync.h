/* SPDX-License-Identifier: MIT
 *
 * Getting files to the disk. It may take longer for one fsync(2) than a whole session that does
 * nothing, so some are left to threads, which share them. These do nothing else: no signal is
 * delivered to them, and the caller does not look at what they share.
 */
#ifndef GA_SYNC_H
#define GA_SYNC_H

#include "ga/error.h"
#include "ga/strv.h"

/* fsync(2) each of these files and directories. One that is missing is passed over; the first that
 * cannot be opened or synced is the error, and the others are synced all the same. */
int ga_sync_paths(const struct ga_strv *paths, struct ga_error *err);

/* The same beside what the caller does, by so many threads, three at most (to start one takes as
 * long as an fsync or two of a quick disk); `paths` are taken over and left empty. To be ended by
 * ga_sync_beside_end(). NULL: there is nothing to do. Where no thread is to be had it is done
 * before this returns. */
struct ga_sync_beside;
struct ga_sync_beside *ga_sync_beside(struct ga_strv *paths, size_t threads);
/* Wait until all is on the disk, and free it. What failed is told here, as by ga_sync_paths(). NULL
 * is fine. */
int ga_sync_beside_end(struct ga_sync_beside *b, struct ga_error *err);

#endif
