/* SPDX-License-Identifier: MIT
 *
 * Ignored files of the session that are to be brought (opts->ignored).
 */
#ifndef LAND_IGNORED_H
#define LAND_IGNORED_H

#include "ga/leftbehind.h"
#include "landing.h"

struct land_ignored {
	struct ga_left_files files; /* all of them, by path */
	struct ga_entry *will;      /* by index: what each is, ... */
	struct ga_work_look *seen;  /* ... and what is in its place */
};
/* ignored.c: check them, and add those that differ to the record. `tree` is what lands. */
int land_ignored_plan(const struct landing *l, const struct ga_oid *tree, struct record *rec,
		      struct ga_error *err);
/* ignored-flags.c: run the rules on these and add what they find to the report: `tree` is the
 * result with them, `only` has nothing else, `changes` brings them; `store` reads these objects.
 * GA_EFLAGS while something high or critical is not accepted. */
int land_ignored_judge(const struct landing *l, const struct land_ignored *ig,
		       struct ga_repo *store, const struct ga_oid *merged,
		       const struct ga_oid *tree, const struct ga_oid *only,
		       const struct ga_changes *changes, struct ga_error *err);

#endif
