//! Coupled congestion control in the kernel: names, and a command that was built without the programs.

use std::process::Output;

use crate::support::{subflow, text};

/// A command that is refused as bad input, with all of `words`.
pub(crate) fn assert_refused(output: &Output, words: &[&str]) {
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(words.iter().all(|word| said.contains(word)), "{said}");
    assert_eq!(text(&output.stdout), "");
}

#[test]
fn an_unknown_name_is_refused() {
    assert_refused(&subflow(&["cc", "load", "lya"]), &["\"lya\"", "did you mean \"lia\"?"]);
    assert_refused(&subflow(&["cc", "unload", "lia", "cubic"]), &["\"cubic\"", "lia, olia, balia, wvegas"]);
    assert_refused(&subflow(&["cc", "load"]), &["NAME"]);
    assert_refused(&subflow(&["cc", "load", "lia", "--all"]), &["--all"]);
}

#[cfg(not(feature = "ebpf"))]
#[test]
fn without_the_programs_the_command_says_how_to_build_them() {
    use crate::support::{SCENARIO, in_one_line, machine_serves, scenario};

    for arguments in [&["cc", "load", "lia"][..], &["cc", "list"], &["cc", "unload", "--all"]] {
        assert_refused(&subflow(arguments), &["this build has no eBPF programs", "--features ebpf", "clang"]);
    }
    if machine_serves() {
        let (_folder, path) = scenario(SCENARIO);
        let output = subflow(&["run", &path, "--on", "linux", "--set", "flows.file.congestion=olia"]);
        let said = in_one_line(&output.stderr);
        assert!(said.contains("no congestion control \"olia\", and this build has no eBPF programs"), "{said}");
        assert!(said.contains("flows.NAME.congestion=cubic"), "{said}");
    }
}
