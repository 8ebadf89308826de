#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""One TCP connection between two network namespaces, and what its packets looked like.

  talk.py --client NS --server NS --addr ADDRESS [--bind ADDRESS] [--kind KIND]
          [--bytes N] [--back N] [--watch NS/DEV] [--times N] [--cgroup FOLDER]
          [--mss N] [--slow SECONDS]
  talk.py ... --syn HEX

The client sends N octets, the server as many as --back says; both are compared.  KIND
is tcp, tfo (data in the SYN, once there is a cookie), defer (TCP_DEFER_ACCEPT), md5,
ao or mptcp.  --addr ::ffff:a.b.c.d makes an IPv6 socket that talks IPv4.  --cgroup puts
the process there before it makes sockets.  --slow waits between writes, so that there
are several round trips.  --syn only sends a SYN with these options (IPv4) and waits for
its answer.

Prints JSON: {"ok": true, "packets": [...]}, each packet that --watch saw with
dir ">" (of the client) or "<", flags ("S", "SA", "A" ...), csig (hex of our option or
null), kinds (of all options), optlen, len (payload), tag (hex with TPID or null),
frame (octets of it) and seq.  Without a connection "ok" is false and "error" says why.
"""

import argparse
import contextlib
import errno
import hashlib
import json
import os
import select
import socket
import struct
import sys
import threading
import time

from frames import in_ns

TCP_DEFER_ACCEPT, TCP_MD5SIG, TCP_FASTOPEN, TCP_AO_ADD_KEY = 9, 14, 23, 38
TCP_FASTOPEN_CONNECT = 30
IPPROTO_MPTCP = 262
ETH_P_ALL = 3
TPIDS = {0x9900: 4, 0xccdd: 8}
VLANS = 0x8100, 0x88a8
FLAGS = "FSRPA"


def options(raw, kind):
    """Kinds, and hex of the option that is ours."""
    kinds, ours, i = [], None, 0
    while i < len(raw):
        k = raw[i]
        if k == 0:
            break
        if k == 1:
            i += 1
            continue
        n = raw[i + 1] if i + 1 < len(raw) else 0
        if n < 2:
            break
        kinds.append(k)
        one = raw[i:i + n]
        if k == kind and (kind not in (253, 254) or one[2:4] == b"\xc5\x16"):
            ours = one.hex()
        i += n
    return kinds, ours


def packet(frame, port, kind):
    """What is said of a frame; None when it is not of this connection."""
    off, tag = 12, None
    while True:
        proto = struct.unpack_from("!H", frame, off)[0]
        if proto in TPIDS and not tag:
            tag = frame[off:off + TPIDS[proto]].hex()
            off += TPIDS[proto]
        elif proto in VLANS:
            off += 4
        else:
            break
    ip = frame[off + 2:]
    if proto == 0x0800 and ip[9] == 6:
        total, hlen = struct.unpack_from("!H", ip, 2)[0], (ip[0] & 15) * 4
    elif proto == 0x86dd and ip[6] == 6:
        total, hlen = struct.unpack_from("!H", ip, 4)[0] + 40, 40
    else:
        return None
    tcp = ip[hlen:]
    src, dst, seq = struct.unpack_from("!HHI", tcp)
    if port not in (src, dst):
        return None
    doff = (tcp[12] >> 4) * 4
    kinds, ours = options(tcp[20:doff], kind)
    flags = "".join(c for i, c in enumerate(FLAGS) if tcp[13] & (1, 2, 4, 8, 16)[i])
    return {"dir": ">" if dst == port else "<", "flags": flags.replace("P", ""),
            "csig": ours, "kinds": kinds, "optlen": doff - 20,
            "len": total - hlen - doff, "tag": tag, "frame": len(frame), "seq": seq}


class Watch:
    def __init__(self, where):
        ns, dev = where.split("/")
        with in_ns(ns):
            self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                                      socket.htons(ETH_P_ALL))
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
        self.sock.bind((dev, ETH_P_ALL))
        self.sock.setblocking(False)
        self.frames = []
        self.ends = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.ends.is_set():
            select.select([self.sock], [], [], 0.05)
            with contextlib.suppress(BlockingIOError):
                while True:
                    self.frames.append(self.sock.recv(1 << 17))

    def packets(self, port, kind):
        self.ends.set()
        self.thread.join()
        out = [packet(f, port, kind) for f in self.frames]
        return [p for p in out if p]


def data(n, seed):
    return (hashlib.sha256(b"%d" % seed).digest() * (n // 32 + 1))[:n]


def address(family, host, port=0):
    return (host, port, 0, 0) if family == socket.AF_INET6 else (host, port)


def storage(family, host):
    """struct sockaddr_storage of a key's peer"""
    if family == socket.AF_INET6:
        s = struct.pack("=HHI16sI", family, 0, 0, socket.inet_pton(family, host), 0)
    else:
        s = struct.pack("=HH4s", family, 0, socket.inet_pton(family, host))
    return s.ljust(128, b"\0")


def sign(sock, kind, family, host):
    """A key for everybody"""
    key = b"csig".ljust(80, b"\0")
    any_host = "::" if family == socket.AF_INET6 else "0.0.0.0"
    if kind == "md5":
        sock.setsockopt(socket.IPPROTO_TCP, TCP_MD5SIG,
                        storage(family, host) + struct.pack("=BBHI80s", 0, 0, 4, 0, key))
    else:
        alg = b"hmac(sha256)".ljust(64, b"\0")
        sock.setsockopt(socket.IPPROTO_TCP, TCP_AO_ADD_KEY,
                        storage(family, any_host) +
                        struct.pack("=64siIHBBBBBB80s4x", alg, 0, 0, 0, 0, 100, 100,
                                    0, 0, 4, key))


def make(args, kind, ns):
    family = socket.AF_INET6 if ":" in args.addr else socket.AF_INET
    proto = IPPROTO_MPTCP if kind == "mptcp" else 0
    with in_ns(ns):
        s = socket.socket(family, socket.SOCK_STREAM, proto)
    if family == socket.AF_INET6:
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    s.settimeout(args.timeout)
    return s, family


def read(sock, n):
    got = b""
    while len(got) < n:
        chunk = sock.recv(1 << 18)
        if not chunk:
            break
        got += chunk
    return got


def write(sock, octets, slow):
    if not slow:
        sock.sendall(octets)
        return
    for i in range(0, len(octets), 1000):
        sock.sendall(octets[i:i + 1000])
        time.sleep(slow)


def serve(listener, args, want, answer, errors):
    try:
        for _ in range(args.times):
            conn, _ = listener.accept()
            conn.settimeout(args.timeout)
            got = read(conn, len(want))
            if got != want:
                errors.append("the server got %d octets, not those sent" % len(got))
            write(conn, answer, args.slow)
            conn.close()
    except OSError as e:
        errors.append("server: %s" % e)


def talk(args):
    server, family = make(args, args.server_kind or args.kind, args.server)
    if args.server_kind != "tcp" and args.kind in ("md5", "ao"):
        sign(server, args.kind, family, args.peer)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if args.mss:
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, args.mss)
    server.bind(address(family, args.bind or args.addr, args.port))
    if args.kind == "tfo":
        server.setsockopt(socket.IPPROTO_TCP, TCP_FASTOPEN, 16)
    if args.kind == "defer":
        server.setsockopt(socket.IPPROTO_TCP, TCP_DEFER_ACCEPT, 1)
    server.listen(8)
    port = server.getsockname()[1]
    watch = Watch(args.watch) if args.watch else None
    want, answer, errors = data(args.bytes, 1), data(args.back, 2), []
    thread = threading.Thread(target=serve, daemon=True,
                              args=(server, args, want, answer, errors))
    thread.start()
    try:
        for _ in range(args.times):
            client, _ = make(args, args.kind, args.client)
            if args.kind in ("md5", "ao"):
                sign(client, args.kind, family, args.addr)
            if args.kind == "tfo":
                client.setsockopt(socket.IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1)
            client.connect(address(family, args.addr, port))
            write(client, want, args.slow)
            got = read(client, len(answer))
            if got != answer:
                errors.append("the client got %d octets, not those sent" % len(got))
            client.shutdown(socket.SHUT_WR)
            read(client, 1)
            client.close()
        thread.join(args.timeout)
    except OSError as e:
        errors.append("client: %s" % e)
    time.sleep(0.05)    # the last packets, after which nothing more comes
    return {"ok": not errors, "error": "; ".join(errors),
            "packets": watch.packets(port, args.opt) if watch else []}


def checksum(octets):
    octets += b"\0" * (len(octets) & 1)
    total = sum(struct.unpack("!%dH" % (len(octets) // 2), octets))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def syn(args):
    """A SYN of our own; the client's kernel resets what comes of it."""
    server, family = make(args, "tcp", args.server)
    server.bind(address(family, args.addr))
    server.listen(1)
    port = server.getsockname()[1]
    watch = Watch(args.watch)
    opts = bytes.fromhex(args.syn)
    opts += b"\x01" * (-len(opts) % 4)
    tcp = struct.pack("!HHIIBBHHH", 40000, port, 1, 0, (20 + len(opts)) // 4 << 4, 2,
                      65535, 0, 0) + opts
    pseudo = (socket.inet_aton(args.peer) + socket.inet_aton(args.addr) +
              struct.pack("!BBH", 0, 6, len(tcp)))
    tcp = tcp[:16] + struct.pack("!H", checksum(pseudo + tcp)) + tcp[18:]
    with in_ns(args.client):
        raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)
    raw.sendto(tcp, (args.addr, 0))
    raw.settimeout(args.timeout)
    while raw.recv(1 << 16)[20:22] != struct.pack("!H", port):
        pass
    time.sleep(0.05)
    return {"ok": True, "error": "", "packets": watch.packets(port, args.opt)}


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--client", required=True)
    p.add_argument("--server", required=True)
    p.add_argument("--addr", required=True, help="of the server")
    p.add_argument("--peer", default="", help="address of the client, for md5")
    p.add_argument("--bind", help="what the server binds to, default --addr")
    p.add_argument("--port", type=int, default=0)
    p.add_argument("--kind", default="tcp",
                   choices=["tcp", "tfo", "defer", "md5", "ao", "mptcp"])
    p.add_argument("--server-kind", choices=["tcp", "mptcp"])
    p.add_argument("--bytes", type=int, default=1000)
    p.add_argument("--back", type=int, default=1000)
    p.add_argument("--times", type=int, default=1)
    p.add_argument("--mss", type=int)
    p.add_argument("--slow", type=float, default=0)
    p.add_argument("--opt", type=int, default=254, help="Kind of the option")
    p.add_argument("--syn", help="hex of the options of a SYN")
    p.add_argument("--watch", help="NS/DEV")
    p.add_argument("--cgroup", help="folder of a cgroup v2")
    p.add_argument("--timeout", type=float,
                   default=30 * int(os.environ.get("CSIG_TIME_SCALE", "1")))
    args = p.parse_args()
    try:
        run(args)
    except OSError as e:
        if e.errno not in (errno.ENOPROTOOPT, errno.EPROTONOSUPPORT):
            raise
        print('{"ok": false, "error": "unsupported", "packets": []}')


def run(args):
    if args.cgroup:
        with open(args.cgroup + "/cgroup.procs", "w", encoding="ascii") as f:
            f.write(str(os.getpid()))
    json.dump(syn(args) if args.syn else talk(args), sys.stdout)
    print()


if __name__ == "__main__":
    sys.exit(main())
