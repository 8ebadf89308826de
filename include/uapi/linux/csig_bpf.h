/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * What the BPF programs of a host share with the module (kfuncs) and with user space
 * (maps): layouts only.  CSIG_BPF_VERSION changes with every layout.
 *
 * Maps are pinned in CSIG_BPF_PINS/net-COOKIE/, COOKIE being SO_NETNS_COOKIE in
 * decimal, under the names of CSIG_BPF_MAP_*.
 */
#ifndef __LINUX_CSIG_BPF_H
#define __LINUX_CSIG_BPF_H

#ifndef __bpf__
#include <linux/types.h>
#endif
#include <linux/csig.h>

#define CSIG_BPF_VERSION	1
#define CSIG_BPF_PINS		"/sys/fs/bpf/csig"
#define CSIG_BPF_MAP_FLOWS	"csig_flows"	/* by socket fd: struct csig_flow */
#define CSIG_BPF_MAP_HOST	"csig_host"	/* [0]: struct csig_host */
#define CSIG_BPF_MAP_DEVICES	"csig_devices"	/* by ifindex: struct csig_device */
#define CSIG_BPF_MAP_AVOID	"csig_avoid"	/* by address: __u64, CLOCK_MONOTONIC */
#define CSIG_BPF_MAP_RESPONDERS	"csig_responders" /* by ifindex: struct csig_responder */

/**
 * struct csig_bpf_tag - a tag in the hands of a BPF program
 * @format: enum csig_format
 * @t: signal type
 * @r: reserved bits
 * @aggregate: enum csig_aggregate of the domain; 0xff when it does not define @t
 * @lm: locator metadata
 * @pad: 0
 * @s: coded value
 */
struct csig_bpf_tag {
	__u8 format;
	__u8 t;
	__u8 r;
	__u8 aggregate;
	__u16 lm;
	__u16 pad;
	__u32 s;
};

#define CSIG_BPF_NO_AGGREGATE	0xff

/*
 * A received tag in one word, so that readers on other CPUs see all of it or nothing:
 * bit 63 set when there is one, bit 62 the format, low bits the data fields as they
 * were on the wire (16 or 48).
 */
#define CSIG_BPF_WORD_VALID	(1ULL << 63)
#define CSIG_BPF_WORD_EXPANDED	(1ULL << 62)

/**
 * struct csig_flow_value - the last tag of one signal type
 * @word: CSIG_BPF_WORD_*; 0 never
 * @time_ns: when, CLOCK_MONOTONIC
 */
struct csig_flow_value {
	__u64 word;
	__u64 time_ns;
};

/* csig_flow.state */
enum csig_flow_state {
	CSIG_FLOW_OFF,		/* not negotiated, or excluded */
	CSIG_FLOW_ASKED,	/* our SYN or SYN-ACK carries the option */
	CSIG_FLOW_ON,		/* negotiated */
	CSIG_FLOW_UDP,		/* set by an application through libcsig */
	CSIG_FLOW_UNSURE,	/* which of our SYN-ACKs did the peer take? */
};

/* csig_flow.path */
enum csig_flow_path {
	CSIG_PATH_UNKNOWN,	/* nothing came back yet */
	CSIG_PATH_CAPABLE,
	CSIG_PATH_STRIPS,	/* only "no signal" comes back: probed now and then */
	CSIG_PATH_DROPS,	/* tagged data gets lost: no tags any more */
};

/**
 * struct csig_flow - what is known of a connection, in socket storage
 * @version: CSIG_BPF_VERSION
 * @state: enum csig_flow_state
 * @path: enum csig_flow_path
 * @peer_flags: CSIG_OPT_* that both sides agreed on; UDP: formats that the application
 *	says the peer takes, 0: any
 * @format: enum csig_format of the last tag that was asked for
 * @rotation: index of the signal behind the last one
 * @mss_less: octets that full-size segments must leave free for the tag
 * @mss_reserved: octets that full-size segments leave free for the option
 * @rx_formats: bit enum csig_format: such tags came
 * @probe_lost: the packet at @probe_seq was sent again
 * @lost_in_a_row: tagged packets under watch that were lost since the last reflection
 * @save_syn: TCP_SAVE_SYN was set for CSIG only (listeners)
 * @pad: 0
 * @own_cb_flags: sockops callback flags that were set for CSIG only
 * @signals: signal types that are asked for, bit T; 0: those of the device.
 *	Applications may write it (libcsig).
 * @every: 1 in N packets is tagged; 0: as the device says.  Applications may write it.
 * @received: by T, tags of packets that came in: to be reflected
 * @reflected: by T, what the peer reflected: the signals of this flow's path
 * @pending: bit T: @received has what the peer was not told yet
 * @pending_since_ns: by T
 * @rx_tagged: packets with a tag
 * @probe_seq: sequence number of a tagged packet whose fate is watched
 * @probe_end: and its end; equal to @probe_seq when there is none
 * @tx_last_seq: of the last new data packet: it may pass several devices
 * @run_seq: where the packets with the same signal as the last one began (TCP)
 * @tx_skb: tells the last packet from others (UDP)
 * @tx_ifindex: device that had it first
 * @rx_last_seq: of the last tagged data packet
 * @rx_tagged_segs: data segments with a tag, as they came in
 * @rx_untagged_seen: data segments without a tag when a tag came or "no signal" was sent
 * @tx_tagged: packets that were tagged (a super-packet is one)
 * @tx_unanswered: those of them since the last reflection
 * @tx_skipped: not tagged for the size of the frame
 * @tx_packets: data packets, for @every
 * @reflections_in: valid reflections that came
 * @no_signal_in: "no signal" reflections that came
 * @malformed_in: options that are none of ours by Length or T
 * @reflections_out: reflections that left
 * @no_signal_out: "no signal" that left
 * @no_room: reflections put off since the header was full
 * @rto_silent: timeouts since a reflection came or a tagged packet arrived
 * @established_ns: CLOCK_MONOTONIC
 */
struct csig_flow {
	__u32 version;
	__u8 state;
	__u8 path;
	__u8 peer_flags;
	__u8 format;
	__u8 rotation;
	__u8 mss_less;
	__u8 mss_reserved;
	__u8 rx_formats;
	__u8 probe_lost;
	__u8 lost_in_a_row;
	__u8 save_syn;
	__u8 pad[7];
	__u16 own_cb_flags;
	__u16 signals;
	__u16 every;
	__u32 pending;
	__u32 rto_silent;
	__u32 probe_seq;
	__u32 probe_end;
	__u32 tx_last_seq;
	__u32 run_seq;
	__u32 tx_skb;
	__u32 tx_ifindex;
	__u32 rx_last_seq;
	__u32 rx_tagged_segs;
	__u32 rx_untagged_seen;
	struct csig_flow_value received[CSIG_SIGNALS];
	struct csig_flow_value reflected[CSIG_SIGNALS];
	__u64 pending_since_ns[CSIG_SIGNALS];
	__u64 rx_tagged;
	__u64 tx_tagged;
	__u64 tx_unanswered;
	__u64 tx_skipped;
	__u64 tx_packets;
	__u64 reflections_in;
	__u64 no_signal_in;
	__u64 malformed_in;
	__u64 reflections_out;
	__u64 no_signal_out;
	__u64 no_room;
	__u64 established_ns;
};

/* csig_host.reflect */
enum csig_reflect {
	CSIG_REFLECT_LATEST,	/* the last tag of a signal type */
	CSIG_REFLECT_SUMMARY,	/* the aggregate since the last reflection */
};

/* Counters of a host, index of csig_host.count */
enum csig_host_count {
	CSIG_HOST_ASKED,	/* SYNs with the option */
	CSIG_HOST_NEGOTIATED,	/* connections, both directions */
	CSIG_HOST_REFUSED,	/* connections whose peer did not answer */
	CSIG_HOST_RETRIED,	/* SYNs that were sent again without the option */
	CSIG_HOST_COOKIES,	/* SYN cookies: no negotiation */
	CSIG_HOST_SIGNED,	/* sockets with TCP-MD5 or TCP-AO: left alone */
	CSIG_HOST_MPTCP,	/* subflows of MPTCP: left alone */
	CSIG_HOST_EARLIER,	/* connections older than "host enable" */
	CSIG_HOST_BLACKHOLES,	/* connections whose tagged packets got lost */
	CSIG_HOST_AVOIDED,	/* connections not tagged for such a destination */
	CSIG_HOST_NO_ROOM,	/* options that found no room */
	CSIG_HOST_NO_STORAGE,	/* connections without memory for their state */
	CSIG_HOST_COUNTS
};

/**
 * struct csig_host - settings and counters of a network namespace's host
 * @version: CSIG_BPF_VERSION
 * @reflect: enum csig_reflect
 * @opt_kind: TCP option Kind, 254 by default
 * @foreign_cb_flags: sockops callback flags that listeners had before CSIG's were set:
 *	connections inherit them and keep them
 * @ingress_prog_id: of the tc programs; none alive: the set is of no use any more
 * @egress_prog_id: like it
 * @netns_cookie: the namespace; sockets of others in the cgroup are left alone
 * @cgroup_id: of the cgroup whose sockets take part
 * @avoid_ns: how long a destination that loses tagged packets is not tagged
 * @count: enum csig_host_count
 */
struct csig_host {
	__u32 version;
	__u8 reflect;
	__u8 opt_kind;
	__u16 foreign_cb_flags;
	__u32 ingress_prog_id;
	__u32 egress_prog_id;
	__u64 netns_cookie;
	__u64 cgroup_id;
	__u64 avoid_ns;
	__u64 count[CSIG_HOST_COUNTS];
};

/**
 * struct csig_device - what is asked of packets that leave through a device
 * @signals: bit T
 * @every: 1 in N packets is tagged, at least 1
 * @format: enum csig_format
 * @pad: 0
 */
struct csig_device {
	__u16 signals;
	__u16 every;
	__u8 format;
	__u8 pad[3];
};

/**
 * struct csig_responder - answers probes that come in at a device, in the kernel
 * @port: UDP, host order
 * @pad: 0
 * @interval_ns: time between two answers, in the mean
 * @next_ns: of the rate limit, CLOCK_MONOTONIC
 * @answered: probes
 * @tagged: those of them that came with a tag
 * @limited: probes dropped by the rate limit
 * @failed: probes lost, no memory to change them
 */
struct csig_responder {
	__u16 port;
	__u16 pad[3];
	__u64 interval_ns;
	__u64 next_ns;
	__u64 answered;
	__u64 tagged;
	__u64 limited;
	__u64 failed;
};

/* Key of CSIG_BPF_MAP_AVOID; IPv4 as ::ffff:a.b.c.d */
struct csig_address {
	__u8 octets[16];
};

/**
 * struct csig_flow_record - one socket as the programs csig_flow_tcp and csig_flow_udp
 * write it; the socket's struct csig_flow follows, then the next record
 * @version: CSIG_BPF_VERSION
 * @size: octets of this record and of the struct csig_flow behind it
 * @protocol: IPPROTO_TCP or IPPROTO_UDP
 * @tcp_state: TCP_ESTABLISHED ...; 0 for UDP
 * @sport: port of this end, host order
 * @dport: of the other end, 0 when the socket is not connected
 * @ifindex: device that packets of the other end come in at, 0 unknown
 * @src: address of this end; IPv4 as ::ffff:a.b.c.d, of dual-stack sockets, too
 * @dst: of the other end
 * @cookie: SO_COOKIE; 0 when nobody asked for it yet
 * @cgroup_id: of the cgroup v2 that the socket was made in
 * @now_ns: when the record was written, CLOCK_MONOTONIC
 * @bytes_acked: TCP, octets that the other end has
 * @bytes_received: TCP, octets that came
 * @srtt_us: TCP, smoothed round trip time, 0 unknown
 * @cwnd: TCP, congestion window in packets
 * @mss: TCP, octets of a full segment
 * @retrans: TCP, segments that were sent again
 * @pad: 0
 * @pad2: 0
 */
struct csig_flow_record {
	__u32 version;
	__u32 size;
	__u8 protocol;
	__u8 tcp_state;
	__u16 sport;
	__u16 dport;
	__u16 pad;
	__u32 ifindex;
	__u32 mss;
	struct csig_address src;
	struct csig_address dst;
	__u64 cookie;
	__u64 cgroup_id;
	__u64 now_ns;
	__u64 bytes_acked;
	__u64 bytes_received;
	__u32 srtt_us;
	__u32 cwnd;
	__u32 retrans;
	__u32 pad2;
};

/**
 * struct csig_flow_filter - which sockets are written
 * @src: address of this end, compared under @src_mask
 * @dst: of the other end, under @dst_mask
 * @src_mask: all zero: any
 * @dst_mask: all zero: any
 * @cgroup_id: this cgroup and those below it; 0: any
 * @sport: port of this end, host order; 0: any
 * @dport: of the other end; 0: any
 * @pad: 0
 */
struct csig_flow_filter {
	struct csig_address src;
	struct csig_address src_mask;
	struct csig_address dst;
	struct csig_address dst_mask;
	__u64 cgroup_id;
	__u16 sport;
	__u16 dport;
	__u32 pad;
};

#endif /* __LINUX_CSIG_BPF_H */
