//! What a failure says: scripts that expect what the stack rightly does not do.

use subflow_conformance::{parse, run};
use subflow_scenario::file::Problem;

const OPEN: &str = "protocol tcp
requirement RFC 9293 section 3.5
claim It fails
0 listen
0 < SYN seq 1000 mss 1460
+0 > SYN ACK seq $iss ack 1001
0.1 < ACK seq 1001 ack $iss+1
";

fn failure(steps: &str) -> Problem {
    let script = parse("test", &format!("{OPEN}{steps}")).unwrap_or_else(|problem| panic!("{problem:?}"));
    run(&script).expect_err("it fails")
}

fn place(problem: &Problem) -> (usize, usize) {
    let (line, column) = problem.place.as_ref().expect("a place").line_and_column();
    (line - 7, column)
}

#[test]
fn a_wrong_field_is_shown_at_its_value_with_both_lines() {
    let problem = failure("0.2 write 100\n+0 > ACK seq $iss+1 len 200");
    assert_eq!((place(&problem), problem.label.as_str()), ((2, 25), "len: 200 expected, 100 seen"));
    let lines: Vec<&str> = problem.help.lines().collect();
    assert!(lines.contains(&"expected  +0 > ACK seq $iss+1 len 200"), "{}", problem.help);
    assert!(lines.last().is_some_and(|seen| seen.starts_with("seen      0.200000 main> ")), "{}", problem.help);
    assert!(lines[0].starts_with("before    0.000000 main< SYN seq 1000"), "{}", problem.help);
}

#[test]
fn a_packet_that_does_not_leave_is_reported_at_the_end_of_its_time() {
    let problem = failure("0.2 > ACK");
    assert_eq!((place(&problem), problem.message.as_str()), ((1, 1), "nothing left by 0.201000"));
}

#[test]
fn a_packet_that_nothing_expects_is_a_failure_before_the_next_step_and_at_the_end() {
    let unexpected = "a packet left that the script does not expect";
    assert_eq!(failure("0.2 write 100\n0.2 reading on").message, unexpected);
    assert_eq!(failure("0.2 write 100").message, unexpected);
    assert_eq!(failure("0.2 write 100\n0.3 > nothing").message, unexpected);
}

#[test]
fn a_packet_may_be_early_or_late_by_the_tolerance_only() {
    let late = "0.2 write 100\n0.205 > ACK len 100";
    let problem = failure(late);
    assert_eq!((problem.message.as_str(), problem.label.as_str()), ("a packet left too early", "seen at 0.200000"));
    let tolerant = OPEN.replace("0 listen", "tolerance 5ms\n0 listen");
    run(&parse("test", &format!("{tolerant}{late}")).expect("it is right")).expect("5 ms are tolerated");
}

#[test]
fn flags_and_payload_count_although_they_are_not_written() {
    assert_eq!(failure("0.2 finish\n+0 > ACK").label, "FIN is set");
    assert_eq!(failure("0.2 write 100\n+0 > ACK").label, "no payload expected, len 100 seen");
    assert_eq!(failure("0.2 write 100\n+0 > ACK len 100 no win").label, "win is there");
    assert_eq!(failure("0.2 write 100\n+0 > ACK len 100 ts * *").label, "ts is not there");
}

#[test]
fn what_is_asserted_is_shown_with_what_is() {
    let problem = failure("0.2 assert state closed");
    assert_eq!((place(&problem), problem.label.as_str()), ((1, 18), "closed expected, established seen"));
    assert_eq!(failure("0.2 event peer_finished").message, "no event peer_finished");
    assert_eq!(failure("0.2 assert sate closed").help, "did you mean \"state\"?");
}

#[test]
fn a_variable_without_a_value_is_named() {
    assert_eq!(failure("0.2 < ACK seq $izz").message, "$izz has no value yet");
    assert_eq!(failure("0.2 < ACK seq *").message, "* stands for any value, and a value is needed here");
}

#[test]
fn time_does_not_run_backwards() {
    assert_eq!(failure("0.05 write 100").help, "times of steps must not decrease");
}
