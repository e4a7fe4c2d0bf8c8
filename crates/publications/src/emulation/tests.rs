//! The comparison, with runs of the simulator in place of Linux.

use std::cell::Cell;

use subflow_lab::results::RealTime;
use subflow_report::Reproduction;

use super::*;
use crate::study::{self, Code, Folder, Linux};

/// A publication with an item that runs on Linux, and one that does not.
fn invented() -> Study {
    const FILE: &str = "title = 'Nobody: nothing (1999)'\nscenario = 'scenario.toml'\n\
        items = { simulated = 'in the simulator only', both = 'on Linux, too' }\n\
        [[metrics]]\nname = 'goodput'\ncolumn = 'goodput_mbps'\n\
        [[experiments]]\nitem = 'simulated'\nvariables = { runs = 2 }\n\
        [[experiments]]\nitem = 'both'\nvariables = { runs = 2 }\non_linux = true\n";
    const SCENARIO: &str = "duration = '2 s'\n[hosts]\na = ['eth']\nb = ['eth']\n[links.path]\n\
        between = ['a.eth', 'b.eth']\nrate = '5 Mbit/s'\ndelay = '5 ms'\n\
        [flows.file]\nfrom = 'a'\nto = 'b'\nprotocol = 'tcp'\n";
    const FILES: &[(&str, &str)] = &[("paper.toml", FILE), ("scenario.toml", SCENARIO)];
    let goodput = |_: &study::Cell| {
        let of = |result: &RunResult| result.flows[0].goodput_mbps;
        vec![Quantity { name: "goodput", unit: "Mbit/s", published: Some(4.5), bound: Some(0.15), of }]
    };
    let linux = Linux {
        routers: Routers::Simulated,
        case: |_| "one flow".to_owned(),
        quantities: goodput,
        sample: <[f64]>::to_vec,
        further_findings: |_| Vec::new(),
    };
    let code = Code { linux: Some(linux), ..Code::default() };
    Study::new(Folder::of_files("invented", FILES), code).expect("a good folder")
}

/// The simulator, whose first runs are not valid.
struct Late {
    invalid: Cell<u32>,
    slower: f64,
}

impl Emulator for Late {
    fn check(&self, _: &Scenario, _: Routers) -> Result<(), RunError> {
        Ok(())
    }
    fn run(&self, scenario: &Scenario, seed: u64, _: Routers, options: &RunOptions) -> Result<RunResult, RunError> {
        let mut result = simulate(scenario, seed, options)?;
        result.flows[0].goodput_mbps *= self.slower;
        let objections: Vec<String> = (self.invalid.get() > 0).then(|| "too late".to_owned()).into_iter().collect();
        self.invalid.set(self.invalid.get().saturating_sub(1));
        result.real_time = Some(RealTime { objections, ..RealTime::default() });
        Ok(result)
    }
}

fn reproduction(invalid: u32, slower: f64) -> Reproduction {
    on_linux(invalid, slower).reproduction
}

fn on_linux(invalid: u32, slower: f64) -> Done {
    let emulator = Late { invalid: Cell::new(invalid), slower };
    reproduce_on_linux(&invented(), &Request::default(), &emulator, &|_| {}).expect("it runs")
}

#[test]
fn only_items_with_emulations_run_on_linux() {
    assert_eq!(items_on_linux(&invented()), ["both"]);
}

#[test]
fn published_simulated_and_emulated_figures_are_in_one_row() {
    let reproduction = reproduction(0, 0.9);
    let text = reproduction.to_text();
    assert!(text.contains("emulated (kernel)") && text.contains("-10.0 %") && text.contains("2 of 2"), "{text}");
    assert_eq!(reproduction.findings[0].verdict.confirmed(), Some(true));
}

#[test]
fn the_number_of_runs_can_be_chosen() {
    let emulator = Late { invalid: Cell::new(0), slower: 1.0 };
    let request = Request { runs: Some(3), on_linux: true, ..Request::default() };
    let text = reproduce_on_linux(&invented(), &request, &emulator, &|_| {}).expect("it runs").reproduction.to_text();
    assert!(text.contains("3 of 3"), "{text}");
    assert_eq!(request.describe(&invented()).command, "subflow reproduce invented --on linux --repeat 3");
}

#[test]
fn figures_beyond_the_bound_do_not_agree() {
    assert_eq!(reproduction(0, 0.8).findings[0].verdict.confirmed(), Some(false));
}

#[test]
fn a_run_that_is_not_valid_is_repeated() {
    let text = reproduction(ATTEMPTS - 1, 1.0).to_text();
    assert!(text.contains("2 of 2") && text.contains("2 attempts were repeated"), "{text}");
}

#[test]
fn a_run_that_stays_invalid_is_counted_and_not_used() {
    let one = reproduction(ATTEMPTS, 1.0);
    assert!(one.to_text().contains("1 of 2") && one.to_text().contains("too late"), "{}", one.to_text());
    let none = reproduction(2 * ATTEMPTS, 1.0);
    assert!(none.to_text().contains("0 of 2") && none.to_text().contains("not valid ("), "{}", none.to_text());
    assert_eq!(none.findings[0].verdict.confirmed(), None);
    assert_eq!([ATTEMPTS, 2 * ATTEMPTS].map(|invalid| on_linux(invalid, 1.0).without_valid_runs), [0, 1]);
}
