/* SPDX-License-Identifier: MIT
 *
 * What a terminal sends to all processes in its foreground: SIGINT, SIGQUIT, SIGHUP.
 */
#ifndef GA_SIGNALS_H
#define GA_SIGNALS_H

#include <signal.h>

enum { GA_TERMINAL_SIGNALS = 3 };

struct ga_outlived {
	struct sigaction was[GA_TERMINAL_SIGNALS];
};

/* Until ga_heed_terminal() these signals end only the programs that we run, as with system(3), and
 * interrupt no call of ours but those that SA_RESTART does not restart (poll(2)). What is ignored
 * stays so. For the process, so once at a time. */
void ga_outlive_terminal(struct ga_outlived *ret);
void ga_heed_terminal(const struct ga_outlived *was);

#endif
