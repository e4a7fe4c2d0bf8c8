//! The written reference and the shipped scenarios agree with the reader.

use std::path::{Path, PathBuf};

use subflow_scenario::file::Document;
use subflow_scenario::schema;
use subflow_scenario::sweep::Plan;

fn scenarios() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

#[test]
fn the_reference_is_up_to_date() {
    let written = std::fs::read_to_string(scenarios().join("REFERENCE.md")).expect("scenarios/REFERENCE.md");
    let hint = "run: cargo run -p subflow-scenario --example scenario_reference > scenarios/REFERENCE.md";
    assert!(written == schema::reference(), "{hint}");
}

#[test]
fn every_scenario_that_we_ship_is_good() {
    let mut checked = 0;
    for entry in std::fs::read_dir(scenarios()).expect("scenarios/") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let plan = Document::load(&path).map_err(Into::into).and_then(Plan::read);
            assert!(plan.is_ok(), "{}", plan.expect_err("just seen"));
            checked += 1;
        }
    }
    assert!(checked >= 8, "only {checked} scenarios found");
}

/// Words that a key takes next to quantities or tables are no list of names.
#[test]
fn a_key_that_takes_nothing_but_words_takes_them_from_the_readers_table() {
    let only_words = |kind: &str| {
        let mut alternatives = kind.split(", ").flat_map(|part| part.split(" or ")).peekable();
        let quoted = |text: &str| text.len() > 2 && text.starts_with('"') && text.ends_with('"');
        kind.contains(" or ") && alternatives.all(quoted)
    };
    assert!(only_words("\"a\", \"b\" or \"c\"") && !only_words("a host, or \"host.interface\""));
    let mut words = 0;
    for table in schema::TABLES.iter() {
        for field in &table.fields {
            match field.kind {
                schema::Kind::Word(_) => words += 1,
                _ => assert!(!only_words(&field.takes()), "{} in {}: {}", field.key, table.path, field.takes()),
            }
        }
    }
    assert!(words >= 20, "only {words} keys take words");
}
