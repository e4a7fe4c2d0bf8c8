//! GraphML (<http://graphml.graphdrawing.org>), with the attributes of the Internet Topology Zoo.

use std::collections::BTreeMap;

use roxmltree::{Document, Node as Element};

use crate::attributes::Attributes;
use crate::network::counted;
use crate::{ImportError, Network};

pub(crate) fn read(text: &str) -> Result<Network, ImportError> {
    let document = Document::parse(text).map_err(|error| ImportError::damaged(format!("not valid XML: {error}")))?;
    let keys = keys(&document);
    let graphs: Vec<_> = document.descendants().filter(|element| is(element, "graph")).collect();
    let [graph, others @ ..] = &graphs[..] else {
        return Err(ImportError::damaged("the file has no element <graph>, expected one"));
    };
    let mut network = Network {
        title: attributes(graph, &keys).get(&["network", "label"]).unwrap_or("").to_owned(),
        ..Network::default()
    };
    if !others.is_empty() {
        network.notes.push(format!("{} besides the first: left out", counted(others.len(), "graph")));
    }
    let mut places = BTreeMap::new();
    for element in graph.children().filter(|element| is(element, "node")) {
        let id = required(&element, "id")?;
        let node = attributes(&element, &keys).node(id);
        if places.insert(id, network.nodes.len()).is_some() {
            return Err(ImportError::damaged(format!("two nodes have the id {id:?}")));
        }
        network.nodes.push(node);
    }
    for element in graph.children().filter(|element| is(element, "edge")) {
        let mut ends = [0; 2];
        for (end, name) in ends.iter_mut().zip(["source", "target"]) {
            let id = required(&element, name)?;
            let place = places.get(id).copied();
            *end = place
                .ok_or_else(|| ImportError::damaged(format!("an edge names node {id:?}, which the file lacks")))?;
        }
        network.links.push(attributes(&element, &keys).link(ends));
    }
    let hyperedges = graph.children().filter(|element| is(element, "hyperedge")).count();
    if hyperedges > 0 {
        network.notes.push(format!("{}: left out, since a link has two ends", counted(hyperedges, "hyperedge")));
    }
    Ok(network)
}

/// Whether `element` has this name, in whatever namespace.
pub(crate) fn is(element: &Element<'_, '_>, name: &str) -> bool {
    element.is_element() && element.tag_name().name() == name
}

/// The names of the attributes by the ids that `<data>` elements give.
fn keys<'a>(document: &'a Document<'a>) -> BTreeMap<&'a str, &'a str> {
    let keys = document.descendants().filter(|element| is(element, "key"));
    keys.filter_map(|key| Some((key.attribute("id")?, key.attribute("attr.name")?))).collect()
}

/// The `<data>` of an element; where no key declares an id, the id is the name.
fn attributes(element: &Element<'_, '_>, keys: &BTreeMap<&str, &str>) -> Attributes {
    let mut found = Attributes::default();
    for data in element.children().filter(|child| is(child, "data")) {
        let id = data.attribute("key").unwrap_or_default();
        found.push(keys.get(id).copied().unwrap_or(id), data.text().unwrap_or_default());
    }
    found
}

fn required<'a>(element: &Element<'a, '_>, name: &str) -> Result<&'a str, ImportError> {
    element.attribute(name).ok_or_else(|| {
        ImportError::damaged(format!("an element <{}> has no {name}, expected one", element.tag_name().name()))
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use subflow_quantity::Rate;

    use super::*;

    pub(crate) const TWO_CITIES: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key attr.name="LinkSpeedRaw" attr.type="double" for="edge" id="d3" />
  <key attr.name="label" attr.type="string" for="node" id="d2" />
  <key attr.name="Longitude" attr.type="double" for="node" id="d1" />
  <key attr.name="Latitude" attr.type="double" for="node" id="d0" />
  <key attr.name="Network" attr.type="string" for="graph" id="d9" />
  <graph edgedefault="undirected">
    <data key="d9">Two cities</data>
    <node id="0"><data key="d0">52.52</data><data key="d1">13.40</data><data key="d2">Berlin</data></node>
    <node id="1"><data key="d0">48.14</data><data key="d1">11.58</data><data key="d2">M&#252;nchen</data></node>
    <node id="2"><data key="d2">Nowhere</data></node>
    <edge source="0" target="1"><data key="d3">2500000000.0</data></edge>
    <edge source="0" target="1" />
    <hyperedge><endpoint node="0"/></hyperedge>
  </graph>
</graphml>
"#;

    #[test]
    fn attributes_are_found_by_the_keys_that_the_file_declares() {
        let network = read(TWO_CITIES).expect("it is GraphML");
        assert_eq!(network.title, "Two cities");
        assert_eq!(network.nodes.iter().map(|node| &*node.label).collect::<Vec<_>>(), ["Berlin", "München", "Nowhere"]);
        assert_eq!(network.links.iter().map(|link| link.rate).collect::<Vec<_>>(), [Some(Rate::from_mbit(2500)), None]);
        assert_eq!(network.nodes[1].position.map(|place| place.latitude), Some(48.14));
        assert_eq!(network.notes, ["1 hyperedge: left out, since a link has two ends"]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let said = |text: &str| read(text).expect_err("it is damaged").message;
        assert!(said("<graphml><graph>").contains("not valid XML"));
        assert!(said("<graphml/>").contains("no element <graph>"));
        assert!(said("<graphml><graph><node/></graph></graphml>").contains("no id"));
        let edge = "<graphml><graph><node id='a'/><edge source='a' target='b'/></graph></graphml>";
        assert!(said(edge).contains("node \"b\""));
        let twice = "<graphml><graph><node id='a'/><node id='a'/></graph></graphml>";
        assert!(said(twice).contains("two nodes"));
        // The billion laughs: entities that a DTD defines are refused, not expanded.
        let dtd = "<!DOCTYPE graphml [<!ENTITY a \"b\">]><graphml><graph>&a;</graph></graphml>";
        assert!(said(dtd).contains("not valid XML"));
    }
}
