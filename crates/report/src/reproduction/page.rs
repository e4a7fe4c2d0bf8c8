//! The report of `subflow reproduce`.

use super::{Finding, Measured, Reproduced, Reproduction, Reproductions, Verdict, counted};
use crate::chart;
use crate::figure::Figure;
use crate::markup::{Slugs, code, data, details, escaped, table};
use crate::page::Page;

/// Tables with more rows are collapsed.
const MANY_ROWS: usize = 40;

/// The report of a reproduction as one HTML file.
pub fn of_reproduction(reproduced: &Reproduced, reproduction: &Reproduction) -> String {
    let mut page = Page { title: reproduced.title.clone(), ..Page::default() };
    page.facts.push(("publication", reproduced.name.clone()));
    page.facts
        .push(("items", if reproduced.items.is_empty() { "all".to_owned() } else { reproduced.items.join(", ") }));
    page.facts.push(effort(reproduced.quick));
    page.facts.push(("rows", reproduction.table.len().to_string()));
    page.facts.push(("findings", counted(&reproduction.findings)));

    let mut slugs = Slugs::default();
    let Parts { findings, figures, tables, rows, notes } = Parts::of(reproduction, &mut slugs);
    page.section("findings", "Findings", findings);
    page.section("figures", "Figures", figures);
    page.section("tables", "Tables", tables);
    page.section("rows", "All rows", rows);
    page.section("notes", "Notes", notes);
    page.section("rerun", "Run it again", code(&reproduced.command));
    page.html()
}

/// The report of several reproductions as one HTML file: the verdicts on all findings first, then a section for each
/// publication with its tables, figures and notes.
pub fn of_reproductions(reproductions: &Reproductions, command: &str) -> String {
    let mut page = Page { title: "Publications, reproduced".to_owned(), class: "several", ..Page::default() };
    page.facts.push(("publications", reproductions.0.len().to_string()));
    page.facts.push(effort(reproductions.0.iter().any(|(reproduced, _)| reproduced.quick)));
    page.facts.push(("findings", reproductions.counted()));

    let mut slugs = Slugs::default();
    let counts = table(&slugs.unique("counts"), "", &reproductions.verdicts());
    page.section("verdicts", "Verdicts", counts);
    let findings = reproductions.0.iter().map(|(reproduced, reproduction)| {
        format!("<h3>{}</h3>{}", escaped(&reproduced.title), table_of_findings(&reproduction.findings))
    });
    page.section("findings", "Findings", findings.collect());
    for (reproduced, reproduction) in &reproductions.0 {
        let Parts { figures, tables, rows, notes, .. } = Parts::of(reproduction, &mut slugs);
        let part = |title: &str, inner: &str| match inner {
            "" => String::new(),
            inner => format!("<h3>{title}</h3>{inner}"),
        };
        let command = code(&reproduced.command);
        let html =
            [("Figures", figures), ("Tables", tables), ("All rows", rows), ("Notes", notes), ("Run it again", command)];
        let html: String = html.iter().map(|(title, inner)| part(title, inner)).collect();
        page.section(&slugs.unique(&reproduced.name), &reproduced.name, details(&reproduced.title, false, &html));
    }
    page.section("rerun", "Run it again", code(command));
    page.html()
}

fn effort(quick: bool) -> (&'static str, String) {
    ("effort", if quick { "quick look" } else { "full" }.to_owned())
}

/// The blocks of the report of one publication; each may be empty.
struct Parts {
    findings: String,
    figures: String,
    tables: String,
    rows: String,
    notes: String,
}

impl Parts {
    fn of(reproduction: &Reproduction, slugs: &mut Slugs) -> Self {
        let tables = reproduction.readable.iter().map(|(title, of)| table(&slugs.unique(title), title, of));
        let tables = tables.collect();
        let count = reproduction.table.len();
        let many = count > MANY_ROWS || !reproduction.readable.is_empty();
        let rows = table(&slugs.unique("rows of all"), "", &reproduction.table);
        let rows = data(&format!("All {count} rows, as in results.csv"), !many, &rows);
        let notes: String = reproduction.notes.iter().map(|note| format!("<li>{}</li>", escaped(note))).collect();
        Self {
            findings: table_of_findings(&reproduction.findings),
            figures: grouped(&reproduction.figures, slugs),
            tables,
            rows,
            notes: if notes.is_empty() { notes } else { format!("<ul>{notes}</ul>") },
        }
    }
}

fn table_of_findings(findings: &[Finding]) -> String {
    if findings.is_empty() {
        return String::new();
    }
    let heads = ["verdict", "statement", "published", "here", "our figures"];
    let heads: String = heads.iter().map(|head| format!(r#"<th scope="col">{head}</th>"#)).collect();
    let rows: String = findings.iter().map(row_of_finding).collect();
    format!(
        r#"<div class="table"><table class="findings"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"#
    )
}

fn row_of_finding(finding: &Finding) -> String {
    let class = match finding.verdict {
        Verdict::Confirmed => "yes",
        Verdict::NotConfirmed => "no",
        Verdict::Undecided => "open",
    };
    let source = match finding.source.as_str() {
        "" => String::new(),
        source => format!("<br><small>{}</small>", escaped(source)),
    };
    let depends_on = finding.depends_on().map(|text| format!("<br><small>{}</small>", escaped(&text)));
    format!(
        r#"<tr><td><span class="verdict {class}">{}</span></td><td>{}{source}</td><td>{}</td><td>{}</td><td>{}{}</td></tr>"#,
        finding.verdict.text(),
        escaped(&finding.statement),
        escaped(finding.published.as_deref().unwrap_or("–")),
        escaped(&finding.measured.as_ref().map_or_else(|| "–".to_owned(), Measured::text)),
        escaped(&finding.evidence),
        depends_on.unwrap_or_default(),
    )
}

/// Figures under their headings, in the order in which the headings first appear.
pub(crate) fn grouped(figures: &[Figure], slugs: &mut Slugs) -> String {
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
