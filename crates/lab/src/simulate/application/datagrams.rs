//! Datagrams at a rate, with pauses: both ends of a flow over UDP.

use std::net::SocketAddr;

use subflow_network::Network;
use subflow_quantity::{Duration, Instant, Pacing};
use subflow_scenario::{Flow, Traffic};

use super::Application;
use crate::simulate::nodes::Nodes;

/// The state of a source of datagrams.
pub(super) struct Datagrams {
    /// The end of the current on period.
    on_until: Instant,
    next_at: Instant,
    /// The intervals between datagrams.
    pacing: Pacing,
}

impl Application {
    /// Begins to send datagrams at `now`, if the flow does.
    pub(super) fn begin_datagrams(&mut self, now: Instant) {
        if let Traffic::OnOff { rate, on, .. } = self.flow.traffic {
            let on_until = now + self.draw(on);
            self.datagrams = Some(Datagrams { on_until, next_at: now, pacing: Pacing::new(rate) });
        }
    }

    /// The source address of datagrams. The port identifies the flow, so that the same number serves as source port.
    pub(super) fn datagram_source(&self, nodes: &Nodes) -> SocketAddr {
        let port = self.flow.source_port.unwrap_or(self.flow.port);
        let Flow { from, fixed_source, addresses: [preferred, remote], .. } = self.flow;
        let source = if fixed_source { preferred } else { nodes.transport(from.host).source(preferred, remote) };
        SocketAddr::new(source, port)
    }

    /// Opens the receiving end of a flow of datagrams.
    pub(crate) fn open_datagram_receiver(&mut self, nodes: &mut Nodes, network: &mut Network, index: usize) {
        let to = self.flow.to;
        let at = SocketAddr::new(self.flow.addresses[1], self.flow.port);
        let source = self.datagram_source(nodes);
        let receiver = match nodes.transport_mut(to.host).open_udp(at, source) {
            Ok(receiver) => receiver,
            Err(error) => return nodes.fail(&self.flow.name, error),
        };
        nodes.register(network, to.host, receiver, index);
        self.to = Some(receiver);
    }

    /// Sends the datagrams that are due and sets the timer for the next one.
    pub(super) fn send_datagrams(&mut self, nodes: &mut Nodes, network: &mut Network) {
        let (&Traffic::OnOff { packet, on, off, .. }, Some(endpoint)) = (&self.flow.traffic, self.from) else { return };
        let Some(Datagrams { mut on_until, mut next_at, mut pacing }) = self.datagrams.take() else { return };
        let now = network.now();
        while next_at <= now {
            nodes.transport_mut(self.flow.from.host).endpoint_mut(endpoint).write(u64::from(packet));
            next_at += pacing.time_of(u64::from(packet));
            while next_at >= on_until {
                let pause = self.draw(off);
                let burst = self.draw(on);
                next_at = next_at.max(on_until) + pause;
                on_until = next_at + burst.max(Duration::from_nanos(1));
                if pause.is_zero() && burst.is_zero() {
                    break;
                }
            }
        }
        self.datagrams = Some(Datagrams { on_until, next_at, pacing });
        self.sleep_until(network, Some(next_at));
    }
}
