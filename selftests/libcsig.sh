#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# libcsig as it is installed: a program compiled against it, errors, signals of sockets.
#
#   h1 (v0) ---- (port1) sw (port2) ---- (v1) h2
#   10.0.0.1      220 Mbit/s 110 Mbit/s   10.0.0.2

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

prog=

build() {
	local libs

	libs=$(pkg-config --cflags --libs libcsig) || fail "no libcsig.pc"
	# shellcheck disable=SC2086
	gcc -Wall -Wextra -Werror -o "$prog" "$CSIG_LIB_DIR/libcsig.c" $libs
	# shellcheck disable=SC2086
	gcc -o "$prog-static" "$CSIG_LIB_DIR/libcsig.c" -Wl,-Bstatic $libs \
		-Wl,-Bdynamic -lbpf
	readelf -d "$prog" | grep -q 'NEEDED.*libcsig\.so\.0' ||
		fail "not linked with libcsig.so.0"
	! readelf -d "$prog-static" | grep -q libcsig || fail "not linked statically"
	"$prog" header - - -
	"$prog-static" header - - -
}

symbols() {
	local lib

	lib=$(pkg-config --variable=libdir libcsig)/libcsig.so
	readelf -d "$lib" | grep -q 'SONAME.*libcsig\.so\.0' || fail "no SONAME"
	nm -D --defined-only "$lib" >"$_csig_tmp/symbols"
	grep -q ' T libcsig_open@@LIBCSIG_0\.1' "$_csig_tmp/symbols" ||
		fail "$(cat "$_csig_tmp/symbols")"
	! grep -v -e ' T libcsig_[a-z_]*@@LIBCSIG_' -e ' A LIBCSIG_' "$_csig_tmp/symbols" ||
		fail "more than the interface"
	man -w libcsig >/dev/null 2>&1 || [ -n "$(find /usr -name 'libcsig.3*')" ] ||
		fail "no manual page"
}

links() {
	local n

	mklinks
	addr h1 v0 10.0.0.1/24
	addr h2 v1 10.0.0.2/24
	for n in h1 sw h2; do
		csigctl -n "$(ns $n)" -b - <<-EOF
		domain preset default scale-rate 1/1000 scale-time 1000
		lm set signal all format compact fields hop:7
		lm set signal all format expanded fields hop:16
		EOF
	done
	port_add sw port1 capacity 220mbit estimator raw interval 10us lm hop=7 ingress trust
	port_add sw port2 capacity 110mbit estimator raw interval 10us lm hop=9 ingress trust
}

hosts() {
	links
	ctl h1 host enable dev v0
	ctl h2 host enable dev v1
}

run_prog() { # TEST
	"$prog" "$1" "$(ns h1)" "$(ns h2)" 10.0.0.2
}

no_host() {
	links
	run_prog no_host
	run_prog profile
}

with_host() { # TEST
	hosts
	run_prog "$1"
}

stale() {
	local in

	hosts
	mkfifo "$_csig_tmp/in"
	exec {in}<>"$_csig_tmp/in"
	run_prog stale <"$_csig_tmp/in" >"$_csig_tmp/out" &
	wait_for 30 grep -q open "$_csig_tmp/out" || fail "not opened"
	ctl h1 host disable dev v0
	printf 1 >&"$in"
	ctl h1 host enable dev v0
	printf 2 >&"$in"
	wait $! || fail "status $?"
	exec {in}>&-
}

need gcc pkg-config readelf nm
ktap_plan 8
prog=$_csig_tmp/libcsig
run_test build "a program compiles and links, shared and static"
run_test symbols "SONAME, versions of symbols, nothing else is exported"
run_test no_host "without a host: what is missing; the kernel's profile"
run_test with_host "without the right to open the map" no_rights
run_test with_host "sockets and values that do not fit" errors
run_test with_host "UDP: two pairs of sockets keep their signals apart" udp
run_test with_host "TCP: reflected signals, other signals" tcp
run_test stale "disabled and enabled again"
