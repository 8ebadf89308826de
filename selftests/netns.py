#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Network namespaces for tests, as "ip netns" makes them, many in one process.

  netns.py add NAME... [--ipv6]
  netns.py del NAME...

New ones are quiet: without --ipv6 there is no IPv6, so that nothing but the test sends;
their bridges do not look into IP.  del ends the processes in them first.
"""

import argparse
import contextlib
import ctypes
import fcntl
import glob
import os
import signal
import socket
import struct
import subprocess
import sys

FOLDER = "/run/netns"
MS_BIND = 4096
MNT_DETACH = 2
SIOCSIFFLAGS = 0x8914
IFF_UP = 1

libc = ctypes.CDLL(None, use_errno=True)


def check(result, what):
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), what)


def ready():
    """The folder as "ip netns" wants it: a mount of its own, shared."""
    with open("/proc/self/mounts") as mounts:
        if any(line.split()[1] == FOLDER for line in mounts):
            return
    for cmd in "add", "del":
        subprocess.run(["ip", "netns", cmd, "csig-%d" % os.getpid()], check=True)


def quiet(ipv6):
    base = "/proc/sys/net/"
    settings = {}
    for dev in "default", "all":
        settings[base + "ipv4/conf/%s/rp_filter" % dev] = 0
        conf = base + "ipv6/conf/%s/" % dev
        settings[conf + "disable_ipv6"] = int(not ipv6)
        settings[conf + "accept_dad"] = 0
        settings[conf + "router_solicitations"] = 0
    for path in glob.glob(base + "bridge/bridge-nf-call-*"):
        settings[path] = 0
    for path, value in settings.items():
        with contextlib.suppress(FileNotFoundError), open(path, "w") as f:
            f.write(str(value))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        fcntl.ioctl(s, SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", IFF_UP))


def add(names, ipv6):
    ready()
    for name in names:
        path = os.path.join(FOLDER, name)
        os.close(os.open(path, os.O_CREAT | os.O_EXCL))
        os.unshare(os.CLONE_NEWNET)
        check(libc.mount(b"/proc/self/ns/net", path.encode(), b"none", MS_BIND, None),
              path)
        quiet(ipv6)


def delete(names):
    paths = [os.path.join(FOLDER, name) for name in names]
    inodes = {os.stat(path).st_ino for path in paths if os.path.exists(path)}
    for process in glob.glob("/proc/[0-9]*"):
        with contextlib.suppress(OSError):
            if os.stat(process + "/ns/net").st_ino in inodes:
                os.kill(int(os.path.basename(process)), signal.SIGTERM)
    for path in paths:
        if os.path.exists(path):
            libc.umount2(path.encode(), MNT_DETACH)
            os.unlink(path)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("cmd", choices=["add", "del"])
    p.add_argument("names", nargs="+")
    p.add_argument("--ipv6", action="store_true")
    args = p.parse_args()
    if args.cmd == "add":
        add(args.names, args.ipv6)
    else:
        delete(args.names)


if __name__ == "__main__":
    sys.exit(main())
