//! A kernel against itself through the emulator: packets pass unchanged, links keep their rate, loss and delay.

use std::thread;

use subflow_linux::{
    Emulator, Error, Interrupt, KernelHost, Namespace, Pattern, Payload, Stream, Transport, Userspace, Wake, WallClock,
    listen,
};
use subflow_network::{HostId, InterfaceId, LinkConfig, LossConfig, Network, PacketId, Probability, TimerId};
use subflow_quantity::{Duration, Instant, Rate};

use crate::bench::{CLIENT, PORT, Paths, SERVER, end, machine_serves, options, uninterrupted};

/// No stack of ours is on the network.
struct Nobody;

impl Userspace for Nobody {
    fn handle_packet(&mut self, _: &mut Network, _: HostId, _: InterfaceId, _: PacketId, _: Payload<'_>) {}
    fn handle_timer(&mut self, _: &mut Network, _: TimerId) {}
}

/// Sends `bytes` from the client to the server; whether they arrived whole.
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

fn run(paths: Paths, client: &str, server: &str, transport: Transport, bytes: u64) -> (bool, Duration) {
    let (client, mut ports) = paths.kernel(CLIENT, client, &[]);
    let (server, more) = paths.kernel(SERVER, server, &[]);
    ports.extend(more);
    let interrupt = uninterrupted();
    let clock = WallClock::start();
    let mut emulator = Emulator::new(paths.network, Nobody, ports, clock, interrupt.clone());
    thread::scope(|scope| {
        let applications = scope.spawn(|| transfer(&client, &server, transport, bytes, &interrupt));
        let end = Instant::ZERO + Duration::from_secs(30);
        let wake = emulator.run_while(end, |_, _| !applications.is_finished()).expect("runs");
        let took = clock.now().since(Instant::ZERO);
        if wake != Wake::Done {
            interrupt.raise();
        }
        (applications.join().expect("transfers"), took)
    })
}

#[test]
fn tcp_arrives_whole_and_no_faster_than_the_link() {
    if !machine_serves("tcp_arrives_whole_and_no_faster_than_the_link") {
        return;
    }
    let link = LinkConfig::new(Rate::from_mbit(50), Duration::from_millis(5));
    let (whole, took) = run(Paths::new(&[link]), "tcp-c", "tcp-s", Transport::Tcp, 3_000_000);
    assert!(whole);
    // 3 MB at 50 Mbit/s.
    assert!(took >= Duration::from_millis(480), "faster than the link: {took}");
}

#[test]
fn mptcp_arrives_whole_over_lossy_duplicating_paths() {
    if !machine_serves("mptcp_arrives_whole_over_lossy_duplicating_paths") {
        return;
    }
    let percent = Probability::new(0.01).expect("a probability");
    let link = LinkConfig { duplication: percent, ..LinkConfig::new(Rate::from_mbit(100), Duration::from_millis(2)) }
        .with_loss(LossConfig::Bernoulli(percent));
    let (whole, _) = run(Paths::new(&[link.clone(), link]), "dup-c", "dup-s", Transport::Mptcp, 2_000_000);
    assert!(whole);
}

#[test]
fn what_is_taken_is_said() {
    if !machine_serves("what_is_taken_is_said") {
        return;
    }
    let (host, _ports) = Paths::new(&[LinkConfig::default()]).kernel(SERVER, "taken", &[]);
    let namespace = host.namespace();
    let at = end(SERVER, 0, PORT);
    let _first = namespace.run(|| listen(&options(Transport::Tcp), at)).expect("listens");
    let second = namespace.run(|| listen(&options(Transport::Tcp), at)).expect_err("taken");
    assert!(matches!(second, Error::PortInUse(PORT, _)), "{second}");
    let clash = Namespace::create("taken").expect_err("there is one");
    assert!(matches!(&clash, Error::NameClash(_)) && clash.to_string().contains("subflow cleanup"), "{clash}");
    let missing = namespace.run(|| {
        subflow_linux::Sysctl("mptcp/enabled").write("0")?;
        listen(&options(Transport::Mptcp), at)
    });
    assert!(missing.is_err_and(|error| error.to_string().contains("net.mptcp.enabled=1")));
}

#[test]
fn nothing_is_left_and_nothing_else_is_touched() {
    if !machine_serves("nothing_is_left_and_nothing_else_is_touched") {
        return;
    }
    let outside = || {
        let files = [
            "/proc/net/route",
            "/proc/net/if_inet6",
            "/proc/sys/net/ipv4/conf/all/rp_filter",
            "/proc/sys/net/ipv4/tcp_rmem",
        ];
        files.map(|file| std::fs::read_to_string(file).unwrap_or_default())
    };
    let before = outside();
    let (host, ports) =
        Paths::new(&[LinkConfig::default()]).kernel(SERVER, "left", &[("ipv4/tcp_rmem", "4096 5000 6000")]);
    let path = std::path::Path::new("/run/netns").join(host.namespace().name());
    assert!(path.exists());
    assert_eq!(outside(), before);
    drop((host, ports));
    assert!(!path.exists());
    assert_eq!(outside(), before);
}
