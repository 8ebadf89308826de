#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What GRO makes of bursts of crafted segments, and of UDP super-packets.

  gro.py cases --from NS/DEV --to NS/DEV [--slot MS] <CASES
  gro.py cut --from NS/DEV --to NS/DEV
  gro.py frags NS [--count N]
  gro.py udp --client NS --server NS --addr ADDR

cases: NS/DEV of --from holds back what is sent for MS milliseconds (netem slot), then
releases it at once, so that one poll at the other end sees all of it.  A case is
"NAME | OPTIONS | SEGMENTS | ARRIVALS".  OPTIONS are "udp", "ip6", words of frames.py
for VLAN tags before the CSIG tag, and "more": the flows of the case before go on.  SEGMENTS are words in the order of
sending:
  [FLOW@]TAG[/OCTETS][!]
FLOW is a number, default 0; TAG is a word of frames.py (c:T.S.LM[.R], e:...) or "u",
untagged; OCTETS of payload, default 100; "!" sets PSH.  ARRIVALS are words in the order
of arriving: [FLOW@]TAG[*N], N segments in one packet with this tag; "?" prints them, "any" does not.  The
payload is checked, too.

cut sends tagged frames that end everywhere, in bursts, and wants each of them as it was.
frags does so through a tap that hands its frames to GRO in pieces.
udp sends super-packets to a socket with UDP_GRO and wants more than one datagram in one
of its reads.
"""

import argparse
import collections
import fcntl
import os
import re
import select
import socket
import struct
import sys
import time

import frames

OCTETS = 100
SOL_UDP, UDP_SEGMENT, UDP_GRO = 17, 103, 104
TUNSETIFF, TUNSETVNETHDRSZ = 0x400454ca, 0x400454d8
IFF_TAP, IFF_NO_PI, IFF_NAPI, IFF_NAPI_FRAGS = 2, 0x1000, 0x10, 0x20
SEGMENT = re.compile(r"(?:(\d+)@)?(u|[ce]:[\d.]+)(?:/(\d+))?(!?)$")
TAG_LEN = {0x9900: 4, 0xccdd: 8}


def payload(offset, octets):
    """Octets that tell where in their flow they are."""
    return (struct.pack("!I", offset) +
            bytes((offset + i) * 7 & 0xff for i in range(octets)))[:octets]


class Flow:
    """The two ends of a flow: what was sent, by its offset."""

    ports = 0       # of no flow that was there before: set where the flows are made

    def __init__(self):
        Flow.ports += 1
        self.port = Flow.ports
        self.sent = {}
        self.next = 0

    def add(self, octets):
        offset = self.next
        self.sent[offset] = octets
        self.next += octets
        return offset

    def take(self, data):
        """Number of segments that these octets are; 0: none that was sent."""
        if len(data) < 4:
            return 0
        n, offset = 0, struct.unpack("!I", data[:4])[0]
        while data:
            octets = self.sent.get(offset)
            if not octets or data[:octets] != payload(offset, octets):
                return 0
            data, offset, n = data[octets:], offset + octets, n + 1
        return n


def l3(options):
    return ("fd00::1", "fd00::2") if "ip6" in options else ("10.0.0.1", "10.0.0.2")


def build(options, word, flows):
    m = SEGMENT.match(word)
    if not m:
        raise SystemExit("gro.py: what is '%s'?" % word)
    flow, tag, octets, psh = m.groups()
    flow, octets = int(flow or 0), int(octets or OCTETS)
    offset = flows[flow].add(octets)
    data = payload(offset, octets)
    ports = flows[flow].port, 4661
    if "udp" in options:
        eth, ip = frames.ip_packet(*l3(options), 64, socket.IPPROTO_UDP, struct.pack(
            "!HHHH", *ports, 8 + octets, 0) + data, 6)
    else:
        eth, ip = frames.ip_packet(*l3(options), 64, socket.IPPROTO_TCP, struct.pack(
            "!HHIIHHHH", *ports, 1000 + offset, 1, 5 << 12 | 0x10 | (8 if psh else 0),
            65535, 0, 0) + data, 16)
    l2 = " ".join(w for w in options if ":" in w)
    head = frames.build("%s hex:" % l2)
    if tag != "u":
        head += frames.tag(tag[0], tag[2:])
    return head + struct.pack("!H", eth) + ip


def tag_word(frame, at):
    """Word of the tag at an offset, and the offset behind it."""
    tpid = struct.unpack_from("!H", frame, at)[0]
    if tpid == 0x9900:
        v = struct.unpack_from("!H", frame, at + 2)[0]
        t, r, s, lm = v >> 13, v >> 12 & 1, v >> 7 & 31, v & 127
    elif tpid == 0xccdd:
        lm, v = struct.unpack_from("!HI", frame, at + 2)
        t, s, r = v >> 28, v >> 8 & 0xfffff, v & 255
    else:
        return "u", at
    word = "%s:%d.%d.%d" % ("c" if tpid == 0x9900 else "e", t, s, lm)
    return word + (".%d" % r if r else ""), at + TAG_LEN[tpid]


def parse(options, frame, flows):
    """What arrived as a word, and its octets of payload; nothing: none of ours."""
    head = frames.build("%s hex:" % " ".join(w for w in options if ":" in w))
    if frame[:len(head)] != head:
        return None
    tag, at = tag_word(frame, len(head))
    eth = struct.unpack_from("!H", frame, at)[0]
    ip = frame[at + 2:]
    if eth == 0x0800 and len(ip) >= 28:
        proto, ip = ip[9], ip[20:struct.unpack_from("!H", ip, 2)[0]]
    elif eth == 0x86dd and len(ip) >= 48:
        proto, ip = ip[6], ip[40:40 + struct.unpack_from("!H", ip, 4)[0]]
    else:
        return None
    if proto not in (6, 17):
        return None
    port = struct.unpack_from("!H", ip)[0]
    flow = next((i for i, f in flows.items() if f.port == port), None)
    if flow is None:
        return None
    data = ip[8 if proto == 17 else 20:]
    n = flows[flow].take(data)
    return "%s%s%s" % ("%d@" % flow if flow else "", tag,
                       "" if n == 1 else "*%d" % n if n else " damaged"), len(data)


def run_case(tx, rx, options, words, flows, slot, timeout):
    """Arrivals as words; None when the machine was too slow for one burst."""
    before = sum(f.next for f in flows.values())
    burst = [build(options, w, flows) for w in words]
    start = time.monotonic()
    for f in burst:
        tx.send(f)
    slow = time.monotonic() - start > slot * 0.6
    left = sum(f.next for f in flows.values()) - before
    arrivals = []
    deadline = time.monotonic() + timeout
    while left > 0:
        frame = rx.recv(deadline)
        if frame is None:
            arrivals.append("%d octets lost" % left)
            break
        got = parse(options, frame, flows)
        if got:
            arrivals.append(got[0])
            left -= got[1]
    return None if slow else " ".join(arrivals)


def cmd_cases(args):
    tx, rx = frames.Port(args.source, False), frames.Port(args.to, True)
    good = bad = 0
    flows = None
    Flow.ports = 5000 + os.getpid() % 500 * 100
    for line in sys.stdin:
        line = line.split("#")[0].strip()
        if not line:
            continue
        name, options, words, want = [x.strip() for x in line.split("|")]
        for _ in range(20):
            if "more" not in options:
                flows = collections.defaultdict(Flow)
            got = run_case(tx, rx, options.split(), words.split(), flows,
                           args.slot / 1e3, args.timeout)
            if got is not None:
                break
        if want in ("?", "any"):
            if want == "?":
                print("%s: %s" % (name, got))
        elif got != " ".join(want.split()):
            bad += 1
            print("%s:\n  want %s\n  got  %s" % (name, want, got))
            continue
        good += 1
    print("%d cases as expected, %d not" % (good, bad))
    return bad != 0 or good == 0


def cut_frames():
    """Tagged frames that end at each octet up to the payload."""
    for l2 in "", "q:5 ", "ad:6 q:5 ":
        for tag in "c:1.20.3", "e:1.99.8":
            for ip in "", " ip:fd00::1>fd00::2":
                for l4 in "tcp:8", "udp:8":
                    whole = frames.build("%s%s%s %s" % (l2, tag, ip, l4))
                    # the kernel drops what ends right behind a VLAN tag
                    first = 16 + 4 * len(l2.split()) if l2 else 14
                    for end in range(first, len(whole) + 1):
                        yield whole[:end]


def arrive(rx, want, deadline):
    """Wait for these frames, in any order: TCP segments look alike and may be held."""
    want = collections.Counter(want)
    while want:
        frame = rx.recv(deadline)
        if frame is None:
            missing, n = next(iter(want.items()))
            print("%d frames missing, for instance %s (%d times)" % (
                sum(want.values()), missing.hex(), n))
            return False
        # What is shorter than a frame may be is padded by some.
        for f in (frame, frame.rstrip(b"\0")):
            if want.get(f):
                want[f] -= 1
                if not want[f]:
                    del want[f]
                break
    return True


def cmd_cut(args):
    tx, rx = frames.Port(args.source, False), frames.Port(args.to, True)
    sent = list(cut_frames())
    for i in range(0, len(sent), 50):
        for f in sent[i:i + 50]:
            tx.send(f)
        if not arrive(rx, sent[i:i + 50], time.monotonic() + args.timeout):
            return 1
    print("%d frames arrived" % len(sent))
    return 0


def cmd_frags(args):
    with frames.in_ns(args.ns):
        tap = os.open("/dev/net/tun", os.O_RDWR)
        try:
            fcntl.ioctl(tap, TUNSETIFF, struct.pack(
                "16sH22x", b"tap0", IFF_TAP | IFF_NO_PI | IFF_NAPI | IFF_NAPI_FRAGS))
        except OSError as e:
            print("no tap with IFF_NAPI_FRAGS: %s" % e)
            return 4
        os.system("ip link set dev tap0 up")
    rx = frames.Port(args.ns + "/tap0", True)
    n = 0
    for f in cut_frames():
        # all in pieces, the Ethernet header in the first one, cuts of every length
        split = 1 + n % max(1, len(f) - 1)
        pieces = [f[:split], f[split:split + 20], f[split + 20:]]
        try:
            os.writev(tap, [p for p in pieces if p])
        except OSError:
            pass        # some are too short for a tap
        n += 1
        while select.select([rx.s], [], [], 0)[0]:
            rx.s.recv(65536)
    print("%d frames" % n)
    return 0


def cmd_udp(args):
    family = socket.AF_INET6 if ":" in args.addr else socket.AF_INET
    with frames.in_ns(args.server):
        server = socket.socket(family, socket.SOCK_DGRAM)
    with frames.in_ns(args.client):
        client = socket.socket(family, socket.SOCK_DGRAM)
    server.setsockopt(SOL_UDP, UDP_GRO, 1)
    server.bind((args.addr, 4444))
    client.connect((args.addr, 4444))
    client.setsockopt(SOL_UDP, UDP_SEGMENT, 1000)
    most = total = 0
    for i in range(20):
        client.send(bytes([i]) * 10000)
        got = 0
        while got < 10000:
            if not select.select([server], [], [], args.timeout)[0]:
                print("%d of 10000 octets arrived" % got)
                return 1
            data, cmsg, _, _ = server.recvmsg(65536, 64)
            if data != bytes([i]) * len(data):
                print("damaged")
                return 1
            got += len(data)
            total += 1
            for level, kind, value in cmsg:
                if (level, kind) == (SOL_UDP, UDP_GRO):
                    size = struct.unpack("i", value[:4])[0]
                    most = max(most, -(-len(data) // size))
    print("200 datagrams in %d reads, at most %d in one" % (total, most))
    return most < 2


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    sub = p.add_subparsers(dest="cmd", required=True)
    scale = int(os.environ.get("CSIG_TIME_SCALE", "1"))

    for name in "cases", "cut":
        c = sub.add_parser(name)
        c.add_argument("--from", dest="source", required=True)
        c.add_argument("--to", required=True)
        c.add_argument("--slot", type=float, default=100)
    f = sub.add_parser("frags")
    f.add_argument("ns")
    u = sub.add_parser("udp")
    u.add_argument("--client", required=True)
    u.add_argument("--server", required=True)
    u.add_argument("--addr", required=True)
    for c in sub.choices.values():
        c.add_argument("--timeout", type=float, default=10 * scale)
    args = p.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    return globals()["cmd_" + args.cmd](args)


if __name__ == "__main__":
    sys.exit(main())
