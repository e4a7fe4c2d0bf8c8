//! Leitner 2019: CMT-SCTP without the CUC algorithm, with fast recovery for each destination. The experiments are in
//! `papers/leitner2019/`.

mod causes;
mod comparison;
mod figures;
mod findings;
mod report;

use std::sync::LazyLock;

use subflow_lab::results::RunResult;

use crate::study::{Code, Sample, Study, folder};

/// The thesis.
pub(crate) static LEITNER2019: LazyLock<Study> = LazyLock::new(|| {
    let folder = folder!("leitner2019": "paper.toml", "scenarios/equal-loss.toml", "scenarios/loss-on-path-2.toml");
    let code = Code {
        measure,
        checks: &findings::CHECKS,
        is_judged: |_| true,
        rows: report::rows,
        readable: report::readable,
        figures: figures::figures,
        notes: |results| vec![("window_cuts", causes::note_on_window_cuts(results))],
        linux: None,
    };
    Study::new(folder, code)
});

const LOSS_ON_PATH_2: &str = "loss-on-path-2";
const EQUAL_LOSS: &str = "equal-loss";
const BEYOND: &str = "beyond";

/// The names of modes: CUC, version 2, and one fast recovery for the association; no CUC, and a fast recovery for each
/// destination; and the steps between, each alone.
const REFERENCE: &str = "reference";
const PROPOSAL: &str = "proposal";
const CUC_BY_DESTINATION: &str = "cuc-v2 with recovery by destination";
const NO_CUC_BY_ASSOCIATION: &str = "no CUC with recovery by association";

/// What is measured, in the order of a sample: transfer time in seconds, chunks sent again, those of them after a timeout,
/// expirations of the timer, windows cut by fast recovery.
const METRICS: [&str; 5] = ["transfer_s", "retransmissions", "timeout_retransmissions", "timeouts", "fast_recoveries"];
const TRANSFER: usize = 0;
const RETRANSMISSIONS: usize = 1;
const BY_TIMEOUT: usize = 2;
const TIMEOUTS: usize = 3;
const FAST_RECOVERIES: usize = 4;

fn measure(result: &RunResult) -> Result<Sample, String> {
    let flow = &result.flows[0];
    let again = flow.retransmitted.unwrap_or_default();
    let transfer = flow.completion_s.ok_or("the transfer did not end")?;
    let counts = [again.fast + again.timeout, again.timeout, again.timeouts, again.fast_recoveries];
    Ok([transfer].into_iter().chain(counts.map(|count| count as f64)).collect())
}
