/* SPDX-License-Identifier: MIT
 *
 * What happened in a session: one JSON object a line in journal.jsonl, outside
 * the agent's reach. Append-only; each event is one write(2).
 */
#ifndef GA_JOURNAL_H
#define GA_JOURNAL_H

#include <jansson.h>

/* Append {"time": now, "event": `event`, ...fields}. Takes over `fields` (may be
 * NULL). A journal that cannot be written never stops a session: the return value is 0 or -1
 * with errno. */
int ga_journal(const char *session_dir, const char *event, json_t *fields);

#endif
