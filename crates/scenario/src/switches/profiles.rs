//! The profiles: configurations that model existing stacks.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use subflow_policy::catalogue::{Description, Value};
use subflow_policy::congestion::{Cubic, Lia};
use subflow_policy::path_manager::FullMesh;
use subflow_policy::scheduler::LowestLatency;
use subflow_transport::tcp::config::{Autotuning, SendBuffer, SmallQueues};
use subflow_transport::{mptcp, quic, sctp, tcp};

use super::Stack;

/// A named configuration of a stack.
#[derive(Clone, Debug)]
pub(crate) struct Profile {
    /// Its name, and the stack that it models.
    pub(crate) description: Description,
    /// The configurations, and the algorithms that flows use unless they name others.
    pub(crate) stack: Stack,
}

/// All profiles; the first is the default one.
static PROFILES: LazyLock<Vec<Profile>> = LazyLock::new(|| {
    let profile = |name, summary, stack| {
        let description = Description { name, aliases: &[], summary, source: "" };
        Profile { description, stack }
    };
    vec![
        profile(
            "linux-6.12",
            "Linux 6.12 with default settings, and for MPTCP the algorithms of RFC 6356 and RFC 8684 (the kernel has \
             no coupled congestion control)",
            linux_6_12(),
        ),
        profile(
            "linux-6.12-small-queues",
            "Linux 6.12 with TCP small queues, which matter where the sender's own interface is a bottleneck",
            linux_6_12_with_small_queues(),
        ),
        profile("mptcp-0.9", "the out-of-tree MPTCP 0.91 on Linux 4.1", mptcp_0_91()),
        profile(
            "mptcp-0.90",
            "the out-of-tree MPTCP 0.88 on Linux 3.11 to 0.90 on Linux 3.18, which count acknowledgments",
            mptcp_0_90(),
        ),
    ]
});

pub(crate) fn all() -> &'static [Profile] {
    &PROFILES
}

/// The profile that is used unless another is named.
pub(crate) fn default() -> &'static Profile {
    &PROFILES[0]
}

/// The names of the profiles.
pub(crate) fn descriptions() -> Vec<Description> {
    PROFILES.iter().map(|profile| profile.description).collect()
}

fn linux_6_12() -> Stack {
    let tcp = tcp::Config {
        send_buffer: SendBuffer::Automatic(Autotuning::LINUX_SEND),
        syn_linear_timeouts: 4,
        ..tcp::Config::default()
    };
    let multipath = mptcp::Config::new(Lia::default().into(), LowestLatency.into(), FullMesh::default().into());
    Stack {
        tcp_congestion: Cubic::default().into(),
        congestion_switches: BTreeMap::new(),
        mptcp: mptcp::Config { tcp: Arc::new(tcp.clone()), max_subflows: 32, capable_syns: 3, ..multipath },
        tcp,
        // Applications of the field set SCTP_NODELAY.
        sctp: sctp::Config { nagle: false, ..sctp::Config::linux() },
        // The kernel has none. Most libraries use CUBIC.
        quic: quic::Config { congestion: Cubic::default().into(), ..quic::Config::default() },
    }
}

fn linux_6_12_with_small_queues() -> Stack {
    let base = linux_6_12();
    let tcp = tcp::Config { small_queues: SmallQueues::Linux612, ..base.tcp };
    Stack { mptcp: mptcp::Config { tcp: Arc::new(tcp.clone()), ..base.mptcp }, tcp, ..base }
}

fn mptcp_0_91() -> Stack {
    let base = linux_6_12();
    Stack {
        tcp: tcp::Config { send_buffer: base.tcp.send_buffer, ..tcp::Config::linux_4_1() },
        congestion_switches: ["fixed_point", "two_segment_floor"].map(|key| (key, Value::Boolean(true))).into(),
        // `net.mptcp.mptcp_syn_retries` is 3.
        mptcp: mptcp::Config { opportunistic_retransmission: true, penalisation: true, capable_syns: 4, ..base.mptcp },
        ..base
    }
}

/// Linux before 4.0 counts acknowledgments.
fn mptcp_0_90() -> Stack {
    let mut stack = mptcp_0_91();
    stack.tcp.growth.count_acks = true;
    stack
}
