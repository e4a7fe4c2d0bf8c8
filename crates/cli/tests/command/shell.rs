//! What editors, shells and new users are given.

#[cfg(unix)]
use subflow_prerequisite::Prerequisite;

use crate::desk::{Desk, QUICK, has_bash};

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
        for word in ["reproduce", "pcap-limit", "simulator", "linux-default", "multiflow2016"] {
            assert!(stdout.contains(word), "{shell}: {word}");
        }
        assert!(!stdout.contains("@interfaces@"), "{shell}");
    }
    assert_eq!(desk.subflow(&["completions", "cobol"]).0, Some(2));
}

#[test]
#[cfg(unix)]
fn bash_completes_a_command_and_its_values() {
    if !has_bash() {
        return;
    }
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
    // Names, and no files: there is one here that begins with a q.
    assert_eq!(complete(&["subflow", "reproduce", "multif"]).trim(), "multiflow2016");
    assert_eq!(complete(&["subflow", "run", "--set", "profile=linux-6.12-"]).trim(), "profile=linux-6.12-small-queues");
    assert_eq!(complete(&["subflow", "run", "--seed", "q"]).trim(), "q");
    if cfg!(target_os = "linux") {
        assert_eq!(complete(&["subflow", "proxy", "--scheduler", "ble"]).trim(), "blest");
        assert_eq!(complete(&["subflow", "paths", "--policy", "ndiff"]).trim(), "ndiffports");
        assert_eq!(complete(&["subflow", "cc", "load", "wve"]).trim(), "wvegas");
        assert_eq!(complete(&["subflow", "proxy", "--via", "l"]).trim(), "lo");
    }
}

/// What `program` prints for `script`, in a folder with the completions of that shell as `file`. None where there is no
/// such shell.
#[cfg(unix)]
fn in_shell(desk: &Desk, program: &str, file: &str, script: &str, needed: Prerequisite) -> Option<String> {
    let (_, completions, _) = desk.subflow(&["completions", program]);
    std::fs::write(desk.path(file), completions).expect("written");
    // Without the files of the user who runs the tests.
    let no_files = if program == "zsh" { "-f" } else { "--no-config" };
    let mut shell = std::process::Command::new(program);
    shell.args([no_files, "-c", script]).current_dir(desk.root()).env("HOME", desk.root());
    match shell.output() {
        Ok(output) => {
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && stderr.is_empty(), "{program}: {stderr}");
            Some(String::from_utf8(output.stdout).expect("UTF-8"))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            needed.missing(format!("there is no {program}"));
            None
        }
        Err(error) => panic!("{program}: {error}"),
    }
}

#[test]
#[cfg(unix)]
fn zsh_completes_a_command_and_its_values() {
    let desk = Desk::new(QUICK);
    // Completions only come up in a terminal. zsh's own module makes one, in which keys are pressed; the command is
    // replaced by a function that shows its arguments.
    let script = r#"
        zmodload zsh/zpty
        zpty shell zsh -f -i
        await() {
            local all="" some
            while [[ "$all" != *"$1"* ]]; do zpty -r shell some || return 1; all+="$some"; done
            print -r -- "$all"
        }
        press() { zpty -w -n shell "$1"; }
        press $'fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D\n'
        press $'subflow() { echo called with: $* end }; echo "loaded:" $_comps[subflow]\n'
        await 'loaded: _subflow' > /dev/null
        press $'subflow repr\t\n'
        await ' end'
        press $'subflow new shared\t\n'
        await ' end'
        press $'subflow paths --policy ndiff\t\n'
        await ' end'
        zpty -d shell
    "#;
    if let Some(printed) = in_shell(&desk, "zsh", "_subflow", script, Prerequisite::Zsh) {
        for arguments in ["reproduce", "new shared-bottleneck", "paths --policy ndiffports"] {
            assert!(printed.contains(&format!("called with: {arguments} end")), "{printed}");
        }
    }
}

#[test]
#[cfg(unix)]
fn fish_completes_a_command_and_its_values() {
    let desk = Desk::new(QUICK);
    let script = "source completions.fish
        complete --do-complete 'subflow repr'; echo; complete --do-complete 'subflow new shared'; echo
        complete --do-complete 'subflow run --pcap-'; echo; complete --do-complete 'subflow cc load wve'; echo
        complete --do-complete 'subflow proxy --via l'; echo; complete --do-complete 'subflow reproduce multif'";
    if let Some(printed) = in_shell(&desk, "fish", "completions.fish", script, Prerequisite::Fish) {
        let words: Vec<&str> = printed.lines().filter_map(|line| line.split_whitespace().next()).collect();
        let expected = ["reproduce", "shared-bottleneck", "--pcap-limit", "wvegas", "lo", "multiflow2016"];
        assert_eq!(words, expected, "{printed}");
    }
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
    let (code, page, _) = desk.subflow(&["man", "help"]);
    assert!(code == Some(0) && page.contains(".TH subflow-help 1"), "{page}");
    let (code, stdout, stderr) = desk.subflow(&["man", "run", "fast"]);
    assert_eq!((code, stdout.as_str()), (Some(2), ""));
    assert!(stderr.contains("`subflow run` has no commands of its own"), "{stderr}");
    let (code, stdout, stderr) = desk.subflow(&["man", "fly"]);
    assert_eq!((code, stdout.as_str()), (Some(2), ""));
    assert!(stderr.contains("expected the name of a command") && stderr.contains("reproduce"), "{stderr}");
}

#[test]
fn every_page_that_a_manual_page_refers_to_is_written() {
    let desk = Desk::new(QUICK);
    let (code, _, stderr) = desk.subflow(&["man", "--out", "pages"]);
    assert_eq!(code, Some(0), "{stderr}");
    let pages: Vec<_> = std::fs::read_dir(desk.path("pages")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(pages.len() > 10, "{pages:?}");
    for page in &pages {
        assert!(!page.to_string_lossy().contains("-help"), "{}: `help` has no pages", page.display());
        let text = std::fs::read_to_string(page).unwrap().replace("\\-", "-");
        let referred = text.split_whitespace().filter(|word| word.starts_with("subflow-") && word.contains("(1)"));
        for name in referred.map(|word| word.split('(').next().unwrap()) {
            assert!(desk.path(&format!("pages/{name}.1")).exists(), "{name}, of {}", page.display());
        }
    }
}
