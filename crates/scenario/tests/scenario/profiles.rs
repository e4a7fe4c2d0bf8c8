//! The profiles of the scenario reader are those of the transports.

use std::path::Path;

use subflow_policy::congestion::Growth;
use subflow_scenario::file::Document;
use subflow_scenario::{Buffer, Protocol, Scenario, TcpOptions};
use subflow_transport::tcp::config::{AckPolicy, Config, LossDetection, ReceiveBuffer, WindowReduction};

fn options(profile: &str) -> TcpOptions {
    let text = format!(
        "profile = {profile:?}\n[hosts]\na = [\"x\"]\nb = [\"x\"]\n\
         [links.l]\nbetween = [\"a\", \"b\"]\nrate = \"1 Gbit/s\"\n[flows.f]\nfrom = \"a\"\nto = \"b\"\n"
    );
    let document = Document::parse(Path::new("profile.toml"), text).expect("TOML");
    let scenario = Scenario::read(&document).expect("a good scenario");
    match &scenario.flows[0].protocol {
        Protocol::Tcp(tcp) => tcp.from_stack.tcp.clone(),
        other => panic!("tcp is the default, found {other:?}"),
    }
}

fn assert_same(ours: &TcpOptions, theirs: &Config) {
    assert_eq!((ours.mtu, ours.initial_window), (theirs.mtu, theirs.initial_window));
    assert_eq!((ours.timestamps, ours.sack), (theirs.timestamps, theirs.sack));
    assert_eq!((ours.initial_rto, ours.min_rto, ours.max_rto), (theirs.initial_rto, theirs.min_rto, theirs.max_rto));
    assert_eq!((ours.max_retries, ours.syn_retries), (theirs.max_retries, theirs.syn_retries));
    let delayed = ours.delayed_ack.expect("on by default");
    let (minimum, maximum, quick_start) = (delayed.minimum, delayed.maximum, delayed.quick_start);
    assert_eq!(AckPolicy::Delayed { segments: delayed.packets, minimum, maximum, quick_start }, theirs.ack_policy);
    let compression = |delay, slack, count| (delay, slack, count);
    assert_eq!(
        ours.sack_compression.map(|c| compression(c.delay, c.slack, c.count)),
        theirs.sack_compression.map(|c| compression(c.delay, c.slack, c.count)),
    );
    let rack = ours.loss_detection == subflow_scenario::LossDetection::Rack;
    assert_eq!(rack, theirs.loss_detection == LossDetection::Rack);
    assert_eq!(ours.prr, theirs.window_reduction == WindowReduction::Proportional);
    assert_eq!((ours.tlp, ours.frto, ours.undo), (theirs.tail_loss_probe, theirs.frto, theirs.undo));
    assert_eq!(ours.window_validation, theirs.window_validation);
    let growth = Growth { slow_start_at_threshold: ours.slow_start_at_threshold, count_acks: ours.count_acks };
    assert_eq!(growth, theirs.growth);
    assert_eq!((ours.slow_start_after_idle, ours.nagle), (theirs.slow_start_after_idle, theirs.nagle));
    let Buffer::Automatic { initial, maximum } = ours.receive_buffer else { panic!("autotuned by default") };
    assert_eq!(ReceiveBuffer::Automatic { initial, maximum }, theirs.receive_buffer);
    assert_eq!((ours.timer_tick, ours.timer_wheel), (theirs.timer_tick, theirs.timer_wheel));
}

#[test]
fn linux_6_12_is_the_transports_default() {
    assert_same(&options("linux-6.12"), &Config::default());
}

#[test]
fn mptcp_0_9_is_the_transports_linux_4_1() {
    assert_same(&options("mptcp-0.9"), &Config::linux_4_1());
}

#[test]
fn mptcp_0_90_differs_in_counting_acknowledgments() {
    let (older, newer) = (options("mptcp-0.90"), options("mptcp-0.9"));
    assert!(older.count_acks && !newer.count_acks);
    assert_eq!(TcpOptions { count_acks: false, ..older }, newer);
}
