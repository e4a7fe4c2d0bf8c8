//! Cells that have been run.

use subflow_lab::statistics::{Interval, mean, median, median_interval, standard_deviation};

use super::grid::{Cell, Topology};
use super::published::Published;

/// How much is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Effort {
    /// Simulated seconds a run.
    pub(super) duration_s: u32,
    /// Runs a cell.
    pub(super) runs: u64,
}

/// A cell with its runs.
#[derive(Clone, Debug)]
pub(super) struct Measurement {
    pub(super) cell: Cell,
    pub(super) flows: Vec<FlowMeasurement>,
}

/// One flow of a cell over its runs.
#[derive(Clone, Debug)]
pub(super) struct FlowMeasurement {
    pub(super) congestion: &'static str,
    pub(super) median: f64,
    pub(super) sd: Option<f64>,
    pub(super) interval: Option<Interval>,
    pub(super) runs: usize,
    pub(super) published: Option<f64>,
}

impl Measurement {
    /// Sums up the runs of `cell`: goodput by run and flow.
    pub(super) fn of(cell: Cell, runs: &[Vec<f64>], published: &Published) -> Self {
        let flow = |(index, &congestion): (usize, &&'static str)| {
            let samples: Vec<f64> = runs.iter().map(|run| run[index]).collect();
            FlowMeasurement {
                congestion,
                median: median(&samples).unwrap_or(0.0),
                sd: standard_deviation(&samples),
                interval: median_interval(&samples, 0.95),
                runs: samples.len(),
                published: published.goodput(&cell, index),
            }
        };
        let flows = cell.flows.iter().enumerate().map(flow).collect();
        Self { cell, flows }
    }

    /// Goodput of all flows together.
    pub(super) fn total(&self) -> f64 {
        self.flows.iter().map(|flow| flow.median).sum()
    }

    /// The first flow's share of the total.
    pub(super) fn first_share(&self) -> f64 {
        self.flows[0].median / self.total()
    }

    /// Absolute deviations from the published figures, in percent of the cell's capacity.
    pub(super) fn deviations_pct(&self) -> impl Iterator<Item = f64> {
        let capacity = f64::from(self.cell.capacity_mbps);
        self.flows.iter().filter_map(move |flow| Some((flow.median - flow.published?).abs() / capacity * 100.0))
    }
}

/// Everything that was measured.
#[derive(Clone, Debug)]
pub(super) struct Measurements(pub(super) Vec<Measurement>);

impl Measurements {
    /// The cells of a table for one case, by capacity; all cases where `case` is empty.
    pub(super) fn of(&self, table: &str, case: &str) -> impl Iterator<Item = &Measurement> {
        let is_of = move |m: &&Measurement| m.cell.table.name == table && (case.is_empty() || m.cell.case == case);
        self.0.iter().filter(is_of)
    }

    /// One cell; of a table with several latencies, the lowest.
    pub(super) fn at(&self, table: &str, case: &str, capacity_mbps: u32) -> Option<&Measurement> {
        self.of(table, case).find(|measurement| measurement.cell.capacity_mbps == capacity_mbps)
    }

    /// Mean absolute deviation from the published figures of a table, in percent of capacity.
    pub(super) fn deviation_of_table(&self, table: &str) -> Option<f64> {
        mean(&self.of(table, "").flat_map(Measurement::deviations_pct).collect::<Vec<_>>())
    }

    /// The same of all tables of the bottleneck, or of the half-bottleneck in both its forms.
    pub(super) fn deviation_of_topology(&self, bottleneck: bool) -> Option<f64> {
        let is_of = |m: &&Measurement| (m.cell.table.topology == Topology::Bottleneck) == bottleneck;
        mean(&self.0.iter().filter(is_of).flat_map(Measurement::deviations_pct).collect::<Vec<_>>())
    }

    /// Mean share of the first flow over a table's capacities.
    pub(super) fn mean_share(&self, table: &str, case: &str) -> Option<f64> {
        mean(&self.of(table, case).map(Measurement::first_share).collect::<Vec<_>>())
    }

    /// The tables that were run, in order, once each.
    pub(super) fn tables(&self) -> Vec<&'static str> {
        let mut names: Vec<&'static str> = self.0.iter().map(|m| m.cell.table.name).collect();
        names.dedup();
        names
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::grid::{TABLES, THESIS, cells};
    use super::*;

    /// Measurements of `table` at 100 Mbit/s in which every run of `case` gave `goodput`, and other cases half of it.
    pub(in super::super) fn made(table: usize, case: &str, goodput: &[f64]) -> Measurements {
        let published = Published::read();
        let make = |cell: Cell| {
            let scale = if cell.case == case { 1.0 } else { 0.5 };
            let run: Vec<f64> = goodput.iter().map(|g| g * scale).collect();
            Measurement::of(cell, &[run.clone(), run], &published)
        };
        Measurements(cells(TABLES[table], &[100], THESIS).into_iter().map(make).collect())
    }

    #[test]
    fn deviations_are_in_percent_of_capacity() {
        // A.1 prints 50 and 45 for LIA and Reno at 100 Mbit/s.
        let measurements = made(0, "lia", &[52.0, 44.0]);
        let lia = measurements.at("A.1", "lia", 100).expect("it was made");
        assert_eq!(lia.deviations_pct().collect::<Vec<_>>(), [2.0, 1.0]);
        assert_eq!((lia.total(), lia.flows[0].runs), (96.0, 2));
    }
}
