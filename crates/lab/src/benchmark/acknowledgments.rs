//! How many packets the receivers of a benchmark acknowledge at once.

/// The switches of TCP and SCTP, as TOML, for an acknowledgment of every `ack_every` packets; without a number TCP
/// acknowledges every packet and SCTP every second one.
pub(super) fn acknowledgments(ack_every: Option<u16>) -> String {
    let tcp = match ack_every {
        None | Some(1) => "delayed_ack = false".to_owned(),
        Some(packets) => format!("delayed_ack = {{ packets = {packets} }}"),
    };
    let sctp = ack_every.map_or_else(String::new, |packets| format!("\n[sctp]\nsack_frequency = {packets}\n"));
    format!("[tcp]\n{tcp}\n{sctp}")
}
