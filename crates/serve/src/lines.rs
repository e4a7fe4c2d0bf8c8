//! The lines of JSON that tell of a run while it goes on.

use axum::body::Bytes;
use serde::Serialize;

use crate::check::Checked;
use crate::follow::News;
use crate::variants::Variant;

/// A line.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line<'a> {
    /// What a check of the scenario in sight has found. It is the last line if there are problems.
    Checked(&'a Checked),
    /// So many runs have begun.
    Started(usize),
    /// How many of them are done.
    Progress { done: usize, total: usize },
    /// The last line: the number of the results, how many runs they have, and the flows of the first point, of each
    /// variant.
    Result { number: u64, runs: usize, cpu_s: f64, flows: Vec<Headline> },
    /// The last line: the variant that is not in sight, `a` or `b`, cannot be run.
    Refused { variant: Variant, checked: &'a Checked },
    /// The last line: why there are no results.
    Error(&'a str),
}

/// A flow in numbers: its mean goodput over the runs of a point, and when it completed.
#[derive(Debug, Serialize)]
pub(crate) struct Headline {
    /// Which point it is, if there are several.
    pub(crate) at: String,
    pub(crate) flow: String,
    pub(crate) goodput_mbps: f64,
    pub(crate) completion_s: Option<f64>,
}

impl Line<'_> {
    /// The line, with its end.
    pub(crate) fn bytes(&self) -> Bytes {
        let mut line = serde_json::to_vec(self).expect("the keys of all values are texts");
        line.push(b'\n');
        line.into()
    }
}

/// What became of runs so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    /// The line with what a check has found.
    pub(crate) checked: Option<Bytes>,
    /// How many there are, once they have begun.
    pub(crate) total: Option<usize>,
    /// How many of them are done.
    pub(crate) done: usize,
    /// The last line.
    pub(crate) end: Option<Bytes>,
}

/// What one client has heard.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    of_check: bool,
    total: Option<usize>,
    done: usize,
}

impl Heard {
    /// The lines that the client lacks.
    pub(crate) fn news(&mut self, told: &Told) -> News {
        let mut pieces = Vec::new();
        if !self.of_check {
            pieces.extend(told.checked.clone());
            self.of_check = told.checked.is_some();
        }
        if let (Some(total), None) = (told.total, self.total) {
            pieces.push(Line::Started(total).bytes());
        }
        if let Some(total) = told.total.filter(|_| told.done > self.done) {
            pieces.push(Line::Progress { done: told.done, total }.bytes());
        }
        (self.total, self.done) = (told.total, told.done);
        pieces.extend(told.end.clone());
        News { pieces, is_last: told.end.is_some() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(news: &News) -> String {
        news.pieces.iter().map(|piece| String::from_utf8_lossy(piece).into_owned()).collect()
    }

    #[test]
    fn a_client_hears_what_it_lacks_and_one_that_comes_later_hears_all() {
        let (mut first, mut told) = (Heard::default(), Told::default());
        assert_eq!(first.news(&told), News::default());
        told.checked = Some("{\"checked\":{}}\n".into());
        assert_eq!(text(&first.news(&told)), "{\"checked\":{}}\n");
        told.total = Some(7);
        assert_eq!(text(&first.news(&told)), "{\"started\":7}\n");
        told.done = 3;
        assert_eq!(text(&first.news(&told)), "{\"progress\":{\"done\":3,\"total\":7}}\n");
        assert_eq!(first.news(&told), News::default());
        told.end = Some(Line::Error("stopped").bytes());
        let last = first.news(&told);
        assert!(last.is_last && text(&last) == "{\"error\":\"stopped\"}\n");
        let all = Heard::default().news(&told);
        assert!(all.is_last && text(&all).lines().count() == 4, "{}", text(&all));
    }
}
