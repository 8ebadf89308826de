// SPDX-License-Identifier: GPL-2.0
/*
 * An iterator that shows the callback flags of all TCP sockets, and somebody else's
 * sockops program: for host.sh, which compiles it.  The iterator is the first program,
 * which is the one that "bpftool iter pin" takes.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_tracing.h>

struct sock_common {
	__be16 skc_dport;
	__u16 skc_num;
	volatile unsigned char skc_state;
} __attribute__((preserve_access_index));

struct tcp_sock {
	__u8 bpf_sock_ops_cb_flags;
	__u8 save_syn:2;
} __attribute__((preserve_access_index));

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
} __attribute__((preserve_access_index));

struct bpf_iter__tcp {
	struct bpf_iter_meta *meta;
	struct sock_common *sk_common;
} __attribute__((preserve_access_index));

/* STATE LOCAL-PORT REMOTE-PORT FLAGS SAVE_SYN, a line for each full socket */
SEC("iter/tcp")
int show_flags(struct bpf_iter__tcp *ctx)
{
	struct sock_common *skc = ctx->sk_common;
	struct seq_file *seq = ctx->meta->seq;
	struct tcp_sock *tp;

	if (!skc)
		return 0;
	tp = bpf_skc_to_tcp_sock(skc);
	if (!tp)
		return 0;
	BPF_SEQ_PRINTF(seq, "%d %d %d %d %d\n", skc->skc_state, skc->skc_num,
		       bpf_ntohs(skc->skc_dport), tp->bpf_sock_ops_cb_flags,
		       BPF_CORE_READ_BITFIELD(tp, save_syn));
	return 0;
}

/* A flag that CSIG does not use */
SEC("sockops")
int other(struct bpf_sock_ops *ctx)
{
	switch (ctx->op) {
	case BPF_SOCK_OPS_TCP_CONNECT_CB:
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		bpf_sock_ops_cb_flags_set(ctx, (int)ctx->bpf_sock_ops_cb_flags |
					       BPF_SOCK_OPS_RETRANS_CB_FLAG);
		break;
	}
	return 1;
}

char _license[] SEC("license") = "GPL";
