//! MPTCP connections by the numbers of their data: a subflow whose connection no handshake tells sends data near that of
//! its siblings.
//!
//! Data sequence numbers start at a random place in 64 bits (RFC 8684, section 3.1): that those of two connections are
//! within 2^32 of each other has a probability of 2^-31.

use std::hash::Hash;

use rustc_hash::FxHashMap;
use subflow_wire::tcp::TcpSegment;

use crate::mptcp::Connection;

/// Where the data of each end of the connections is, by point of capture and the upper half of its number.
#[derive(Debug, Default)]
pub(crate) struct DataPositions {
    ends: FxHashMap<(u16, u32), (usize, usize)>,
}

/// The numbers of 64 bits in a segment, each with whether it is of its receiver's data.
fn numbers(segment: &TcpSegment) -> impl Iterator<Item = (bool, u64)> {
    let dss = segment.options.dss.as_ref();
    let mapped = dss.and_then(|dss| dss.mapping).filter(|mapping| mapping.wide && mapping.length > 0);
    let acknowledged = dss.and_then(|dss| dss.data_ack).filter(|ack| ack.wide);
    let mapped = mapped.map(|mapping| (false, mapping.data_sequence));
    mapped.into_iter().chain(acknowledged.map(|ack| (true, ack.value)))
}

impl DataPositions {
    /// The connection whose data a segment is near, and which of its ends has sent the segment.
    pub(crate) fn find(
        &self,
        point: u16,
        segment: &TcpSegment,
        connections: &[(u16, Connection)],
    ) -> Option<(usize, usize)> {
        numbers(segment).find_map(|(is_of_receiver, number)| {
            let high = (number >> 32) as u32;
            let near = [high, high.wrapping_sub(1), high.wrapping_add(1)];
            near.into_iter().filter_map(|high| self.ends.get(&(point, high)).copied()).find_map(|(connection, end)| {
                let is_near = connections[connection].1.data_position(end)?.abs_diff(number) < 1 << 32;
                is_near.then_some((connection, end ^ usize::from(is_of_receiver)))
            })
        })
    }

    /// Connections have other places now, or are gone.
    pub(crate) fn renumber(&mut self, places: &[Option<usize>]) {
        renumber(&mut self.ends, |(connection, _)| connection, places);
    }

    /// Remembers where the data of a connection is, of which the end `from` has sent a segment: of each end one place.
    pub(crate) fn keep(
        &mut self,
        point: u16,
        segment: &TcpSegment,
        (connection, from): (usize, usize),
        known: &mut [Option<u64>; 2],
    ) {
        for (is_of_receiver, number) in numbers(segment) {
            let end = from ^ usize::from(is_of_receiver);
            let place = |number: u64| (point, (number >> 32) as u32);
            let before = known[end].replace(number).map(place);
            if before == Some(place(number)) {
                continue;
            }
            if let Some(before) = before.filter(|before| self.ends.get(before) == Some(&(connection, end))) {
                self.ends.remove(&before);
            }
            self.ends.entry(place(number)).or_insert((connection, end));
        }
    }
}

/// Replaces the places in a table by the new ones; entries of what is gone leave.
pub(crate) fn renumber<K: Eq + Hash, V>(
    table: &mut FxHashMap<K, V>,
    place: impl Fn(&mut V) -> &mut usize,
    places: &[Option<usize>],
) {
    table.retain(|_, value| {
        let at = place(value);
        places[*at].inspect(|new| *at = *new).is_some()
    });
}

#[cfg(test)]
mod tests {
    use subflow_wire::tcp::mptcp::{Dss, Mapping};

    use super::*;

    fn segment(data_sequence: u64) -> TcpSegment {
        let mapping = Mapping { data_sequence, wide: true, subflow_sequence: 1, length: 100, checksum: None };
        let mut segment = TcpSegment::default();
        segment.options.dss = Some(Dss { mapping: Some(mapping), ..Dss::default() });
        segment
    }

    #[test]
    fn a_segment_is_near_the_data_of_its_connection_wherever_that_has_come_to() {
        let (mut positions, mut connections) = (DataPositions::default(), vec![(0, Connection::default())]);
        for number in [7 << 32, (7 << 32) + 5_000, (9 << 32) - 1] {
            positions.keep(0, &segment(number), (0, 1), &mut connections[0].1.positions);
            let find = |point: u16, number: u64| positions.find(point, &segment(number), &connections);
            assert_eq!([find(0, number + 9), find(0, number - 9)], [Some((0, 1)); 2]);
            assert_eq!([find(1, number), find(0, number + (3 << 32))], [None; 2]);
            assert_eq!(positions.ends.len(), 1, "one place of each end, however far it goes");
        }
    }
}
