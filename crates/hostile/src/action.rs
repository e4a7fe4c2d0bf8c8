//! What can happen: to the application, the network, and by the hand of an attacker.

use serde::{Deserialize, Serialize};

use crate::forgery::{Forgery, Greeting};

/// Something that happens. Indices are taken modulo what there is, so that every action means something.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Action {
    /// The client opens connections to the server.
    Connect {
        /// Which of the server's addresses they go to.
        to: u8,
        /// How many.
        times: u16,
    },
    /// The client opens a connection to the attacker, who poses as a server.
    Lure(Greeting),
    /// The attacker opens a connection to the server.
    Intrude(Greeting),
    /// An application does something with its connection.
    Apply {
        /// Which connection.
        connection: u8,
        /// Client or server.
        side: u8,
        /// What.
        call: Call,
    },
    /// Time passes.
    Wait {
        /// Milliseconds.
        ms: u64,
    },
    /// A path between an address of the client and one of the server fails or recovers.
    Path {
        /// Address of the client.
        client: u8,
        /// Address of the server.
        server: u8,
        /// Whether it works from now on.
        up: bool,
    },
    /// A host loses an address, or gets one (again).
    Address {
        /// Client or server.
        side: u8,
        /// Which address, 0 to 3: one more than a host may have at first.
        index: u8,
        /// Whether it has it from now on.
        present: bool,
    },
    /// An attacker on all paths applies this to the next packets of one host.
    Interfere {
        /// The host that sends the packets.
        from: u8,
        /// How many.
        packets: u8,
        /// How.
        how: Interference,
    },
    /// A packet that passed earlier comes again.
    Replay {
        /// How many packets ago; beyond the record, one of the first.
        age: u16,
    },
    /// A forged packet.
    Forge(Forge),
}

/// What an application does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Call {
    /// Writes so many bytes.
    Write(u32),
    /// Begins or ceases to read.
    Read(bool),
    /// Ends its stream.
    Finish,
    /// Takes back what was not sent, and ends its stream.
    Stop,
    /// Aborts the connection.
    Abort,
    /// Ends without closing the connection, as in a crash.
    Crash,
}

/// What can happen to a packet on its way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Interference {
    /// It is lost.
    Drop,
    /// It comes so many milliseconds later.
    Delay(u32),
    /// It comes twice.
    Duplicate,
    /// A bit is flipped, counted from its first and modulo its length; checksums detect this.
    Flip(u16),
    /// A byte of its payload is changed and the checksums of IP and TCP or SCTP fit: a middlebox that rewrites.
    Rewrite(u16),
    /// A TCP segment becomes two, the second beginning with this byte; both have its options.
    Split(u16),
    /// TCP options are taken off it.
    Strip(Strip),
}

/// Which options a middlebox takes off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strip {
    /// Those of MPTCP.
    #[serde(rename = "mptcp")]
    MptcpOptions,
    /// Timestamps.
    Timestamps,
    /// SACK blocks.
    Sack,
    /// All.
    All,
}

/// A packet, or many that count on from the first, from someone who should not send it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forge {
    /// The flow that it claims to belong to.
    pub flow: u8,
    /// Which end of the flow gets it: 0 for the one that opened it.
    pub to: u8,
    /// Whether the attacker sees nothing of the connection: sequence numbers, keys and tags are then certainly wrong.
    pub blind: bool,
    /// Its contents.
    pub forgery: Forgery,
    /// How many packets.
    pub times: u16,
    /// What grows by how much from one to the next.
    pub stride: Stride,
    /// Microseconds from one to the next.
    pub every_us: u32,
}

/// What grows from one forged packet to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Stride {
    /// TCP's sequence number, or the TSN.
    pub sequence: i32,
    /// MPTCP's data sequence number.
    pub data: i32,
    /// The source port: each packet is then a flow of its own.
    pub port: u16,
    /// The source address: of the attacker's, where it grows.
    pub address: u16,
    /// Identifiers of addresses, streams, and other small numbers.
    pub identifier: u8,
}
