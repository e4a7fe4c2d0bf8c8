//! The Graph Modelling Language (Himsolt, 1996), with the attributes of the Internet Topology Zoo.

use std::collections::BTreeMap;

use crate::attributes::Attributes;
use crate::{ImportError, Network};

/// A key's value: text or a number as written, or a list of keys with their values.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Text(String),
    List(Vec<(String, Value)>),
}

/// Deeper lists than those of any graph are refused before they exhaust the stack.
const DEEPEST: usize = 32;

pub(crate) fn read(text: &str) -> Result<Network, ImportError> {
    let mut tokens = Tokens { rest: text, line: 1 };
    let top = list(&mut tokens, 0)?;
    let graph = top.into_iter().find_map(|(key, value)| match value {
        Value::List(graph) if key == "graph" => Some(graph),
        _ => None,
    });
    let graph = graph.ok_or_else(|| ImportError::damaged("the file has no graph, expected `graph [ … ]`"))?;
    let title = attributes(&graph).get(&["network", "label", "name"]).unwrap_or("").to_owned();
    let mut network = Network { title, ..Network::default() };
    let mut places = BTreeMap::new();
    for node in lists(&graph, "node") {
        let found = attributes(node);
        let id = found.get(&["id"]).ok_or_else(|| ImportError::damaged("a node has no id"))?;
        if places.insert(id.to_owned(), network.nodes.len()).is_some() {
            return Err(ImportError::damaged(format!("two nodes have the id {id}")));
        }
        network.nodes.push(found.node(id));
    }
    for edge in lists(&graph, "edge") {
        let found = attributes(edge);
        let mut ends = [0; 2];
        for (end, name) in ends.iter_mut().zip(["source", "target"]) {
            let id = found.get(&[name]).ok_or_else(|| ImportError::damaged(format!("an edge has no {name}")))?;
            let place = places.get(id).copied();
            *end =
                place.ok_or_else(|| ImportError::damaged(format!("an edge names node {id}, which the file lacks")))?;
        }
        network.links.push(found.link(ends));
    }
    Ok(network)
}

fn lists<'a>(of: &'a [(String, Value)], name: &'a str) -> impl Iterator<Item = &'a Vec<(String, Value)>> {
    of.iter().filter_map(move |(key, value)| match value {
        Value::List(list) if key == name => Some(list),
        _ => None,
    })
}

/// The keys with a text or number; those of an inner list such as `graphics [ x 1 ]` do not count.
fn attributes(of: &[(String, Value)]) -> Attributes {
    let mut found = Attributes::default();
    for (key, value) in of {
        if let Value::Text(text) = value {
            found.push(key, text);
        }
    }
    found
}

/// Keys and values up to the end of the list that `tokens` is in.
fn list(tokens: &mut Tokens<'_>, depth: usize) -> Result<Vec<(String, Value)>, ImportError> {
    let mut found = Vec::new();
    loop {
        let key = match tokens.next()? {
            None if depth == 0 => return Ok(found),
            None => return Err(tokens.wrong("the file ends within a list, expected ]")),
            Some(Token::Close) if depth > 0 => return Ok(found),
            Some(Token::Word(key)) => key.to_owned(),
            Some(_) => return Err(tokens.wrong("expected a key")),
        };
        let value = match tokens.next()? {
            Some(Token::Word(text)) => Value::Text(text.to_owned()),
            Some(Token::Quoted(text)) => Value::Text(unescaped(text)),
            Some(Token::Open) if depth < DEEPEST => Value::List(list(tokens, depth + 1)?),
            Some(Token::Open) => return Err(tokens.wrong("lists are nested too deeply")),
            _ => return Err(tokens.wrong(&format!("the key {key} has no value"))),
        };
        found.push((key, value));
    }
}

enum Token<'a> {
    Open,
    Close,
    Word(&'a str),
    Quoted(&'a str),
}

struct Tokens<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Tokens<'a> {
    fn next(&mut self) -> Result<Option<Token<'a>>, ImportError> {
        loop {
            let spaces = self.rest.len() - self.rest.trim_start().len();
            self.skip(spaces);
            if !self.rest.starts_with('#') {
                break;
            }
            self.skip(self.rest.find('\n').unwrap_or(self.rest.len()));
        }
        let Some(first) = self.rest.chars().next() else { return Ok(None) };
        Ok(Some(match first {
            '[' => self.taken(1, Token::Open),
            ']' => self.taken(1, Token::Close),
            '"' => {
                let text = &self.rest[1..];
                let Some(end) = text.find('"') else { return Err(self.wrong("a text has no end, expected \"")) };
                self.taken(end + 2, Token::Quoted(&text[..end]))
            }
            _ => {
                let ends = |c: char| c.is_whitespace() || c == '[' || c == ']' || c == '"';
                let end = self.rest.find(ends).unwrap_or(self.rest.len());
                self.taken(end, Token::Word(&self.rest[..end]))
            }
        }))
    }

    fn taken(&mut self, bytes: usize, token: Token<'a>) -> Token<'a> {
        self.skip(bytes);
        token
    }

    fn skip(&mut self, bytes: usize) {
        let (skipped, rest) = self.rest.split_at(bytes);
        self.line += skipped.matches('\n').count();
        self.rest = rest;
    }

    fn wrong(&self, what: &str) -> ImportError {
        ImportError::damaged(format!("line {}: {what}", self.line))
    }
}

/// A text with its character references (`&#246;`, `&amp;`) replaced: GML files are ASCII.
fn unescaped(text: &str) -> String {
    let mut parts = text.split('&');
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(';').unwrap_or(("", part));
        let character = match name {
            "amp" => Some('&'),
            "quot" => Some('"'),
            "lt" => Some('<'),
            "gt" => Some('>'),
            _ => name.strip_prefix('#').and_then(|number| number.parse().ok()).and_then(char::from_u32),
        };
        match character {
            Some(character) => {
                whole.push(character);
                whole.push_str(rest);
            }
            None => {
                whole.push('&');
                whole.push_str(part);
            }
        }
    }
    whole
}

#[cfg(test)]
pub(crate) mod tests {
    use subflow_quantity::Rate;

    use super::*;

    pub(crate) const TWO_CITIES: &str = r#"# by hand
Creator "me"
graph [
  Network "Two & cities"
  node [ id 0 label "Bern" Latitude 46.948 Longitude 7.447 graphics [ x 1 label "no" ] ]
  node [
    id 1
    label "Z&#252;rich"
    Latitude 47.37
    Longitude 8.54
  ]
  edge [ source 0 target 1 LinkSpeed "155" LinkSpeedUnits "M" ]
]
"#;

    #[test]
    fn nodes_and_edges_have_their_attributes() {
        let network = read(TWO_CITIES).expect("it is GML");
        assert_eq!(network.title, "Two & cities");
        assert_eq!(network.nodes.iter().map(|node| &*node.label).collect::<Vec<_>>(), ["Bern", "Zürich"]);
        assert_eq!((network.links[0].ends, network.links[0].rate), ([0, 1], Some(Rate::from_mbit(155))));
    }

    #[test]
    fn an_error_names_its_line() {
        for (text, expected) in [
            ("graph [\n node [ id 0 ]\n", "line 3: the file ends within a list"),
            ("graph [\n label \"a\n", "line 2: a text has no end"),
            ("graph [\n label ]\n", "line 2: the key label has no value"),
            ("graph [\n [ ] ]\n", "line 2: expected a key"),
            ("graph 3", "no graph"),
            ("graph [ edge [ source 0 target 1 ] ]", "node 0, which the file lacks"),
        ] {
            let said = read(text).expect_err(expected).message;
            assert!(said.contains(expected), "{said}");
        }
        let deep = "graph ".to_owned() + &"[ a ".repeat(10_000);
        assert!(read(&deep).expect_err("it is too deep").message.contains("too deeply"));
    }
}
