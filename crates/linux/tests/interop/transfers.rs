//! Complete transfers, checked byte by byte: either side connects, joins, uses checksums; both kinds of devices; loss;
//! a failing path.

use subflow_linux::netlink::{Endpoint, EndpointFlags};
use subflow_linux::{DeviceKind, KernelHost, Stream, WallClock};
use subflow_network::{Bernoulli, LinkChange, LinkConfig, Probability};
use subflow_quantity::{Duration, Instant, Rate};
use subflow_transport::Listener;

use crate::bench::{CLIENT, SERVER, address};
use crate::contest::{Contest, Setting, at, close, finish_after, links_of, ours, subflows_up, talk};

const MEGABYTE: u64 = 1_000_000;

/// The time in which a join succeeds.
const JOIN_TIMEOUT: Duration = Duration::from_secs(10);

/// Adds an endpoint for each of `paths` of its host to the kernel's path manager.
fn add_endpoints(kernel: &KernelHost, host: usize, paths: core::ops::Range<usize>, flags: EndpointFlags) {
    let endpoint = |path| Endpoint { id: None, address: address(host, path), port: None, flags };
    let all = paths.map(endpoint);
    kernel.with_path_manager(|manager| all.into_iter().try_for_each(|one| manager.add_endpoint(&one))).expect("added");
}

/// Waits until the kernel has a second subflow, where there is to be one: a busy one joins when a short transfer is over.
fn await_join(stream: &Stream, paths: usize) {
    let lacks_one = || stream.info().expect("info").subflows.len() < paths.min(2);
    WallClock::start().sleep_until(Instant::ZERO + JOIN_TIMEOUT, Duration::from_millis(2), lacks_one);
}

/// A transfer of `bytes` in both directions, with one subflow per path. `checksum` is whether our end and the kernel
/// request DSS checksums.
#[derive(Clone, Debug)]
struct Transfer {
    setting: Setting,
    checksum: [bool; 2],
    /// The number of loss periods after which our end treats a subflow as stale; 0 means at its first timeout.
    stale_loss_count: u8,
    bytes: u64,
}

impl Transfer {
    /// `kernel` is the index of the kernel's host.
    fn new(kernel: usize, paths: usize) -> Self {
        let bytes = paths as u64 * MEGABYTE;
        Self { setting: Setting::fast(kernel, paths), checksum: [false; 2], stale_loss_count: 0, bytes }
    }

    fn checksums(self, checksum: [bool; 2]) -> Self {
        Self { checksum, ..self }
    }

    fn over(mut self, device: DeviceKind) -> Self {
        self.setting.device = Some(device);
        self
    }

    fn paths(mut self, paths: &[LinkConfig]) -> Self {
        self.setting.paths = paths.to_vec();
        self
    }

    /// Runs it, after `prepare` may have changed the network. `None` if this machine cannot run it.
    fn run(mut self, test: &str, prepare: impl FnOnce(&mut Contest)) -> Option<Contest> {
        self.setting.sysctls.push(("mptcp/checksum_enabled", if self.checksum[1] { "1" } else { "0" }));
        let mut contest = Contest::new(test, &self.setting)?;
        prepare(&mut contest);
        let Self { setting, checksum, stale_loss_count, bytes } = self;
        let paths = setting.paths.len();
        let config = ours("full-mesh", |config| {
            (config.checksum, config.stale_loss_count) = (checksum[0], stale_loss_count);
        });
        let exchange = |stream: &Stream| {
            talk(stream, bytes, bytes);
            await_join(stream, paths);
            let info = stream.info().expect("info");
            assert!(!info.fallback, "{info:?}");
            assert_eq!(info.checksum, checksum[0] || checksum[1]);
            close(stream);
        };
        let mut most = 0;
        let patience = contest.emulator.network().now() + JOIN_TIMEOUT;
        if setting.kernel == SERVER {
            contest.with_our_client(
                &config,
                bytes,
                |kernel, stream| {
                    // The kernel announces its other addresses; our end joins them.
                    let flags = EndpointFlags { signal: true, ..EndpointFlags::default() };
                    add_endpoints(kernel, SERVER, 1..paths, flags);
                    exchange(stream);
                },
                |network, host, id| {
                    most = most.max(subflows_up(host, id));
                    let may_end = paths == 1 || most > 1 || network.now() > patience;
                    may_end && finish_after(network, host, id, bytes)
                },
            );
        } else {
            let flags = EndpointFlags { subflow: true, fullmesh: true, ..EndpointFlags::default() };
            add_endpoints(&contest.kernel, CLIENT, 0..paths, flags);
            let mut written = false;
            contest.with_our_server(
                Listener::Mptcp(config),
                |_, stream| exchange(stream),
                |network, host, id| {
                    if !written {
                        host.transport().endpoint_mut(id).write(bytes);
                        host.drain(network, id);
                        written = true;
                    }
                    most = most.max(subflows_up(host, id));
                    let may_end = paths == 1 || most > 1 || network.now() > patience;
                    may_end && finish_after(network, host, id, bytes)
                },
            );
        }
        assert!(paths == 1 || most > 1, "{most} subflows");
        contest.assert_no_errors(&[]);
        Some(contest)
    }
}

#[test]
fn our_client_over_one_path() {
    let contest = Transfer::new(SERVER, 1).run("our_client_over_one_path", |_| {});
    assert!(contest.is_none_or(|contest| contest.counter("MPCapableSYNRX") == 1));
}

#[test]
fn our_client_joins() {
    let contest = Transfer::new(SERVER, 2).run("our_client_joins", |_| {});
    assert!(contest.is_none_or(|contest| contest.counter("MPJoinAckRx") >= 1));
}

#[test]
fn our_client_with_checksums() {
    for (number, checksum) in [[true, false], [false, true], [true, true]].into_iter().enumerate() {
        Transfer::new(SERVER, 2).checksums(checksum).run(&format!("our_client_with_checksums-{number}"), |_| {});
    }
}

#[test]
fn the_kernels_client_over_one_path() {
    let contest = Transfer::new(CLIENT, 1).run("the_kernels_client_over_one_path", |_| {});
    assert!(contest.is_none_or(|contest| contest.counter("MPCapableSYNACKRX") == 1));
}

#[test]
fn the_kernels_client_joins() {
    let contest = Transfer::new(CLIENT, 2).run("the_kernels_client_joins", |_| {});
    assert!(contest.is_none_or(|contest| contest.counter("MPJoinSynAckRx") >= 1));
}

#[test]
fn the_kernels_client_with_checksums() {
    for (number, checksum) in [[true, false], [false, true], [true, true]].into_iter().enumerate() {
        let test = format!("the_kernels_client_with_checksums-{number}");
        Transfer::new(CLIENT, 2).checksums(checksum).run(&test, |_| {});
    }
}

#[test]
fn veth_pairs_work_like_tun_devices() {
    for (kernel, test) in [(SERVER, "veth-our-client"), (CLIENT, "veth-kernels-client")] {
        let transfer = Transfer::new(kernel, 2).over(DeviceKind::Veth).checksums([false, true]);
        let contest = transfer.run(test, |_| {});
        assert!(contest.is_none_or(|contest| contest.emulator.not_carried()[1] == 0 && contest.emulator.missed() == 0));
    }
}

fn lossy(mbit: u64, delay_ms: u64, loss: f64) -> LinkConfig {
    LinkConfig::new(Rate::from_mbit(mbit), Duration::from_millis(delay_ms))
        .with_loss(Bernoulli::new(Probability::new(loss).expect("a probability")))
}

/// The amount sent in each direction over lossy paths.
fn megabytes() -> u64 {
    std::env::var("SUBFLOW_INTEROP_MEGABYTES").ok().and_then(|text| text.parse().ok()).unwrap_or(100)
}

/// A large transfer in each direction over two lossy unequal paths, with DSS checksums.
fn every_byte_arrives(kernel: usize, test: &str) {
    let paths = [lossy(300, 2, 0.0002), lossy(100, 10, 0.0005)];
    let transfer = Transfer::new(kernel, 2).paths(&paths).checksums([false, true]);
    Transfer { bytes: megabytes() * MEGABYTE, ..transfer }.run(test, |_| {});
}

#[test]
fn every_byte_arrives_over_two_lossy_unequal_paths_from_our_client() {
    every_byte_arrives(SERVER, "lossy-our-client");
}

#[test]
fn every_byte_arrives_over_two_lossy_unequal_paths_from_the_kernels_client() {
    every_byte_arrives(CLIENT, "lossy-kernels-client");
}

#[test]
fn a_path_is_cut_and_restored() {
    let slow = LinkConfig::new(Rate::from_mbit(20), Duration::from_millis(5));
    for (kernel, stale_loss_count) in [(SERVER, 0), (SERVER, 4), (CLIENT, 0), (CLIENT, 4)] {
        let test = format!("cut-{kernel}-{stale_loss_count}");
        let transfer = Transfer::new(kernel, 2).paths(&[slow.clone(), slow.clone()]);
        Transfer { stale_loss_count, bytes: 4 * MEGABYTE, ..transfer }.run(&test, |contest| {
            let (network, _) = contest.emulator.parts();
            for link in links_of(0) {
                network.schedule_change(at(300), link, LinkChange::Down);
                network.schedule_change(at(1500), link, LinkChange::Up);
            }
        });
    }
}
