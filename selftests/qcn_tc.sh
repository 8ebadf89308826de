#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# tc's plugins for qcn_cp and qcn_rp, and the qdiscs' options through them: defaults, what
# is set reads back, refusals, statistics, limiters as classes.
#
#   h1                    h2
#   v0 ----------------- v1          the qdisc on v0

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2034 # read by lib.sh
csig_module=sch_qcn

# Without the port, which is an ifindex
CP_DEFAULTS='{
	"limit_bytes": 156000, "qeq_bytes": 26000, "weight": 1, "base_bytes": 150000,
	"header_bytes": 64, "mac": null, "cnm_priority": 6, "source": "cp",
	"qoffset": "standard", "cnpv": []
}'
RP_DEFAULTS='{
	"rate_bps": null, "min_rate_bps": 5000000, "ai_bps": 5000000, "hai_bps": 50000000,
	"timer_ns": 15000000, "bytes": 150000, "threshold": 5, "gd": 7,
	"min_dec_percent": 50, "rps": 1, "hash": "dst", "cnpv": [], "limit": 10000,
	"flow_limit": 256, "catchup_ns": 200000
}'

pair() { # [VETH OPTION...]
	mkns h1 h2
	mkveth h1 v0 01 h2 v1 02 "$@"
}

htc() { # tc in h1
	tc -n "h1-$$" "$@"
}

show() { # KIND [TC OPTION...]
	local kind=$1

	shift
	htc -j "$@" qdisc show dev v0 | jq "[.[] | select(.kind == \"$kind\")]"
}

options() { # KIND
	show "$1" | jq '.[0].options'
}

same_json() { # WHAT EXPECTED GOT
	jq -en --argjson a "$2" --argjson b "$3" '$a == $b' >/dev/null ||
		fail "$1: expected $2, got $3"
}

symbols() {
	export LD_BIND_NOW=1
	local out kind

	for kind in qcn_cp qcn_rp; do
		out=$(tc qdisc add $kind help 2>&1) && fail "help of $kind: status 0"
		grep -q "Usage: ... $kind" <<<"$out" || fail "no help of $kind: $out"
	done
}

defaults() {
	local index

	pair
	index=$(ip -n "h1-$$" -j link show dev v0 | jq '.[0].ifindex % 8192')
	htc qdisc add dev v0 root handle 1: qcn_cp
	same_json "qcn_cp" "$(jq ". + {port: $index}" <<<"$CP_DEFAULTS")" \
		"$(options qcn_cp)"
	assert_eq "qcn_cp, text" "limit 156000 qeq 26000 weight 1 base 150000 header 64 mac auto port $index cnm-priority 6 source cp qoffset standard cnpv auto" \
		"$(htc qdisc show dev v0 | sed -n 's/.* \(limit .*[^ ]\) *$/\1/p')"
	htc qdisc replace dev v0 root handle 2: qcn_rp
	same_json "qcn_rp" "$RP_DEFAULTS" "$(options qcn_rp)"
	assert_eq "qcn_rp, text" "rate auto min-rate 5Mbit ai 5Mbit hai 50Mbit timer 15ms bytes 150000 threshold 5 gd 7 min-dec 50% rps 1 hash dst cnpv auto limit 10000 flow-limit 256 catchup 200us" \
		"$(htc qdisc show dev v0 | sed -n 's/.* \(rate auto .*[^ ]\) *$/\1/p')"
}

# Every option is set, reads back, and what the text says can be typed.  In batches, for
# the starts of tc are what takes time.  Cases are "OPTION... | JSON" on stdin.
readback() { # KIND FIRST-OPTION DEFAULTS
	local cases=$_csig_tmp/cases text=$_csig_tmp/text

	cat >"$cases"
	sed "s/ |.*//; s/.*/qdisc add dev v0 root $1 &\nqdisc show dev v0\nqdisc del dev v0 root/" \
		"$cases" | htc -batch - | sed -n "s/^qdisc $1 .* \($2 .*\)\$/\1/p" >"$text"
	assert_eq "lines of text" "$(wc -l <"$cases")" "$(wc -l <"$text")"
	sed "s/.*/qdisc add dev v0 root $1 &\nqdisc show dev v0\nqdisc del dev v0 root/" "$text" |
		htc -j -batch - | jq -c ".[] | select(.kind == \"$1\") | .options" >"$text.got"
	jq -nc "$3 as \$d | $(sed 's/.*| *\(.*\)/($d + \1)/' "$cases" | paste -sd,)" \
		>"$text.want"
	diff <(jq -cS . "$text.want") <(jq -cS . "$text.got") ||
		fail "options of: $(cat "$cases")"
}

cp_readback() {
	pair
	readback qcn_cp limit "$CP_DEFAULTS + {port: 7}" <<-'EOF'
	port 7 limit 1514 | {limit_bytes: 1514}
	port 7 limit 1073741824 | {limit_bytes: 1073741824}
	port 7 limit 150kb qeq 20k | {limit_bytes: 153600, qeq_bytes: 20480}
	port 7 qeq 1514 | {qeq_bytes: 1514, limit_bytes: 9084}
	port 7 qeq 50000 | {qeq_bytes: 50000, limit_bytes: 300000}
	port 7 qeq 1.5mb limit 1gb | {qeq_bytes: 1572864, limit_bytes: 1073741824}
	port 7 weight -10 | {weight: -10}
	port 7 weight 10 | {weight: 10}
	port 7 weight 0 | {weight: 0}
	port 7 base 10000 | {base_bytes: 10000}
	port 7 base 1073741824 | {base_bytes: 1073741824}
	port 7 header 0 | {header_bytes: 0}
	port 7 header 63 | {header_bytes: 63}
	port 7 mac 02:00:5E:00:00:aa | {mac: "02:00:5e:00:00:aa"}
	port 7 mac auto | {}
	port 0 | {port: 0}
	port 8191 | {port: 8191}
	port 7 cnm-priority 0 | {cnm_priority: 0}
	port 7 cnm-priority 7 cnpv 0,1,2,3,4,5,6 | {cnm_priority: 7, cnpv: [0,1,2,3,4,5,6]}
	port 7 source destination qoffset seed | {source: "destination", qoffset: "seed"}
	port 7 source cp qoffset standard | {}
	port 7 cnpv 5,3 | {cnpv: [3,5]}
	port 7 cnpv auto | {}
	EOF
}

rp_readback() {
	pair
	readback qcn_rp rate "$RP_DEFAULTS" <<-'EOF'
	rate 100mbit | {rate_bps: 100000000}
	rate 4294967296 | {rate_bps: 4294967296}
	rate 17592186044416 | {rate_bps: 17592186044416}
	rate 1kbit | {rate_bps: 1000, min_rate_bps: 1000}
	rate 1MBps min-rate 50kbit | {rate_bps: 8000000, min_rate_bps: 50000}
	rate auto min-rate 1000 | {min_rate_bps: 1000}
	ai 1bit hai 1bit | {ai_bps: 1, hai_bps: 1}
	ai 17592186044416 hai 1.5gbit | {ai_bps: 17592186044416, hai_bps: 1500000000}
	timer 100us | {timer_ns: 100000}
	timer 10s | {timer_ns: 10000000000}
	timer 1.5ms | {timer_ns: 1500000}
	bytes 1 | {bytes: 1}
	bytes 1gb | {bytes: 1073741824}
	threshold 1 gd 0 | {threshold: 1, gd: 0}
	threshold 255 gd 15 | {threshold: 255, gd: 15}
	min-dec 1% | {min_dec_percent: 1}
	min-dec 100 | {min_dec_percent: 100}
	rps 100 hash flow | {rps: 100, hash: "flow"}
	cnpv 0,1,2,3,4,5,7 | {cnpv: [0,1,2,3,4,5,7]}
	cnpv 6 | {cnpv: [6]}
	limit 1 flow-limit 1 | {limit: 1, flow_limit: 1}
	limit 1000000 flow-limit 1000000 | {limit: 1000000, flow_limit: 1000000}
	catchup 0 | {catchup_ns: 0}
	catchup 1s | {catchup_ns: 1000000000}
	EOF
}

change_keeps() {
	pair
	htc -batch - <<-'EOF'
	qdisc add dev v0 root qcn_cp port 9 weight -2 header 20 mac 02:00:00:00:00:aa source destination cnpv 3
	qdisc change dev v0 root qcn_cp qoffset seed
	qdisc change dev v0 root qcn_cp
	qdisc change dev v0 root qcn_cp qeq 30000
	EOF
	same_json "qcn_cp" "$(jq '. + {port: 9, weight: -2, header_bytes: 20,
		mac: "02:00:00:00:00:aa", source: "destination", qoffset: "seed",
		cnpv: [3], qeq_bytes: 30000, limit_bytes: 180000}' <<<"$CP_DEFAULTS")" \
		"$(options qcn_cp)"
	htc -batch - <<-'EOF'
	qdisc change dev v0 root qcn_cp limit 100000
	qdisc change dev v0 root qcn_cp qeq 40000 mac auto cnpv auto
	EOF
	show qcn_cp | json '.[0].options | .limit_bytes == 100000 and
		.qeq_bytes == 40000 and .mac == null and .cnpv == [] and .weight == -2'
	htc -batch - <<-'EOF'
	qdisc replace dev v0 root handle 5: qcn_rp rate 10mbit min-rate 5kbit ai 7kbit timer 2s rps 9 cnpv 2 catchup 1ms
	qdisc change dev v0 root handle 5: qcn_rp hash flow
	qdisc change dev v0 root handle 5: qcn_rp
	EOF
	same_json "qcn_rp" "$(jq '. + {rate_bps: 10000000, min_rate_bps: 5000, ai_bps: 7000,
		timer_ns: 2000000000, rps: 9, cnpv: [2], catchup_ns: 1000000,
		hash: "flow"}' <<<"$RP_DEFAULTS")" "$(options qcn_rp)"
	htc qdisc change dev v0 root handle 5: qcn_rp rate auto cnpv auto
	show qcn_rp | json '.[0].options | .rate_bps == null and .cnpv == [] and
		.min_rate_bps == 5000'
}

# A bad value, an unknown word or a missing one: nothing is sent, nothing changes.  Lines
# are STATUS WORD-OF-THE-MESSAGE OPTION...; "" is an empty value.
refused() { # KIND GOOD-OPTION VALUE
	local kind=$1 before line status word values

	before=$(options "$kind")
	while read -r status word line; do
		read -r -a values <<<"$line"
		assert_refused "$status" "$word" htc qdisc change dev v0 root "$kind" \
			"$2" "$3" "${values[@]//\"\"/}"
	done
	same_json "after all" "$before" "$(options "$kind")"
}

cp_refused() {
	pair
	htc qdisc add dev v0 root qcn_cp
	refused qcn_cp header 3 <<-'EOF'
	255 limit limit -1mbit
	255 limit limit 1e30
	255 limit limit ""
	255 limit limit 4294967296
	255 limit limit 1gbits
	255 limit limit 1513
	255 limit limit 2000.5
	255 complete limit
	255 limit limit 2000 limit 3000
	255 qeq qeq 1073741825
	255 qeq qeq 0x1000
	255 weight weight 11
	255 weight weight -11
	255 weight weight ""
	255 weight weight +1
	255 base base 9999
	255 header header 65
	255 mac mac 01:00:00:00:00:01
	255 mac mac 02:00:00:00:00
	255 mac mac 00:00:00:00:00:00
	255 port port 8192
	255 cnm-priority cnm-priority 8
	255 cnm-priority cnm-priority 3 cnpv 2,3
	255 source source both
	255 qoffset qoffset 1
	255 cnpv cnpv 0,1,2,3,4,5,6,7
	255 cnpv cnpv 3,3
	255 cnpv cnpv 8
	255 cnpv cnpv 3,
	255 cnpv cnpv ""
	1 nosuch nosuch 1
	2 cnm-priority cnpv 6
	EOF
}

rp_refused() {
	pair
	htc qdisc add dev v0 root qcn_rp
	refused qcn_rp gd 3 <<-'EOF'
	255 rate rate -1mbit
	255 rate rate 1e30
	255 rate rate ""
	255 rate rate 1gbits
	255 rate rate 999
	255 rate rate 17592186044417
	255 min-rate min-rate auto
	255 min-rate rate 10mbit min-rate 11mbit
	255 ai ai 0
	255 hai hai 18tbit
	255 timer timer 15
	255 timer timer 99us
	255 timer timer 10.1s
	255 timer timer -1ms
	255 bytes bytes 0
	255 bytes bytes 4294967296
	255 threshold threshold 256
	255 gd rps 2 hash flow gd 4
	255 min-dec min-dec 0
	255 min-dec min-dec 101%
	255 min-dec min-dec %
	255 rps rps 101
	255 hash hash both
	255 cnpv cnpv 0,1,2,3,4,5,6,7
	255 cnpv cnpv 1,2,1
	255 limit limit 4294967296
	255 flow-limit flow-limit 0
	255 catchup catchup 1001ms
	255 complete catchup
	1 nosuch nosuch 1
	2 min-rate min-rate 11gbit
	EOF
}

# What the kernel says reaches the user.
wrong_place() {
	pair numtxqueues 2 numrxqueues 2
	htc qdisc replace dev v0 root handle 1: mq
	assert_refused 2 "make qcn_rp the root" htc qdisc add dev v0 parent 1:1 qcn_rp
	ip -n "h1-$$" link add name v5 type dummy
	assert_refused 2 "give a rate" htc qdisc add dev v5 root qcn_rp
	assert_refused 2 "lo" htc qdisc add dev lo root qcn_cp
	htc qdisc add dev v5 root qcn_rp rate 10mbit
}

cp_statistics() {
	local text

	pair
	htc qdisc add dev v0 root qcn_cp base 10000
	show qcn_cp -s | json '.[0] | .queue_mean_bytes == null and .sampled == 0'
	frames send "h1-$$/v0" "to:02 from:77 ip:10.0.0.1>10.0.0.2 udp:1400" --count 40
	show qcn_cp -s | json '.[0] | .transmitted == 40 and .sampled >= 3 and
		.cnm == [0,0,0,0,0,0,0,0] and .cnm_dropped == 0 and .unanswerable == 0 and
		.discarded == 0 and .stripped == 0 and .last_qntzfb == 0 and
		.cnpvs == [0,1,2,3,4,5,7] and .queue_mean_bytes == 1442 and
		.queue_max_bytes == 1442 and .queue_sum_bytes == 57680 and
		.qold_bytes == 1442 and (.queue | length) == 33 and
		.queue[0] == 40 and (.queue | add) == 40'
	text=$(htc -s qdisc show dev v0)
	grep -q "^  sampled [0-9]* cnm 0 0 0 0 0 0 0 0 cnm_dropped 0 unanswerable 0$" \
		<<<"$text" || fail "text: $text"
	grep -q "^  queue mean 1442b max 1442b qold 1442b by qeq/8 40 0 0 " <<<"$text" ||
		fail "text: $text"
	htc qdisc change dev v0 root qcn_cp qeq 30000
	show qcn_cp -s | json '.[0] | .queue_mean_bytes == null and .transmitted == 40'
}

limiters() { # COUNT
	htc -j class show dev v0 | jq -e "length == $1" >/dev/null
}

rp_statistics() {
	local text

	pair
	htc qdisc add dev v0 root handle 1: qcn_rp rate 100mbit timer 10s
	assert_eq "classes" "[]" "$(htc -j class show dev v0 | jq -c .)"
	frames send "h2-$$/v1" \
		"to:01 from:02 cn:0 type:22e7 hex:003f0200000000aa01030000000060000200000000020000 pad:60"
	wait_for 10 limiters 1 || fail "no limiter: $(htc -s qdisc show dev v0)"
	htc -j -s class show dev v0 | json '.[0] | .class == "qcn_rp" and
		.handle == "1:301" and (.stats | .priority == 3 and .rpid == 1 and
		.cr_bps == 50781250 and .tr_bps == 100000000 and .last_qntzfb == 63 and
		.byte_stage == 0 and .time_stage == 0 and .left_bytes == 150000 and
		.timer_ns > 0 and .timer_ns < 12000000000 and .active_ns > 0 and
		.cnms == 1 and .dropped == 0)'
	text=$(htc -s class show dev v0)
	grep -q "^  priority 3 rpid 1 cr 50.78Mbit tr 100Mbit last_qntzfb 63$" <<<"$text" ||
		fail "text: $text"
	grep -q "^  byte_stage 0 time_stage 0 left 150000b timer [0-9.]*s$" <<<"$text" ||
		fail "text: $text"
	show qcn_rp -s | json '.[0] | .line_bps == 100000000 and .active == 1 and
		.rps == 1 and .cnpvs == [0,1,2,3,4,5,7] and .activations == 1 and
		.releases == 0 and .active_ns > 0 and .cnm_used == 1 and
		.cnm_ignored == 0 and .nomem == 0 and .tagged == 0 and
		.untagged_mtu == 0 and .untagged_nomem == 0 and .flow_drops == 0 and
		.limit_drops == 0'
	htc -s qdisc show dev v0 | grep -q "^  line 100Mbit active 1 rps 1 cnpvs 0,1,2,3,4,5,7$" ||
		fail "text: $(htc -s qdisc show dev v0)"
	# feedback 0 and another priority than those of the domain
	frames send "h2-$$/v1" \
		"to:01 from:02 cn:0 type:22e7 hex:00000200000000aa01030000000060000200000000020000 pad:60" \
		"to:01 from:02 cn:0 type:22e7 hex:003f0200000000aa010300000000c0000200000000020000 pad:60"
	wait_for 10 sh -c "tc -n h1-$$ -j -s qdisc show dev v0 |
		jq -e '.[0].cnm_ignored == 2' >/dev/null" ||
		fail "ignored CNMs: $(htc -s qdisc show dev v0)"
}

ktap_plan 10
run_test symbols "help, and no symbol is missing"
run_test defaults "defaults, as JSON and as text"
run_test cp_readback "qcn_cp: what is set reads back exactly"
run_test rp_readback "qcn_rp: what is set reads back exactly"
run_test change_keeps "change keeps what is not given"
run_test cp_refused "qcn_cp: bad values are refused, nothing changes"
run_test rp_refused "qcn_rp: bad values are refused, nothing changes"
run_test wrong_place "refusals of the kernel say what to do"
run_test cp_statistics "qcn_cp: statistics"
run_test rp_statistics "qcn_rp: statistics, limiters as classes"
