//! The subflows that carry the data of a flow, and what happens on each.

use std::net::{IpAddr, SocketAddr};

use subflow_quantity::{Duration, Instant};
use subflow_transport::tcp::Ends;
use subflow_wire::IpHeader;

use crate::results::{Sequence, SequenceKind};

/// The subflows of a flow in the order in which something happened on them first; their numbers are their indices.
#[derive(Clone, Debug, Default)]
pub(super) struct Subflows {
    /// Their ends, as seen by the sender.
    ends: Vec<Ends>,
    /// The end of what was sent on each, in its sequence numbers.
    sequence_ends: Vec<Option<u32>>,
    all: Vec<Subflow>,
    /// The one that was looked for last.
    latest: usize,
    /// The 4-tuples of the latest packets, by a number made of their ports.
    known: [Option<KnownTuple>; KNOWN_TUPLES],
}

/// The number of 4-tuples that are remembered.
const KNOWN_TUPLES: usize = 16;

/// One subflow.
#[derive(Clone, Debug, Default)]
pub(super) struct Subflow {
    /// How long data that had arrived waited for data on this subflow, since the last sample.
    pub(super) blocked: Duration,
    /// The end of the new data that was sent on it last.
    pub(super) sequence: u64,
    /// What happened on it, by [`SequenceKind`].
    sequences: [Option<Sequence>; SequenceKind::Readable as usize],
}

/// The 4-tuple of a subflow's packets: that of a packet is compared with it at once.
#[derive(Clone, Copy, Debug)]
struct KnownTuple {
    source: IpAddr,
    destination: IpAddr,
    ports: [u16; 2],
    subflow: u32,
}

/// Addresses and ports of a packet.
#[derive(Clone, Copy, Debug)]
pub(in crate::simulate) struct FourTuple<'a> {
    pub(super) ip: &'a IpHeader,
    pub(super) source_port: u16,
    pub(super) destination_port: u16,
}

impl Subflows {
    /// The subflow with these ends, if it is known.
    pub(super) fn of_ends(&mut self, ends: Ends) -> Option<usize> {
        // They often take turns.
        let next = self.latest + 1;
        if self.ends.get(next) == Some(&ends) {
            self.latest = next;
            return Some(next);
        }
        found(&self.ends, &mut self.latest, |known| *known == ends).map(|_| self.latest)
    }

    /// The subflow on which the sender's packets have this 4-tuple, if it is [remembered](Self::remember): packets of
    /// several subflows take turns.
    #[inline]
    pub(super) fn of_tuple(&self, tuple: FourTuple<'_>) -> Option<usize> {
        let known = self.known[tuple.place()].as_ref()?;
        tuple.is(known).then_some(known.subflow as usize)
    }

    /// The packets of a subflow have this 4-tuple.
    pub(super) fn remember(&mut self, tuple: FourTuple<'_>, subflow: usize) {
        self.known[tuple.place()] = Some(KnownTuple {
            source: tuple.ip.source,
            destination: tuple.ip.destination,
            ports: [tuple.source_port, tuple.destination_port],
            subflow: subflow as u32,
        });
    }

    /// Adds a subflow and returns its number.
    #[cold]
    pub(super) fn add(&mut self, ends: Ends) -> usize {
        self.ends.push(ends);
        self.sequence_ends.push(None);
        self.all.push(Subflow::default());
        self.all.len() - 1
    }

    /// `length` bytes from `sequence` on are sent on a subflow of TCP. Returns whether it has not carried them before.
    #[inline]
    pub(super) fn advance(&mut self, subflow: usize, sequence: u32, length: u32) -> bool {
        let end = &mut self.sequence_ends[subflow];
        let is_first = end.is_none_or(|end| (sequence.wrapping_sub(end) as i32) >= 0);
        if is_first {
            *end = Some(sequence.wrapping_add(length));
        }
        is_first
    }

    /// The ends of all subflows, as seen by the sender.
    pub(super) fn ends(&self) -> &[Ends] {
        &self.ends
    }

    /// The subflow with this number.
    #[inline]
    pub(super) fn subflow(&mut self, number: usize) -> &mut Subflow {
        &mut self.all[number]
    }

    /// All subflows.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Subflow> {
        self.all.iter_mut()
    }

    /// Takes what has happened, with the ends of the subflow it happened on.
    pub(super) fn take_sequences(&mut self) -> impl Iterator<Item = (Ends, Sequence)> {
        let of_one = |(ends, subflow): (&Ends, &mut Subflow)| {
            let ends = *ends;
            core::mem::take(&mut subflow.sequences).into_iter().flatten().map(move |sequence| (ends, sequence))
        };
        self.ends.iter().zip(&mut self.all).flat_map(of_one)
    }
}

/// What `is_it` is true for, looked for in its last place first.
#[inline]
fn found<'a, T>(all: &'a [T], place: &mut usize, is_it: impl Fn(&T) -> bool) -> Option<&'a T> {
    if !all.get(*place).is_some_and(&is_it) {
        *place = all.iter().position(is_it)?;
    }
    all.get(*place)
}

impl Subflow {
    /// New data is sent on it.
    #[inline]
    pub(super) fn on_sent(&mut self, start: u64, end: u64, now: Instant) {
        self.sequence = end;
        self.mark(SequenceKind::Sent, start, now);
    }

    /// Something happens to the data at `offset`.
    #[inline]
    pub(super) fn mark(&mut self, kind: SequenceKind, offset: u64, now: Instant) {
        self.sequences[kind as usize].get_or_insert_with(|| Sequence::new("", kind)).push(now, offset);
    }
}

impl FourTuple<'_> {
    /// The ends, as seen by whoever sends the packet.
    #[inline]
    pub(in crate::simulate) fn ends(self) -> Ends {
        Ends {
            local: SocketAddr::new(self.ip.source, self.source_port),
            remote: SocketAddr::new(self.ip.destination, self.destination_port),
        }
    }

    /// Its place among those remembered.
    #[inline]
    fn place(self) -> usize {
        usize::from(self.source_port ^ self.destination_port) % KNOWN_TUPLES
    }

    #[inline]
    fn is(self, known: &KnownTuple) -> bool {
        known.ports == [self.source_port, self.destination_port]
            && known.source == self.ip.source
            && known.destination == self.ip.destination
    }
}
