//! aioquic, an implementation of QUIC in Python, as the peer: `aioquic_peer.py` beside this file.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};

use data_encoding::BASE64;

use rustls::pki_types::PrivatePkcs8KeyDer;
use subflow_prerequisite::Prerequisite;
use subflow_tokio::quic::{ConnectError, ConnectionError, Endpoint, Options};

use crate::support::{NAME, Server, client_tls, locals, receive, send, server_with, within};

const LENGTH: u64 = 3_000_000;

/// A Python that has aioquic: that of `target/python`, where `.ci/tools` installs it, or the first of `PATH`. Says so if there is
/// none.
fn python() -> Option<PathBuf> {
    let of_tests = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/aioquic/bin/python");
    let has_it = |python: &PathBuf| {
        let imported = Command::new(python).args(["-c", "import aioquic"]).stderr(Stdio::null()).status();
        imported.is_ok_and(|status| status.success())
    };
    let found = [of_tests, "python3".into()].into_iter().find(has_it);
    if found.is_none() {
        Prerequisite::Aioquic.missing("no Python has the package aioquic; .ci/tools installs it into target/aioquic");
    }
    found
}

/// The program, and what it prints. It ends with this.
struct Peer {
    child: Child,
    output: Arc<Mutex<BufReader<ChildStdout>>>,
}

impl Peer {
    fn start(python: &Path, arguments: &[&str]) -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/quic/aioquic_peer.py");
        let command = Command::new(python).arg(script).args(arguments).stdout(Stdio::piped()).spawn();
        let mut child = command.expect("Python runs");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        Self { child, output: Arc::new(Mutex::new(output)) }
    }

    /// The next line that it prints; nothing at its end.
    async fn line(&self) -> String {
        let output = Arc::clone(&self.output);
        let reading = tokio::task::spawn_blocking(move || {
            let mut line = String::new();
            output.lock().expect("nothing has panicked").read_line(&mut line).expect("it can be read");
            line.trim_end().to_owned()
        });
        within(reading).await.expect("it reads")
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Bytes in the form that programs read (RFC 7468).
fn pem(label: &str, bytes: &[u8]) -> String {
    let text = BASE64.encode(bytes);
    let lines: Vec<&str> = text.as_bytes().chunks(64).filter_map(|line| std::str::from_utf8(line).ok()).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}

/// A certificate and its key, also as files.
struct Identity {
    folder: tempfile::TempDir,
    signed: rcgen::CertifiedKey<rcgen::KeyPair>,
}

impl Identity {
    fn new() -> Self {
        let signed = rcgen::generate_simple_self_signed([NAME.to_owned()]).expect("a name of DNS");
        let folder = tempfile::tempdir().expect("a folder");
        let (certificate, key) = (signed.cert.der().clone(), signed.signing_key.serialize_der());
        let files = [("certificate.pem", pem("CERTIFICATE", &certificate)), ("key.pem", pem("PRIVATE KEY", &key))];
        files.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).expect("it can be written"));
        Self { folder, signed }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_string_lossy().into_owned()
    }

    fn server(&self, options: &Options) -> Server {
        let key = PrivatePkcs8KeyDer::from(self.signed.signing_key.serialize_der());
        server_with(&["127.0.0.1"], options, self.signed.cert.der().clone(), key)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn our_client_and_its_server() {
    let Some(python) = python() else { return };
    let identity = Identity::new();
    let (certificate, key) = (identity.path("certificate.pem"), identity.path("key.pem"));
    let peer = Peer::start(&python, &["server", &certificate, &key, &LENGTH.to_string()]);
    let port: u16 = peer.line().await.parse().expect("its port");
    let tls = client_tls(identity.signed.cert.der());
    // With two addresses: aioquic has no multipath.
    let client = Endpoint::client(tls, &locals(&["127.0.0.1", "127.0.0.2"]), &Options::default()).expect("addresses");
    let connection = within(client.connect(([127, 0, 0, 1], port).into(), NAME)).await.expect("a connection");
    let (up, down) = connection.open_bi().await.expect("a stream");
    let (_, received) = within(async { tokio::join!(send(up, LENGTH, 1), receive(down, 2)) }).await;
    assert_eq!((received, peer.line().await.as_str()), (LENGTH, "every byte is right"));
    assert!(connection.has_fallen_back());
    connection.close(5, "thank you");
    assert_eq!(peer.line().await, "closed 5 thank you");
}

#[tokio::test(flavor = "multi_thread")]
async fn its_client_and_our_server_which_asks_for_a_token() {
    let Some(python) = python() else { return };
    let identity = Identity::new();
    for retry_from in [None, Some(0)] {
        let server = identity.server(&Options { retry_from, ..Options::default() });
        let port = server.address.port().to_string();
        let certificate = identity.path("certificate.pem");
        let peer = Peer::start(&python, &["client", &port, &certificate, &LENGTH.to_string()]);
        let connection = within(server.endpoint.accept()).await;
        let (back, there) = within(connection.accept_bi()).await.expect("the client's stream");
        let received = within(receive(there, 1)).await;
        // It may close the connection before it has acknowledged the end.
        let sending = tokio::spawn(send(back, LENGTH, 2));
        let ended = within(connection.closed()).await;
        let expected = ConnectionError::ClosedByPeer { error_code: 7, reason: "all has arrived".into() };
        assert_eq!((received, ended), (LENGTH, expected));
        assert_eq!(peer.line().await, "every byte is right");
        sending.abort();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_a_version_that_we_do_not_have_learns_that() {
    let Some(python) = python() else { return };
    let identity = Identity::new();
    let server = identity.server(&Options::default());
    let (port, certificate) = (server.address.port().to_string(), identity.path("certificate.pem"));
    // Version 2 (RFC 9369).
    let peer = Peer::start(&python, &["client", &port, &certificate, "1", "0x6b3343cf"]);
    let said = peer.line().await;
    assert!(said.starts_with("no connection"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn its_server_with_another_certificate_is_refused() {
    let Some(python) = python() else { return };
    let (its, other) = (Identity::new(), Identity::new());
    let (certificate, key) = (its.path("certificate.pem"), its.path("key.pem"));
    let peer = Peer::start(&python, &["server", &certificate, &key, "1"]);
    let port: u16 = peer.line().await.parse().expect("its port");
    let tls = client_tls(other.signed.cert.der());
    let client = Endpoint::client(tls, &locals(&["127.0.0.1"]), &Options::default()).expect("an address");
    let error = within(client.connect(([127, 0, 0, 1], port).into(), NAME)).await.expect_err("another certificate");
    assert!(matches!(error, ConnectError::Connection(ConnectionError::Tls { by_peer: false, .. })), "{error}");
    // The alert that it gets (RFC 9001, section 4.8).
    let said = peer.line().await;
    assert!(said.starts_with("closed 3"), "{said}");
}
