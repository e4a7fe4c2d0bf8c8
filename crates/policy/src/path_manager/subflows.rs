//! The subflows of a connection that a path manager knows, from the command to open one to the event that it closed.

use std::net::{IpAddr, SocketAddr};

use super::{Event, FourTuple};

/// The part of a four-tuple that a path manager chooses: a local address and a remote address with its port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pair {
    pub(super) local: IpAddr,
    pub(super) remote: SocketAddr,
}

impl From<FourTuple> for Pair {
    fn from(subflow: FourTuple) -> Self {
        Self { local: subflow.local.ip(), remote: subflow.remote }
    }
}

/// What an event says of a subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Nothing that needs an action.
    Nothing,
    /// It is established, and answers a request where `requested`.
    Established { pair: Pair, requested: bool },
    /// It closed without a command, or could not be opened.
    Failed(Pair),
}

/// Subflows that are being opened, open, or being closed.
#[derive(Clone, Debug, Default)]
pub(super) struct Subflows {
    /// Requested. The transport has not yet reported the local port.
    opening: Vec<Pair>,
    open: Vec<FourTuple>,
    /// Being closed. They are kept so that the report of their end is not attributed to a newer subflow on the same
    /// pair.
    closing: Vec<FourTuple>,
}

impl Subflows {
    /// The number of subflows that count towards the limit: open or being opened.
    pub(super) fn len(&self) -> usize {
        self.opening.len() + self.open.len()
    }

    /// The number of them on this pair.
    pub(super) fn on(&self, pair: Pair) -> usize {
        let opening = self.opening.iter().filter(|&&p| p == pair).count();
        opening + self.open.iter().filter(|&&subflow| Pair::from(subflow) == pair).count()
    }

    /// The pairs of those that are open.
    pub(super) fn open(&self) -> impl Iterator<Item = Pair> {
        self.open.iter().map(|&subflow| subflow.into())
    }

    /// Whether one of them uses this local address.
    pub(super) fn use_local(&self, local: IpAddr) -> bool {
        let opening = self.opening.iter().any(|pair| pair.local == local);
        opening || self.open.iter().any(|subflow| subflow.local.ip() == local)
    }

    /// Records a command to open a subflow.
    pub(super) fn request(&mut self, pair: Pair) {
        self.opening.push(pair);
    }

    /// Processes events about subflows and ignores others.
    pub(super) fn on_event(&mut self, event: &Event) -> Change {
        match *event {
            Event::Established { initial: subflow, .. } | Event::SubflowEstablished(subflow) => {
                if self.open.contains(&subflow) {
                    return Change::Nothing;
                }
                self.open.push(subflow);
                let requested = take(&mut self.opening, |&pair| pair == subflow.into());
                Change::Established { pair: subflow.into(), requested }
            }
            Event::SubflowClosed(subflow) => {
                let by_command = take(&mut self.closing, |&s| s == subflow);
                let failed = !by_command
                    && (take(&mut self.open, |&s| s == subflow)
                        || take(&mut self.opening, |&pair| pair == subflow.into()));
                if failed { Change::Failed(subflow.into()) } else { Change::Nothing }
            }
            Event::NotOpened(subflow) => {
                take(&mut self.opening, |&pair| pair == subflow.into());
                Change::Nothing
            }
            _ => Change::Nothing,
        }
    }

    /// Moves the open subflows for which `doomed` holds to the closing ones and returns them. Subflows that are still
    /// being opened have no four-tuple yet; call it again when they are open.
    pub(super) fn close_where(&mut self, mut doomed: impl FnMut(FourTuple) -> bool) -> impl Iterator<Item = FourTuple> {
        let from = self.closing.len();
        let closing = &mut self.closing;
        self.open.retain(|&subflow| {
            let keep = !doomed(subflow);
            if !keep {
                closing.push(subflow);
            }
            keep
        });
        self.closing[from..].iter().copied()
    }
}

/// Removes the first item for which `wanted` holds. Returns whether there was one.
fn take<T>(items: &mut Vec<T>, wanted: impl FnMut(&T) -> bool) -> bool {
    items.iter().position(wanted).map(|index| items.remove(index)).is_some()
}

#[cfg(test)]
mod tests {
    use super::super::test_events::tuple;
    use super::*;

    #[test]
    fn a_late_report_about_an_old_subflow_does_not_end_the_new_one() {
        let (old, new) = (tuple("10.0.0.1:1", "10.9.0.1:80"), tuple("10.0.0.1:2", "10.9.0.1:80"));
        let mut subflows = Subflows::default();
        subflows.on_event(&Event::SubflowEstablished(old));
        assert_eq!(subflows.close_where(|_| true).collect::<Vec<_>>(), [old]);
        subflows.request(old.into());
        subflows.on_event(&Event::SubflowClosed(old));
        assert_eq!(subflows.on(old.into()), 1);
        subflows.on_event(&Event::SubflowEstablished(new));
        assert_eq!(subflows.on(old.into()), 1);
        subflows.on_event(&Event::SubflowClosed(new));
        assert_eq!(subflows.len(), 0);
    }

    #[test]
    fn a_failed_opening_ends_the_request() {
        let failed = tuple("10.0.0.1:1", "10.9.0.1:80");
        let mut subflows = Subflows::default();
        subflows.request(failed.into());
        subflows.on_event(&Event::SubflowClosed(failed));
        assert_eq!(subflows.len(), 0);
    }
}
