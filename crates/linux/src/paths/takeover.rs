//! Connections that are there already: when the driver starts, and when events got lost.
//!
//! The kernel lists MPTCP sockets with their tokens, and subflows with the tokens of both hosts, but of a subflow that
//! this host opened after the initial one only the peer's token. The initial subflow has both, and so joins them. Where
//! it is closed already the subflows are found by what we know of the connection, or else if there is only one such
//! connection with that peer's port.
//!
//! What the kernel does not tell: which addresses the peer announced on which there is no subflow, and whether it
//! forbade joins to its initial address.

use crate::error::Result;
use crate::netlink::{MptcpSocket, SocketDiag, SubflowSocket};

/// A connection in the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its socket.
    pub socket: MptcpSocket,
    /// Whether this host sent the first SYN.
    pub client: bool,
    /// Its subflows, open or being opened.
    pub subflows: Vec<SubflowSocket>,
}

/// Lists all connections that may have several subflows. `owner` is the token of the connection that is known to have
/// a subflow.
///
/// While sockets come and go the kernel's list may lack one that is there, and does not say so. Unless the first list
/// `is_complete`, what is in either of two is taken.
pub fn connections(
    diag: &mut SocketDiag,
    owner: impl Fn(&SubflowSocket) -> Option<u32>,
    is_complete: impl FnOnce(&[Found]) -> bool,
) -> Result<Vec<Found>> {
    // In this order: a subflow whose connection is not in the list is left out, and is reported by an event.
    let mut list = || -> Result<_> {
        let sockets = diag.connections()?;
        Ok(assign(sockets, diag.subflows()?, &owner))
    };
    let first = list()?;
    if is_complete(&first) {
        return Ok(first);
    }
    Ok(united(first, list()?))
}

/// What is in either list; the figures are those of the second where it has them.
fn united(first: Vec<Found>, mut second: Vec<Found>) -> Vec<Found> {
    for earlier in first {
        let same = |found: &&mut Found| {
            (found.socket.token, found.socket.local) == (earlier.socket.token, earlier.socket.local)
        };
        let Some(found) = second.iter_mut().find(same) else {
            second.push(earlier);
            continue;
        };
        found.client |= earlier.client;
        for subflow in earlier.subflows {
            let ends = |subflow: &SubflowSocket| (subflow.info.local, subflow.info.remote);
            if !found.subflows.iter().any(|other| ends(other) == ends(&subflow)) {
                found.subflows.push(subflow);
            }
        }
    }
    second
}

fn assign(
    sockets: Vec<MptcpSocket>,
    mut subflows: Vec<SubflowSocket>,
    owner: impl Fn(&SubflowSocket) -> Option<u32>,
) -> Vec<Found> {
    subflows.retain(|subflow| subflow.is_established() || subflow.is_opening());
    let mut found: Vec<(Found, Option<u32>)> = Vec::new();
    for socket in sockets.into_iter().filter(|socket| !socket.fallback) {
        let own =
            |subflow: &&SubflowSocket| subflow.tokens.local == socket.token || owner(subflow) == Some(socket.token);
        // Both tokens are on the initial subflow; on all that this host opened there is the peer's.
        let remote_token = subflows.iter().filter(own).map(|s| s.tokens.remote).find(|&token| token != 0);
        found.push((Found { socket, client: false, subflows: Vec::new() }, remote_token));
    }
    adopt_orphans(&mut found, &subflows);
    for (found, remote_token) in &mut found {
        for subflow in &subflows {
            let ours = subflow.tokens.local == found.socket.token
                || (subflow.tokens.remote != 0 && Some(subflow.tokens.remote) == *remote_token);
            if ours {
                found.client |= subflow.connected_here || subflow.tokens.local == 0;
                found.subflows.push(subflow.clone());
            }
        }
    }
    found.into_iter().map(|(found, _)| found).collect()
}

/// Gives the connections without initial subflow the peer's token of the subflows that nobody else has, where there is
/// only one choice.
fn adopt_orphans(found: &mut [(Found, Option<u32>)], subflows: &[SubflowSocket]) {
    let known: Vec<u32> = found.iter().filter_map(|(_, token)| *token).collect();
    let mut orphans: Vec<(u32, u16)> = subflows
        .iter()
        .filter(|subflow| subflow.tokens.local == 0 && subflow.tokens.remote != 0)
        .filter(|subflow| !known.contains(&subflow.tokens.remote))
        .map(|subflow| (subflow.tokens.remote, subflow.info.remote.port()))
        .collect();
    orphans.sort_unstable();
    orphans.dedup();
    for (token, port) in orphans.iter().copied() {
        let alone = orphans.iter().filter(|(_, other)| *other == port).count() == 1;
        let lacks = |(found, token): &&mut (Found, Option<u32>)| token.is_none() && found.socket.remote.port() == port;
        let mut candidates: Vec<_> = found.iter_mut().filter(lacks).collect();
        match &mut candidates[..] {
            [(_, missing)] if alone => *missing = Some(token),
            _ => log::warn!("subflows to port {port} are left alone: it is not known to which connection they belong"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlink::Tokens;
    use crate::socket_info::TCP_INFO_SIZE;
    use crate::{DataCounters, SubflowInfo};

    fn socket(token: u32, local: &str) -> MptcpSocket {
        let (local, remote) = (local.parse().expect("an address"), "10.9.0.1:80".parse().expect("an address"));
        MptcpSocket {
            state: 1,
            token,
            local,
            remote,
            fallback: false,
            extra_subflows: 0,
            data: DataCounters::default(),
            bytes_received: 0,
            inode: 1,
        }
    }

    fn subflow(tokens: [u32; 2], local: &str, connected_here: bool) -> SubflowSocket {
        let (local, remote) = (local.parse().expect("an address"), "10.9.0.1:80".parse().expect("an address"));
        SubflowSocket {
            state: 1,
            tokens: Tokens { local: tokens[0], remote: tokens[1] },
            local_id: 0,
            remote_id: 0,
            connected_here,
            backup: false,
            fully_established: true,
            info: SubflowInfo::parse(&[0; TCP_INFO_SIZE], local, remote),
            delivery_rate: 0,
            minimum_rtt_us: 0,
            lost: 0,
        }
    }

    fn counts(found: &[Found]) -> Vec<(u32, bool, usize)> {
        found.iter().map(|found| (found.socket.token, found.client, found.subflows.len())).collect()
    }

    #[test]
    fn the_initial_subflow_joins_those_that_have_only_the_peer_s_token() {
        let subflows = vec![
            subflow([1, 11], "10.0.0.1:1", true),
            subflow([2, 12], "10.0.0.1:2", true),
            subflow([0, 11], "10.0.1.1:3", false),
            subflow([0, 12], "10.0.1.1:4", false),
            subflow([0, 12], "10.0.2.1:5", false),
            // This host is the server of the third.
            subflow([3, 13], "10.0.0.1:6", false),
            subflow([3, 0], "10.0.0.1:7", false),
        ];
        let sockets = vec![socket(1, "10.0.0.1:1"), socket(2, "10.0.0.1:2"), socket(3, "10.0.0.1:6")];
        assert_eq!(counts(&assign(sockets, subflows, |_| None)), [(1, true, 2), (2, true, 3), (3, false, 2)]);
    }

    #[test]
    fn without_its_initial_subflow_a_connection_is_known_if_there_is_one_choice() {
        let one = vec![subflow([0, 11], "10.0.1.1:3", false), subflow([0, 11], "10.0.2.1:4", false)];
        let found = assign(vec![socket(1, "10.0.0.1:1")], one.clone(), |_| None);
        assert_eq!(counts(&found), [(1, true, 2)]);
        let two = vec![socket(1, "10.0.0.1:1"), socket(2, "10.0.0.1:2")];
        assert_eq!(counts(&assign(two.clone(), one.clone(), |_| None)), [(1, false, 0), (2, false, 0)]);
        let known = |subflow: &SubflowSocket| (subflow.info.local.port() == 4).then_some(2);
        assert_eq!(counts(&assign(two, one, known)), [(1, false, 0), (2, true, 2)]);
    }

    #[test]
    fn what_one_of_two_lists_lacks_is_there() {
        let list = |subflows: &[&str], tokens: &[u32]| -> Vec<Found> {
            let subflows: Vec<_> = subflows.iter().map(|local| subflow([1, 11], local, true)).collect();
            let found = |&token: &u32| {
                let subflows = if token == 1 { subflows.clone() } else { Vec::new() };
                Found { socket: socket(token, "10.0.0.1:1"), client: token == 1, subflows }
            };
            tokens.iter().map(found).collect()
        };
        let full = list(&["10.0.0.1:1", "10.0.1.1:2"], &[1, 2]);
        assert_eq!(counts(&united(full.clone(), list(&["10.0.0.1:1"], &[1]))), [(1, true, 2), (2, false, 0)]);
        assert_eq!(counts(&united(list(&["10.0.1.1:2"], &[1]), full.clone())), counts(&full));
        assert_eq!(counts(&united(list(&[], &[2]), list(&["10.0.0.1:1"], &[1]))), [(1, true, 1), (2, false, 0)]);
        // The token has another connection by now.
        let other = Found { socket: socket(1, "10.0.0.9:9"), client: false, subflows: Vec::new() };
        assert_eq!(united(vec![other.clone()], full).last(), Some(&other));
    }

    #[test]
    fn subflows_that_are_closing_and_connections_that_fell_back_are_left_out() {
        let mut closing = subflow([1, 11], "10.0.0.1:1", true);
        closing.state = 8;
        let fallback = MptcpSocket { fallback: true, ..socket(2, "10.0.0.1:2") };
        let found = assign(vec![socket(1, "10.0.0.1:1"), fallback], vec![closing], |_| None);
        assert_eq!(counts(&found), [(1, false, 0)]);
    }
}
