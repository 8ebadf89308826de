#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What a reaction point does with the device below it.

  qcn_rp_link.py speed NS       a TAP device is made there, its speed changes
  qcn_rp_link.py sums NS/DEV NS/ADAPTER
                                what DEV sends has its checksum when ADAPTER gets it,
                                if it has a CN-TAG, and is the adapter's to sum if not

NS has to have a route to 10.0.0.2 by DEV, with a neighbour.
"""

import ctypes
import fcntl
import json
import os
import select
import socket
import struct
import subprocess
import sys
import time

from frames import ETH_P_ALL, SOL_PACKET, PACKET_AUXDATA, build, in_ns, ip_sum
from qcn_tc import Tc

TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454ca, 2, 0x1000
SIOCETHTOOL, ETHTOOL_SSET = 0x8946, 2
CSUM_NOT_READY = 1 << 3
SOL_UDP, UDP_SEGMENT = 17, 103
SCALE = int(os.environ.get("CSIG_TIME_SCALE", "1"))
UNKNOWN = 0xffffffff
bad = 0


def check(good, what):
    global bad
    if not good:
        print(what)
        bad += 1


def wait(what, true, seconds=10):
    end = time.monotonic() + seconds * SCALE
    while not true():
        if time.monotonic() > end:
            check(False, what)
            return
        time.sleep(0.02)


# --- the speed of a TAP device -------------------------------------------------------

class Tap:
    """A device that says what speed it is told, with a reaction point as root"""

    def __init__(self, ns):
        self.ns, self.said = ns, 0
        with in_ns(ns):
            self.fd = os.open("/dev/net/tun", os.O_RDWR)
            fcntl.ioctl(self.fd, TUNSETIFF, struct.pack("16sH22x", b"tap0",
                                                        IFF_TAP | IFF_NO_PI))
            self.s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.run("ip", "link set dev tap0 address 02:00:00:00:00:01 up")
        self.tc = Tc(ns)

    def run(self, tool, line):
        """Status of a command in the namespace"""
        return subprocess.run([tool, "-n", self.ns] + line.split(), stderr=subprocess.PIPE)

    def speed(self, mbit):
        """Another speed, and something that makes the kernel tell of it"""
        data = bytearray(struct.pack("=IIIHBBBBBBIIHBBIII", ETHTOOL_SSET, 0, 0,
                                     mbit & 0xffff, 1, 0, 0, 0, 0, 0, 0, 0, mbit >> 16,
                                     0, 0, 0, 0, 0))
        ioctl_pointer(self.s.fileno(), SIOCETHTOOL, b"tap0", data)
        self.said += 1
        self.run("ip", "link set dev tap0 alias speed%d" % self.said)

    def rp(self, what, options):
        return self.run("tc", "qdisc %s dev tap0 root handle 1: qcn_rp %s" %
                        (what, options))

    def options(self):
        out = subprocess.run(["tc", "-n", self.ns, "-j", "qdisc", "show", "dev", "tap0"],
                             stdout=subprocess.PIPE, check=True).stdout
        return json.loads(out)[0]["options"]

    def line(self):
        return self.tc.root("tap0")["line_bps"]

    def limiter(self):
        return (self.tc.dump("tap0", True) + [None])[0]


def ioctl_pointer(fd, request, name, data):
    """An ifreq with a pointer to data"""
    room = (ctypes.c_char * len(data)).from_buffer(data)
    req = struct.pack("16sQ16x", name, ctypes.addressof(room))
    fcntl.ioctl(fd, request, req)


def cmd_speed(ns):
    tap = Tap(ns)
    tap.speed(1000)
    check(tap.rp("add", "timer 10s bytes 1000000000").returncode == 0, "no qcn_rp")
    check(tap.line() == 1000000000, "line at the beginning: %d" % tap.line())
    # feedback 63 for priority 0
    os.write(tap.fd, build("to:01 from:02 cn:0 type:22e7 hex:003f0200000000aa0100" +
                           "00000000" + "0000" + "020000000002" + "0000 pad:60"))
    wait("no limiter", tap.limiter)
    check(tap.limiter()["cr_bps"] == 1000000000 * 65 // 128, str(tap.limiter()))

    tap.speed(100)
    wait("a slower link", lambda: tap.line() == 100000000)
    got = tap.limiter()
    check(got and (got["cr_bps"], got["tr_bps"]) == (100000000, 100000000),
          "limiter at a slower link: %s" % got)
    # a minimum rate that is set can't be above the line either
    check(tap.rp("change", "min-rate 60mbit").returncode == 0, "min-rate 60mbit")
    tap.speed(10)
    wait("a much slower link", lambda: tap.line() == 10000000)
    check(tap.options()["min_rate_bps"] == 10000000, str(tap.options()))

    # nothing is known for a while: the last speed holds, and other options can be set
    tap.speed(UNKNOWN)
    got = tap.rp("change", "limit 500")
    check(got.returncode == 0, "limit without a known speed: %s" % got.stderr)
    check((tap.line(), tap.options()["limit"]) == (10000000, 500), str(tap.options()))
    check(tap.options()["rate_bps"] is None, str(tap.options()))
    got = tap.rp("change", "rate auto")
    check(got.returncode == 2 and b"give a rate" in got.stderr, "rate auto: %s" % got)

    tap.speed(10000)
    wait("a faster link", lambda: tap.line() == 10000000000)
    check(tap.options()["min_rate_bps"] == 60000000, str(tap.options()))
    # a rate that is given is the user's
    check(tap.rp("change", "rate 200mbit").returncode == 0, "rate 200mbit")
    tap.speed(100)
    tap.rp("change", "limit 600")
    check((tap.line(), tap.options()["limit"]) == (200000000, 600), str(tap.options()))
    got = tap.rp("change", "min-rate 300mbit")
    check(got.returncode == 2 and b"min-rate" in got.stderr, "min-rate: %s" % got)


# --- checksums in front of an adapter ------------------------------------------------

def udp_sum_ok(frame, at):
    """Is the checksum right, IPv4 without options at this offset?"""
    total, = struct.unpack_from("!H", frame, at + 2)
    udp = frame[at + 20:at + total]
    return ip_sum(frame[at + 12:at + 20] + struct.pack("!HH", 17, len(udp)) + udp) == 0


def sent(tap, n, kind):
    """N frames that leave with this EtherType: how many of them nobody summed yet, how
    many have a wrong checksum"""
    seen = late = wrong = 0
    end = time.monotonic() + 10 * SCALE
    while seen < n and select.select([tap], [], [], max(0, end - time.monotonic()))[0]:
        frame, ancillary, _, addr = tap.recvmsg(1 << 17, 256)
        if addr[2] != socket.PACKET_OUTGOING:
            continue
        at = 12
        while frame[at:at + 2] in (b"\x81\0", b"\x88\xa8"):
            at += 4
        if frame[at:at + 2] != kind:
            continue
        at += 2 if kind == b"\x08\0" else 6
        if struct.unpack_from("!H", frame, at + 22)[0] != 4661:
            continue
        seen += 1
        status = [struct.unpack("I", d[:4])[0] for level, k, d in ancillary
                  if (level, k) == (SOL_PACKET, PACKET_AUXDATA)]
        if status and status[0] & CSUM_NOT_READY:
            late += 1
        else:
            wrong += not udp_sum_ok(frame, at)
    check(seen == n, "%d frames of %s, not %d" % (seen, kind.hex(), n))
    return late, wrong


def cmd_sums(where, adapter):
    ns, dev = where.split("/")
    with in_ns(ns):
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    tap.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    tap.bind((adapter.split("/")[1], ETH_P_ALL))
    s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, dev.encode() + b"\0")
    s.connect(("10.0.0.2", 4661))

    def send():
        s.setsockopt(SOL_UDP, UDP_SEGMENT, 0)
        for size in 1, 2, 700, 1400:
            s.send(bytes(size))
        s.setsockopt(SOL_UDP, UDP_SEGMENT, 500)
        s.send(bytes(range(250)) * 8)   # four of them

    def domain(*words):
        subprocess.run(["csigctl", "-n", ns, "qcn", "domain", *words], check=True)

    send()
    late, _ = sent(tap, 4, b"\x08\0")
    check(late, "%s: nothing is left to the adapter to sum" % dev)
    domain("set", "dev", dev, "cnpv", "0", "mode", "interior-ready")
    send()
    late, wrong = sent(tap, 8, b"\x22\xe9")
    check((late, wrong) == (0, 0), "%s: %d frames with a CN-TAG are left to the adapter, "
          "%d have a wrong checksum" % (dev, late, wrong))
    domain("del", "dev", dev)


def main():
    name, *args = sys.argv[1:] or [""]
    if "cmd_" + name not in globals() or not args:
        sys.exit(__doc__)
    globals()["cmd_" + name](*args)
    sys.exit(bad != 0)


if __name__ == "__main__":
    main()
