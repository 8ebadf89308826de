#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Cases of netlink.sh that need octets of their own or two sockets at once.

  netlink_cases.py CASE NS [ARGUMENT...]

NS has the dummy device port0 as a port with the field "hop" in the layouts, and
free0, a device that is none.  A case that finds a fault says so and ends with status 1.
"""

import os
import random
import socket
import struct
import subprocess
import sys

from frames import in_ns
from genl import NLA_F_NESTED, SIZES, Error, Socket, ifindex, nla

EPERM, ENOENT, E2BIG, EEXIST, ENODEV, EINVAL, ERANGE, EOPNOTSUPP = (
    1, 2, 7, 17, 19, 22, 34, 95)
HEAD = 20   # netlink and generic netlink header: where attributes start

faults = 0


def fault(text):
    global faults
    faults += 1
    print("FAULT: " + text)


def state(s):
    """All that a refused request must not change."""
    domain = s.do("domain-get")
    ports = [{k: p[k] for k in ("ifindex", "ifname", "config")}
             for p in s.dump("port-get")]
    return domain, s.dump("signal-get"), s.dump("layout-get"), ports


def good_requests(ns):
    """A valid request of each operation that takes attributes."""
    port, free = ifindex(ns, "port0"), ifindex(ns, "free0")
    config = {"capacity-bps": 10 ** 9, "estimator": 2, "interval-ns": 1000000,
              "alpha-ppm": 200000, "ingress": 1, "egress": 1, "unknown": 1,
              "update": 0, "overhead-bytes": 20, "lm": [{"name": "hop", "value": 3}]}
    domain = {"compact-tpid": 0x9901, "expanded-tpid": 0xccde, "software-assist": 1,
              "signal": [{"t": 4, "source": 3, "aggregate": 2, "bound": [10, 20],
                          "base": 5, "step": 7}],
              "layout": [{"t": 1, "format": 0,
                          "field": [{"name": "stage", "bits": 3}]}]}
    return {"domain-set": domain, "port-get": {"ifindex": port},
            "port-add": {"ifindex": free, "config": config},
            "port-set": {"ifindex": port, "config": config},
            "port-del": {"ifindex": port}}


class Piece:
    """One attribute of a request, to be sent wrongly."""

    def __init__(self, attr, value, path):
        self.attr, self.value, self.path = attr, value, path


def pieces(spec, set_name, values, path=()):
    """Every attribute in a request, nested ones too."""
    for name, value in values.items():
        attr = spec.sets[set_name][name]
        first = value[0] if isinstance(value, list) else value
        yield Piece(attr, first, path + (name,))
        if attr["type"] == "nest":
            yield from pieces(spec, attr["nested-attributes"], first, path + (name,))


def build(spec, set_name, values, path, wrong, offset=HEAD):
    """(octets, offset of the wrong attribute); wrong(attr, value) gives its octets."""
    out, at = b"", None
    for name, value in values.items():
        attr = spec.sets[set_name][name]
        for i, v in enumerate(value if isinstance(value, list) else [value]):
            here = offset + len(out)
            if path == (name,) and not i:
                octets, at = wrong(attr, v), here
            elif path[:1] == (name,) and not i:
                inner, at = build(spec, attr["nested-attributes"], v, path[1:], wrong,
                                  here + 4)
                octets = nla(attr["id"] | NLA_F_NESTED, inner)
            else:
                octets = nla(*spec.encode_one(attr, v))
            out += octets
    return out, at


def wrong_forms(spec, attr, value):
    """(what is wrong, octets) of an attribute, all to be refused by the policy."""
    i, kind = attr["id"], attr["type"]
    if kind in SIZES:
        n = struct.calcsize(SIZES[kind])
        for length in {0, 1, n - 1, n + 1, 2 * n, 255} - {n}:
            yield "length %d" % length, nla(i, bytes(length))
        yield "with the flag of a nest", nla(i | NLA_F_NESTED,
                                             struct.pack("=" + SIZES[kind], value))
        checks = attr.get("checks", {})
        limits = []
        if "max" in checks:
            limits += [checks["max"] + 1, 2 ** (8 * n) - 1]
        if "min" in checks:
            limits += [checks["min"] - 1, 0]
        if "enum" in attr:
            limits += [len(spec.enums[attr["enum"]]), 255]
        for v in limits:
            yield "value %d" % v, nla(i, struct.pack("=" + SIZES[kind], v))
    elif kind == "string":
        yield "length 0", nla(i, b"")
        yield "no NUL", nla(i, b"abc")
        yield "too long", nla(i, b"a" * (spec.max_len["lm-name-max"] + 1) + b"\0")
        yield "1000 octets", nla(i, b"a" * 999 + b"\0")
        yield "with the flag of a nest", nla(i | NLA_F_NESTED, b"a\0")
    elif kind == "flag":
        yield "length 1", nla(i, b"\1")
        yield "length 4", nla(i, bytes(4))
    elif kind == "nest":
        inner = spec.encode(attr["nested-attributes"], value)
        yield "without the flag of a nest", nla(i, inner)
        for n in 1, 2, 3:
            yield "length %d" % n, nla(i | NLA_F_NESTED, bytes(n))
        highest = max(a["id"] for a in spec.sets[attr["nested-attributes"]].values())
        for t in 0, highest + 1, 0x3fff:
            yield "with attribute %d inside" % t, nla(
                i | NLA_F_NESTED, inner + nla(t, bytes(4)))
        yield "with a cut attribute inside, leftover", nla(
            i | NLA_F_NESTED, inner + nla(1, b"", length=40))
        yield "with an attribute of length 3 inside, leftover", nla(
            i | NLA_F_NESTED, inner + nla(1, b"", length=3))


def refused(s, op, what, payload, before, offset=None, inside=0, errnos=None):
    """Send; wants a refusal with a message, at the offset, that changes nothing."""
    try:
        s.do(op, payload)
        fault("%s, %s: accepted" % (op, what))
    except Error as e:
        if e.errno not in (errnos or (EINVAL, ERANGE, E2BIG)):
            fault("%s, %s: %s" % (op, what, e))
        if not e.msg and e.miss_type is None:
            fault("%s, %s: %s, without a message" % (op, what, e))
        if offset is not None and not (e.offset is not None and
                                       offset <= e.offset <= offset + inside):
            fault("%s, %s: %s, offset %s instead of %d" % (op, what, e, e.offset,
                                                         offset))
    if before is not None and state(s) != before:
        fault("%s, %s: the state changed" % (op, what))


def case_policy(ns):
    """Each attribute of each operation in each wrong form."""
    s = Socket(ns)
    before = state(s)
    n = 0
    for op, values in good_requests(ns).items():
        set_name = s.spec.ops[op]["attribute-set"]
        at_once = 0
        for piece in pieces(s.spec, set_name, values):
            for what, octets in wrong_forms(s.spec, piece.attr, piece.value):
                payload, at = build(s.spec, set_name, values, piece.path,
                                    lambda *_, o=octets: o)
                # a fault inside a nest may be told at the attribute inside
                inside = len(octets) if piece.attr["type"] == "nest" else 0
                if "leftover" in what:      # the kernel's parser gives no offset
                    at = None
                refused(s, op, "%s %s" % ("/".join(piece.path), what), payload,
                        None, at, inside)
                n += 1
                at_once += 1
        if state(s) != before:
            fault("%s: one of %d refused requests changed the state" % (op, at_once))
            before = state(s)
        highest = max(a["id"] for a in s.spec.sets[set_name].values())
        good = s.spec.encode(set_name, values)
        for t in 0, highest + 1, 0x3fff:
            refused(s, op, "unknown attribute %d" % t, good + nla(t, bytes(4)),
                    before, HEAD + len(good))
        refused(s, op, "octets after the attributes", good + b"\1\2\3\4"[:2] + b"\0\0",
                before)
        # what the operation does not take
        taken = s.spec.ops[op]["do"]["request"]["attributes"]
        for name, attr in s.spec.sets[set_name].items():
            if name not in taken:
                refused(s, op, name + " is for replies only", good + nla(
                    attr["id"] | (NLA_F_NESTED if attr["type"] == "nest" else 0),
                    bytes({"u32": 4, "u64": 8}.get(attr["type"], 0))),
                    before, HEAD + len(good))
                n += 1
    print("%d wrong requests" % n)


def case_meaning(ns):
    """What the policy lets pass and the module has to refuse."""
    s = Socket(ns)
    port, free = ifindex(ns, "port0"), ifindex(ns, "free0")
    before = state(s)
    sig = {"t": 5, "source": 0, "aggregate": 0, "bound": [10, 20], "step": 1}
    lay = {"format": 0, "field": [{"name": "a", "bits": 3}]}
    cases = [
        ("port-add", "no ifindex", {"config": {}}, (EINVAL,)),
        ("port-set", "no ifindex", {"config": {}}, (EINVAL,)),
        ("port-del", "no ifindex", {}, (EINVAL,)),
        ("port-get", "no ifindex", {}, (EINVAL,)),
        ("port-add", "no such device", {"ifindex": 999999}, (ENODEV,)),
        ("port-add", "is a port already", {"ifindex": port}, (EEXIST,)),
        ("port-set", "no port", {"ifindex": free, "config": {"update": 0}},
         (ENOENT, ENODEV)),
        ("port-del", "no port", {"ifindex": free}, (ENOENT, ENODEV)),
        ("port-get", "no port", {"ifindex": free}, (ENOENT, ENODEV)),
        ("port-get", "no such device", {"ifindex": 999999}, (ENOENT, ENODEV)),
        ("port-add", "loopback", {"ifindex": 1}, (EOPNOTSUPP, EINVAL)),
    ]
    for what, config in [
            ("interval below 10 us", {"interval-ns": 9999}),
            ("interval above 10 s", {"interval-ns": 10 ** 10 + 1}),
            ("interval 0", {"interval-ns": 0}),
            ("interval 2^64 - 1", {"interval-ns": 2 ** 64 - 1}),
            ("capacity 2^53", {"capacity-bps": 2 ** 53}),
            ("capacity 2^64 - 1", {"capacity-bps": 2 ** 64 - 1}),
            ("unknown field", {"lm": [{"name": "nosuch", "value": 1}]}),
            ("field too large", {"lm": [{"name": "hop", "value": 128}]}),
            ("field given twice", {"lm": [{"name": "hop", "value": 1},
                                          {"name": "hop", "value": 2}]}),
            ("field without a name", {"lm": [{"value": 1}]}),
            ("field without a value", {"lm": [{"name": "hop"}]}),
            # nothing of a request that is refused may stay
            ("good first, wrong last", {"update": 0, "egress": 1,
                                        "lm": [{"name": "nosuch", "value": 1}]})]:
        for op, dev in ("port-set", port), ("port-add", free):
            cases.append((op, what, {"ifindex": dev, "config": config},
                          (EINVAL, ERANGE, ENOENT)))
    for tpid in (0x600, 0x800, 0x806, 0x8100, 0x86dd, 0x8808, 0x8847, 0x8848, 0x88a8,
                 0x88cc, 0x88e5, 0x9100, 0x22e7, 0x22e9):
        if tpid == 0x600:
            continue
        cases.append(("domain-set", "compact TPID %x" % tpid,
                      {"compact-tpid": tpid}, None))
        cases.append(("domain-set", "expanded TPID %x" % tpid,
                      {"expanded-tpid": tpid}, None))
    cases += [("domain-set", what, values, None) for what, values in [
        ("equal TPIDs", {"compact-tpid": 0xccdd}),
        ("equal TPIDs", {"expanded-tpid": 0x9900}),
        ("88a8 expanded, assisted", {"expanded-tpid": 0x88a8, "software-assist": 1}),
        ("signal without t", {"signal": [{k: sig[k] for k in sig if k != "t"}]}),
        ("a removed signal with a source",
         {"signal": [{"t": 0, "remove": True, "source": 0}]}),
        ("new signal without source",
         {"signal": [{k: sig[k] for k in sig if k != "source"}]}),
        ("new signal without boundaries",
         {"signal": [{k: sig[k] for k in sig if k != "bound"}]}),
        ("falling boundaries", {"signal": [dict(sig, bound=[20, 10])]}),
        ("equal boundaries", {"signal": [dict(sig, bound=[10, 10])]}),
        ("boundary 0", {"signal": [dict(sig, bound=[0, 10])]}),
        ("32 boundaries", {"signal": [dict(sig, bound=list(range(1, 33)))]}),
        ("base 2^62", {"signal": [dict(sig, base=2 ** 62)]}),
        ("step 2^43", {"signal": [dict(sig, step=2 ** 43)]}),
        ("second row wrong", {"signal": [sig, dict(sig, t=6, bound=[2, 1])]}),
        ("layout without format", {"layout": [{"field": lay["field"]}]}),
        ("8 bits compact", {"layout": [dict(lay, field=[{"name": "a", "bits": 8}])]}),
        ("17 bits expanded", {"layout": [{"format": 1, "field": [
            {"name": "a", "bits": 9}, {"name": "b", "bits": 8}]}]}),
        ("two fields of one name", {"layout": [dict(lay, field=[
            {"name": "a", "bits": 1}, {"name": "a", "bits": 1}])]}),
        ("nine fields", {"layout": [{"format": 1, "field": [
            {"name": "f%d" % i, "bits": 1} for i in range(9)]}]}),
        ("field without a name", {"layout": [dict(lay, field=[{"bits": 1}])]}),
        ("field without bits", {"layout": [dict(lay, field=[{"name": "a"}])]}),
        ("empty name", {"layout": [dict(lay, field=[{"name": "", "bits": 1}])]}),
        ("compact layout for T 9", {"layout": [dict(lay, t=9)]}),
        ("good TPID, wrong layout", {"compact-tpid": 0x9902, "layout": [
            dict(lay, field=[{"name": "a", "bits": 8}])]}),
    ]]
    for op, what, values, errnos in cases:
        refused(s, op, what, values, before, errnos=errnos)
    print("%d requests without sense" % len(cases))
    # the state is asked for with a zero again
    s.reserved = 1
    for op, values in good_requests(ns).items():
        refused(s, op, "the header's reserved field is not 0", values, None)
    s.reserved = 0
    if state(s) != before:
        fault("a request with a reserved field changed the state")


def case_undo(ns):
    """A qdisc that the core refuses after csig's init leaves the port as it was."""
    s = Socket(ns)
    before = state(s)
    config = s.spec.encode(s.spec.ops["port-set"]["attribute-set"], {
        "config": {"capacity-bps": 10 ** 9, "interval-ns": 1000000, "egress": 1}})[4:]
    with in_ns(ns):
        tc = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
    tc.settimeout(30)

    def add_qdisc(ewma_log):
        body = struct.pack("=BxxxiIII", 0, ifindex(ns, "port0"), 2 << 16, 0xffffffff, 0)
        body += nla(1, b"csig\0") + nla(2, config)        # TCA_KIND, TCA_OPTIONS
        body += nla(5, struct.pack("=bB", 0, ewma_log))   # TCA_RATE
        # RTM_NEWQDISC; REQUEST, ACK, REPLACE, CREATE: another in place of the first
        tc.send(struct.pack("=IHHII", 16 + len(body), 36, 0x505, 1, 0) + body)
        return -struct.unpack_from("=i", tc.recv(1 << 16), 16)[0]

    if (errno := add_qdisc(0)) != EINVAL:
        fault("a rate estimator of 0: %d, not EINVAL" % errno)
    if state(s) != before:
        fault("settings of a refused qdisc stayed: %s" % state(s)[3])
    if errno := add_qdisc(3):
        fault("a good rate estimator: %d" % errno)
    if state(s) == before:
        fault("settings of a qdisc did nothing")


def case_random(ns):
    """Random octets as attributes: the kernel log is what is looked at."""
    s = Socket(ns)
    rand = random.Random(516)
    for _ in range(600):
        op = rand.choice([o for o in s.spec.ops if "do" in s.spec.ops[o]])
        payload = b""
        for _ in range(rand.randrange(4)):
            body = rand.randbytes(rand.choice([0, 1, 2, 4, 8, 12, 40]))
            if rand.random() < 0.3:
                body += nla(rand.randrange(1, 12) | rand.choice([0, NLA_F_NESTED]),
                            rand.randbytes(rand.choice([0, 1, 4, 8])))
            payload += nla(rand.randrange(0, 12) | rand.choice([0, NLA_F_NESTED]), body)
        if rand.random() < 0.2:
            payload = rand.randbytes(rand.randrange(64))
        try:
            s.do(op, payload)
        except Error:
            pass
    s.do("domain-get")


def case_effect(ns):
    """Valid requests do what they say: all values can be read back."""
    s = Socket(ns)
    requests = good_requests(ns)
    s.do("domain-set", requests["domain-set"])
    d = s.do("domain-get")
    for k in "compact-tpid", "expanded-tpid", "software-assist":
        if d[k] != requests["domain-set"][k]:
            fault("%s is %s" % (k, d[k]))
    for op in "signal", "layout":
        rows = [m[op][0] for m in s.dump(op + "-get")]
        if requests["domain-set"][op][0] not in rows:
            fault("%s %s not in %s" % (op, requests["domain-set"][op][0], rows))
    for op in "port-set", "port-add":
        s.do(op, requests[op])
        got = s.do("port-get", {"ifindex": requests[op]["ifindex"]})
        if got["config"] != requests[op]["config"]:
            fault("%s: %s became %s" % (op, requests[op]["config"], got["config"]))
    # what is not given stays
    index = requests["port-set"]["ifindex"]
    s.do("port-set", {"ifindex": index, "config": {"egress": 0}})
    got = s.do("port-get", {"ifindex": index})["config"]
    if got != dict(requests["port-set"]["config"], egress=0):
        fault("port-set changed more: %s" % got)
    s.do("port-del", {"ifindex": requests["port-add"]["ifindex"]})
    try:
        s.do("port-get", {"ifindex": requests["port-add"]["ifindex"]})
        fault("the port is still there")
    except Error as e:
        if e.errno not in (ENOENT, ENODEV):
            fault(str(e))


def writes(ns, s):
    """Each operation that needs the capability: what it answers."""
    for op, values in good_requests(ns).items():
        if op == "port-get":
            continue
        try:
            s.do(op, values)
            yield op, 0
        except Error as e:
            yield op, e.errno


def case_unprivileged(ns):
    """Another user reads and does not write."""
    s = Socket(ns)
    before = state(s)
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
    s = Socket(".")
    for op, errno in writes("", s):
        if errno != EPERM:
            fault("%s: %d, not refused" % (op, errno))
    if state(s) != before:
        fault("reads differ, or the state changed")


def case_userns(_):
    """Root of an own user and network namespace writes there.  Runs in it."""
    s = Socket(".")
    s.do("domain-set", {"compact-tpid": 0x9911})
    index = ifindex("", "port0")
    s.do("port-add", {"ifindex": index, "config": {"capacity-bps": 1000000}})
    if s.do("port-get", {"ifindex": index})["config"]["capacity-bps"] != 1000000:
        fault("the port has another capacity")
    s.do("port-del", {"ifindex": index})


def names(messages):
    return [m["ifname"] for m in messages]


def case_dump(ns, prefix, count):
    """Dumps of many ports while ports come and go, and two dumps at once."""
    s, other = Socket(ns), Socket(ns)
    devs = {"%s%d" % (prefix, i): ifindex(ns, "%s%d" % (prefix, i))
            for i in range(int(count))}
    order = sorted(devs, key=devs.get)
    for d in order:
        s.do("port-add", {"ifindex": devs[d]})
    ports = set(devs) | {"port0"}

    got = names(s.dump("port-get"))
    if sorted(got) != sorted(ports):
        fault("quiet dump: %d of %d ports, %d of them twice" % (
            len(set(got)), len(ports), len(got) - len(set(got))))

    # two at once, one part each in turn
    s.dump_start("port-get")
    other.dump_start("port-get")
    lists, left = {s: [], other: []}, [s, other]
    while left:
        for sock in list(left):
            part, _, done = sock.dump_part("port-get")
            lists[sock] += names(part)
            if done:
                left.remove(sock)
    for got in lists.values():
        if sorted(got) != sorted(ports):
            fault("two dumps at once: %d of %d ports" % (len(set(got)), len(ports)))

    # ports go before, at and behind the place where the dump is, and come back
    for first, second in ((0, -1), (-1, 0), (len(order) // 2, len(order) // 2 + 1)):
        touched = {order[first], order[second]}
        got, interrupted, parts, done = [], False, 0, False
        s.dump_start("port-get")
        while not done:
            part, intr, done = s.dump_part("port-get")
            got += names(part)
            interrupted |= intr
            parts += 1
            if parts == 2:
                other.do("port-del", {"ifindex": devs[order[first]]})
                other.do("port-del", {"ifindex": devs[order[second]]})
            if parts == 4:
                other.do("port-add", {"ifindex": devs[order[first]]})
                other.do("port-add", {"ifindex": devs[order[second]]})
        if parts < 6:
            fault("the dump had only %d parts" % parts)
        missing = ports - touched - set(got)
        twice = {d for d in got if got.count(d) > 1}
        if missing or twice:
            fault("changed under the dump: %d missing (%s), %d twice (%s)" % (
                len(missing), " ".join(sorted(missing)[:3]), len(twice),
                " ".join(sorted(twice)[:3])))
        if not interrupted:
            fault("the dump was changed and is not marked as interrupted")
    for d in order:
        s.do("port-del", {"ifindex": devs[d]})
    if names(s.dump("port-get")) != ["port0"]:
        fault("ports left over")


def case_monitor(ns, other_ns):
    """Events of the group, in order, in this namespace only."""
    s, mon, elsewhere = Socket(ns), Socket(ns), Socket(other_ns)
    mon.subscribe("monitor")
    elsewhere.subscribe("monitor")
    free = ifindex(ns, "free0")

    def wait(name, **want):
        event = mon.event()
        while event and event[0] == "port-ntf" and name != "port-ntf":
            event = mon.event()     # one change may be told in steps
        if not event or event[0] != name:
            fault("event %s instead of %s" % (event and event[0], name))
            return
        for k, v in want.items():
            if event[1].get(k.replace("_", "-")) != v:
                fault("%s: %s is %s, not %s" % (name, k,
                                                event[1].get(k.replace("_", "-")), v))

    s.do("domain-set", {"compact-tpid": 0x9907})
    wait("domain-ntf", compact_tpid=0x9907)
    s.do("port-add", {"ifindex": free, "config": {"capacity-bps": 1000}})
    wait("port-ntf", ifindex=free, ifname="free0")
    s.do("port-set", {"ifindex": free, "config": {"egress": 1}})
    wait("port-ntf", ifindex=free)
    s.do("port-del", {"ifindex": free})
    wait("port-del-ntf", ifindex=free, ifname="free0")
    try:    # a refused request is no event
        s.do("port-del", {"ifindex": free})
    except Error:
        pass
    s.do("port-add", {"ifindex": free})
    wait("port-ntf", ifindex=free)
    # the device goes
    subprocess.run(["ip", "-n", ns, "link", "del", "dev", "free0"], check=True)
    wait("port-del-ntf", ifindex=free, ifname="free0")
    if elsewhere.event(timeout=0.2):
        fault("an event in another network namespace")


def main():
    if len(sys.argv) < 3 or "case_" + sys.argv[1] not in globals():
        sys.exit(__doc__)
    globals()["case_" + sys.argv[1]](*sys.argv[2:])
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
