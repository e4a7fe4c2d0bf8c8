//! Properties of a full mesh that hold for every sequence of events.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use proptest::collection::vec;
use proptest::prelude::*;

use subflow_quantity::{Duration, Instant};

use super::super::super::FourTuple;
use super::*;

const PER_PAIR: u8 = 2;

/// An event. The numbers select an address or an existing subflow.
#[derive(Clone, Debug)]
enum Input {
    Local { add: bool, address: u8, id: u8 },
    RemoteAdded { address: u8, id: u8, port: Option<u16> },
    RemoteRemoved { id: u8 },
    Established { client: bool, closed: bool },
    RequestSucceeds(usize),
    RequestFails(usize),
    RequestIsNotCarriedOut(usize),
    RoutesChange,
    SubflowDies(usize),
    PeerJoins { local: u8, remote: u8 },
}

fn input() -> impl Strategy<Value = Input> {
    let (few, port) = (0..5u8, prop_oneof![3 => Just(None), 1 => (80..82u16).prop_map(Some)]);
    prop_oneof![
        3 => (any::<bool>(), few.clone(), few.clone())
            .prop_map(|(add, address, id)| Input::Local { add, address, id }),
        3 => (few.clone(), few.clone(), port)
            .prop_map(|(address, id, port)| Input::RemoteAdded { address, id, port }),
        1 => few.clone().prop_map(|id| Input::RemoteRemoved { id }),
        1 => any::<(bool, bool)>().prop_map(|(client, closed)| Input::Established { client, closed }),
        3 => any::<usize>().prop_map(Input::RequestSucceeds),
        1 => any::<usize>().prop_map(Input::RequestFails),
        1 => any::<usize>().prop_map(Input::RequestIsNotCarriedOut),
        1 => Just(Input::RoutesChange),
        1 => any::<usize>().prop_map(Input::SubflowDies),
        1 => (few.clone(), few).prop_map(|(local, remote)| Input::PeerJoins { local, remote }),
    ]
}

/// A transport that executes every command.
#[derive(Default)]
struct Transport {
    requested: Vec<FourTuple>,
    open: Vec<FourTuple>,
    /// Subflows with a close command whose end is not yet reported.
    closing: Vec<FourTuple>,
    local: Vec<IpAddr>,
    remote: Vec<(u8, IpAddr)>,
    next_port: u16,
}

impl Transport {
    fn event(&mut self, input: &Input) -> Option<Event> {
        let (here, there) = (|n| IpAddr::from([10, 0, n, 1]), |n| IpAddr::from([10, 9, n, 1]));
        let ephemeral = 1000 + self.next_port;
        self.next_port += 1;
        Some(match *input {
            Input::Local { add, address, id } => {
                let address = Address { id, address: here(address), port: None };
                self.local.retain(|&known| known != address.address);
                if !add {
                    return Some(Event::LocalAddressRemoved(address));
                }
                self.local.push(address.address);
                Event::LocalAddressAdded(address)
            }
            Input::RemoteAdded { address, id, port } => {
                self.remote.push((id, there(address)));
                Event::RemoteAddressAdded(Address { id, address: there(address), port })
            }
            Input::RemoteRemoved { id } => {
                self.remote.retain(|&(known, _)| known != id);
                Event::RemoteAddressRemoved { id }
            }
            Input::Established { client, closed } => {
                let initial = FourTuple { local: (here(0), ephemeral).into(), remote: (there(0), 80).into() };
                self.local.push(here(0));
                self.remote.push((0, there(0)));
                self.open.push(initial);
                Event::Established { initial, client, initial_address_closed: closed }
            }
            Input::RequestSucceeds(n) => {
                let subflow = choose(&mut self.requested, n)?;
                self.open.push(subflow);
                Event::SubflowEstablished(subflow)
            }
            Input::RequestFails(n) => Event::SubflowClosed(choose(&mut self.requested, n)?),
            Input::RequestIsNotCarriedOut(n) => Event::NotOpened(choose(&mut self.requested, n)?),
            Input::RoutesChange => Event::RoutesChanged,
            Input::SubflowDies(n) if n % 2 == 0 => Event::SubflowClosed(choose(&mut self.closing, n)?),
            Input::SubflowDies(n) => Event::SubflowClosed(choose(&mut self.open, n)?),
            Input::PeerJoins { local, remote } => {
                let subflow = FourTuple { local: (here(local), 80).into(), remote: (there(remote), ephemeral).into() };
                self.open.push(subflow);
                Event::SubflowEstablished(subflow)
            }
        })
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Open { local, remote, port, .. } => {
                assert!(self.local.contains(&local.address), "{local:?} is gone");
                assert!(self.remote.contains(&(remote.id, remote.address)), "{remote:?} is gone");
                assert!(self.open.len() + self.requested.len() < MAX_SUBFLOWS, "too many subflows");
                self.requested.push(FourTuple {
                    local: SocketAddr::new(local.address, 1000 + self.next_port),
                    remote: SocketAddr::new(remote.address, port),
                });
                self.next_port += 1;
            }
            Command::Close(subflow) => {
                let index = self.open.iter().position(|&open| open == subflow).expect("closed once, while open");
                self.closing.push(self.open.remove(index));
            }
            Command::Announce(address) => assert!(self.local.contains(&address.address), "{address:?} is gone"),
            Command::Withdraw { .. } => {}
            Command::SetBackup { .. } => panic!("a full mesh sets no priorities"),
        }
    }

    fn check(&self) {
        let mut pairs = BTreeMap::<(IpAddr, SocketAddr), u8>::new();
        for subflow in self.open.iter().chain(&self.requested) {
            *pairs.entry((subflow.local.ip(), subflow.remote)).or_default() += 1;
        }
        assert!(pairs.values().all(|&n| n <= PER_PAIR), "{pairs:?}");
    }
}

fn choose(from: &mut Vec<FourTuple>, n: usize) -> Option<FourTuple> {
    (!from.is_empty()).then(|| from.remove(n % from.len()))
}

proptest! {
    #[test]
    fn no_pair_gets_too_many_subflows_and_no_lost_address_is_used(inputs in vec(input(), 0..120)) {
        let mut manager = FullMesh::new(NonZeroU8::new(PER_PAIR).unwrap());
        let mut transport = Transport::default();
        let mut established = false;
        let mut now = Instant::ZERO;
        for input in inputs {
            now += Duration::from_millis(700);
            if matches!(input, Input::Established { .. }) && std::mem::replace(&mut established, true) {
                continue;
            }
            let inputs = [None, Some(input)].into_iter().skip(usize::from(manager.wake_at() > now));
            for input in inputs {
                let event = input.map_or(Some(Event::Woken), |input| transport.event(&input));
                let Some(event) = event else { continue };
                let mut commands = Vec::new();
                manager.on_event(&event, now, &mut commands);
                commands.into_iter().for_each(|command| transport.obey(command));
                transport.check();
                prop_assert!(manager.wake_at() > now, "it would be woken again at once");
            }
        }
    }

    #[test]
    fn no_sequence_of_events_panics(events in vec(any_event(), 0..80)) {
        let mut manager = FullMesh::default();
        for (second, event) in (0..).zip(events) {
            manager.on_event(&event, Instant::ZERO + Duration::from_secs(second), &mut Vec::new());
        }
    }
}

fn any_event() -> impl Strategy<Value = Event> {
    let ip = || (0..3u8).prop_map(|n| IpAddr::from(Ipv4Addr::new(10, 0, n, 1)));
    let end = move || (ip(), 0..3u16).prop_map(SocketAddr::from);
    let tuple = move || (end(), end()).prop_map(|(local, remote)| FourTuple { local, remote });
    let address =
        move || (any::<u8>(), ip(), any::<Option<u16>>()).prop_map(|(id, address, port)| Address { id, address, port });
    prop_oneof![
        (tuple(), any::<bool>(), any::<bool>()).prop_map(|(initial, client, initial_address_closed)| {
            Event::Established { initial, client, initial_address_closed }
        }),
        address().prop_map(Event::LocalAddressAdded),
        address().prop_map(Event::LocalAddressRemoved),
        address().prop_map(Event::RemoteAddressAdded),
        any::<u8>().prop_map(|id| Event::RemoteAddressRemoved { id }),
        tuple().prop_map(Event::SubflowEstablished),
        tuple().prop_map(Event::SubflowClosed),
        tuple().prop_map(Event::NotOpened),
        tuple().prop_map(Event::PathRefused),
        Just(Event::RoutesChanged),
        Just(Event::Woken),
    ]
}
