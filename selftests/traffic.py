#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Traffic of a known rate on the wire, and TCP transfers that check what arrives.

  traffic.py pace FLOW... [--seconds S] [--ready FILE]
  traffic.py bulk FLOW

A FLOW is a list of KEY=VALUE with commas between:
  kind=udp|tcp        default udp; bulk is always tcp
  from=NS to=NS       names of network namespaces, "." is the own one
  addr=A [src=A]      addresses, IPv4 or IPv6
  port=N              default 5001; ports=N takes N source ports in turn
  rate=BPS            on the wire: all headers, minimum frames and 24 octets a frame;
                      k, M and G are powers of 1000; 0 sends as fast as it goes
  size=N              octets of payload in a packet, default 1000; bulk: in a write
  gso=N               N packets of this size in each send (UDP_SEGMENT)
  extra=N             octets of tags that a frame has on the wire
  count=N             ends the flow after N sends; bytes=N for bulk
  tos=N               type of service or traffic class

pace keeps to a schedule of absolute times, so that the mean rate is exact even where
single packets are late, until all flows ended, --seconds are over or SIGTERM comes.
A UDP flow's far end is a socket that nobody reads.  A TCP flow sends every write as
a packet of its own.  Both print what was sent as JSON.
"""

import argparse
import hashlib
import heapq
import json
import os
import select
import signal
import socket
import struct
import sys
import threading
import time

from frames import in_ns

SOL_UDP = 17
UDP_SEGMENT = 103
TCP_INFO_RETRANS_AT = 100   # tcpi_total_retrans
OVERHEAD = 24
FRAME_MIN = 60


def number(text):
    unit = {"k": 1e3, "M": 1e6, "G": 1e9}.get(text[-1:])
    return float(text[:-1]) * unit if unit else float(text)


def wire_bits(frame):
    return (max(frame, FRAME_MIN) + OVERHEAD) * 8


class Flow:
    def __init__(self, text):
        self.__dict__.update({
            "kind": "udp", "from": ".", "to": ".", "src": "", "port": 5001,
            "ports": 1, "rate": 0.0, "size": 1000, "gso": 1, "extra": 0,
            "count": 0, "bytes": 10000000, "tos": 0})
        for word in text.split(","):
            key, _, value = word.partition("=")
            if key == "rate":
                self.rate = number(value)
            elif key in ("kind", "from", "to", "addr", "src"):
                self.__dict__[key] = value
            elif key in self.__dict__:
                self.__dict__[key] = int(value)
            else:
                sys.exit("traffic.py: what is '%s'?" % word)
        self.family = socket.AF_INET6 if ":" in self.addr else socket.AF_INET
        ip = 40 if self.family == socket.AF_INET6 else 20
        l4 = 8 if self.kind == "udp" else 32    # TCP with timestamps
        self.bits = self.gso * wire_bits(14 + ip + l4 + self.size + self.extra)
        self.gap = self.bits / self.rate if self.rate else 0
        self.sends = 0
        self.received = 0
        self.errors = 0
        self.late = 0.0
        self.block = os.urandom(self.size * self.gso)

    def options(self, s):
        if self.tos and self.family == socket.AF_INET6:
            s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS, self.tos)
        elif self.tos:
            s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, self.tos)
        return s

    def open(self):
        self.open_tcp() if self.kind == "tcp" else self.open_udp()
        self.n = len(self.socks)

    def open_udp(self):
        with in_ns(self.to):
            self.sink = socket.socket(self.family, socket.SOCK_DGRAM)
            self.sink.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self.sink.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
            self.sink.bind((self.addr, self.port))
        self.socks = []
        with in_ns(getattr(self, "from")):
            for i in range(self.ports):
                s = self.options(socket.socket(self.family, socket.SOCK_DGRAM))
                s.bind((self.src, 20000 + i if self.ports > 1 else 0))
                if self.gso > 1:
                    s.setsockopt(SOL_UDP, UDP_SEGMENT, self.size)
                s.connect((self.addr, self.port))
                self.socks.append(s)

    def open_tcp(self):
        with in_ns(self.to):
            listener = socket.socket(self.family, socket.SOCK_STREAM)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((self.addr, self.port))
            listener.listen(1)
        with in_ns(getattr(self, "from")):
            s = self.options(socket.socket(self.family, socket.SOCK_STREAM))
            s.bind((self.src, 0))
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            s.settimeout(20)
            s.connect((self.addr, self.port))
        s.settimeout(5)
        self.socks = [s]
        self.sink = listener.accept()[0]
        listener.close()
        self.sent_sum = hashlib.sha256()
        self.got_sum = hashlib.sha256()

    def send(self):
        try:
            self.socks[self.sends % self.n].sendall(self.block)
            if self.kind == "tcp":
                self.sent_sum.update(self.block)
        except TimeoutError:
            sys.exit("traffic.py: the transfer to %s is stuck" % self.addr)
        except OSError:     # the queue is full: not sent
            self.errors += 1
            return
        self.sends += 1

    def receive(self):
        data = self.sink.recv(1 << 20)
        self.received += len(data)
        self.got_sum.update(data)
        return data

    def retransmissions(self):
        info = self.socks[0].getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
        return struct.unpack_from("I", info, TCP_INFO_RETRANS_AT)[0]

    def finish(self):
        if self.kind != "tcp":
            return
        self.retrans = self.retransmissions()
        self.socks[0].shutdown(socket.SHUT_WR)
        self.sink.settimeout(20)
        while self.receive():
            pass

    def report(self):
        r = {"kind": self.kind, "addr": self.addr, "sends": self.sends,
             "packets": self.sends * self.gso, "wire_bits": self.sends * self.bits,
             "payload_bytes": self.sends * len(self.block), "errors": self.errors,
             "late_ms": round(self.late * 1e3, 1)}
        if self.kind == "tcp":
            r["received_bytes"] = self.received
            r["intact"] = self.sent_sum.digest() == self.got_sum.digest()
            r["retransmissions"] = self.retrans
        return r


def pace(flows, seconds, ready):
    for f in flows:
        f.open()
    tcp = {f.sink: f for f in flows if f.kind == "tcp"}
    # SIGTERM ends the waiting, and nothing that is half done: what was sent is summed.
    stop, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGTERM, lambda *_: None)
    signal.set_wakeup_fd(wake)
    start = time.monotonic()
    # flows start at different moments, not all in one burst
    todo = [(start + f.gap * i / len(flows), i) for i, f in enumerate(flows)]
    heapq.heapify(todo)
    end = start + seconds if seconds else float("inf")
    if ready:
        with open(ready, "w"):
            pass
    now = looked = start
    while todo and now < end:
        due, i = todo[0]
        f = flows[i]
        now = time.monotonic()
        # a flow that is late does not keep the far ends of others from reading
        if due > now or now - looked > 0.05:
            wait = max(0, min(due, end) - now)
            looked = now
            got = select.select([stop, *tcp], [], [], wait)[0]
            if stop in got:
                break
            for s in got:
                tcp[s].receive()
            continue
        f.late = max(f.late, now - due)
        f.send()
        if f.count and f.sends >= f.count:
            heapq.heappop(todo)
        else:
            heapq.heapreplace(todo, (due + f.gap, i))
    signal.set_wakeup_fd(-1)
    took = time.monotonic() - start
    for f in flows:
        f.finish()
    return {"seconds": took, "flows": [f.report() for f in flows]}


def bulk(f):
    f.kind = "tcp"
    f.open()
    f.block = os.urandom(f.size)
    start = time.monotonic()

    def reader():
        while f.receive():
            pass

    t = threading.Thread(target=reader, daemon=True)
    t.start()
    while f.sends * f.size < f.bytes:
        f.send()
    f.socks[0].shutdown(socket.SHUT_WR)
    t.join(60)
    took = time.monotonic() - start
    f.retrans = f.retransmissions()
    return {"seconds": took, **f.report()}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("what", choices=["pace", "bulk"])
    p.add_argument("flow", nargs="+")
    p.add_argument("--seconds", type=float, default=0)
    p.add_argument("--ready", help="file to make when the first packet is due")
    args = p.parse_args()
    flows = [Flow(text) for text in args.flow]
    if args.what == "bulk":
        result = bulk(flows[0])
    else:
        result = pace(flows, args.seconds, args.ready)
    print(json.dumps(result))
    return 0 if all(f.kind == "udp" or f.sent_sum.digest() == f.got_sum.digest()
                    for f in flows) else 1


if __name__ == "__main__":
    sys.exit(main())
