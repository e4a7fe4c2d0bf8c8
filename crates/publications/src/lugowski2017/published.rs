//! The thesis's tables A.1 to A.17, as printed.

use super::grid::Cell;

macro_rules! published {
    ($($file:literal),+ $(,)?) => {
        const FILES: &[&str] = &[$(include_str!(concat!("../../data/lugowski2017/", $file, ".csv"))),+];
    };
}

published!(
    "A.1", "A.2", "A.3", "A.4", "A.5", "A.6", "A.7", "A.8", "A.9", "A.10", "A.11", "A.12", "A.13", "A.14", "A.15",
    "A.16", "A.17",
);

/// One published figure.
#[derive(Clone, Debug, PartialEq)]
struct Figure {
    table: String,
    latency_ms: u32,
    capacity_mbps: u32,
    case: String,
    flow: usize,
    goodput_mbps: f64,
}

/// All of them.
#[derive(Clone, Debug)]
pub(super) struct Published(Vec<Figure>);

impl Published {
    /// Reads the tables.
    pub(super) fn read() -> Self {
        let mut figures = Vec::new();
        for file in FILES {
            for row in csv::Reader::from_reader(file.as_bytes()).deserialize() {
                // table, topology, queue, latency_ms, matchup, capacity_mbps, case, flow, congestion, goodput_mbps
                type Row = (String, String, String, u32, String, u32, String, usize, String, f64);
                let (table, _, _, latency_ms, _, capacity_mbps, case, flow, _, goodput_mbps): Row =
                    row.expect("the repository's tables are good");
                figures.push(Figure { table, latency_ms, capacity_mbps, case, flow, goodput_mbps });
            }
        }
        Self(figures)
    }

    /// What the thesis prints for a flow of a cell.
    pub(super) fn goodput(&self, cell: &Cell, flow: usize) -> Option<f64> {
        let wanted = (cell.table.name, cell.latency_ms, cell.capacity_mbps, cell.case, flow);
        let figure = self.0.iter().find(|figure| {
            (figure.table.as_str(), figure.latency_ms, figure.capacity_mbps, figure.case.as_str(), figure.flow)
                == wanted
        });
        figure.map(|figure| figure.goodput_mbps)
    }
}

#[cfg(test)]
mod tests {
    use super::super::grid::{TABLES, THESIS, cells};
    use super::*;

    #[test]
    fn every_published_figure_belongs_to_a_cell() {
        let published = Published::read();
        let capacities: Vec<u32> = (1..=10).map(|ten| ten * 10).collect();
        let cells = TABLES.into_iter().flat_map(|table| cells(table, &capacities, THESIS));
        let found = cells
            .flat_map(|cell| (0..cell.flows.len()).filter_map(|f| published.goodput(&cell, f)).collect::<Vec<_>>());
        assert_eq!(found.count(), published.0.len());
        assert_eq!(published.0.len(), 16 * 40 + 45);
    }
}
