/* SPDX-License-Identifier: MIT
 *
 * Signals that a terminal sends to its foreground process group: SIGINT, SIGQUIT, SIGHUP.
 */
#pragma once

#include <signal.h>

enum { GA_TERMINAL_SIGNALS = 3 };

struct ga_saved_signals {
	struct sigaction was[GA_TERMINAL_SIGNALS];
};

/* Until ga_restore_terminal_signals() these signals end only the programs that we run, as with
 * system(3), and interrupt no call of ours but those that SA_RESTART does not restart (poll(2)).
 * Signals that were ignored stay ignored. Process-wide, so calls do not nest. */
void ga_catch_terminal_signals(struct ga_saved_signals *ret);
void ga_restore_terminal_signals(const struct ga_saved_signals *was);
