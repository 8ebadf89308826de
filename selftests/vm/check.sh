#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# All tests, or $TESTS: the unit tests in the root, then the others in $JOBS
# machines side by side, the first with two CPUs (four: debug), the others with one: fewer
# threads of the emulator then wait for each other. Last line: "N passed, N failed[, N skipped]".

# shellcheck disable=SC2016
. "$(dirname "$0")/common.sh"

check=$work/check
root=$(root_path "$root_kind")
start=$SECONDS
limit=3600
[ "$KERNEL" != debug ] || limit=14400
export CSIG_EXPECT_ALL=${CSIG_EXPECT_ALL:-1}

all=$(make -s --no-print-directory -C "$top/selftests" \
	--eval 'csig-list:; @echo $(TEST_PROGS)' csig-list)
read -r -a tests <<<"${TESTS:-unit $all}"
rm -rf "$check"
mkdir -p "$check/taken" "$check/again" "$check/log" "$check/result"

report() { # TEST STATUS TENTHS: count its cases, print one line and failures
	local test=$1 out p f s word=ok

	out=$(awk -v rc="$2" -v expect="$CSIG_EXPECT_ALL" \
		-f "$vm_dir/ktap.awk" "$check/log/$test")
	read -r p f s <<<"$out"
	[ "$f" = 0 ] || word=FAIL
	{
		printf '%-4s  %-28s %3d passed' $word "$test" "$p"
		[ "$f" = 0 ] || printf ', %d failed' "$f"
		[ "$s" = 0 ] || printf ', %d skipped' "$s"
		printf '  %d.%d s\n' $(($3 / 10)) $(($3 % 10))
		if [ "$f" != 0 ]; then
			tail -n +2 <<<"$out" | tail -n 60 | sed 's/^/      /'
			echo "      whole log: $check/log/$test"
		fi
	} >"$check/result/$test.txt"
	cat "$check/result/$test.txt"
	echo "$p $f $s" >"$check/result/$test"
	[ "$2" != 0 ] || echo "$test $3" >>"$check/durations"
}

unit() {
	local status=0 begin

	begin=$(date +%s%1N)
	"$vm_dir/in-root.sh" "$root/root" "$work/src:/csig" -- \
		make -s -C /csig/selftests/unit run >"$check/log/unit" 2>&1 ||
		status=$?
	report unit $status $(($(date +%s%1N) - begin))
}

# An emulated machine on busy cores stalls. What fails is shown, and run once more, in a
# machine of its own; what the kernel log says is never forgiven.
once_more() { # TEST
	! grep -q 'the kernel log has complaints' "$check/log/$1" || return 1
	mkdir "$check/again/$1" 2>/dev/null || return 1
	printf 'again %s\n' "$1"
	grep -B 8 '^not ok' "$check/log/$1" | tail -n 40 | sed 's/^/      /'
	mv "$check/log/$1" "$check/log/$1.first"
	rm -rf "$check/taken/$1"
}

left() { # N: tests of its list that no machine has taken yet
	local test

	while read -r test; do
		[ -d "$check/taken/$test" ] || echo "$test"
	done <"$check/tests-$1"
}

machine() { # N: boot machines until no test is left
	local run=$work/runs/check-$1 cpus=1
	local status word test code tenths running before repeat

	[ "$1" != 1 ] || cpus=2
	[ "$1$KERNEL" != 1debug ] || cpus=4

	while before=$(left "$1") && [ -n "$before" ]; do
		running=''
		repeat=''
		status=0
		# The loop must not be in a subshell: it sets $running.
		exec 7< <("$vm_dir/boot.sh" --run "$run" --out "$check" \
			--cpus $cpus --timeout "${TIMEOUT:-$limit}" \
			selftests/vm/guest-tests "tests-$1" \
			2>"$check/machine-$1.log" 8>&-
			echo "status $?")
		while read -r word test code tenths <&7; do
			case $word in
			begin) running=$test ;;
			end)
				running=''
				if [ "$code" != 0 ] && once_more "$test"; then
					repeat=$test
					continue
				fi
				report "$test" "$code" "$tenths"
				;;
			status) status=$test ;;
			esac
		done
		exec 7<&-
		if [ -n "$running" ] && [ "$status" = 123 ] &&
			mkdir "$check/again/$running" 2>/dev/null; then
			say "$running again: the emulator failed, not the test"
			rm -rf "$check/taken/$running" "$check/log/$running"
			continue
		fi
		if [ -n "$running" ]; then
			{
				tail -n 50 "$check/machine-$1.log" |
					sed 's/^/# /'
				echo "Bail out! the machine ended in this test"
			} >>"$check/log/$running"
			cp "$run/console.log" "$check/log/$running.console"
			report "$running" 1 0
		elif [ "$status" != 0 ]; then
			cp "$check/machine-$1.log" "$check/log/machine-$1"
			echo "Bail out! machine $1: status $status" \
				>>"$check/log/machine-$1"
			report "machine-$1" 1 0
		fi
		[ -n "$repeat" ] || [ "$(left "$1")" != "$before" ] || return 0
	done
}

programs=()
for test in "${tests[@]}"; do
	if [ "$test" = unit ]; then
		unit
	elif [ -x "$top/selftests/$test" ]; then
		programs+=("$test")
	else
		echo "Bail out! no such test" >"$check/log/$test"
		report "$test" 1 0
	fi
done

# The longest first, as far as known from earlier runs; first of all what only the
# first machine can run.
touch "$work/durations"
for test in ${programs[@]+"${programs[@]}"}; do
	smp=$(grep -c '^# Needs two CPUs' "$top/selftests/$test") || true
	echo "$smp $(awk -v t="$test" '$1 == t { d = $2 } END { print d ? d : 9999 }' \
		"$work/durations") $test"
done | sort -s -k1,1nr -k2,2nr >"$check/order"

stop() { # the machines: they do not hear Ctrl-C
	local file

	for file in "$work"/runs/check-*/boot.pid; do
		kill "$(cat "$file")"
	done 2>/dev/null
}
on_exit stop

jobs=${JOBS:-2}
[ "$jobs" -le ${#programs[@]} ] || jobs=${#programs[@]}
pids=()
for n in $(seq "$jobs"); do
	awk -v n="$n" 'n == 1 || $1 == 0 { print $3 }' "$check/order" \
		>"$check/tests-$n"
	machine "$n" &
	pids+=("$!")
	children+=("$!")
done
[ ${#pids[@]} = 0 ] || wait "${pids[@]}"
children=()
on_exit :
for test in $(left 1); do
	echo "Bail out! did not run" >"$check/log/$test"
	report "$test" 1 0
done
[ ! -f "$check/durations" ] || mv "$check/durations" "$work/durations"

read -r p f s < <(cat "$check"/result/* | awk '
	/^[0-9]+ [0-9]+ [0-9]+$/ { p += $1; f += $2; s += $3 }
	END { print p + 0, f + 0, s + 0 }')
echo "kernel $KERNEL, $((SECONDS - start)) s, logs in ${check#"$top"/}"
echo "$p passed, $f failed$([ "$s" = 0 ] || echo ", $s skipped")"
[ "$f" = 0 ] && [ "$p" != 0 ]
