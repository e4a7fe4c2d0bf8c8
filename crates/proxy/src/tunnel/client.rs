//! The client of a tunnel: a proxy whose connections are streams.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use subflow_tokio::quic::{Connection, Endpoint, Options};
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::identity::{Fingerprint, Identity, client_tls};
use super::links::Links;
use super::path_log::{INTERVAL, PathLog, Report};
use super::stream::{TunnelStream, ask, ended};
use crate::error::Result;
use crate::machine::Changes;
use crate::serve::{failed, interfaces, listen, received, runtime};
use crate::{clients, session};

/// Time for a connection from one of the interfaces; then the next one is tried.
const PATIENCE: Duration = Duration::from_secs(5);
/// Time between two questions whether the server is there, which keep the connection: a third of its idle timeout.
const KEEP_ALIVE: Duration = Duration::from_secs(10);
/// Longest time between two tries to connect.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Time that the server has to learn of the end.
const FAREWELL: Duration = Duration::from_millis(500);

/// What the client of a tunnel is started with.
#[derive(Debug)]
pub struct ClientSettings {
    /// Where applications connect.
    pub listen: SocketAddr,
    /// The interfaces, the preferred one first.
    pub via: Vec<String>,
    /// The server.
    pub server: SocketAddr,
    /// The server's certificate; one of these.
    pub accepted: Vec<Fingerprint>,
    /// This client's certificate.
    pub identity: Identity,
    /// The stack: [`options`](super::options).
    pub options: Options,
}

/// Runs the client of a tunnel until the process gets one of `signals`. `report` gets a line when it listens, and when paths
/// and connections begin and end.
///
/// # Errors
///
/// The settings do not fit the machine, or the last interface is removed.
pub fn run_client(
    settings: ClientSettings,
    signals: impl IntoIterator<Item = i32>,
    report: impl Fn(&str) + Send + Sync + 'static,
) -> Result<()> {
    interfaces(&settings.via)?;
    let (runtime, limit) = runtime()?;
    let places = limit.places(settings.via.len())?;
    let signals = signals.into_iter().map(SignalKind::from_raw).collect();
    runtime.block_on(serve(settings, signals, places, &report))
}

async fn serve(settings: ClientSettings, signals: Vec<SignalKind>, places: usize, report: &Report) -> Result<()> {
    let ClientSettings { listen: on, via, server, accepted, identity, options } = settings;
    let signals = signals.into_iter().map(signal).collect::<io::Result<Vec<Signal>>>();
    let mut signals = signals.map_err(failed("wait for signals"))?;
    let listener = listen(on).await?;
    let changes = Changes::open().map_err(failed("follow the interfaces"))?;
    let tls = client_tls(identity, &accepted)?;
    let endpoint = Endpoint::client(tls, &[], &options).map_err(failed("start"))?;
    let mut links = Links::new(&via, server);
    links.update(&endpoint, report)?;
    let tunnel = Arc::new(Tunnel { endpoint, server, current: Mutex::new(None) });
    report(&format!("listening on {}", listener.local_addr().unwrap_or(on)));
    let mut log = PathLog::default();
    let mut clients = JoinSet::new();
    let outcome = tokio::select! {
        () = received(&mut signals) => Ok(()),
        () = accept(&tunnel, listener, places, &mut clients) => Ok(()),
        () = tunnel.keep(&mut log, report) => Ok(()),
        outcome = links.follow(&changes, &tunnel.endpoint, report) => outcome,
    };
    // One of them may be connecting, and have the lock.
    clients.shutdown().await;
    if let Some(connection) = tunnel.current.lock().await.as_ref() {
        log.end(connection, report);
    }
    tunnel.endpoint.close(0, "the client ends");
    let _ = timeout(FAREWELL, tunnel.endpoint.wait_idle()).await;
    outcome
}

async fn accept(tunnel: &Arc<Tunnel>, listener: TcpListener, places: usize, clients: &mut JoinSet<()>) {
    let serve = |client, asked| {
        let tunnel = Arc::clone(tunnel);
        session::serve(client, asked, async move |destination| {
            TunnelStream::open(&tunnel.connection().await?, &destination).await
        })
    };
    clients::accept(listener, places, clients, serve).await;
}

/// The connection to the server, which is opened again when it has ended.
#[derive(Debug)]
struct Tunnel {
    endpoint: Endpoint,
    server: SocketAddr,
    current: Mutex<Option<Connection>>,
}

impl Tunnel {
    /// The connection; a new one if there is none.
    async fn connection(&self) -> io::Result<Connection> {
        let mut current = self.current.lock().await;
        if let Some(connection) = current.as_ref()
            && ended(connection).await.is_none()
        {
            return Ok(connection.clone());
        }
        let connection = self.connect().await?;
        *current = Some(connection.clone());
        Ok(connection)
    }

    /// Connects from the first interface from which the server answers.
    async fn connect(&self) -> io::Result<Connection> {
        let locals = self.endpoint.local_addrs();
        let mut failure = io::Error::new(io::ErrorKind::NetworkUnreachable, "no interface has an address");
        for local in locals {
            // The certificate is known by what it is: the name is not used, and that of an address is not sent.
            let name = self.server.ip().to_string();
            let connect = async {
                let connected = self.endpoint.connect_from(local, self.server, &name).await;
                let connection = connected.map_err(|error| io::Error::other(error.to_string()))?;
                // A server that does not accept the client's certificate says so after the client's part of the handshake.
                ask(&connection).await?;
                Ok(connection)
            };
            match timeout(PATIENCE, connect).await {
                Ok(Ok(connection)) => return Ok(connection),
                Ok(Err(error)) => failure = error,
                Err(_) => {
                    let message = format!("no answer to {local} within {} s", PATIENCE.as_secs());
                    failure = io::Error::new(io::ErrorKind::TimedOut, message);
                }
            }
        }
        Err(failure)
    }

    /// Keeps the connection: opens it again when it has ended, and reports its paths.
    async fn keep(&self, log: &mut PathLog, report: &Report) {
        let mut pause = INTERVAL;
        loop {
            match self.connection().await {
                Ok(connection) => {
                    pause = INTERVAL;
                    self.follow(&connection, log, report).await;
                }
                Err(error) => {
                    report(&format!(
                        "no connection to {}: {error}; trying again in {} s",
                        self.server,
                        pause.as_secs()
                    ));
                    sleep(pause).await;
                    pause = (2 * pause).min(LONGEST_PAUSE);
                }
            }
        }
    }

    /// Reports a connection until it ends.
    async fn follow(&self, connection: &Connection, log: &mut PathLog, report: &Report) {
        *log = PathLog::default();
        match connection.is_multipath() {
            true => report(&format!("connected to {}", self.server)),
            false => report(&format!("connected to {}, which has no multipath: over one path", self.server)),
        }
        let asking = async {
            loop {
                sleep(KEEP_ALIVE).await;
                // While all streams are in use none can be opened; what they carry keeps the connection.
                let _ = timeout(KEEP_ALIVE, ask(connection)).await;
            }
        };
        let looking = async {
            loop {
                log.update(connection, report);
                sleep(INTERVAL).await;
            }
        };
        let error = tokio::select! {
            error = connection.closed() => error,
            () = asking => return,
            () = looking => return,
        };
        log.end(connection, report);
        report(&format!("the connection to {} has ended: {error}", self.server));
    }
}
