#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Locator metadata: written when S changes and only then, composed of the layout's
# fields for the signal and format.
#
#   h1                  sw                  h2
#   v0 ------- port1 [br0] port2 ------- v1

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# port2 with these locator values
port2() { # NAME=VALUE,...
	port_add sw port2 capacity 110gbit estimator raw interval 10us lm "$1"
}

rule() {
	mktransit
	cases h1/v0 h2/v1 <<-'EOF'
	S changes, LM is written | c:0.31.127 | c:0.24.9
	S stays, LM stays | c:0.24.127 | same
	S stays, LM 0 stays | c:0.24.0 | same
	S better, LM stays | c:0.3.85 | same
	expanded, S changes | e:0.0xfffff.0xffff | e:0.13750.9
	expanded, S stays | e:0.13750.0xffff | same
	expanded, S better | e:0.1.0xaa55 | same
	all of LM is replaced | c:0.31.118.1 | c:0.24.9.1
	EOF
	port_set sw port2 lm port=127,port16=65535
	cases h1/v0 h2/v1 <<-'EOF'
	largest | c:0.31.0 | c:0.24.127
	largest, expanded | e:0.0xfffff.0 | e:0.13750.65535
	EOF
	port_set sw port2 lm port=0,port16=0
	cases h1/v0 h2/v1 <<-'EOF'
	LM 0 is a value, too | c:0.31.127 | c:0.24.0
	LM 0, expanded | e:0.0xfffff.0xffff | e:0.13750.0
	EOF
}

fields() {
	mklinks
	ctl sw lm set signal all format compact fields stage:3,dir:2,speed:2
	ctl sw lm set signal all format expanded fields device:10,port:6
	port2 stage=5,dir=2,speed=1,device=1000,port=33
	cases h1/v0 h2/v1 <<-'EOF'
	three fields | c:0.31.0 | c:0.24.89
	two fields | e:0.0xfffff.0 | e:0.13750.64033
	EOF
	port_set sw port2 lm stage=7,device=1
	cases h1/v0 h2/v1 <<-'EOF'
	a field without a value is 0 | c:0.31.127 | c:0.24.112
	expanded | e:0.0xfffff.0xffff | e:0.13750.64
	EOF
	port_set sw port2 lm device=1
	ctl sw lm set signal all format compact fields port:3
	port_set sw port2 lm port=5
	cases h1/v0 h2/v1 <<-'EOF'
	bits above the fields are 0 | c:0.31.127 | c:0.24.5
	EOF
}

per_signal() {
	mktransit
	ctl sw signal set 4 source abw aggregate min buckets 1000 base 0 step 8000000
	ctl sw lm set signal 4 format compact fields hop:3,id:4
	ctl sw lm set signal 4 format expanded fields id:4,hop:12
	port_set sw port2 lm port=9,port16=9,hop=5,id=3
	cases h1/v0 h2/v1 <<-'EOF'
	the common layout | c:0.31.0 | c:0.24.9
	the signal's own | c:4.31.0 | c:4.1.83
	the common layout, expanded | e:0.0xfffff.0 | e:0.13750.9
	the signal's own, expanded | e:4.0xfffff.0 | e:4.13750.12293
	another signal has the common one | e:1.0xfffff.0 | e:1.1000000.9
	EOF
}

ttl() {
	mklinks
	ctl sw lm set signal all format compact fields ttl:7
	ctl sw lm set signal all format expanded fields ttl:8,port:8
	port2 port=9
	cases h1/v0 h2/v1 <<-'EOF'
	IPv4 | c:0.31.0 ip:10.0.0.1>10.0.0.2/61 udp:20 | c:0.24.61 ip:10.0.0.1>10.0.0.2/61 udp:20
	IPv4, expanded | e:0.0xfffff.0 ip:10.0.0.1>10.0.0.2/255 udp:20 | e:0.13750.65289 ip:10.0.0.1>10.0.0.2/255 udp:20
	IPv6 | c:0.31.0 ip:fd00::1>fd00::2/33 udp:20 | c:0.24.33 ip:fd00::1>fd00::2/33 udp:20
	IPv6, expanded, in a VLAN | q:7 e:0.0xfffff.0 ip:fd00::1>fd00::2/64 udp:20 | q:7 e:0.13750.16393 ip:fd00::1>fd00::2/64 udp:20
	IPv4 in QinQ | ad:7 q:8 c:0.31.0 ip:10.0.0.1>10.0.0.2/7 udp:20 | ad:7 q:8 c:0.24.7 ip:10.0.0.1>10.0.0.2/7 udp:20
	IPv4 in 0x9100 | old:7 c:0.31.0 ip:10.0.0.1>10.0.0.2/7 udp:20 | old:7 c:0.24.7 ip:10.0.0.1>10.0.0.2/7 udp:20
	IPv6 behind a CN-TAG | cn:7 c:0.31.0 ip:fd00::1>fd00::2/7 udp:20 | cn:7 c:0.24.7 ip:fd00::1>fd00::2/7 udp:20
	larger than the field | c:0.31.0 ip:10.0.0.1>10.0.0.2/200 udp:20 | c:0.24.127 ip:10.0.0.1>10.0.0.2/200 udp:20
	S stays, LM stays | c:0.24.1 ip:10.0.0.1>10.0.0.2/61 udp:20 | same
	not IP: 0 | e:0.0xfffff.0 type:0806 fill:28 | e:0.13750.9 type:0806 fill:28
	cut before the TTL | c:0.31.5 type:0800 hex:4500 | c:0.24.0 type:0800 hex:4500
	cut before the hop limit | e:0.0xfffff.5 type:86dd hex:600000 | e:0.13750.9 type:86dd hex:600000
	EOF
}

trimmed() {
	mklinks
	ctl sw lm set signal all format compact fields id:6,d:1
	ctl sw lm set signal all format expanded fields id:15,d:1
	port2 id=21
	cases h1/v0 h2/v1 <<-'EOF'
	d set | c:0.31.1 | c:0.24.43
	d not set | c:0.31.126 | c:0.24.42
	d set, expanded | e:0.0xfffff.0xffff | e:0.13750.43
	d not set, expanded | e:0.0xfffff.0xfffe | e:0.13750.42
	S stays | c:0.24.1 | same
	EOF
}

new_layout() {
	mklinks
	ctl sw lm set signal all format compact fields a:4,b:3
	port2 a=9,b=2
	echo "a before b | c:0.31.0 | c:0.24.74" | cases h1/v0 h2/v1
	ctl sw lm set signal all format compact fields b:3,a:4
	echo "b before a | c:0.31.0 | c:0.24.41" | cases h1/v0 h2/v1
	ctl sw lm set signal 0 format compact fields a:4
	echo "the signal's own | c:0.31.0 | c:0.24.9" | cases h1/v0 h2/v1
	ctl sw lm set signal 0 format compact fields none
	echo "the common one again | c:0.31.0 | c:0.24.41" | cases h1/v0 h2/v1
}

ktap_plan 6
run_test rule "LM is written when S changes, and only then"
run_test fields "fields make up the value"
run_test per_signal "a layout for one signal"
run_test ttl "field ttl: TTL or hop limit at the bottleneck"
run_test trimmed "field d stays as it is"
run_test new_layout "a new layout reaches ports that exist"
