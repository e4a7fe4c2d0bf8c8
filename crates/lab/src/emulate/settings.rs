//! The settings of a host's kernel, from the scenario's switches, and the switches that the kernel does not have.

use subflow_linux::KernelSettings;
use subflow_policy::catalogue::{Catalogue, Value};
use subflow_scenario::{Flow, HostStack, PerEnd, Scenario, Traffic};
use subflow_transport::tcp::config::{
    AckPolicy, Autotuning, DelayedAck, EcnMode, LossDetection, ReceiveBuffer, SendBuffer, WindowReduction,
};
use subflow_transport::{mptcp, tcp};

use super::programs;
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
    // The kernel has no QUIC, and ours has no cipher.
    if let Some(flow) = scenario.flows.iter().find(|flow| flow.protocol.quic().is_some()) {
        return Err(RunError::Scenario(format!(
            "{}: found the protocol {}, which the simulator alone has; leave out --on linux, or give the flow the \
             protocol tcp, mptcp or sctp",
            flow.key(),
            flow.protocol.name()
        )));
    }
    refuse_open_loops(scenario)?;
    if let Some(flow) = scenario.flows.iter().find(|flow| flow.video().is_some()) {
        return Err(RunError::Scenario(format!(
            "{}: video is for the simulator alone; leave out --on linux, or run a player and a server as programs",
            flow.key()
        )));
    }
    if let Some(flow) = scenario.flows.iter().find(|flow| flow.planned_exchanges().is_some()) {
        return Err(RunError::Scenario(format!(
            "{}: lists of exchanges are for the simulator alone; leave out --on linux, or run a browser and servers as \
             programs",
            flow.key()
        )));
    }
    (0..scenario.hosts.len()).map(|host| plan(scenario, host)).collect()
}

/// A program on a kernel's socket waits for the response to one request before it sends the next.
fn refuse_open_loops(scenario: &Scenario) -> Result<(), RunError> {
    let is_open = |flow: &&Flow| matches!(flow.traffic, Traffic::RequestResponse { every: Some(_), .. });
    let asks_on_kernel = |flow: &&Flow| scenario.hosts[flow.from.host].stack == HostStack::Kernel;
    match scenario.flows.iter().find(|flow| is_open(flow) && asks_on_kernel(flow)) {
        None => Ok(()),
        Some(flow) => Err(RunError::Scenario(format!(
            "{}: requests with `every` are for the simulator, and for hosts with stack = \"subflow\"; on a kernel's \
             socket requests wait for responses: give think instead",
            flow.key()
        ))),
    }
}

fn plan(scenario: &Scenario, host: usize) -> Result<Plan, RunError> {
    if scenario.hosts[host].stack != HostStack::Kernel {
        return Ok(Plan::default());
    }
    let name = &scenario.hosts[host].name;
    let is_joined = scenario.hosts[host].namespace.is_some();
    if is_joined && has_path_manager(scenario, host) {
        return Err(RunError::Scenario(format!(
            "hosts.{name}.namespace: an end of an MPTCP flow, and a path manager of programs, take settings of its \
             kernel, which an existing namespace keeps; leave out the namespace, or run a program without a path \
             manager in place of the flow"
        )));
    }
    let mut stack: Option<(Stack<'_>, &Flow)> = None;
    for flow in &scenario.flows {
        let Some(own) = own_stack(flow, host) else { continue };
        match stack {
            Some((other, first)) if other.differs(own) => return Err(differ(name, first, flow)),
            Some((other, _)) => stack = Some((Stack { mptcp: own.mptcp.or(other.mptcp), ..own }, flow)),
            None => stack = Some((own, flow)),
        }
    }
    let mut plan = Plan::default();
    if let Some((Stack { tcp, mptcp, hystart }, _)) = stack {
        plan.settings.mtu = tcp.mtu.into();
        plan.settings.initial_window = tcp.initial_window;
        // With zero the kernel would choose the number.
        plan.settings.minimum_rto_ms = tcp.min_rto.as_millis().max(1) as u32;
        plan.settings.sysctls = sysctls(tcp);
        let set = |name: &str, value: bool| (format!("mptcp/{name}"), u32::from(value).to_string());
        plan.settings.sysctls.push(set("checksum_enabled", mptcp.is_some_and(|mptcp| mptcp.checksum)));
        if let Some(count) = mptcp.map(|mptcp| mptcp.stale_loss_count).filter(|count| *count > 0) {
            plan.settings.sysctls.push(("mptcp/stale_loss_cnt".to_owned(), count.to_string()));
        }
        plan.settings.sysctls.push(set("pm_type", has_path_manager(scenario, host)));
        plan.notes =
            fixed(tcp, hystart).into_iter().map(|what| format!("{name}: Linux has no switch for {what}")).collect();
    }
    if stack.is_none() && has_path_manager(scenario, host) {
        plan.settings.sysctls.push(("mptcp/pm_type".to_owned(), "1".to_owned()));
    }
    plan.settings.congestion = programs::congestion(scenario, host)?;
    programs::path_manager(scenario, host)?;
    if is_joined {
        plan.notes = vec![format!("{name}: an existing namespace keeps its settings")];
    }
    fit_sctp(scenario, host, stack.is_some(), &mut plan.settings.mtu)?;
    fit_packets(scenario, host, stack.is_some() || has_sctp(scenario, host), &mut plan.settings.mtu)?;
    Ok(plan)
}

fn has_sctp(scenario: &Scenario, host: usize) -> bool {
    scenario.flows.iter().any(|flow| flow.protocol.sctp().is_some() && [flow.from.host, flow.to.host].contains(&host))
}

/// Makes the `mtu` of `host` that of its SCTP flows, if TCP does not need the given one.
fn fit_sctp(scenario: &Scenario, host: usize, needs: bool, mtu: &mut u32) -> Result<(), RunError> {
    for flow in &scenario.flows {
        let Some(sctp) = flow.protocol.sctp() else { continue };
        let own = match host {
            host if host == flow.from.host => sctp.ends.from.mtu,
            host if host == flow.to.host => sctp.ends.to.mtu,
            _ => continue,
        };
        if own > *mtu && needs {
            return Err(RunError::Scenario(format!(
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
        let ip_header = if flow.addresses[0].is_ipv4() { 20 } else { 40 };
        let whole = packet + UDP_HEADER + ip_header;
        if whole > if needs { *mtu } else { LARGEST_MTU } {
            return Err(RunError::Scenario(format!(
                "{}: datagrams of {packet} bytes make packets of {whole}, expected at most {mtu}, the MTU of {name}; \
                 only whole packets pass on Linux",
                flow.key()
            )));
        }
        *mtu = whole.max(*mtu);
    }
    let mut addresses = scenario.hosts[host].interfaces.iter().flat_map(|interface| &interface.addresses);
    match addresses.find(|address| address.is_ipv6()) {
        Some(address) if *mtu < SMALLEST_MTU_OF_IPV6 => Err(RunError::Scenario(format!(
            "{name}: found the address {address} and an MTU of {mtu} bytes, expected at least \
             {SMALLEST_MTU_OF_IPV6} for IPv6"
        ))),
        _ => Ok(()),
    }
}

fn differ(host: &str, first: &Flow, second: &Flow) -> RunError {
    RunError::Scenario(format!(
        "{} and {} want different switches of TCP and MPTCP on {host}; a kernel has one set for all connections of a host",
        first.name, second.name
    ))
}

/// A switch of CUBIC.
const HYSTART_OFF: (&str, Value) = ("hystart", Value::Boolean(false));

/// What the scenario sets of a kernel's TCP and MPTCP for one end of a flow.
#[derive(Clone, Copy)]
struct Stack<'a> {
    tcp: &'a tcp::Config,
    /// `None` for plain TCP.
    mptcp: Option<&'a mptcp::Config>,
    /// Whether CUBIC, if that is the congestion control, has HyStart.
    hystart: bool,
}

impl Stack<'_> {
    fn differs(&self, other: Stack<'_>) -> bool {
        let of_mptcp = |config: &mptcp::Config| {
            (
                (config.checksum, config.max_subflows, config.stale_loss_count, config.subflows_open_window),
                (config.opportunistic_retransmission, config.penalisation),
            )
        };
        let both = self.mptcp.zip(other.mptcp);
        (self.tcp, self.hystart) != (other.tcp, other.hystart)
            || both.is_some_and(|(one, other)| of_mptcp(one) != of_mptcp(other))
    }
}

/// What is set for the end of `flow` on `host`.
fn own_stack(flow: &Flow, host: usize) -> Option<Stack<'_>> {
    let hystart = flow
        .congestion()?
        .switches()
        .iter()
        .all(|switch| (switch.key, &switch.value) != (HYSTART_OFF.0, &HYSTART_OFF.1));
    let PerEnd { from, to } = flow.protocol.tcp()?;
    let mptcp = flow.protocol.mptcp().map(|mptcp| &mptcp.ends);
    let (from, to) = (
        Stack { tcp: from, mptcp: mptcp.map(|ends| ends.from.as_ref()), hystart },
        Stack { tcp: to, mptcp: mptcp.map(|ends| ends.to.as_ref()), hystart },
    );
    match host {
        host if host == flow.from.host => Some(from),
        host if host == flow.to.host => Some(to),
        _ => None,
    }
}

fn sysctls(tcp: &tcp::Config) -> Vec<(String, String)> {
    let flag = |on: bool| u32::from(on).to_string();
    let growing = |Autotuning { initial, maximum }| format!("4096 {initial} {maximum}");
    let unlimited = |bytes: u64| format!("4096 {bytes} {bytes}");
    let [delay, slack, count] = tcp.sack_compression.map_or([0; 3], |compression| {
        [compression.delay.as_nanos(), compression.slack.as_nanos(), compression.count.into()]
    });
    let values = [
        ("tcp_timestamps", flag(tcp.timestamps)),
        ("tcp_sack", flag(tcp.sack)),
        ("tcp_dsack", flag(tcp.sack)),
        ("tcp_ecn", ecn(tcp.ecn).to_owned()),
        ("tcp_syn_retries", tcp.syn_retries.clamp(1, 127).to_string()),
        ("tcp_syn_linear_timeouts", tcp.syn_linear_timeouts.to_string()),
        ("tcp_retries2", tcp.max_retries.to_string()),
        ("tcp_recovery", flag(tcp.loss_detection == LossDetection::Rack)),
        ("tcp_early_retrans", (3 * u32::from(tcp.tail_loss_probe)).to_string()),
        ("tcp_frto", (2 * u32::from(tcp.frto)).to_string()),
        ("tcp_slow_start_after_idle", flag(tcp.slow_start_after_idle)),
        ("tcp_comp_sack_delay_ns", delay.to_string()),
        ("tcp_comp_sack_slack_ns", slack.to_string()),
        ("tcp_comp_sack_nr", count.min(255).to_string()),
        ("tcp_rto_max_ms", tcp.max_rto.as_millis().clamp(1000, 120_000).to_string()),
        (
            "tcp_rmem",
            match tcp.receive_buffer {
                ReceiveBuffer::Automatic(bounds) => growing(bounds),
                ReceiveBuffer::Fixed(_) => unlimited(UNLIMITED),
            },
        ),
        (
            "tcp_wmem",
            match tcp.send_buffer {
                SendBuffer::Automatic(bounds) => growing(bounds),
                SendBuffer::Unlimited | SendBuffer::Fixed(_) => unlimited(SEND_BUFFER),
            },
        ),
    ];
    values.into_iter().map(|(name, value)| (format!("ipv4/{name}"), value)).collect()
}

/// The value of `tcp_ecn`. The kernel's DCTCP itself does what the mode of that name does beyond the request.
fn ecn(mode: EcnMode) -> &'static str {
    match mode {
        EcnMode::Off => "0",
        EcnMode::Accept => "2",
        EcnMode::Request | EcnMode::Dctcp => "1",
    }
}

/// Switches that differ from the kernel's behaviour and cannot be set there.
fn fixed(tcp: &tcp::Config, hystart: bool) -> Vec<&'static str> {
    let usual = tcp::Config::default();
    let differs = [
        (tcp.window_reduction != WindowReduction::Proportional, "prr = false"),
        (!tcp.undo, "undo = false"),
        (!hystart, "hystart = false"),
        (!tcp.window_validation, "window_validation = false"),
        (tcp.ack_policy != AckPolicy::Delayed(DelayedAck::default()), "delayed_ack"),
        (tcp.initial_rto != usual.initial_rto, "initial_rto"),
    ];
    differs.into_iter().filter(|(differs, _)| *differs).map(|(_, what)| what).collect()
}

/// Whether connections of `host` have a path manager of ours: it has an end of an MPTCP flow, or a program that wants one.
pub(super) fn has_path_manager(scenario: &Scenario, host: usize) -> bool {
    let wants = |program: &subflow_scenario::Program| program.host == host && program.path_manager.is_some();
    has_mptcp(scenario, host) || scenario.programs.iter().any(wants)
}

/// Whether `host` has an end of an MPTCP flow.
fn has_mptcp(scenario: &Scenario, host: usize) -> bool {
    let has_end = |flow: &Flow| flow.from.host == host || flow.to.host == host;
    scenario.flows.iter().any(|flow| flow.protocol.mptcp().is_some() && has_end(flow))
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
