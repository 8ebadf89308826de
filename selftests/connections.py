#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Many TCP connections between two network namespaces, every octet checked.

  connections.py --client NS --server NS --addr ADDRESS [--port N] [--count N]
                 [--bytes N] [--parallel N] [--timeout S] [--echo]

Each sends --bytes octets and wants their digest back, with --echo all of them.  Prints how many were complete
and how long the slowest took, as JSON; the status is 0 when all were.
"""

import argparse
import asyncio
import hashlib
import json
import os
import socket
import sys
import time

from frames import in_ns


async def serve(reader, writer):
    digest = hashlib.sha256()
    while data := await reader.read(1 << 16):
        digest.update(data)
    writer.write(digest.digest())
    await writer.drain()
    writer.close()


async def echo(reader, writer):
    while data := await reader.read(1 << 16):
        writer.write(data)
        await writer.drain()
    writer.close()


async def send(s, data):
    await asyncio.get_running_loop().sock_sendall(s, data)
    s.shutdown(socket.SHUT_WR)


async def connect(args, addr, data, want):
    loop = asyncio.get_running_loop()
    with in_ns(args.client):
        s = socket.socket(addr[0], socket.SOCK_STREAM)
    s.setblocking(False)
    try:
        await loop.sock_connect(s, addr[1])
        sender = asyncio.ensure_future(send(s, data))
        got = b""
        while chunk := await loop.sock_recv(s, 1 << 16):
            got += chunk
        await sender
        return got == want
    finally:
        s.close()


async def run(args):
    family = socket.AF_INET6 if ":" in args.addr else socket.AF_INET
    with in_ns(args.server):
        listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((args.addr, args.port))
    server = await asyncio.start_server(echo if args.echo else serve, sock=listener, backlog=4096)
    addr = family, (args.addr, listener.getsockname()[1])
    data = os.urandom(args.bytes)
    want = data if args.echo else hashlib.sha256(data).digest()
    slots = asyncio.Semaphore(args.parallel)
    took, errors = [], {}

    async def one():
        async with slots:
            start = time.monotonic()
            try:
                done = await asyncio.wait_for(connect(args, addr, data, want),
                                              args.timeout)
                error = "" if done else "changed"
            except (OSError, TimeoutError) as e:
                error = type(e).__name__
            if error:
                errors[error] = errors.get(error, 0) + 1
            else:
                took.append(time.monotonic() - start)

    await asyncio.gather(*[one() for _ in range(args.count)])
    server.close()
    return {"complete": len(took), "failed": args.count - len(took),
            "errors": errors, "slowest_s": round(max(took, default=0), 3)}


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--client", required=True)
    p.add_argument("--server", required=True)
    p.add_argument("--addr", required=True, help="of the server")
    p.add_argument("--port", type=int, default=0)
    p.add_argument("--count", type=int, default=20)
    p.add_argument("--bytes", type=int, default=20000)
    p.add_argument("--parallel", type=int, default=20)
    p.add_argument("--timeout", type=float,
                   default=20 * int(os.environ.get("CSIG_TIME_SCALE", "1")))
    p.add_argument("--echo", action="store_true")
    args = p.parse_args()
    result = asyncio.run(run(args))
    print(json.dumps(result))
    return result["failed"] != 0


if __name__ == "__main__":
    sys.exit(main())
