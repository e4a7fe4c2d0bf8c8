//! What is inferred of senders, in sentences: congestion controls, schedulers, shared bottlenecks.

use crate::{Analysis, BottleneckRow, ConnectionRow, DirectionRow, SubflowRow};

/// Sentences of each kind, at most: tables have the rest.
const MOST: usize = 20;

impl Analysis {
    /// The sentences, with how many loss episodes or choices each rests on.
    pub(crate) fn inferred(&self) -> impl Iterator<Item = String> + '_ {
        let congestion = self.subflows.iter().filter_map(congestion).take(MOST);
        let schedulers = self.connections.iter().flat_map(schedulers).take(MOST);
        let shared = self.bottlenecks.chunk_by(is_same_sender).flat_map(agreed).take(MOST);
        congestion.chain(schedulers).chain(shared)
    }
}

fn congestion(row: &SubflowRow) -> Option<String> {
    let family = row.congestion?;
    let like = match family.name {
        "reno" => "halves its window and adds a segment per round trip, as Reno does",
        "coupled" => "halves its window and adds less than a segment per round trip, as coupled congestion controls do",
        "cubic" => "keeps 0.7 of its window, as CUBIC does",
        "rate" => "keeps its window, as congestion controls by rate (BBR) do",
        _ => "keeps its window for a long time without losses, as congestion controls by delay or rate do",
    };
    let (connection, subflow, from) = (row.connection, row.subflow, &row.from);
    let of = match family.episodes {
        0 => String::new(),
        episodes => format!(" ({} of {episodes} loss episodes)", family.votes),
    };
    Some(format!("{connection}.{subflow}: {from} {like}{of}."))
}

fn schedulers(connection: &ConnectionRow) -> impl Iterator<Item = String> + '_ {
    let of = |(sender, direction): (&str, &DirectionRow)| {
        let scheduler = direction.scheduler.as_ref()?;
        let (number, followed, choices) = (connection.number, scheduler.followed, scheduler.choices);
        Some(if scheduler.rule == "redundant" {
            format!("Connection {number}: {followed} of {choices} segments of the {sender} are copies.")
        } else {
            let rule = &scheduler.rule;
            format!("Connection {number}: the {sender}'s scheduler goes by: {rule} ({followed} of {choices} choices).")
        })
    };
    ["client", "server"].into_iter().zip(&connection.directions).filter_map(of)
}

fn is_same_sender(a: &BottleneckRow, b: &BottleneckRow) -> bool {
    (a.connection, a.sender) == (b.connection, b.sender)
}

/// The pairs of one sender's subflows of which two detectors or more say something, and all the same: a single one errs
/// while windows grow at the same time.
fn agreed(rows: &[BottleneckRow]) -> Vec<String> {
    let mut pairs: Vec<[usize; 2]> = rows.iter().map(|row| row.subflows).collect();
    pairs.sort_unstable();
    pairs.dedup();
    let sentence = |pair: [usize; 2]| {
        let of_pair: Vec<&BottleneckRow> = rows.iter().filter(|row| row.subflows == pair).collect();
        let (first, [a, b]) = (of_pair.first()?, pair);
        let does = match of_pair.iter().filter(|row| row.is_shared).count() {
            0 => "share no bottleneck",
            all if all == of_pair.len() => "share a bottleneck",
            _ => return None,
        };
        let detectors: Vec<String> = of_pair
            .iter()
            .map(|row| format!("{} {:.2}, from {} on", row.detector, row.degree, row.threshold))
            .collect();
        let (connection, sender, detectors) = (first.connection, first.sender, detectors.join("; "));
        (of_pair.len() > 1)
            .then(|| format!("Connection {connection}: subflows {a} and {b} of the {sender} {does} ({detectors})."))
    };
    pairs.into_iter().filter_map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Family;

    #[test]
    fn a_sentence_says_how_many_episodes_it_rests_on() {
        let family = Family { name: "cubic", votes: 4, episodes: 5 };
        let row = SubflowRow { connection: 2, subflow: 1, from: "10.0.0.1:80".to_owned(), ..SubflowRow::default() };
        assert_eq!(congestion(&row), None);
        assert_eq!(
            congestion(&SubflowRow { congestion: Some(family), ..row }).as_deref(),
            Some("2.1: 10.0.0.1:80 keeps 0.7 of its window, as CUBIC does (4 of 5 loss episodes).")
        );
    }

    #[test]
    fn detectors_that_disagree_and_single_ones_give_no_sentence() {
        let row = |subflows, detector, degree| BottleneckRow {
            connection: 1,
            sender: "client",
            subflows,
            detector,
            degree,
            threshold: 0.8,
            is_shared: degree >= 0.8,
        };
        let rows = [
            row([1, 2], "red-cpi", 0.9),
            row([1, 3], "red-cpi", 0.9),
            row([2, 3], "red-cpi", 0.1),
            row([1, 4], "red-cpi", 0.9),
            row([1, 2], "mscm", 0.85),
            row([1, 3], "mscm", 0.5),
            row([2, 3], "mscm", 0.2),
        ];
        let sentences = agreed(&rows);
        assert_eq!(sentences.len(), 2, "{sentences:?}");
        assert!(sentences[0].contains("1 and 2 of the client share a bottleneck (red-cpi 0.90, from 0.8 on; mscm"));
        assert!(sentences[1].contains("2 and 3 of the client share no bottleneck"), "{sentences:?}");
    }
}
