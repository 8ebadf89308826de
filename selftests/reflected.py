#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Are the options that a receiver sent those that its tags ask for?

  reflected.py latest|summary <JSON of talk.py, seen at the receiver

One signal only, a maximum, in the expanded format.  latest: each reflection is the last
tag before it.  summary: it is the largest since the reflection before it.  What the
device saw last and what the socket knew may differ by a packet where two CPUs work on
one connection, so one tag more or less is accepted at either end.
"""

import json
import sys


def value(data):
    """S of expanded data, hex"""
    return int(data, 16) >> 8 & 0xfffff


def main():
    policy = sys.argv[1]
    tags, since, earlier = [], 0, 0
    checked = wrong = merged = 0
    for p in json.load(sys.stdin)["packets"]:
        if p["dir"] == ">" and p["tag"]:
            tags.append(value(p["tag"][4:]))
        elif p["dir"] == "<" and p["csig"] and len(p["csig"]) == 20:
            got = value(p["csig"][8:])
            if policy == "latest":
                fits = got in tags[-2:]
            else:
                spans = [tags[a:b] for a in (earlier, since - 1, since, since + 1)
                         for b in (len(tags) - 1, len(tags)) if 0 <= a < b]
                fits = any(got == max(s) for s in spans)
                merged += len(tags) - since > 1 and got == max(tags[since:]) != tags[-1]
            checked += 1
            if not fits:
                wrong += 1
                print("reflected %d after %s" % (got, tags[max(since - 2, 0):]))
            earlier, since = since, len(tags)
    print("%d reflections of %d tags, %d wrong, %d not the last but the largest" %
          (checked, len(tags), wrong, merged))
    if checked < 10 or wrong:
        return 1
    # otherwise the test would also pass with "latest"
    return policy == "summary" and not merged


if __name__ == "__main__":
    sys.exit(main())
