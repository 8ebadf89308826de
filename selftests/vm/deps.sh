#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Install what the host needs (packages/host); without root say what is missing.

. "$(dirname "$0")/common.sh"

missing=()
for package in $(packages host); do
	dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null |
		grep -q '^installed' || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

if [ "$(id -u)" != 0 ]; then
	say "Missing on this machine; as root run:"
	say "apt-get install --no-install-recommends ${missing[*]}"
	exit 1
fi

export DEBIAN_FRONTEND=noninteractive
step "$work/deps.log" "Package lists" apt-get update
step "$work/deps.log" "Installing ${missing[*]}" \
	apt-get install -y --no-install-recommends "${missing[@]}"
