/* SPDX-License-Identifier: MIT
 *
 * What happened in a session: one JSON object a line in journal.jsonl, outside
 * the agent's reach. Append-only; each event is one write(2).
 */
#ifndef GA_JOURNAL_H
#define GA_JOURNAL_H

#include <jansson.h>

#include "ga/error.h"

/* Append {"time": now, "event": `event`, ...fields}. Takes over `fields` (may be
 * NULL). One that would be longer than GA_JOURNAL_LINE_MAX bytes becomes {..., "cut": true}. A
 * journal that cannot be written never stops a session: the return value is 0 or -1
 * with errno. */
#define GA_JOURNAL_LINE_MAX ((size_t)1 << 20)
int ga_journal(const char *session_dir, const char *event, json_t *fields);

/* What it says: an array of such objects, the oldest first; a new reference. None if there is no
 * journal. A line that is no object, cut off by a full disk, is left out. At most the last
 * GA_JOURNAL_READ_MAX bytes are read. */
#define GA_JOURNAL_READ_MAX ((size_t)8 << 20)
int ga_journal_read(const char *session_dir, json_t **ret, struct ga_error *err);

#endif
