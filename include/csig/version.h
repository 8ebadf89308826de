/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The one place that holds the version of module and tools.
 */
#ifndef CSIG_VERSION_H
#define CSIG_VERSION_H

#define CSIG_VERSION	"0.1.0"

#endif /* CSIG_VERSION_H */
