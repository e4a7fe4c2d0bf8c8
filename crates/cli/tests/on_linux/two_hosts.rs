//! Two network namespaces joined by veth pairs, a transfer between them over the kernel's MPTCP, and `subflow paths`.

use std::net::{IpAddr, SocketAddr, TcpListener};
use std::process::{Child, Command, Output, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use subflow_linux::netlink::{SocketDiag, SubflowSocket};
use subflow_linux::{Interrupt, Namespace, Pattern, Stream, StreamOptions, Sysctl, Transport, listen};
use tempfile::TempDir;

use crate::support::{command, send_signal, text};

/// The server's port.
pub(crate) const PORT: u16 = 5000;

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// Two hosts. Interface `vN` of one is joined to `vN` of the other.
pub(crate) struct TwoHosts {
    pub(crate) client: Namespace,
    pub(crate) server: Namespace,
    pub(crate) folder: TempDir,
}

impl TwoHosts {
    /// Hosts whose names contain `name`, with this many pairs of interfaces.
    pub(crate) fn new(name: &str, pairs: usize) -> Self {
        let [client, server] =
            ["client", "server"].map(|end| Namespace::create(&format!("{name}-{end}")).expect("a namespace"));
        let hosts = Self { client, server, folder: TempDir::new().expect("a folder") };
        for pair in 0..pairs {
            let device = format!("v{pair}");
            hosts.ip(
                &hosts.client,
                &format!("link add {device} type veth peer name {device} netns {}", hosts.server.name()),
            );
        }
        for host in [&hosts.client, &hosts.server] {
            host.run(|| Sysctl("ipv4/conf/all/rp_filter").write("0")).expect("set");
            hosts.ip(host, "link set lo up");
            (0..pairs).for_each(|pair| hosts.ip(host, &format!("link set v{pair} up")));
        }
        hosts
    }

    /// Runs `ip` in a namespace.
    pub(crate) fn ip(&self, host: &Namespace, arguments: &str) {
        let output = output_in(host, Command::new("ip").args(arguments.split(' ')));
        assert!(output.status.success(), "ip {arguments}: {}", text(&output.stderr));
    }

    /// Gives the hosts the addresses 10.77.N.1, 2, … and 10.77.N.101, 102, … on `vN`.
    pub(crate) fn number(&self, pair: usize, counts: [u8; 2]) {
        for (host, first, count) in [(&self.client, 1, counts[0]), (&self.server, 101, counts[1])] {
            for last in first..first + count {
                self.ip(host, &format!("address add 10.77.{pair}.{last}/24 dev v{pair}"));
            }
        }
    }

    /// Limits both links of the client to 20 Mbit/s, so that a transfer needs both.
    pub(crate) fn limit_client(&self) {
        for pair in 0..2 {
            let arguments = format!("qdisc add dev v{pair} root tbf rate 20mbit burst 16k latency 40ms");
            let output = output_in(&self.client, Command::new("tc").args(arguments.split(' ')));
            assert!(output.status.success(), "tc {arguments}: {}", text(&output.stderr));
        }
    }

    /// Starts `subflow paths` in a namespace, and waits until it is at work.
    pub(crate) fn daemon(&self, host: &Namespace, arguments: &[&str]) -> Daemon {
        let log = self.folder.path().join(format!("{}-{}.log", host.name(), arguments.len()));
        let _ = std::fs::remove_file(&log);
        let file = std::fs::File::create(&log).expect("a log");
        let mut paths = command();
        paths.arg("paths").args(arguments).args(["--log", "debug"]).stdout(Stdio::null()).stderr(file);
        let child = host.run(|| Ok(paths.spawn().expect("it starts"))).expect("spawned");
        let daemon = Daemon { child, log };
        daemon.wait_for("for new connections");
        daemon
    }

    /// A connection: its ends at the client and at the server, and what listens for its further subflows.
    pub(crate) fn connected(&self, [local, remote]: [&str; 2], listening: &str) -> ([Stream; 2], TcpListener) {
        let [local, remote, listening]: [IpAddr; 3] =
            [local, remote, listening].map(|a| a.parse().expect("an address"));
        let options = StreamOptions {
            both_families: false,
            transport: Transport::Mptcp,
            congestion: Some("cubic".to_owned()),
            nagle: false,
            dscp: Default::default(),
            receive_buffer: None,
            send_buffer: None,
        };
        let never = Interrupt::default();
        let listener = self.server.run(|| listen(&options, (listening, PORT).into())).expect("it listens");
        let ends: [SocketAddr; 2] = [(local, 0).into(), (remote, PORT).into()];
        let connected = self.client.run(|| Stream::connect(&options, ends[0], ends[1], &never));
        let accepted = Stream::accept(&listener, Transport::Mptcp, &never);
        ([connected.expect("connected").expect("one"), accepted.expect("accepted").expect("one")], listener)
    }

    /// Starts a transfer that goes on until it is ended.
    pub(crate) fn transfer(&self, ends: [&str; 2], listening: &str) -> Transfer {
        let ([sending, receiving], listener) = self.connected(ends, listening);
        let over = Interrupt::default();
        let server = std::thread::spawn(move || {
            let _listener = listener;
            receive(&receiving)
        });
        let client = std::thread::spawn({
            let over = over.clone();
            move || send(&sending, &over)
        });
        Transfer { over, client, server }
    }
}

fn send(stream: &Stream, over: &Interrupt) -> u64 {
    let (mut sent, mut buffer) = (0, vec![0; 16 << 10]);
    while !over.is_raised() {
        Pattern.fill(sent, &mut buffer);
        sent += stream.write(&buffer).expect("written").expect("not interrupted") as u64;
        std::thread::sleep(Duration::from_millis(2));
    }
    stream.finish().expect("finished");
    // Closing at once could cut off what is on its way.
    let _ = stream.read(&mut buffer);
    sent
}

fn receive(stream: &Stream) -> u64 {
    let (mut received, mut buffer) = (0, vec![0; 1 << 16]);
    loop {
        match stream.read(&mut buffer).expect("read").expect("not interrupted") {
            0 => return received,
            count => {
                assert_eq!(Pattern.first_difference(received, &buffer[..count]), None, "after {received} bytes");
                received += count as u64;
            }
        }
    }
}

/// A transfer.
pub(crate) struct Transfer {
    over: Interrupt,
    client: JoinHandle<u64>,
    server: JoinHandle<u64>,
}

impl Transfer {
    /// Ends it; everything has to have arrived, byte by byte. Returns how many there were.
    pub(crate) fn complete(self) -> u64 {
        self.over.raise();
        let received = self.server.join().expect("the server ends");
        assert_eq!(self.client.join().expect("the client ends"), received);
        assert!(received > 0);
        received
    }
}

/// `subflow paths`.
pub(crate) struct Daemon {
    child: Child,
    log: std::path::PathBuf,
}

impl Daemon {
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it has written.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Waits until it has written `words`.
    pub(crate) fn wait_for(&self, words: &str) {
        wait_until(&format!("{words:?} in the log"), || self.log().contains(words), || self.log());
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, name: &str) {
        send_signal(&format!("-{name}"), self.id());
    }

    /// Ends it with a signal; returns its exit code.
    pub(crate) fn end(mut self, name: &str) -> Option<i32> {
        self.signal(name);
        self.child.wait().expect("it ends").code()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // A killed one would leave its record of the setting.
        if matches!(self.child.try_wait(), Ok(None)) {
            self.signal("TERM");
            let _ = self.child.wait();
        }
    }
}

/// The established subflows in a namespace.
pub(crate) fn subflows(host: &Namespace) -> Vec<SubflowSocket> {
    let mut all = host.run(|| SocketDiag::open()?.subflows()).expect("a list");
    all.retain(SubflowSocket::is_established);
    all
}

/// Waits until a namespace has this many established subflows.
pub(crate) fn wait_for_subflows(host: &Namespace, count: usize, daemon: &Daemon) {
    let is_so = || subflows(host).len() == count;
    wait_until(&format!("{count} subflows"), is_so, || format!("{} subflows\n{}", subflows(host).len(), daemon.log()));
}

/// Waits until `condition` holds; panics with `state` where that takes too long.
pub(crate) fn wait_until(what: &str, condition: impl Fn() -> bool, state: impl Fn() -> String) {
    #[allow(clippy::disallowed_types)] // The kernel is on the wall clock.
    let begun = std::time::Instant::now();
    while !condition() {
        assert!(begun.elapsed() < PATIENCE, "{what}: not after {PATIENCE:?}\n{}", state());
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The setting that says which path manager new connections have.
pub(crate) fn pm_type(host: &Namespace) -> String {
    host.run(|| Sysctl("mptcp/pm_type").read()).expect("the setting")
}

/// Runs a command in a namespace.
pub(crate) fn output_in(host: &Namespace, command: &mut Command) -> Output {
    host.run(|| Ok(command.output().expect("it starts"))).expect("run")
}
