//! What MPTCP is compared by beside goodput and completion: its bytes on each path, and what a failing path costs.

use subflow_lab::statistics::mean;
use subflow_report::{Finding, Table};

use super::comparison::Comparison;
use super::outage::outage;

/// The largest deviation that passes, in percent.
const MOST_PCT: f64 = 10.0;

/// One figure of ours and of the kernel's.
struct Part {
    /// The finding that it belongs to.
    statement: &'static str,
    name: String,
    ours: f64,
    kernel: f64,
}

const SPLIT: &str = "D and G: MPTCP's bytes on each path within 10 % of the kernel's";
const STALL: &str = "G: seconds of stall after a path failed within 10 % of the kernel's";
const RETURN: &str = "G: seconds until a repaired path is used again within 10 % of the kernel's";

impl Part {
    fn deviation_pct(&self) -> f64 {
        (self.ours / self.kernel - 1.0) * 100.0
    }

    fn is_met(&self) -> bool {
        self.deviation_pct().abs() <= MOST_PCT
    }
}

/// All parts of a row. There are none where nothing was run, in short transfers (F), whose second path carries next to
/// nothing, or where losses are random and the kernel's own repetitions lie further apart.
fn parts(comparison: &Comparison<'_>) -> Vec<Part> {
    let configuration = comparison.outcome.configuration;
    let Some(figures) = &comparison.outcome.figures else { return Vec::new() };
    let is_compared = configuration.case.starts_with(['D', 'G']);
    if !is_compared
        || configuration.flows.len() > 1
        || comparison.reference.protocol != "mptcp"
        || configuration.is_lossy()
    {
        return Vec::new();
    }
    let paths = figures.paths.iter().zip(&comparison.reference.path_bytes).enumerate();
    let bytes = paths.filter_map(|(index, (ours, kernel))| {
        let name = format!("path {}, MB", index + 1);
        Some(Part { statement: SPLIT, name, ours: ours[0] / 1e6, kernel: mean(kernel)? / 1e6 })
    });
    let mut parts: Vec<Part> = bytes.filter(|_| figures.paths.len() > 1).collect();
    let kernel = outage(configuration, &comparison.reference.per_second);
    if let Some((ours, kernel)) = figures.outage.zip(kernel) {
        parts.push(Part { statement: STALL, name: "stall, s".to_owned(), ours: ours.stall_s, kernel: kernel.stall_s });
        parts.push(Part {
            statement: RETURN,
            name: "return, s".to_owned(),
            ours: ours.return_s,
            kernel: kernel.return_s,
        });
    }
    parts.retain(|part| part.kernel > 0.0);
    parts
}

/// A table of them; none where there is nothing to compare.
pub(super) fn readable(comparisons: &[Comparison<'_>]) -> Option<(String, Table)> {
    let mut table = Table::new(["case", "cc", "paths", "of", "ours", "kernel", "dev %", "verdict"]);
    for comparison in comparisons {
        for part in parts(comparison) {
            table.row([
                comparison.outcome.configuration.case.as_str().into(),
                comparison.reference.cc.as_str().into(),
                comparison.outcome.configuration.paths_text.as_str().into(),
                part.name.as_str().into(),
                format!("{:.3}", part.ours).into(),
                format!("{:.3}", part.kernel).into(),
                part.deviation_pct().into(),
                if part.is_met() { "met" } else { "off" }.into(),
            ]);
        }
    }
    (!table.rows().is_empty()).then(|| ("MPTCP: split over the paths, and what a failure costs".to_owned(), table))
}

/// One finding for each kind that there is.
pub(super) fn findings(comparisons: &[Comparison<'_>]) -> Vec<Finding> {
    let all: Vec<(String, Part)> = comparisons
        .iter()
        .flat_map(|comparison| parts(comparison).into_iter().map(move |part| (comparison.name(), part)))
        .collect();
    [SPLIT, STALL, RETURN].into_iter().filter_map(|statement| finding(statement, &all)).collect()
}

fn finding(statement: &str, all: &[(String, Part)]) -> Option<Finding> {
    let of_it: Vec<&(String, Part)> = all.iter().filter(|(_, part)| part.statement == statement).collect();
    let far = |(_, part): &&&(String, Part)| part.deviation_pct().abs();
    let (name, worst) = of_it.iter().max_by(|a, b| far(a).total_cmp(&far(b)))?;
    let met = of_it.iter().filter(|(_, part)| part.is_met()).count();
    let finding = Finding::new(
        statement,
        met == of_it.len(),
        format!(
            "{met} of {} figures; the worst is {:+.2} % ({:.3} instead of {:.3}, {}, {name})",
            of_it.len(),
            worst.deviation_pct(),
            worst.ours,
            worst.kernel,
            worst.name,
        ),
    );
    Some(finding.beyond())
}
