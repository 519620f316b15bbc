/* SPDX-License-Identifier: MIT
 *
 * Leftovers, in a report: places, their names, groups and flags.
 */
#include "../land-support.h"

#include "review/review-internal.h"
#include "ga/base/quote.h"

/* Places have the flags of what lies in them, with the severity of the rule, and of what they are
 * themselves; names that only begin alike are other places. */
TEST(a_place_has_the_flags_of_what_lies_in_it)
{
	static const struct {
		const char *path, *rule;
	} stored[] = {
	    {"a", "ignore-rules-source"}, {"a-b", "dotenv"}, {"a/.env", "dotenv"},
	    {"a/x/.envrc", "direnv"}, {"ab/.env", "dotenv"}, {"b", "direnv"},
	};
	static const struct {
		const char *place, *shown;
	} places[] = {
	    {"a", "ignore-rules-source:high dotenv:high direnv:critical "},
	    {"b", "direnv:critical ignored-config:critical "},
	    {"build/x", "ignored-executables:critical "},
	    {"c", ""},
	};
	cleanup_report struct ga_report r = GA_REPORT_INIT;
	FLAGS(flags);
	json_t *list, *place;
	size_t i;

	for (i = 0; i < GA_NELEMS(stored); i++) {
		struct ga_flag one = {.rule = (char *)(uintptr_t)stored[i].rule,
				      .category = (char *)(uintptr_t)"c",
				      .severity = ga_rule_find(stored[i].rule)->severity,
				      .path = (char *)(uintptr_t)stored[i].path,
				      .reason = (char *)(uintptr_t)"because"};
		const struct ga_flags f = {&one, 1, 1};

		ga_report_add_flags(&r, GA_FROM_LEFTOVERS, &f, NULL);
	}
	for (i = 0; i < GA_NELEMS(places); i++)
		ga_leftovers_add(&r.left, places[i].place, GA_LEFTOVER_IGNORED, 1, 1);
	ga_leftovers_sort(&r.left);
	list = review_left_json(&r);
	review_left_flags(&r, &flags);
	json_array_foreach(list, i, place) {
		FLAGS(severe);
		json_t *fs = json_object_get(place, "flags"), *f;
		size_t n = 0, j;

		STREQ(json_string_value(json_object_get(place, "path")), places[i].place);
		json_array_foreach(fs, j, f) {
			cleanup_free char *one = ga_strf("%s:%s ", json_string_value(json_object_get(f, "id")),
			    json_string_value(json_object_get(f, "severity")));

			if (!strstr(places[i].shown, one))
				fail_msg("%s has %s", places[i].place, one);
			n++;
		}
		for (const char *p = places[i].shown; (p = strchr(p, ' ')); p++)
			n--;
		if (n)
			fail_msg("%s has other flags", places[i].place);
		review_place_flags(&flags, places[i].place, &severe);
		EQUAL(severe.n > 0, *places[i].shown != '\0');
	}
	json_decref(list);
}

TEST(many_entries_of_a_directory_are_one_group)
{
	static const struct {
		const char *path;
		enum ga_leftover_kind kind;
	} lines[] = {
	    {"a", GA_LEFTOVER_IGNORED},	{"d-x", GA_LEFTOVER_IGNORED}, {"d/one", GA_LEFTOVER_IGNORED},
	    {"d/s/two", GA_LEFTOVER_IGNORED}, {"e/x", GA_LEFTOVER_IGNORED}, {"f/p", GA_LEFTOVER_SPECIAL},
	    {"f/q", GA_LEFTOVER_SPECIAL},
	};
	cleanup_(ga_leftovers_release) struct ga_leftovers l = GA_LEFTOVER_INIT, g = GA_LEFTOVER_INIT;
	BUF(got);

	ga_leftovers_group(&l, &g);
	EQUAL(g.n, 0);
	for_index (i, lines)
		ga_leftovers_add(&l, lines[i].path, lines[i].kind, i + 1, 10);
	ga_leftovers_group(&l, &g);
	for (size_t i = 0; i < g.n; i++)
		ga_buf_addf(&got, "%s:%d:%d ", g.v[i].path, (int)g.v[i].count, (int)g.v[i].bytes);
	STREQ(got.ptr, "a:1:10 d-x:2:10 d:7:20 e/x:5:10 f/p:6:10 f/q:7:10 ");
}

TEST_MAIN(scratch_setup, scratch_teardown)
