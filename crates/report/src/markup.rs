//! Tables and other blocks of a page.

use subflow_lab::number;
use subflow_lab::table::{Align, Cell, Column, Table};

use super::escape::escaped;

/// Tables with more columns are printed in landscape format.
const UPRIGHT_COLUMNS: usize = 12;
/// Tables with more columns are printed in the smallest letters.
const WIDE_COLUMNS: usize = 20;

/// Tables with more rows scroll under their heads, so that the figures below are not far away.
const SHORT_ROWS: usize = 40;

/// A table with an anchor, a caption and a head. Numbers are shown with the decimals of their column; each cell also
/// contains the full value, as in the JSON.
pub(super) fn table(id: &str, caption: &str, table: &Table) -> String {
    let head: String = table
        .columns
        .iter()
        .map(|column| {
            let class = if is_of_numbers(column) { r#" class="n""# } else { "" };
            // Long names may break after underscores.
            format!(r#"<th scope="col"{class}>{}</th>"#, escaped(&column.name).replace('_', "_<wbr>"))
        })
        .collect();
    let cells = |row: usize| table.columns.iter().map(|column| cell(column, row)).collect::<String>();
    let body: String = (0..table.len()).map(|row| format!("<tr>{}</tr>", cells(row))).collect();
    let caption = if caption.is_empty() { String::new() } else { format!("<caption>{}</caption>", escaped(caption)) };
    let width = match table.columns.len() {
        n if n <= UPRIGHT_COLUMNS => "",
        n if n <= WIDE_COLUMNS => " wide",
        _ => " wide widest",
    };
    let length = if table.len() > SHORT_ROWS { " long" } else { "" };
    format!(
        r#"<div class="table{width}{length}"><table id="{id}">{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"#
    )
}

fn is_of_numbers(column: &Column) -> bool {
    column.align.map_or_else(|| !column.values.are_words(), |align| align == Align::Right)
}

fn cell(column: &Column, row: usize) -> String {
    match column.values.cell(row) {
        Cell::Text(text) => format!("<td>{}</td>", escaped(&text)),
        Cell::Number(x) => {
            let decimals = column.decimals.unwrap_or(if x.abs() < 1000.0 { 2 } else { 0 });
            format!(r#"<td class="n" data-value="{}">{}</td>"#, number::shown(x), number::fixed(x, decimals))
        }
        Cell::Integer(n) => format!(r#"<td class="n" data-value="{n}">{n}</td>"#),
        Cell::Empty if is_of_numbers(column) => r#"<td class="n">–</td>"#.to_owned(),
        Cell::Empty => "<td>–</td>".to_owned(),
    }
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
