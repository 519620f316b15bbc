/* SPDX-License-Identifier: MIT
 *
 * What changes of packages are harmless, and how the others are described.
 */
#include "risk-support.h"

static const struct row {
	const char *path, *old, *new, *says;
	enum ga_severity severity;
} rows[] = {
#define LOW(...) { __VA_ARGS__, GA_LOW }
#define HIGH(...) { __VA_ARGS__, GA_HIGH }
#include "risk-deps.h"
};

/* The most severe flag on the path, of what the classifier says with this host. */
static const struct ga_flag *worst(const struct row *r, const struct ga_host_facts *h, struct ga_flags *f)
{
	const struct change_fixture x = { "", r->path, true, FILE_(r->old), FILE_(r->new), NULL };

	classify_change(&x, h, f);
	for (size_t i = 0; i < f->n; i++)
		if (!strcmp(f->v[i].path, r->path))
			return &f->v[i];
	fail_msg("no flag on %s", r->path);
	return NULL;
}

TEST(changes_of_packages)
{
	size_t failed = 0;

	for_index (i, rows) {
		FLAGS(f);
		const struct ga_flag *got = worst(&rows[i], NULL, &f);

		if (got->severity == rows[i].severity && strstr(got->reason, rows[i].says))
			continue;
		failed++;
		print_message("%zu: %s: %s: %s, and not '%s'\n", i, rows[i].path, ga_severity_name(got->severity),
			      got->reason, rows[i].says);
	}
	EQUAL(failed, 0);
}

TEST(harmless_also_where_the_host_reads_it)
{
	for_index (i, rows) {
		FACTS(h);
		FLAGS(f);
		const struct ga_flag *got;

		reached(&h, GA_REACH_GIVEN, "host-hook-reached", rows[i].path, "a hook");
		got = worst(&rows[i], &h, &f);
		if (got->severity != (rows[i].severity == GA_LOW ? GA_LOW : GA_CRITICAL))
			fail_msg("%zu: %s: %s", i, rows[i].path, got->reason);
	}
}

/* Rules for other ways of being read stay as they are. */
TEST(older_lists_lower_nothing_of_the_hosts)
{
	static const struct row descriptions[] = {
		LOW("package.json", "{'description':'a'}", "{'description':'b'}", ""),
		LOW("Cargo.toml", "[package]\ndescription = 'a'\n", "[package]\ndescription = 'b'\n", ""),
		LOW("go.mod", "go 1.20\n", "go 1.21\n", ""),
	};

	for_each (row, descriptions) {
		FACTS(h);
		FLAGS(f);
		FLAGS(alone);

		EQUAL(worst(row, NULL, &alone)->severity, GA_LOW);
		reached(&h, GA_REACH_GIVEN, "host-hook-reached", row->path, "a hook");
		EQUAL(worst(row, &h, &f)->severity, GA_CRITICAL);
	}
}

TEST(a_change_of_mode_is_not_harmless_to_the_host)
{
	const struct change_fixture x = { "", "package.json", true, FILE_("{\"version\":\"1.0\"}"),
					  EXEC_("{\"version\":\"1.1\"}"), NULL };
	FACTS(h);
	FLAGS(f);

	reached(&h, GA_REACH_GIVEN, "host-hook-reached", "package.json", "a hook");
	classify_change(&x, &h, &f);
	EQUAL(flag_of(&f, "package.json", "host-hook-reached")->severity, GA_CRITICAL);
}

TEST(a_new_package_is_told_once)
{
#define NPM_LOCK "package-lock.json={\"packages\":{\"node_modules/new\":{\"version\":\"1.0.0\"}}}"
	static const struct {
		const char *path, *old, *new, *around;
		enum ga_severity severity;
	} cases[] = {
		{ "package.json", "{}", "{\"dependencies\":{\"new\":\"^1.0.0\"}}", NPM_LOCK, GA_LOW },
		{ "w/p/package.json", "{}", "{\"dependencies\":{\"new\":\"^1.0.0\"}}", NPM_LOCK, GA_LOW },
		{ "w/p/package.json", "{}", "{\"dependencies\":{\"new\":\"^1.0.0\"}}", "w/" NPM_LOCK, GA_LOW },
		{ "w/package.json", "{}", "{\"dependencies\":{\"new\":\"^1.0.0\"}}", "v/" NPM_LOCK, GA_HIGH },
		/* the nearest decides, and has to be one that is understood */
		{ "w/package.json", "{}", "{\"dependencies\":{\"new\":\"^1.0.0\"}}",
		  "w/yarn.lock=# " NPM_LOCK, GA_HIGH },
		{ "package.json", "{}", "{\"dependencies\":{\"new\":\"^1.0.0\"}}",
		  "package-lock.json={\"new\":", GA_HIGH },
		/* what a lock file does not decide */
		{ "package.json", "{}", "{\"dependencies\":{\"new\":\"git+ssh://h/new\"}}", NPM_LOCK, GA_HIGH },
		{ "package.json", "{}",
		  "{\"dependencies\":{\"new\":\"^1.0.0\"},\"devDependencies\":{\"new\":\"npm:evil@1.0.0\"}}",
		  NPM_LOCK, GA_HIGH },
		{ "package.json", "{}", "{\"dependencies\":{\"new\":\"^1.0.0\",\"evil\":\"^1.0.0\"}}",
		  NPM_LOCK, GA_HIGH },
		{ "package.json", "{}", "{\"dependencies\":{\"new\":\"^1.0.0\"},\"overrides\":{\"a\":\"1.0.0\"}}",
		  NPM_LOCK, GA_HIGH },
	};

	for_index (i, cases) {
		const struct change_fixture x = { "", cases[i].path, true, FILE_(cases[i].old),
						  FILE_(cases[i].new), cases[i].around };
		FLAGS(f);

		classify_change(&x, NULL, &f);
		if (flag_of(&f, x.path, "npm-manifest")->severity != cases[i].severity)
			fail_msg("%zu: %s", i, flag_of(&f, x.path, "npm-manifest")->reason);
	}
}

TEST_MAIN(setup, teardown)
