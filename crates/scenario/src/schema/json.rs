//! The schema as a JSON Schema (draft 7), for editors and validators.

use serde_json::{Map, Value, json};
use subflow_quantity::notation::Pattern;
use subflow_quantity::{Bdp, Duration, EnergyPerBit, Packets, Power, Probability, Rate, Ratio, Size};

use super::form::{Form, forms};
use super::{
    AFTER, AXIS, BOTTLENECK, CONGESTION, DESIGN, Default, ENERGY, EVENT, EXCHANGE, FLOW, FieldSchema, HANDOVERS, HOST,
    INTERFACE, JITTER, LINK, LOSS, MIDDLEBOX, ON_OFF, PATH_MANAGER, PAUSE, PERIOD, PROGRAM, QUEUE, RATE, READ, REORDER,
    REQUESTS, ROOT, ROUTER, ROUTING, SCHEDULER, SIZES, STREAM, SUBFLOW, TOPOLOGY, TRACE, TableSchema, VIDEO, WRITE,
    reference,
};
use crate::file::Node;
use crate::switches::{acknowledgments, buffers, mptcp, quic, sctp, tcp};

/// The keys of a link that have one value for both directions or one for each.
const DIRECTED: [&str; 8] = ["rate", "delay", "jitter", "queue", "loss", "overhead", "duplicate", "reorder"];

/// The tables by the keys under which they stand. A table that is the element of a list has the key of the list.
fn by_key() -> Vec<(&'static str, &'static TableSchema)> {
    vec![
        ("topology", &TOPOLOGY),
        ("hosts", &HOST),
        ("interfaces", &INTERFACE),
        ("energy", &ENERGY),
        ("routing", &ROUTING),
        ("routers", &ROUTER),
        ("links", &LINK),
        ("rate", &RATE),
        ("queue", &QUEUE),
        ("loss", &LOSS),
        ("jitter", &JITTER),
        ("reorder", &REORDER),
        ("middlebox", &MIDDLEBOX),
        ("flows", &FLOW),
        ("congestion", &CONGESTION),
        ("scheduler", &SCHEDULER),
        ("path_manager", &PATH_MANAGER),
        ("bottleneck", &BOTTLENECK),
        ("subflows", &SUBFLOW),
        ("programs", &PROGRAM),
        ("after", &AFTER),
        ("on_off", &ON_OFF),
        ("requests", &REQUESTS),
        ("streams", &STREAM),
        ("video", &VIDEO),
        ("exchanges", &EXCHANGE),
        ("write", &WRITE),
        ("read", &READ),
        ("pause", &PAUSE),
        ("send", &SIZES),
        ("request", &SIZES),
        ("response", &SIZES),
        ("arrivals", &PERIOD),
        ("on", &PERIOD),
        ("off", &PERIOD),
        ("think", &PERIOD),
        ("every", &PERIOD),
        ("trace", &TRACE),
        ("tcp", &tcp::TABLE),
        ("delayed_ack", &acknowledgments::DELAYED_ACK),
        ("sack_compression", &acknowledgments::SACK_COMPRESSION),
        ("receive_buffer", &buffers::RECEIVE_BUFFER),
        ("send_buffer", &buffers::SEND_BUFFER),
        ("mptcp", &mptcp::TABLE),
        ("sctp", &sctp::TABLE),
        ("quic", &quic::TABLE),
        ("timeline", &EVENT),
        ("handovers", &HANDOVERS),
        ("design", &DESIGN),
        ("axes", &AXIS),
    ]
}

/// All keys of a scenario file as a JSON Schema (draft 7): the same tables as the reference.
///
/// What is not valid by it is not a valid scenario, except that required keys which only `[sweep]` sets are missed. It
/// does not know relations between values: that a link ends at hosts which exist, or that a warm-up is shorter than the
/// run. `subflow check` knows them.
pub fn json_schema() -> Value {
    let mut schema = table(&ROOT);
    let tables = by_key().into_iter().map(|(key, schema)| (key.to_owned(), table(schema)));
    let mut definitions: Map<String, Value> = tables.collect();
    definitions.insert("sweep".to_owned(), sweep());
    definitions.insert("drawn".to_owned(), swept("drawn", RANGE));
    definitions.insert("listed".to_owned(), swept("listed", STEPPED_RANGE));
    definitions["design"]["if"] = json!({ "properties": { "name": { "const": "full" } } });
    definitions["design"]["then"] = json!({ "not": { "required": ["points"] } });
    definitions["design"]["else"] = json!({ "required": ["points"] });
    let top = schema.as_object_mut().expect("a table is described by an object");
    top.insert("$schema".to_owned(), "http://json-schema.org/draft-07/schema#".into());
    top.insert("title".to_owned(), "Scenario of Subflow".into());
    top.insert("definitions".to_owned(), Value::Object(definitions));
    let nodes = json!([{ "required": ["topology"] }, { "required": ["hosts", "links"] }]);
    let traffic = json!([{ "required": ["flows"] }, { "required": ["programs"] }]);
    top.insert("allOf".to_owned(), json!([{ "anyOf": nodes }, { "anyOf": traffic }]));
    schema
}

/// A table: its keys and nothing else.
fn table(schema: &TableSchema) -> Value {
    let properties: Map<String, Value> =
        schema.fields.iter().map(|field| (field.key.to_owned(), property(schema, field))).collect();
    let required: Vec<&str> =
        schema.fields.iter().filter(|field| field.default == Default::Required).map(|field| field.key).collect();
    let mut table = json!({
        "type": "object",
        "description": schema.doc,
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        table["required"] = required.into();
    }
    table
}

/// The value of a key, with its meaning and default.
fn property(schema: &TableSchema, field: &FieldSchema) -> Value {
    let link = (schema.path == TOPOLOGY.path).then(|| of_link(field)).flatten();
    let alternatives = alternatives(link.unwrap_or(field));
    let directed = match schema.path {
        path if path == LINK.path => DIRECTED.contains(&field.key),
        path if path == TOPOLOGY.path => link.is_some(),
        path if [EVENT.path, HANDOVERS.path].contains(&path) => field.takes().contains("{ up, down }"),
        _ => false,
    };
    let mut value = match directed {
        true => any_of(alternatives.iter().cloned().chain([each_direction(&alternatives)]).collect()),
        false => any_of(alternatives),
    };
    value["description"] = reference::description(field).into();
    if let Default::Value(literal) = &field.default {
        value["default"] = Node::of_default("", literal).to_json();
    }
    value
}

/// The key of a link that a key of a topology is "as for".
fn of_link(field: &FieldSchema) -> Option<&'static FieldSchema> {
    let key = if field.key == "host_rate" { "rate" } else { field.key };
    (field.takes() == "as for a link").then(|| LINK.field(key))
}

fn each_direction(alternatives: &[Value]) -> Value {
    let value = any_of(alternatives.to_vec());
    json!({
        "type": "object",
        "properties": { "up": value, "down": value },
        "additionalProperties": false,
        "minProperties": 1,
    })
}

fn any_of(mut alternatives: Vec<Value>) -> Value {
    let is_reference = |value: &Value| value.get("$ref").is_some();
    match alternatives.len() {
        1 if !is_reference(&alternatives[0]) => alternatives.remove(0),
        // In draft 7 nothing may stand beside a reference.
        1 => json!({ "allOf": alternatives }),
        _ => json!({ "anyOf": alternatives }),
    }
}

fn alternatives(field: &FieldSchema) -> Vec<Value> {
    forms(field).into_iter().map(|form| value(field, form)).collect()
}

/// A value of one form.
fn value(field: &FieldSchema, form: Form) -> Value {
    let below = || json!({ "$ref": format!("#/definitions/{}", field.key) });
    match form {
        Form::Name => names(field),
        Form::Table => below(),
        Form::Tables => json!({ "type": "array", "items": below() }),
        Form::NamedTables if field.key == "hosts" => named(&json!({ "anyOf": [interfaces(), below()] })),
        Form::NamedTables => named(&below()),
        Form::Interfaces => interfaces(),
        Form::Sweep => below(),
        Form::Variables => json!({ "type": "object", "additionalProperties": { "type": "string" } }),
        Form::Word(word) => json!({ "type": "string", "const": word }),
        Form::Only(value) => json!({ "type": "boolean", "const": value }),
        Form::Boolean => json!({ "type": "boolean" }),
        Form::Integer(low, high) => bounded(json!({ "type": "integer", "minimum": low }), "maximum", high),
        Form::Even(low, high) => json!({ "type": "integer", "minimum": low, "maximum": high, "multipleOf": 2 }),
        Form::Fraction => json!({ "type": "number", "minimum": 0, "maximum": 1 }),
        Form::Weight => json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 1 }),
        Form::Text => json!({ "type": "string" }),
        Form::Texts(least, most) => {
            let texts = json!({ "type": "array", "items": { "type": "string" }, "minItems": least });
            bounded(texts, "maxItems", most)
        }
        Form::Integers(count, low, high) => {
            let number = json!({ "type": "integer", "minimum": low, "maximum": high });
            json!({ "type": "array", "items": number, "minItems": count, "maxItems": count })
        }
        Form::TextLists => {
            let texts = json!({ "type": "array", "items": { "type": "string" }, "minItems": 1 });
            json!({ "type": "array", "items": texts, "minItems": 1 })
        }
        Form::TracePath => json!({ "type": "string", "pattern": r"^(\.\.?/|[^\s0-9+\-−.,])" }),
        Form::Duration => quantity::<Duration>(),
        Form::Power => quantity::<Power>(),
        Form::EnergyPerBit => quantity::<EnergyPerBit>(),
        Form::Rate => quantity::<Rate>(),
        Form::Size => quantity::<Size>(),
        Form::Probability => quantity::<Probability>(),
        Form::Packets => quantity::<Packets>(),
        Form::Bdp => quantity::<Bdp>(),
        Form::Ratio => json!({ "anyOf": [quantity::<Ratio>(), { "type": "number", "minimum": 0 }] }),
    }
}

/// `schema` with an upper bound, unless that is the largest whole number of TOML.
fn bounded(mut schema: Value, keyword: &str, most: u64) -> Value {
    if most < i64::MAX as u64 {
        schema[keyword] = most.into();
    }
    schema
}

fn quantity<T: Pattern>() -> Value {
    json!({ "type": "string", "pattern": T::pattern() })
}

/// The names that a key takes. For programs that want each thing once, `x-aliases` has the further names of the same
/// things, each with the name that it stands for; validators ignore it.
fn names(field: &FieldSchema) -> Value {
    let entries = field.names().unwrap_or_else(|| panic!("{}: a key that takes a name has a catalogue", field.key));
    let further = || entries.iter().flat_map(|entry| entry.aliases.iter().map(move |&alias| (alias, entry.name)));
    let all: Vec<&str> =
        entries.iter().flat_map(|entry| core::iter::once(entry.name).chain(entry.aliases.iter().copied())).collect();
    let mut schema = json!({ "type": "string", "enum": all });
    if further().next().is_some() {
        schema["x-aliases"] =
            further().map(|(alias, name)| (alias.to_owned(), name.into())).collect::<Map<_, _>>().into();
    }
    schema
}

/// A table whose keys are names of at most 64 letters, digits, `-` and `_`.
fn named(element: &Value) -> Value {
    json!({
        "type": "object",
        "propertyNames": { "pattern": "^[A-Za-z0-9_-]{1,64}$" },
        "additionalProperties": element,
    })
}

fn interfaces() -> Value {
    let element = json!({ "anyOf": [{ "type": "string" }, { "$ref": "#/definitions/interfaces" }] });
    json!({ "type": "array", "items": element, "minItems": 1 })
}

/// From one number to another.
const RANGE: &str = "^ *[0-9.]+ *[^ .]* *\\.\\. *[0-9.]+";
/// The same with the distance of its values, or their number.
const STEPPED_RANGE: &str = "^ *[0-9.]+ *[^ .]* *\\.\\. *[0-9.]+.* (step|log) *[0-9.]+";

/// Only a design that draws its points may have ranges of all numbers.
fn sweep() -> Value {
    json!({
        "type": "object",
        "properties": { "design": { "anyOf": [{ "const": "full" }, { "$ref": "#/definitions/design" }] } },
        "if": {
            "required": ["design"],
            "properties": {
                "design": {
                    "type": "object",
                    "required": ["name"],
                    "properties": { "name": { "not": { "const": "full" } } },
                },
            },
        },
        "then": { "$ref": "#/definitions/drawn" },
        "else": { "$ref": "#/definitions/listed" },
    })
}

/// A path is text with dots, or a table for each of its parts; at its end is the list of values, or a range of this
/// form. `name` is that of this definition.
fn swept(name: &str, range: &str) -> Value {
    json!({
        "type": "object",
        "properties": { "design": true },
        "additionalProperties": {
            "anyOf": [
                { "type": "array", "minItems": 1 },
                { "type": "string", "pattern": range },
                { "$ref": format!("#/definitions/{name}") },
            ],
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{DIRECTIONS, TABLES};

    #[test]
    fn every_table_is_in_the_schema() {
        let placed = |table: &TableSchema| {
            [ROOT.path, DIRECTIONS.path].contains(&table.path)
                || by_key().iter().any(|(_, known)| known.path == table.path)
        };
        let missing: Vec<&str> = TABLES.iter().filter(|table| !placed(table)).map(|table| table.path).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn every_reference_leads_to_a_table() {
        let schema = json_schema();
        let text = schema.to_string();
        let references: Vec<&str> =
            text.split("\"#/definitions/").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert!(references.len() > 30);
        for key in references {
            assert!(schema["definitions"].get(key).is_some(), "{key}");
        }
    }

    #[test]
    fn further_names_are_told_apart_from_names() {
        let schema = json_schema();
        let scheduler = &schema["definitions"]["flows"]["properties"]["scheduler"]["anyOf"][0];
        let (names, further) = (scheduler["enum"].as_array().expect("names"), scheduler["x-aliases"].as_object());
        let further = further.expect("further names");
        assert_eq!((&further["min-rtt"], &further["round-robin"]), (&"ll".into(), &"rr".into()));
        assert!(
            further.values().all(|name| names.contains(name) && !further.contains_key(name.as_str().expect("text")))
        );
        assert!(further.keys().all(|of| names.contains(&of.as_str().into())));
    }
}
