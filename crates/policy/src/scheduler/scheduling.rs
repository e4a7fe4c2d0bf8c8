//! All schedulers as one type, with static dispatch. A new one is one file and its type in the list in `mod.rs`.

use super::*;
use crate::bottleneck::Correlations;
use crate::catalogue::{catalogue, dispatch};
use crate::custom::{CustomScheduler, FlowEnd};

schedulers! { catalogue!
    /// One of the schedulers, chosen by name. It is an enum so that a decision per packet needs no dynamic call.
    Scheduling
}

// Every method goes to every scheduler: one that overrides a default of the trait is asked.
impl Scheduler for Scheduling {
    fn next(&mut self, subflows: &[SubflowView], queue: &QueueView<'_>) -> Option<Assignment> {
        schedulers!(dispatch! self, scheduler => scheduler.next(subflows, queue))
    }

    fn queues_ahead(&self) -> bool {
        schedulers!(dispatch! self, scheduler => scheduler.queues_ahead())
    }

    fn repeats(&self) -> bool {
        schedulers!(dispatch! self, scheduler => scheduler.repeats())
    }

    fn goes_by_correlations(&self) -> bool {
        schedulers!(dispatch! self, scheduler => scheduler.goes_by_correlations())
    }

    fn on_correlations(&mut self, correlations: &Correlations) {
        schedulers!(dispatch! self, scheduler => scheduler.on_correlations(correlations))
    }

    fn on_replaced(&mut self, subflow: usize, last: &SubflowView) {
        schedulers!(dispatch! self, scheduler => scheduler.on_replaced(subflow, last))
    }

    fn begin(&mut self, end: FlowEnd) {
        schedulers!(dispatch! self, scheduler => scheduler.begin(end))
    }
}

/// `ll`.
impl Default for Scheduling {
    fn default() -> Self {
        Self::LowestLatency(LowestLatency)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Catalogue;

    #[test]
    fn what_a_scheduler_overrides_is_asked_of_it() {
        let those = |asked: fn(&Scheduling) -> bool| -> Vec<_> {
            let all = Scheduling::prototypes().into_iter();
            all.filter(asked).map(|scheduler| scheduler.name().to_owned()).collect()
        };
        assert_eq!(those(Scheduling::queues_ahead), ["linux-default"]);
        // `red-module` always repeats, `red-diversity` only while it places copies: a new one does not.
        assert_eq!(those(Scheduling::repeats), ["redundant", "red-module"]);
        assert_eq!(those(Scheduling::goes_by_correlations), ["red-diversity"]);
    }
}
