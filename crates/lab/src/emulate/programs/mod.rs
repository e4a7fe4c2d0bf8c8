//! The programs of a scenario in the namespaces of its hosts.
//!
//! | to find | look in |
//! |---|---|
//! | what a program needs of the machine, and its command line | `command.rs` |
//! | when programs start and end | `supervisor.rs` |
//! | what they print | `output.rs` |
//! | congestion control and path manager of their hosts | `kernel.rs` |

mod command;
mod kernel;
mod output;
mod supervisor;

use std::fmt::Write as _;
use std::sync::PoisonError;
use std::thread::{Scope, ScopedJoinHandle};

use subflow_linux::netlink::{Endpoint, EndpointFlags};
use subflow_linux::{Container, Interrupt, Sysctl, WallClock};
use subflow_scenario::{After, Host, HostStack, Scenario};

use super::connections::{Connections, Groups};
use super::hosts::KernelHosts;
use super::settings::has_path_manager;
use crate::RunError;
use crate::program_output::ProgramOutput;
use crate::results::ProgramResult;
pub(super) use command::{PROGRAM_VARIABLE, check};
pub(super) use kernel::{congestion, needs, path_manager};
use supervisor::Supervisor;

/// The containers of the hosts in which programs run. They and their processes are removed when this is dropped.
pub(super) struct Containers {
    /// By scenario host; `None` for hosts that no program needs.
    of_hosts: Vec<Option<Container>>,
    groups: Groups,
}

impl Containers {
    /// Creates the containers that the programs need. The calling thread must live as long as they do.
    pub(super) fn create(scenario: &Scenario, hosts: &KernelHosts) -> subflow_linux::Result<Self> {
        let containers = Self::create_where(scenario, hosts, |index| is_needed(scenario, index))?;
        if !scenario.programs.is_empty() {
            add_endpoints(scenario, hosts)?;
        }
        Ok(containers)
    }

    /// Creates one for each host with a kernel. The calling thread must live as long as they do.
    pub(super) fn create_everywhere(scenario: &Scenario, hosts: &KernelHosts) -> subflow_linux::Result<Self> {
        let containers = Self::create_where(scenario, hosts, |_| true)?;
        if Sysctl("mptcp/enabled").exists() {
            add_endpoints(scenario, hosts)?;
        }
        Ok(containers)
    }

    fn create_where(
        scenario: &Scenario,
        hosts: &KernelHosts,
        is_needed: impl Fn(usize) -> bool,
    ) -> subflow_linux::Result<Self> {
        let names = host_names(scenario);
        let mut of_hosts = Vec::new();
        for index in 0..scenario.hosts.len() {
            let container = match hosts.get(index) {
                Some(kernel) if is_needed(index) => Some(Container::create(kernel.namespace(), &names)?),
                _ => None,
            };
            of_hosts.push(container);
        }
        Ok(Self { of_hosts, groups: Groups::default() })
    }

    /// That of a host, if it has one.
    pub(super) fn of_host(&self, host: usize) -> Option<&Container> {
        self.of_hosts[host].as_ref()
    }

    fn get(&self, host: usize) -> &Container {
        self.of_host(host).expect("a host that a program names has a container")
    }

    /// Notes that a program leads the process group with this number.
    fn note_group(&self, group: u32, program: &str) {
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        groups.insert(group, program.to_owned());
    }

    /// Begins to record the connections of programs, if there are any.
    pub(super) fn record<'a>(
        &'a self,
        scenario: &'a Scenario,
        hosts: &'a KernelHosts,
        with_series: bool,
        clock: WallClock,
    ) -> subflow_linux::Result<Option<Connections<'a>>> {
        let record = || Connections::record(scenario, hosts, &self.groups, with_series, clock);
        (!scenario.programs.is_empty()).then(record).transpose()
    }

    /// Begins to record the connections of whatever runs in the hosts, with metrics over time.
    pub(super) fn record_all<'a>(
        &'a self,
        scenario: &'a Scenario,
        hosts: &'a KernelHosts,
        clock: WallClock,
    ) -> subflow_linux::Result<Connections<'a>> {
        Connections::record(scenario, hosts, &self.groups, true, clock)
    }

    /// Kills all processes in the containers.
    fn kill(&self) {
        self.of_hosts.iter().flatten().for_each(Container::kill);
    }

    /// Starts the thread that starts and ends the programs, if there are any, until `stop` is raised.
    pub(super) fn start<'scope, 'env>(
        &'env self,
        scope: &'scope Scope<'scope, 'env>,
        scenario: &'env Scenario,
        (output, run): (&'env ProgramOutput, usize),
        clock: WallClock,
        stop: &Interrupt,
    ) -> Option<ScopedJoinHandle<'scope, Result<Vec<ProgramResult>, RunError>>> {
        if scenario.programs.is_empty() {
            return None;
        }
        let supervisor = Supervisor::new(scenario, self, (output, run), clock, stop.clone());
        Some(scope.spawn(move || supervisor.run()))
    }
}

/// Whether a program runs in this host, or waits for a port of it.
fn is_needed(scenario: &Scenario, index: usize) -> bool {
    scenario.programs.iter().any(|program| {
        program.host == index || matches!(program.after, Some(After::Listens { host, .. }) if host == index)
    })
}

/// The text of `/etc/hosts`: a host's name for each of its addresses, and `HOST.INTERFACE` for those of an interface.
fn host_names(scenario: &Scenario) -> String {
    let mut text = "127.0.0.1 localhost\n::1 localhost\n".to_owned();
    for host in &scenario.hosts {
        for interface in &host.interfaces {
            for address in &interface.addresses {
                let _ = writeln!(text, "{address} {} {}.{}", host.name, host.name, interface.name);
            }
        }
    }
    text
}

/// Has the kernel's own path manager open subflows from each address of a host with several to each address of the
/// peer. Hosts with a path manager in user space cannot have that of the kernel as well.
fn add_endpoints(scenario: &Scenario, hosts: &KernelHosts) -> subflow_linux::Result<()> {
    let flags = |backup| EndpointFlags { subflow: true, fullmesh: true, backup, ..EndpointFlags::default() };
    for (index, host) in scenario.hosts.iter().enumerate() {
        let Some(kernel) = hosts.get(index).filter(|_| !has_path_manager(scenario, index) && takes_endpoints(host))
        else {
            continue;
        };
        kernel.with_path_manager(|path_manager| {
            for interface in &host.interfaces {
                for &address in &interface.addresses {
                    let endpoint = Endpoint { id: None, address, port: None, flags: flags(interface.backup) };
                    path_manager.add_endpoint(&endpoint)?;
                }
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Whether a host has several addresses, and a namespace whose settings are ours.
fn takes_endpoints(host: &Host) -> bool {
    let is_ours = host.stack == HostStack::Kernel && host.namespace.is_none();
    is_ours && host.interfaces.iter().map(|known| known.addresses.len()).sum::<usize>() > 1
}
