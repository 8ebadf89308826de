#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# kmsg-check.sh FILE: print what of a kernel log matches bad-kmsg, with some
# lines around it; status 1 when there was something.

! sed -e 's/^<[0-9]*>//' -e 's/^\[[^]]*\]\(\[[^]]*\]\)* *//' "$1" |
	grep -E -n -B 2 -A 30 -f "$(dirname "$0")/bad-kmsg" | head -n 200 | grep .
