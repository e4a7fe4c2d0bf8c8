//! Coupled congestion control in the kernel: the eBPF programs of `bpf/`, which any TCP socket may have by name, and
//! which couple the subflows of an MPTCP connection.
//!
//! | to find | look in |
//! |---|---|
//! | what a kernel has to have for it | `requirements.rs` |
//! | how a program gets into the kernel | `object.rs` |
//! | programs that outlive the command: load, unload | `pinned.rs`; where pins live: `bpffs.rs` |
//! | programs for as long as a process runs | `lease.rs` |
//! | what is loaded, what it costs, and whether it is of this version | `status.rs` |
//!
//! All of that is there with the feature `ebpf` only. Without it the functions are, too, and say so.

#[cfg(feature = "ebpf")]
mod bpffs;
#[cfg(feature = "ebpf")]
mod lease;
#[cfg(feature = "ebpf")]
mod object;
#[cfg(feature = "ebpf")]
mod pinned;
#[cfg(feature = "ebpf")]
mod requirements;
#[cfg(feature = "ebpf")]
mod status;

#[cfg(feature = "ebpf")]
pub use lease::Lease;
#[cfg(feature = "ebpf")]
pub use pinned::{load, unload};
#[cfg(feature = "ebpf")]
pub use status::list;

#[cfg(not(feature = "ebpf"))]
mod absent;
#[cfg(not(feature = "ebpf"))]
pub use absent::{Lease, list, load, unload};

/// A congestion control that there is an eBPF program for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its name in scenarios.
    pub name: &'static str,
    /// Its name in the kernel, which takes letters, digits, `_` and `.` only. The program is `bpf/KERNEL_NAME.bpf.c`.
    pub kernel_name: &'static str,
}

/// All programs.
pub const PROGRAMS: [Program; 6] = [
    Program { name: "lia", kernel_name: "lia" },
    Program { name: "olia", kernel_name: "olia" },
    Program { name: "balia", kernel_name: "balia" },
    Program { name: "wvegas", kernel_name: "wvegas" },
    Program { name: "cmt-rpv1", kernel_name: "cmt_rpv1" },
    Program { name: "cmt-rpv2", kernel_name: "cmt_rpv2" },
];

impl Program {
    /// The program of this name, be it the one in scenarios or in the kernel.
    pub fn from_name(name: &str) -> Option<&'static Self> {
        PROGRAMS.iter().find(|program| program.name == name || program.kernel_name == name)
    }
}

/// What the kernel calls the congestion control that scenarios call `name`.
pub fn kernel_name(name: &str) -> &str {
    Program::from_name(name).map_or(name, |program| program.kernel_name)
}

/// What loading a program found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loaded {
    /// It is loaded now.
    Now,
    /// It was already.
    Before,
}

/// What has become of a program that was to be unloaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unloaded {
    /// The kernel does not offer it any more.
    Now,
    /// It was not loaded.
    Before,
    /// It is unpinned, but a run uses it; it goes when that ends.
    WhenRunEnds,
    /// It stays, because it is not pinned here: this process has it open, or else none, and a pin that is not to be seen
    /// from here keeps it.
    Held(Option<u32>),
}

/// Where a program is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Not in the kernel.
    Nowhere,
    /// In the kernel until it is unloaded.
    Pinned,
    /// In the kernel for as long as a process holds it.
    Held,
    /// The kernel has a congestion control of this name that is no eBPF program.
    Foreign,
}

/// A program and what it did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Status {
    /// Which.
    pub program: Program,
    /// Where it is.
    pub place: Place,
    /// Whether it is the program that was built in, or none is loaded.
    pub current: bool,
    /// How often the kernel asked it how the window grows while it counted (`kernel.bpf_stats_enabled`), since it was
    /// loaded.
    pub calls: u64,
    /// What such a call takes on average, in nanoseconds; `None` before the first.
    pub call_ns: Option<f64>,
}

#[cfg(test)]
mod tests {
    use subflow_policy::congestion::{Ack, Algorithm, Controller, DeliverySample, Loss, Rules};
    use subflow_quantity::{Duration, Instant};

    use super::*;

    /// The windows of 20 rounds, and the threshold after a loss, of a path beside another one with `other` packets a round.
    fn beside(name: &str, other: u32) -> Vec<u32> {
        let algorithm = Algorithm::from_name(name).expect("a name of the catalogue");
        let mut controller = Controller::new(algorithm, Rules::default());
        let [base, rtt] = [20, 50].map(Duration::from_millis);
        for window in [20, other] {
            let path = controller.add_path(1, window);
            controller.set_established(path, true);
            controller.set_rtt(path, rtt, base);
            controller.set_initial_ssthresh(path, window);
        }
        let mut windows = Vec::new();
        for round in 0..20 {
            let now = Instant::ZERO + rtt * (round + 1);
            for (path, packets) in [(1, u64::from(other)), (0, 20)] {
                for una in packets * round + 1..=packets * (round + 1) {
                    let in_flight = packets as u32;
                    let sampled = Some(if round == 0 { base } else { rtt });
                    let ack = Ack { now, acked: 1, rtt: sampled, una, nxt: una + packets, in_flight };
                    controller.on_sample(path, &ack);
                    controller.on_delivered(path, &delivery(ack));
                }
            }
            windows.push(controller.path(0).cwnd());
        }
        let now = Instant::ZERO + rtt * 21;
        controller.enter_recovery(0, &Loss { now, in_flight: 20, by_timer: false });
        windows.push(controller.path(0).ssthresh());
        windows
    }

    fn delivery(ack: Ack) -> DeliverySample {
        DeliverySample {
            ack,
            delivered: ack.una,
            lost: 0,
            in_flight: ack.in_flight,
            ce: 0,
            advanced: true,
            progress: true,
            window_limited: true,
            rate: None,
        }
    }

    /// Those whose windows depend on the windows of other paths. C-MPBBR couples the pacing rates of BBR's model, which no
    /// program can change.
    #[test]
    fn every_coupled_algorithm_of_windows_has_a_program() {
        let is_coupled = |name: &&str| [40, 100, 1000].iter().any(|&other| beside(name, 10) != beside(name, other));
        let names: Vec<&str> = Algorithm::NAMES.iter().copied().filter(is_coupled).collect();
        assert_eq!(PROGRAMS.map(|program| program.name).to_vec(), names);
    }

    #[test]
    fn names_in_the_kernel_are_what_it_takes() {
        for Program { kernel_name, .. } in PROGRAMS {
            // TCP_CA_NAME_MAX, with the zero at the end.
            assert!(kernel_name.len() < 16 && kernel_name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_'));
        }
        assert_eq!(["lia", "cmt-rpv2", "cubic"].map(kernel_name), ["lia", "cmt_rpv2", "cubic"]);
    }
}
