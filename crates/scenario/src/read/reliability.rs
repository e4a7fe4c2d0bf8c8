//! Combinations with partial reliability of SCTP (RFC 3758, RFC 7496) that are rejected.

use std::sync::Arc;

use subflow_transport::sctp::config::{Config, Reliability};

use super::stacks::Stacks;
use crate::file::{Problem, Section};
use crate::{Flow, PerEnd, Traffic};

/// Rejects `flow`, described by `section`, if abandoned messages would leave nothing to measure.
pub(super) fn refuse_what_cannot_end(flow: &Flow, section: &Section<'_>, stacks: &Stacks<'_>) -> Result<(), Problem> {
    let Some(ends) = flow.protocol.sctp().map(|sctp| &sctp.ends) else { return Ok(()) };
    match flow.traffic {
        Traffic::Bulk { bytes: None } => refuse_data_that_expires_unsent(&ends.from, section),
        Traffic::RequestResponse { .. } | Traffic::Video(_) | Traffic::Exchanges(_) => {
            refuse_exchanges_that_wait_forever(flow, ends, section, stacks)
        }
        Traffic::Bulk { .. } | Traffic::OnOff { .. } | Traffic::Streams(_) => Ok(()),
    }
}

/// A lifetime begins when a message is written. Data without an end is written at once unless the send buffer is
/// bounded: after one lifetime nothing would be left to send.
fn refuse_data_that_expires_unsent(sender: &Config, section: &Section<'_>) -> Result<(), Problem> {
    let expires = matches!(sender.message.reliability, Reliability::Lifetime(_));
    if !expires || sender.send_buffer.is_some() {
        return Ok(());
    }
    Err(section
        .field()
        .problem(
            "data without end and without a bound of the send buffer is written at once, and is over after one \
            lifetime",
        )
        .label("its messages have a lifetime")
        .help("set sctp.send_buffer, such as \"256 KiB\", or the amount to send"))
}

/// A request is sent after the response to the previous one has arrived completely. After a message of either was
/// abandoned, no further request is sent.
fn refuse_exchanges_that_wait_forever(
    flow: &Flow,
    ends: &PerEnd<Arc<Config>>,
    section: &Section<'_>,
    stacks: &Stacks<'_>,
) -> Result<(), Problem> {
    for (what, end, config) in [("a request", flow.from, &ends.from), ("a response", flow.to, &ends.to)] {
        let key = match config.message.reliability {
            Reliability::Full => continue,
            Reliability::Lifetime(_) => "lifetime",
            Reliability::Retransmissions(_) => "max_retransmissions",
        };
        let given = ["video", "exchanges"].iter().find_map(|key| section.given(key));
        let requests = given.map_or_else(|| section.required("requests"), Ok)?;
        let problem = requests
            .problem(format!("{what} of which SCTP gives a message up never arrives whole, and no exchange follows it"))
            .label("these wait for each other")
            .help(format!(
                "exchanges need every message: say sctp = {{ {key} = \"unlimited\" }} in the flow; partial \
                 reliability goes with send"
            ));
        return Err(match stacks.sctp_place(section, end.host, key)? {
            Some(place) => problem.also(&place, "messages are given up here"),
            None => problem,
        });
    }
    Ok(())
}
