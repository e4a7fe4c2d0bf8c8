//! MPTCP options (RFC 8684, section 3): TCP option kind 30 with a subtype.

use std::net::IpAddr;

/// Data Sequence Signal (RFC 8684, section 3.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dss {
    /// DATA_ACK, with its width on the wire.
    pub data_ack: Option<DataAck>,
    /// The mapping of subflow sequence numbers onto data sequence numbers.
    pub mapping: Option<Mapping>,
    /// The F bit: the mapping ends with the DATA_FIN.
    pub data_fin: bool,
}

/// The DATA_ACK of a DSS. `value` holds the low 32 bits only when `wide` is false.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataAck {
    /// Next data sequence number expected.
    pub value: u64,
    /// Whether it takes 8 bytes on the wire (bit `a`), or 4.
    pub wide: bool,
}

/// A data sequence mapping. `data_sequence` holds the low 32 bits only when `wide` is false.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Data sequence number of the first byte mapped.
    pub data_sequence: u64,
    /// Whether it takes 8 bytes on the wire (bit `m`), or 4.
    pub wide: bool,
    /// Subflow sequence number of the first byte mapped, relative to the subflow's initial sequence number; 0 with a
    /// bare DATA_FIN.
    pub subflow_sequence: u32,
    /// Data-level length; 0 announces the infinite mapping (section 3.7).
    pub length: u16,
    /// DSS checksum as it stands on the wire, present when the connection negotiated checksums.
    pub checksum: Option<u16>,
}

/// Flags of MP_CAPABLE (RFC 8684, section 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CapableFlags {
    /// A: DSS checksums are required.
    pub checksum_required: bool,
    /// C: the sender accepts no joins to this address and port.
    pub deny_join_to_initial_address: bool,
}

/// MP_CAPABLE (RFC 8684, section 3.1): 4 bytes on the SYN, 12 on the SYN/ACK, 20 on the third ACK, 22 or 24 with the
/// first data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capable {
    /// Protocol version; this crate writes and understands version 1 and keeps any other as it came.
    pub version: u8,
    /// Flags. H (HMAC-SHA256) is implied.
    pub flags: CapableFlags,
    /// Key of the sender of this segment; absent on the SYN.
    pub sender_key: Option<u64>,
    /// Key of the receiver of this segment; on the third ACK and with the first data.
    pub receiver_key: Option<u64>,
    /// Data-level length, with the first data.
    pub data_length: Option<u16>,
    /// DSS checksum of that data.
    pub checksum: Option<u16>,
}

/// MP_JOIN (RFC 8684, section 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// On the SYN.
    Syn {
        /// B: use this subflow as a backup.
        backup: bool,
        /// The sender's address identifier.
        address_id: u8,
        /// Token of the connection to be joined.
        token: u32,
        /// The sender's random number.
        nonce: u32,
    },
    /// On the SYN/ACK.
    SynAck {
        /// B: use this subflow as a backup.
        backup: bool,
        /// The sender's address identifier.
        address_id: u8,
        /// The leftmost 64 bits of the sender's HMAC.
        truncated_hmac: u64,
        /// The sender's random number.
        nonce: u32,
    },
    /// On the third ACK: the leftmost 160 bits of the sender's HMAC.
    Ack {
        /// The HMAC.
        hmac: [u8; 20],
    },
}

/// ADD_ADDR (RFC 8684, section 3.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddAddress {
    /// Address identifier.
    pub address_id: u8,
    /// The address announced.
    pub address: IpAddr,
    /// Port, where it differs from the initial subflow's.
    pub port: Option<u16>,
    /// The rightmost 64 bits of the HMAC; absent in the echo (bit E).
    pub truncated_hmac: Option<u64>,
}

/// Why a subflow was reset (RFC 8684, section 3.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResetReason {
    /// T: the condition is transient.
    pub transient: bool,
    /// The reason code (RFC 8684, table 3).
    pub code: u8,
}

/// Any MPTCP option but the DSS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MptcpOption {
    /// MP_CAPABLE.
    Capable(Capable),
    /// MP_JOIN.
    Join(Join),
    /// ADD_ADDR, or its echo.
    AddAddress(AddAddress),
    /// REMOVE_ADDR (section 3.4.2): the identifiers of the addresses that are gone.
    RemoveAddress(arrayvec::ArrayVec<u8, 37>),
    /// MP_PRIO (section 3.3.8): whether this subflow is to be a backup.
    Priority {
        /// B.
        backup: bool,
    },
    /// MP_FAIL (section 3.7): the data sequence number of the mapping whose checksum failed.
    Fail {
        /// Data sequence number, 64 bits.
        data_sequence: u64,
    },
    /// MP_FASTCLOSE (section 3.5).
    FastClose {
        /// The receiver's key.
        receiver_key: u64,
    },
    /// MP_TCPRST (section 3.6).
    Reset(ResetReason),
}
