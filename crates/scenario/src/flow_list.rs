//! Lists of flows in files: CSV, htsim's connection matrices, and HPCC's flow files.
//!
//! ```text
//! from,to,bytes,start_s        Nodes 16                                  2
//! 0,3,100000,0                 Connections 2                             0 3 3 100 100000 2.0
//! h1,h2,5000,0.001             0->3 id 1 start 0 size 100000             1 2 3 100 5000 2.001
//!                              1->2 id 2 start 1000000000 size 5000
//! ```
//!
//! In CSV the first line names the columns; `bytes` and `start_s` may be missing or empty. Hosts are names, or numbers
//! from 0 in the order of the scenario. htsim (`.cm`; `ConnectionMatrix::load`) counts starts in picoseconds and sizes in
//! bytes. The lines of HPCC's ns-3 simulation have source, destination, priority group, destination port, bytes and start
//! in seconds.

use subflow_quantity::Duration;

use crate::csv_table::{Cause, LineError, reader};
use crate::size_table::MOST_BYTES;

/// A flow of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListedFlow {
    /// Its line in the file.
    pub(crate) line: usize,
    /// The names or numbers of the hosts that it goes from and to.
    pub(crate) ends: [String; 2],
    /// What it sends; `None` for what the scenario says.
    pub(crate) bytes: Option<u64>,
    /// When it starts, from the start of the first one that the scenario gives; `None` for at once.
    pub(crate) start: Option<Duration>,
}

/// A list of flows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FlowList(pub(crate) Vec<ListedFlow>);

impl FlowList {
    /// Reads the text of a file, whose form its first line tells.
    pub(crate) fn parse(text: &str) -> Result<Self, LineError> {
        let mut lines = text.lines().enumerate().map(|(number, line)| (number + 1, line.trim()));
        let first = lines.find(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let Some((number, first)) = first else {
            return Err(LineError::new(1, "the end of the file", "a line with values"));
        };
        let words: Vec<&str> = first.split_whitespace().collect();
        match &words[..] {
            [key, _] if key.eq_ignore_ascii_case("nodes") => htsim(lines),
            [count] if count.bytes().all(|byte| byte.is_ascii_digit()) => hpcc(number, count, lines),
            _ => csv(text),
        }
        .and_then(|flows| match flows.is_empty() {
            true => Err(LineError::new(number, "no flow", "a line for each flow")),
            false => Ok(Self(flows)),
        })
    }
}

/// Connections of htsim after the line `Nodes`. What does not concern sizes and starts is skipped but for triggers, which
/// start a connection after another one.
fn htsim<'t>(lines: impl Iterator<Item = (usize, &'t str)>) -> Result<Vec<ListedFlow>, LineError> {
    let (mut flows, mut count) = (Vec::new(), None);
    for (number, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        let first = words.next().unwrap_or_default();
        let Some((from, to)) = first.split_once("->") else {
            match first.to_lowercase().as_str() {
                "connections" => {
                    count = words.next().map(|count| (number, count.to_owned()));
                    continue;
                }
                "triggers" | "failures" => continue,
                _ => return Err(LineError::new(number, line, "FROM->TO id N start PICOSECONDS size BYTES")),
            }
        };
        let (mut bytes, mut start) = (None, None);
        while let Some(key) = words.next() {
            let value = words.next().unwrap_or_default();
            let whole =
                || value.parse::<u64>().map_err(|_| LineError::new(number, line, format!("a number after {key}")));
            match key {
                "size" => match whole()? {
                    0 => bytes = None,
                    size if size <= MOST_BYTES => bytes = Some(size),
                    _ => return Err(LineError::new(number, line, format!("at most {MOST_BYTES} bytes"))),
                },
                "start" => start = Some(Duration::from_nanos(whole()? / 1000)),
                "trigger" => return Err(LineError::new(number, line, "a start time; triggers are not supported")),
                _ => {}
            }
        }
        flows.push(ListedFlow { line: number, ends: [from.to_owned(), to.to_owned()], bytes, start });
    }
    match count {
        Some((at, count)) => counted(at, &count, flows),
        None => Ok(flows),
    }
}

/// Flows of HPCC after the line with their `count`. Their first start is 2 s by convention; starts are taken from the
/// earliest one on.
fn hpcc<'t>(
    at: usize,
    count: &str,
    lines: impl Iterator<Item = (usize, &'t str)>,
) -> Result<Vec<ListedFlow>, LineError> {
    let mut flows = Vec::new();
    // What follows the flows are notes, as in HPCC's own file.
    let most = count.parse().unwrap_or(0);
    for (number, line) in lines.filter(|(_, line)| !line.is_empty()).take(most) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let wrong =
            || LineError::new(number, line, "source, destination, priority group, port, bytes, start in seconds");
        let [from, to, _, _, bytes, start] = words[..] else { return Err(wrong()) };
        let bytes = bytes.parse().ok().filter(|bytes| (1..=MOST_BYTES).contains(bytes)).ok_or_else(wrong)?;
        let start = seconds(start).ok_or_else(wrong)?;
        let ends = [from, to].map(str::to_owned);
        flows.push(ListedFlow { line: number, ends, bytes: Some(bytes), start: Some(start) });
    }
    let mut flows = counted(at, count, flows)?;
    let first = flows.iter().filter_map(|flow| flow.start).min().unwrap_or_default();
    flows.iter_mut().for_each(|flow| flow.start = flow.start.map(|start| start - first));
    Ok(flows)
}

/// The flows, if they are as many as line `at` says: otherwise the file is not whole.
fn counted(at: usize, count: &str, flows: Vec<ListedFlow>) -> Result<Vec<ListedFlow>, LineError> {
    match count.parse() == Ok(flows.len()) {
        true => Ok(flows),
        false => {
            Err(LineError::new(at, format!("a count of {count}"), format!("{}, the number of flows", flows.len())))
        }
    }
}

fn csv(text: &str) -> Result<Vec<ListedFlow>, LineError> {
    let mut reader = reader(text);
    let header = reader.headers().map_err(|error| LineError::not_csv(&error))?.clone();
    let columns = |name: &str| {
        let named = header.iter().enumerate().filter(move |(_, known)| known.eq_ignore_ascii_case(name));
        named.map(|(position, _)| position).collect::<Vec<_>>()
    };
    if let Some(name) = ["from", "to", "bytes", "start_s"].into_iter().find(|name| columns(name).len() > 1) {
        return Err(LineError::new(1, format!("two columns {name}"), "one of them").because(Cause::Columns));
    }
    let column = |name: &str| columns(name).first().copied();
    let (Some(from), Some(to)) = (column("from"), column("to")) else {
        let found = header.iter().collect::<Vec<_>>().join(", ");
        return Err(LineError::other_columns(&header, found, "from, to and, if they differ, bytes and start_s"));
    };
    let (bytes, start) = (column("bytes"), column("start_s"));
    let mut flows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| LineError::not_csv(&error))?;
        let line = record.position().map_or(1, |position| position.line() as usize);
        let field =
            |column: Option<usize>| column.and_then(|column| record.get(column)).filter(|text| !text.is_empty());
        let bytes = field(bytes).map(|text| match text.parse() {
            Ok(bytes) if (1..=MOST_BYTES).contains(&bytes) => Ok(bytes),
            _ => Err(LineError::new(line, format!("'{text}'"), "a number of bytes, 1 or more")),
        });
        let start = field(start)
            .map(|text| seconds(text).ok_or_else(|| LineError::new(line, format!("'{text}'"), "a start in seconds")));
        let ends = [from, to].map(|column| record.get(column).unwrap_or_default().to_owned());
        flows.push(ListedFlow { line, ends, bytes: bytes.transpose()?, start: start.transpose()? });
    }
    Ok(flows)
}

fn seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.parse().ok()?;
    (0.0..1e9).contains(&seconds).then(|| Duration::from_secs_f64(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(ends: [&str; 2], bytes: Option<u64>, start_us: Option<u64>) -> ListedFlow {
        ListedFlow { line: 0, ends: ends.map(str::to_owned), bytes, start: start_us.map(Duration::from_micros) }
    }

    /// The flows, whatever their lines are.
    fn read(text: &str) -> Result<Vec<ListedFlow>, (usize, String)> {
        let flows = FlowList::parse(text).map_err(|error| (error.line, error.expected))?.0;
        Ok(flows.into_iter().map(|flow| ListedFlow { line: 0, ..flow }).collect())
    }

    #[test]
    fn three_forms_of_the_same_list_are_the_same() {
        let expected = vec![flow(["0", "3"], Some(100_000), Some(0)), flow(["1", "2"], Some(5000), Some(1000))];
        let cm =
            "Nodes 16\nConnections 2\n0->3 id 1 start 0 size 100000\n1->2 id 2 start 1000000000 size 5000 prio 1\n";
        let hpcc = "2\n0 3 3 100 100000 2.0\n1 2 3 100 5000 2.001\n";
        let csv = "# made\nfrom,to,bytes,start_s\n0,3,100000,0\n1,2,5000,0.001\n";
        let with_notes = &format!("{hpcc}\nFirst line: # of flows\n");
        for text in [cm, hpcc, with_notes, csv] {
            assert_eq!(read(text), Ok(expected.clone()), "{text}");
        }
        assert_eq!(read("To,From\nh1,h2\n"), Ok(vec![flow(["h2", "h1"], None, None)]));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let line = |text: &str| read(text).map_err(|(line, _)| line);
        assert_eq!(line("Nodes 4\nConnections 1\n0->1 id 1 trigger 5 size 100\n"), Err(3));
        assert_eq!(line("Nodes 4\nConnections 1\n0-1 size 100\n"), Err(3));
        assert_eq!(line("2\n0 1 3 100 1000 2.0\n"), Err(1), "one of two flows is missing");
        assert_eq!(line("2\n0 1 3 100 1000 2.0\nnotes\n"), Err(3));
        assert_eq!(line("Nodes 4\nConnections 2\n0->1 size 100\n"), Err(2), "here, too");
        assert_eq!(line("Nodes 4\nConnections 1\n0->1 size 18446744073709551615\n"), Err(3));
        assert_eq!(line("1\n0 1 3 100 0 2.0\n"), Err(2));
        assert_eq!(line("from,to,bytes\n1,2,many\n"), Err(2));
        assert_eq!(line("from;to\n1;2\n"), Err(1));
        assert_eq!(read("from,to,FROM\n1,2,3\n"), Err((1, "one of them".to_owned())));
        assert_eq!(line("Nodes 4\nConnections 0\n"), Err(1));
        assert_eq!(line("\n\n"), Err(1));
    }
}
