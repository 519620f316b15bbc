/* SPDX-License-Identifier: MIT
 *
 * Sync files to the disk. A single fsync(2) may take longer than a whole session that does nothing,
 * so some run in threads. No signal is delivered to these threads, and the caller does not touch
 * the data they share.
 */
#pragma once

#include "ga/base/error.h"
#include "ga/base/strv.h"

/* fsync(2) each of these files and directories. Missing ones are skipped. The first failure becomes
 * the error; the others are still synced. */
int ga_sync_paths(const struct ga_strv *paths, struct ga_error *err);

/* The same in the background, by up to `threads` threads, at most three (starting one takes as long
 * as an fsync or two on a fast disk). Takes over the strings of `paths`, which is left empty. End
 * it with ga_sync_end(). NULL: there is nothing to do. If no thread can be started, the work
 * is done before this returns. */
struct ga_sync_job;
struct ga_sync_job *ga_sync_begin(struct ga_strv *paths, size_t threads);
/* Wait until everything is on the disk, and free it. Errors are reported here, as by
 * ga_sync_paths(). NULL is fine. */
int ga_sync_end(struct ga_sync_job *b, struct ga_error *err);
