//! Which subflows of a connection are about to close, and which one has to stay.
//!
//! The kernel ends a connection that has had no subflow for `net.mptcp.close_timeout`, whereas the last subflow of a
//! lost address may outlive the time without it. So the last one stays until there is another. A subflow that was
//! closed is not another one, although the kernel reports its end only later.

use subflow_policy::path_manager::FourTuple;

/// The subflows of a connection that are not to stay.
#[derive(Debug, Default)]
pub(super) struct Closing {
    /// To be closed as soon as there is another one.
    doomed: Vec<FourTuple>,
    /// Closed; the kernel has not reported it yet.
    closed: Vec<FourTuple>,
}

/// What to do with a subflow that is to be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// It is to be closed now.
    Close,
    /// It is the last one, and is to be closed when there is another one.
    Keep,
    /// Nothing: that was decided before.
    Nothing,
}

impl Closing {
    /// `subflow` is to be closed, one of `subflows`.
    pub(super) fn decide(&mut self, subflow: FourTuple, subflows: &[FourTuple]) -> Decision {
        if self.concerns(subflow) {
            return Decision::Nothing;
        }
        if subflows.iter().any(|&other| other != subflow && !self.concerns(other)) {
            return Decision::Close;
        }
        self.doomed.push(subflow);
        Decision::Keep
    }

    /// Those of `subflows` that were not closed yet.
    pub(super) fn open<'a>(&self, subflows: &'a [FourTuple]) -> impl Iterator<Item = &'a FourTuple> {
        subflows.iter().filter(|subflow| !self.closed.contains(subflow))
    }

    fn concerns(&self, subflow: FourTuple) -> bool {
        self.doomed.contains(&subflow) || self.closed.contains(&subflow)
    }

    /// The kernel has closed `subflow`, or does not have it any more.
    pub(super) fn on_close(&mut self, subflow: FourTuple) {
        self.closed.push(subflow);
    }

    /// The kernel has reported the end of `subflow`.
    pub(super) fn forget(&mut self, subflow: FourTuple) {
        self.doomed.retain(|known| *known != subflow);
        self.closed.retain(|known| *known != subflow);
    }

    /// Takes those that were kept: there is another subflow now, for which each has to be decided upon again.
    pub(super) fn take_kept(&mut self) -> Vec<FourTuple> {
        core::mem::take(&mut self.doomed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subflow(port: u16) -> FourTuple {
        FourTuple { local: ([10, 0, 0, 1], port).into(), remote: ([10, 0, 0, 9], 80).into() }
    }

    /// Closes what may be closed.
    fn close(closing: &mut Closing, subflow: FourTuple, subflows: &[FourTuple]) -> Decision {
        let decision = closing.decide(subflow, subflows);
        if decision == Decision::Close {
            closing.on_close(subflow);
        }
        decision
    }

    #[test]
    fn of_several_subflows_that_are_closed_at_once_the_last_one_stays() {
        let mut closing = Closing::default();
        let subflows = [1, 2, 3].map(subflow);
        let decisions = subflows.map(|subflow| close(&mut closing, subflow, &subflows));
        assert_eq!(decisions, [Decision::Close, Decision::Close, Decision::Keep]);
        assert!(closing.open(&subflows).eq([&subflow(3)]), "whatever the kernel has not reported yet");
        let again = subflows.map(|subflow| close(&mut closing, subflow, &subflows));
        assert_eq!(again, [Decision::Nothing; 3]);
    }

    #[test]
    fn a_subflow_that_was_kept_closes_when_there_is_one_that_stays() {
        let mut closing = Closing::default();
        let mut subflows = vec![subflow(1)];
        assert_eq!(close(&mut closing, subflow(1), &subflows), Decision::Keep);
        // The second is not to stay, either.
        subflows.push(subflow(2));
        assert_eq!(close(&mut closing, subflow(2), &subflows), Decision::Keep);
        let kept = closing.take_kept();
        let decisions: Vec<Decision> = kept.into_iter().map(|kept| close(&mut closing, kept, &subflows)).collect();
        assert_eq!(decisions, [Decision::Close, Decision::Keep]);
        subflows.push(subflow(3));
        assert_eq!(closing.take_kept(), [subflow(2)]);
        assert_eq!(close(&mut closing, subflow(2), &subflows), Decision::Close);
    }

    #[test]
    fn a_subflow_with_the_ports_of_one_that_has_ended_counts() {
        let mut closing = Closing::default();
        let subflows = [1, 2].map(subflow);
        assert_eq!(close(&mut closing, subflow(1), &subflows), Decision::Close);
        closing.forget(subflow(1));
        assert_eq!(close(&mut closing, subflow(2), &subflows), Decision::Close);
    }
}
