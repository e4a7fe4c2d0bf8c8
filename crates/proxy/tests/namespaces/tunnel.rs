//! The tunnel by multipath QUIC: its client in `c`, its server in `s`, where the destinations are, too.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::process::Child;
use std::thread::{JoinHandle, sleep};
use std::time::Duration;

use data_encoding::BASE64;
use subflow_proxy::tunnel::{ClientSettings, Fingerprint, Identity, ServerSettings, options, run_client, run_server};

use crate::setup::{Process, Setup, machine_serves, pattern};

/// The variable that makes this executable an end of a tunnel.
const END: &str = "SUBFLOW_TEST_TUNNEL";
/// Where the server is: an address of its own, which both paths lead to.
const SERVER: &str = "10.99.0.1:4433";
/// Where it lets clients go.
const ALLOWED: [&str; 2] = ["10.99.0.1:80", "10.99.0.1:7"];

/// Reads until the client has ended its part, and answers with the number of bytes; or resets the connection after an `x`.
const COUNTER: &str = r"
import socket, struct, threading
def serve(client):
    total = 0
    while part := client.recv(65536):
        if part.startswith(b'x'):
            client.sendall(b'part')
            threading.Event().wait(0.3)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
            return client.close()
        total += len(part)
    client.sendall(b'%d bytes' % total)
    client.close()
listener = socket.create_server(('10.99.0.1', 7))
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],)).start()
";

/// Runs an end of a tunnel in this process and ends it, if it was started for that.
pub(crate) fn be_an_end() {
    let Ok(settings) = std::env::var(END) else { return };
    let words: Vec<&str> = settings.split(' ').collect();
    let [kind, listen, folder, own, peer, rest @ ..] = &words[..] else { panic!("five words or more") };
    let file = |name: &str, what: &str| Path::new(folder).join(format!("{name}.{what}"));
    let identity = Identity::read(&file(own, "crt"), &file(own, "key")).expect("PEM files");
    let accepted = Fingerprint::accepted(&file(peer, "crt").to_string_lossy()).expect("a certificate");
    let options = options("lia", "ll", "full-mesh", 1280).expect("they exist");
    let listen = listen.parse().expect("an address");
    let report = |line: &str| eprintln!("{line}");
    let outcome = if *kind == "server" {
        let allowed = rest.iter().map(|rule| rule.parse().expect("destinations")).collect();
        run_server(ServerSettings { listen, accepted, identity, allowed, options }, [15], report)
    } else {
        let via = rest.iter().map(|&name| name.to_owned()).collect();
        let server = SERVER.parse().expect("an address");
        run_client(ClientSettings { listen, via, server, accepted, identity, options }, [15], report)
    };
    std::process::exit(outcome.map_or_else(
        |error| {
            eprintln!("{error}");
            2
        },
        |()| 0,
    ));
}

/// Namespaces, and the certificates of `client`, `server` and `other`, with their keys.
struct Ends {
    setup: Setup,
    folder: tempfile::TempDir,
}

fn ends(test: &str) -> Option<Ends> {
    let setup = machine_serves(test)?;
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["client", "server", "other"] {
        let signed = rcgen::generate_simple_self_signed([name.to_owned()]).expect("a name");
        let key = signed.signing_key.serialize_der();
        for (what, label, der) in [("crt", "CERTIFICATE", &signed.cert.der()[..]), ("key", "PRIVATE KEY", &key)] {
            let pem = format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", BASE64.encode(der));
            std::fs::write(folder.path().join(format!("{name}.{what}")), pem).expect("written");
        }
    }
    Some(Ends { setup, folder })
}

impl Ends {
    fn start(&self, host: &str, words: &[&str], rest: &[&str]) -> Child {
        let executable = std::env::current_exe().expect("this test");
        let mut command = self.setup.command(host, &executable.to_string_lossy());
        let [kind, listen, own, peer] = words else { panic!("four words") };
        let folder = self.folder.path().to_string_lossy();
        let settings = [&[*kind, *listen, &*folder, *own, *peer], rest].concat().join(" ");
        command.args(["--exact", "process", "--nocapture"]).env(END, settings).spawn().expect("starts")
    }

    fn server(&self) -> (Process, JoinHandle<String>) {
        Setup::listening_and_heard(self.start("s", &["server", SERVER, "server", "client"], &ALLOWED))
    }

    fn client(&self, own: &str, peer: &str) -> (Process, JoinHandle<String>) {
        Setup::listening_and_heard(self.start("c", &["client", "127.0.0.1:1080", own, peer], &["c0", "c1"]))
    }

    /// Starts to fetch 10 MB into a file.
    fn start_curl(&self) -> (Child, tempfile::NamedTempFile) {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let mut curl = self.setup.curl_command("socks5h", "http://10.99.0.1/10000000");
        (curl.arg("-o").arg(file.path()).spawn().expect("starts"), file)
    }

    /// A connection through the tunnel to the port 7 of the server.
    fn counted(&self) -> TcpStream {
        self.setup.in_client(|| {
            let mut stream = TcpStream::connect("127.0.0.1:1080").expect("the proxy listens");
            stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time");
            stream.write_all(b"\x05\x01\0\x05\x01\0\x01\x0a\x63\0\x01\0\x07").expect("sent");
            let mut answers = [0; 12];
            stream.read_exact(&mut answers).expect("two answers");
            assert_eq!(answers[..4], [5, 0, 5, 0]);
            stream
        })
    }
}

/// Ends both ends with SIGTERM, and returns what they have said.
fn end<const COUNT: usize>(ends: [(Process, JoinHandle<String>); COUNT]) -> [String; COUNT] {
    ends.map(|(mut process, heard)| {
        assert_eq!(process.end("-TERM"), Some(0));
        heard.join().expect("no panic")
    })
}

#[test]
fn both_paths_carry_a_file_and_the_log_has_their_counts() {
    let Some(ends) = ends("tunnel") else { return };
    (0..2).for_each(|path| ends.setup.shape(path, 40));
    let before = ends.setup.left_behind();
    let _http = ends.setup.serve(false);
    let (server, client) = (ends.server(), ends.client("client", "server"));
    ends.setup.fetch_by("socks5h", 10_000_000);
    ends.setup.fetch_by("http", 1_000_000);
    assert_eq!(ends.setup.put("10.99.0.1", 3_000_000), "3000000 right");
    let sent = [0, 1].map(|path| ends.setup.bytes_sent(path));
    assert!(sent.iter().all(|&bytes| bytes > 300_000), "{sent:?}");
    let [of_client, of_server] = end([client, server]);
    // What the client's log says of each path is what the interface has carried, without headers of IP, UDP and Ethernet.
    for path in [0, 1] {
        let line =
            of_client.lines().find(|line| line.starts_with(&format!("path 10.7{path}.0.1")) && line.contains("bytes"));
        let line = line.unwrap_or_else(|| panic!("no counts of path {path}: {of_client}"));
        let received = line.split(", ").nth(1).and_then(|part| part.split(' ').next()?.parse::<usize>().ok());
        let share = received.expect("a number") as f64 / sent[path] as f64;
        assert!((0.93..0.98).contains(&share), "{line}, the interface has {}", sent[path]);
    }
    assert!(of_server.contains("connected") && of_server.contains("is gone"), "{of_server}");
    assert_eq!(ends.setup.left_behind(), before, "a tunnel changes nothing on the machine");
}

#[test]
fn a_path_that_is_lost_in_mid_transfer_costs_no_byte_and_comes_back() {
    let Some(ends) = ends("tunnel-loss") else { return };
    (0..2).for_each(|path| ends.setup.shape(path, 20));
    let _http = ends.setup.serve(false);
    let (server, client) = (ends.server(), ends.client("client", "server"));
    let (curl, file) = ends.start_curl();
    while ends.setup.bytes_sent(0) < 1_500_000 {
        sleep(Duration::from_millis(10));
    }
    ends.setup.ip("c", "link set c0 down");
    assert!(curl.wait_with_output().expect("it ends").status.success());
    assert!(std::fs::read(file.path()).expect("a file") == pattern(10_000_000));
    let before = ends.setup.bytes_sent(0);
    ends.setup.ip("c", "link set c0 up");
    ends.setup.ip("c", "route add default via 10.70.0.2 metric 0");
    sleep(Duration::from_secs(2));
    ends.setup.fetch_by("socks5h", 10_000_000);
    assert!(ends.setup.bytes_sent(0) > before + 2_000_000, "it carries again");
    let [of_client, _] = end([client, server]);
    assert!(of_client.contains("c0 does not carry 10.70.0.1 any more"), "{of_client}");
}

#[test]
fn the_second_interface_serves_where_the_first_reaches_nobody() {
    let Some(ends) = ends("tunnel-second") else { return };
    // The first one has its address and routes, and nobody answers.
    ends.setup.ip("s", "addr del 10.70.0.2/24 dev s0");
    let _http = ends.setup.serve(false);
    let (_server, client) = (ends.server(), ends.client("client", "server"));
    ends.setup.fetch_by("socks5h", 1_000_000);
    assert!(ends.setup.bytes_sent(1) > 1_000_000);
    end([client]);
}

#[test]
fn who_has_another_certificate_is_refused_by_either_end() {
    let Some(ends) = ends("tunnel-wrong") else { return };
    let _http = ends.setup.serve(false);
    let server = ends.server();
    for (own, peer, why) in [
        ("other", "server", "the peer refuses the TLS handshake: the certificate is signed by nobody who is trusted"),
        ("client", "other", "this side refuses the TLS handshake: the certificate is signed by nobody who is trusted"),
    ] {
        let client = ends.client(own, peer);
        assert_eq!(ends.setup.curl("socks5h", "http://10.99.0.1/1000").status.code(), Some(97), "{own}");
        let [said] = end([client]);
        assert!(said.contains(why), "{own}: {said}");
    }
    // The server does not take the one for a client; then it serves the right one.
    let right = ends.client("client", "server");
    let fetched = ends.setup.curl("socks5h", "http://10.99.0.1/1000").stdout.len();
    let [of_client, said] = end([right, server]);
    assert_eq!(fetched, 1000, "{of_client}{said}");
    assert_eq!(said.matches(" connected").count(), 1, "{said}");
}

#[test]
fn only_allowed_destinations_are_reached_and_a_refusal_comes_back() {
    let Some(ends) = ends("tunnel-relay") else { return };
    let _http = ends.setup.serve(false);
    let (_server, _client) = (ends.server(), ends.client("client", "server"));
    ends.setup.fetch_by("socks5h", 1000);
    let code = |url: &str| {
        let mut curl = ends.setup.curl_command("http", url);
        let output = curl.args(["-o", "/dev/null", "-w", "%{http_connect}"]).output().expect("runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    // Another port, another address of the server, loopback: not allowed. Nobody listens on port 7: refused.
    for (url, expected) in [
        ("http://10.99.0.1:81/1", "403"),
        ("http://10.70.0.2:80/1", "403"),
        ("http://127.0.0.1:80/1", "403"),
        ("http://10.99.0.1:7/1", "502"),
        ("http://no.such.name.invalid/1", "502"),
    ] {
        assert_eq!(code(url), expected, "{url}");
    }
}

#[test]
fn each_direction_ends_by_itself_and_a_reset_comes_through() {
    let Some(ends) = ends("tunnel-half") else { return };
    let _counter = ends.setup.program("s", &["python3", "-c", COUNTER]);
    let (_server, _client) = (ends.server(), ends.client("client", "server"));
    crate::setup::comes_true("the counter listens", || ends.setup.output("s", &["ss", "-ltn"]).contains(":7 "));
    let mut half = ends.counted();
    half.write_all(&vec![7; 3_000_000]).expect("sent");
    half.shutdown(Shutdown::Write).expect("connected");
    let mut answer = String::new();
    half.read_to_string(&mut answer).expect("it comes after the end of this direction");
    assert_eq!(answer, "3000000 bytes");
    let mut reset = ends.counted();
    reset.write_all(b"x").expect("sent");
    let mut part = Vec::new();
    let error = reset.read_to_end(&mut part).expect_err("no part of a stream is taken for the whole");
    assert_eq!((error.kind(), &part[..]), (ErrorKind::ConnectionReset, &b"part"[..]));
}

#[test]
fn a_hundred_connections_at_once_and_one_that_nobody_reads_take_bounded_memory() {
    let Some(ends) = ends("tunnel-many") else { return };
    let _http = ends.setup.serve(false);
    let (server, client) = (ends.server(), ends.client("client", "server"));
    // Of 300 MB, the ends keep what their buffers take, while nobody reads.
    let mut idle = ends.setup.curl_command("socks5h", "http://10.99.0.1/300000000");
    let mut idle = Process(idle.args(["--limit-rate", "1k"]).spawn().expect("starts"));
    let folder = tempfile::tempdir().expect("a folder");
    let files = folder.path().join("#1").to_string_lossy().into_owned();
    let mut curl = ends.setup.curl_command("socks5h", "http://10.99.0.1/[100000-100099]");
    curl.args(["-o", &files, "--parallel", "--parallel-immediate", "--parallel-max", "100"]);
    let output = curl.output().expect("runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for length in 100_000..100_100 {
        let file = std::fs::read(folder.path().join(length.to_string())).expect("a file");
        assert!(file == pattern(length), "{length}");
    }
    for (process, _) in [&server, &client] {
        assert!(process.largest_memory_mb() < 100.0, "{} MB", process.largest_memory_mb());
    }
    assert!(idle.0.try_wait().expect("a child").is_none(), "it goes on");
}

#[test]
fn the_end_of_the_server_resets_what_it_carries_and_another_one_is_found() {
    let Some(ends) = ends("tunnel-end") else { return };
    (0..2).for_each(|path| ends.setup.shape(path, 20));
    let _http = ends.setup.serve(false);
    let (server, client) = (ends.server(), ends.client("client", "server"));
    let (curl, file) = ends.start_curl();
    while ends.setup.bytes_sent(0) + ends.setup.bytes_sent(1) < 2_000_000 {
        sleep(Duration::from_millis(10));
    }
    #[allow(clippy::disallowed_types)] // The kernel is on the wall clock.
    let began = std::time::Instant::now();
    end([server]);
    assert!(began.elapsed() < Duration::from_secs(20), "it waits for what it carries: {:?}", began.elapsed());
    assert!(!curl.wait_with_output().expect("it ends").status.success());
    assert!(file.as_file().metadata().expect("a file").len() < 10_000_000);
    let server = ends.server();
    ends.setup.fetch_by("socks5h", 1_000_000);
    let [said, _] = end([client, server]);
    assert!(said.contains("has ended: the peer has closed the connection with error 0: the server ends"), "{said}");
}
