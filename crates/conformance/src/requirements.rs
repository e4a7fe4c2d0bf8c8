//! The page that maps requirements to scripts.

use core::fmt::Write;
use std::collections::BTreeMap;

use crate::script::{Protocol, Requirement, Script};

/// The page, as Markdown: for each protocol and RFC, every requirement that a script states, and the script. `scripts`
/// are scripts with the names of their files, in any order.
pub fn requirements_page(scripts: &[(String, Script)]) -> String {
    let mut page = String::from(INTRODUCTION);
    for (protocol, name) in [(Protocol::Tcp, "TCP"), (Protocol::Mptcp, "MPTCP"), (Protocol::Sctp, "SCTP")] {
        let mut by_rfc: BTreeMap<u32, Vec<(&Requirement, &str, &str)>> = BTreeMap::new();
        for (file, script) in scripts.iter().filter(|(_, script)| script.protocol == protocol) {
            by_rfc.entry(script.requirement.rfc).or_default().push((&script.requirement, file, &script.claim));
        }
        let count: usize = by_rfc.values().map(Vec::len).sum();
        let _ = writeln!(page, "\n## {name}\n\n{count} scripts.");
        for (rfc, mut rows) in by_rfc {
            rows.sort_by_key(|(requirement, file, _)| (section_key(&requirement.section), *file));
            let _ = writeln!(page, "\n### RFC {rfc}\n\n| section | requirement | what the script shows | script |");
            page += "|---|---|---|---|\n";
            for (Requirement { section, label, .. }, file, claim) in rows {
                let _ = writeln!(page, "| {section} | {label} | {claim} | `{file}` |");
            }
        }
    }
    page
}

const INTRODUCTION: &str = "# Requirements and their scripts

Each script of [`conformance/`](https://github.com/subflow/subflow/tree/main/conformance) states one requirement and
shows that the stack meets it. This page lists them by RFC and section; a test compares it with the scripts. What has no
row here has no script.
";

/// Sections in the order of their numbers; letters of appendices come last.
fn section_key(section: &str) -> Vec<(u32, String)> {
    section.split('.').map(|part| (part.parse().unwrap_or(u32::MAX), part.to_owned())).collect()
}
