//! The schema as a document.

use std::fmt::Write;

use super::{Default, FieldSchema, Kind, TABLES};
use crate::switches::{mptcp, profiles, quic, sctp, tcp};

/// The width of the text.
const COLUMNS: usize = 120;

/// All keys of a scenario file with their values, defaults and meanings, in Markdown.
pub fn reference() -> String {
    let mut text = String::from(
        "# Scenario files: every key and its default\n\n\
         Printed from the parser's schema by `cargo run -p subflow-scenario --example scenario_reference`.\n\n\
         Quantities are text with a unit: `\"20 ms\"`, `\"50 Mbit/s\"`, `\"64 KiB\"`, `\"1 %\"`, `\"100 packets\"`.\n\
         Paths are relative to the scenario's directory.\n",
    );
    for table in TABLES.iter() {
        let _ = write!(
            text,
            "\n## `{}`\n\n{}\n\n| key | value | default | meaning |\n|---|---|---|---|\n",
            table.path,
            textwrap::fill(table.doc, COLUMNS)
        );
        for field in &table.fields {
            let default = match &field.default {
                Default::Required => "**required**".to_owned(),
                Default::Value(literal) if literal == "''" => "empty".to_owned(),
                Default::Value(literal) => format!("`{}`", literal.replace('\'', "\"")),
                Default::None(words) => words.clone(),
            };
            let doc = description(field);
            let _ = writeln!(text, "| `{}` | {} | {default} | {doc} |", field.key, field.takes());
        }
    }
    text.push_str("\n## Profiles\n");
    for profile in profiles::all() {
        let (description, stack) = (profile.description, &profile.stack);
        let doc = textwrap::fill(&format!("It models {}.", description.summary), COLUMNS);
        let _ = write!(text, "\n### `{}`\n\n{doc}\n\n", description.name);
        let _ = writeln!(
            text,
            "- `congestion` of TCP `\"{}\"`, of MPTCP `\"{}\"`, of SCTP `\"{}\"`, of QUIC `\"{}\"`; \
             `scheduler` `\"{}\"`; `path_manager` `\"{}\"`",
            stack.tcp_congestion.name(),
            stack.mptcp.congestion.name(),
            stack.sctp.congestion.name(),
            stack.quic.congestion.name(),
            stack.mptcp.scheduler.name(),
            stack.mptcp.path_manager.name()
        );
        let usual = &profiles::default().stack;
        for (table, values) in [
            ("tcp", tcp::differences(stack, usual)),
            ("mptcp", mptcp::differences(stack, usual)),
            ("sctp", sctp::differences(stack, usual)),
            ("quic", quic::differences(stack, usual)),
        ] {
            for (key, literal) in values {
                let _ = writeln!(text, "- `{table}.{key} = {}`", literal.replace('\'', "\""));
            }
        }
    }
    text
}

/// The meaning of a key, and of the names that it accepts; names of algorithms are documented elsewhere.
pub(super) fn description(field: &FieldSchema) -> String {
    let Kind::Word(names) = &field.kind else { return field.doc.clone() };
    let meanings: Vec<String> = names.iter().map(|entry| format!("`{}`: {}", entry.name, entry.summary)).collect();
    format!("{} ({})", field.doc, meanings.join("; "))
}
