# SPDX-License-Identifier: GPL-2.0
# Count the cases of one test's KTAP output: awk -v rc=STATUS [-v expect=1].
# First line printed: "PASSED FAILED SKIPPED"; then what failed, and why.
# With expect=1 a skipped case is a failed one.

function fail(text) {
	failed++
	report = report text "\n"
}

function end_of_document() {
	if (plan < 0 && seen > 0)
		fail("no plan")
	else if (plan >= 0 && plan != seen)
		fail("planned " plan " cases, reported " seen)
	plan = -1
	seen = 0
}

BEGIN { plan = -1 }

{ sub(/\r$/, "") }

/^(TAP|KTAP) version/ {
	end_of_document()
	documents++
	next
}

/^ *1\.\.[0-9]+/ {
	if ($0 !~ /^ /) {
		n = $1
		sub(/^1\.\./, "", n)
		plan = n + 0
	}
	if (plan == 0 && !expect && /# *[Ss][Kk][Ii][Pp]/)
		skipped++
	else if (plan == 0)
		fail($0)
	next
}

/^Bail out!/ {
	fail(diagnostics $0)
	next
}

/^ *(not )?ok( |$)/ {
	match($0, /^ */)
	depth = RLENGTH
	if (depth == 0)
		seen++
	# The line after deeper ones sums them up: count it only if it
	# failed while none of them did.
	parent = depth < last
	last = depth
	bad = /^ *not ok/ && !/# *(TODO|XFAIL)/
	skip = /# *[Ss][Kk][Ii][Pp]/
	if (depth > 0)
		inner_failed += bad
	if (parent && (!bad || inner_failed)) {
		if (depth == 0)
			inner_failed = 0
	} else if (bad || (skip && expect))
		fail(diagnostics $0)
	else if (skip)
		skipped++
	else
		passed++
	diagnostics = ""
	next
}

{ diagnostics = diagnostics $0 "\n" }

END {
	end_of_document()
	if (rc == 4 && !failed && !skipped && !passed) {
		if (expect)
			fail(diagnostics "skipped")
		else
			skipped++
	} else if (rc == 124)
		fail(diagnostics "stopped: out of time")
	else if (rc != 0 && rc != 4 && !failed)
		fail(diagnostics "exit status " rc)
	else if (!documents && !passed && !failed && !skipped)
		fail(diagnostics "no KTAP output")
	print passed + 0, failed + 0, skipped + 0
	printf "%s", report
}
