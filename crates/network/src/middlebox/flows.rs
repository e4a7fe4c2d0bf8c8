//! What a middlebox remembers of the flows that pass it.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use subflow_policy::routing::FlowKey;

/// A value for each flow, with bounded memory as in a device: where there is no room for a further flow, the one that
/// came first is forgotten.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Flows<T> {
    known: FxHashMap<FlowKey, T>,
    /// In the order in which they came.
    order: VecDeque<FlowKey>,
}

impl<T: Default> Flows<T> {
    /// The flows that are known at a time.
    const MOST: usize = 1 << 16;

    /// What is known of a flow; the default if it is new.
    pub(super) fn of(&mut self, flow: FlowKey) -> &mut T {
        if !self.known.contains_key(&flow) {
            if self.order.len() == Self::MOST
                && let Some(oldest) = self.order.pop_front()
            {
                self.known.remove(&oldest);
            }
            self.order.push_back(flow);
        }
        self.known.entry(flow).or_default()
    }

    /// The same, unless it is new.
    pub(super) fn get(&self, flow: FlowKey) -> Option<&T> {
        self.known.get(&flow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flow_that_came_first_makes_room_for_a_further_one() {
        let flow = |number: usize| {
            let source = ([10, 0, (number >> 16) as u8, 1], number as u16).into();
            FlowKey { source, destination: ([10, 0, 0, 2], 80).into(), protocol: 6 }
        };
        let mut flows = Flows::<usize>::default();
        (0..Flows::<usize>::MOST).for_each(|number| *flows.of(flow(number)) = number);
        *flows.of(flow(0)) += 1;
        *flows.of(flow(Flows::<usize>::MOST)) = 7;
        assert_eq!(
            [0, 1, Flows::<usize>::MOST].map(|number| flows.get(flow(number)).copied()),
            [None, Some(1), Some(7)]
        );
        assert_eq!(flows.known.len(), flows.order.len());
    }
}
