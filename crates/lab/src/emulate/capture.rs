//! Captures of runs in real time: every packet at every host, with its real bytes.

use subflow_linux::{ByteTap, Emulator, PacketWriter};
use subflow_network::{Direction, HostId, InterfaceId, Passage, Tap};
use subflow_quantity::Instant;
use subflow_scenario::{HostStack, Scenario};
use subflow_wire::Packet;

use super::userspace::RealWorld;
use crate::capture::Capture;

/// Captures the packets that kernels send and receive, and those that our stacks receive.
struct Frames(Capture);

impl ByteTap for Frames {
    fn packet(&mut self, time: Instant, host: HostId, interface: InterfaceId, bytes: &[u8]) {
        self.0.write(time, host, interface, bytes);
    }
}

/// Captures the packets that our stacks send.
struct Sent {
    capture: Capture,
    writer: PacketWriter,
}

impl Tap for Sent {
    fn packet(&mut self, passage: Passage, packet: &Packet, _: &mut u16) {
        if passage.direction == Direction::Out {
            let mut packet = packet.clone();
            let bytes = self.writer.write(&mut packet);
            self.capture.write(passage.time, passage.host, passage.interface, bytes);
        }
    }
}

/// Passes all packets to `capture` from now on.
pub(super) fn tap(
    capture: &Capture,
    emulator: &mut Emulator<RealWorld>,
    scenario: &Scenario,
    interfaces: &[Vec<InterfaceId>],
) {
    let ours = scenario.hosts.iter().zip(interfaces).filter(|(host, _)| host.stack == HostStack::Subflow);
    let ours: Vec<InterfaceId> = ours.flat_map(|(_, interfaces)| interfaces).copied().collect();
    let sent = Sent { capture: capture.clone(), writer: PacketWriter::default() };
    emulator.parts().0.set_tap(&ours, Box::new(sent));
    emulator.set_tap(Box::new(Frames(capture.clone())));
}
