//! Values of fields and variables.

use std::fmt::{self, Write};
use std::net::IpAddr;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// A number of up to 64 bits; fields have fewer, and wrap around.
    Number(u64),
    /// From the first number to the second.
    Range(u64, u64),
    /// An address.
    Address(IpAddr),
    /// Bytes: cookies, HMACs, raw options.
    Bytes(Vec<u8>),
    /// A name: of a state, an event, a switch.
    Word(String),
}

/// A field of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) values: Vec<Value>,
    pub(crate) parts: Vec<Field>,
}

impl Field {
    pub(crate) fn flag(name: &'static str) -> Self {
        Self { name, values: Vec::new(), parts: Vec::new() }
    }

    pub(crate) fn number(name: &'static str, value: impl Into<u64>) -> Self {
        Self::values(name, vec![Value::Number(value.into())])
    }

    pub(crate) fn values(name: &'static str, values: Vec<Value>) -> Self {
        Self { name, values, parts: Vec::new() }
    }

    pub(crate) fn bytes(name: &'static str, bytes: &[u8]) -> Self {
        Self::values(name, vec![Value::Bytes(bytes.to_vec())])
    }

    pub(crate) fn address(name: &'static str, address: IpAddr) -> Self {
        Self::values(name, vec![Value::Address(address)])
    }

    pub(crate) fn group(name: &'static str, parts: Vec<Field>) -> Self {
        Self { name, values: Vec::new(), parts }
    }
}

/// As it stands in a script. Numbers above 9,999,999 are random ones mostly, and shown in hexadecimal.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) if *number > 9_999_999 => write!(f, "{number:#x}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Range(first, last) => write!(f, "{}..{}", Self::Number(*first), Self::Number(*last)),
            Self::Address(IpAddr::V4(address)) => write!(f, "{address}"),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
            Self::Bytes(bytes) => {
                f.write_char('\'')?;
                bytes.iter().take(24).try_for_each(|byte| write!(f, "{byte:02x}"))?;
                f.write_str(if bytes.len() > 24 { "…'" } else { "'" })
            }
            Self::Word(word) => f.write_str(word),
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        self.values.iter().try_for_each(|value| write!(f, " {value}"))?;
        if self.parts.is_empty() {
            return Ok(());
        }
        write!(f, "({})", shown(&self.parts))
    }
}

/// Fields as they stand in a script.
pub(crate) fn shown(fields: &[Field]) -> String {
    let fields: Vec<String> = fields.iter().map(ToString::to_string).collect();
    fields.join(" ")
}
