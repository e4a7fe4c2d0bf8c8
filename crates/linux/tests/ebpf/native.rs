//! An eBPF program compiled for this machine (`native.c`), as a process that is told events and answers with windows.

use std::io::{BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use subflow_prerequisite::Prerequisite;

/// A program of `bpf/`, waiting for events.
pub(crate) struct Native {
    process: Child,
    commands: BufWriter<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

/// What happens to a path. Sequence numbers and acknowledged bytes are counted from the connection's beginning.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// An acknowledgment: bytes acknowledged so far, its RTT sample in microseconds (negative: none), bytes sent so
    /// far.
    Sample { una: u64, rtt_us: i32, nxt: u32 },
    /// The window may grow for so many packets.
    Ack { acked: u32 },
    /// A loss was found: what is the threshold?
    Loss,
    /// The recovery state changes to this `TCP_CA_*`.
    State(u32),
    /// The window restarts after idle time.
    Restart,
}

/// A path as the kernel sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Socket {
    pub(crate) cwnd: u32,
    pub(crate) ssthresh: u32,
    /// In eighths of a microsecond; 0 before the first sample.
    pub(crate) srtt: u32,
    pub(crate) credit: u32,
    /// `TCP_CA_*`.
    pub(crate) recovery: u32,
    /// `TCP_*`: 1 is established.
    pub(crate) state: u32,
}

/// What the program left or said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) cwnd: u32,
    pub(crate) ssthresh: u32,
    pub(crate) credit: u32,
    /// The threshold that a [`Event::Loss`] asked for.
    pub(crate) asked: u32,
}

impl Native {
    /// Compiles `bpf/NAME.bpf.c` with the system's C compiler and starts it. `None`, with a word, without a compiler.
    pub(crate) fn start(name: &str) -> Option<Self> {
        let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ebpf");
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bpf");
        let executable = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("ebpf-{name}-{}", std::process::id()));
        let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
        let compiled = Command::new(&compiler)
            .args(["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"])
            .arg(format!("-DPROGRAM=\"{name}.bpf.c\""))
            .arg(format!("-DALGORITHM={name}"))
            .args([Path::new("-I"), &tests, Path::new("-I"), &programs, &tests.join("native.c")])
            .args([Path::new("-o"), &executable])
            .output();
        let output = match compiled {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Prerequisite::CCompiler.missing(format_args!("there is no {compiler}"));
                return None;
            }
            compiled => compiled.unwrap_or_else(|error| panic!("cannot run the C compiler {compiler}: {error}")),
        };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut process = Command::new(&executable)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program that was just compiled starts");
        // It runs on without its name.
        std::fs::remove_file(&executable).expect("the executable is ours");
        let commands = BufWriter::with_capacity(1 << 16, process.stdin.take().expect("it is piped"));
        let answers = BufReader::with_capacity(1 << 16, process.stdout.take().expect("it is piped"));
        Some(Self { process, commands, answers })
    }

    /// Begins an MPTCP connection of so many subflows, or with 0 a TCP connection, which is path 0.
    pub(crate) fn begin(&mut self, subflows: usize) {
        self.send(0, subflows, [0; 6]);
    }

    /// Overwrites what the kernel knows of a path.
    pub(crate) fn set(&mut self, path: usize, socket: Socket) {
        let Socket { cwnd, ssthresh, srtt, credit, recovery, state } = socket;
        self.send(1, path, [cwnd, ssthresh, srtt, credit, recovery, state]);
    }

    /// Lets an event happen. [`Event::Ack`] and [`Event::Loss`] make an answer, to be [read](Self::answer).
    pub(crate) fn happen(&mut self, path: usize, event: Event) {
        match event {
            Event::Sample { una, rtt_us, nxt } => {
                self.send(2, path, [una as u32, (una >> 32) as u32, rtt_us as u32, nxt, 0, 0]);
            }
            Event::Ack { acked } => self.send(3, path, [acked, 0, 0, 0, 0, 0]),
            Event::Loss => self.send(4, path, [0; 6]),
            Event::State(state) => self.send(5, path, [state, 0, 0, 0, 0, 0]),
            Event::Restart => self.send(6, path, [0; 6]),
        }
    }

    /// Sends what is waiting to be sent. After it answers may be read, as many as there were questions; more would
    /// block.
    pub(crate) fn flush(&mut self) {
        self.send(7, 0, [0; 6]);
        self.commands.flush().expect("the program runs");
    }

    pub(crate) fn answer(&mut self) -> Answer {
        let mut bytes = [0; 16];
        self.answers.read_exact(&mut bytes).expect("the program answers");
        let word = |at: usize| u32::from_ne_bytes(bytes[4 * at..4 * at + 4].try_into().expect("four bytes"));
        Answer { cwnd: word(0), ssthresh: word(1), credit: word(2), asked: word(3) }
    }

    fn send(&mut self, what: u32, path: usize, arguments: [u32; 6]) {
        for word in [what, path as u32].into_iter().chain(arguments) {
            self.commands.write_all(&word.to_ne_bytes()).expect("the program runs");
        }
    }
}

impl Drop for Native {
    fn drop(&mut self) {
        // Its input is still open: it would wait for ever.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
