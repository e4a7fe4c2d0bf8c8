//! Comparisons as text tables.

use std::fmt::Write;

use super::{Comparison, Pair};
use crate::number;
use crate::table::Align::{Left, Right};
use crate::table::TextTable;

/// The comparisons as text tables.
pub fn to_text(comparisons: &[Comparison]) -> String {
    let mut totals = TextTable::new([
        ("case", Left),
        ("Mbit/s here", Right),
        ("Mbit/s of the kernel", Right),
        ("deviation", Right),
        ("within 10 %", Left),
        ("valid runs", Right),
    ]);
    let mut flows = TextTable::new([
        ("case", Left),
        ("flow", Left),
        ("what", Left),
        ("here", Right),
        ("kernel", Right),
        ("deviation", Right),
    ]);
    for comparison in comparisons {
        let [runs, valid] = comparison.kernel_runs;
        totals.row([
            comparison.case.to_owned(),
            cell(comparison.total.simulated, 2),
            cell(comparison.total.kernel, 2),
            format!("{:+.1} %", comparison.deviation * 100.0),
            if comparison.within_bound { "yes" } else { "NO" }.to_owned(),
            format!("{valid} of {runs}"),
        ]);
        for flow in &comparison.flows {
            let mut row = |what: String, pair: Pair, decimals| {
                if pair.simulated.is_some() || pair.kernel.is_some() {
                    let (case, name) = (comparison.case.to_owned(), flow.name.clone());
                    let (here, kernel) = (cell(pair.simulated, decimals), cell(pair.kernel, decimals));
                    flows.row([case, name, what, here, kernel, deviation(pair)]);
                }
            };
            row("Mbit/s".to_owned(), flow.goodput_mbps, 2);
            row("done s".to_owned(), flow.completion_s, 3);
            row("retransmissions".to_owned(), flow.retransmissions, 0);
            for (name, share) in &flow.split {
                let percent = |share: Option<f64>| share.map(|share| share * 100.0);
                let pair = Pair { simulated: percent(share.simulated), kernel: percent(share.kernel) };
                row(format!("% over {name}"), pair, 1);
            }
        }
    }
    let kernel = comparisons.first().map_or("", |comparison| comparison.kernel.as_str());
    let mut text = format!("The simulator against Linux {kernel}\n\n{}\n{}", totals.render(), flows.render());
    for comparison in comparisons {
        for note in comparison.notes {
            let _ = writeln!(text, "{}: {note}", comparison.case);
        }
        for objection in &comparison.objections {
            let _ = writeln!(text, "{}: a run was not valid: {objection}", comparison.case);
        }
    }
    text
}

/// The deviation of the simulator's figure from the kernel's.
fn deviation(pair: Pair) -> String {
    match (pair.simulated, pair.kernel) {
        (Some(simulated), Some(kernel)) if kernel > 0.0 => format!("{:+.1} %", (simulated / kernel - 1.0) * 100.0),
        _ => "–".to_owned(),
    }
}

fn cell(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "–".to_owned(), |value| number::fixed(value, decimals))
}
