/* SPDX-License-Identifier: MIT
 *
 * What is typed into an attached terminal, and what is kept of a session's output.
 */

#include <poll.h>

#include "ga/base/buf.h"
#include "run/control-internal.h"
#include "../scratch.h"

/* What comes, in pieces; what is passed on; whether that detaches. */
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
	{ { "\034x", "d" }, "\034xd", false },
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
	/* other keys, and what is none */
	{ { "\033[92;7u", "d" }, "\033[92;7ud", false },
	{ { "\033[92;5:3u", "d" }, "\033[92;5:3ud", false },
	{ { "\034\033[Id" }, "\033[I", true },
	{ { "\034\033[<0;3;4Md" }, "\033[<0;3;4M", true },
	{ { "\033", "[92;5u", "d" }, "\033[92;5ud", false },
	{ { "\033[9999999999999999999992;5u", "d" }, "\033[9999999999999999999992;5ud", false },
	{ { "\033[;;;;;u\033[:::u\033[u" }, "\033[;;;;;u\033[:::u\033[u", false },
	{ { "\033[0000000000000000000000000000000000092;5u", "d" },
	  "\033[0000000000000000000000000000000000092;5ud", false },
	{ { "\303\234d\377" }, "\303\234d\377", false },
};

TEST(keys_are_found)
{
	for_index (i, keys) {
		struct run_keys k = { .n = 0 };
		BUF(all);
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
			fail_msg("row %zu: %s, '%s'", i, detached ? "detached" : "stayed", all.len ? all.ptr : "");
	}
}

static void check_kept(const struct run_ring *r, uint64_t at, const char *want)
{
	size_t n = strlen(want);
	cleanup_free char *got = ga_malloc(n + 1);

	EQUAL(run_ring_get(r, at, got, n), n);
	assert_memory_equal(got, want, n);
}

TEST(the_last_output_is_kept_with_the_modes_before_it)
{
	struct run_ring r = { .buf = NULL };
	struct ga_termstate on;
	char line[64], redo[GA_TERMFILTER_END];
	uint64_t begin;

	EQUAL(run_ring_begin(&r, &on), 0);
	run_ring_add(&r, "\033[?1049h\033[?25l\033=first", 19);
	EQUAL(run_ring_begin(&r, &on), 0);
	EQUAL(on.modes, 0);
	check_kept(&r, 0, "\033[?1049h");
	for (unsigned i = 0; i < 100000; i++) {
		int n = snprintf(line, sizeof(line), "\033[38;5;%um%06u\r\n", i % 256, i);

		run_ring_add(&r, line, (size_t)n);
		assert_true(r.end - r.start <= GA_CONTROL_KEPT);
	}
	check_kept(&r, r.end - 8, "099999\r\n");
	/* what was switched on before is known, and no sequence is cut */
	for (unsigned i = 0; i < 100; i++) {
		size_t n;

		run_ring_add(&r, "x", 1);
		begin = run_ring_begin(&r, &on);
		assert_true(begin - r.start < 12);
		n = ga_termstate_redo(&on, redo);
		EQUAL(n, strlen("\033[?1049h\033[?25l\033="));
		assert_memory_equal(redo, "\033[?1049h\033[?25l\033=", n);
		EQUAL(run_ring_get(&r, begin, line, 1), 1);
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
TEST(what_never_ends_is_not_begun)
{
	struct run_ring r = { .buf = NULL };
	struct ga_termstate on;
	cleanup_free char *much = ga_malloc(3 * GA_CONTROL_KEPT);

	memset(much, 'x', 3 * GA_CONTROL_KEPT);
	run_ring_add(&r, "\033]0;", 4);
	run_ring_add(&r, much, 3 * GA_CONTROL_KEPT);
	EQUAL(run_ring_begin(&r, &on), r.end);
	run_ring_add(&r, "\007text", 5);
	EQUAL(run_ring_begin(&r, &on), r.end - 4);
	free(r.buf);
}

/* ---- the supervisor's side, against a client of ours */

static unsigned went_on;

static void set_size(void *payload, unsigned columns, unsigned rows)
{
	(void)payload;
	(void)columns;
	(void)rows;
}

static void stop_it(void *payload, unsigned ms)
{
	(void)payload;
	(void)ms;
}

static void continue_it(void *payload)
{
	(void)payload;
	went_on++;
}

static const struct run_control_session detached = {
	.detached = true, .columns = 80, .rows = 24,
	.size = set_size, .stop = stop_it, .resume = continue_it,
};

/* All there is to do now, which must come to an end. */
static void turn(struct ga_control *l)
{
	struct pollfd p[RUN_CONTROL_POLLS];

	for (unsigned i = 0; i < 1000; i++) {
		run_control_poll(l, p);
		if (poll(p, RUN_CONTROL_POLLS, 0) == 0)
			return;
		run_control_move(l, p);
	}
	fail_msg("there is always something to do");
}

static void type_to(const struct ga_control_peer *peer, const char *text)
{
	struct ga_ctl_msg m = { .type = CONTROL_INPUT };

	EQUAL(control_send(peer->fd, &m, text, strlen(text), NULL, 0), 0);
}

static void attach_to(struct ga_control *l, struct ga_control_peer *peer)
{

	OK(ga_control_connect(scratch_dir, peer, &err));
	turn(l);
	EQUAL(control_send_message(peer->fd, CONTROL_ATTACH, 80, 24), 0);
	turn(l);
}

static void check_typed(int fd, const char *want)
{
	char got[64] = "";
	ssize_t n = read(fd, got, sizeof(got) - 1);

	if (n != (ssize_t)strlen(want) || strcmp(got, want) != 0)
		fail_msg("'%s' arrived, not '%s'", got, want);
}

/* It is typed while the terminal gets its size, and hung up before it has it. */
TEST(what_was_typed_outlives_a_hang_up)
{
	struct ga_control_peer first, second;
	struct ga_control *l;
	int typed;

	OK(ga_control_open(scratch_dir, &l, &err));
	OK(run_control_begin(l, &detached, &typed, &err));
	attach_to(l, &first);
	assert_true(l->resize_at > 0);
	assert_true(run_control_stopped(l));
	type_to(&first, "one ");
	type_to(&first, "two ");
	/* output it never reads: its end is told as an error first */
	run_control_output(l, "output", 6);
	turn(l);
	ga_control_peer_release(&first);
	turn(l);
	/* nobody waits for who is gone */
	EQUAL(went_on, 1);
	assert_false(run_control_stopped(l));
	/* and whoever comes next types behind it */
	attach_to(l, &second);
	type_to(&second, "three");
	turn(l);
	l->resize_at = 0;
	turn(l);
	check_typed(typed, "one two three");
	ga_control_peer_release(&second);
	turn(l);
	for (size_t i = 0; i < CONTROL_CLIENTS; i++)
		EQUAL(l->clients[i].fd, -1);
	ga_control_close(l);
}

TEST_MAIN(scratch_enter, scratch_leave)
