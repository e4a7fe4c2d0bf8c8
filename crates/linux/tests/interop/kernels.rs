//! Two kernel hosts connected by the emulator: packets pass unchanged, links keep their rate, loss and delay.

use std::thread;

use subflow_linux::{
    DeviceKind, Emulator, Error, Interrupt, KernelHost, Namespace, Pattern, Payload, Stream, Transport, Userspace,
    WallClock, listen,
};
use subflow_network::{Bernoulli, HostId, InterfaceId, LinkConfig, Network, PacketId, Probability, TimerId};
use subflow_quantity::{Duration, Instant, Rate};
use subflow_wire::Dscp;

use crate::bench::{CLIENT, InterruptOnDrop, PORT, Paths, SERVER, end, machine_serves, options};

/// A network without our stack.
struct Nobody;

impl Userspace for Nobody {
    fn handle_packet(&mut self, _: &mut Network, _: HostId, _: InterfaceId, _: PacketId, _: Payload<'_>) {}
    fn handle_timer(&mut self, _: &mut Network, _: TimerId) {}
}

/// Sends `bytes` from the client to the server. Returns whether all of them arrived.
fn transfer(client: &KernelHost, server: &KernelHost, transport: Transport, bytes: u64, interrupt: &Interrupt) -> bool {
    let (client, server) = (client.namespace(), server.namespace());
    let listener = server.run(|| listen(&options(transport), end(SERVER, 0, PORT))).expect("listens");
    thread::scope(|scope| {
        let receiving = scope.spawn(|| {
            let stream = Stream::accept(&listener, transport, interrupt).expect("accepts").expect("in time");
            let (mut received, mut buffer) = (0, vec![0; 1 << 16]);
            while let Some(length) = stream.read(&mut buffer).expect("reads") {
                assert_eq!(Pattern.first_difference(received, &buffer[..length]), None, "after {received} bytes");
                received += length as u64;
                if length == 0 {
                    break;
                }
            }
            received == bytes
        });
        client
            .run(|| {
                let stream = Stream::connect(&options(transport), end(CLIENT, 0, 0), end(SERVER, 0, PORT), interrupt)?;
                let stream = stream.expect("in time");
                let (mut sent, mut buffer) = (0, vec![0; 1 << 16]);
                while sent < bytes {
                    let length = (bytes - sent).min(buffer.len() as u64) as usize;
                    Pattern.fill(sent, &mut buffer[..length]);
                    sent += stream.write(&buffer[..length]).expect("writes").expect("in time") as u64;
                }
                stream.finish().expect("ends");
                Ok(())
            })
            .expect("sends");
        receiving.join().expect("receives")
    })
}

/// Runs a transfer between two kernel hosts; `test` is part of their namespaces' names.
fn run(test: &str, paths: Paths, device: DeviceKind, transport: Transport, bytes: u64) -> (bool, Duration) {
    let (client, mut ports) = paths.kernel(CLIENT, &format!("{test}-c"), &[], device);
    let (server, more) = paths.kernel(SERVER, &format!("{test}-s"), &[], device);
    ports.extend(more);
    let interrupt = Interrupt::default();
    let clock = WallClock::start();
    let mut emulator = Emulator::new(paths.network, Nobody, ports, clock, interrupt.clone());
    thread::scope(|scope| {
        let applications = scope.spawn(|| transfer(&client, &server, transport, bytes, &interrupt));
        let end = Instant::ZERO + Duration::from_secs(30);
        let curfew = InterruptOnDrop(&interrupt);
        emulator.run_while(end, |_, _| !applications.is_finished()).expect("runs");
        let took = clock.now().since(Instant::ZERO);
        drop(curfew);
        (applications.join().expect("transfers"), took)
    })
}

#[test]
fn a_tcp_transfer_completes_and_is_not_faster_than_the_link() {
    let Some(device) = machine_serves() else { return };
    let link = LinkConfig::new(Rate::from_mbit(50), Duration::from_millis(5));
    for device in [device, DeviceKind::Veth] {
        let test = format!("tcp-{}", device.name());
        let (whole, took) = run(&test, Paths::new(std::slice::from_ref(&link)), device, Transport::Tcp, 3_000_000);
        assert!(whole);
        // 3 MB at 50 Mbit/s.
        assert!(took >= Duration::from_millis(480), "faster than the link: {took}");
    }
}

#[test]
fn an_mptcp_transfer_completes_over_paths_with_loss_and_duplication() {
    let Some(device) = machine_serves() else { return };
    let percent = Probability::new(0.01).expect("a probability");
    let link = LinkConfig { duplication: percent, ..LinkConfig::new(Rate::from_mbit(100), Duration::from_millis(2)) }
        .with_loss(Bernoulli::new(percent));
    for device in [device, DeviceKind::Veth] {
        let (test, paths) = (format!("dup-{}", device.name()), Paths::new(&[link.clone(), link.clone()]));
        assert!(run(&test, paths, device, Transport::Mptcp, 2_000_000).0);
    }
}

#[test]
fn a_name_or_port_in_use_is_reported() {
    let Some(device) = machine_serves() else { return };
    let (host, _ports) = Paths::new(&[LinkConfig::default()]).kernel(SERVER, "taken", &[], device);
    let namespace = host.namespace();
    let at = end(SERVER, 0, PORT);
    let _first = namespace.run(|| listen(&options(Transport::Tcp), at)).expect("listens");
    let second = namespace.run(|| listen(&options(Transport::Tcp), at)).expect_err("taken");
    assert!(matches!(second, Error::PortInUse(PORT, _)), "{second}");
    let clash = Namespace::create("taken").expect_err("the name is in use");
    assert!(matches!(&clash, Error::NameClash(_)) && clash.to_string().contains("subflow cleanup"), "{clash}");
    let missing = namespace.run(|| {
        subflow_linux::Sysctl("mptcp/enabled").write("0")?;
        listen(&options(Transport::Mptcp), at)
    });
    assert!(missing.is_err_and(|error| error.to_string().contains("net.mptcp.enabled=1")));
}

#[test]
fn dropping_a_host_removes_its_namespace() {
    let Some(device) = machine_serves() else { return };
    for device in [device, DeviceKind::Veth] {
        let (host, ports) = Paths::new(&[LinkConfig::default()]).kernel(SERVER, "left", &[], device);
        let path = std::path::Path::new("/run/netns").join(host.namespace().name());
        assert!(path.exists());
        drop((host, ports));
        assert!(!path.exists());
    }
}

#[test]
fn packets_from_a_veth_pair_have_checksums_and_fit_the_mtu() {
    if machine_serves().is_none() {
        return;
    }
    let (host, ports) = Paths::new(&[LinkConfig::default()]).kernel(CLIENT, "finished", &[], DeviceKind::Veth);
    let device = &ports[0].2;
    host.namespace()
        .run(|| {
            let socket = subflow_linux::udp(end(CLIENT, 0, 4000), Dscp::DEFAULT)?;
            // Larger than the MTU of 1500 bytes: the kernel fragments it.
            socket.send_to(&[7; 4000], end(SERVER, 0, 4001)).expect("sent");
            socket.send_to(&[7; 400], end(SERVER, 0, 4001)).expect("sent");
            Ok(())
        })
        .expect("sends");
    let (mut buffer, mut lengths, mut whole) = ([0; 1 << 16], Vec::new(), Vec::new());
    for _ in 0..100 {
        while let Some(length) = device.read(&mut buffer).expect("reads") {
            lengths.push(length);
            whole.extend(subflow_wire::Packet::parse(&buffer[..length]).map(|(_, payload)| payload.len()));
        }
        thread::sleep(std::time::Duration::from_millis(2));
    }
    let udp = lengths.iter().filter(|&&length| length > 100).count();
    assert!(udp == 4 && lengths.iter().all(|&length| length <= 1500), "three fragments and a packet: {lengths:?}");
    assert_eq!(whole, [400], "with a correct checksum");
}
