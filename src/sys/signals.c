/* SPDX-License-Identifier: MIT */
#include "ga/sys/signals.h"

static const int terminal_signals[GA_TERMINAL_SIGNALS] = { SIGINT, SIGQUIT, SIGHUP };

static void ignore_signal(int sig)
{
	(void)sig;
}

/* With a handler, because SIG_IGN would be inherited by the programs. */
void ga_catch_terminal_signals(struct ga_saved_signals *ret)
{
	struct sigaction sa = { .sa_handler = ignore_signal, .sa_flags = SA_RESTART };

	for (int i = 0; i < GA_TERMINAL_SIGNALS; i++) {
		(void)sigaction(terminal_signals[i], NULL, &ret->was[i]);
		if (ret->was[i].sa_handler != SIG_IGN)
			(void)sigaction(terminal_signals[i], &sa, NULL);
	}
}

void ga_restore_terminal_signals(const struct ga_saved_signals *was)
{
	for (int i = 0; i < GA_TERMINAL_SIGNALS; i++)
		(void)sigaction(terminal_signals[i], &was->was[i], NULL);
}
