#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A capture for the dissector of QCN, and what it has to say about it.

  qcn_wireshark.py write VECTORS PCAP       the capture, with the frames of all sets
  qcn_wireshark.py fields                   the fields to ask tshark for, one a line
  qcn_wireshark.py check SET VECTORS <TEXT  what "tshark -T fields" printed

SET is vectors, variants or malformed.  VECTORS is unit/vectors/qcn-cnm.json.  Expected
values come from what went into a CNM, not from its octets.
"""

import json
import struct
import sys

EXPERTS = ("cntag.cut", "cntag.double", "short", "msdu.len.max", "msdu.len.beyond",
           "version.unknown", "reserved.set", "qntzfb.zero", "cntag.none")
VALUES = ("rpid", "type", "version", "reserved", "qntzfb", "cpid", "cpid.mac", "cpid.port",
          "cpid.priority", "qoffset", "qoffset.bytes", "qdelta", "qdelta.bytes",
          "priority", "priority.reserved", "dst", "msdu.len", "msdu", "msdu.type", "padding")
OTHERS = ("eth.dst", "eth.src", "ieee8021ad.id", "vlan.id", "vlan.priority", "ip.src",
          "udp.dstport", "llc.dsap", "_ws.col.protocol", "_ws.col.info",
          "_ws.expert.severity")
FIELDS = ["qcn." + f for f in VALUES + EXPERTS] + list(OTHERS)

VLANS = (0x8100, 0x88a8)
MALFORMED, WARN, NOTE = 8388608, 6291456, 4194304


def mac(b):
    return ":".join(f"{x:02x}" for x in b)


def units(octets):
    """Towards 0, saturating."""
    return max(-0x8000, min(0x7fff, abs(octets) // 64 * (1 if octets >= 0 else -1)))


def split(frame):
    """(dst, src, VLAN TCI or None, RPID or None, MSDU) of a sampled frame"""
    at, tci, rpid = 12, None, None
    if struct.unpack_from("!H", frame, at)[0] in VLANS:
        tci, at = struct.unpack_from("!H", frame, at + 2)[0], at + 4
    if struct.unpack_from("!H", frame, at)[0] == 0x22e9:
        rpid, at = struct.unpack_from("!H", frame, at + 2)[0], at + 4
    return frame[:6], frame[6:12], tci, rpid, frame[at:]


def expected(v):
    """Fields of the CNM of a vector."""
    dst, src, tci, rpid, msdu = split(bytes.fromhex(v["sampled"]))
    msdu = msdu[:v["min_header_octets"]]
    own = v["cnm_source"] == "cp" or dst[0] & 1
    priority = tci >> 13 if tci is not None else 0
    qoffset, qdelta = units(-v["q_minus_qeq"]), units(v["qdelta"])
    cpid = bytes.fromhex(v["cpid"])
    length = 12 + (4 if tci is not None else 0) + 4 + 2 + 24 + len(msdu)
    return {
        "eth.dst": mac(src),
        "eth.src": mac(bytes.fromhex(v["cp_mac"])) if own else mac(dst),
        "vlan.id": str(tci & 0xfff) if tci is not None else "",
        "vlan.priority": str(v["cnm_priority"]) if tci is not None else "",
        "qcn.rpid": str(rpid or 0),
        "qcn.type": "0x22e7",
        "qcn.version": "0",
        "qcn.reserved": "0x0000",
        "qcn.qntzfb": str(v["qntzfb"]),
        "qcn.cpid": mac(cpid),
        "qcn.cpid.mac": mac(cpid[:6]),
        "qcn.cpid.port": str(cpid[6] + (cpid[7] >> 3 << 8)),
        "qcn.cpid.priority": str(cpid[7] & 7),
        "qcn.qoffset": str(qoffset),
        "qcn.qoffset.bytes": str(qoffset * 64),
        "qcn.qdelta": str(qdelta),
        "qcn.qdelta.bytes": str(qdelta * 64),
        "qcn.priority": str(priority),
        "qcn.priority.reserved": "0x0000",
        "qcn.dst": mac(dst),
        "qcn.msdu.len": str(len(msdu)),
        "qcn.msdu": msdu.hex(),
        "qcn.msdu.type": "0x" + msdu[:2].hex() if len(msdu) > 1 else "",
        "qcn.padding": "00" * max(0, 60 - length),
        "_ws.col.protocol": "QCN",
        "_ws.col.info":
            f"CNM, QntzFb {v['qntzfb']}, priority {priority}, RPID {rpid or 0}",
    }


def vectors(vs):
    for v in vs:
        yield bytes.fromhex(v["cnm"]), expected(v)


HEAD = bytes.fromhex("020000000001" "0200000000aa")
TAG = bytes.fromhex("22e90005")
ETH_CNM = bytes.fromhex("22e7")
IPV4 = bytes.fromhex("4500001c000000004011f7cd0a0000010a000002" "000903e80008dee0")


def pdu(word=46, n=0, msdu=b"", priority=0x6000):
    return struct.pack("!H8shhH6sH", word, bytes.fromhex("0200000000aaff2b"), -3, 5, priority,
                       bytes.fromhex("020000000002"), n) + msdu


def plain(**others):
    return {"qcn.qntzfb": "46", "qcn.cpid.port": "1535", "qcn.cpid.priority": "3",
            "qcn.qoffset": "-3", "qcn.qoffset.bytes": "-192", "qcn.qdelta": "5",
            "qcn.qdelta.bytes": "320", "qcn.priority": "3", **others}


def variants(_):
    """Well-formed: VLAN tags, padding, no CN-TAG; data frames with a CN-TAG."""
    cntag = {"qcn.rpid": "5", "qcn.type": "0x22e7"}
    data = {"qcn.rpid": "5", "qcn.version": "", "qcn.msdu": ""}
    ip = {"ip.src": "10.0.0.1", "udp.dstport": "1000"}

    for msdu in b"", b"\x08", b"\x08\x00", bytes(range(64)):
        f = HEAD + TAG + ETH_CNM + pdu(n=len(msdu), msdu=msdu)
        yield f, plain(**cntag, **{"qcn.padding": "", "qcn.msdu": msdu.hex()})
        yield f + bytes(7), plain(**cntag, **{"qcn.padding": "00" * 7,
                                              "qcn.msdu.len": str(len(msdu))})
    yield HEAD + bytes.fromhex("8100c001") + TAG + ETH_CNM + pdu(), plain(
        **cntag, **{"vlan.id": "1", "vlan.priority": "6"})
    yield HEAD + bytes.fromhex("88a8c0028100c001") + TAG + ETH_CNM + pdu(), plain(
        **cntag, **{"ieee8021ad.id": "2", "vlan.id": "1", "qcn.msdu.len": "0"})
    yield HEAD + ETH_CNM + pdu() + bytes(22), plain(**{
        "qcn.rpid": "", "qcn.cntag.none": True, "_ws.expert.severity": str(NOTE),
        "_ws.col.info": "CNM, QntzFb 46, priority 3"})
    yield HEAD + TAG + b"\x08\x00" + IPV4, {**data, **ip, "qcn.type": "0x0800"}
    yield HEAD + bytes.fromhex("81006001") + TAG + b"\x08\x00" + IPV4, {
        **data, **ip, "vlan.id": "1", "vlan.priority": "3"}
    yield HEAD + TAG + bytes.fromhex("81000007" "0800") + IPV4, {
        **data, **ip, "qcn.type": "0x8100", "vlan.id": "7"}
    yield HEAD + TAG + bytes.fromhex("0003" "424203") + bytes(39), {
        **data, "qcn.type": "0x0003", "llc.dsap": "0x42"}
    yield HEAD + TAG + bytes.fromhex("88b5") + bytes(40), {**data, "qcn.type": "0x88b5"}


def malformed(_):
    """Frames to complain about."""
    error = {"_ws.expert.severity": str(MALFORMED)}
    note = {"_ws.expert.severity": str(NOTE)}

    for n in range(4):
        yield HEAD + TAG[:2] + bytes(n), {"qcn.cntag.cut": True, "qcn.rpid": "", **error}
    yield HEAD + TAG + TAG + bytes.fromhex("88b5") + bytes(40), {
        "qcn.cntag.double": True, "qcn.rpid": "5,5", **error}
    for n in 0, 1, 23:
        yield HEAD + TAG + ETH_CNM + pdu()[:n], {
            "qcn.short": True, "qcn.rpid": "5", "qcn.version": "", **error}
    for n, msdu, experts in ((1, 0, "b"), (64, 63, "b"), (65, 64, "bm"), (65, 65, "m"),
                             (0xffff, 65, "bm")):
        yield HEAD + TAG + ETH_CNM + pdu(n=n, msdu=bytes(msdu)), plain(**{
            "qcn.msdu.len": str(n), "qcn.msdu": "", "qcn.padding": "",
            "_ws.col.info": "CNM, QntzFb 46, priority 3, RPID 5, malformed",
            **({"qcn.msdu.len.max": True} if "m" in experts else {}),
            **({"qcn.msdu.len.beyond": True} if "b" in experts else {}),
            "_ws.expert.severity": ",".join([str(MALFORMED)] * len(experts))})
    for version in 1, 15:
        yield HEAD + TAG + ETH_CNM + pdu(word=version << 12 | 46), plain(**{
            "qcn.version": str(version), "qcn.version.unknown": True,
            "_ws.expert.severity": str(WARN)})
    yield HEAD + TAG + ETH_CNM + pdu(word=0x0fc0 | 46), plain(**{
        "qcn.reserved": "0x003f", "qcn.reserved.set": True, **note})
    yield HEAD + TAG + ETH_CNM + pdu(priority=0x7fff), plain(**{
        "qcn.priority.reserved": "0x1fff", "qcn.reserved.set": True, **note})
    yield HEAD + TAG + ETH_CNM + pdu(word=0), {
        "qcn.qntzfb": "0", "qcn.qntzfb.zero": True, **note}


SETS = {"vectors": vectors, "variants": variants, "malformed": malformed}


def cases(source):
    with open(source) as f:
        vs = json.load(f)
    return {name: list(make(vs)) for name, make in SETS.items()}


def cmd_write(source, pcap):
    with open(pcap, "wb") as out:
        out.write(struct.pack("=IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for frame, _ in sum(cases(source).values(), []):
            out.write(struct.pack("=IIII", 0, 0, len(frame), len(frame)) + frame)
    return 0


def cmd_fields():
    print("\n".join(FIELDS))
    return 0


def cmd_check(name, source):
    lines = sys.stdin.read().splitlines()
    everything = cases(source)
    bad = []
    total = sum(map(len, everything.values()))
    if len(lines) != total:
        bad.append(f"{len(lines)} lines for {total} frames")
    for before, frames in everything.items():
        if before == name:
            break
        lines = lines[len(frames):]
    for i, ((frame, want), line) in enumerate(zip(frames, lines), 1):
        got = dict(zip(FIELDS, line.split("\t")))
        # complaints that nobody expects are wrong, too
        want = {**{"qcn." + e: False for e in EXPERTS}, **want}
        if "ip.src" not in want:
            want.setdefault("_ws.expert.severity", "")
        for field, value in want.items():
            have = got.get(field)
            if isinstance(value, bool):
                have = bool(have)
            if have != value:
                bad.append(f"frame {i}, {field}: expected {value!r}, got {have!r}: {frame.hex()}")
    print(f"{name}: {len(frames)} frames")
    print(*bad, sep="\n")
    return bool(bad)


def main():
    return globals()["cmd_" + sys.argv[1]](*sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
