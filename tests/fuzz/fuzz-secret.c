/* SPDX-License-Identifier: MIT
 *
 * A path, a NUL, and what is in the file: judged the same twice, in bounds, and without a word of
 * it in what is printed.
 */
#include <string.h>

#include "fuzz.h"
#include "ga/secret/secret.h"

/* Nothing but the table's own words, which are ASCII. */
static void check_reason(const struct ga_secret *s)
{
	cleanup_free char *reason = ga_secret_reason(s);

	CHECK(strlen(reason) < 160);
	for (const char *p = reason; *p; p++)
		CHECK(*p >= 0x20 && *p < 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct fuzz_in in = { data, n };
	cleanup_free char *path = fuzz_string(&in), *content = fuzz_exact(in.p, in.n);
	cleanup_secret_names struct ga_secret_names *names = ga_secret_names_new(NULL, NULL);
	struct ga_secret_marks a, b;
	struct ga_secret_name name;
	struct ga_secret s, again;

	ga_secret_scan(path, content, in.n, &a);
	ga_secret_scan(path, content, in.n, &b);
	CHECK(a.bits == b.bits && a.token == b.token && a.n_prints == b.n_prints);
	CHECK(a.n_prints <= GA_SECRET_PRINTS_MAX);
	CHECK(!a.n_prints || a.n_prints == GA_SECRET_PRINTS_MAX || ga_secret_within(&a, &b));
	if (!ga_secret_named(names, path, &name))
		return 0;
	CHECK(name.n && name.n <= GA_SECRET_RULES_MAX);
	ga_secret_judge(&name, path, &a, &s);
	ga_secret_judge(&name, path, &b, &again);
	CHECK(s.tier <= GA_TIER_BLOCK && s.rule && s.tier == again.tier && s.rule == again.rule);
	check_reason(&s);
	ga_secret_judge(&name, path, NULL, &s);
	/* what was not seen is no better than what was */
	CHECK(!name.content || s.tier >= again.tier);
	check_reason(&s);
	return 0;
}
