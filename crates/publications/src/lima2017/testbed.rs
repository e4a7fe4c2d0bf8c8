//! The thesis's testbed as scenarios: a client and a server joined by five links.

use std::fmt::Write;
use std::path::Path;

use rand_core::RngCore;
use subflow_network::stream;
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;

use super::grid::{LINKS, Setup};

/// What the thesis leaves open, and what is taken instead.
pub(super) const CHOICES: [&str; 7] = [
    "Stack: the profile mptcp-0.9 on both hosts (opportunistic retransmission and penalisation, receive buffer of at most \
     6 MiB as Linux has by default); the thesis ran MPTCP 0.90 on Linux 3.18.",
    "Links: rate, loss and latency act on the client's interfaces, where the thesis's helper program sets them, so on the \
     data. Acknowledgments come back at 1 Gbit/s without loss or latency.",
    "Queue: 1000 packets a link. The thesis hangs netem below tbf (parent 1:1), which takes the place of tbf's own queue, \
     and netem holds 1000 packets unless told otherwise; tbf's `limit`, of which no value is printed, plays no part then.",
    "Loss strikes before the queue, as netem's does.",
    "Cables: 50 to 100 us each way, drawn for each link and run; it is what tells runs without loss apart.",
    "Routing: a packet leaves by the interface of its source address. Full-mesh makes five subflows to each link, and \
     single-mesh one.",
    "Background: on each link one TCP connection (CUBIC) without end, and UDP at a fifth of the link's rate, on and off for \
     exponential times of 1 s on average. The thesis announces the study without saying how.",
];

/// The scenario of one run of `setup`.
pub(super) fn scenario(setup: &Setup, duration_s: u32, seed: u64) -> Scenario {
    let text = text(setup, duration_s, seed);
    let document = Document::parse(Path::new("lima2017.toml"), text).expect("we write TOML");
    Scenario::read(&document).expect("the testbed is a good scenario")
}

fn text(setup: &Setup, duration_s: u32, seed: u64) -> String {
    let interfaces = (1..=LINKS).map(|link| format!("\"l{link}\"")).collect::<Vec<_>>().join(", ");
    let mut text = format!(
        "duration = \"{duration_s} s\"\nprofile = \"mptcp-0.9\"\n[hosts]\nclient = [{interfaces}]\nserver = [{interfaces}]\n"
    );
    let mut random = stream(seed, "cables");
    for index in 0..LINKS {
        let cable_us = 50 + random.next_u64() % 51;
        let (number, rate) = (index + 1, setup.links.rate_mbps[index]);
        let latency_us = u64::from(setup.links.latency_ms[index]) * 1000 + cable_us;
        let _ = writeln!(
            text,
            "[links.l{number}]\nbetween = [\"client.l{number}\", \"server.l{number}\"]\n\
             rate = {{ up = \"{rate} Mbit/s\", down = \"1 Gbit/s\" }}\n\
             delay = {{ up = \"{latency_us} us\", down = \"{cable_us} us\" }}\nqueue = \"1000 packets\""
        );
        let loss = setup.links.loss_pct[index];
        if loss > 0 {
            let _ = writeln!(
                text,
                "loss = {{ up = {{ model = \"bernoulli\", probability = \"{loss} %\", position = \"before-queue\" }}, \
                 down = \"none\" }}"
            );
        }
    }
    let Setup { congestion, scheduler, path_manager, .. } = setup;
    let _ = writeln!(
        text,
        "[flows.upload]\nfrom = \"client.l1\"\nto = \"server.l1\"\nprotocol = \"mptcp\"\ncongestion = \"{congestion}\"\n\
         scheduler = \"{scheduler}\"\npath_manager = \"{path_manager}\""
    );
    if setup.background {
        background(&mut text, setup);
    }
    text
}

fn background(text: &mut String, setup: &Setup) {
    for (index, rate) in setup.links.rate_mbps.iter().enumerate() {
        let number = index + 1;
        let ends = format!("from = \"client.l{number}\"\nto = \"server.l{number}\"");
        let udp_kbps = rate * 1000 / 5;
        let _ = writeln!(
            text,
            "[flows.tcp{number}]\n{ends}\ncongestion = \"cubic\"\n\
             [flows.udp{number}]\n{ends}\nprotocol = \"udp\"\n\
             on_off = {{ rate = \"{udp_kbps} kbit/s\", on = {{ exponential = \"1 s\" }}, off = {{ exponential = \"1 s\" }} }}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::grid::{Study, cells};
    use super::*;

    #[test]
    fn every_cell_makes_a_good_scenario() {
        for study in Study::ALL {
            for cell in cells(study, false) {
                let scenario = scenario(&cell.setup, 10, 1);
                assert_eq!(scenario.links.len(), LINKS);
                assert_eq!(scenario.flows.len(), if study == Study::Background { 11 } else { 1 });
            }
        }
    }

    #[test]
    fn runs_differ_in_their_cables() {
        let setup = &cells(Study::Design, false)[0].setup;
        assert_ne!(text(setup, 10, 1), text(setup, 10, 2));
        assert_eq!(text(setup, 10, 3), text(setup, 10, 3));
    }
}
