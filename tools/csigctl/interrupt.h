/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Clean ends of commands that run until they are told to stop.
 */
#ifndef CSIGCTL_INTERRUPT_H
#define CSIGCTL_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

#define INTERRUPT_SIGNALS	4

/**
 * struct interrupt - signals that are held back
 * @mask: for ppoll() and epoll_pwait(), the only places where they arrive
 * @old: what they did before
 */
struct interrupt {
	sigset_t mask;
	struct sigaction old[INTERRUPT_SIGNALS];
};

void interrupt_hold(struct interrupt *i);
/* Did SIGINT, SIGTERM or SIGHUP come?  SIGWINCH only wakes. */
bool interrupt_came(void);
void interrupt_release(const struct interrupt *i);

#endif /* CSIGCTL_INTERRUPT_H */
