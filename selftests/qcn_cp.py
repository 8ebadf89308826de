#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What a qcn_cp answers to known frames in a queue of known length.

  qcn_cp.py vectors FILE
  qcn_cp.py cases --source NS/DEV --port NS/DEV --sink NS/DEV
  qcn_cp.py fdb (likewise)
  qcn_cp.py intervals (likewise)
  qcn_cp.py ahead (likewise)
  qcn_cp.py strip (likewise)
  qcn_cp.py refused --port NS/DEV

The source is a host at a bridge, the port that to the sink, another host.  The port's
queue stands below a tbf that lets what BURST holds pass and then next to nothing, so
that its length follows from the frames that were sent.  What a CNM must be is computed
here from the specification alone; vectors compares that with the test vectors.
"""

import argparse
import collections
import fractions
import json
import math
import os
import socket
import struct
import subprocess
import sys
import time

from frames import Port, build, in_ns
from qcn_tc import NLM_F_ACK, NLM_F_REQUEST, RTM_NEWQDISC, TCA_KIND, TCA_OPTIONS, Tc, nla

BURST = 2405        # 2 frames of 1000, 12 of 200, 40 of 60 and next to nothing
QEQ, BASE, PRIORITY, HEADER = 5000, 10000, 6, 64
SIZE = 1000
ROW = (150000, 75000, 50000, 37500, 30000, 25000, 21500, 18500)
VLANS = (0x8100, 0x88a8, 0x9100)
FILL = " udp:32 pad:%d" % SIZE


# --- the specification ------------------------------------------------------------

Header = collections.namedtuple("Header", "vlan tci rpid msdu")


def header(frame):
    """VLAN tag, CN-TAG and what comes after them"""
    at, vlan, tci, rpid = 12, None, 0, 0
    while (kind := struct.unpack_from("!H", frame, at)[0]) in VLANS:
        if vlan is None:
            vlan, tci = struct.unpack_from("!HH", frame, at)
        at += 4
    if kind == 0x22e9:
        rpid = struct.unpack_from("!H", frame, at + 2)[0]
        at += 4
    return Header(vlan, tci, rpid, frame[at:])


def units(octets):
    n = abs(octets) // 64
    return max(-0x8000, -n) if octets < 0 else min(0x7fff, n)


def cnm(frame, fb, cpid, mac, qoff, qdelta, destination=False, seed=False,
        cnm_priority=PRIORITY, most=HEADER, priority=None):
    """The CNM that answers a frame"""
    h = header(frame)
    own = not destination or frame[0] & 1
    out = frame[6:12] + (mac if own else frame[:6])
    if h.vlan:
        out += struct.pack("!HH", h.vlan, h.tci & 0xfff | cnm_priority << 13)
        priority = h.tci >> 13
    out += struct.pack("!HHHH", 0x22e9, h.rpid, 0x22e7, fb) + cpid
    out += struct.pack("!hhH", units(qoff if seed else -qoff), units(qdelta),
                       (priority or 0) << 13)
    msdu = h.msdu[:most]
    out += frame[:6] + struct.pack("!H", len(msdu)) + msdu
    return out.ljust(60, b"\0")


def feedback(q, qold, qeq, weight):
    w = fractions.Fraction(2) ** weight
    limit = qeq * (2 * w + 1)
    fb = min(max(q - qeq + w * (q - qold), 0), limit)
    return math.floor(fb * 63 / limit)


def cmd_vectors(args):
    with open(args.file) as f:
        vectors = json.load(f)
    bad = 0
    for n, v in enumerate(vectors):
        got = cnm(bytes.fromhex(v["sampled"]), v["qntzfb"], bytes.fromhex(v["cpid"]),
                  bytes.fromhex(v["cp_mac"]), v["q_minus_qeq"], v["qdelta"],
                  v["cnm_source"] == "destination", False, v["cnm_priority"],
                  v["min_header_octets"])
        if got.hex() != v["cnm"]:
            bad += 1
            print("vector %d:\n  want %s\n  got  %s" % (n, v["cnm"], got.hex()))
    print("%d vectors" % len(vectors))
    return bad != 0 or not vectors


# --- the queue ----------------------------------------------------------------------

class Model:
    """The queue below the tbf"""

    def __init__(self):
        self.tokens, self.came, self.wait = BURST, 0, collections.deque()

    def put(self, octets):
        """Its length with this frame, before any leaves"""
        self.came += octets
        self.wait.append(octets)
        q = sum(self.wait)
        while self.wait and self.wait[0] <= self.tokens:
            self.tokens -= self.wait.popleft()
        return q


class Net:
    def __init__(self, args):
        self.ns, self.dev = args.port.rsplit("/", 1)
        self.source = Port(args.source, False)
        self.at_source = Port(args.source, True)
        self.port = Port(args.port, False)
        self.sink = Port(args.sink, False)
        self.tc = Tc(self.ns)
        # all in one order: one CPU has one backlog
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        with in_ns(self.ns):
            self.ifindex = socket.if_nametoindex(self.dev)
        with open("/proc/sys/kernel/random/boot_id") as f:
            self.mark = "qcn-mark-" + f.read(8)
        self.marks = 0

    def batch(self, text):
        subprocess.run(["tc", "-n", self.ns, "-batch", "-"], input=text, text=True,
                       check=True)

    def queue(self, options, rate="100bit"):
        """A new, empty one; what was in the old one is gone."""
        self.batch("qdisc replace dev %s root handle 9: pfifo\n"
                   "qdisc replace dev %s root handle 1: tbf rate %s burst %d limit 1000000\n"
                   "qdisc add dev %s parent 1:1 handle 10: qcn_cp qeq %d base %d %s\n" %
                   (self.dev, self.dev, rate, BURST, self.dev, QEQ, BASE, options))

    def stats(self):
        return self.tc.leaf(self.dev)

    def answers(self, timeout=20):
        """What the source got until now: all that came before a marker of the sink."""
        self.marks += 1
        mark = ("%s-%06d" % (self.mark, self.marks)).encode()
        self.sink.send(build("to:01 from:02 type:88b5 text:@ fill:32",
                             text=mark.decode()))
        got, deadline = [], time.monotonic() + timeout
        while (f := self.at_source.recv(deadline)) is not None:
            if mark in f:
                return got
            got.append(f)
        raise SystemExit("the marker did not arrive, but %s" % [f.hex() for f in got])


# Name, frame, options of the qdisc, those of cnm() or what QCN's answer is otherwise.
# "port" frames do not come over the bridge but from the port's own host.
SEED, DESTINATION = {"seed": True}, {"destination": True}
CASES = (
    ("untagged", "", "", {}),
    ("source destination", "", "source destination", DESTINATION),
    ("source destination, to a group", "to:01005e000001", "source destination",
     DESTINATION),
    ("qoffset seed", "", "qoffset seed", SEED),
    ("VLAN", "q:10/5", "", {}),
    ("VLAN, priority tag", "q:0/3", "", {}),
    ("VLAN, other CNM priority", "q:4094/7", "cnm-priority 2",
     {"cnm_priority": 2}),
    ("S-VLAN", "ad:20/1", "", {}),
    ("VLAN 9100", "old:30/4", "", {}),
    ("two VLAN tags", "ad:20/1 q:10/5", "", {}),
    ("CN-TAG", "cn:0x1234", "", {}),
    ("VLAN and CN-TAG", "q:10/5 cn:7", "source destination", DESTINATION),
    ("IPv6", "ip:fd00::1>fd00::2", "", {}),
    ("no octets of the frame", "q:10/5", "header 0", {"most": 0}),
    ("1 octet", "", "header 1", {"most": 1}),
    ("14 octets", "", "header 14", {"most": 14}),
    ("63 octets", "", "header 63", {"most": 63}),
    ("short frames", "type:88b6 fill:20 pad:60", "", {}),
    ("short frames with a VLAN tag", "q:1/2 type:88b6 fill:20 pad:64", "", {}),
    ("another address and port", "", "mac 02:00:00:00:00:aa port 8191",
     {"mac": bytes.fromhex("0200000000aa"), "port": 8191}),
    ("weight -1", "", "weight -1", {"weight": -1}),
    ("weight 10", "", "weight 10", {"weight": 10}),
    ("chosen priority", "q:10/3", "cnpv 3,5", {}),
    ("other priority", "q:10/4", "cnpv 3,5", None),
    ("other priority, untagged", "", "cnpv 3,5", None),
    ("priority of CNMs", "q:10/6", "", None),
    ("port: VLAN in the octets", "q:10/5", "", {}),
    ("port: CN-TAG and VLAN in the octets", "q:10/5 cn:9", "", {}),
    ("port: source is a group", "from:010000000001", "", None),
    ("port: source is the port", "from:12", "", None),
    ("port: source is the port, another address", "from:12",
     "mac 02:00:00:00:00:aa", None),
    ("port: source is the congestion point", "from:aa", "mac 02:00:00:00:00:aa",
     None),
    ("port: link-local", "to:0180c200000e", "", None),
    ("CNMs", "type:22e7 fill:24", "", "never"),
    ("CNMs with CN-TAG", "cn:5 type:22e7 fill:24", "", "never"),
    ("CNMs with VLAN tag and CN-TAG", "q:1/3 cn:5 type:22e7 fill:24", "", "never"),
)


def spec_of(spec):
    if "pad:" not in spec:
        spec += (" pad:%d" % SIZE) if "type:" in spec else FILL
    return spec


def counted(frame, from_bridge):
    """Octets that a qdisc sees: a VLAN tag of the kernel's is beside them."""
    kind = struct.unpack_from("!H", frame, 12)[0]
    return len(frame) - (4 if from_bridge and kind in VLANS[:2] else 0)


def expect(net, frame, q, how):
    how = dict(how)
    mac = how.pop("mac", bytes.fromhex("020000000012"))
    port = how.pop("port", net.ifindex & 8191)
    fb = feedback(q, 0, QEQ, how.pop("weight", 1))
    h = header(frame)
    priority = h.tci >> 13 if h.vlan else 0
    cpid = mac + bytes([port & 255, port >> 8 << 3 | priority])
    return cnm(frame, fb, cpid, mac, q - QEQ, q, **how)


def one_case(net, name, spec, options, how):
    net.queue(options)
    own = name.startswith("port: ")
    tx = net.port if own else net.source
    frame = build(spec_of(spec))
    octets, model, q = counted(frame, not own), Model(), 0
    while model.came < BASE:
        q = model.put(octets)
        tx.send(frame)
    extra = 0
    if not isinstance(how, dict):   # and not later, either
        extra = 3
        for _ in range(extra):
            tx.send(frame)
    got, st = net.answers(), net.stats()
    want = [expect(net, frame, q, how)] if isinstance(how, dict) else []
    sampled = len(want)
    unanswerable = 1 + extra if how is None else 0
    row = [0] * 8
    if want:
        row[header(want[0]).msdu[3] >> 3] = 1
    counts = (st["sampled"], st["unanswerable"], st["cnm"], st["cnm_dropped"])
    if got == want and counts == (sampled, unanswerable, row, 0):
        return True
    print("%s:\n  sent %s\n  want %s\n  got  %s\n  %s, want %s" % (
        name, frame.hex()[:200], [f.hex() for f in want], [f.hex() for f in got],
        counts, (sampled, unanswerable, row, 0)))
    return False


def cmd_cases(args):
    net = Net(args)
    bad = sum(not one_case(net, *case) for case in CASES)
    print("%d cases, %d failed" % (len(CASES), bad))
    return bad != 0


# --- what a bridge learns -----------------------------------------------------------

def learned(net):
    out = subprocess.run(["bridge", "-n", net.ns, "-j", "fdb", "show", "br", "br0"],
                         stdout=subprocess.PIPE, check=True).stdout
    return {(e["mac"], e["ifname"]) for e in json.loads(out)
            if e.get("state") != "permanent" and "vlan" not in e}


def cmd_fdb(args):
    net, bad = Net(args), 0
    frame = build(FILL)
    for options, new in (("", set()),
                         ("mac 02:00:00:00:00:aa", {("02:00:00:00:00:aa", net.dev)}),
                         ("source destination", {("02:00:00:00:00:02", net.dev)})):
        net.queue(options)
        before = learned(net)
        for _ in range(BASE // SIZE):
            net.source.send(frame)
        got = net.at_source.recv(time.monotonic() + 20)
        if got is None:
            raise SystemExit("%s: no CNM" % options)
        # the source itself is learned from its frames
        fresh = learned(net) - before - {("02:00:00:00:00:01", "p1")}
        if fresh != new:
            print("%s: learned %s, want %s" % (options, fresh, new))
            bad += 1
    return bad != 0


# --- intervals ----------------------------------------------------------------------

def near(what, got, want, percent):
    if abs(got - want) * 100 <= want * percent:
        return 0
    print("%s: %d, want %d +- %d %%" % (what, got, want, percent))
    return 1


def cmd_intervals(args):
    net, bad, size, count = Net(args), 0, 200, 2000
    frame = build("udp:32 pad:%d" % size)
    for limit, rate in ((0, "1gbit"), (7000, "100bit"), (9000, "100bit"),
                        (13000, "100bit"), (20000, "100bit"), (30000, "100bit")):
        net.queue("limit %d" % limit if limit else "", rate)
        # fill it; then it is as long for every sample
        for _ in range(limit // size + BURST // size + 100):
            net.source.send(frame)
        net.answers()
        full = limit - limit % size
        fb = feedback(full, full, QEQ, 1) if limit else 0
        before = net.stats()
        for _ in range(count):
            net.source.send(frame)
        got = net.answers()
        after = net.stats()
        interval = BASE * ROW[fb >> 3] / ROW[0] + size / 2
        n = after["sampled"] - before["sampled"]
        what = "limit %d, QntzFb %d" % (limit, fb)
        bad += near(what + ": samples", n, count * size / interval, 8)
        bad += near(what + ": CNMs in statistics",
                    after["cnm"][fb >> 3] - before["cnm"][fb >> 3], n if limit else 0, 0)
        bad += near(what + ": CNMs", len(got), n if limit else 0, 0)
        if after["last_qntzfb"] != fb or limit and after["qold_bytes"] != full:
            print(what, after)
            bad += 1
        came = sum(after["queue"]) - sum(before["queue"])
        bad += near(what + ": frames by queue", came, count, 0)
        if limit:   # a slow machine may let one leave
            bad += near(what + ": frames of this queue",
                        after["queue"][min(full * 8 // QEQ, 32)] -
                        before["queue"][min(full * 8 // QEQ, 32)], count, 1)
            bad += near(what + ": discarded", after["discarded"] - before["discarded"],
                        count, 1)
            bad += near(what + ": drops", after["drops"] - before["drops"], count, 1)
            bad += near(what + ": mean queue", (after["queue_sum_bytes"] -
                        before["queue_sum_bytes"]) / count, full, 1)
            bad += near(what + ": longest queue", after["queue_max_bytes"], full, 0)
        else:
            bad += near(what + ": sent on", after["transmitted"] - before["transmitted"],
                        count, 0)
    return bad != 0


# --- CNMs go ahead ------------------------------------------------------------------

def cmd_ahead(args):
    net = Net(args)
    at_sink = Port(args.sink, True)
    net.queue("")
    data = build("type:88b6 fill:100 pad:%d" % SIZE)
    passing = build("q:7/6 cn:3 type:22e7 fill:60")
    for _ in range(8):
        net.source.send(data)
    for _ in range(3):
        net.source.send(passing)
    st = net.stats()
    want = 6 * SIZE + 3 * (len(passing) - 4)
    if (st["qlen"], st["backlog"]) != (9, want):
        print("waiting: %d, %d, want 9, %d" % (st["qlen"], st["backlog"], want))
        return 1
    net.tc.tbf_rate(net.dev, 100000000, 32000, 1000000, 0)
    net.source.send(data)   # nothing else makes the tbf look again
    got, deadline = [], time.monotonic() + 20
    while len(got) < 12 and (f := at_sink.recv(deadline)) is not None:
        got.append(f)
    # two passed, one was at the tbf already
    order = "".join("c" if f == passing else "d" if f == data else "?" for f in got)
    if order != "dddcccdddddd":
        print("order: %s" % order)
        return 1
    st = net.stats()
    if (st["qlen"], st["backlog"], st["transmitted"]) != (0, 0, 12):
        print(st)
        return 1
    return 0


# --- the CN-TAG goes as the frame leaves -----------------------------------------------

def cmd_strip(args):
    """The priority's mode is interior: the CNM has the RPID, what leaves has none."""
    net = Net(args)
    at_sink = Port(args.sink, True)
    net.queue("")
    frame = build("q:10/5 cn:7" + FILL)
    model, q = Model(), 0
    while model.came < BASE:
        q = model.put(counted(frame, True))
        net.source.send(frame)
    got, want = net.answers(), [expect(net, frame, q, {})]
    # two passed, one waits at the tbf, without a change of what it counts
    st = net.stats()
    counts = st["stripped"], st["backlog"]
    if got != want or counts != (3, sum(model.wait)):
        print([f.hex() for f in got], want[0].hex(), counts, sum(model.wait))
        return 1
    net.tc.tbf_rate(net.dev, 100000000, 32000, 1000000, 0)
    net.source.send(frame)
    sent = model.came // counted(frame, True) + 1
    for n in range(sent):
        got = at_sink.recv(time.monotonic() + 20)
        if got != frame[:16] + frame[20:]:
            print("frame %d: %s" % (n, got and got.hex()))
            return 1
    # behind these would be another tag
    for spec in "q:10/5 cn:7 q:20/3", "q:10/5 cn:7 cn:8":
        frame = build(spec + FILL)
        net.source.send(frame)
        got = at_sink.recv(time.monotonic() + 20)
        if got != frame:
            print("%s: %s" % (spec, got and got.hex()))
            return 1
    left = [(q["kind"], q["qlen"], q["backlog"]) for q in net.tc.dump(net.dev)]
    if any(q[1:] != (0, 0) for q in left) or net.stats()["stripped"] != sent:
        print(left, net.stats())
        return 1
    return 0


# --- what is refused ----------------------------------------------------------------

SOL_NETLINK, NETLINK_CAP_ACK, NETLINK_EXT_ACK = 270, 10, 11
NLMSGERR_ATTR_MSG = 1
U8, U16, U32, MAC = "=B", "=H", "=I", "=6s"
(LIMIT, QEQ_A, WEIGHT, BASE_A, HEADER_A, MAC_A, PORT, CNM_PRIORITY, SOURCE, QOFFSET,
 CNPVS) = range(1, 12)
REFUSED = (
    ("limit", LIMIT, U32, (0, 1513, (1 << 30) + 1, 0xffffffff)),
    ("qeq", QEQ_A, U32, (0, 1513, (1 << 30) + 1, 0xffffffff)),
    ("weight", WEIGHT, "=b", (-11, 11, -128, 127)),
    ("base", BASE_A, U32, (0, 9999, (1 << 30) + 1)),
    ("header", HEADER_A, U8, (65, 255)),
    ("mac", MAC_A, MAC, (bytes.fromhex("010000000001"), b"\xff" * 6)),
    ("port", PORT, U16, (8192, 65535)),
    ("cnm-priority", CNM_PRIORITY, U8, (8, 255)),
    ("source", SOURCE, U8, (2, 255)),
    ("qoffset", QOFFSET, U8, (2, 255)),
    ("cnpv", CNPVS, U8, (255, 1 << PRIORITY)),
)


def change(s, seq, ifindex, attrs):
    """Status and message of a change of the root"""
    body = struct.pack("=BxxxiIII", 0, ifindex, 0x10000, 0xffffffff, 0)
    body += nla(TCA_KIND, b"qcn_cp\0") + nla(TCA_OPTIONS, attrs)
    s.send(struct.pack("=IHHII", 16 + len(body), RTM_NEWQDISC,
                       NLM_F_REQUEST | NLM_F_ACK, seq, 0) + body)
    data = s.recv(1 << 16)
    flags, error = struct.unpack_from("=6xH8xi", data)
    at, text = 36, ""
    if flags & 0x200:
        while at + 4 <= len(data):
            n, kind = struct.unpack_from("=HH", data, at)
            if kind & 0x3fff == NLMSGERR_ATTR_MSG:
                text = data[at + 4:at + n].rstrip(b"\0").decode()
            at += max(4, n + 3 & ~3)
    return -error, text


def cmd_refused(args):
    ns, dev = args.port.rsplit("/", 1)
    with in_ns(ns):
        s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        ifindex = socket.if_nametoindex(dev)
    s.setsockopt(SOL_NETLINK, NETLINK_EXT_ACK, 1)
    s.setsockopt(SOL_NETLINK, NETLINK_CAP_ACK, 1)
    s.settimeout(20)
    s.bind((0, 0))
    bad = seq = 0
    tries = []
    good = nla(LIMIT, struct.pack(U32, 77777)) + nla(HEADER_A, b"\x07")
    for name, kind, form, values in REFUSED:
        tries += [(name, nla(kind, struct.pack(form, v))) for v in values]
        size = struct.calcsize(form)
        tries += [(name, nla(kind, bytes(n))) for n in (0, size - 1, size + 1)]
    tries.append(("", nla(12, bytes(4))))
    for name, attr in tries:
        # what is good in the same message counts for nothing, before or after
        for attrs in (attr, good + attr, attr + good):
            seq += 1
            errno, text = change(s, seq, ifindex, attrs)
            if errno not in (22, 34) or name not in text or not text:
                print("%s %s: %d, '%s'" % (name, attrs.hex(), errno, text))
                bad += 1
    errno, text = change(s, seq + 1, ifindex, b"")
    print("%d tries, %d not refused as they should; nothing: %d %s" %
          (seq, bad, errno, text))
    return bad != 0 or errno != 0


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    sub = p.add_subparsers(dest="what", required=True)
    sub.add_parser("vectors").add_argument("file")
    for name in "cases", "fdb", "intervals", "ahead", "strip":
        q = sub.add_parser(name)
        for where in "--source", "--port", "--sink":
            q.add_argument(where, required=True)
    sub.add_parser("refused").add_argument("--port", required=True)
    args = p.parse_args()
    return globals()["cmd_" + args.what](args)


if __name__ == "__main__":
    sys.exit(main())
