//! Whether a destination can be used (RFC 9260, sections 5.4 and 8.2; RFC 7829, section 3).

use subflow_quantity::Instant;

use super::Config;

/// Whether a destination can be used (RFC 9260, sections 5.4 and 8.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reachability {
    /// The address is not confirmed: data is sent to others.
    Unconfirmed,
    /// Active.
    Active,
    /// Potentially failed after an unanswered packet: data is sent to others if possible (RFC 7829).
    PotentiallyFailed,
    /// Inactive after Path.Max.Retrans consecutive timeouts.
    Inactive,
}

#[derive(Clone, Copy, Debug)]
enum Condition {
    Unconfirmed,
    Active,
    PotentiallyFailed { since: Instant },
    Inactive { since: Instant },
}

/// The condition of a destination, which follows from its unanswered packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Health {
    condition: Condition,
    /// Packets in a row without an answer.
    errors: u32,
}

/// What an unanswered packet has made of a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// It has become potentially failed.
    Suspected,
    /// It has become inactive.
    Certain,
}

impl Health {
    /// That of a new destination, whose address is `confirmed` or not.
    pub(super) fn new(confirmed: bool) -> Self {
        Self { condition: if confirmed { Condition::Active } else { Condition::Unconfirmed }, errors: 0 }
    }

    #[inline]
    pub(super) fn reachability(&self) -> Reachability {
        match self.condition {
            Condition::Unconfirmed => Reachability::Unconfirmed,
            Condition::Active => Reachability::Active,
            Condition::PotentiallyFailed { .. } => Reachability::PotentiallyFailed,
            Condition::Inactive { .. } => Reachability::Inactive,
        }
    }

    #[inline]
    pub(super) fn is_active(&self) -> bool {
        matches!(self.condition, Condition::Active)
    }

    /// Packets in a row without an answer.
    pub(super) fn errors(&self) -> u32 {
        self.errors
    }

    /// When it became what it is, if that is potentially failed or inactive.
    #[inline]
    pub(super) fn failed_since(&self) -> Option<Instant> {
        match self.condition {
            Condition::PotentiallyFailed { since } | Condition::Inactive { since } => Some(since),
            Condition::Unconfirmed | Condition::Active => None,
        }
    }

    /// A packet was not answered. An address that is not confirmed does not fail (section 5.4).
    pub(super) fn on_unanswered(&mut self, config: &Config, now: Instant) -> Option<Failure> {
        self.errors = self.errors.saturating_add(1);
        let may_fail = matches!(self.condition, Condition::Active | Condition::PotentiallyFailed { .. });
        if may_fail && self.errors > config.path_max_retransmissions {
            self.condition = Condition::Inactive { since: now };
            return Some(Failure::Certain);
        }
        let suspect_after = config.potentially_failed_max_retransmissions;
        if self.is_active() && suspect_after.is_some_and(|most| self.errors > most) {
            self.condition = Condition::PotentiallyFailed { since: now };
            return Some(Failure::Suspected);
        }
        None
    }

    /// Data sent there was acknowledged, which proves that it works. Returns whether that makes it active again;
    /// otherwise the errors are forgotten.
    #[inline]
    pub(super) fn is_revived_by_data(&mut self, config: &Config) -> bool {
        self.errors = 0;
        match self.condition {
            Condition::Active | Condition::Unconfirmed => false,
            Condition::PotentiallyFailed { .. } => config.sack_ends_potentially_failed,
            Condition::Inactive { .. } => true,
        }
    }

    /// It is known to work.
    pub(super) fn activate(&mut self) {
        *self = Self::new(true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(potentially_failed: Option<u32>) -> Config {
        Config {
            path_max_retransmissions: 2,
            potentially_failed_max_retransmissions: potentially_failed,
            ..Config::rfc9260()
        }
    }

    fn failures(confirmed: bool, potentially_failed: Option<u32>) -> [Option<Failure>; 4] {
        let mut health = Health::new(confirmed);
        [0; 4].map(|_| health.on_unanswered(&config(potentially_failed), Instant::ZERO))
    }

    #[test]
    fn it_fails_after_more_errors_than_are_allowed_and_is_suspected_before() {
        assert_eq!(failures(true, None), [None, None, Some(Failure::Certain), None]);
        assert_eq!(failures(true, Some(0)), [Some(Failure::Suspected), None, Some(Failure::Certain), None]);
        assert_eq!(failures(false, Some(0)), [None; 4]);
    }

    #[test]
    fn an_acknowledgment_ends_suspicion_only_where_it_is_configured() {
        let mut health = Health::new(true);
        health.on_unanswered(&config(Some(0)), Instant::from_nanos(7));
        assert_eq!(health.failed_since(), Some(Instant::from_nanos(7)));
        assert!(health.is_revived_by_data(&Config { sack_ends_potentially_failed: true, ..config(Some(0)) }));
        assert!(!health.is_revived_by_data(&Config { sack_ends_potentially_failed: false, ..config(Some(0)) }));
        assert_eq!((health.reachability(), health.errors()), (Reachability::PotentiallyFailed, 0));
        health.activate();
        assert_eq!((health.is_active(), health.failed_since()), (true, None));
    }
}
