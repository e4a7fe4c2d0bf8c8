//! Forged TCP segments.

use std::net::SocketAddr;

use subflow_wire::TcpSegment;
use subflow_wire::tcp::{SackBlock, SynOptions, TcpFlags, Timestamps};

use super::Forger;
use crate::forgery::TcpForgery;

/// Most bytes of options.
const ROOM: u32 = 40;

impl Forger<'_> {
    pub(super) fn segment(&self, forgery: &TcpForgery, from: SocketAddr, to: SocketAddr) -> Option<TcpSegment> {
        let flow = self.wiretap.flow(self.flow);
        let (ours, theirs) = (&flow.tcp[1 - self.to], &flow.tcp[self.to]);
        let expected = theirs.acknowledged.unwrap_or(ours.next);
        let off = |base: u32, by: i64| base.wrapping_add(self.off(by));
        let mut segment = TcpSegment {
            source_port: from.port(),
            destination_port: to.port(),
            sequence: off(expected, self.growing(forgery.sequence, self.stride.sequence)),
            acknowledgment: off(theirs.next, forgery.acknowledgment),
            flags: TcpFlags(forgery.flags),
            window: forgery.window,
            ..TcpSegment::default()
        };
        segment.payload.length = forgery.length.into();
        let options = &mut segment.options;
        options.timestamps = forgery.timestamp.map(|by| Timestamps {
            value: ours.timestamp.wrapping_add(by as u32),
            echo: theirs.timestamp.wrapping_add(forgery.echo as u32),
        });
        options.syn = forgery.syn.map_or(SynOptions::default(), |(mss, scale)| SynOptions {
            mss: Some(mss),
            window_scale: Some(scale),
            sack_permitted: scale % 2 == 1,
        });
        for &(left, length) in forgery.sack.iter().take(3) {
            let left = off(theirs.next, left);
            options.sack.push(SackBlock { left, right: left.wrapping_add(length as u32) });
        }
        let sequence = segment.sequence.wrapping_sub(ours.isn);
        segment.options.dss = forgery.dss.as_ref().map(|dss| self.dss(dss, sequence, forgery.length));
        segment.options.mptcp.extend(forgery.option.as_ref().map(|option| self.option(option, from)));
        make_fit(&mut segment);
        Some(segment)
    }
}

/// Leaves out options until they fit: those of TCP first, since a forgery with an option of MPTCP is about that.
fn make_fit(segment: &mut TcpSegment) {
    let options = &mut segment.options;
    while options.wire_length() > ROOM && options.sack.pop().is_some() {}
    if options.wire_length() > ROOM {
        options.syn = SynOptions::default();
    }
    if options.wire_length() > ROOM {
        options.timestamps = None;
    }
    if options.wire_length() > ROOM {
        options.dss = None;
    }
}
