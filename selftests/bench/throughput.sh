#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Throughput of tagged bulk TCP against untagged over one link as fast as the machine,
# with GSO and GRO on: no test, its numbers are for people.  In each of ROUNDS the formats
# take turns TURNS times, since the speed of an emulated machine drifts; what counts is
# the median of the rounds' means.  Every transfer goes to OUT (default throughput.csv):
# round, format, bits per second, retransmissions.  The status is 1 when tagged is below
# 95 % of untagged.
#
#   throughput.sh [ROUNDS [SECONDS [TURNS]]]      OUT=FILE

# shellcheck disable=SC2119,SC2317

set -u
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../traffic.sh"
. "$(dirname "$0")/../hosts.sh"

rounds=${1:-5}
seconds=${2:-2}
turns=${3:-4}
out=${OUT:-throughput.csv}

leave() {
	local rc=$?

	trap - EXIT
	_lib_kill_jobs
	_lib_del_ns
	wait_for 10 _lib_rmmod
	rm -rf "$_csig_tmp"
	exit "$rc"
}

die() {
	echo "throughput: $*" >&2
	exit 1
}

link() {
	mkns h1 h2
	mkveth h1 eth0 01 h2 eth0 02
	addr h1 eth0 10.1.0.1/24
	addr h2 eth0 10.1.0.2/24
	nsx h1 ethtool -K eth0 gro on >/dev/null
	nsx h2 ethtool -K eth0 gro on >/dev/null
}

# untagged: the ports are the same, no host is enabled.  Sender and receiver have a CPU
# each; large writes make full super-packets with any segment size.
transfer() { # ROUND FORMAT
	nsx h1 iperf3 -c 10.1.0.2 -t "$seconds" -O 1 -A 0,1 -l 1M -J \
		>"$_csig_tmp/iperf" ||
		die "iperf3: $(jq -r .error "$_csig_tmp/iperf")"
	jq -r "[$1, \"$2\", (.end.sum_received.bits_per_second | round),
		.end.sum_sent.retransmits] | @csv" "$_csig_tmp/iperf" | tee -a "$out"
}

turn() { # ROUND FORMAT
	if [ "$2" = untagged ]; then
		transfer "$1" untagged
		return
	fi
	hosts_enable format "$2" || die "host enable"
	transfer "$1" "$2"
	hosts_disable || die "host disable"
}

median() { # FORMAT: of the rounds' means, bits per second
	awk -F, -v f="\"$1\"" '$2 == f { sum[$1] += $3; n[$1]++ }
		END { for (r in sum) printf "%d\n", sum[r] / n[r] }' "$out" |
		sort -n | sed -n "$(((rounds + 1) / 2))p"
}

medians() {
	local f base median again

	printf '\n%-10s %12s %8s %16s\n' format "Mbit/s" "share" "retransmissions"
	for f in untagged compact expanded; do
		median=$(median $f)
		again=$(awk -F, -v f="\"$f\"" '$2 == f { n += $4 } END { print n + 0 }' "$out")
		: "${base:=$median}"
		printf '%-10s %12d %6d %% %16d\n' $f $((median / 1000000)) \
			$((median * 100 / base)) "$again"
		[ $((median * 100)) -ge $((base * 95)) ] || slow=1
	done
}

[ "$(id -u)" = 0 ] || die "needs root"
need ip tc jq iperf3 ethtool csigctl
_csig_tmp=$(mktemp -d /tmp/csig-throughput-XXXXXX)
trap leave EXIT
modprobe csig || die "the module does not load"
link
port_add h1 eth0 ingress trust
port_add h2 eth0 ingress trust
nsx h2 iperf3 -s -D >/dev/null
: >"$out"
formats=(untagged compact expanded)
for ((round = 1; round <= rounds; round++)); do
	for ((i = 0; i < turns * 3; i++)); do
		# another one is the first in each turn
		turn $round "${formats[(i + i / 3) % 3]}"
	done
done
medians
exit "${slow:-0}"
