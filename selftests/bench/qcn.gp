# SPDX-License-Identifier: GPL-2.0
# gnuplot -e "dir='DIR'" qcn.gp: the samples of bench/qcn.sh in DIR as SVG files there:
# queue and rates over time of the runs, what all runs came to, a hot spot, one CNM.

set datafile separator ','
set terminal svg size 1000,700 dynamic background rgb 'white' font 'sans,12' noenhanced
set grid
set key outside right top
set lmargin 10
set rmargin 26
set style data lines

qeq = 26000.0
line = 100.0
have(f) = int(system("test -s '".f."' && echo 1 || echo 0"))

# Mbit/s between two looks, of the octets in column c
mbit(c) = ($0 == 0 ? (pt = $1, pb = column(c), NaN) : \
	(r = 8e-6 * (column(c) - pb) / ($1 - pt), pt = $1, pb = column(c), r))

do for [kind in "udp tcp"] {
	do for [n in "1 2 4 10"] {
		f = dir."/".kind."-".n."-"
		if (!have(f."qcn.csv")) { continue }
		set output f."time.svg"
		set multiplot layout 2,1 title n." ".kind." sources into one line of 100 Mbit/s"
		set ylabel 'queue (Qeq)'
		set yrange [0:6.5]
		set xlabel ''
		plot for [q in "qcn fifo red fq_codel"] f.q.".csv" skip 1 \
			using 1:($2 / qeq) title q, 1 title 'Qeq' dashtype 2
		set ylabel 'received (Mbit/s)'
		set yrange [0:110]
		set xlabel 'time (s)'
		plot for [i = 1:int(n)] f."qcn.csv" skip 1 every 5 \
			using 1:(mbit(6 + i)) title 'source '.i.', qcn'
		unset multiplot
	}
}

do for [s in "spot19-1-qcn spot19-2-qcn spot19-4-qcn spot19-2-fifo spot2-2-qcn"] {
	f = dir."/".s
	if (!have(f.".csv")) { continue }
	n = int(system("echo ".s." | cut -d- -f2"))
	set output f.".svg"
	set multiplot layout 2,1 title "hot spot: ".s
	set ylabel 'queue (Qeq)'
	set yrange [0:6.5]
	set xlabel ''
	plot f.".csv" skip 1 using 1:($2 / qeq) title 'queue', 1 title 'Qeq' dashtype 2
	set ylabel 'Mbit/s'
	set yrange [0:110]
	set xlabel 'time (s)'
	plot f.".csv" skip 1 every 3 using 1:(mbit(3)) title 'sent', \
		f.".csv" skip 1 using 1:(column(7 + n) / 1e6) title 'limiter of source 1'
	unset multiplot
}

if (have(dir."/series.csv")) {
	set output dir."/series.svg"
	set title 'one CNM with the strongest feedback'
	set ylabel 'share of the line'
	set yrange [0:1.05]
	set xlabel 'time (s)'
	plot dir."/series.csv" skip 1 using 1:($2 / $6) with steps title 'current rate', \
		'' skip 1 using 1:($3 / $6) with steps title 'target rate'
}

if (have(dir."/flood.csv")) {
	set output dir."/flood.svg"
	set title 'random CNMs from 2 s to 5 s'
	set ylabel 'Mbit/s'
	set yrange [0:110]
	set xlabel 'time (s)'
	plot dir."/flood.csv" skip 1 using 1:(mbit(3)) title 'sent'
}

if (have(dir."/summary.csv")) {
	set output dir."/summary.svg"
	set title 'queues with UDP sources: mean, and 99 percent'
	set style data histograms
	set style histogram clustered
	set style fill solid 0.6 border
	set ylabel 'Qeq'
	set yrange [0:6.5]
	set xlabel 'queue and number of sources'
	set xtics rotate by -40
	plot dir."/summary.csv" skip 1 every ::0::15 \
		using 6:xtic(stringcolumn(3)." ".stringcolumn(2)) title 'mean', \
		'' skip 1 every ::0::15 using 11 title '99 percent'
}
set output
