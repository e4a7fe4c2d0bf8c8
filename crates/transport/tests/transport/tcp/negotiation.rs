//! What the SYNs agree on: MSS, window scale, SACK, timestamps.

use subflow_quantity::Instant;
use subflow_transport::tcp::config::ReceiveBuffer;

use crate::harness::tamper::{has_data, is_syn, is_syn_ack};
use crate::harness::{CLIENT, Fate, SERVER, Setup, ms, secs};

#[test]
fn the_smaller_mtu_decides_in_both_directions() {
    let setup = Setup::tcp().on(SERVER, |stack| stack.tcp.mtu = 576);
    let mut pair = setup.connected();
    pair.transfer(CLIENT, 50_000);
    pair.transfer(SERVER, 50_000);
    let largest = pair.log.iter().map(|sent| sent.segment.payload.length).max();
    assert_eq!(largest, Some(576 - 40 - 12));
}

#[test]
fn a_peer_that_names_no_mss_gets_the_default() {
    let mut pair = Setup::tcp().build();
    pair.tamper(|leaving| {
        leaving.segment.options.syn.mss = None;
        Fate::Pass
    });
    pair.connect();
    pair.transfer(CLIENT, 20_000);
    assert_eq!(pair.tcp(CLIENT).mss(), 536 - 12);
}

#[test]
fn windows_scale_only_where_both_offer_it() {
    let mut pair = Setup::tcp().build();
    pair.tamper(|leaving| {
        leaving.segment.options.syn.window_scale = None;
        Fate::Pass
    });
    pair.connect();
    pair.write(CLIENT, 2_000_000);
    let mut most = 0;
    while pair.received(SERVER) < 2_000_000 {
        pair.step();
        most = most.max(pair.tcp(CLIENT).unacknowledged_bytes());
    }
    assert!((60_000..=65_535).contains(&most), "{most}");
    pair.close_gracefully();
}

#[test]
fn large_buffers_take_large_scales() {
    for (buffer, scale) in [(60_000, 0), (1 << 20, 5), (16 << 20, 9), (1 << 29, 14)] {
        let setup = Setup::tcp().both(|stack| stack.tcp.receive_buffer = ReceiveBuffer::Fixed(buffer));
        let mut pair = setup.connected();
        pair.transfer(CLIENT, 100_000);
        for syn in pair.log.iter().filter(|sent| is_syn(&sent.segment) || is_syn_ack(&sent.segment)) {
            assert_eq!(syn.segment.options.syn.window_scale, Some(scale), "buffer {buffer}");
        }
    }
}

#[test]
fn options_that_one_side_lacks_are_used_by_neither() {
    for side in [CLIENT, SERVER] {
        let setup = Setup::tcp().on(side, |stack| (stack.tcp.timestamps, stack.tcp.sack) = (false, false));
        let mut pair = setup.connected();
        pair.induce_loss(1);
        pair.transfer(CLIENT, 100_000);
        let plain = |sent: &&crate::harness::Sent| {
            let options = &sent.segment.options;
            is_syn(&sent.segment) || (options.timestamps.is_none() && options.sack.is_empty())
        };
        assert!(pair.log.iter().all(|sent| plain(&sent)));
        assert!(pair.log.iter().any(|sent| has_data(&sent.segment)));
    }
}

#[test]
fn a_peer_whose_syn_has_a_timestamp_of_zero_may_have_any_clock() {
    // Linux, tcp_paws_check: some stacks send zero in the SYN and the values of another clock later.
    const CLOCK: u32 = 0x9000_0000;
    let mut pair = Setup::tcp().build();
    pair.tamper(|leaving| {
        let syn = is_syn(leaving.segment);
        let timestamps = leaving.segment.options.timestamps.as_mut().expect("timestamps");
        match leaving.from {
            CLIENT if syn => timestamps.value = 0,
            CLIENT => timestamps.value = timestamps.value.wrapping_add(CLOCK),
            _ => timestamps.echo = timestamps.echo.wrapping_sub(if timestamps.echo == 0 { 0 } else { CLOCK }),
        }
        Fate::Pass
    });
    pair.connect();
    assert!(pair.transfer(CLIENT, 100_000) < secs(1));
    pair.close_gracefully();
}

#[test]
fn a_connection_outlives_the_clock_of_its_timestamps() {
    // 2^32 ms are 49.7 days; every 20 days something is said, or PAWS would have nothing to compare with.
    let mut pair = Setup::tcp().connected();
    for _ in 0..2 {
        pair.run_for(secs(20 * 24 * 3600));
        pair.transfer(CLIENT, 3000);
    }
    let wrap = Instant::from_nanos((1 << 32) * 1_000_000);
    pair.run_to(Instant::from_nanos(((1 << 32) - 1) * 1_000_000));
    for _ in 0..5 {
        let took = pair.transfer(CLIENT, 3000);
        assert!(took < ms(60), "{took:?}");
    }
    assert!(pair.now() > wrap && pair.tcp(CLIENT).rtt().srtt() < Some(ms(60)));
    pair.close_gracefully();
}
