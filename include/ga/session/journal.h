/* SPDX-License-Identifier: MIT
 *
 * The journal of a session: one JSON object per line in journal.jsonl, outside the agent's reach.
 * Append-only; each event is one write(2).
 */
#pragma once

#include <jansson.h>

#include "ga/base/error.h"

/* Append {"time": now, "event": `event`, ...fields}. Takes over the reference `fields` (may be
 * NULL). Where the line would be longer than GA_JOURNAL_LINE_MAX bytes, {"cut": true} replaces the
 * fields. Returns 0 or -1 with errno; a journal that cannot be written must never stop a
 * session. */
#define GA_JOURNAL_LINE_MAX ((size_t)1 << 20)
int ga_journal(const char *session_dir, const char *event, json_t *fields);

/* Read it: an array of these objects, the oldest first, as a new reference; an empty one if there
 * is no journal. A line that is no object (cut off by a full disk) is left out. Only the last
 * GA_JOURNAL_READ_MAX bytes are read. */
#define GA_JOURNAL_READ_MAX ((size_t)8 << 20)
int ga_journal_read(const char *session_dir, json_t **ret, struct ga_error *err);
