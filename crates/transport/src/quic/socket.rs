//! A QUIC connection, as all endpoints are used.

use core::ops::Range;
use std::net::{IpAddr, SocketAddr};

use subflow_policy::congestion::{Outstanding, Path};
use subflow_quantity::{Duration, Instant};
use subflow_wire::quic::ConnectionId;
use subflow_wire::{Body, PROTOCOL_UDP, Packet};

use super::connection_ids::ConnectionIds;
use super::further_streams::of_client;
use super::multipath::Multipath;
use super::send_stream::SendStream;
use super::{Connection, MAIN_STREAM, Priority, Taken};
use crate::figures::{Figures, PathState};
use crate::mptcp::OpenRequest;
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

    #[inline]
    fn may_transmit(&mut self, now: Instant) -> bool {
        self.may_have_packet(now)
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
        let acknowledged = self.streams.send(MAIN_STREAM).map_or(0, |send| send.acknowledged());
        let admitted = self.stream.admit(bytes, acknowledged);
        match self.streams.send(MAIN_STREAM) {
            Some(_) => self.write_on(MAIN_STREAM, admitted),
            None => self.unopened.0 += admitted,
        }
        admitted
    }

    fn finish(&mut self) {
        self.stream.finished = true;
        match self.streams.send(MAIN_STREAM) {
            Some(_) => self.finish_stream(MAIN_STREAM),
            None => self.unopened.1 = true,
        }
    }

    fn stop(&mut self) {
        for stream in self.streams.open_streams() {
            let discarded = self.streams.change_send(stream, SendStream::discard_unsent).unwrap_or(0);
            match stream {
                MAIN_STREAM => self.stream.written -= discarded,
                _ => self.further.written -= discarded,
            }
            self.finish_stream(stream);
        }
        self.stream.written -= core::mem::take(&mut self.unopened.0);
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

    fn bytes_written(&self) -> u64 {
        self.stream.written + self.further.written
    }

    #[inline]
    fn bytes_received(&self) -> u64 {
        self.stream.received + self.further.received
    }

    fn bytes_read(&self) -> u64 {
        self.stream.bytes_read() + self.further.received
    }

    fn bytes_acknowledged(&self) -> u64 {
        self.streams.send(MAIN_STREAM).map_or(0, |send| send.acknowledged()) + self.further.acknowledged
    }

    fn open_stream(&mut self, priority: Priority) -> Option<u64> {
        (!self.is_server).then(|| Self::open_stream(self, priority).index())
    }

    fn write_on_stream(&mut self, number: u64, bytes: u64, priority: Priority) {
        self.set_priority(of_client(number), priority);
        self.write_on(of_client(number), bytes);
        self.finish_stream(of_client(number));
    }

    fn received_on_stream(&self, number: u64) -> Option<u64> {
        self.received_on(of_client(number)).map(|(bytes, _)| bytes)
    }

    fn receive_window(&self) -> Option<u64> {
        self.streams.receive(MAIN_STREAM).map(|receive| receive.window_left())
    }

    #[inline]
    fn ended(&self) -> Option<Closed> {
        Self::ended(self)
    }

    fn visit_taken(&self, _packet: &Packet, mut visit: impl FnMut(u64, Range<u64>)) {
        for Taken { stream, range, place } in &self.taken {
            visit(stream.index(), *place..place + (range.end - range.start));
        }
    }

    fn describe(&self, figures: &mut Figures) {
        let open = self.paths.iter().filter(|path| !path.is_closed());
        let open = open.map(|path| path.figures(path.recovery.window(&self.congestion)));
        let former = self.multipath.iter().flat_map(|multipath| multipath.former.iter().cloned());
        figures.paths = former.chain(open).collect();
        figures.reinjected_bytes = self.multipath.as_deref().map_or(0, |multipath| multipath.reinjected);
        figures.fallback = self.has_fallen_back();
    }

    fn is_single_path(&self) -> bool {
        self.config.multipath.is_none()
    }

    fn visit_paths(&self, mut visit: impl FnMut(PathState)) {
        let unacknowledged = self.streams.sent_in_all().saturating_sub(Socket::bytes_acknowledged(self));
        for (place, path) in self.paths.iter().enumerate().filter(|(_, path)| path.sends()) {
            let of_controller = self.congestion.path(place);
            let in_flight = path.recovery.in_flight();
            let outstanding = Outstanding { amount: in_flight, unit_bytes: self.datagram_size() };
            let rate = path.recovery.pacer.is_on().then(|| self.congestion.pacing_rate(place, outstanding));
            visit(PathState {
                number: path.id as usize,
                ends: path.ends,
                cwnd: of_controller.cwnd().into(),
                ssthresh: (of_controller.ssthresh() < Path::INFINITE).then(|| of_controller.ssthresh().into()),
                in_flight: in_flight.into(),
                flight_size: match self.config.multipath {
                    None => unacknowledged,
                    Some(_) => u64::from(in_flight) * u64::from(self.full_payload()),
                },
                srtt: path.rtt.srtt(),
                bytes_acknowledged: None,
                pacing_rate: rate.flatten(),
                model: self.congestion.model(place, outstanding.unit_bytes),
            });
        }
    }

    fn path_ends(&self) -> Vec<(usize, Ends)> {
        let open = self.paths.iter().filter(|path| !path.is_closed());
        open.map(|path| (path.id as usize, path.ends)).collect()
    }

    fn path_number(&self, ends: Ends, _place: &mut usize, _known: Option<usize>) -> Option<usize> {
        let mut open = self.paths.iter().filter(|path| !path.is_closed());
        open.find(|path| path.ends == ends).map(|path| path.id as usize)
    }

    fn bytes_received_on(&self, ends: Ends, _place: &mut usize) -> Option<u64> {
        let mut open = self.paths.iter().filter(|path| !path.is_closed());
        open.find(|path| path.ends == ends).map(|path| path.counters.bytes_received)
    }

    fn keep_notes(&mut self, _decisions: bool) {
        self.notes = Kept::new();
    }

    #[inline]
    fn has_notes(&self) -> bool {
        self.notes.as_ref().is_some_and(|notes| !notes.noted.is_empty())
    }

    fn take_notes(&mut self, into: &mut Vec<Noted>) {
        if let Some(notes) = &mut self.notes {
            into.append(&mut notes.noted);
        }
    }

    fn take_rtts(&mut self, mut each: impl FnMut(Ends, &[Duration])) {
        if let Some(notes) = &mut self.notes {
            notes.rtts.drain(..).for_each(|(ends, sample)| each(ends, &[sample]));
        }
    }

    fn add_local_address(&mut self, address: IpAddr, now: Instant) {
        self.on_address_added(address, now);
    }

    fn remove_local_address(&mut self, address: IpAddr, now: Instant) {
        self.on_address_removed(address, now);
    }

    fn request_subflow(&mut self, local: IpAddr, port: Option<u16>, remote: SocketAddr, backup: bool) {
        self.request_path(local, port, remote, backup);
    }

    fn has_open_requests(&self) -> bool {
        self.openable_requests() > 0
    }

    fn take_open_requests(&mut self) -> Vec<OpenRequest> {
        let most = self.openable_requests();
        self.multipath().map_or_else(Vec::new, |multipath| multipath.path_manager.take_requests(most))
    }

    fn open_subflow(&mut self, request: &OpenRequest, ends: Ends, now: Instant) -> Option<usize> {
        self.open_path(request, ends, now)
    }

    fn on_open_failed(&mut self, request: &OpenRequest, now: Instant) {
        Self::on_open_failed(self, request, now);
    }

    fn has_proven_peer(&self) -> bool {
        self.has_validated_address()
    }

    fn has_moved(&self) -> bool {
        let has_changes = |multipath: &Multipath| !multipath.id_changes.is_empty() || !multipath.new_ends.is_empty();
        self.multipath.as_deref().is_some_and(has_changes)
    }

    fn take_new_ends(&mut self) -> Vec<Ends> {
        self.multipath().map_or_else(Vec::new, |multipath| core::mem::take(&mut multipath.new_ends))
    }

    fn take_id_changes(&mut self) -> Vec<(ConnectionId, bool)> {
        self.multipath().map_or_else(Vec::new, |multipath| core::mem::take(&mut multipath.id_changes))
    }

    fn own_ids(&self) -> Vec<ConnectionId> {
        let Some(multipath) = &self.multipath else { return Vec::new() };
        let open = self.paths.iter().map(|path| &path.ids);
        open.chain(multipath.reserved.values()).flat_map(ConnectionIds::own).collect()
    }
}
