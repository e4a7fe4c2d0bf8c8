//! A QUIC connection, as all endpoints are used.

use core::ops::Range;

use subflow_policy::congestion::{Outstanding, Path};
use subflow_quantity::{Duration, Instant};
use subflow_wire::{Body, PROTOCOL_UDP, Packet};

use super::{Connection, MAIN_STREAM};
use crate::figures::{Figures, PathFigures, PathState};
use crate::notes::{Kept, Noted};
use crate::socket::Socket;
use crate::stream::Stream;
use crate::tcp::{Closed, Ends};

impl Socket for Connection {
    fn protocol(&self) -> u8 {
        PROTOCOL_UDP
    }

    fn ends(&self) -> Ends {
        Self::ends(self)
    }

    fn handle_packet(&mut self, now: Instant, _subflow: usize, packet: &Packet) {
        if let Body::Quic(datagram) = &packet.body {
            self.handle_datagram(now, &packet.ip, datagram);
        }
    }

    fn poll_transmit_into(&mut self, now: Instant, packet: &mut Packet) -> bool {
        self.transmit(now, packet)
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.on_timeout(now);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.next_timeout()
    }

    #[inline]
    fn stream(&self) -> Option<&Stream> {
        Some(&self.stream)
    }

    #[inline]
    fn stream_mut(&mut self) -> Option<&mut Stream> {
        Some(&mut self.stream)
    }

    fn write(&mut self, bytes: u64) -> u64 {
        let acknowledged = self.bytes_acknowledged();
        let admitted = self.stream.admit(bytes, acknowledged);
        self.write_on(MAIN_STREAM, admitted);
        admitted
    }

    fn finish(&mut self) {
        self.stream.finished = true;
        self.finish_stream(MAIN_STREAM);
    }

    fn stop(&mut self) {
        if let Some(send) = self.streams.send_mut(MAIN_STREAM) {
            self.stream.written -= send.discard_unsent();
        }
        Socket::finish(self);
    }

    fn abort(&mut self) {
        Self::abort(self);
    }

    fn set_reading(&mut self, reading: bool, _now: Instant) {
        self.stream.reading = reading;
        if reading {
            self.stream.read = self.stream.received;
            self.streams.set_read(MAIN_STREAM, self.stream.read);
        }
    }

    fn set_bytes_read(&mut self, total: u64, _now: Instant) {
        self.stream.set_bytes_read(total);
        self.streams.set_read(MAIN_STREAM, self.stream.read);
    }

    fn bytes_acknowledged(&self) -> u64 {
        self.streams.send(MAIN_STREAM).map_or(0, |send| send.acknowledged())
    }

    fn receive_window(&self) -> Option<u64> {
        self.streams.receive(MAIN_STREAM).map(|receive| receive.window_left())
    }

    #[inline]
    fn ended(&self) -> Option<Closed> {
        Self::ended(self)
    }

    fn visit_taken(&self, _packet: &Packet, mut visit: impl FnMut(u64, Range<u64>)) {
        let of_main = self.taken.iter().filter(|(stream, _)| *stream == MAIN_STREAM);
        of_main.for_each(|(_, range)| visit(0, range.clone()));
    }

    fn describe(&self, figures: &mut Figures) {
        let counters = self.counters;
        figures.paths = vec![PathFigures {
            ends: self.ends,
            reopens: false,
            bytes_received: counters.bytes_received,
            packets_sent: counters.datagrams_sent,
            retransmissions: counters.retransmissions,
            timeouts: counters.timeouts,
            duplicate_acks: 0,
            srtt: self.rtt.srtt(),
            cwnd: self.recovery.window().into(),
            copies: 0,
            retransmitted: None,
            bytes_acknowledged: None,
        }];
    }

    fn is_single_path(&self) -> bool {
        true
    }

    fn visit_paths(&self, mut visit: impl FnMut(PathState)) {
        let path = self.recovery.controller.path(0);
        let in_flight = self.recovery.in_flight();
        let outstanding = Outstanding { amount: in_flight, unit_bytes: self.datagram_size() };
        let rate = self.recovery.pacer.is_on().then(|| self.recovery.controller.pacing_rate(0, outstanding));
        visit(PathState {
            number: 0,
            ends: self.ends,
            cwnd: path.cwnd().into(),
            ssthresh: (path.ssthresh() < Path::INFINITE).then(|| path.ssthresh().into()),
            in_flight: in_flight.into(),
            flight_size: self.streams.send(MAIN_STREAM).map_or(0, |send| send.sent() - send.acknowledged()),
            srtt: self.rtt.srtt(),
            bytes_acknowledged: None,
            pacing_rate: rate.flatten(),
            model: None,
        });
    }

    fn path_ends(&self) -> Vec<(usize, Ends)> {
        vec![(0, self.ends)]
    }

    fn path_number(&self, ends: Ends, _place: &mut usize, _known: Option<usize>) -> Option<usize> {
        (self.ends == ends).then_some(0)
    }

    fn bytes_received_on(&self, ends: Ends, _place: &mut usize) -> Option<u64> {
        (self.ends == ends).then_some(self.counters.bytes_received)
    }

    fn keep_notes(&mut self, _decisions: bool) {
        self.notes = Kept::new();
    }

    #[inline]
    fn has_notes(&self) -> bool {
        self.notes.as_ref().is_some_and(|notes| !notes.noted.is_empty())
    }

    fn take_notes(&mut self, into: &mut Vec<Noted>) {
        let ends = self.ends;
        if let Some(notes) = &mut self.notes {
            into.extend(notes.noted.drain(..).map(|note| Noted { ends, note }));
        }
    }

    fn take_rtts(&mut self, mut each: impl FnMut(Ends, &[Duration])) {
        if let Some(notes) = &mut self.notes {
            each(self.ends, &notes.rtts);
            notes.rtts.clear();
        }
    }
}
