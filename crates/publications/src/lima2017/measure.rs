//! What is measured of a run: figures of the upload, then of each interface, and second by second where figure 9 is.

use subflow_lab::results::RunResult;

use super::properties::{in_each, properties};
use crate::study::{DELIVERED, DUPLICATE_ACKS as DUPLICATES, RETRANSMISSIONS as REPEATED, SRTT, Sample, by_second};

/// The places of metrics in a sample, as the paper's file lists them: goodput of the upload in Mbit/s, of background TCP,
/// seconds of a transfer that ends, segments sent again, timeouts, duplicate acknowledgments, goodput by interface.
pub(super) const GOODPUT: usize = 0;
pub(super) const SECONDS: usize = 2;
pub(super) const INTERFACE: usize = 6;
/// The interfaces of the client.
pub(super) const INTERFACES: usize = 5;

/// The seconds that figure 9 shows.
pub(super) const SHOWN: usize = 13;
/// The interface that it is of by what it carries: that with 100 Mbit/s.
const OF_FIGURE_9: &str = "upload/client.l5-";
/// The properties of section 2.3.6 follow the interfaces, and then the lists of figure 9.
const LISTS: usize = INTERFACE + INTERFACES + 3;

/// A list of figure 9: on its interface, but for acknowledgments, which are those of the whole connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    /// Payload in Mbit/s.
    Payload,
    /// Segments sent again in the second.
    Retransmissions,
    /// Duplicate acknowledgments in the second.
    DuplicateAcks,
    /// The mean of the subflows' smoothed RTTs at the end of the second in ms, with the own queue.
    Rtt,
}

impl List {
    pub(super) const ALL: [Self; 4] = [Self::Payload, Self::Retransmissions, Self::DuplicateAcks, Self::Rtt];

    /// The place of a second, counted from 0, in a sample.
    pub(super) fn place(self, second: usize) -> usize {
        LISTS + SHOWN * self as usize + second
    }

    /// Its title and its unit.
    pub(super) fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Payload => ("payload", "Mbit/s"),
            Self::Retransmissions => ("retransmissions", ""),
            Self::DuplicateAcks => ("duplicate ACKs", ""),
            Self::Rtt => ("mean RTT", "ms"),
        }
    }
}

/// The sample of a run.
pub(super) fn measure(result: &RunResult) -> Result<Sample, String> {
    let upload = result.flows.iter().find(|flow| flow.name == "upload").ok_or("there is no flow upload")?;
    let background = result.flows.iter().filter(|flow| flow.name.starts_with("tcp")).map(|flow| flow.goodput_mbps);
    let mut sample = vec![
        upload.goodput_mbps,
        background.reduce(|sum, goodput| sum + goodput).unwrap_or(f64::NAN),
        upload.completion_s.unwrap_or(f64::NAN),
        upload.retransmissions as f64,
        upload.timeouts as f64,
        upload.duplicate_acks as f64,
    ];
    for interface in 1..=INTERFACES {
        let own = format!("client.l{interface}-");
        let subflows = upload.subflows.iter().filter(|subflow| subflow.name.starts_with(&own));
        sample.push(subflows.map(|subflow| subflow.goodput_mbps).sum());
    }
    sample.extend(properties(result));
    if !result.series.is_empty() {
        sample.extend(List::ALL.into_iter().flat_map(|list| seconds(result, list)));
    }
    Ok(sample)
}

fn seconds(result: &RunResult, list: List) -> Vec<f64> {
    let is_of_interface = |name: &str| name.starts_with(OF_FIGURE_9);
    let counted = |metric: &str, is_of: &dyn Fn(&str) -> bool| {
        in_each(by_second(result, SHOWN, metric, is_of).into_iter().map(|values| values.iter().sum::<f64>()))
    };
    match list {
        List::Payload => counted(DELIVERED, &is_of_interface),
        List::Retransmissions => counted(REPEATED, &is_of_interface),
        List::DuplicateAcks => counted(DUPLICATES, &|name| name == "upload"),
        List::Rtt => {
            let rtts = by_second(result, SHOWN, SRTT, is_of_interface).into_iter();
            rtts.map(|values| values.iter().sum::<f64>() / values.len() as f64).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Request;
    use crate::lima2017::LIMA2017;

    #[test]
    fn on_the_interface_of_figure_9_nothing_is_sent_again() {
        let request = Request { items: vec!["seconds".to_owned()], quick: true, ..Request::default() };
        let reproduction = LIMA2017.reproduce(&request, &|_| {}).expect("the runs succeed").reproduction;
        assert_eq!(reproduction.figures.len(), 4);
        let of_interface = reproduction.findings.iter().find(|finding| finding.statement.contains("on that interface"));
        let of_interface = of_interface.expect("it is a claim");
        assert_eq!(of_interface.verdict.confirmed(), Some(true), "{}", of_interface.evidence);
        let carries = reproduction.findings.iter().find(|finding| finding.statement.starts_with("The interface of"));
        let evidence = &carries.expect("it is a claim").evidence;
        assert!(evidence.contains("lia ") && evidence.contains(" % of all"), "{evidence}");
    }
}
