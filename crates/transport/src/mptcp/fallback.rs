//! Fallback to plain TCP, the infinite mapping and MP_FAIL (RFC 8684, section 3.7).

use subflow_quantity::Instant;
use subflow_wire::tcp::TcpSegment;
use subflow_wire::tcp::mptcp::{Mapping, MptcpOption};

use super::Connection;
use super::join::{reason, reset_option};
use super::subflow::Stage;
use crate::Event;

/// What the connection speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The MP_CAPABLE handshake is under way.
    Opening,
    /// MPTCP.
    Multipath,
    /// Plain TCP on the initial subflow, from the start: its stream is the data.
    Plain,
    /// Plain TCP on one subflow from some byte on.
    Infinite {
        /// The subflow that is left.
        subflow: usize,
        /// Subflow offset and data offset at which this side's infinite mapping begins; not sent yet while `announce`.
        send: (u64, u64),
        announce: bool,
        /// The same for the peer's, once it has arrived.
        receive: Option<(u64, u64)>,
    },
}

impl Connection {
    /// The peer does not speak MPTCP, or a middlebox took the options away: the initial subflow goes on as plain TCP.
    pub(super) fn fall_back(&mut self) {
        self.mode = Mode::Plain;
        self.confirmed = false;
        let subflow = &mut self.subflows[0];
        subflow.stage = Stage::Established;
        subflow.tcp.reserve_options(0);
        if self.send.finishing() {
            subflow.tcp.finish();
        }
        self.tell(Event::FellBack);
        self.touch(0);
    }

    /// A mapping's checksum was wrong. With other subflows this one is reset; alone it falls back.
    pub(super) fn on_checksum_failure(&mut self, index: usize, data: u64, now: Instant) {
        self.counters.checksum_failures += 1;
        let sequence = self.remote_key.map_or(0, |key| key.data_sequence(data));
        let fail = MptcpOption::Fail { data_sequence: sequence };
        let others = self.subflows.iter().enumerate().any(|(i, subflow)| i != index && subflow.is_established());
        if others {
            self.subflows[index].reset_with = vec![fail, reset_option(reason::MIDDLEBOX)];
            return self.close_subflow_with_reset(index, now);
        }
        self.subflows[index].signal(fail);
        self.enter_infinite(index, self.send.una);
        self.touch(index);
    }

    /// The peer's MP_FAIL: it did not accept data from `sequence` on.
    pub(super) fn on_fail(&mut self, index: usize, sequence: u64) {
        let others = self.subflows.iter().enumerate().any(|(i, subflow)| i != index && subflow.is_established());
        if others || matches!(self.mode, Mode::Plain) {
            return;
        }
        let offset = self.local_key.offset(sequence, true, self.send.una);
        if offset > self.send.next {
            return;
        }
        if !matches!(self.mode, Mode::Infinite { .. }) {
            // Answered in kind, so that both directions end up the same.
            let expected = self.remote_key.map_or(0, |key| key.data_sequence(self.receive.next));
            self.subflows[index].signal(MptcpOption::Fail { data_sequence: expected });
        }
        self.enter_infinite(index, offset);
        self.touch(index);
    }

    /// From data offset `from` on, data is sent on `index` alone and without mappings.
    fn enter_infinite(&mut self, index: usize, from: u64) {
        let receive = match self.mode {
            Mode::Infinite { receive, .. } => receive,
            _ => {
                self.tell(Event::FellBack);
                None
            }
        };
        self.subflows[index].tcp.discard_unsent();
        self.send.rewind(from);
        let start = self.subflows[index].tcp.push_offset();
        self.mode = Mode::Infinite { subflow: index, send: (start, from), announce: true, receive };
    }

    /// The infinite mapping to put on the segment at subflow offset `offset`, told once.
    pub(super) fn infinite_mapping(&mut self, offset: u64) -> Option<Mapping> {
        let Mode::Infinite { send: (start, data), ref mut announce, .. } = self.mode else { return None };
        if !*announce || offset < start {
            return None;
        }
        *announce = false;
        Some(Mapping {
            data_sequence: self.local_key.data_sequence(data),
            wide: true,
            subflow_sequence: (start + 1) as u32,
            length: 0,
            checksum: self.checksum.then_some(0),
        })
    }

    /// The peer's infinite mapping.
    pub(super) fn on_infinite_mapping(&mut self, index: usize, mapping: &Mapping) {
        let Some(remote) = self.remote_key else { return };
        let data = remote.offset(mapping.data_sequence, mapping.wide, self.receive.next);
        let start = self.subflow_offset(index, mapping.subflow_sequence);
        match &mut self.mode {
            Mode::Infinite { receive, .. } => *receive = Some((start, data)),
            Mode::Multipath => {
                let from = self.send.next;
                self.enter_infinite(index, from);
                if let Mode::Infinite { receive, .. } = &mut self.mode {
                    *receive = Some((start, data));
                }
            }
            _ => {}
        }
    }

    /// Data offset of `segment` under the infinite mapping; `None` where none applies (yet).
    pub(super) fn infinite_data(&self, segment: &TcpSegment, index: usize) -> Option<u64> {
        let Mode::Infinite { receive: Some((start, data)), .. } = self.mode else { return None };
        let offset = self.subflows[index].tcp.offset_of(segment)?;
        (offset >= start).then(|| data + (offset - start))
    }
}
