//! What editors, shells and new users are given.

use crate::desk::{Desk, QUICK};

const TEMPLATES: [&str; 4] = ["two-paths", "mobile", "shared-bottleneck", "sctp"];

#[test]
fn every_new_scenario_is_valid_and_runs() {
    let desk = Desk::new(QUICK);
    for kind in TEMPLATES {
        let (code, stdout, stderr) = desk.subflow(&["new", kind]);
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{kind}");
        let file = format!("{kind}.toml");
        assert!(stdout.contains(&file), "{stdout}");
        let (code, _, stderr) = desk.subflow(&["check", &file]);
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{kind}");
        let (code, stdout, stderr) = desk.subflow(&["run", &file, "--repeat", "1", "--format", "json"]);
        assert_eq!(code, Some(0), "{kind}: {stderr}");
        let results: serde_json::Value = serde_json::from_str(&stdout).expect("one object");
        let flows = |run: &serde_json::Value| run["flows"].as_array().expect("flows").clone();
        for flow in results["runs"].as_array().expect("runs").iter().flat_map(flows) {
            assert!(flow["bytes_delivered"].as_u64() > Some(100_000), "{kind}: {flow}");
        }
    }
}

#[test]
fn a_new_scenario_does_not_replace_a_file() {
    let desk = Desk::new(QUICK);
    for (arguments, expected) in [
        (&["new", "mobile", "quick.toml"][..], "the file exists"),
        (&["new", "mobile", "missing/mine.toml"], "missing/mine.toml: cannot write the scenario"),
        (&["new", "moblie"], "a similar value exists: 'mobile'"),
    ] {
        let (code, stdout, stderr) = desk.subflow(arguments);
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(stderr.contains(expected), "{stderr}");
    }
    assert_eq!(desk.files(), ["quick.toml"]);
    assert_eq!(std::fs::read_to_string(desk.path("quick.toml")).expect("it is there"), QUICK);
}

#[test]
fn the_schema_is_that_of_the_reader() {
    let (code, stdout, _) = Desk::new(QUICK).subflow(&["schema"]);
    assert_eq!(code, Some(0));
    let printed: serde_json::Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(printed, subflow_scenario::schema::json_schema());
}

#[test]
fn every_shell_is_told_the_commands_and_options() {
    let desk = Desk::new(QUICK);
    for shell in ["bash", "zsh", "fish"] {
        let (code, stdout, stderr) = desk.subflow(&["completions", shell]);
        assert_eq!((code, stderr.as_str()), (Some(0), ""));
        for word in ["reproduce", "pcap-limit", "simulator"] {
            assert!(stdout.contains(word), "{shell}: {word}");
        }
    }
    assert_eq!(desk.subflow(&["completions", "cobol"]).0, Some(2));
}

#[test]
#[cfg(unix)]
fn bash_completes_a_command_and_its_values() {
    let desk = Desk::new(QUICK);
    let (_, script, _) = desk.subflow(&["completions", "bash"]);
    std::fs::write(desk.path("completions.bash"), script).expect("written");
    // What bash does when TAB is pressed after these words.
    let complete = |words: &[&str]| {
        let (last, previous) = (words[words.len() - 1], words[words.len() - 2]);
        let line = format!(
            "source completions.bash && COMP_WORDS=({}) && COMP_CWORD={} && _subflow subflow '{last}' '{previous}' && \
             printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            words.join(" "),
            words.len() - 1,
        );
        let output = std::process::Command::new("bash").args(["-c", &line]).current_dir(desk.root()).output();
        String::from_utf8(output.expect("there is a bash").stdout).expect("UTF-8")
    };
    assert_eq!(complete(&["subflow", "rep"]).trim(), "reproduce");
    assert_eq!(complete(&["subflow", "run", "--for"]).split_whitespace().collect::<Vec<_>>(), ["--format", "--force"]);
    assert_eq!(complete(&["subflow", "new", "shared"]).trim(), "shared-bottleneck");
}

#[test]
fn there_is_a_manual_page_for_each_command() {
    let desk = Desk::new(QUICK);
    let (code, page, _) = desk.subflow(&["man"]);
    assert_eq!(code, Some(0));
    assert!(page.contains(".TH subflow 1") && page.contains("subflow\\-run(1)"), "{page}");
    let (code, page, _) = desk.subflow(&["man", "run"]);
    assert_eq!(code, Some(0));
    assert!(page.contains(".TH subflow-run 1") && page.contains("\\-\\-pcap\\-limit"), "{page}");
    let (code, stdout, stderr) = desk.subflow(&["man", "fly"]);
    assert_eq!((code, stdout.as_str()), (Some(2), ""));
    assert!(stderr.contains("expected the name of a command") && stderr.contains("reproduce"), "{stderr}");
}
