//! A host of our stack.

use std::sync::Arc;

use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;
use subflow_quantity::Instant;
use subflow_transport::quic::{Config, Opened, Priority, ResetKey};
use subflow_transport::tcp::Closed;
use subflow_transport::{EndpointId, Event, Host, StatelessReply};
use subflow_wire::quic::Frame;

use subflow_wire::{Body, Ecn, IpHeader, Packet, Payload, PayloadBytes, QuicDatagram, UdpDatagram};

use crate::application::Application;
use crate::node::{Datagram, End, FORGOTTEN_AFTER, Node, Role};

/// The key of stateless resets, which a server still has that has forgotten its connections.
const RESET_KEY: ResetKey = ResetKey([7; 32]);

/// A host of our stack with its application. The first stream is ended last: when all streams are over, so is the
/// connection.
pub(crate) struct Ours {
    host: Host,
    config: Arc<Config>,
    id: Option<EndpointId>,
    application: Application,
    role: Role,
    has_finished: bool,
    is_forgotten: bool,
    ended: Option<Closed>,
    key_updates: u64,
    /// Clients that it has asked for a token.
    retried: u64,
    replies: Vec<Datagram>,
}

impl Ours {
    pub(crate) fn new(config: Config, role: Role, application: Application, now: Instant) -> Self {
        let addresses = role.addresses.iter().map(|address| address.ip()).collect();
        let mut host = Host::new(addresses, Pcg64Mcg::seed_from_u64(role.seed));
        let retry_from = role.retries.then_some(0);
        let config = Arc::new(Config { retry_from, reset_key: Some(RESET_KEY), ..config });
        let id = match role.is_server {
            true => {
                host.listen(role.addresses[0].port(), config.clone().into());
                None
            }
            false => {
                let opened = host.connect_quic(config.clone(), role.addresses[0], role.peer[0], now);
                Some(opened.expect("the port is free"))
            }
        };
        let (ended, replies) = (None, Vec::new());
        let (has_finished, is_forgotten, key_updates, retried) = (false, false, 0, 0);
        let mut ours = Self {
            host,
            config,
            id,
            application,
            role,
            has_finished,
            is_forgotten,
            ended,
            key_updates,
            retried,
            replies,
        };
        ours.begin();
        ours
    }

    /// Writes what can be written from the start: everything of a client, and a server's first stream.
    fn begin(&mut self) {
        let Some(id) = self.id else { return };
        let endpoint = self.host.endpoint_mut(id);
        endpoint.write(self.application.length(0));
        if !self.role.is_server {
            for stream in 1..self.application.streams() {
                endpoint.open_stream(Priority::TURNS);
                endpoint.write_on_stream(stream, self.application.length(stream), Priority::TURNS);
            }
        }
        self.finish_last();
    }

    fn finish_last(&mut self) {
        if self.application.has_all_others()
            && !self.has_finished
            && let Some(id) = self.id
        {
            self.has_finished = true;
            self.host.endpoint_mut(id).finish();
        }
    }

    /// Checks the data that a datagram has brought.
    fn take(&mut self, id: EndpointId, opened: &Opened, bytes: &[u8]) -> Result<(), String> {
        let Some(connection) = self.host.endpoint(id).as_quic() else { return Ok(()) };
        let frames = opened.datagram.packets.iter().flat_map(|packet| &packet.frames);
        let with_data = frames.filter(|frame| frame.payload().is_some()).zip(&opened.data);
        let of_streams = with_data.filter_map(|(frame, range)| match frame {
            Frame::Stream(stream) => Some((stream, &bytes[range.clone()])),
            _ => None,
        });
        let of_streams: Vec<_> = of_streams.collect();
        for taken in connection.taken_data() {
            let holds = |(frame, data): &&(&subflow_wire::quic::StreamFrame, &[u8])| {
                let range = frame.offset..frame.offset + data.len() as u64;
                frame.stream == taken.stream && range.start <= taken.range.start && taken.range.end <= range.end
            };
            let (frame, data) = of_streams.iter().find(holds).ok_or("data was taken that has not arrived")?;
            let start = (taken.range.start - frame.offset) as usize;
            let end = (taken.range.end - frame.offset) as usize;
            self.application.take(taken.stream.index(), taken.range.start, &data[start..end])?;
        }
        Ok(())
    }

    /// The host is another one now, which knows nothing of the connection.
    fn forget(&mut self) {
        let addresses = self.role.addresses.iter().map(|address| address.ip()).collect();
        self.host = Host::new(addresses, Pcg64Mcg::seed_from_u64(!self.role.seed));
        self.host.listen(self.role.addresses[0].port(), self.config.clone().into());
        (self.id, self.role.forgets, self.is_forgotten) = (None, false, true);
    }

    fn advance(&mut self) {
        if self.role.forgets && self.application.received() >= FORGOTTEN_AFTER {
            self.forget();
        }
        let Some(id) = self.id else { return };
        while let Some(event) = self.host.poll_event(id) {
            match event {
                // A server answers on a stream as soon as it is open.
                Event::StreamBegun(stream) if self.role.is_server => {
                    let length = self.application.length(stream);
                    self.host.endpoint_mut(id).write_on_stream(stream, length, Priority::TURNS);
                }
                Event::Closed(how) => self.ended = Some(how),
                _ => {}
            }
        }
        self.finish_last();
        let is_due = self.role.updates_keys_after.is_some_and(|after| self.application.received() >= after);
        if is_due
            && let Some(connection) = self.host.endpoint_mut(id).as_quic_mut()
            && connection.update_keys()
        {
            (self.role.updates_keys_after, self.key_updates) = (None, self.key_updates + 1);
        }
    }

    fn datagram(&mut self, packet: &Packet, quic: &QuicDatagram) -> Result<Datagram, String> {
        let mut data = Vec::new();
        for frame in quic.packets.iter().flat_map(|packet| &packet.frames) {
            if let Frame::Stream(stream) = frame {
                let range = stream.offset..stream.offset + u64::from(stream.payload.length);
                data.extend(self.application.written(stream.stream.index(), range));
            }
        }
        let mut bytes = Vec::new();
        quic.emit(PayloadBytes::Bytes(&data), &mut bytes).map_err(|error| error.to_string())?;
        Ok(Datagram {
            from: (packet.ip.source, quic.source_port).into(),
            to: (packet.ip.destination, quic.destination_port).into(),
            ecn: packet.ip.ecn,
            bytes,
        })
    }
}

impl Node for Ours {
    fn receive(&mut self, now: Instant, datagram: Datagram) -> Result<(), String> {
        let Datagram { from, to, ecn, mut bytes } = datagram;
        let ip =
            IpHeader { source: from.ip(), destination: to.ip(), hop_limit: 60, dscp: subflow_wire::Dscp::DEFAULT, ecn };
        let payload = Payload { length: bytes.len() as u32, ..Payload::default() };
        let udp = UdpDatagram { source_port: from.port(), destination_port: to.port(), payload };
        let packet = Packet { ip, body: Body::Udp(udp) };
        let handled = self.host.handle_protected(now, &packet, &mut bytes);
        while let Some(id) = self.host.poll_accept() {
            if self.id.is_none() && !self.is_forgotten {
                self.id = Some(id);
                self.begin();
            }
        }
        while let Some(reply) = self.host.poll_reply() {
            if let Body::Quic(quic) = &reply.body {
                let reply = self.datagram(&reply, quic)?;
                self.replies.push(reply);
            }
        }
        while let Some(StatelessReply { ends, bytes }) = self.host.poll_stateless_reply() {
            // The first byte of a Retry packet has a form and a type; a reset looks like a short header.
            self.retried += u64::from(bytes[0] & 0xf0 == 0xf0);
            self.replies.push(Datagram { from: ends.local, to: ends.remote, ecn: Ecn::NotEct, bytes });
        }
        if let Some((id, opened)) = handled.filter(|(id, _)| self.id == Some(*id)) {
            self.take(id, &opened, &bytes)?;
        }
        self.advance();
        Ok(())
    }

    fn send(&mut self, now: Instant) -> Result<Option<Datagram>, String> {
        if let Some(reply) = self.replies.pop() {
            return Ok(Some(reply));
        }
        let Some(id) = self.id else { return Ok(None) };
        let Some(packet) = self.host.poll_transmit(now, id) else {
            self.advance();
            return Ok(None);
        };
        let Body::Quic(quic) = &packet.body else { return Err("a packet that is not QUIC".into()) };
        let mut datagram = self.datagram(&packet, quic)?;
        let connection = self.host.endpoint_mut(id).as_quic_mut().ok_or("the endpoint is not QUIC")?;
        connection.protect(quic, &mut datagram.bytes).map_err(|error| error.to_string())?;
        Ok(Some(datagram))
    }

    fn wake_at(&mut self) -> Option<Instant> {
        self.host.poll_timeout(self.id?)
    }

    fn wake(&mut self, now: Instant) -> Result<(), String> {
        if let Some(id) = self.id {
            self.host.handle_timeout(now, id);
            self.advance();
        }
        Ok(())
    }

    fn application(&self) -> &Application {
        &self.application
    }

    fn ended(&self) -> Option<End> {
        if self.is_forgotten {
            return Some(End::forgotten());
        }
        Some(match self.ended? {
            Closed::Gracefully => End::InOrder,
            Closed::TimedOut => End::TimedOut,
            Closed::Reset => End::Reset,
            how => End::Failed(format!("{how:?}")),
        })
    }

    fn key_updates(&self) -> u64 {
        self.key_updates
    }

    fn retried(&self) -> u64 {
        self.retried
    }
}
