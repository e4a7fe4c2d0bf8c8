//! Proportional rate reduction with the slow-start reduction bound (RFC 6937; Linux `tcp_cwnd_reduction`).

/// Variables of RFC 6937, in the path's unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prr {
    /// Window when recovery began (RecoverFS).
    prior_cwnd: u32,
    /// Amount delivered since (prr_delivered).
    delivered: u32,
    /// Amount sent since (prr_out).
    sent: u32,
}

impl Prr {
    /// Recovery begins with a window of `cwnd`.
    pub(super) fn begin(cwnd: u32) -> Self {
        Self { prior_cwnd: cwnd.max(1), delivered: 0, sent: 0 }
    }

    /// `amount` was sent during recovery.
    #[inline]
    pub(super) fn on_sent(&mut self, amount: u32) {
        self.sent += amount;
    }

    /// RFC 6937, section 3: the amount that may be sent now that `newly` was delivered, `in_flight` is in flight and the
    /// target is `ssthresh`. `progress`: the acknowledgment advanced SND.UNA and revealed no further loss.
    pub(super) fn quota(&mut self, newly: u32, in_flight: u32, ssthresh: u32, progress: bool) -> u32 {
        self.delivered += newly;
        let room = i64::from(ssthresh) - i64::from(in_flight);
        let (delivered, sent) = (i64::from(self.delivered), i64::from(self.sent));
        let quota = if room < 0 {
            let scaled = u64::from(ssthresh) * u64::from(self.delivered) + u64::from(self.prior_cwnd) - 1;
            (scaled / u64::from(self.prior_cwnd)) as i64 - sent
        } else {
            let conserved = (delivered - sent).max(i64::from(newly));
            room.min(conserved + i64::from(progress))
        };
        // The first retransmission is always sent.
        quota.max(i64::from(self.sent == 0)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6937, section 4: a window of 20, one loss, threshold 10: one packet is sent for every two delivered.
    #[test]
    fn while_the_pipe_is_above_the_threshold_half_of_what_is_delivered_leaves() {
        let mut prr = Prr::begin(20);
        let mut in_flight = 18;
        let mut left = 0;
        for _ in 0..16 {
            in_flight -= 1;
            let quota = prr.quota(1, in_flight, 10, false);
            (0..quota).for_each(|_| prr.on_sent(1));
            in_flight += quota;
            left += quota;
        }
        assert_eq!((left, in_flight), (8, 10));
    }

    #[test]
    fn below_the_threshold_packets_are_conserved_and_progress_adds_one() {
        let mut prr = Prr { prior_cwnd: 20, delivered: 3, sent: 3 };
        assert_eq!(prr.quota(1, 4, 10, false), 1);
        assert_eq!(prr.quota(1, 4, 10, true), 3);
    }
}
