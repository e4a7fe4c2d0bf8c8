//! "Did you mean …?"

/// Names that a slip is compared with: a comparison takes 300 ns, and a generated file may hold as many slips as names.
const MOST_COMPARED: usize = 200;
/// The maximum number of names in a list.
const MOST_LISTED: usize = 60;

/// Names of the same things in other tools, in lower case without separators, with ours: papers, kernels, mptcpd, picoquic,
/// ns-3.
const OF_OTHER_TOOLS: [(&str, &[&str]); 20] = [
    ("minrtt", &["ll", "linux-default"]),
    ("minsrtt", &["ll", "linux-default"]),
    ("lowrtt", &["ll", "linux-default"]),
    ("lowestrtt", &["ll", "linux-default"]),
    ("lowestrttfirst", &["ll", "linux-default"]),
    ("lowestlatency", &["ll"]),
    ("rtt", &["ll", "linux-default"]),
    ("duplicate", &["redundant"]),
    ("replicate", &["redundant"]),
    ("roundrobin", &["rr"]),
    ("newreno", &["reno"]),
    ("coupled", &["lia"]),
    ("linkedincreases", &["lia"]),
    ("mptcplia", &["lia"]),
    ("mptcpolia", &["olia"]),
    ("mptcpbalia", &["balia"]),
    ("mptcpwvegas", &["wvegas"]),
    ("weightedvegas", &["wvegas"]),
    ("kernel", &["default"]),
    ("none", &["default"]),
];

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
    let candidates: Vec<&str> = candidates.into_iter().take(MOST_COMPARED).collect();
    match of_other_tools(typed, &candidates).as_slice() {
        [first, second] => format!("did you mean {first:?} or {second:?}?"),
        [only] => format!("did you mean {only:?}?"),
        _ => match nearest(typed, candidates) {
            Some(name) => format!("did you mean {name:?}?"),
            None => otherwise.to_owned(),
        },
    }
}

/// The candidates that mean what other tools call `typed`.
fn of_other_tools<'a>(typed: &str, candidates: &[&'a str]) -> Vec<&'a str> {
    let plain: String = typed.chars().take(64).filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    let ours = OF_OTHER_TOOLS.iter().find(|(name, _)| *name == plain).map_or(&[][..], |(_, ours)| ours);
    ours.iter().filter_map(|name| candidates.iter().copied().find(|candidate| candidate == name)).collect()
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
    fn a_name_of_another_tool_finds_ours_by_its_meaning() {
        let schedulers = ["linux-default", "ll", "rr", "redundant"];
        for (typed, expected) in [
            ("minRTT", "did you mean \"ll\" or \"linux-default\"?"),
            ("lowest_rtt", "did you mean \"ll\" or \"linux-default\"?"),
            ("Duplicate", "did you mean \"redundant\"?"),
            ("linux-defualt", "did you mean \"linux-default\"?"),
            ("westwood", "?"),
        ] {
            assert_eq!(did_you_mean(typed, schedulers, "?"), expected, "{typed}");
        }
        let controls = ["reno", "cubic", "lia", "olia", "balia"];
        assert_eq!(did_you_mean("NewReno", controls, ""), "did you mean \"reno\"?");
        assert_eq!(did_you_mean("mptcp-olia", controls, ""), "did you mean \"olia\"?");
        assert_eq!(did_you_mean("minrtt", controls, "?"), "?", "it is no congestion control");
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
