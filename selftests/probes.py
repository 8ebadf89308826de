#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Probes of "csigctl probe" made by hand, and csigctl on a terminal.

  probes.py hostile --ns NS --addr ADDRESS
  probes.py flood --ns NS --addr ADDRESS --count N
  probes.py torrent --ns NS --addr ADDRESS
  probes.py gso --ns NS --addr ADDRESS --count N
  probes.py screen COMMAND...

hostile sends what is no probe and wants no answer, and probes of many lengths and
wants answers of the same length; flood sends probes as fast as it can and prints how
many were answered; torrent does so without end, and prints a line when it is in full
flow; gso sends a super-packet of N probes and wants an answer to each; screen runs a
command on a terminal of its own, presses Ctrl-C when it drew a known signal, and
prints all it wrote.
"""

import argparse
import itertools
import os
import pty
import select
import signal
import socket
import struct
import sys
import time

from frames import in_ns

PORT = 7516
UDP_SEGMENT = 103
SCALE = int(os.environ.get("CSIG_TIME_SCALE", "1"))


def message(seq, magic=0xc516, version=1, answer=0, tail=b""):
    return (bytes(8) + struct.pack(">HBBBBHIIQ", magic, version, answer, 0, 1, 7,
                                   0x5eed, seq, seq) + tail)


def client(args):
    family = socket.AF_INET6 if ":" in args.addr else socket.AF_INET
    with in_ns(args.ns):
        s = socket.socket(family, socket.SOCK_DGRAM)
    s.settimeout(20 * SCALE)
    s.connect((args.addr, PORT))
    return s


def again(call, arg):
    """Where the kernel answers, what is no probe meets a closed port."""
    while True:
        try:
            return call(arg)
        except ConnectionRefusedError:
            pass


def ask(s, seq, tail=b""):
    """The answer to a good probe; nothing else may come before it."""
    want = message(seq, tail=tail)
    again(s.send, want)
    got = again(s.recv, 1 << 16)
    if len(got) != len(want) or got[16:] != want[16:] or got[11] != 1:
        raise SystemExit("probe %d of %d octets: %s" % (seq, len(want), got.hex()))


def cmd_hostile(args):
    s = client(args)
    bad = [message(1)[:n] for n in range(32)]
    bad += [message(1, magic=0xc517), message(1, version=2), message(1, answer=1),
            message(1, answer=2), message(1, answer=255), bytes(32), b"\xff" * 64]
    for n, m in enumerate(bad):
        again(s.send, m)
        ask(s, 1000 + n)
    for n in (0, 1, 2, 3, 7, 100, 1001, 1400):
        ask(s, 2000 + n, os.urandom(n))
    print("%d bad ones, all good ones answered" % len(bad))


def cmd_flood(args):
    s = client(args)
    ask(s, 1)
    answered = 0
    for n in range(args.count):
        again(s.send, message(2 + n))
        # its buffer holds only some
        while select.select([s], [], [], 0)[0]:
            again(s.recv, 1 << 16)
            answered += 1
    while select.select([s], [], [], 1 * SCALE)[0]:
        again(s.recv, 1 << 16)
        answered += 1
    print(answered)


def cmd_torrent(args):
    s = client(args)
    ask(s, 1)
    for n in itertools.count(2):
        again(s.send, message(n))
        if n == 200:
            print("flows", flush=True)


def cmd_gso(args):
    s = client(args)
    want = {message(n)[16:] for n in range(args.count)}
    s.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, len(message(0)))
    s.send(b"".join(message(n) for n in range(args.count)))
    while want:
        got = s.recv(1 << 16)
        if got[16:] not in want or got[11] != 1:
            raise SystemExit("no answer: " + got.hex())
        want.remove(got[16:])


def cmd_screen(args):
    pid, fd = pty.fork()
    if not pid:
        os.environ["TERM"] = "linux"
        os.execvp(args.command[0], args.command)
    out, pressed = b"", False
    deadline = time.monotonic() + 60 * SCALE
    while time.monotonic() < deadline:
        if not select.select([fd], [], [], 1)[0]:
            continue
        try:
            got = os.read(fd, 65536)
        except OSError:
            break
        if not got:
            break
        out += got
        if not pressed and args.until.encode() in out:
            os.write(fd, b"\x03")
            pressed = True
    else:
        os.kill(pid, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    sys.stdout.write(out.decode(errors="replace").replace("\r\n", "\n"))
    return status


def main():
    p = argparse.ArgumentParser()
    sub = p.add_subparsers(dest="cmd", required=True)
    for name in "hostile", "flood", "torrent", "gso":
        c = sub.add_parser(name)
        c.add_argument("--ns", required=True)
        c.add_argument("--addr", required=True)
        c.add_argument("--count", type=int, default=100)
    c = sub.add_parser("screen")
    c.add_argument("--until", default="rtt")
    c.add_argument("command", nargs=argparse.REMAINDER)
    args = p.parse_args()
    return globals()["cmd_" + args.cmd](args)


if __name__ == "__main__":
    sys.exit(main())
