//! The report data of several reproductions: the numbers of confirmed findings by publication, and all findings.

use serde::Serialize;

use super::{Finding, Reproduced, Reproduction, count, counted, json};
use crate::{Cell, Table};

/// Reproductions in the order of the list of publications.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reproductions(pub Vec<(Reproduced, Reproduction)>);

impl Reproductions {
    /// One JSON object, `{"reproductions": [...]}`, and a line end.
    pub fn to_json(&self) -> String {
        #[derive(Serialize)]
        struct All<'a> {
            reproductions: Vec<&'a Reproduction>,
        }
        json(&All { reproductions: self.0.iter().map(|(_, reproduction)| reproduction).collect() })
    }

    /// The verdicts by publication, then all findings.
    pub fn to_text(&self) -> String {
        let mut text = format!("Findings: {}\n\n{}", self.counted(), self.verdicts().to_text());
        for (reproduced, reproduction) in &self.0 {
            text += &format!("\n{}\n", reproduced.title);
            text.extend(reproduction.findings.iter().map(Finding::to_text));
        }
        text
    }

    /// How many of all findings are confirmed, not confirmed and undecided, as a sentence.
    pub(super) fn counted(&self) -> String {
        let all = self.0.iter().flat_map(|(_, reproduction)| reproduction.findings.iter().cloned());
        counted(&all.collect::<Vec<_>>())
    }

    /// A row for each publication with the numbers of its findings and of those that are confirmed. Studies of ours are
    /// counted apart, in the last column.
    pub fn verdicts(&self) -> Table {
        let mut table = Table::new(["publication", "findings", "confirmed", "not confirmed", "undecided", "beyond it"]);
        let mut totals = [0; 4];
        let mut row = |name: &str, [confirmed, not_confirmed, undecided, beyond]: [usize; 4]| {
            let all = confirmed + not_confirmed + undecided;
            let cells = [all, confirmed, not_confirmed, undecided, beyond].map(|count| Cell::Integer(count as i64));
            table.row([Cell::from(name)].into_iter().chain(cells));
        };
        for (reproduced, reproduction) in &self.0 {
            let (ours, published): (Vec<_>, Vec<_>) = reproduction.findings.iter().partition(|finding| finding.beyond);
            let [confirmed, not_confirmed, undecided] = count(published);
            let counts = [confirmed, not_confirmed, undecided, ours.len()];
            totals = core::array::from_fn(|index| totals[index] + counts[index]);
            row(&reproduced.name, counts);
        }
        row("all", totals);
        table
    }

    /// A row for each finding with its verdict and evidence.
    pub fn findings(&self) -> Table {
        let columns = ["publication", "statement", "source", "published", "value", "low", "high", "unit", "verdict"];
        let mut table = Table::new(columns.into_iter().chain(["evidence", "depends_on", "beyond"]));
        for (reproduced, reproduction) in &self.0 {
            reproduction.findings.iter().for_each(|finding| table.row(cells(&reproduced.name, finding)));
        }
        table
    }
}

fn cells(publication: &str, finding: &Finding) -> Vec<Cell> {
    let text = |text: Option<String>| text.map_or(Cell::Empty, Cell::Text);
    let measured = finding.measured.as_ref();
    vec![
        publication.into(),
        finding.statement.as_str().into(),
        finding.source.as_str().into(),
        text(finding.published.clone()),
        measured.map(|measured| measured.value).into(),
        measured.and_then(|measured| measured.low).into(),
        measured.and_then(|measured| measured.high).into(),
        text(measured.map(|measured| measured.unit.clone())),
        finding.verdict.text().into(),
        finding.evidence.as_str().into(),
        text(finding.depends_on()),
        Cell::from(if finding.beyond { "yes" } else { "no" }),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reproduction(verdicts: &[Option<bool>]) -> (Reproduced, Reproduction) {
        let findings = verdicts.iter().map(|&verdict| Finding::new("A < B", verdict, "seen")).collect();
        let reproduction = Reproduction {
            paper: "paper".to_owned(),
            table: Table::new(["ours"]),
            readable: Vec::new(),
            figures: Vec::new(),
            findings,
            notes: Vec::new(),
        };
        let reproduced = Reproduced {
            name: "paper".to_owned(),
            title: "A paper & its title".to_owned(),
            items: Vec::new(),
            quick: true,
            command: "subflow reproduce paper --quick".to_owned(),
        };
        (reproduced, reproduction)
    }

    #[test]
    fn every_finding_is_counted_once_and_listed_once() {
        let all = Reproductions(vec![reproduction(&[Some(true), None]), reproduction(&[Some(false), Some(true)])]);
        let counts = all.verdicts();
        assert_eq!(counts.rows()[2][1..], [4, 2, 1, 1, 0].map(Cell::Integer));
        assert_eq!(all.findings().rows().len(), 4);
        let page = crate::of_reproductions(&all, "subflow reproduce all --quick");
        assert_eq!(page.matches("of 4 published findings 2 confirmed, 1 not confirmed, 1 undecided").count(), 1);
        assert!(all.to_text().starts_with("Findings: of 4 published findings 2 confirmed"));
        assert_eq!(page.matches("A &lt; B").count(), 4);
        assert_eq!(page.matches("A paper &amp; its title").count(), 4, "over its findings and over its details");
        assert_eq!(all.to_text().matches("A < B").count(), 4);
    }
}
