// SPDX-License-Identifier: GPL-2.0
/*
 * A host's packets (tc actions): tags of packets that come in are kept with their
 * socket, tags for packets that leave are asked for.  Options are tcp.bpf.c.
 */
#include "maps.h"

SEC("action")
int csig_ingress(struct __sk_buff *skb)
{
	struct csig_bpf_tag tag = {};

	bpf_csig_tag(skb, &tag);
	return -1;
}

SEC("action")
int csig_egress(struct __sk_buff *skb)
{
	struct csig_bpf_tag tag = {};

	bpf_csig_request(skb, &tag);
	return -1;
}
