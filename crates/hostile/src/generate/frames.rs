//! Forged QUIC datagrams.

use arbitrary::{Result, Unstructured};

use super::{chance, magnitude, near, optional, several};
use crate::forgery::{FrameForgery, LimitForgery, QuicForgery, QuicPacketType};

/// The largest value of a field.
const MOST: u64 = (1 << 62) - 1;

pub(super) fn datagram(is_multipath: bool, u: &mut Unstructured<'_>) -> Result<QuicForgery> {
    let packet = match u.int_in_range(0..=15)? {
        0..=8 => QuicPacketType::OneRtt,
        9..=11 => QuicPacketType::Initial,
        12 => QuicPacketType::Handshake,
        13 => QuicPacketType::ZeroRtt,
        14 => QuicPacketType::Retry,
        _ => QuicPacketType::VersionNegotiation,
    };
    let mut frames = vec![frame(is_multipath, u)?];
    if chance(u, 1, 3)? {
        frames.extend(several(u, 5, |u| frame(is_multipath, u))?);
    }
    let number = if chance(u, 1, 8)? { near(u)? } else { 0 };
    let token = if chance(u, 1, 8)? { u.arbitrary()? } else { 0 };
    let is_full = packet == QuicPacketType::Initial && chance(u, 7, 8)? || chance(u, 1, 8)?;
    let length = if is_full { 1200 } else { magnitude(u, 1500)? as u16 };
    Ok(QuicForgery { packet, number, token, length, frames })
}

fn stream(u: &mut Unstructured<'_>) -> Result<u64> {
    Ok(*u.choose(&[0, 0, 0, 0, 4, 36, 1, 2, 3, 400, MOST])?)
}

fn path(is_multipath: bool, u: &mut Unstructured<'_>) -> Result<u64> {
    Ok(if is_multipath { *u.choose(&[0, 1, 2, 3, 7, 8, MOST])? } else { 1 })
}

/// The path of a frame that exists with a path and without.
fn maybe_path(is_multipath: bool, u: &mut Unstructured<'_>) -> Result<Option<u64>> {
    let probability = if is_multipath { (1, 2) } else { (1, 16) };
    optional(u, probability, |u| path(is_multipath, u))
}

fn frame(is_multipath: bool, u: &mut Unstructured<'_>) -> Result<FrameForgery> {
    let last = if is_multipath { 35 } else { 28 };
    Ok(match u.int_in_range(0..=last)? {
        0..=4 => FrameForgery::Stream {
            stream: stream(u)?,
            offset: near(u)?,
            length: magnitude(u, 1400)? as u16,
            fin: chance(u, 1, 4)?,
        },
        5..=8 => FrameForgery::Ack {
            path: maybe_path(is_multipath, u)?,
            largest: near(u)?,
            first: magnitude(u, MOST)?,
            gap: if chance(u, 1, 3)? { magnitude(u, MOST)? } else { 0 },
            ecn: optional(u, (1, 4), |u| magnitude(u, MOST))?,
        },
        9 | 10 => FrameForgery::Crypto {
            offset: if u.arbitrary()? { 0 } else { magnitude(u, MOST - 2000)? },
            length: magnitude(u, 1100)? as u16,
            kind: *u.choose(&[1, 2, 8, 20, 0, 255])?,
        },
        11 => FrameForgery::Reset { stream: stream(u)?, size: near(u)? },
        12 => FrameForgery::Stop { stream: stream(u)? },
        13..=15 => {
            FrameForgery::Limit { kind: limit(is_multipath, u)?, stream: stream(u)?, value: magnitude(u, MOST)? }
        }
        16 | 17 => FrameForgery::NewId {
            path: maybe_path(is_multipath, u)?,
            sequence: magnitude(u, MOST)?,
            retire: magnitude(u, MOST)?,
            length: *u.choose(&[8, 8, 8, 0, 1, 20])?,
        },
        18 | 19 => FrameForgery::RetireId {
            path: maybe_path(is_multipath, u)?,
            sequence: if chance(u, 3, 4)? { u.int_in_range(0..=5)? } else { magnitude(u, MOST)? },
        },
        20 | 21 => FrameForgery::Challenge(u.arbitrary()?),
        22 => FrameForgery::Response { right: u.arbitrary()? },
        23 => FrameForgery::Close { application: u.arbitrary()?, error_code: magnitude(u, 300)? },
        24 => FrameForgery::HandshakeDone,
        25 => FrameForgery::Token(u.arbitrary()?),
        26 => FrameForgery::Raw(several(u, 24, |u| u.arbitrary())?),
        27 => FrameForgery::Padding(magnitude(u, 1400)? as u16),
        28 => {
            if u.arbitrary()? {
                FrameForgery::Ping
            } else {
                FrameForgery::Datagram(magnitude(u, 1000)? as u16)
            }
        }
        29..=31 => FrameForgery::Abandon { path: path(true, u)?, error_code: magnitude(u, MOST)? },
        32 | 33 => {
            FrameForgery::Status { path: path(true, u)?, sequence: magnitude(u, MOST)?, available: u.arbitrary()? }
        }
        _ => FrameForgery::Limit { kind: limit(true, u)?, stream: path(true, u)?, value: magnitude(u, 1 << 33)? },
    })
}

fn limit(is_multipath: bool, u: &mut Unstructured<'_>) -> Result<LimitForgery> {
    use LimitForgery::*;
    let of_paths = [Paths, PathsBlocked, PathIdsBlocked];
    if is_multipath && u.arbitrary()? {
        return Ok(*u.choose(&of_paths)?);
    }
    Ok(*u.choose(&[Data, StreamData, Streams, StreamsOneWay, DataBlocked, StreamDataBlocked, StreamsBlocked])?)
}
