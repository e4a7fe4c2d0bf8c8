//! What arrives over paths of limited rates: the sum of what their shapers let through, on any machine. How much the
//! proxy carries without limits depends on the machine, and is a matter of `benches/throughput.rs`.
//!
//! Whatever else runs on the machine makes a transfer slower and never faster. So the proxy and its peers run before
//! other processes, where that is permitted, and each transfer has three attempts: a fault of the proxy is in all of them.

use crate::setup::{Process, Setup, machine_serves, pattern};

/// Rates of the two paths, in Mbit/s on an Ethernet.
const RATES: [u32; 2] = [40, 20];
/// Payload of a full-sized packet (1500 bytes without the headers of IPv4 and TCP, timestamps and a DSS, or without the
/// DSS), and its bytes on an Ethernet, which `tc` counts.
const PAYLOAD: f64 = 1428.0;
const PAYLOAD_OF_TCP: f64 = 1448.0;
const ON_THE_WIRE: f64 = 1514.0;
const ATTEMPTS: usize = 3;

/// A transfer whose bytes are all right.
#[derive(Debug)]
struct Transfer {
    /// From the connection to the proxy to the last byte, as curl measures it.
    seconds: f64,
    /// Bytes that left the server on each path, with the headers of each packet, or of those that were sent as one.
    sent: [f64; 2],
}

impl Transfer {
    /// Fetches a file of so many bytes.
    fn of(setup: &Setup, length: usize) -> Self {
        let before = [0, 1].map(|path| setup.bytes_sent(path));
        let mut curl = setup.curl_command("socks5h", &format!("http://10.99.0.1/{length}"));
        let output = curl.args(["-w", "%{stderr}%{time_total}"]).output().expect("curl runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && output.stdout == pattern(length), "{:?} {said}", output.status);
        let sent = [0, 1].map(|path| (setup.bytes_sent(path) - before[path]) as f64);
        Self { seconds: said.parse().expect("curl tells the time"), sent }
    }
}

/// Paths of these rates, a server, and a proxy.
fn shaped(test: &str, mptcp: bool) -> Option<(Setup, Process, Process)> {
    let mut setup = machine_serves(test)?;
    setup.go_first();
    for (path, rate) in RATES.into_iter().enumerate() {
        setup.shape(path, rate);
    }
    let (server, proxy) = (setup.serve(mptcp), setup.proxy(&["c0", "c1"]));
    Some((setup, server, proxy))
}

/// Asserts that one of the attempts is as expected, and none faster than the paths are.
fn assert_one(mut transfer: impl FnMut() -> Transfer, least_seconds: f64, is_expected: impl Fn(&Transfer) -> bool) {
    let mut seen = Vec::new();
    for _ in 0..ATTEMPTS {
        let transfer = transfer();
        assert!(transfer.seconds >= least_seconds, "faster than the paths are: {transfer:?}, {least_seconds} s");
        if is_expected(&transfer) {
            return;
        }
        seen.push(transfer);
    }
    panic!("the paths' rates permit {least_seconds} s: {seen:?}");
}

/// Bits per second of payload that a rate carries.
fn payload(mbit: u32, of_packet: f64) -> f64 {
    f64::from(mbit) * 1e6 * of_packet / ON_THE_WIRE
}

#[test]
fn a_transfer_has_95_percent_of_the_sum_of_two_shaped_paths() {
    let Some((setup, _server, mut proxy)) = shaped("sum", true) else { return };
    const LENGTH: usize = 60_000_000;
    let seconds = LENGTH as f64 * 8.0 / RATES.map(|rate| payload(rate, PAYLOAD)).iter().sum::<f64>();
    assert_one(
        || Transfer::of(&setup, LENGTH),
        seconds * 0.99,
        |transfer| {
            let sent = transfer.sent.iter().sum::<f64>();
            // By the rates it is two thirds.
            let in_proportion = (0.63..0.70).contains(&(transfer.sent[0] / sent));
            let next_to_nothing_twice = sent < LENGTH as f64 * ON_THE_WIRE / PAYLOAD * 1.02;
            in_proportion && next_to_nothing_twice && transfer.seconds * 0.95 <= seconds
        },
    );
    assert_eq!(proxy.end("-TERM"), Some(0));
    assert_eq!(setup.left_behind(), "");
}

#[test]
fn a_path_that_is_cut_and_restored_costs_what_it_would_have_carried() {
    let Some((setup, _server, mut proxy)) = shaped("cut", true) else { return };
    const LENGTH: usize = 40_000_000;
    const CUT_SECONDS: f64 = 2.0;
    let script = format!("sleep 1.5; ip link set s0 down; sleep {CUT_SECONDS}; ip link set s0 up");
    let [first, second] = RATES.map(|rate| payload(rate, PAYLOAD));
    let seconds_without = |lost: f64| (LENGTH as f64 * 8.0 + first * lost) / (first + second);
    assert_one(
        || {
            let _cut = setup.program("s", &["sh", "-c", &script]);
            Transfer::of(&setup, LENGTH)
        },
        seconds_without(CUT_SECONDS) * 0.99,
        |transfer| {
            // The path is in full use again within a second.
            transfer.seconds * 0.95 <= seconds_without(CUT_SECONDS + 1.0)
        },
    );
    assert_eq!(proxy.end("-INT"), Some(0));
    assert_eq!(setup.left_behind(), "");
}

#[test]
fn without_mptcp_a_transfer_has_95_percent_of_the_first_shaped_path() {
    let Some((setup, _server, _proxy)) = shaped("sum-tcp", false) else { return };
    const LENGTH: usize = 25_000_000;
    let seconds = LENGTH as f64 * 8.0 / payload(RATES[0], PAYLOAD_OF_TCP);
    assert_one(
        || Transfer::of(&setup, LENGTH),
        seconds * 0.99,
        |transfer| transfer.sent[1] < 10_000.0 && transfer.seconds * 0.95 <= seconds,
    );
}
