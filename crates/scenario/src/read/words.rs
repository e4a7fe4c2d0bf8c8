//! The names that keys accept, for the schema: the parser's own tables without the parsed values.

use subflow_transport::sctp::CucVersion;
use subflow_transport::sctp::config::{BufferSplitting, RecoveryScope, RetransmissionPolicy, WindowGrowth};

use super::{bottleneck, flows, hosts, links, loss, queue, routing, shape, stacks, timeline};
use crate::CatalogueEntry;
use crate::choice::Choice;
use crate::schema::PROFILES;
use crate::sweep::DESIGNS;

type Words = Vec<CatalogueEntry>;

pub(crate) fn profiles() -> Words {
    let entry = |profile: &crate::schema::Profile| plain(profile.name, profile.doc);
    PROFILES.iter().map(entry).collect()
}

pub(crate) fn designs() -> Words {
    entries(&DESIGNS)
}

pub(crate) fn host_stacks() -> Words {
    entries(&hosts::STACKS)
}

pub(crate) fn topologies() -> Words {
    entries(shape::KINDS)
}

pub(crate) fn router_modes() -> Words {
    entries(&routing::MODES)
}

pub(crate) fn routing_modes() -> Words {
    entries(&routing::all_modes())
}

pub(crate) fn initial_subflows() -> Words {
    entries(&routing::INITIAL)
}

pub(crate) fn ties() -> Words {
    entries(&routing::TIES)
}

pub(crate) fn return_paths() -> Words {
    entries(&routing::RETURN_PATHS)
}

pub(crate) fn queues() -> Words {
    entries(&queue::DISCIPLINES)
}

pub(crate) fn red_drops() -> Words {
    entries(&queue::RED_DROPS)
}

pub(crate) fn red_ageing() -> Words {
    entries(&queue::RED_AGEING)
}

pub(crate) fn cmt_rpv2_forms() -> Words {
    entries(&stacks::CMT_RPV2)
}

pub(crate) fn loss_models() -> Words {
    entries(loss::MODELS)
}

/// What `loss` takes: a model, or none.
pub(crate) fn losses() -> Words {
    [plain("none", "no packet is lost; short form only: loss = \"none\"")].into_iter().chain(loss_models()).collect()
}

pub(crate) fn loss_positions() -> Words {
    entries(&loss::POSITIONS)
}

pub(crate) fn distributions() -> Words {
    entries(&links::DISTRIBUTIONS)
}

pub(crate) fn protocols() -> Words {
    entries(&flows::PROTOCOLS)
}

pub(crate) fn couplings() -> Words {
    entries(&bottleneck::COUPLINGS)
}

pub(crate) fn loss_detection() -> Words {
    entries(&stacks::LOSS_DETECTION)
}

pub(crate) fn directions() -> Words {
    entries(&timeline::DIRECTIONS)
}

pub(crate) fn window_growth() -> Words {
    described(WindowGrowth::NAMES, WindowGrowth::from_name, |growth| match growth {
        WindowGrowth::Rfc4960 => ("acknowledgments that move the cumulative TSN", "RFC 4960, section 7.2.1"),
        WindowGrowth::Rfc9260 => ("all that acknowledge new data", "RFC 9260, section 7.2.1"),
        WindowGrowth::Cuc(CucVersion::One) => {
            ("those that move the destination's pseudo-cumulative TSN", "Iyengar, Amer, Stewart 2006 (CUC)")
        }
        WindowGrowth::Cuc(CucVersion::Two) => {
            ("the same, with retransmissions tracked separately", "Iyengar, Amer, Stewart 2006 (CUCv2)")
        }
        WindowGrowth::PerDestination => {
            ("all that acknowledge new data, with fast recovery per destination", "Leitner 2019")
        }
    })
}

pub(crate) fn recovery_scopes() -> Words {
    described(RecoveryScope::NAMES, RecoveryScope::from_name, |scope| match scope {
        RecoveryScope::Association => ("the association has one fast recovery", "RFC 9260, section 7.2.4"),
        RecoveryScope::Destination => ("each destination has its own fast recovery", "Leitner 2019"),
    })
}

pub(crate) fn retransmission_policies() -> Words {
    const CMT: &str = "Iyengar, Amer, Stewart 2006, section V";
    described(RetransmissionPolicy::NAMES, RetransmissionPolicy::from_name, |policy| match policy {
        RetransmissionPolicy::Alternate => {
            ("after a timeout another active destination; not for cmt", "RFC 9260, section 6.4.1")
        }
        RetransmissionPolicy::Same => ("the destination that it was sent to last", CMT),
        RetransmissionPolicy::Asap => ("any destination with free window, a random one of several", CMT),
        RetransmissionPolicy::LargestWindow => ("the destination with the largest congestion window", CMT),
        RetransmissionPolicy::LargestThreshold => ("the destination with the largest slow-start threshold", CMT),
        RetransmissionPolicy::LowestLossRate => ("the destination with the lowest loss rate", CMT),
    })
}

pub(crate) fn buffer_splitting() -> Words {
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

/// The names of a switch with a summary and a source for each.
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
