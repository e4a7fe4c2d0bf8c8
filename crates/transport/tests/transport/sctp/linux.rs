//! Goodput against the SCTP of Linux 6.12, single-homed: measured in the kernel in virtual time, without random loss.

use subflow_transport::sctp::Config;

use crate::harness::{CLIENT, Path, SERVER, Setup, ms, secs};

/// Goodput in Mbit/s over 30 s of a bulk transfer across a bottleneck, and chunks lost: rate in Mbit/s, delay in ms one
/// way, queue in packets with the one in service. The buffers are those of the kernel's measurements: 4 MiB of data to
/// receive, and to send what 8 MiB hold when a chunk of 1452 bytes takes 2560.
fn goodput(message_size: u32, rate: u64, delay: u64, queue: usize) -> (f64, u64) {
    let setup = Setup::sctp(1).path(0, Path::with_delay(ms(delay)).rate(rate, queue - 1)).both(|stack| {
        let (receive_buffer, send_buffer) = (4 << 20, Some(4646 << 10));
        *stack.association() =
            Config { message_size, receive_buffer, send_buffer, record_deliveries: true, ..Config::linux() };
    });
    let mut pair = setup.build();
    pair.keep_log = false;
    let start = pair.now();
    pair.connect();
    pair.write(CLIENT, 1 << 30);
    pair.run_to(start + secs(30));
    let lost = pair.sctp(CLIENT).destinations()[0].counters().chunks_lost;
    let goodput = pair.received(SERVER) as f64 * 8.0 / 30e6;
    println!("{rate}/{delay}/{queue}, {message_size}: {goodput:.4} Mbit/s, {lost} chunks lost");
    (goodput, lost)
}

/// The kernel drops 69, 222 and 226 packets in the first three cases. In the last one, whose queue is shorter than the
/// path, it drops 248, and a chunk that is lost with its fast retransmission waits for the timer in both, but not at
/// the same time.
#[test]
fn goodput_without_random_loss_is_near_the_kernel_s() {
    let cases = [
        (1452, 10, 5, 50, 9.6672, 69, 0.001),
        (1452, 50, 20, 250, 46.6235, 222, 0.01),
        (65_536, 50, 20, 250, 46.9936, 226, 0.001),
        (1452, 50, 20, 100, 43.3904, 248, 0.05),
    ];
    for (message_size, rate, delay, queue, kernel, drops, tolerance) in cases {
        let (ours, lost) = goodput(message_size, rate, delay, queue);
        assert!((ours / kernel - 1.0).abs() < tolerance, "{rate}/{delay}/{queue}: {ours} against {kernel}");
        assert!(
            queue == 100 || lost.abs_diff(drops) <= 1,
            "{rate}/{delay}/{queue}: {lost} lost, {drops} in the kernel"
        );
    }
}
