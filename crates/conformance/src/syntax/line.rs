//! A line of tokens, consumed from the left; and the expressions in it.

use std::sync::Arc;

use subflow_scenario::file::{Place, Problem, Source, did_you_mean, list};

use super::token::{Token, TokenKind};
use crate::expression::{Expression, FUNCTIONS, Kind};
use crate::value::Value;

/// How deep groups and calls may lie in each other.
pub(super) const MOST_NESTED: usize = 8;

pub(super) struct Line<'a> {
    source: &'a Arc<Source>,
    tokens: &'a [Token],
    at: usize,
}

impl<'a> Line<'a> {
    /// `None` if the line is empty.
    pub(super) fn new(source: &'a Arc<Source>, tokens: &'a [Token]) -> Option<Self> {
        (!tokens.is_empty()).then_some(Self { source, tokens, at: 0 })
    }

    pub(super) fn peek(&self) -> Option<&'a TokenKind> {
        self.tokens.get(self.at).map(|token| &token.kind)
    }

    pub(super) fn peek_second(&self) -> Option<&'a TokenKind> {
        self.tokens.get(self.at + 1).map(|token| &token.kind)
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at >= self.tokens.len()
    }

    /// The place of the next token, or of the last one at the end of the line.
    pub(super) fn place(&self) -> Place {
        let token = self.tokens.get(self.at).unwrap_or(&self.tokens[self.tokens.len() - 1]);
        Place { source: self.source.clone(), span: token.span.clone() }
    }

    /// From the token at `start`, as `position` gave it, to the last one consumed.
    pub(super) fn place_since(&self, start: usize) -> Place {
        let last = self.at.saturating_sub(1).max(start);
        Place { source: self.source.clone(), span: self.tokens[start].span.start..self.tokens[last].span.end }
    }

    pub(super) fn position(&self) -> usize {
        self.at.min(self.tokens.len() - 1)
    }

    pub(super) fn next(&mut self) -> Option<&'a TokenKind> {
        let token = self.tokens.get(self.at)?;
        self.at += 1;
        Some(&token.kind)
    }

    pub(super) fn accept(&mut self, symbol: &str) -> bool {
        let is_there = matches!(self.peek(), Some(TokenKind::Symbol(found)) if *found == symbol);
        self.at += usize::from(is_there);
        is_there
    }

    pub(super) fn expect(&mut self, symbol: &str) -> Result<(), Problem> {
        if self.accept(symbol) { Ok(()) } else { Err(self.expected(&format!("{symbol:?}"))) }
    }

    pub(super) fn word(&mut self, what: &str) -> Result<&'a str, Problem> {
        match self.peek() {
            Some(TokenKind::Word(word)) => {
                self.at += 1;
                Ok(word)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// The problem that something else stands here, or nothing more.
    pub(super) fn expected(&self, what: &str) -> Problem {
        let found = if self.is_at_end() { "the line ends behind this" } else { "this stands here" };
        Problem::at(&self.place(), format!("{what} is expected, and {found}"))
    }

    pub(super) fn end(&self) -> Result<(), Problem> {
        if self.is_at_end() { Ok(()) } else { Err(self.expected("the end of the line")) }
    }

    /// Whether a value begins here.
    pub(super) fn has_value(&self) -> bool {
        match self.peek() {
            Some(TokenKind::Symbol(symbol)) => *symbol == "*",
            Some(TokenKind::Word(_)) | None => false,
            Some(_) => true,
        }
    }

    /// A value, or a sum or range of values.
    pub(super) fn expression(&mut self, depth: usize) -> Result<Expression, Problem> {
        let first = self.sum(depth)?;
        if !self.accept("..") {
            return Ok(first);
        }
        let last = self.sum(depth)?;
        let place = spanning(&first, &last);
        Ok(Expression { place, kind: Kind::Range(Box::new(first), Box::new(last)) })
    }

    fn sum(&mut self, depth: usize) -> Result<Expression, Problem> {
        let mut sum = self.operand(depth)?;
        loop {
            let is_sum = self.accept("+");
            if !is_sum && !self.accept("-") {
                return Ok(sum);
            }
            let operand = self.operand(depth)?;
            let place = spanning(&sum, &operand);
            let (left, right) = (Box::new(sum), Box::new(operand));
            let kind = if is_sum { Kind::Sum(left, right) } else { Kind::Difference(left, right) };
            sum = Expression { place, kind };
        }
    }

    fn operand(&mut self, depth: usize) -> Result<Expression, Problem> {
        let place = self.place();
        let kind = match self.peek() {
            Some(TokenKind::Number(number)) => Kind::Value(Value::Number(*number)),
            Some(TokenKind::Time(time)) => Kind::Value(Value::Number(time.as_nanos())),
            Some(TokenKind::Address(address)) => Kind::Value(Value::Address(*address)),
            Some(TokenKind::Bytes(bytes)) => Kind::Value(Value::Bytes(bytes.clone())),
            Some(TokenKind::Symbol("*")) => Kind::Any,
            Some(TokenKind::Variable(name)) => {
                if matches!(self.peek_second(), Some(TokenKind::Symbol("("))) {
                    return self.call(name, depth);
                }
                Kind::Variable(name.clone())
            }
            _ => return Err(self.expected("a value").help("a number, $variable, $function(…), address, 'bytes' or *")),
        };
        self.at += 1;
        Ok(Expression { place, kind })
    }

    fn call(&mut self, name: &str, depth: usize) -> Result<Expression, Problem> {
        let (start, place) = (self.at, self.place());
        if depth >= MOST_NESTED {
            return Err(Problem::at(&place, "calls lie too deep in each other").help("use let for a part of it"));
        }
        let Some(function) = FUNCTIONS.iter().find(|function| function.name == name) else {
            let names = || FUNCTIONS.iter().map(|function| function.name);
            let help = did_you_mean(name, names(), &format!("the functions are {}", list(names())));
            return Err(Problem::at(&place, format!("there is no function ${name}")).help(help));
        };
        self.at += 1;
        self.expect("(")?;
        let mut arguments = vec![self.expression(depth + 1)?];
        while self.accept(",") {
            arguments.push(self.expression(depth + 1)?);
        }
        self.expect(")")?;
        let place = self.place_since(start);
        if arguments.len() != function.arguments.len() {
            let message = format!("${name} has {} arguments, not {}", function.arguments.len(), arguments.len());
            return Err(Problem::at(&place, message).help(format!("${name}({})", function.arguments.join(", "))));
        }
        Ok(Expression { place, kind: Kind::Call(function, arguments) })
    }
}

fn spanning(first: &Expression, last: &Expression) -> Place {
    Place { source: first.place.source.clone(), span: first.place.span.start..last.place.span.end }
}
