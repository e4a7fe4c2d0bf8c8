//! An endpoint: its sockets, connecting and accepting.

use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::task::Poll;

use rustls::{ClientConfig, ServerConfig};
use subflow_transport::quic::Config;
use tokio::net::UdpSocket;

use super::connection::Connection;
use super::driver::{self, Running};
use super::error::ConnectError;
use super::options::Options;
use super::sockets::{bind, check};
use super::state::State;

/// An endpoint of QUIC over UDP sockets, one for each local address. Clones share it. Its task ends, and with it all connections,
/// when the last clone, connection and stream are dropped.
#[derive(Clone, Debug)]
pub struct Endpoint {
    running: Arc<Running>,
    config: Arc<Config>,
    tls: Option<Arc<ClientConfig>>,
    is_listening: bool,
}

impl Endpoint {
    /// An endpoint that opens connections from sockets bound to `addresses`, each of which is a path; port 0 is any that is
    /// free. Call it within a tokio runtime, in which its task runs.
    ///
    /// # Errors
    ///
    /// An address cannot be bound to, or is that of no interface (`0.0.0.0`); the operating system gives no random numbers.
    pub fn client(tls: ClientConfig, addresses: &[SocketAddr], options: &Options) -> io::Result<Self> {
        let config = Arc::new(options.config());
        let running = start(addresses, options, |_, _| {})?;
        Ok(Self { running, config, tls: Some(Arc::new(tls)), is_listening: false })
    }

    /// An endpoint that accepts connections on `addresses`. Clients with multipath may use each of them that they know.
    ///
    /// # Errors
    ///
    /// As [`client`](Self::client); the TLS configuration does not fit QUIC.
    pub fn server(tls: ServerConfig, addresses: &[SocketAddr], options: &Options) -> io::Result<Self> {
        let unfit = |error| io::Error::new(io::ErrorKind::InvalidInput, error);
        let config =
            Arc::new(Config { tls: Some(subflow_tls::server(tls).map_err(unfit)?), ..options.server_config()? });
        let listening = Arc::clone(&config);
        let running = start(addresses, options, |state, port| state.host.listen(port, Arc::clone(&listening).into()))?;
        Ok(Self { running, config, tls: None, is_listening: true })
    }

    /// Connects to the server `name`, for which its certificate has to be, at `remote`: from the first local address of the same
    /// family. Further paths are the path manager's.
    ///
    /// # Errors
    ///
    /// No connection can be opened, or it ends before it is established.
    pub async fn connect(&self, remote: SocketAddr, name: &str) -> Result<Connection, ConnectError> {
        let local = self.local_addrs().into_iter().find(|local| local.is_ipv4() == remote.is_ipv4());
        self.connect_from(local.ok_or(ConnectError::NoAddress { remote })?, remote, name).await
    }

    /// As [`connect`](Self::connect), with the initial path from `local`, one of the endpoint's
    /// [addresses](Self::local_addrs).
    ///
    /// # Errors
    ///
    /// As [`connect`](Self::connect); without a socket that has this address, the connection ends by its idle timeout.
    pub async fn connect_from(
        &self,
        local: SocketAddr,
        remote: SocketAddr,
        name: &str,
    ) -> Result<Connection, ConnectError> {
        let tls = self.tls.as_deref().ok_or(ConnectError::NoClient)?;
        let tls = subflow_tls::client(tls.clone(), name)?;
        let config = Config { tls: Some(tls), ..self.config.as_ref().clone() };
        let key = self.running.shared.lock().connect(config, (local, remote));
        let connection = Connection::new(Arc::clone(&self.running), key.ok_or(ConnectError::InUse { local, remote })?);
        connection.established().await?;
        Ok(connection)
    }

    /// The next connection of a client that is established. Waits forever at an endpoint that was made by
    /// [`client`](Self::client).
    pub async fn accept(&self) -> Connection {
        let key = poll_fn(|context| {
            let mut state = self.running.shared.lock();
            match state.accepted.pop_front() {
                Some(key) => Poll::Ready(key),
                None => {
                    state.wait(context);
                    Poll::Pending
                }
            }
        });
        Connection::new(Arc::clone(&self.running), key.await)
    }

    /// The addresses and ports of the sockets, in the order in which they were added.
    pub fn local_addrs(&self) -> Vec<SocketAddr> {
        self.running.shared.lock().sockets.addresses()
    }

    /// Binds a socket to a further local address, in place of another one with the same address. Connections learn of it as of
    /// a path that they may open. At a server, clients can connect to its port.
    ///
    /// # Errors
    ///
    /// As [`client`](Self::client).
    pub fn add_address(&self, address: SocketAddr) -> io::Result<SocketAddr> {
        self.add_socket(bind(address)?)
    }

    /// Adds a socket that is bound already, as [`add_address`](Self::add_address) does: to an interface, say, so that all of its
    /// packets leave by that (`UdpSocket::bind_device`).
    ///
    /// # Errors
    ///
    /// It is bound to no address, or to that of no interface (`0.0.0.0`).
    pub fn add_socket(&self, socket: UdpSocket) -> io::Result<SocketAddr> {
        let local = socket.local_addr()?;
        check(local)?;
        let mut state = self.running.shared.lock();
        if self.is_listening {
            state.host.listen(local.port(), Arc::clone(&self.config).into());
        }
        state.add_socket(local, Arc::new(socket));
        Ok(local)
    }

    /// Closes the socket of a local address, as soon as the endpoint's task runs. Connections with several paths go on over the
    /// others, and tell the peer. Returns whether there was one.
    pub fn remove_address(&self, address: IpAddr) -> bool {
        self.running.shared.lock().lose_address(address)
    }

    /// Closes all connections with an error of the application, 0 if there is none.
    pub fn close(&self, error_code: u64, reason: &str) {
        self.running.shared.lock().close_all(error_code, reason);
    }

    /// Waits until no connection is left: until what was written is acknowledged, and peers have had time to ask again how the
    /// connection has ended.
    pub async fn wait_idle(&self) {
        poll_fn(|context| {
            let mut state = self.running.shared.lock();
            if state.is_idle() {
                return Poll::Ready(());
            }
            state.wait(context);
            Poll::Pending
        })
        .await;
    }
}

/// Binds sockets, and starts the task of an endpoint that has done `begin` with the port of each.
fn start(addresses: &[SocketAddr], options: &Options, begin: impl Fn(&mut State, u16)) -> io::Result<Arc<Running>> {
    let sockets = addresses.iter().map(|&address| bind(address)).collect::<io::Result<Vec<_>>>()?;
    let mut state = State::new(options.stream_send_buffer)?;
    for socket in sockets {
        let local = socket.local_addr()?;
        begin(&mut state, local.port());
        state.add_socket(local, Arc::new(socket));
    }
    Ok(Arc::new(driver::start(state)))
}
