#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# "csigctl qcn lldp" between the kernel and a stock lldpd: a port with "auto" goes from
# edge to interior to interior-ready as its neighbour says, and back when that is lost.
# An lldpd in each namespace, with its own socket.
#
#   h1 (v0) ---- (v1) h2

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2034 # read by lib.sh
csig_module=sch_qcn

sock() { # NS
	echo "$_csig_tmp/lldpd-$1"
}

lldp() { # NS WORD...
	local n=$1

	shift
	lldpcli -u "$(sock "$n")" "$@"
}

answers() { # NS
	lldp "$1" show interfaces >/dev/null 2>&1
}

daemon() { # NS: an lldpd that sends every second; its neighbours keep it 4 s
	mkdir -p /run/lldpd
	nsx "$1" lldpd -d -u "$(sock "$1")" -O /dev/null >"$_csig_tmp/daemon-$1" 2>&1 &
	echo $! >"$_csig_tmp/pid-$1"
	wait_for 20 answers "$1" || fail "no lldpd: $(cat "$_csig_tmp/daemon-$1")"
	lldp "$1" configure lldp tx-interval 1
}

links() {
	# Its sockets are in there, for a user of its own.
	chmod 711 "$_csig_tmp"
	mkns h1 h2
	mkveth h1 v0 01 h2 v1 02
	ctl h1 qcn domain set dev v0 cnpv 3 mode auto
	ctl h2 qcn domain set dev v1 cnpv 3 mode auto
	daemon h1
	daemon h2
}

follow() { # NS: events in $_csig_tmp/NS
	csigctl -n "$(ns "$1")" qcn lldp socket "$(sock "$1")" \
		>"$_csig_tmp/$1" 2>"$_csig_tmp/$1.err" &
	echo $! >"$_csig_tmp/pid"
}

oper() { # NS
	ctl "$1" -j qcn domain show | jq -r '.[0].cnpv[0].oper_mode'
}

is() { # NS MODE
	[ "$(oper "$1")" = "$2" ]
}

becomes() { # NS MODE
	wait_for 30 is "$1" "$2" ||
		fail "$1 is $(oper "$1"), not $2: $(cat "$_csig_tmp/$1" "$_csig_tmp/$1.err")"
}

says() { # NS CNPV READY: a neighbour that is no csigctl
	lldp "$1" configure ports "$([ "$1" = h1 ] && echo v0 || echo v1)" \
		lldp custom-tlv replace oui 00,80,c2 subtype 8 oui-info "$2,$3" >/dev/null
}

announces() { # NS TEXT: what lldpd sends of ours
	lldp "$1" show interfaces | grep -q "OUI: 00,80,C2, SubType: 8, Len: 2 $2"
}

neighbour_decides() {
	links
	follow h1
	wait_for 20 announces h1 08,00 || fail "not announced: $(cat "$_csig_tmp/h1.err")"
	assert_eq "without a neighbour" edge "$(oper h1)"
	says h2 08 00
	becomes h1 interior
	# what it has to say now is that it does not remap
	wait_for 20 announces h1 08,08 || fail "not ready"
	says h2 08 08
	becomes h1 interior-ready
	ctl h1 -j qcn domain show | json '.[0].neighbour | .cnpv == [3] and .ready == [3] and
		.expires_ms > 0 and .expires_ms <= 4000'
	says h2 10 10
	becomes h1 edge
	says h2 18 08
	becomes h1 interior-ready
	lldp h2 unconfigure ports v1 lldp custom-tlv oui 00,80,c2 subtype 8
	becomes h1 edge
	wait_for 20 announces h1 08,00 || fail "still ready"
	kill -INT "$(cat "$_csig_tmp/pid")"
	wait "$(cat "$_csig_tmp/pid")" || fail "status $?"
	! announces h1 08 || fail "the TLV is still sent"
	assert_eq "events" \
		"announced neighbour announced neighbour neighbour announced neighbour announced lost announced withdrawn" \
		"$(awk '{ print $2 }' "$_csig_tmp/h1" | tr '\n' ' ' | sed 's/ $//')"
}

both_directions() {
	links
	follow h1
	wait_for 20 announces h1 08,00 || fail "not announced: $(cat "$_csig_tmp/h1.err")"
	follow h2
	becomes h2 interior-ready
	becomes h1 interior-ready
	# one of them first saw a neighbour that remapped, and was interior
	grep -q 'neighbour  cnpv 3  ready none' "$_csig_tmp/h1" "$_csig_tmp/h2" ||
		fail "no interior: $(cat "$_csig_tmp/h1" "$_csig_tmp/h2")"
	csigctl -n "$(ns h1)" qcn domain show | grep -q 'auto (interior-ready)' ||
		fail "$(ctl h1 qcn domain show)"
	# one process ends without a word: the other is told, its own kernel forgets
	kill -KILL "$(cat "$_csig_tmp/pid")"
	lldp h2 unconfigure ports v1 lldp custom-tlv oui 00,80,c2 subtype 8
	becomes h1 edge
	becomes h2 edge
}

lldpd_is_gone() {
	local pid

	links
	says h2 08 08
	follow h1
	becomes h1 interior-ready
	pid=$(cat "$_csig_tmp/pid-h2")
	# both of its processes, so that it can't say goodbye
	kill -KILL "$pid" "$(pgrep -P "$pid")"
	becomes h1 edge
}

comes_back() {
	links
	follow h1
	wait_for 20 announces h1 08,00 || fail "not announced: $(cat "$_csig_tmp/h1.err")"
	kill "$(cat "$_csig_tmp/pid-h1")"
	wait_for 20 grep -q 'lldpd has gone' "$_csig_tmp/h1.err" || fail "not noticed"
	daemon h1
	wait_for 20 announces h1 08,00 || fail "not announced again"
	grep -q 'there again' "$_csig_tmp/h1.err" || fail "$(cat "$_csig_tmp/h1.err")"
	# priorities come and go while it runs
	ctl h1 qcn domain set dev v0 cnpv 5 mode edge
	wait_for 20 announces h1 28,00 || fail "priority 5 is not announced"
	ctl h1 qcn domain del dev v0
	wait_for 20 eval '! announces h1 28' || fail "still announced"
}

once() {
	links
	says h2 08 00
	wait_for 20 eval 'lldp h1 show neighbors details | grep -q "OUI: 00,80,C2"' ||
		fail "the neighbour is not heard"
	csigctl -j -n "$(ns h1)" qcn lldp once dev v0 socket "$(sock h1)" >"$_csig_tmp/h1"
	assert_eq "mode" interior "$(oper h1)"
	announces h1 08,08 || fail "not announced"
	jq -s . <"$_csig_tmp/h1" | json 'map(.event) == ["announced", "neighbour", "announced"] and
		all(.[]; .ifname == "v0") and .[1].cnpv == [3] and .[1].ready == [] and
		.[2].ready == [3]'
	# nobody refreshes it
	becomes h1 edge
}

refusals() {
	links
	assert_refused 2 'lldpd does not run at .*systemctl start lldpd' \
		ctl h1 qcn lldp once socket "$_csig_tmp/none"
	assert_refused 2 'lldpd does not run at .*systemctl start lldpd' \
		ctl h1 qcn lldp socket "$_csig_tmp/none"
	assert_refused 2 'v0: lldpd does not have this device: .*namespace' \
		ctl h1 qcn lldp once socket "$(sock h2)"
	assert_refused 2 'no permission' nsx h1 setpriv --reuid 65534 --regid 65534 \
		--clear-groups --inh-caps=-all \
		csigctl qcn lldp once socket "$(sock h1)"
}

need lldpd lldpcli
ktap_plan 6
run_test neighbour_decides "edge, interior, interior-ready and back as the neighbour says"
run_test both_directions "two ports with auto become interior-ready; a TLV is lost"
run_test lldpd_is_gone "a neighbour that is gone is forgotten"
run_test comes_back "lldpd ends and comes back; priorities come and go"
run_test once "once, for scripts"
run_test refusals "what is refused, and what to do"
