#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What a reaction point does with CNMs, seen on the wire and by rtnetlink.

  qcn_rp.py COMMAND --host NS/DEV --wire NS/DEV

The wire is the other end of the host's link: CNMs come from there, frames are counted
there.  The host has 10.0.0.1 and knows 10.0.0.2's address; qcn_rp.sh sets it up.
"""

import argparse
import collections
import errno
import os
import socket
import struct
import sys
import threading
import time

from frames import Port, build, in_ns
from qcn_cnm import FB_MAX, cnm, flood
from qcn_tc import NLM_F_DUMP, NLMSG_ERROR, RTM_GETQDISC, RTM_NEWQDISC, Tc, attributes, nla

SCALE = int(os.environ.get("CSIG_TIME_SCALE", "1"))
MAC = bytes.fromhex("020000000001")
UDP_SEGMENT = 103
NLM_F_CAPPED, NLMSGERR_ATTR_MSG = 0x100, 1
OVERHEAD = 24           # on the wire, beyond the octets of a frame
FIRST_PORT = 7000

Seen = collections.namedtuple("Seen", "rpid port seqs size at")


def check(ok, text):
    if not ok:
        raise SystemExit("not so: " + text)


def cut(bps):
    return max(bps * (128 - FB_MAX) >> 7, bps // 2)


class Sender(threading.Thread):
    """Sockets that always have something to send; each packet has a number."""

    def __init__(self, ns, flows=1, size=1400, priority=0, gso=1, bursts=False):
        super().__init__(daemon=True)
        self.stop, self.sent, self.size, self.gso = False, [0] * flows, size, gso
        self.bursts = bursts
        self.socks = []
        with in_ns(ns):
            for n in range(flows):
                s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 40000 * gso)
                s.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, priority)
                s.bind(("10.0.0.1", FIRST_PORT + 100 * priority + n))
                s.connect(("10.0.0.2", 9))
                s.settimeout(0.2)
                if gso > 1:
                    s.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, size)
                self.socks.append(s)

    def once(self, n, count=1):
        for _ in range(count):
            text = b"".join(struct.pack("!I", self.sent[n] + i).ljust(self.size, b".")
                            for i in range(self.gso))
            try:
                self.socks[n].send(text)
            except (TimeoutError, BlockingIOError):
                return
            except OSError as e:        # the queue is full: a number is not used
                if e.errno != errno.ENOBUFS:
                    raise
                time.sleep(0.001)
                continue
            self.sent[n] += self.gso

    def run(self):
        while not self.stop:
            for n in range(len(self.socks)):
                self.once(n, 16 // self.gso if self.bursts else 1)
            if self.bursts:     # a limiter goes when nothing waits
                time.sleep(0.06)

    def end(self):
        self.stop = True
        if self.is_alive():
            self.join()
        for s in self.socks:
            s.close()


class Link:
    def __init__(self, args):
        self.ns, _, self.dev = args.host.rpartition("/")
        self.where = args.wire
        self.tc = Tc(self.ns)
        self.port = Port(args.wire, True)

    def rp(self):
        return next(q for q in self.tc.dump(self.dev) if q["kind"] == "qcn_rp")

    def options(self):
        for body in self.tc.ask(RTM_GETQDISC, NLM_F_DUMP, self.tc.index[self.dev]):
            attrs = attributes(body[20:])
            if attrs[1] == b"qcn_rp\0":
                got = attrs[2]
        return got

    def limiters(self):
        return self.tc.dump(self.dev, True)

    def wait(self, what, test, seconds=10):
        end = time.monotonic() + seconds * SCALE
        while not test():
            if time.monotonic() > end:
                raise SystemExit("%s did not happen; %s %s" % (what, self.rp(),
                                                               self.limiters()[:3]))
            time.sleep(0.01)

    def cnm(self, qntzfb=FB_MAX, **kwargs):
        """A CNM that is used, and was when this returns."""
        used = self.rp()["cnm_used"]
        self.port.send(cnm(MAC, qntzfb, **kwargs))
        self.wait("a CNM", lambda: self.rp()["cnm_used"] > used)

    def released(self, seconds=10):
        self.wait("the release", lambda: not self.limiters(), seconds)
        q = self.rp()
        check(q["active"] == 0 and q["releases"] == q["activations"] > 0, str(q))

    def recv(self, deadline, payload=0):
        """The next frame of a Sender; with the octets of a payload, all of a super-packet."""
        while (f := self.port.recv(deadline)) is not None:
            at, rpid = 12, None
            while (kind := struct.unpack_from("!H", f, at)[0]) in (0x8100, 0x22e9):
                if kind == 0x22e9:
                    rpid = struct.unpack_from("!H", f, at + 2)[0]
                at += 4
            if kind != 0x0800 or len(f) < at + 34:
                continue
            port, = struct.unpack_from("!H", f, at + 22)
            seqs = [struct.unpack_from("!I", f, i)[0]
                    for i in range(at + 30, len(f) - 3, payload or len(f))]
            return Seen(rpid, port, seqs, len(f), time.monotonic())
        return None

    def during(self, seconds):
        end = time.monotonic() + seconds
        while (f := self.recv(end)) is not None:
            yield f

    def drop_old(self):
        while self.port.recv(0) is not None:
            pass

    def rate(self, seconds):
        """Of what arrives, in bit/s."""
        self.drop_old()
        frames = list(self.during(seconds))
        check(len(frames) > 5, "only %d frames" % len(frames))
        bits = 8 * sum(f.size + OVERHEAD for f in frames[1:])
        return bits / (frames[-1].at - frames[0].at)

    def leaves_at_cr(self, seconds):
        """Three attempts: what a machine loses that stands still is not the limiter's."""
        for _ in range(3):
            cr = self.limiters()[0]["cr_bps"]
            rate = self.rate(seconds)
            print("CR %d, on the wire %d bit/s: %.3f" % (cr, rate, rate / cr))
            check(cr == self.limiters()[0]["cr_bps"], "CR changed meanwhile")
            if 0.95 < rate / cr < 1.03:
                return
        check(False, "that is not CR")


# --- options ----------------------------------------------------------------------

def request(link, kind, flags, options):
    """errno and message of a change or a creation of the root"""
    root = link.tc.root(link.dev)
    handle = int(root["handle"].split(":")[0], 16) << 16
    more = nla(1, b"qcn_rp\0") + nla(2, options)
    body = struct.pack("=BxxxiIII", 0, link.tc.index[link.dev], handle, 0xffffffff, 0) + more
    link.tc.s.send(struct.pack("=IHHII", 16 + len(body), kind, flags, 0, 0) + body)
    while True:
        data = link.tc.s.recv(1 << 16)
        if struct.unpack_from("=H", data, 4)[0] == NLMSG_ERROR:
            break
    flags, = struct.unpack_from("=H", data, 6)
    error, n = struct.unpack_from("=iI", data, 16)
    at = 36 if flags & NLM_F_CAPPED else 20 + n
    return -error, attributes(data[at:]).get(NLMSGERR_ATTR_MSG, b"").decode()


def cmd_refused(link, _):
    """Each attribute: beyond its ends, of a wrong length; nothing changes."""
    u64 = struct.Struct("=Q").pack
    u32 = struct.Struct("=I").pack
    u8 = struct.Struct("=B").pack
    big = (1 << 44) + 1
    cases = [(2, "rate", u64, 999, big), (3, "min-rate", u64, 999, big, 1 << 40),
             (4, "ai", u64, 0, big), (5, "hai", u64, 0, big),
             (6, "timer", u64, 99999, 10**10 + 1), (7, "bytes", u32, 0, (1 << 30) + 1),
             (8, "threshold", u8, 0), (9, "gd", u8, 16), (10, "min-dec", u8, 0, 101),
             (11, "rps", u8, 0, 101), (12, "hash", u8, 2), (13, "cnpv", u8, 255),
             (14, "limit", u32, 0, 1000001), (15, "flow-limit", u32, 0, 1000001),
             (16, "catchup", u32, 10**9 + 1)]
    link.tc.s.setsockopt(270, 11, 1)    # NETLINK_EXT_ACK
    before = link.options()
    for attr, name, pack, *values in cases:
        for data in [pack(v) for v in values] + [b"", pack(1)[:-1], pack(1) + b"\0"]:
            # what is fine before it is not taken either
            options = nla(4, u64(123456)) * (attr != 4) + nla(attr, data)
            error, text = request(link, RTM_NEWQDISC, 0x5, options)
            check(error in (errno.EINVAL, errno.ERANGE) and text.startswith(name + ":"),
                  "%s %s: error %d, '%s'" % (name, data.hex(), error, text))
    check(link.options() == before, "the options changed")
    error, text = request(link, RTM_NEWQDISC, 0x5, nla(99, b""))
    check(error == errno.EINVAL, "an unknown attribute: %d, '%s'" % (error, text))
    error, text = request(link, RTM_NEWQDISC, 0x5, nla(4, u64(123456)))
    check(not error and link.options() != before, "a good one: %d, '%s'" % (error, text))


# --- one limiter ------------------------------------------------------------------

def follow(link, c, ai):
    """Stages in time of an idle limiter: exactly what the standard says."""
    line, cr, tr = link.rp()["line_bps"], c["cr_bps"], c["tr_bps"]
    want, seen = {0: (cr, tr)}, {}
    for stage in range(1, 200):
        if stage > 5:
            tr = min(tr + ai, line)
        cr = min((cr + tr) // 2, line)
        want[stage] = cr, tr
    end = time.monotonic() + 20 * SCALE
    while time.monotonic() < end and (now := link.limiters()):
        for c in now:
            check(c["byte_stage"] == 0, str(c))
            seen[c["time_stage"]] = c["cr_bps"], c["tr_bps"]
        time.sleep(0.005)
    for stage, rates in sorted(seen.items()):
        check(rates == want[stage], "stage %d: %s, expected %s" % (stage, rates,
                                                                   want[stage]))
    return seen


def cmd_stages(link, _):
    line = link.rp()["line_bps"]
    link.cnm()
    c, = link.limiters()
    check((c["cr_bps"], c["tr_bps"], c["time_stage"]) == (cut(line), line, 0), str(c))
    seen = follow(link, c, 0)
    shares = [seen[n][0] / line for n in range(6) if n in seen]
    print("CR, of the line: " + " ".join("%.3f" % s for s in shares))
    check(len(shares) >= 5 and len(seen) > 10, "only stages %s were seen" % sorted(seen))
    link.released()
    # A CNM after a stage in octets: the target is below the line, and is raised.
    sender = Sender(link.ns)
    sender.start()
    link.cnm()
    link.wait("a stage in octets", lambda: link.limiters()[0]["byte_stage"])
    sender.end()
    link.wait("an empty queue", lambda: link.limiters()[0]["qlen"] == 0)
    link.cnm()
    c, = link.limiters()
    check(c["time_stage"] == c["byte_stage"] == 0 and c["tr_bps"] < line and
          c["cr_bps"] == cut(c["tr_bps"]), str(c))
    seen = follow(link, c, line // 50)
    check(6 in seen or 7 in seen or 8 in seen, "no active increase: %s" % sorted(seen))
    link.released()


def cmd_rate(link, _):
    """Frames leave at CR; those of other priorities pass."""
    sender, other = Sender(link.ns), Sender(link.ns, priority=6)
    sender.start()
    for _ in range(2):
        link.cnm()
        link.wait("a queue", lambda: link.limiters()[0]["qlen"])
        link.leaves_at_cr(1.5)
    link.drop_old()
    other.once(0, 50)
    got = [f.port for f in link.during(1)]
    check(got.count(FIRST_PORT + 600) == 50, "%d of 50 frames of another priority" %
          got.count(FIRST_PORT + 600))
    check(got.count(FIRST_PORT) > 10, "the limited flow starves")
    sender.end()


# --- CNMs of all kinds ------------------------------------------------------------

def tagless(frame):
    return (frame[:12] + frame[16:]).ljust(60, b"\0")


def in_vlan(frame, tci):
    return frame[:12] + struct.pack("!HH", 0x8100, tci) + frame[12:]


def cnm_cases():
    good = cnm(MAC, 10)
    other = bytes.fromhex("020000000077")
    head = len(good[:18])
    yield "with a CN-TAG", good, (1, 0)
    yield "without", tagless(good), (1, 0)
    yield "RPID 1", cnm(MAC, 10, rpid=1), (1, 0)
    yield "RPID 2 of one flow", cnm(MAC, 10, rpid=2), (0, 1)
    yield "RPID 65535", cnm(MAC, 10, rpid=65535), (0, 1)
    yield "in a VLAN", in_vlan(good, 6 << 13 | 5), (1, 0)
    yield "with a priority tag, no CN-TAG", in_vlan(tagless(good), 6 << 13), (1, 0)
    yield "with 64 octets", cnm(MAC, 10, msdu=bytes(64)), (1, 0)
    yield "padded", good.ljust(200, b"\xff"), (1, 0)
    yield "another version", good[:head] + b"\xff\xca" + good[head + 2:], (1, 0)
    yield "no feedback", cnm(MAC, 0), (0, 1)
    yield "CNPV 3", cnm(MAC, 10, priority=3), (1, 0)
    yield "priority of CNMs", cnm(MAC, 10, priority=6), (0, 1)
    yield "n beyond the end", cnm(MAC, 10, n=60), (0, 0)
    yield "n above 64", cnm(MAC, 10, n=65).ljust(200, b"\0"), (0, 0)
    yield "n 65535", cnm(MAC, 10, n=65535), (0, 0)
    yield "PDU of 23 octets", good[:head + 23], (0, 0)
    yield "no PDU", good[:head], (0, 0)
    yield "for another", cnm(other, 10), (0, 0)
    yield "for all", cnm(b"\xff" * 6, 10), (0, 0)
    yield "for a group", cnm(b"\x01" + MAC[1:], 10), (0, 0)
    yield "two CN-TAGs", good[:12] + good[12:16] + good[12:], (0, 0)


def cmd_cases(link, _):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})     # in this order
    for name, frame, want in cnm_cases():
        before = link.rp()
        link.port.send(frame)
        link.cnm(1)     # comes after it, whatever becomes of it
        after = link.rp()
        got = (after["cnm_used"] - before["cnm_used"] - 1,
               after["cnm_ignored"] - before["cnm_ignored"])
        check(got == want, "%s: (used, ignored) %s, expected %s" % (name, got, want))
    check(link.rp()["nomem"] == 0, "no memory")
    print("%d kinds" % len(list(cnm_cases())))


def cmd_flood(link, _):
    """It slows the host down, to the minimum rate at most; then all is well again."""
    sender = Sender(link.ns)
    sender.start()
    ended = []
    thread = threading.Thread(target=lambda: ended.append(
        flood(link.where, "02:00:00:00:00:01", time.monotonic() + 3)))
    thread.start()
    time.sleep(0.5)
    least = link.rp()["line_bps"] / 20
    rate = link.rate(2)
    thread.join()
    q = link.rp()
    print("%d CNMs, %d used: %d bit/s" % (ended[0], q["cnm_used"], rate))
    check(q["cnm_used"] > 10, "no flood")
    check(rate > 0.85 * least, "slower than the minimum rate")
    check(all(c["cr_bps"] >= least for c in link.limiters()), "CR below the minimum")
    sender.end()
    link.released(20)
    link.drop_old()
    Sender(link.ns).once(0, 50)
    got = list(link.during(0.5))
    check(len(got) == 50 and got[-1].at - got[0].at < 50 * 1442 * 8 / least / 4,
          "still slow: %d frames" % len(got))


# --- several flows -------------------------------------------------------------------

def cmd_rpids(link, args):
    """CN-TAGs name flows, CNMs name them back; other modes have neither."""
    flows = 12
    sender = Sender(link.ns, flows)
    for n in range(flows):
        sender.once(n, 4)
    rpids = collections.defaultdict(set)
    for f in link.during(0.7):
        rpids[f.port].add(f.rpid)
    check(len(rpids) == flows and all(len(r) == 1 for r in rpids.values()),
          "RPIDs by port: %s" % dict(rpids))
    rpid_of = {port: r.pop() for port, r in rpids.items()}
    check(set(rpid_of.values()) <= set(range(1, 5)) and len(set(rpid_of.values())) > 1,
          "RPIDs by port: %s" % rpid_of)
    check(link.rp()["tagged"] == 4 * flows, "tagged: %s" % link.rp())
    one = rpid_of[FIRST_PORT]
    link.cnm(rpid=one)
    check([c["rpid"] for c in link.limiters()] == [one], str(link.limiters()))
    link.port.send(cnm(MAC, FB_MAX, rpid=5))
    link.cnm(rpid=one)
    check([c["rpid"] for c in link.limiters()] == [one], "RPID 5 of 4")
    # minutes for a frame: those of this flow stay, all others pass
    for _ in range(12):
        link.cnm(rpid=one)
    link.drop_old()
    for n in range(flows):
        sender.once(n, 5)
    got = collections.Counter(f.port for f in link.during(0.7))
    for port, rpid in rpid_of.items():
        check(got[port] < 5 if rpid == one else got[port] == 5,
              "port %d, RPID %d: %d of 5 frames" % (port, rpid, got[port]))
    link.cnm(rpid=0)
    check([c["rpid"] for c in link.limiters()] == [1, 2, 3, 4], str(link.limiters()))
    # another mode: one flow that nobody can name, as slow as the slowest
    slowest = min(c["cr_bps"] for c in link.limiters())
    check(os.system(args.more + " interior") == 0, args.more)
    c, = link.limiters()
    check(c["rpid"] == 1 and c["cr_bps"] == slowest and link.rp()["rps"] == 1, str(c))
    check(os.system(args.more + " interior-ready") == 0, args.more)
    check(link.rp()["rps"] == 4, str(link.rp()))


def cmd_many(link, _):
    """All limiters that there may be, and none too much; each knows its name."""
    link.cnm()
    check([c["rpid"] for c in link.limiters()] == list(range(1, 101)),
          str(len(link.limiters())))
    link.port.send(cnm(MAC, FB_MAX, rpid=101))
    link.cnm(rpid=100)
    q = link.rp()
    check((q["active"], q["activations"]) == (100, 100), str(q))
    # a frame for each of some flows: to its limiter
    sender = Sender(link.ns, 20)
    for n in range(20):
        sender.once(n, 2)
    got = list(link.during(0.7))
    check(len(got) == 40 and all(f.rpid for f in got), "%d frames" % len(got))
    by_port = {(f.port, f.rpid) for f in got}
    check(len(by_port) == 20, str(by_port))
    packets = {c["rpid"]: c["packets"] for c in link.limiters()}
    check(sum(packets.values()) == 40 and all(packets[r] for _, r in by_port),
          "packets by limiter")
    link.released(20)
    check(link.rp()["releases"] == 100, str(link.rp()))


# --- queues ---------------------------------------------------------------------------

def in_order(link, sender, seconds):
    """Numbers of each flow without a gap; segments of super-packets are frames, too."""
    following, count, passed = collections.Counter(), 0, 0
    end = time.monotonic() + seconds
    cnm_at = 0
    activations = link.rp()["activations"]
    while not sender.stop or count < sum(sender.sent):
        if (now := time.monotonic()) >= end:
            if sender.stop:
                break
            sender.end()
            end = now + 5 * SCALE
        f = link.recv(min(end, now + 0.05), sender.size)
        if f is None:
            continue
        if not sender.stop and now > cnm_at:    # others wait behind this one
            link.port.send(cnm(MAC, FB_MAX))
            cnm_at = now + 0.1
        for seq in f.seqs:
            check(seq == following[f.port], "port %d: %d after %d" %
                  (f.port, seq, following[f.port] - 1))
            following[f.port] += 1
        count += len(f.seqs)
        passed += len(f.seqs) > 1
    for n, sent in enumerate(sender.sent):
        check(sent == following[FIRST_PORT + n], "flow %d: %d sent, %d came" %
              (n, sent, following[FIRST_PORT + n]))
    check(count > 100, "only %d frames" % count)
    q = link.rp()
    check(q["activations"] - activations > 5, "too few activations: %s" % q)
    print("%d frames, %d super-packets passed, %d activations" %
          (count, passed, q["activations"] - activations))


def cmd_order(link, _):
    for gso in (1, 8):
        sender = Sender(link.ns, 4, size=1000, gso=gso, bursts=True)
        sender.start()
        in_order(link, sender, 2)
        link.wait("an empty queue", lambda: all(
            (q["qlen"], q["backlog"]) == (0, 0) for q in link.tc.dump(link.dev)))
        link.released()


def cmd_cnms_first(link, _):
    """CNMs that the host passes on, ahead of what waits."""
    with in_ns(link.ns):
        raw = Port("./" + link.dev, False)
    data = build("from:01 to:02 type:88b5 fill:1400")
    for _ in range(30):
        raw.send(data)
    raw.send(cnm(bytes.fromhex("020000000002"), 1))
    end = time.monotonic() + 5
    kinds = []
    while len(kinds) < 31 and (f := link.port.recv(end)) is not None:
        kinds.append(f[12:14].hex())
    check(kinds.count("88b5") == 30 and "22e9" in kinds, str(kinds))
    print("the CNM was number %d of 31" % (kinds.index("22e9") + 1))
    check(kinds.index("22e9") < 15, "it waited")


def cmd_limits(link, args):
    """Frames beyond the limits go, also by a change; parents know."""
    for _ in range(8):      # seconds for a frame
        link.cnm()
    with in_ns(link.ns):
        raw = Port("./" + link.dev, False)
    data = build("from:01 to:02 type:88b5 fill:1000")

    def send(n):
        for _ in range(n):
            try:
                raw.s.send(data)
            except OSError as e:
                if e.errno != errno.ENOBUFS:
                    raise

    send(60)
    c, = link.limiters()
    check(30 <= c["qlen"] <= 40 and c["dropped"] >= 15, str(c))
    before = {q["kind"]: q["qlen"] for q in link.tc.dump(link.dev)}
    check(len(set(before.values())) == 1, "parents: %s" % before)
    check(os.system(args.more + " flow-limit 10") == 0, args.more)
    c, = link.limiters()
    check(c["qlen"] <= 10, str(c))
    qdiscs = link.tc.dump(link.dev)
    check(len({(q["qlen"], q["backlog"]) for q in qdiscs}) == 1, str(qdiscs))
    send(1)
    check(os.system(args.more + " limit 4 flow-limit 100") == 0, args.more)
    qdiscs = link.tc.dump(link.dev)
    check(len({(q["qlen"], q["backlog"]) for q in qdiscs}) == 1 and
          qdiscs[0]["qlen"] <= 4, str(qdiscs))
    q = link.rp()
    check(q["flow_drops"] >= 40 and q["limit_drops"] >= 1, str(q))
    check(os.system(args.more + " min-rate 1mbit") == 0, args.more)
    link.wait("an empty queue", lambda: all(
        (q["qlen"], q["backlog"]) == (0, 0) for q in link.tc.dump(link.dev)))


def cmd_parent(link, _):
    """Limited below a class; nothing is left in the parents."""
    link.cnm()
    sender = Sender(link.ns)
    sender.start()
    link.wait("a queue", lambda: link.limiters()[0]["qlen"])
    link.leaves_at_cr(1)
    sender.end()
    link.wait("an empty queue", lambda: all(
        (q["qlen"], q["backlog"]) == (0, 0) for q in link.tc.dump(link.dev)))


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("command", choices=[n[4:] for n in globals() if n.startswith("cmd_")])
    p.add_argument("--host", required=True)
    p.add_argument("--wire", required=True)
    p.add_argument("--more", help="a command that takes the setting to change")
    args = p.parse_args()
    return globals()["cmd_" + args.command](Link(args), args)


if __name__ == "__main__":
    sys.exit(main())
