//! Switches: Open vSwitch with its userspace datapath, and their controller, as processes of our own.
//!
//! All of them run in one network namespace, with files in one temporary folder. Nothing of an Open vSwitch that the
//! machine may run is used. The processes are killed when the thread that created them ends, however it ends; `cleanup`
//! removes what then remains: the namespace's name and the folder.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use crate::error::{Error, Result, While};
use crate::namespace::Namespace;
use crate::netlink::RouteControl;
use crate::process_stat::ProcessStat;
use crate::tap::{Neighbour, Tap};
use crate::{Priority, Sysctl, sys};

/// A port of a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchPort {
    /// The switch, from 0.
    pub switch: usize,
    /// What it is connected to.
    pub neighbour: Neighbour,
}

/// Running switches. Dropping it ends them.
#[derive(Debug)]
pub struct Switches {
    namespace: Namespace,
    folder: PathBuf,
    processes: Vec<Child>,
    /// Per port, its switch and its number there.
    places: Vec<(usize, u32)>,
}

/// The port on which the controller listens, in the namespace.
const CONTROLLER_PORT: u16 = 6653;
/// The port of its status.
const STATUS_PORT: u16 = 8081;
const PATIENCE: Duration = Duration::from_secs(20);
/// Queue length of the ports' devices, in packets. It is not a queue of the scenario, so it must not overflow.
const DEVICE_QUEUE: u32 = 10_000;

/// Checks that Open vSwitch and the controller are installed.
pub fn require_switches(controller: &OsStr) -> Result<()> {
    for tool in ["ovsdb-tool", "ovsdb-server", "ovs-vswitchd", "ovs-vsctl", "ovs-ofctl"] {
        if !is_command(OsStr::new(tool)) {
            return Err(Error::missing(format!("there is no {tool}"), "install Open vSwitch (openvswitch-switch)"));
        }
    }
    if !is_command(controller) {
        return Err(Error::missing(
            format!("there is no controller {:?}", controller.to_string_lossy()),
            "install it (`pip install subflow[openflow]`) and name it: --controller venv/bin/subflow-openflow",
        ));
    }
    Ok(())
}

/// Whether `name` is a file, or one in a folder of PATH.
pub fn is_command(name: &OsStr) -> bool {
    let path = Path::new(name);
    if path.components().count() > 1 {
        return path.is_file();
    }
    std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).any(|folder| folder.join(path).is_file())
}

impl Switches {
    /// Starts `count` switches with these ports, numbered in their order from 1 at each switch. Returns them with the
    /// ports' devices. `settings` are those of the controller, which runs as `controller`.
    pub fn start(count: usize, ports: &[SwitchPort], controller: &OsStr, settings: &str) -> Result<(Self, Vec<Tap>)> {
        let namespace = Namespace::create("switches")?;
        let folder = std::env::temp_dir().join(namespace.name());
        fs::create_dir(&folder).during(|| format!("cannot create {}", folder.display()))?;
        let mut numbers = vec![0; count];
        let places = ports.iter().map(|port| {
            numbers[port.switch] += 1;
            (port.switch, numbers[port.switch])
        });
        let mut switches = Self { places: places.collect(), namespace, folder, processes: Vec::new() };
        let taps = switches.make_ports(ports)?;
        switches.start_daemons()?;
        switches.add_bridges(count)?;
        switches.start_controller(controller, settings)?;
        Ok((switches, taps))
    }

    fn make_ports(&self, ports: &[SwitchPort]) -> Result<Vec<Tap>> {
        self.namespace.run(|| {
            for family in ["all", "default"] {
                let setting = format!("ipv6/conf/{family}/disable_ipv6");
                if Sysctl(&setting).exists() {
                    Sysctl(&setting).write("1")?;
                }
            }
            let mut control = RouteControl::open()?;
            let loopback = control.interface("lo")?;
            control.set_up(loopback, None, None)?;
            let mut taps = Vec::new();
            for (position, port) in ports.iter().enumerate() {
                let tap = Tap::create(&self.device(position), port.neighbour.clone())?;
                let index = control.interface(tap.name())?;
                control.set_up(index, Some(LARGEST_MTU), Some(DEVICE_QUEUE))?;
                taps.push(tap);
            }
            Ok(taps)
        })
    }

    fn start_daemons(&mut self) -> Result<()> {
        let database = self.folder.join("conf.db");
        self.call("ovsdb-tool", [OsStr::new("create"), database.as_os_str()])?;
        let [socket, pid, control] =
            ["db.sock", "ovsdb-server.pid", "ovsdb-server.ctl"].map(|name| self.folder.join(name));
        let option = |name: &str, path: &Path| format!("{name}={}", path.display());
        let server = [
            database.display().to_string(),
            format!("--remote=punix:{}", socket.display()),
            option("--pidfile", &pid),
            option("--unixctl", &control),
        ];
        self.spawn("ovsdb-server", &server, None)?;
        self.wait_for(&socket)?;
        self.configure(&["--no-wait".to_owned(), "init".to_owned()])?;
        let [pid, control] = ["ovs-vswitchd.pid", "ovs-vswitchd.ctl"].map(|name| self.folder.join(name));
        let daemon = [format!("unix:{}", socket.display()), option("--pidfile", &pid), option("--unixctl", &control)];
        self.spawn("ovs-vswitchd", &daemon, Some(Priority::Switches.level()))
    }

    fn add_bridges(&self, count: usize) -> Result<()> {
        for switch in 0..count {
            let name = bridge(switch);
            let mut words: Vec<String> = format!(
                "add-br {name} -- set bridge {name} datapath_type=netdev fail_mode=secure protocols=OpenFlow13 \
                 other-config:datapath-id={:016x} other-config:disable-in-band=true",
                switch + 1
            )
            .split(' ')
            .map(str::to_owned)
            .collect();
            for (position, &(_, number)) in self.places.iter().enumerate().filter(|(_, place)| place.0 == switch) {
                let device = self.device(position);
                let more = format!("-- add-port {name} {device} -- set interface {device} ofport_request={number}");
                words.extend(more.split(' ').map(str::to_owned));
            }
            let more = format!(
                "-- set-controller {name} tcp:127.0.0.1:{CONTROLLER_PORT} -- set controller {name} max_backoff=1000"
            );
            words.extend(more.split(' ').map(str::to_owned));
            self.configure(&words)?;
        }
        Ok(())
    }

    fn start_controller(&mut self, controller: &OsStr, settings: &str) -> Result<()> {
        let path = self.folder.join("controller.conf");
        let whole = format!(
            "[DEFAULT]\nofp_listen_host = 127.0.0.1\nofp_tcp_listen_port = {CONTROLLER_PORT}\n[subflow]\n\
             status = 127.0.0.1:{STATUS_PORT}\n{settings}"
        );
        fs::write(&path, whole).during(|| format!("cannot write {}", path.display()))?;
        self.spawn(controller, &[format!("--config-file={}", path.display())], None)
    }

    /// The status of the controller, as JSON; `None` until it serves it.
    pub fn status(&self) -> Result<Option<String>> {
        self.namespace.run(|| {
            let Ok(mut stream) = TcpStream::connect((Ipv4Addr::LOCALHOST, STATUS_PORT)) else { return Ok(None) };
            let mut answer = String::new();
            let asked = stream
                .set_read_timeout(Some(PATIENCE))
                .and_then(|()| stream.write_all(b"GET / HTTP/1.0\r\n\r\n"))
                .and_then(|()| stream.read_to_string(&mut answer));
            Ok(asked.ok().and_then(|_| answer.split_once("\r\n\r\n")).map(|(_, body)| body.to_owned()))
        })
    }

    /// Fails if one of the processes has ended.
    pub fn check(&mut self) -> Result<()> {
        for process in &mut self.processes {
            if let Ok(Some(status)) = process.try_wait() {
                let logs = self.folder.display();
                return Err(Error::Unexpected(format!(
                    "a process of the switches ended ({status}); {}",
                    tail(&self.folder).unwrap_or_else(|| format!("nothing is in its log in {logs}"))
                )));
            }
        }
        Ok(())
    }

    /// The counters of the ports, in their order.
    pub fn port_bytes(&self) -> Result<Vec<PortBytes>> {
        let mut counters = vec![PortBytes::default(); self.places.len()];
        let count = self.places.iter().map(|&(switch, _)| switch + 1).max().unwrap_or(0);
        for switch in 0..count {
            let management = format!("unix:{}", self.folder.join(format!("{}.mgmt", bridge(switch))).display());
            let output = self.call("ovs-ofctl", ["-O", "OpenFlow13", "--no-names", "dump-ports", &management])?;
            for (number, bytes) in parse_ports(&String::from_utf8_lossy(&output.stdout)) {
                if let Some(position) = self.places.iter().position(|&place| place == (switch, number)) {
                    counters[position] = bytes;
                }
            }
        }
        Ok(counters)
    }

    /// CPU seconds that the processes have used.
    pub fn cpu_seconds(&self) -> f64 {
        /// The kernel's unit in /proc (USER_HZ).
        const TICKS_PER_SECOND: f64 = 100.0;
        let used = self.processes.iter().filter_map(|process| ProcessStat::of(process.id()));
        used.map(|stat| stat.ticks).sum::<u64>() as f64 / TICKS_PER_SECOND
    }

    /// The switch of each port, and its number there.
    pub fn places(&self) -> &[(usize, u32)] {
        &self.places
    }

    fn device(&self, position: usize) -> String {
        let (switch, number) = self.places[position];
        format!("{}p{number}", bridge(switch))
    }

    /// A command with the folder as that of Open vSwitch.
    fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        for variable in ["OVS_RUNDIR", "OVS_LOGDIR", "OVS_DBDIR", "OVS_SYSCONFDIR"] {
            command.env(variable, &self.folder);
        }
        command.stdin(Stdio::null());
        command
    }

    /// Starts a process in the namespace.
    fn spawn(&mut self, program: impl AsRef<OsStr>, arguments: &[String], priority: Option<i32>) -> Result<()> {
        let program = program.as_ref();
        let name = Path::new(program).file_name().unwrap_or(program).to_string_lossy().into_owned();
        let path = self.folder.join(format!("{name}.log"));
        let log = fs::File::create(&path).during(|| format!("cannot create {}", path.display()))?;
        let errors = log.try_clone().during(|| format!("cannot open {}", path.display()))?;
        let mut command = self.command(program);
        // Ctrl-C is for the run, which ends them.
        command.args(arguments).stdout(log).stderr(errors).process_group(0);
        let started = sys::start_in(&mut command, self.namespace.handle()?, priority);
        self.processes.push(started.during(|| format!("cannot start {name}"))?);
        Ok(())
    }

    /// Calls a command that ends.
    fn call(&self, program: &str, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Result<Output> {
        let output = self.command(program).args(arguments).output().during(|| format!("cannot start {program}"))?;
        match output.status.success() {
            true => Ok(output),
            false => {
                let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
                Err(Error::Unexpected(format!("{program} failed ({}): {said}", output.status)))
            }
        }
    }

    fn configure(&self, words: &[String]) -> Result<()> {
        let database = format!("--db=unix:{}", self.folder.join("db.sock").display());
        let options = [database, "--timeout=20".to_owned()];
        self.call("ovs-vsctl", options.iter().chain(words)).map(drop)
    }

    fn wait_for(&mut self, path: &Path) -> Result<()> {
        let begin = Instant::now();
        while !path.exists() {
            self.check()?;
            if begin.elapsed() > PATIENCE {
                return Err(Error::Unexpected(format!("{} did not appear", path.display())));
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}

/// The largest MTU of a TAP device.
const LARGEST_MTU: u32 = 65_521;

impl Drop for Switches {
    fn drop(&mut self) {
        for process in self.processes.iter_mut().rev() {
            // It may have ended already.
            let _ = process.kill();
            let _ = process.wait();
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn bridge(switch: usize) -> String {
    format!("s{}", switch + 1)
}

/// The last lines of the newest log in `folder`.
fn tail(folder: &Path) -> Option<String> {
    let logs = fs::read_dir(folder).ok()?.flatten().filter(|entry| entry.path().extension() == Some(OsStr::new("log")));
    let newest = logs.max_by_key(|entry| entry.metadata().and_then(|data| data.modified()).ok())?;
    let text = fs::read_to_string(newest.path()).ok()?;
    let lines: Vec<&str> = text.lines().rev().filter(|line| !line.is_empty()).take(3).collect();
    Some(lines.into_iter().rev().collect::<Vec<_>>().join("; "))
}

/// The counters of a port, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortBytes {
    /// Received from its link.
    pub received: u64,
    /// Sent on its link.
    pub sent: u64,
}

/// The counters that `ovs-ofctl dump-ports` prints: `port 1: rx pkts=…, bytes=…`, and `tx …` on the next line.
pub(crate) fn parse_ports(text: &str) -> Vec<(u32, PortBytes)> {
    let bytes = |line: &str| -> u64 {
        line.split("bytes=").nth(1).and_then(|rest| rest.split(',').next()?.trim().parse().ok()).unwrap_or(0)
    };
    let mut found: Vec<(u32, PortBytes)> = Vec::new();
    let mut current = None;
    for line in text.lines().map(str::trim) {
        if let Some((number, rest)) = line.strip_prefix("port").and_then(|rest| rest.split_once(':')) {
            current = number.trim().parse().ok();
            if let Some(number) = current {
                found.push((number, PortBytes { received: bytes(rest), sent: 0 }));
            }
        } else if line.starts_with("tx ")
            && current.is_some()
            && let Some((_, last)) = found.last_mut()
        {
            last.sent = bytes(line);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_a_file_or_one_in_the_path() {
        assert!(is_command(OsStr::new("sh")) && is_command(OsStr::new("/bin/sh")));
        assert!(!is_command(OsStr::new("no-such-command")) && !is_command(OsStr::new("/bin/no-such-command")));
    }

    #[test]
    fn the_counters_of_numbered_ports_are_found() {
        let text = "OFPST_PORT reply (OF1.3) (xid=0x2): 3 ports\n  port LOCAL: rx pkts=0, bytes=5, drop=0\n           \
                    tx pkts=0, bytes=6, drop=0\n           duration=3s\n  port  1: rx pkts=7, bytes=100, drop=0, errs=0\n\
                               tx pkts=8, bytes=200, drop=0\n           duration=3s\n  port 12: rx pkts=1, bytes=1, x\n\
                               tx pkts=1, bytes=2, y\n";
        let port = |received, sent| PortBytes { received, sent };
        assert_eq!(parse_ports(text), [(1, port(100, 200)), (12, port(1, 2))]);
    }
}
