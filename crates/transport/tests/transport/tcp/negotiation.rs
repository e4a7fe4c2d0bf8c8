//! What the SYNs agree on: MSS, window scale, SACK, timestamps.

use subflow_transport::tcp::config::ReceiveBuffer;

use crate::harness::tamper::{has_data, is_syn, is_syn_ack};
use crate::harness::{CLIENT, Fate, SERVER, Setup};

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
