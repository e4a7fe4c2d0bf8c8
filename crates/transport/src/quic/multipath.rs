//! What a connection over several paths has in addition (draft-ietf-quic-multipath-21): identifiers of paths that are not
//! open, path manager, scheduler, and paths that are over.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

use subflow_policy::bottleneck::BottleneckDetection;
use subflow_policy::path_manager::{Event as PathEvent, FourTuple};
use subflow_policy::scheduler::{Scheduling, SubflowView};
use subflow_quantity::Instant;
use subflow_wire::quic::{ConnectionId, Frame};

use super::config::{self, ACTIVE_CONNECTION_IDS, ResetKey};
use super::connection_ids::ConnectionIds;
use super::path::Status;
use super::{Connection, Counters};
use crate::figures::PathFigures;
use crate::mptcp::{LocalAddresses, PathManager};
use crate::tcp::Ends;
use crate::{Event, RandomSource};

/// Connection identifiers that an end issues for each further path.
const ISSUED_FOR_A_PATH: u64 = 1;
/// Paths that are over and listed in figures.
const MOST_FORMER: usize = 256;

/// The state of the multipath extension.
#[derive(Clone, Debug)]
pub(super) struct Multipath {
    /// Whether both ends have it. Before the peer's transport parameters have arrived it is not.
    pub(super) is_negotiated: bool,
    pub(super) scheduling: Scheduling,
    pub(super) views: Vec<SubflowView>,
    /// How often the peer's window kept a path with room from sending.
    pub(super) blocked: u64,
    pub(super) path_manager: PathManager,
    pub(super) local_addresses: LocalAddresses,
    /// The highest path identifier that the peer was told, and the highest that it allows.
    pub(super) max_own: u64,
    pub(super) max_of_peer: u64,
    /// The identifier of the next path that a client opens.
    pub(super) next_id: u64,
    /// The path that cannot be opened, if the peer was told.
    blocked_told: Option<u64>,
    /// The last path for which connection identifiers were issued.
    issued_through: u64,
    /// The key of stateless resets, if they are sent.
    pub(super) reset_key: Option<ResetKey>,
    /// The connection identifiers of paths that are not open.
    pub(super) reserved: BTreeMap<u64, ConnectionIds>,
    /// What the peer has said about paths that are not open.
    pub(super) early_status: BTreeMap<u64, Status>,
    /// Frames about paths that are to be sent on any path.
    pub(super) news: VecDeque<Frame>,
    /// Identifiers of this end that packets of further paths have (`true`), or do not have any more.
    pub(super) id_changes: Vec<(ConnectionId, bool)>,
    /// The ends of paths that the peer has opened.
    pub(super) new_ends: Vec<Ends>,
    pub(super) former: VecDeque<PathFigures>,
    pub(super) former_counters: Counters,
    /// Bytes that were sent again on another path than last.
    pub(super) reinjected: u64,
    pub(super) detection: Option<BottleneckDetection>,
    pub(super) regroup_at: Instant,
}

impl Multipath {
    pub(super) fn new(config: &config::Multipath, initial: IpAddr, addresses: &[IpAddr]) -> Self {
        Self {
            is_negotiated: false,
            scheduling: config.scheduler.clone(),
            views: Vec::new(),
            blocked: 0,
            path_manager: PathManager::new(config.path_manager.clone()),
            local_addresses: LocalAddresses::new(initial, addresses),
            max_own: config.max_path_id,
            max_of_peer: 0,
            next_id: 1,
            blocked_told: None,
            issued_through: 0,
            reset_key: None,
            reserved: BTreeMap::new(),
            early_status: BTreeMap::new(),
            news: VecDeque::new(),
            id_changes: Vec::new(),
            new_ends: Vec::new(),
            former: VecDeque::new(),
            former_counters: Counters::default(),
            reinjected: 0,
            detection: config.bottleneck.as_ref().map(|bottleneck| bottleneck.detection.clone()),
            regroup_at: Instant::ZERO,
        }
    }

    /// The identifiers of path `id`, which is not open.
    pub(super) fn reserve(&mut self, id: u64) -> &mut ConnectionIds {
        self.reserved.entry(id).or_insert_with(|| {
            let mut ids = ConnectionIds::of_path(id, ACTIVE_CONNECTION_IDS);
            ids.set_reset_key(self.reset_key.as_ref());
            ids
        })
    }

    /// Issues connection identifiers for all paths that both ends allow (section 3.2.1).
    pub(super) fn issue(&mut self, random: &mut RandomSource) {
        while self.issued_through < self.max_own.min(self.max_of_peer) {
            self.issued_through += 1;
            let ids = self.reserve(self.issued_through);
            ids.issue(ISSUED_FOR_A_PATH, random);
            let own: Vec<_> = ids.own().collect();
            self.id_changes.extend(own.into_iter().map(|id| (id, true)));
        }
    }

    /// Whether path `id` was never open nor abandoned.
    pub(super) fn is_unused(&self, id: u64) -> bool {
        self.reserved.contains_key(&id) || !self.was_reserved(id)
    }

    /// Whether path `id` was not open at some time.
    pub(super) fn was_reserved(&self, id: u64) -> bool {
        id <= self.issued_through
    }

    /// Path `id` is over before it was open: packets to its identifiers are of no connection any more, and the peer is
    /// told.
    pub(super) fn drop_unopened(&mut self, id: u64, ids: &ConnectionIds, error_code: u64) {
        self.id_changes.extend(ids.own().map(|own| (own, false)));
        self.news.push_back(Frame::PathAbandon { path: id, error_code });
    }

    /// How many paths can be opened: their identifiers are allowed, and the peer has issued connection identifiers.
    pub(super) fn openable(&self) -> usize {
        let allowed = self.next_id..=self.max_own.min(self.max_of_peer);
        let has_destination = |id: &u64| self.reserved.get(id).is_some_and(ConnectionIds::has_destination);
        allowed.take_while(has_destination).count()
    }

    /// The peer is told why the next path is not opened.
    pub(super) fn note_blocked_path(&mut self) {
        let frame = match self.next_id > self.max_of_peer {
            true => Frame::PathsBlocked(self.max_of_peer),
            false => {
                let next_sequence = self.reserved.get(&self.next_id).map_or(0, ConnectionIds::next_of_peer);
                Frame::PathCidsBlocked { path: self.next_id, next_sequence }
            }
        };
        if self.blocked_told != Some(self.next_id) {
            self.blocked_told = Some(self.next_id);
            self.news.push_back(frame);
        }
    }

    /// Whether there is a frame to be sent on any path.
    pub(super) fn has_news(&self) -> bool {
        !self.news.is_empty() || self.reserved.values().any(ConnectionIds::has_news)
    }

    pub(super) fn take_news(&mut self) -> Option<Frame> {
        self.news.pop_front().or_else(|| self.reserved.values_mut().find_map(ConnectionIds::take_news))
    }

    /// A path is over for good.
    pub(super) fn list_former(&mut self, figures: PathFigures, counters: &Counters) {
        self.former_counters.add(counters);
        if self.former.len() == MOST_FORMER {
            self.former.pop_front();
        }
        self.former.push_back(figures);
    }
}

impl Connection {
    /// The extension, if both ends have it.
    #[inline]
    pub(super) fn multipath(&mut self) -> Option<&mut Multipath> {
        self.multipath.as_deref_mut().filter(|multipath| multipath.is_negotiated)
    }

    /// Whether both ends have negotiated several paths.
    pub fn is_multipath(&self) -> bool {
        self.multipath.as_ref().is_some_and(|multipath| multipath.is_negotiated)
    }

    /// Whether this end would have several paths, and the peer would not.
    pub fn has_fallen_back(&self) -> bool {
        self.phase.is_past_handshake() && self.config.multipath.is_some() && !self.is_multipath()
    }

    /// The peer's transport parameters are known (section 2.1).
    pub(super) fn negotiate_multipath(&mut self) {
        match (&mut self.multipath, self.peer.initial_max_path_id) {
            (Some(multipath), Some(max)) => (multipath.is_negotiated, multipath.max_of_peer) = (true, max),
            (multipath, _) => *multipath = None,
        }
    }

    /// Issues connection identifiers for the paths that have become possible.
    pub(super) fn issue_path_ids(&mut self) {
        if let Some(multipath) = &mut self.multipath {
            multipath.issue(&mut self.random);
        }
    }

    /// The handshake is complete: identifiers for further paths can be issued.
    pub(super) fn begin_multipath(&mut self) {
        if self.config.multipath.is_some() && self.multipath.is_none() {
            self.stream.emit(Event::FellBack);
        }
        self.issue_path_ids();
    }

    /// The handshake is confirmed: a client may open paths.
    pub(super) fn begin_path_manager(&mut self) {
        let (is_client, now) = (!self.is_server, self.idle.last_activity());
        let Ends { local, remote } = self.ends;
        let backups = self.config.multipath.as_ref().map_or(&[][..], |multipath| &multipath.backup_addresses);
        let is_backup = backups.contains(&local.ip());
        let Some(multipath) = self.multipath().filter(|_| is_client) else { return };
        let present = multipath.local_addresses.present();
        let others: Vec<_> = present.filter(|address| address.address != local.ip()).collect();
        let initial = FourTuple { local, remote };
        self.on_path_event(PathEvent::Established { initial, client: true, initial_address_closed: false }, now);
        others.into_iter().for_each(|address| self.on_path_event(PathEvent::LocalAddressAdded(address), now));
        if is_backup {
            self.set_backup(0, true);
        }
    }
}
