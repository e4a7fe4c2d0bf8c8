//! The server of a tunnel: connects to destinations for clients that it knows.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use subflow_tokio::quic::{Connection, Endpoint, Options};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{interval, timeout};

use super::allowed::{Allowed, permitted};
use super::identity::{Fingerprint, Identity, server_tls};
use super::path_log::{INTERVAL, PathLog, Report};
use super::stream::TunnelStream;
use crate::error::{Error, Result};
use crate::serve::{failed, received, runtime};
use crate::session::{PATIENCE, Relayed, Upstream, keep_alive, resolve};
use crate::socks::{self, Destination, Parsed};

/// Most connections of clients at a time.
const MOST_CLIENTS: usize = 256;
/// The time that a client has for the request of a stream.
const REQUEST: Duration = Duration::from_secs(10);
/// Time for a connection to one of several addresses of a destination.
const ONE_ADDRESS: Duration = Duration::from_secs(10);
/// Time that clients have to learn of the end.
const FAREWELL: Duration = Duration::from_millis(500);

/// What the server of a tunnel is started with.
#[derive(Debug)]
pub struct ServerSettings {
    /// Its address and UDP port.
    pub listen: SocketAddr,
    /// The certificates of clients.
    pub accepted: Vec<Fingerprint>,
    /// This server's certificate.
    pub identity: Identity,
    /// Where clients may go.
    pub allowed: Vec<Allowed>,
    /// The stack: [`options`](super::options).
    pub options: Options,
}

/// What serving a stream takes.
#[derive(Debug)]
struct Serving {
    allowed: Vec<Allowed>,
    /// Descriptors for connections to destinations.
    places: Arc<Semaphore>,
}

/// Runs the server of a tunnel until the process gets one of `signals`. `report` gets a line when it listens, and when clients
/// and their paths come and go.
///
/// # Errors
///
/// The settings do not fit the machine.
pub fn run_server(
    settings: ServerSettings,
    signals: impl IntoIterator<Item = i32>,
    report: impl Fn(&str) + Send + Sync + 'static,
) -> Result<()> {
    let (runtime, limit) = runtime()?;
    let places = limit.places(1)?;
    let signals = signals.into_iter().map(SignalKind::from_raw).collect();
    runtime.block_on(serve(settings, signals, places, Arc::new(report)))
}

async fn serve(settings: ServerSettings, signals: Vec<SignalKind>, places: usize, report: Arc<Report>) -> Result<()> {
    let ServerSettings { listen, accepted, identity, allowed, options } = settings;
    let signals = signals.into_iter().map(signal).collect::<io::Result<Vec<Signal>>>();
    let mut signals = signals.map_err(failed("wait for signals"))?;
    let tls = server_tls(identity, &accepted)?;
    let endpoint = Endpoint::server(tls, &[listen], &options).map_err(|error| {
        let help = "name an address of this machine and a UDP port that is free, with --listen";
        Error::settings(format!("cannot listen on {listen}: {error}"), help)
    })?;
    report(&format!("listening on {} (UDP)", endpoint.local_addrs().first().copied().unwrap_or(listen)));
    let serving = Arc::new(Serving { allowed, places: Arc::new(Semaphore::new(places)) });
    let mut clients = JoinSet::new();
    tokio::select! {
        () = received(&mut signals) => {}
        () = accept(&endpoint, &serving, &mut clients, &report) => {}
    }
    endpoint.close(0, "the server ends");
    // Each client's task notices the end, and reports what its paths have carried.
    let _ = timeout(FAREWELL, async { while clients.join_next().await.is_some() {} }).await;
    let _ = timeout(FAREWELL, endpoint.wait_idle()).await;
    Ok(())
}

async fn accept(endpoint: &Endpoint, serving: &Arc<Serving>, clients: &mut JoinSet<()>, report: &Arc<Report>) {
    loop {
        let connection = endpoint.accept().await;
        while clients.try_join_next().is_some() {}
        if clients.len() >= MOST_CLIENTS {
            connection.close(1, "there are too many clients");
            continue;
        }
        clients.spawn(serve_client(connection, Arc::clone(serving), Arc::clone(report)));
    }
}

/// Serves the streams of a client until its connection ends.
async fn serve_client(connection: Connection, serving: Arc<Serving>, report: Arc<Report>) {
    let peer = connection.remote_addr();
    report(&format!("client {peer} connected"));
    let (mut log, mut streams) = (PathLog::default(), JoinSet::new());
    let mut looks = interval(INTERVAL);
    let error = loop {
        tokio::select! {
            accepted = connection.accept_bi() => match accepted {
                Ok(parts) => {
                    while streams.try_join_next().is_some() {}
                    streams.spawn(serve_stream(TunnelStream::new(parts, peer), Arc::clone(&serving)));
                }
                Err(error) => break error,
            },
            _ = looks.tick() => log.update(&connection, &*report),
        }
    };
    log.end(&connection, &*report);
    report(&format!("client {peer} is gone: {error}"));
    streams.shutdown().await;
}

/// Serves a stream until both directions have ended, or one is reset: then so is the other.
async fn serve_stream(mut stream: TunnelStream, serving: Arc<Serving>) {
    let Ok(Some((destination, rest))) = timeout(REQUEST, request(&mut stream)).await else { return };
    let Ok(place) = serving.places.try_acquire() else {
        return refuse(&mut stream, &socks::answer(Err(ErrorKind::Other))).await;
    };
    let connected = timeout(PATIENCE, connect(&serving.allowed, &destination)).await;
    let connected = connected.unwrap_or_else(|_| Err(ErrorKind::TimedOut.into()));
    let answer = socks::answer(connected.as_ref().map(|_| ()).map_err(io::Error::kind));
    let tcp = match connected {
        Ok(tcp) => tcp,
        Err(error) => {
            log::info!("{destination}, for {}: not connected: {error}", stream.peer_addr());
            return refuse(&mut stream, &answer).await;
        }
    };
    log::debug!("{destination}, for {}: connected", stream.peer_addr());
    let _ = tcp.set_nodelay(true);
    let _ = keep_alive(&tcp);
    let mut tcp = Relayed::new(tcp);
    let relayed = match stream.write_all(&answer).await.and(tcp.write(&rest).await) {
        Ok(()) => tcp.relay(&mut stream).await,
        Err(error) => Err(error),
    };
    if relayed.is_err() {
        stream.abort();
    }
    drop(place);
}

/// Reads the request of a stream, with what has arrived after it. `None` if there is none: it has its answer then.
async fn request(stream: &mut TunnelStream) -> Option<(Destination, Vec<u8>)> {
    let mut buffer = Vec::with_capacity(4096);
    loop {
        // A request is complete, or refused, after 262 bytes at most.
        if stream.read_buf(&mut buffer).await.ok()? == 0 {
            if buffer.is_empty() {
                let _ = stream.shutdown().await;
            }
            return None;
        }
        match socks::request(&buffer) {
            Parsed::Complete(destination, length) => return Some((destination, buffer.split_off(length))),
            Parsed::Refused(answer) => {
                refuse(stream, &answer).await;
                return None;
            }
            Parsed::Incomplete => {}
        }
    }
}

/// Answers for the last time.
async fn refuse(stream: &mut TunnelStream, answer: &[u8]) {
    if stream.write_all(answer).await.is_ok() {
        let _ = stream.shutdown().await;
    }
}

/// Connects to a destination, if clients may reach it.
async fn connect(allowed: &[Allowed], destination: &Destination) -> io::Result<TcpStream> {
    let addresses = resolve(destination).await?;
    let remotes = permitted(allowed, &addresses).await?;
    let kind = if addresses.is_empty() { ErrorKind::NotFound } else { ErrorKind::PermissionDenied };
    let mut failure = io::Error::from(kind);
    for remote in remotes {
        match timeout(ONE_ADDRESS, TcpStream::connect(remote)).await {
            Ok(Ok(tcp)) => return Ok(tcp),
            Ok(Err(error)) => failure = error,
            Err(_) => failure = ErrorKind::TimedOut.into(),
        }
    }
    Err(failure)
}
