//! The switches of the stacks: the keys of `[tcp]`, `[mptcp]`, `[sctp]` and `[quic]`.
//!
//! | file | contents |
//! |---|---|
//! | `tcp.rs`, `mptcp.rs`, `sctp.rs`, `quic.rs` | the switches: a row each, with key, notation, place in the configuration and doc |
//! | `acknowledgments.rs`, `buffers.rs` | switches of TCP that have tables of their own |
//! | `sctp_failures.rs` | switches of SCTP for lost packets and failing paths |
//! | `profiles.rs` | the profiles: configurations of the transports, from which scenarios start |
//! | `notation.rs` | how values are written |
//!
//! A scenario holds the configurations of the transports themselves. What a switch is by default is therefore what the
//! transport's configuration has, and a new switch is a field there and a row here.

pub(crate) mod acknowledgments;
pub(crate) mod buffers;
pub(crate) mod mptcp;
mod notation;
pub(crate) mod profiles;
pub(crate) mod quic;
pub(crate) mod sctp;
mod sctp_failures;
pub(crate) mod tcp;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

pub(crate) use notation::BUFFER;
use notation::Notation;
use subflow_policy::catalogue::{Catalogue, Value};
use subflow_policy::congestion::Algorithm;
use subflow_transport::{
    mptcp as transport_mptcp, quic as transport_quic, sctp as transport_sctp, tcp as transport_tcp,
};

use crate::file::{Field, Problem, Section};
use crate::options::{self, Shared, of_no_place, parse, shared};
use crate::table::{Default, FieldSchema, Kind, TableSchema};

/// The configurations of one host, with the algorithms that its flows use unless they name others.
#[derive(Clone, Debug)]
pub(crate) struct Stack {
    /// TCP, and each subflow of MPTCP.
    pub(crate) tcp: transport_tcp::Config,
    /// The congestion control of TCP flows.
    pub(crate) tcp_congestion: Algorithm,
    /// The switches of congestion controls that differ from the controls' own defaults.
    pub(crate) congestion_switches: BTreeMap<&'static str, Value>,
    /// MPTCP. Its subflows are configured by `tcp`.
    pub(crate) mptcp: transport_mptcp::Config,
    /// SCTP.
    pub(crate) sctp: transport_sctp::Config,
    /// QUIC.
    pub(crate) quic: transport_quic::Config,
}

/// One key of a table of settings, and the place of its value in the configuration `C`.
pub(crate) struct Switch<C> {
    key: &'static str,
    kind: Kind,
    doc: Cow<'static, str>,
    /// The default in words, where it depends on other switches.
    default: Option<&'static str>,
    read: Box<Read<C>>,
    literal: Box<Literal<C>>,
}

type Read<C> = dyn Fn(&Field<'_>, &mut C) -> Result<(), Problem> + Send + Sync;
type Literal<C> = dyn Fn(&C) -> String + Send + Sync;

/// A switch whose value is at `place` in the configuration.
fn switch<C: Clone + 'static, T: 'static>(
    key: &'static str,
    notation: Notation<T>,
    place: fn(&mut C) -> &mut T,
    doc: &'static str,
) -> Switch<C> {
    let Notation { kind, parse, literal } = notation;
    let read = move |field: &Field<'_>, config: &mut C| {
        *place(config) = parse(field)?;
        Ok(())
    };
    Switch::new(key, kind, doc, read, move |config| literal(place(&mut config.clone())))
}

type Get<C, T> = fn(&C) -> T;
/// Sets a value that a field has.
type Set<C, T> = fn(&mut C, T, &Field<'_>) -> Result<(), Problem>;

/// A switch that does more than to set one value.
fn setter<C: 'static, T: 'static>(
    key: &'static str,
    notation: Notation<T>,
    (get, set): (Get<C, T>, Set<C, T>),
    doc: &'static str,
) -> Switch<C> {
    let Notation { kind, parse, literal } = notation;
    let read = move |field: &Field<'_>, config: &mut C| set(config, parse(field)?, field);
    Switch::new(key, kind, doc, read, move |config| literal(&get(config)))
}

impl<C> Switch<C> {
    fn new(
        key: &'static str,
        kind: Kind,
        doc: impl Into<Cow<'static, str>>,
        read: impl Fn(&Field<'_>, &mut C) -> Result<(), Problem> + Send + Sync + 'static,
        literal: impl Fn(&C) -> String + Send + Sync + 'static,
    ) -> Self {
        Self { key, kind, doc: doc.into(), default: None, read: Box::new(read), literal: Box::new(literal) }
    }

    /// The same switch with a default in words.
    fn by_default(self, words: &'static str) -> Self {
        Self { default: Some(words), ..self }
    }
}

/// The schema of the table that has these switches. Its defaults are the values in `base`.
fn table<C>(path: &'static str, doc: &'static str, switches: &[Switch<C>], base: &C) -> TableSchema {
    let field = |switch: &Switch<C>| FieldSchema {
        key: switch.key,
        kind: switch.kind.clone(),
        default: match switch.default {
            Some(words) => Default::described(words),
            None => Default::Value((switch.literal)(base)),
        },
        doc: switch.doc.clone().into_owned(),
        algorithms: Vec::new(),
    };
    TableSchema { path, doc, fields: switches.iter().map(field).collect() }
}

/// Sets in `config` what is `given`, in the order of the switches.
fn read<'f, C>(
    switches: &[Switch<C>],
    given: impl Fn(&'static str) -> Option<Field<'f>>,
    config: &mut C,
) -> Result<(), Problem> {
    for switch in switches {
        if let Some(field) = given(switch.key) {
            (switch.read)(&field, config)?;
        }
    }
    Ok(())
}

/// The value of `key` in `config`, in TOML.
fn literal<C>(switches: &[Switch<C>], key: &str, config: &C) -> String {
    let switch = switches.iter().find(|switch| switch.key == key);
    (switch.expect("it is a switch of this table").literal)(config)
}

/// The switches that differ between two configurations, with their values in the first one, in TOML.
fn differences<C>(switches: &[Switch<C>], config: &C, from: &C) -> Vec<(&'static str, String)> {
    let values = switches.iter().map(|switch| (switch.key, (switch.literal)(config), (switch.literal)(from)));
    values.filter(|(_, value, other)| value != other).map(|(key, value, _)| (key, value)).collect()
}

/// The settings that differ from `base`, as an inline table.
fn inline<C>(switches: &[Switch<C>], config: &C, base: &C) -> String {
    let given = differences(switches, config, base);
    let given: Vec<String> = given.into_iter().map(|(key, value)| format!("{key} = {value}")).collect();
    if given.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", given.join(", ")) }
}

/// The problem of a lower bound above its upper bound. It names the bound that the user set, not the default.
pub(super) fn wrong_way_round(low: &Field<'_>, high: &Field<'_>) -> Problem {
    let (culprit, other) = if high.is_default() { (low, high) } else { (high, low) };
    let bound = if high.is_default() { "at most" } else { "at least" };
    culprit.expected(&format!("{bound} {}, {}", other.name(), other.node.shown()))
}

/// A table of settings of one mechanism, on top of `base`. The setting `high` is not to be below `low`.
fn below<C>(
    section: &Section<'_>,
    switches: &[Switch<C>],
    mut base: C,
    [low, high]: [&'static str; 2],
    ordered: impl Fn(&C) -> bool,
) -> Result<C, Problem> {
    read(switches, |key| section.given(key), &mut base)?;
    match ordered(&base) {
        true => Ok(base),
        false => Err(wrong_way_round(&section.value(low), &section.value(high))),
    }
}

static SHARED: LazyLock<Vec<Shared>> = LazyLock::new(|| shared(Algorithm::switches));

/// The switches of congestion controls, which their catalogue declares: a row each.
fn congestion_rows() -> Vec<Switch<Stack>> {
    let row = |switch: &'static Shared| {
        let (schema, usual) = (switch.schema(), &switch.of[0].1.value);
        let read = |field: &Field<'_>, stack: &mut Stack| {
            stack.congestion_switches.insert(switch.key, parse(field, switch.domain(), &of_no_place)?);
            Ok(())
        };
        let value = move |stack: &Stack| options::literal(stack.congestion_switches.get(switch.key).unwrap_or(usual));
        Switch::new(switch.key, schema.kind, schema.doc, read, value)
    };
    SHARED.iter().map(row).collect()
}

/// Their keys, each with the names of the congestion controls that have it.
pub(crate) fn congestion_readers() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    SHARED.iter().map(|switch| (switch.key, switch.of.iter().map(|(name, _)| *name).collect()))
}

impl Stack {
    /// The prototype `algorithm` with the switches of this stack.
    pub(crate) fn switched(&self, algorithm: &Algorithm) -> Algorithm {
        let own = algorithm.switches().into_iter();
        let given = own.filter_map(|own| Some((own.key, self.congestion_switches.get(own.key)?.clone())));
        given.fold(algorithm.clone(), |algorithm, (key, value)| {
            algorithm.with(key, value).expect("it was read as a value of this switch")
        })
    }
}
