//! A stack: its paths, connecting and listening.

use std::collections::{BTreeMap, VecDeque};
use std::future::{Future, poll_fn};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use crate::driver::{Running, start};
use crate::state::State;
use crate::{CarriedBytes, ConnectionState, MptcpListener, MptcpStream, Options, Path};

/// The time after which the next attempt to connect begins beside those under way (RFC 8305, section 5).
const ATTEMPT_DELAY: Duration = Duration::from_millis(250);

/// One of several attempts to connect.
struct Attempt<'a> {
    remote: SocketAddr,
    outcome: Pin<Box<dyn Future<Output = io::Result<MptcpStream>> + Send + 'a>>,
}

/// How much an error says of a destination: the more, the larger.
fn weight(kind: io::ErrorKind) -> u8 {
    match kind {
        io::ErrorKind::ConnectionRefused => 3,
        io::ErrorKind::ConnectionReset => 2,
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => 1,
        _ => 0,
    }
}

/// An MPTCP stack. Clones share it. Its task ends, and with it all connections, when the last clone and the last
/// stream are dropped.
#[derive(Clone, Debug)]
pub struct Stack(pub(crate) Arc<Running>);

impl Stack {
    /// A stack over `paths`. Call it within a tokio runtime, in which its task runs.
    ///
    /// # Errors
    ///
    /// Where the operating system gives no random numbers.
    pub fn new(paths: Vec<Path>, options: Options) -> io::Result<Self> {
        let devices = paths.iter().map(|path| Arc::clone(&path.device)).collect();
        Ok(Self(Arc::new(start(State::new(paths, &options)?, devices))))
    }

    /// Connects to `remote`, from the first path that reaches it: further paths are tried after 250 ms each.
    ///
    /// # Errors
    ///
    /// As [`connect_any`](Self::connect_any).
    pub async fn connect(&self, remote: SocketAddr) -> io::Result<MptcpStream> {
        self.connect_any(&[remote]).await
    }

    /// Connects to the first of `remotes` that answers, in their order, from every path. The attempts overlap as in
    /// Happy Eyeballs (RFC 8305); the first to succeed ends the others. A destination that refuses one is not tried from
    /// further paths.
    ///
    /// # Errors
    ///
    /// Of all attempts' errors, that which says most of the destination: a refusal, else that it is unreachable, else the
    /// last one. [`NetworkUnreachable`](io::ErrorKind::NetworkUnreachable) if no path that is up has an address of the same
    /// family.
    pub async fn connect_any(&self, remotes: &[SocketAddr]) -> io::Result<MptcpStream> {
        let locals = self.0.shared.lock().transmitter.local_addresses();
        let pairs = remotes.iter().flat_map(|&remote| {
            let same_family = locals.iter().filter(move |local| local.is_ipv4() == remote.is_ipv4());
            same_family.map(move |&local| (local, remote))
        });
        let mut waiting: VecDeque<(IpAddr, SocketAddr)> = pairs.collect();
        let mut attempts: Vec<Attempt<'_>> = Vec::new();
        let mut telling = io::Error::new(
            io::ErrorKind::NetworkUnreachable,
            "no path that is up has an address of the destination's family",
        );
        let mut delay = Box::pin(tokio::time::sleep(Duration::ZERO));
        poll_fn(|context| {
            loop {
                let mut at = 0;
                while at < attempts.len() {
                    match attempts[at].outcome.as_mut().poll(context) {
                        Poll::Ready(Ok(stream)) => return Poll::Ready(Ok(stream)),
                        Poll::Ready(Err(error)) => {
                            let remote = attempts.remove(at).remote;
                            if error.kind() == io::ErrorKind::ConnectionRefused {
                                attempts.retain(|other| other.remote != remote);
                                waiting.retain(|&(_, other)| other != remote);
                                at = 0;
                            }
                            if weight(error.kind()) >= weight(telling.kind()) {
                                telling = error;
                            }
                        }
                        Poll::Pending => at += 1,
                    }
                }
                let is_time = attempts.is_empty() || delay.as_mut().poll(context).is_ready();
                match if is_time { waiting.pop_front() } else { None } {
                    Some((local, remote)) => {
                        attempts.push(Attempt { remote, outcome: Box::pin(self.connect_from(local, remote)) });
                        delay = Box::pin(tokio::time::sleep(ATTEMPT_DELAY));
                    }
                    None if attempts.is_empty() => {
                        return Poll::Ready(Err(io::Error::new(telling.kind(), telling.to_string())));
                    }
                    None => return Poll::Pending,
                }
            }
        })
        .await
    }

    /// Connects to `remote` from the address `local` of a path. Further subflows are the path manager's.
    ///
    /// # Errors
    ///
    /// If the peer refuses, if the network reports that it is unreachable (ICMP), if it does not answer, or if `local` has no
    /// free port.
    pub async fn connect_from(&self, local: IpAddr, remote: SocketAddr) -> io::Result<MptcpStream> {
        let key = self.0.shared.lock().connect(local, remote)?;
        let stream = MptcpStream::new(Arc::clone(&self.0), key);
        poll_fn(|context| {
            let mut state = self.0.shared.lock();
            let connection = state.connection(key);
            if connection.established {
                return Poll::Ready(Ok(()));
            }
            if connection.closed.is_some() {
                let ended = || io::Error::new(io::ErrorKind::ConnectionReset, "it ended before it was established");
                return Poll::Ready(Err(connection.failure().unwrap_or_else(ended)));
            }
            if let Some(kind) = connection.unreachable {
                return Poll::Ready(Err(io::Error::new(
                    kind,
                    "the network reports that the destination is unreachable",
                )));
            }
            connection.opener = Some(context.waker().clone());
            Poll::Pending
        })
        .await?;
        Ok(stream)
    }

    /// Accepts connections on `port` of all addresses.
    ///
    /// # Errors
    ///
    /// If there is a listener on it already.
    pub fn listen(&self, port: u16) -> io::Result<MptcpListener> {
        self.0.shared.lock().listen(port)?;
        Ok(MptcpListener::new(Arc::clone(&self.0), port))
    }

    /// Sets whether `address` is usable. All are at first. Connections close their subflows from an address that is
    /// not, and open them again, as the path manager decides, when it is.
    pub fn set_address_up(&self, address: IpAddr, up: bool) {
        self.0.shared.lock().set_up(&[address], up);
    }

    /// Whether `address` is one of the stack's and usable. The addresses of a device that has failed are not.
    pub fn is_address_up(&self, address: IpAddr) -> bool {
        self.0.shared.lock().transmitter.is_up(address)
    }

    /// Resets all connections. Their peers are told at once (MP_FASTCLOSE, RST).
    pub fn abort_all(&self) {
        self.0.shared.lock().abort_all();
    }

    /// The state of all connections, those that are being closed included.
    pub fn connections(&self) -> Vec<ConnectionState> {
        self.0.shared.lock().connection_states()
    }

    /// What subflows carried that have ended, those of connections that are over included, by their addresses of this side.
    pub fn ended_bytes(&self) -> BTreeMap<IpAddr, CarriedBytes> {
        self.0.shared.lock().ended_bytes()
    }

    /// The number of connections, those that are being closed included, and the bytes of memory that data occupies
    /// which waits to be read or acknowledged.
    pub fn usage(&self) -> (usize, usize) {
        self.0.shared.lock().usage()
    }

    /// Packets that devices did not accept for want of room.
    pub fn refused_packets(&self) -> u64 {
        self.0.shared.lock().transmitter.refused
    }
}
