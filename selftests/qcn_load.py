#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Sources that always have something to send, and what a queue on their way makes of it.

  qcn_load.py [OPTION...] SOURCE...

A SOURCE is a list of KEY=VALUE with commas between:
  kind=udp|tcp                default udp
  from=NS to=NS addr=A src=A  namespaces and addresses
  prio=N                      SO_PRIORITY, default 0
  size=N                      octets of payload of a UDP packet, default 1472

  --warmup S --seconds S      before measuring, and measuring
  --cp NS/DEV                 port whose queue is looked at: tbf and a leaf
  --rp NS/DEV                 port of the first, second, ... source
  --at S:BPS                  the rate of the tbf changes, S seconds after the warm-up
  --flood S:S:NS/DEV:MAC      from one time to another, random CNMs from there to a host
  --every S                   look that often, default 0.1
  --csv FILE                  a line for each look
  --ready FILE                made when measuring starts

Each source is a thread that blocks in the kernel: 16 packets a call, no more than its
send buffer on their way.  Bridges between veths leave frames charged to their socket, so
the buffer is larger than a full queue; TCP's limit for this is not, see qcn_wires in
qcn_net.sh.  UDP arrives at a socket without a buffer; what it drops is what arrived.  The
report is one line of JSON.
"""

import argparse
import ctypes
import json
import os
import socket
import struct
import sys
import threading
import time

from frames import in_ns
from qcn_cnm import flood
from qcn_tc import Tc

SO_MEMINFO, MEMINFO_DROPS = 55, 8
BATCH = 16
SO_SNDBUFFORCE = 32
SNDBUF = 230000         # of which the kernel takes twice: about 200 full frames
FIRST_PORT = 6001
TBF_BURST, TBF_LIMIT = 32000, 156000

libc = ctypes.CDLL(None, use_errno=True)


class IoVec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]


class MMsgHdr(ctypes.Structure):
    _fields_ = [("name", ctypes.c_void_p), ("namelen", ctypes.c_uint32),
                ("iov", ctypes.POINTER(IoVec)), ("iovlen", ctypes.c_size_t),
                ("control", ctypes.c_void_p), ("controllen", ctypes.c_size_t),
                ("flags", ctypes.c_size_t), ("sent", ctypes.c_size_t)]


class Source:
    def __init__(self, text, n):
        self.kind, self.prio, self.size, self.port = "udp", 0, 1472, FIRST_PORT + n
        self.src = ""
        for word in text.split(","):
            key, _, value = word.partition("=")
            if key not in ("kind", "from", "to", "addr", "src", "prio", "size"):
                sys.exit("qcn_load.py: what is '%s'?" % word)
            setattr(self, key, int(value) if key in ("prio", "size") else value)
        self.got = 0
        kind = socket.SOCK_DGRAM if self.kind == "udp" else socket.SOCK_STREAM
        with in_ns(self.to):
            self.sink = socket.socket(socket.AF_INET, kind)
        with in_ns(getattr(self, "from")):
            self.sock = socket.socket(socket.AF_INET, kind)
        self.sink.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if self.kind == "udp":
            self.sink.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
            self.sock.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, SNDBUF)
        self.sink.bind((self.addr, self.port))
        self.sock.bind((self.src, 0))
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, self.prio)

    def start(self):
        if self.kind == "udp":
            self.sock.connect((self.addr, self.port))
            threads = [self.send_udp]
        else:
            self.sink.listen(1)
            self.sock.settimeout(60)
            self.sock.connect((self.addr, self.port))
            self.sock.settimeout(None)
            self.conn = self.sink.accept()[0]
            threads = [self.send_tcp, self.read_tcp]
        for run in threads:
            threading.Thread(target=self.thread, args=(run,), daemon=True).start()

    def thread(self, run):
        # who looks at the clock goes first
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)
        run()

    def send_udp(self):
        data = ctypes.create_string_buffer(self.size)
        iov = IoVec(ctypes.addressof(data), self.size)
        msgs = (MMsgHdr * BATCH)()
        for m in msgs:
            m.iov, m.iovlen = ctypes.pointer(iov), 1
        fd = self.sock.fileno()
        while True:
            # a route or a link that goes is part of some tests
            if libc.sendmmsg(fd, msgs, BATCH, 0) < 0:
                time.sleep(0.01)

    def send_tcp(self):
        data = bytes(65536)
        try:
            while True:
                self.sock.sendall(data)
        except OSError:
            return

    def read_tcp(self):
        data = bytearray(1 << 18)
        try:
            while n := self.conn.recv_into(data, 0, socket.MSG_TRUNC):
                self.got += n
        except OSError:
            return

    def received(self):
        """Octets of payload."""
        if self.kind == "tcp":
            return self.got
        info = self.sink.getsockopt(socket.SOL_SOCKET, SO_MEMINFO, 36)
        return struct.unpack_from("I", info, 4 * MEMINFO_DROPS)[0] * self.size


class Port:
    def __init__(self, where, spaces):
        ns, _, self.dev = where.rpartition("/")
        self.tc = spaces.setdefault(ns, None) or Tc(ns)
        spaces[ns] = self.tc

    def queue(self):
        """(root, leaf)"""
        root = leaf = None
        for q in self.tc.dump(self.dev):
            if q["parent"] == "ffff:ffff":
                root = q
            elif not q["parent"].startswith("ffff"):
                leaf = q
        return root, leaf or root

    def limiters(self):
        return self.tc.dump(self.dev, True)


def difference(after, before):
    """Of counters; what is no counter is as it was after."""
    out = {}
    for key, value in after.items():
        if key in ("qlen", "backlog", "queue_max_bytes", "qold_bytes", "last_qntzfb",
                   "cnpvs", "line_bps", "active", "rps", "handle", "parent", "kind"):
            out[key] = value
        elif isinstance(value, list):
            out[key] = [a - b for a, b in zip(value, before[key])]
        else:
            out[key] = value - before[key]
    return out


class Run:
    def __init__(self, args):
        spaces = {}
        self.args = args
        self.sources = [Source(text, n) for n, text in enumerate(args.source)]
        self.cp = Port(args.cp, spaces) if args.cp else None
        self.rps = [Port(where, spaces) for where in args.rp]
        self.events = sorted((float(t), int(float(bps))) for t, _, bps in
                             (e.partition(":") for e in args.at))
        self.happened = []
        self.flooded = 0
        self.backlogs = []
        self.csv = open(args.csv, "w") if args.csv else None

    def snapshot(self):
        now = time.monotonic()
        return {"time": now, "received": [s.received() for s in self.sources],
                "cp": self.cp.queue() if self.cp else None,
                "rp": [p.queue()[1] for p in self.rps]}

    def header(self):
        columns = ["time_s"]
        if self.cp:
            columns += ["backlog_bytes", "sent_bytes", "sent_packets", "drops", "cnms"]
        columns += ["received%d_bytes" % n for n in range(len(self.sources))]
        columns += ["cr%d_bps" % n for n in range(len(self.rps))]
        print(",".join(columns), file=self.csv)

    def start_flood(self, start):
        begin, end, where, mac = self.args.flood.split(":", 3)

        def run():
            time.sleep(float(begin))
            self.flooded = flood(where, mac, start + float(end))

        threading.Thread(target=run, daemon=True).start()

    def look(self, start):
        row = ["%.4f" % (time.monotonic() - start)]
        if self.cp:
            root, leaf = self.cp.queue()
            self.backlogs.append(leaf["backlog"])
            row += [leaf["backlog"], root["bytes"], root["packets"],
                    leaf["drops"], sum(leaf.get("cnm", []))]
        if not self.csv:
            return
        row += [s.received() for s in self.sources]
        for p in self.rps:
            limiters = p.limiters()
            row.append(min((c["cr_bps"] for c in limiters), default=""))
        print(",".join(map(str, row)), file=self.csv)

    def wait(self, until, start):
        """Look, and let happen what is due, until then."""
        tick = time.monotonic()
        while (now := time.monotonic()) < until:
            if self.events and start and now - start >= self.events[0][0]:
                bps = self.events.pop(0)[1]
                self.cp.tc.tbf_rate(self.cp.dev, bps, TBF_BURST, TBF_LIMIT)
                self.happened.append({"time": time.monotonic() - start, "bps": bps})
            if start:
                self.look(start)
            tick = max(tick + self.args.every, time.monotonic())
            due = [until, tick]
            if self.events and start:
                due.append(start + self.events[0][0])
            time.sleep(max(0, min(due) - time.monotonic()))

    def run(self):
        for s in self.sources:
            s.start()
        if self.csv:
            self.header()
        self.wait(time.monotonic() + self.args.warmup, 0)
        before = self.snapshot()
        if self.args.ready:
            with open(self.args.ready, "w"):
                pass
        if self.args.flood:
            self.start_flood(before["time"])
        self.wait(before["time"] + self.args.seconds, before["time"])
        after = self.snapshot()
        if self.csv:
            self.csv.close()
        return self.report(before, after)

    def report(self, before, after):
        seconds = after["time"] - before["time"]
        got = [b - a for a, b in zip(before["received"], after["received"])]
        squares = sum(g * g for g in got)
        out = {"seconds": round(seconds, 3), "received_bytes": got,
               "jain": sum(got) ** 2 / (len(got) * squares) if squares else 0}
        if self.cp:
            root, leaf = (difference(a, b) for a, b in zip(after["cp"], before["cp"]))
            wire = root["bytes"] + 24 * root["packets"]
            out.update({"bps": round(wire * 8 / seconds), "frames": root["packets"],
                        "drops": leaf["drops"], "leaf": leaf,
                        "backlog_mean_bytes": round(sum(self.backlogs) /
                                                    max(1, len(self.backlogs))),
                        "backlog_max_bytes": max(self.backlogs, default=0)})
        out["rp"] = [difference(a, b) for a, b in zip(after["rp"], before["rp"])]
        if self.flooded:
            out["cnms_of_flood"] = self.flooded
        if self.happened:
            out["events"] = self.happened
        return out


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("source", nargs="+")
    p.add_argument("--warmup", type=float, default=0)
    p.add_argument("--seconds", type=float, default=5)
    p.add_argument("--cp")
    p.add_argument("--rp", action="append", default=[])
    p.add_argument("--at", action="append", default=[])
    p.add_argument("--flood")
    p.add_argument("--every", type=float, default=0.1)
    p.add_argument("--csv")
    p.add_argument("--ready")
    print(json.dumps(Run(p.parse_args()).run()))
    sys.stdout.flush()
    os._exit(0)     # the sources never end


if __name__ == "__main__":
    main()
