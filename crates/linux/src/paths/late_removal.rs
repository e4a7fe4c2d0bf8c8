//! Subflows that a REMOVE_ADDR closes although they were opened after it.
//!
//! The kernel reports a REMOVE_ADDR before it closes the subflows of the identifier, which a worker does later. An
//! address that returns meanwhile has another identifier, except the one to which the connection was established: for
//! that, the peer's kernel answers a join with identifier 0 for as long as the connection lasts. The worker then closes
//! the new subflows with the old ones.

use std::net::IpAddr;

use subflow_policy::path_manager::{Command, FourTuple};

/// The commands that opened subflows to the peer's initial address after that was withdrawn. Each is repeated once if
/// its subflow closes without a command and without being refused.
#[derive(Debug)]
pub(super) struct LateRemoval {
    initial_remote: IpAddr,
    withdrawn: bool,
    /// Subflows that close for another reason, until they do: those of the address at the time that it was withdrawn,
    /// and those that were closed by command or refused.
    expected: Vec<FourTuple>,
    repeatable: Vec<Command>,
}

impl LateRemoval {
    /// For a connection that was established to `initial_remote`.
    pub(super) fn new(initial_remote: IpAddr) -> Self {
        Self { initial_remote, withdrawn: false, expected: Vec::new(), repeatable: Vec::new() }
    }

    /// The peer has withdrawn the address with this identifier; `subflows` are those of the connection.
    pub(super) fn on_withdrawn(&mut self, id: u8, subflows: &[FourTuple]) {
        if id == 0 {
            self.withdrawn = true;
            let old = subflows.iter().copied().filter(|old| old.remote.ip() == self.initial_remote);
            self.expected = old.collect();
            self.repeatable.clear();
        }
    }

    /// The kernel has taken this command.
    pub(super) fn on_command(&mut self, command: &Command) {
        match command {
            Command::Open { remote, .. } if self.withdrawn && remote.address == self.initial_remote => {
                self.repeatable.push(command.clone());
            }
            Command::Close(subflow) => self.forget(*subflow),
            _ => {}
        }
    }

    /// `subflow` was refused or is closed by command: it is not opened again. Others between the same addresses are.
    pub(super) fn forget(&mut self, subflow: FourTuple) {
        if !self.expected.contains(&subflow) && self.take_opened(subflow).is_some() {
            self.expected.push(subflow);
        }
    }

    /// The command that was repeated when `subflow` closed is not repeated again: the new one may close for other reasons.
    pub(super) fn forget_repeated(&mut self, subflow: FourTuple) {
        self.take_opened(subflow);
    }

    /// Takes the command to repeat now that `subflow` has closed, if there is one.
    pub(super) fn take(&mut self, subflow: FourTuple) -> Option<Command> {
        if let Some(place) = self.expected.iter().position(|expected| *expected == subflow) {
            self.expected.swap_remove(place);
            return None;
        }
        self.take_opened(subflow)
    }

    /// Takes one of the commands that may have opened `subflow`: as many stay as there are other subflows.
    fn take_opened(&mut self, subflow: FourTuple) -> Option<Command> {
        let place = self.repeatable.iter().position(|command| opened(command, subflow))?;
        Some(self.repeatable.remove(place))
    }
}

/// Whether `command` may have opened `subflow`, whose local port the kernel chose.
fn opened(command: &Command, subflow: FourTuple) -> bool {
    let Command::Open { local, remote, port, .. } = command else { return false };
    (local.address, remote.address, *port) == (subflow.local.ip(), subflow.remote.ip(), subflow.remote.port())
}

#[cfg(test)]
mod tests {
    use subflow_policy::path_manager::Address;

    use super::*;

    fn open(local: u8, remote: u8) -> Command {
        let address = |last| Address { id: last, address: [10, 0, 0, last].into(), port: None };
        Command::Open { local: address(local), remote: address(remote), port: 80, backup: false }
    }

    fn subflow(local: u8, remote: u8) -> FourTuple {
        FourTuple { local: ([10, 0, 0, local], 5001).into(), remote: ([10, 0, 0, remote], 80).into() }
    }

    /// Subflows from 10.0.0.`local` to the address that the connection began with and that was withdrawn meanwhile.
    fn withdrawn(before: &[FourTuple]) -> LateRemoval {
        let mut late = LateRemoval::new([10, 0, 0, 9].into());
        late.on_command(&open(7, 9));
        assert_eq!(late.take(subflow(7, 9)), None, "the address was there all the time");
        late.on_withdrawn(3, before);
        late.on_command(&open(7, 9));
        assert_eq!(late.take(subflow(7, 9)), None, "another address was withdrawn");
        late.on_withdrawn(0, before);
        late
    }

    #[test]
    fn a_subflow_to_the_initial_address_is_opened_again_once_after_that_was_withdrawn() {
        let mut late = withdrawn(&[]);
        late.on_command(&open(1, 8));
        late.on_command(&open(1, 9));
        assert_eq!([late.take(subflow(1, 8)), late.take(subflow(2, 9))], [None, None]);
        assert_eq!(late.take(subflow(1, 9)), Some(open(1, 9)));
        assert_eq!(late.take(subflow(1, 9)), None, "once");
    }

    #[test]
    fn a_subflow_that_is_closed_by_command_or_refused_or_withdrawn_again_stays_closed() {
        let mut late = withdrawn(&[]);
        late.on_command(&open(1, 9));
        late.on_command(&Command::Close(subflow(1, 9)));
        assert_eq!(late.take(subflow(1, 9)), None);
        late.on_command(&open(1, 9));
        late.forget(subflow(1, 9));
        assert_eq!(late.take(subflow(1, 9)), None);
        late.on_command(&open(1, 9));
        late.on_withdrawn(0, &[subflow(1, 9)]);
        assert_eq!(late.take(subflow(1, 9)), None);
    }

    #[test]
    fn of_several_subflows_between_two_addresses_only_the_one_that_is_refused_stays_closed() {
        let mut late = withdrawn(&[]);
        let second = FourTuple { local: ([10, 0, 0, 1], 5002).into(), ..subflow(1, 9) };
        let third = FourTuple { local: ([10, 0, 0, 1], 5003).into(), ..subflow(1, 9) };
        (0..3).for_each(|_| late.on_command(&open(1, 9)));
        late.forget(subflow(1, 9));
        late.on_command(&Command::Close(second));
        assert_eq!([subflow(1, 9), second].map(|closed| late.take(closed)), [None, None]);
        assert_eq!(late.take(third), Some(open(1, 9)));
        assert_eq!(late.take(third), None, "once");
    }

    #[test]
    fn the_end_of_an_old_subflow_is_not_that_of_the_new_one() {
        let old = FourTuple { local: ([10, 0, 0, 1], 4000).into(), ..subflow(1, 9) };
        let mut late = withdrawn(&[old, subflow(1, 8)]);
        late.on_command(&open(1, 9));
        late.on_command(&Command::Close(old));
        assert_eq!(late.take(old), None);
        assert_eq!(late.take(subflow(1, 9)), Some(open(1, 9)));
    }
}
