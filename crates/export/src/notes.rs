//! What a tool cannot express.

/// Notes in the order in which they came up; what several things have in common is one note.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes(Vec<(Vec<String>, String)>);

impl Notes {
    /// Adds what is to be said of `named`; empty for the whole network.
    pub(crate) fn add(&mut self, named: &str, text: impl Into<String>) {
        let text = text.into();
        let known = self.0.iter_mut().find(|(_, known)| *known == text);
        let names = match known {
            Some((names, _)) => names,
            None => {
                self.0.push((Vec::new(), text));
                &mut self.0.last_mut().expect("it was just added").0
            }
        };
        if !named.is_empty() && !names.iter().any(|known| known == named) {
            names.push(named.to_owned());
        }
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        const SHOWN: usize = 6;
        let line = |(names, text): &(Vec<String>, String)| match names.len() {
            0 => text.clone(),
            n if n > SHOWN => format!("{} and {} others: {text}", names[..SHOWN].join(", "), n - SHOWN),
            _ => format!("{}: {text}", names.join(", ")),
        };
        self.0.iter().map(line).collect()
    }

    /// The beginning of a file: what it is, how it is run, and the notes, each line after `comment`.
    pub(crate) fn heading(&self, comment: &str, title: &str, usage: &str) -> String {
        let title = title.replace(['\n', '\r'], " ");
        let mut lines = vec![format!("{title}. Written by `subflow export`."), usage.to_owned()];
        lines.extend(self.lines().into_iter().map(|note| format!("- {note}")));
        lines.into_iter().map(|line| format!("{comment} {line}\n")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_several_links_have_in_common_is_one_note() {
        let mut notes = Notes::default();
        notes.add("wifi up", "no jitter");
        notes.add("", "no programs");
        notes.add("wifi down", "no jitter");
        notes.add("wifi down", "no jitter");
        assert_eq!(notes.lines(), ["wifi up, wifi down: no jitter", "no programs"]);
        for number in 0..9 {
            notes.add(&format!("l{number}"), "no jitter");
        }
        assert_eq!(notes.lines()[0], "wifi up, wifi down, l0, l1, l2, l3 and 5 others: no jitter");
        assert!(notes.heading("#", "a\nb", "run it").starts_with("# a b. Written"));
    }
}
