//! `subflow export --to`.

use crate::desk::{Desk, QUICK};

#[test]
fn a_network_is_written_once_and_says_what_is_missing() {
    let desk = Desk::new(QUICK);
    let written = ["export", "quick.toml", "--to", "mininet", "--out", "quick.py"];
    let (code, stdout, stderr) = desk.subflow(&written);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.contains("quick.py is written"), "{stdout}");
    assert!(stderr.contains("quick.toml: the addresses of the links are those of 10.128.0.0/9"), "{stderr}");
    assert!(
        std::fs::read_to_string(desk.path("quick.py")).expect("written").contains("from mininet.net import Mininet")
    );
    let (code, _, stderr) = desk.subflow(&written);
    assert_eq!(code, Some(2));
    assert!(stderr.contains("quick.py: the file exists"), "{stderr}");
}

#[test]
fn values_are_changed_before_the_network_is_written() {
    let desk = Desk::new(QUICK);
    let arguments = ["export", "quick.toml", "--to", "ns3", "--set", "duration=7 s"];
    let (code, stdout, stderr) = desk.subflow(&arguments);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(stdout.contains("Simulator::Stop(NanoSeconds(7000000000));"), "{stdout}");
}

#[test]
fn what_cannot_be_exported_is_named() {
    let desk = Desk::new(QUICK);
    for (arguments, expected) in [
        (vec!["export", "quick.toml"], "quick.toml is a file, not a store"),
        (vec!["export", "quick.toml", "--to", "omnet"], "netem, mininet, ns3, htsim"),
        (vec!["export", "quick.toml", "--out", "x"], "--to"),
        (vec!["export", "absent.toml", "--to", "ns3"], "absent.toml"),
        (vec!["export", "quick.toml", "--to", "ns3", "--set", "links.absent.rate=1 Mbit/s"], "absent"),
    ] {
        let (code, stdout, stderr) = desk.subflow(&arguments);
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(stderr.contains(expected), "{arguments:?}: {stderr}");
    }
}
