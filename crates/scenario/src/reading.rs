//! How applications read: at a rate, in pieces, with pauses.

use subflow_quantity::{Duration, Rate};

/// How the application that receives a flow's data reads it. Data that it has not read fills the receive window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The rate that it does not exceed: after each read it waits as long as the bytes take at this rate. Without one it
    /// reads what arrives.
    pub rate: Option<Rate>,
    /// The most bytes that one read takes, above 0.
    pub buffer: u64,
    /// The times at which it does not read, in order.
    pub pauses: Vec<Pause>,
}

/// A time at which an application does not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// When it begins.
    pub begin: PauseBegin,
    /// How long it lasts.
    pub length: Duration,
}

/// When a pause begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseBegin {
    /// At this time from the start of the run.
    At(Duration),
    /// As soon as the application has read so many bytes.
    After(u64),
}

impl Reading {
    /// How many bytes the next read may take of `unread` ones, after `read` before: a pause may begin within them.
    pub fn most(&self, read: u64, unread: u64) -> u64 {
        let until_pause = self.pauses.iter().filter_map(|pause| match pause.begin {
            PauseBegin::After(bytes) => bytes.checked_sub(read).filter(|left| *left > 0),
            PauseBegin::At(_) => None,
        });
        until_pause.chain([self.buffer, unread]).min().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_takes_no_more_than_the_buffer_and_ends_where_a_pause_begins() {
        let after = |bytes| Pause { begin: PauseBegin::After(bytes), length: Duration::from_secs(1) };
        let at = Pause { begin: PauseBegin::At(Duration::from_secs(1)), length: Duration::from_secs(1) };
        let reading = Reading { rate: None, buffer: 1000, pauses: vec![at, after(2500), after(9000)] };
        assert_eq!([reading.most(0, 400), reading.most(0, 4000)], [400, 1000]);
        assert_eq!([reading.most(2000, 4000), reading.most(2500, 4000)], [500, 1000]);
        assert_eq!(reading.most(2000, 0), 0, "nothing has arrived");
        assert_eq!(reading.most(8999, 4000), 1, "one byte before the last pause");
    }
}
