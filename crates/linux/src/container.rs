//! Where the programs of a host run: its network namespace, and namespaces of PIDs and mounts of its own.
//!
//! The first process of a PID namespace is its init: when it ends, the kernel kills every other process in the
//! namespace, whether it is a daemon, has another process group or ignores SIGTERM (`pid_namespaces(7)`). Here init only
//! sleeps, and is killed when the thread that created it ends, however it ends. Nothing that a program started can
//! therefore outlive the command, not even after SIGKILL.
//!
//! In the mount namespace `/etc/hosts` has the names of the scenario, `/etc/resolv.conf` no name server, and `/proc` the
//! processes of the namespace.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::error::{Error, Result, While};
use crate::host_namespaces::{HostNamespaces, HostProcess};
use crate::{Namespace, sys};

/// The namespaces of a host's programs. Dropping it kills all of their processes.
#[derive(Debug)]
pub struct Container {
    init: Child,
    inside: HostNamespaces,
    folder: PathBuf,
}

impl Container {
    /// Creates it on top of the network namespace of a host. `hosts` is the text of `/etc/hosts`. The calling thread
    /// must live as long as the container: when it ends, all processes are killed.
    pub fn create(namespace: &Namespace, hosts: &str) -> Result<Self> {
        let folder = std::env::temp_dir().join(namespace.name());
        fs::create_dir(&folder).during(|| format!("cannot create {}", folder.display()))?;
        let made = Self::create_in(namespace, hosts, &folder);
        if made.is_err() {
            let _ = fs::remove_dir_all(&folder);
        }
        made
    }

    fn create_in(namespace: &Namespace, hosts: &str, folder: &Path) -> Result<Self> {
        const NO_SERVER: &str = "# The names of the scenario are in /etc/hosts; it has no name server.\n";
        let mut replaced = Vec::new();
        for (name, target, text) in [("hosts", "/etc/hosts", hosts), ("resolv.conf", "/etc/resolv.conf", NO_SERVER)] {
            let path = folder.join(name);
            fs::write(&path, text).during(|| format!("cannot write {}", path.display()))?;
            // A file that does not exist cannot be replaced by a mount, and is not missed.
            if Path::new(target).exists() {
                replaced.push((c_string(path.as_os_str().as_bytes())?, c_string(target.as_bytes())?));
            }
        }
        let mut command = Command::new("sleep");
        command.arg("infinity").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let init = sys::start_init(&mut command, namespace.handle()?, replaced)
            .during(|| format!("cannot create namespaces of PIDs and mounts for {}", namespace.name()))?;
        let inside = HostNamespaces::of_process(init.id())?;
        Ok(Self { init, inside, folder: folder.to_owned() })
    }

    /// Starts a program as the leader of a process group of its own. `command` must name its working directory.
    pub fn start(&self, command: &mut Command) -> Result<Child> {
        command.process_group(0);
        self.inside.start(command)
    }

    /// The number of its first process, whose namespaces are those of all others. It is no other process's as long as
    /// this exists.
    pub fn first_process(&self) -> u32 {
        self.init.id()
    }

    /// The processes of the host, without the first one, which only sleeps.
    pub fn processes(&self) -> Vec<HostProcess> {
        let mut processes = self.inside.processes();
        processes.retain(|found| found.process != self.init.id());
        processes
    }

    /// Kills all of its processes; a program can no longer be started.
    pub fn kill(&self) {
        // It fails only if init has ended, and then all others have been killed.
        let _ = kill_process(Pid::from_child(&self.init), Signal::KILL);
    }

    /// Whether a process of the host listens on this TCP port, over IPv4 or IPv6.
    pub fn listens(&self, port: u16) -> bool {
        ["tcp", "tcp6"].iter().any(|table| {
            let text = fs::read_to_string(format!("/proc/{}/net/{table}", self.init.id()));
            text.is_ok_and(|text| has_listener(&text, port))
        })
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        // Both fail only if it has ended. `wait` returns when all processes of the namespace have ended.
        let _ = self.init.kill();
        let _ = self.init.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Asks the process group that `leader` leads to end (SIGTERM), or ends it (SIGKILL).
pub fn end_group(leader: &Child, by_force: bool) {
    let signal = if by_force { Signal::KILL } else { Signal::TERM };
    // It fails if there is no process left in the group.
    let _ = kill_process_group(Pid::from_child(leader), signal);
}

/// A user of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// User ID.
    pub uid: u32,
    /// The ID of its primary group.
    pub gid: u32,
    /// Its home directory.
    pub home: String,
}

impl User {
    /// The user of this name in `/etc/passwd`.
    pub fn find(name: &str) -> Option<Self> {
        Self::find_in(&fs::read_to_string("/etc/passwd").ok()?, name)
    }

    fn find_in(passwd: &str, name: &str) -> Option<Self> {
        let fields = passwd.lines().map(|line| line.split(':').collect::<Vec<_>>());
        let found = fields.into_iter().find(|fields| fields.len() >= 6 && fields[0] == name)?;
        Some(Self { uid: found[2].parse().ok()?, gid: found[3].parse().ok()?, home: found[5].to_owned() })
    }
}

/// Whether a table of `/proc/net/tcp` or `tcp6` has a listening socket (state 0A) on `port`.
fn has_listener(table: &str, port: u16) -> bool {
    let ending = format!(":{port:04X}");
    table.lines().skip(1).any(|line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        fields.next().is_some_and(|local| local.ends_with(&ending)) && fields.nth(1) == Some("0A")
    })
}

fn c_string(bytes: &[u8]) -> Result<CString> {
    CString::new(bytes).map_err(|error| Error::System { action: "cannot mount".into(), source: io::Error::from(error) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn a_listener_is_found_by_its_port_and_state() {
        let table = "  sl  local_address rem_address   st tx_queue\n\
                     0: 0100007F:1F90 00000000:0000 0A 00000000:00000000\n\
                     1: 0100007F:1F91 0200007F:1F92 01 00000000:00000000\n";
        assert!(has_listener(table, 8080));
        assert!(!has_listener(table, 8081), "it is connected");
        assert!(!has_listener(table, 8082), "it is the port of the peer");
    }

    #[test]
    fn a_user_is_found_by_its_whole_name() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\nme:x:1000:1001:Me,,,:/home/me:/bin/sh\nbroken\n";
        assert_eq!(User::find_in(passwd, "me"), Some(User { uid: 1000, gid: 1001, home: "/home/me".into() }));
        assert_eq!(User::find_in(passwd, "m"), None);
        assert_eq!(User::find_in(passwd, "broken"), None);
    }

    /// A line of the shell in a container, and what it printed.
    fn said(container: &Container, line: &str) -> String {
        let mut command = Command::new("sh");
        command.args(["-c", line]).current_dir("/").stdin(Stdio::null()).stdout(Stdio::piped());
        let child = container.start(&mut command).expect("it starts");
        String::from_utf8(child.wait_with_output().expect("it ends").stdout).expect("text")
    }

    #[test]
    fn a_program_sees_the_names_and_processes_of_its_host_only() {
        if !subflow_prerequisite::network_namespaces() {
            return;
        }
        let namespace = Namespace::create("container").expect("a namespace");
        let container = Container::create(&namespace, "10.0.1.1 phone\n").expect("a container");
        assert_eq!(said(&container, "cat /etc/hosts"), "10.0.1.1 phone\n");
        assert!(!fs::read_to_string("/etc/hosts").is_ok_and(|text| text.contains("10.0.1.1 phone")), "not outside");
        assert_eq!(said(&container, "cat /proc/1/comm"), "sleep\n");
        assert!(said(&container, "cat /proc/net/dev").contains("lo:"));
        let folder = container.folder.clone();
        assert!(folder.exists());
        drop(container);
        assert!(!folder.exists());
    }

    #[test]
    fn a_daemon_that_ignores_signals_ends_with_the_container() {
        if !subflow_prerequisite::network_namespaces() {
            return;
        }
        let namespace = Namespace::create("daemon").expect("a namespace");
        let container = Container::create(&namespace, "").expect("a container");
        // The pipe is open as long as the daemon runs.
        let mut command = Command::new("sh");
        command.args(["-c", "trap '' TERM HUP; setsid sh -c 'sleep 1000' & exit 0"]).current_dir("/");
        let mut child = container.start(command.stdin(Stdio::null()).stdout(Stdio::piped())).expect("it starts");
        assert!(child.wait().expect("the parent exits").success());
        let begun = Instant::now();
        let mut output = child.stdout.take().expect("a pipe");
        let reader = std::thread::spawn(move || io::copy(&mut output, &mut io::sink()));
        std::thread::sleep(Duration::from_millis(100));
        assert!(!reader.is_finished(), "the daemon runs");
        drop(container);
        reader.join().expect("no panic").expect("the pipe ends");
        assert!(begun.elapsed() < Duration::from_secs(60));
    }
}
