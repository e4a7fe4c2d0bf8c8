//! A heat map on a page: a table, so that it can be read without colours, selected and copied.

use super::figure::{HeatCell, HeatMap, Names, Scale};
use super::ink::is_deep;
use super::markup::escaped;
use super::rows::{number, number_beside, with_interval};

/// With more columns than this, cells have no room for numbers; the tooltip shows them.
const MOST_NUMBERED: usize = 16;
/// Longer names of columns are written upwards.
const LONGEST_LEVEL: usize = 5;
/// Up to this share, white text has more contrast than black on the dark ground of a page.
const DARK_UNTIL: f64 = 0.5;

/// The scale and the table.
pub(super) fn chart(map: &HeatMap, title: &str) -> String {
    let dense = if map.columns.names.len() > MOST_NUMBERED { " dense" } else { "" };
    let longest = map.columns.names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let upward = if longest > LONGEST_LEVEL || !dense.is_empty() { r#" class="upward""# } else { "" };
    let column = |name: &String| format!(r#"<th scope="col"{upward}><span>{}</span></th>"#, escaped(name));
    let columns: String = map.columns.names.iter().map(column).collect();
    let mut places: Vec<Vec<Option<&HeatCell>>> = vec![vec![None; map.columns.names.len()]; map.rows.names.len()];
    map.cells.iter().for_each(|cell| places[cell.row][cell.column] = Some(cell));
    let row = |(name, cells): (&String, &Vec<Option<&HeatCell>>)| {
        let cells: String = cells.iter().map(|of| of.map_or_else(|| "<td></td>".into(), |of| cell(map, of))).collect();
        format!(r#"<tr><th scope="row">{}</th>{cells}</tr>"#, escaped(name))
    };
    let rows: String = map.rows.names.iter().zip(&places).map(row).collect();
    format!(
        r#"<div class="legend">{}</div><div class="chart"><div class="heat{dense}" tabindex="0" role="group" aria-label="{}"><table><thead><tr><th>{}</th>{columns}</tr></thead><tbody>{rows}</tbody></table></div></div>"#,
        scale(map),
        escaped(title),
        corner(map),
    )
}

/// What rows and columns are.
fn corner(map: &HeatMap) -> String {
    let title = |names: &Names| escaped(&names.title);
    format!("<small>{} \u{2193}<br>{} \u{2192}</small>", title(&map.rows), title(&map.columns))
}

/// The colours with the values at their ends.
fn scale(map: &HeatMap) -> String {
    let [low, high] = ends(map);
    let class = match (map.signed, map.value.lower_is_better) {
        (false, _) => "",
        (true, false) => " signed",
        (true, true) => " signed lower",
    };
    let logarithmic = if map.value.scale == Scale::Logarithmic { ", logarithmic" } else { "" };
    let title = escaped(&map.value.title()) + logarithmic;
    format!(r#"<span class="scale{class}"><b>{low}</b><i></i><b>{high}</b><span class="x-title">{title}</span></span>"#)
}

/// The attribute by which a script finds a value, with a leading space.
pub(super) fn numbered(number: Option<usize>) -> String {
    number.map_or_else(String::new, |number| format!(r#" data-number="{number}""#))
}

/// The ends of the scale as text. Beyond those of differences the colour is the same.
pub(super) fn ends(map: &HeatMap) -> [String; 2] {
    let (low, high) = map.span();
    let is_beyond = map.cells.iter().any(|cell| map.signed && cell.value.abs() > high);
    let [from, to] = if is_beyond { ["\u{2264}\u{2009}", "\u{2265}\u{2009}"] } else { ["", ""] };
    [format!("{from}{}", number(low, map.signed)), format!("{to}{}", number(high, map.signed))]
}

/// A value as it stands in its cell. Changes that are tiny beside others have few decimals.
pub(super) fn shown(map: &HeatMap, value: f64) -> String {
    let (low, high) = map.span();
    number_beside(value, low.abs().max(high.abs()), map.signed)
}

fn cell(map: &HeatMap, cell: &HeatCell) -> String {
    let by_number = numbered(cell.number);
    let name = format!("{}, {}", map.rows.names[cell.row], map.columns.names[cell.column]);
    let look = map.shade(cell.value).map_or_else(String::new, |shade| {
        let depth = match shade.share {
            _ if is_deep(shade) => " deep",
            share if share > DARK_UNTIL => " middle",
            _ => "",
        };
        let worse = if shade.is_worse { " worse" } else { "" };
        format!(r#" class="shade{depth}{worse}" style="--at:{:.1}%""#, 100.0 * shade.share)
    });
    let words = with_interval(cell.value, cell.interval, map.signed);
    let shown = shown(map, cell.value);
    format!(r#"<td{by_number}{look}{}>{shown}</td>"#, tip(&name, &words, &map.value.unit))
}

/// The attributes of what has a tooltip, with a leading space: what it is, and what the tooltip says of it.
pub(super) fn tip(name: &str, words: &str, unit: &str) -> String {
    let text = format!("{name}: {words} {unit}");
    format!(r#" data-name="{}" data-tip="{}""#, escaped(name), escaped(text.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::super::figure::Axis;
    use super::*;

    fn map(columns: usize) -> HeatMap {
        let names = |title: &str, names: Vec<String>| Names { title: title.to_owned(), names };
        HeatMap {
            value: HeatMap::axis(&Axis::new("goodput", "Mbit/s"), [10.0, 30.0].into_iter(), false),
            rows: names("scheduler", vec!["<ll>".to_owned(), "rr".to_owned()]),
            columns: names("congestion", (0..columns).map(|n| format!("cc{n}")).collect()),
            cells: vec![
                HeatCell { row: 0, column: 0, value: 10.0, interval: Some((9.0, 11.0)), number: Some(7) },
                HeatCell { row: 1, column: 1, value: 30.0, interval: None, number: None },
            ],
            signed: false,
        }
    }

    #[test]
    fn a_heat_map_is_a_table_with_numbers_colours_and_intervals() {
        let html = chart(&map(2), "Goodput");
        assert!(html.contains(r#"<th scope="row">&lt;ll&gt;</th>"#) && html.contains(r#"<span>cc1</span></th>"#));
        let first = r#"<td data-number="7" class="shade" style="--at:0.0%" data-name="&lt;ll&gt;, cc0" data-tip="&lt;ll&gt;, cc0: 10.0 (9.00 to 11.0) Mbit/s">10.0</td><td></td>"#;
        assert!(html.contains(first), "{html}");
        assert!(html.contains(r#"class="shade deep" style="--at:100.0%""#), "{html}");
        assert!(html.contains("<b>10.0</b><i></i><b>30.0</b>"), "{html}");
    }

    #[test]
    fn differences_have_signs_and_two_colours() {
        let mut map = map(2);
        map.signed = true;
        map.cells[0].value = -10.0;
        map.value = HeatMap::axis(&map.value, [-10.0, 30.0].into_iter(), true);
        let html = chart(&map, "Change");
        assert!(html.contains(r#"class="shade worse" style="--at:33.3%""#) && html.contains(">\u{2212}10.0</td>"));
        assert!(html.contains(">+30.0</td>") && html.contains("<b>\u{2212}30.0</b><i></i><b>+30.0</b>"), "{html}");
    }

    #[test]
    fn many_columns_have_colours_only() {
        assert!(!chart(&map(16), "").contains("heat dense") && chart(&map(17), "").contains("heat dense"));
    }
}
