//! The peer: `peer.c`, compiled against the system's usrsctp, as a process of its own.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// What it is to do.
pub(crate) struct Role<'a> {
    /// `connect` or `listen`.
    pub(crate) opens: &'a str,
    pub(crate) send: u64,
    pub(crate) receive: u64,
    /// `finish`, `wait` or `abort`.
    pub(crate) end: &'a str,
    pub(crate) cmt: bool,
}

/// A running peer. Dropping it ends it.
pub(crate) struct Peer {
    child: Child,
    lines: Receiver<String>,
    said: Vec<String>,
}

/// The compiled peer; `Err` with the reason where usrsctp or a C compiler is not there.
pub(crate) fn build() -> Result<&'static Path, String> {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/usrsctp/peer.c");
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("usrsctp-peer-{}", std::process::id()));
        let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
        let output = Command::new(&compiler)
            .args(["-std=gnu11", "-O2", "-o"])
            .args([&program, &source])
            .args(["-lusrsctp", "-lpthread"])
            .output()
            .map_err(|error| format!("{compiler}: {error}"))?;
        if output.status.success() {
            return Ok(program);
        }
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        // Without the library there is no peer; anything else is our mistake.
        let missing = complaint.contains("usrsctp.h") || complaint.contains("-lusrsctp");
        assert!(missing, "{compiler} does not compile peer.c:\n{complaint}");
        Err("usrsctp is not installed (Debian: libusrsctp-dev)".to_owned())
    });
    built.as_deref().map_err(Clone::clone)
}

impl Peer {
    /// Starts `program` with `role`, in the network namespace `namespace` where one is given. `ports` are its UDP port,
    /// ours, its SCTP port, ours.
    pub(crate) fn start(
        program: &Path,
        namespace: Option<&str>,
        role: &Role<'_>,
        ports: [u16; 4],
        addresses: [String; 2],
    ) -> Self {
        let mut command = match namespace {
            Some(name) => {
                let mut ip = Command::new("ip");
                ip.args(["netns", "exec", name]).arg(program);
                ip
            }
            None => Command::new(program),
        };
        command.arg(role.opens).args(ports.map(|port| port.to_string()));
        command.args([role.send, role.receive].map(|bytes| bytes.to_string())).arg(role.end).args(addresses);
        if role.cmt {
            command.arg("cmt");
        }
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the peer starts");
        let (teller, lines) = channel();
        let output = BufReader::new(child.stdout.take().expect("its output is ours"));
        std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| teller.send(line)));
        Self { child, lines, said: Vec::new() }
    }

    /// Waits until it says something that begins with `word`.
    pub(crate) fn expect(&mut self, word: &str) {
        while !self.said.iter().any(|line| line.starts_with(word)) {
            match self.lines.recv_timeout(Duration::from_secs(30)) {
                Ok(line) => self.said.push(line),
                Err(_) => panic!("the peer does not say {word:?}, but {:?}", self.said),
            }
        }
    }

    /// What it has said so far.
    pub(crate) fn said(&mut self) -> &[String] {
        self.said.extend(self.lines.try_iter());
        &self.said
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
