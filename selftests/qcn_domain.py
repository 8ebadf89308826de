#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The netlink family "qcn" for tests, and the cases of qcn_domain.sh that need sockets.

  qcn_domain.py set NS/DEV PRIORITY=MODE[/ALTERNATE]...
  qcn_domain.py del NS/DEV...
  qcn_domain.py get NS/DEV            one port as JSON
  qcn_domain.py stats NS/DEV NAME...  counters on one line
  qcn_domain.py CASE NS [ARGUMENT...]

A case that finds a fault says so and ends with status 1.
"""

import json
import os
import random
import socket
import subprocess
import sys
import time

import netlink_cases as nc
from frames import Port, build, in_ns
from genl import NLA_F_NESTED, Error, Socket, ifindex, nla
from netlink_cases import E2BIG, EINVAL, ENODEV, ENOENT, EOPNOTSUPP, EPERM, ERANGE, fault

MODES = ["disabled", "edge", "interior", "interior-ready", "auto"]
AUTO = 255


def qcn(ns):
    return Socket(ns, "qcn")


def device(where):
    ns, dev = where.rsplit("/", 1)
    return qcn(ns), ifindex(ns, dev)


def cmd_set(where, *settings):
    s, dev = device(where)
    cnpvs = []
    for setting in settings:
        priority, mode = setting.split("=")
        mode, _, alternate = mode.partition("/")
        cnpvs.append({"priority": int(priority), "mode": MODES.index(mode)})
        if alternate:
            cnpvs[-1]["alternate"] = int(alternate)
    s.do("port-set", {"ifindex": dev, "cnpv": cnpvs})


def cmd_del(*devices):
    for where in devices:
        s, dev = device(where)
        s.do("port-del", {"ifindex": dev})


def cmd_get(where):
    s, dev = device(where)
    print(json.dumps(s.do("port-get", {"ifindex": dev})))


def cmd_stats(where, *names):
    s, dev = device(where)
    stats = s.do("port-get", {"ifindex": dev})["stats"]
    print(*[stats[n] for n in names])


# --- data with a CN-TAG at a socket -------------------------------------------------

def case_deliver(ns, sender, *wants):
    """Each of the wants, DEV;SPEC, reaches a UDP socket, in this order; none with "!"."""
    with in_ns(ns):
        s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        s.bind(("::", 4661))
    s.settimeout(10 * int(os.environ.get("CSIG_TIME_SCALE", "1")))
    for n, want in enumerate(wants):
        dev, spec = want.lstrip("!").split(";")
        text = "%d-%s" % (n, dev)
        Port(sender + "/" + dev, False).send(build(spec + " udptext:" + text))
        if want[0] == "!":  # else it would be there instead of the next one
            continue
        try:
            got = s.recv(2000).decode()
        except TimeoutError:
            got = "nothing"
        if got != text:
            fault("%s at %s: got %s" % (spec, dev, got))


# --- modes that follow the neighbour ------------------------------------------------

def case_auto(ns, dev):
    """From edge to where the neighbour is, and back when it is silent; each an event."""
    s, mon = qcn(ns), qcn(ns)
    port = ifindex(ns, dev)

    def neighbour(**values):
        s.do("port-set", {"ifindex": port, "neighbour": {
            k.replace("_", "-"): v for k, v in values.items()}})

    def wants(what, *modes, ready):
        for how, got in (("event", mon.event()), ("answer", (
                "port-ntf", s.do("port-get", {"ifindex": port})))):
            got = got and got[1]
            oper = got and [MODES[c["oper-mode"]] for c in got["cnpv"]]
            if oper != list(modes) or got["tlv"] != {"cnpvs": 0x38, "ready": ready}:
                fault("%s: %s %s" % (what, how, got))

    mon.subscribe("monitor")
    s.do("port-set", {"ifindex": port, "cnpv": [
        {"priority": 3, "mode": 4}, {"priority": 4, "mode": 4},
        {"priority": 5, "mode": 2}]})
    wants("no neighbour", "edge", "edge", "interior", ready=0x20)
    neighbour(cnpvs=0x38, ready=0x30, ttl_ms=60000)
    wants("a neighbour", "interior", "interior-ready", "interior", ready=0x38)
    left = s.do("port-get", {"ifindex": port})["neighbour"]["ttl-ms"]
    if not 0 < left <= 60000:
        fault("%d ms left of 60000" % left)
    neighbour(cnpvs=0x10, ready=0x18, ttl_ms=60000)
    wants("without 3", "edge", "interior-ready", "interior", ready=0x30)
    neighbour()
    wants("forgotten", "edge", "edge", "interior", ready=0x20)
    # a later end that comes first, then the end itself
    neighbour(cnpvs=0x18, ready=0, ttl_ms=50000)
    wants("back", "interior", "interior", "interior", ready=0x38)
    start = time.monotonic()
    neighbour(cnpvs=0x18, ready=0x18, ttl_ms=300)
    wants_ready = mon.event()
    if not wants_ready or wants_ready[1]["tlv"]["ready"] != 0x38:
        fault("ready: %s" % (wants_ready,))
    wants("silent", "edge", "edge", "interior", ready=0x20)
    if time.monotonic() - start < 0.28:     # a jiffy is 10 ms at most
        fault("forgotten after %g s of 0.3" % (time.monotonic() - start))
    if "neighbour" in s.do("port-get", {"ifindex": port}):
        fault("it is still there")
    s.do("port-del", {"ifindex": port})
    got = mon.event()
    if got != ("port-del-ntf", {"ifindex": port, "ifname": dev}):
        fault("deleted: %s" % (got,))
    # who has nothing but a neighbour is a port as long as that lasts
    neighbour(cnpvs=0x18, ready=0, ttl_ms=200)
    mon.event()
    got = mon.event()
    if not got or got[0] != "port-del-ntf":
        fault("nothing but a neighbour: %s" % (got,))


# --- requests -------------------------------------------------------------------------

def state(s):
    """All that a refused request must not change."""
    return [{k: v for k, v in p.items() if k != "stats"} for p in s.dump("port-get")]


def good_requests(ns):
    port = ifindex(ns, "port0")
    return {"port-get": {"ifindex": port}, "port-del": {"ifindex": port},
            "port-set": {"ifindex": port,
                         "cnpv": [{"priority": 2, "mode": 1, "alternate": 0}],
                         "neighbour": {"cnpvs": 4, "ready": 4, "ttl-ms": 1000}}}


def case_policy(ns):
    """Each attribute of each operation in each wrong form."""
    s = qcn(ns)
    before = state(s)
    n = 0
    for op, values in good_requests(ns).items():
        set_name = s.spec.ops[op]["attribute-set"]
        for piece in nc.pieces(s.spec, set_name, values):
            for what, octets in nc.wrong_forms(s.spec, piece.attr, piece.value):
                payload, at = nc.build(s.spec, set_name, values, piece.path,
                                       lambda *_, o=octets: o)
                inside = len(octets) if piece.attr["type"] == "nest" else 0
                if "leftover" in what:      # the kernel's parser gives no offset
                    at = None
                nc.refused(s, op, "%s %s" % ("/".join(piece.path), what), payload, None,
                           at, inside)
                n += 1
        good = s.spec.encode(set_name, values)
        for name, attr in s.spec.sets[set_name].items():
            if name not in s.spec.ops[op]["do"]["request"]["attributes"]:
                nest = NLA_F_NESTED if attr["type"] == "nest" else 0
                nc.refused(s, op, name + " is not taken", good + nla(
                    attr["id"] | nest, bytes(4)), None, nc.HEAD + len(good))
                n += 1
        if state(s) != before:
            fault("%s: a refused request changed the state" % op)
            before = state(s)
    print("%d wrong requests" % n)


def case_meaning(ns):
    """What the policy lets pass and the module has to refuse; where it says it is."""
    s = qcn(ns)
    port, free = ifindex(ns, "port0"), ifindex(ns, "free0")
    # 5 goes to 1; the others are free
    s.do("port-set", {"ifindex": port,
                      "cnpv": [{"priority": 5, "mode": 1, "alternate": 1}]})
    before = state(s)

    def cnpv(**values):
        values = {k.replace("_", "-"): v for k, v in values.items()}
        return {"ifindex": port, "cnpv": [values]}

    cases = [
        ("port-set", "no ifindex", {"cnpv": [{"priority": 1, "mode": 1}]}, (), EINVAL),
        ("port-get", "no ifindex", {}, (), EINVAL),
        ("port-del", "no ifindex", {}, (), EINVAL),
        ("port-get", "no port", {"ifindex": free}, ("ifindex",), ENOENT),
        ("port-del", "no port", {"ifindex": free}, ("ifindex",), ENOENT),
        ("port-get", "no device", {"ifindex": 999999}, ("ifindex",), ENODEV),
        ("port-del", "no device", {"ifindex": 999999}, ("ifindex",), ENODEV)]
    cases += [("port-set",) + c for c in [
        ("no device", dict(cnpv(priority=1, mode=1), ifindex=999999), ("ifindex",),
         ENODEV),
        ("loopback", dict(cnpv(priority=1, mode=1), ifindex=1), ("ifindex",), EOPNOTSUPP),
        ("nothing", {"ifindex": port}, (), EINVAL),
        ("no priority", cnpv(mode=1), ("cnpv",), EINVAL),
        ("priority alone", cnpv(priority=1), ("cnpv",), EINVAL),
        ("oper-mode", cnpv(priority=1, mode=1, oper_mode=1), ("cnpv", "oper-mode"),
         EINVAL),
        ("oper-alternate", cnpv(priority=2, mode=1, oper_alternate=1),
         ("cnpv", "oper-alternate"), EINVAL),
        ("alternate without a mode", cnpv(priority=2, alternate=0), ("cnpv", "alternate"),
         EINVAL),
        ("alternate of what is disabled", cnpv(priority=5, mode=0, alternate=0),
         ("cnpv", "alternate"), EINVAL),
        ("alternate 8", cnpv(priority=5, alternate=8), ("cnpv", "alternate"), ERANGE),
        ("alternate 254", cnpv(priority=5, alternate=254), ("cnpv", "alternate"), ERANGE),
        ("itself as alternate", cnpv(priority=5, alternate=5), ("cnpv", "alternate"),
         EINVAL),
        ("the alternate of 5", cnpv(priority=1, mode=2), ("cnpv", "mode"), EINVAL),
        ("twice", {"ifindex": port, "cnpv": [{"priority": 2, "mode": 1}] * 2}, None,
         EINVAL),
        ("two that are each other's", {"ifindex": port, "cnpv": [
            {"priority": 2, "mode": 1, "alternate": 3},
            {"priority": 3, "mode": 1, "alternate": 2}]}, ("cnpv", "alternate"), EINVAL),
        ("all priorities", {"ifindex": free, "cnpv": [
            {"priority": p, "mode": 2} for p in range(8)]}, None, E2BIG),
        ("neighbour without ttl-ms", {"ifindex": port, "neighbour": {
            "cnpvs": 1, "ready": 1}}, ("neighbour",), EINVAL),
        ("neighbour with ttl-ms alone", {"ifindex": port, "neighbour": {"ttl-ms": 1}},
         ("neighbour",), EINVAL),
        # nothing of a request that is refused may stay
        ("good first, wrong last", {"ifindex": free, "neighbour": {"ready": 1}, "cnpv": [
            {"priority": 2, "mode": 1}]}, ("neighbour",), EINVAL)]]
    for op, what, values, path, errno in cases:
        payload, at = nc.build(s.spec, "port", values, path or (),
                               lambda a, v: nla(*s.spec.encode_one(a, v)))
        nc.refused(s, op, what, payload, None, at, errnos=(errno,))
        if state(s) != before:
            fault("%s, %s: the state changed" % (op, what))
            before = state(s)
    print("%d requests without sense" % len(cases))


def case_seven(ns):
    """Seven priorities at most, in one request or one by one; alternates follow."""
    s = qcn(ns)
    free = ifindex(ns, "free0")

    def alternates(left):
        got = s.do("port-get", {"ifindex": free})["cnpv"]
        if [(c["priority"], c["alternate"], c["oper-alternate"]) for c in got] != [
                (p, AUTO, left) for p in range(8) if p != left]:
            fault("all but %d: %s" % (left, got))

    s.do("port-set", {"ifindex": free, "cnpv": [
        {"priority": p, "mode": 1} for p in range(8) if p != 2]})
    alternates(2)
    nc.refused(s, "port-set", "the eighth", {"ifindex": free, "cnpv": [
        {"priority": 2, "mode": 1}]}, None, errnos=(E2BIG,))
    # another one in its place, in one request
    s.do("port-set", {"ifindex": free, "cnpv": [
        {"priority": 2, "mode": 1}, {"priority": 6, "mode": 0}]})
    alternates(6)
    # the next lower one, else the next higher
    s.do("port-set", {"ifindex": free, "cnpv": [
        {"priority": p, "mode": 0} for p in (0, 2, 4, 5, 7)]})
    got = s.do("port-get", {"ifindex": free})["cnpv"]
    if [(c["priority"], c["oper-alternate"]) for c in got] != [(1, 0), (3, 2)]:
        fault("1 and 3: %s" % got)
    # all are disabled: no port any more
    s.do("port-set", {"ifindex": free, "cnpv": [
        {"priority": 1, "mode": 0}, {"priority": 3, "mode": 0}]})
    nc.refused(s, "port-get", "all disabled", {"ifindex": free}, None, errnos=(ENOENT,))
    # and to disable again is no error
    s.do("port-set", {"ifindex": free, "cnpv": [{"priority": 1, "mode": 0}]})


def case_random(ns):
    """Random octets as attributes: the kernel log is what is looked at."""
    s = qcn(ns)
    rand = random.Random(802)
    for _ in range(400):
        op = rand.choice(["port-get", "port-set", "port-del"])
        payload = nla(1, ifindex(ns, "port0").to_bytes(4, sys.byteorder))
        for _ in range(rand.randrange(4)):
            body = rand.randbytes(rand.choice([0, 1, 2, 4, 8, 12, 40]))
            if rand.random() < 0.5:
                body += nla(rand.randrange(1, 6) | rand.choice([0, NLA_F_NESTED]),
                            rand.randbytes(rand.choice([0, 1, 1, 4, 8])))
            payload += nla(rand.randrange(9) | rand.choice([0, NLA_F_NESTED]), body)
        try:
            s.do(op, payload)
        except Error:
            pass
    s.dump("port-get")


def case_unprivileged(ns):
    """Another user reads; writes are EPERM."""
    pid = os.fork()
    if not pid:
        s = None
        with in_ns(ns):
            os.setgroups([])
            os.setresuid(65534, 65534, 65534)
            s = qcn("")
            port = s.dump("port-get")[0]["ifindex"]
            for op, values in (("port-set", {"ifindex": port, "cnpv": [
                    {"priority": 1, "mode": 1}]}), ("port-del", {"ifindex": port})):
                try:
                    s.do(op, values)
                    os._exit(1)
                except Error as e:
                    if e.errno != EPERM:
                        os._exit(2)
            os._exit(0)
    if os.waitpid(pid, 0)[1]:
        fault("a write was not refused with EPERM")


# --- namespaces -----------------------------------------------------------------------

def case_namespaces(ns, other):
    """A port is its namespace's; it goes with its device, and when that moves."""
    s, t, mon, elsewhere = qcn(ns), qcn(other), qcn(ns), qcn(other)

    def gone(what, index, name):
        got = mon.event()
        if got != ("port-del-ntf", {"ifindex": index, "ifname": name}):
            fault("%s: %s" % (what, got))
        if s.dump("port-get"):
            fault("%s: a port is left" % what)

    def port(name):
        index = ifindex(ns, name)
        s.do("port-set", {"ifindex": index, "cnpv": [{"priority": 3, "mode": 1}]})
        got = mon.event()
        if not got or got[0] != "port-ntf" or got[1]["ifname"] != name:
            fault("%s: %s" % (name, got))
        return index

    s.do("port-del", {"ifindex": ifindex(ns, "port0")})
    mon.subscribe("monitor")
    elsewhere.subscribe("monitor")
    index = port("port0")
    if t.dump("port-get"):
        fault("seen in another namespace")
    subprocess.run(["ip", "-n", ns, "link", "set", "dev", "port0", "netns", other],
                   check=True)
    gone("moved", index, "port0")
    if t.dump("port-get"):
        fault("it is a port where it moved to")
    t.do("port-set", {"ifindex": ifindex(other, "port0"), "cnpv": [
        {"priority": 4, "mode": 2}]})
    elsewhere.event()
    index = port("free0")
    subprocess.run(["ip", "-n", ns, "link", "del", "dev", "free0"], check=True)
    gone("deleted", index, "free0")
    if (event := elsewhere.event(timeout=0.2)):
        fault("an event in another namespace: %s" % (event,))


def main():
    name, *args = sys.argv[1:] or [""]
    run = globals().get("cmd_" + name) or globals().get("case_" + name)
    if not run or not args:
        sys.exit(__doc__)
    try:
        run(*args)
    except Error as e:
        sys.exit("qcn_domain.py: %s: %s" % (name, e))
    sys.exit(1 if nc.faults else 0)


if __name__ == "__main__":
    main()
