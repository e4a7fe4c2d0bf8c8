//! How the paper's claim beyond throughput, and what was found beyond the paper, are checked against our figures.

use super::{GOODPUT, STALL, SURVIVED, at, interval, shown};
use crate::study::{Check, Claim, Outcome, Results};

pub(super) const CHECKS: [(&str, Check); 2] = [("resilience", resilience), ("repaired", repaired)];

/// The claim to check beyond throughput.
fn resilience(all: &Results, _: &Claim) -> Option<Outcome> {
    let at = |mode| at(all, "resilience", "link cut", mode);
    let modes = ["multiflow", "ecmp-flow", "multiflow, initial included", "disjoint", "disjoint, re-routed"];
    let survival = |mode| {
        at(mode).map(|m| {
            let (survived, stall) = (m.mean(SURVIVED), m.mean(STALL));
            format!("{mode}: {survived:.0} % survive, stalled for {stall:.2} s")
        })
    };
    let evidence = modes.iter().filter_map(|mode| survival(mode)).collect::<Vec<_>>().join("; ");
    let evidence = evidence
        + ". With the initial subflow included, data takes disjoint paths, but as published all acknowledgments come \
           back over the default route, and with it both subflows are cut; \"disjoint\" sends them back over the \
           subflow's own path";
    Some(Outcome::new(Some(at("multiflow")?.mean(SURVIVED) == 100.0), None, evidence))
}

/// Whether our ties repair what is lost under load.
fn repaired(all: &Results, _: &Claim) -> Option<Outcome> {
    let at = |mode| at(all, "load", "8 pairs", mode);
    let published = interval(at("multiflow")?, GOODPUT);
    let better = ["multiflow, random ties", "multiflow, load-aware", "disjoint"];
    let ours = better.iter().filter_map(|mode| at(mode).map(|m| format!("{mode} {}", shown(m))));
    let evidence = format!("{}; multiflow {} Mbit/s", ours.collect::<Vec<_>>().join(", "), shown(at("multiflow")?));
    let ahead = better.iter().filter_map(|mode| at(mode)).all(|m| interval(m, GOODPUT).low > published.high);
    Some(Outcome::new(Some(ahead), None, evidence))
}
