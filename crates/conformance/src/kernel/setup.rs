//! Which scripts apply to the kernel, and its settings for one.

use std::net::IpAddr;

use subflow_linux::{KernelSettings, StreamOptions, Transport};
use subflow_quantity::Duration;
use subflow_transport::tcp::config::LossDetection;
use subflow_wire::Dscp;

use crate::script::{Script, What};
use crate::settings::Settings;

/// No script that runs against the kernel takes longer.
const LONGEST: Duration = Duration::from_secs(6);
/// What a socket of the kernel does, and settings that the kernel has.
const VERBS: [&str; 12] = [
    "listen",
    "connect",
    "write",
    "finish",
    "abort",
    "reading",
    "read",
    "stop_listening",
    "event",
    "no_event",
    "assert",
    "let",
];
const SETTINGS: [&str; 15] = [
    "mtu",
    "initial_window",
    "timestamps",
    "sack",
    "min_rto",
    "syn_retries",
    "syn_linear_timeouts",
    "tail_loss_probe",
    "frto",
    "idle_restart",
    "nagle",
    "loss_detection",
    "data_acks",
    "checksums",
    "deny_join",
];

/// The kernel of a script.
#[derive(Clone, Debug)]
pub(super) struct Setup {
    pub(super) kernel: KernelSettings,
    pub(super) stream: StreamOptions,
}

impl Setup {
    /// The setup of a script, or why the script does not apply.
    pub(super) fn of(script: &Script) -> Result<Self, String> {
        let Some(transport) = script.protocol.kernel_socket() else {
            return Err("sockets of SCTP and QUIC are not driven".to_owned());
        };
        if let Some(name) = script.settings.names().iter().find(|name| !SETTINGS.contains(name)) {
            return Err(format!("the kernel does not have the setting {name}"));
        }
        if script.addresses().iter().any(IpAddr::is_multicast) {
            return Err("a kernel does not have such an address".to_owned());
        }
        let mut at = Duration::ZERO;
        for step in &script.steps {
            let end = step.when.latest.unwrap_or(step.when.earliest);
            at = if step.when.relative { at + end } else { end };
            match &step.what {
                What::Act { verb, .. } if !VERBS.contains(&verb.as_str()) => {
                    return Err(format!("a socket of the kernel does not do {verb}"));
                }
                What::Change(change) if !matches!(change, subflow_transport::Change::Nagle(_)) => {
                    return Err("this option of a socket of the kernel does not change".to_owned());
                }
                _ => {}
            }
            if at > LONGEST {
                return Err(format!("it takes more than {} s", LONGEST.as_secs_f64()));
            }
        }
        Ok(Self { kernel: kernel_settings(&script.settings), stream: stream_options(script, transport) })
    }
}

fn kernel_settings(settings: &Settings) -> KernelSettings {
    let (tcp, mptcp) = (settings.tcp(), settings.mptcp());
    let switch = |on: bool| if on { "1" } else { "0" }.to_owned();
    let retries = tcp.syn_retries.to_string();
    let sysctls = [
        ("ipv4/tcp_congestion_control", "reno".to_owned()),
        ("ipv4/tcp_timestamps", switch(tcp.timestamps)),
        ("ipv4/tcp_sack", switch(tcp.sack)),
        ("ipv4/tcp_syn_retries", retries.clone()),
        ("ipv4/tcp_synack_retries", retries),
        ("ipv4/tcp_syn_linear_timeouts", tcp.syn_linear_timeouts.to_string()),
        ("ipv4/tcp_early_retrans", if tcp.tail_loss_probe { "3" } else { "0" }.to_owned()),
        ("ipv4/tcp_frto", if tcp.frto { "2" } else { "0" }.to_owned()),
        ("ipv4/tcp_slow_start_after_idle", switch(tcp.slow_start_after_idle)),
        ("ipv4/tcp_recovery", switch(tcp.loss_detection == LossDetection::Rack)),
        ("ipv4/tcp_ecn", "0".to_owned()),
        ("mptcp/checksum_enabled", switch(mptcp.checksum)),
        ("mptcp/allow_join_initial_addr_port", switch(!mptcp.deny_join_to_initial_address)),
    ];
    KernelSettings {
        mtu: tcp.mtu.into(),
        initial_window: tcp.initial_window,
        minimum_rto_ms: tcp.min_rto.as_millis() as u32,
        sysctls: sysctls.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        ..KernelSettings::default()
    }
}

fn stream_options(script: &Script, transport: Transport) -> StreamOptions {
    StreamOptions {
        both_families: false,
        transport,
        congestion: None,
        nagle: script.settings.tcp().nagle,
        dscp: Dscp::DEFAULT,
        receive_buffer: None,
        send_buffer: None,
    }
}
