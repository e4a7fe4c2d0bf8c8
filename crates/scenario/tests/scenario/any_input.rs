//! No text is too odd to be told what is wrong with it.

use std::path::Path;

use miette::{GraphicalReportHandler, GraphicalTheme};
use proptest::prelude::*;
use subflow_scenario::file::{Document, Problems};
use subflow_scenario::schema;
use subflow_scenario::sweep::Plan;

const WIFI_LTE: &str = include_str!("../../../../scenarios/wifi-lte.toml");

/// Reads a text, with assignments, and renders what is wrong.
fn read(text: &str, sets: &[String]) -> Result<Plan, Problems> {
    let outcome = Document::parse(Path::new("any.toml"), text.to_owned()).and_then(|mut document| {
        sets.iter().try_for_each(|set| document.set("--set", set))?;
        document.text();
        Ok(document)
    });
    let outcome = outcome.map_err(Problems::from).and_then(Plan::read);
    if let Err(problems) = &outcome {
        let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor());
        for problem in &problems.first {
            handler.render_report(&mut String::new(), problem).expect("spans lie within the text");
        }
    }
    outcome
}

/// TOML values of every type, quantities as likely as nonsense.
fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        any::<i64>().prop_map(|n| n.to_string()),
        any::<f64>().prop_map(|x| format!("{x:?}")),
        any::<bool>().prop_map(|b| b.to_string()),
        Just("1979-05-27T07:32:00Z".to_owned()),
        "[-+.0-9a-zA-Zµ%/ ]{0,12}".prop_map(|text| format!("{text:?}")),
        r"[0-9]{1,20}(\.[0-9]{1,12})? (ns|ms|s|h|Mbit/s|GB/s|kB|TiB|packets|%)".prop_map(|text| format!("{text:?}")),
        prop_oneof!["none", "unlimited", "phone", "phone.wifi", "internet", "wifi", "red", "mptcp", "udp", "lia", "ll"]
            .prop_map(|text| format!("{text:?}")),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let key = prop_oneof![any_key(), "[a-z]{1,6}".prop_map(|key| key)];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|values| format!("[{}]", values.join(", "))),
            prop::collection::btree_map(key, inner, 0..4).prop_map(|entries| {
                let entries: Vec<String> = entries.iter().map(|(key, value)| format!("{key} = {value}")).collect();
                format!("{{ {} }}", entries.join(", "))
            }),
        ]
    })
}

/// Any key that the schema knows anywhere.
fn any_key() -> impl Strategy<Value = String> {
    let keys: Vec<String> = schema::TABLES.iter().flat_map(|table| table.keys()).map(str::to_owned).collect();
    prop::sample::select(keys)
}

/// A path to some key of some table of the scenario.
fn path() -> impl Strategy<Value = String> {
    let sections =
        ["", "hosts.", "hosts.phone.", "routers.", "links.", "links.wifi.", "links.wifi.queue.", "flows.file."];
    let deeper = ["flows.file.tcp.", "flows.file.mptcp.", "flows.file.requests.", "tcp.", "sweep.", "timeline.0."];
    let section = prop::sample::select([&sections[..], &deeper[..]].concat());
    (section, any_key()).prop_map(|(section, key)| format!("{section}{key}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_text(text in any::<String>()) {
        let _ = read(&text, &[]);
    }

    #[test]
    fn any_bytes_in_a_file(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), bytes).expect("written");
        let _ = Document::load(file.path()).map_err(Problems::from).and_then(Plan::read);
    }

    #[test]
    fn any_cut_and_any_slip_in_a_good_scenario(cut in 0..WIFI_LTE.len(), insert in "\\PC{0,3}", keep in any::<bool>()) {
        let cut = (0..=cut).rev().find(|at| WIFI_LTE.is_char_boundary(*at)).unwrap_or(0);
        let rest = if keep { &WIFI_LTE[cut..] } else { "" };
        let _ = read(&format!("{}{insert}{rest}", &WIFI_LTE[..cut]), &[]);
    }

    #[test]
    fn any_value_at_any_known_key(path in path(), value in value()) {
        let _ = read(WIFI_LTE, &[format!("{path}={value}")]);
    }

    #[test]
    fn any_value_in_the_file(path in path(), value in value()) {
        let _ = read(&format!("{path} = {value}\n{WIFI_LTE}"), &[]);
    }

    #[test]
    fn any_assignment(text in "\\PC{0,30}") {
        let _ = read(WIFI_LTE, &[text]);
    }

    #[test]
    fn any_sweep(path in path(), values in prop::collection::vec(value(), 0..4)) {
        let _ = read(&format!("{WIFI_LTE}\n[sweep]\n\"{path}\" = [{}]\n", values.join(", ")), &[]);
    }
}
