//! The thesis's testbed as scenarios: a client and a server joined by five links.

use std::fmt::Write;
use std::path::Path;

use rand_core::RngCore;
use subflow_network::stream;
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;

use super::grid::{Choices, LINKS, Latency, Setup};

/// What the thesis uploads: 500 messages of 3 MB.
const TRANSFER: &str = "1500 MB";

/// What the thesis leaves open, and what is taken instead.
pub(super) const CHOICES: [&str; 9] = [
    "Stack: the profile mptcp-0.90 on both hosts, as the thesis's table 1 has it: growth counts acknowledgments, \
     opportunistic retransmission and penalisation as in mptcp_rcv_buf_optimization, receive buffer of at most 6 MiB \
     as Linux has by default.",
    "Acknowledgments: one for each packet, as the thesis's figure 9 shows: in its first second 10461 packets carry \
     7469132 bytes, which fill 5158 packets of 1448 bytes.",
    "Latency: the thesis sets `latency` of tbf (code 5.2), which bounds the time in its queue, and speaks of \
     end-to-end latency and of netem for delay. Here it is a delay; the findings say which of them depend on that.",
    "Links: rate, loss and latency act on the client's interfaces, where the thesis's helper program sets them, so on \
     the data. Acknowledgments come back at 1 Gbit/s without loss or latency.",
    "Queue: 1000 packets a link. The thesis hangs netem below tbf (parent 1:1), which takes the place of tbf's own \
     queue, and netem holds 1000 packets unless told otherwise; tbf's `limit`, of which no value is printed, plays no \
     part then.",
    "Loss strikes before the queue, as netem's does.",
    "Cables: 50 to 100 us each way, drawn for each link and run; it is what tells runs without loss apart.",
    "Routing: a packet leaves by the interface of its source address. Full-mesh makes five subflows to each link, and \
     single-mesh one.",
    "Background: on each link one TCP connection (CUBIC) without end, and UDP at a fifth of the link's rate, on and \
     off for exponential times of 1 s on average. The thesis announces the study without saying how.",
];

/// The scenario of one run of `setup`.
pub(super) fn scenario(setup: &Setup, duration_s: u32, seed: u64) -> Scenario {
    let text = text(setup, duration_s, seed);
    let document = Document::parse(Path::new("lima2017.toml"), text).expect("we write TOML");
    Scenario::read(&document).expect("the testbed is a good scenario")
}

fn text(setup: &Setup, duration_s: u32, seed: u64) -> String {
    let interfaces = (1..=LINKS).map(|link| format!("\"l{link}\"")).collect::<Vec<_>>().join(", ");
    let Choices { profile, penalisation, delayed_acks, latency, kernel_receives } = setup.choices;
    let hosts = match kernel_receives {
        true => format!(
            "client = {{ interfaces = [{interfaces}], stack = \"subflow\" }}\n\
             server = {{ interfaces = [{interfaces}], profile = \"linux-6.12\" }}\n"
        ),
        false => format!("client = [{interfaces}]\nserver = [{interfaces}]\n"),
    };
    let mut text = format!(
        "duration = \"{duration_s} s\"\nprofile = \"{profile}\"\n[mptcp]\npenalisation = {penalisation}\n[hosts]\n\
         {hosts}"
    );
    if !delayed_acks {
        text.insert_str(0, "tcp = { delayed_ack = false }\n");
    }
    let mut random = stream(seed, "cables");
    for index in 0..LINKS {
        let cable_us = 50 + random.next_u64() % 51;
        let (number, rate) = (index + 1, setup.links.rate_mbps[index]);
        let latency_ms = setup.links.latency_ms[index];
        let (delay_us, queue) = match latency {
            // A millisecond at a megabit per second holds 125 bytes.
            Latency::QueueBound if latency_ms > 0 => (cable_us, format!("{} bytes", rate * latency_ms * 125)),
            _ => (u64::from(latency_ms) * 1000 + cable_us, "1000 packets".to_owned()),
        };
        let _ = writeln!(
            text,
            "[links.l{number}]\nbetween = [\"client.l{number}\", \"server.l{number}\"]\n\
             rate = {{ up = \"{rate} Mbit/s\", down = \"1 Gbit/s\" }}\n\
             delay = {{ up = \"{delay_us} us\", down = \"{cable_us} us\" }}\n\
             queue = {{ up = \"{queue}\", down = \"1000 packets\" }}"
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
        "[flows.upload]\nfrom = \"client.l1\"\nto = \"server.l1\"\nprotocol = \"mptcp\"\ncongestion = \
         \"{congestion}\"\n\
         scheduler = \"{scheduler}\"\npath_manager = \"{path_manager}\""
    );
    if setup.ends {
        let _ = writeln!(text, "send = \"{TRANSFER}\"");
    }
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
             on_off = {{ rate = \"{udp_kbps} kbit/s\", on = {{ exponential = \"1 s\" }}, off = {{ exponential = \"1 \
             s\" }} }}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::grid::{ALTERNATIVES, Study, THESIS, cells};
    use super::*;

    #[test]
    fn every_cell_makes_a_good_scenario() {
        for study in Study::ALL {
            for cell in cells(study, false, THESIS) {
                let scenario = scenario(&cell.setup, 10, 1);
                assert_eq!(scenario.links.len(), LINKS);
                assert_eq!(scenario.flows.len(), if study == Study::Background { 11 } else { 1 });
            }
        }
    }

    #[test]
    fn every_alternative_makes_a_good_scenario_of_its_own() {
        let of = |choices| {
            let cell = cells(Study::Design, false, choices).swap_remove(16);
            scenario(&cell.setup, 10, 1);
            text(&cell.setup, 10, 1)
        };
        let texts: Vec<String> = ALTERNATIVES.iter().map(|&(_, choices)| of(choices)).collect();
        assert!(texts.iter().all(|text| *text != of(THESIS)));
    }

    #[test]
    fn runs_differ_in_their_cables() {
        let setup = &cells(Study::Design, false, THESIS)[0].setup;
        assert_ne!(text(setup, 10, 1), text(setup, 10, 2));
        assert_eq!(text(setup, 10, 3), text(setup, 10, 3));
    }
}
