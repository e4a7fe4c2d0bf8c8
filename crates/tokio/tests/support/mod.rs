//! Two stacks and the paths between them.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::task::{Context, Poll};

use subflow_tokio::{Device, MemoryDevice, MemoryLink, Options, Path, Received, Stack, pair};
use subflow_wire::{Body, Packet, PayloadBytes};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

pub(crate) struct Setup {
    pub(crate) client: Stack,
    pub(crate) server: Stack,
    pub(crate) client_addresses: Vec<IpAddr>,
    links: Vec<MemoryDevice>,
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
        Self::with(links, false)
    }

    pub(crate) fn without_mptcp(links: &[MemoryLink]) -> Self {
        Self::with(links, true)
    }

    fn with(links: &[MemoryLink], strip: bool) -> Self {
        let (mut clients, mut servers, mut devices) = (Vec::new(), Vec::new(), Vec::new());
        let address = |path: usize, host: u8| IpAddr::from([10, path as u8, 0, host]);
        for (number, &link) in links.iter().enumerate() {
            let (client, server) = pair(link);
            devices.push(client.clone());
            clients.push(match strip {
                true => Path::new(WithoutMptcp(client), [address(number, 1)]),
                false => Path::new(client, [address(number, 1)]),
            });
            servers.push(server);
        }
        let servers = vec![Path::new(Switch(servers), [address(0, 2)])];
        Self {
            client: Stack::new(clients, Options::default()).expect("random numbers"),
            server: Stack::new(servers, Options::default()).expect("random numbers"),
            client_addresses: (0..links.len()).map(|path| address(path, 1)).collect(),
            links: devices,
        }
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
