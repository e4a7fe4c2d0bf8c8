//! The stack of each end of a flow. Switches of the flow override those of the host, which override those of the
//! scenario, which override the profile.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use subflow_policy::catalogue::Choice;
use subflow_quantity::Bdp;
use subflow_transport::tcp;
use subflow_transport::tcp::config::{ReceiveBuffer, SendBuffer};

use super::topology::Topology;
use crate::file::{Field, Layers, Place, Problem, Section, Value};
use crate::schema;
use crate::switches::buffers::products;
use crate::switches::profiles::{self, Profile};
use crate::switches::{self, Stack};

/// The stacks of a scenario's hosts.
pub(super) struct Stacks<'a> {
    scenario: Section<'a>,
    profiles: Vec<&'static Profile>,
    /// The table of each host; hosts in the short form and those of a topology have no table.
    tables: Vec<Option<Field<'a>>>,
    /// The stacks of hosts and flows without switches of their own: the scenario's switches on top of each profile, by
    /// name.
    usual: RefCell<BTreeMap<&'static str, Arc<Stack>>>,
    /// The configurations of TCP. Equal ones are the same object, which stays in the cache although thousands of
    /// connections read theirs with every packet.
    tcp: RefCell<Vec<Arc<tcp::Config>>>,
}

/// So many configurations of TCP are compared with a new one.
const COMPARED: usize = 16;

/// The tables of switches.
const SWITCHES: [&str; 4] = ["tcp", "mptcp", "sctp", "quic"];

impl<'a> Stacks<'a> {
    pub(super) fn read(scenario: &Section<'a>, topology: &Topology) -> Result<Self, Problem> {
        let general = profile(&scenario.value("profile"))?;
        let mut tables = vec![None; topology.hosts.len()];
        let mut profiles = vec![general; topology.hosts.len()];
        for (name, field) in scenario.entries_of("hosts") {
            let Some(host) = topology.hosts.number(name) else { continue };
            if !matches!(field.value(), Value::Table(_)) {
                continue;
            }
            if let Some(own) = field.section(&schema::HOST)?.given("profile") {
                profiles[host] = profile(&own)?;
            }
            tables[host] = Some(field);
        }
        Ok(Self { scenario: *scenario, profiles, tables, usual: RefCell::default(), tcp: RefCell::default() })
    }

    /// The profile of a host.
    pub(super) fn profile(&self, host: usize) -> &'static Profile {
        self.profiles[host]
    }

    /// The stack of `host` in the flow whose table is `flow`.
    pub(super) fn stack(&self, flow: &Section<'_>, host: usize) -> Result<Arc<Stack>, Problem> {
        let profile = self.profiles[host];
        let own = |table: &Section<'_>| SWITCHES.iter().any(|key| table.given(key).is_some());
        let is_usual = !own(flow) && !self.table(host)?.is_some_and(|table| own(&table));
        if let (true, Some(known)) = (is_usual, self.usual.borrow().get(profile.description.name)) {
            return Ok(known.clone());
        }
        let mut stack = profile.stack.clone();
        self.layered(flow, host, |given| {
            let [tcp, mptcp, sctp, quic] = SWITCHES.map(given);
            switches::tcp::apply(&Layers::new(&tcp, &switches::tcp::TABLE)?, &mut stack)?;
            switches::mptcp::apply(&Layers::new(&mptcp, &switches::mptcp::TABLE)?, &mut stack)?;
            switches::sctp::apply(&Layers::new(&sctp, &switches::sctp::TABLE)?, &mut stack)?;
            switches::quic::apply(&Layers::new(&quic, &switches::quic::TABLE)?, &mut stack)
        })?;
        stack.mptcp.tcp = self.shared(&stack.tcp);
        let stack = Arc::new(stack);
        if is_usual {
            self.usual.borrow_mut().insert(profile.description.name, stack.clone());
        }
        Ok(stack)
    }

    /// The stack of `host` in the flow, whose buffers in bandwidth-delay products have the bytes that `bytes` says.
    pub(super) fn stack_with_buffers(
        &self,
        flow: &Section<'_>,
        host: usize,
        bytes: impl Fn(Bdp, &Field<'_>) -> Result<u64, Problem>,
    ) -> Result<Arc<Stack>, Problem> {
        let mut stack = self.stack(flow, host)?;
        let [receive, send] = self.layered(flow, host, |given| {
            let tcp = given("tcp");
            let layers = Layers::new(&tcp, &switches::tcp::TABLE)?;
            let in_bytes = |key| {
                let field = layers.given(key);
                let products = field.as_ref().and_then(|field| Some((products(field)?, field)));
                products.map(|(products, field)| bytes(products, field)).transpose()
            };
            Ok([in_bytes("receive_buffer")?, in_bytes("send_buffer")?])
        })?;
        if receive.is_some() || send.is_some() {
            let own = Arc::make_mut(&mut stack);
            own.tcp.receive_buffer = receive.map_or(own.tcp.receive_buffer, ReceiveBuffer::Fixed);
            own.tcp.send_buffer = send.map_or(own.tcp.send_buffer, SendBuffer::Fixed);
            own.mptcp.tcp = self.shared(&own.tcp);
        }
        Ok(stack)
    }

    fn shared(&self, config: &tcp::Config) -> Arc<tcp::Config> {
        let mut known = self.tcp.borrow_mut();
        if let Some(known) = known.iter().rev().take(COMPARED).find(|known| &***known == config) {
            return known.clone();
        }
        let config = Arc::new(config.clone());
        known.push(config.clone());
        config
    }

    fn table(&self, host: usize) -> Result<Option<Section<'_>>, Problem> {
        self.tables[host].as_ref().map(|field| field.section(&schema::HOST)).transpose()
    }

    /// The place at which the SCTP switch `key` of `host` in the flow is specified; `None` if it is a default.
    pub(super) fn sctp_place(
        &self,
        flow: &Section<'_>,
        host: usize,
        key: &'static str,
    ) -> Result<Option<Place>, Problem> {
        self.layered(flow, host, |given| {
            let sctp = given("sctp");
            Ok(Layers::new(&sctp, &switches::sctp::TABLE)?.given(key).map(|field| field.place().clone()))
        })
    }

    /// Reads the layers of one table: the flow's, its host's, the scenario's.
    fn layered<T>(
        &self,
        flow: &Section<'_>,
        host: usize,
        read: impl FnOnce(Tables<'_>) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let table = self.table(host)?;
        read(&|key| [flow.given(key), table.and_then(|host| host.given(key)), self.scenario.given(key)])
    }
}

/// The layers of one table from the topmost down; each may be absent.
type Tables<'r> = &'r dyn Fn(&'static str) -> [Option<Field<'r>>; 3];

fn profile(field: &Field<'_>) -> Result<&'static Profile, Problem> {
    let choices: Vec<_> =
        profiles::all().iter().map(|profile| Choice { description: profile.description, value: profile }).collect();
    field.choice("the name of a profile", &choices)
}
