/* SPDX-License-Identifier: MIT */
#include "ga/quote.h"
#include "ga/report.h"

void ga_report_trailer(struct ga_buf *message, const char *key, enum ga_severity s,
		       const char *rule, const char *path, const struct ga_entry *entry_or_null)
{
	cleanup_free char *q = ga_quote(path), *id = ga_escape(rule);

	ga_buf_addf(message, "%s: %s %s %s", key, ga_severity_name(s), id, q);
	if (entry_or_null)
		ga_buf_addf(message, " %06o %s", entry_or_null->mode, GA_HEX(&entry_or_null->oid));
	ga_buf_addch(message, '\n');
}
