//! The JSON Schema for editors accepts what the reader accepts, and refuses what no reader could accept.

use std::path::{Path, PathBuf};

use jsonschema::Validator;
use serde_json::Value;
use subflow_scenario::schema::json_schema;

fn validator() -> Validator {
    jsonschema::draft7::new(&json_schema()).expect("it is a JSON Schema")
}

/// All files in TOML in these folders of the repository and below.
fn scenario_files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders = vec![root.join("scenarios"), root.join("crates/cli/src/commands/new")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(extension) if extension == "toml" => files.push(path),
                _ => {}
            }
        }
    }
    files
}

fn parsed(text: &str) -> Value {
    let document: toml_edit::DocumentMut = text.parse().expect("TOML");
    table(document.as_table())
}

fn table(table: &dyn toml_edit::TableLike) -> Value {
    Value::Object(table.iter().map(|(key, item)| (key.to_owned(), json(item))).collect())
}

fn json(item: &toml_edit::Item) -> Value {
    if let Some(tables) = item.as_array_of_tables() {
        return tables.iter().map(|each| table(each)).collect();
    }
    if let Some(below) = item.as_table_like() {
        return table(below);
    }
    match item.as_value().expect("a value") {
        toml_edit::Value::String(text) => text.value().as_str().into(),
        toml_edit::Value::Integer(number) => (*number.value()).into(),
        toml_edit::Value::Float(number) => (*number.value()).into(),
        toml_edit::Value::Boolean(value) => (*value.value()).into(),
        toml_edit::Value::Array(list) => {
            list.iter().map(|value| json(&toml_edit::Item::Value(value.clone()))).collect()
        }
        other => panic!("{other} has no equivalent"),
    }
}

const GOOD: &str = r#"
profile = "mptcp-0.9"
[hosts]
server = ["eth"]
[hosts.phone]
interfaces = [
    { name = "wifi", energy = { model = "wifi-huang2012", idle_power = "2 mW", up = "283 nJ/bit" } },
    { name = "lte", address = "10.9.0.1", backup = true, energy = "lte-huang2012" },
]
tcp = { delayed_ack = false, receive_buffer = "1 MB", send_buffer = { maximum = "4 MiB" } }
[routers.internet]
routing = "ecmp-flow"
[links.wifi]
between = ["phone.wifi", "internet"]
rate = { up = "5 Mbit/s", down = { rate = "50 Mbps", burst = "10 kB" } }
delay = "10.5 ms"
queue = { discipline = "red", limit = "200 packets", weight = 0.01 }
loss = { model = "gilbert-elliott", good_to_bad = "0.05 %", bad_to_good = "20 %" }
[links.lte]
between = ["phone.lte", "internet"]
rate = "traces/lte.up"
queue = "unlimited"
jitter = { up = "1 ms" }
[links.core]
between = ["internet", "server"]
rate = "unlimited"
[flows.file]
from = "phone"
to = "server"
protocol = "mptcp"
congestion = { name = "cubic", beta = 0.5, fast_convergence = false }
scheduler = { name = "blest", lambda = 1.1, beta = "1/4" }
requests = { response = "1 MB", think = { exponential = "1 s" } }
[[timeline]]
at = "1 s"
link = "wifi"
rate = { up = "1 Mbit/s" }
[[timeline]]
at = "2 s"
link = "wifi"
trace = "drive.csv"
[[timeline]]
at = "12 s"
link = "lte"
handovers = { outage = "0 s", rate = { up = ["1 Mbit/s", "2 Mbit/s"], down = ["3 Mbit/s", "9 Mbit/s"] } }
[sweep]
design = { name = "random", points = 3 }
"links.wifi.loss" = ["0 %", "1 %"]
flows.file.congestion = ["lia", "olia"]
links.lte.delay = "10 ms .. 50 ms step 10 ms"
links.wifi.delay = "1.0..10 log 3"
"#;

#[test]
fn every_scenario_of_the_repository_is_valid() {
    let (validator, files) = (validator(), scenario_files());
    assert!(files.len() >= 25, "only {} scenarios found", files.len());
    for path in files {
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let errors: Vec<String> =
            validator.iter_errors(&parsed(&text)).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{}: {errors:?}", path.display());
    }
}

#[test]
fn every_form_of_a_value_is_valid() {
    let (validator, good) = (validator(), parsed(GOOD));
    let errors: Vec<String> = validator.iter_errors(&good).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
}

#[test]
fn what_is_wrong_is_refused_where_it_stands() {
    let wrong = [
        ("profile = \"mptcp-0.9\"", "profile = \"windows-95\"", "/profile"),
        ("delay = \"10.5 ms\"", "delay = \"10.5\"", "/links/wifi"),
        ("delay = \"10.5 ms\"", "delay = \"10 Ms\"", "/links/wifi"),
        ("delay = \"10.5 ms\"", "delai = \"10 ms\"", "/links/wifi"),
        ("rate = \"unlimited\"", "rate = 50", "/links/core"),
        ("rate = \"unlimited\"", "rate = \"50\"", "/links/core"),
        ("rate = \"unlimited\"", "", "/links/core"),
        ("protocol = \"mptcp\"", "protocol = \"dccp\"", "/flows/file"),
        ("name = \"blest\"", "name = \"best\"", "/flows/file"),
        ("weight = 0.01", "weight = 1.5", "/links/wifi"),
        ("backup = true", "backup = \"yes\"", "/hosts/phone"),
        ("between = [\"internet\", \"server\"]", "between = [\"internet\"]", "/links/core"),
        ("at = \"1 s\"", "at = 1", "/timeline/0"),
        ("[links.core]", "[links.\"the core\"]", "/links"),
        ("[\"lia\", \"olia\"]", "\"lia\"", "/sweep/flows"),
        ("[\"0 %\", \"1 %\"]", "[]", "/sweep"),
        (" .. 50 ms step 10 ms", "", "/sweep/links"),
        ("points = 3", "points = 0", "/sweep/design"),
        (", points = 3", "", "/sweep/design"),
        ("\"random\", points", "\"full\", points", "/sweep/design"),
        ("design = { name = \"random\", points = 3 }\n", "flows.file.pause = \"1 ms .. 3 ms\"\n", "/sweep"),
        ("{ name = \"random\", points = 3 }", "\"full\"\nhosts.x.y = \"1 ms .. 3 ms\"", "/sweep"),
        ("from = \"phone\"", "", "/flows/file"),
        ("response = \"1 MB\", ", "", "/flows/file"),
    ];
    let validator = validator();
    for (good, bad, place) in wrong {
        assert!(GOOD.contains(good), "{good}");
        let text = GOOD.replacen(good, bad, 1);
        let instance = parsed(&text);
        let places: Vec<String> =
            validator.iter_errors(&instance).map(|error| error.instance_path().to_string()).collect();
        let found = places.iter().any(|found| found.starts_with(place));
        assert!(found, "{bad:?} is refused at {places:?}, expected {place}");
    }
}
