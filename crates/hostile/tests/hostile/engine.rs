//! The engine itself: it is deterministic, it lets honest connections complete, and it sees what it is there to see.

use subflow_hostile::action::{Action, Call, Interference};
use subflow_hostile::setup::{End, Setup};
use subflow_hostile::{Case, Stack, attempt};

fn case(stack: Stack, actions: Vec<Action>) -> Case {
    let setup = Setup { ipv6: false, addresses: [2, 2], delays_ms: Vec::new(), ends: [End::default(), End::default()] };
    Case { stack, seed: 1, setup, actions }
}

fn write(side: u8, bytes: u32) -> Action {
    Action::Apply { connection: 0, side, call: Call::Write(bytes) }
}

const CONNECT: Action = Action::Connect { to: 0, times: 1 };
const SECOND: Action = Action::Wait { ms: 1000 };

#[test]
fn an_honest_connection_delivers_what_was_written_and_completes() {
    for stack in Stack::ALL {
        let report = attempt(&case(stack, vec![CONNECT, SECOND, write(0, 100_000), write(1, 50_000), SECOND]))
            .unwrap_or_else(|failure| panic!("{stack}: {failure}"));
        assert_eq!((report.delivered, report.completed), (150_000, 1), "{stack}");
    }
}

#[test]
fn the_same_case_gives_the_same_packets() {
    for stack in Stack::ALL {
        for seed in 1..20 {
            let run =
                || attempt(&Case::from_seed(stack, seed)).map(|report| (report.steps, report.sent, report.delivered));
            assert_eq!(run().ok(), run().ok(), "{stack} {seed}");
        }
    }
}

#[test]
fn losses_duplicates_and_splits_are_survived() {
    for stack in Stack::ALL {
        let meddle = |how| Action::Interfere { from: 0, packets: 5, how };
        let actions = vec![
            CONNECT,
            SECOND,
            meddle(Interference::Drop),
            meddle(Interference::Duplicate),
            meddle(Interference::Split(100)),
            meddle(Interference::Delay(300)),
            write(0, 200_000),
        ];
        let report = attempt(&case(stack, actions)).unwrap_or_else(|failure| panic!("{stack}: {failure}"));
        assert_eq!((report.delivered, report.completed), (200_000, 1), "{stack}");
    }
}

#[test]
fn rewritten_payload_does_not_pass_for_what_was_written() {
    // Plain TCP cannot tell, so the model must know; DSS checksums can, so there the stack must.
    let actions = |packets| {
        let how = Interference::Rewrite(7);
        vec![CONNECT, SECOND, Action::Interfere { from: 0, packets, how }, write(0, 20_000), SECOND]
    };
    assert!(attempt(&case(Stack::Tcp, actions(1))).is_ok());
    let mut checked = case(Stack::Mptcp, actions(1));
    checked.setup.ends[0].checksum = true;
    let report = attempt(&checked).unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(report.delivered, 20_000, "it goes over the other subflows");
}
