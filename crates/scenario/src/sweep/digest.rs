//! What identifies a scenario with all values of one point of its sweep.

use sha2::{Digest, Sha256};

use crate::Traces;
use crate::file::{Node, Value};

/// Keys at the top of the file that do not change what a run does: words, and which runs there are.
const WITHOUT_EFFECT: [&str; 5] = ["title", "description", "seed", "repeat", "sweep"];

/// SHA-256 of the values in `root` and of the content of the traces that they name.
pub(super) fn digest(root: &Node, traces: &Traces) -> [u8; 32] {
    let mut text = String::new();
    if let Value::Table(entries) = &root.value {
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

    use crate::file::Document;
    use crate::sweep::Plan;

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
