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
    use super::*;

    /// Those that are uncoupled, and C-MPBBR: programs change windows, and it changes the pacing rate of BBR's model.
    const WITHOUT: [&str; 9] = ["reno", "cubic", "sctp", "dctcp", "bbr", "bbr3", "c-mpbbr", "vegas", "westwood"];

    #[test]
    fn every_coupled_algorithm_of_windows_has_a_program() {
        let coupled = |name: &&str| !WITHOUT.contains(name);
        let names: Vec<&str> = subflow_policy::congestion::Algorithm::NAMES.iter().copied().filter(coupled).collect();
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
