//! The JSON Schema as the page gets it: with the further names of algorithms told apart from the names, so that a sweep
//! over all values of a key runs each algorithm once.

use serde_json::{Map, Value};
use subflow_scenario::schema::{TABLES, json_schema};

/// The schema of scenarios. Beside each list of names, `x-aliases` has the further ones, each with the name that it stands
/// for.
pub(crate) fn schema_with_aliases() -> Value {
    let lists: Vec<(Value, Map<String, Value>)> =
        TABLES.iter().flat_map(|table| &table.fields).filter_map(list).collect();
    let mut schema = json_schema();
    mark(&mut schema, &lists);
    schema
}

/// All names that a key takes as the schema lists them, and the further ones among them.
fn list(field: &subflow_scenario::schema::FieldSchema) -> Option<(Value, Map<String, Value>)> {
    let entries = field.names()?;
    let all = entries.iter().flat_map(|entry| [entry.name].into_iter().chain(entry.aliases.iter().copied()));
    let further = entries.iter().flat_map(|entry| entry.aliases.iter().map(|alias| (*alias, entry.name)));
    let further: Map<String, Value> = further.map(|(alias, name)| (alias.to_owned(), name.into())).collect();
    (!further.is_empty()).then(|| (all.collect(), further))
}

fn mark(schema: &mut Value, lists: &[(Value, Map<String, Value>)]) {
    match schema {
        Value::Object(entries) => {
            let found = entries.get("enum").and_then(|names| lists.iter().find(|(all, _)| all == names));
            if let Some((_, further)) = found {
                entries.insert("x-aliases".to_owned(), further.clone().into());
            }
            entries.values_mut().for_each(|below| mark(below, lists));
        }
        Value::Array(parts) => parts.iter_mut().for_each(|part| mark(part, lists)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schedulers_of_a_flow_have_their_further_names_apart() {
        let schema = schema_with_aliases();
        let scheduler = &schema["definitions"]["flows"]["properties"]["scheduler"]["anyOf"][0];
        let (names, further) = (scheduler["enum"].as_array().expect("names"), scheduler["x-aliases"].as_object());
        let further = further.expect("further names");
        assert_eq!((&further["min-rtt"], &further["round-robin"]), (&"ll".into(), &"rr".into()));
        assert!(
            further.values().all(|name| names.contains(name))
                && further.keys().all(|of| names.contains(&of.as_str().into()))
        );
    }
}
