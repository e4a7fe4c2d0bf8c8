//! The stack of each end of a flow. Switches of the flow override those of the host, which override those of the
//! scenario, which override the profile.

use std::cell::RefCell;
use std::collections::BTreeMap;

use subflow_policy::congestion::CmtRpV2Form;
use subflow_policy::path_manager::MAX_SUBFLOWS;

use super::bounds::{BUFFER, COUNT, wrong_way_round};
use super::sctp::sctp_options;
use super::topology::Topology;
use crate::choice::Choice;
use crate::file::{Field, Layers, Place, Problem, Section, Value};
use crate::schema::{self, PROFILES, Profile};
use crate::{Buffer, DelayedAck, LossDetection, MptcpOptions, SackCompression, Stack, TcpOptions};

/// The stacks of a scenario's hosts.
pub(super) struct Stacks<'a> {
    scenario: Section<'a>,
    profiles: Vec<&'static Profile>,
    /// The table of each host; hosts in the short form and those of a topology have no table.
    tables: Vec<Option<Field<'a>>>,
    /// The stacks of hosts and flows without switches of their own: the scenario's switches on top of each profile, by
    /// name.
    usual: RefCell<BTreeMap<&'static str, Stack>>,
}

/// The tables of switches.
const SWITCHES: [&str; 3] = ["tcp", "mptcp", "sctp"];

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
        Ok(Self { scenario: *scenario, profiles, tables, usual: RefCell::default() })
    }

    /// The profile of a host.
    pub(super) fn profile(&self, host: usize) -> &'static Profile {
        self.profiles[host]
    }

    /// The stack of `host` in the flow whose table is `flow`.
    pub(super) fn stack(&self, flow: &Section<'_>, host: usize) -> Result<Stack, Problem> {
        let profile = self.profiles[host];
        let own = |table: &Section<'_>| SWITCHES.iter().any(|key| table.given(key).is_some());
        let is_usual = !own(flow) && !self.table(host)?.is_some_and(|table| own(&table));
        if let (true, Some(known)) = (is_usual, self.usual.borrow().get(profile.name)) {
            return Ok(known.clone());
        }
        let stack = self.layered(flow, host, |given| {
            let [tcp, mptcp, sctp] = SWITCHES.map(given);
            Ok(Stack {
                tcp: tcp_options(&Layers::new(&tcp, profile.tcp, &schema::TCP)?)?,
                mptcp: mptcp_options(&Layers::new(&mptcp, profile.mptcp, &schema::MPTCP)?)?,
                sctp: sctp_options(&Layers::new(&sctp, profile.sctp, &schema::SCTP)?)?,
            })
        })?;
        if is_usual {
            self.usual.borrow_mut().insert(profile.name, stack.clone());
        }
        Ok(stack)
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
            Ok(Layers::new(&sctp, &[], &schema::SCTP)?.given(key).map(|field| field.place().clone()))
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
    let choices: Vec<_> = PROFILES.iter().map(|profile| Choice::new(profile.name, profile, profile.doc)).collect();
    field.choice("the name of a profile", &choices)
}

pub(super) const LOSS_DETECTION: [Choice<LossDetection>; 2] = [
    Choice::new("rack", LossDetection::Rack, "by time").source("RFC 8985"),
    Choice::new("dup-thresh", LossDetection::DupThresh, "by three duplicate acknowledgments or SACKed packets")
        .source("RFC 6675"),
];

pub(super) const CMT_RPV2: [Choice<CmtRpV2Form>; 2] = [
    Choice::new("formula", CmtRpV2Form::Formula, "growth and decrease are coupled")
        .source("Dreibholz et al., ConTEL 2011"),
    Choice::new(
        "kernel-module",
        CmtRpV2Form::KernelModule,
        "only the decrease is coupled, as in the published Linux module",
    )
    .source("Lugowski 2017"),
];

fn tcp_options(layers: &Layers<'_>) -> Result<TcpOptions, Problem> {
    let flag = |key| layers.value(key).boolean();
    let count = |key| layers.value(key).integer(COUNT).map(|n| n as u32);
    let options = TcpOptions {
        mtu: layers.value("mtu").size(576..=9000)? as u16,
        initial_window: layers.value("initial_window").integer(1..=10_000)? as u32,
        timestamps: flag("timestamps")?,
        sack: flag("sack")?,
        initial_rto: layers.value("initial_rto").positive_duration()?,
        min_rto: layers.value("min_rto").positive_duration()?,
        max_rto: layers.value("max_rto").positive_duration()?,
        max_retries: count("max_retries")?,
        syn_retries: count("syn_retries")?,
        delayed_ack: unless_false(&layers.value("delayed_ack"), delayed_ack)?,
        sack_compression: unless_false(&layers.value("sack_compression"), sack_compression)?,
        loss_detection: layers.value("loss_detection").choice("a method of loss detection", &LOSS_DETECTION)?,
        prr: flag("prr")?,
        tlp: flag("tlp")?,
        frto: flag("frto")?,
        undo: flag("undo")?,
        hystart: flag("hystart")?,
        fixed_point: flag("fixed_point")?,
        two_segment_floor: flag("two_segment_floor")?,
        cmt_rpv2: layers.value("cmt_rpv2").choice("a form of CMT/RPv2", &CMT_RPV2)?,
        slow_start_at_threshold: flag("slow_start_at_threshold")?,
        count_acks: flag("count_acks")?,
        window_validation: flag("window_validation")?,
        slow_start_after_idle: flag("slow_start_after_idle")?,
        nagle: flag("nagle")?,
        receive_buffer: receive_buffer(&layers.value("receive_buffer"))?,
        send_buffer: send_buffer(&layers.value("send_buffer"))?,
        timer_tick: layers.value("timer_tick").duration()?,
        timer_wheel: flag("timer_wheel")?,
    };
    if options.max_rto < options.min_rto {
        return Err(wrong_way_round(&layers.value("min_rto"), &layers.value("max_rto")));
    }
    Ok(options)
}

fn mptcp_options(layers: &Layers<'_>) -> Result<MptcpOptions, Problem> {
    Ok(MptcpOptions {
        max_subflows: layers.value("max_subflows").integer(1..=MAX_SUBFLOWS as u64)? as u32,
        checksum: layers.value("checksum").boolean()?,
        opportunistic_retransmission: layers.value("opportunistic_retransmission").boolean()?,
        penalisation: layers.value("penalisation").boolean()?,
        stale_loss_count: layers.value("stale_loss_count").integer(0..=254)? as u8,
        subflows_open_window: layers.value("subflows_open_window").boolean()?,
    })
}

/// A mechanism with parameters that can be switched off.
fn unless_false<T>(field: &Field<'_>, read: fn(&Field<'_>) -> Result<T, Problem>) -> Result<Option<T>, Problem> {
    match field.value() {
        Value::Boolean(false) => Ok(None),
        Value::Table(_) => read(field).map(Some),
        _ => Err(field.expected("false, or a table of its parameters ({} for the defaults)")),
    }
}

fn delayed_ack(field: &Field<'_>) -> Result<DelayedAck, Problem> {
    let section = field.section(&schema::DELAYED_ACK)?;
    let (minimum_field, maximum_field) = (section.value("minimum"), section.value("maximum"));
    let (minimum, maximum) = (minimum_field.duration()?, maximum_field.duration()?);
    if maximum < minimum {
        return Err(wrong_way_round(&minimum_field, &maximum_field));
    }
    let packets = section.value("packets").integer(1..=1000)? as u16;
    Ok(DelayedAck { packets, minimum, maximum, quick_start: section.value("quick_start").boolean()? })
}

fn sack_compression(field: &Field<'_>) -> Result<SackCompression, Problem> {
    let section = field.section(&schema::SACK_COMPRESSION)?;
    Ok(SackCompression {
        delay: section.value("delay").duration()?,
        slack: section.value("slack").duration()?,
        count: section.value("count").integer(COUNT)? as u32,
    })
}

fn receive_buffer(field: &Field<'_>) -> Result<Buffer, Problem> {
    match field.value() {
        Value::Table(_) => automatic(&field.section(&schema::RECEIVE_BUFFER)?),
        _ => field.size(BUFFER).map(Buffer::Fixed),
    }
}

/// A buffer with an initial and a maximum size.
fn automatic(section: &Section<'_>) -> Result<Buffer, Problem> {
    let (initial_field, maximum_field) = (section.value("initial"), section.value("maximum"));
    let (initial, maximum) = (initial_field.size(BUFFER)?, maximum_field.size(BUFFER)?);
    if maximum < initial {
        return Err(wrong_way_round(&initial_field, &maximum_field));
    }
    Ok(Buffer::Automatic { initial, maximum })
}

fn send_buffer(field: &Field<'_>) -> Result<Buffer, Problem> {
    match field.value() {
        Value::String(text) if text == "unlimited" => Ok(Buffer::Unlimited),
        Value::Table(_) => automatic(&field.section(&schema::SEND_BUFFER)?),
        _ => field.size(BUFFER).map(Buffer::Fixed),
    }
}
