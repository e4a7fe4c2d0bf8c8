//! One client: its request, the connection to the destination, and the bytes between them.

use std::io::{self, ErrorKind};
use std::time::Duration;

use rustix::net::sockopt;
use subflow_tokio::{MptcpStream, Stack};
use tokio::io::{AsyncWriteExt, copy_bidirectional_with_sizes};
use tokio::net::TcpStream;

use crate::clients::Asked;
use crate::destination::{interleaved, without_own};
use crate::request;
use crate::socks::Destination;

/// Bytes that are copied at once, in each direction.
const COPY: usize = 64 << 10;
/// Time for name resolution and connecting together.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time without a packet of a client after which it is asked for one (`TCP_KEEPIDLE`).
const IDLE: Duration = Duration::from_secs(180);
/// Time between questions that are not answered.
const PROBE_INTERVAL: Duration = Duration::from_secs(30);
/// The connection ends after as many.
const PROBES: u32 = 4;

/// Serves a client until both streams have ended, or one is reset: then so is the other.
pub(crate) async fn serve(stack: Stack, mut client: TcpStream, asked: Asked) {
    // What comes from one side is to leave on the other at once.
    let _ = client.set_nodelay(true);
    let _ = keep_alive(&client);
    let Some(request) = request::read(&mut client).await else { return };
    asked.set();
    let connecting = tokio::time::timeout(PATIENCE, connect(&stack, &request.destination)).await;
    let connected = connecting.unwrap_or_else(|_| Err(ErrorKind::TimedOut.into()));
    match &connected {
        Ok(server) => log::debug!("{}: connected, to {}", request.destination, server.peer_addr()),
        Err(error) => log::info!("{}: not connected: {error}", request.destination),
    }
    let answer = request.protocol.answer(connected.as_ref().map(|_| ()).map_err(io::Error::kind));
    let answered = client.write_all(&answer).await;
    let Ok(mut server) = connected else { return request::close(&mut client).await };
    let mut client = Relayed { client, has_ended: false };
    let relayed = match answered.and(server.write_all(&request.rest).await) {
        Ok(()) => copy_bidirectional_with_sizes(&mut client.client, &mut server, COPY, COPY).await.map(drop),
        Err(error) => Err(error),
    };
    client.has_ended = relayed.is_ok();
    match &relayed {
        Ok(()) => log::debug!("{}: ended", request.destination),
        Err(error) => log::debug!("{}: reset: {error}", request.destination),
    }
    if relayed.is_err() {
        server.abort();
    }
}

/// Lets the kernel find out that an idle client is gone: it must not have its place for ever.
fn keep_alive(client: &TcpStream) -> rustix::io::Result<()> {
    sockopt::set_tcp_keepidle(client, IDLE)?;
    sockopt::set_tcp_keepintvl(client, PROBE_INTERVAL)?;
    sockopt::set_tcp_keepcnt(client, PROBES)?;
    sockopt::set_socket_keepalive(client, true)
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
    let remotes = without_own(interleaved(&addresses)).await?;
    if remotes.is_empty() {
        return Err(if addresses.is_empty() { ErrorKind::NotFound } else { ErrorKind::PermissionDenied }.into());
    }
    stack.connect_any(&remotes).await
}
