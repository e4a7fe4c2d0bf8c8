//! Linux 6.12 itself: the kernel's TCP, MPTCP and SCTP, measured in exact virtual time over link models that the
//! simulator can build to the letter. The tables stand in `crates/publications/data/linux612/`; a file in their columns
//! (`--cases`) may bring other configurations.

mod cases;
mod comparison;
mod configuration;
mod criteria;
mod distributions;
mod figures;
mod outage;
mod parts;
mod report;
mod run;
mod topology;

use subflow_lab::execute::{Progress, run_all};
use subflow_report::Reproduction;

use super::{Done, Item, Paper, ReproduceError, Request};
use comparison::Outcome;
use configuration::Configuration;
use run::{SCHEDULER, Variant, mean_figures, variants};

/// The measurements of Linux 6.12.
#[derive(Clone, Copy, Debug)]
pub struct Linux612;

macro_rules! tables {
    ($($file:literal),+ $(,)?) => {
        /// The tables that the repository holds: name and text.
        const TABLES: &[(&str, &str)] =
            &[$(($file, include_str!(concat!("../../data/linux612/", $file)))),+];
    };
}

tables!(
    "A_single_tcp.csv",
    "B_random_loss.csv",
    "C_two_flows.csv",
    "D_single_path_refs.csv",
    "D_mptcp_two_paths.csv",
    "D_mptcp_10MB.csv",
    "E_mptcp_vs_tcp_shared.csv",
    "F_short_transfers.csv",
    "G_path_failure.csv",
    "G_sctp.csv",
    "H_distributions.csv",
);

/// The goodput of each second while a path fails.
const FAILURE_SECONDS: &str = include_str!("../../data/linux612/G_path_failure_1s.csv");

const ITEMS: [Item; 8] = [
    Item { name: "A", title: "one TCP flow" },
    Item { name: "B", title: "one TCP flow with random loss" },
    Item { name: "C", title: "two TCP flows on one bottleneck" },
    Item { name: "D", title: "MPTCP over two paths, and TCP over each of them" },
    Item { name: "E", title: "MPTCP against TCP on one bottleneck" },
    Item { name: "F", title: "short transfers" },
    Item { name: "G", title: "a path that fails and comes back; SCTP on one path" },
    Item { name: "H", title: "chaotic cases: distributions of 30 runs" },
];

impl Paper for Linux612 {
    fn name(&self) -> &'static str {
        "linux612"
    }

    fn title(&self) -> &'static str {
        "Linux 6.12 TCP, MPTCP and SCTP, measured in exact virtual time (2026)"
    }

    fn items(&self) -> &'static [Item] {
        &ITEMS
    }

    fn takes_cases(&self) -> bool {
        true
    }

    fn reproduce(&self, request: &Request, progress: &(dyn Fn(Progress) + Sync)) -> Result<Done, ReproduceError> {
        let configurations: Vec<Configuration> =
            configurations(request)?.into_iter().filter(|configuration| is_wanted(configuration, request)).collect();
        let runs: Vec<Vec<Variant>> = configurations
            .iter()
            .map(|configuration| match configuration.is_supported() {
                true => variants(configuration, request.quick),
                false => Vec::new(),
            })
            .collect();
        let jobs: Vec<(&Configuration, Variant)> = configurations
            .iter()
            .zip(&runs)
            .flat_map(|(configuration, variants)| variants.iter().map(move |&variant| (configuration, variant)))
            .collect();
        let figures =
            run_all(&jobs, request.jobs, progress, |&(configuration, variant)| run::run(configuration, variant))?;

        let mut rest = figures.as_slice();
        let mut outcomes = Vec::new();
        for (configuration, variants) in configurations.iter().zip(&runs) {
            let (own, later) = rest.split_at(variants.len());
            rest = later;
            let figures = (!own.is_empty()).then(|| mean_figures(own));
            outcomes.push(Outcome { configuration, figures, runs: own });
        }
        let distributions = distributions::all(&outcomes);
        Ok(Reproduction {
            paper: self.name().to_owned(),
            table: report::rows(&outcomes, &distributions),
            readable: report::readable(&outcomes, &distributions),
            figures: figures::figures(&outcomes, &distributions),
            findings: report::findings(&outcomes, &distributions),
            notes: notes(&outcomes, request.quick),
        }
        .into())
    }
}

/// The configurations of the file that was asked for, or of the repository's tables.
fn configurations(request: &Request) -> Result<Vec<Configuration>, ReproduceError> {
    let read = || -> Result<Vec<Configuration>, String> {
        match &request.cases {
            Some(path) => configuration::group(&path.display().to_string(), &cases::load(path)?),
            None => {
                let mut all = Vec::new();
                for (name, text) in TABLES {
                    all.extend(configuration::group(name, &cases::parse(name, text)?)?);
                }
                for configuration in all.iter_mut().filter(|configuration| configuration.failure.is_some()) {
                    configuration.references[0].per_second = outage::recorded(FAILURE_SECONDS, configuration);
                }
                Ok(all)
            }
        }
    };
    read().map_err(ReproduceError::BadInput)
}

fn is_wanted(configuration: &Configuration, request: &Request) -> bool {
    request.items.is_empty() || request.items.iter().any(|item| configuration.case.starts_with(item.as_str()))
}

/// What a stall is, and what makes it.
const STALL: &str = "A stall is counted in seconds of the remaining path's goodput, until a second brings nine tenths \
    of it. Ours replaces a subflow as Linux does (net.mptcp.stale_loss_cnt = 4): a data-level timer repeats one piece \
    at each expiry, on a subflow that has nothing outstanding, and everything is sent again when the failed one has \
    given no sign of life over more than four of them. Until then the send buffer is full of what it holds, and the \
    other path is idle. How long the five periods are depends on what is left of the other subflow's own timer each \
    time, which is a matter of single packets.";

/// How distributions are compared.
const DISTRIBUTIONS: &str = "H: our runs and the kernel's are compared by the two-sample Kolmogorov-Smirnov test: D is \
    the largest distance between the distribution functions, p its exact probability if the distributions are the same. \
    Different at 5 % by Holm's rule for all tests together: not confirmed; only alone: undecided. With 30 and 30 runs a \
    D of 11/30 (p = 0.035) is the smallest that is rejected alone: smaller differences may exist. Two flows fill the \
    link, so both goodputs and the share tell nearly the same. The kernel's runs with two flows began at steps of 10 ms, \
    which are few phases of its 4 ms timer tick: some of them are alike to the byte. Ours begin at 30 phases of the \
    tick, with the seeds 1 to 30.";

/// What `--quick` cannot decide.
const QUICK: &str = "With --quick a mean is of 5 runs, not of 20: a row near its bound may have another verdict in \
    full. Everything else is as without it.";

fn notes(outcomes: &[Outcome<'_>], quick: bool) -> Vec<String> {
    let mut notes = vec![
        "A row is one flow of one configuration; its reference is the mean of the kernel's repetitions \
         (reference_reps of them, reference_spread_pct apart)."
            .to_owned(),
        "Where nothing is random, ours is one run. With random loss it is the mean over as many seeds as `runs` says; \
         with several flows on a bottleneck, whose shares are chaotic, the mean over as many starts of the later flow, \
         spread evenly over the 30 ms after its nominal start."
            .to_owned(),
        format!(
            "deviation_pct is of the completion time where a size is sent, else of the goodput. MPTCP runs with the \
             scheduler {SCHEDULER} and the kernel's accounting of send buffers. The kernel's processing time (5 to 10 \
             us a hop) is left out."
        ),
    ];
    if quick {
        notes.push(QUICK.to_owned());
    }
    let unjudged = outcomes.iter().filter(|outcome| outcome.is_unjudged()).count();
    if unjudged > 0 {
        notes.push(format!("{unjudged} configurations have no verdict: no bound is declared for cases of their kind."));
    }
    if outcomes.iter().any(|outcome| outcome.configuration.failure.is_some()) {
        notes.push(STALL.to_owned());
    }
    if outcomes.iter().any(|outcome| outcome.configuration.is_chaotic()) {
        notes.push(DISTRIBUTIONS.to_owned());
    }
    let missing = outcomes.iter().filter(|outcome| outcome.figures.is_none()).count();
    if missing > 0 {
        notes
            .push(format!("{missing} configurations were not run: SCTP over several paths says not how it used them."));
    }
    notes
}

#[cfg(test)]
mod tests {
    use subflow_report::{Finding, Verdict};

    use super::*;

    fn reproduce(items: &[&str]) -> Reproduction {
        let items = items.iter().map(|&item| item.to_owned()).collect();
        let request = Request { items, quick: true, ..Request::default() };
        Linux612.reproduce(&request, &|_| {}).expect("the tables are good").reproduction
    }

    #[test]
    fn every_table_of_the_repository_can_be_read() {
        let all = configurations(&Request::default()).expect("the tables are good");
        assert_eq!(all.len(), 8 + 4 + 3 + 8 + 6 + 4 + 2 + 8 + 4 + 4 + 3);
        assert!(all.iter().all(Configuration::is_supported));
    }

    #[test]
    fn every_row_that_is_measured_has_a_verdict_also_in_quick_runs() {
        let all = configurations(&Request::default()).expect("the tables are good");
        let quick = Request { quick: true, ..Request::default() };
        for configuration in &all {
            assert!(is_wanted(configuration, &quick), "{} is left out", configuration.case);
            for reference in configuration.references.iter().filter(|_| !configuration.is_chaotic()) {
                // The sum of flows each of which has a verdict.
                let is_sum = reference.flow == cases::FlowName::All;
                let criterion = criteria::criterion(configuration, reference.flow);
                assert!(is_sum || criterion.is_some(), "{} {}", configuration.case, reference.flow);
            }
        }
    }

    #[test]
    fn a_quick_run_says_which_row_is_out_of_bounds() {
        let reproduction = reproduce(&["G"]);
        let refuted = |finding: &&Finding| finding.verdict == Verdict::NotConfirmed;
        let refuted: Vec<&str> =
            reproduction.findings.iter().filter(refuted).map(|finding| finding.statement.as_str()).collect();
        assert_eq!(refuted, ["G: seconds of stall after a path failed within 10 % of the kernel's"]);
    }

    #[test]
    fn one_flow_without_loss_gets_what_it_gets_from_the_kernel() {
        let reproduction = reproduce(&["A"]);
        assert_eq!(reproduction.table.rows().len(), 8);
        assert_eq!(reproduction.findings[0].verdict.confirmed(), Some(true), "{:?}", reproduction.findings);
    }

    #[test]
    fn short_transfers_wait_where_the_kernels_send_buffer_makes_them_wait() {
        let reproduction = reproduce(&["F"]);
        assert_eq!(reproduction.table.rows().len(), 8);
        assert_eq!(reproduction.findings[0].verdict.confirmed(), Some(true), "{:?}", reproduction.findings);
    }

    #[test]
    fn ten_megabytes_over_unequal_paths_take_as_long_as_in_the_kernel() {
        let reproduction = reproduce(&["D-10MB"]);
        assert_eq!(reproduction.findings[0].verdict.confirmed(), Some(true), "{:?}", reproduction.findings);
    }

    #[test]
    fn chaotic_cases_are_distributed_as_in_the_kernel() {
        let reproduction = reproduce(&["H"]);
        assert_eq!(reproduction.findings.len(), 5);
        let told_apart = |finding: &&Finding| finding.verdict == Verdict::NotConfirmed;
        assert_eq!(reproduction.findings.iter().find(told_apart), None);
    }

    #[test]
    fn what_cannot_be_repeated_is_a_row_and_no_error() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        let text = "case,protocol,cc,paths,loss_pct,duration_s,rep,flow,goodput_mbps\n\
                    G-sctp-64k,sctp,-,50/20/250;50/20/250,0,30,1,1,46.9936\n";
        std::fs::write(file.path(), text).expect("a temporary file");
        let request = Request { cases: Some(file.path().to_owned()), ..Request::default() };
        let reproduction = Linux612.reproduce(&request, &|_| {}).expect("not an error").reproduction;
        assert!(reproduction.table.to_csv().trim_end().ends_with("not supported"));
    }
}
