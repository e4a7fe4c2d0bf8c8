//! One client: its request, the connection to the destination, and the bytes between them.

use std::io::{self, ErrorKind};
use std::time::Duration;

use subflow_tokio::{MptcpStream, Stack};
use tokio::io::{AsyncWriteExt, copy_bidirectional_with_sizes};
use tokio::net::TcpStream;

use crate::clients::Asked;
use crate::destination::{interleaved, without_own};
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
    let remotes = without_own(interleaved(&addresses)).await?;
    if remotes.is_empty() {
        return Err(if addresses.is_empty() { ErrorKind::NotFound } else { ErrorKind::PermissionDenied }.into());
    }
    stack.connect_any(&remotes).await
}
