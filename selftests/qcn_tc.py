#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Queues as rtnetlink has them, without tc between: counters of any qdisc, and those of
qcn_cp and qcn_rp with its limiters.

  qcn_tc.py NS/DEV...     the qdiscs of these devices as JSON
"""

import json
import socket
import struct
import sys

from frames import in_ns

NLM_F_REQUEST, NLM_F_ACK, NLM_F_DUMP = 1, 4, 0x300
NLMSG_ERROR, NLMSG_DONE = 2, 3
RTM_NEWQDISC, RTM_GETQDISC, RTM_GETTCLASS = 36, 38, 42
TCA_KIND, TCA_OPTIONS, TCA_STATS2 = 1, 2, 7
STATS_BASIC, STATS_QUEUE, STATS_APP, STATS_PKT64 = 1, 3, 4, 8
TCA_TBF_PARMS, TCA_TBF_BURST = 1, 6
TC_LINKLAYER_ETHERNET = 1

QUEUE_BINS = 33     # of Qeq / 8
CP = struct.Struct("=Q8Q6Q33QIIBB6x")
RP = struct.Struct("=12QIBB2x")
CLASS = struct.Struct("=5QqqHHHBB")
RP_KEYS = ("line_bps", "activations", "releases", "active_ns", "cnm_used", "cnm_ignored",
           "nomem", "tagged", "untagged_mtu", "untagged_nomem", "flow_drops",
           "limit_drops", "active", "rps", "cnpvs")
CLASS_KEYS = ("cr_bps", "tr_bps", "active_ns", "cnms", "dropped", "left_bytes", "timer_ns",
              "byte_stage", "time_stage", "rpid", "priority", "last_qntzfb")


def nla(kind, data):
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def attributes(data):
    at, out = 0, {}
    while at + 4 <= len(data):
        n, kind = struct.unpack_from("=HH", data, at)
        if n < 4:
            break
        out[kind & 0x3fff] = data[at + 4:at + n]
        at += n + 3 & ~3
    return out


def cp_stats(data):
    v = CP.unpack(data)
    keys = ("cnm_dropped", "unanswerable", "discarded", "transmitted", "stripped",
            "queue_sum_bytes")
    return {"sampled": v[0], "cnm": list(v[1:9]), **dict(zip(keys, v[9:15])),
            "queue": list(v[15:48]), "queue_max_bytes": v[48], "qold_bytes": v[49],
            "last_qntzfb": v[50], "cnpvs": v[51]}


def app_stats(kind, data, is_class):
    if is_class:
        if kind == "qcn_rp" and len(data) == CLASS.size:
            return dict(zip(CLASS_KEYS, CLASS.unpack(data)))
    elif kind == "qcn_cp" and len(data) == CP.size:
        return cp_stats(data)
    elif kind == "qcn_rp" and len(data) == RP.size:
        return dict(zip(RP_KEYS, RP.unpack(data)))
    return {}


class Tc:
    """A namespace's queues; one socket, no process."""

    def __init__(self, ns):
        with in_ns(ns):
            self.s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
            self.index = {name: n for n, name in socket.if_nameindex()}
        self.s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self.s.settimeout(30)
        self.s.bind((0, 0))
        self.seq = 0

    def ask(self, kind, flags, ifindex, handle=0, parent=0, more=b""):
        self.seq += 1
        body = struct.pack("=BxxxiIII", 0, ifindex, handle, parent, 0) + more
        self.s.send(struct.pack("=IHHII", 16 + len(body), kind, NLM_F_REQUEST | flags,
                                self.seq, 0) + body)
        while True:
            data = self.s.recv(1 << 18)
            while len(data) >= 16:
                n, got, _, seq, _ = struct.unpack_from("=IHHII", data)
                body, data = data[16:n], data[n + 3 & ~3:]
                if seq != self.seq:
                    continue
                if got == NLMSG_ERROR and struct.unpack_from("=i", body)[0]:
                    errno = -struct.unpack_from("=i", body)[0]
                    raise OSError(errno, "rtnetlink")
                if got in (NLMSG_ERROR, NLMSG_DONE):
                    return
                yield body

    def dump(self, dev, classes=False):
        """Qdiscs of a device by handle, or the classes of qcn_rp in a list."""
        out = []
        kind = RTM_GETTCLASS if classes else RTM_GETQDISC
        for body in self.ask(kind, NLM_F_DUMP, self.index[dev]):
            _, ifindex, handle, parent, _ = struct.unpack_from("=BxxxiIII", body)
            if ifindex != self.index[dev]:
                continue
            attrs = attributes(body[20:])
            name = attrs[TCA_KIND].rstrip(b"\0").decode()
            if classes and name != "qcn_rp":
                continue
            stats = attributes(attrs.get(TCA_STATS2, b""))
            o = {"kind": name, "handle": "%x:%x" % (handle >> 16, handle & 0xffff),
                 "parent": "%x:%x" % (parent >> 16, parent & 0xffff)}
            if STATS_BASIC in stats:
                o["bytes"], o["packets"] = struct.unpack_from("=QI", stats[STATS_BASIC])
            if STATS_QUEUE in stats:
                o["qlen"], o["backlog"], o["drops"], _, o["overlimits"] = \
                    struct.unpack_from("=5I", stats[STATS_QUEUE])
            o.update(app_stats(name, stats.get(STATS_APP, b""), classes))
            out.append(o)
        return out

    def leaf(self, dev):
        """The qdisc with the queue: the root, or the child of a root that has one."""
        qdiscs = [q for q in self.dump(dev) if q["kind"] not in ("clsact", "ingress")]
        return next((q for q in qdiscs if not q["parent"].startswith("ffff")), qdiscs[0])

    def root(self, dev):
        return next(q for q in self.dump(dev) if q["parent"] == "ffff:ffff")

    def tbf_rate(self, dev, bps, burst, limit, overhead=24):
        """The root, a tbf, gets another rate at once."""
        root = int(self.root(dev)["handle"].split(":")[0], 16) << 16
        spec = struct.pack("=BBHhHI", 0, TC_LINKLAYER_ETHERNET, overhead, 0, 0,
                           bps // 8)
        parms = spec + bytes(len(spec)) + struct.pack("=III", limit, 0, 0)
        more = nla(TCA_KIND, b"tbf\0") + nla(TCA_OPTIONS, nla(TCA_TBF_PARMS, parms) +
                                             nla(TCA_TBF_BURST, struct.pack("=I", burst)))
        for _ in self.ask(RTM_NEWQDISC, NLM_F_ACK, self.index[dev], root, 0xffffffff,
                          more):
            pass


def main():
    if len(sys.argv) < 2 or "/" not in "".join(sys.argv[1:]):
        sys.exit(__doc__)
    out = {}
    for where in sys.argv[1:]:
        ns, _, dev = where.rpartition("/")
        tc = Tc(ns or ".")
        out[where] = {"qdiscs": tc.dump(dev), "limiters": tc.dump(dev, True)}
    print(json.dumps(out))


if __name__ == "__main__":
    main()
