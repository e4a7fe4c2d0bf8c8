//! One client: its request, the connection to the destination, and the bytes between them.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use subflow_tokio::{MptcpStream, Stack};
use tokio::io::{AsyncWriteExt, copy_bidirectional_with_sizes};
use tokio::net::TcpStream;

use crate::clients::Asked;
use crate::request::{self, Destination};

/// Bytes that are copied at once, in each direction.
const COPY: usize = 64 << 10;
/// Time for name resolution and connecting together.
const PATIENCE: Duration = Duration::from_secs(60);

/// Serves a client until both streams have ended, or one is reset: then so is the other.
pub(crate) async fn serve(stack: Stack, mut client: TcpStream, asked: Asked) {
    // What comes from one side is to leave on the other at once.
    let _ = client.set_nodelay(true);
    let Some(request) = request::read(&mut client).await else { return };
    asked.set();
    let connecting = tokio::time::timeout(PATIENCE, connect(&stack, &request.destination)).await;
    let connected = connecting.unwrap_or_else(|_| Err(ErrorKind::TimedOut.into()));
    let answer = request.protocol.answer(connected.as_ref().map(|_| ()).map_err(io::Error::kind));
    let answered = client.write_all(&answer).await;
    let Ok(mut server) = connected else {
        let _ = client.shutdown().await;
        return;
    };
    let mut client = Relayed { client, has_ended: false };
    let relayed = match answered.and(server.write_all(&request.rest).await) {
        Ok(()) => copy_bidirectional_with_sizes(&mut client.client, &mut server, COPY, COPY).await.map(drop),
        Err(error) => Err(error),
    };
    client.has_ended = relayed.is_ok();
    if relayed.is_err() {
        server.abort();
    }
}

/// A client with a connection to a server. It is reset if it is dropped before both have ended, as at the end of the
/// proxy: an application must not take a part of a stream for the whole.
struct Relayed {
    client: TcpStream,
    has_ended: bool,
}

impl Drop for Relayed {
    fn drop(&mut self) {
        if !self.has_ended {
            // With this the kernel resets the connection when it is dropped.
            let _ = self.client.set_zero_linger();
        }
    }
}

async fn connect(stack: &Stack, destination: &Destination) -> io::Result<MptcpStream> {
    let addresses = match destination {
        Destination::Address(address) => vec![*address],
        Destination::Name(name, port) => {
            let found = tokio::net::lookup_host((name.as_str(), *port)).await;
            found.map_err(|error| io::Error::new(ErrorKind::NotFound, error))?.collect()
        }
    };
    let remotes = interleaved(&addresses);
    if remotes.is_empty() {
        return Err(if addresses.is_empty() { ErrorKind::NotFound } else { ErrorKind::PermissionDenied }.into());
    }
    stack.connect_any(&remotes).await
}

/// The addresses that packets of a path can reach, families in turns (RFC 8305, section 4).
fn interleaved(addresses: &[SocketAddr]) -> Vec<SocketAddr> {
    let reachable = addresses.iter().copied().filter(|address| is_remote(address.ip().to_canonical()));
    let reachable = reachable.map(|address| SocketAddr::new(address.ip().to_canonical(), address.port()));
    let (mut first, mut second): (Vec<_>, Vec<_>) =
        reachable.partition(|address| addresses.first().is_some_and(|first| first.is_ipv4() == address.is_ipv4()));
    let mut order = Vec::new();
    first.reverse();
    second.reverse();
    while !first.is_empty() || !second.is_empty() {
        order.extend(first.pop());
        order.extend(second.pop());
    }
    order
}

/// Whether an address may be that of another host: a client must not reach this machine's loopback through the proxy.
fn is_remote(address: IpAddr) -> bool {
    let is_link_local_v6 = matches!(address, IpAddr::V6(v6) if v6.is_unicast_link_local());
    let is_broadcast = matches!(address, IpAddr::V4(v4) if v4.is_broadcast());
    !(address.is_loopback() || address.is_unspecified() || address.is_multicast() || is_broadcast || is_link_local_v6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_take_turns_and_this_machine_is_left_out() {
        let addresses =
            |list: &[&str]| -> Vec<SocketAddr> { list.iter().map(|text| text.parse().expect("an address")).collect() };
        let found = ["[2001:db8::1]:1", "[2001:db8::2]:1", "[::1]:1", "10.0.0.1:1", "127.0.0.2:1", "[fe80::1]:1"];
        let order = addresses(&["[2001:db8::1]:1", "10.0.0.1:1", "[2001:db8::2]:1"]);
        assert_eq!(interleaved(&addresses(&found)), order);
        assert_eq!(interleaved(&addresses(&["[::ffff:127.0.0.1]:1", "0.0.0.0:1"])), []);
    }
}
