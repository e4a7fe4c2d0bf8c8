//! Tables and other blocks of a page.

use subflow_lab::number;

use super::escape::escaped;
use crate::table;

/// A cell of a table.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    Text(String),
    /// A measured number and its number of shown decimals. The cell also contains the full value, as in the JSON.
    Number(f64, usize),
    Count(i64),
    Empty,
}

impl Cell {
    pub(super) fn number(x: Option<f64>, decimals: usize) -> Self {
        x.map_or(Self::Empty, |x| Self::Number(x, decimals))
    }

    pub(super) fn count(n: u64) -> Self {
        Self::Count(i64::try_from(n).unwrap_or(i64::MAX))
    }

    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// The cell, in a column of numbers or of text.
    fn html(&self, of_numbers: bool) -> String {
        match self {
            Self::Text(text) => format!("<td>{}</td>", escaped(text)),
            Self::Number(x, decimals) => {
                format!(r#"<td class="n" data-value="{}">{}</td>"#, number::shown(*x), number::fixed(*x, *decimals))
            }
            Self::Count(n) => format!(r#"<td class="n" data-value="{n}">{n}</td>"#),
            Self::Empty if of_numbers => r#"<td class="n">–</td>"#.to_owned(),
            Self::Empty => "<td>–</td>".to_owned(),
        }
    }
}

/// Tables with more columns are printed in landscape format.
const UPRIGHT_COLUMNS: usize = 12;
/// Tables with more columns are printed in the smallest letters.
const WIDE_COLUMNS: usize = 20;

/// Tables with more rows scroll under their heads, so that the figures below are not far away.
const SHORT_ROWS: usize = 40;

/// A table with an anchor, a caption and a head.
pub(super) fn table(id: &str, caption: &str, columns: &[&str], rows: &[Vec<Cell>]) -> String {
    let is_number = |index: usize| rows.iter().all(|row| !matches!(row[index], Cell::Text(_)));
    let head: String = columns
        .iter()
        .enumerate()
        .map(|(index, name)| {
            let class = if is_number(index) { r#" class="n""# } else { "" };
            // Long names may break after underscores.
            format!(r#"<th scope="col"{class}>{}</th>"#, escaped(name).replace('_', "_<wbr>"))
        })
        .collect();
    let cells =
        |row: &Vec<Cell>| row.iter().enumerate().map(|(index, cell)| cell.html(is_number(index))).collect::<String>();
    let body: String = rows.iter().map(|row| format!("<tr>{}</tr>", cells(row))).collect();
    let caption = if caption.is_empty() { String::new() } else { format!("<caption>{}</caption>", escaped(caption)) };
    let width = match columns.len() {
        n if n <= UPRIGHT_COLUMNS => "",
        n if n <= WIDE_COLUMNS => " wide",
        _ => " wide widest",
    };
    let length = if rows.len() > SHORT_ROWS { " long" } else { "" };
    format!(
        r#"<div class="table{width}{length}"><table id="{id}">{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"#
    )
}

/// A publication's table.
pub(super) fn table_of(id: &str, caption: &str, table_: &table::Table) -> String {
    let cell = |cell: &table::Cell| match cell {
        table::Cell::Text(text) => Cell::Text(text.clone()),
        table::Cell::Integer(n) => Cell::Count(*n),
        table::Cell::Number(x) => Cell::Number(*x, if x.abs() < 1000.0 { 2 } else { 0 }),
        table::Cell::Empty => Cell::Empty,
    };
    let rows: Vec<Vec<Cell>> = table_.rows().iter().map(|row| row.iter().map(cell).collect()).collect();
    let columns: Vec<&str> = table_.columns().iter().map(String::as_str).collect();
    table(id, caption, &columns, &rows)
}

/// Preformatted text, with a button that copies it.
pub(super) fn code(text: &str) -> String {
    format!(r#"<div class="code"><pre tabindex="0">{}</pre></div>"#, escaped(text))
}

/// Paragraphs.
pub(super) fn paragraphs<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    texts.into_iter().map(|text| format!("<p>{}</p>", escaped(text))).collect()
}

/// A block that opens on a click.
pub(super) fn details(summary: &str, open: bool, inner: &str) -> String {
    let open = if open { " open" } else { "" };
    format!("<details{open}><summary>{}</summary>{inner}</details>", escaped(summary))
}
