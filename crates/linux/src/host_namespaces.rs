//! The namespaces that the programs of a host run in, entered from outside: by the run that made them, or by another
//! process of the same user, such as a shell for a host of a network that stays.

use std::fs::{self, File};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::process::{Child, Command, ExitStatus};

use rustix::process::{Pid, PidfdFlags, pidfd_open};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::error::{Error, Result, While};
use crate::namespace::{in_thread, started};
use crate::sys;

/// The ticks of a second in `/proc`, the same on every architecture that Linux runs on (`USER_HZ`).
const TICKS_PER_SECOND: f64 = 100.0;

/// The network, the mounts and the processes of a host.
#[derive(Debug)]
pub struct HostNamespaces {
    /// The process that they were opened of.
    process: u32,
    network: OwnedFd,
    mounts: File,
    processes: File,
}

/// A process in a host.
#[derive(Clone, Debug, PartialEq)]
pub struct HostProcess {
    /// Its number, as the calling process sees it.
    pub process: u32,
    /// Its arguments, separated by spaces.
    pub command: String,
    /// For how long it has run, in seconds.
    pub running_s: f64,
}

impl HostNamespaces {
    /// Those of a process.
    pub fn of_process(process: u32) -> Result<Self> {
        let opened = |kind: &str| {
            let path = format!("/proc/{process}/ns/{kind}");
            File::open(&path).during(|| format!("cannot open {path}"))
        };
        Ok(Self { process, network: opened("net")?.into(), mounts: opened("mnt")?, processes: opened("pid")? })
    }

    /// Whether the process that they were opened of has ended. If that is the first one of the host, the kernel then
    /// kills all others.
    pub fn have_ended(&self) -> bool {
        // A process that ends leaves its network namespace before the kernel kills what else runs in its PID namespace.
        let (now, own) = (fs::metadata(format!("/proc/{}/ns/net", self.process)), rustix::fs::fstat(&self.network));
        now.ok().map(|now| now.ino()) != own.ok().map(|own| own.st_ino)
    }

    /// Starts a program in them. `command` must name its working directory.
    pub fn start(&self, command: &mut Command) -> Result<Child> {
        let name = command.get_program().to_owned();
        // This thread is given up afterwards: its namespaces are those of the program.
        in_thread(|| {
            self.enter()?;
            move_into_link_name_space(self.network.as_fd(), Some(LinkNameSpaceType::Network)).during(cannot_enter)?;
            command.spawn().during(|| format!("cannot start {}", name.display()))
        })
    }

    /// Runs a program in them to its end; it is killed if this process ends first, and gets the signals of
    /// [`pass_signals_on`]. `command` must name its working directory.
    pub fn run(&self, command: &mut Command) -> Result<ExitStatus> {
        let name = command.get_program().to_owned();
        in_thread(|| {
            self.enter()?;
            let network = self.network.try_clone().during(cannot_enter)?;
            // The thread lives until the program has ended.
            let child = sys::start_in(command, network, None);
            let mut child = child.during(|| format!("cannot start {}", name.display()))?;
            let receiver = pidfd_open(Pid::from_child(&child), PidfdFlags::empty());
            let receiver = receiver.during(|| format!("cannot pass signals on to {}", name.display()))?;
            sys::set_receiver(Some(receiver.as_fd()));
            let ended = child.wait().during(|| format!("cannot wait for {}", name.display()));
            sys::set_receiver(None);
            ended
        })
    }

    /// Moves the calling thread into the namespaces of mounts and, for its later children, of processes.
    fn enter(&self) -> Result<()> {
        let enter = |fd: &dyn AsFd, kind| move_into_link_name_space(fd.as_fd(), Some(kind));
        sys::separate_file_system_state()
            .and_then(|()| Ok(enter(&self.processes, LinkNameSpaceType::ProcessID)?))
            .and_then(|()| Ok(enter(&self.mounts, LinkNameSpaceType::Mount)?))
            .during(cannot_enter)
    }

    /// The processes in them, in the order of their numbers.
    pub fn processes(&self) -> Vec<HostProcess> {
        let Ok(own) = self.processes.metadata() else { return Vec::new() };
        let now = seconds_since_boot();
        let entries = fs::read_dir("/proc").into_iter().flatten().map_while(std::io::Result::ok);
        let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let is_inside =
            |process: &u32| fs::metadata(format!("/proc/{process}/ns/pid")).is_ok_and(|found| found.ino() == own.ino());
        // A process may end meanwhile.
        let described = |process: u32| {
            let words = fs::read(format!("/proc/{process}/cmdline")).ok()?;
            let since = started(process)? as f64 / TICKS_PER_SECOND;
            Some(HostProcess { process, command: command_line(&words), running_s: (now - since).max(0.0) })
        };
        let mut found: Vec<HostProcess> = numbers.filter(is_inside).filter_map(described).collect();
        found.sort_by_key(|found| found.process);
        found
    }
}

/// Has these signals, if another process sends them to this one, passed on to the program that
/// [`run`](HostNamespaces::run) starts. What a terminal sends, such as SIGINT, the program gets itself. Signals that this
/// process ignores the program ignores, too (`nohup`).
pub fn pass_signals_on(signals: &[i32]) -> Result<()> {
    sys::pass_on(signals).during(|| "cannot react to signals".into())
}

fn cannot_enter() -> String {
    "cannot enter the namespaces of a host".into()
}

/// The arguments in `/proc/PID/cmdline`, each of which ends with a zero.
fn command_line(words: &[u8]) -> String {
    let text = String::from_utf8_lossy(words);
    text.trim_end_matches('\0').replace('\0', " ")
}

fn seconds_since_boot() -> f64 {
    let uptime = fs::read_to_string("/proc/uptime").unwrap_or_default();
    uptime.split_ascii_whitespace().next().and_then(|seconds| seconds.parse().ok()).unwrap_or(0.0)
}

/// Has this process go on without those who started it: it leaves their terminal, and its standard streams, of which
/// standard error is `log` from now on. Whoever reads its standard output finds the end of it.
pub fn leave_standard_streams(log: &File) -> Result<()> {
    let null = File::options().read(true).write(true).open("/dev/null").during(|| "cannot open /dev/null".into())?;
    for (stream, file) in [(libc::STDIN_FILENO, &null), (libc::STDERR_FILENO, log), (libc::STDOUT_FILENO, &null)] {
        sys::replace_stream(stream, file.as_fd()).during(|| "cannot replace a standard stream".into())?;
    }
    Ok(())
}

/// Makes this process the leader of a session of its own: no signal of a terminal reaches it.
pub fn leave_terminal() -> Result<()> {
    rustix::process::setsid()
        .map(drop)
        .map_err(|error| Error::System { action: "cannot leave the terminal".into(), source: error.into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Container, Namespace};
    use rustix::process::{Signal, kill_process};
    use std::os::unix::process::ExitStatusExt;

    #[test]
    fn arguments_are_separated_by_spaces() {
        assert_eq!(command_line(b"sleep\x001000\0"), "sleep 1000");
        assert_eq!(command_line(b""), "");
    }

    #[test]
    fn a_program_runs_in_a_host_to_its_end_and_is_listed_meanwhile() {
        if !subflow_prerequisite::network_namespaces() {
            return;
        }
        let namespace = Namespace::create("entered").expect("a namespace");
        let container = Container::create(&namespace, "").expect("a container");
        assert!(container.processes().is_empty(), "the first process only sleeps");
        let inside = HostNamespaces::of_process(container.first_process()).expect("it runs");
        let line = |text: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", text]).current_dir("/");
            command
        };
        let run = |text: &str| inside.run(&mut line(text)).expect("it starts");
        assert_eq!(run("exit 7").code(), Some(7));
        // What `end` does to the process once it runs.
        let ended = |end: &dyn Fn(&HostProcess)| {
            std::thread::scope(|scope| {
                let running = scope.spawn(|| run("exec sleep 1000"));
                let found = loop {
                    // Between fork and exec it has the arguments of this process.
                    if let Some(found) = container.processes().into_iter().find(|one| one.command == "sleep 1000") {
                        break found;
                    }
                };
                end(&found);
                running.join().expect("no panic").signal()
            })
        };
        let terminate = |found: &HostProcess| {
            assert!(found.running_s < 60.0);
            let process = Pid::from_raw(found.process as i32).expect("a number");
            kill_process(process, Signal::TERM).expect("it runs");
        };
        assert_eq!(ended(&terminate), Some(libc::SIGTERM));
        assert!(run("exit 0").success() && !inside.have_ended());
        assert_eq!(ended(&|_| container.kill()), Some(libc::SIGKILL), "by the kernel");
        assert!(inside.have_ended());
    }
}
