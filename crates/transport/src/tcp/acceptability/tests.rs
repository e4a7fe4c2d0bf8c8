//! The acceptability test agrees with the RFCs, and an unacceptable segment changes nothing.

use std::sync::Arc;

use proptest::prelude::*;
use subflow_policy::congestion::{Algorithm, Controller, Rules};
use subflow_quantity::Duration;
use subflow_wire::tcp::Timestamps;
use subflow_wire::{Ecn, IpHeader};

use super::*;
use crate::tcp::{Config, Ends};

/// Two connected endpoints, their controllers, and the segments in flight to each.
struct Two {
    ends: [Connection; 2],
    controllers: [Controller; 2],
    under_way: [Vec<TcpSegment>; 2],
    now: Instant,
}

/// One event at an endpoint.
#[derive(Clone, Copy, Debug)]
enum Step {
    Write(usize, u64),
    Finish(usize),
    Deliver(usize, usize),
    Lose(usize),
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let side = || 0usize..2;
    prop_oneof![
        3 => (side(), 1u64..6000).prop_map(|(side, bytes)| Step::Write(side, bytes)),
        1 => side().prop_map(Step::Finish),
        8 => (side(), 0usize..4).prop_map(|(side, index)| Step::Deliver(side, index)),
        1 => side().prop_map(Step::Lose),
        2 => (0u64..300).prop_map(Step::Wait),
    ]
}

impl Two {
    fn new(initial: [u32; 2]) -> Self {
        let ends = Ends { local: ([10, 0, 0, 1], 1).into(), remote: ([10, 0, 0, 2], 2).into() };
        let config = Arc::new(Config::default());
        let now = Instant::from_nanos(1_000_000_000);
        let mut controllers =
            [0, 1].map(|_| Controller::new(Algorithm::from_name("reno").expect("it is one"), Rules::default()));
        controllers.iter_mut().for_each(|controller| _ = controller.add_path(1, 10));
        let mut client = Connection::connect(config.clone(), ends, 0, initial[0], now);
        let mut syn = TcpSegment::default();
        client.poll_transmit(now, &mut syn, &mut controllers[0]);
        let server = Connection::accept(config, ends, 0, initial[1], &syn, now);
        let mut two = Self { ends: [client, server], controllers, under_way: [Vec::new(), Vec::new()], now };
        two.drain();
        two.take(Step::Deliver(0, 0));
        two.take(Step::Deliver(1, 0));
        two
    }

    fn drain(&mut self) {
        for side in 0..2 {
            let mut segment = TcpSegment::default();
            loop {
                let (may_transmit, before) = (self.ends[side].may_transmit(), segment.clone());
                let mut ended = (self.ends[side].clone(), self.controllers[side].clone());
                let ends = ended.0.ends_transmission(self.now, &mut ended.1);
                let sent = self.ends[side].poll_transmit(self.now, &mut segment, &mut self.controllers[side]);
                assert!(sent.is_none() || may_transmit, "it was said to have nothing to send");
                if ends {
                    assert!(sent.is_none(), "its transmission was said to end");
                    let polled = (&self.ends[side], &self.controllers[side]);
                    assert_eq!(format!("{polled:?}"), format!("{:?}", (&ended.0, &ended.1)));
                }
                if sent.is_none() {
                    assert_eq!(segment, before);
                    break;
                }
                self.under_way[1 - side].push(segment.clone());
            }
        }
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Write(side, bytes) if self.ends[side].state().may_send() && !self.ends[side].is_finishing() => {
                let start = self.ends[side].push_offset();
                self.ends[side].push_data(start..start + bytes);
            }
            Step::Write(..) => {}
            Step::Finish(side) => self.ends[side].finish(),
            Step::Deliver(side, index) if index < self.under_way[side].len() => {
                let segment = self.under_way[side].remove(index);
                let ip = self.ends[1 - side].ip_header();
                self.ends[side].on_segment(&ip, &segment, None, self.now, &mut self.controllers[side]);
            }
            Step::Deliver(..) => {}
            Step::Lose(side) => self.under_way[side].clear(),
            Step::Wait(ms) => {
                self.now += Duration::from_millis(ms);
                for side in 0..2 {
                    self.ends[side].on_timeout(self.now, &mut self.controllers[side]);
                }
            }
        }
        self.drain();
    }
}

/// A segment, described by its distances from RCV.NXT, SND.UNA and TS.Recent.
#[derive(Clone, Copy, Debug)]
struct Arriving {
    sequence: i32,
    acknowledgment: i32,
    flags: u8,
    length: u32,
    timestamp: Option<i32>,
}

fn arriving() -> impl Strategy<Value = Arriving> {
    let distance = || prop_oneof![Just(0), -2i32..3, -3000i32..3000, -200_000i32..200_000, any::<i32>()];
    let flags = prop_oneof![3 => Just(TcpFlags::ACK.0), 1 => any::<u8>().prop_map(|flags| flags & 0x1f)];
    let timestamp = proptest::option::of(prop_oneof![Just(0), -1000i32..1000]);
    (distance(), distance(), flags, prop_oneof![Just(0), 1u32..3000], timestamp).prop_map(
        |(sequence, acknowledgment, flags, length, timestamp)| Arriving {
            sequence,
            acknowledgment,
            flags,
            length,
            timestamp,
        },
    )
}

impl Arriving {
    fn at(self, end: &Connection) -> TcpSegment {
        let receive = end.receive.acknowledgment_number();
        let send = end.send.number_of(end.send.una());
        let mut segment = TcpSegment {
            sequence: receive.wrapping_add_signed(self.sequence),
            acknowledgment: send.wrapping_add_signed(self.acknowledgment),
            flags: TcpFlags(self.flags),
            window: 1000,
            ..TcpSegment::default()
        };
        segment.payload.length = self.length;
        let recent = end.receive.timestamps().to_echo();
        let value = |by| Timestamps { value: recent.wrapping_add_signed(by), echo: 0 };
        segment.options.timestamps = self.timestamp.map(value);
        segment
    }

    /// RFC 9293, section 3.10.7.4, and RFC 5961 in terms of distances: whether `end` may process the segment.
    fn may_count(self, end: &Connection) -> bool {
        let (flags, behind) = (TcpFlags(self.flags), i64::from(self.sequence));
        let unacknowledged = (end.receive.next() - end.receive.acknowledged()) as i64;
        let ahead = end.receive.left() as i64;
        let last = behind + i64::from(self.length) + i64::from(flags.contains(TcpFlags::FIN));
        // No sequence number lies before the SYN.
        let in_window = last >= -unacknowledged && behind <= ahead && behind >= -(end.receive.next() as i64);
        let oldest = -(end.send.max_window().min(end.send.una()) as i64);
        let outstanding = (end.send.next() - end.send.una()) as i64;
        let known = (oldest..=outstanding).contains(&i64::from(self.acknowledgment));
        let stale = self.timestamp.is_none_or(|by| by < 0);
        match (flags.contains(TcpFlags::RST), flags.contains(TcpFlags::SYN)) {
            (true, _) => behind == 0 && end.state() != State::TimeWait,
            (_, true) => false,
            _ => in_window && !stale && flags.contains(TcpFlags::ACK) && known,
        }
    }
}

/// The state of `end` without the fields that the answer to an unacceptable segment changes.
fn image(end: &Connection, like: &Connection) -> String {
    let mut end = end.clone();
    end.acknowledge = like.acknowledge.clone();
    end.receive.take_answer_of(&like.receive);
    format!("{end:?}")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, max_global_rejects: 10_000, ..ProptestConfig::default() })]

    #[test]
    fn what_is_not_acceptable_changes_nothing(
        initial in any::<[u32; 2]>(),
        steps in proptest::collection::vec(step(), 0..40),
        segment in arriving(),
        side in 0usize..2,
    ) {
        let mut two = Two::new(initial);
        steps.into_iter().for_each(|step| two.take(step));
        let before = two.ends[side].clone();
        prop_assume!(before.state().is_synchronised());
        let arriving = segment.at(&before);
        let verdict = before.judge(&arriving, two.now);
        prop_assert_eq!(matches!(verdict, Verdict::Unacceptable(_)), !segment.may_count(&before), "{:?}", verdict);
        prop_assert_eq!(verdict.is_acceptable(), matches!(verdict, Verdict::Acceptable(_)));
        if matches!(verdict, Verdict::Unacceptable(_)) {
            let ip = two.ends[1 - side].ip_header();
            two.ends[side].on_segment(&ip, &arriving, None, two.now, &mut two.controllers[side]);
            prop_assert_eq!(image(&two.ends[side], &before), image(&before, &before));
        }
    }
}

#[test]
fn a_ce_mark_is_counted_where_its_segment_is_acceptable() {
    let mut two = Two::new([1, 2]);
    two.take(Step::Write(0, 1000));
    let segment = two.under_way[1].pop().expect("the data");
    let marked = IpHeader { ecn: Ecn::CongestionExperienced, ..two.ends[0].ip_header() };
    let forged = TcpSegment { acknowledgment: segment.acknowledgment.wrapping_add(1 << 30), ..segment.clone() };
    for (arriving, counted) in [(forged, 0), (segment, 1)] {
        two.ends[1].on_segment(&marked, &arriving, None, two.now, &mut two.controllers[1]);
        assert_eq!(two.ends[1].counters().ce_received, counted);
    }
}
