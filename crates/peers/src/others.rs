//! What hosts of quinn-proto and of noq-proto have in common: the second is made of the first, and has several paths.

/// Defines `Node` for a stack that is made like quinn-proto, whose crate is `$stack`. The module has what differs: `endpoint`,
/// `handle`, `poll_transmit` and `open_paths`.
macro_rules! node_of {
    ($name:ident, $stack:ident) => {
        use std::collections::{BTreeMap, VecDeque};
        use std::sync::Arc;
        use std::time::{Duration as StdDuration, Instant as StdInstant};

        use subflow_quantity::{Duration, Instant};
        use subflow_wire::Ecn;
        use $stack::{
            ClientConfig, Connection, ConnectionError, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint,
            EndpointConfig, Event, ReadError, ServerConfig, Side, StreamEvent, StreamId, Transmit, TransportConfig,
            VarInt, WriteError,
        };

        use crate::application::Application;
        use crate::certificate::SERVER_NAME;
        use crate::node::{Datagram, End, FORGOTTEN_AFTER, Node, Role};

        /// The error with which an application closes a connection that has done its work.
        const NO_ERROR: VarInt = VarInt::from_u32(0);

        /// A host with its application.
        pub(crate) struct $name {
            endpoint: Endpoint,
            config: Arc<EndpointConfig>,
            connection: Option<(ConnectionHandle, Connection)>,
            application: Application,
            role: Role,
            /// The beginning of its time, as it counts it.
            epoch: StdInstant,
            outgoing: VecDeque<Datagram>,
            is_connected: bool,
            /// Bytes written by stream, and whether the stream is ended, and all of it acknowledged.
            written: BTreeMap<u64, Sending>,
            ended: Option<End>,
            key_updates: u64,
            retried: u64,
        }

        #[derive(Clone, Copy, Debug, Default)]
        struct Sending {
            bytes: u64,
            is_finished: bool,
            is_acknowledged: bool,
        }

        impl $name {
            pub(crate) fn server(tls: rustls::ServerConfig, role: Role, application: Application) -> Self {
                let crypto = $stack::crypto::rustls::QuicServerConfig::try_from(tls).expect("it has AES");
                let mut config = ServerConfig::with_crypto(Arc::new(crypto));
                config.transport_config(Arc::new(transport(&role)));
                Self::new(Some(config), role, application)
            }

            pub(crate) fn client(
                tls: rustls::ClientConfig,
                role: Role,
                application: Application,
                now: Instant,
            ) -> Self {
                let crypto = $stack::crypto::rustls::QuicClientConfig::try_from(tls).expect("it has AES");
                let mut config = ClientConfig::new(Arc::new(crypto));
                config.transport_config(Arc::new(transport(&role)));
                let mut client = Self::new(None, role, application);
                let (at, remote) = (client.at(now), client.role.peer[0]);
                let opened = client.endpoint.connect(at, config, remote, SERVER_NAME);
                client.connection = Some(opened.expect("the address is one of unicast"));
                client
            }

            fn new(server: Option<ServerConfig>, role: Role, application: Application) -> Self {
                let mut config = EndpointConfig::default();
                let mut seed = [0; 32];
                seed[..8].copy_from_slice(&role.seed.to_be_bytes());
                config.rng_seed(Some(seed));
                // The same for a host that has forgotten everything.
                issue_identifiers(&mut config, role.seed);
                let config = Arc::new(config);
                Self {
                    endpoint: endpoint(config.clone(), server.map(Arc::new)),
                    config,
                    connection: None,
                    application,
                    role,
                    epoch: StdInstant::now(),
                    outgoing: VecDeque::new(),
                    is_connected: false,
                    written: BTreeMap::new(),
                    ended: None,
                    key_updates: 0,
                    retried: 0,
                }
            }

            fn at(&self, now: Instant) -> StdInstant {
                self.epoch + StdDuration::from_nanos(now.as_nanos())
            }

            fn answer(&mut self, transmit: &Transmit, bytes: Vec<u8>) {
                let from = self.role.addresses[0];
                let from = transmit.src_ip.map_or(from, |ip| (ip, from.port()).into());
                let ecn = match transmit.ecn {
                    None => Ecn::NotEct,
                    Some(EcnCodepoint::Ect0) => Ecn::Ect0,
                    Some(EcnCodepoint::Ect1) => Ecn::Ect1,
                    Some(EcnCodepoint::Ce) => Ecn::CongestionExperienced,
                };
                self.outgoing.push_back(Datagram { from, to: transmit.destination, ecn, bytes });
            }

            /// Does what the application does, and what the connection asks the endpoint for.
            fn advance(&mut self, now: Instant) -> Result<(), String> {
                let at = self.at(now);
                let Some((handle, connection)) = &mut self.connection else { return Ok(()) };
                while let Some(event) = connection.poll_endpoint_events() {
                    if let Some(event) = self.endpoint.handle_event(*handle, event) {
                        connection.handle_event(event);
                    }
                }
                while let Some(event) = connection.poll() {
                    match event {
                        Event::Connected => self.is_connected = true,
                        Event::Stream(StreamEvent::Finished { id }) => {
                            self.written.entry(id.index()).or_default().is_acknowledged = true;
                        }
                        Event::ConnectionLost { reason } => {
                            self.ended = Some(match reason {
                                ConnectionError::ApplicationClosed(close) if close.error_code == NO_ERROR => {
                                    End::InOrder
                                }
                                ConnectionError::LocallyClosed => End::InOrder,
                                ConnectionError::TimedOut => End::TimedOut,
                                ConnectionError::Reset => End::Reset,
                                reason => End::Failed(format!("{reason:?}")),
                            });
                        }
                        _ => {}
                    }
                }
                if !self.is_connected {
                    return Ok(());
                }
                if self.role.is_server {
                    while let Some(id) = connection.streams().accept(Dir::Bi) {
                        self.written.entry(id.index()).or_default();
                    }
                } else {
                    while (self.written.len() as u64) < self.application.streams() {
                        let Some(id) = connection.streams().open(Dir::Bi) else { break };
                        self.written.entry(id.index()).or_default();
                    }
                    open_paths(connection, &self.role, at);
                }
                self.read_all()?;
                if self.role.forgets && self.application.received() >= FORGOTTEN_AFTER {
                    // With the same key, which tells the tokens of stateless resets.
                    (self.endpoint, self.connection) = (endpoint(self.config.clone(), None), None);
                    self.ended = Some(End::forgotten());
                    return Ok(());
                }
                if self.ended.is_none() {
                    self.write_all()?;
                    self.update_keys();
                    self.close(at);
                }
                Ok(())
            }

            fn read_all(&mut self) -> Result<(), String> {
                let Some((_, connection)) = &mut self.connection else { return Ok(()) };
                for &stream in self.written.keys() {
                    let mut incoming = connection.recv_stream(StreamId::new(Side::Client, Dir::Bi, stream));
                    let Ok(mut chunks) = incoming.read(true) else { continue };
                    loop {
                        match chunks.next(usize::MAX) {
                            Ok(Some(chunk)) => self.application.take(stream, chunk.offset, &chunk.bytes)?,
                            Ok(None) | Err(ReadError::Blocked) => break,
                            Err(ReadError::Reset(code)) => return Err(format!("stream {stream} was reset: {code}")),
                        }
                    }
                    let _ = chunks.finalize();
                }
                Ok(())
            }

            fn write_all(&mut self) -> Result<(), String> {
                let Some((_, connection)) = &mut self.connection else { return Ok(()) };
                for (&stream, sending) in &mut self.written {
                    let length = self.application.length(stream);
                    let mut outgoing = connection.send_stream(StreamId::new(Side::Client, Dir::Bi, stream));
                    while sending.bytes < length {
                        let end = length.min(sending.bytes + 10_000);
                        match outgoing.write(&self.application.written(stream, sending.bytes..end)) {
                            Ok(written) => sending.bytes += written as u64,
                            Err(WriteError::Blocked) => break,
                            Err(error) => return Err(format!("stream {stream} cannot be written: {error}")),
                        }
                    }
                    let may_finish = stream > 0 || self.application.has_all_others();
                    if sending.bytes == length && !sending.is_finished && may_finish {
                        outgoing.finish().map_err(|error| format!("stream {stream} cannot be ended: {error}"))?;
                        sending.is_finished = true;
                    }
                }
                Ok(())
            }

            fn update_keys(&mut self) {
                let is_due = self.role.updates_keys_after.is_some_and(|after| self.application.received() >= after);
                if is_due && let Some((_, connection)) = &mut self.connection {
                    connection.force_key_update();
                    (self.role.updates_keys_after, self.key_updates) = (None, self.key_updates + 1);
                }
            }

            fn close(&mut self, at: StdInstant) {
                let is_done = self.application.has_all()
                    && self.written.len() as u64 == self.application.streams()
                    && self.written.values().all(|sending| sending.is_acknowledged);
                if is_done
                    && self.role.closes
                    && let Some((_, connection)) = &mut self.connection
                {
                    connection.close(at, NO_ERROR, Default::default());
                    self.ended = Some(End::InOrder);
                }
            }
        }

        impl Node for $name {
            fn receive(&mut self, now: Instant, datagram: Datagram) -> Result<(), String> {
                let at = self.at(now);
                let mut answer = Vec::new();
                match handle(&mut self.endpoint, at, datagram, &mut answer) {
                    Some(DatagramEvent::ConnectionEvent(of, event)) => {
                        if let Some((_, connection)) = self.connection.as_mut().filter(|(handle, _)| *handle == of) {
                            connection.handle_event(event);
                        }
                    }
                    Some(DatagramEvent::NewConnection(incoming))
                        if self.role.retries && incoming.may_retry() && self.connection.is_none() =>
                    {
                        let transmit = self.endpoint.retry(incoming, &mut answer);
                        let transmit = transmit.map_err(|error| error.to_string())?;
                        answer.truncate(transmit.size);
                        self.answer(&transmit, answer);
                        self.retried += 1;
                    }
                    Some(DatagramEvent::NewConnection(incoming)) if self.connection.is_none() => {
                        match self.endpoint.accept(incoming, at, &mut answer, None) {
                            Ok(accepted) => self.connection = Some(accepted),
                            // A first packet that was damaged on the way is refused; it will come again.
                            Err(error) => {
                                if let Some(transmit) = error.response {
                                    answer.truncate(transmit.size);
                                    self.answer(&transmit, answer);
                                }
                            }
                        }
                    }
                    // A repetition of the first packet after the connection's end.
                    Some(DatagramEvent::NewConnection(incoming)) => self.endpoint.ignore(incoming),
                    Some(DatagramEvent::Response(transmit)) => {
                        answer.truncate(transmit.size);
                        self.answer(&transmit, answer);
                    }
                    None => {}
                }
                self.advance(now)
            }

            fn send(&mut self, now: Instant) -> Result<Option<Datagram>, String> {
                if self.outgoing.is_empty() {
                    let at = self.at(now);
                    let mut bytes = Vec::new();
                    let connection = self.connection.as_mut().map(|(_, connection)| connection);
                    if let Some(transmit) = connection.and_then(|it| poll_transmit(it, at, &mut bytes)) {
                        self.answer(&transmit, bytes);
                    } else {
                        self.advance(now)?;
                    }
                }
                Ok(self.outgoing.pop_front())
            }

            fn wake_at(&mut self) -> Option<Instant> {
                let (_, connection) = self.connection.as_mut()?;
                let at = connection.poll_timeout()?;
                let since = at.saturating_duration_since(self.epoch);
                Some(Instant::ZERO + Duration::from_nanos(since.as_nanos() as u64))
            }

            fn wake(&mut self, now: Instant) -> Result<(), String> {
                let at = self.at(now);
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_timeout(at);
                }
                self.advance(now)
            }

            fn application(&self) -> &Application {
                &self.application
            }

            fn ended(&self) -> Option<End> {
                self.ended.clone()
            }

            fn key_updates(&self) -> u64 {
                self.key_updates
            }

            fn retried(&self) -> u64 {
                self.retried
            }
        }
    };
}
pub(crate) use node_of;
