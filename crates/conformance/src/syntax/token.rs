//! Characters to tokens, one line at a time.

use core::ops::Range;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use subflow_quantity::Duration;
use subflow_scenario::file::{Place, Problem, Source};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    Word(String),
    /// `$name`.
    Variable(String),
    Number(u64),
    /// A number with a fraction or a unit, in seconds without one.
    Time(Duration),
    Address(IpAddr),
    Socket(SocketAddr),
    /// Hexadecimal digits between single quotes.
    Bytes(Vec<u8>),
    Symbol(&'static str),
}

#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Range<usize>,
}

/// Longer ones first.
const SYMBOLS: [&str; 11] = ["..", "(", ")", ",", "+", "-", "*", "<", ">", "~", "="];

/// Splits a text into lines of tokens.
pub(super) struct Lexer<'a> {
    source: &'a Arc<Source>,
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(source: &'a Arc<Source>) -> Self {
        Self { source, at: 0 }
    }

    pub(super) fn place(&self, span: Range<usize>) -> Place {
        Place { source: self.source.clone(), span }
    }

    fn rest(&self) -> &'a str {
        &self.source.text[self.at..]
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at >= self.source.text.len()
    }

    /// The first word of the line, which is not consumed.
    pub(super) fn first_word(&self) -> &'a str {
        let line = self.rest().trim_start_matches([' ', '\t', '\r']);
        &line[..line.find(|c: char| !is_word(c)).unwrap_or(line.len())]
    }

    /// The text behind the first word, up to the end of the line.
    pub(super) fn text_line(&mut self) -> (String, Range<usize>) {
        let line = self.rest();
        let length = line.find('\n').unwrap_or(line.len());
        let start = self.at;
        self.at = (start + length + 1).min(self.source.text.len());
        let line = &line[..length];
        let first = line.len() - line.trim_start().len();
        let behind = line[first..].find(char::is_whitespace).map_or(line.len(), |at| first + at);
        (line[behind..].trim().to_owned(), start + first..start + line.trim_end().len().max(first))
    }

    /// The tokens of a line. `#` begins a comment; `\` at the end of a line joins it with the next.
    pub(super) fn line(&mut self) -> Result<Vec<Token>, Problem> {
        let mut tokens = Vec::new();
        while let Some(c) = self.rest().chars().next() {
            match c {
                '\n' => {
                    self.at += 1;
                    break;
                }
                c if c.is_whitespace() => self.at += c.len_utf8(),
                '#' => self.at += self.rest().find('\n').unwrap_or(self.rest().len()),
                '\\' => self.join()?,
                _ => tokens.push(self.token(c)?),
            }
        }
        Ok(tokens)
    }

    fn join(&mut self) -> Result<(), Problem> {
        let behind = &self.rest()[1..];
        let line = &behind[..behind.find('\n').map_or(behind.len(), |at| at + 1)];
        if !line.trim().is_empty() {
            let place = self.place(self.at..self.at + 1);
            return Err(Problem::at(&place, "\\ is not at the end of the line").help("it joins a line with the next"));
        }
        self.at += 1 + line.len();
        Ok(())
    }

    fn token(&mut self, first: char) -> Result<Token, Problem> {
        let (start, rest) = (self.at, self.rest());
        let (kind, length) = match first {
            '0'..='9' => {
                let length = number_length(rest);
                (self.number(&rest[..length])?, length)
            }
            '$' => {
                let length = 1 + rest[1..].find(|c: char| !is_name(c)).unwrap_or(rest.len() - 1);
                (TokenKind::Variable(rest[1..length].to_owned()), length)
            }
            '\'' => {
                let end = rest[1..].find(['\'', '\n']).filter(|&at| rest[1 + at..].starts_with('\''));
                let length = end.map_or(1, |at| at + 2);
                let digits = end.map(|at| &rest[1..=at]);
                let bytes = digits.and_then(bytes_of).ok_or_else(|| self.refused(length, BYTES))?;
                (TokenKind::Bytes(bytes), length)
            }
            '[' => {
                let end = rest.find([']', '\n']).unwrap_or(rest.len() - 1);
                let length = rest[..=end].char_indices().last().map_or(1, |(at, c)| at + c.len_utf8());
                let length = length + port_length(&rest[length..]);
                (self.version_6(&rest[..length])?, length)
            }
            c if c.is_ascii_alphabetic() => {
                let length = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
                (TokenKind::Word(rest[..length].to_owned()), length)
            }
            _ => match SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol)) {
                Some(symbol) => (TokenKind::Symbol(symbol), symbol.len()),
                None => return Err(self.refused(first.len_utf8(), "a script has words, numbers, $variables and times")),
            },
        };
        if kind == TokenKind::Variable(String::new()) {
            return Err(self.refused(1, "a name of a-z, 0-9 and _ stands behind $"));
        }
        self.at += length;
        Ok(Token { kind, span: start..start + length })
    }

    fn refused(&self, length: usize, help: &str) -> Problem {
        let shown: String = self.rest()[..length].chars().take(40).collect();
        Problem::at(&self.place(self.at..self.at + length), format!("{shown:?} cannot be read")).help(help)
    }

    fn number(&self, text: &str) -> Result<TokenKind, Problem> {
        let read = if let Some(digits) = text.strip_prefix("0x") {
            u64::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+')).map(TokenKind::Number)
        } else if text.contains(':') {
            text.parse().ok().map(TokenKind::Socket)
        } else if text.matches('.').count() > 1 {
            text.parse::<Ipv4Addr>().ok().map(|address| TokenKind::Address(address.into()))
        } else if text.bytes().all(|byte| byte.is_ascii_digit()) {
            text.parse().ok().map(TokenKind::Number)
        } else {
            time_of(text).map(TokenKind::Time)
        };
        read.ok_or_else(|| self.refused(text.len(), "a number, a time such as 0.25 or 250ms, or an address"))
    }

    fn version_6(&self, text: &str) -> Result<TokenKind, Problem> {
        let socket = || text.parse().ok().map(TokenKind::Socket);
        let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        let address = inner.and_then(|text| text.parse::<Ipv6Addr>().ok());
        let read = address.map(|address| TokenKind::Address(address.into())).or_else(socket);
        read.ok_or_else(|| self.refused(text.len(), "[ begins an address of IPv6, such as [2001:db8::1]"))
    }
}

const BYTES: &str = "bytes are pairs of hexadecimal digits between single quotes: '0a0b'";

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Length of what begins with a digit: letters and digits, and single points and colons between them.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let continues = |at: &usize| match bytes[*at] {
        b'.' | b':' => bytes.get(at + 1).is_some_and(u8::is_ascii_digit),
        byte => byte.is_ascii_alphanumeric(),
    };
    (0..bytes.len()).find(|at| !continues(at)).unwrap_or(bytes.len())
}

fn port_length(text: &str) -> usize {
    let Some(digits) = text.strip_prefix(':') else { return 0 };
    1 + digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len())
}

fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| Some((digit(pair[0])? << 4 | digit(*pair.get(1)?)?) as u8)).collect()
}

/// Seconds with up to nine decimals, or whole and decimal s, ms or us.
fn time_of(text: &str) -> Option<Duration> {
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let (nanos, decimals) = match unit {
        "" | "s" => (1_000_000_000, 9),
        "ms" => (1_000_000, 6),
        "us" => (1_000, 3),
        _ => return None,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.len() > decimals {
        return None;
    }
    let fraction = format!("{fraction:0<decimals$}").parse::<u64>().ok()?;
    let whole = whole.parse::<u64>().ok()?.checked_mul(nanos)?;
    // The longest script lasts as long as an instant may be, with room for sums.
    whole.checked_add(fraction).filter(|&nanos| nanos < 1 << 62).map(Duration::from_nanos)
}
