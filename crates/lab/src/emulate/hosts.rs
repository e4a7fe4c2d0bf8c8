//! The scenario's hosts that run the kernel's stack.

use std::collections::BTreeMap;

use subflow_linux::{Device, DeviceKind, InterfaceDrops, KernelHost, KernelInterface, KernelSettings, Result};
use subflow_network::{HostId, InterfaceId};
use subflow_scenario::{HostStack, Scenario};

use super::settings::Plan;
use crate::simulate::build::Run;

/// Our end of a kernel's interface, and the interface of the network that it stands for.
type Port = (HostId, InterfaceId, Device);

/// The namespaces of a run. They are removed when this is dropped.
pub(super) struct KernelHosts {
    /// By scenario host; `None` for hosts with our stack.
    hosts: Vec<Option<KernelHost>>,
    names: Vec<String>,
}

impl KernelHosts {
    /// Creates the namespaces and their interfaces, and applies the scenario's settings. Returns our ends of the
    /// interfaces.
    pub(super) fn create(
        scenario: &Scenario,
        run: &Run,
        plans: &[Plan],
        device: DeviceKind,
    ) -> Result<(Self, Vec<Port>)> {
        let (mut hosts, mut ports) = (Vec::new(), Vec::new());
        for (index, host) in scenario.hosts.iter().enumerate() {
            if host.stack != HostStack::Kernel {
                hosts.push(None);
                continue;
            }
            let interface = |interface: &subflow_scenario::Interface| KernelInterface {
                name: interface.name.clone(),
                addresses: interface.addresses.clone(),
            };
            let interfaces: Vec<KernelInterface> = host.interfaces.iter().map(interface).collect();
            let namespace = host.namespace.clone();
            let settings = KernelSettings { device, namespace, ..plans[index].settings.clone() };
            let (kernel, ends) = KernelHost::create(&host.name, &interfaces, &settings)?;
            ports.extend(run.interfaces[index].iter().zip(ends).map(|(&id, end)| (HostId::from_index(index), id, end)));
            hosts.push(Some(kernel));
        }
        let names = scenario.hosts.iter().map(|host| host.name.clone()).collect();
        Ok((Self { hosts, names }, ports))
    }

    /// The namespace of a scenario host, if it has one.
    pub(super) fn get(&self, host: usize) -> Option<&KernelHost> {
        self.hosts[host].as_ref()
    }

    /// The packets that all devices dropped.
    pub(super) fn drops(&self) -> Result<InterfaceDrops> {
        let mut all = InterfaceDrops::default();
        for host in self.hosts.iter().flatten() {
            let drops = host.drops()?;
            all.outgoing += drops.outgoing;
            all.incoming += drops.incoming;
        }
        Ok(all)
    }

    /// The MPTCP counters that are not zero, by host.
    pub(super) fn mptcp_counters(&self) -> Result<BTreeMap<String, BTreeMap<String, i64>>> {
        let mut all = BTreeMap::new();
        for (host, name) in self.hosts.iter().zip(&self.names) {
            if let Some(host) = host {
                let counters = host.counters()?;
                let raised: BTreeMap<String, i64> =
                    counters.raised("MPTcpExt").map(|(name, value)| (name.to_owned(), value)).collect();
                if !raised.is_empty() {
                    all.insert(name.clone(), raised);
                }
            }
        }
        Ok(all)
    }

    /// Settings that a kernel does not have, by host.
    pub(super) fn unknown_settings(&self) -> impl Iterator<Item = (&str, &str)> {
        self.hosts.iter().zip(&self.names).flat_map(|(host, name)| {
            let unknown = host.as_ref().map_or(&[][..], KernelHost::unknown_settings);
            unknown.iter().map(move |setting| (name.as_str(), setting.as_str()))
        })
    }
}
