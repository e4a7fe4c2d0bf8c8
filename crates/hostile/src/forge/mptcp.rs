//! Forged options of MPTCP.

use std::net::{IpAddr, SocketAddr};

use subflow_transport::mptcp::keys;
use subflow_wire::tcp::mptcp::{
    AddAddress, Capable, CapableFlags, DataAck, Dss, Join, Mapping, MptcpOption, ResetReason,
};

use super::Forger;
use crate::forgery::{DssForgery, OptionForgery};
use crate::setup::{ATTACKER, SERVER};
use crate::wiretap::Keys;

/// Flips every bit of a key, a token or an HMAC: one that is wrong for certain.
const WRONG: u64 = u64::MAX;

impl Forger<'_> {
    fn keys(&self) -> Keys {
        self.wiretap.keys(self.flow).unwrap_or_default()
    }

    /// `sequence` is the segment's, counted from the initial one of whom it claims to come from.
    pub(super) fn dss(&self, forgery: &DssForgery, sequence: u32, payload: u16) -> Dss {
        let keys = self.keys();
        let narrow = |number: u64| if forgery.wide { number } else { number & 0xffff_ffff };
        let data_ack = forgery
            .ack
            .map(|by| DataAck { value: narrow(keys.next[self.to].wrapping_add_signed(by)), wide: forgery.wide });
        let mapping = forgery.mapping.as_ref().map(|mapping| {
            let data = keys.acknowledged[self.to].wrapping_add_signed(self.growing(mapping.data, self.stride.data));
            let length = (i32::from(payload) + mapping.length).clamp(0, u16::MAX.into()) as u16;
            let mut wire = Mapping {
                data_sequence: data,
                wide: true,
                subflow_sequence: sequence.wrapping_add(mapping.relative as u32),
                length: if mapping.infinite { 0 } else { length },
                checksum: None,
            };
            // The payload's bytes are zero: their sum is.
            wire.checksum = mapping.checksum.map(|right| wire.checksum_for(if right { 0 } else { 1 }));
            Mapping { data_sequence: narrow(data), wide: forgery.wide, ..wire }
        });
        Dss { data_ack, mapping, data_fin: forgery.fin && mapping.is_some() }
    }

    pub(super) fn option(&self, forgery: &OptionForgery, from: SocketAddr) -> MptcpOption {
        let keys = self.keys();
        let (ours, theirs) = (keys.keys[1 - self.to].unwrap_or(0), keys.keys[self.to].unwrap_or(0));
        let flow = self.wiretap.flow(self.flow);
        let nonces = (flow.tcp[1 - self.to].nonce, flow.tcp[self.to].nonce);
        let wrong = |right: bool| if right && !self.blind { 0 } else { WRONG };
        let hmac = |right: bool| {
            let mut hmac = keys::join_hmac(ours, theirs, nonces.0, nonces.1);
            hmac[0] ^= wrong(right) as u8;
            hmac
        };
        match *forgery {
            OptionForgery::Capable { version, keys, right, length } => MptcpOption::Capable(Capable {
                version,
                flags: CapableFlags::default(),
                sender_key: (keys > 0).then_some(ours ^ wrong(right)),
                receiver_key: (keys > 1).then_some(theirs ^ wrong(right)),
                data_length: length.filter(|_| keys > 1),
                checksum: None,
            }),
            OptionForgery::JoinSyn { right, identifier } => MptcpOption::Join(Join::Syn {
                backup: false,
                address_id: self.identifier(identifier),
                token: keys.token(self.to) ^ wrong(right) as u32,
                nonce: self.number,
            }),
            OptionForgery::JoinSynAck { right, identifier } => MptcpOption::Join(Join::SynAck {
                backup: false,
                address_id: self.identifier(identifier),
                truncated_hmac: keys::leftmost_64(&hmac(right)),
                nonce: nonces.0,
            }),
            OptionForgery::JoinAck { right } => MptcpOption::Join(Join::Ack { hmac: keys::leftmost_160(&hmac(right)) }),
            OptionForgery::AddAddress { identifier, address, port, right } => {
                let (id, address) = (self.identifier(identifier), self.announced(address, from));
                let hmac = keys::add_address_hmac(ours, theirs, id, address, port.unwrap_or(0));
                let truncated_hmac = right.map(|right| hmac ^ wrong(right));
                MptcpOption::AddAddress(AddAddress { address_id: id, address, port, truncated_hmac })
            }
            OptionForgery::RemoveAddress { identifier, count } => {
                let first = self.identifier(identifier);
                MptcpOption::RemoveAddress((0..count.clamp(1, 20)).map(|more| first.wrapping_add(more)).collect())
            }
            OptionForgery::Priority { backup } => MptcpOption::Priority { backup },
            OptionForgery::Fail(by) => {
                MptcpOption::Fail { data_sequence: keys.acknowledged[self.to].wrapping_add_signed(by) }
            }
            OptionForgery::FastClose { right } => MptcpOption::FastClose { receiver_key: theirs ^ wrong(right) },
            OptionForgery::Reset(code) => MptcpOption::Reset(ResetReason { transient: false, code }),
        }
    }

    /// The address that an ADD_ADDR names.
    fn announced(&self, address: u16, from: SocketAddr) -> IpAddr {
        match address {
            0xfffd => self.setup.address(SERVER, 0),
            0xfffe => self.setup.address(SERVER, 3),
            0xffff => from.ip(),
            index => {
                self.setup.address(ATTACKER, index.wrapping_add(self.stride.address.wrapping_mul(self.number as u16)))
            }
        }
    }
}
