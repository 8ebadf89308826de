// SPDX-License-Identifier: GPL-2.0
/*
 * What is to be known of a network device: type, MTU, queues, counters, offloads.
 * Read only.
 */
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "port.h"

static int ethtool(const char *name, void *data)
{
	struct ifreq ifr = { .ifr_data = data };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int err = -1;

	if (fd < 0)
		return -1;
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	err = ioctl(fd, SIOCETHTOOL, &ifr);
	close(fd);
	return err;
}

/* /sys may be that of another namespace; the index tells. */
static uint32_t sysfs_txqs(const struct link *l)
{
	char path[128];
	int index = 0;
	uint32_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/net/%s/ifindex", l->name);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%d", &index) != 1)
		index = 0;
	if (f)
		fclose(f);
	if (index != l->index)
		return 0;
	for (n = 0; n < l->txqs; n++) {
		snprintf(path, sizeof(path), "/sys/class/net/%s/queues/tx-%u",
			 l->name, n);
		if (access(path, F_OK))
			break;
	}
	return n;
}

/* A device may have more queues than it uses; netlink tells only how many it has. */
static uint32_t real_txqs(const struct link *l)
{
	struct ethtool_channels c = { .cmd = ETHTOOL_GCHANNELS };
	uint32_t n = 0;

	if (l->txqs <= 1)
		return 1;
	if (!ethtool(l->name, &c))
		n = c.combined_count + c.tx_count;
	if (!n)
		n = sysfs_txqs(l);
	return n && n < l->txqs ? n : l->txqs;
}

int link_get(const char *name, struct link *l)
{
	const struct ifinfomsg header = { .ifi_family = AF_UNSPEC };
	struct nlattr *tb[IFLA_MAX + 1];
	struct answer answer;
	struct ifinfomsg *ifi;
	struct nl_msg *msg;
	int err;

	memset(l, 0, sizeof(*l));
	msg = rtnl_request(RTM_GETLINK, 0, &header, sizeof(header));
	if (msg)
		nla_put_string(msg, IFLA_IFNAME, name);
	err = rtnl_talk(msg, &answer);
	if (err == -ENODEV || err == -ENOENT)
		return fail("device \"%s\" does not exist", name);
	if (err)
		return nl_refused(err, name);
	if (answer.n != 1 || nlmsg_parse(nlmsg_hdr(answer.msgs[0]),
					 sizeof(header), tb, IFLA_MAX, NULL)) {
		answer_free(&answer);
		return fail("%s: the kernel's answer is not understood", name);
	}
	ifi = nlmsg_data(nlmsg_hdr(answer.msgs[0]));
	l->index = ifi->ifi_index;
	l->type = ifi->ifi_type;
	l->mtu = attr_u32(tb[IFLA_MTU], 0);
	l->txqs = attr_u32(tb[IFLA_NUM_TX_QUEUES], 1);
	snprintf(l->name, sizeof(l->name), "%s",
		 attr_str(tb[IFLA_IFNAME], name));
	if (tb[IFLA_STATS64] &&
	    (size_t)nla_len(tb[IFLA_STATS64]) >=
	    offsetof(struct rtnl_link_stats64, tx_bytes) + 8)
		memcpy(&l->tx_bytes, (char *)nla_data(tb[IFLA_STATS64]) +
		       offsetof(struct rtnl_link_stats64, tx_bytes), 8);
	answer_free(&answer);
	l->txqs_real = real_txqs(l);
	return ST_OK;
}

/* 1 when "ethtool -k" shows hw-tc-offload on, 0 when off or unknown */
int link_offloads_tc(const struct link *l)
{
	struct {
		struct ethtool_sset_info info;
		uint32_t len;
	} sset = { .info = { .cmd = ETHTOOL_GSSET_INFO,
			     .sset_mask = 1ULL << ETH_SS_FEATURES } };
	struct ethtool_gfeatures *features;
	struct ethtool_gstrings *names;
	uint32_t i, blocks;
	int on = 0;

	if (ethtool(l->name, &sset) || !sset.info.sset_mask || !sset.len)
		return 0;
	blocks = (sset.len + 31) / 32;
	names = calloc(1, sizeof(*names) + (size_t)sset.len * ETH_GSTRING_LEN);
	features = calloc(1, sizeof(*features) +
			     blocks * sizeof(features->features[0]));
	if (!names || !features)
		goto out;
	names->cmd = ETHTOOL_GSTRINGS;
	names->string_set = ETH_SS_FEATURES;
	names->len = sset.len;
	features->cmd = ETHTOOL_GFEATURES;
	features->size = blocks;
	if (ethtool(l->name, names) || ethtool(l->name, features))
		goto out;
	for (i = 0; i < names->len && i < sset.len; i++)
		if (!strncmp((char *)names->data + i * ETH_GSTRING_LEN,
			     "hw-tc-offload", ETH_GSTRING_LEN))
			on = features->features[i / 32].active >> (i % 32) & 1;
out:
	free(names);
	free(features);
	return on;
}

/* bit/s as ethtool knows it, 0 when it does not */
uint64_t link_speed(const struct link *l)
{
	struct ethtool_cmd c = { .cmd = ETHTOOL_GSET };
	struct {
		struct ethtool_link_settings s;
		uint32_t masks[3 * 127];
	} ls = { .s = { .cmd = ETHTOOL_GLINKSETTINGS } };
	uint32_t mbit = 0;

	/* The kernel answers the first time how long its masks are. */
	if (!ethtool(l->name, &ls) && ls.s.link_mode_masks_nwords < 0) {
		ls.s.cmd = ETHTOOL_GLINKSETTINGS;
		ls.s.link_mode_masks_nwords =
			(int8_t)-ls.s.link_mode_masks_nwords;
		if (!ethtool(l->name, &ls))
			mbit = ls.s.speed;
	} else if (!ethtool(l->name, &c)) {
		mbit = ethtool_cmd_speed(&c);
	}
	if (mbit >= INT32_MAX || mbit == 65535)
		return 0;
	return mbit * 1000000ULL;
}
