//! What a process that runs for long is doing: a proxy, or a path manager. A Unix socket in the state folder answers each
//! connection with a JSON object, and `subflow status` asks all of them. The folder is root's, and so are the answers.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, While};
use crate::state_folder::{STATE_FOLDER, in_state_folder, remove_empty_state_folder};

/// What the name of a socket begins with; the kind and the process follow.
const PREFIX: &str = "status-";
/// The time for an answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// The most connections of an answer.
const MOST_CONNECTIONS: usize = 1000;

/// What a process is doing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// `proxy` or `paths`.
    pub kind: String,
    /// Its number.
    pub process: u32,
    /// Where it listens, or its path manager.
    pub about: String,
    /// The interfaces that it uses.
    pub interfaces: Vec<InterfaceStatus>,
    /// The connections, but not more than a thousand.
    pub connections: Vec<ConnectionStatus>,
    /// How many more there are.
    pub connections_omitted: usize,
}

/// An interface.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct InterfaceStatus {
    /// Its name.
    pub name: String,
    /// The addresses of subflows over it that are usable.
    pub addresses: Vec<IpAddr>,
    /// The number of open subflows over it.
    pub subflows: usize,
    /// Payload bytes of its subflows that were acknowledged, of those that have ended, too, since the process began.
    pub sent_bytes: u64,
    /// Payload bytes that its subflows have received, those that have ended, too.
    pub received_bytes: u64,
}

/// A connection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConnectionStatus {
    /// The other end.
    pub peer: SocketAddr,
    /// `mptcp`, or `tcp` if the peer has no MPTCP.
    pub protocol: String,
    /// The open subflows; of TCP the connection itself.
    pub subflows: Vec<SubflowStatus>,
}

/// A subflow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubflowStatus {
    /// Its interface, if its address is of one that is used, or was until it was lost.
    pub interface: Option<String>,
    /// This end.
    pub local: SocketAddr,
    /// The other end.
    pub remote: SocketAddr,
    /// Whether it is a backup.
    pub backup: bool,
    /// Payload bytes acknowledged.
    pub sent_bytes: u64,
    /// Payload bytes received.
    pub received_bytes: u64,
    /// Smoothed round-trip time, if it was measured.
    pub srtt_ms: Option<f64>,
}

impl Status {
    /// The status of this process: adds the subflows of the connections to their interfaces, which have what ended
    /// subflows carried.
    pub fn new(
        kind: &str,
        about: String,
        interfaces: Vec<InterfaceStatus>,
        connections: Vec<ConnectionStatus>,
    ) -> Self {
        let omitted = connections.len().saturating_sub(MOST_CONNECTIONS);
        let process = std::process::id();
        let mut status =
            Self { kind: kind.to_owned(), process, about, interfaces, connections, connections_omitted: omitted };
        let by_address: BTreeMap<IpAddr, usize> = status.positions().collect();
        let names = status.interfaces.iter().map(|interface| interface.name.clone());
        let by_name: BTreeMap<String, usize> = names.zip(0..).collect();
        for connection in &mut status.connections {
            for subflow in &mut connection.subflows {
                let known = subflow.interface.as_ref().and_then(|name| by_name.get(name));
                let Some(&position) = known.or_else(|| by_address.get(&subflow.local.ip())) else { continue };
                let interface = &mut status.interfaces[position];
                subflow.interface = Some(interface.name.clone());
                interface.subflows += 1;
                interface.sent_bytes += subflow.sent_bytes;
                interface.received_bytes += subflow.received_bytes;
            }
        }
        status.connections.truncate(MOST_CONNECTIONS);
        status
    }

    fn positions(&self) -> impl Iterator<Item = (IpAddr, usize)> + '_ {
        let interfaces = self.interfaces.iter().enumerate();
        interfaces.flat_map(|(position, interface)| interface.addresses.iter().map(move |&address| (address, position)))
    }
}

/// The socket of this process. Dropped, it removes its file.
#[derive(Debug)]
pub struct StatusSocket {
    listener: UnixListener,
    path: PathBuf,
}

impl StatusSocket {
    /// Opens it for a process of this kind.
    pub fn open(kind: &str) -> Result<Self> {
        let path = Path::new(STATE_FOLDER).join(format!("{PREFIX}{kind}-{}", std::process::id()));
        // A killed process with the same number may have left one.
        let _ = fs::remove_file(&path);
        let bound = in_state_folder(|| UnixListener::bind(&path));
        let listener = bound.during(|| format!("cannot open {}", path.display()))?;
        let socket = Self { listener, path };
        socket.listener.set_nonblocking(true).during(|| "cannot wait for questions about the status".into())?;
        Ok(socket)
    }

    /// Another descriptor of the socket, which does not block either.
    pub fn listener(&self) -> io::Result<UnixListener> {
        self.listener.try_clone()
    }

    /// Answers all who are waiting.
    pub fn answer(&self, status: impl FnOnce() -> Status) {
        let waiting: Vec<UnixStream> = std::iter::from_fn(|| self.listener.accept().ok()).map(|(one, _)| one).collect();
        if !waiting.is_empty() {
            Self::answer_to(waiting, &status());
        }
    }

    /// Answers on these connections. Who does not read the answer gets a part of it.
    pub fn answer_to(waiting: impl IntoIterator<Item = UnixStream>, status: &Status) {
        let text = serde_json::to_string(status).unwrap_or_default();
        for mut stream in waiting {
            let _ = stream.set_nonblocking(false);
            let _ = stream.set_write_timeout(Some(Duration::from_millis(200)));
            let _ = stream.write_all(text.as_bytes());
        }
    }
}

impl Drop for StatusSocket {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        remove_empty_state_folder();
    }
}

/// The status of all processes that have one on this machine, in the order of their kinds and numbers, and those that did
/// not answer.
///
/// # Errors
///
/// The process is not root's.
pub fn statuses() -> Result<(Vec<Status>, Vec<String>)> {
    let (mut statuses, mut silent) = (Vec::new(), Vec::new());
    for path in sockets() {
        match ask(&path) {
            Ok(status) => statuses.push(status),
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                return Err(Error::missing("only root may ask for the status", "run it with sudo"));
            }
            // A killed process has left it.
            Err(error) if matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::NotFound) => {}
            Err(error) => silent.push(format!("{} does not answer: {error}", path.display())),
        }
    }
    Ok((statuses, silent))
}

fn ask(path: &Path) -> io::Result<Status> {
    let mut stream = UnixStream::connect(path)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    serde_json::from_str(&text).map_err(io::Error::from)
}

/// Removes the sockets that killed processes have left.
pub fn remove_of_killed() {
    for path in sockets() {
        if UnixStream::connect(&path).is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused) {
            let _ = fs::remove_file(path);
        }
    }
    remove_empty_state_folder();
}

fn sockets() -> Vec<PathBuf> {
    let entries = fs::read_dir(STATE_FOLDER).into_iter().flatten().map_while(io::Result::ok);
    let mut paths: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX))
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(text: &str) -> SocketAddr {
        text.parse().expect("an end")
    }

    #[test]
    fn bytes_are_counted_for_the_interface_of_an_address() {
        let subflow = |local: &str, sent_bytes| SubflowStatus {
            interface: None,
            local: end(local),
            remote: end("10.9.0.1:80"),
            backup: false,
            sent_bytes,
            received_bytes: 1,
            srtt_ms: None,
        };
        let interface = |name: &str, address: [u8; 4]| InterfaceStatus {
            name: name.to_owned(),
            addresses: vec![address.into()],
            ..InterfaceStatus::default()
        };
        let connection = |subflows| ConnectionStatus { peer: end("10.9.0.1:80"), protocol: "mptcp".into(), subflows };
        let ended = InterfaceStatus { sent_bytes: 100, ..interface("wlan0", [10, 0, 0, 1]) };
        let interfaces = vec![ended, interface("wwan0", [10, 0, 1, 1])];
        // The address of the last is lost.
        let lost = SubflowStatus { interface: Some("wlan0".to_owned()), ..subflow("10.0.0.9:1", 20) };
        let found = [subflow("10.0.0.1:1", 5), subflow("10.0.1.1:2", 7), subflow("10.0.7.1:2", 9), lost];
        let first = connection(found.to_vec());
        let more = (0..MOST_CONNECTIONS).map(|_| connection(vec![subflow("10.0.1.1:3", 1)]));
        let status = Status::new("proxy", String::new(), interfaces, std::iter::once(first).chain(more).collect());
        let counted = |position: usize| (status.interfaces[position].subflows, status.interfaces[position].sent_bytes);
        assert_eq!([counted(0), counted(1)], [(2, 125), (1001, 1007)]);
        assert_eq!((status.connections.len(), status.connections_omitted), (MOST_CONNECTIONS, 1));
        let names: Vec<_> = status.connections[0].subflows.iter().map(|subflow| subflow.interface.as_deref()).collect();
        assert_eq!(names, [Some("wlan0"), Some("wwan0"), None, Some("wlan0")]);
    }

    #[test]
    fn a_socket_answers_who_asks_and_leaves_no_file() {
        if !rustix::process::geteuid().is_root() {
            return subflow_prerequisite::Prerequisite::Kernel.missing("only root has the folder in /run");
        }
        let socket = StatusSocket::open("test").expect("root may");
        let path = socket.path.clone();
        let status = || Status { about: "a test".to_owned(), ..Status::default() };
        let asking = std::thread::spawn({
            let path = path.clone();
            move || ask(&path)
        });
        while !asking.is_finished() {
            socket.answer(status);
            std::thread::yield_now();
        }
        assert_eq!(asking.join().expect("no panic").expect("an answer"), status());
        drop(socket);
        assert!(!path.exists());
    }
}
