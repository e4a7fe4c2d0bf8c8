//! The peer: `peer.c`, compiled with the system's usrsctp, as a separate process.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// The role of the peer.
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
    output_lines: Vec<String>,
}

/// Compiles the peer. `Err` contains the reason if usrsctp or a C compiler is missing.
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
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        // A missing library is allowed; any other error is a defect of `peer.c`.
        let missing = errors.contains("usrsctp.h") || errors.contains("-lusrsctp");
        assert!(missing, "{compiler} does not compile peer.c:\n{errors}");
        Err("usrsctp is not installed (Debian: libusrsctp-dev)".to_owned())
    });
    built.as_deref().map_err(Clone::clone)
}

impl Peer {
    /// Starts `program` with `role`, in the network namespace `namespace` if given. `ports` are its UDP port, ours, its
    /// SCTP port, ours.
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
        let (sender, lines) = channel();
        let output = BufReader::new(child.stdout.take().expect("its output is ours"));
        std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { child, lines, output_lines: Vec::new() }
    }

    /// Waits for an output line that starts with `word`.
    pub(crate) fn expect(&mut self, word: &str) {
        while !self.output_lines.iter().any(|line| line.starts_with(word)) {
            match self.lines.recv_timeout(Duration::from_secs(30)) {
                Ok(line) => self.output_lines.push(line),
                Err(_) => panic!("the peer does not print {word:?}, but {:?}", self.output_lines),
            }
        }
    }

    /// Its output lines so far.
    pub(crate) fn output_lines(&mut self) -> &[String] {
        self.output_lines.extend(self.lines.try_iter());
        &self.output_lines
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
