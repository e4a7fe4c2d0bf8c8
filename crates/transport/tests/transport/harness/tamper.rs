//! What can happen to packets on the way.

use subflow_quantity::Duration;
use subflow_wire::tcp::TcpFlags;
use subflow_wire::{Ecn, TcpSegment};

use super::{Fate, Leaving};

pub(crate) fn is_syn(segment: &TcpSegment) -> bool {
    segment.flags.contains(TcpFlags::SYN) && !segment.flags.contains(TcpFlags::ACK)
}

pub(crate) fn is_syn_ack(segment: &TcpSegment) -> bool {
    segment.flags.contains(TcpFlags::SYN | TcpFlags::ACK)
}

pub(crate) fn has_data(segment: &TcpSegment) -> bool {
    segment.payload.length > 0
}

pub(crate) fn has_fin(segment: &TcpSegment) -> bool {
    segment.flags.contains(TcpFlags::FIN)
}

pub(crate) fn is_reset(segment: &TcpSegment) -> bool {
    segment.flags.contains(TcpFlags::RST)
}

/// An acknowledgment without data, SYN, FIN or RST.
pub(crate) fn is_pure_ack(segment: &TcpSegment) -> bool {
    !has_data(segment) && segment.flags.0 & (TcpFlags::SYN | TcpFlags::FIN | TcpFlags::RST).0 == 0
}

/// Drops the packets for which `which` holds, the first `times` of them.
pub(crate) fn drop_first(
    mut times: usize,
    which: impl Fn(&Leaving<'_>) -> bool + 'static,
) -> impl FnMut(&mut Leaving<'_>) -> Fate {
    move |leaving| {
        if times > 0 && which(leaving) {
            times -= 1;
            return Fate::Drop;
        }
        Fate::Pass
    }
}

/// Drops every packet for which `which` holds.
pub(crate) fn drop_all(which: impl Fn(&Leaving<'_>) -> bool + 'static) -> impl FnMut(&mut Leaving<'_>) -> Fate {
    drop_first(usize::MAX, which)
}

/// Drops the data segments with these numbers, counted from 0 among first transmissions of `from`; what is sent again
/// passes.
pub(crate) fn drop_data(from: usize, numbers: &[u64]) -> impl FnMut(&mut Leaving<'_>) -> Fate + use<> {
    let numbers = numbers.to_vec();
    let (mut count, mut highest) = (0, 0);
    move |leaving| {
        let payload = leaving.segment.payload;
        let end = payload.stream_offset + u64::from(payload.length);
        if leaving.from != from || payload.length == 0 || end <= highest {
            return Fate::Pass;
        }
        highest = end;
        count += 1;
        if numbers.contains(&(count - 1)) { Fate::Drop } else { Fate::Pass }
    }
}

/// The first packet for which `which` holds arrives `delay` later.
pub(crate) fn delay_first(
    delay: Duration,
    which: impl Fn(&Leaving<'_>) -> bool + 'static,
) -> impl FnMut(&mut Leaving<'_>) -> Fate {
    let mut done = false;
    move |leaving| {
        if !done && which(leaving) {
            done = true;
            return Fate::Late(delay);
        }
        Fate::Pass
    }
}

/// Sets Congestion Experienced on ECN-capable data of `from` for which `which` holds, by its number from 0.
pub(crate) fn mark_data(from: usize, which: impl Fn(u64) -> bool + 'static) -> impl FnMut(&mut Leaving<'_>) -> Fate {
    let mut number = 0;
    move |leaving| {
        if leaving.from == from && has_data(leaving.segment) && *leaving.ecn == Ecn::Ect0 {
            if which(number) {
                *leaving.ecn = Ecn::CongestionExperienced;
            }
            number += 1;
        }
        Fate::Pass
    }
}

/// Takes the MPTCP options off every segment for which `which` holds.
pub(crate) fn strip_mptcp(which: impl Fn(&Leaving<'_>) -> bool + 'static) -> impl FnMut(&mut Leaving<'_>) -> Fate {
    move |leaving| {
        if which(leaving) {
            leaving.segment.options.dss = None;
            leaving.segment.options.mptcp.clear();
        }
        Fate::Pass
    }
}

/// Changes a byte of the first payload for which `which` holds, as a middlebox would: the TCP checksum fits.
pub(crate) fn corrupt_first(which: impl Fn(&Leaving<'_>) -> bool + 'static) -> impl FnMut(&mut Leaving<'_>) -> Fate {
    let mut done = false;
    move |leaving| {
        if !done && !leaving.bytes.is_empty() && which(leaving) {
            done = true;
            leaving.bytes[0] ^= 0x55;
        }
        Fate::Pass
    }
}
