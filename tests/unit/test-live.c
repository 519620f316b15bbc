/* SPDX-License-Identifier: MIT
 *
 * What is typed into an attached terminal, and what is kept of a session's output.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "ga/buf.h"
#include "../../src/run/live-internal.h"

/* What comes, in pieces; what goes on; whether that detaches. */
static const struct {
	const char *in[4];
	const char *out;
	bool detaches;
} keys[] = {
	{ { "abc", "d" }, "abcd", false },
	{ { "\034d" }, "", true },
	{ { "ab\034dcd" }, "ab", true },
	{ { "\034", "d" }, "", true },
	{ { "\034", "", "d" }, "", true },
	{ { "\034\034" }, "\034", false },
	{ { "\034\034d" }, "\034d", false },
	{ { "\034", "\034", "d" }, "\034d", false },
	{ { "\034\034\034d" }, "\034", true },
	{ { "\034x", "d" }, "\034xd", false },
	{ { "\034D" }, "\034D", false },
	{ { "\034\033" }, "\034\033", false },
	/* as other keyboards have it */
	{ { "\033[92;5u", "\033[100u" }, "", true },
	{ { "\033[92;5u\033[100;1u" }, "", true },
	{ { "\033[92;5:1u\033[92;5:3u\033[100;1:1u" }, "\033[92;5:3u", true },
	{ { "\033[57442;5u\033[92;5u\033[57442;1:3ud" }, "\033[57442;5u\033[57442;1:3u", true },
	{ { "\033[92;69u", "d" }, "", true },
	{ { "\033[27;5;92~", "d" }, "", true },
	{ { "\033[27;5;92~\033[27;5;92~" }, "\033[27;5;92~", false },
	{ { "\033[92;5u\033[100;5u" }, "\033[92;5u\033[100;5u", false },
	{ { "\033[92;5u\033[100;2u" }, "\033[92;5u\033[100;2u", false },
	/* other keys, and what is none */
	{ { "\033[92u", "d" }, "\033[92ud", false },
	{ { "\033[92;7u", "d" }, "\033[92;7ud", false },
	{ { "\033[92;5:3u", "d" }, "\033[92;5:3ud", false },
	{ { "\033[28;5u", "d" }, "\033[28;5ud", false },
	{ { "\034\033[Id" }, "\033[I", true },
	{ { "\034\033[<0;3;4Md" }, "\033[<0;3;4M", true },
	{ { "\033", "[92;5u", "d" }, "\033[92;5ud", false },
	{ { "\033[92;5", "u", "d" }, "\033[92;5ud", false },
	{ { "\033[9999999999999999999992;5u", "d" }, "\033[9999999999999999999992;5ud", false },
	{ { "\033[;;;;;u\033[:::u\033[u" }, "\033[;;;;;u\033[:::u\033[u", false },
	{ { "\033[0000000000000000000000000000000000092;5u", "d" },
	  "\033[0000000000000000000000000000000000092;5ud", false },
	{ { "\303\234d\377" }, "\303\234d\377", false },
};

static void keys_are_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < GA_NELEMS(keys); i++) {
		struct run_keys k = { .n = 0 };
		cleanup_buf struct ga_buf all = GA_BUF_INIT;
		bool detached = false;

		for (size_t p = 0; p < 4 && keys[i].in[p] && !detached; p++) {
			char out[256];
			size_t n;

			detached = run_keys(&k, keys[i].in[p], strlen(keys[i].in[p]), out, &n);
			assert_true(n <= strlen(keys[i].in[p]) + RUN_KEYS_HELD);
			ga_buf_add(&all, out, n);
		}
		if (detached != keys[i].detaches || all.len != strlen(keys[i].out) ||
		    memcmp(all.len ? all.ptr : "", keys[i].out, all.len))
			fail_msg("row %zu: %s, '%s'", i, detached ? "detached" : "stayed",
				 all.len ? all.ptr : "");
	}
}

static void check_kept(const struct run_ring *r, uint64_t at, const char *want)
{
	size_t n = strlen(want);
	cleanup_free char *got = ga_malloc(n + 1);

	assert_int_equal(run_ring_get(r, at, got, n), n);
	assert_memory_equal(got, want, n);
}

static void the_last_is_kept(void **state)
{
	struct run_ring r = { .buf = NULL };
	struct ga_termstate on;
	char line[64], redo[GA_TERMFILTER_END];
	uint64_t begin;

	(void)state;
	assert_int_equal(run_ring_begin(&r, &on), 0);
	run_ring_add(&r, "\033[?1049h\033[?25l\033=first", 19);
	assert_int_equal(run_ring_begin(&r, &on), 0);
	assert_int_equal(on.modes, 0);
	check_kept(&r, 0, "\033[?1049h");
	for (unsigned i = 0; i < 100000; i++) {
		int n = snprintf(line, sizeof(line), "\033[38;5;%um%06u\r\n", i % 256, i);

		run_ring_add(&r, line, (size_t)n);
		assert_true(r.end - r.start <= GA_LIVE_KEPT);
	}
	check_kept(&r, r.end - 8, "099999\r\n");
	/* what was switched on before is known, and no sequence is cut */
	for (unsigned i = 0; i < 100; i++) {
		size_t n;

		run_ring_add(&r, "x", 1);
		begin = run_ring_begin(&r, &on);
		assert_true(begin - r.start < 12);
		n = ga_termstate_redo(&on, redo);
		assert_int_equal(n, strlen("\033[?1049h\033[?25l\033="));
		assert_memory_equal(redo, "\033[?1049h\033[?25l\033=", n);
		assert_int_equal(run_ring_get(&r, begin, line, 1), 1);
		assert_true(strchr("\0330123456789\r\nm", line[0]) && line[0]);
		if (begin > r.start) {
			cleanup_free char *cut = ga_malloc(begin - r.start);

			(void)run_ring_get(&r, r.start, cut, (size_t)(begin - r.start));
			assert_memory_equal(cut + (begin - r.start) - 1, "m", 1);
		}
	}
	free(r.buf);
}

/* A string without an end that fills all of it: there is no place to begin but the end. */
static void what_never_ends_is_not_begun(void **state)
{
	struct run_ring r = { .buf = NULL };
	struct ga_termstate on;
	cleanup_free char *much = ga_malloc(3 * GA_LIVE_KEPT);

	(void)state;
	memset(much, 'x', 3 * GA_LIVE_KEPT);
	run_ring_add(&r, "\033]0;", 4);
	run_ring_add(&r, much, 3 * GA_LIVE_KEPT);
	assert_int_equal(run_ring_begin(&r, &on), r.end);
	run_ring_add(&r, "\007text", 5);
	assert_int_equal(run_ring_begin(&r, &on), r.end - 4);
	free(r.buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_found),
		cmocka_unit_test(the_last_is_kept),
		cmocka_unit_test(what_never_ends_is_not_begun),
	};

	return cmocka_run_group_tests_name("live", tests, NULL, NULL);
}
