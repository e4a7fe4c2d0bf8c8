//! What the thesis measured, and what it announced: which cells there are.

/// The congestion controls, in the thesis's order.
pub(super) const CONGESTION: [&str; 4] = ["lia", "olia", "balia", "wvegas"];
/// The thesis's schedulers; ours comes after them.
pub(super) const SCHEDULERS: [&str; 4] = ["ll", "lws", "lts", "hsr"];
/// Our scheduler that switches among those.
pub(super) const ADAPTIVE: &str = "adaptive";

/// Links 1 to 5.
pub(super) const LINKS: usize = 5;
const LOSSES_PCT: [u32; LINKS] = [0, 1, 2, 6, 12];
const RATES_MBPS: [u32; LINKS] = [10, 25, 50, 75, 100];
const LATENCIES_MS: [u32; LINKS] = [5, 10, 20, 40, 80];

/// A part of the work, and an item of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Study {
    Congested,
    Design,
    Mesh,
    Background,
    Transfer,
}

impl Study {
    pub(super) const ALL: [Self; 5] = [Self::Congested, Self::Design, Self::Mesh, Self::Background, Self::Transfer];

    /// Its name on the command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Congested => "congested",
            Self::Design => "design",
            Self::Mesh => "mesh",
            Self::Background => "background",
            Self::Transfer => "transfer",
        }
    }
}

/// What the thesis leaves open, or what is known of its kernel, taken one way or the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choices {
    /// The stack of both hosts.
    pub(super) profile: &'static str,
    pub(super) penalisation: bool,
    /// Whether every second packet is acknowledged instead of each.
    pub(super) delayed_acks: bool,
    pub(super) latency: Latency,
    /// Whether the server has the kernel of today; the client has our stack, and on Linux the server Linux's.
    pub(super) kernel_receives: bool,
}

/// How the thesis's latency acts: it sets `latency` of tbf (code 5.2), and speaks of end-to-end latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Latency {
    /// As a delay, netem's.
    Delay,
    /// As the longest time in the queue of tbf, which drops what would wait longer.
    QueueBound,
}

/// What the figures are run with.
pub(super) const THESIS: Choices = Choices {
    profile: "mptcp-0.90",
    penalisation: true,
    delayed_acks: false,
    latency: Latency::Delay,
    kernel_receives: false,
};

/// What runs in real time. Linux cannot be told to acknowledge each packet.
pub(super) const KERNEL: Choices = Choices { delayed_acks: true, kernel_receives: true, ..THESIS };

/// What a verdict may hang on: each choice made otherwise, alone.
pub(super) const ALTERNATIVES: [(&str, Choices); 4] = [
    ("growth by acknowledged packets, as in MPTCP 0.91", Choices { profile: "mptcp-0.9", ..THESIS }),
    ("delayed acknowledgments", Choices { delayed_acks: true, ..THESIS }),
    ("no penalisation", Choices { penalisation: false, ..THESIS }),
    ("latency as the bound of tbf's queue", Choices { latency: Latency::QueueBound, ..THESIS }),
];

/// The five links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Links {
    pub(super) loss_pct: [u32; LINKS],
    pub(super) rate_mbps: [u32; LINKS],
    pub(super) latency_ms: [u32; LINKS],
}

/// Something that can be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Setup {
    pub(super) links: Links,
    pub(super) congestion: &'static str,
    pub(super) scheduler: &'static str,
    pub(super) path_manager: &'static str,
    /// Whether each link carries TCP and UDP of others.
    pub(super) background: bool,
    /// Whether the upload ends after the thesis's 1.5 GB.
    pub(super) ends: bool,
    pub(super) choices: Choices,
}

/// A setup in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) study: Study,
    /// Loss in percent in the first experiment, the number of the experiment in the others.
    pub(super) case: u32,
    pub(super) setup: Setup,
}

impl Cell {
    /// Its case, as tables name it.
    pub(super) fn case_name(&self) -> String {
        match self.study {
            Study::Congested | Study::Transfer => format!("loss {} %", self.case),
            _ => format!("Exp {}", self.case),
        }
    }

    /// Whether a verdict on one of the thesis's three experiments rests on this cell: those with little loss are mostly
    /// shown and not judged.
    pub(super) fn is_judged(&self) -> bool {
        let Setup { congestion, scheduler, .. } = self.setup;
        let judged = match (self.study, self.case) {
            (Study::Congested, 4..) | (Study::Design, 5..) | (Study::Mesh, _) => true,
            (Study::Congested, 0 | 1) => scheduler == "ll",
            (Study::Congested, _) => scheduler == "ll" && congestion == "wvegas",
            (Study::Design, 3) => ["olia", "balia"].contains(&congestion),
            (Study::Design, 4) => congestion != "lia",
            (Study::Design | Study::Background | Study::Transfer, _) => false,
        };
        judged && scheduler != ADAPTIVE
    }
}

/// The links of experiment `number` of the design: bits for loss, rate and latency, different where set.
fn designed(number: u32) -> Links {
    let bits = number - 1;
    let factor = |bit: u32, alike: u32, different: [u32; LINKS]| match bits >> bit & 1 {
        0 => [alike; LINKS],
        _ => different,
    };
    Links {
        loss_pct: factor(2, 0, LOSSES_PCT),
        rate_mbps: factor(1, 10, RATES_MBPS),
        latency_ms: factor(0, 5, LATENCIES_MS),
    }
}

/// The cells of a study under these choices; fewer for a quick look.
pub(super) fn cells(study: Study, quick: bool, choices: Choices) -> Vec<Cell> {
    let cases: Vec<u32> = match (study, quick) {
        (Study::Congested, false) => (0..=12).collect(),
        (Study::Congested, true) => vec![0, 1, 6],
        (Study::Design | Study::Mesh, false) => (1..=8).collect(),
        (Study::Design | Study::Mesh, true) => vec![1, 3, 4, 7],
        // Without random loss: what congests the paths is the others' traffic.
        (Study::Background, false) => (1..=4).collect(),
        (Study::Background, true) => vec![1, 4],
        (Study::Transfer, false) => vec![0, 1],
        (Study::Transfer, true) => vec![0],
    };
    let with_schedulers = || SCHEDULERS.into_iter().chain([ADAPTIVE]).map(|scheduler| (scheduler, "full-mesh"));
    let variants: Vec<(&str, &str)> = match study {
        Study::Congested | Study::Design => with_schedulers().collect(),
        Study::Mesh => vec![("ll", "full-mesh"), ("ll", "single-mesh")],
        Study::Background => with_schedulers().chain([("ll", "single-mesh")]).collect(),
        Study::Transfer => vec![("ll", "full-mesh")],
    };
    let mut cells = Vec::new();
    for case in cases {
        let links = match study {
            Study::Congested | Study::Transfer => {
                Links { loss_pct: [case; LINKS], rate_mbps: RATES_MBPS, latency_ms: [0; LINKS] }
            }
            _ => designed(case),
        };
        for congestion in CONGESTION {
            for &(scheduler, path_manager) in &variants {
                let (background, ends) = (study == Study::Background, study == Study::Transfer);
                let setup = Setup { links, congestion, scheduler, path_manager, background, ends, choices };
                cells.push(Cell { study, case, setup });
            }
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_is_the_thesis_s_and_ours() {
        let published =
            |study| cells(study, false, THESIS).into_iter().filter(|cell| cell.setup.scheduler != ADAPTIVE).count();
        assert_eq!(published(Study::Congested), 208);
        assert_eq!(published(Study::Design), 128);
        assert_eq!(published(Study::Mesh), 64);
    }

    #[test]
    fn the_design_counts_in_binary_loss_rate_latency() {
        let different = |number| {
            let links = designed(number);
            [links.loss_pct == LOSSES_PCT, links.rate_mbps == RATES_MBPS, links.latency_ms == LATENCIES_MS]
        };
        assert_eq!(different(1), [false; 3]);
        assert_eq!(different(2), [false, false, true]);
        assert_eq!(different(3), [false, true, false]);
        assert_eq!(different(5), [true, false, false]);
        assert_eq!(different(8), [true; 3]);
    }
}
