//! "Did you mean …?"

/// Names that a slip is compared with: a comparison takes 300 ns, and a generated file may hold as many slips as names.
const MOST_COMPARED: usize = 200;
/// The maximum number of names in a list.
const MOST_LISTED: usize = 60;

/// The candidate most similar to `typed`, if the difference is small enough to be a typing error.
pub(crate) fn nearest<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |text: &str| text.to_lowercase().replace(['_', ' '], "-");
    let typed = plain(typed);
    // Long input (a whole paragraph as a key) is no typing error, and the comparison is quadratic.
    if typed.len() > 64 {
        return None;
    }
    candidates
        .into_iter()
        .take(MOST_COMPARED)
        .map(|candidate| (strsim::damerau_levenshtein(&typed, &plain(candidate)), candidate))
        .filter(|(distance, candidate)| *distance <= 2.max(candidate.len() / 3) && *distance < candidate.len().max(2))
        // Of two equally similar candidates, the one with the same first letter: errors in the first letter are rare.
        .min_by_key(|(distance, candidate)| (*distance, typed.chars().next() != candidate.chars().next()))
        .map(|(_, candidate)| candidate)
}

/// `did you mean "x"?`, or `otherwise` if no candidate is similar.
pub fn did_you_mean<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>, otherwise: &str) -> String {
    match nearest(typed, candidates) {
        Some(name) => format!("did you mean {name:?}?"),
        None => otherwise.to_owned(),
    }
}

/// `a, b and c`, or a text for an empty list; of a long list, the first names and the number of the others.
pub fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names = names.into_iter();
    let listed: Vec<&str> = names.by_ref().take(MOST_LISTED).collect();
    match (listed.split_last(), names.count()) {
        (None, _) => "there are none".to_owned(),
        (Some((only, [])), _) => (*only).to_owned(),
        (Some((last, rest)), 0) => format!("{} and {last}", rest.join(", ")),
        (_, more) => format!("{} and {more} more", listed.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_fingers_finds_its_word() {
        let words = ["reno", "cubic", "lia", "olia", "balia", "cmt-rpv2"];
        assert_eq!(nearest("lai", words), Some("lia"));
        assert_eq!(nearest("CUBIC", words), Some("cubic"));
        assert_eq!(nearest("cmt_rpv2", words), Some("cmt-rpv2"));
        assert_eq!(nearest("renoo", words), Some("reno"));
        assert_eq!(nearest("westwood", words), None);
        assert_eq!(nearest("mtcp", ["tcp", "mptcp", "udp"]), Some("mptcp"));
    }

    #[test]
    fn lists_read_like_a_sentence() {
        assert_eq!(list(["a", "b", "c"]), "a, b and c");
        assert_eq!(list(["a"]), "a");
        assert_eq!(list([]), "there are none");
        let many = list(["x"; 1000]);
        assert!(many.ends_with(", x and 940 more") && many.len() < 200, "{many}");
    }
}
