//! What stands for a value in a script, and its evaluation.

use std::collections::BTreeMap;
use std::net::IpAddr;

use subflow_scenario::file::{Place, Problem, did_you_mean};
use subflow_transport::mptcp::keys;
use subflow_wire::tcp::mptcp::Mapping;

use crate::value::Value;

/// Variables and their values.
pub(crate) type Variables = BTreeMap<String, Value>;

/// An expression and its place in the script.
#[derive(Clone, Debug)]
pub(crate) struct Expression {
    pub(crate) place: Place,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// `*`: any value.
    Any,
    Value(Value),
    Variable(String),
    Sum(Box<Expression>, Box<Expression>),
    Difference(Box<Expression>, Box<Expression>),
    Range(Box<Expression>, Box<Expression>),
    Call(&'static Function, Vec<Expression>),
}

/// A function that scripts may call.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: &'static str,
    /// Names of its arguments.
    pub(crate) arguments: &'static [&'static str],
    evaluate: fn(&Arguments<'_>) -> Result<Value, Problem>,
}

/// All functions. RFC 8684 defines what they compute.
pub(crate) const FUNCTIONS: &[Function] = &[
    Function {
        name: "token",
        arguments: &["key"],
        evaluate: |given| Ok(Value::Number(keys::Key::new(given.number(0)?).token.into())),
    },
    Function {
        name: "idsn",
        arguments: &["key"],
        evaluate: |given| Ok(Value::Number(keys::Key::new(given.number(0)?).initial_data_sequence)),
    },
    Function {
        name: "hmac64",
        arguments: &["sender_key", "receiver_key", "sender_nonce", "receiver_nonce"],
        evaluate: |given| Ok(Value::Number(keys::leftmost_64(&given.join_hmac()?))),
    },
    Function {
        name: "hmac160",
        arguments: &["sender_key", "receiver_key", "sender_nonce", "receiver_nonce"],
        evaluate: |given| Ok(Value::Bytes(keys::leftmost_160(&given.join_hmac()?).to_vec())),
    },
    Function {
        name: "addr_hmac",
        arguments: &["sender_key", "receiver_key", "id", "address", "port"],
        evaluate: |given| {
            let (id, port) = (given.number(2)? as u8, given.number(4)? as u16);
            let hmac = keys::add_address_hmac(given.number(0)?, given.number(1)?, id, given.address(3)?, port);
            Ok(Value::Number(hmac))
        },
    },
    Function {
        name: "dss_checksum",
        arguments: &["dsn", "ssn", "len", "sum"],
        evaluate: |given| {
            let mapping = Mapping {
                data_sequence: given.number(0)?,
                wide: true,
                subflow_sequence: given.number(1)? as u32,
                length: given.number(2)? as u16,
                checksum: None,
            };
            Ok(Value::Number(mapping.checksum_for(given.number(3)? as u16).into()))
        },
    },
];

struct Arguments<'a> {
    values: Vec<Value>,
    places: Vec<&'a Place>,
}

impl Arguments<'_> {
    fn number(&self, index: usize) -> Result<u64, Problem> {
        number(&self.values[index], self.places[index])
    }

    fn address(&self, index: usize) -> Result<IpAddr, Problem> {
        match &self.values[index] {
            Value::Address(address) => Ok(*address),
            other => {
                Err(Problem::at(self.places[index], format!("{other} is not an address")).help("such as 10.0.0.2"))
            }
        }
    }

    fn join_hmac(&self) -> Result<[u8; 32], Problem> {
        let (sender, receiver) = (self.number(0)?, self.number(1)?);
        Ok(keys::join_hmac(sender, receiver, self.number(2)? as u32, self.number(3)? as u32))
    }
}

/// The number that `value` is.
pub(crate) fn number(value: &Value, place: &Place) -> Result<u64, Problem> {
    match value {
        Value::Number(number) => Ok(*number),
        other => Err(Problem::at(place, format!("{other} is not a number")).help("a number is expected here")),
    }
}

impl Expression {
    /// The variable that this is, if it is nothing else.
    pub(crate) fn as_variable(&self) -> Option<&str> {
        match &self.kind {
            Kind::Variable(name) => Some(name),
            _ => None,
        }
    }

    /// Its value.
    pub(crate) fn evaluate(&self, variables: &Variables) -> Result<Value, Problem> {
        let number_of = |expression: &Self| number(&expression.evaluate(variables)?, &expression.place);
        Ok(match &self.kind {
            Kind::Any => {
                let problem = Problem::at(&self.place, "* stands for any value, and a value is needed here");
                return Err(problem.help("* is for packets that must leave"));
            }
            Kind::Value(value) => value.clone(),
            Kind::Variable(name) => variables.get(name).cloned().ok_or_else(|| self.unknown(name, variables))?,
            Kind::Sum(left, right) => Value::Number(number_of(left)?.wrapping_add(number_of(right)?)),
            Kind::Difference(left, right) => Value::Number(number_of(left)?.wrapping_sub(number_of(right)?)),
            Kind::Range(left, right) => Value::Range(number_of(left)?, number_of(right)?),
            Kind::Call(function, arguments) => {
                let values = arguments.iter().map(|argument| argument.evaluate(variables)).collect::<Result<_, _>>()?;
                let places = arguments.iter().map(|argument| &argument.place).collect();
                (function.evaluate)(&Arguments { values, places })?
            }
        })
    }

    fn unknown(&self, name: &str, variables: &Variables) -> Problem {
        let names = variables.keys().map(String::as_str);
        let help = did_you_mean(name, names, "it gets one with `let`, or from a packet that must leave");
        Problem::at(&self.place, format!("${name} has no value yet")).help(help)
    }
}
