#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What the samples of bench/qcn.sh say about the claims that are made of QCN.

  qcn_report.py DIR FILE.json

FILE.json becomes a list of {claim, target, measured, unit, holds}; DIR/summary.csv a
line for each run; the same as tables on stdout.  The status is 1 when a claim does not
hold.
"""

import csv
import json
import os
import sys

SERIES = [65 / 128, 0.754, 0.877, 0.938, 0.969, 0.985]
QUEUES = ("fifo", "red", "fq_codel", "qcn")


class Bench:
    def __init__(self, folder):
        self.folder = folder
        self.set = self.json("settings")
        self.line, self.qeq = self.set["line_bps"], self.set["qeq_bytes"]
        self.spot_t = self.set["spot_timer_ms"] / 1000
        self.claims = []

    def path(self, name):
        return os.path.join(self.folder, name)

    def json(self, name):
        with open(self.path(name + ".json")) as f:
            return json.load(f)

    def csv(self, name):
        with open(self.path(name + ".csv")) as f:
            return [{k: float(v) if v else None for k, v in row.items()}
                    for row in csv.DictReader(f)]

    def claim(self, text, target, measured, unit, holds, digits=3):
        if isinstance(measured, float):
            measured = round(measured, digits)
        self.claims.append({"claim": text, "target": target, "measured": measured,
                            "unit": unit, "holds": bool(holds)})

    # --- runs ---------------------------------------------------------------------

    def summary(self, name):
        """One run in numbers that have no unit but the frame's, Qeq's and the line's."""
        r = self.json(name)
        leaf = r["leaf"]
        out = {"utilisation": r["bps"] / self.line, "jain": r["jain"],
               "mean_qeq": r["backlog_mean_bytes"] / self.qeq,
               "max_qeq": r["backlog_max_bytes"] / self.qeq,
               "drops": r["drops"], "frames": r["frames"],
               "drop_share": r["drops"] / max(1, r["drops"] + r["frames"])}
        backlogs = sorted(row["backlog_bytes"] for row in self.csv(name))
        out["p99_qeq"] = backlogs[int(len(backlogs) * 0.99)] / self.qeq
        out["cnm_share"] = 0
        if leaf["kind"] == "qcn_cp":    # it looks at each frame
            out["mean_qeq"] = leaf["queue_sum_bytes"] / sum(leaf["queue"]) / self.qeq
            out["p99_qeq"] = p99(leaf["queue"])
            out["cnm_share"] = sum(leaf["cnm"]) / r["frames"]
        return out

    def steady(self):
        rows = []
        for kind in "udp", "tcp":
            for n in 1, 2, 4, 10:
                for queue in QUEUES:
                    name = "%s-%d-%s" % (kind, n, queue)
                    if os.path.exists(self.path(name + ".json")):
                        rows.append({"sources": kind, "n": n, "queue": queue,
                                     **self.summary(name)})
        with open(self.path("summary.csv"), "w") as f:
            w = csv.DictWriter(f, rows[0].keys())
            w.writeheader()
            for row in rows:
                w.writerow({k: round(v, 5) if isinstance(v, float) else v
                            for k, v in row.items()})
        return rows

    def steady_claims(self, rows):
        found = {(r["sources"], r["n"], r["queue"]): r for r in rows}
        for kind in "udp", "tcp":
            for n in 2, 4:
                r, fifo = found[kind, n, "qcn"], found[kind, n, "fifo"]
                who = "%d %s sources: " % (n, kind.upper())
                self.claim(who + "utilisation", ">= 0.97", r["utilisation"], "ratio",
                           r["utilisation"] >= 0.97)
                self.claim(who + "mean queue", "0.7 to 1.3", r["mean_qeq"], "Qeq",
                           0.7 <= r["mean_qeq"] <= 1.3)
                self.claim(who + "99th percentile of the queue", "< 2", r["p99_qeq"],
                           "Qeq", r["p99_qeq"] < 2)
                self.claim(who + "Jain's index of the shares", ">= 0.95", r["jain"],
                           "ratio", r["jain"] >= 0.95)
                self.claim(who + "CNMs", "<= 0.01", r["cnm_share"], "per frame",
                           r["cnm_share"] <= 0.01, 5)
                self.claim(who + "drops with a buffer of 6 Qeq", "0", r["drops"],
                           "frames", r["drops"] == 0)
                self.claim(who + "fifo drops", "> 0", fifo["drops"], "frames",
                           fifo["drops"] > 0)
                if kind == "udp":
                    limit = self.set["limit_bytes"] / self.qeq
                    self.claim(who + "fifo stands at its limit", ">= %.1f" % (0.9 * limit),
                               fifo["mean_qeq"], "Qeq", fifo["mean_qeq"] >= 0.9 * limit)

    # --- hot spots -------------------------------------------------------------------

    def spot_claims(self):
        period = self.spot_t
        for part, n in (19, 1), (19, 2), (19, 4), (2, 2):
            name = "spot%d-%d-qcn" % (part, n)
            rows = self.csv(name)
            closed, opened = (e["time"] for e in self.json(name)["events"])
            before = rate(rows, 0, closed)
            who = "hot spot to 1/%d, T %d ms, %d source%s: " % (
                part, period * 1000, n, "s"[:n > 1])
            t = first(rows, closed, opened, period,
                      lambda a, b: mean(rows, a, b, "backlog_bytes") < 2 * self.qeq)
            self.claim(who + "queue under 2 Qeq again", "<= 10", t and t / period, "T",
                       t is not None and t <= 10 * period, 1)
            t = first(rows, opened, rows[-1]["time_s"], period,
                      lambda a, b: rate(rows, a, b) >= 0.95 * before)
            self.claim(who + "95 % of the throughput again", "<= 10", t and t / period,
                       "T", t is not None and t <= 10 * period, 1)

    # --- one CNM, and many -------------------------------------------------------------

    def series_claims(self):
        rows = self.csv("series")
        rates, line = [], rows[0]["line_bps"] if rows else self.line
        for row in rows:
            share = row["cr_bps"] / line
            if not rates or share > rates[-1] + 0.0005:
                rates.append(share)
        for n, want in enumerate(SERIES):
            got = rates[n] if n < len(rates) else None
            self.claim("one CNM of 63: rate %s" % ("after it" if not n else
                       "after stage %d of fast recovery" % n), "%.3f +- 0.002" % want,
                       got, "line", got is not None and abs(got - want) <= 0.002, 4)
        more = rates[len(SERIES):]
        self.claim("one CNM of 63: rates of active increase", "> 0.985 and rising",
                   len(more), "rates", more and min(more) > 0.985)
        gone = rows and rows[-1]["time_stage"] == 0 and rows[-1]["cr_bps"] == line
        self.claim("one CNM of 63: the limiter is released", "released",
                   rows[-1]["time_s"] if gone else None, "s after it", gone)

    def flood_claims(self):
        rows, report = self.csv("flood"), self.json("flood")
        a, b = 2.3, 5
        got = frames(rows, a, b)
        want = self.set["min_rate_bps"]
        self.claim("flood of CNMs (%d of all kinds): rate" % report.get("cnms_of_flood", 0),
                   ">= %d" % want, got, "bit/s", got >= want)
        t = first(rows, b, rows[-1]["time_s"], 0.5,
                  lambda x, y: rate(rows, x, y) >= 0.95 * rate(rows, 0, 2))
        self.claim("flood of CNMs: 95 % of the throughput again", "yes", t,
                   "s after it", t is not None, 1)


def p99(queue):
    """Upper end of the bin, in Qeq, below which 99 of 100 frames found the queue."""
    total, tail, n = sum(queue), 0, len(queue)
    while n > 1 and tail + queue[n - 1] <= total / 100:
        n -= 1
        tail += queue[n]
    return n / 8


def between(rows, a, b):
    return [r for r in rows if a <= r["time_s"] <= b]


def wire_bits(row):
    return 8 * (row["sent_bytes"] + 24 * row["sent_packets"])


def rate(rows, a, b):
    part = between(rows, a, b)
    if len(part) < 2:
        return 0
    return (wire_bits(part[-1]) - wire_bits(part[0])) / \
        (part[-1]["time_s"] - part[0]["time_s"])


def frames(rows, a, b):
    """Rate, with one frame more that is on its way at either end."""
    part = between(rows, a, b)
    bits = wire_bits(part[-1]) - wire_bits(part[0])
    count = part[-1]["sent_packets"] - part[0]["sent_packets"]
    return bits * (count + 1) / max(1, count) / (part[-1]["time_s"] - part[0]["time_s"])


def mean(rows, a, b, key):
    part = between(rows, a, b)
    return sum(r[key] for r in part) / max(1, len(part))


def first(rows, start, end, width, ok):
    """Time after start until a window of this width that is as it has to be ended."""
    for r in between(rows, start, end):
        b = r["time_s"]
        if b - width >= start and ok(b - width, b):
            return b - start
    return None


def show(rows, claims):
    print("%-4s %3s %-9s %6s %6s %6s %6s %6s %8s %7s" % (
        "from", "N", "queue", "util.", "mean", "p99", "max", "Jain", "drops", "CNMs"))
    for r in rows:
        print("%-4s %3d %-9s %6.3f %6.2f %6.2f %6.2f %6.3f %8d %6.2f%%" % (
            r["sources"], r["n"], r["queue"], r["utilisation"], r["mean_qeq"],
            r["p99_qeq"], r["max_qeq"], r["jain"], r["drops"], 100 * r["cnm_share"]))
    print()
    for c in claims:
        print("%-5s %-62s %s %s, wanted %s" % ("holds" if c["holds"] else "FAILS",
              c["claim"], c["measured"], c["unit"], c["target"]))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    bench = Bench(sys.argv[1])
    rows = bench.steady()
    bench.steady_claims(rows)
    bench.spot_claims()
    bench.series_claims()
    bench.flood_claims()
    with open(sys.argv[2], "w") as f:
        json.dump(bench.claims, f, indent=2)
        f.write("\n")
    show(rows, bench.claims)
    return 0 if all(c["holds"] for c in bench.claims) else 1


if __name__ == "__main__":
    sys.exit(main())
