//! `subflow import`.

use crate::desk::{Desk, QUICK};

const RING: &str = "graph [ node [ id 0 label \"Bern\" ] node [ id 1 label \"Basel\" ] node [ id 2 label \"Z&#252;rich\" ]\n\
    edge [ source 0 target 1 LinkSpeedRaw 1e7 ] edge [ source 1 target 2 ] edge [ source 2 target 0 ] ]";

fn desk() -> Desk {
    let desk = Desk::new(QUICK);
    std::fs::write(desk.path("ring.gml"), RING).expect("written");
    desk
}

#[test]
fn an_imported_network_can_be_checked_and_run() {
    let desk = desk();
    let written = ["import", "ring.gml", "--out", "ring.toml", "--rate", "20 Mbit/s", "--between", "Bern", "Zurich"];
    let (code, stdout, stderr) = desk.subflow(&written);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.contains("subflow check ring.toml"), "{stdout}");
    assert!(stderr.contains("ring.gml: 2 of 3 links without a rate: 20 Mbit/s"), "{stderr}");
    let (code, stdout, stderr) = desk.subflow(&["run", "ring.toml", "--set", "duration=2 s"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(stdout.contains("GML: ring") && stdout.contains("bulk"), "{stdout}");
    let (code, _, stderr) = desk.subflow(&written);
    assert_eq!(code, Some(2));
    assert!(stderr.contains("ring.toml: the file exists"), "{stderr}");
}

#[test]
fn without_out_the_scenario_goes_to_standard_output() {
    let desk = desk();
    let (code, stdout, stderr) = desk.subflow(&["import", "ring.gml"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(stdout.starts_with("# Written by `subflow import`.\n# - 2 of 3 links without a rate"), "{stdout}");
    assert!(!desk.files().contains(&"ring.toml".to_owned()));
}

#[test]
fn what_cannot_be_read_is_named() {
    let desk = desk();
    for (arguments, expected) in [
        (vec!["import", "quick.toml"], "a scenario, which `subflow run` takes as it is"),
        (vec!["import", "absent.gml"], "absent.gml: No such file"),
        (vec!["import", "ring.gml", "--between", "Bern", "Genf"], "no node \"Genf\""),
        (vec!["import", "ring.gml", "--scale", "0"], "expected a number from"),
        (vec!["import", "."], "Is a directory"),
    ] {
        let (code, stdout, stderr) = desk.subflow(&arguments);
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(stderr.contains(expected), "{stderr}");
    }
}
