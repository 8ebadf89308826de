#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A generic netlink client for tests: it sends what it is told to, right or wrong.

The attributes come from Documentation/netlink/specs/FAMILY.yaml, as for any YNL
client; the octets can also be given raw, which no proper client would do.

  genl.py port-get [NS/]DEV     one port as JSON, with all that the kernel says
  genl.py domain-get [NS]
"""

import json
import os
import socket
import struct
import sys

import yaml

from frames import in_ns

NETLINK_GENERIC = 16
SOL_NETLINK = 270
NETLINK_ADD_MEMBERSHIP = 1
NETLINK_CAP_ACK = 10
NETLINK_EXT_ACK = 11
NETLINK_GET_STRICT_CHK = 12
NLM_F_REQUEST, NLM_F_MULTI, NLM_F_ACK, NLM_F_DUMP = 1, 2, 4, 0x300
NLM_F_DUMP_INTR = 0x10
NLM_F_CAPPED, NLM_F_ACK_TLVS = 0x100, 0x200
NLMSG_ERROR, NLMSG_DONE = 2, 3
NLA_F_NESTED = 0x8000
GENL_ID_CTRL = 16
EXTACK = {1: "msg", 2: "offset", 4: "policy", 5: "miss_type", 6: "miss_nest"}
SIZES = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q"}


def spec_path(family):
    here = os.path.dirname(os.path.abspath(__file__))
    while True:
        path = os.path.join(here, "Documentation/netlink/specs", family + ".yaml")
        if os.path.exists(path):
            return path
        if here == "/":
            raise SystemExit("genl.py: no Documentation/netlink/specs/%s.yaml above" %
                             family)
        here = os.path.dirname(here)


class Spec:
    def __init__(self, family):
        with open(spec_path(family)) as f:
            y = yaml.load(f, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        self.sets = {}
        for s in y["attribute-sets"]:
            attrs = {}
            for n, a in enumerate(s["attributes"]):
                attrs[a["name"]] = dict(a, id=n + 1)
            self.sets[s["name"]] = attrs
        self.ops = {o["name"]: dict(o, id=n + 1)
                    for n, o in enumerate(y["operations"]["list"])}
        self.by_id = {o["id"]: o for o in self.ops.values()}
        self.enums = {d["name"]: [e["name"] if isinstance(e, dict) else e
                                  for e in d["entries"]]
                      for d in y["definitions"] if d["type"] == "enum"}
        self.max_len = {d["name"]: d["value"] for d in y["definitions"]
                        if d["type"] == "const"}

    def encode(self, set_name, values):
        """{name: value} to octets; a list of values is one attribute for each."""
        out = b""
        for name, value in values.items():
            attr = self.sets[set_name][name]
            for v in value if isinstance(value, list) else [value]:
                out += nla(*self.encode_one(attr, v))
        return out

    def encode_one(self, attr, v):
        kind = attr["type"]
        if isinstance(v, bytes):
            return attr["id"] | (NLA_F_NESTED if kind == "nest" else 0), v
        if kind == "nest":
            return (attr["id"] | NLA_F_NESTED,
                    self.encode(attr["nested-attributes"], v))
        if kind == "string":
            return attr["id"], v.encode() + b"\0"
        if kind == "flag":
            return attr["id"], b""
        return attr["id"], struct.pack("=" + SIZES[kind], v)

    def decode(self, set_name, data):
        by_id = {a["id"]: a for a in self.sets[set_name].values()}
        out = {}
        for kind, payload in attributes(data):
            attr = by_id.get(kind & 0x3fff)
            if not attr:
                continue
            if attr["type"] == "nest":
                v = self.decode(attr["nested-attributes"], payload)
            elif attr["type"] == "string":
                v = payload.rstrip(b"\0").decode()
            elif attr["type"] == "flag":
                v = True
            else:
                v = struct.unpack("=" + SIZES[attr["type"]], payload)[0]
            if attr.get("multi-attr"):
                out.setdefault(attr["name"], []).append(v)
            else:
                out[attr["name"]] = v
        return out


def nla(kind, payload, length=None):
    """One attribute; length lies about its size."""
    n = 4 + len(payload) if length is None else length
    return struct.pack("=HH", n, kind) + payload + bytes(-len(payload) % 4)


def attributes(data):
    while len(data) >= 4:
        n, kind = struct.unpack_from("=HH", data)
        if n < 4:
            return
        yield kind, data[4:n]
        data = data[n + 3 & ~3:]


class Error(Exception):
    """What the kernel refused, and what it said about it."""

    def __init__(self, errno, ack):
        self.errno = errno
        self.msg = ack.get("msg", "")
        self.offset = ack.get("offset")
        self.miss_type = ack.get("miss_type")
        super().__init__("%s%s" % (os.strerror(errno), self.msg and ": " + self.msg))


class Socket:
    """One socket of a family in a network namespace."""

    def __init__(self, ns="", family="csig"):
        self.spec = Spec(family)
        with in_ns(ns or "."):
            self.s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW,
                                   NETLINK_GENERIC)
        self.s.bind((0, 0))
        self.s.settimeout(30)
        for option in (NETLINK_CAP_ACK, NETLINK_EXT_ACK, NETLINK_GET_STRICT_CHK):
            self.s.setsockopt(SOL_NETLINK, option, 1)
        self.seq = 0
        self.reserved = 0   # of the generic netlink header
        self.groups = {}
        self.resolve(family)

    def resolve(self, family):
        self.id = GENL_ID_CTRL
        reply = self.raw(3, nla(2, family.encode() + b"\0"), cmd_version=2)[0][4:]
        for kind, data in attributes(reply):
            if kind == 1:
                family_id = struct.unpack("=H", data)[0]
            elif kind & 0x3fff == 7:
                for _, group in attributes(data):
                    g = dict(attributes(group))
                    self.groups[g[1].rstrip(b"\0").decode()] = struct.unpack(
                        "=I", g[2])[0]
        self.id = family_id

    def subscribe(self, group):
        self.s.setsockopt(SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, self.groups[group])

    def send(self, cmd, payload, flags=0, cmd_version=1):
        self.seq += 1
        body = struct.pack("=BBH", cmd, cmd_version, self.reserved) + payload
        self.s.send(struct.pack("=IHHII", 16 + len(body), self.id,
                                NLM_F_REQUEST | flags, self.seq, 0) + body)

    def receive(self):
        """Messages of one datagram: (type, flags, seq, octets after the header)."""
        data = self.s.recv(1 << 17)
        while len(data) >= 16:
            n, kind, flags, seq, _ = struct.unpack_from("=IHHII", data)
            yield kind, flags, seq, data[16:n]
            data = data[n + 3 & ~3:]

    def check(self, kind, flags, body):
        """Raise what an error message says; true for a plain acknowledgement."""
        if kind not in (NLMSG_ERROR, NLMSG_DONE):
            return False
        errno = -struct.unpack_from("=i", body)[0] if len(body) >= 4 else 0
        ack = {}
        if flags & NLM_F_ACK_TLVS:
            for k, v in attributes(body[4 if kind == NLMSG_DONE else 20:]):
                if k == 1:
                    ack["msg"] = v.rstrip(b"\0").decode()
                elif k in (2, 5, 6):
                    ack[EXTACK[k]] = struct.unpack("=I", v)[0]
        if errno:
            raise Error(errno, ack)
        return True

    def raw(self, cmd, payload, flags=0, cmd_version=1):
        """A request; returns the replies' octets from the genl header on."""
        self.send(cmd, payload, flags | NLM_F_ACK, cmd_version)
        replies = []
        while True:
            for kind, mflags, seq, body in self.receive():
                if seq != self.seq:
                    continue
                if self.check(kind, mflags, body):
                    return replies
                replies.append(body)

    def do(self, op, values=None):
        o = self.spec.ops[op]
        payload = values if isinstance(values, bytes) else self.spec.encode(
            o["attribute-set"], values or {})
        replies = self.raw(o["id"], payload)
        return (self.spec.decode(o["attribute-set"], replies[0][4:])
                if replies else None)

    def dump_start(self, op):
        self.send(self.spec.ops[op]["id"], b"", NLM_F_DUMP)

    def dump_part(self, op):
        """(messages, interrupted, done) of the next datagram of a dump."""
        messages, interrupted, done = [], False, False
        for kind, flags, seq, body in self.receive():
            if seq != self.seq:
                continue
            interrupted |= bool(flags & NLM_F_DUMP_INTR)
            if kind == NLMSG_DONE:
                self.check(kind, flags, body)
                done = True
            else:
                self.check(kind, flags, body)
                messages.append(self.spec.decode(
                    self.spec.ops[op]["attribute-set"], body[4:]))
        return messages, interrupted, done

    def dump(self, op):
        self.dump_start(op)
        out, done = [], False
        while not done:
            part, _, done = self.dump_part(op)
            out += part
        return out

    def event(self, timeout=10):
        """(name, values) of the next notification, None when there is none."""
        self.s.settimeout(timeout)
        try:
            for _, _, _, body in self.receive():
                o = self.spec.by_id[body[0]]
                name = o.get("notify", o["name"])
                return o["name"], self.spec.decode(
                    self.spec.ops[name]["attribute-set"], body[4:])
        except TimeoutError:
            return None
        finally:
            self.s.settimeout(30)


def ifindex(ns, dev):
    with in_ns(ns or "."):
        return socket.if_nametoindex(dev)


def run():
    if len(sys.argv) < 2 or sys.argv[1] not in ("port-get", "domain-get"):
        sys.exit(__doc__)
    where = sys.argv[2] if len(sys.argv) > 2 else ""
    if sys.argv[1] == "domain-get":
        print(json.dumps(Socket(where).do("domain-get")))
        return
    ns, _, dev = where.rpartition("/")
    print(json.dumps(Socket(ns).do("port-get", {"ifindex": ifindex(ns, dev)})))


def main():
    try:
        run()
    except (Error, OSError) as e:
        sys.exit("genl.py: %s" % e)


if __name__ == "__main__":
    main()
