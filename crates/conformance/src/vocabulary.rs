//! The protocols that scripts test, and the names of the parts of their packets: fields, flags, options, chunks, frames
//! and parameters.

mod quic;

use core::ops::RangeInclusive;

/// The protocol that a script tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protocol {
    /// TCP.
    Tcp,
    /// MPTCP.
    Mptcp,
    /// SCTP.
    Sctp,
    /// QUIC over one path.
    Quic,
    /// QUIC over several paths.
    Mpquic,
}

impl Protocol {
    /// All, with the names that scripts and the page of requirements use.
    pub(crate) const ALL: [(&'static str, &'static str, Self); 5] = [
        ("tcp", "TCP", Self::Tcp),
        ("mptcp", "MPTCP", Self::Mptcp),
        ("sctp", "SCTP", Self::Sctp),
        ("quic", "QUIC", Self::Quic),
        ("mpquic", "QUIC over several paths", Self::Mpquic),
    ];

    /// The parts of its packets.
    pub(crate) const fn fields(self) -> &'static [&'static [Entry]] {
        match self {
            Self::Tcp => &[TCP],
            Self::Mptcp => &[TCP, MPTCP],
            Self::Sctp => &[SCTP],
            Self::Quic | Self::Mpquic => &[quic::DATAGRAM],
        }
    }

    /// How deep its packets consist of parts in an order, rather than of a header with fields: those of SCTP of chunks,
    /// datagrams of QUIC of packets, which consist of frames.
    pub(crate) const fn levels(self) -> usize {
        match self {
            Self::Tcp | Self::Mptcp => 0,
            Self::Sctp => 1,
            Self::Quic | Self::Mpquic => 2,
        }
    }

    /// Whether a peer of it keeps identifiers and packet numbers that scripts need not write.
    pub(crate) const fn has_numbered_packets(self) -> bool {
        matches!(self, Self::Quic | Self::Mpquic)
    }

    /// The socket of the kernel for it, if there is one that scripts can drive.
    #[cfg(all(target_os = "linux", feature = "linux"))]
    pub(crate) const fn kernel_socket(self) -> Option<subflow_linux::Transport> {
        match self {
            Self::Tcp => Some(subflow_linux::Transport::Tcp),
            Self::Mptcp => Some(subflow_linux::Transport::Mptcp),
            Self::Sctp | Self::Quic | Self::Mpquic => None,
        }
    }
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueKind {
    /// A number of so many bits, which wraps around.
    Number(u32),
    /// A range of numbers of so many bits.
    Range(u32),
    Address,
    Bytes,
    /// A number or bytes.
    Detail,
}

/// A part of a packet.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    /// How many values stand behind the name.
    pub(crate) values: RangeInclusive<usize>,
    /// What the values are, in their order; further ones are like the last.
    pub(crate) kinds: &'static [ValueKind],
    /// What may stand in parentheses behind it.
    pub(crate) parts: &'static [&'static [Entry]],
    /// Whether only packets that arrive have it.
    pub(crate) only_arrives: bool,
}

impl Entry {
    /// Its number of values, in words.
    pub(crate) fn values_shown(&self) -> String {
        match (*self.values.start(), *self.values.end()) {
            (0, 0) => "no value".to_owned(),
            (1, 1) => "one value".to_owned(),
            (first, last) if first == last => format!("{first} values"),
            (first, last) => format!("{first} to {last} values"),
        }
    }

    /// What its value at `index` is.
    pub(crate) fn kind(&self, index: usize) -> ValueKind {
        self.kinds.get(index).or(self.kinds.last()).copied().unwrap_or(ValueKind::Detail)
    }
}

const fn entry(
    name: &'static str,
    values: RangeInclusive<usize>,
    kinds: &'static [ValueKind],
    description: &'static str,
) -> Entry {
    Entry { name, description, values, kinds, parts: &[], only_arrives: false }
}

const fn flag(name: &'static str, description: &'static str) -> Entry {
    entry(name, 0..=0, &[], description)
}

const fn number(name: &'static str, kinds: &'static [ValueKind], description: &'static str) -> Entry {
    entry(name, 1..=1, kinds, description)
}

const fn group(name: &'static str, parts: &'static [&'static [Entry]], description: &'static str) -> Entry {
    Entry { name, description, values: 0..=0, kinds: &[], parts, only_arrives: false }
}

const fn arriving(entry: Entry) -> Entry {
    Entry { only_arrives: true, ..entry }
}

const N8: &[ValueKind] = &[ValueKind::Number(8)];
const N16: &[ValueKind] = &[ValueKind::Number(16)];
const N32: &[ValueKind] = &[ValueKind::Number(32)];
const N64: &[ValueKind] = &[ValueKind::Number(64)];
const BYTES: &[ValueKind] = &[ValueKind::Bytes];
const ADDRESS: &[ValueKind] = &[ValueKind::Address];

/// Control bits that a packet that leaves has exactly as written; the others may be named.
pub(crate) const STRICT_FLAGS: [&str; 4] = ["SYN", "ACK", "FIN", "RST"];

const TCP: &[Entry] = &[
    flag("SYN", "control bit"),
    flag("ACK", "control bit"),
    flag("FIN", "control bit"),
    flag("RST", "control bit"),
    flag("PSH", "control bit"),
    flag("URG", "control bit"),
    flag("ECE", "control bit"),
    flag("CWR", "control bit"),
    number("seq", N32, "sequence number"),
    number("ack", N32, "acknowledgment number"),
    number("win", N16, "window as it stands in the header, not scaled; 65535 in packets that arrive"),
    number("len", N32, "bytes of payload; 0 unless it is written"),
    number("mss", N16, "maximum segment size"),
    number("wscale", N8, "window scale"),
    flag("sackok", "SACK permitted"),
    entry("ts", 2..=2, N32, "timestamp and echo reply"),
    entry("sack", 1..=4, &[ValueKind::Range(32)], "SACK blocks, left edge..right edge"),
    arriving(number("sum", N16, "one's-complement sum of the payload, whose first two bytes are this")),
    arriving(number("option", BYTES, "raw bytes of options, behind the others; a multiple of 4")),
    arriving(flag("corrupt", "a wrong checksum")),
    arriving(group("ICMP", &[ICMP, ICMP_OF_TCP], "an ICMP error about a segment of ours, and no segment")),
];

const MPTCP: &[Entry] = &[
    group("capable", &[CAPABLE], "MP_CAPABLE"),
    group("join", &[JOIN], "MP_JOIN"),
    group("dss", &[DSS], "DSS"),
    group("add_addr", &[ADD_ADDR], "ADD_ADDR"),
    entry("remove_addr", 1..=37, N8, "REMOVE_ADDR with these address identifiers"),
    group("prio", &[PRIO], "MP_PRIO"),
    number("fail", N64, "MP_FAIL with this data sequence number"),
    number("fastclose", N64, "MP_FASTCLOSE with the receiver's key"),
    group("tcprst", &[TCPRST], "MP_TCPRST"),
];

const CAPABLE: &[Entry] = &[
    number("version", N8, "version; 1 in packets that arrive"),
    flag("checksums", "A: checksums are required"),
    flag("deny_join", "C: no joins to this address and port"),
    number("key", N64, "the sender's key"),
    number("peer_key", N64, "the receiver's key"),
    number("len", N16, "data-level length"),
    number("checksum", N16, "DSS checksum"),
];

const JOIN: &[Entry] = &[
    flag("backup", "B"),
    number("id", N8, "address identifier"),
    number("token", N32, "the receiver's token, on a SYN"),
    number("nonce", N32, "the sender's random number"),
    number("hmac", N64, "the leftmost 64 bits of the HMAC, on a SYN/ACK"),
    number("hmac160", BYTES, "the leftmost 160 bits of the HMAC, on an ACK"),
];

const DSS: &[Entry] = &[
    number("ack", N64, "DATA_ACK of 8 bytes"),
    number("ack4", N32, "DATA_ACK of 4 bytes"),
    number("dsn", N64, "data sequence number of 8 bytes"),
    number("dsn4", N32, "data sequence number of 4 bytes"),
    number("ssn", N32, "relative subflow sequence number"),
    number("len", N16, "data-level length"),
    number("checksum", N16, "checksum"),
    flag("fin", "DATA_FIN"),
];

const ADD_ADDR: &[Entry] = &[
    flag("echo", "E: a confirmation"),
    number("id", N8, "address identifier"),
    number("address", ADDRESS, "the address"),
    number("port", N16, "the port"),
    number("hmac", N64, "the rightmost 64 bits of the HMAC"),
];

const PRIO: &[Entry] = &[flag("backup", "B")];

const TCPRST: &[Entry] = &[number("reason", N8, "reason code"), flag("transient", "T")];

const SCTP: &[Entry] = &[
    number("tag", N32, "verification tag"),
    group("DATA", &[DATA], "user data"),
    group("INIT", &[INIT], "opens an association"),
    group("INIT_ACK", &[INIT], "answers INIT"),
    group("SACK", &[SACK], "acknowledges data"),
    group("HEARTBEAT", &[HEARTBEAT], "probes a path"),
    group("HEARTBEAT_ACK", &[HEARTBEAT], "answers HEARTBEAT"),
    group("ABORT", &[CAUSES], "ends the association at once"),
    group("SHUTDOWN", &[CUMULATIVE], "ends the association once everything has arrived"),
    flag("SHUTDOWN_ACK", "answers SHUTDOWN"),
    group("ERROR", &[CAUSES], "reports a mistake"),
    group("COOKIE_ECHO", &[COOKIE], "brings the state cookie back"),
    flag("COOKIE_ACK", "answers COOKIE ECHO"),
    group("ECNE", &[TSN], "explicit congestion notification echo"),
    group("CWR", &[TSN], "congestion window reduced"),
    group("SHUTDOWN_COMPLETE", &[CAUSES], "answers SHUTDOWN ACK"),
    group("FORWARD_TSN", &[FORWARD], "moves the cumulative TSN over what was abandoned"),
    group("CHUNK", &[RAW], "a chunk as it stands on the wire"),
    arriving(flag("corrupt", "a wrong checksum")),
    arriving(group("ICMP", &[ICMP, ICMP_OF_SCTP], "an ICMP error about a packet of ours, and no packet")),
];

const DATA: &[Entry] = &[
    number("tsn", N32, "transmission sequence number"),
    number("stream", N16, "stream identifier"),
    number("ssn", N16, "stream sequence number"),
    number("ppid", N32, "payload protocol identifier"),
    number("len", N32, "bytes of user data"),
    flag("whole", "B and E: a message in one chunk, which is the default for packets that arrive"),
    flag("begin", "B without E"),
    flag("middle", "neither B nor E"),
    flag("end", "E without B"),
    flag("unordered", "U"),
    flag("immediate", "I"),
];

const INIT: &[Entry] = &[
    number("tag", N32, "initiate tag"),
    number("rwnd", N32, "advertised receiver window"),
    number("out", N16, "outbound streams"),
    number("in", N16, "inbound streams"),
    number("tsn", N32, "initial TSN"),
    number("address", ADDRESS, "address parameter"),
    number("cookie", BYTES, "state cookie"),
    number("unrecognized", BYTES, "unrecognized parameter: the whole parameter"),
    number("preservative", N32, "cookie preservative, in ms"),
    number("host_name", BYTES, "host name address"),
    entry("address_types", 1..=8, N16, "supported address types"),
    flag("ecn", "ECN capable"),
    entry("extensions", 1..=16, N8, "supported extensions: chunk types"),
    flag("forward_tsn", "FORWARD-TSN supported"),
    number("adaptation", N32, "adaptation layer indication"),
    entry("param", 2..=2, &[ValueKind::Number(16), ValueKind::Bytes], "any other parameter: type and value"),
];

const SACK: &[Entry] = &[
    number("cum", N32, "cumulative TSN ack"),
    number("rwnd", N32, "advertised receiver window"),
    entry("gap", 1..=1, &[ValueKind::Range(16)], "gap ack block: first..last, offsets from the cumulative TSN"),
    number("dup", N32, "duplicate TSN"),
];

const HEARTBEAT: &[Entry] = &[number("info", BYTES, "heartbeat information")];

const CAUSES: &[Entry] = &[
    flag("reflected", "T: the tag is that of the packet answered"),
    entry("cause", 1..=2, &[ValueKind::Number(16), ValueKind::Detail], "cause code, and what it says"),
];

const CUMULATIVE: &[Entry] = &[number("cum", N32, "cumulative TSN ack")];

const COOKIE: &[Entry] = &[number("cookie", BYTES, "the state cookie")];

const TSN: &[Entry] = &[number("tsn", N32, "lowest TSN")];

const FORWARD: &[Entry] = &[
    number("cum", N32, "new cumulative TSN"),
    entry("skip", 2..=2, N16, "stream and the largest stream sequence number that was abandoned on it"),
];

const RAW: &[Entry] = &[
    number("kind", N8, "type"),
    number("flags", N8, "flags"),
    number("value", BYTES, "what stands behind type, flags and length"),
];

const ICMP: &[Entry] = &[
    flag("network_unreachable", "no route to the network"),
    flag("host_unreachable", "the host does not answer"),
    flag("protocol_unreachable", "the host does not have the protocol"),
    flag("port_unreachable", "nobody listens on the port"),
    flag("route_failed", "a source route failed"),
    number("too_big", N32, "the packet exceeds an MTU of so many bytes; 0 if the router does not tell"),
    flag("time_exceeded", "the packet was under way for too long"),
    flag("parameter_problem", "a field of the IP header is wrong"),
    flag("source_quench", "a request to send less"),
    number("length", N16, "the length of the packet that is quoted; 1500 unless it is written"),
];

const ICMP_OF_TCP: &[Entry] = &[number("seq", N32, "the sequence number of the segment that is quoted")];

const ICMP_OF_SCTP: &[Entry] = &[
    number("tag", N32, "the verification tag of the packet that is quoted"),
    number("init_tag", N32, "the initiate tag of the INIT that is quoted"),
];
