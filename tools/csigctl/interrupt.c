// SPDX-License-Identifier: GPL-2.0
/*
 * Clean ends of commands: signals arrive only while there is nothing to do, and leave a
 * flag.  A wait that finds something at once lets none in: interrupt_came() takes those
 * that still wait.  Commands that hold signals back while they change things do so
 * themselves.
 */
#include <stddef.h>
#include <time.h>

#include "interrupt.h"

static const int signals[INTERRUPT_SIGNALS] = { SIGINT, SIGTERM, SIGHUP, SIGWINCH };

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	if (sig != SIGWINCH)
		interrupted = 1;
}

void interrupt_hold(struct interrupt *i)
{
	const struct sigaction on = { .sa_handler = on_signal };
	sigset_t block;
	size_t n;

	interrupted = 0;
	sigemptyset(&block);
	for (n = 0; n < INTERRUPT_SIGNALS; n++)
		sigaddset(&block, signals[n]);
	sigprocmask(SIG_BLOCK, &block, &i->mask);
	for (n = 0; n < INTERRUPT_SIGNALS; n++)
		sigaction(signals[n], &on, &i->old[n]);
}

bool interrupt_came(void)
{
	const struct timespec now = { 0 };
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	if (!interrupted && sigtimedwait(&ends, NULL, &now) > 0)
		interrupted = 1;
	return interrupted;
}

void interrupt_release(const struct interrupt *i)
{
	size_t n;

	for (n = 0; n < INTERRUPT_SIGNALS; n++)
		sigaction(signals[n], &i->old[n], NULL);
	sigprocmask(SIG_SETMASK, &i->mask, NULL);
}
