//! The thesis's testbed as a scenario: two hosts, two paths that share nothing.

use std::fmt::Write;
use std::path::Path;

use subflow_scenario::Scenario;
use subflow_scenario::file::Document;

use super::grid::Cell;

/// What was chosen where the thesis is silent, or where the simulator differs.
pub(super) const CHOICES: [&str; 11] = [
    "Loss on path 1 in the first experiment is \"constant\" (section 4.2); its value is not printed. It is none here, \
     which is what the thesis's gains show with; its 1 % is only said of the validation of the code.",
    "The first ssthresh is 64 KiB, as section 2.3 says of Linux, in both modes.",
    "netem stands on both ends of each link, so acknowledgments are delayed and lost as data is: half of the RTT and \
     the full loss in each direction.",
    "Packets get lost after the link has carried them, netem drops them before; and a packet counts without its \
     Ethernet header, with which netem counts it (0.9 %).",
    "A queue of 1000 packets is that many that wait. netem's limit counts those under way, too: 45, 90 and 169 of \
     full size at 24, 48 and 90 ms, so that its queues overflow sooner where a window grows past them.",
    "The thesis changed Linux 4.18 (sections 3.2 and 4.1). What it does not say that it changed is Linux's here, in \
     both modes: SACKs with 16 gap blocks, one packet of fast retransmissions whatever the window, a timer that only \
     the cumulative TSN restarts, RTO.Min 1 s, ticks of 4 ms in a timer wheel. The item beyond has rows without some \
     of these.",
    "As in Linux, a timeout makes a path potentially failed (RFC 7829): new data takes the other one until a \
     HEARTBEAT on it is answered: a SACK makes only an inactive or unconfirmed path active (sctp_check_transmitted). \
     The thesis does not say how it chooses among such paths.",
    "No window grows during fast recovery, as the thesis says (section 2.2.1, and of figure 6). Linux 4.18 goes on \
     with congestion avoidance; a row of the item beyond does, too.",
    "netperf asks for buffers of 4 MiB, which the kernel doubles: it offers 4 MiB to the peer and has room to send \
     4646 KiB in messages of 1452 bytes. The transfer time begins with the handshake and ends with the last byte read.",
    "Both modes have split fast retransmit, delayed acknowledgment for CMT and RTX-SAME.",
    "The proposal is the window growth per-destination, the reference cuc-v2 with fast recovery by association.",
];

/// How much is transferred, in bytes.
const TRANSFER: u32 = 8_388_608;

/// The most that a transfer may take. None of the points comes near it.
const DURATION_S: u32 = 900;

/// Switches that are not what scenarios have by default, where a cell does not say otherwise: as in the kernel that the
/// thesis changed, but for what it says of fast recovery.
const SWITCHES: [(&str, &str); 7] = [
    ("initial_ssthresh", "'64 KiB'"),
    ("sack_ends_potentially_failed", "false"),
    ("avoidance_in_recovery", "false"),
    ("max_gap_blocks", "16"),
    ("most_tsns_ahead", "4096"),
    ("gap_acks_restart_timer", "false"),
    ("probe_at_once", "false"),
];

/// The scenario of a cell.
pub(super) fn scenario(cell: &Cell) -> Scenario {
    let document = Document::parse(Path::new("leitner2019.toml"), text(cell)).expect("we write TOML");
    Scenario::read(&document).expect("cells are right")
}

fn text(cell: &Cell) -> String {
    let mut text = format!(
        "duration = \"{DURATION_S} s\"\nsample_interval = \"{DURATION_S} s\"\n[hosts]\nsender = [\"s1\", \"s2\"]\n\
         receiver = [\"r1\", \"r2\"]\n"
    );
    for path in [0, 1] {
        let number = path + 1;
        let one_way_us = cell.rtt_ms[path] * 500;
        let loss = cell.loss_pct[path];
        let back = if cell.acks_get_lost { loss } else { 0 };
        let _ = writeln!(
            text,
            "[links.path{number}]\nbetween = [\"sender.s{number}\", \"receiver.r{number}\"]\nrate = \"45 Mbit/s\"\n\
             delay = \"{one_way_us} us\"\nqueue = \"1000 packets\"\nloss = {{ up = \"{loss} %\", down = \"{back} %\" \
             }}",
        );
    }
    let _ = writeln!(
        text,
        "[flows.file]\nfrom = \"sender.s1\"\nto = \"receiver.r1\"\nprotocol = \"sctp\"\nsend = \"{TRANSFER} bytes\"\n\
         [flows.file.sctp]\ncmt = true\nmessage_size = \"1452 bytes\"\nwindow_growth = \"{}\"\nfast_recovery = \"{}\"\n\
         retransmission = \"{}\"\nnr_sack = {}\nreceive_buffer = \"{} KiB\"\nsend_buffer = \"{} KiB\"\n",
        cell.mode.window_growth,
        cell.mode.fast_recovery,
        cell.retransmission,
        cell.nr_sack,
        cell.receive_buffer_kib,
        cell.send_buffer_kib,
    );
    for (switch, value) in SWITCHES {
        if !cell.further.contains(switch) {
            let _ = writeln!(text, "{switch} = {value}");
        }
    }
    text += cell.further;
    text += "\n";
    if cell.background_mbps > 0 {
        let _ = writeln!(
            text,
            "[flows.background]\nfrom = \"sender.s2\"\nto = \"receiver.r2\"\nprotocol = \"udp\"\nduration = \"60 s\"\n\
             on_off = {{ rate = \"{} Mbit/s\", on = {{ exponential = \"500 ms\" }}, off = {{ exponential = \"500 ms\" \
             }} }}",
            cell.background_mbps,
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::grid::{ALTERNATIVES, Extent, THESIS, cells, experiments};
    use super::*;

    #[test]
    fn every_alternative_is_a_scenario_of_its_own() {
        let of = |choices| text(&experiments(&Extent::of(true), choices)[4]);
        for (choice, choices) in ALTERNATIVES {
            scenario(&experiments(&Extent::of(true), choices)[4]);
            assert_ne!(of(choices), of(THESIS), "{choice}");
        }
    }

    #[test]
    fn every_cell_is_a_scenario() {
        for cell in cells(&Extent::of(false)) {
            assert_eq!(scenario(&cell).flows.len(), 1 + usize::from(cell.background_mbps > 0), "{cell:?}");
        }
    }
}
