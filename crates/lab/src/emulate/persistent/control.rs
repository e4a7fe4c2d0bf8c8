//! The thread that runs the links of a network, and what is asked of it meanwhile.

use std::sync::mpsc::{Receiver, Sender};

use subflow_linux::{Emulator, InterfaceDrops, Priority, Result, Verdict, Wake};
use subflow_network::{DuplexLink, LinkChange};
use subflow_quantity::{Duration, Instant};
use subflow_scenario::Scenario;

use super::super::sctp::sctp_of_programs;
use super::super::userspace::RealWorld;
use super::message::Emulation;
use crate::results::{ConnectionResult, Engine, LinkResult};
use crate::simulate::measure::LinkBaseline;

/// What the thread is to do between two packets.
pub(super) enum Order {
    /// Change a link: in the direction from its first end, and in the other one.
    Change { link: DuplexLink, changes: [Vec<LinkChange>; 2], done: Sender<()> },
    /// Tell what was carried, by each link if `with_links`. The drops of devices and the free CPU time are for others to
    /// add.
    Measure { with_links: bool, answer: Sender<Measured> },
}

/// What the thread knows of the emulation.
pub(super) struct Measured {
    pub(super) emulation: Emulation,
    /// Packets that the devices dropped and that no counter of the kernel includes.
    pub(super) drops: InterfaceDrops,
    pub(super) links: Vec<LinkResult>,
    pub(super) engine: Engine,
    /// The SCTP associations of programs.
    pub(super) sctp: Vec<ConnectionResult>,
    /// What is to be said of what the results lack.
    pub(super) note: Option<String>,
}

/// Runs the network until it is interrupted, and obeys orders.
pub(super) fn run(
    mut emulator: Emulator<RealWorld>,
    orders: &Receiver<Order>,
    scenario: &Scenario,
    links: &[DuplexLink],
) -> Result<()> {
    let real_time_priority = Priority::Network.take();
    let mut missed = 0;
    let baseline = LinkBaseline::of(emulator.network(), links);
    loop {
        let mut order = None;
        let wake = emulator.run_while(Instant::MAX, |_, _| {
            order = orders.try_recv().ok();
            order.is_none()
        })?;
        match order {
            None if wake == Wake::Interrupted => return Ok(()),
            None => {}
            Some(Order::Change { link, changes: [up, down], done }) => {
                let network = emulator.parts().0;
                let now = network.now();
                up.into_iter().for_each(|change| network.schedule_change(now, link.forward, change));
                down.into_iter().for_each(|change| network.schedule_change(now, link.backward, change));
                // Whoever asked may have gone.
                let _ = done.send(());
            }
            Some(Order::Measure { with_links, answer }) => {
                missed += emulator.missed();
                let network = emulator.network();
                let links = || baseline.results(network, links, scenario, network.now());
                let links = if with_links { links() } else { Vec::new() };
                let (sctp, note) = sctp_of_programs(scenario, emulator.sctp_traffic());
                let mut measured = Measured { sctp, note, ..measured(&emulator, missed, links) };
                measured.emulation.real_time_priority = real_time_priority;
                let _ = answer.send(measured);
            }
        }
    }
}

fn measured(emulator: &Emulator<RealWorld>, missed: u64, links: Vec<LinkResult>) -> Measured {
    let punctuality = emulator.punctuality();
    let [ignored_packets, refused] = emulator.not_carried();
    let micros = |span: Duration| span.as_secs_f64() * 1e6;
    let emulation = Emulation {
        packet_hops: emulator.network().metrics().packet_hops,
        late_p50_us: micros(punctuality.quantile(0.5)),
        late_p99_us: micros(punctuality.quantile(0.99)),
        late_p999_us: micros(punctuality.quantile(0.999)),
        late_max_us: micros(punctuality.maximum()),
        ignored_packets,
        // Of drops and of the CPU the caller knows more.
        objections: Verdict::of(punctuality, InterfaceDrops::default(), 1.0).objections,
        ..Emulation::default()
    };
    let metrics = emulator.network().metrics();
    let engine = Engine { packet_hops: metrics.packet_hops, events: metrics.events, cpu_s: 0.0 };
    Measured {
        emulation,
        drops: InterfaceDrops { outgoing: missed, incoming: refused },
        links,
        engine,
        sctp: Vec::new(),
        note: None,
    }
}
