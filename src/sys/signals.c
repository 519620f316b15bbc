/* SPDX-License-Identifier: MIT */
#include "ga/sys/signals.h"

static const int sent[GA_TERMINAL_SIGNALS] = { SIGINT, SIGQUIT, SIGHUP };

static void outlive(int sig)
{
	(void)sig;
}

/* By a handler, as the programs would inherit that they are ignored. */
void ga_outlive_terminal(struct ga_outlived *ret)
{
	struct sigaction sa = { .sa_handler = outlive, .sa_flags = SA_RESTART };

	for (int i = 0; i < GA_TERMINAL_SIGNALS; i++) {
		(void)sigaction(sent[i], NULL, &ret->was[i]);
		if (ret->was[i].sa_handler != SIG_IGN)
			(void)sigaction(sent[i], &sa, NULL);
	}
}

void ga_heed_terminal(const struct ga_outlived *was)
{
	for (int i = 0; i < GA_TERMINAL_SIGNALS; i++)
		(void)sigaction(sent[i], &was->was[i], NULL);
}
