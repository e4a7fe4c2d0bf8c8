//! The words that keys take, for the schema: the reader's own tables without what it makes of them.

use subflow_transport::sctp::CucVersion;
use subflow_transport::sctp::config::{BufferSplitting, RecoveryScope, RetransmissionPolicy, WindowGrowth};

use super::{bottleneck, flows, hosts, links, loss, queue, routing, shape, stacks, timeline};
use crate::scenario::CatalogueEntry;
use crate::scenario::choice::Choice;
use crate::scenario::schema::PROFILES;

type Words = Vec<CatalogueEntry>;

pub(in crate::scenario) fn profiles() -> Words {
    let entry = |profile: &crate::scenario::schema::Profile| plain(profile.name, profile.doc);
    PROFILES.iter().map(entry).collect()
}

pub(in crate::scenario) fn host_stacks() -> Words {
    entries(&hosts::STACKS)
}

pub(in crate::scenario) fn topologies() -> Words {
    entries(shape::KINDS)
}

pub(in crate::scenario) fn router_modes() -> Words {
    entries(&routing::MODES)
}

pub(in crate::scenario) fn routing_modes() -> Words {
    entries(&routing::all_modes())
}

pub(in crate::scenario) fn initial_subflows() -> Words {
    entries(&routing::INITIAL)
}

pub(in crate::scenario) fn ties() -> Words {
    entries(&routing::TIES)
}

pub(in crate::scenario) fn return_paths() -> Words {
    entries(&routing::RETURN_PATHS)
}

pub(in crate::scenario) fn queues() -> Words {
    entries(&queue::DISCIPLINES)
}

pub(in crate::scenario) fn red_drops() -> Words {
    entries(&queue::RED_DROPS)
}

pub(in crate::scenario) fn red_ageing() -> Words {
    entries(&queue::RED_AGEING)
}

pub(in crate::scenario) fn loss_models() -> Words {
    entries(loss::MODELS)
}

/// What `loss` takes: a model, or none.
pub(in crate::scenario) fn losses() -> Words {
    [plain("none", "nothing gets lost; short form only: loss = \"none\"")].into_iter().chain(loss_models()).collect()
}

pub(in crate::scenario) fn loss_positions() -> Words {
    entries(&loss::POSITIONS)
}

pub(in crate::scenario) fn distributions() -> Words {
    entries(&links::DISTRIBUTIONS)
}

pub(in crate::scenario) fn protocols() -> Words {
    entries(&flows::PROTOCOLS)
}

pub(in crate::scenario) fn couplings() -> Words {
    entries(&bottleneck::COUPLINGS)
}

pub(in crate::scenario) fn loss_detection() -> Words {
    entries(&stacks::LOSS_DETECTION)
}

pub(in crate::scenario) fn directions() -> Words {
    entries(&timeline::DIRECTIONS)
}

pub(in crate::scenario) fn window_growth() -> Words {
    described(WindowGrowth::NAMES, WindowGrowth::from_name, |growth| match growth {
        WindowGrowth::Rfc4960 => ("acknowledgments that move the cumulative TSN", "RFC 4960, section 7.2.1"),
        WindowGrowth::Rfc9260 => ("all acknowledgments that bring news", "RFC 9260, section 7.2.1"),
        WindowGrowth::Cuc(CucVersion::One) => {
            ("those that move the destination's pseudo-cumulative TSN", "Iyengar, Amer, Stewart 2006 (CUC)")
        }
        WindowGrowth::Cuc(CucVersion::Two) => {
            ("the same, with retransmissions tracked apart", "Iyengar, Amer, Stewart 2006 (CUCv2)")
        }
        WindowGrowth::PerDestination => ("all that bring news, with recovery by destination", "Leitner 2019"),
    })
}

pub(in crate::scenario) fn recovery_scopes() -> Words {
    described(RecoveryScope::NAMES, RecoveryScope::from_name, |scope| match scope {
        RecoveryScope::Association => ("fast recovery is the association's", "RFC 9260, section 7.2.4"),
        RecoveryScope::Destination => ("each destination has its own", "Leitner 2019"),
    })
}

pub(in crate::scenario) fn retransmission_policies() -> Words {
    const CMT: &str = "Iyengar, Amer, Stewart 2006, section V";
    described(RetransmissionPolicy::NAMES, RetransmissionPolicy::from_name, |policy| match policy {
        RetransmissionPolicy::Alternate => {
            ("after a timeout another active destination; not for cmt", "RFC 9260, section 6.4.1")
        }
        RetransmissionPolicy::Same => ("the destination that it was sent to last", CMT),
        RetransmissionPolicy::Asap => ("any destination that has window then, by chance where there are several", CMT),
        RetransmissionPolicy::LargestWindow => ("the destination with the largest congestion window", CMT),
        RetransmissionPolicy::LargestThreshold => ("the destination with the largest slow-start threshold", CMT),
        RetransmissionPolicy::LowestLossRate => ("the destination with the lowest loss rate", CMT),
    })
}

pub(in crate::scenario) fn buffer_splitting() -> Words {
    described(BufferSplitting::NAMES, BufferSplitting::from_name, |splitting| match splitting {
        BufferSplitting::None => ("all paths share both buffers", ""),
        BufferSplitting::Receive => ("each path has its share of the receive buffer", ""),
        BufferSplitting::Send => ("each path has its share of the send buffer", ""),
        BufferSplitting::Both => ("each path has its share of both", ""),
    })
}

fn entries<T: Copy>(choices: &[Choice<T>]) -> Words {
    choices.iter().map(Choice::entry).collect()
}

fn plain(name: &'static str, summary: &'static str) -> CatalogueEntry {
    CatalogueEntry { name, aliases: &[], summary, source: "" }
}

/// The names of a switch with a summary and a source for what each stands for.
fn described<T>(
    names: &'static [&'static str],
    parse: fn(&str) -> Option<T>,
    describe: fn(T) -> (&'static str, &'static str),
) -> Words {
    let entry = |name: &&'static str| {
        let (summary, source) = describe(parse(name).expect("it is one of the names"));
        CatalogueEntry { name, aliases: &[], summary, source }
    };
    names.iter().map(entry).collect()
}
