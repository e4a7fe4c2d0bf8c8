//! The forms of values, which the words of the schema stand for.

use super::FieldSchema;

/// One form that a value may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// One of the names of the key's catalogue.
    Name,
    /// The table that the schema has for this key.
    Table,
    /// A list of such tables.
    Tables,
    /// A table of such tables by name.
    NamedTables,
    /// Interfaces: names, or tables of their own.
    Interfaces,
    /// What `[sweep]` contains.
    Sweep,
    /// A table of environment variables.
    Variables,
    /// Exactly this text.
    Word(&'static str),
    /// Exactly this truth value.
    Only(bool),
    /// A truth value.
    Boolean,
    /// A whole number from the first to the second.
    Integer(u64, u64),
    /// The same, but even.
    Even(u64, u64),
    /// A number from 0 to 1.
    Fraction,
    /// A number above 0, at most 1.
    Weight,
    /// Any text.
    Text,
    /// A list of texts, with so many at least and at most.
    Texts(u64, u64),
    /// A list of so many whole numbers from the second to the third.
    Integers(u64, u64, u64),
    /// A list of lists of texts, of one text at least each.
    TextLists,
    /// The path of a trace, where a rate begins with a digit.
    TracePath,
    /// `"20 ms"`.
    Duration,
    /// `"250 mW"`.
    Power,
    /// `"50 nJ/bit"`.
    EnergyPerBit,
    /// `"50 Mbit/s"`.
    Rate,
    /// `"100 MB"`.
    Size,
    /// `"1 %"`.
    Probability,
    /// `"100 packets"`.
    Packets,
    /// `"1 bdp"`.
    Bdp,
    /// `"1/4"`, or a number.
    Ratio,
}

use Form::{
    Bdp, Boolean, Duration, EnergyPerBit, Even, Fraction, Integer, Integers, Interfaces, Name, NamedTables, Only,
    Packets, Power, Probability, Rate, Ratio, Size, Sweep, Table, Tables, Text, TextLists, Texts, TracePath, Variables,
    Weight, Word,
};

/// Largest whole number of TOML.
const MOST: u64 = i64::MAX as u64;

/// The forms for each text of [`super::Kind`] that is the same for any key. A schema test finds a text without forms.
const FORMS: &[(&str, &[Form])] = &[
    ("\"FLOW.N\", or a list of them", &[Text, Texts(0, MOST)]),
    ("\"host.interface\"", &[Text]),
    ("\"host.interface\" of the host that the flow goes to", &[Text]),
    ("\"peer-window\", \"infinite\" or a size", &[Word("peer-window"), Word("infinite"), Size]),
    (
        "\"permutation\", \"random\", \"all-to-one\", \"all-to-all\", \"stride N\", or the path of a list of flows",
        &[Text],
    ),
    ("a duration", &[Duration]),
    ("a duration above zero", &[Duration]),
    ("a duration above zero such as \"30 s\"", &[Duration]),
    ("a duration above zero, or \"unlimited\"", &[Duration, Word("unlimited")]),
    ("a duration above zero, or a table", &[Duration, Table]),
    ("a duration above zero, or false", &[Duration, Only(false)]),
    ("a duration before the end of the run", &[Duration]),
    ("a duration shorter than the run", &[Duration]),
    ("a duration such as \"10 ms\"", &[Duration]),
    ("a duration, one or { up, down }", &[Duration]),
    ("a host, or \"host.interface\"", &[Text]),
    (
        "a limit such as \"100 packets\", \"64 KiB\", \"50 ms\" or \"1 bdp\", \"unlimited\", or a table",
        &[Packets, Size, Duration, Bdp, Word("unlimited"), Table],
    ),
    ("a line of text", &[Text]),
    ("a list of events", &[Tables]),
    ("a list of names of hosts", &[Texts(0, MOST)]),
    ("a list of names of routers, one for each address", &[Texts(1, MOST)]),
    ("a list of names or tables, at least one", &[Interfaces]),
    ("a list of tables", &[Tables]),
    ("a list of words, or a line for the shell", &[Texts(1, MOST), Text]),
    ("a list of rates", &[Texts(1, MOST)]),
    ("a list of two durations", &[Texts(2, 2)]),
    ("a list of two rates, one or { up, down }", &[Texts(2, 2)]),
    ("a list of sizes for each quality", &[TextLists]),
    ("a list of two sizes", &[Texts(2, 2)]),
    ("a list of two ends, each \"host.interface\" or a router's name", &[Texts(2, 2)]),
    ("a loss model, one or { up, down }", &[Probability, Word("none"), Table]),
    ("a name, unique within the host", &[Text]),
    ("a number above 0, at most 1", &[Weight]),
    ("a number from 0 to 1", &[Fraction]),
    (
        "a limit such as \"100 packets\", \"64 KiB\", \"50 ms\" or \"1 bdp\", or \"unlimited\"",
        &[Packets, Size, Duration, Bdp, Word("unlimited")],
    ),
    ("a path", &[Text]),
    ("a power", &[Power]),
    ("a period", &[Duration, Table]),
    ("a probability", &[Probability]),
    ("a probability such as \"1 %\", \"none\", or a table", &[Probability, Word("none"), Table]),
    ("a rate above the rate", &[Rate]),
    ("a rate above zero", &[Rate]),
    (
        "a rate such as \"50 Mbit/s\", \"unlimited\", a table, or the path of a mahimahi trace",
        &[Rate, Word("unlimited"), TracePath, Table],
    ),
    ("a rate, a trace or \"unlimited\", one or { up, down }", &[Rate, Word("unlimited"), TracePath, Table]),
    ("a size", &[Size]),
    ("a size above zero", &[Size]),
    ("a size above zero, or a table", &[Size, Table]),
    ("a size from 1 byte to 1 GiB", &[Size]),
    ("a size from 1 byte to 16 MiB", &[Size]),
    ("a size from 1 B to 1 TiB", &[Size]),
    ("a size from 1 to 65507 bytes, over IPv6 to 65487", &[Size]),
    ("a size from 1280 to 9000 bytes", &[Size]),
    ("a size from 576 to 9000 bytes", &[Size]),
    ("a size of at least 1500 bytes", &[Size]),
    ("a size such as \"100 MB\", \"unlimited\", or a table", &[Size, Word("unlimited"), Table]),
    (
        "a size such as \"4 MiB\" or \"2 bdp\", \"unlimited\", or a table { initial, maximum }",
        &[Size, Bdp, Word("unlimited"), Table],
    ),
    ("a size such as \"4 MiB\" or \"2 bdp\", or a table { initial, maximum }", &[Size, Bdp, Table]),
    ("a size such as \"38 B\"", &[Size]),
    ("a size, at least the initial one", &[Size]),
    ("a size, or \"unlimited\"", &[Size, Word("unlimited")]),
    ("a table", &[Table]),
    ("a table, or a list of tables", &[Table, Tables]),
    ("a table of axes", &[NamedTables]),
    ("a table of flows", &[NamedTables]),
    ("a table of hosts", &[NamedTables]),
    ("a table of links", &[NamedTables]),
    ("a table of paths with a list or range of values each", &[Sweep]),
    ("a table of programs", &[NamedTables]),
    ("a table of routers", &[NamedTables]),
    ("a table of variables", &[Variables]),
    ("an energy per bit", &[EnergyPerBit]),
    ("an IP address", &[Text]),
    ("an IP address or a list of them", &[Text, Texts(1, MOST)]),
    ("an even number from 2 to 32", &[Even(2, 32)]),
    ("false, or a table", &[Only(false), Table]),
    ("packets, a size, a duration or a bdp", &[Packets, Size, Duration, Bdp]),
    ("text", &[Text]),
    ("the name of a congestion control of the kernel", &[Text]),
    ("the name of a congestion-control algorithm", &[Name]),
    ("the name of a congestion-control algorithm, or a table with a name and options", &[Name, Table]),
    ("the name of a codepoint, or a number from 0 to 63", &[Text, Integer(0, 63)]),
    ("the name of a channel", &[Text]),
    ("the name of a column", &[Text]),
    ("the name of a host", &[Text]),
    ("the name of a link", &[Text]),
    ("the name of a packet scheduler", &[Name]),
    ("the name of a packet scheduler, or a table with a name and options", &[Name, Table]),
    ("the name of a path manager", &[Name]),
    ("the name of a path manager, or a table with a name and options", &[Name, Table]),
    ("the name of a profile", &[Name]),
    ("the name of a program", &[Text]),
    ("the name of a program, or a table", &[Text, Table]),
    ("the name of a router", &[Text]),
    ("the name of a shared-bottleneck detector", &[Name]),
    ("the name of a shared-bottleneck detector, or a table", &[Name, Table]),
    ("the name of a user", &[Text]),
    ("the name of an energy model", &[Name]),
    ("the name of an energy model, or a table", &[Name, Table]),
    ("the path of a CSV file, or a table", &[Text, Table]),
    ("true", &[Only(true)]),
    ("true or false", &[Boolean]),
];

/// The forms that `field` takes, except `{ up, down }`.
///
/// # Panics
///
/// If the text of the field stands for no form.
pub(super) fn forms(field: &FieldSchema) -> Vec<Form> {
    let words = match &field.kind {
        super::Kind::Word(_) => return vec![Name],
        super::Kind::Value(words) | super::Kind::Named(words, _) => words.as_str(),
    };
    match FORMS.iter().find(|(known, _)| *known == words) {
        Some((_, forms)) => forms.to_vec(),
        None if words.starts_with("a ratio from ") => vec![Ratio],
        None => whole_number(words)
            .or_else(|| whole_numbers(words))
            .unwrap_or_else(|| panic!("{}: no form for {words:?}", field.key)),
    }
}

/// "a whole number …" with its bounds, perhaps with `, or "unlimited"` or another word.
fn whole_number(words: &str) -> Option<Vec<Form>> {
    let (number, word) = match words.strip_suffix('"').and_then(|words| words.split_once(", or \"")) {
        Some((number, "unlimited")) => (number, Some(Word("unlimited"))),
        Some((number, "disjoint-paths")) => (number, Some(Word("disjoint-paths"))),
        _ => (words, None),
    };
    let bounds = number.strip_prefix("a whole number").or_else(|| number.strip_prefix("a number"))?;
    let (low, high) = match bounds {
        "" | ", 0 or more" => (0, MOST),
        ", 1 or more" => (1, MOST),
        _ => {
            let (low, high) = bounds.strip_prefix(" from ")?.split_once(" to ")?;
            (low.parse().ok()?, high.parse().ok()?)
        }
    };
    Some([Integer(low, high)].into_iter().chain(word).collect())
}

/// "a list of N whole numbers from … to …".
fn whole_numbers(words: &str) -> Option<Vec<Form>> {
    let (count, range) = words.strip_prefix("a list of ")?.split_once(" whole numbers from ")?;
    let (low, high) = range.split_once(" to ")?;
    Some(vec![Integers(count.parse().ok()?, low.parse().ok()?, high.parse().ok()?)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Kind, TABLES};

    #[test]
    fn every_form_is_used() {
        let used: Vec<&str> = TABLES
            .iter()
            .flat_map(|table| &table.fields)
            .filter_map(|field| match &field.kind {
                Kind::Word(_) => None,
                Kind::Value(words) | Kind::Named(words, _) => Some(words.as_str()),
            })
            .collect();
        for (words, _) in FORMS {
            assert!(used.contains(words), "no key takes {words:?}");
        }
    }

    #[test]
    fn bounds_of_whole_numbers_are_read() {
        assert_eq!(whole_number("a whole number from 5 to 10000"), Some(vec![Integer(5, 10_000)]));
        assert_eq!(
            whole_number("a whole number, 1 or more, or \"unlimited\""),
            Some(vec![Integer(1, MOST), Word("unlimited")])
        );
        assert_eq!(whole_number("a whole number of elephants"), None);
        assert_eq!(whole_numbers("a list of 16 whole numbers from 0 to 15"), Some(vec![Integers(16, 0, 15)]));
    }
}
