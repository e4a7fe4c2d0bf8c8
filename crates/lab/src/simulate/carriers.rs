//! The subflows that carry the data of a flow, and what happens on each.

use std::net::{IpAddr, SocketAddr};

use subflow_quantity::{Duration, Instant};
use subflow_transport::tcp::Ends;
use subflow_wire::IpHeader;

use crate::results::{Sequence, SequenceKind};

/// The subflows of a flow in the order in which something happened on them first; their numbers are their indices.
#[derive(Clone, Debug, Default)]
pub(super) struct Carriers {
    /// Their ends, as seen by the sender.
    ends: Vec<Ends>,
    all: Vec<Carrier>,
    /// The one that was looked for last.
    latest: usize,
    /// Where packets went last, by a number made of their ports.
    ways: [Option<KnownWay>; WAYS],
}

/// The number of ways that are remembered.
const WAYS: usize = 16;

/// One subflow.
#[derive(Clone, Debug, Default)]
pub(super) struct Carrier {
    /// How long data that had arrived waited for data on this subflow, since the last sample.
    pub(super) blocked: Duration,
    /// The end of the new data that was sent on it last.
    pub(super) sequence: u64,
    /// What happened on it, by [`SequenceKind`].
    sequences: [Option<Sequence>; SequenceKind::Readable as usize],
}

/// The way of a subflow's packets: that of a packet is compared with it at once.
#[derive(Clone, Copy, Debug)]
struct KnownWay {
    source: IpAddr,
    destination: IpAddr,
    ports: [u16; 2],
    carrier: u32,
}

/// From where to where a packet goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way<'a> {
    pub(super) ip: &'a IpHeader,
    pub(super) source_port: u16,
    pub(super) destination_port: u16,
}

impl Carriers {
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

    /// The subflow on which the sender's packets go this way, if it is [remembered](Self::remember): packets of several
    /// subflows take turns.
    #[inline]
    pub(super) fn of_way(&self, way: Way<'_>) -> Option<usize> {
        let known = self.ways[way.place()].as_ref()?;
        way.is(known).then_some(known.carrier as usize)
    }

    /// The packets of a subflow go this way.
    pub(super) fn remember(&mut self, way: Way<'_>, carrier: usize) {
        self.ways[way.place()] = Some(KnownWay {
            source: way.ip.source,
            destination: way.ip.destination,
            ports: [way.source_port, way.destination_port],
            carrier: carrier as u32,
        });
    }

    /// Adds a subflow and returns its number.
    #[cold]
    pub(super) fn add(&mut self, ends: Ends) -> usize {
        self.ends.push(ends);
        self.all.push(Carrier::default());
        self.all.len() - 1
    }

    /// The ends of all subflows, as seen by the sender.
    pub(super) fn ends(&self) -> &[Ends] {
        &self.ends
    }

    /// The subflow with this number.
    #[inline]
    pub(super) fn carrier(&mut self, number: usize) -> &mut Carrier {
        &mut self.all[number]
    }

    /// All subflows.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Carrier> {
        self.all.iter_mut()
    }

    /// Takes what has happened, with the ends of the subflow it happened on.
    pub(super) fn take_sequences(&mut self) -> impl Iterator<Item = (Ends, Sequence)> {
        let of_one = |(ends, carrier): (&Ends, &mut Carrier)| {
            let ends = *ends;
            core::mem::take(&mut carrier.sequences).into_iter().flatten().map(move |sequence| (ends, sequence))
        };
        self.ends.iter().zip(&mut self.all).flat_map(of_one)
    }
}

/// What `is_it` is true for, looked for in its last place first.
#[inline]
pub(super) fn found<'a, T>(all: &'a [T], place: &mut usize, is_it: impl Fn(&T) -> bool) -> Option<&'a T> {
    if !all.get(*place).is_some_and(&is_it) {
        *place = all.iter().position(is_it)?;
    }
    all.get(*place)
}

impl Carrier {
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

impl Way<'_> {
    /// The ends, as seen by whoever sends the packet.
    #[inline]
    pub(super) fn ends(self) -> Ends {
        Ends {
            local: SocketAddr::new(self.ip.source, self.source_port),
            remote: SocketAddr::new(self.ip.destination, self.destination_port),
        }
    }

    /// Its place among those remembered.
    #[inline]
    fn place(self) -> usize {
        usize::from(self.source_port ^ self.destination_port) % WAYS
    }

    #[inline]
    fn is(self, known: &KnownWay) -> bool {
        known.ports == [self.source_port, self.destination_port]
            && known.source == self.ip.source
            && known.destination == self.ip.destination
    }
}
