//! The text of a script, read.

mod header;
mod item;
mod line;
mod step;
mod token;

use std::sync::Arc;

use subflow_scenario::file::{Origin, Problem, Source};

use crate::script::Script;
use header::Header;
use line::Line;
use token::Lexer;

/// Reads the script `text`; `name` is that of its file, for messages.
///
/// # Errors
///
/// The first mistake, with its place.
pub fn parse(name: &str, text: &str) -> Result<Script, Problem> {
    let source = Arc::new(Source { origin: Origin::User, name: name.to_owned(), text: text.to_owned() });
    let mut lexer = Lexer::new(&source);
    let mut header = Header::default();
    let mut steps = Vec::new();
    while !lexer.is_at_end() {
        let word = lexer.first_word();
        if matches!(word, "claim" | "requirement") {
            let (text, span) = lexer.text_line();
            header.read_text(word, text, &lexer.place(span))?;
            continue;
        }
        let tokens = lexer.line()?;
        let Some(mut line) = Line::new(&source, &tokens) else { continue };
        if line.begins_with_time() {
            steps.push(step::read(&mut line, &mut header)?);
        } else if steps.is_empty() || header.is_let(&line) {
            header.read(&mut line, &mut steps)?;
        } else {
            let help = "behind the first step, every line begins with a time, or with let";
            return Err(Problem::at(&line.place(), "a line without a time").help(help));
        }
    }
    header.finish(&source, steps)
}
