#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""CNMs that no congestion point sent.

  qcn_cnm.py series --rp NS/DEV --from NS/DEV --mac MAC [--seconds S] [--every S]

One CNM with the strongest feedback; then what the host's limiter does until it is gone:
a line of CSV for each look.  flood() is for qcn_load.py.
"""

import argparse
import random
import socket
import struct
import sys
import time

from frames import in_ns
from qcn_tc import Tc

ETH_P_CNM, ETH_P_CNTAG = 0x22e7, 0x22e9
FB_MAX = 63
FLOOD = 512             # different ones


def cnm(dst, qntzfb, priority=0, rpid=0, msdu=b"", n=None):
    pdu = struct.pack("!H8shhH6sH", qntzfb, bytes(8), 0, 0, priority << 13, bytes(6),
                      len(msdu) if n is None else n) + msdu
    frame = dst + bytes.fromhex("0200000000ee") + struct.pack(
        "!HHH", ETH_P_CNTAG, rpid, ETH_P_CNM) + pdu
    return frame.ljust(60, b"\0")


def mac_octets(text):
    return bytes.fromhex(text.replace(":", ""))


def packet_socket(where):
    ns, _, dev = where.rpartition("/")
    with in_ns(ns):
        s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        s.bind((dev, 0))
    return s


def any_cnm(dst, rnd):
    frame = cnm(dst, rnd.randint(0, FB_MAX), rnd.choice([0, 0, rnd.randint(0, 7)]),
                rnd.choice([0, 1, rnd.randint(0, 0xffff)]), rnd.randbytes(64),
                rnd.choice([None, None, None, rnd.randint(0, 0xffff)]))
    return frame[:rnd.choice([len(frame)] * 7 + [rnd.randint(20, 60)])]


def flood(where, mac, until):
    """All kinds of them, some malformed, as fast as it goes; returns how many."""
    s = packet_socket(where)
    rnd = random.Random(1)
    frames = [any_cnm(mac_octets(mac), rnd) for _ in range(FLOOD)]
    sent = 0
    while time.monotonic() < until:
        for frame in frames[:64]:
            try:
                s.send(frame)
                sent += 1
            except OSError:     # the queue is full
                pass
        frames = frames[64:] + frames[:64]
    return sent


def series(args):
    ns, _, dev = args.rp.rpartition("/")
    tc = Tc(ns)
    line = tc.leaf(dev)["line_bps"]
    packet_socket(getattr(args, "from")).send(cnm(mac_octets(args.mac), FB_MAX))
    start = time.monotonic()
    print("time_s,cr_bps,tr_bps,byte_stage,time_stage,line_bps")
    seen = False
    while (now := time.monotonic()) < start + args.seconds:
        limiters = tc.dump(dev, True)
        for c in limiters:
            seen = True
            print("%.4f,%d,%d,%d,%d,%d" % (now - start, c["cr_bps"], c["tr_bps"],
                                           c["byte_stage"], c["time_stage"], line))
        if seen and not limiters:
            q = tc.leaf(dev)
            print("%.4f,%d,%d,0,0,%d" % (now - start, line, line, line))
            return 0 if q["active"] == 0 and q["releases"] else 1
        time.sleep(args.every)
    return 1


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("what", choices=["series"])
    p.add_argument("--rp", required=True)
    p.add_argument("--from", required=True)
    p.add_argument("--mac", required=True)
    p.add_argument("--seconds", type=float, default=15)
    p.add_argument("--every", type=float, default=0.03)
    return series(p.parse_args())


if __name__ == "__main__":
    sys.exit(main())
