//! An application that reads at its own pace. What it has not read fills the receive window of its endpoint, down to
//! zero; the peer then probes it.

use subflow_network::{Network, TimerId};
use subflow_quantity::{Instant, Pacing};
use subflow_scenario::{Pause, PauseBegin, Reading};
use subflow_transport::{Endpoint, EndpointId};

use super::{Application, Arrival};
use crate::event_log::Act;
use crate::simulate::nodes::Nodes;

/// The pace of a reader, whoever it reads from.
#[derive(Debug)]
pub(crate) struct Pace {
    /// How it reads, with the pauses that have not begun yet.
    reading: Reading,
    pacing: Option<Pacing>,
    /// No read is before this.
    next_at: Instant,
}

/// What a reader may do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It may read so many bytes, which are 0 if there are none to read.
    Reads(u64),
    /// It waits until this time.
    Waits(Instant),
    /// It begins a pause until this time.
    Pauses(Instant),
}

impl Pace {
    /// Before the first read.
    pub(crate) fn new(reading: Reading) -> Self {
        let pacing = reading.rate.map(Pacing::new);
        Self { reading, pacing, next_at: Instant::ZERO }
    }

    /// What a reader that has read `read` bytes may do with `unread` further ones.
    pub(crate) fn turn(&mut self, read: u64, unread: u64, now: Instant) -> Turn {
        if self.begin_pause(read, now) {
            return Turn::Pauses(self.next_at);
        }
        if now < self.next_at { Turn::Waits(self.next_at) } else { Turn::Reads(self.reading.most(read, unread)) }
    }

    /// It has read so many bytes.
    pub(crate) fn on_read(&mut self, bytes: u64, now: Instant) {
        if let Some(pacing) = &mut self.pacing {
            self.next_at = now + pacing.time_of(bytes);
        }
    }

    /// Begins the pauses that are due. Returns whether one did that lasts beyond `now`.
    fn begin_pause(&mut self, read: u64, now: Instant) -> bool {
        let before = self.next_at;
        let mut begins = false;
        self.reading.pauses.retain(|&Pause { begin, length }| {
            let until = match begin {
                PauseBegin::At(at) if Instant::ZERO + at <= now => Instant::ZERO + at.saturating_add(length),
                PauseBegin::After(bytes) if bytes <= read => now.saturating_add(length),
                PauseBegin::At(_) | PauseBegin::After(_) => return true,
            };
            begins |= until > now;
            self.next_at = self.next_at.max(until);
            false
        });
        begins && self.next_at > before
    }
}

/// The reader of a flow's data at an endpoint of ours.
pub(crate) struct Reader {
    pace: Pace,
    timer: TimerId,
    /// The number of bytes read that the application waits for.
    goal: Option<u64>,
}

/// How a reader goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// It has read what the application waits for.
    Reached,
    /// It waits for its pace.
    Waits(Instant),
    /// It begins a pause until this time.
    Pauses(Instant),
    /// It waits for data; the endpoint reports the next byte.
    Idle,
}

impl Reader {
    /// A reader that has read nothing; `timer` wakes it up.
    pub(crate) fn new(reading: Reading, timer: TimerId) -> Self {
        Self { pace: Pace::new(reading), timer, goal: None }
    }

    /// Reads from `socket` as far as the pace permits. To be called again after [`Step::Reached`] at once, else at the time
    /// of the step, or when the endpoint reports data.
    fn step(&mut self, socket: &mut Endpoint, now: Instant) -> Step {
        loop {
            let read = socket.bytes_read();
            if self.goal.is_some_and(|goal| goal <= read) {
                self.goal = None;
                return Step::Reached;
            }
            match self.pace.turn(read, socket.bytes_received() - read, now) {
                Turn::Waits(until) => return Step::Waits(until),
                Turn::Pauses(until) => return Step::Pauses(until),
                Turn::Reads(0) => {
                    socket.set_receive_mark(read + 1);
                    return Step::Idle;
                }
                Turn::Reads(bytes) => {
                    socket.set_bytes_read(read + bytes, now);
                    self.pace.on_read(bytes, now);
                }
            }
        }
    }
}

impl Application {
    /// Whether the reader, if there is one, reads at the connecting end, or else at the other one.
    pub(super) fn reads(&self, connecting: bool) -> bool {
        self.reader.is_some() && connecting == self.flow.is_answered()
    }

    /// From now on the application waits until `total` bytes have arrived at an end, and were read there.
    pub(super) fn await_bytes(
        &mut self,
        nodes: &mut Nodes,
        (node, endpoint): (usize, EndpointId),
        connecting: bool,
        total: u64,
    ) {
        let reads = self.reads(connecting);
        match &mut self.reader {
            Some(reader) if reads => reader.goal = Some(total),
            _ => nodes.transport_mut(node).endpoint_mut(endpoint).set_receive_mark(total),
        }
    }

    /// Reads what the pace permits, and acts on it.
    pub(super) fn read(&mut self, nodes: &mut Nodes, network: &mut Network, at: Arrival) {
        let now = network.now();
        while let Some(reader) = &mut self.reader {
            let socket = nodes.transport_mut(at.node).endpoint_mut(at.endpoint);
            let (step, timer) = (reader.step(socket, now), reader.timer);
            match step {
                Step::Reached => self.on_received(nodes, network, at),
                Step::Idle => return network.set_timer(timer, None),
                Step::Waits(until) => return network.set_timer(timer, Some(until)),
                Step::Pauses(until) => {
                    nodes.record_act(now, (at.node, at.endpoint), || Act::ReadingPaused { until });
                    return network.set_timer(timer, Some(until));
                }
            }
        }
    }

    /// Begins to read at the application's pace.
    pub(super) fn begin_reading(&mut self, nodes: &mut Nodes, network: &mut Network, at: Arrival) {
        nodes.transport_mut(at.node).endpoint_mut(at.endpoint).set_bytes_read(0, network.now());
        self.read(nodes, network, at);
    }

    /// Handles the reader's timer. Returns the endpoint that has to be drained.
    pub(crate) fn on_read_timer(&mut self, nodes: &mut Nodes, network: &mut Network) -> Option<(usize, EndpointId)> {
        let connecting = self.flow.is_answered();
        let (node, endpoint) = match connecting {
            true => (self.flow.from.host, self.from?),
            false => (self.flow.to.host, self.to?),
        };
        self.read(nodes, network, Arrival { node, endpoint, connecting });
        Some((node, endpoint))
    }
}

#[cfg(test)]
mod tests {
    use subflow_network::TopologyBuilder;
    use subflow_policy::congestion::Algorithm;
    use subflow_quantity::{Duration, Rate};

    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn reader(reading: Reading) -> (Reader, Endpoint) {
        let mut network = TopologyBuilder::new().build(1).expect("a network of nothing");
        let end = |port| std::net::SocketAddr::from(([10, 0, 0, 1], port));
        let mut host = subflow_transport::Host::new(vec![end(1).ip()], subflow_network::stream(1, "reader"));
        let congestion = Algorithm::from_name("reno").expect("a congestion control");
        let options = subflow_transport::tcp::TcpOptions { config: Default::default(), congestion };
        let listener = subflow_transport::Listener::Tcp(options);
        let endpoint = host.connect(&listener, end(1), end(2), Instant::ZERO).expect("a connection");
        (Reader::new(reading, network.new_timer()), host.endpoint(endpoint).clone())
    }

    #[test]
    fn without_data_it_waits_for_the_next_byte() {
        let (mut reader, mut socket) =
            reader(Reading { rate: Some(Rate::from_mbit(8)), buffer: 1000, pauses: Vec::new() });
        assert_eq!(reader.step(&mut socket, at(5)), Step::Idle);
        reader.goal = Some(0);
        assert_eq!(reader.step(&mut socket, at(5)), Step::Reached, "nothing has been read already");
        assert_eq!(reader.step(&mut socket, at(5)), Step::Idle);
    }

    #[test]
    fn pauses_begin_at_their_time_or_amount_and_do_not_come_back() {
        let pause = |begin| Pause { begin, length: Duration::from_millis(40) };
        let pauses = vec![
            pause(PauseBegin::After(0)),
            pause(PauseBegin::At(Duration::from_millis(100))),
            pause(PauseBegin::At(Duration::from_millis(500))),
        ];
        let (mut reader, mut socket) = reader(Reading { rate: None, buffer: 1000, pauses });
        assert_eq!(reader.step(&mut socket, at(20)), Step::Pauses(at(60)));
        assert_eq!(reader.step(&mut socket, at(30)), Step::Waits(at(60)));
        assert_eq!(reader.step(&mut socket, at(60)), Step::Idle);
        assert_eq!(reader.step(&mut socket, at(110)), Step::Pauses(at(140)));
        assert_eq!(reader.step(&mut socket, at(140)), Step::Idle);
        assert_eq!(reader.step(&mut socket, at(600)), Step::Idle, "that pause is over");
    }
}
