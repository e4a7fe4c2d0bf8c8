//! Tables as JSON: a list of objects, one for each row.

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use super::{Column, Table};

impl Serialize for Table {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.len()))?;
        for row in 0..self.len() {
            list.serialize_element(&Row(&self.columns, row))?;
        }
        list.end()
    }
}

struct Row<'a>(&'a [Column], usize);

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for column in self.0 {
            map.serialize_entry(&column.name, &column.values.cell(self.1))?;
        }
        map.end()
    }
}
