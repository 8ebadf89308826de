# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # _csig_tmp is lib.sh's
# Known traffic and what ports make of it: traffic.py and genl.py for tests.  Sourced
# after lib.sh; it is no test itself.

pace_pid=

# Flows as in traffic.py, in the background; returns when the first packet is due.
pace_start() { # FLOW...
	rm -f "$_csig_tmp/ready"
	python3 -SEB "$CSIG_LIB_DIR/traffic.py" pace --ready "$_csig_tmp/ready" "$@" \
		>"$_csig_tmp/pace" &
	pace_pid=$!
	wait_for 60 _pace_runs || fail "no traffic: $*"
}

_pace_runs() {
	[ -e "$_csig_tmp/ready" ]
}

# Ends it; fails when a TCP flow did not arrive intact.
pace_stop() {
	kill "$pace_pid"
	wait "$pace_pid"
}

# Flows with a count or a time, until they ended.
pace() { # FLOW... [--seconds S]
	py traffic pace "$@" >"$_csig_tmp/pace"
}

# What was sent, after the end.
sent() { # KEY [FLOW NUMBER]
	jq ".flows[${2:-0}].$1" "$_csig_tmp/pace"
}

# A TCP transfer as fast as it goes; its report in $_csig_tmp/bulk.
bulk() { # FLOW
	py traffic bulk "$1" >"$_csig_tmp/bulk" ||
		fail "the transfer failed: $1: $(cat "$_csig_tmp/bulk")"
}

bulk_get() { # KEY
	jq -r ".$1" "$_csig_tmp/bulk"
}

# All that the kernel says of a port, without csigctl between.
port_raw() { # NS DEV JQ-PATH
	py genl port-get "$(ns "$1")/$2" | jq -r "$3"
}

# TCP segments that arrived with a wrong checksum
csum_errors() { # NS
	nsx "$1" cat /proc/net/snmp |
		awk '$1 == "Tcp:" && ++n == 2 { print $16 }'
}

wire_bits() { # NS DEV
	port_stat "$1" "$2" bits
}

# The qdisc below a device's csig qdisc
child() { # NS DEV KIND [OPTION...]
	local n=$1 dev=$2

	shift 2
	tc -n "$(ns "$n")" qdisc replace dev "$dev" parent "$(csig_class "$n" "$dev")" "$@"
}

# csigctl makes one where a port is.
clsact() { # NS DEV
	tc -n "$(ns "$1")" qdisc show dev "$2" | grep -q clsact ||
		tc -n "$(ns "$1")" qdisc add dev "$2" clsact
}

median() { # NUMBER...
	printf '%s\n' "$@" | sort -n | sed -n "$((($# + 1) / 2))p"
}

# Median of a port's value over a number of looks, PAUSE seconds apart: a window of
# the estimator each.
looks() { # NS DEV KEY NUMBER PAUSE
	local i values=()

	for ((i = 0; i < $4; i++)); do
		values+=("$(port_get "$1" "$2" "$3")")
		sleep "$5"
	done
	median "${values[@]}"
}

# Frames with a tag of one format, from hex lines: S of each.
tag_values() { # compact|expanded
	local line

	while read -r line; do
		case $1 in
		compact) [ "${line:24:4}" != 9900 ] ||
			echo $((16#${line:28:4} >> 7 & 31)) ;;
		expanded) [ "${line:24:4}" != ccdd ] ||
			echo $((16#${line:33:5})) ;;
		esac
	done
}

# Frames for NS/DEV, until COMMAND has sent them; hex lines in $_csig_tmp/frames.
capture_of() { # NS/DEV NUMBER COMMAND...
	local where=$1 n=$2

	shift 2
	frames recv "$where" --count "$n" >"$_csig_tmp/frames" &
	wait_for 60 grep -q ready "$_csig_tmp/frames" || fail "no receiver at $where"
	"$@"
	wait $! || fail "only $(grep -vc ready "$_csig_tmp/frames") of $n frames arrived"
	sed -i /ready/d "$_csig_tmp/frames"
}
