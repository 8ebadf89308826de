#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Write the files that the netlink specification is the source of, or say whether they
# are what it makes (--check).  Run by "make regen"; elsewhere CSIG_LINUX has to name
# an unpacked linux-source 6.12.  Needs python3-yaml and python3-jsonschema.

set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
linux=${CSIG_LINUX:-/usr/src/linux-source-6.12}
gen=${YNL_GEN:-$linux/tools/net/ynl/ynl-gen-c.py}
check=

case ${1:-} in
'') ;;
--check) check=1 ;;
*)
	echo "usage: regen.sh [--check]" >&2
	exit 1
	;;
esac
if [ ! -f "$gen" ]; then
	echo "regen.sh: no $gen: use \"make regen\" or set CSIG_LINUX" >&2
	exit 1
fi

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# The generator wants the schemas beside the specs, and the tree's root marked.
mkdir -p "$tmp/Documentation/netlink/specs"
cp "$linux"/Documentation/netlink/*.yaml "$tmp/Documentation/netlink/"
cp "$top"/Documentation/netlink/specs/*.yaml "$tmp/Documentation/netlink/specs/"
: >"$tmp/MAINTAINERS"

status=0
while read -r spec file mode; do
	mkdir -p "$tmp/$(dirname "$file")"
	# shellcheck disable=SC2086
	(cd "$tmp" && python3 -B "$gen" $mode -o "$tmp/$file" \
		--spec "$tmp/Documentation/netlink/specs/$spec.yaml")
	if [ -n "$check" ]; then
		diff -u --label "$file" --label "$file, generated" \
			"$top/$file" "$tmp/$file" || status=1
	elif ! cmp -s "$tmp/$file" "$top/$file"; then
		cp "$tmp/$file" "$top/$file"
		echo "$file"
	fi
done <<-'EOF'
	csig include/uapi/linux/csig.h --mode uapi --header
	csig src/csig/netlink_gen.h --mode kernel --header
	csig src/csig/netlink_gen.c --mode kernel --source
	qcn include/uapi/linux/qcn.h --mode uapi --header
	qcn src/qcn/netlink_gen.h --mode kernel --header
	qcn src/qcn/netlink_gen.c --mode kernel --source
EOF
exit $status
