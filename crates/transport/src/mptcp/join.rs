//! Further subflows with MP_JOIN (RFC 8684, section 3.2).

use subflow_policy::path_manager::{Event as PathEvent, FourTuple};
use subflow_quantity::Instant;
use subflow_wire::tcp::TcpSegment;
use subflow_wire::tcp::mptcp::{Join, MptcpOption, ResetReason};

use super::Connection;
use super::keys::{join_hmac, leftmost_64, leftmost_160};
use super::path_manager::OpenRequest;
use super::subflow::{JoinEnds, Stage, Subflow};
use crate::Event;
use crate::mac::is_equal;
use crate::tcp::{self, Ends};

/// How a join is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Its SYN is answered with a reset that contains the reason (MP_TCPRST).
    Reset(ResetReason),
    /// Its SYN is dropped: a retransmission of the SYN may succeed.
    Silently,
}

impl Connection {
    /// Opens the subflow of `request` from `ends.local`, whose port is free. Returns `None` if there is no free place.
    pub(crate) fn open_subflow(&mut self, request: &OpenRequest, ends: Ends, now: Instant) -> Option<usize> {
        self.make_room_for_local(now);
        let path = self.take_place()?;
        let (in_data, in_acks) = self.config.data_acks.reserved();
        let initial = self.rng.initial_sequence(ends, now);
        let mut tcp = tcp::Connection::connect(self.config.tcp.clone(), ends, path, initial, now);
        tcp.reserve_options(in_data, in_acks);
        let &OpenRequest { local_id, remote_id, backup, .. } = request;
        let ends = JoinEnds { local_id, remote_id, backup, local_nonce: self.nonce(), ..JoinEnds::default() };
        Some(self.add_subflow(Subflow::joining(tcp, true, ends, now)))
    }

    /// Accepts or refuses a join of the peer.
    pub(crate) fn accept_join(&mut self, ends: Ends, syn: &TcpSegment, now: Instant) -> Result<usize, Refused> {
        self.subflows.pass_to(None);
        let Some(Join::Syn { backup, address_id, nonce, .. }) = join_of(syn) else {
            return Err(Refused::Reset(ResetReason::MPTCP_SPECIFIC));
        };
        // Where both streams have ended, a new subflow would have nothing to carry and would keep the connection (Linux
        // refuses it from the first DATA_FIN on, `mptcp_can_accept_new_subflow`).
        if !self.phase.may_join() || self.is_done() {
            return Err(Refused::Reset(ResetReason::MPTCP_SPECIFIC));
        }
        let initial_end = self.subflows[0].tcp.ends().local;
        if self.config.deny_join_to_initial_address && ends.local == initial_end {
            return Err(Refused::Reset(ResetReason::PROHIBITED));
        }
        self.make_room_for_join(now)?;
        let Some(local_id) = self.local_addresses.id_for(ends.local.ip()) else {
            return Err(Refused::Reset(ResetReason::LACK_OF_RESOURCES));
        };
        let Some(path) = self.take_place() else { return Err(Refused::Reset(ResetReason::LACK_OF_RESOURCES)) };
        let (in_data, in_acks) = self.config.data_acks.reserved();
        let (initial, local) = (self.rng.initial_sequence(ends, now), ends.local.ip());
        let mut tcp = tcp::Connection::accept(self.config.tcp.clone(), ends, path, initial, syn, now);
        tcp.reserve_options(in_data, in_acks);
        let ends = JoinEnds {
            local_id,
            remote_id: *address_id,
            peer_backup: *backup,
            remote_nonce: *nonce,
            local_nonce: self.nonce(),
            backup: self.config.backup_addresses.contains(&local),
        };
        Ok(self.add_subflow(Subflow::joining(tcp, false, ends, now)))
    }

    /// Whether `segment` should authenticate the joiner of subflow `index` and does not. Until the joiner is
    /// authenticated, segments of the subflow have no effect at the data level.
    pub(super) fn lacks_proof(&self, index: usize, segment: &TcpSegment) -> bool {
        let subflow = &self.subflows[index];
        if !subflow.is_half_open_join() {
            return false;
        }
        let is_proof = |hmac: &[u8; 20]| is_equal(&leftmost_160(&self.peer_hmac(subflow)), hmac);
        !matches!(join_of(segment), Some(Join::Ack { hmac }) if is_proof(hmac))
    }

    /// Number of subflows that the peer is joining and that are not yet authenticated.
    pub fn half_open_joins(&self) -> usize {
        self.subflows.half_open_joins()
    }

    fn keys(&self) -> (u64, u64) {
        (self.local_key.key, self.phase.remote_key().map_or(0, |key| key.key))
    }

    /// The HMAC with which this side authenticates itself on a subflow.
    fn own_hmac(&self, subflow: &Subflow) -> [u8; 32] {
        let (local, remote) = self.keys();
        let ends = subflow.join_ends();
        join_hmac(local, remote, ends.local_nonce, ends.remote_nonce)
    }

    fn peer_hmac(&self, subflow: &Subflow) -> [u8; 32] {
        let (local, remote) = self.keys();
        let ends = subflow.join_ends();
        join_hmac(remote, local, ends.remote_nonce, ends.local_nonce)
    }

    /// The MP_JOIN for the SYN or SYN/ACK of a subflow.
    pub(super) fn join_for_syn(&self, subflow: &Subflow) -> MptcpOption {
        let ends = subflow.join_ends();
        MptcpOption::Join(if subflow.is_initiator() {
            Join::Syn {
                backup: ends.backup,
                address_id: ends.local_id,
                token: self.phase.remote_key().map_or(0, |key| key.token),
                nonce: ends.local_nonce,
            }
        } else {
            Join::SynAck {
                backup: ends.backup,
                address_id: ends.local_id,
                truncated_hmac: leftmost_64(&self.own_hmac(subflow)),
                nonce: ends.local_nonce,
            }
        })
    }

    /// The MP_JOIN for the third ACK.
    pub(super) fn join_for_ack(&self, subflow: &Subflow) -> MptcpOption {
        MptcpOption::Join(Join::Ack { hmac: leftmost_160(&self.own_hmac(subflow)) })
    }

    /// Advances the handshake of a join by `segment`, which TCP has accepted. A wrong or missing HMAC resets the
    /// subflow.
    pub(super) fn on_join_progress(&mut self, index: usize, segment: &TcpSegment, now: Instant) {
        match (self.subflows[index].is_initiator(), self.subflows[index].stage(), join_of(segment)) {
            (true, Stage::Joining, Some(&Join::SynAck { backup, address_id, truncated_hmac, nonce })) => {
                self.subflows[index].on_join_answer(address_id, nonce, backup);
                let expected = leftmost_64(&self.peer_hmac(&self.subflows[index]));
                if !is_equal(&expected.to_be_bytes(), &truncated_hmac.to_be_bytes()) {
                    return self.reset_subflow(index, ResetReason::MPTCP_SPECIFIC, now);
                }
                self.subflows[index].pre_establish(now);
                self.phase.on_join_offered();
            }
            (true, Stage::PreEstablished(_), None) => self.on_join_established(index, now),
            (false, Stage::Joining, Some(Join::Ack { .. })) => {
                self.on_join_established(index, now);
                // The joiner waits for an acknowledgment of its third ACK.
                self.subflows[index].tcp.request_ack();
            }
            (_, Stage::Joining, _) => self.reset_subflow(index, ResetReason::MPTCP_SPECIFIC, now),
            _ => {}
        }
    }

    fn on_join_established(&mut self, index: usize, now: Instant) {
        let subflow = &mut self.subflows[index];
        subflow.establish();
        let ends = subflow.tcp.ends();
        if self.config.subflows_open_window {
            // The buffer may have grown before, and may never grow again.
            subflow.tcp.follow_buffer(self.receive.window());
        }
        self.phase.on_join();
        self.emit(Event::SubflowEstablished(ends));
        let subflow = FourTuple { local: ends.local, remote: ends.remote };
        self.on_path_event(PathEvent::SubflowEstablished(subflow), now);
        self.announcements.on_working_path(index, now);
        self.close_half_open_subflows(now);
    }

    /// The third ACK of a join was not acknowledged in time: repeats it (RFC 8684, section 3.2), as often as a SYN.
    pub(super) fn repeat_join_ack(&mut self, index: usize, now: Instant) {
        if !self.subflows.touch(index).repeat_third_ack(self.config.tcp.syn_retries, now) {
            self.reset_subflow(index, ResetReason::MPTCP_SPECIFIC, now);
        }
    }
}

/// The MP_JOIN of a segment.
pub(crate) fn join_of(segment: &TcpSegment) -> Option<&Join> {
    segment.options.mptcp.iter().find_map(|option| match option {
        MptcpOption::Join(join) => Some(join),
        _ => None,
    })
}
