#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The style gate of "make check-style": every check is one KTAP line.  It runs in a
# root with the developers' packages; CSIG_LINUX is an unpacked linux-source 6.12
# (checkpatch, kernel-doc, generator), CSIG_KDIR what modules are compiled against.
# A check whose tool is missing is skipped, or fails with CSIG_EXPECT_ALL=1.

set -u
cd "$(dirname "$0")/.." || exit 1

linux=${CSIG_LINUX:-/usr/src/linux-source-6.12}
kdir=${CSIG_KDIR:-/lib/modules/$(uname -r)/build}
: "${CSIG_EXPECT_ALL:=0}"
n=0 failed=0 skipped=0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

files() { # all of the project's
	if [ -e .git ]; then
		git -c safe.directory='*' ls-files
	else
		find . -path ./build -prune -o -type f -printf '%P\n'
	fi | while IFS= read -r f; do
		[ ! -f "$f" ] || echo "$f"
	done | sort
}

generated() { # filter: without the generated ones
	grep -v -x -e 'include/uapi/linux/\(csig\|qcn\)\.h' \
		-e 'src/\(csig\|qcn\)/netlink_gen\.[ch]'
}

scripts() { # shell scripts, by name or first line
	local f

	while IFS= read -r f; do
		case $f in
		*.sh) echo "$f" ;;
		*.*) ;;
		*) head -n 1 "$f" | grep -q -a '^#!.*sh$' && echo "$f" ;;
		esac
	done <"$tmp/files"
}

check() { # NAME FUNCTION [TOOL...]
	local name=$1 fn=$2 tool

	n=$((n + 1))
	shift 2
	for tool in "$@"; do
		if ! command -v "$tool" >/dev/null; then
			if [ "$CSIG_EXPECT_ALL" = 1 ]; then
				echo "# $tool is missing"
				failed=$((failed + 1))
				echo "not ok $n style: $name"
			else
				skipped=$((skipped + 1))
				echo "ok $n style: $name # SKIP $tool is missing"
			fi
			return
		fi
	done
	if $fn >"$tmp/out" 2>&1 && [ ! -s "$tmp/out" ]; then
		echo "ok $n style: $name"
	else
		head -n 100 "$tmp/out" | sed 's/^/# /'
		failed=$((failed + 1))
		echo "not ok $n style: $name"
	fi
}

# --- checks: fine is status 0 and no output ------------------------------------

# Ignored everywhere:
#  BIT_MACRO  include/csig and user space have no BIT()
#  CAMELCASE  names of the kernel (struct Qdisc), libFuzzer and inttypes.h
# In include/:
#  ARRAY_SIZE  the pure headers have no kernel to take it from
# In src/:
#  UNCOMMENTED_DEFINITION  locks are described in the kernel-doc of their struct
# In src/compat/:
#  LINUX_VERSION_CODE CONSTANT_COMPARISON  version checks are what it is for
# In trace.h: TRACE_EVENT() has a layout of its own.
# In user space, which lacks what is recommended (__printf, strscpy) or means something
# else (a flag of a signal handler is volatile; help texts are long strings; a list of
# words and its size are two arguments from one array):
#  PREFER_DEFINED_ATTRIBUTE_MACRO STRCPY VOLATILE LONG_LINE_STRING MACRO_ARG_REUSE
# In BPF programs, which declare the kernel's types and functions themselves, link weak
# maps, and may read a context one word at a time only:
#  NEW_TYPEDEFS AVOID_EXTERNS WEAK_DECLARATION VOLATILE PREFER_DEFINED_ATTRIBUTE_MACRO
patch_check() { # IGNORED-TYPES FILE...
	local types=BIT_MACRO,CAMELCASE,$1

	shift
	[ $# -gt 0 ] || return 0
	perl "$linux/scripts/checkpatch.pl" --no-tree --strict --terse --show-types \
		--no-summary --quiet --ignore "$types" -f "$@"
	rm -f .checkpatch-camelcase.*	# a cache that it leaves
}

check_patch() {
	local f include=() src=() compat=() trace=() bpf=() user=()

	[ -f "$linux/scripts/checkpatch.pl" ] || echo "no checkpatch in $linux"
	while IFS= read -r f; do
		case $f in
		include/*) include+=("$f") ;;
		*trace.h) trace+=("$f") ;;
		src/compat/*) compat+=("$f") ;;
		src/*) src+=("$f") ;;
		bpf/* | *.bpf.c) bpf+=("$f") ;;
		*) user+=("$f") ;;
		esac
	done < <(grep '\.[ch]$' "$tmp/files" | generated)
	patch_check ARRAY_SIZE "${include[@]}"
	patch_check UNCOMMENTED_DEFINITION "${src[@]}"
	patch_check LINUX_VERSION_CODE,CONSTANT_COMPARISON "${compat[@]}"
	patch_check OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT "${trace[@]}"
	patch_check NEW_TYPEDEFS,AVOID_EXTERNS,WEAK_DECLARATION,VOLATILE,PREFER_DEFINED_ATTRIBUTE_MACRO \
		"${bpf[@]}"
	patch_check PREFER_DEFINED_ATTRIBUTE_MACRO,STRCPY,VOLATILE,LONG_LINE_STRING,MACRO_ARG_REUSE \
		"${user[@]}"
	return 0
}

check_sparse() {
	if ! make -C "$kdir" M="$PWD" C=2 CF=-D__CHECK_ENDIAN__ W=1 -j"$(nproc)" \
		modules >"$tmp/build" 2>&1; then
		tail -n 40 "$tmp/build"
		return 1
	fi
	# Messages about our files; the kernel's own headers are not ours.
	! grep -E '(warning|error):' "$tmp/build" | grep -E "^($PWD/)?(\./)?(src|include/csig|include/uapi|[a-z_]+\.c)"
}

check_kernel_doc() {
	grep -E '^(include/csig|include/uapi|src)/.*\.[ch]$' "$tmp/files" | generated |
		xargs perl "$linux/scripts/kernel-doc" -none -Wall 2>&1 | grep .
	return 0
}

check_shell() {
	scripts | xargs shellcheck -x -P selftests:selftests/vm
}

check_man() {
	local f

	while IFS= read -r f; do
		groff -man -Tutf8 -ww -rHY=0 -z -K utf8 "$f" 2>&1
		mandoc -Tlint -W warning "$f" 2>&1
	done < <(grep '^Documentation/man/.*\.[0-9]$' "$tmp/files")
}

check_spdx() {
	local f

	while IFS= read -r f; do
		case $f in
		*.md | *.json | LICENSE | MAINTAINERS | *.gitignore | dkms.conf) continue ;;
		.shellcheckrc | .ci/* | selftests/config | selftests/settings) continue ;;
		selftests/vm/packages/* | selftests/vm/bad-kmsg | selftests/vm/*.config) continue ;;
		esac
		head -n 4 "$f" | grep -q -a "SPDX-License-Identifier: " || echo "$f"
	done <"$tmp/files"
}

check_version_code() {
	grep -E '\.[ch]$' "$tmp/files" | grep -v '^src/compat/' |
		xargs grep -n -E 'LINUX_VERSION_CODE|KERNEL_VERSION\(|UTS_RELEASE'
	return 0
}

check_length() {
	local f lines

	while IFS= read -r f; do
		case $f in
		LICENSE | *.json | Documentation/netlink/specs/*) continue ;;
		esac
		lines=$(wc -l <"$f")
		[ "$lines" -le 600 ] || echo "$f: $lines lines"
	done < <(generated <"$tmp/files")
}

check_rests() {
	grep -v -e '^selftests/style\.sh$' -e '^LICENSE$' "$tmp/files" |
		xargs grep -n -w -I -E 'TODO|FIXME|XXX' | grep -v 'TODO|XFAIL'
	grep -v -e '\.md$' -e '^LICENSE$' -e '/bad-kmsg$' "$tmp/files" |
		xargs grep -n -I -E '[[:blank:]]+$'
	return 0
}

check_generated() {
	Documentation/netlink/regen.sh --check
}

check_spelling() {
	grep -v -e '\.json$' -e '^LICENSE$' "$tmp/files" |
		xargs codespell -q 3 -L parm,iif,clos
}

check_yaml() {
	grep '\.yaml$' "$tmp/files" | xargs -r yamllint -f parsable \
		-d '{extends: relaxed, rules: {line-length: {max: 100}, indentation: disable, hyphens: disable}}'
}

check_python() {
	local f

	while IFS= read -r f; do
		python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read(), sys.argv[1])' "$f"
	done < <(grep '\.py$' "$tmp/files")
}

# Two that are not so: a name ends before the array does; a loop fills it.
check_cppcheck() {
	grep -E '^(tools|selftests)/.*\.c$' "$tmp/files" | grep -v '\.bpf\.c$' |
		xargs cppcheck --quiet --std=c11 --enable=warning,portability \
			--inline-suppr --suppress=missingInclude \
			--suppress=normalCheckLevelMaxBranches \
			--suppress=arrayIndexOutOfBounds:include/csig/lm.h \
			--suppress=uninitvar:include/csig/wire.h \
			--error-exitcode=1 -Iinclude -Iinclude/uapi
}

# --- run -----------------------------------------------------------------------

files >"$tmp/files"
echo "TAP version 13"
echo "1..14"
check "checkpatch --strict" check_patch perl
check "sparse and W=1" check_sparse sparse make
check "kernel-doc" check_kernel_doc perl
check "shellcheck" check_shell shellcheck
check "manual pages" check_man groff mandoc
check "SPDX lines" check_spdx
check "version checks in src/compat only" check_version_code
check "files up to 600 lines" check_length
check "nothing left to do, no blanks at the end" check_rests
check "generated files" check_generated python3
check "spelling" check_spelling codespell
check "YAML" check_yaml yamllint
check "Python" check_python python3
check "cppcheck of user space" check_cppcheck cppcheck
echo "# Totals: pass:$((n - failed - skipped)) fail:$failed skip:$skipped"
[ $failed = 0 ]
