//! Forged SCTP packets.

use arbitrary::{Result, Unstructured};

use super::{chance, magnitude, near, optional, several};
use crate::forgery::{ChunkForgery, ParameterForgery, SctpForgery};

pub(super) fn packet(u: &mut Unstructured<'_>) -> Result<SctpForgery> {
    let mut chunks = vec![chunk(u)?];
    if chance(u, 1, 3)? {
        chunks.extend(several(u, 4, chunk)?);
    }
    let alone = matches!(chunks[..], [ChunkForgery::Init { acknowledges: false, .. }]);
    let tag = if chance(u, 1, 8)? { u.arbitrary()? } else { 0 };
    Ok(SctpForgery { tag, zero_tag: alone && chance(u, 3, 4)? || chance(u, 1, 16)?, chunks })
}

fn chunk(u: &mut Unstructured<'_>) -> Result<ChunkForgery> {
    Ok(match u.int_in_range(0..=31)? {
        0..=8 => ChunkForgery::Data {
            tsn: near(u)?,
            stream: *u.choose(&[0, 0, 1, 9, 10, u16::MAX])?,
            sequence: magnitude(u, u16::MAX.into())? as u16,
            flags: if u.arbitrary()? { 3 } else { u.int_in_range(0..=15)? },
            length: magnitude(u, 1400)? as u16,
        },
        9..=14 => ChunkForgery::Sack {
            cumulative: near(u)?,
            window: *u.choose(&[100_000, 0, 1, u32::MAX])?,
            gaps: several(u, 5, gap)?,
            kept: optional(u, (1, 3), |u| several(u, 5, gap))?,
            duplicates: magnitude(u, 100)? as u8,
        },
        15 | 16 => ChunkForgery::ForwardTsn {
            cumulative: near(u)?,
            streams: several(u, 4, |u| Ok((u.int_in_range(0..=11)?, u.arbitrary()?)))?,
        },
        17 | 18 => ChunkForgery::Init {
            acknowledges: u.arbitrary()?,
            tag: u.arbitrary()?,
            window: *u.choose(&[100_000, 0, 1, u32::MAX])?,
            streams: *u.choose(&[(10, 10), (0, 0), (1, 1), (u16::MAX, u16::MAX)])?,
            parameters: several(u, 4, parameter)?,
        },
        19 | 20 => ChunkForgery::CookieEcho { seen: chance(u, 3, 4)?, flip: optional(u, (1, 2), |u| u.arbitrary())? },
        21 => ChunkForgery::CookieAck,
        22 => ChunkForgery::Heartbeat(u.arbitrary()?),
        23 => ChunkForgery::HeartbeatAck(optional(u, (1, 2), |u| u.arbitrary())?),
        24 => ChunkForgery::Abort { reflected: u.arbitrary()? },
        25 => ChunkForgery::Shutdown(near(u)?),
        26 => ChunkForgery::ShutdownAck,
        27 => ChunkForgery::ShutdownComplete { reflected: u.arbitrary()? },
        28 => ChunkForgery::Error(u.int_in_range(0..=15)?, u.arbitrary()?),
        _ => ChunkForgery::Raw(u.arbitrary()?, u.arbitrary()?, several(u, 24, |u| u.arbitrary())?),
    })
}

fn gap(u: &mut Unstructured<'_>) -> Result<(u16, u16)> {
    let edge = |u: &mut Unstructured<'_>| if chance(u, 1, 4)? { u.arbitrary() } else { u.int_in_range(0..=20) };
    Ok((edge(u)?, edge(u)?))
}

fn parameter(u: &mut Unstructured<'_>) -> Result<ParameterForgery> {
    Ok(match u.int_in_range(0..=5)? {
        0 => ParameterForgery::Address(u.arbitrary()?),
        1 => ParameterForgery::Cookie(u.arbitrary()?),
        2 => ParameterForgery::HostName,
        3 => ParameterForgery::Extensions(several(u, 6, |u| u.arbitrary())?),
        4 => ParameterForgery::ForwardTsn,
        _ => ParameterForgery::Raw(u.arbitrary()?, u.arbitrary()?),
    })
}
