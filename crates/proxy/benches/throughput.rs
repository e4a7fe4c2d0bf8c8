//! Throughput of the proxy between the kernels of two network namespaces: curl as the client, a Python server with the
//! kernel's MPTCP. Every byte is checked.
//!
//! `sudo cargo bench -p subflow-proxy --bench throughput`. The results are in docs/src/proxy.md.
#![cfg(target_os = "linux")]
// It measures real time.
#![allow(clippy::disallowed_types)]

#[path = "../tests/namespaces/setup.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod setup;

use std::io::Read;
use std::time::Instant;

use setup::{Process, Setup, machine_serves};

const DOWNLOAD: usize = 1_000_000_000;
const UPLOAD: usize = 400_000_000;
/// Payload of a full-sized packet (1500 bytes without the headers of IPv4 and TCP, timestamps and a DSS), and its bytes
/// on an Ethernet, which `tc` counts.
const PAYLOAD: f64 = 1428.0;
const ON_THE_WIRE: f64 = 1514.0;

fn main() {
    setup::be_the_proxy();
    let Some(setup) = machine_serves("bench") else { return };
    let _server = setup.serve(true);
    let proxy = setup.proxy(&["c0", "c1"]);
    println!("{:34} {:>10} {:>9} {:>14} {:>12}", "", "Mbit/s", "of fits", "CPU s per GB", "memory MB");
    row("download", &proxy, DOWNLOAD, None, || download(&setup));
    row("upload", &proxy, UPLOAD, None, || upload(&setup));
    setup.shape(0, 200);
    setup.shape(1, 100);
    row("download over 200 + 100 Mbit/s", &proxy, DOWNLOAD, Some(300.0), || download(&setup));
}

/// Measures a transfer of so many bytes over paths with this sum of rates, if they are limited.
fn row(name: &str, proxy: &Process, bytes: usize, limit_mbps: Option<f64>, transfer: impl Fn()) {
    let (cpu_before, began) = (cpu_seconds(proxy), Instant::now());
    transfer();
    let mbps = bytes as f64 * 8.0 / began.elapsed().as_secs_f64() / 1e6;
    let cpu = (cpu_seconds(proxy) - cpu_before) / bytes as f64 * 1e9;
    let share = limit_mbps.map(|limit| mbps / (limit * PAYLOAD / ON_THE_WIRE) * 100.0);
    let share = share.map_or_else(String::new, |share| format!("{share:.1} %"));
    println!("{name:34} {mbps:>10.0} {share:>9} {cpu:>14.2} {:>12.1}", proxy.largest_memory_mb());
}

/// The CPU time that the proxy has used: fields 14 and 15 of its `stat`, in ticks of 10 ms.
fn cpu_seconds(proxy: &Process) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", proxy.0.id())).expect("it runs");
    let after_name = stat.rsplit_once(") ").expect("a name in brackets").1;
    let ticks = after_name.split(' ').skip(11).take(2).map(|field| field.parse::<f64>().expect("a number"));
    ticks.sum::<f64>() / 100.0
}

fn download(setup: &Setup) {
    let mut curl = setup.start_curl("socks5h", &format!("http://10.99.0.1/{DOWNLOAD}"));
    let mut output = curl.stdout.take().expect("piped");
    // A whole number of periods of what the server sends.
    let pattern = setup::pattern(251 << 10);
    let (mut buffer, mut received) = (vec![0; pattern.len()], 0);
    loop {
        let at = received % pattern.len();
        let room = pattern.len() - at;
        match output.read(&mut buffer[..room]).expect("readable") {
            0 => break,
            length => {
                assert!(buffer[..length] == pattern[at..at + length], "after {received} bytes");
                received += length;
            }
        }
    }
    assert_eq!(received, DOWNLOAD);
    assert!(curl.wait().is_ok_and(|status| status.success()));
}

fn upload(setup: &Setup) {
    assert_eq!(setup.put("10.99.0.1", UPLOAD), format!("{UPLOAD} right"));
}
