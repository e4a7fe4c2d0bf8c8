//! Access to fields by name. What kind of value a field has was checked when it was evaluated.

use std::net::IpAddr;

use crate::value::{Field, Value};

#[derive(Clone, Copy)]
pub(super) struct Fields<'a>(pub(super) &'a [Field]);

impl<'a> Fields<'a> {
    pub(super) fn find(self, name: &str) -> Option<&'a Field> {
        self.0.iter().find(|field| field.name == name)
    }

    pub(super) fn has(self, name: &str) -> bool {
        self.find(name).is_some()
    }

    pub(super) fn number(self, name: &str) -> Option<u64> {
        self.find(name).map(|field| field.number_at(0))
    }

    pub(super) fn bytes(self, name: &str) -> Option<Vec<u8>> {
        self.find(name).map(|field| field.bytes_at(0))
    }

    pub(super) fn address(self, name: &str) -> Option<IpAddr> {
        self.find(name).and_then(Field::address_value)
    }
}

impl Field {
    pub(super) fn number_at(&self, index: usize) -> u64 {
        match self.values.get(index) {
            Some(Value::Number(number)) => *number,
            _ => 0,
        }
    }

    pub(super) fn bytes_at(&self, index: usize) -> Vec<u8> {
        match self.values.get(index) {
            Some(Value::Bytes(bytes)) => bytes.clone(),
            _ => Vec::new(),
        }
    }

    pub(super) fn address_value(&self) -> Option<IpAddr> {
        match self.values.first() {
            Some(Value::Address(address)) => Some(*address),
            _ => None,
        }
    }

    /// Its numbers, in their order.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.values.len()).map(|index| self.number_at(index))
    }

    /// Its ranges, in their order.
    pub(super) fn ranges(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.values.iter().filter_map(|value| match value {
            Value::Range(first, last) => Some((*first, *last)),
            _ => None,
        })
    }
}
