//! Tables and other blocks of a page; and the escaping of text for HTML, SVG and file names. Names and titles come from
//! scenario files: they are shown literally and never interpreted as markup.

use subflow_lab::number;
use subflow_lab::table::{Align, Cell, Column, Table};

/// Tables with more columns are printed in landscape format.
const UPRIGHT_COLUMNS: usize = 12;
/// Tables with more columns are printed in the smallest letters.
const WIDE_COLUMNS: usize = 20;

/// Tables with more rows scroll under their heads, so that the figures below are not far away.
const SHORT_ROWS: usize = 40;

/// A page has no more rows of a table: with those of some ten thousand links a browser is busy for minutes.
const MOST_ROWS: usize = 10_000;

/// A table with an anchor, a caption and a head. Numbers are shown with the decimals of their column; each cell also
/// contains the full value, as in the JSON. Of a very long table it has the first rows, and says so.
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
    let shown = table.len().min(MOST_ROWS);
    let body: String = (0..shown).map(|row| format!("<tr>{}</tr>", cells(row))).collect();
    let beyond = (shown < table.len())
        .then(|| format!("the first {shown} of {} rows; the files of these results have all", table.len()));
    let caption: Vec<&str> = [caption].into_iter().filter(|text| !text.is_empty()).chain(beyond.as_deref()).collect();
    let caption = match caption.as_slice() {
        [] => String::new(),
        parts => format!("<caption>{}</caption>", escaped(&parts.join(": "))),
    };
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

/// Whether a block has a table that scrolls.
pub(super) fn has_long_table(html: &str) -> bool {
    html.contains(r#" long"><table"#)
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

/// The rows of a data file, which open on a click and stay closed in print.
pub(super) fn data(summary: &str, open: bool, inner: &str) -> String {
    details(summary, open, inner).replacen("<details", r#"<details class="data""#, 1)
}

/// `text` escaped for use between tags and in quoted attributes.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&#39;",
            // Characters that XML forbids.
            '\t' | '\n' | '\r' => safe.push(character),
            character if character.is_control() => safe.push('\u{fffd}'),
            character => safe.push(character),
        }
    }
    safe
}

/// `text` as part of a file name or an anchor: at most 60 lower-case letters, digits and single hyphens; `figure` if
/// nothing is left.
pub(super) fn slug(text: &str) -> String {
    let mut slug = String::new();
    for character in text.chars().flat_map(char::to_lowercase) {
        if character.is_ascii_alphanumeric() {
            slug.push(character);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(60);
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "figure".to_owned() } else { slug.to_owned() }
}

/// Generates unique slugs.
#[derive(Debug, Default)]
pub(super) struct Slugs(std::collections::BTreeSet<String>);

impl Slugs {
    /// The slug of `text`, with a number if it is already in use.
    pub(super) fn unique(&mut self, text: &str) -> String {
        let base = slug(text);
        let mut candidate = base.clone();
        let mut number = 2;
        while !self.0.insert(candidate.clone()) {
            candidate = format!("{base}-{number}");
            number += 1;
        }
        candidate
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn markup_is_escaped() {
        assert_eq!(
            escaped("</script><img src=x onerror='a(\"b\")'>&\u{0}"),
            "&lt;/script&gt;&lt;img src=x onerror=&#39;a(&quot;b&quot;)&#39;&gt;&amp;\u{fffd}"
        );
    }

    #[test]
    fn a_very_long_table_has_its_first_rows_and_says_so() {
        let rows = |count: usize| {
            let mut long = Table::new(["number"]);
            (0..count).for_each(|number| long.row([(number as f64).into()]));
            table("id", "Links", &long)
        };
        let (whole, cut) = (rows(MOST_ROWS), rows(MOST_ROWS + 1));
        assert_eq!([&whole, &cut].map(|html| html.matches("<tr>").count()), [MOST_ROWS + 1; 2]);
        assert!(whole.contains("<caption>Links</caption>"));
        assert!(cut.contains("<caption>Links: the first 10000 of 10001 rows; "), "{}", &cut[..300]);
    }

    #[test]
    fn slugs_are_plain_and_unique() {
        let mut slugs = Slugs::default();
        assert_eq!(slugs.unique("A.1: bottleneck, 0 ms"), "a-1-bottleneck-0-ms");
        assert_eq!(slugs.unique("a 1 — Bottleneck 0 ms"), "a-1-bottleneck-0-ms-2");
        assert_eq!(slugs.unique("../…"), "figure");
    }

    proptest! {
        #[test]
        fn any_text_is_escaped(text in any::<String>()) {
            let safe = escaped(&text);
            let dangerous = |c: char| "<>\"'\0".contains(c);
            prop_assert!(!safe.chars().any(dangerous));
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            prop_assert!(slug(&text).chars().all(plain));
        }
    }
}
