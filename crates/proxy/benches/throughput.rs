//! The proxy between the kernels of two network namespaces: curl as the client, Python's `http.server` as the server, by
//! the kernel's MPTCP under `mptcpize`. Throughput without limits and over shaped paths, with a path that is cut, without
//! MPTCP, with many connections at once; its CPU time and its memory over time. Every byte is checked.
//!
//! `sudo cargo bench -p subflow-proxy --bench throughput`. It takes three minutes. The results are in docs/src/proxy.md.
//! `cargo test` runs it in short: with less to transfer, for which nothing is said about rates.
#![cfg(target_os = "linux")]
// It measures real time.
#![allow(clippy::disallowed_types)]

#[path = "../tests/namespaces/setup.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod setup;

use std::io::{Read, Write};
use std::path::Path;
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

use setup::{Process, Setup, machine_serves, works};

/// What is transferred, in bytes.
#[derive(Clone, Copy)]
struct Sizes {
    file: usize,
    upload: usize,
    /// For each of the connections at once.
    of_many: usize,
    /// The time to the cut of a path, and from there to its return.
    cut: Duration,
}

const MEASURED: Sizes =
    Sizes { file: 1_000_000_000, upload: 400_000_000, of_many: 5_000_000, cut: Duration::from_secs(5) };
const IN_SHORT: Sizes =
    Sizes { file: 40_000_000, upload: 10_000_000, of_many: 50_000, cut: Duration::from_millis(300) };
/// Connections at once.
const MANY: usize = 200;
/// Payload of a full-sized packet (1500 bytes without the headers of IPv4 and TCP, timestamps and a DSS, or without the
/// DSS), and its bytes on an Ethernet, which `tc` counts.
const PAYLOAD: f64 = 1428.0;
const PAYLOAD_OF_TCP: f64 = 1448.0;
const ON_THE_WIRE: f64 = 1514.0;

fn main() {
    setup::be_the_proxy();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let sizes = match &arguments[..] {
        arguments if arguments.iter().any(|argument| argument == "--bench") => MEASURED,
        [] => IN_SHORT,
        // `cargo test NAME` means another test.
        _ => return,
    };
    let Some(setup) = machine_serves("bench") else { return };
    if !works("mptcpize --help") {
        return subflow_prerequisite::Prerequisite::Kernel.missing("there is no mptcpize");
    }
    let folder = tempfile::tempdir().expect("a folder");
    write_file(&folder.path().join("file"), sizes.file);
    let proxy = setup.proxy(&["c0", "c1"]);
    println!(
        "{:37} {:>7} {:>8} {:>13} {:>12} {:>9}",
        "", "Mbit/s", "of fits", "CPU s per GB", "MB after 1/4", "at end"
    );
    // `http.server` takes no uploads, and keeps five connections that it has not accepted.
    let own = setup.serve(true);
    row("upload", &proxy, sizes.upload, None, || upload(&setup, sizes.upload));
    row("200 downloads at once", &proxy, MANY * sizes.of_many, None, || download_many(&setup, sizes.of_many));
    drop(own);
    let files = serve_files(&setup, folder.path(), &["mptcpize", "run"]);
    let download = || receive(setup.start_curl("socks5h", "http://10.99.0.1/file"), sizes.file);
    let cut_for = |path| {
        let setup = &setup;
        move || cut_while(setup, path, sizes.cut, download)
    };
    row("download", &proxy, sizes.file, None, download);
    setup.shape(0, 200);
    setup.shape(1, 100);
    let both = Some(300.0 * PAYLOAD / ON_THE_WIRE);
    row("download over 200 + 100 Mbit/s", &proxy, sizes.file, both, download);
    let [from, to] = [1.0, 2.0].map(|times| format!("{} s", sizes.cut.as_secs_f64() * times));
    row(&format!("the 100 Mbit/s cut from {from} to {to}"), &proxy, sizes.file, both, cut_for(1));
    row(&format!("the 200 Mbit/s cut from {from} to {to}"), &proxy, sizes.file, both, cut_for(0));
    drop(files);
    let _files = serve_files(&setup, folder.path(), &[]);
    let first = Some(200.0 * PAYLOAD_OF_TCP / ON_THE_WIRE);
    row("a server without MPTCP, 200 Mbit/s", &proxy, sizes.file, first, download);
}

/// What the files consist of, a whole number of periods.
fn block() -> Vec<u8> {
    setup::pattern(251 << 10)
}

fn write_file(path: &Path, bytes: usize) {
    let (mut file, block) = (std::fs::File::create(path).expect("a file"), block());
    for start in (0..bytes).step_by(block.len()) {
        file.write_all(&block[..block.len().min(bytes - start)]).expect("room for a gigabyte");
    }
}

/// Starts `http.server` in a namespace and waits until it listens.
fn serve_files(setup: &Setup, folder: &Path, launcher: &[&str]) -> Process {
    let folder = folder.to_string_lossy();
    let server = ["python3", "-m", "http.server", "80", "--directory", &folder];
    let process = setup.program("s", &[launcher, &server].concat());
    while !setup.output("s", &["ss", "-Htln"]).contains(":80 ") {
        sleep(Duration::from_millis(50));
    }
    process
}

/// Measures a transfer of so many bytes over paths that carry this rate of payload, if they are limited.
fn row(name: &str, proxy: &Process, bytes: usize, limit_mbps: Option<f64>, transfer: impl Fn() + Send) {
    let (cpu_before, began) = (cpu_seconds(proxy), Instant::now());
    let memory = std::thread::scope(|scope| {
        let transfer = scope.spawn(transfer);
        let mut memory = Vec::new();
        while !transfer.is_finished() {
            memory.push(memory_mb(proxy));
            sleep(Duration::from_millis(20));
        }
        transfer.join().expect("all bytes are right");
        memory
    });
    let mbps = bytes as f64 * 8.0 / began.elapsed().as_secs_f64() / 1e6;
    let cpu = (cpu_seconds(proxy) - cpu_before) / bytes as f64 * 1e9;
    let share = limit_mbps.map_or_else(String::new, |limit| format!("{:.1} %", mbps / limit * 100.0));
    let [early, late] = [memory.len() / 4, memory.len() - 1].map(|at| memory[at]);
    println!("{name:37} {mbps:>7.0} {share:>8} {cpu:>13.2} {early:>12.1} {late:>9.1}");
}

/// The CPU time that the proxy has used: fields 14 and 15 of its `stat`, in ticks of 10 ms.
fn cpu_seconds(proxy: &Process) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", proxy.0.id())).expect("it runs");
    let after_name = stat.rsplit_once(") ").expect("a name in brackets").1;
    let ticks = after_name.split(' ').skip(11).take(2).map(|field| field.parse::<f64>().expect("a number"));
    ticks.sum::<f64>() / 100.0
}

/// The memory that the proxy has now.
fn memory_mb(proxy: &Process) -> f64 {
    proxy.memory_mb("VmRSS:")
}

fn download_many(setup: &Setup, length: usize) {
    std::thread::scope(|scope| {
        for _ in 0..MANY {
            let curl = setup.start_curl("socks5h", &format!("http://10.99.0.1/{length}"));
            scope.spawn(move || receive(curl, length));
        }
    });
}

/// Checks what curl receives.
fn receive(mut curl: Child, length: usize) {
    let mut output = curl.stdout.take().expect("piped");
    let pattern = block();
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
    assert_eq!(received, length);
    assert!(curl.wait().is_ok_and(|status| status.success()));
}

/// Cuts a path after this time of a transfer, and restores it after as long again.
fn cut_while(setup: &Setup, path: usize, time: Duration, transfer: impl Fn()) {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for state in ["down", "up"] {
                sleep(time);
                setup.ip("s", &format!("link set s{path} {state}"));
            }
        });
        transfer();
    });
}

fn upload(setup: &Setup, length: usize) {
    assert_eq!(setup.put("10.99.0.1", length), format!("{length} right"));
}
