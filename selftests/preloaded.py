#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Runs the tests' Python programs in forks of one interpreter; lib.sh's "py" asks.

  preloaded.py <FIFO

Where the CPU is emulated, starting an interpreter and importing takes longer than what
most calls do.  A request is a line, fields separated by US (0x1f): PID, OUT,
REPLY, PROGRAM, ARGUMENT...  PROGRAM's main() runs with the folder and the standard
streams of process PID, but its file descriptor OUT as standard output: 1 is FIFO while
the shell asks.  The exit status goes as a line to the FIFO named REPLY.  When PID ends
before, so does the child; when the parent ends, everything does.
"""

import contextlib
import ctypes
import gc
import importlib
import os
import select
import signal
import sys
import traceback

SYS_PIDFD_GETFD = 438

libc = ctypes.CDLL(None, use_errno=True)
children = {}       # pidfd of a child: (its pid, reply)
clients = {}        # pidfd of a client: pidfd of the child


def take_streams(client, streams):
    for fd, theirs in enumerate(streams):
        got = libc.syscall(SYS_PIDFD_GETFD, client, theirs, 0)
        if got < 0:
            raise OSError(ctypes.get_errno(), "pidfd_getfd")
        os.dup2(got, fd)
        os.close(got)


def run(program, args):
    """Like the interpreter's own end of a program."""
    sys.argv = [program + ".py", *args]
    try:
        status = importlib.import_module(program).main()
    except SystemExit as e:
        status = e.code
    except BaseException:
        traceback.print_exc()
        status = 1
    if isinstance(status, str):
        print(status, file=sys.stderr)
        status = 1
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        status = 1
    return int(status or 0)


def start(poll, line):
    pid, out, reply, program, *args = line.split("\x1f")
    try:
        client = os.pidfd_open(int(pid))
    except ProcessLookupError:
        return
    # Where this fails, so does it in the child, which tells.
    with contextlib.suppress(Exception, SystemExit):
        importlib.import_module(program)
    gc.freeze()
    child = os.fork()
    if not child:
        try:
            take_streams(client, (0, int(out), 2))
            os.chdir("/proc/%s/cwd" % pid)
            os._exit(run(program, args))
        finally:
            os._exit(1)
    fd = os.pidfd_open(child)
    children[fd] = child, reply
    clients[client] = fd
    poll.register(fd, select.POLLIN)
    poll.register(client, select.POLLIN)


def ended(poll, fd):
    child, reply = children.pop(fd)
    client = next(c for c, f in clients.items() if f == fd)
    del clients[client]
    for f in fd, client:
        with contextlib.suppress(KeyError):
            poll.unregister(f)
        os.close(f)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        out = os.open(reply, os.O_WRONLY | os.O_NONBLOCK)
        os.write(out, b"%d\n" % (status if status >= 0 else 128 - status))
        os.close(out)
    except OSError:
        pass        # nobody waits


def main():
    parent = os.pidfd_open(os.getppid())
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    poll = select.poll()
    poll.register(0, select.POLLIN)
    poll.register(parent, select.POLLIN)
    text = ""
    while True:
        ready = {fd for fd, _ in poll.poll()}
        if parent in ready:
            for child, _ in children.values():
                os.kill(child, signal.SIGKILL)
            return
        for fd in ready & children.keys():
            ended(poll, fd)
        for fd in ready & clients.keys():
            signal.pidfd_send_signal(clients[fd], signal.SIGKILL)
        # last: what it opens has numbers that were closed above
        if 0 in ready:
            *lines, text = (text + os.read(0, 65536).decode()).split("\n")
            for line in lines:
                start(poll, line)


if __name__ == "__main__":
    main()
