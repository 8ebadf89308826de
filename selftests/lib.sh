# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2030,SC2031 # a test function owns the namespaces that it makes
# What the csig tests share: KTAP output, namespaces and links, the module, the
# kernel log, waiting for events.  Sourced by every test; it is none itself.
#
#   . "$(dirname "$0")/lib.sh"
#   ktap_plan 2
#   run_test function "what it shows"
#   run_test function "what else"
#
# A test function runs in a subshell under "set -e": any command that fails, fails
# the test; "skip REASON" skips it; what it prints becomes diagnostics.  Namespaces
# made in the function go with it, those made outside with the script.  The last
# result is always lib.sh's own: the module can be unloaded and the kernel log is
# clean.

CSIG_LIB_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
CSIG_TEST=$(basename "$0" .sh)
# A debug kernel is slower: waits are longer by this factor, results are the same.
: "${CSIG_TIME_SCALE:=$([ -e /sys/kernel/debug/kmemleak ] && echo 4 || echo 1)}"
: "${CSIG_EXPECT_ALL:=0}"
export CSIG_TIME_SCALE

KSFT_PASS=0
KSFT_FAIL=1
KSFT_SKIP=4

_ktap_n=0
_ktap_planned=0
_ktap_failed=0
_ktap_skipped=0
_csig_ns=()
_csig_loaded=0
_csig_tmp=
_csig_at_leave=
_csig_py=
_csig_py_requests=

# --- KTAP -----------------------------------------------------------------------

diag() { # TEXT...
	printf '%s\n' "$*" | sed 's/^/# /'
}

ktap_ok() { # NAME
	_ktap_n=$((_ktap_n + 1))
	echo "ok $_ktap_n $1"
}

ktap_fail() { # NAME [WHY]
	_ktap_n=$((_ktap_n + 1))
	_ktap_failed=$((_ktap_failed + 1))
	[ -z "${2:-}" ] || diag "$2"
	echo "not ok $_ktap_n $1"
}

ktap_skip() { # NAME REASON
	if [ "$CSIG_EXPECT_ALL" = 1 ]; then
		ktap_fail "$1" "would be skipped: $2"
		return
	fi
	_ktap_n=$((_ktap_n + 1))
	_ktap_skipped=$((_ktap_skipped + 1))
	echo "ok $_ktap_n $1 # SKIP $2"
}

# Everything is missing: a plan of none.
skip_all() { # REASON
	if [ "$CSIG_EXPECT_ALL" = 1 ]; then
		echo "Bail out! $1"
		exit $KSFT_FAIL
	fi
	[ "$_ktap_planned" -gt 0 ] || echo "TAP version 13"
	echo "1..0 # SKIP $1"
	exit $KSFT_SKIP
}

# What puts back what the namespaces do not take with them, at the end of the test
# function or of the script.
at_leave() { # FUNCTION
	_csig_at_leave=$1
}

# In a test function only.
skip() { # REASON
	echo "$1" >"$_csig_tmp/skip"
	exit $KSFT_SKIP
}

fail() { # TEXT...
	echo "$*"
	return 1
}

run_test() { # FUNCTION DESCRIPTION [ARGUMENT...]
	local fn=$1 name=$2 log=$_csig_tmp/log rc
	shift 2

	rm -f "$_csig_tmp/skip"
	(
		set -eE
		trap - INT TERM HUP
		trap '_lib_leave_test' EXIT
		trap '_lib_where "$?" "$BASH_COMMAND" "$LINENO" "${FUNCNAME[0]:-}"' ERR
		_csig_ns=()
		_csig_at_leave=
		"$fn" "$@"
	) >"$log" 2>&1
	rc=$?
	# Other commands end with the status of a skip, too: jq -e without input.
	[ $rc != $KSFT_SKIP ] || [ -e "$_csig_tmp/skip" ] || rc=$KSFT_FAIL
	[ ! -s "$log" ] || tail -n 60 "$log" | sed 's/^/# /'
	case $rc in
	0) ktap_ok "$name" ;;
	"$KSFT_SKIP") ktap_skip "$name" "$(cat "$_csig_tmp/skip" 2>/dev/null)" ;;
	*) ktap_fail "$name" "exit status $rc" ;;
	esac
}

_lib_where() { # STATUS COMMAND LINE FUNCTION
	case $4 in
	fail | assert_* | wait_for) return ;;
	esac
	echo "status $1 from: $2 (line $3)"
}

_lib_kill_jobs() {
	local pids

	pids=$(jobs -p)
	# shellcheck disable=SC2086
	[ -z "$pids" ] || kill $pids 2>/dev/null
	wait 2>/dev/null
}

_lib_leave_test() {
	local rc=$?

	trap - ERR
	set +e
	[ -z "$_csig_at_leave" ] || $_csig_at_leave
	_lib_kill_jobs
	_lib_del_ns
	exit $rc
}

# --- beginning and end ------------------------------------------------------------

ktap_plan() { # NUMBER: results to come; loads the module
	_ktap_planned=$(($1 + (${#csig_module} > 0)))
	[ "$(id -u)" = 0 ] || skip_all "needs root"
	_csig_tmp=$(mktemp -d "/tmp/csig-$CSIG_TEST-XXXXXX")
	trap _lib_exit EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	need ip tc jq python3
	echo "TAP version 13"
	echo "1..$_ktap_planned"
	if [ -n "$csig_module" ]; then
		dmesg_mark
		module_load
	fi
	_lib_py_start
}

need() { # COMMAND...: skip the whole script without
	local c

	for c in "$@"; do
		command -v "$c" >/dev/null || skip_all "needs $c"
	done
}

# What a test is about: QCN's say csig_module=sch_qcn before ktap_plan, nothing is none.
csig_module=csig

module_load() {
	local ko=${CSIG_KO:-}

	[ -z "$ko" ] || ko=$(dirname "$ko")/$csig_module.ko
	_lib_rmmod || skip_all "$csig_module is in use on this machine"
	if [ -n "$ko" ]; then
		insmod "$ko" || skip_all "$csig_module does not load from $ko"
	else
		modprobe "$csig_module" || skip_all "modprobe $csig_module failed"
	fi
	_csig_loaded=1
}

_lib_unload() {
	wait_for 30 _lib_rmmod && return
	lsmod | grep "^$csig_module "
	return 1
}

_lib_rmmod() {
	[ ! -d "/sys/module/$csig_module" ] || rmmod "$csig_module" 2>/dev/null
}

_lib_exit() {
	local rc=$? why=

	trap - EXIT INT TERM HUP
	set +e
	[ -z "$_csig_at_leave" ] || $_csig_at_leave
	_lib_kill_jobs
	_lib_del_ns
	[ -z "$_csig_py" ] || kill "$_csig_py"
	if [ $_csig_loaded = 1 ]; then
		_lib_unload || why="the module can't be unloaded"
		dmesg_check >"$_csig_tmp/dmesg" || why="$why$(echo; cat "$_csig_tmp/dmesg")"
		if [ -z "$why" ]; then
			ktap_ok "$CSIG_TEST: module unloads, kernel log is clean"
		else
			ktap_fail "$CSIG_TEST: module unloads, kernel log is clean" "$why"
		fi
	fi
	[ -z "$_csig_tmp" ] || rm -rf "$_csig_tmp"
	[ $rc = 0 ] || exit $rc
	if [ $_ktap_n != $_ktap_planned ]; then
		diag "$_ktap_n results, $_ktap_planned planned"
		exit $KSFT_FAIL
	fi
	diag "Totals: pass:$((_ktap_n - _ktap_failed - _ktap_skipped))" \
		"fail:$_ktap_failed skip:$_ktap_skipped"
	[ $_ktap_failed = 0 ] || exit $KSFT_FAIL
	# Only the last result, lib.sh's own, was not skipped.
	[ $_ktap_skipped -lt $((_ktap_n - _csig_loaded)) ] || [ $_ktap_skipped = 0 ] || exit $KSFT_SKIP
	exit $KSFT_PASS
}

# --- kernel log -------------------------------------------------------------------

_lib_mark=

dmesg_mark() {
	_lib_mark="csig-selftest $CSIG_TEST $$ $(date +%s%N)"
	echo "$_lib_mark" >/dev/kmsg
}

# What the kernel should not have said since the mark; status 1 if there is any.
dmesg_check() {
	dmesg -t | sed "1,/$_lib_mark/d" >"$_csig_tmp/kmsg"
	"$CSIG_LIB_DIR/vm/kmsg-check.sh" "$_csig_tmp/kmsg"
}

# --- waiting and asserting --------------------------------------------------------

# Until COMMAND succeeds; the only place that sleeps.
wait_for() { # SECONDS COMMAND...
	local deadline=$((SECONDS + $1 * CSIG_TIME_SCALE + 1))

	shift
	until "$@"; do
		[ $SECONDS -lt $deadline ] || return 1
		sleep 0.05
	done
}

assert_eq() { # WHAT EXPECTED GOT
	[ "$2" = "$3" ] || fail "$1: expected '$2', got '$3'"
}

assert_ge() { # WHAT MINIMUM GOT
	[ "$3" -ge "$2" ] || fail "$1: expected at least $2, got '$3'"
}

assert_le() { # WHAT MAXIMUM GOT
	[ "$3" -le "$2" ] || fail "$1: expected at most $2, got '$3'"
}

# JSON on stdin, where the jq expression must be true
json() { # EXPRESSION
	local text

	text=$(cat)
	jq -e "$1" <<<"$text" >"$_csig_tmp/jq" 2>&1 ||
		fail "not true: $1: $(head -c 300 <<<"$text")"
}

# VALUE within PERCENT of EXPECTED; whole numbers.
assert_near() { # WHAT EXPECTED PERCENT GOT
	local d=$(($4 - $2))

	[ $((${d#-} * 100)) -le $(($2 * $3)) ] ||
		fail "$1: expected $2 +- $3 %, got $4"
}

# A command that must be refused, with a message that matches.
assert_refused() { # STATUS PATTERN COMMAND...
	local status=$1 pattern=$2 out rc=0

	shift 2
	out=$("$@" 2>&1) || rc=$?
	[ "$rc" = "$status" ] || fail "$*: status $rc, expected $status: $out"
	shopt -s nocasematch
	[[ $out =~ $pattern ]] || rc=-1
	shopt -u nocasematch
	[ "$rc" != -1 ] || fail "$*: message '$out' lacks '$pattern'"
}

# Commands of csigctl that must be refused: lines "PATTERN | COMMAND" on stdin, all in one
# batch; each must give one message, with its line's number and the pattern.
all_refused() { # STATUS NS
	local status=$1 ns=$2 pattern command n=0 rc=0 cases=$_csig_tmp/cases said

	cat >"$cases"
	sed 's/^[^|]*| *//' "$cases" >"$cases.batch"
	ctl "$ns" -force -b "$cases.batch" >"$cases.out" 2>"$cases.err" || rc=$?
	assert_eq "status" "$status" "$rc"
	assert_eq "output" "" "$(cat "$cases.out")"
	mapfile -t said <"$cases.err"
	while IFS='|' read -r pattern command; do
		pattern="^csigctl: .*batch:$((n + 1)): .*${pattern% }"
		[[ ${said[n]:-} =~ $pattern ]] ||
			fail "$command: '$pattern' is not in: ${said[n]:-}"
		n=$((n + 1))
	done <"$cases"
	assert_eq "messages" "$n" "${#said[@]}"
}

# --- Python programs ----------------------------------------------------------------

# Not a job of the shell: a test ends with those.
_lib_py_start() {
	mkfifo "$_csig_tmp/py"
	# open from now on: what is written before it reads is not lost
	exec {_csig_py_requests}<>"$_csig_tmp/py"
	python3 -B "$CSIG_LIB_DIR/preloaded.py" <&"$_csig_py_requests" &
	_csig_py=$!
	disown
}

# A program of this folder in the interpreter that is there already. A line break in
# an argument is not possible.
py() { # PROGRAM ARGUMENT...
	local reply=$_csig_tmp/py.$BASHPID status part in out program=$1

	if [ -z "$_csig_py" ]; then	# outside of tests
		shift
		python3 -B "$CSIG_LIB_DIR/$program.py" "$@"
		return
	fi
	[ -p "$reply" ] || mkfifo "$reply"
	exec {in}<>"$reply" {out}>&1
	printf -v status $'\37%s' "$BASHPID" "$out" "$reply" "$@"
	echo "${status#?}" >&"$_csig_py_requests"
	status=
	# the time may be over within the line
	until read -r -t 5 -u "$in" part; do
		status+=$part
		kill -0 "$_csig_py" && continue
		part=1
		break
	done
	exec {in}>&- {out}>&-
	return "$status$part"
}

# --- namespaces and links ---------------------------------------------------------

ns() { # NAME: the real name of a test's namespace
	echo "$1-$$"
}

nsx() { # NAME COMMAND...
	local n=$1

	shift
	ip netns exec "$n-$$" "$@"
}

# Quiet ones; see netns.py.
mkns() { # NAME... [ipv6]
	local n option='' spaces=()

	for n in "$@"; do
		case $n in
		ipv6) option=--ipv6 ;;
		*) spaces+=("$n-$$") ;;
		esac
	done
	_csig_ns+=("${spaces[@]}")
	py netns add ${option:+"$option"} "${spaces[@]}"
}

_lib_del_ns() {
	[ ${#_csig_ns[@]} = 0 ] || py netns del "${_csig_ns[@]}"
	_csig_ns=()
}

# Addresses 02:00:00:00:00:XX, XX given; both ends up.
mkveth() { # NS1 DEV1 XX1 NS2 DEV2 XX2 [LINK OPTION...]
	local ns1=$1 dev1=$2 xx1=$3 ns2=$4 dev2=$5 xx2=$6

	shift 6
	ip link add name "$dev1" address "02:00:00:00:00:$xx1" \
		netns "$ns1-$$" "$@" type veth \
		peer name "$dev2" address "02:00:00:00:00:$xx2" \
		netns "$ns2-$$" "$@"
	ip -n "$ns1-$$" link set dev "$dev1" up
	ip -n "$ns2-$$" link set dev "$dev2" up
}

# A bridge that sends nothing of its own.
mkbridge() { # NS BRIDGE "BRIDGE OPTION..." PORT...
	local n=$1-$$ br=$2 opts=$3 p

	shift 3
	{
		echo "link add name $br type bridge stp_state 0" \
			"forward_delay 0 mcast_snooping 0 $opts"
		for p in "$@"; do
			echo "link set dev $p master $br"
		done
		echo "link set dev $br up"
	} | ip -n "$n" -batch -
}

addr() { # NS DEV ADDRESS/LENGTH...
	local n=$1-$$ dev=$2 a nodad

	shift 2
	for a in "$@"; do
		nodad=
		[[ $a != *:* ]] || nodad=nodad
		# shellcheck disable=SC2086
		ip -n "$n" addr replace "$a" dev "$dev" $nodad
	done
}

mac() { # NS DEV
	ip -n "$1-$$" -j link show dev "$2" | jq -r '.[0].address'
}

# Host h1 (v0) - (port1) switch sw (port2) - (v1) host h2; both ports in br0.  Each
# LM is one number, "port" (compact) and "port16" (expanded).  An idle port2 writes
# what $OUT_C and $OUT_E are when the signal is min(ABW): 110 Gbit/s is code 24 or
# 13750, LM 9.  Ten microseconds of silence make a port idle.
mktransit() {
	mklinks
	csigctl -n "sw-$$" -b - <<-'EOF'
	lm set signal all format compact fields port:7
	lm set signal all format expanded fields port16:16
	port add dev port1 capacity 220gbit estimator raw interval 10us lm port=7,port16=7 ingress trust
	port add dev port2 capacity 110gbit estimator raw interval 10us lm port=9,port16=9 ingress trust
	EOF
}

# The same without any csig port.
mklinks() {
	mkns h1 sw h2
	mkveth h1 v0 01 sw port1 11
	mkveth sw port2 12 h2 v1 02
	# A sender of raw frames counts a tag as payload; port1 decides.
	ip -n "h1-$$" link set dev v0 mtu 2000
	mkbridge sw br0 "" port1 port2
}

IN_C=c:0.31.0
IN_E=e:0.0xfffff.0
OUT_C=c:0.24.9
OUT_E=e:0.13750.9

# Cases with the words IN and OUT, once for each format.
both_formats() {
	local text

	text=$(cat)
	sed "s/\<IN\>/$IN_C/g; s/\<OUT\>/$OUT_C/g; s/^/compact, /" <<<"$text"
	sed "s/\<IN\>/$IN_E/g; s/\<OUT\>/$OUT_E/g; s/^/expanded, /" <<<"$text"
}

# --- csig -------------------------------------------------------------------------

ctl() { # NS ARGUMENT...
	local n=$1-$$

	shift
	csigctl -n "$n" "$@"
}

port_add() { # NS DEV [SETTING...]
	local n=$1-$$ dev=$2

	shift 2
	csigctl -n "$n" port add dev "$dev" "$@"
}

port_set() { # NS DEV SETTING...
	local n=$1-$$ dev=$2

	shift 2
	csigctl -n "$n" port set dev "$dev" "$@"
}

port_get() { # NS DEV KEY, or the jq expression behind ".[0]."
	local json key=${3#stats.} rest

	json=$(csigctl -n "$1-$$" -j port show dev "$2") || return
	rest=$json
	[ "$key" = "$3" ] || rest=${json#*'"stats":'}
	rest=${rest#*"\"$key\":"}
	# A number or a word needs no jq, which takes longer to start than csigctl.
	if [[ $key =~ ^[a-z_]+$ && $rest != "$json" && $rest =~ ^\ ?\"?([^][{}\",]+) ]]; then
		echo "${BASH_REMATCH[1]% }"
	else
		jq -r ".[0].$3" <<<"$json"
	fi
}

port_stat() { # NS DEV COUNTER
	port_get "$1" "$2" "stats.$3"
}

# The locator metadata of a namespace are plain numbers.
lm_number() { # NS
	ctl "$1" lm set signal all format compact fields port:7
	ctl "$1" lm set signal all format expanded fields port16:16
}

# The class of a csig qdisc that stands at the root, which takes any child.
csig_class() { # NS DEV
	tc -n "$1-$$" -j qdisc show dev "$2" |
		jq -r '.[] | select(.kind == "csig") | .handle + "1"'
}

# Tag what a device sends; for instance: push_all h1 v0 format compact signal abw
push_all() { # NS DEV SETTING...
	local n=$1-$$ dev=$2

	shift 2
	tc -n "$n" qdisc show dev "$dev" | grep -q clsact ||
		tc -n "$n" qdisc add dev "$dev" clsact
	tc -n "$n" filter add dev "$dev" egress matchall action csig push "$@"
}

# Let COUNTER of a port be at least VALUE.
port_stat_reaches() { # NS DEV COUNTER VALUE
	[ "$(port_stat "$1" "$2" "$3")" -ge "$4" ]
}

# Raw frames, cases on stdin; see frames.py.  A port is NAME/DEV.
frames() { # SUBCOMMAND ARGUMENT...
	py frames "$@"
}

cases() { # FROM TO... [--marker=SPEC], FROM and TO are NAME/DEV
	_lib_frames cases "$@"
}

burst() { # COUNT FROM TO... [--marker=SPEC]
	local count=$1

	shift
	_lib_frames burst "$@" --count "$count"
}

_lib_frames() {
	local a args=("$1" --from "${2%%/*}-$$/${2#*/}")

	shift 2
	for a in "$@"; do
		case $a in
		[a-z]*/*) args+=(--to "${a%%/*}-$$/${a#*/}") ;;
		*) args+=("$a") ;;
		esac
	done
	frames "${args[@]}"
}

# Sockets; see flows.py.
flow() { # udp|tcp|gso CLIENT SERVER ADDRESS [OPTION...]
	local cmd=$1 client=$2-$$ server=$3-$$ addr=$4

	shift 4
	py flows "$cmd" --client "$client" \
		--server "$server" --addr "$addr" "$@"
}
