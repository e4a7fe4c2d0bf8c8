//! The report of `subflow reproduce`.

use super::{Finding, Reproduced, Reproduction};
use crate::chart;
use crate::escape::{Slugs, escaped};
use crate::figure::Figure;
use crate::markup::{code, details, table_of};
use crate::page::Page;

/// More rows than this are folded away.
const MANY_ROWS: usize = 40;

/// The report of a reproduction as one HTML file.
pub fn of_reproduction(reproduced: &Reproduced, reproduction: &Reproduction) -> String {
    let mut page = Page { title: reproduced.title.clone(), ..Page::default() };
    let findings = &reproduction.findings;
    let count = |verdict: Option<bool>| findings.iter().filter(|finding| finding.confirmed == verdict).count();
    page.facts.push(("publication", reproduced.name.clone()));
    page.facts
        .push(("items", if reproduced.items.is_empty() { "all".to_owned() } else { reproduced.items.join(", ") }));
    page.facts.push(("effort", if reproduced.quick { "quick look" } else { "full" }.to_owned()));
    page.facts.push(("rows", reproduction.table.rows().len().to_string()));
    let (confirmed, refuted) = (count(Some(true)), count(Some(false)));
    page.facts.push(("findings confirmed", format!("{confirmed} of {} that were checked", confirmed + refuted)));

    let mut slugs = Slugs::default();
    page.section("findings", "Findings", table_of_findings(findings));
    page.section("figures", "Figures", figures(&reproduction.figures, &mut slugs));
    let tables = reproduction.readable.iter().map(|(title, table)| table_of(&slugs.unique(title), title, table));
    let tables: String = tables.collect();
    page.section("tables", "Tables", tables);
    let rows = table_of("rows-of-all", "", &reproduction.table);
    let many = reproduction.table.rows().len() > MANY_ROWS || !reproduction.readable.is_empty();
    let summary = format!("All {} rows, as in results.csv", reproduction.table.rows().len());
    page.section("rows", "All rows", details(&summary, !many, &rows));
    let notes: String = reproduction.notes.iter().map(|note| format!("<li>{}</li>", escaped(note))).collect();
    page.section("notes", "Notes", if notes.is_empty() { notes } else { format!("<ul>{notes}</ul>") });
    page.section("rerun", "Run it again", code(&reproduced.command));
    page.html()
}

fn table_of_findings(findings: &[Finding]) -> String {
    let row = |finding: &Finding| {
        let (class, verdict) = match finding.confirmed {
            Some(true) => ("yes", "confirmed"),
            Some(false) => ("no", "not confirmed"),
            None => ("open", "undecided"),
        };
        format!(
            r#"<tr><td><span class="verdict {class}">{verdict}</span></td><td>{}</td><td>{}</td></tr>"#,
            escaped(&finding.statement),
            escaped(&finding.evidence)
        )
    };
    if findings.is_empty() {
        return String::new();
    }
    let rows: String = findings.iter().map(row).collect();
    format!(
        r#"<div class="table"><table class="findings"><thead><tr><th scope="col">verdict</th><th scope="col">statement</th><th scope="col">our figures</th></tr></thead><tbody>{rows}</tbody></table></div>"#
    )
}

/// Figures under their headings, in the order in which these come first.
fn figures(figures: &[Figure], slugs: &mut Slugs) -> String {
    let mut sections: Vec<(&str, String)> = Vec::new();
    for figure in figures {
        let html = chart::figure(figure, &slugs.unique(&figure.title), "");
        match sections.iter_mut().find(|(title, _)| *title == figure.section) {
            Some((_, inner)) => *inner += &html,
            None => sections.push((&figure.section, html)),
        }
    }
    let section = |(title, inner): &(&str, String)| {
        let heading = if title.is_empty() { String::new() } else { format!("<h3>{}</h3>", escaped(title)) };
        format!(r#"{heading}<div class="figures">{inner}</div>"#)
    };
    sections.iter().map(section).collect()
}
