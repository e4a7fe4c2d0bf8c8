//! What programs set of the kernel of their host: the congestion control and the path manager of its connections.
//!
//! A kernel has neither for a single program. A congestion control is set by the routes of the host, since its default
//! (`net.ipv4.tcp_congestion_control`) cannot be one that the machine's administrator has not allowed to all users.

use std::fmt::Debug;

use subflow_linux::Needs;
use subflow_linux::congestion::kernel_name;
use subflow_policy::path_manager::PathManagement;
use subflow_scenario::{Program, Scenario};

use super::super::is_sent_by_kernel;
use crate::RunError;

/// What programs need of the machine.
pub(in crate::emulate) fn needs(scenario: &Scenario) -> Needs {
    let congestion = scenario.programs.iter().filter_map(|program| program.congestion.clone());
    let mptcp = scenario.programs.iter().any(|program| program.path_manager.is_some());
    Needs { mptcp, congestion: congestion.collect(), device: None }
}

/// The congestion control that the programs of a host want, by the kernel's name.
pub(in crate::emulate) fn congestion(scenario: &Scenario, host: usize) -> Result<Option<String>, RunError> {
    let wanted = only(scenario, host, "congestion", |program| program.congestion.as_ref())?;
    let Some((program, congestion)) = wanted else { return Ok(None) };
    for flow in scenario.flows.iter().filter(|flow| [flow.from.host, flow.to.host].contains(&host)) {
        let other = flow.congestion().filter(|_| flow.protocol.tcp().is_some() && is_sent_by_kernel(scenario, flow));
        if let Some(other) = other.filter(|other| other.name() != congestion) {
            return Err(RunError::Scenario(format!(
                "programs.{}.congestion: found {congestion:?}, and {} for flows.{}; it applies to all connections of {}, so \
                 give both the same, or run the program on another host",
                program.name,
                other.name(),
                flow.key(),
                scenario.hosts[host].name
            )));
        }
    }
    Ok(Some(kernel_name(congestion).to_owned()))
}

/// The path manager that the programs of a host want.
pub(in crate::emulate) fn path_manager(scenario: &Scenario, host: usize) -> Result<Option<&PathManagement>, RunError> {
    let wanted = only(scenario, host, "path_manager", |program| program.path_manager.as_ref())?;
    Ok(wanted.map(|(_, path_manager)| path_manager))
}

/// What the programs of a host want that say so: all of them the same.
fn only<'a, T: Debug>(
    scenario: &'a Scenario,
    host: usize,
    key: &str,
    of: impl Fn(&'a Program) -> Option<&'a T>,
) -> Result<Option<(&'a Program, &'a T)>, RunError> {
    let programs = scenario.programs.iter().filter(|program| program.host == host);
    let mut wanted = programs.filter_map(|program| Some((program, of(program)?)));
    let Some((first, value)) = wanted.next() else { return Ok(None) };
    match wanted.find(|(_, other)| format!("{other:?}") != format!("{value:?}")) {
        None => Ok(Some((first, value))),
        Some((other, _)) => Err(RunError::Scenario(format!(
            "programs.{}.{key} and programs.{}.{key} differ; a kernel has one for all connections of {}, so give both \
             the same, or run one of them on another host",
            first.name, other.name, scenario.hosts[host].name
        ))),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use subflow_scenario::file::Document;

    use super::*;

    fn scenario(further: &str) -> Scenario {
        let text = format!(
            "duration = '1 s'\n[hosts]\na = ['eth']\nb = ['eth']\n[links.wire]\nbetween = ['a.eth', 'b.eth']\n\
             rate = '1 Mbit/s'\n[programs]\none = {{ on = 'a', run = ['x'], congestion = 'bbr' }}\n{further}"
        );
        let document = Document::parse(Path::new("kernel.toml"), text).expect("TOML");
        Scenario::read(&document).unwrap_or_else(|problems| panic!("{problems:?}"))
    }

    #[test]
    fn a_host_has_one_congestion_control_and_one_path_manager_for_all_of_its_programs() {
        let alone = scenario("");
        assert_eq!(congestion(&alone, 0).expect("one").as_deref(), Some("bbr"));
        assert_eq!(congestion(&alone, 1).expect("none"), None);
        let coupled = scenario("two = { on = 'b', run = ['x'], congestion = 'cmt-rpv1' }\n");
        assert_eq!(congestion(&coupled, 1).expect("one").as_deref(), Some("cmt_rpv1"), "the kernel's name");
        assert_eq!(needs(&coupled).congestion, ["bbr", "cmt-rpv1"]);
        let other = scenario("two = { on = 'a', run = ['x'], congestion = 'reno' }\n");
        let refused = congestion(&other, 0).expect_err("they differ").to_string();
        assert!(refused.contains("programs.one.congestion and programs.two.congestion"), "{refused}");
        let managed = "two = { on = 'b', run = ['x'], path_manager = 'full-mesh' }\n\
                       three = { on = 'b', run = ['x'], path_manager = { name = 'ndiffports', n = 3 } }\n";
        let refused = path_manager(&scenario(managed), 1).expect_err("they differ").to_string();
        assert!(refused.contains("programs.two.path_manager") && refused.contains("connections of b"), "{refused}");
    }

    #[test]
    fn a_flow_of_the_same_host_has_the_congestion_control_of_its_programs() {
        let with = |congestion| scenario(&format!("[flows.f]\nfrom = 'a'\nto = 'b'\ncongestion = '{congestion}'\n"));
        assert!(congestion(&with("bbr"), 0).is_ok());
        let refused = congestion(&with("cubic"), 0).expect_err("they differ").to_string();
        assert!(refused.contains("flows.f") && refused.contains("another host"), "{refused}");
    }
}
