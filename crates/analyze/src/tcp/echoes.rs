//! Round-trip times by timestamps (RFC 7323): from the first segment with a value to the acknowledgment that echoes it.
//!
//! They also count where a segment was sent twice, and at a receiver's point of capture, where the data that goes the
//! other way echoes the values of acknowledgments.

use std::collections::VecDeque;

use subflow_wire::tcp::{TcpFlags, TcpSegment};

use super::rtt::RoundTrips;

/// Values that no acknowledgment has echoed, at most: older ones are forgotten.
const MOST: usize = 256;

/// The values that one end sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Echoes {
    values: VecDeque<(u32, u64)>,
    /// The samples.
    pub(crate) round_trips: RoundTrips,
}

impl Echoes {
    /// The end sends a segment.
    pub(super) fn sent(&mut self, segment: &TcpSegment, time: u64) {
        let Some(timestamps) = segment.options.timestamps else { return };
        let is_new = |&(last, _): &(u32, u64)| timestamps.value.wrapping_sub(last).cast_signed() > 0;
        if self.values.back().is_none_or(is_new) {
            if self.values.len() == MOST {
                self.values.pop_front();
            }
            self.values.push_back((timestamps.value, time));
        }
    }

    /// The end receives a segment. An echo without ACK is undefined (section 3.2).
    pub(super) fn received(&mut self, segment: &TcpSegment, time: u64) {
        let timestamps = segment.options.timestamps.filter(|_| segment.flags.contains(TcpFlags::ACK));
        let Some(echo) = timestamps.map(|timestamps| timestamps.echo) else { return };
        while let Some(&(value, sent)) = self.values.front() {
            match echo.wrapping_sub(value).cast_signed() {
                0 => {
                    self.round_trips.add(time.saturating_sub(sent));
                    self.values.pop_front();
                    return;
                }
                1.. => drop(self.values.pop_front()),
                _ => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use subflow_wire::tcp::Timestamps;

    use super::*;

    #[test]
    fn a_value_that_several_segments_have_counts_once_and_from_the_first() {
        let segment = |value: u32, echo: u32| {
            let mut segment = TcpSegment { flags: TcpFlags::ACK, ..Default::default() };
            segment.options.timestamps = Some(Timestamps { value, echo });
            segment
        };
        let mut echoes = Echoes::default();
        for (value, time) in [(u32::MAX, 10), (u32::MAX, 20), (0, 30), (5, 40)] {
            echoes.sent(&segment(value, 0), time);
        }
        for (echo, time) in [(u32::MAX, 110), (u32::MAX, 120), (5, 190), (3, 200)] {
            echoes.received(&segment(0, echo), time);
        }
        assert_eq!((echoes.round_trips.count, echoes.round_trips.minimum, echoes.round_trips.maximum), (2, 100, 150));
    }
}
