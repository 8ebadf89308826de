// SPDX-License-Identifier: GPL-2.0
/*
 * The options of the reaction point: ranges, defaults, which fit together, and what is
 * shown of them.  What they do is rp.c.
 */
#include <linux/ethtool.h>
#include <linux/rtnetlink.h>
#include <net/netlink.h>

#include "rp.h"

static const struct netlink_range_validation qcn_rp_rate_range = {
	.max = QCN_RATE_MAX_BPS,
};

static const struct netlink_range_validation qcn_rp_min_range = {
	.min = QCN_RATE_MIN_BPS,
	.max = QCN_RATE_MAX_BPS,
};

static const struct netlink_range_validation qcn_rp_step_range = {
	.min = 1,
	.max = QCN_RATE_MAX_BPS,
};

static const struct netlink_range_validation qcn_rp_timer_range = {
	.min = QCN_TIMER_MIN_NS,
	.max = QCN_TIMER_MAX_NS,
};

static const struct netlink_range_validation qcn_rp_bytes_range = {
	.min = 1,
	.max = 1 << 30,
};

static const struct netlink_range_validation qcn_rp_frames_range = {
	.min = 1,
	.max = QCN_RP_LIMIT_MAX,
};

static const struct netlink_range_validation qcn_rp_catchup_range = {
	.max = QCN_RP_CATCHUP_MAX_NS,
};

static const struct nla_policy qcn_rp_policy[TCA_QCN_RP_MAX + 1] = {
	[TCA_QCN_RP_RATE] = NLA_POLICY_FULL_RANGE(NLA_U64, &qcn_rp_rate_range),
	[TCA_QCN_RP_MIN_RATE] =
		NLA_POLICY_FULL_RANGE(NLA_U64, &qcn_rp_min_range),
	[TCA_QCN_RP_AI] = NLA_POLICY_FULL_RANGE(NLA_U64, &qcn_rp_step_range),
	[TCA_QCN_RP_HAI] = NLA_POLICY_FULL_RANGE(NLA_U64, &qcn_rp_step_range),
	[TCA_QCN_RP_TIMER] =
		NLA_POLICY_FULL_RANGE(NLA_U64, &qcn_rp_timer_range),
	[TCA_QCN_RP_BYTES] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &qcn_rp_bytes_range),
	[TCA_QCN_RP_THRESHOLD] = NLA_POLICY_MIN(NLA_U8, 1),
	[TCA_QCN_RP_GD] = NLA_POLICY_MAX(NLA_U8, QCN_GD_MAX),
	[TCA_QCN_RP_MIN_DEC] = NLA_POLICY_RANGE(NLA_U8, 1, 100),
	[TCA_QCN_RP_RPS] = NLA_POLICY_RANGE(NLA_U8, 1, QCN_RPS_MAX),
	[TCA_QCN_RP_HASH] = NLA_POLICY_MAX(NLA_U8, __TC_QCN_RP_HASH_MAX - 1),
	/* at most seven of the eight */
	[TCA_QCN_RP_CNPVS] = NLA_POLICY_MAX(NLA_U8, 0xfe),
	[TCA_QCN_RP_LIMIT] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &qcn_rp_frames_range),
	[TCA_QCN_RP_FLOW_LIMIT] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &qcn_rp_frames_range),
	[TCA_QCN_RP_CATCHUP] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &qcn_rp_catchup_range),
};

/* tc shows a message, but not the place of the attribute that it is about. */
static const char *const qcn_rp_name[TCA_QCN_RP_MAX + 1] = {
	[TCA_QCN_RP_RATE] = "rate: 1000 to 2^44 bit/s, or 0",
	[TCA_QCN_RP_MIN_RATE] = "min-rate: 1000 to 2^44 bit/s",
	[TCA_QCN_RP_AI] = "ai: 1 to 2^44 bit/s",
	[TCA_QCN_RP_HAI] = "hai: 1 to 2^44 bit/s",
	[TCA_QCN_RP_TIMER] = "timer: 100us to 10s",
	[TCA_QCN_RP_BYTES] = "bytes: 1 to 2^30",
	[TCA_QCN_RP_THRESHOLD] = "threshold: 1 to 255",
	[TCA_QCN_RP_GD] = "gd: 0 to 15",
	[TCA_QCN_RP_MIN_DEC] = "min-dec: 1 to 100",
	[TCA_QCN_RP_RPS] = "rps: 1 to 100",
	[TCA_QCN_RP_HASH] = "hash: dst or flow",
	[TCA_QCN_RP_CNPVS] = "cnpv: not all priorities",
	[TCA_QCN_RP_LIMIT] = "limit: 1 to 1000000",
	[TCA_QCN_RP_FLOW_LIMIT] = "flow-limit: 1 to 1000000",
	[TCA_QCN_RP_CATCHUP] = "catchup: 0 to 1s",
};

static void qcn_rp_name_attr(struct netlink_ext_ack *extack)
{
	int type;

	if (!extack || !extack->bad_attr)
		return;
	type = nla_type(extack->bad_attr);
	if (type <= TCA_QCN_RP_MAX && qcn_rp_name[type])
		NL_SET_ERR_MSG_FMT(extack, "%s", qcn_rp_name[type]);
}

/**
 * qcn_rp_options_init() - defaults
 * @opt: filled in; of what depends on the rate, later
 */
void qcn_rp_options_init(struct qcn_rp_options *opt)
{
	memset(opt, 0, sizeof(*opt));
	qcn_rp_defaults(&opt->p, 0);
	opt->limit = QCN_RP_LIMIT_DEF;
	opt->flow_limit = QCN_RP_FLOW_LIMIT_DEF;
	opt->catchup_ns = QCN_CATCHUP_DEF_NS;
	opt->rps = QCN_RPS_DEF;
	opt->hash = TC_QCN_RP_HASH_DST;
}

/* Speed of a link, 0 when it is unknown */
static u64 qcn_rp_speed_bps(const struct ethtool_link_ksettings *ks)
{
	u32 mbps = ks->base.speed;

	/* -1, 0, 65535 and INT_MAX are what drivers say when they don't know. */
	if (mbps == (u32)SPEED_UNKNOWN || mbps == U16_MAX || mbps >= INT_MAX)
		return 0;
	return mbps * 1000000ULL;
}

/* The device is locked as for qdiscs. */
static u64 qcn_rp_link_bps(struct net_device *dev)
{
	struct ethtool_link_ksettings ks;

	if (!netif_device_present(dev) || netif_get_link_ksettings(dev, &ks))
		return 0;
	return qcn_rp_speed_bps(&ks);
}

/* A slow link may be below the minimum that was set when it was faster. */
static void qcn_rp_options_line(struct qcn_rp_options *opt, u64 line_bps)
{
	opt->p.line_bps = line_bps;
	opt->p.min_bps = min(opt->min_bps ?: QCN_MIN_DEF_BPS, line_bps);
}

/**
 * qcn_rp_options_link() - follow the speed of the link
 * @dev: device of the qdisc
 * @opt: what is set
 *
 * Context: RTNL, without the device's own lock.
 * Return: true when it is another one; nothing changes while it is unknown
 */
bool qcn_rp_options_link(struct net_device *dev, struct qcn_rp_options *opt)
{
	struct ethtool_link_ksettings ks;
	u64 line_bps;

	if (opt->rate_bps || !netif_device_present(dev) ||
	    __ethtool_get_link_ksettings(dev, &ks))
		return false;
	line_bps = qcn_rp_speed_bps(&ks);
	if (!line_bps || line_bps > QCN_RATE_MAX_BPS ||
	    line_bps == opt->p.line_bps)
		return false;
	qcn_rp_options_line(opt, line_bps);
	return true;
}

/* What depends on more than one attribute, or on the device */
static int qcn_rp_options_fit(struct net_device *dev, struct nlattr **tb,
			      struct qcn_rp_options *opt,
			      struct netlink_ext_ack *extack)
{
	u64 line_bps = opt->rate_bps ?: qcn_rp_link_bps(dev);

	/* Nobody asked about it: what was known last goes on to hold. */
	if (!line_bps && !tb[TCA_QCN_RP_RATE])
		line_bps = opt->p.line_bps;
	if (!line_bps) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_QCN_RP_RATE],
				    "rate: the speed of the link is unknown, give a rate");
		return -EINVAL;
	}
	if (line_bps < QCN_RATE_MIN_BPS || line_bps > QCN_RATE_MAX_BPS) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_QCN_RP_RATE],
				    "rate: 1000 to 2^44 bit/s, or 0");
		return -ERANGE;
	}
	if (opt->min_bps > line_bps &&
	    (tb[TCA_QCN_RP_MIN_RATE] || tb[TCA_QCN_RP_RATE])) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_QCN_RP_MIN_RATE] ?:
				    tb[TCA_QCN_RP_RATE],
				    "min-rate: must not be above the rate");
		return -EINVAL;
	}
	qcn_rp_options_line(opt, line_bps);
	return 0;
}

/**
 * qcn_rp_options_parse() - read options
 * @dev: device of the qdisc
 * @nla: TCA_OPTIONS; NULL: none are given
 * @opt: in: what is set, out: with what is given; garbage after a failure
 * @extack: which one is refused, and why
 *
 * Return: 0 or -EINVAL, -ERANGE
 */
int qcn_rp_options_parse(struct net_device *dev, struct nlattr *nla,
			 struct qcn_rp_options *opt,
			 struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_QCN_RP_MAX + 1] = {};
	int err;

	if (nla) {
		/* tc sends options as it always did, without NLA_F_NESTED. */
		err = nla_parse(tb, TCA_QCN_RP_MAX, nla_data(nla), nla_len(nla),
				qcn_rp_policy, extack);
		if (err) {
			qcn_rp_name_attr(extack);
			return err;
		}
	}
	opt->rate_bps = nla_get_u64_default(tb[TCA_QCN_RP_RATE], opt->rate_bps);
	opt->min_bps =
		nla_get_u64_default(tb[TCA_QCN_RP_MIN_RATE], opt->min_bps);
	opt->p.ai_bps = nla_get_u64_default(tb[TCA_QCN_RP_AI], opt->p.ai_bps);
	opt->p.hai_bps =
		nla_get_u64_default(tb[TCA_QCN_RP_HAI], opt->p.hai_bps);
	opt->p.timer_ns =
		nla_get_u64_default(tb[TCA_QCN_RP_TIMER], opt->p.timer_ns);
	opt->p.reset_bytes =
		nla_get_u32_default(tb[TCA_QCN_RP_BYTES], opt->p.reset_bytes);
	opt->p.threshold =
		nla_get_u8_default(tb[TCA_QCN_RP_THRESHOLD], opt->p.threshold);
	opt->p.gd = nla_get_u8_default(tb[TCA_QCN_RP_GD], opt->p.gd);
	opt->p.min_dec =
		nla_get_u8_default(tb[TCA_QCN_RP_MIN_DEC], opt->p.min_dec);
	opt->rps = nla_get_u8_default(tb[TCA_QCN_RP_RPS], opt->rps);
	opt->hash = nla_get_u8_default(tb[TCA_QCN_RP_HASH], opt->hash);
	opt->cnpvs = nla_get_u8_default(tb[TCA_QCN_RP_CNPVS], opt->cnpvs);
	opt->limit = nla_get_u32_default(tb[TCA_QCN_RP_LIMIT], opt->limit);
	opt->flow_limit =
		nla_get_u32_default(tb[TCA_QCN_RP_FLOW_LIMIT], opt->flow_limit);
	opt->catchup_ns =
		nla_get_u32_default(tb[TCA_QCN_RP_CATCHUP], opt->catchup_ns);
	return qcn_rp_options_fit(dev, tb, opt, extack);
}

/**
 * qcn_rp_options_fill() - show options
 * @skb: message
 * @opt: what is set; the minimum rate as it is in force
 *
 * Return: 0 or -EMSGSIZE
 */
int qcn_rp_options_fill(struct sk_buff *skb, const struct qcn_rp_options *opt)
{
	if (nla_put_u64_64bit(skb, TCA_QCN_RP_RATE, opt->rate_bps,
			      TCA_QCN_RP_PAD) ||
	    nla_put_u64_64bit(skb, TCA_QCN_RP_MIN_RATE, opt->p.min_bps,
			      TCA_QCN_RP_PAD) ||
	    nla_put_u64_64bit(skb, TCA_QCN_RP_AI, opt->p.ai_bps,
			      TCA_QCN_RP_PAD) ||
	    nla_put_u64_64bit(skb, TCA_QCN_RP_HAI, opt->p.hai_bps,
			      TCA_QCN_RP_PAD) ||
	    nla_put_u64_64bit(skb, TCA_QCN_RP_TIMER, opt->p.timer_ns,
			      TCA_QCN_RP_PAD) ||
	    nla_put_u32(skb, TCA_QCN_RP_BYTES, opt->p.reset_bytes) ||
	    nla_put_u8(skb, TCA_QCN_RP_THRESHOLD, opt->p.threshold) ||
	    nla_put_u8(skb, TCA_QCN_RP_GD, opt->p.gd) ||
	    nla_put_u8(skb, TCA_QCN_RP_MIN_DEC, opt->p.min_dec) ||
	    nla_put_u8(skb, TCA_QCN_RP_RPS, opt->rps) ||
	    nla_put_u8(skb, TCA_QCN_RP_HASH, opt->hash) ||
	    nla_put_u8(skb, TCA_QCN_RP_CNPVS, opt->cnpvs) ||
	    nla_put_u32(skb, TCA_QCN_RP_LIMIT, opt->limit) ||
	    nla_put_u32(skb, TCA_QCN_RP_FLOW_LIMIT, opt->flow_limit) ||
	    nla_put_u32(skb, TCA_QCN_RP_CATCHUP, opt->catchup_ns))
		return -EMSGSIZE;
	return 0;
}
