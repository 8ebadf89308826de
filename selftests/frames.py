#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Send and receive Ethernet frames exactly as they are, across network namespaces.

  frames.py build SPEC
  frames.py pcap SPEC... (a file on stdout)
  frames.py send NS/DEV SPEC... [--count N]
  frames.py recv NS/DEV [--count N] [--timeout S]
  frames.py cases --from NS/DEV --to NS/DEV [--to ...] [--marker SPEC] <CASES
  frames.py burst --from NS/DEV --to NS/DEV --count N [--marker SPEC] <CASES

NS "." is the own namespace.  recv prints "ready" when it listens, then one frame a
line in hex, VLAN tags put back where the kernel keeps them apart.

A SPEC is a list of words, in the order of the octets:
  to:XX from:XX     last octet of 02:00:00:00:00:XX, or all 12 digits
  q:VID[/PRIO]      VLAN tag 8100; ad: 88a8; old: 9100
  cn:FLOW           QCN CN-TAG
  c:T.S.LM[.R]      compact tag; e: expanded tag; tag:HEX any octets
  mpls:LABEL[/TTL]  one label, bottom of the stack
  ip:SRC>DST[/TTL]  addresses for what follows, IPv4 or IPv6
  udp:N tcp:N       with N octets of payload; udptext:TEXT
  type:XXXX         EtherType; fill:N N octets; text:TEXT; hex:HEX
  llc:N             802.3 length and N octets of payload
  pad:N             zeros up to N octets
Without addresses it goes from 01 to 02, without payload it gets udp:32.

CASES: "NAME | SPEC | EXPECTED [| EXPECTED]...", one EXPECTED for each --to: a SPEC,
"same" or "lost".  After each frame goes a marker; what arrived before it is the
answer, so that nothing has to be waited for.  "! COMMAND" runs before what follows.
burst sends the cases in turn, N frames in all, each with a number in its payload,
and wants each of them in this order.
"""

import argparse
import collections
import contextlib
import os
import select
import socket
import struct
import sys
import time

ETH_P_ALL = 3
SOL_PACKET = 263
PACKET_ADD_MEMBERSHIP = 1
PACKET_STATISTICS = 6
PACKET_AUXDATA = 8
PACKET_MR_PROMISC = 1
SO_RCVBUFFORCE = 33
VLAN_VALID = 1 << 4
VLAN_TPID_VALID = 1 << 6

TPID = {"q": 0x8100, "ad": 0x88a8, "old": 0x9100}
MARK = "csig-mark-"
MARKER = "type:88b5 text:@ fill:32"


# --- building -------------------------------------------------------------------

def ip_sum(data):
    if len(data) % 2:
        data += b"\0"
    s = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while s >> 16:
        s = (s & 0xffff) + (s >> 16)
    return ~s & 0xffff


def fill(n, seq=None):
    data = bytes(i * 7 & 0xff for i in range(n))
    if seq is not None:
        data = (struct.pack("!I", seq) + data[4:])[:n]
    return data


def ip_packet(src, dst, ttl, proto, l4, sum_at):
    """IP header, and the checksum of l4 put in place; returns EtherType and octets."""
    family = socket.AF_INET6 if ":" in src else socket.AF_INET
    src, dst = socket.inet_pton(family, src), socket.inet_pton(family, dst)
    pseudo = src + dst + struct.pack("!II", len(l4), proto)
    csum = ip_sum(pseudo + l4)
    if proto == socket.IPPROTO_UDP:
        csum = csum or 0xffff
    l4 = l4[:sum_at] + struct.pack("!H", csum) + l4[sum_at + 2:]
    if family == socket.AF_INET6:
        return 0x86dd, struct.pack("!IHBB", 6 << 28, len(l4), proto,
                                   ttl) + src + dst + l4
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(l4), 0, 0x4000, ttl,
                       proto, 0, src, dst)
    return 0x0800, head[:10] + struct.pack("!H", ip_sum(head)) + head[12:] + l4


def tag(word, value):
    f = [int(x, 0) for x in value.split(".")] + [0]
    t, s, lm, r = f[0:4]
    if word == "c":
        return struct.pack("!HH", 0x9900, t << 13 | r << 12 | s << 7 | lm)
    return struct.pack("!HHI", 0xccdd, lm, t << 28 | s << 8 | r)


def mac(value):
    return bytes.fromhex(value if len(value) == 12 else "0200000000" + value)


def build(spec, seq=None, text=""):
    """The octets of a SPEC; "@" in a text is replaced by text."""
    words = [w.partition(":")[::2] for w in spec.split()]
    keys = {w for w, _ in words}
    dst, src = mac("02"), mac("01")
    ip, ttl = ("10.0.0.1", "10.0.0.2"), 64
    in_mpls = False
    out = b""

    if not keys & {"udp", "udptext", "tcp", "type", "llc", "hex"}:
        at = len(words) - 1 if words and words[-1][0] == "pad" else len(words)
        words.insert(at, ("udp", "32"))
    for word, value in words:
        eth, data = None, b""
        if word == "to":
            dst = mac(value)
        elif word == "from":
            src = mac(value)
        elif word in TPID:
            vid, _, prio = value.partition("/")
            out += struct.pack("!HH", TPID[word], int(prio or 0) << 13 | int(vid, 0))
        elif word == "cn":
            out += struct.pack("!HH", 0x22e9, int(value, 0))
        elif word in ("c", "e"):
            out += tag(word, value)
        elif word in ("tag", "hex"):
            out += bytes.fromhex(value)
        elif word == "mpls":
            label, _, mttl = value.partition("/")
            out += struct.pack("!HI", 0x8847,
                               int(label) << 12 | 1 << 8 | int(mttl or 64))
            in_mpls = True
        elif word == "ip":
            ends, _, hops = value.partition("/")
            ip, ttl = ends.split(">"), int(hops or 64)
        elif word in ("udp", "udptext"):
            data = (fill(int(value), seq) if word == "udp" else
                    value.replace("@", text).encode())
            eth, data = ip_packet(*ip, ttl, socket.IPPROTO_UDP, struct.pack(
                "!HHHH", 4660, 4661, 8 + len(data), 0) + data, 6)
        elif word == "tcp":
            data = fill(int(value), seq)
            eth, data = ip_packet(*ip, ttl, socket.IPPROTO_TCP, struct.pack(
                "!HHIIHHHH", 4660, 4661, 1, 1, 5 << 12 | 0x10, 65535, 0, 0) + data, 16)
        elif word == "type":
            out += bytes.fromhex(value)
        elif word == "fill":
            out += fill(int(value), seq)
        elif word == "text":
            out += value.replace("@", text).encode()
        elif word == "llc":
            out += struct.pack("!H", int(value)) + fill(int(value), seq)
        elif word == "pad":
            out += bytes(max(0, int(value) - 12 - len(out)))
        else:
            raise SystemExit("frames.py: what is '%s:%s'?" % (word, value))
        if eth:
            out += (b"" if in_mpls else struct.pack("!H", eth)) + data
    return dst + src + out


# --- sending and receiving ----------------------------------------------------------

@contextlib.contextmanager
def in_ns(name):
    if name == ".":
        yield
        return
    with open("/proc/self/ns/net") as home, open("/run/netns/" + name) as there:
        os.setns(there, os.CLONE_NEWNET)
        try:
            yield
        finally:
            os.setns(home, os.CLONE_NEWNET)


class Port:
    """A raw socket on a device."""

    def __init__(self, where, receive):
        ns, self.dev = where.rsplit("/", 1)
        with in_ns(ns):
            self.s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            if receive:
                self.s.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
                self.s.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 25)
                self.s.setsockopt(SOL_PACKET, PACKET_ADD_MEMBERSHIP, struct.pack(
                    "iHH8s", socket.if_nametoindex(self.dev), PACKET_MR_PROMISC,
                    0, b""))
            self.s.bind((self.dev, ETH_P_ALL if receive else 0))

    def send(self, frame):
        while True:
            try:
                self.s.send(frame)
                return
            except OSError as e:
                # a full queue is no loss: wait for room
                if e.errno != 105:
                    raise
                select.select([], [], [], 0.002)

    def recv(self, deadline):
        """The next frame that came in from outside; None when it is too late."""
        while True:
            left = max(0, deadline - time.monotonic())
            if not select.select([self.s], [], [], left)[0]:
                return None
            frame, ancillary, _, addr = self.s.recvmsg(1 << 17, 256)
            # nor what IPv6 says of itself when a device comes up
            if addr[2] == socket.PACKET_OUTGOING or frame[:2] == b"\x33\x33":
                continue
            for level, kind, data in ancillary:
                if (level, kind) != (SOL_PACKET, PACKET_AUXDATA):
                    continue
                status, _, _, _, _, tci, tpid = struct.unpack("IIIHHHH", data[:20])
                if status & VLAN_VALID:
                    if not status & VLAN_TPID_VALID:
                        tpid = 0x8100
                    frame = frame[:12] + struct.pack("!HH", tpid, tci) + frame[12:]
            return frame

    def overrun(self):
        got = self.s.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8)
        return struct.unpack("II", got)[1]


# --- cases --------------------------------------------------------------------------

Case = collections.namedtuple("Case", "name spec expected")


def read_cases(lines, ports):
    for line in lines:
        line = line.split("#")[0].strip()
        if not line:
            continue
        if line[0] == "!":
            yield line[1:]
            continue
        name, spec, *expected = [x.strip() for x in line.split("|")]
        if len(expected) != ports:
            raise SystemExit("frames.py: %s: %d answers for %d ports" %
                             (name, len(expected), ports))
        yield Case(name, spec, expected)


def answer(spec, sent, seq=None):
    if spec == "lost":
        return []
    return [sent if spec == "same" else build(spec, seq)]


def hexes(frames):
    return " ".join(f.hex() for f in frames) or "nothing"


def cmd_cases(args):
    tx = Port(args.source, False)
    rx = [Port(w, True) for w in args.to]
    good = bad = mark = 0
    for case in read_cases(sys.stdin, len(rx)):
        if isinstance(case, str):
            if os.system(case):
                raise SystemExit("frames.py: this failed: " + case)
            continue
        frame = build(case.spec)
        mark += 1
        text = "%s%08d" % (MARK, mark)
        tx.send(frame)
        tx.send(build(args.marker, text=text))
        for port, spec in zip(rx, case.expected):
            got = []
            deadline = time.monotonic() + args.timeout
            while (f := port.recv(deadline)) is not None:
                if text.encode() in f:
                    break
                if MARK.encode() not in f:
                    got.append(f)
            else:
                raise SystemExit("%s at %s: the marker did not arrive, but %s" %
                                 (case.name, port.dev, hexes(got)))
            want = answer(spec, frame)
            if got == want:
                good += 1
                continue
            bad += 1
            print("%s at %s:\n  sent %s\n  want %s\n  got  %s" %
                  (case.name, port.dev, frame.hex(), hexes(want), hexes(got)))
    print("%d answers as expected, %d not" % (good, bad))
    return bad != 0 or good == 0


def cmd_burst(args):
    tx = Port(args.source, False)
    rx = [Port(w, True) for w in args.to]
    cases = [c for c in read_cases(sys.stdin, len(rx)) if not isinstance(c, str)]
    want = [collections.deque() for _ in rx]
    wrong, total = 0, [0] * len(rx)

    def drain(i, deadline):
        nonlocal wrong
        while want[i]:
            f = rx[i].recv(deadline)
            if f is None:
                return
            total[i] += 1
            name, frame = want[i].popleft()
            if f != frame:
                wrong += 1
                if wrong < 5:
                    print("%s at %s:\n  want %s\n  got  %s" %
                          (name, rx[i].dev, frame.hex(), f.hex()))

    for n in range(args.count):
        case = cases[n % len(cases)]
        frame = build(case.spec, n)
        for i, spec in enumerate(case.expected):
            want[i].extend((case.name, f) for f in answer(spec, frame, n))
        tx.send(frame)
        if n % 32 == 31:
            for i in range(len(rx)):
                drain(i, 0)
    for i in range(len(rx)):
        drain(i, time.monotonic() + args.timeout)
    lost = sum(len(w) for w in want)
    print("sent %d, received %s, lost %d, wrong %d, overrun %d" % (
        args.count, "+".join(map(str, total)), lost, wrong,
        sum(p.overrun() for p in rx)))
    return bool(lost or wrong)


def cmd_send(args):
    tx = Port(args.port, False)
    for n in range(args.count):
        for spec in args.specs:
            tx.send(build(spec, n if args.count > 1 else None))


def cmd_recv(args):
    rx = Port(args.port, True)
    print("ready", flush=True)
    deadline = time.monotonic() + args.timeout
    for _ in range(args.count):
        frame = rx.recv(deadline)
        if frame is None:
            return 1
        print(frame.hex(), flush=True)
    return 0


def cmd_build(args):
    print(build(args.spec).hex())


def cmd_pcap(args):
    """Captured at 1.000002 s; the word cut:N leaves N octets of a frame."""
    out = struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1)
    for spec in args.specs:
        spec, _, cut = spec.partition("cut:")
        frame = build(spec)[:int(cut) if cut else None]
        out += struct.pack("<IIII", 1, 2, len(frame), len(frame)) + frame
    sys.stdout.buffer.write(out)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    sub = p.add_subparsers(dest="cmd", required=True)
    scale = int(os.environ.get("CSIG_TIME_SCALE", "1"))

    b = sub.add_parser("build")
    b.add_argument("spec")
    f = sub.add_parser("pcap")
    f.add_argument("specs", nargs="+")
    s = sub.add_parser("send")
    s.add_argument("port")
    s.add_argument("specs", nargs="+")
    s.add_argument("--count", type=int, default=1)
    r = sub.add_parser("recv")
    r.add_argument("port")
    r.add_argument("--count", type=int, default=1)
    for name in "cases", "burst":
        c = sub.add_parser(name)
        c.add_argument("--from", dest="source", required=True)
        c.add_argument("--to", action="append", required=True)
        c.add_argument("--marker", default=MARKER)
        if name == "burst":
            c.add_argument("--count", type=int, required=True)
    for c in sub.choices.values():
        c.add_argument("--timeout", type=float, default=10 * scale)
    args = p.parse_args()
    # One CPU: frames stay in order on their way through per-CPU queues.
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    return globals()["cmd_" + args.cmd](args)


if __name__ == "__main__":
    sys.exit(main())
