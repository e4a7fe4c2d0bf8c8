//! What a client asks for, in either protocol.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::socks::{Destination, Parsed};
use crate::{http, socks};

/// The time that a client has for its request.
const PATIENCE: Duration = Duration::from_secs(10);
/// Most bytes of a request. What follows it in the same packets counts.
const LONGEST: usize = 16 << 10;

/// The time that a client has for closing its connection, after an answer that is the last.
const FAREWELL: Duration = Duration::from_secs(1);
/// Most bytes that are discarded meanwhile.
const MOST_DISCARDED: u64 = 256 << 10;

/// The protocol of a client, for the answer to its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Socks,
    Http,
}

impl Protocol {
    /// The answer once it is known whether the destination could be reached.
    pub(crate) fn answer(self, outcome: Result<(), std::io::ErrorKind>) -> Vec<u8> {
        match self {
            Self::Socks => socks::answer(outcome),
            Self::Http => http::answer(outcome),
        }
    }
}

/// A request that was read completely.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) protocol: Protocol,
    pub(crate) destination: Destination,
    /// What the client has sent after it.
    pub(crate) rest: Vec<u8>,
}

/// Reads the request of a client. `None` if it is slow, gone or refused; it has its answer then.
pub(crate) async fn read(client: &mut TcpStream) -> Option<Request> {
    tokio::time::timeout(PATIENCE, read_patiently(client)).await.ok().flatten()
}

async fn read_patiently(client: &mut TcpStream) -> Option<Request> {
    let mut buffer = Vec::new();
    let protocol = loop {
        match buffer.first() {
            Some(&socks::VERSION) => break Protocol::Socks,
            Some(_) => break Protocol::Http,
            None => fill(client, &mut buffer).await?,
        }
    };
    if protocol == Protocol::Socks {
        let reply = step(client, &mut buffer, socks::greeting).await?;
        client.write_all(&reply).await.ok()?;
    }
    let parse = if protocol == Protocol::Socks { socks::request } else { http::request };
    let destination = step(client, &mut buffer, parse).await?;
    Some(Request { protocol, destination, rest: buffer })
}

/// Reads until `parse` has what it needs, and removes that from `buffer`.
async fn step<T>(client: &mut TcpStream, buffer: &mut Vec<u8>, parse: impl Fn(&[u8]) -> Parsed<T>) -> Option<T> {
    loop {
        match parse(buffer) {
            Parsed::Complete(value, length) => {
                buffer.drain(..length);
                return Some(value);
            }
            Parsed::Refused(answer) => {
                let _ = client.write_all(&answer).await;
                close(client).await;
                return None;
            }
            Parsed::Incomplete => fill(client, buffer).await?,
        }
    }
}

/// Closes a connection after the last answer. If the client has sent more than was read the kernel would reset it at
/// once, and the client might lose the answer: so that is read first, for a while.
pub(crate) async fn close(client: &mut TcpStream) {
    let _ = client.shutdown().await;
    let mut rest = client.take(MOST_DISCARDED);
    let _ = tokio::time::timeout(FAREWELL, tokio::io::copy(&mut rest, &mut tokio::io::sink())).await;
}

/// Reads more bytes. `None` at the end, or if there are too many.
async fn fill(client: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<()> {
    let room = LONGEST.checked_sub(buffer.len()).filter(|&room| room > 0)?;
    let read = client.take(room as u64).read_buf(buffer).await.ok()?;
    (read > 0).then_some(())
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn a_client_that_has_sent_much_gets_its_refusal_and_no_reset() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let mut client = TcpStream::connect(listener.local_addr().expect("it has one")).await.expect("connected");
        let (mut served, _) = listener.accept().await.expect("accepted");
        client.write_all(b"GET / HTTP/1.1\r\n\r\n").await.expect("sent");
        client.write_all(&[b'x'; 100 << 10]).await.expect("sent");
        let serving = tokio::spawn(async move { read(&mut served).await.is_none() });
        // The client is slow to read: a reset would come before.
        tokio::time::sleep(Duration::from_millis(300)).await;
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).await.expect("it is not reset");
        assert!(answer.starts_with(b"HTTP/1.1 405"), "{answer:?}");
        drop(client);
        assert!(serving.await.expect("no panic"), "it was refused");
    }
}
