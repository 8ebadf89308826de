#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What TCP over IPv4 and IPv6 looks like on a device: tags, options, SACK, time.

  wire.py NS/DEV [--src ADDRESS] [--kind N] [--ready FILE] [--seconds S]

Looks at both directions until SIGTERM or for --seconds, and prints one JSON object with
"out", segments from --src (or those that the device sends), and "in", all others:

  segments, data      segments, and those of them with payload (super-packets are one)
  wire_octets         of the frames with payload, from the addresses on, without FCS
  payload_octets      of TCP
  tagged, tags_max    frames with a tag; most tags in a frame; the same of frames
  data_tagged         with payload
  overhead_max        octets of tag and option, padding included, at most in a data frame
  overhead_octets     of all frames together, those without payload, too
  options, bare       segments with a CSIG option; those without payload
  no_signal, flags    options that say "no signal", options of the negotiation
  syn_options         SYNs with the option
  sacks               by number of SACK blocks: segments
  sacks_with_option   the same, segments with a reflection, too
  again               data segments that were seen before
  first_s             time of the first segment
  first_data_s        of the first data segment
  reflections         by T: count, and times in seconds (--times)
"""

import argparse
import json
import signal
import socket
import struct
import sys
import time

from frames import SOL_PACKET, PACKET_AUXDATA, VLAN_VALID, SO_RCVBUFFORCE, ETH_P_ALL, in_ns

SO_TIMESTAMPNS = 35
PACKET_STATISTICS = 6
TAGS = {0x9900: 4, 0xccdd: 8}
VLANS = (0x8100, 0x88a8, 0x9100)
EXID = 0xc516
COUNTERS = ("segments", "data", "wire_octets", "payload_octets", "tagged", "tags_max",
            "data_tagged", "overhead_max", "overhead_octets", "options", "bare",
            "no_signal", "flags", "syn_options", "again")


class Direction:
    def __init__(self):
        self.n = dict.fromkeys(COUNTERS, 0)
        self.sacks, self.sacks_with_option = {}, {}
        self.reflections, self.next = {}, {}
        self.first = self.first_data = None

    def result(self, times):
        r = dict(self.n)
        r["sacks"] = self.sacks
        r["sacks_with_option"] = self.sacks_with_option
        r["first_s"] = self.first
        r["first_data_s"] = self.first_data
        r["reflections"] = {
            t: {"count": len(at), **({"times": at} if times else {"first_s": at[0]})}
            for t, at in sorted(self.reflections.items())}
        return r


def options(tcp, kind):
    """Yields (kind, offset, data) of TCP options; CSIG's without its head."""
    end, i = (tcp[12] >> 4) * 4, 20
    while i < min(end, len(tcp)):
        k = tcp[i]
        if k == 0:
            return
        if k == 1:
            i += 1
            continue
        if i + 1 >= len(tcp) or tcp[i + 1] < 2:
            return
        yield k, i, tcp[i + 2:i + tcp[i + 1]]
        i += tcp[i + 1]


def csig_data(k, data, kind):
    if k != kind:
        return None
    if kind not in (253, 254):
        return data
    return data[2:] if data[:2] == struct.pack("!H", EXID) else None


class Wire:
    def __init__(self, args):
        self.kind = args.kind
        self.src = args.src and socket.inet_pton(
            socket.AF_INET6 if ":" in args.src else socket.AF_INET, args.src)
        self.dirs = {"out": Direction(), "in": Direction()}

    def frame(self, f, vlans, outgoing, now):
        off, tag_octets, tags = 12, 0, 0
        t = struct.unpack_from("!H", f, off)[0]
        while t in VLANS or t in TAGS:
            if t in TAGS:
                tags += 1
                tag_octets += TAGS[t]
            off += TAGS.get(t, 4)
            t = struct.unpack_from("!H", f, off)[0]
        off += 2
        if t == 0x0800 and f[off + 9] == 6:
            head, total = (f[off] & 15) * 4, struct.unpack_from("!H", f, off + 2)[0]
            src = f[off + 12:off + 16]
        elif t == 0x86dd and f[off + 6] == 6:
            head, total = 40, 40 + struct.unpack_from("!H", f, off + 4)[0]
            src = f[off + 8:off + 24]
        else:
            return
        tcp = f[off + head:]
        if len(tcp) < 20:
            return
        out = src == self.src if self.src else outgoing
        d = self.dirs["out" if out else "in"]
        self.segment(d, tcp, total - head, tags, tag_octets, now)
        if total - head > (tcp[12] >> 4) * 4:
            d.n["wire_octets"] += off + total + 4 * vlans

    def segment(self, d, tcp, length, tags, tag_octets, now):
        n = d.n
        head, sacks, mine, reflects = (tcp[12] >> 4) * 4, 0, 0, False
        payload = length - head
        n["segments"] += 1
        if d.first is None:
            d.first = now
        n["tagged"] += tags > 0
        n["tags_max"] = max(n["tags_max"], tags)
        for k, at, data in options(tcp, self.kind):
            if k == 5:
                sacks = len(data) // 8
            data = csig_data(k, data, self.kind)
            if data is None:
                continue
            mine = head - at
            n["options"] += 1
            n["bare"] += payload == 0
            n["flags"] += len(data) == 1
            n["syn_options"] += tcp[13] & 2 > 0
            n["no_signal"] += len(data) == 0
            if len(data) in (2, 6):
                reflects = True
                self.reflection(d, data, now)
        if sacks:
            d.sacks[sacks] = d.sacks.get(sacks, 0) + 1
            if reflects:
                d.sacks_with_option[sacks] = d.sacks_with_option.get(sacks, 0) + 1
        n["overhead_octets"] += tag_octets + mine
        if payload <= 0:
            return
        n["data"] += 1
        n["data_tagged"] += tags > 0
        n["payload_octets"] += payload
        n["overhead_max"] = max(n["overhead_max"], tag_octets + mine)
        if d.first_data is None:
            d.first_data = now
        seq = struct.unpack_from("!I", tcp, 4)[0]
        ports = tcp[:4]
        ahead = seq + payload - d.next.get(ports, seq) & 0xffffffff
        if 0 < ahead < 1 << 31:
            d.next[ports] = seq + payload & 0xffffffff
        else:
            n["again"] += 1

    def reflection(self, d, data, now):
        t = data[0] >> 5 if len(data) == 2 else data[2] >> 4
        d.reflections.setdefault(t, []).append(now)


def listen(args):
    ns, dev = args.where.rsplit("/", 1)
    with in_ns(ns):
        s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    s.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    s.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 25)
    s.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    with in_ns(ns):
        s.bind((dev, ETH_P_ALL))
    return s


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("where")
    p.add_argument("--src")
    p.add_argument("--kind", type=int, default=254)
    p.add_argument("--ready")
    p.add_argument("--seconds", type=float, default=60)
    p.add_argument("--times", action="store_true")
    args = p.parse_args()
    s = listen(args)
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(time.monotonic() + 1))
    if args.ready:
        with open(args.ready, "w"):
            pass
    wire = Wire(args)
    end = time.monotonic() + args.seconds
    s.settimeout(0.1)
    while time.monotonic() < min([end, *stop]):
        try:
            frame, ancillary, _, addr = s.recvmsg(256, 256)
        except TimeoutError:
            # what was there at the signal is looked at first
            if stop:
                break
            continue
        vlans, now = 0, 0
        for level, kind, data in ancillary:
            if (level, kind) == (SOL_PACKET, PACKET_AUXDATA):
                vlans = int(struct.unpack("I", data[:4])[0] & VLAN_VALID != 0)
            elif (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS):
                sec, nsec = struct.unpack("qq", data)
                now = sec + nsec / 1e9
        wire.frame(frame, vlans, addr[2] == socket.PACKET_OUTGOING, now)
    result = {k: d.result(args.times) for k, d in wire.dirs.items()}
    result["lost"] = struct.unpack("II", s.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))[1]
    print(json.dumps(result))


if __name__ == "__main__":
    sys.exit(main())
