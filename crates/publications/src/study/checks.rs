//! Checks of claims that need no code of a paper: what a claim's keys say of its cells.
//! The book has the checks and the keys of claims (`docs/src/study-folder.md`).
//!
//! Intervals are those of 95 %. One cell that fails refutes a claim; those that hold confirm it only where all were run,
//! and none is undecided, as where intervals overlap. The evidence names the criterion and has every figure that it is
//! about.

use std::ops::RangeInclusive;

use subflow_report::Measured;

use super::averages::{Tendency, gain_grows, on_average};
use super::claims::{Bounds, Claim, Told};
use super::comparisons::{Comparison, Decided, is_above, spreads};
use super::metrics::Metric;
use super::ratio::{Ratio, all, is_between, with_doubt};
use super::results::{Outcome, Part, Results, Row};
use super::selection::{Figure, Selection, name_among};

/// Of more parts the evidence has that which decides.
const MOST_SHOWN: usize = 8;

pub(super) const NAMES: [&str; 16] = [
    "ahead",
    "behind",
    "equal",
    "ratio",
    "best",
    "apart",
    "within",
    "alike",
    "rises",
    "falls",
    "near published",
    "less on average",
    "more on average",
    "equal on average",
    "no more on average",
    "gain grows",
];

/// What has to hold of the cells of a claim.
#[derive(Clone, Debug)]
enum Kind {
    Compare(Comparison),
    Within {
        bounds: RangeInclusive<f64>,
        /// Whether values decide and no intervals.
        by_values: bool,
    },
    /// How far apart the cells of each combination may be, as a share.
    Alike(f64),
    /// Along a variable, upwards or downwards.
    Moves(String, bool),
    Near(f64),
    OnAverage(Tendency),
    GainGrows(String),
}

impl Kind {
    fn text(&self, of: &Selection) -> String {
        let unit = &of.unit;
        let pairs = |joint: &str| match &of.claim.words {
            Some(words) => words.clone(),
            None => of.pairs.iter().map(|pair| pair.names().join(joint)).collect::<Vec<_>>().join(", "),
        };
        let mean = if of.claim.average { "mean over the cells of " } else { "" };
        let subject = format!("{mean}{}", of.subject());
        match self {
            Self::Compare(comparison) => match comparison {
                Comparison::Ahead(by) => {
                    let above = match *by {
                        by if by > 0.0 => format!(" more than {:.0} % above ", 100.0 * by),
                        by if by < 0.0 => format!(" less than {:.0} % below ", -100.0 * by),
                        _ => " above ".to_owned(),
                    };
                    format!("{subject}, {}, and intervals lie apart", pairs(&above))
                }
                Comparison::AheadInEachRun => format!("{subject}, {}, in each run", pairs(" above ")),
                Comparison::Behind => format!("{subject}, {}, and intervals lie apart", pairs(" below ")),
                Comparison::Equal(share) => format!("{subject}, {}, within {:.0} %", pairs(" as "), 100.0 * share),
                Comparison::Ratio { times, decided } => {
                    let is_of_interval = matches!(decided, Decided::ByInterval);
                    let how = if is_of_interval { " with its interval" } else { " by its value" };
                    format!("{subject}, {}, {}{how}", pairs(" over "), between(times, "times"))
                }
                Comparison::Best(times) => {
                    format!(
                        "{subject}, {}, {} with its interval, and no two surely equal within 1 %",
                        pairs(" over "),
                        between(times, "times")
                    )
                }
                Comparison::Apart(bounds) => format!("{subject}, {}, {}", pairs(" less "), between(bounds, unit)),
            },
            Self::Within { bounds, by_values } => {
                let interval = if *by_values { "" } else { " with its interval" };
                format!("{subject} {}{interval}", between(bounds, unit))
            }
            Self::Alike(share) => format!("{subject}, the largest over the smallest, at most {} times", 1.0 + share),
            Self::Moves(along, true) => format!("{subject} rises with each step of {along}, and intervals lie apart"),
            Self::Moves(along, false) => format!("{subject} falls with each step of {along}, and intervals lie apart"),
            Self::Near(share) => format!("{subject} within {:.0} % of the published figure", 100.0 * share),
            Self::OnAverage(tendency) => format!("{subject}, {}: {}", pairs(" over "), tendency.text()),
            Self::GainGrows(along) => {
                format!("{subject} of {}, and by more the greater {along} is", pairs(" is less than of "))
            }
        }
    }
}

fn between(bounds: &RangeInclusive<f64>, unit: &str) -> String {
    let range = match (bounds.start().is_finite() && *bounds.start() != 0.0, bounds.end().is_finite()) {
        (true, true) if bounds.start() == bounds.end() => format!("{}", bounds.start()),
        (true, false) => format!("at least {}", bounds.start()),
        (false, true) => format!("at most {}", bounds.end()),
        _ => format!("from {} to {}", bounds.start(), bounds.end()),
    };
    if unit.is_empty() { range } else { format!("{range} {unit}") }
}

impl Told {
    /// A ratio in this unit.
    pub(super) fn measured(self, ratio: Measured) -> Measured {
        let Measured { value, low, high, .. } = ratio;
        let (sign, low, high, unit) = match self {
            Self::Times => return ratio,
            Self::More => (1.0, low, high, "% more"),
            Self::Less => (-1.0, high, low, "% less"),
        };
        let percent = |ratio: f64| sign * 100.0 * (ratio - 1.0);
        Measured { value: percent(value), low: low.map(percent), high: high.map(percent), unit: unit.to_owned() }
    }

    /// The same to read, with half of its interval.
    pub(super) fn text(self, ratio: Ratio) -> String {
        let (percent, half) = (100.0 * (ratio.value - 1.0), 100.0 * ratio.half());
        match self {
            Self::Times => format!("{:.2} ± {:.2} times", ratio.value, ratio.half()),
            _ => format!("{:.1} ± {half:.1} % {}", percent.abs(), if percent < 0.0 { "less" } else { "more" }),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Rule {
    kind: Kind,
    of: Selection,
    /// Another reading of the claim, and its name.
    beside: Option<(String, Box<Self>)>,
    also: Vec<Self>,
}

impl Rule {
    /// The check of a claim; `None` where its name is none of these.
    pub(super) fn of(claim: &Claim, metrics: &[Metric]) -> Result<Option<Self>, String> {
        let name = claim.check.as_str();
        if !NAMES.contains(&name) {
            return Ok(None);
        }
        if let Some(key) = claim.arguments.keys().next() {
            return Err(format!("{key}: there is no such key"));
        }
        let missing = |key: &str| format!("{key}: it is missing; {name} needs it");
        let share = || claim.percent.map(|percent| percent / 100.0).ok_or_else(|| missing("percent"));
        let range = |of: Option<Bounds>, key| of.map(|Bounds(low, high)| low..=high).ok_or_else(|| missing(key));
        let along = || claim.along.clone().ok_or_else(|| missing("along"));
        let times = || range(claim.times, "times");
        let kind = match name {
            "ahead" if claim.by_values => Kind::Compare(Comparison::AheadInEachRun),
            "ahead" => Kind::Compare(Comparison::Ahead(claim.percent.unwrap_or(0.0) / 100.0)),
            "behind" => Kind::Compare(Comparison::Behind),
            "equal" => Kind::Compare(Comparison::Equal(share()?)),
            "ratio" => Kind::Compare(Comparison::Ratio { times: times()?, decided: Decided::of(claim) }),
            "best" => Kind::Compare(Comparison::Best(times()?)),
            "apart" => Kind::Compare(Comparison::Apart(range(claim.bounds, "bounds")?)),
            "within" => Kind::Within { bounds: range(claim.bounds, "bounds")?, by_values: claim.by_values },
            "alike" => Kind::Alike(share()?),
            "rises" | "falls" => Kind::Moves(along()?, name == "rises"),
            "less on average" => Kind::OnAverage(Tendency::Less),
            "more on average" => Kind::OnAverage(Tendency::More),
            "equal on average" => Kind::OnAverage(Tendency::Equal(share()?)),
            "no more on average" => Kind::OnAverage(Tendency::NoMore(share()?)),
            "gain grows" => Kind::GainGrows(along()?),
            _ => Kind::Near(share()?),
        };
        let is_of_pairs = matches!(kind, Kind::Compare(_) | Kind::OnAverage(_) | Kind::GainGrows(_));
        let of = Selection::of(claim, metrics)?;
        if is_of_pairs && of.pairs.is_empty() {
            return Err(missing("compare, one variable with a list of two values"));
        }
        let is_of_means = matches!(
            kind,
            Kind::Alike(_)
                | Kind::OnAverage(_)
                | Kind::GainGrows(_)
                | Kind::Compare(Comparison::Ratio { .. } | Comparison::Best(_))
        );
        if is_of_means && !claim.of_flows.is_empty() {
            return Err(format!("of_flows: {name} compares means of a metric, expected no flows"));
        }
        let further = |claim: &Claim| {
            let unknown = || format!("also, check: found {:?}, expected one of {}", claim.check, NAMES.join(", "));
            Self::of(claim, metrics)?.ok_or_else(unknown)
        };
        let beside = match &claim.beside {
            None => None,
            Some(other) => Some((other.name.clone(), Box::new(further(&claim.read_as(other))?))),
        };
        let also = claim.also.iter().map(further).collect::<Result<_, _>>()?;
        Ok(Some(Self { kind, of, beside, also }))
    }

    /// What our figures say of the claim; `None` where none of its cells was run.
    pub(super) fn judge(&self, results: &Results) -> Option<Outcome> {
        let mut outcome = self.alone(results)?;
        for rule in &self.also {
            let further = rule.judge(results);
            let verdict = further.as_ref().and_then(|further| further.verdict);
            outcome.verdict = all([outcome.verdict, verdict], true);
            outcome.evidence += &further.map_or_else(String::new, |further| format!(". Further {}", further.evidence));
        }
        if let Some((choice, rule)) = &self.beside {
            outcome.alternatives.extend(rule.judge(results).map(|other| other.alternative(choice)));
        }
        Some(outcome)
    }

    fn alone(&self, results: &Results) -> Option<Outcome> {
        let (parts, is_complete) = match &self.kind {
            Kind::Compare(comparison) => comparison.parts(&self.of, results),
            Kind::Alike(share) => spreads(&self.of, *share, results),
            Kind::Within { bounds, by_values } => return self.within(results, bounds, *by_values),
            Kind::Moves(along, is_up) => return self.moves(results, along, *is_up),
            Kind::Near(share) => return self.near(results, *share),
            Kind::OnAverage(tendency) => (vec![on_average(&self.of, *tendency, results)?], true),
            Kind::GainGrows(along) => (vec![gain_grows(&self.of, along, results)?], true),
        };
        self.decided(parts, is_complete, None)
    }

    /// The outcome of parts. The one that decides is the first with the verdict, unless another one is named.
    fn decided(&self, parts: Vec<Part>, is_complete: bool, deciding: Option<usize>) -> Option<Outcome> {
        let verdict = all(parts.iter().map(|part| part.holds), is_complete);
        let first = parts.iter().position(|part| part.holds == verdict).unwrap_or(0);
        let Part { measured, text, .. } = parts.get(deciding.unwrap_or(first))?;
        let figures = if parts.len() <= MOST_SHOWN {
            parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join("; ")
        } else {
            let held = parts.iter().filter(|part| part.holds == Some(true)).count();
            format!("{held} of {} hold; the one that decides is {text}", parts.len())
        };
        let evidence = format!("criterion: {}; ours: {figures}", self.kind.text(&self.of));
        Some(Outcome::new(verdict, measured.clone(), with_doubt(verdict, is_complete, evidence)))
    }

    fn within(&self, results: &Results, bounds: &RangeInclusive<f64>, by_values: bool) -> Option<Outcome> {
        let groups = self.of.groups(results);
        let is_complete = groups.iter().all(|(_, rows)| !rows.is_empty());
        let figures: Vec<(String, Figure)> = match self.of.claim.average {
            true => groups.into_iter().filter_map(|(label, rows)| Some((label, self.of.figure_of(&rows)?))).collect(),
            false => {
                let rows: Vec<&Row> = groups.into_iter().flat_map(|(_, rows)| rows).collect();
                rows.iter().map(|row| (name_among(row, &rows), self.of.figure(row))).collect()
            }
        };
        let margin = |figure: &Figure| (figure.value - bounds.start()).min(bounds.end() - figure.value);
        let nearest = (0..figures.len()).min_by(|&a, &b| margin(&figures[a].1).total_cmp(&margin(&figures[b].1)));
        let part = |(label, figure): &(String, Figure)| Part {
            holds: if by_values { Some(bounds.contains(&figure.value)) } else { is_between(figure.ends(), bounds) },
            measured: figure.measured(&self.of.unit),
            text: self.of.told(label, &figure.text()),
        };
        self.decided(figures.iter().map(part).collect(), is_complete, nearest.filter(|_| by_values))
    }

    fn moves(&self, results: &Results, along: &str, is_up: bool) -> Option<Outcome> {
        let mut parts = Vec::new();
        let mut is_complete = true;
        for (label, mut rows) in self.of.groups(results) {
            rows.sort_by(|a, b| a.cell.number(along).total_cmp(&b.cell.number(along)));
            let moves = |pair: &[&Row]| {
                let [one, next] = [pair[0], pair[1]].map(|row| self.of.figure(row).ends());
                if is_up { is_above(next, one) } else { is_above(one, next) }
            };
            is_complete &= rows.len() > 1;
            let holds = all(rows.windows(2).map(moves), rows.len() > 1);
            let shown = rows.iter().map(|row| format!("{} at {}", self.of.figure(row).text(), row.cell.text(along)));
            let text = self.of.told(&label, &shown.collect::<Vec<_>>().join(", "));
            let last = rows.last().map(|row| self.of.figure(row).measured(&self.of.unit));
            parts.extend(last.map(|measured| Part { holds, measured, text }));
        }
        self.decided(parts, is_complete, Some(0))
    }

    fn near(&self, results: &Results, share: f64) -> Option<Outcome> {
        let rows = self.of.groups(results).into_iter().flat_map(|(_, rows)| rows);
        let found: Vec<(&Row, f64)> = rows.filter_map(|row| Some((row, self.of.published(results, row)?))).collect();
        let deviation = |(row, published): &(&Row, f64)| self.of.figure(row).value / published - 1.0;
        let worst = found.iter().max_by(|a, b| deviation(a).abs().total_cmp(&deviation(b).abs()))?;
        let (met, percent) =
            (found.iter().filter(|one| deviation(one).abs() <= share).count(), 100.0 * deviation(worst));
        let (name, figure) = (worst.0.cell.name(), self.of.told("", &self.of.figure(worst.0).text()));
        let number = found.len();
        let text = format!(
            "{met} of {number} figures; the worst is {percent:+.1} % ({name}, {figure}, published {:.2})",
            worst.1
        );
        let part = Part { holds: Some(met == number), measured: Measured::new(percent, None, "% off"), text };
        self.decided(vec![part], true, None)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::multiflow2016::MULTIFLOW2016;
    use crate::study::{Cell, Code, Effort, Folder, Study};

    /// Results of the ring in which MultiFlow has 9.1 Mbit/s and ECMP by flow 7.1, but for files of 10 MB what `ecmp` says.
    fn ring(ecmp: [f64; 3], sizes: &[&str]) -> Results {
        let mut all = MULTIFLOW2016.invented(Effort::Full, |cell| {
            let goodputs = match cell.text("mode").as_str() {
                "multiflow, two joins" => [9.0, 9.1, 9.2],
                _ if cell.is("case", "10 MB") => ecmp,
                _ => [7.0, 7.1, 7.2],
            };
            goodputs.map(|goodput| vec![goodput, 0.0, 0.0, 0.0, 0.0]).to_vec()
        });
        let is_wanted = |row: &Row| sizes.iter().any(|size| row.cell.is("case", *size));
        let compared = |row: &Row| ["multiflow, two joins", "ecmp-flow"].iter().any(|mode| row.cell.is("mode", *mode));
        all.rows.retain(|row| row.cell.item == "ring" && is_wanted(row) && compared(row));
        all
    }

    #[test]
    fn ahead_or_behind_takes_intervals_that_lie_apart() {
        let verdict = |ecmp| MULTIFLOW2016.findings(&ring(ecmp, &["1 MB", "10 MB", "100 MB"]))[0].verdict.confirmed();
        assert_eq!(verdict([7.0, 7.1, 7.2]), Some(true));
        assert_eq!(verdict([8.0, 9.0, 9.5]), None);
        assert_eq!(verdict([9.5, 9.6, 9.7]), Some(false));
        let apart = ring([7.0, 7.1, 7.2], &["1 MB", "10 MB", "100 MB"]);
        let ratio = MULTIFLOW2016.findings(&apart)[0].measured.clone().expect("two means");
        assert!(ratio.low.is_some_and(|low| low > 1.0 && low < ratio.value) && ratio.high > Some(ratio.value));
    }

    #[test]
    fn a_case_that_was_not_run_leaves_it_undecided() {
        let findings = MULTIFLOW2016.findings(&ring([7.0, 7.1, 7.2], &["1 MB"]));
        assert_eq!(findings[0].verdict.confirmed(), None);
    }

    /// The verdicts of the study that the book explains, where the goodput of its cells is what `goodput` says.
    fn verdicts(goodput: impl Fn(&Cell) -> f64) -> Vec<Option<bool>> {
        let folder = Folder::on_disk(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/two-paths")));
        let study = Study::new(folder, Code::default()).expect("a good folder");
        let runs = |cell: &Cell| [0.99, 1.0, 1.0, 1.01].map(|x| vec![x * goodput(cell), 0.0]).to_vec();
        study.findings(&study.invented(Effort::Full, runs)).iter().map(|finding| finding.verdict.confirmed()).collect()
    }

    #[test]
    fn claims_of_a_folder_alone_are_confirmed_refuted_or_left_open() {
        let with = |tcp: f64, mptcp: f64, slope: f64| {
            verdicts(move |cell| match cell.text("protocol").as_str() {
                "tcp" => tcp,
                _ if cell.item == "gain" => mptcp,
                _ => 25.0 / (1.0 + slope * cell.number("loss")),
            })
        };
        assert_eq!(with(18.0, 27.0, 10.0), [Some(true); 5]);
        assert_eq!(with(27.0, 18.0, -0.05), [Some(false); 5]);
        assert_eq!(with(19.9, 24.0, 0.1), [Some(true), None, None, Some(true), None]);
    }
}
