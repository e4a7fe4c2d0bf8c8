//! Arbitrary segments thrown at established endpoints never make them panic, run in circles, or report bytes that no
//! segment carried.

use proptest::prelude::*;

use super::thrown::{Thrown, thrown};
use crate::harness::{CLIENT, SERVER, Setup, ms, secs};

/// Throws segments at both ends of a connection that is busy both ways. What they carry is not the pattern, so only its
/// coverage is checked, not its content.
fn withstands(setup: Setup, throws: &[Thrown]) {
    let mut pair = setup.connected();
    pair.transfer(CLIENT, 3000);
    pair.trust_content = true;
    pair.write(CLIENT, 100_000);
    pair.write(SERVER, 100_000);
    for thrown in throws {
        let packet = thrown.packet(&pair);
        pair.inject(thrown.to, &packet, ms(1));
        pair.run_for(ms(1 + thrown.wait_ms));
    }
    // Whatever state they are in, they must not keep each other busy for ever.
    pair.finish(CLIENT);
    pair.finish(SERVER);
    let (before, end) = (pair.steps, pair.now() + secs(600));
    while pair.next().is_some_and(|next| next <= end) {
        pair.step();
        assert!(pair.steps - before < 20_000, "packets and timers without end");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1000, max_shrink_iters: 1000, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn tcp_withstands_any_segments(throws in proptest::collection::vec(thrown(), 1..25), plain in any::<bool>()) {
        let setup = Setup::tcp().both(|stack| (stack.tcp.sack, stack.tcp.timestamps) = (!plain, !plain));
        withstands(setup, &throws);
    }

    #[test]
    fn mptcp_withstands_any_segments(throws in proptest::collection::vec(thrown(), 1..25), clients in 1usize..3) {
        withstands(Setup::mptcp(clients, 1), &throws);
    }
}
