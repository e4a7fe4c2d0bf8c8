//! Leitner 2019: CMT-SCTP without the CUC algorithm, with fast recovery for each destination. The experiments are in
//! `papers/leitner2019/`.

mod causes;
mod comparison;
mod findings;

use std::sync::LazyLock;

use crate::study::{Code, Study};

/// The thesis.
pub(crate) static LEITNER2019: LazyLock<Study> = LazyLock::new(|| {
    let code = Code {
        checks: &findings::CHECKS,
        notes: |results| vec![("window_cuts", causes::note_on_window_cuts(results))],
        ..Code::default()
    };
    Study::in_program("leitner2019", code)
});

const LOSS_ON_PATH_2: &str = "loss-on-path-2";
const EQUAL_LOSS: &str = "equal-loss";

/// The names of modes: CUC, version 2, and one fast recovery for the association; no CUC, and a fast recovery for each
/// destination; and the steps between, each alone.
const REFERENCE: &str = "reference";
const PROPOSAL: &str = "proposal";
const CUC_BY_DESTINATION: &str = "cuc-v2 with recovery by destination";
const NO_CUC_BY_ASSOCIATION: &str = "no CUC with recovery by association";

/// What is measured, as in the paper's file: transfer time in seconds, chunks sent again, those of them after a timeout,
/// expirations of the timer, windows cut by fast recovery, and the retransmissions that Linux counts.
const METRICS: [&str; 6] =
    ["transfer", "retransmissions", "timeout_retransmissions", "timeouts", "fast_recoveries", "events"];
const TRANSFER: usize = 0;
const RETRANSMISSIONS: usize = 1;
const TIMEOUTS: usize = 3;
const FAST_RECOVERIES: usize = 4;
