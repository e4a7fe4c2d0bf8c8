//! Paths such as `flows.album.congestion` in `--set` and `[sweep]`.

use std::sync::Arc;

use toml_edit::{Item, Key};

use super::node::{Entry, Node, Value};
use super::suggestion::{did_you_mean, list};
use super::{Origin, Place, Problem, Source};

/// A path into a document and where it was written.
#[derive(Clone, Debug)]
pub(crate) struct DottedPath {
    pub(crate) keys: Vec<String>,
    pub(crate) place: Place,
}

/// Sections whose entries are named by the user: a path through an entry that does not exist is a mistake and creates
/// no entry.
const NAMED: &[(&str, &str)] =
    &[("hosts", "host"), ("routers", "router"), ("links", "link"), ("flows", "flow"), ("programs", "program")];

impl DottedPath {
    /// Parses `text`, which is at `place`: TOML keys joined by dots.
    pub(crate) fn parse(text: &str, place: Place) -> Result<Self, Problem> {
        match Key::parse(text) {
            Ok(keys) => Ok(Self { keys: keys.iter().map(|key| key.get().to_owned()).collect(), place }),
            Err(error) => Err(Problem::at(&place, format!("found {text:?}, expected a path such as links.wifi.rate"))
                .help(error.message().to_owned())),
        }
    }

    /// The path as written in TOML.
    pub(crate) fn shown(&self) -> String {
        let keys: Vec<String> =
            self.keys.iter().map(|key| Key::new(key.as_str()).display_repr().into_owned()).collect();
        keys.join(".")
    }

    /// Sets the value at the path in `root`, and replaces a present value.
    pub(crate) fn assign(&self, root: &mut Node, value: Node) -> Result<(), Problem> {
        let mut node = root;
        for depth in 0..self.keys.len() {
            node = self.step(node, depth)?;
        }
        *node = value;
        Ok(())
    }

    fn step<'n>(&self, node: &'n mut Node, depth: usize) -> Result<&'n mut Node, Problem> {
        let key = &self.keys[depth];
        let here = || self.keys[..depth].join(".");
        let shown = node.shown();
        let place = node.place.clone();
        match &mut node.value {
            Value::Table(entries) => {
                if let Some(at) = entries.iter().position(|entry| entry.key == *key) {
                    return Ok(&mut entries[at].node);
                }
                let last = depth + 1 == self.keys.len();
                if let (1, false, Some((section, kind))) = (depth, last, NAMED.iter().find(|n| n.0 == self.keys[0])) {
                    let names = || entries.iter().map(|entry| entry.key.as_str());
                    let found = format!("{}: there is no {kind} {key:?}", self.shown());
                    return Err(Problem::at(&self.place, found)
                        .label(did_you_mean(key, names(), "no such name"))
                        .help(format!("the {section} are {}", list(names()))));
                }
                let node = Node { value: Value::Table(Vec::new()), place: self.place.clone() };
                entries.push(Entry { key: key.clone(), key_place: self.place.clone(), node });
                Ok(&mut entries.last_mut().expect("pushed just now").node)
            }
            Value::Array(elements) => {
                let count = elements.len();
                let element = key.parse::<usize>().ok().and_then(|index| elements.get_mut(index));
                element.ok_or_else(|| {
                    let message =
                        format!("{}: {} is a list of {count}, {key:?} is no position in it", self.shown(), here());
                    Problem::at(&self.place, message).help("positions count from 0")
                })
            }
            _ => {
                let message = format!("{}: {} is {shown}, there is no {key:?} in it", self.shown(), here());
                Err(Problem::at(&self.place, message)
                    .help(format!("set {} as a whole", here()))
                    .also(&place, "this is no table"))
            }
        }
    }

    /// Makes the same change in the text that is written next to the results. [`assign`](Self::assign) has validated
    /// the path.
    pub(crate) fn assign_text(&self, root: &mut toml_edit::Table, mut value: toml_edit::Value) {
        let Some((last, parents)) = self.keys.split_last() else { return };
        let mut item: Option<&mut Item> = None;
        for key in parents {
            let next = match item {
                None => root.entry(key).or_insert_with(implicit_table),
                Some(parent) if parent.is_table_like() => {
                    let table = parent.as_table_like_mut().expect("just asked");
                    table.entry(key).or_insert_with(implicit_table)
                }
                Some(parent) => match key.parse::<usize>().ok().and_then(|index| parent.get_mut(index)) {
                    Some(element) => element,
                    None => return,
                },
            };
            item = Some(next);
        }
        let table: &mut dyn toml_edit::TableLike = match item {
            None => root,
            Some(parent) if parent.is_table_like() => parent.as_table_like_mut().expect("just asked"),
            Some(parent) => {
                if let Some(element) = last.parse::<usize>().ok().and_then(|index| parent.get_mut(index)) {
                    *element = Item::Value(value);
                }
                return;
            }
        };
        if let Some(old) = table.get(last).and_then(Item::as_value) {
            *value.decor_mut() = old.decor().clone();
        }
        table.insert(last, Item::Value(value));
    }
}

fn implicit_table() -> Item {
    let mut table = toml_edit::Table::new();
    table.set_implicit(true);
    Item::Table(table)
}

/// A parsed `PATH=VALUE` of the command line: the path, and the value both with its place and as TOML.
pub(crate) fn parse_assignment(option: &str, text: &str) -> Result<(DottedPath, Node, toml_edit::Value), Problem> {
    let source = Arc::new(Source { origin: Origin::Assignment, name: option.to_owned(), text: text.to_owned() });
    let whole = Place { source: Arc::clone(&source), span: 0..text.len() };
    let Some(equals) = text.find('=') else {
        let (form, example) = match option {
            "--sweep" => ("PATH=V1,V2,…", "--sweep links.wifi.loss=\"none,1 %,2 %\""),
            _ => ("PATH=VALUE", "--set links.wifi.loss=\"2 %\""),
        };
        return Err(Problem::at(&whole, format!("found {text:?}, expected {form}"))
            .label("no = in it")
            .help(format!("for example {example}")));
    };
    let path_place = Place { source: Arc::clone(&source), span: 0..equals };
    let path = DottedPath::parse(&text[..equals], path_place)?;
    let written = &text[equals + 1..];
    // A VALUE that is not valid TOML is a string: `--set links.wifi.rate=20 Mbit/s` needs no second pair of quotes.
    let value = written.trim().parse().unwrap_or_else(|_| toml_edit::Value::from(written));
    let mut node = Node::new(&Item::Value(value.clone()), &source, &(0..text.len()));
    relocate(&mut node, &Place { source, span: equals + 1..text.len() });
    Ok((path, node, value))
}

/// Sets the place of a value and of everything in it to `place`: the spans of a value parsed alone are not those of the
/// whole text.
fn relocate(node: &mut Node, place: &Place) {
    node.place = place.clone();
    match &mut node.value {
        Value::Array(elements) => elements.iter_mut().for_each(|element| relocate(element, place)),
        Value::Table(entries) => entries.iter_mut().for_each(|entry| {
            entry.key_place = place.clone();
            relocate(&mut entry.node, place);
        }),
        _ => {}
    }
}
