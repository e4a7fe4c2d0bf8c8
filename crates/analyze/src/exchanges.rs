//! What the ends of a connection send in turn: requests with their responses, and the pauses of the application.

/// Exchanges of a connection that are kept, at most: of one with more none are.
const MOST_OF_CONNECTION: usize = 2000;
/// Exchanges of all connections that are kept, at most.
pub(crate) const MOST: usize = 500_000;
/// An end whose data was acknowledged so long ago begins a new one, in nanoseconds.
const PAUSE: u64 = 300_000_000;

/// Data of end 0, and what end 1 answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SeenExchange {
    /// From the acknowledgment of what was sent before to the first data, in nanoseconds.
    pub(crate) pause: u64,
    /// From the last data of end 0 to the first of end 1, in nanoseconds.
    pub(crate) wait: Option<u64>,
    /// New data of each end.
    pub(crate) bytes: [u64; 2],
}

/// The exchanges of a connection of several, for its replay.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionExchanges {
    /// The number of the connection.
    pub(crate) number: usize,
    pub(crate) all: Vec<SeenExchange>,
    /// The part of each wait that is the way to the other end and back, in nanoseconds: 0 at the server.
    pub(crate) round_trip: u64,
}

/// The exchanges of a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exchanges {
    all: Vec<SeenExchange>,
    /// The end that sent data last, and when.
    last: Option<(usize, u64)>,
    /// There are too many.
    is_cut: bool,
}

impl Exchanges {
    /// The end `end` sends new data; data of both ends was acknowledged last at `acknowledged`. `left` is how many
    /// exchanges may still be kept of all connections.
    pub(crate) fn sent(&mut self, end: usize, bytes: u64, acknowledged: Option<u64>, time: u64, left: &mut usize) {
        let before = self.last.replace((end, time));
        if self.is_cut {
            return;
        }
        let idle = acknowledged.filter(|acknowledged| before.is_some_and(|(_, sent)| *acknowledged >= sent));
        let idle = idle.map_or(0, |acknowledged| time.saturating_sub(acknowledged));
        let begins = end == 0 && (before.is_none_or(|(before, _)| before == 1) || idle >= PAUSE);
        if begins || self.all.is_empty() {
            if *left == 0 || self.all.len() == MOST_OF_CONNECTION {
                *left += self.all.len();
                *self = Self { last: self.last, is_cut: true, ..Self::default() };
                return;
            }
            *left -= 1;
            self.all.push(SeenExchange { pause: idle, ..SeenExchange::default() });
        }
        if let Some(exchange) = self.all.last_mut() {
            exchange.bytes[end] += bytes;
            if end == 1 && exchange.wait.is_none() {
                exchange.wait = before.map(|(_, sent)| time.saturating_sub(sent));
            }
        }
    }

    pub(crate) fn all(&self) -> &[SeenExchange] {
        &self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_request_behind_a_response_and_data_behind_a_pause_begin_an_exchange() {
        let (mut exchanges, mut left) = (Exchanges::default(), MOST);
        exchanges.sent(0, 300, None, 0, &mut left);
        exchanges.sent(1, 1000, Some(20 * MS), 25 * MS, &mut left);
        exchanges.sent(1, 500, Some(20 * MS), 26 * MS, &mut left);
        exchanges.sent(0, 200, Some(60 * MS), 160 * MS, &mut left);
        exchanges.sent(0, 100, Some(60 * MS), 161 * MS, &mut left);
        exchanges.sent(0, 50, Some(200 * MS), 700 * MS, &mut left);
        let exchange = |pause, wait, bytes| SeenExchange { pause, wait, bytes };
        assert_eq!(
            exchanges.all(),
            [
                exchange(0, Some(25 * MS), [300, 1500]),
                exchange(100 * MS, None, [300, 0]),
                exchange(500 * MS, None, [50, 0])
            ]
        );
        assert_eq!(left, MOST - 3);
    }

    #[test]
    fn ends_that_send_at_the_same_time_have_no_exchanges_and_memory_is_bounded() {
        let (mut exchanges, mut left) = (Exchanges::default(), MOST);
        for number in 0..10_000 {
            exchanges.sent(number as usize % 2, 1000, None, number * MS, &mut left);
        }
        assert_eq!((exchanges.all(), left), (&[][..], MOST));
        let mut left = 1;
        let mut exchanges = [Exchanges::default(), Exchanges::default()];
        exchanges.each_mut().into_iter().for_each(|it| it.sent(0, 1, None, 0, &mut left));
        assert_eq!(exchanges.map(|it| it.all().len()), [1, 0]);
    }
}
