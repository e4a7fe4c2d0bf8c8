//! `[topology]`: a network of a well-known topology.

use std::ops::RangeInclusive;

use subflow_network::{LinkConfig, Service, Shape, ShapeEnd};

use super::References;
use super::links;
use crate::choice::Choice;
use crate::file::{Field, Problem, Section};
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

/// A kind of topology: the keys of its size, and its constructor.
type Kind = (&'static [&'static str], fn(&Section<'_>) -> Result<Shape, Problem>);

pub(super) const KINDS: &[Choice<Kind>] = &[
    Choice::<Kind>::new(
        "fat-tree",
        (&["k"], |section| Ok(Shape::fat_tree(ports(section)?))),
        "pods of edge and aggregation switches under a core: edgeP_E, aggP_A and coreC, k³/4 hosts",
    )
    .source("Al-Fares, Loukissas, Vahdat, SIGCOMM 2008"),
    Choice::<Kind>::new(
        "leaf-spine",
        (&["leaves", "spines", "hosts"], |section| {
            let size = |key, default| number(section, key, SIZE_RANGE, default);
            Ok(Shape::leaf_spine(size("leaves", 4)?, size("spines", 2)?, size("hosts", 1)?))
        }),
        "every leafL under every spineS",
    ),
    Choice::<Kind>::new(
        "ring",
        (&["switches", "hosts"], |section| {
            Ok(Shape::ring(number(section, "switches", 3..=1000, 4)?, number(section, "hosts", SIZE_RANGE, 1)?))
        }),
        "s0, s1, … in a circle",
    ),
    Choice::<Kind>::new(
        "diamond",
        (&["width", "hosts"], |section| {
            Ok(Shape::diamond(number(section, "width", SIZE_RANGE, 2)?, number(section, "hosts", SIZE_RANGE, 1)?))
        }),
        "left and right, with mid0, mid1, … side by side between them",
    ),
    Choice::<Kind>::new(
        "dumbbell",
        (&["hosts"], |section| Ok(Shape::dumbbell(number(section, "hosts", SIZE_RANGE, 1)?))),
        "left and right, joined by one link",
    ),
    Choice::<Kind>::new(
        "trap",
        (&["hosts"], |section| Ok(Shape::trap(number(section, "hosts", SIZE_RANGE, 1)?))),
        "two disjoint paths from left to right that the shortest path blocks",
    ),
];

/// The keys of sizes, of all kinds.
const SIZES: [&str; 6] = ["k", "leaves", "spines", "switches", "width", "hosts"];

pub(super) fn read(field: &Field<'_>, references: References<'_>) -> Result<Generated, Problem> {
    let section = field.section(&schema::TOPOLOGY)?;
    let kind = section.required("kind")?;
    let (keys, make) = kind.choice("the name of a topology", KINDS)?;
    let name = kind.string("the name of a topology")?;
    for key in SIZES.into_iter().filter(|key| !keys.contains(key)) {
        if let Some(given) = section.given(key) {
            return Err(given.problem(format!("a {name} has no parameter {key}")).also(kind.place(), "the kind"));
        }
    }
    let fabric = links::configs(&section, references)?;
    let host_rate = match section.given("host_rate") {
        Some(rate) => links::directions(&rate, None, |field| links::service(field, references.traces))?,
        None => [fabric[0].service.clone(), fabric[1].service.clone()],
    };
    let shape = make(&section)?;
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
            Link { name: self.shape.link_name(number), ends: [from, Attachment::Router(link.to)], up, down }
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
