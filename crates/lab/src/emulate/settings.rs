//! The settings of a host's kernel, from the scenario's switches, and the switches that the kernel does not have.

use subflow_linux::KernelSettings;
use subflow_quantity::Duration;
use subflow_scenario::{Buffer, Flow, HostStack, LossDetection, Protocol, Scenario, Stack, TcpOptions, Traffic};

use super::addresses::address;
use super::paths::has_mptcp;
use crate::RunError;

/// The settings of a host's kernel.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    pub(super) settings: KernelSettings,
    /// Switches that the kernel does not have.
    pub(super) notes: Vec<String>,
}

/// The size in bytes of a receive buffer that never limits the window.
const UNLIMITED: u64 = 1 << 30;
/// The size in bytes of a send buffer that hardly ever limits what is written; the kernel fills it with greedy data.
const SEND_BUFFER: u64 = 1 << 26;

/// The plans of all hosts, in the scenario's order.
pub(super) fn plans(scenario: &Scenario) -> Result<Vec<Plan>, RunError> {
    (0..scenario.hosts.len()).map(|host| plan(scenario, host)).collect()
}

fn plan(scenario: &Scenario, host: usize) -> Result<Plan, RunError> {
    if scenario.hosts[host].stack != HostStack::Kernel {
        return Ok(Plan::default());
    }
    let name = &scenario.hosts[host].name;
    let mut stack: Option<(&Stack, &Flow)> = None;
    for flow in &scenario.flows {
        let Some(own) = own_stack(flow, host) else { continue };
        match stack {
            Some((other, first)) if other != own => return Err(differ(name, first, flow)),
            _ => stack = Some((own, flow)),
        }
    }
    let mut plan = Plan::default();
    if let Some((stack, _)) = stack {
        plan.settings.mtu = stack.tcp.mtu.into();
        plan.settings.initial_window = stack.tcp.initial_window;
        // With zero the kernel would choose the number.
        plan.settings.minimum_rto_ms = stack.tcp.min_rto.as_millis().max(1) as u32;
        plan.settings.sysctls = sysctls(&stack.tcp);
        let set = |name: &str, value: bool| (format!("mptcp/{name}"), u32::from(value).to_string());
        plan.settings.sysctls.push(set("checksum_enabled", stack.mptcp.checksum));
        if stack.mptcp.stale_loss_count > 0 {
            let count = stack.mptcp.stale_loss_count.to_string();
            plan.settings.sysctls.push(("mptcp/stale_loss_cnt".to_owned(), count));
        }
        plan.settings.sysctls.push(set("pm_type", has_mptcp(scenario, host)));
        plan.notes =
            fixed(&stack.tcp).into_iter().map(|what| format!("{name}: Linux has no switch for {what}")).collect();
    }
    fit_sctp(scenario, host, stack.is_some(), &mut plan.settings.mtu)?;
    fit_packets(scenario, host, stack.is_some() || has_sctp(scenario, host), &mut plan.settings.mtu)?;
    Ok(plan)
}

fn has_sctp(scenario: &Scenario, host: usize) -> bool {
    scenario
        .flows
        .iter()
        .any(|flow| matches!(flow.protocol, Protocol::Sctp(_)) && [flow.from.host, flow.to.host].contains(&host))
}

/// Makes the `mtu` of `host` that of its SCTP flows, if TCP does not need the given one.
fn fit_sctp(scenario: &Scenario, host: usize, needs: bool, mtu: &mut u32) -> Result<(), RunError> {
    for flow in &scenario.flows {
        let Protocol::Sctp(sctp) = &flow.protocol else { continue };
        let stack = match host {
            host if host == flow.from.host => &sctp.from_stack,
            host if host == flow.to.host => &sctp.to_stack,
            _ => continue,
        };
        let own = u32::from(stack.sctp.mtu);
        if own > *mtu && needs {
            return Err(RunError::refused(format!(
                "{}: found an MTU of {own} bytes, expected at most {mtu}, that of TCP on {}; the packets of both leave \
                 through the same devices",
                flow.key(),
                scenario.hosts[host].name
            )));
        }
        *mtu = own.max(*mtu);
    }
    Ok(())
}

/// Checks that the packets of `host` fit into its `mtu`, because the network carries no fragments. The MTU may grow if
/// no flow `needs` the given one.
fn fit_packets(scenario: &Scenario, host: usize, needs: bool, mtu: &mut u32) -> Result<(), RunError> {
    const LARGEST_MTU: u32 = 65_535;
    const SMALLEST_MTU_OF_IPV6: u32 = 1280;
    const UDP_HEADER: u32 = 8;
    let name = &scenario.hosts[host].name;
    for flow in scenario.flows.iter().filter(|flow| flow.from.host == host || flow.to.host == host) {
        let Traffic::OnOff { packet, .. } = flow.traffic else { continue };
        let ip_header = if address(scenario, flow.from).is_ipv4() { 20 } else { 40 };
        let whole = packet + UDP_HEADER + ip_header;
        if whole > if needs { *mtu } else { LARGEST_MTU } {
            return Err(RunError::refused(format!(
                "{}: datagrams of {packet} bytes make packets of {whole}, expected at most {mtu}, the MTU of {name}; \
                 only whole packets pass on Linux",
                flow.key()
            )));
        }
        *mtu = whole.max(*mtu);
    }
    let mut addresses = scenario.hosts[host].interfaces.iter().flat_map(|interface| &interface.addresses);
    match addresses.find(|address| address.is_ipv6()) {
        Some(address) if *mtu < SMALLEST_MTU_OF_IPV6 => Err(RunError::refused(format!(
            "{name}: found the address {address} and an MTU of {mtu} bytes, expected at least \
             {SMALLEST_MTU_OF_IPV6} for IPv6"
        ))),
        _ => Ok(()),
    }
}

fn differ(host: &str, first: &Flow, second: &Flow) -> RunError {
    RunError::refused(format!(
        "{} and {} want different switches of TCP and MPTCP on {host}; a kernel has one set for all connections of a host",
        first.name, second.name
    ))
}

/// The stack switches of `host` in `flow`.
fn own_stack(flow: &Flow, host: usize) -> Option<&Stack> {
    let [from, to] = match &flow.protocol {
        Protocol::Tcp(tcp) => [&tcp.from_stack, &tcp.to_stack],
        Protocol::Mptcp(mptcp) => [&mptcp.from_stack, &mptcp.to_stack],
        Protocol::Sctp(_) | Protocol::Udp => return None,
    };
    match host {
        host if host == flow.from.host => Some(from),
        host if host == flow.to.host => Some(to),
        _ => None,
    }
}

fn sysctls(tcp: &TcpOptions) -> Vec<(String, String)> {
    let flag = |on: bool| u32::from(on).to_string();
    let sizes = |buffer, unlimited| match buffer {
        Buffer::Automatic { initial, maximum } => format!("4096 {initial} {maximum}"),
        Buffer::Unlimited | Buffer::Fixed(_) => format!("4096 {unlimited} {unlimited}"),
    };
    let [delay, slack, count] = tcp.sack_compression.map_or([0; 3], |compression| {
        [compression.delay.as_nanos(), compression.slack.as_nanos(), compression.count.into()]
    });
    let values = [
        ("tcp_timestamps", flag(tcp.timestamps)),
        ("tcp_sack", flag(tcp.sack)),
        ("tcp_dsack", flag(tcp.sack)),
        ("tcp_ecn", "0".to_owned()),
        ("tcp_syn_retries", tcp.syn_retries.clamp(1, 127).to_string()),
        ("tcp_retries2", tcp.max_retries.to_string()),
        ("tcp_recovery", flag(tcp.loss_detection == LossDetection::Rack)),
        ("tcp_early_retrans", (3 * u32::from(tcp.tlp)).to_string()),
        ("tcp_frto", (2 * u32::from(tcp.frto)).to_string()),
        ("tcp_slow_start_after_idle", flag(tcp.slow_start_after_idle)),
        ("tcp_comp_sack_delay_ns", delay.to_string()),
        ("tcp_comp_sack_slack_ns", slack.to_string()),
        ("tcp_comp_sack_nr", count.min(255).to_string()),
        ("tcp_rto_max_ms", tcp.max_rto.as_millis().clamp(1000, 120_000).to_string()),
        ("tcp_rmem", sizes(tcp.receive_buffer, UNLIMITED)),
        ("tcp_wmem", sizes(tcp.send_buffer, SEND_BUFFER)),
    ];
    values.into_iter().map(|(name, value)| (format!("ipv4/{name}"), value)).collect()
}

/// Switches that differ from the kernel's behaviour and cannot be set there.
fn fixed(tcp: &TcpOptions) -> Vec<&'static str> {
    let delayed = tcp.delayed_ack.is_some_and(|delayed| {
        delayed.quick_start
            && delayed.packets == 2
            && delayed.minimum == Duration::from_millis(40)
            && delayed.maximum == Duration::from_millis(200)
    });
    let differs = [
        (!tcp.prr, "prr = false"),
        (!tcp.undo, "undo = false"),
        (!tcp.hystart, "hystart = false"),
        (!tcp.window_validation, "window_validation = false"),
        (!delayed, "delayed_ack"),
        (tcp.initial_rto != Duration::from_secs(1), "initial_rto"),
    ];
    differs.into_iter().filter(|(differs, _)| *differs).map(|(_, what)| what).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use subflow_scenario::file::Document;

    use super::*;

    const TEXT: &str = "duration = '1 s'\n[hosts]\na = ['eth']\nb = ['eth']\n[links.wire]\nbetween = ['a.eth', 'b.eth']\n\
                        rate = '1 Mbit/s'\n[flows.file]\nfrom = 'a'\nto = 'b'\n";

    #[test]
    fn a_kernel_has_the_buffers_of_the_scenario() {
        let buffers = |text: &str| {
            let document = Document::parse(Path::new("buffers.toml"), text.to_owned()).expect("TOML");
            let plans = plans(&Scenario::read(&document).expect("a good scenario")).expect("a kernel has them");
            let sysctls = plans[0].settings.sysctls.iter();
            sysctls.filter(|(name, _)| name.ends_with("mem")).map(|(_, value)| value.clone()).collect::<Vec<_>>()
        };
        assert_eq!(buffers(TEXT), ["4096 131072 16777216", "4096 16384 16777216"]);
        let fixed = format!("tcp = {{ send_buffer = '1 MiB', receive_buffer = '1 MiB' }}\n{TEXT}");
        assert_eq!(buffers(&fixed), ["4096 1073741824 1073741824", "4096 67108864 67108864"], "sockets set their own");
    }
}
