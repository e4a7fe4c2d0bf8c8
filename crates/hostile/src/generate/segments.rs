//! Forged TCP segments, with MPTCP's options or without.

use arbitrary::{Result, Unstructured};

use super::{chance, magnitude, near, optional, several};
use crate::forgery::{DssForgery, MappingForgery, OptionForgery, TcpForgery};

const FIN: u8 = 0x01;
const SYN: u8 = 0x02;
const RST: u8 = 0x04;
const PSH: u8 = 0x08;
const ACK: u8 = 0x10;

pub(super) fn segment(mptcp: bool, u: &mut Unstructured<'_>) -> Result<TcpForgery> {
    let flags = match u.int_in_range(0..=15)? {
        0..=8 => ACK,
        9 => ACK | PSH,
        10 => ACK | FIN,
        11 => RST,
        12 => ACK | RST,
        13 => SYN,
        14 => SYN | ACK,
        _ => u.arbitrary()?,
    };
    let opens = flags & SYN != 0;
    Ok(TcpForgery {
        sequence: near(u)?,
        acknowledgment: near(u)?,
        flags,
        window: *u.choose(&[1000, 0, 1, u16::MAX])?,
        length: if chance(u, 1, 2)? { magnitude(u, 3000)? as u16 } else { 0 },
        timestamp: optional(u, (3, 4), near)?,
        echo: if chance(u, 1, 4)? { near(u)? } else { 0 },
        syn: if opens { optional(u, (3, 4), |u| Ok((u.arbitrary()?, u.arbitrary()?)))? } else { None },
        sack: if chance(u, 1, 4)? { several(u, 3, |u| Ok((near(u)?, near(u)?)))? } else { Vec::new() },
        dss: if mptcp { optional(u, (1, 2), dss)? } else { None },
        option: if mptcp { optional(u, (1, 4), option)? } else { None },
    })
}

fn dss(u: &mut Unstructured<'_>) -> Result<DssForgery> {
    Ok(DssForgery {
        ack: optional(u, (3, 4), near)?,
        mapping: optional(u, (3, 4), |u| {
            Ok(MappingForgery {
                data: near(u)?,
                relative: near(u)?,
                length: near(u)?.clamp(-70_000, 70_000) as i32,
                infinite: chance(u, 1, 10)?,
                checksum: optional(u, (1, 2), |u| u.arbitrary())?,
            })
        })?,
        fin: chance(u, 1, 6)?,
        wide: u.arbitrary()?,
    })
}

fn option(u: &mut Unstructured<'_>) -> Result<OptionForgery> {
    Ok(match u.int_in_range(0..=9)? {
        0 => OptionForgery::Capable {
            version: *u.choose(&[1, 1, 0, 2])?,
            keys: u.int_in_range(0..=2)?,
            right: u.arbitrary()?,
            length: optional(u, (1, 3), |u| u.arbitrary())?,
        },
        1 => OptionForgery::JoinSyn { right: u.arbitrary()?, identifier: u.arbitrary()? },
        2 => OptionForgery::JoinSynAck { right: u.arbitrary()?, identifier: u.arbitrary()? },
        3 => OptionForgery::JoinAck { right: u.arbitrary()? },
        4 => OptionForgery::AddAddress {
            identifier: u.arbitrary()?,
            address: *u.choose(&[1, 2, 0xfffd, 0xffff])?,
            port: optional(u, (1, 3), |u| u.arbitrary())?,
            right: optional(u, (3, 4), |u| u.arbitrary())?,
        },
        5 => OptionForgery::RemoveAddress { identifier: u.int_in_range(0..=5)?, count: u.int_in_range(1..=4)? },
        6 => OptionForgery::Priority { backup: u.arbitrary()? },
        7 => OptionForgery::Fail(near(u)?),
        8 => OptionForgery::FastClose { right: u.arbitrary()? },
        _ => OptionForgery::Reset(u.int_in_range(0..=63)?),
    })
}
