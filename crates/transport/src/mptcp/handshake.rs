//! Opening a connection with MP_CAPABLE (RFC 8684, section 3.1).

use std::net::IpAddr;
use std::sync::Arc;

use subflow_policy::congestion::Controller;
use subflow_policy::path_manager::{Event as PathEvent, FourTuple};
use subflow_quantity::Instant;
use subflow_wire::tcp::mptcp::{Capable, CapableFlags, MptcpOption};
use subflow_wire::tcp::{TcpFlags, TcpSegment};

use super::announcements::Announcements;
use super::data_fin::DataFin;
use super::data_timer::DataTimer;
use super::keys::Key;
use super::local_addresses::LocalAddresses;
use super::observation::Observation;
use super::path_manager::PathManager;
use super::phase::Phase;
use super::receive_side::ReceiveSide;
use super::scheduler_views::Views;
use super::send_side::SendSide;
use super::subflow::Subflow;
use super::subflows::Subflows;
use super::withdrawals::Withdrawals;
use super::{Config, Connection, Counters};
use crate::stream::Stream;
use crate::tcp::{self, Ends};
use crate::{Event, RandomSource};

/// The version of MPTCP implemented here (RFC 8684).
const VERSION: u8 = 1;

/// The random numbers of the side that answers a SYN.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    /// The key. No other connection of the host has its token.
    pub(crate) key: Key,
    /// The initial sequence number of the initial subflow.
    pub(crate) initial: u32,
}

/// What the flags of both MP_CAPABLE have agreed on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Negotiated {
    /// Either side requires DSS checksums.
    checksum: bool,
    /// The peer accepts no joins to its initial address and port.
    closes_initial_address: bool,
}

impl Negotiated {
    #[inline]
    pub(super) fn has_checksum(self) -> bool {
        self.checksum
    }

    fn on_flags(&mut self, flags: CapableFlags) {
        self.checksum |= flags.checksum_required;
        self.closes_initial_address |= flags.deny_join_to_initial_address;
    }
}

impl Connection {
    /// Opens a connection from `ends.local`. `local` lists this host's addresses. No other connection of the host may
    /// have the token of `key`.
    pub(crate) fn connect(
        config: Arc<Config>,
        ends: Ends,
        local: &[IpAddr],
        key: Key,
        mut rng: RandomSource,
        now: Instant,
    ) -> Self {
        let initial = rng.initial_sequence(ends, now);
        let mut connection = Self::new(config, true, key, LocalAddresses::new(ends.local.ip(), local), rng, now);
        let (in_data, in_acks) = connection.config.data_acks.reserved();
        let path = connection.congestion.add_path(1, connection.config.tcp.initial_window);
        let mut tcp = tcp::Connection::connect(connection.config.tcp.clone(), ends, path, initial, now);
        tcp.reserve_options(in_data, in_acks);
        connection.add_subflow(Subflow::initial(tcp, true, now));
        connection
    }

    /// The SYN of the initial subflow, which is not answered yet, is sent again from another address, which has identifier
    /// 0 from now on. This host has the addresses `local`.
    pub(crate) fn move_opening(&mut self, ends: Ends, local: &[IpAddr]) {
        self.local_addresses = LocalAddresses::new(ends.local.ip(), local);
        let addresses = &mut self.local_addresses;
        self.path_manager.renumber(|address| addresses.id_for(address));
        self.subflows.touch(0).tcp.move_opening(ends);
    }

    /// SYNs with MP_CAPABLE are not answered: something on the path may drop them, and the next SYN goes without the
    /// option. The connection is one of TCP from then on, also if an earlier SYN is answered with MP_CAPABLE (RFC 8684,
    /// section 3.1; Linux `mptcp_active_detect_blackhole`).
    pub(super) fn give_up_capable(&mut self, now: Instant) {
        let most = self.config.capable_syns;
        let tcp = &self.subflows[0].tcp;
        if most > 0 && self.phase.is_opening() && tcp.state() == tcp::State::SynSent && tcp.syn_repeated() >= most {
            self.fall_back(now);
        }
    }

    /// Answers a SYN, with MP_CAPABLE if the SYN has it.
    pub(crate) fn accept(
        config: Arc<Config>,
        ends: Ends,
        local: &[IpAddr],
        syn: &TcpSegment,
        identity: Identity,
        rng: RandomSource,
        now: Instant,
    ) -> Self {
        let Identity { key, initial } = identity;
        let mut connection = Self::new(config, false, key, LocalAddresses::new(ends.local.ip(), local), rng, now);
        let capable = capable_of(syn);
        if let Some(capable) = capable {
            connection.negotiated.on_flags(capable.flags);
        }
        let (in_data, in_acks) = connection.config.data_acks.reserved();
        let path = connection.congestion.add_path(1, connection.config.tcp.initial_window);
        let mut tcp = tcp::Connection::accept(connection.config.tcp.clone(), ends, path, initial, syn, now);
        tcp.reserve_options(in_data, in_acks);
        connection.add_subflow(Subflow::initial(tcp, false, now));
        if capable.is_none() {
            connection.fall_back(now);
        }
        connection
    }

    /// The SYN/ACK was sent before this connection was created (SYN cookies).
    pub(crate) fn on_syn_ack_sent_before(&mut self) {
        self.subflows[0].tcp.on_syn_ack_sent_before();
    }

    fn new(
        config: Arc<Config>,
        client: bool,
        local_key: Key,
        local: LocalAddresses,
        rng: RandomSource,
        now: Instant,
    ) -> Self {
        let mss = u32::from(config.tcp.mtu) - 40 - 12;
        Self {
            client,
            local_key,
            phase: Phase::new(),
            negotiated: Negotiated { checksum: config.checksum, closes_initial_address: false },
            peer_is_wide: false,
            subflows: Subflows::default(),
            congestion: Controller::new(config.congestion.clone(), config.tcp.window_rules()),
            scheduler: config.scheduler.clone(),
            views: Views::default(),
            observation: Observation::new(&config),
            send: SendSide::default(),
            fin: DataFin::default(),
            data_timer: DataTimer::default(),
            memory: Self::send_memory(&config),
            receive: ReceiveSide::new(config.tcp.receive_buffer, mss, now),
            path_manager: PathManager::new(config.path_manager.clone()),
            local_addresses: local,
            announcements: Announcements::default(),
            withdrawals: Withdrawals::default(),
            stream: Stream::new(config.tcp.send_buffer.fixed()),
            counters: Counters::default(),
            rng,
            scratch: Vec::new(),
            notes: None,
            config,
        }
    }

    /// The MP_CAPABLE of this side with the keys that the segment requires.
    pub(super) fn capable(&self, sender_key: bool, receiver_key: bool) -> Capable {
        Capable {
            version: VERSION,
            flags: CapableFlags {
                checksum_required: self.negotiated.checksum,
                deny_join_to_initial_address: self.config.deny_join_to_initial_address,
            },
            sender_key: sender_key.then_some(self.local_key.key),
            receiver_key: if receiver_key { self.phase.remote_key().map(|key| key.key) } else { None },
            data_length: None,
            checksum: None,
        }
    }

    /// Processes the SYN/ACK on the client: stores the server's key, or falls back.
    pub(super) fn on_capable_syn_ack(&mut self, segment: &TcpSegment, now: Instant) {
        match capable_of(segment) {
            Some(Capable { flags, sender_key: Some(key), .. }) => {
                self.take_remote_key(*key, *flags);
            }
            _ => self.fall_back(now),
        }
        self.on_established();
    }

    /// Processes the first acknowledgment on the server: stores the client's key, or falls back. Returns whether to
    /// process the segment: one that has MPTCP options but not the keys is dropped until the keys have arrived.
    pub(super) fn on_capable_ack(&mut self, segment: &TcpSegment, now: Instant) -> bool {
        match capable_of(segment) {
            Some(Capable { flags, sender_key: Some(key), receiver_key, .. }) => {
                if !receiver_key.is_some_and(|key| self.local_key.is(key)) {
                    return false;
                }
                self.take_remote_key(*key, *flags);
                true
            }
            _ if segment.options.dss.is_some() => false,
            _ => {
                self.fall_back(now);
                true
            }
        }
    }

    fn take_remote_key(&mut self, key: u64, flags: CapableFlags) {
        self.phase.on_remote_key(Key::new(key));
        self.negotiated.on_flags(flags);
    }

    /// The initial subflow is established at the TCP level.
    pub(super) fn on_established(&mut self) {
        if self.phase.on_established() {
            self.emit(Event::Established);
        }
    }

    /// The peer has shown that it has both keys: the connection will not fall back to plain TCP at its start, and joins
    /// may begin.
    pub(super) fn confirm(&mut self, now: Instant) {
        if !self.phase.confirm() {
            return;
        }
        self.subflows[0].establish();
        let ends = self.subflows[0].tcp.ends();
        self.on_path_event(
            PathEvent::Established {
                initial: FourTuple { local: ends.local, remote: ends.remote },
                client: self.client,
                initial_address_closed: self.negotiated.closes_initial_address,
            },
            now,
        );
        self.announce_local_addresses(now);
        if self.config.backup_addresses.contains(&ends.local.ip()) {
            self.set_backup(0, true);
        }
    }

    /// Decides on a client that waits for the peer's first DSS whether a segment on the initial subflow confirms MPTCP
    /// or shows its absence.
    pub(super) fn judge_first_answer(&mut self, segment: &TcpSegment, now: Instant) {
        if !self.client || self.phase.is_confirmed() || !self.phase.is_multipath() {
            return;
        }
        if segment.options.dss.is_some() {
            return self.confirm(now);
        }
        let answers_data = self.subflows[0].tcp.counters().bytes_acknowledged > 0 || segment.payload.length > 0;
        // An MPTCP peer would send a DATA_FIN with the FIN, or before it.
        let ends = segment.flags.contains(TcpFlags::FIN);
        let silent = segment.options.mptcp.is_empty() && !segment.flags.contains(TcpFlags::SYN);
        if (answers_data || ends) && silent {
            self.fall_back(now);
        }
    }
}

/// The MP_CAPABLE of a segment. An MP_CAPABLE of a version other than the negotiated one is ignored in every segment
/// of the handshake.
pub(crate) fn capable_of(segment: &TcpSegment) -> Option<&Capable> {
    segment.options.mptcp.iter().find_map(|option| match option {
        MptcpOption::Capable(capable) if capable.version == VERSION => Some(capable),
        _ => None,
    })
}
