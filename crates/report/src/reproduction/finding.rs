//! A published finding, our verdict on it, and the evidence.

use serde::Serialize;
use subflow_lab::number;
use subflow_lab::statistics::Interval;

/// Our verdict on a published finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Our figures confirm the finding.
    Confirmed,
    /// Our figures do not confirm the finding.
    NotConfirmed,
    /// Our figures cannot decide: too few runs, or a part was not run.
    Undecided,
}

impl Verdict {
    /// Whether the finding is confirmed; `None` if undecided.
    pub fn confirmed(self) -> Option<bool> {
        match self {
            Self::Confirmed => Some(true),
            Self::NotConfirmed => Some(false),
            Self::Undecided => None,
        }
    }

    /// The verdict as text.
    pub fn text(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::NotConfirmed => "not confirmed",
            Self::Undecided => "undecided",
        }
    }
}

impl From<bool> for Verdict {
    fn from(confirmed: bool) -> Self {
        if confirmed { Self::Confirmed } else { Self::NotConfirmed }
    }
}

impl From<Option<bool>> for Verdict {
    fn from(confirmed: Option<bool>) -> Self {
        confirmed.map_or(Self::Undecided, Self::from)
    }
}

/// Our figure that decides a finding.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// Its value.
    #[serde(serialize_with = "number::serialize")]
    pub value: f64,
    /// Lower end of its 95 % interval; null if there are no repetitions.
    pub low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub high: Option<f64>,
    /// Its unit; empty for a ratio.
    pub unit: String,
}

impl Measured {
    /// A figure and its interval, if there is one.
    pub fn new(value: f64, interval: Option<Interval>, unit: &str) -> Self {
        let (low, high) = interval.map(|interval| (interval.low, interval.high)).unzip();
        Self { value, low, high, unit: unit.to_owned() }
    }

    /// `+4.1 % (2.0 to 6.2)`.
    pub fn text(&self) -> String {
        let unit = if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) };
        let interval = match (self.low, self.high) {
            (Some(low), Some(high)) => format!(" ({} to {})", number::fixed(low, 2), number::fixed(high, 2)),
            _ => String::new(),
        };
        format!("{}{unit}{interval}", number::fixed(self.value, 2))
    }
}

/// The verdict under an alternative to one of the declared choices.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Alternative {
    /// The alternative choice.
    pub choice: String,
    /// The verdict under this choice.
    pub verdict: Verdict,
    /// The deciding figure, if there is one.
    pub measured: Option<Measured>,
    /// The verdict by as many and as long runs without the alternative choice, where that of the finding has more or longer
    /// ones: the choice changes this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<Verdict>,
}

/// One published finding.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// The statement of the publication.
    pub statement: String,
    /// Its place: a section, a figure, a table. Empty if it is the result of the whole publication.
    pub source: String,
    /// The published figure, if there is one.
    pub published: Option<String>,
    /// Our figure that decides.
    pub measured: Option<Measured>,
    /// Our verdict.
    pub verdict: Verdict,
    /// Our figures and, if the finding is not confirmed, the reason as far as known.
    pub evidence: String,
    /// Whether it is a study of ours, which the publication does not state.
    pub beyond: bool,
    /// The verdict under other choices.
    pub alternatives: Vec<Alternative>,
}

impl Finding {
    /// A finding with its verdict and a description of our figures.
    pub fn new(statement: impl Into<String>, verdict: impl Into<Verdict>, evidence: impl Into<String>) -> Self {
        Self {
            statement: statement.into(),
            source: String::new(),
            published: None,
            measured: None,
            verdict: verdict.into(),
            evidence: evidence.into(),
            beyond: false,
            alternatives: Vec::new(),
        }
    }

    /// Marks it as a study of ours.
    #[must_use]
    pub fn beyond(self) -> Self {
        Self { beyond: true, ..self }
    }

    /// Adds the place in the publication.
    #[must_use]
    pub fn source(self, source: &str) -> Self {
        Self { source: source.to_owned(), ..self }
    }

    /// Adds the published figure.
    #[must_use]
    pub fn published(self, figure: impl Into<String>) -> Self {
        Self { published: Some(figure.into()), ..self }
    }

    /// Adds our figure that decides.
    #[must_use]
    pub fn measured(self, measured: impl Into<Option<Measured>>) -> Self {
        Self { measured: measured.into(), ..self }
    }

    /// Adds the verdict of the finding with the same statement among `others`, which were judged under the alternative
    /// `choice`. `baseline` are findings without that choice by as many and as long runs, where those of this one differ.
    pub fn compare_with(&mut self, choice: &str, others: &[Self], baseline: &[Self]) {
        let of = |findings: &[Self]| findings.iter().find(|other| other.statement == self.statement).cloned();
        let Some(other) = of(others) else { return };
        let (verdict, measured, choice) = (other.verdict, other.measured, choice.to_owned());
        let instead_of = of(baseline).map(|baseline| baseline.verdict);
        self.alternatives.push(Alternative { choice, verdict, measured, instead_of });
    }

    /// A sentence that names the alternatives under which the verdict is different; `None` if none was tried.
    pub fn depends_on(&self) -> Option<String> {
        if self.alternatives.is_empty() {
            return None;
        }
        let of = |alternative: &Alternative| {
            let figure = alternative.measured.as_ref().map(|measured| format!(", {}", measured.text()));
            format!("{} ({}{})", alternative.choice, alternative.verdict.text(), figure.unwrap_or_default())
        };
        let other = |alternative: &&Alternative| alternative.verdict != alternative.instead_of.unwrap_or(self.verdict);
        let others: Vec<String> = self.alternatives.iter().filter(other).map(of).collect();
        Some(match others.as_slice() {
            [] => format!("the verdict is the same under all {} alternatives tried", self.alternatives.len()),
            others => format!("the verdict is different with: {}", others.join("; ")),
        })
    }

    /// The finding as indented lines.
    pub fn to_text(&self) -> String {
        let source = if self.source.is_empty() { String::new() } else { format!(" [{}]", self.source) };
        let mut text = format!("  {}: {}{source}\n", self.verdict.text(), self.statement);
        let figures = match (&self.published, &self.measured) {
            (None, None) => None,
            (published, measured) => Some(format!(
                "published: {}; here: {}",
                published.as_deref().unwrap_or("no figure"),
                measured.as_ref().map_or_else(|| "no single figure".to_owned(), Measured::text)
            )),
        };
        for line in figures.into_iter().chain([self.evidence.clone()]).chain(self.depends_on()) {
            text += &format!("    {line}\n");
        }
        text
    }
}

/// The numbers of `findings` that are confirmed, not confirmed and undecided.
pub(crate) fn count<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> [usize; 3] {
    let verdicts: Vec<Verdict> = findings.into_iter().map(|finding| finding.verdict).collect();
    [Verdict::Confirmed, Verdict::NotConfirmed, Verdict::Undecided]
        .map(|verdict| verdicts.iter().filter(|other| **other == verdict).count())
}

/// The counts of `findings` as a sentence: those of publications, and of our studies beyond them.
pub(crate) fn counted(findings: &[Finding]) -> String {
    let told = |[confirmed, not_confirmed, undecided]: [usize; 3]| {
        format!("{confirmed} confirmed, {not_confirmed} not confirmed, {undecided} undecided")
    };
    let of = |beyond: bool| count(findings.iter().filter(|finding| finding.beyond == beyond));
    let (published, ours) = (of(false), of(true));
    let text = format!("of {} published findings {}", published.iter().sum::<usize>(), told(published));
    match ours.iter().sum() {
        0 => text,
        all => format!("{text}; of {all} findings beyond the publications {}", told(ours)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_names_the_choices_under_which_the_verdict_is_different() {
        let gain =
            |value| Measured::new(value, Some(Interval { low: value - 1.0, high: value + 1.0, confidence: 0.95 }), "%");
        let mut finding = Finding::new("A gains over B", true, "10 of 10 cells")
            .source("section 5, fig. 3")
            .published("about 7 %")
            .measured(gain(6.5));
        assert_eq!(finding.depends_on(), None);
        finding.compare_with("no SACK", &[Finding::new("A gains over B", true, "").measured(gain(5.0))], &[]);
        assert!(finding.depends_on().expect("tried").contains("the same under all 1"));
        finding.compare_with("queue of 50", &[Finding::new("A gains over B", false, "").measured(gain(0.5))], &[]);
        finding.compare_with("not asked", &[Finding::new("B gains over A", false, "")], &[]);
        assert_eq!(
            finding.to_text(),
            "  confirmed: A gains over B [section 5, fig. 3]\n    published: about 7 %; here: 6.50 % (5.50 to 7.50)\n    \
             10 of 10 cells\n    the verdict is different with: queue of 50 (not confirmed, 0.50 % (-0.50 to 1.50))\n"
        );
        assert_eq!(count([&finding]), [1, 0, 0]);
        assert_eq!(counted(&[finding.clone()]), "of 1 published findings 1 confirmed, 0 not confirmed, 0 undecided");
        let ours = Finding::new("B gains, too", None, "").beyond();
        assert_eq!(
            counted(&[finding, ours]),
            "of 1 published findings 1 confirmed, 0 not confirmed, 0 undecided; of 1 findings beyond the publications \
             0 confirmed, 0 not confirmed, 1 undecided"
        );
    }
}
