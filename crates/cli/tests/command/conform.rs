//! `subflow conform`.

use super::desk::{Desk, QUICK};

const GOOD: &str = "protocol tcp
requirement RFC 9293 section 3.5.2
claim A SYN to a closed port is reset
0 < SYN seq 1000
+0 > RST ACK seq 0 ack 1001
";

fn desk(scripts: &[(&str, &str)]) -> Desk {
    let desk = Desk::new(QUICK);
    std::fs::create_dir(desk.path("tests")).expect("a new folder");
    for (name, text) in scripts {
        std::fs::write(desk.path("tests").join(name), text).expect("a new file");
    }
    desk
}

#[test]
fn scripts_that_pass_are_listed_and_counted() {
    let desk = desk(&[("a.conform", GOOD), ("b.conform", GOOD), ("notes.txt", "not a script")]);
    let (code, stdout, stderr) = desk.subflow(&["conform", "tests"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
    let lines: Vec<&str> = stdout.lines().collect();
    assert_eq!(lines[0], "passed  tests/a.conform  A SYN to a closed port is reset");
    assert_eq!((lines.len(), lines[2]), (3, "2 scripts passed"));
}

#[test]
fn a_script_that_fails_shows_its_line_and_what_was_seen_and_the_others_run() {
    let desk = desk(&[("a.conform", &GOOD.replace("ack 1001", "ack 1002")), ("b.conform", GOOD)]);
    let (code, stdout, stderr) = desk.subflow(&["conform", "tests"]);
    assert_eq!((code, stderr.as_str()), (Some(1), "error: 1 of 2 scripts failed\n"), "{stdout}");
    assert!(stdout.contains("FAILED  tests/a.conform") && stdout.contains("passed  tests/b.conform"), "{stdout}");
    assert!(stdout.contains("tests/a.conform:5:24") && stdout.contains("ack: 1002 expected, 1001 seen"), "{stdout}");
    assert!(stdout.contains("expected  +0 > RST ACK seq 0 ack 1002"), "{stdout}");
}

#[test]
fn a_script_that_cannot_be_read_is_bad_input_and_nothing_runs() {
    let desk = desk(&[("a.conform", GOOD), ("b.conform", &GOOD.replace("seq 1000", "sek 1000"))]);
    let (code, stdout, stderr) = desk.subflow(&["conform", "tests/a.conform", "tests/b.conform"]);
    assert_eq!((code, stdout.as_str()), (Some(2), ""));
    assert!(stderr.contains("tests/b.conform:4:9") && stderr.contains("did you mean \"seq\"?"), "{stderr}");
    let (code, _, stderr) = desk.subflow(&["conform", "quick"]);
    assert_eq!(code, Some(2));
    assert!(stderr.contains("quick cannot be read"), "{stderr}");
}
