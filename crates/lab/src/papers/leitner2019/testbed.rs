//! The thesis's testbed as a scenario: two hosts, two paths that share nothing.

use std::fmt::Write;
use std::path::Path;

use super::grid::Cell;
use crate::scenario::Scenario;
use crate::scenario::file::Document;

/// What was chosen where the thesis is silent, or where the simulator differs.
pub(super) const CHOICES: [&str; 5] = [
    "netem stands on both ends of each link, so acknowledgments are delayed and lost as data is: half of the RTT and the full \
     loss in each direction.",
    "Packets get lost after the link has carried them, netem drops them before; and a packet counts without its Ethernet header, \
     with which netem counts it (0.9 %).",
    "Both modes have split fast retransmit, delayed acknowledgment for CMT, RTX-SAME, RTO.Min 1 s, no window growth during fast \
     recovery, and timers of a kernel with ticks of 4 ms. A destination's timer restarts with news of that destination.",
    "ssthresh begins at 64 KiB; the item beyond has a row without that bound.",
    "The proposal is the window growth per-destination, the reference cuc-v2 with fast recovery by association.",
];

/// How much is transferred, in bytes.
const TRANSFER: u32 = 8_388_608;

/// The most that a transfer may take. None of the points comes near it.
const DURATION_S: u32 = 900;

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
        let _ = writeln!(
            text,
            "[links.path{number}]\nbetween = [\"sender.s{number}\", \"receiver.r{number}\"]\nrate = \"45 Mbit/s\"\n\
             delay = \"{one_way_us} us\"\nqueue = \"1000 packets\"\nloss = \"{} %\"",
            cell.loss_pct[path],
        );
    }
    let _ = writeln!(
        text,
        "[flows.file]\nfrom = \"sender.s1\"\nto = \"receiver.r1\"\nprotocol = \"sctp\"\nsend = \"{TRANSFER} bytes\"\n\
         [flows.file.sctp]\ncmt = true\nmessage_size = \"1452 bytes\"\nwindow_growth = \"{}\"\nfast_recovery = \"{}\"\n\
         retransmission = \"{}\"\nnr_sack = {}\nreceive_buffer = \"{} KiB\"\nsend_buffer = \"{} KiB\"",
        cell.mode.window_growth,
        cell.mode.fast_recovery,
        cell.retransmission,
        cell.nr_sack,
        cell.buffer_kib,
        cell.buffer_kib,
    );
    for default in ["avoidance_in_recovery = false", "gap_acks_restart_timer = true", "initial_ssthresh = '64 KiB'"] {
        let key = default.split(' ').next().unwrap_or_default();
        if !cell.further.starts_with(key) {
            text += &format!("{default}\n");
        }
    }
    text += cell.further;
    text += "\n";
    if cell.background_mbps > 0 {
        let _ = writeln!(
            text,
            "[flows.background]\nfrom = \"sender.s2\"\nto = \"receiver.r2\"\nprotocol = \"udp\"\nduration = \"60 s\"\n\
             on_off = {{ rate = \"{} Mbit/s\", on = {{ exponential = \"500 ms\" }}, off = {{ exponential = \"500 ms\" }} }}",
            cell.background_mbps,
        );
    }
    text
}
