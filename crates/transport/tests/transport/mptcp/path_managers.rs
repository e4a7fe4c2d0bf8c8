//! What path managers make of a connection, and of addresses that go and come back in the middle of it.

use std::collections::BTreeSet;

use subflow_policy::catalogue::{Catalogue, Value};
use subflow_policy::path_manager::PathManagement;

use super::exchange_and_close;
use crate::harness::tamper::is_syn;
use crate::harness::{CLIENT, Pair, SERVER, Setup, secs};

fn connected(path_manager: &str) -> Pair {
    connected_by(PathManagement::from_name(path_manager).expect("a path manager"))
}

/// With this number of subflows as the option `key`.
fn connected_with(path_manager: &str, key: &str, subflows: u64) -> Pair {
    let path_manager = PathManagement::from_name(path_manager).expect("a path manager");
    connected_by(path_manager.with(key, Value::Integer(subflows)).expect("it has this option"))
}

fn connected_by(path_manager: PathManagement) -> Pair {
    let setup = Setup::mptcp(2, 2).both(|stack| stack.multipath().path_manager = path_manager.clone());
    let mut pair = setup.connected();
    pair.transfer(CLIENT, 5000);
    pair.run_for(secs(2));
    pair
}

/// The paths that SYNs took.
fn opened(pair: &Pair) -> Vec<usize> {
    pair.log.iter().filter(|sent| is_syn(&sent.segment)).map(|sent| sent.path).collect()
}

#[test]
fn single_mesh_opens_one_subflow_from_each_address_and_none_while_closing() {
    let mut pair = connected("single-mesh");
    assert_eq!(opened(&pair), [0, 2], "paths from the client's first and second address to the server's first");
    assert_eq!(pair.established_subflows(CLIENT), 2);
    exchange_and_close(&mut pair);
    assert_eq!(opened(&pair), [0, 2]);
}

#[test]
fn ndiffports_opens_n_on_one_path() {
    let mut pair = connected_with("ndiffports", "n", 5);
    assert_eq!(opened(&pair), [0; 5]);
    let ports: BTreeSet<u16> =
        pair.mptcp(CLIENT).subflows().iter().map(|subflow| subflow.connection().ends().local.port()).collect();
    assert_eq!(ports.len(), 5, "from five ports");
    exchange_and_close(&mut pair);
}

#[test]
fn full_mesh_opens_several_on_each_pair() {
    let mut pair = connected_with("full-mesh", "subflows_per_pair", 3);
    for side in [CLIENT, SERVER] {
        assert_eq!(pair.established_subflows(side), 12);
    }
    exchange_and_close(&mut pair);
}

#[test]
fn an_address_that_goes_and_comes_back_in_the_middle_of_a_transfer() {
    for (name, per_address) in [("full-mesh", 2), ("single-mesh", 1)] {
        let mut pair = connected(name);
        pair.write(CLIENT, 3_000_000);
        pair.run_for(secs(1) / 4);
        pair.lose_address(CLIENT, 0);
        pair.run_for(secs(1) / 4);
        assert_eq!(pair.established_subflows(CLIENT), per_address, "{name}: those of the other address");
        pair.regain_address(CLIENT, 0);
        pair.run_for(secs(2));
        assert_eq!(pair.established_subflows(CLIENT), 2 * per_address, "{name}: all again");
        pair.run_until("the data", |pair| pair.received(SERVER) == 3_005_000);
        exchange_and_close(&mut pair);
    }
}
