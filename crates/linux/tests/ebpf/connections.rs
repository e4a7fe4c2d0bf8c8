//! Connections of the kernel's MPTCP with the programs, over a namespace's loopback: two subflows, real bytes.

use std::net::{IpAddr, SocketAddr, TcpListener};
use std::thread;

use subflow_linux::congestion::{Lease, PROGRAMS, Program};
use subflow_linux::netlink::{Endpoint, EndpointFlags};
use subflow_linux::{Interrupt, KernelHost, KernelSettings, Result, Stream, StreamOptions, Transport, listen};
use subflow_wire::Dscp;

use crate::machine::{assert_gone, in_the_kernel, is_offered, program, serves, turn};

const SERVER: SocketAddr = SocketAddr::new(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 5001);
const CLIENT: [u8; 4] = [127, 0, 0, 1];
/// The address of the second subflow.
const SECOND: [u8; 4] = [127, 0, 0, 2];
const TRANSFER: usize = 8 << 20;

#[test]
fn a_transfer_over_two_subflows_arrives_with_every_program() {
    let _turn = turn();
    if serves() {
        for program in &PROGRAMS {
            let _lease = Lease::take(&[program]).expect("it loads");
            let (received, subflows) = host().namespace().run(|| transfer(program, TRANSFER)).expect("a transfer");
            assert_eq!((received, subflows), (TRANSFER, 2), "{}", program.name);
        }
        PROGRAMS.iter().for_each(assert_gone);
    }
}

#[test]
fn a_thousand_connections_leave_no_program_and_no_map() {
    let _turn = turn();
    if serves() {
        let olia = program("olia");
        let lease = Lease::take(&[olia]).expect("it loads");
        let before = in_the_kernel(olia);
        let host = host();
        for _ in 0..1000 {
            host.namespace().run(|| transfer(olia, 1000)).expect("a transfer");
        }
        assert_eq!(in_the_kernel(olia), before);
        drop((lease, host));
        assert_gone(olia);
    }
}

#[test]
fn a_connection_outlives_the_name_of_its_program() {
    let _turn = turn();
    if serves() {
        let lia = program("lia");
        let lease = Lease::take(&[lia]).expect("it loads");
        let host = host();
        let outcome = host.namespace().run(|| {
            let listener = listen(&options(lia), SERVER)?;
            let (client, server) = connected(&listener, lia)?;
            drop(lease);
            assert!(!is_offered(lia) && in_the_kernel(lia) > 0, "sockets keep the program");
            // An MPTCP socket would take any name: it looks it up when it has a subflow.
            let tcp = StreamOptions { transport: Transport::Tcp, ..options(lia) };
            let refused = listen(&tcp, SocketAddr::new(SERVER.ip(), 5002)).expect_err("no new ones").to_string();
            assert!(refused.contains("cannot use the congestion control lia"), "{refused}");
            send(&client, &server, TRANSFER)
        });
        assert_eq!(outcome.expect("a transfer"), TRANSFER);
        drop(host);
        assert_gone(lia);
    }
}

/// A namespace with nothing but its loopback, whose connections have a second subflow.
fn host() -> KernelHost {
    let (host, _) = KernelHost::create("loop", &[], &KernelSettings::default()).expect("a namespace");
    let flags = EndpointFlags { subflow: true, ..EndpointFlags::default() };
    let second = Endpoint { id: None, address: SECOND.into(), port: None, flags };
    host.with_path_manager(|manager| manager.add_endpoint(&second)).expect("an endpoint");
    host
}

fn options(program: &Program) -> StreamOptions {
    StreamOptions {
        both_families: false,
        transport: Transport::Mptcp,
        congestion: Some(program.kernel_name.to_owned()),
        nagle: true,
        dscp: Dscp::DEFAULT,
        receive_buffer: None,
        send_buffer: None,
    }
}

/// Sends so many bytes over a connection of its own: how many came, and over how many subflows.
fn transfer(program: &Program, bytes: usize) -> Result<(usize, usize)> {
    let listener = listen(&options(program), SERVER)?;
    let (client, server) = connected(&listener, program)?;
    let received = send(&client, &server, bytes)?;
    let subflows = client.info()?.subflows.len();
    // No port waits for the last packets of the connection.
    client.reset_on_close()?;
    Ok((received, subflows))
}

fn connected(listener: &TcpListener, program: &Program) -> Result<(Stream, Stream)> {
    let never = Interrupt::default();
    let client = Stream::connect(&options(program), SocketAddr::new(CLIENT.into(), 0), SERVER, &never)?;
    let server = Stream::accept(listener, Transport::Mptcp, &never)?;
    Ok((client.expect("never interrupted"), server.expect("never interrupted")))
}

/// Writes so many bytes and reads them at the other end; how many came, each of them right.
fn send(client: &Stream, server: &Stream, bytes: usize) -> Result<usize> {
    let sent: Vec<u8> = (0..bytes).map(|at| (at % 251) as u8).collect();
    let received = thread::scope(|scope| {
        scope.spawn(|| {
            let mut written = 0;
            while written < sent.len() {
                written += client.write(&sent[written..]).expect("it writes").expect("never interrupted");
            }
        });
        let mut received = Vec::new();
        let mut buffer = vec![0; 1 << 16];
        while received.len() < bytes {
            let read = server.read(&mut buffer).expect("it reads").expect("never interrupted");
            received.extend_from_slice(&buffer[..read]);
        }
        received
    });
    // What the first differing bytes are tells whether some were lost, came twice or were changed.
    let differs = received.iter().zip(&sent).position(|(received, sent)| received != sent);
    if let Some(at) = differs {
        let others = received.iter().zip(&sent).filter(|(received, sent)| received != sent).count();
        let near = |bytes: &[u8]| bytes[at.saturating_sub(4)..bytes.len().min(at + 12)].to_vec();
        panic!("{others} bytes differ, from {at} on: sent {:?}, received {:?}", near(&sent), near(&received));
    }
    assert_eq!(received.len(), sent.len());
    Ok(received.len())
}
