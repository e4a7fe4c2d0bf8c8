//! What a network that stays has measured until now, as its process tells it to others.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use subflow_scenario::file::{Document, Problems};
use subflow_scenario::sweep::Plan;

use super::{ConnectionResult, Experiment, Run, RunResult, Series};

/// What a network that stays has measured until now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NetworkResults {
    /// The file of the scenario, at which relative paths in it start.
    pub path: PathBuf,
    /// The scenario as TOML, with what was changed while the network stayed.
    pub scenario: String,
    /// The measurements as those of a run that ends now; its flows are connections of programs.
    pub result: RunResult,
    /// The metrics over time.
    pub series: Vec<Series>,
    /// All connections.
    pub connections: Vec<ConnectionResult>,
}

impl NetworkResults {
    /// Reads what the process of a network answered.
    ///
    /// # Errors
    ///
    /// It is not in this form, such as that of another version.
    pub fn from_json(answer: &str) -> serde_json::Result<Self> {
        serde_json::from_str(answer)
    }

    /// The plan of the scenario, and the experiment with the one run.
    ///
    /// # Errors
    ///
    /// The scenario is not valid here, such as one that names a trace that another folder has.
    pub fn experiment(self) -> Result<(Plan, Experiment), Problems> {
        let Self { path, scenario, result, series, connections } = self;
        let plan = Plan::read(Document::parse(&path, scenario)?)?;
        let result = RunResult { series, connections, ..result };
        let (parameters, duration_s) = (plan.points[0].parameters.clone(), result.duration_s);
        let mut experiment = Experiment::new(&plan, vec![Run { run: 0, point: 0, parameters, result }]);
        // Those of the scenario are for runs: a network stays until it is ended, and is measured from its beginning.
        (experiment.scenario.duration_s, experiment.scenario.warm_up_s) = (duration_s, 0.0);
        Ok((plan, experiment))
    }
}

#[cfg(test)]
mod tests {
    use subflow_quantity::{Duration, Instant};

    use super::*;
    use crate::results::{FlowResult, LinkResult};

    #[test]
    fn what_a_network_tells_becomes_an_experiment_with_its_flows_connections_and_series() {
        let text = "duration = '20 s'\nwarm_up = '1 s'\n[hosts]\na = ['eth']\nb = ['eth']\n[links.wire]\nbetween = ['a.eth', 'b.eth']\nrate = '1 Mbit/s'\n\
                    [programs.x]\non = 'a'\nrun = ['true']\n";
        let connection = ConnectionResult { name: "x:1".to_owned(), bytes_sent: 7, ..ConnectionResult::default() };
        let flow = FlowResult { name: "x:1".to_owned(), ..FlowResult::default() };
        let flow = FlowResult { connection: Some(Box::new(connection.clone())), ..flow };
        let links = vec![LinkResult::new("wire".to_owned(), Default::default(), Default::default())];
        let mut series = Series::new("x:1", "cwnd", "packets", Duration::from_millis(100));
        series.push(Instant::from_nanos(5), 3.0);
        let told = NetworkResults {
            path: "net.toml".into(),
            scenario: text.to_owned(),
            result: RunResult { flows: vec![flow], links, duration_s: 3.0, ..RunResult::default() },
            series: vec![series],
            connections: vec![connection],
        };
        let json = serde_json::to_string(&told).expect("it is plain");
        let read = NetworkResults::from_json(&json).expect("what was written");
        let (_, experiment) = read.experiment().expect("a good scenario");
        let run = &experiment.runs[0].result;
        assert_eq!((run.connections[0].bytes_sent, run.series.len(), run.duration_s), (7, 1, 3.0));
        assert_eq!(experiment.statistics[0].flows[0].name, "x:1");
        let summary = &experiment.scenario;
        assert_eq!((summary.duration_s, summary.warm_up_s), (3.0, 0.0), "not those for runs");
    }
}
