//! Scripts that are wrong, and what is said about them.

use proptest::prelude::*;
use subflow_conformance::{Document, load, parse, run, scripts_of};

const HEADER: &str = "protocol tcp\nrequirement RFC 9293 section 3.5\nclaim It opens\n";

/// Line and column of the first mistake behind the header, and the message.
fn mistake(lines: &str) -> (usize, usize, String) {
    let problem = parse("test", &format!("{HEADER}{lines}")).expect_err("a mistake");
    let (line, column) = problem.place.as_ref().expect("a place").line_and_column();
    (line - 3, column, format!("{}; {}", problem.message, problem.help))
}

#[track_caller]
fn is_refused(lines: &str, line: usize, column: usize, words: &str) {
    let (found_line, found_column, message) = mistake(lines);
    assert_eq!((found_line, found_column), (line, column), "{message}");
    assert!(message.contains(words), "{message}");
}

#[test]
fn a_script_that_is_right_is_read() {
    let text = format!("{HEADER}0 listen\n0.1 < SYN seq 1 mss 1460 # a comment\n+0 > SYN ACK seq $iss \\\n ack 2\n");
    let script = parse("test", &text).expect("it is right");
    assert_eq!((script.claim.as_str(), &script.requirement.document), ("It opens", &Document::Rfc(9293)));
    run(&script).expect("the stack answers a SYN");
}

#[test]
fn a_slip_is_named_with_its_place_and_the_nearest_name() {
    is_refused("0 listem", 1, 3, "did you mean \"listen\"?");
    is_refused("0 listen\n0.1 < SYN sek 1", 2, 11, "did you mean \"seq\"?");
    is_refused("set nagel off\n0 listen", 1, 5, "did you mean \"nagle\"?");
    is_refused("0 > SYN ack $tokem(1)", 1, 13, "there is no function $tokem");
}

#[test]
fn what_is_missing_is_named() {
    is_refused("0 < SYN seq", 1, 5 + 4, "seq has one value, not 0");
    is_refused("0 < SYN ts 5", 1, 9, "ts has 2 values, not 1");
    is_refused("0 > SYN ack $token(1", 1, 20, "\")\" is expected");
    is_refused("0 > SYN ack $hmac64(1, 2)", 1, 13, "$hmac64 has 4 arguments, not 2");
    is_refused("0", 1, 1, "<, > or a verb is expected");
    is_refused("0 write", 1, 3, "write BYTES");
}

#[test]
fn what_does_not_belong_is_refused() {
    is_refused("0 < no SYN", 1, 5, "for packets that must leave");
    is_refused("0 > ACK corrupt", 1, 9, "for packets that arrive");
    is_refused("0 > ACK capable(key 1)", 1, 9, "is no field that stands here");
    is_refused("0~1 listen", 1, 1, "range of times");
    is_refused("0.2~0.1 > SYN", 1, 1, "ends before it begins");
    is_refused("0 wifi > SYN", 1, 3, "there is no path \"wifi\"");
    is_refused("0 listen\nset nagle off", 2, 1, "a line without a time");
    is_refused("set min_rto 200\n0 listen", 1, 13, "a time with a unit or a fraction");
    is_refused("0 < SYN option '0a0'", 1, 16, "pairs of hexadecimal digits");
    is_refused("99999999999 listen", 1, 1, "a time is expected");
    is_refused("0 < SYN \u{1f980}", 1, 9, "cannot be read");
}

#[test]
fn a_script_without_a_requirement_a_claim_or_steps_is_refused() {
    let message = |text: &str| parse("test", text).expect_err("a mistake").message;
    assert_eq!(message("protocol tcp\nclaim It\n0 listen"), "the script has no requirement");
    assert_eq!(message("protocol tcp\nrequirement RFC 1 section 2\n0 listen"), "the script has no claim");
    assert_eq!(message(HEADER), "the script has no steps");
    assert_eq!(message("0 listen"), "the protocol is not known yet");
}

#[test]
fn calls_within_calls_end_with_an_error_and_not_with_the_stack() {
    let deep = "$token(".repeat(10_000);
    is_refused(&format!("0 > SYN ack {deep}"), 1, 13 + 8 * 7, "too deep");
}

/// What scripts are made of, in any order.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[ -~\n]{0,12}",
        "\\PC{0,6}",
        prop::sample::select(vec![
            "protocol ",
            "tcp\n",
            "mptcp\n",
            "sctp\n",
            "requirement RFC 1 section 2\n",
            "claim x\n",
            "set ",
            "path ",
            "0 ",
            "+0.1 ",
            "0.1~0.2 ",
            "< ",
            "> ",
            "SYN ",
            "ACK ",
            "seq ",
            "$x",
            "+1 ",
            "..",
            "capable(",
            ")",
            "dss(",
            "DATA(",
            "INIT(",
            "'0a'",
            "10.0.0.1 ",
            "10.0.0.1:80 ",
            "[::1]:5 ",
            "let ",
            "= ",
            "\\\n",
            "#",
            "\n",
            "$token(",
            "0x",
            "1.2.3",
            "nothing\n",
            "no ",
            "listen\n",
            "connect\n",
            "write 5\n",
            "18446744073709551615 ",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Scripts of the repository with a part exchanged.
fn mutated() -> impl Strategy<Value = String> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let texts: Vec<String> = scripts_of(&root)
        .expect("the scripts")
        .iter()
        .map(|path| std::fs::read_to_string(path).expect("a script"))
        .collect();
    let part = "[ -~\n]{0,6}";
    (prop::sample::select(texts), any::<prop::sample::Index>(), 0..6usize, part).prop_map(|(text, at, length, part)| {
        let at = at.index(text.len());
        let end = (at + length).min(text.len());
        match (text.get(..at), text.get(end..)) {
            (Some(before), Some(after)) => format!("{before}{part}{after}"),
            _ => text,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_the_reader_panic(text in pieces()) {
        if let Ok(script) = parse("test", &text) {
            let _ = run(&script);
        }
    }

    #[test]
    fn no_changed_script_makes_the_reader_or_a_run_panic(text in mutated()) {
        if let Ok(script) = parse("test", &text) {
            let _ = run(&script);
        }
    }
}

#[test]
fn a_file_that_is_not_there_is_an_error() {
    let problem = load(std::path::Path::new("does-not-exist.conform")).expect_err("there is none");
    assert!(problem.message.contains("cannot be read"), "{problem:?}");
}
