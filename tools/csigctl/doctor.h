/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The findings of csigctl doctor: doctor.c looks at the machine, doctor_port.c at
 * the ports, doctor_host.c at what a host needs, doctor_qcn.c at QCN.
 */
#ifndef CSIGCTL_DOCTOR_H
#define CSIGCTL_DOCTOR_H

#include <stdarg.h>

#include "profile.h"

enum verdict { OK, WARN, FAIL };

__attribute__((format(printf, 4, 5)))
void doctor_say(enum verdict v, const char *check, const char *dev,
		const char *fmt, ...);

void doctor_ports(void);
void doctor_host(void);
void doctor_qcn(void);

#endif /* CSIGCTL_DOCTOR_H */
