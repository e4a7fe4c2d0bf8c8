//! How close is close enough: one criterion for each kind of case.

use super::cases::FlowName;
use super::configuration::{Configuration, Workload};

/// What a case is held to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Criterion {
    /// In words.
    pub(super) statement: &'static str,
    pub(super) bound: Bound,
}

/// The largest deviation that passes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Bound {
    /// Of goodput or completion time, in percent.
    Percent(f64),
    /// Of the completion time.
    Milliseconds(f64),
}

const A: Criterion = Criterion {
    statement: "A: one TCP flow without loss within 1 % of the kernel's goodput",
    bound: Bound::Percent(1.0),
};
const B: Criterion = Criterion {
    statement: "B: one TCP flow with random loss, mean of the seeds within 10 % of the kernel's mean",
    bound: Bound::Percent(10.0),
};
const C: Criterion =
    Criterion { statement: "C: mean shares of two TCP flows within 10 % of the kernel's", bound: Bound::Percent(10.0) };
const D: Criterion = Criterion {
    statement: "D: TCP alone, or MPTCP over equal paths, without loss within 2 % of the kernel's",
    bound: Bound::Percent(2.0),
};
const UNEQUAL: Criterion = Criterion {
    statement: "D: MPTCP over unequal paths, goodput and completion within 10 % of the kernel's",
    bound: Bound::Percent(10.0),
};
const G: Criterion = Criterion {
    statement: "G: MPTCP while a path fails and returns, within 10 % of the kernel's goodput",
    bound: Bound::Percent(10.0),
};
const E: Criterion = Criterion {
    statement: "E: mean shares of MPTCP and TCP on one bottleneck within 10 % of the kernel's",
    bound: Bound::Percent(10.0),
};
const F: Criterion = Criterion {
    statement: "F: short transfers complete within 3 ms of the kernel's time",
    bound: Bound::Milliseconds(3.0),
};

const SCTP: Criterion =
    Criterion { statement: "G: SCTP without loss within 5 % of the kernel's goodput", bound: Bound::Percent(5.0) };
const SCTP_LOSSY: Criterion = Criterion {
    statement: "G: SCTP with random loss, mean of the seeds within 10 % of the kernel's mean",
    bound: Bound::Percent(10.0),
};

/// What `flow` of `configuration` is held to; `None` where figures are only put side by side.
pub(super) fn criterion(configuration: &Configuration, flow: FlowName) -> Option<Criterion> {
    let equal_paths = configuration.paths.iter().all(|path| *path == configuration.paths[0]);
    let single = |wanted| (flow == FlowName::Number(1)).then_some(wanted);
    let share = |wanted| (flow != FlowName::All).then_some(wanted);
    let is_sctp = configuration.flows.iter().all(|flow| flow.protocol == "sctp");
    let transfer = matches!(configuration.workload, Workload::Bytes(_));
    match configuration.case.chars().next()? {
        'A' if !configuration.is_lossy() => single(A),
        'B' => single(B),
        'C' => share(C),
        'D' if equal_paths && !configuration.is_lossy() => single(D),
        'D' if !configuration.is_lossy() => single(UNEQUAL),
        'E' => share(E),
        'F' if transfer => single(F),
        'G' if is_sctp && configuration.is_lossy() => single(SCTP_LOSSY),
        'G' if is_sctp => single(SCTP),
        'G' => single(G),
        _ => None,
    }
}

impl Bound {
    /// Whether `ours` is near enough to `reference`.
    pub(super) fn admits(self, ours: f64, reference: f64) -> bool {
        match self {
            Self::Percent(most) => (ours - reference).abs() <= reference * most / 100.0,
            Self::Milliseconds(most) => (ours - reference).abs() * 1e3 <= most,
        }
    }

    /// A deviation as text, in the bound's unit.
    pub(super) fn shown(self, ours: f64, reference: f64) -> String {
        match self {
            Self::Percent(_) => format!("{:+.2} %", (ours / reference - 1.0) * 100.0),
            Self::Milliseconds(_) => format!("{:+.2} ms", (ours - reference) * 1e3),
        }
    }

    /// The deviation as a share of the bound.
    pub(super) fn used(self, ours: f64, reference: f64) -> f64 {
        match self {
            Self::Percent(most) => (ours / reference - 1.0).abs() * 100.0 / most,
            Self::Milliseconds(most) => (ours - reference).abs() * 1e3 / most,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_of_both_signs_and_include_their_end() {
        assert!(Bound::Percent(10.0).admits(9.0, 10.0) && Bound::Percent(10.0).admits(11.0, 10.0));
        assert!(!Bound::Percent(10.0).admits(11.1, 10.0));
        assert!(Bound::Milliseconds(3.0).admits(0.1924, 0.1895) && !Bound::Milliseconds(3.0).admits(0.193, 0.1895));
        assert_eq!(Bound::Percent(1.0).shown(9.95, 10.0), "-0.50 %");
    }
}
