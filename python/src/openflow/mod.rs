//! What the OpenFlow controller needs of the crates: flows and MPTCP options from frames (`wire`), and paths
//! (`policy::routing`), the same that the simulator uses.

mod frame;
mod placement;

pub(crate) use frame::{FirstPacket, Flow, read_frame};
pub(crate) use placement::Placement;
