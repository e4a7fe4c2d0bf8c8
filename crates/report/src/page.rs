//! A self-contained page: it includes style, script and numbers, and loads nothing.

use super::markup::escaped;

/// The colours, light and dark, and the sizes that differ from those of usual text, as variables of CSS.
pub const PALETTE: &str = include_str!("style/palette.css");
const STYLE: &str = include_str!("style/report.css");
const PRINT: &str = include_str!("style/print.css");
const SCRIPT: [&str; 8] = [
    include_str!("script/chart.js"),
    include_str!("script/zoom.js"),
    include_str!("script/hover.js"),
    include_str!("script/controls.js"),
    include_str!("script/picker.js"),
    include_str!("script/tips.js"),
    include_str!("script/baseline.js"),
    include_str!("script/export.js"),
];
/// The style that a page in a frame has in addition.
const FRAME_STYLE: &str = include_str!("style/frame.css");
/// The script of a page in a frame: it starts the usual one again for each report that it gets.
const FRAME_SCRIPT: &str = include_str!("script/frame.js");

/// A page.
#[derive(Clone, Debug, Default)]
pub(super) struct Page {
    pub(super) title: String,
    /// A short text under the title; may be empty.
    pub(super) description: String,
    /// Short facts: names and values.
    pub(super) facts: Vec<(&'static str, String)>,
    pub(super) sections: Vec<Section>,
    /// The class of the whole page, by which its style differs; empty for most.
    pub(super) class: &'static str,
    /// Whether it is shown in a frame of another page.
    pub(super) in_frame: bool,
    /// What programs find in the file: for each an ID, and JSON.
    pub(super) enclosed: Vec<(&'static str, String)>,
}

/// A section of a page with a heading and an anchor.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) html: String,
}

impl Page {
    /// Adds a section, unless it is empty.
    pub(super) fn section(&mut self, id: &str, title: &str, html: String) {
        if !html.is_empty() {
            self.sections.push(Section { id: id.to_owned(), title: escaped(title), html });
        }
    }

    /// What the body contains, but for the script.
    pub(super) fn content(&self) -> String {
        let title = escaped(&self.title);
        let description = match self.description.as_str() {
            "" => String::new(),
            text => format!(r#"<p class="lead">{}</p>"#, escaped(text)),
        };
        let fact = |(name, value): &(&str, String)| format!("<div><dt>{name}</dt><dd>{}</dd></div>", escaped(value));
        let facts: String = self.facts.iter().map(fact).collect();
        let link = |section: &Section| format!(r##"<a href="#{}">{}</a>"##, section.id, section.title);
        let links: String = self.sections.iter().map(link).collect();
        let section = |section: &Section| {
            format!(
                r##"<section id="{0}"><h2><a href="#{0}">{1}</a></h2>{2}</section>"##,
                section.id, section.title, section.html
            )
        };
        let sections: String = self.sections.iter().map(section).collect();
        format!(
            r#"<header>
<div class="top"><nav aria-label="Sections">{links}</nav><button type="button" id="theme" title="light, dark, or as the system has it">theme: system</button></div>
<h1>{title}</h1>
{description}
<dl class="facts">{facts}</dl>
</header>
<main>
{sections}
</main>
<footer>subflow {version}</footer>
<div id="tip" role="status" hidden></div>
"#,
            version = env!("CARGO_PKG_VERSION"),
        )
    }

    /// The whole file.
    pub(super) fn html(&self) -> String {
        // No element ends within the text of another one.
        let enclose = |(id, json): &(&str, String)| {
            let json = json.replace('<', "\\u003c");
            format!("<script type=\"application/json\" id=\"{id}\">{json}</script>\n")
        };
        let enclosed: String = self.enclosed.iter().map(enclose).collect();
        let frame_style = if self.in_frame { FRAME_STYLE } else { "" };
        let script = if self.in_frame { in_frame(&SCRIPT.concat()) } else { SCRIPT.concat() };
        let class = if self.in_frame { "in-frame" } else { self.class };
        let class = if class.is_empty() { String::new() } else { format!(r#" class="{class}""#) };
        format!(
            r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:">
<meta name="generator" content="subflow {version}">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>
{PALETTE}{STYLE}{frame_style}
@media print {{
{PRINT}
}}
</style>
</head>
<body{class}>
{content}{enclosed}<script>
"use strict";
{script}
</script>
</body>
</html>
"#,
            version = env!("CARGO_PKG_VERSION"),
            title = escaped(&self.title),
            content = self.content(),
        )
    }
}

/// The script of a page in a frame. `start` is the usual script, and returns what the rest needs of it.
fn in_frame(script: &str) -> String {
    let needed = "return { charts, setShown, setTheme, valueAt, positionOf, zoom, THEMES };";
    format!("function start() {{\n{script}\n{needed}\n}}\n{FRAME_SCRIPT}")
}
