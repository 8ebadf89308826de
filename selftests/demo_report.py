#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The table of demo.sh, and the verdict.

  demo_report.py DIR CAPACITIES ABWS DELAYS DEVICES

DIR has what demo.sh saw: ports (a line for each look at the ports, JSON), capture,
signals and traffic.  The figure's rows are words: kbit/s, kbit/s, ms, names.
A port's value is the median of the looks, the receiver's that of its packets: one
packet that the machine held up is no measurement of the network.
"""

import bisect
import collections
import json
import os
import statistics
import sys

# of the packets of a signal and format have to name the same bottleneck
AGREE = 0.8
SIGNALS = {0: ("min(ABW)", min), 1: ("min(ABW/C)", min), 2: ("max(PD)", max)}

failures = []


def check(ok, text):
    if not ok:
        failures.append(text)
    return ok


def value_text(t, v):
    if t == 0:
        return "%.4g Mbit/s" % (v / 1e6)
    if t == 1:
        return "%.4g %%" % (v / 1e4)
    return "%.4g ms" % (v / 1e6)


def load(directory, name):
    with open(os.path.join(directory, name)) as f:
        return f.read()


def figure(args):
    capacity, abw, delay = ([float(x) for x in a.split()] for a in args[:3])
    return [{"port": d + "/out0", "capacity": c * 1e3, 0: a * 1e3, 1: a / c * 1e6,
             2: p * 1e6}
            for d, c, a, p in zip(args[3].split(), capacity, abw, delay)]


def print_ports(hops, looks):
    head = "%-5s%-12s%10s" % ("hop", "port", "capacity")
    for name in "ABW", "ABW/C", "PD":
        head += "%9s %8s" % (name, "figure")
    print("What each port measured, beside the figure's row (rates 1:10000, times "
          "1000:1)\n\n" + head)
    print("%-5s%-12s%10s%9s %8s%9s %8s%9s %8s" % (
        ("", "", "Mbit/s") + ("Mbit/s",) * 2 + ("%",) * 2 + ("ms",) * 2))
    for n, hop in enumerate(hops):
        def typical(key):
            return statistics.median(look[n][key] for look in looks)

        def smallest(key):  # a machine without its CPU only adds to a delay
            return min(look[n][key] for look in looks)

        row = "%-5d%-12s%10g" % (n + 1, hop["port"], typical("capacity_bps") / 1e6)
        for t, of, key, unit in ((0, typical, "abw_bps", 1e6),
                                 (1, typical, "abwc_ppm", 1e4),
                                 (2, smallest, "pd_last_ns", 1e6)):
            v = of(key)
            row += "%9.2f %8g" % (v / unit, hop[t] / unit)
            check(abs(v - hop[t]) <= 0.1 * hop[t],
                  "%s measured %s, the figure says %s" % (
                      hop["port"], value_text(t, v), value_text(t, hop[t])))
        print(row)
    print()


def code(bounds, v):
    return bisect.bisect_right(bounds, v)


def print_received(hops, packets, bounds):
    seen = collections.defaultdict(list)
    for p in packets:
        seen[p["t"], p["format"]].append(p)
    print("What the receiver saw\n")
    print("%-12s%-10s%8s  %-22s%12s  %-14s%s" % (
        "signal", "format", "packets", "value", "figure", "bottleneck", "figure"))
    for t, (name, worst) in SIGNALS.items():
        at = hops.index(worst(hops, key=lambda h: h[t]))
        want = hops[at][t]
        for fmt in "compact", "expanded":
            these = seen[t, fmt]
            what = "%s, %s" % (name, fmt)
            if not check(these, what + ": no packet"):
                continue
            s = int(statistics.median_low([p["s"] for p in these]))
            p = next(p for p in these if p["s"] == s)
            lo, hi = p["value_min"], p["value_max"]
            if not check(lo is not None, what + ": no device wrote a value"):
                continue
            if fmt == "compact":
                off = abs(s - code(bounds[t], want))
                check(off <= 1, "%s: %s, %d buckets from %s" % (
                    what, value_text(t, lo), off, value_text(t, want)))
                text = "%s .. %s" % (value_text(t, lo).split()[0],
                                     "more" if hi is None else value_text(t, hi))
            else:
                check(abs(lo - want) <= 0.1 * want, "%s: %s, the figure says %s" % (
                    what, value_text(t, lo), value_text(t, want)))
                text = value_text(t, lo)
            names = collections.Counter(p["bottleneck"] for p in these)
            who, votes = names.most_common(1)[0]
            check(who == hops[at]["port"], "%s: the bottleneck is named %s, not %s" % (
                what, who, hops[at]["port"]))
            check(votes >= AGREE * len(these), "%s: only %d of %d packets name %s" % (
                what, votes, len(these), who))
            print("%-12s%-10s%8d  %-22s%12s  %-14s%s, hop %d" % (
                name, fmt, len(these), text, value_text(t, want), who,
                hops[at]["port"], at + 1))
    print()


def main():
    directory = sys.argv[1]
    hops = figure(sys.argv[2:])
    looks = [json.loads(line) for line in load(directory, "ports").splitlines()]
    bounds = {s["t"]: s["buckets"] for s in json.loads(load(directory, "signals"))}
    traffic = json.loads(load(directory, "traffic"))
    tcp = traffic["flows"][0]

    print()
    print_ports(hops, looks)
    print_received(hops, json.loads(load(directory, "capture")), bounds)
    print("The transfer: %d octets arrived as they were sent, %d retransmissions" % (
        tcp["received_bytes"], tcp["retransmissions"]))
    check(tcp["intact"], "the transfer was damaged")
    for f in failures:
        print("WRONG: " + f)
    print("The demo %s" % ("failed" if failures else "passed: all as in the figure"))
    return 1 if failures else 0


sys.exit(main())
