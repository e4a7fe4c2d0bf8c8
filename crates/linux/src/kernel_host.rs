//! A host of the network that is a network namespace.

use std::io::ErrorKind;
use std::net::IpAddr;

use crate::error::{Error, Result, While};
use crate::netlink::{MptcpPathManager, Route, RouteControl};
use crate::{Counters, Device, DeviceKind, InterfaceDrops, Namespace, Sysctl, interface_drops};

/// An interface of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelInterface {
    /// Its name. The device has the same name, shortened if necessary.
    pub name: String,
    /// Its addresses, at least one.
    pub addresses: Vec<IpAddr>,
}

/// The settings of a host's kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelSettings {
    /// The kind of its devices.
    pub device: DeviceKind,
    /// MTU of all interfaces in bytes.
    pub mtu: u32,
    /// TCP's initial congestion window in packets.
    pub initial_window: u32,
    /// Lower bound of TCP's retransmission timeout in milliseconds.
    pub minimum_rto_ms: u32,
    /// The congestion control of all connections over its interfaces, by the kernel's name. Default: what each socket
    /// has.
    pub congestion: Option<String>,
    /// Settings below `/proc/sys/net`, with their values. Settings that this kernel does not have are reported by
    /// [`KernelHost::unknown_settings`].
    pub sysctls: Vec<(String, String)>,
    /// The existing namespace that becomes the host, as [`Namespace::join`] takes it. Settings of the kernel stay as they
    /// are in it. Default: a new one.
    pub namespace: Option<String>,
}

impl Default for KernelSettings {
    fn default() -> Self {
        Self {
            device: DeviceKind::default(),
            mtu: 1500,
            initial_window: 10,
            minimum_rto_ms: 200,
            congestion: None,
            sysctls: Vec::new(),
            namespace: None,
        }
    }
}

/// A network namespace with a device for each interface. Every address has its own route through its own device.
#[derive(Debug)]
pub struct KernelHost {
    namespace: Namespace,
    devices: Vec<String>,
    addresses: Vec<HostAddress>,
    unknown_settings: Vec<String>,
    /// Whether the namespace stays when this is dropped, and has settings of its own.
    is_joined: bool,
}

/// An address with its route.
#[derive(Clone, Debug)]
struct HostAddress {
    route: Route,
    /// The number of its routing table.
    table: u32,
    /// Whether its route is also that of packets without a source address.
    is_main: bool,
}

/// Queue length of the devices, in packets. It is not a queue of the scenario, so it must not overflow.
const DEVICE_QUEUE: u32 = 10_000;
/// The number of the first routing table of an interface.
const FIRST_TABLE: u32 = 1000;
/// The maximum that MPTCP's in-kernel path manager accepts.
const MAX_SUBFLOWS: u32 = 8;
const LOOPBACK: u32 = 1;

/// Settings of every host: no reverse-path filter, and no TCP metrics saved from earlier runs.
const COMMON_SYSCTLS: [(&str, &str); 4] = [
    ("ipv4/conf/all/rp_filter", "0"),
    ("ipv4/conf/default/rp_filter", "0"),
    ("ipv4/tcp_no_metrics_save", "1"),
    ("ipv6/conf/default/accept_ra", "0"),
];

impl KernelHost {
    /// Creates the host `name`. Returns it with our ends of its interfaces, in their order.
    pub fn create(
        name: &str,
        interfaces: &[KernelInterface],
        settings: &KernelSettings,
    ) -> Result<(Self, Vec<Device>)> {
        let joined = settings.namespace.as_deref();
        let namespace = joined.map_or_else(|| Namespace::create(name), |existing| Namespace::join(name, existing))?;
        let (ends, devices, addresses, unknown_settings) = namespace.run(|| {
            let devices = device_names(interfaces, &present_devices()?);
            let unknown = if joined.is_none() { apply(&settings.sysctls)? } else { Vec::new() };
            let mut control = RouteControl::open()?;
            control.set_up(LOOPBACK, None, None)?;
            let (mut ends, mut addresses) = (Vec::new(), Vec::new());
            for (position, (interface, device)) in interfaces.iter().zip(&devices).enumerate() {
                ends.push(Device::create(settings.device, device)?);
                addresses.extend(connect(&mut control, position, interface, device, settings)?);
            }
            if let (None, Ok(mut path_manager)) = (joined, MptcpPathManager::open()) {
                path_manager.set_limits(MAX_SUBFLOWS, MAX_SUBFLOWS)?;
            }
            Ok((ends, devices, addresses, unknown))
        })?;
        Ok((Self { namespace, devices, addresses, unknown_settings, is_joined: joined.is_some() }, ends))
    }

    /// The namespace.
    pub fn namespace(&self) -> &Namespace {
        &self.namespace
    }

    /// The names of its devices, in the order of its interfaces.
    pub fn devices(&self) -> &[String] {
        &self.devices
    }

    /// Takes an address away, or gives it back, with its routes. Nothing happens if that is so already, or if the host
    /// never had it.
    pub fn set_present(&self, address: IpAddr, present: bool) -> Result<()> {
        let Some(HostAddress { route, table, is_main }) =
            self.addresses.iter().find(|known| known.route.source == address)
        else {
            return Ok(());
        };
        self.namespace.run(|| {
            let mut control = RouteControl::open()?;
            if !present {
                return unless(ErrorKind::AddrNotAvailable, control.remove_address(route.interface, address));
            }
            unless(ErrorKind::AlreadyExists, control.add_address(route.interface, address))?;
            control.restore_route(*table, route)?;
            if *is_main { control.restore_main_route(route) } else { Ok(()) }
        })
    }

    /// Requested settings that this kernel does not have.
    pub fn unknown_settings(&self) -> &[String] {
        &self.unknown_settings
    }

    /// The counters of its kernel.
    pub fn counters(&self) -> Result<Counters> {
        self.namespace.run(Counters::read)
    }

    /// The drops of its devices.
    pub fn drops(&self) -> Result<InterfaceDrops> {
        self.namespace.run(|| interface_drops(self.devices.iter().map(String::as_str)))
    }

    /// Runs `work` with the MPTCP path managers of its kernel.
    pub fn with_path_manager<T: Send>(
        &self,
        work: impl FnOnce(&mut MptcpPathManager) -> Result<T> + Send,
    ) -> Result<T> {
        self.namespace.run(|| work(&mut MptcpPathManager::open()?))
    }
}

impl Drop for KernelHost {
    fn drop(&mut self) {
        if !self.is_joined {
            return;
        }
        // Addresses and routes go with the devices, rules do not. It fails only if the namespace has lost them already.
        let _ = self.namespace.run(|| {
            let mut control = RouteControl::open()?;
            for HostAddress { route, table, .. } in &self.addresses {
                let _ = control.remove_rule(*table, route.source);
            }
            Ok(())
        });
    }
}

/// Applies the settings of every host and these in the calling thread's namespace. Returns those that this kernel does
/// not have.
fn apply(sysctls: &[(String, String)]) -> Result<Vec<String>> {
    for (name, value) in COMMON_SYSCTLS {
        if Sysctl(name).exists() {
            Sysctl(name).write(value)?;
        }
    }
    let mut unknown = Vec::new();
    for (name, value) in sysctls {
        match Sysctl(name).exists() {
            true => Sysctl(name).write(value)?,
            false => unknown.push(name.clone()),
        }
    }
    Ok(unknown)
}

/// The outcome without this error.
fn unless(harmless: ErrorKind, outcome: Result<()>) -> Result<()> {
    match outcome {
        Err(Error::System { source, .. }) if source.kind() == harmless => Ok(()),
        outcome => outcome,
    }
}

fn connect(
    control: &mut RouteControl,
    position: usize,
    interface: &KernelInterface,
    device: &str,
    settings: &KernelSettings,
) -> Result<Vec<HostAddress>> {
    let index = control.interface(device)?;
    control.set_up(index, Some(settings.mtu), Some(DEVICE_QUEUE))?;
    control.set_single_segments(index)?;
    let (mut main_families, mut addresses) = (Vec::new(), Vec::new());
    for (number, &source) in interface.addresses.iter().enumerate() {
        control.add_address(index, source)?;
        let route = Route {
            interface: index,
            source,
            initial_window: settings.initial_window,
            minimum_rto_ms: settings.minimum_rto_ms,
            congestion: settings.congestion.clone(),
        };
        // One table per address, because a route also contains the source address.
        let table = FIRST_TABLE + (position * 256 + number) as u32;
        // In a namespace that stays, a killed process has left its rule.
        unless(ErrorKind::AlreadyExists, control.add_route_from(table, &route))?;
        let is_main = position == 0 && !main_families.contains(&source.is_ipv4());
        if is_main {
            main_families.push(source.is_ipv4());
            control.add_main_route(&route).map_err(|error| match (&settings.namespace, &error) {
                (Some(existing), Error::System { source, .. }) if source.kind() == ErrorKind::AlreadyExists => {
                    let missing = format!("the network namespace {existing:?} has a default route already");
                    Error::missing(missing, "remove it, or start the container without a network (--network none)")
                }
                _ => error,
            })?;
        }
        addresses.push(HostAddress { route, table, is_main });
    }
    Ok(addresses)
}

/// The longest name of a device in bytes (Linux `IFNAMSIZ`, without its end).
const LONGEST_NAME: usize = 15;
/// Names that the kernel keeps for itself: `/proc/sys/net/ipv4/conf` has them beside those of the devices.
const RESERVED: [&str; 2] = ["all", "default"];

/// The names of the devices: those of the interfaces where the kernel takes them and no device is `present` under that
/// name, else ones made of the position. None occurs twice.
fn device_names(interfaces: &[KernelInterface], present: &[String]) -> Vec<String> {
    let is_taken = |name: &str| RESERVED.contains(&name) || present.iter().any(|known| known == name);
    let allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let serves = |name: &str| {
        (1..=LONGEST_NAME).contains(&name.len())
            && name.chars().all(allowed)
            && name != "."
            && name != ".."
            && !is_taken(name)
    };
    let mut names: Vec<Option<String>> = Vec::new();
    for KernelInterface { name, .. } in interfaces {
        let own = Some(name.clone()).filter(|name| serves(name));
        names.push(own.filter(|own| !names.iter().flatten().any(|other| other == own)));
    }
    for position in 0..names.len() {
        if names[position].is_some() {
            continue;
        }
        let plain: String = interfaces[position].name.chars().filter(|&c| allowed(c)).collect();
        let numbered = (0..).map(|number| format!("if{position}.{number}"));
        let mut candidates = [format!("if{position}-{plain:.8}")].into_iter().chain(numbered);
        names[position] = candidates.find(|name| serves(name) && !names.iter().flatten().any(|other| other == name));
    }
    names.into_iter().flatten().collect()
}

/// The names of the devices in the calling thread's network namespace.
fn present_devices() -> Result<Vec<String>> {
    const LIST: &str = "/proc/thread-self/net/dev";
    let text = std::fs::read_to_string(LIST).during(|| format!("cannot read {LIST}"))?;
    Ok(text.lines().filter_map(|line| Some(line.split_once(':')?.0.trim().to_owned())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(wanted: &[&str], present: &[&str]) -> Vec<String> {
        let interface = |name: &&str| KernelInterface { name: (*name).into(), addresses: Vec::new() };
        let interfaces: Vec<_> = wanted.iter().map(interface).collect();
        device_names(&interfaces, &present.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn device_names_are_short_and_unique() {
        let wanted = ["wifi", "lo", "a long name of an interface", "ü"];
        assert_eq!(names(&wanted, &["lo"]), ["wifi", "if1-lo", "if2-alongnam", "if3-"]);
    }

    #[test]
    fn names_that_the_kernel_refuses_are_replaced() {
        assert_eq!(names(&["all", "default", "tunl0"], &["lo", "tunl0"]), ["if0-all", "if1-default", "if2-tunl0"]);
    }

    #[test]
    fn replaced_names_do_not_clash_with_names_of_interfaces() {
        assert_eq!(names(&["all", "if0-all", "if0.0"], &["lo"]), ["if0.1", "if0-all", "if0.0"]);
        let many: Vec<String> = (0..250).map(|n| format!("an-interface-with-a-long-name-{n}")).collect();
        let many = names(&many.iter().map(String::as_str).collect::<Vec<_>>(), &["lo"]);
        assert!(many.iter().all(|name| name.len() <= LONGEST_NAME));
        assert_eq!(many.iter().collect::<std::collections::BTreeSet<_>>().len(), 250);
    }
}
