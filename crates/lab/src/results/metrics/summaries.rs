//! Statistics of metrics over the runs of a point.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::Metric;
use crate::statistics::Summary;

/// A summary of each metric that has statistics, of one object over runs.
#[derive(Clone, Debug)]
pub struct Summaries<T: 'static>(Vec<(&'static Metric<T>, Summary)>);

impl<T> PartialEq for Summaries<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<T> Summaries<T> {
    /// The summaries of `metrics` over runs. Those that lack a metric do not count in it; of metrics in an object of
    /// their own there are none if all runs lack them.
    pub(in crate::results) fn of(metrics: impl IntoIterator<Item = &'static Metric<T>>, runs: &[&T]) -> Self {
        Self::with(metrics, |metric| runs.iter().filter_map(|of| metric.value(of)).collect())
    }

    /// The same, where a run without the object counts as zero.
    pub(in crate::results) fn or_zero(
        metrics: impl IntoIterator<Item = &'static Metric<T>>,
        runs: &[Option<&T>],
    ) -> Self {
        Self::with(metrics, |metric| runs.iter().map(|of| of.and_then(|of| metric.value(of)).unwrap_or(0.0)).collect())
    }

    fn with(metrics: impl IntoIterator<Item = &'static Metric<T>>, samples: impl Fn(&Metric<T>) -> Vec<f64>) -> Self {
        let mut all: Vec<(&'static Metric<T>, Summary)> = Vec::new();
        let has_statistics = metrics.into_iter().filter(|metric| metric.statistics.is_some());
        all.extend(has_statistics.map(|metric| (metric, Summary::of(&samples(metric)))));
        let present: Vec<&str> =
            all.iter().filter(|(_, of)| of.n > 0).filter_map(|(metric, _)| metric.object()).collect();
        all.retain(|(metric, _)| metric.object().is_none_or(|object| present.contains(&object)));
        Self(all)
    }

    /// The summary of the metric with this column, if it has statistics.
    pub fn get(&self, column: &str) -> Option<&Summary> {
        self.0.iter().find(|(metric, _)| metric.column == column).map(|(_, summary)| summary)
    }

    /// All of them with their metrics, in the order of declaration.
    pub fn iter(&self) -> impl Iterator<Item = (&'static Metric<T>, &Summary)> {
        self.0.iter().map(|(metric, summary)| (*metric, summary))
    }

    /// Writes those that are in no object of their own.
    pub(in crate::results) fn write_plain<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        for (metric, summary) in self.iter().filter(|(metric, _)| metric.object().is_none()) {
            map.serialize_entry(metric.statistics.unwrap_or(metric.column), summary)?;
        }
        Ok(())
    }

    /// Writes the objects of the others.
    pub(in crate::results) fn write_objects<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let mut written: Vec<&str> = Vec::new();
        for object in self.iter().filter_map(|(metric, _)| metric.object()) {
            if !written.contains(&object) {
                map.serialize_entry(object, &InObject { object, all: self })?;
                written.push(object);
            }
        }
        Ok(())
    }
}

/// Serialised, it has a field for each summary.
impl<T> Serialize for Summaries<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.write_plain(&mut map)?;
        self.write_objects(&mut map)?;
        map.end()
    }
}

/// The summaries of one object.
struct InObject<'s, T: 'static> {
    object: &'s str,
    all: &'s Summaries<T>,
}

impl<T> Serialize for InObject<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (metric, summary) in self.all.iter().filter(|(metric, _)| metric.object() == Some(self.object)) {
            let name = metric.statistics.and_then(|path| path.split_once('.')).map_or(metric.column, |(_, name)| name);
            map.serialize_entry(name, summary)?;
        }
        map.end()
    }
}

impl<T> Metric<T> {
    /// The object of its own in which its statistics are.
    fn object(&self) -> Option<&'static str> {
        Some(self.statistics?.split_once('.')?.0)
    }
}
