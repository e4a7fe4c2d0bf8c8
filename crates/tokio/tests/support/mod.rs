//! Two stacks and the paths between them.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::task::{Context, Poll};

use subflow_tokio::{Device, MemoryDevice, MemoryLink, Options, Path, Received, Stack, pair};
use subflow_wire::icmp::{IcmpError, IcmpKind, Quoted, Unreachable};
use subflow_wire::{Body, PROTOCOL_TCP, Packet, PayloadBytes};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

pub(crate) struct Setup {
    pub(crate) client: Stack,
    pub(crate) server: Stack,
    pub(crate) client_addresses: Vec<IpAddr>,
    links: Vec<MemoryDevice>,
    devices: Vec<Arc<dyn Device>>,
}

/// Who has the client's ends of the links.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Client {
    Ours,
    Another,
}

/// Removes the MPTCP options of what it sends.
struct WithoutMptcp(MemoryDevice);

impl Device for WithoutMptcp {
    fn poll_receive(&self, context: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<Received>> {
        self.0.poll_receive(context, buffer)
    }

    fn send(&self, packet: &[u8]) -> io::Result<bool> {
        let (mut parsed, payload) = Packet::parse(packet).expect("ours are well-formed");
        if let Body::Tcp(segment) = &mut parsed.body {
            segment.options.dss = None;
            segment.options.mptcp.clear();
        }
        let mut bytes = Vec::new();
        parsed.emit(PayloadBytes::Bytes(&packet[payload]), 0, &mut bytes).expect("it is shorter");
        self.0.send(&bytes)
    }
}

/// Answers every packet with an ICMP error: a router has no route to the destination.
struct WithoutRoute {
    own: MemoryDevice,
    far: MemoryDevice,
}

impl Device for WithoutRoute {
    fn poll_receive(&self, context: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<Received>> {
        self.own.poll_receive(context, buffer)
    }

    fn send(&self, packet: &[u8]) -> io::Result<bool> {
        let (sent, _) = Packet::parse(packet).expect("ours are well-formed");
        let (source, destination) = (sent.ip.source, sent.ip.destination);
        let quoted = Quoted {
            source,
            destination,
            protocol: PROTOCOL_TCP,
            length: packet.len() as u32,
            transport: packet[20..40].to_vec(),
        };
        let error = IcmpError { kind: IcmpKind::Unreachable(Unreachable::Network), quoted };
        let mut bytes = Vec::new();
        error.emit(IpAddr::from([192, 0, 2, 1]), &mut bytes).expect("it is short");
        self.far.send(&bytes)
    }
}

/// A stack whose paths all lead to routers without a route.
pub(crate) fn without_routes(paths: u8) -> Stack {
    let path = |number: u8| {
        let (own, far) = pair(MemoryLink::default());
        Path::new(WithoutRoute { own, far }, [IpAddr::from([10, number, 0, 1])])
    };
    Stack::new((0..paths).map(path).collect(), Options::default()).expect("random numbers")
}

/// A device that a stack and a test have.
struct Shared(Arc<dyn Device>);

impl Device for Shared {
    fn poll_receive(&self, context: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<Received>> {
        self.0.poll_receive(context, buffer)
    }

    fn send(&self, packet: &[u8]) -> io::Result<bool> {
        self.0.send(packet)
    }
}

/// The server's device: it sends to each client address on the path of that address.
struct Switch(Vec<MemoryDevice>);

impl Device for Switch {
    fn poll_receive(&self, context: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<Received>> {
        let received = self.0.iter().map(|device| device.poll_receive(context, buffer)).find(Poll::is_ready);
        received.unwrap_or(Poll::Pending)
    }

    fn send(&self, packet: &[u8]) -> io::Result<bool> {
        // The second byte of an IPv4 destination.
        self.0[usize::from(packet[17])].send(packet)
    }
}

impl Setup {
    pub(crate) fn new(links: &[MemoryLink]) -> Self {
        Self::with(links, Client::Ours, false)
    }

    pub(crate) fn without_mptcp(links: &[MemoryLink]) -> Self {
        Self::with(links, Client::Ours, true)
    }

    /// For a client of another implementation, which sends and receives through [`Self::device`].
    pub(crate) fn for_another(links: &[MemoryLink]) -> Self {
        Self::with(links, Client::Another, false)
    }

    /// The same, with a path that removes MPTCP's options.
    pub(crate) fn for_another_without_mptcp(links: &[MemoryLink]) -> Self {
        Self::with(links, Client::Another, true)
    }

    fn with(links: &[MemoryLink], of: Client, strip: bool) -> Self {
        let (mut servers, mut ends, mut devices) = (Vec::new(), Vec::new(), Vec::<Arc<dyn Device>>::new());
        let address = |path: usize, host: u8| IpAddr::from([10, path as u8, 0, host]);
        for &link in links {
            let (client, server) = pair(link);
            ends.push(client.clone());
            devices.push(if strip { Arc::new(WithoutMptcp(client)) } else { Arc::new(client) });
            servers.push(server);
        }
        let own = devices.iter().map(|device| match of {
            Client::Ours => Shared(Arc::clone(device)),
            // Nothing arrives there.
            Client::Another => Shared(Arc::new(pair(MemoryLink::default()).0)),
        });
        let clients = own.enumerate().map(|(number, device)| Path::new(device, [address(number, 1)])).collect();
        let servers = vec![Path::new(Switch(servers), [address(0, 2)])];
        Self {
            client: Stack::new(clients, Options::default()).expect("random numbers"),
            server: Stack::new(servers, Options::default()).expect("random numbers"),
            client_addresses: (0..links.len()).map(|path| address(path, 1)).collect(),
            links: ends,
            devices,
        }
    }

    /// The client's end of a link.
    pub(crate) fn device(&self, path: usize) -> &dyn Device {
        &*self.devices[path]
    }

    pub(crate) fn cut(&self, path: usize, cut: bool) {
        self.links[path].set_cut(cut);
    }

    pub(crate) fn address(&self, port: u16) -> SocketAddr {
        SocketAddr::from(([10, 0, 0, 2], port))
    }
}

/// Bytes that differ at every offset of a long stretch.
pub(crate) fn pattern(seed: u64, length: usize) -> Vec<u8> {
    let byte = |offset: u64| ((offset + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8;
    (0..length as u64).map(byte).collect()
}

pub(crate) async fn send(stream: &mut (impl AsyncWrite + Unpin), length: usize, seed: u64) {
    stream.write_all(&pattern(seed, length)).await.expect("writes");
    stream.shutdown().await.expect("ends its stream");
}

pub(crate) async fn receive(stream: &mut (impl AsyncRead + Unpin)) -> Vec<u8> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await.expect("reads to the end");
    bytes
}
