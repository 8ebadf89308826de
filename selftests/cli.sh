#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# csigctl: words and numbers, JSON, profiles, doctor, batches.  capture and monitor are
# capture.sh; what "port add" does to qdiscs and filters is port_tc.sh.
#
#   h1                  sw                  h2
#   v0 ------- port1 [br0] port2 ------- v1

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

digest() { # NS
	ctl "$1" -j domain show | jq -r .digest
}

# Everything that can be set, to see whether a command changed something
state() { # NS
	ctl "$1" domain export
	ctl "$1" -j port show | jq 'map({ifname, capacity_configured_bps, estimator,
		interval_ns, alpha_ppm, overhead_bytes, ingress, egress, unknown,
		update, lm})'
}

not_numbers() {
	local before set="port set dev port1"

	mkns sw
	ip -n "sw-$$" link add name port1 type dummy
	port_add sw port1 capacity 10mbit
	before=$(state sw)
	all_refused 1 sw <<-EOF
	"-1mbit" | $set capacity -1mbit
	"1e30" | $set capacity 1e30
	capacity | $set capacity ""
	"1gbits" | $set capacity 1gbits
	"0x10" | $set capacity 0x10
	"1.mbit" | $set capacity 1.mbit
	".5mbit" | $set capacity .5mbit
	"1,5gbit" | $set capacity 1,5gbit
	"inf" | $set capacity inf
	"nan" | $set capacity nan
	"0" | $set capacity 0
	"1 gbit" | $set capacity "1 gbit"
	capacity | $set capacity 18446744073709551616
	capacity | $set capacity 9223372036854775808
	capacity | $set capacity 9007199254740992
	capacity | $set capacity 9999999tbit
	capacity | $set capacity 99999999999999999999999999999999
	"1e3" | $set capacity 1e3
	"[+]5mbit" | $set capacity +5mbit
	"10mbit," | $set capacity 10mbit,
	"1.5bit" | $set capacity 1.5bit
	"mbit" | $set capacity mbit
	capacity | $set capacity 0.0000000000000001tbit
	interval "10" | $set interval 10
	interval | $set interval -1us
	interval | $set interval 1e3us
	interval | $set interval 0us
	interval | $set interval ""
	interval | $set interval 5m
	interval | $set interval 1.5ns
	interval | $set interval 99999999999999s
	interval | $set interval us
	alpha "10x" | $set alpha 10x
	overhead | $set overhead -1
	overhead | $set overhead 24b
	lm "port" | $set lm port
	lm port="65536" | $set lm port=65536
	lm | $set lm port=1,
	lm "=1" | $set lm =1
	EtherType | domain set compact-tpid 65536
	EtherType | domain set compact-tpid 99x
	scale-rate "1/0" | domain preset default scale-rate 1/0
	scale-rate "0" | domain preset default scale-rate 0
	scale-time "0" | domain preset default scale-time 0
	signal "16" | signal set 16 source pd aggregate max
	buckets "4%" | signal set 1 buckets 5%,4%
	buckets "5mbit" | signal set 1 buckets 5mbit
	buckets | signal set 1 buckets 5%,,6%
	buckets "0%" | signal set 1 buckets 0%,6%
	step "8mbit" | signal set 2 step 8mbit
	7 bits | lm set signal all format compact fields a:4,b:4
	7 bits | lm set signal all format compact fields a:3,a:3
	field "a": bits "17" | lm set signal all format expanded fields a:17
	EOF
	assert_eq "state" "$before" "$(state sw)"
}

unknown_words() {
	local before object

	mkns sw
	ip -n "sw-$$" link add name port1 type dummy
	port_add sw port1 capacity 10mbit
	before=$(state sw)
	all_refused 1 sw <<-'EOF'
	"frob" | frob
	"frob" | domain frob
	"frob" | domain show frob
	"frob" | domain set frob 1
	"frob" | domain preset frob
	nothing | domain set
	preset | domain set scale-time 5
	"frob" | signal set 1 source frob
	aggregate | signal set 9 source pd
	source | signal set 9 aggregate min
	"frob" | lm set signal all format frob fields a:1
	fields | lm set signal all format compact
	"frob" | port frob
	"frob" | port set dev port1 frob 1
	"frob" | port set dev port1 ingress frob
	"frob" | port set dev port1 estimator frob
	update.* twice | port set dev port1 update on update off
	capacity.* needs a value | port set dev port1 capacity
	alpha | port set dev port1 estimator raw alpha 0.5
	time-constant | port set dev port1 estimator dre time-constant 1ms
	interval | port set dev port1 interval 1ms time-constant 1ms
	nothing | port set dev port1
	"dev" is missing | port add
	"a/b" | port add dev a/b
	qdisc | port set dev port1 qdisc keep
	"frob" | capture dev port1 frob 1
	direction "up" | capture dev port1 direction up
	dev.*missing | capture count 1
	"frob" | monitor frob
	"frob" | doctor frob
	"123" | doctor digest 123
	EOF
	assert_eq "state" "$before" "$(state sw)"
	assert_refused 1 '"-frob"' csigctl -frob
	assert_refused 1 'needs a value' csigctl -n
	assert_refused 1 'Usage' csigctl
	assert_refused 2 'no-such-ns' csigctl -n no-such-ns port show
	for object in domain signal lm port capture monitor doctor; do
		csigctl "$object" help | grep -q "^Usage: csigctl $object" ||
			fail "$object help"
	done
}

reads_back() {
	local text want got

	mkns sw
	ip -n "sw-$$" link add name port1 type dummy
	port_add sw port1
	while read -r text want; do
		port_set sw port1 capacity "$text"
		got=$(port_get sw port1 capacity_configured_bps)
		assert_eq "capacity $text" "$want" "$got"
	done <<-'EOF'
	4294967296 4294967296
	10mbit 10000000
	2.5gbit 2500000000
	800kbit 800000
	1gbps 8000000000
	1mibit 1048576
	0.000001gbit 1000
	9007199254740991 9007199254740991
	1tBit 1000000000000
	auto null
	EOF
	port_set sw port1 estimator ewma time-constant 1.5ms lm port=5,device=7 \
		ingress drop egress strip unknown strip update off overhead 38
	ctl sw -j port show dev port1 | json '.[0] | .estimator == "ewma" and
		.interval_ns == 1500000 and .lm == {"port": 5, "device": 7} and
		.ingress == "drop" and .egress == "strip" and
		.unknown == "strip" and .update == false and
		.overhead_bytes == 38'
	port_set sw port1 estimator dre interval 20us alpha 12.5% lm none
	ctl sw -j port show dev port1 | json '.[0] | .estimator == "dre" and
		.interval_ns == 20000 and .alpha_ppm == 125000 and
		.ingress == "drop" and .lm == {}'
	ctl sw signal set 7 source nqd aggregate sum buckets 1us,2ms,3s \
		base 5us step 1us
	ctl sw -j signal show 7 | json '.[0] == {"t": 7, "name": "sum(nqd)",
		"source": "nqd", "aggregate": "sum", "unit": "ns",
		"buckets": [1000, 2000000, 3000000000], "base": 5000,
		"step": 1000}'
	ctl sw signal set 7 step 2us
	ctl sw -j signal show 7 | json '.[0] | .step == 2000 and
		.buckets == [1000, 2000000, 3000000000]'
	ctl sw signal set 7 source abwc
	ctl sw -j signal show 7 | json '.[0] | .source == "abwc" and
		.step == 1 and (.buckets | length) == 31'
	ctl sw signal del 7
	assert_refused 2 'signal 7' ctl sw signal show 7
	# What the text shows is what can be typed.
	ctl sw signal set 6 source abw aggregate min \
		buckets 1bit,1.5kbit,123456789bit,2.5gbit step 3bit
	text=$(ctl sw signal show 6 | sed -n 's/.*buckets //p')
	want=$(ctl sw -j signal show 6 | jq -c '.[0].buckets')
	ctl sw signal set 6 buckets "$text"
	assert_eq "buckets $text" "$want" \
		"$(ctl sw -j signal show 6 | jq -c '.[0].buckets')"
}

refusals_name_the_attribute() {
	local before

	mkns sw
	ip -n "sw-$$" link add name port1 type dummy
	port_add sw port1 capacity 10mbit
	before=$(state sw)
	all_refused 2 sw <<-'EOF'
	compact-tpid | domain set compact-tpid 0x0800
	expanded-tpid | domain set expanded-tpid 0x100
	compact-tpid | domain set compact-tpid 0x88a8
	expanded-tpid | domain set expanded-tpid 0x9900
	config.interval | port set dev port1 interval 9us
	config.interval | port set dev port1 interval 11s
	config.alpha | port set dev port1 alpha 0.0001
	config.overhead | port set dev port1 overhead 1025
	nowhere | port set dev port1 lm nowhere=1
	config.lm | port set dev port1 lm ttl=1
	signal.t | signal del 9
	lo: not an Ethernet device | port add dev lo
	nope0 | port add dev nope0
	lo: .*no port | port del dev lo
	lo: .*no port | port show dev lo
	lo: .*no port | port set dev lo update on
	EOF
	assert_eq "state" "$before" "$(state sw)"
}

json_schema() {
	mktransit
	ctl sw -j domain show | json '(.digest | test("^[0-9a-f]{16}$")) and
		(.compact_tpid == "0x9900") and (.expanded_tpid == "0xccdd") and
		(.software_assist | type == "boolean") and (.ports == 2) and
		(.version | type == "string")'
	ctl sw -j signal show | json 'length == 4 and all(.[];
		(.t | type == "number") and (.source | type == "string") and
		(.aggregate | type == "string") and (.buckets | length == 31) and
		(.base == 0) and (.step > 0)) and
		map(.name) == ["min(abw)", "min(abwc)", "max(pd)", "max(nqd)"]'
	ctl sw -j lm show | json 'all(.[]; .t == null and
		(.format | IN("compact", "expanded")) and
		all(.fields[]; (.name | type == "string") and .bits >= 1))'
	ctl sw -j port show | json 'length == 2 and all(.[];
		(.ifname | type == "string") and (.ifindex > 0) and
		(.operational == true) and (.qdiscs == 1) and
		(.capacity_bps | type == "number") and
		(.capacity_source == "user") and
		(.estimator == "raw") and (.interval_ns == 10000) and
		all(.util_bps, .abw_bps, .abwc_ppm, .pd_last_ns, .pd_max_ns,
			.nqd_ns, .overhead_bytes; type == "number") and
		(.lm | type == "object") and (.ingress == "trust") and
		(.egress == "keep") and (.unknown == "pass") and
		(.update == true) and
		(.stats | [.tagged, .updated, .passed, .stripped,
			.unknown_signal, .malformed, .skipped_mtu,
			.skipped_nomem, .untagged, .carried, .dropped, .bits] |
			all(type == "number")) and
		(.signals | length == 8) and all(.signals[];
			(.t | type == "number") and (.name | type == "string") and
			(.format | IN("compact", "expanded")) and
			((.s | type) == (if .t < 2 then "number" else "null" end)) and
			(.lm | type == "number")))'
	ip -n "sw-$$" link add name unknown0 type dummy
	port_add sw unknown0 capacity auto
	ctl sw -j port show dev unknown0 | json '.[0] | .capacity_bps == null and
		.capacity_source == "unknown" and .abw_bps == null and
		.abwc_ppm == null'
	ctl sw -j doctor | json 'all(.[]; (.status | IN("OK", "WARN", "FAIL")) and
		(.check | type == "string") and (.message | type == "string"))'
	ctl sw -j -p port show | json 'length == 3'
	ctl sw -j port show | json '. == .'
	mkns h3
	assert_eq "no ports" "[]" "$(ctl h3 -j port show)"
}

round_trip() {
	local file=$_csig_tmp/profile first second

	mkns sw h2
	ctl sw domain set compact-tpid 0x88b5 expanded-tpid 0x88b6
	ctl sw signal set 9 source pd aggregate sum buckets 1ms,2ms step 5us
	ctl sw signal del 3
	ctl sw lm set signal all format compact fields stage:3,dir:2,speed:2
	ctl sw lm set signal 1 format expanded fields ttl:8,stage:3,dir:2
	ctl sw lm set signal all format expanded fields none
	first=$(digest sw)
	ctl sw domain export >"$file"
	json '.compact_tpid == "0x88b5"' <"$file"
	[ "$(digest h2)" != "$first" ] || fail "h2 has the profile already"
	ctl h2 domain import - <"$file"
	assert_eq "digest" "$first" "$(digest h2)"
	assert_eq "profile" "$(cat "$file")" "$(ctl h2 domain export)"
	# A preset keeps TPIDs and layouts.
	ctl h2 domain preset appendix-a scale-rate 1/10000 scale-time 1000
	ctl h2 -j domain show | json '.compact_tpid == "0x88b5"'
	assert_eq "layouts" "$(ctl sw -j lm show)" "$(ctl h2 -j lm show)"
	ctl h2 -j signal show 0 | json '.[0].buckets == [100000, 500000, 1000000,
		2000000, 5000000, 7500000, 9000000] and .[0].step == 800'
	ctl h2 -j signal show 2 | json '.[0].buckets[0] == 10000000'
	ctl h2 domain set preset default compact-tpid 0x9900
	ctl h2 -j signal show 0 | json '.[0].buckets[0] == 100000000'
	ctl h2 domain import "$file"
	second=$(digest h2)
	assert_eq "digest again" "$first" "$second"
}

import_is_checked() {
	local file=$_csig_tmp/profile before n=0 key change

	mkns sw
	ctl sw domain export >"$file"
	before=$(state sw)
	while IFS='|' read -r key change; do
		n=$((n + 1))
		jq "del(.digest) | $change" "$file" >"$file.$n"
		echo "$file.$n: $key | domain import $file.$n"
	done >"$file.cases" <<-'EOF'
	compact_tpid|del(.compact_tpid)
	compact_tpid|.compact_tpid = "0x0800"
	compact_tpid|.compact_tpid = 39168
	expanded_tpid|.expanded_tpid = .compact_tpid
	software_assist|.software_assist = 1
	frob|.frob = 1
	frob: is not known in signals\[0\]|.signals[0].frob = 1
	signals\[1\].source|.signals[1].source = "load"
	signals\[1\].t|.signals[1].t = 16
	signals\[1\].t|.signals[1].t = -1
	signals\[1\].step|.signals[1].step = 0.5
	signals\[1\]|.signals[1].step = 0
	signals\[1\].step|.signals[1].step = 8796093022208
	signals\[1\].base|.signals[1].base = 4611686018427387904
	signals\[1\]: signal 0|.signals[1].t = 0
	signals\[2\].buckets\[3\]|.signals[2].buckets[3] = 1
	signals\[2\].buckets|.signals[2].buckets = []
	signals\[2\].buckets|.signals[2].buckets += [20000000]
	layouts\[0\].fields\[0\]|.layouts[0].fields[0].bits = 17
	layouts\[0\]|.layouts[0].fields[0].bits = 9
	layouts\[0\].format|.layouts[0].format = "wide"
	layouts\[1\]|.layouts[1] = .layouts[0]
	signals|.signals = {}
	the file|[]
	EOF
	jq '.signals[0].step = 16000000' "$file" >"$file.digest"
	echo "digest | domain import $file.digest" >>"$file.cases"
	head -c 200 "$file" >"$file.cut"
	echo "not JSON | domain import $file.cut" >>"$file.cases"
	echo "nowhere | domain import $_csig_tmp/nowhere" >>"$file.cases"
	all_refused 2 sw <"$file.cases"
	assert_eq "state" "$before" "$(state sw)"
	jq 'del(.digest) | .signals[0].step = 16000000' "$file" |
		ctl sw domain import -
	ctl sw -j signal show 0 | json '.[0].step == 16000000'
}

doctor_finds() {
	mkns sw h2
	mkveth sw port1 01 h2 v1 02
	ctl sw doctor | grep -q 'WARN *ports' || fail "no warning without ports"
	port_add sw port1
	ctl sw doctor digest "$(digest sw)" profile <(ctl sw domain export) ||
		fail "it is not well: $(ctl sw doctor)"
	ctl sw -j doctor | json 'any(.[]; .check == "btf") and
		any(.[]; .check == "version" and .status == "OK") and
		any(.[]; .check == "mtu" and .dev == "port1" and .status == "WARN")'
	assert_refused 2 'FAIL *digest' ctl sw doctor digest 0123456789abcdef
	ctl h2 domain set compact-tpid 0x88b5
	assert_refused 2 'FAIL *digest' \
		ctl sw doctor profile <(ctl h2 domain export)
	ip -n "sw-$$" link set dev port1 mtu 1600
	ctl sw -j doctor | json 'all(.[]; .check != "mtu")'
	ip -n "sw-$$" link add name dummy0 type dummy
	port_add sw dummy0
	ctl sw -j doctor | json 'any(.[]; .check == "capacity" and
		.dev == "dummy0" and .status == "WARN")'
	tc -n "sw-$$" filter del dev port1 ingress
	ctl sw -j doctor | json 'any(.[]; .check == "ingress" and
		.dev == "port1" and .status == "WARN")'
	tc -n "sw-$$" qdisc del dev port1 root
	assert_refused 2 'FAIL *operational port1' ctl sw doctor
}

batch() {
	local file=$_csig_tmp/batch

	mkns sw
	ip -n "sw-$$" link add name port1 type dummy
	cat >"$file" <<-'EOF'
	# a comment, an empty line

	port add dev port1 capacity 10mbit	# and a comment
	lm set signal all format "compact" fields 'port:5'
	port set dev port1 lm port=3
	EOF
	ctl sw -b "$file"
	ctl sw -j port show dev port1 | json '.[0].lm.port == 3'
	printf '%s\n' "port set dev port1 lm port=4" "port set dev port1 frob" \
		"port set dev port1 lm port=5" >"$file"
	assert_refused 1 "batch:2: .*frob" ctl sw -b "$file"
	assert_eq "stopped" 4 "$(port_get sw port1 lm.port)"
	assert_refused 1 "batch:2: .*frob" ctl sw -force -b "$file"
	assert_eq "went on" 5 "$(port_get sw port1 lm.port)"
	assert_refused 2 "port add|already" ctl sw -b - <<<"port add dev port1"
	ctl sw -j -b - <<<"domain show
port show" | jq -s . | json 'length == 2 and .[1][0].ifname == "port1"'
	assert_refused 1 "quote" ctl sw -b - <<<'port "show'
	assert_refused 2 "nowhere" ctl sw -b "$_csig_tmp/nowhere"
}

everybody_reads() {
	local user="setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all"

	mkns sw
	ip -n "sw-$$" link add name port1 type dummy
	port_add sw port1 capacity 10mbit
	# shellcheck disable=SC2086
	nsx sw $user csigctl -j port show | json 'length == 1'
	# shellcheck disable=SC2086
	nsx sw $user csigctl domain export | json '.digest'
	# shellcheck disable=SC2086
	assert_refused 2 'permitted' nsx sw $user csigctl port set dev port1 capacity 1mbit
	# shellcheck disable=SC2086
	assert_refused 2 'permitted' nsx sw $user csigctl domain preset default
	assert_eq "capacity" 10000000 "$(port_get sw port1 capacity_bps)"
}

output_is_lost() {
	mkns sw
	assert_refused 2 'cannot write' \
		bash -c "csigctl -n sw-$$ signal show >/dev/full"
	assert_refused 2 'cannot write' \
		bash -c "csigctl -n sw-$$ -j signal show >/dev/full"
}

# CSIG_CLI_PORTS=2000 for more than a switch has
many_ports() {
	local n=${CSIG_CLI_PORTS:-400} i start ms

	mkns sw
	for ((i = 0; i < n; i++)); do
		echo "link add name d$i type dummy"
	done | ip -n "sw-$$" -batch -
	for ((i = 0; i < n; i++)); do
		echo "port add dev d$i capacity 10mbit"
	done | ctl sw -b -
	ctl sw -j port show | json "length == $n and
		(map(.ifname) | unique | length) == $n"
	start=$(date +%s%N)
	ctl sw port show >/dev/null
	ms=$((($(date +%s%N) - start) / 1000000))
	diag "dump of $n ports: $ms ms"
	# 2000 take 600 ms on an emulated machine with other load.
	assert_le "milliseconds" $((n * 3 / 2 + 1000 * CSIG_TIME_SCALE)) "$ms"
	# A list that changes is read again or refused, never cut.
	while :; do
		ctl sw port del dev d0
		port_add sw d0 capacity 10mbit
	done 2>/dev/null &
	for i in 1 2 3; do
		if ctl sw -j port show >"$_csig_tmp/out" 2>"$_csig_tmp/err"; then
			json "length >= $n - 1" <"$_csig_tmp/out"
		else
			grep -q 'changed' "$_csig_tmp/err" || fail "$(cat "$_csig_tmp/err")"
			[ ! -s "$_csig_tmp/out" ] || fail "part of a list was shown"
		fi
	done
}

module_back() {
	echo "$modprobe" >/proc/sys/kernel/modprobe
	modprobe csig
}

# The kernel would load the module by itself; this time it can't.
without_module() {
	modprobe=$(cat /proc/sys/kernel/modprobe)
	at_leave module_back
	wait_for 30 _lib_rmmod
	echo >/proc/sys/kernel/modprobe
	mkns sw
	sed 's/^/the csig module is not loaded; try: modprobe csig | /' <<-'EOF' |
	domain show
	domain export
	signal show
	lm show
	port show
	port set dev lo update on
	port add dev lo
	port del dev lo
	monitor
	signal del 1
	lm set signal all format compact fields a:1
	domain set compact-tpid 0x9900
	EOF
		all_refused 2 sw
	assert_refused 2 'FAIL *module: .*modprobe csig' csigctl doctor
	# Files can still be read.
	frames pcap "c:1.5.3" >"$_csig_tmp/x.pcap"
	csigctl -j capture file "$_csig_tmp/x.pcap" 2>"$_csig_tmp/err" |
		json '.[0].signal == "min(abwc)"'
	grep -q 'default profile' "$_csig_tmp/err"
}

version_and_completion() {
	local words

	assert_eq "version" "csigctl $(modinfo -F version csig)" "$(csigctl -V)"
	# shellcheck disable=SC2016
	words=$(bash -c '
		. /usr/share/bash-completion/completions/csigctl 2>/dev/null ||
			. /usr/local/share/bash-completion/completions/csigctl
		COMP_WORDS=(csigctl -n x port set dev lo ingress "")
		COMP_CWORD=8
		_csigctl
		echo "${COMPREPLY[*]}"')
	assert_eq "completion" "trust strip drop" "$words"
}

ktap_plan 14
run_test not_numbers "what is not a number is a usage error and nothing is sent"
run_test unknown_words "errors name the word"
run_test reads_back "what is set reads back exactly"
run_test refusals_name_the_attribute "the kernel's refusals name the attribute"
run_test json_schema "JSON has the keys and types of the manual"
run_test round_trip "export, import: the same digest"
run_test import_is_checked "import names the bad key and changes nothing"
run_test doctor_finds "doctor finds what is missing"
run_test batch "batches stop at the first error, or don't"
run_test everybody_reads "reads for all, writes for CAP_NET_ADMIN"
run_test output_is_lost "a full disk is an error"
run_test many_ports "hundreds of ports"
run_test without_module "without the module: one clear line"
run_test version_and_completion "version and completion"
