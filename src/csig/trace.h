/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints of csig.ko: what happened to which tag on which device.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM csig

#if !defined(CSIG_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define CSIG_TRACE_H

#include <linux/netdevice.h>
#include <linux/tracepoint.h>

#include <csig/wire.h>

TRACE_EVENT(csig_update,
	TP_PROTO(const struct net_device *dev, const struct csig_tag *from,
		 const struct csig_tag *to),
	TP_ARGS(dev, from, to),
	TP_STRUCT__entry(
		__string(name, dev->name)
		__field(int, ifindex)
		__field(u32, s_old)
		__field(u32, s_new)
		__field(u16, lm_old)
		__field(u16, lm_new)
		__field(u8, format)
		__field(u8, t)
	),
	TP_fast_assign(
		__assign_str(name);
		__entry->ifindex = dev->ifindex;
		__entry->s_old = from->s;
		__entry->s_new = to->s;
		__entry->lm_old = from->lm;
		__entry->lm_new = to->lm;
		__entry->format = to->format;
		__entry->t = to->t;
	),
	TP_printk("dev=%s ifindex=%d format=%s t=%u s=%u->%u lm=%u->%u",
		  __get_str(name), __entry->ifindex,
		  __print_symbolic(__entry->format,
				   { CSIG_FORMAT_COMPACT, "compact" },
				   { CSIG_FORMAT_EXPANDED, "expanded" }),
		  __entry->t, __entry->s_old, __entry->s_new,
		  __entry->lm_old, __entry->lm_new)
);

DECLARE_EVENT_CLASS(csig_tag,
	TP_PROTO(const struct net_device *dev, const struct csig_tag *tag),
	TP_ARGS(dev, tag),
	TP_STRUCT__entry(
		__string(name, dev->name)
		__field(int, ifindex)
		__field(u32, s)
		__field(u16, lm)
		__field(u8, format)
		__field(u8, t)
	),
	TP_fast_assign(
		__assign_str(name);
		__entry->ifindex = dev->ifindex;
		__entry->s = tag->s;
		__entry->lm = tag->lm;
		__entry->format = tag->format;
		__entry->t = tag->t;
	),
	TP_printk("dev=%s ifindex=%d format=%s t=%u s=%u lm=%u",
		  __get_str(name), __entry->ifindex,
		  __print_symbolic(__entry->format,
				   { CSIG_FORMAT_COMPACT, "compact" },
				   { CSIG_FORMAT_EXPANDED, "expanded" }),
		  __entry->t, __entry->s, __entry->lm)
);

/* A tag was put into a packet, new or given back */
DEFINE_EVENT(csig_tag, csig_push,
	TP_PROTO(const struct net_device *dev, const struct csig_tag *tag),
	TP_ARGS(dev, tag)
);

/* A tag was taken off, for good or to be carried */
DEFINE_EVENT(csig_tag, csig_pop,
	TP_PROTO(const struct net_device *dev, const struct csig_tag *tag),
	TP_ARGS(dev, tag)
);

TRACE_EVENT(csig_malformed,
	TP_PROTO(const struct net_device *dev, unsigned int len),
	TP_ARGS(dev, len),
	TP_STRUCT__entry(
		__string(name, dev->name)
		__field(int, ifindex)
		__field(unsigned int, len)
	),
	TP_fast_assign(
		__assign_str(name);
		__entry->ifindex = dev->ifindex;
		__entry->len = len;
	),
	TP_printk("dev=%s ifindex=%d len=%u",
		  __get_str(name), __entry->ifindex, __entry->len)
);

#endif /* CSIG_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
