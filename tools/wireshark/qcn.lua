-- SPDX-License-Identifier: GPL-2.0
--
-- Wireshark dissector for QCN (IEEE 802.1Qau): the CN-TAG, EtherType 22E9, and the
-- congestion notification message (CNM), EtherType 22E7.  What a CN-TAG covers goes on
-- to the dissector of its own EtherType.  Filter names are in tc-qcn(8).
--
-- It works with every Wireshark from 3.0 on (Lua 5.1 to 5.4), so no operator for bits.

local CNTAG = 0x22e9
local CNM = 0x22e7
local CNTAG_LEN = 4
local ETHERTYPE_MIN = 0x600	-- below it is a length

local PDU_MIN = 24
local MSDU_MAX = 64
local UNIT = 64			-- octets, of QOffset and QDelta

local qcn = Proto("qcn", "Quantized Congestion Notification (802.1Qau)")

qcn.prefs.sampled = Pref.bool("Dissect the sampled frame", false,
	"Hand the octets of the sampled frame in a CNM on to the dissector of their " ..
	"EtherType; they are the first ones only, so expect complaints about the end")

local f = {
	-- CN-TAG
	rpid = ProtoField.uint16("qcn.rpid", "RPID", base.DEC, nil, nil,
		"The reaction point's name for the flow; 0: all traffic of the priority"),
	type = ProtoField.uint16("qcn.type", "Type or length", base.HEX, nil, nil,
		"EtherType, or length of an LLC frame, behind the CN-TAG"),
	-- CNM
	version = ProtoField.uint16("qcn.version", "Version", base.DEC, nil, 0xf000),
	reserved = ProtoField.uint16("qcn.reserved", "Reserved", base.HEX, nil, 0x0fc0),
	qntzfb = ProtoField.uint16("qcn.qntzfb", "Quantized feedback (QntzFb)", base.DEC,
		nil, 0x003f, "How congested the queue was, 1 to 63"),
	cpid = ProtoField.bytes("qcn.cpid", "CPID", base.COLON, "Name of the congestion point"),
	cpid_mac = ProtoField.ether("qcn.cpid.mac", "Address"),
	cpid_port = ProtoField.uint16("qcn.cpid.port", "Port", base.DEC, nil, nil,
		"Port number, as linux-csig and its test vectors write it"),
	cpid_priority = ProtoField.uint8("qcn.cpid.priority", "Priority", base.DEC, nil,
		nil, "Priority of the queue, as linux-csig and its test vectors write it"),
	qoffset = ProtoField.int16("qcn.qoffset", "Queue offset (cnmQOffset)", base.DEC,
		nil, nil, "Units of 64 octets; Qeq - Q, or Q - Qeq, as the sender chose"),
	qoffset_bytes = ProtoField.int32("qcn.qoffset.bytes", "Octets"),
	qdelta = ProtoField.int16("qcn.qdelta", "Queue change (cnmQDelta)", base.DEC, nil,
		nil, "Units of 64 octets; since the last sample"),
	qdelta_bytes = ProtoField.int32("qcn.qdelta.bytes", "Octets"),
	priority = ProtoField.uint16("qcn.priority", "Encapsulated priority", base.DEC,
		nil, 0xe000, "Priority of the sampled frame"),
	priority_reserved = ProtoField.uint16("qcn.priority.reserved", "Reserved",
		base.HEX, nil, 0x1fff),
	dst = ProtoField.ether("qcn.dst", "Encapsulated destination",
		"Destination address of the sampled frame"),
	msdu_len = ProtoField.uint16("qcn.msdu.len", "Encapsulated length (n)", base.DEC,
		nil, nil, "Octets of the sampled frame, 0 to 64"),
	msdu = ProtoField.bytes("qcn.msdu", "Sampled frame", base.NONE,
		"Its first octets, from the EtherType behind VLAN tag and CN-TAG"),
	msdu_type = ProtoField.uint16("qcn.msdu.type", "Type or length", base.HEX),
	padding = ProtoField.bytes("qcn.padding", "Padding"),
}

local e = {
	cntag_cut = ProtoExpert.new("qcn.cntag.cut", "CN-TAG is cut",
		expert.group.MALFORMED, expert.severity.ERROR),
	cntag_double = ProtoExpert.new("qcn.cntag.double", "A second CN-TAG",
		expert.group.MALFORMED, expert.severity.ERROR),
	short = ProtoExpert.new("qcn.short", "CNM is shorter than 24 octets",
		expert.group.MALFORMED, expert.severity.ERROR),
	msdu_max = ProtoExpert.new("qcn.msdu.len.max", "n is above 64",
		expert.group.MALFORMED, expert.severity.ERROR),
	msdu_beyond = ProtoExpert.new("qcn.msdu.len.beyond",
		"n is beyond the end of the frame",
		expert.group.MALFORMED, expert.severity.ERROR),
	version = ProtoExpert.new("qcn.version.unknown", "Unknown version",
		expert.group.PROTOCOL, expert.severity.WARN),
	reserved = ProtoExpert.new("qcn.reserved.set", "Reserved bits are set",
		expert.group.PROTOCOL, expert.severity.NOTE),
	no_feedback = ProtoExpert.new("qcn.qntzfb.zero", "CNM without feedback",
		expert.group.PROTOCOL, expert.severity.NOTE),
	no_cntag = ProtoExpert.new("qcn.cntag.none", "CNM without CN-TAG",
		expert.group.PROTOCOL, expert.severity.NOTE),
}

qcn.fields = f
qcn.experts = e

local ethertypes = DissectorTable.get("ethertype")
local llc = Dissector.get("llc")
local data = Dissector.get("data")

-- RPID of the CN-TAG that is being dissected, for the CNM in it
local rpid

-- What follows an EtherType or length
local function payload(kind, tvb, pinfo, tree)
	if tvb:len() == 0 then
		return
	elseif kind < ETHERTYPE_MIN then
		llc:call(tvb, pinfo, tree)
	elseif not ethertypes:get_dissector(kind) then
		data:call(tvb, pinfo, tree)
	else
		ethertypes:try(kind, tvb, pinfo, tree)
	end
end

local function cntag(tvb, pinfo, root)
	local len = math.min(tvb:len(), CNTAG_LEN)
	local tree = root:add(qcn, tvb(0, len), "Congestion Notification Tag (CN-TAG)")
	local kind, item

	if len < CNTAG_LEN then
		tree:add_proto_expert_info(e.cntag_cut)
		return tvb:len()
	end
	tree:append_text(", RPID " .. tvb(0, 2):uint())
	tree:add(f.rpid, tvb(0, 2))
	kind = tvb(2, 2):uint()
	item = tree:add(f.type, tvb(2, 2))
	if kind == CNTAG then
		item:append_text(" (CN-TAG)")
		tree:add_proto_expert_info(e.cntag_double)
	elseif kind == CNM then
		item:append_text(" (CNM)")
		if tvb:len() == CNTAG_LEN then
			tree:add_proto_expert_info(e.short)
		end
	end
	if tvb:len() > CNTAG_LEN then
		rpid = tvb(0, 2):uint()
		payload(kind, tvb(CNTAG_LEN):tvb(), pinfo, root)
		rpid = nil
	end
	return tvb:len()
end

local function sampled(tvb, pinfo, tree)
	local in_error = pinfo.in_error_pkt

	if not qcn.prefs.sampled or tvb:len() <= 2 then
		return
	end
	-- as with the packet in an ICMP error: it is no traffic of its own
	pinfo.in_error_pkt = true
	payload(tvb(0, 2):uint(), tvb(2):tvb(), pinfo, tree)
	pinfo.in_error_pkt = in_error
end

local function msdu(tvb, n, pinfo, tree)
	local item = tree:add(f.msdu, tvb(PDU_MIN, n))

	if n >= 2 then
		item:add(f.msdu_type, tvb(PDU_MIN, 2))
		sampled(tvb(PDU_MIN, n):tvb(), pinfo, tree)
	end
end

-- Address, and port number and priority as linux-csig and its vectors write them
local function cpid(tvb, tree)
	local item = tree:add(f.cpid, tvb(2, 8))

	item:add(f.cpid_mac, tvb(2, 6))
	item:add(f.cpid_port, tvb(8, 2),
		tvb(8, 1):uint() + tvb(9, 1):bitfield(0, 5) * 256)
	item:add(f.cpid_priority, tvb(9, 1), tvb(9, 1):bitfield(5, 3))
end

-- A number of bits of a word that should be 0
local function reserved(field, word, first, bits, tree)
	local item = tree:add(field, word)

	if word:bitfield(first, bits) ~= 0 then
		item:add_proto_expert_info(e.reserved)
	end
end

local function units(field, octets, word, tree)
	tree:add(field, word):add(octets, word, word:int() * UNIT):set_generated()
end

-- The fields; returns whether the PDU is well-formed
local function pdu(tvb, pinfo, tree)
	local len = tvb:len()
	local item, n

	if len < PDU_MIN then
		tree:add_proto_expert_info(e.short)
		return false
	end
	item = tree:add(f.version, tvb(0, 2))
	if tvb(0, 2):bitfield(0, 4) ~= 0 then
		item:add_proto_expert_info(e.version)
	end
	reserved(f.reserved, tvb(0, 2), 4, 6, tree)
	item = tree:add(f.qntzfb, tvb(0, 2))
	if tvb(0, 2):bitfield(10, 6) == 0 then
		item:add_proto_expert_info(e.no_feedback)
	end
	cpid(tvb, tree)
	units(f.qoffset, f.qoffset_bytes, tvb(10, 2), tree)
	units(f.qdelta, f.qdelta_bytes, tvb(12, 2), tree)
	tree:add(f.priority, tvb(14, 2))
	reserved(f.priority_reserved, tvb(14, 2), 3, 13, tree)
	tree:add(f.dst, tvb(16, 6))

	item = tree:add(f.msdu_len, tvb(22, 2))
	n = tvb(22, 2):uint()
	if n > MSDU_MAX then
		item:add_proto_expert_info(e.msdu_max)
	end
	if n > len - PDU_MIN then
		item:add_proto_expert_info(e.msdu_beyond)
	end
	if n > MSDU_MAX or n > len - PDU_MIN then
		return false
	end
	if n > 0 then
		msdu(tvb, n, pinfo, tree)
	end
	if len > PDU_MIN + n then
		tree:add(f.padding, tvb(PDU_MIN + n))
	end
	return true
end

local function cnm(tvb, pinfo, root)
	local len = tvb:len()
	local tree = root:add(qcn, tvb(0, len), "Congestion Notification Message (CNM)")
	local flow = rpid	-- the sampled frame may have a CN-TAG, too
	local text = "CNM"
	local good

	if not flow then
		tree:add_proto_expert_info(e.no_cntag)
	end
	good = pdu(tvb, pinfo, tree)
	if len >= PDU_MIN then
		tree:append_text(", QntzFb " .. tvb(0, 2):bitfield(10, 6))
		text = string.format("CNM, QntzFb %d, priority %d",
			tvb(0, 2):bitfield(10, 6), tvb(14, 2):bitfield(0, 3))
	end
	-- last, for the sampled frame's dissector has written there, too
	pinfo.cols.protocol = "QCN"
	pinfo.cols.info = text .. (flow and ", RPID " .. flow or "") ..
		(good and "" or ", malformed")
	return len
end

-- One protocol for both, told apart by the EtherType that brought it here
function qcn.dissector(tvb, pinfo, root)
	if pinfo.match_uint == CNTAG then
		return cntag(tvb, pinfo, root)
	end
	return cnm(tvb, pinfo, root)
end

ethertypes:add(CNTAG, qcn)
ethertypes:add(CNM, qcn)
