#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Install what the host needs, packages/host or the list that is named; without root say
# what is missing.

. "$(dirname "$0")/common.sh"

list=${1:-host}

# It fails when one of them was never installed.
# shellcheck disable=SC2046
present=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' \
	$(packages "$list") 2>/dev/null | sed -n 's/ installed$//p' | sort -u) || true
mapfile -t missing < <(packages "$list" | sort | comm -23 - <(echo "$present"))
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
