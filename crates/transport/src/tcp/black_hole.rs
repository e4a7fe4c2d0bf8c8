//! Black holes: routers that drop large packets and do not tell why, or whose reports are filtered (RFC 2923, section
//! 2.1; RFC 4821, section 7.7; Linux `tcp_mtu_probing`).
//!
//! Timeouts in a row have two likely reasons: nothing passes, or only large packets do not. Linux takes the second for
//! granted. Here the earliest segment is first sent again in small parts. If these are acknowledged, and the large segment
//! behind them times out twice in a row, the path MTU is lowered; otherwise it stays what it is. A path that was down
//! for a while thus has small packets afterwards only if both transmissions of that one segment are lost. Larger ones
//! are tried again later (`mtu_search.rs`).

use subflow_policy::congestion::Controller;
use subflow_quantity::Instant;

use super::Connection;
use crate::path_mtu;

/// Timeouts in a row after which the size of packets may be their reason (Linux `tcp_retries1`). With each further one
/// the parts are smaller.
const SUSPICIOUS: u32 = 3;

/// Small parts that were sent to find out whether large segments are lost for their size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    /// Where they end.
    until: u64,
    /// The size of packet that the largest of them has.
    mtu: u16,
}

impl Connection {
    /// Called when the retransmission timer expires, before the earliest segment is sent again.
    pub(super) fn look_for_black_hole(&mut self, now: Instant, cc: &mut Controller) {
        let Some(head) = self.sent.head().filter(|_| self.config.black_hole_detection) else { return };
        let (start, end) = (head.start, head.end);
        let is_longer = |connection: &Self, mtu| end - start > u64::from(connection.size.within(mtu));
        self.trial = self.trial.filter(|trial| start <= trial.until);
        if let Some(Trial { until, mtu }) = self.trial
            && start == until
            && is_longer(self, mtu)
            && self.rto.retries() >= 1
        {
            self.trial = None;
            self.lower_path_mtu(mtu, now, cc);
            return self.search_mtu_later(now);
        }
        let Some(attempt) = (self.rto.retries() + 1).checked_sub(SUSPICIOUS) else { return };
        let version_6 = self.ends.local.is_ipv6();
        let Some(mtu) = path_mtu::without_report(self.size.path_mtu(), version_6, attempt as usize) else { return };
        if is_longer(self, mtu) {
            self.forget_mtu_probe();
            self.sent.cut_head(self.size.within(mtu).into());
            let until = self.trial.map(|trial| trial.until).filter(|&until| until > start);
            self.trial = Some(Trial { until: until.unwrap_or(end), mtu });
        }
    }
}
