// SPDX-License-Identifier: GPL-2.0
/*
 * A host's TCP connections (sockops): negotiation in SYN and SYN-ACK, reflection in
 * the options of every segment, path check.  Packets are host.bpf.c.
 */
#include "maps.h"

SEC("sockops")
int csig_tcp(struct bpf_sock_ops *ctx)
{
	bpf_sk_storage_get(&csig_flows, ctx->sk, NULL, 0);
	return 1;
}
