#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The plugins for tc and, through them, the qdisc and the action: options, show,
# JSON, refusals, children, mq, and changes under traffic.
# Needs two CPUs.
#
#   h1                    h2
#   v0 ----------------- v1          csig qdisc and actions on v0
#   10.0.0.1             10.0.0.2

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

DEFAULTS='{
	"capacity_bps": null, "estimator": "raw", "interval_ns": 128000,
	"alpha_ppm": 100000, "lm": {}, "ingress": "strip", "egress": "keep",
	"unknown": "pass", "update": true, "overhead_bytes": 24
}'

pair() { # [VETH OPTION...]
	mkns h1 h2
	mkveth h1 v0 01 h2 v1 02 "$@"
	addr h1 v0 10.0.0.1/24
	addr h2 v1 10.0.0.2/24
}

pings() {
	nsx h1 ping -q -n -c 3 -i 0.01 -W 5 -s 1000 10.0.0.2 >"$_csig_tmp/ping" ||
		fail "packets are lost: $(cat "$_csig_tmp/ping")"
}

htc() { # tc in h1
	tc -n "h1-$$" "$@"
}

# The csig qdiscs of h1's v0, as JSON.
show() { # [TC OPTION...]
	htc -j "$@" qdisc show dev v0 | jq '[.[] | select(.kind == "csig")]'
}

options() {
	show | jq '.[0].options'
}

same_json() { # WHAT EXPECTED GOT
	jq -en --argjson a "$2" --argjson b "$3" '$a == $b' >/dev/null ||
		fail "$1: expected $2, got $3"
}

root_kind() {
	htc -j qdisc show dev v0 | jq -r '[.[] | select(.root)] | .[0].kind'
}

symbols() {
	export LD_BIND_NOW=1
	local out

	out=$(tc qdisc add csig help 2>&1) && fail "help of the qdisc: status 0"
	grep -q "estimator dre" <<<"$out" || fail "no help of the qdisc: $out"
	out=$(tc actions add action csig help)
	grep -q "csig push" <<<"$out" || fail "no help of the action: $out"
}

defaults() {
	pair
	htc qdisc add dev v0 root handle 1: csig
	same_json "options of a new qdisc" "$DEFAULTS" "$(options)"
	assert_eq handle 1: "$(show | jq -r '.[0].handle')"
	assert_eq text "capacity auto estimator raw interval 128us ingress strip egress keep unknown pass update on overhead 24" \
		"$(htc qdisc show dev v0 | sed -n 's/.* \(capacity .*[^ ]\) *$/\1/p')"
}

# Every option is set, reads back, and what the text says can be typed.  In batches,
# for the starts of tc are what takes time.
readback() {
	local cases=$_csig_tmp/cases text=$_csig_tmp/text

	pair
	cat >"$cases" <<-'EOF'
	capacity 80mbit | {capacity_bps: 80000000}
	capacity 1.5gbit | {capacity_bps: 1500000000}
	capacity 1bit | {capacity_bps: 1}
	capacity 123456789bit | {capacity_bps: 123456789}
	capacity 4294967296 | {capacity_bps: 4294967296}
	capacity 9007tbit | {capacity_bps: 9007000000000000}
	capacity 100MBPS | {capacity_bps: 800000000}
	capacity auto | {}
	estimator raw interval 10us | {interval_ns: 10000}
	estimator raw interval 10s | {interval_ns: 10000000000}
	estimator ewma time-constant 2.5ms | {estimator: "ewma", interval_ns: 2500000}
	estimator dre interval 1ms alpha 0.05 | {estimator: "dre", interval_ns: 1000000, alpha_ppm: 50000}
	estimator dre alpha 0.001 | {estimator: "dre", alpha_ppm: 1000}
	estimator dre alpha 1 | {estimator: "dre", alpha_ppm: 1000000}
	ingress trust egress strip | {ingress: "trust", egress: "strip"}
	ingress drop unknown strip | {ingress: "drop", unknown: "strip"}
	update off overhead 0 | {update: false, overhead_bytes: 0}
	overhead 1024 | {overhead_bytes: 1024}
	EOF
	sed 's/ |.*//; s/.*/qdisc add dev v0 root csig &\nqdisc show dev v0\nqdisc del dev v0 root/' \
		"$cases" | htc -batch - | sed -n 's/^qdisc csig .* \(capacity .*\)$/\1/p' >"$text"
	assert_eq "lines of text" "$(wc -l <"$cases")" "$(wc -l <"$text")"
	sed 's/.*/qdisc add dev v0 root csig &\nqdisc show dev v0\nqdisc del dev v0 root/' "$text" |
		htc -j -batch - | jq -c '.[] | select(.kind == "csig") | .options' >"$text.got"
	jq -nc "$DEFAULTS as \$d | $(sed 's/.*| *\(.*\)/($d + \1)/' "$cases" | paste -sd,)" \
		>"$text.want"
	diff <(jq -cS . "$text.want") <(jq -cS . "$text.got") ||
		fail "options of: $(cat "$cases")"
}

locator() {
	pair
	ctl h1 lm set signal all format compact fields stage:3,port:4
	ctl h1 lm set signal all format expanded fields device:10,port:6
	htc qdisc add dev v0 root csig lm stage=5,port=9,device=600
	same_json lm '{"stage": 5, "port": 9, "device": 600}' "$(options | jq .lm)"
	assert_eq text "lm stage=5,port=9,device=600" \
		"$(htc qdisc show dev v0 | grep -o 'lm [^ ]*')"
	htc qdisc change dev v0 root csig ingress trust
	same_json "lm after another change" \
		'{"stage": 5, "port": 9, "device": 600}' "$(options | jq .lm)"
	htc qdisc change dev v0 root csig lm port=1
	same_json "lm set again" '{"port": 1}' "$(options | jq .lm)"
	assert_refused 2 'lm.*nosuch' htc qdisc change dev v0 root csig \
		lm nosuch=1 ingress drop
	assert_refused 2 'lm.*port' htc qdisc change dev v0 root csig lm port=16
	same_json "lm after refusals" '{"port": 1}' "$(options | jq .lm)"
	assert_eq ingress trust "$(options | jq -r .ingress)"
	# csigctl sees the same port
	same_json "csigctl's view" '{"port": 1}' "$(port_get h1 v0 lm)"
	htc qdisc change dev v0 root csig lm none
	same_json "no lm" '{}' "$(options | jq .lm)"
}

change_keeps() {
	pair
	htc qdisc add dev v0 root csig capacity 80mbit estimator dre \
		interval 5ms alpha 0.25 ingress trust overhead 20
	htc qdisc change dev v0 root csig egress strip
	same_json "after a change" "$(jq '. + {capacity_bps: 80000000,
		estimator: "dre", interval_ns: 5000000, alpha_ppm: 250000,
		ingress: "trust", overhead_bytes: 20, egress: "strip"}' \
		<<<"$DEFAULTS")" "$(options)"
	htc qdisc change dev v0 root csig
	assert_eq egress strip "$(options | jq -r .egress)"
	htc qdisc replace dev v0 root csig capacity auto
	assert_eq capacity null "$(options | jq .capacity_bps)"
	assert_eq overhead 20 "$(options | jq .overhead_bytes)"
}

# A bad value, an unknown word or a missing one: nothing is sent, nothing changes.
# Lines are STATUS WORD-OF-THE-MESSAGE OPTION...
bad_options() {
	local before line status word

	pair
	htc qdisc add dev v0 root csig capacity 80mbit
	before=$(options)
	while read -r status word line; do
		# shellcheck disable=SC2086
		assert_refused "$status" "$word" \
			htc qdisc change dev v0 root csig ingress drop $line
	done <<-'EOF'
	255 capacity capacity -1mbit
	255 capacity capacity 1e30
	255 capacity capacity 1e3mbit
	255 capacity capacity 0
	255 capacity capacity 1gbits
	255 capacity capacity inf
	255 capacity capacity 0x10mbit
	255 capacity capacity 9008tbit
	255 capacity capacity mbit
	255 complete capacity
	255 capacity capacity 1mbit capacity 2mbit
	255 estimator estimator fast
	255 time-constant estimator raw time-constant 1ms
	255 alpha estimator raw alpha 0.1
	255 interval estimator ewma interval 1ms
	255 interval interval 1ms
	255 interval estimator raw interval 9us
	255 interval estimator raw interval 11s
	255 interval estimator raw interval 128
	255 interval estimator raw interval -1ms
	255 alpha estimator dre alpha 0
	255 alpha estimator dre alpha 1.1
	255 alpha estimator dre alpha 10%
	255 lm lm 5
	255 lm lm a=
	255 lm lm =5
	255 lm lm a=65536
	255 lm lm a=-1
	255 lm lm a=1,a=2
	255 lm lm a=1,
	255 lm lm sixteencharacter=1
	255 lm lm a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1
	255 ingress ingress keep
	255 egress egress drop
	255 unknown unknown drop
	255 update update 1
	255 overhead overhead 1025
	255 overhead overhead 24x
	1 nosuch nosuch 1
	EOF
	same_json "after all" "$before" "$(options)"
	assert_refused 255 capacity htc qdisc replace dev v0 root csig capacity ""
	same_json "after an empty value" "$before" "$(options)"
	htc qdisc del dev v0 root
	assert_refused 255 capacity htc qdisc add dev v0 root csig capacity 1gbits
	assert_eq "root qdisc" noqueue "$(root_kind)"
}

wrong_place() {
	mkns h1
	assert_refused 2 "lo is no Ethernet device" \
		htc qdisc add dev lo root csig
	ip -n "h1-$$" link add name v0 type dummy
	htc qdisc add dev v0 root handle 1: prio
	assert_refused 2 "must be the root qdisc" \
		htc qdisc add dev v0 parent 1:1 csig
	assert_eq "root qdisc" prio "$(root_kind)"
	assert_eq "csig qdiscs" 0 "$(show | jq length)"
}

replace_roots() {
	local kind

	pair
	for kind in pfifo fq_codel tbf; do
		# shellcheck disable=SC2046
		htc qdisc replace dev v0 root $kind $([ $kind != tbf ] ||
			echo rate 100mbit burst 20kb latency 50ms)
		htc qdisc replace dev v0 root handle 5: csig capacity 10mbit
		assert_eq "over $kind" "csig 5: 10000000" \
			"$(show | jq -r '.[0] | "\(.kind) \(.handle) \(.options.capacity_bps)"')"
		pings
	done
	htc qdisc replace dev v0 root pfifo
	assert_eq "root qdisc" pfifo "$(root_kind)"
	pings
	# the port went with its qdisc
	htc qdisc replace dev v0 root csig
	same_json "a new port" "$DEFAULTS" "$(options)"
	htc qdisc del dev v0 root
	pings
}

statistics() {
	local st text

	pair
	htc qdisc add dev v0 root csig capacity 80mbit
	htc qdisc add dev v0 clsact
	htc filter add dev v0 egress protocol ip flower ip_proto udp \
		action csig push signal abwc
	tc -n "$(ns h2)" qdisc add dev v1 clsact
	tc -n "$(ns h2)" filter add dev v1 ingress matchall action csig pop
	flow udp h1 h2 10.0.0.2 --count 20 --size 100
	st=$(show -s | jq '.[0]')
	jq -e '(.capacity_bps == 80000000) and (.capacity_source == "user") and
		(.abw_bps | type == "number" and . <= 80000000) and
		(.abwc_ppm <= 1000000) and (.util_bps | type == "number") and
		(.pd_max_ns >= .pd_last_ns) and (.pd_max_ns > 0) and
		(.stats | .tagged == 20 and .updated + .passed == 20 and
		 .stripped == 0 and .malformed == 0 and .unknown_signal == 0 and
		 .skipped_mtu == 0 and .skipped_nomem == 0 and
		 .carried == 0 and .dropped == 0 and
		 (.untagged | type == "number"))' <<<"$st" >/dev/null ||
		fail "statistics: $(jq -c . <<<"$st")"
	text=$(htc -s qdisc show dev v0)
	grep -q "capacity 80Mbit (user) util .* abw .* abwc [0-9]*ppm" <<<"$text" ||
		fail "text: $text"
	grep -q "tagged 20 updated [0-9]* passed [0-9]* stripped 0" <<<"$text" ||
		fail "text: $text"
	grep -q " pd last .*s max .*s" <<<"$text" || fail "text: $text"
}

unknown_capacity() {
	mkns h1
	ip -n "h1-$$" link add name v0 type dummy
	ip -n "h1-$$" link set dev v0 up
	htc qdisc add dev v0 root csig
	show -s | jq -e '.[0] | .capacity_bps == null and .abw_bps == null and
		.abwc_ppm == null and .capacity_source == "unknown" and
		.util_bps == 0' >/dev/null || fail "$(show -s)"
	htc -s qdisc show dev v0 | grep -q "capacity unknown (unknown) util 0bit abw unknown abwc unknown" ||
		fail "$(htc -s qdisc show dev v0)"
}

link_speed() {
	pair
	htc qdisc add dev v0 root csig
	# veth says 10 Gbit/s; a worker reads it
	wait_for 30 sh -c "tc -n h1-$$ -j -s qdisc show dev v0 |
		jq -e '.[0].capacity_bps == 10000000000 and
			.[0].capacity_source == \"ethtool\"' >/dev/null" ||
		fail "$(show -s)"
	assert_eq "configured capacity" null "$(options | jq .capacity_bps)"
}

# What the actions show, without what changes by itself, in the order of their indices
list_actions() {
	htc -j actions list action csig | jq -c '[.[] | .actions? // [] | .[] |
		del(.stats, .order, .ref, .bind, .hw_stats, .used_hw_stats,
			.not_in_hw, .in_hw_count)] | sort_by(.index)'
}

actions() {
	local cases=$_csig_tmp/cases n

	mkns h1
	cat >"$cases" <<-'EOF'
	push signal abwc | {mode: "push", requested: false, format: "compact", t: 1, signal: "abwc", lm: 0}
	push signal 0 | {mode: "push", requested: false, format: "compact", t: 0, signal: "abw", lm: 0}
	push format expanded signal pd lm 65535 | {mode: "push", requested: false, format: "expanded", t: 2, signal: "pd", lm: 65535}
	push lm 127 signal nqd format compact | {mode: "push", requested: false, format: "compact", t: 3, signal: "nqd", lm: 127}
	push requested | {mode: "push", requested: true}
	push requested continue | {mode: "push", requested: true, control_action: {type: "continue"}}
	pop | {mode: "pop", carry: false}
	pop carry | {mode: "pop", carry: true}
	update | {mode: "update"}
	carry | {mode: "carry"}
	ingress | {mode: "ingress"}
	ingress pass | {mode: "ingress", control_action: {type: "pass"}}
	push signal abw drop | {mode: "push", requested: false, format: "compact", t: 0, signal: "abw", lm: 0, control_action: {type: "drop"}}
	update continue | {mode: "update", control_action: {type: "continue"}}
	pop reclassify | {mode: "pop", carry: false, control_action: {type: "reclassify"}}
	EOF
	n=$(wc -l <"$cases")
	awk -F ' [|] ' '{ print "actions add action csig", $1, "index", NR + 10 }' "$cases" |
		htc -batch -
	same_json "actions" "$(jq -nc "[$(sed 's/.*| //' "$cases" | paste -sd,)] |
		to_entries | map({kind: \"csig\", index: (.key + 11),
			control_action: {type: \"pipe\"}} + .value)")" "$(list_actions)"
	assert_eq text "push format compact signal abwc lm 0 pipe" \
		"$(htc actions get action csig index 11 | grep -o 'push.*pipe')"

	htc actions replace action csig pop carry drop index 11
	same_json "replaced" '{"kind": "csig", "mode": "pop", "carry": true,
		"control_action": {"type": "drop"}, "index": 11}' "$(list_actions | jq '.[0]')"
	assert_refused 255 "exists" htc actions add action csig pop index 11
	htc actions del action csig index 11
	assert_eq "actions after del" $((n - 1)) "$(list_actions | jq length)"
	htc actions flush action csig
	assert_eq "actions after flush" "[]" "$(list_actions)"
}

bad_actions() {
	local line status word

	mkns h1
	htc actions add action csig pop index 5
	while read -r status word line; do
		# shellcheck disable=SC2086
		assert_refused "$status" "$word" \
			htc actions replace action csig $line index 5
	done <<-'EOF'
	255 signal push
	255 signal push signal 16
	255 signal push signal 8
	255 signal push signal nosuch
	255 signal push signal -1
	255 signal push signal abw signal pd
	255 format push format tiny signal abw
	255 lm push signal abw lm 128
	255 lm push signal abw format expanded lm 65536
	255 push pop signal abw
	255 program push requested signal abw
	255 right push signal abw requested
	255 right requested
	255 carry push requested carry
	255 mode pop push
	255 mode push signal abw carry
	255 mode pop carry carry
	255 nosuch pop nosuch
	255 index pop index 0
	255 index pop index 4294967296
	255 define push signal 9 format expanded
	EOF
	assert_refused 255 "required" htc actions add action csig index 6
	same_json "actions" '[{"kind": "csig", "mode": "pop", "carry": false,
		"control_action": {"type": "pipe"}, "index": 5}]' "$(list_actions)"
}

filters() {
	pair
	htc qdisc add dev v0 clsact
	htc filter add dev v0 egress protocol ip prio 1 flower ip_proto udp \
		action csig push format expanded signal pd lm 7 pipe action pass
	htc filter add dev v0 ingress prio 2 matchall action csig ingress index 9
	htc -j filter show dev v0 egress | jq -e '[.[].options.actions? // [] | .[]] |
		.[0].kind == "csig" and .[0].mode == "push" and .[0].signal == "pd" and
		.[0].lm == 7 and .[0].control_action.type == "pipe" and
		.[1].kind == "gact"' >/dev/null || fail "$(htc -j filter show dev v0 egress)"
	htc filter show dev v0 ingress | grep -q "csig .*ingress pipe" ||
		fail "$(htc filter show dev v0 ingress)"
	htc -s -j filter show dev v0 ingress | jq -e '[.[].options.actions? // [] | .[]] |
		.[0] | .index == 9 and .ref == 1 and .bind == 1 and
		(.installed | type == "number") and .stats.packets == 0' >/dev/null ||
		fail "$(htc -s -j filter show dev v0 ingress)"
	assert_refused 255 "" htc actions del action csig index 9
	htc filter del dev v0 egress
	htc filter del dev v0 ingress
	assert_eq "actions left" "[]" "$(list_actions)"
}

child_kind() { # PARENT
	htc -j qdisc show dev v0 |
		jq -r "[.[] | select(.parent == \"$1\")] | .[0].kind"
}

children() {
	local words kind

	pair
	htc qdisc add dev v0 root handle 1: csig capacity 80mbit
	assert_eq "first child" pfifo "$(htc -j class show dev v0 |
		jq -r '.[0] | select(.class == "csig" and .handle == "1:1") | "pfifo"')"
	while read -r words; do
		kind=${words%% *}
		# shellcheck disable=SC2086
		htc qdisc replace dev v0 parent 1:1 $words
		assert_eq child "$kind" "$(child_kind 1:1)"
		pings
		case $kind in
		fq | tbf | netem) flow tcp h1 h2 10.0.0.2 --bytes 100000 ;;
		esac
		htc qdisc change dev v0 root csig capacity 70mbit
		assert_eq "child after a change" "$kind" "$(child_kind 1:1)"
	done <<-'EOF'
	pfifo limit 50
	bfifo
	fq_codel
	fq
	sfq
	tbf rate 80mbit burst 64kb latency 50ms
	htb default 1
	prio
	netem delay 1ms
	red limit 400000 avpkt 1000 bandwidth 80mbit
	EOF
	htc qdisc del dev v0 parent 1:1
	pings
	assert_refused 2 "" htc qdisc add dev v0 parent 1:2 pfifo
	show -s | jq -e '.[0] | .qlen == 0 and .backlog == 0' >/dev/null ||
		fail "$(show -s)"
}

multi_queue() {
	local q

	pair numtxqueues 4 numrxqueues 4
	htc qdisc replace dev v0 root handle 1: mq
	for q in 1 2 3 4; do
		htc qdisc replace dev v0 parent 1:$q csig
	done
	assert_eq "csig qdiscs" 4 "$(show | jq length)"
	htc qdisc change dev v0 parent 1:2 csig capacity 90mbit ingress trust
	show | jq -e 'all(.[]; .options.capacity_bps == 90000000 and
		.options.ingress == "trust")' >/dev/null || fail "$(show)"
	# a socket is one flow and one queue
	for q in 1 2; do
		flow udp h1 h2 10.0.0.2 --count 8 --size 100
	done
	assert_eq "ports that the queues are" 1 "$(show -s |
		jq '[.[] | [.capacity_bps, .stats]] | unique | length')"
	assert_ge "packets of the port" 16 "$(show -s | jq '.[0].stats.untagged')"
	for q in 1 3 2; do
		# mq leaves a queue whose qdisc is deleted with none at all
		htc qdisc replace dev v0 parent 1:$q pfifo
	done
	assert_eq "csig qdiscs" 1 "$(show | jq length)"
	assert_eq capacity 90000000 "$(options | jq .capacity_bps)"
	pings
	htc qdisc del dev v0 root
	assert_eq "csig qdiscs" 0 "$(show | jq length)"
	pings
}

# Packets as fast as they go, from h1 to h2 and back, until the test ends.
flood() {
	nsx h1 ping -q -f -s 1000 10.0.0.2 >/dev/null 2>&1 &
	nsx h1 ping -q -f -s 56 10.0.0.2 >/dev/null 2>&1 &
	wait_for 30 received 100
}

received() { # PACKETS at h2, more than at the last call
	local n

	n=$(ip -n "$(ns h2)" -s -j link show dev v1 | jq '.[0].stats64.rx.packets')
	[ "$n" -ge $((${_received:-0} + $1)) ] || return 1
	_received=$n
}

still_flows() {
	_received=$(ip -n "$(ns h2)" -s -j link show dev v1 |
		jq '.[0].stats64.rx.packets')
	wait_for 30 received 100 || fail "traffic stalled: $1"
}

under_traffic() {
	local i

	pair numtxqueues 2 numrxqueues 2
	flood
	for i in $(seq 15); do
		cat <<-EOF
		qdisc replace dev v0 root handle 1: csig capacity 100mbit
		qdisc add dev v0 parent 1:1 fq_codel
		qdisc change dev v0 root csig estimator ewma
		qdisc del dev v0 parent 1:1
		qdisc del dev v0 root
		EOF
	done | htc -batch -
	still_flows "root deleted"
	for i in $(seq 10); do
		cat <<-EOF
		qdisc replace dev v0 root handle 2: mq
		qdisc replace dev v0 parent 2:1 csig
		qdisc replace dev v0 parent 2:2 csig capacity 50mbit
		qdisc del dev v0 parent 2:1
		qdisc replace dev v0 root handle 1: csig
		EOF
	done | htc -batch -
	still_flows "root replaced"
	htc qdisc replace dev v0 root handle 1: csig
	for i in $(seq 5); do
		ip -n "h1-$$" link set dev v0 down
		ip -n "h1-$$" link set dev v0 up
	done
	still_flows "link down and up"
	ip -n "h1-$$" link del dev v0
}

repeat() { # UNTIL-FILE COMMAND...: count rounds into FILE.n
	local n=0 file=$1

	shift
	while [ ! -e "$file" ]; do
		"$@" >/dev/null 2>&1 || true
		n=$((n + 1))
		echo $n >"$file.n"
	done
}

dumps_against_changes() {
	local i pid stop=$_csig_tmp/stop

	pair numtxqueues 2 numrxqueues 2
	flood
	htc qdisc replace dev v0 root handle 1: csig
	htc qdisc add dev v0 clsact
	htc filter add dev v0 egress matchall action csig push signal pd
	rm -f "$stop"
	repeat "$stop" htc -s -j qdisc show dev v0 &
	pid=$!
	for i in $(seq 10); do
		htc -batch - <<-EOF
		qdisc change dev v0 root csig capacity $((i + 1))mbit
		qdisc replace dev v0 parent 1:1 pfifo limit $((i + 10))
		actions replace action csig push signal abwc index 77
		filter replace dev v0 egress pref 7 handle 1 protocol ip flower action csig push format expanded signal abw
		EOF
		show -s | jq -e '.[0].options.capacity_bps == ($i + 1) * 1000000' \
			--argjson i "$i" >/dev/null || fail "round $i: $(show -s)"
	done
	: >"$stop"
	wait "$pid"
	assert_ge "dumps meanwhile" 5 "$(cat "$stop.n")"
	still_flows "changes and dumps"
}

in_use() {
	mkns h1
	ip -n "h1-$$" link add name v0 type dummy
	htc qdisc add dev v0 root csig
	assert_refused 1 "in use" rmmod csig
	htc qdisc del dev v0 root
	htc actions add action csig pop index 1
	assert_refused 1 "in use" rmmod csig
}

ktap_plan 19
run_test symbols "plugins: everything they need is in tc"
run_test defaults "qdisc: defaults"
run_test readback "qdisc: every option reads back and can be typed again"
run_test locator "qdisc: locator values"
run_test change_keeps "qdisc: a change keeps what is not given"
run_test bad_options "qdisc: bad options are refused, not sent, nothing changed"
run_test wrong_place "qdisc: refused where it can't work"
run_test replace_roots "qdisc: in the place of another root and back"
run_test statistics "qdisc: statistics in text and JSON"
run_test unknown_capacity "qdisc: unknown capacity is null"
run_test link_speed "qdisc: capacity of the link"
run_test actions "action: all modes, replace, delete"
run_test bad_actions "action: bad options are refused, nothing changed"
run_test filters "action: in filters"
run_test children "qdisc: children"
run_test multi_queue "qdisc: under mq, one port"
run_test under_traffic "qdisc: added, replaced, deleted under traffic"
run_test dumps_against_changes "qdisc: statistics dumped against changes under load"
run_test in_use "module: not unloaded while a qdisc is there"
