#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Allocations that fail, on a kernel with fault injection (failslab, fail-nth).

  faults.py start FILE.ko         every allocation of the module's own start fails once,
                                  in the task that loads; it must say so or do without,
                                  and the next try must work
  faults.py qdisc NS/DEV KIND MODULE
                                  every allocation of the module fails once while a qdisc
                                  is made at the root
  faults.py some MODULE PERCENT   from now on, so many of a module's allocations fail
  faults.py none                  none fails any more

Only those of the module: the kernel's loader and the core are left alone, some of whose
parts warn when memory is short.
"""

import ctypes
import os
import subprocess
import sys

from qcn_tc import NLM_F_ACK, RTM_NEWQDISC, TCA_KIND, Tc, nla

FAULT = "/sys/kernel/debug/failslab/"
SYS_FINIT_MODULE = 313
MODULE_INIT_COMPRESSED_FILE = 4
NLM_F_CREATE, NLM_F_EXCL = 0x400, 0x200
RTM_DELQDISC = 37
NTH_MAX = 3000

libc = ctypes.CDLL(None, use_errno=True)


def setting(name, value):
    with open(FAULT + name, "w") as f:
        f.write(str(value))


def symbols(module=None):
    """(address, name) of the kernel's code, or of a module's."""
    with open("/proc/kallsyms") as f:
        for line in f:
            address, kind, name, *where = line.split()
            if kind in "tT" and (not module and not where or
                                 module and where == ["[%s]" % module]):
                yield int(address, 16), name


def within(start, end):
    setting("require-start", "0x%x" % start)
    setting("require-end", "0x%x" % end)


def within_module(module):
    text = [a for a, _ in symbols(module)]
    within(min(text), max(text) + 0x1000)


def prepare():
    for name, value in (("verbose", 0), ("ignore-gfp-wait", "N"), ("cache-filter", "N"),
                        ("task-filter", "N"), ("probability", 0), ("interval", 1),
                        ("times", -1)):
        setting(name, value)


def each(attempt, undo, what):
    """Let the first, the second, ... allocation fail; attempt() says whether it worked."""
    nth = os.open("/proc/thread-self/fail-nth", os.O_RDWR)
    failed = 0
    for n in range(1, NTH_MAX):
        os.pwrite(nth, b"%d" % n, 0)
        worked = attempt()
        left = int(os.pread(nth, 16, 0).rstrip(b"\0\n"))
        os.pwrite(nth, b"0", 0)
        failed += not worked
        if worked:
            undo()
        if left:    # it never came to the n-th
            break
    os.close(nth)
    within(0, 2 ** 64 - 1)
    print("%d allocations, %d of them ended %s" % (n - 1, failed, what))
    if not failed:
        sys.exit("no allocation ended it")


def start(path):
    module = os.path.basename(path).split(".")[0]
    flags = 0 if path.endswith(".ko") else MODULE_INIT_COMPRESSED_FILE
    ko = os.open(path, os.O_RDONLY)
    text = sorted(symbols())
    at = next(n for n, (_, name) in enumerate(text) if name == "do_one_initcall")
    within(text[at][0], next(a for a, _ in text[at:] if a > text[at][0]))
    each(lambda: not libc.syscall(SYS_FINIT_MODULE, ko, b"", flags),
         lambda: subprocess.run(["rmmod", module], check=True), "the start")


def qdisc(where, kind, module):
    ns, _, dev = where.rpartition("/")
    tc = Tc(ns)
    handle, root = 0x100000, 0xffffffff
    more = nla(TCA_KIND, kind.encode() + b"\0")

    def attempt():
        try:
            list(tc.ask(RTM_NEWQDISC, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL,
                        tc.index[dev], handle, root, more))
        except OSError:
            return False
        return True

    within_module(module)
    each(attempt, lambda: list(tc.ask(RTM_DELQDISC, NLM_F_ACK, tc.index[dev], handle,
                                      root)), "the creation of %s" % kind)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    what, args = sys.argv[1], sys.argv[2:]
    prepare()
    if what == "start":
        start(args[0])
    elif what == "qdisc":
        qdisc(*args)
    elif what == "some":
        within_module(args[0])
        setting("probability", args[1])
    elif what == "none":
        within(0, 2 ** 64 - 1)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
