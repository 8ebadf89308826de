#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""UDP and TCP between two network namespaces, every octet checked.

  flows.py udp --client NS --server NS --addr ADDRESS [--count N] [--size N...]
  flows.py tcp --client NS --server NS --addr ADDRESS [--bytes N]
  flows.py gso --client NS --server NS --addr ADDRESS [--count N] [--size N]

udp sends requests, of each size in turn, one at a time to an echo server and
wants each back; tcp sends a stream and wants its digest back; gso sends --count
datagrams of --size octets in as few super-packets (UDP_SEGMENT) as possible and
wants all at the server.
Raw frames are frames.py's.
"""

import argparse
import hashlib
import os
import socket
import struct
import sys
import threading

from frames import in_ns

UDP_SEGMENT = 103


def sockets(args, kind):
    family = socket.AF_INET6 if ":" in args.addr else socket.AF_INET
    out = []
    for ns in args.server, args.client:
        with in_ns(ns):
            out.append(socket.socket(family, kind))
        out[-1].settimeout(args.timeout)
    out[0].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    out[0].bind((args.addr, 0))
    return out


def data(n, seed):
    return (hashlib.sha256(b"%d" % seed).digest() * (n // 32 + 1))[:n]


def cmd_udp(args):
    server, client = sockets(args, socket.SOCK_DGRAM)
    client.connect(server.getsockname()[:2])
    for n in range(args.count):
        want = data(args.size[n % len(args.size)], n)
        client.send(want)
        got, peer = server.recvfrom(1 << 16)
        if got != want:
            raise SystemExit("datagram %d differs at the server" % n)
        server.sendto(got, peer)
        if client.recv(1 << 16) != want:
            raise SystemExit("datagram %d differs at the client" % n)
    print("%d datagrams there and back" % args.count)


def cmd_tcp(args):
    server, client = sockets(args, socket.SOCK_STREAM)
    server.listen(1)

    def serve():
        conn, _ = server.accept()
        conn.settimeout(args.timeout)
        digest, total = hashlib.sha256(), 0
        while chunk := conn.recv(1 << 18):
            digest.update(chunk)
            total += len(chunk)
        conn.sendall(digest.digest() + struct.pack("!Q", total))
        conn.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    client.connect(server.getsockname()[:2])
    digest, left, n = hashlib.sha256(), args.bytes, 0
    while left:
        chunk = data(min(left, 65000), n)
        client.sendall(chunk)
        digest.update(chunk)
        left -= len(chunk)
        n += 1
    client.shutdown(socket.SHUT_WR)
    got = b""
    while chunk := client.recv(64):
        got += chunk
    if got != digest.digest() + struct.pack("!Q", args.bytes):
        raise SystemExit("the stream arrived changed")
    print("%d octets, digest agrees" % args.bytes)


def cmd_gso(args):
    server, client = sockets(args, socket.SOCK_DGRAM)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    size = args.size[0]
    client.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, size)
    client.connect(server.getsockname()[:2])
    most = min(60000 // size, 64)
    want = [data(size, n) for n in range(args.count)]
    for i in range(0, args.count, most):
        client.send(b"".join(want[i:i + most]))
        for n in range(i, min(i + most, args.count)):
            if server.recv(1 << 16) != want[n]:
                raise SystemExit("datagram %d differs" % n)
    print("%d datagrams in super-packets of %d" % (args.count, most))


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("cmd", choices=["udp", "tcp", "gso"])
    p.add_argument("--client", required=True)
    p.add_argument("--server", required=True)
    p.add_argument("--addr", required=True, help="of the server")
    p.add_argument("--count", type=int, default=20)
    p.add_argument("--size", type=int, nargs="+", default=[100])
    p.add_argument("--bytes", type=int, default=2000000)
    p.add_argument("--timeout", type=float,
                   default=20 * int(os.environ.get("CSIG_TIME_SCALE", "1")))
    args = p.parse_args()
    return globals()["cmd_" + args.cmd](args)


if __name__ == "__main__":
    sys.exit(main())
