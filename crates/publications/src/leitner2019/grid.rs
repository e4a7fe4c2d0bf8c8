//! What is run: the points of both experiments under both modes, and what the thesis left open.

use crate::Item;
use crate::alternatives::sensitivity;

pub(super) const LOSS_ON_PATH_2: &str = "loss-on-path-2";
pub(super) const EQUAL_LOSS: &str = "equal-loss";
pub(super) const BEYOND: &str = "beyond";

pub(super) const ITEMS: [Item; 4] = [
    Item { name: LOSS_ON_PATH_2, title: "no loss on path 1, 0 to 10 % on path 2 (figures 8 to 14)" },
    Item { name: EQUAL_LOSS, title: "0 to 10 % loss on both paths (figures 15 to 27)" },
    Item {
        name: BEYOND,
        title: "future work: retransmission policies, small buffers with NR-SACK, unequal RTTs, background traffic",
    },
    sensitivity("the verdicts on both experiments where a choice is made otherwise"),
];

/// The cells of the item `beyond` that take the proposal apart.
const GROWTH_AND_RECOVERY: &str = "growth and recovery";

/// How many chunks the transfer is cut into: 8 388 608 bytes in messages of 1452.
pub(super) const CHUNKS: f64 = 5778.0;

/// From this loss on, in percent, it is much.
pub(super) const MUCH_LOSS_PCT: u32 = 5;

/// What the thesis leaves open, taken one way or the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choices {
    /// The loss on path 1 in the first experiment, in percent: "constant", its value is not printed.
    fixed_loss_pct: u32,
    /// Whether the receiver's packets get lost as the sender's do.
    acks_get_lost: bool,
    /// Switches that are not those of the testbed, as TOML.
    further: &'static str,
}

/// What the figures are run with.
pub(super) const THESIS: Choices = Choices { fixed_loss_pct: 0, acks_get_lost: true, further: "" };

/// What a verdict may hang on: each choice made otherwise, alone.
pub(super) const ALTERNATIVES: [(&str, Choices); 6] = [
    ("1 % loss on path 1", Choices { fixed_loss_pct: 1, ..THESIS }),
    ("a first ssthresh of the peer's window", Choices { further: PEER_WINDOW, ..THESIS }),
    ("no loss of acknowledgments", Choices { acks_get_lost: false, ..THESIS }),
    ("a SACK ends potentially failed", Choices { further: "sack_ends_potentially_failed = true", ..THESIS }),
    ("no path is ever potentially failed", Choices { further: UNSUSPECTING, ..THESIS }),
    ("congestion avoidance in recovery", Choices { further: "avoidance_in_recovery = true", ..THESIS }),
];

const PEER_WINDOW: &str = "initial_ssthresh = 'peer-window'";

/// How much is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) rtts_ms: &'static [u32],
    pub(super) losses_pct: &'static [u32],
    pub(super) runs: u64,
    pub(super) runs_beyond: u64,
}

impl Extent {
    pub(super) fn of(quick: bool) -> Self {
        match quick {
            false => Self {
                rtts_ms: &[24, 48, 90],
                losses_pct: &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
                runs: 300,
                runs_beyond: 100,
            },
            true => Self { rtts_ms: &[24, 90], losses_pct: &[0, 1, 5, 10], runs: 30, runs_beyond: 10 },
        }
    }

    /// For a verdict under other choices.
    pub(super) fn of_alternatives(quick: bool) -> Self {
        let runs = if quick { 10 } else { 30 };
        Self { rtts_ms: &[24, 48, 90], losses_pct: &[0, 1, 2, 5, 10], runs, runs_beyond: runs }
    }

    /// Runs of a cell: those of the future work are fewer, but for those that a finding rests on.
    pub(super) fn runs(&self, cell: &Cell) -> u64 {
        if cell.item == BEYOND && !cell.takes_the_proposal_apart() { self.runs_beyond } else { self.runs }
    }
}

/// How windows grow, and whose fast recovery is: what the thesis compares, and what lies between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mode {
    /// Its name in the tables.
    pub(super) name: &'static str,
    pub(super) window_growth: &'static str,
    pub(super) fast_recovery: &'static str,
}

const fn mode(name: &'static str, window_growth: &'static str, fast_recovery: &'static str) -> Mode {
    Mode { name, window_growth, fast_recovery }
}

/// CUC, version 2, and one fast recovery for the association.
pub(super) const REFERENCE: Mode = mode("reference", "cuc-v2", "association");
/// No CUC, and a fast recovery for each destination.
pub(super) const PROPOSAL: Mode = mode("proposal", "per-destination", "destination");
/// The steps between, each alone.
pub(super) const CUC_BY_DESTINATION: Mode = mode("cuc-v2 with recovery by destination", "cuc-v2", "destination");
pub(super) const NO_CUC_BY_ASSOCIATION: Mode = mode("no CUC with recovery by association", "rfc9260", "association");
/// These, and what came before.
const OTHERS: [Mode; 5] = [
    CUC_BY_DESTINATION,
    NO_CUC_BY_ASSOCIATION,
    mode("cuc", "cuc", "association"),
    mode("rfc4960", "rfc4960", "association"),
    mode("rfc4960 with recovery by destination", "rfc4960", "destination"),
];

/// One point under one mode.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cell {
    pub(super) item: &'static str,
    /// What is varied, in the item `beyond`.
    pub(super) variant: String,
    pub(super) mode: Mode,
    /// By path.
    pub(super) rtt_ms: [u32; 2],
    /// By path, in percent.
    pub(super) loss_pct: [u32; 2],
    pub(super) retransmission: &'static str,
    /// Buffers in KiB of data.
    pub(super) receive_buffer_kib: u32,
    pub(super) send_buffer_kib: u32,
    pub(super) nr_sack: bool,
    /// UDP on path 2 in Mbit/s while it is on.
    pub(super) background_mbps: u32,
    /// Whether the receiver's packets get lost, too.
    pub(super) acks_get_lost: bool,
    /// Switches that are not the thesis's, as TOML.
    pub(super) further: &'static str,
}

impl Cell {
    fn new(item: &'static str, mode: Mode, rtt_ms: [u32; 2], loss_pct: [u32; 2]) -> Self {
        Self {
            item,
            variant: String::new(),
            mode,
            rtt_ms,
            loss_pct,
            retransmission: "rtx-same",
            receive_buffer_kib: 4096,
            send_buffer_kib: 4646,
            nr_sack: false,
            background_mbps: 0,
            acks_get_lost: true,
            further: "",
        }
    }

    /// Whether path 2 loses packets by chance.
    pub(super) fn has_loss(&self) -> bool {
        self.loss_pct[1] > 0
    }

    /// Whether path 2 loses many.
    pub(super) fn has_much_loss(&self) -> bool {
        self.loss_pct[1] >= MUCH_LOSS_PCT
    }

    /// Whether it shows a part of the proposal alone, or what that is set against.
    pub(super) fn takes_the_proposal_apart(&self) -> bool {
        self.variant == GROWTH_AND_RECOVERY
    }

    /// Whether a quick look at everything goes without it: of the future work it takes only what a finding rests on.
    pub(super) fn is_left_out_in_a_hurry(&self) -> bool {
        let needed = [REFERENCE, PROPOSAL, CUC_BY_DESTINATION, NO_CUC_BY_ASSOCIATION];
        self.item == BEYOND && !(self.takes_the_proposal_apart() && needed.contains(&self.mode))
    }
}

/// All cells, item after item.
pub(super) fn cells(extent: &Extent) -> Vec<Cell> {
    experiments(extent, THESIS).into_iter().chain(beyond()).collect()
}

/// The cells of both experiments under these choices.
pub(super) fn experiments(extent: &Extent, choices: Choices) -> Vec<Cell> {
    let Choices { fixed_loss_pct, acks_get_lost, further } = choices;
    let mut cells = Vec::new();
    for item in [LOSS_ON_PATH_2, EQUAL_LOSS] {
        for (&rtt, &loss) in extent.rtts_ms.iter().flat_map(|rtt| extent.losses_pct.iter().map(move |loss| (rtt, loss)))
        {
            let first = if item == LOSS_ON_PATH_2 { fixed_loss_pct } else { loss };
            let cell = |mode| Cell { acks_get_lost, further, ..Cell::new(item, mode, [rtt; 2], [first, loss]) };
            cells.extend([REFERENCE, PROPOSAL].map(cell));
        }
    }
    cells
}

/// The switches of `linux` the other way round.
const AS_IN_THE_RFC: &str = "avoidance_in_recovery = false\ngap_acks_restart_timer = true\nmax_gap_blocks = \
    'unlimited'\n\
                             most_tsns_ahead = 32767\nsingle_fast_packet = false\nburst_per_message = false\n\
                             fast_retransmission_restarts_timer = true\nlate_back_off = false";

/// No path becomes potentially failed.
const UNSUSPECTING: &str = "potentially_failed_max_retransmissions = 'unlimited'";

/// Future work, at an RTT of 48 ms and with equal loss where nothing else is said.
fn beyond() -> Vec<Cell> {
    let mut cells = Vec::new();
    let mut both = |variant: &str, rtt: [u32; 2], loss: [u32; 2], change: &dyn Fn(&mut Cell)| {
        for mode in [REFERENCE, PROPOSAL] {
            let mut cell = Cell { variant: variant.to_owned(), ..Cell::new(BEYOND, mode, rtt, loss) };
            change(&mut cell);
            cells.push(cell);
        }
    };
    for loss in [1, 5] {
        for policy in ["rtx-same", "rtx-asap", "rtx-cwnd", "rtx-ssthresh", "rtx-lossrate"] {
            both(policy, [48; 2], [loss; 2], &|cell| cell.retransmission = policy);
        }
    }
    for buffer_kib in [64, 256] {
        for nr_sack in [false, true] {
            let variant = format!("{buffer_kib} KiB, {}", if nr_sack { "NR-SACK" } else { "SACK" });
            both(&variant, [48; 2], [1, 5], &|cell| {
                (cell.receive_buffer_kib, cell.send_buffer_kib, cell.nr_sack) = (buffer_kib, buffer_kib, nr_sack);
            });
        }
    }
    for loss in [[1, 1], [5, 5], [1, 5], [5, 1]] {
        both("unequal RTTs", [24, 90], loss, &|_| {});
    }
    for background in [10, 30] {
        let variant = format!("{background} Mbit/s of UDP on path 2");
        both(&variant, [48; 2], [1; 2], &|cell| cell.background_mbps = background);
    }
    let switches = [
        ("ssthresh begins at the peer's window", PEER_WINDOW),
        ("avoidance goes on in recovery", "avoidance_in_recovery = true"),
        ("gap news restarts the timer", "gap_acks_restart_timer = true"),
        ("all gaps in every SACK", "max_gap_blocks = 'unlimited'"),
        ("RFC 9260 instead of Linux", AS_IN_THE_RFC),
    ];
    for (variant, further) in switches {
        both(variant, [48; 2], [5; 2], &|cell| cell.further = further);
    }
    for loss in [5, 10] {
        both("a timeout makes no path suspect", [48; 2], [loss; 2], &|cell| cell.further = UNSUSPECTING);
    }
    for loss in [1, 5] {
        for mode in [REFERENCE, PROPOSAL].into_iter().chain(OTHERS) {
            let variant = GROWTH_AND_RECOVERY.to_owned();
            cells.push(Cell { variant, ..Cell::new(BEYOND, mode, [48; 2], [loss; 2]) });
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_full_grid_is_the_thesis_s() {
        let cells = cells(&Extent::of(false));
        for item in [LOSS_ON_PATH_2, EQUAL_LOSS] {
            assert_eq!(cells.iter().filter(|cell| cell.item == item).count(), 2 * 33, "{item}");
        }
        assert!(cells.iter().all(|cell| cell.item == BEYOND || Extent::of(false).runs(cell) == 300));
    }
}
