//! Hosts of quinn-proto and of noq-proto: what differs between both.

/// A host of quinn-proto.
#[allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "it counts its time so, which is virtual here")]
pub(crate) mod quinn {
    use bytes::BytesMut;
    use quinn_proto::HashedConnectionIdGenerator;

    crate::others::node_of!(Quinn, quinn_proto);

    /// Its own defaults, and an idle timeout that is ours.
    fn transport(_: &Role) -> TransportConfig {
        TransportConfig::default()
    }

    fn issue_identifiers(config: &mut EndpointConfig, key: u64) {
        config.cid_generator(move || Box::new(HashedConnectionIdGenerator::from_key(key)));
    }

    fn endpoint(config: Arc<EndpointConfig>, server: Option<Arc<ServerConfig>>) -> Endpoint {
        Endpoint::new(config, server, true, None)
    }

    fn handle(
        endpoint: &mut Endpoint,
        at: StdInstant,
        datagram: Datagram,
        answer: &mut Vec<u8>,
    ) -> Option<DatagramEvent> {
        let Datagram { from, to, ecn, bytes } = datagram;
        let ecn = EcnCodepoint::from_bits(ecn as u8);
        endpoint.handle(at, from, Some(to.ip()), ecn, BytesMut::from(&bytes[..]), answer)
    }

    fn poll_transmit(connection: &mut Connection, at: StdInstant, bytes: &mut Vec<u8>) -> Option<Transmit> {
        connection.poll_transmit(at, 1, bytes)
    }

    /// It has one path.
    fn open_paths(_: &mut Connection, _: &Role, _: StdInstant) {}
}

/// A host of noq-proto, which has several paths.
#[allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "it counts its time so, which is virtual here")]
pub(crate) mod noq {
    use core::num::NonZeroUsize;

    use bytes::BytesMut;
    use noq_proto::{FourTuple, HashedConnectionIdGenerator, PathStatus};

    crate::others::node_of!(Noq, noq_proto);

    /// Its own defaults, with as many paths as there are addresses.
    fn transport(role: &Role) -> TransportConfig {
        let mut config = TransportConfig::default();
        if role.addresses.len() > 1 {
            config.max_concurrent_multipath_paths(8);
        }
        config
    }

    fn issue_identifiers(config: &mut EndpointConfig, key: u64) {
        config.cid_generator(Arc::new(move || Box::new(HashedConnectionIdGenerator::from_key(key))));
    }

    fn endpoint(config: Arc<EndpointConfig>, server: Option<Arc<ServerConfig>>) -> Endpoint {
        Endpoint::new(config, server, true)
    }

    fn handle(
        endpoint: &mut Endpoint,
        at: StdInstant,
        datagram: Datagram,
        answer: &mut Vec<u8>,
    ) -> Option<DatagramEvent> {
        let Datagram { from, to, ecn, bytes } = datagram;
        let (path, ecn) = (FourTuple::new(from, Some(to.ip())), EcnCodepoint::from_bits(ecn as u8));
        endpoint.handle(at, path, ecn, BytesMut::from(&bytes[..]), answer)
    }

    fn poll_transmit(connection: &mut Connection, at: StdInstant, bytes: &mut Vec<u8>) -> Option<Transmit> {
        connection.poll_transmit(at, NonZeroUsize::MIN, bytes)
    }

    /// Opens the paths between further addresses, as soon as that is possible.
    fn open_paths(connection: &mut Connection, role: &Role, at: StdInstant) {
        for (local, remote) in role.addresses.iter().zip(&role.peer).skip(1) {
            // An error says that it is too early: the peer's identifiers have not arrived.
            let _ = connection.open_path_ensure(FourTuple::new(*remote, Some(local.ip())), PathStatus::Available, at);
        }
    }
}
