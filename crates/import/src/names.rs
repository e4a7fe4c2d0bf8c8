//! Names that a scenario can have, made of labels in any script.

use std::collections::BTreeMap;

/// The length of a node's name: two of them and a number fit into a link's, which may have 64 characters.
const LONGEST: usize = 28;

/// The names given so far, each once, with the number at which the search for another like it goes on.
#[derive(Debug, Default)]
pub(crate) struct Names(BTreeMap<String, usize>);

impl Names {
    /// A name like `label`: letters without accents, digits, `-` and `_`, and a number at the end if it is taken.
    pub(crate) fn of(&mut self, label: &str) -> String {
        let name = plain(label);
        let name = if name.is_empty() { "node" } else { &name };
        self.unique(name)
    }

    /// The name of a link between two nodes that have names.
    pub(crate) fn of_link(&mut self, first: &str, second: &str) -> String {
        self.unique(&format!("{first}-{second}"))
    }

    fn unique(&mut self, name: &str) -> String {
        let Some(next) = self.0.get(name).copied() else {
            self.0.insert(name.to_owned(), 2);
            return name.to_owned();
        };
        let mut numbered = (next..).map(|number| (number, format!("{name}-{number}")));
        let free = numbered.find(|(_, numbered)| !self.0.contains_key(numbered));
        let (number, free) = free.expect("there is always another number");
        self.0.insert(name.to_owned(), number + 1);
        self.0.insert(free.clone(), 2);
        free
    }
}

/// The label in ASCII, each run of other characters as one hyphen.
fn plain(label: &str) -> String {
    let ascii = deunicode::deunicode_with_tofu(label, "-");
    let mut name = String::new();
    for c in ascii.chars() {
        match c {
            _ if c.is_ascii_alphanumeric() || c == '_' => name.push(c),
            // An apostrophe is no gap: L'Aquila is LAquila.
            '\'' => {}
            _ if name.ends_with('-') || name.is_empty() => {}
            _ => name.push('-'),
        }
        if name.len() == LONGEST {
            break;
        }
    }
    name.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn labels_become_names_that_are_readable_and_differ() {
        let mut names = Names::default();
        let of: Vec<String> = ["Zürich", "São Paulo", "Zurich", "L'Aquila (AQ)", "", "北京", "?"]
            .into_iter()
            .map(|label| names.of(label))
            .collect();
        assert_eq!(of, ["Zurich", "Sao-Paulo", "Zurich-2", "LAquila-AQ", "node", "Bei-Jing", "node-2"]);
        assert_eq!(names.of_link("Zurich", "Sao-Paulo"), "Zurich-Sao-Paulo");
        assert_eq!(names.of_link("Zurich", "Sao-Paulo"), "Zurich-Sao-Paulo-2");
    }

    #[test]
    fn numbers_go_on_behind_those_that_labels_have_taken() {
        let mut names = Names::default();
        let of = ["a", "a-2", "a", "a", "a-2", "a"].map(|label| names.of(label));
        assert_eq!(of, ["a", "a-2", "a-3", "a-4", "a-2-2", "a-5"]);
    }

    proptest! {
        #[test]
        fn every_label_has_a_name_that_a_scenario_takes(labels in prop::collection::vec(any::<String>(), 1..20)) {
            let mut names = Names::default();
            let mut given = BTreeSet::new();
            for label in &labels {
                let name = names.of(label);
                prop_assert!((1..=32).contains(&name.len()), "{name}");
                prop_assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_'), "{name}");
                prop_assert!(given.insert(name));
            }
        }
    }
}
