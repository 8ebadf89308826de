#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The Wireshark dissector of QCN, in tshark: every field of the CNMs of the vectors, VLAN
# tags, padding, CN-TAGs of data frames, malformed frames.  No module, no network.

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2034 # read by lib.sh
csig_module=

VECTORS=$CSIG_LIB_DIR/unit/vectors/qcn-cnm.json
SCRIPT=$CSIG_LIB_DIR/../tools/wireshark/qcn.lua
MAN=$CSIG_LIB_DIR/../Documentation/man/qcn-wireshark.7

# As nobody: Wireshark runs no scripts for root.  One that is installed is loaded already.
dissect() { # OPTION...
	local options=()

	compgen -G "/usr/lib*/*/wireshark/plugins/qcn.lua" >/dev/null ||
		options=(-X "lua_script:$SCRIPT")
	HOME=$_csig_tmp/home setpriv --reuid=65534 --regid=65534 --clear-groups \
		tshark "${options[@]}" "$@" -r - <"$_csig_tmp/pcap" 2>"$_csig_tmp/err" ||
		fail "tshark: $(cat "$_csig_tmp/err")"
	! grep -i lua "$_csig_tmp/err" || fail "the script has errors"
}

fields() { # SET
	local text=$_csig_tmp/text args=() e

	if [ ! -e "$text" ]; then	# one run for all sets: tshark starts slowly
		py qcn_wireshark fields >"$text.fields"
		while read -r e; do
			args+=(-e "$e")
		done <"$text.fields"
		py qcn_wireshark write "$VECTORS" "$_csig_tmp/pcap"
		dissect -T fields "${args[@]}" >"$text"
	fi
	py qcn_wireshark check "$1" "$VECTORS" <"$text"
}

# The octets of the sampled frame go to the dissector of their EtherType.
sampled() {
	local text

	py qcn_wireshark write "$VECTORS" "$_csig_tmp/pcap"
	text=$(dissect -o qcn.sampled:TRUE -Y "qcn.msdu.type == 0x0800 && ip" \
		-T fields -e _ws.col.protocol -e _ws.col.info)
	grep -q "CNM, QntzFb" <<<"$text" || fail "no IPv4 header in a CNM: $text"
	! grep -v "^QCN	CNM, QntzFb" <<<"$text" || fail "columns are not those of the CNM"
}

names() {
	if [ ! -f "$SCRIPT" ] || [ ! -f "$MAN" ]; then
		skip "no sources here"
	fi
	diff <(grep -o '"qcn\.[a-z_.]*"' "$SCRIPT" | tr -d '"' | sort -u) \
		<(grep -o '\bqcn\.[a-z_.]*[a-z]' "$MAN" | grep -v -x -e qcn.lua -e qcn.sampled | sort -u) ||
		fail "filter names in the manual page are others"
}

need tshark setpriv
ktap_plan 5
mkdir -m 777 "$_csig_tmp/home"
chmod 755 "$_csig_tmp"
run_test fields "every field of the vectors' CNMs" vectors
run_test fields "VLAN tags, padding, data frames" variants
run_test fields "malformed frames, unknown versions, reserved bits" malformed
run_test sampled "the sampled frame in a CNM"
run_test names "filter names are in the manual page"
