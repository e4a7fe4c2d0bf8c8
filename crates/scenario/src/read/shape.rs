//! `[topology]`: a network of a well-known topology.

use std::ops::RangeInclusive;

use subflow_network::{LinkConfig, Service, Shape, ShapeEnd};

use super::References;
use super::links;
use crate::file::{Field, Problem, Section};
use crate::schema::{SHAPES, ShapeKind};
use crate::{Attachment, InterfaceIndex, Link, schema};

/// A topology and the properties of its links.
pub(super) struct Generated {
    pub(super) shape: Shape,
    /// From the first end to the second, and back.
    fabric: [LinkConfig; 2],
    host_rate: [Service; 2],
}

/// The maximum of every size, except numbers of ports.
const SIZE_RANGE: RangeInclusive<u64> = 1..=1000;

/// The maximum number of links. Each host has one, and there are addresses for 65,535 hosts.
const MOST_LINKS: usize = 50_000;

impl ShapeKind {
    /// The keys of its size.
    fn sizes(self) -> &'static [&'static str] {
        match self {
            Self::FatTree => &["k"],
            Self::LeafSpine => &["leaves", "spines", "hosts"],
            Self::Ring => &["switches", "hosts"],
            Self::Diamond => &["width", "hosts"],
            Self::Dumbbell | Self::Trap => &["hosts"],
        }
    }

    fn make(self, section: &Section<'_>) -> Result<Shape, Problem> {
        let size = |key, default| number(section, key, SIZE_RANGE, default);
        let hosts = || size("hosts", 1);
        Ok(match self {
            Self::FatTree => Shape::fat_tree(ports(section)?),
            Self::LeafSpine => Shape::leaf_spine(size("leaves", 4)?, size("spines", 2)?, hosts()?),
            Self::Ring => Shape::ring(number(section, "switches", 3..=1000, 4)?, hosts()?),
            Self::Diamond => Shape::diamond(size("width", 2)?, hosts()?),
            Self::Dumbbell => Shape::dumbbell(hosts()?),
            Self::Trap => Shape::trap(hosts()?),
        })
    }
}

/// The keys of sizes, of all kinds.
const SIZES: [&str; 6] = ["k", "leaves", "spines", "switches", "width", "hosts"];

pub(super) fn read(field: &Field<'_>, references: References<'_>) -> Result<Generated, Problem> {
    let section = field.section(&schema::TOPOLOGY)?;
    let kind = section.required("kind")?;
    let shape_kind = kind.choice("the name of a topology", &SHAPES)?;
    let name = kind.string("the name of a topology")?;
    for key in SIZES.into_iter().filter(|key| !shape_kind.sizes().contains(key)) {
        if let Some(given) = section.given(key) {
            return Err(given.problem(format!("a {name} has no parameter {key}")).also(kind.place(), "the kind"));
        }
    }
    let fabric = links::configs(&section, references)?;
    let host_rate = match section.given("host_rate") {
        Some(rate) => links::directions(&rate, || None, |field| links::service(field, references.traces))?,
        None => [fabric[0].service.clone(), fabric[1].service.clone()],
    };
    let shape = shape_kind.make(&section)?;
    if shape.links.len() > MOST_LINKS {
        let found = format!("a {name} of this size has {} links, expected at most {MOST_LINKS}", shape.links.len());
        return Err(kind.problem(found));
    }
    Ok(Generated { shape, fabric, host_rate })
}

impl Generated {
    /// The links, if the hosts and routers of the topology are the first of the scenario.
    pub(super) fn links(&self) -> impl Iterator<Item = Link> + '_ {
        self.shape.links.iter().enumerate().map(|(number, link)| {
            let [mut up, mut down] = self.fabric.clone();
            let from = match link.from {
                ShapeEnd::Switch(switch) => Attachment::Router(switch),
                ShapeEnd::Host(host) => {
                    [up.service, down.service] = self.host_rate.clone();
                    Attachment::Interface(InterfaceIndex { host, interface: 0 })
                }
            };
            let ends = [from, Attachment::Router(link.to)];
            Link { name: self.shape.link_name(number), ends, up, down, middleboxes: Vec::new() }
        })
    }
}

fn ports(section: &Section<'_>) -> Result<usize, Problem> {
    let k = number(section, "k", 2..=32, 4)?;
    match (k % 2, section.given("k")) {
        (1, Some(field)) => Err(field.expected(&section.kind("k"))),
        _ => Ok(k),
    }
}

fn number(
    section: &Section<'_>,
    key: &'static str,
    range: RangeInclusive<u64>,
    default: usize,
) -> Result<usize, Problem> {
    section.given(key).map_or(Ok(default), |field| field.integer(range).map(|number| number as usize))
}
