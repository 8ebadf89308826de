/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the readers of test vectors share: members of a JSON record, and octets in
 * hexadecimal.  A missing member is a failed check.
 */
#ifndef VECTORS_H
#define VECTORS_H

#include <json-c/json.h>
#include <linux/types.h>

/* NULL when there is none */
const char *str(struct json_object *rec, const char *key);
__u64 num(struct json_object *rec, const char *key);

void check_octets(const __u8 *got, const char *hex, unsigned int len);

/* One record of qcn-*.json each */
void vector_qcn_cnm(struct json_object *rec);
void vector_qcn_cp(struct json_object *rec);
void vector_qcn_rp(struct json_object *rec);

#endif /* VECTORS_H */
