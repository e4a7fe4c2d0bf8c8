//! When two swept values, or two points with all their values, are the same.

use std::fmt::Display;

use serde_json::Value;
use sha2::{Digest, Sha256};
use subflow_quantity::{Bdp, Duration, EnergyPerBit, Packets, Power, Probability, Rate, Size};

use crate::Traces;
use crate::file::{Node, Value as NodeValue};

/// Text that is the same for equal values: `1.0 %` is `1 %`, `1000 ms` is `1 s`, and `1.0` is `1`. Other text, such as
/// a name, equals itself only.
pub fn canonical(value: &Value) -> String {
    match value {
        Value::String(text) => quantity(text).unwrap_or_else(|| value.to_string()),
        Value::Number(number) => match number.as_f64() {
            // A whole number below 2^53 is exact in both notations.
            Some(x) if x.fract() == 0.0 && x.abs() < 2f64.powi(53) => (x as i64).to_string(),
            _ => number.to_string(),
        },
        Value::Array(values) => format!("[{}]", values.iter().map(canonical).collect::<Vec<_>>().join(",")),
        // The order of entries decides on addresses and on ties.
        Value::Object(entries) => entries.iter().map(|(key, value)| format!("{key:?}={},", canonical(value))).collect(),
        Value::Null | Value::Bool(_) => value.to_string(),
    }
}

/// A quantity as its type writes it. Each type has units of its own.
fn quantity(text: &str) -> Option<String> {
    fn written<T: Display>(quantity: T) -> String {
        quantity.to_string()
    }
    let rate = || text.parse::<Rate>().map(written);
    let size = || text.parse::<Size>().map(written);
    let probability = || text.parse::<Probability>().map(written);
    let packets = || text.parse::<Packets>().map(written);
    let bdp = || text.parse::<Bdp>().map(written);
    let power = || text.parse::<Power>().map(written);
    let energy = || text.parse::<EnergyPerBit>().map(written);
    text.parse::<Duration>()
        .map(written)
        .or_else(|_| rate())
        .or_else(|_| size())
        .or_else(|_| probability())
        .or_else(|_| packets())
        .or_else(|_| bdp())
        .or_else(|_| power())
        .or_else(|_| energy())
        .ok()
}

/// Keys at the top of the file that do not change what a run does: words, and which runs there are.
const WITHOUT_EFFECT: [&str; 6] = ["title", "description", "seed", "repeat", "sweep", "axes"];

/// SHA-256 of the values in `root` and of the content of the traces that they name.
pub(super) fn digest(root: &Node, traces: &Traces) -> [u8; 32] {
    let mut text = String::new();
    if let NodeValue::Table(entries) = &root.value {
        for entry in entries.iter().filter(|entry| !WITHOUT_EFFECT.contains(&entry.key.as_str())) {
            text += &format!("{:?}=", entry.key);
            entry.node.write_canonical(&mut text);
            text.push('\n');
        }
    }
    let mut hash = Sha256::new();
    hash.update(&text);
    for (name, content) in traces.digests() {
        // A trace is named by a text. Another text that is the same adds a trace that has no effect.
        if text.contains(&format!("{name:?}")) {
            hash.update(&name);
            hash.update(content);
        }
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::*;
    use crate::file::Document;
    use crate::sweep::Plan;

    #[test]
    fn equal_values_are_the_same_however_they_are_written() {
        for (one, other) in [
            (json!("1 %"), json!("1.0 %")),
            (json!("1%"), json!("1 %")),
            (json!("1 s"), json!("1000 ms")),
            (json!("8 Mbit/s"), json!("1 MB/s")),
            (json!("1 KiB"), json!("1024 bytes")),
            (json!("1.5 W"), json!("1500 mW")),
            (json!("50 nJ/bit"), json!("50 mW/Mbps")),
            (json!(1), json!(1.0)),
            (json!({ "up": "1 Mbit/s" }), json!({ "up": "1000 kbit/s" })),
            (json!(["none", "10 ms"]), json!(["none", "0.01 s"])),
        ] {
            assert_eq!(canonical(&one), canonical(&other), "{one} is {other}");
        }
    }

    #[test]
    fn other_values_differ() {
        let values = [
            json!("1 %"),
            json!("1.01 %"),
            json!("1 s"),
            json!("1 packets"),
            json!("1 bdp"),
            json!("1 MB"),
            json!("1 MiB"),
            json!("1"),
            json!(1),
            json!("lia"),
            json!(true),
            json!("true"),
            json!(["1 s"]),
            json!({ "a": 1, "b": 2 }),
            json!({ "a": 1, "b": 3 }),
        ];
        for (at, one) in values.iter().enumerate() {
            assert!(values[..at].iter().all(|other| canonical(one) != canonical(other)), "{one}");
        }
    }

    fn digests(folder: &Path, text: &str) -> Vec<[u8; 32]> {
        let document = Document::parse(&folder.join("a.toml"), text.to_owned()).expect("TOML");
        Plan::read(document).expect("a scenario").points.iter().map(|point| point.digest).collect()
    }

    const TEXT: &str = "title = \"one\"\n[hosts]\na = [\"x\"]\nb = [\"x\"]\n[links.l]\nbetween = [\"a\", \"b\"]\n\
        rate = \"1 Mbit/s\"\n[flows.f]\nfrom = \"a\"\nto = \"b\"\n";

    #[test]
    fn it_is_that_of_the_values_and_of_nothing_else() {
        let folder = Path::new("");
        let one = digests(folder, TEXT);
        assert_eq!(one, digests(folder, &TEXT.replace("one", "two").replace("[links", "# a comment\n[links")));
        assert_eq!(one, digests(folder, &format!("seed = 7\nrepeat = 3\n{TEXT}")));
        assert_eq!(one, digests(folder, &format!("{TEXT}[axes.goodput]\ntitle = \"Throughput\"\n")));
        assert_ne!(one, digests(folder, &TEXT.replace("1 Mbit/s", "2 Mbit/s")));
        assert_ne!(one, digests(folder, &TEXT.replace("a = [\"x\"]\nb = [\"x\"]", "b = [\"x\"]\na = [\"x\"]")));
        let swept = digests(folder, &format!("{TEXT}[sweep]\n\"links.l.rate\" = [\"1 Mbit/s\", \"2 Mbit/s\"]\n"));
        assert_eq!(swept, [one[0], digests(folder, &TEXT.replace("1 Mbit/s", "2 Mbit/s"))[0]]);
    }

    #[test]
    fn another_content_of_a_trace_is_another_scenario() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let with_trace = TEXT.replace("\"1 Mbit/s\"", "\"trace.up\"");
        let digest_with = |content: &str| {
            std::fs::write(folder.path().join("trace.up"), content).expect("written");
            digests(folder.path(), &with_trace)
        };
        assert_eq!(digest_with("1\n2\n"), digest_with("1\n2\n"));
        assert_ne!(digest_with("1\n2\n"), digest_with("1\n3\n"));
    }
}
