//! All congestion-control algorithms as one type, and their names.
//!
//! An enum with static dispatch instead of a trait object: an acknowledgment costs a jump instead of an indirect call,
//! and the compiler can inline it. A new algorithm is one file and one line in the table below.

use std::sync::Arc;

use subflow_quantity::{Duration, Instant};

use crate::custom::{CustomCongestionControl, FlowEnd};

use super::*;

/// Options that an algorithm may read when it is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whether CUBIC uses HyStart to leave slow start early (Linux: module parameter `hystart`). Default: on.
    pub hystart: bool,
    /// Whether LIA, OLIA and BALIA round as the fixed-point arithmetic of the MPTCP kernel 0.9x does. It makes a
    /// difference at windows of some hundred packets; the published tables were measured with it. Default: off.
    pub fixed_point: bool,
    /// Whether the least slow-start threshold of OLIA and CMT/RP is two segments, as in Linux's Reno
    /// (`tcp_reno_ssthresh`, which OLIA uses in MPTCP 0.9x), instead of one, as their definitions say. Default: off.
    pub two_segment_floor: bool,
    /// Which CMT/RPv2 is meant (the papers' formulas).
    pub cmt_rpv2: CmtRpV2Form,
    /// `beta`, `c` and `fast_convergence` of CUBIC.
    pub cubic: cubic::Constants,
    /// `alpha` and `gamma` of wVegas.
    pub wvegas: wvegas::Constants,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            hystart: true,
            fixed_point: false,
            two_segment_floor: false,
            cmt_rpv2: CmtRpV2Form::Formula,
            cubic: cubic::Constants::default(),
            wvegas: wvegas::Constants::default(),
        }
    }
}

/// One line of the catalogue of algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Description {
    /// The name that scenarios use.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Where it is defined.
    pub source: &'static str,
    /// Names of its own [`Options`], which scenarios give beside its name. The others are switches of a stack.
    pub options: &'static [&'static str],
}

macro_rules! algorithms {
    ($($variant:ident($build:expr) : $type:ty, $name:literal, options [$($option:literal),*],
       $summary:literal, $source:literal;)+) => {
        /// A congestion-control algorithm, chosen by name.
        #[derive(Clone, Debug)]
        pub enum Algorithm {
            $(#[doc = $summary] $variant($type),)+
            /// One that is not in the catalogue, with its name.
            Custom(Arc<str>, Box<dyn CustomCongestionControl>),
        }

        impl Algorithm {
            /// The names of all algorithms, in the order of [`Algorithm::all`].
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// The catalogue: every algorithm with a summary and its source.
            pub const fn all() -> &'static [Description] {
                &[$(Description {
                    name: $name,
                    summary: $summary,
                    source: $source,
                    options: &[$($option),*],
                }),+]
            }

            /// The algorithm called `name`, built with `options`.
            pub fn with_options(name: &str, options: Options) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant(($build)(options))),)+
                    _ => None,
                }
            }

            /// Its name in [`Algorithm::all`], or that of the custom one.
            pub fn name(&self) -> &str {
                match self {
                    $(Self::$variant(_) => $name,)+
                    Self::Custom(name, _) => name,
                }
            }
        }

        impl CongestionControl for Algorithm {
            fn on_path_added(&mut self, paths: &[Path], path: usize) {
                match self {
                    $(Self::$variant(a) => a.on_path_added(paths, path),)+
                    Self::Custom(_, a) => a.on_path_added(paths, path),
                }
            }
            fn on_sample(&mut self, paths: &mut [Path], path: usize, ack: &Ack) {
                match self {
                    $(Self::$variant(a) => a.on_sample(paths, path, ack),)+
                    Self::Custom(_, a) => a.on_sample(paths, path, ack),
                }
            }
            fn on_delivered(&mut self, paths: &mut [Path], path: usize, sample: &DeliverySample) {
                match self {
                    $(Self::$variant(a) => a.on_delivered(paths, path, sample),)+
                    Self::Custom(_, a) => a.on_delivered(paths, path, sample),
                }
            }
            fn on_ack(&mut self, paths: &mut [Path], path: usize, ack: &Ack) {
                match self {
                    $(Self::$variant(a) => a.on_ack(paths, path, ack),)+
                    Self::Custom(_, a) => a.on_ack(paths, path, ack),
                }
            }
            fn avoid_congestion(&mut self, paths: &mut [Path], path: usize, ack: &Ack, acked: u32) {
                match self {
                    $(Self::$variant(a) => a.avoid_congestion(paths, path, ack, acked),)+
                    Self::Custom(_, a) => a.avoid_congestion(paths, path, ack, acked),
                }
            }
            fn ssthresh_after_loss(&mut self, paths: &[Path], path: usize, now: Instant) -> u32 {
                match self {
                    $(Self::$variant(a) => a.ssthresh_after_loss(paths, path, now),)+
                    Self::Custom(_, a) => a.ssthresh_after_loss(paths, path, now),
                }
            }
            fn enter_recovery(&mut self, paths: &mut [Path], path: usize, loss: &Loss) {
                match self {
                    $(Self::$variant(a) => a.enter_recovery(paths, path, loss),)+
                    Self::Custom(_, a) => a.enter_recovery(paths, path, loss),
                }
            }
            fn leave_recovery(&mut self, paths: &mut [Path], path: usize) {
                match self {
                    $(Self::$variant(a) => a.leave_recovery(paths, path),)+
                    Self::Custom(_, a) => a.leave_recovery(paths, path),
                }
            }
            fn on_timeout(&mut self, paths: &mut [Path], path: usize, timeout: &Timeout) {
                match self {
                    $(Self::$variant(a) => a.on_timeout(paths, path, timeout),)+
                    Self::Custom(_, a) => a.on_timeout(paths, path, timeout),
                }
            }
            fn undo(&mut self, paths: &mut [Path], path: usize) {
                match self {
                    $(Self::$variant(a) => a.undo(paths, path),)+
                    Self::Custom(_, a) => a.undo(paths, path),
                }
            }
            fn restart_after_idle(&mut self, paths: &mut [Path], path: usize, timeouts: u32) {
                match self {
                    $(Self::$variant(a) => a.restart_after_idle(paths, path, timeouts),)+
                    Self::Custom(_, a) => a.restart_after_idle(paths, path, timeouts),
                }
            }
            fn on_application_limited(&mut self, paths: &mut [Path], path: usize, used: u32) {
                match self {
                    $(Self::$variant(a) => a.on_application_limited(paths, path, used),)+
                    Self::Custom(_, a) => a.on_application_limited(paths, path, used),
                }
            }
            fn penalise(&mut self, paths: &mut [Path], path: usize) {
                match self {
                    $(Self::$variant(a) => a.penalise(paths, path),)+
                    Self::Custom(_, a) => a.penalise(paths, path),
                }
            }
            fn pacing_rate(&self, paths: &[Path], path: usize, outstanding: Outstanding) -> Option<u64> {
                match self {
                    $(Self::$variant(a) => a.pacing_rate(paths, path, outstanding),)+
                    Self::Custom(_, a) => a.pacing_rate(paths, path, outstanding),
                }
            }
            fn on_state(&mut self, paths: &[Path], path: usize, state: RecoveryState) {
                match self {
                    $(Self::$variant(a) => a.on_state(paths, path, state),)+
                    Self::Custom(_, a) => a.on_state(paths, path, state),
                }
            }
            fn on_transmit_after_idle(&mut self, paths: &[Path], path: usize, now: Instant, idle: Duration) {
                match self {
                    $(Self::$variant(a) => a.on_transmit_after_idle(paths, path, now, idle),)+
                    Self::Custom(_, a) => a.on_transmit_after_idle(paths, path, now, idle),
                }
            }
            fn on_window_restart(&mut self, paths: &[Path], path: usize) {
                match self {
                    $(Self::$variant(a) => a.on_window_restart(paths, path),)+
                    Self::Custom(_, a) => a.on_window_restart(paths, path),
                }
            }
            fn begin(&mut self, end: FlowEnd) {
                match self {
                    $(Self::$variant(a) => a.begin(end),)+
                    Self::Custom(_, a) => a.begin(end),
                }
            }
        }
    };
}

algorithms! {
    Reno(|_| Reno): Reno, "reno", options [],
        "one packet per window, half on loss; uncoupled", "RFC 5681";
    Cubic(|o: Options| Cubic::with_constants(o.hystart, o.cubic)): Cubic, "cubic",
        options ["beta", "c", "fast_convergence"],
        "the window is a cubic function of the time since the last loss; uncoupled", "RFC 9438, Linux 6.12";
    Lia(|o: Options| Lia::new(o.fixed_point)): Lia, "lia", options [],
        "linked increases: all paths together take no more than one TCP on the best path", "RFC 6356";
    Olia(|o: Options| Olia::new(o.fixed_point, o.two_segment_floor)): Olia, "olia", options [],
        "opportunistic linked increases: Pareto-optimal, with a term that shifts window to better paths",
        "Khalili et al., CoNEXT 2012; draft-khalili-mptcp-congestion-control-05";
    Balia(|o: Options| Balia::new(o.fixed_point)): Balia, "balia", options [],
        "balanced linked adaptation: friendliness against responsiveness",
        "Peng et al., ToN 2016; draft-walid-mptcp-congestion-control-04";
    WVegas(|o: Options| WVegas::new(o.wvegas)): WVegas, "wvegas", options ["alpha", "gamma"],
        "weighted Vegas: equal queueing delay on all paths", "Cao, Xu, Fu, ICNP 2012";
    Sctp(|_| Sctp): Sctp, "sctp", options [],
        "SCTP's own: at most one PMTU per SACK, then one per window of acknowledged bytes; uncoupled",
        "RFC 9260, section 7.2";
    CmtRpV1(|o: Options| CmtRpV1::new(o.two_segment_floor)): CmtRpV1, "cmt-rpv1", options [],
        "resource pooling by shares of the slow-start thresholds", "Dreibholz et al., AINA 2010";
    CmtRpV2(|o: Options| CmtRpV2::new(o.cmt_rpv2, o.two_segment_floor)): CmtRpV2, "cmt-rpv2", options [],
        "resource pooling by shares of the rates", "Dreibholz et al., ConTEL 2011";
}

impl Algorithm {
    /// The algorithm called `name`, with every option at its default.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::with_options(name, Options::default())
    }

    /// Whether its own constants, if it has any, are the defaults.
    pub fn has_default_constants(&self) -> bool {
        match self {
            Self::Cubic(cubic) => cubic.has_default_constants(),
            Self::WVegas(wvegas) => wvegas.has_default_constants(),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_resolves_to_the_algorithm_of_that_name() {
        for description in Algorithm::all() {
            assert_eq!(Algorithm::from_name(description.name).as_ref().map(Algorithm::name), Some(description.name));
        }
        assert!(Algorithm::from_name("vegas").is_none());
    }
}
