//! The thesis's testbed as scenarios.
//!
//! ```text
//! bottleneck        east =1G= south ~shaped~> north =1G= west      (two cables on each side)
//! half-bottleneck   east -1G- south ~shaped~> -1G- west            TCP and one subflow
//!                   east -1G- north ~shaped~> -1G- west            the other subflow
//! ```
//!
//! What the thesis says: dummynet on the FreeBSD routers shapes, queues of 50 packets, 1 Gbit/s Ethernet, MTU 1500, RTT
//! well under 1 ms, MPTCP 0.9x on both hosts, two subflows, sending without end. What it does not say is chosen here,
//! once for all tables, and stated in [`CHOICES`].

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use rand_core::RngCore;
use subflow_network::{CapacityTrace, Service, stream};
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;

use super::grid::{Buffers, Cell, Choices, Queue, Topology};

/// What the thesis leaves open, and what is taken instead.
pub(super) const CHOICES: [&str; 13] = [
    "Stack: the profile mptcp-0.9 (lowest-RTT scheduler, opportunistic retransmission and penalisation, SACK loss \
     detection by three duplicates, the kernel's fixed-point arithmetic); TCP is Reno.",
    "Kernel: Linux 3.18 with MPTCP 0.90 or 4.1 with 0.91 (the thesis's listings have `srtt_us` and `cong_avoid` with \
     three arguments). What both do is taken: slow start goes on at the threshold, OLIA's threshold is Reno's, at \
     least two packets. In 3.18 all algorithms count acknowledgments; the findings say what that changes.",
    "CMT/RPv2 is the published kernel module: one packet more for each window and acknowledgment whatever the share, \
     decrease by the formula with a floor of one packet. The thesis prints the formula; the findings say what it \
     changes.",
    "Buffers grow as Linux's do. NetPerfMeter is known to set 233016 bytes in either direction, but that does not \
     explain that the thesis's Reno stays at 56 to 60 Mbit/s at 20 ms (A.3, A.17): a receive window of this size \
     would hold it at 46, and a send buffer of twice of it, with the packets' overhead 292 kB of data, at 27, because \
     a writer that waits for a third of the buffer then sends more at once than the queue holds. With buffers that \
     grow it gets 64 to 72 here, so that Reno's own sawtooth explains it. The findings have all three.",
    "Acknowledgments have a pipe of their own. The rule `pipe 1 ip from any to any` could put them into that of the \
     data, but the thesis's totals rise by 0.955 Mbit/s for each Mbit/s of capacity (A.1, below 1 ms; 0.956 for each \
     path in A.11), where headers leave 0.959 without acknowledgments and 0.94 with one for two packets.",
    "Added latency: on the data and on the acknowledgments, so that the RTT grows by twice its value. The rule that \
     the thesis shows, `pipe 1 ip from any to any`, delays both, and the tables at 20 ms say so too: at 100 Mbit/s \
     one way leaves the link 89 % used by LIA, OLIA or CMT/RPv2 with Reno, both ways 81 to 87 %; the thesis has 76 to \
     83 %.",
    "Base RTT: 0.4 ms (\"well under 1 ms\").",
    "Clock: dummynet takes packets off its queue at ticks of 1 ms (FreeBSD's kern.hz = 1000), as many as the rate has \
     earned by then. At an RTT below 1 ms that is the better part of the RTT which wVegas takes for its base: without \
     ticks it gets 25 of 100 Mbit/s against Reno (A.1), with them 42; the thesis has 36.",
    "Queue: 50 packets, all of which wait for a tick. Packets count with their IP length.",
    "RED: dummynet's own (drops spaced by intervals, ageing by clock ticks) with the parameters that Floyd and \
     Jacobson recommended in 1993: weight 0.002, thresholds of 5 and 15 packets, maximum probability 2 %; not gentle. \
     With 10 % the link would be 85 to 90 % used below 1 ms, where the thesis has 94 of 100 Mbit/s.",
    "Start: each flow at a random time within the first second. It is what tells the runs of a cell apart.",
    "The thesis's figures are whole numbers and look truncated (at 20 Mbit/s many cells add up to 18, where headers \
     leave 19.1); they stand here as printed, ours unrounded, so half a Mbit/s of the deviation is theirs.",
    "The figures A.7 to A.13 (half-bottleneck at 20 ms) have no table, so that no cell of theirs is compared.",
];

/// Base RTT in microseconds, spread over the four Ethernet cables that a round trip passes.
const BASE_RTT_US: u32 = 400;
const QUEUE: &str = "limit = \"50 packets\", counts_transmitting = true";
const RED: &str = "discipline = \"red\", min_threshold = \"5 packets\", max_threshold = \"15 packets\", \
                   max_probability = \"2 %\", weight = 0.002, gentle = false, drop = \"per-interval\", idle = \
                   \"dummynet\"";
/// What NetPerfMeter asks for, in bytes.
const PROGRAM_BUFFER: u32 = 233_016;
/// The data that fits in twice of it where each packet of 1448 bytes takes 2304, in bytes.
const SEND_BUFFER: u32 = 2 * PROGRAM_BUFFER / 2304 * 1448;
/// Flows start within so many milliseconds.
const START_SPREAD_MS: u64 = 1000;

/// The scenario of one run of `cell`.
pub(super) fn scenario(cell: &Cell, duration_s: u32, seed: u64) -> Scenario {
    let text = text(cell, duration_s, seed);
    let document = Document::parse(Path::new("lugowski2017.toml"), text).expect("we write TOML");
    let mut scenario = Scenario::read(&document).expect("the testbed is a good scenario");
    for link in &mut scenario.links {
        match link.name.as_str() {
            "shaped" | "shaped-south" => link.up.service = ticking(cell.capacity_mbps),
            "shaped-north" => link.up.service = ticking(cell.north_mbps()),
            _ => {}
        }
    }
    scenario
}

/// The scenario's text; the shaped links have a constant rate in it.
pub(super) fn text(cell: &Cell, duration_s: u32, seed: u64) -> String {
    let Choices { profile, scheduler, cmt_rpv2, buffers, .. } = cell.choices;
    let buffers = match buffers {
        Buffers::Send => format!("send_buffer = \"{SEND_BUFFER} bytes\"\n"),
        Buffers::SendAndReceive => {
            format!("send_buffer = \"{PROGRAM_BUFFER} bytes\"\nreceive_buffer = \"{PROGRAM_BUFFER} bytes\"\n")
        }
        Buffers::Growing => String::new(),
    };
    let stale = match scheduler {
        "linux-default" => "[mptcp]\nstale_loss_count = 4\nsubflows_open_window = true\n",
        _ => "",
    };
    let mut text = format!(
        "duration = \"{duration_s} s\"\nprofile = \"{profile}\"\n[tcp]\ncmt_rpv2 = \"{cmt_rpv2}\"\n{buffers}{stale}[hosts]\n\
         east = [\"s\", \"n\"]\nwest = [\"s\", \"n\"]\n[routers]\n"
    );
    if cell.table.topology == Topology::Bottleneck {
        text += "south = {}\nnorth = {}\n";
        ethernet(&mut text, "east-s", "east.s", "south");
        ethernet(&mut text, "east-n", "east.n", "south");
        shaped(&mut text, cell, "shaped", ("south", "north"), cell.capacity_mbps);
        ethernet(&mut text, "west-s", "north", "west.s");
        ethernet(&mut text, "west-n", "north", "west.n");
    } else {
        // A router is cut in two at its dummynet pipe.
        text += "south1 = {}\nsouth2 = {}\nnorth1 = {}\nnorth2 = {}\n";
        for (path, rate) in [("south", cell.capacity_mbps), ("north", cell.north_mbps())] {
            let (near, far) = (format!("{path}1"), format!("{path}2"));
            let interface = &path[..1];
            ethernet(&mut text, &format!("east-{interface}"), &format!("east.{interface}"), &near);
            shaped(&mut text, cell, &format!("shaped-{path}"), (&near, &far), rate);
            ethernet(&mut text, &format!("west-{interface}"), &far, &format!("west.{interface}"));
        }
    }
    for (index, congestion) in cell.flows.iter().enumerate() {
        let mut random = stream(seed, &format!("start of flow {index}"));
        let start = random.next_u64() % START_SPREAD_MS;
        let _ = writeln!(
            text,
            "[flows.flow{index}]\nfrom = \"east.s\"\nto = \"west.s\"\ncongestion = \"{congestion}\"\nstart = \
             \"{start} ms\""
        );
        text += &match *congestion {
            "reno" => "protocol = \"tcp\"\n".to_owned(),
            _ => format!(
                "protocol = \"mptcp\"\nscheduler = \"{scheduler}\"\npath_manager = \"default\"\n\
                 subflows = [{{ from = \"east.n\", to = \"west.n\" }}]\n"
            ),
        };
    }
    text
}

fn ethernet(text: &mut String, name: &str, from: &str, to: &str) {
    let delay = BASE_RTT_US / 4;
    let _ = writeln!(
        text,
        "[links.{name}]\nbetween = [\"{from}\", \"{to}\"]\nrate = \"1 Gbit/s\"\ndelay = \"{delay} us\"\n\
         queue = \"1000 packets\""
    );
}

fn shaped(text: &mut String, cell: &Cell, name: &str, (from, to): (&str, &str), rate_mbps: u32) {
    let latency = cell.latency_ms;
    let back = if cell.choices.both_ways { latency } else { 0 };
    let red = if cell.table.queue == Queue::Red { format!("{RED}, ") } else { String::new() };
    let _ = writeln!(
        text,
        "[links.{name}]\nbetween = [\"{from}\", \"{to}\"]\nrate = {{ up = \"{rate_mbps} Mbit/s\", down = \"1 Gbit/s\" \
         }}\n\
         delay = {{ up = \"{latency} ms\", down = \"{back} ms\" }}\nqueue = {{ up = {{ {red}{QUEUE} }}, down = \"1000 \
         packets\" }}",
    );
}

/// Opportunities to send `rate_mbps` at ticks of one millisecond. A rate in Mbit/s is one packet of 1500 bytes per 12
/// ms and Mbit/s.
fn ticking(rate_mbps: u32) -> Service {
    let mut ticks = String::new();
    for tick in 1..=12 {
        let earned = |ticks: u32| rate_mbps * ticks / 12;
        for _ in earned(tick - 1)..earned(tick) {
            let _ = writeln!(ticks, "{tick}");
        }
    }
    Service::Trace(Arc::new(CapacityTrace::parse(&ticks).expect("ticks rise to 12 ms")))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::grid::{ALTERNATIVES, TABLES, THESIS, cells};
    use super::*;

    #[test]
    fn every_table_makes_good_scenarios() {
        for table in TABLES {
            for cell in cells(table, &[10, 100], THESIS) {
                let scenario = scenario(&cell, 10, 1);
                assert_eq!(scenario.flows.len(), cell.flows.len());
                let shaped = scenario.links.iter().filter(|link| link.name.starts_with("shaped"));
                assert_eq!(shaped.count(), if table.topology == Topology::Bottleneck { 1 } else { 2 });
            }
        }
    }

    #[test]
    fn every_alternative_is_a_scenario_of_its_own() {
        // At 20 ms, where all of them tell.
        let of = |choices| cells(TABLES[2], &[100], choices).swap_remove(2);
        for (choice, choices) in ALTERNATIVES {
            scenario(&of(choices), 10, 1);
            assert_ne!(text(&of(choices), 10, 1), text(&of(THESIS), 10, 1), "{choice}");
        }
    }

    #[test]
    fn cells_with_the_same_setup_have_the_same_scenario() {
        let choices = ALTERNATIVES.map(|(_, choices)| choices).into_iter().chain([THESIS]);
        let of_tables = |choices| TABLES.into_iter().flat_map(move |table| cells(table, &[10, 100], choices));
        let (mut texts, mut seen) = (BTreeMap::new(), 0);
        for cell in choices.flat_map(of_tables) {
            let mut text = text(&cell, 10, 1);
            if !cell.flows.contains(&"cmt-rpv2") {
                text = text.replace("\"formula\"", "\"kernel-module\"");
            }
            seen += 1;
            assert_eq!(*texts.entry(cell.setup()).or_insert(text.clone()), text);
        }
        // The half-bottleneck at 10 Mbit/s is in two tables, at 0 and at 5 ms, under each of the six choices.
        // CMT/RPv2's form is no matter to 96 of 134 cells, and the way of latency to the 50 at 0 ms.
        let distinct: std::collections::BTreeSet<&String> = texts.values().collect();
        assert_eq!(texts.len(), distinct.len());
        assert!(seen - texts.len() > 48 + 96 + 50 - 16, "{seen} cells, {} setups", texts.len());
    }

    #[test]
    fn ticks_earn_the_rate() {
        for rate in (10..=100).step_by(10) {
            let Service::Trace(trace) = ticking(rate) else { panic!("ticks are a trace") };
            assert_eq!(trace.mean_bits_per_second(), f64::from(rate) * 1e6);
        }
    }

    #[test]
    fn runs_differ_in_when_flows_start() {
        let cell = &cells(TABLES[0], &[20], THESIS)[0];
        assert_ne!(text(cell, 10, 1), text(cell, 10, 2));
        assert_eq!(text(cell, 10, 3), text(cell, 10, 3));
    }
}
