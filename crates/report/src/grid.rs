//! The points of a sweep as a grid, whose dimensions are what is swept independently.

use indexmap::IndexMap;
use serde_json::Value;
use subflow_lab::results::Experiment;
use subflow_lab::results::parameters::short_names;
use subflow_scenario::sweep::Parameters;

use super::parameter::{determines, distinct, words};

/// The dimensions of a sweep, in the order of the scenario file, and where its points are.
#[derive(Debug)]
pub(super) struct Grid {
    pub(super) dimensions: Vec<Dimension>,
    /// By point: the index of its value in each dimension.
    places: Vec<Vec<usize>>,
}

/// Swept paths of which one determines all others, such as those that are joined by a comma in `[sweep]`.
#[derive(Debug)]
pub(super) struct Dimension {
    /// The ends of the paths that tell them apart.
    pub(super) name: String,
    /// The path that determines the others.
    pub(super) path: String,
    /// All of its paths.
    pub(super) paths: Vec<String>,
    /// Its values, in the order of the points, and what the dimension is called at each.
    pub(super) values: Vec<(Value, String)>,
}

/// Where the points of a grid are drawn: rows and columns of a panel, and a panel for each combination of the values of
/// further dimensions.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) rows: usize,
    pub(super) columns: usize,
    further: Vec<usize>,
}

impl Grid {
    /// The grid of `experiment`. Paths with one value are in none of its dimensions.
    pub(super) fn of(experiment: &Experiment) -> Self {
        let (paths, together) = (&experiment.scenario.sweep, &experiment.scenario.swept_together);
        let points: Vec<&Parameters> = experiment.statistics.iter().map(|point| &point.parameters).collect();
        let varies = |path: &&String| distinct(&points, path).len() > 1;
        let mut groups: Vec<Vec<&String>> = Vec::new();
        for path in paths.iter().filter(varies) {
            // In a drawn design a path may determine one of another key by chance.
            let same = |group: &&mut Vec<&String>| {
                let is_joined = |other: &String| together.iter().any(|key| key.contains(other) && key.contains(path));
                let follows = |other| determines(&points, other, path) || determines(&points, path, other);
                group.iter().any(|other| is_joined(other) && follows(other))
            };
            match groups.iter_mut().find(same) {
                Some(group) => group.push(path),
                None => groups.push(vec![path]),
            }
        }
        let names = short_names(paths);
        let name = |path: &String| paths.iter().position(|known| known == path).map_or("", |at| names[at].as_str());
        let mut dimensions = Vec::new();
        let mut places = vec![Vec::new(); points.len()];
        for group in groups {
            // Of equally many values that of the first path, which `max_by_key` would choose last.
            let Some(path) = group.iter().rev().max_by_key(|path| distinct(&points, path).len()) else { continue };
            let mut values: IndexMap<String, (Value, String)> = IndexMap::new();
            for (place, point) in places.iter_mut().zip(&points) {
                let value = point.get(*path).unwrap_or(&Value::Null);
                let entry = values.entry(value.to_string());
                place.push(entry.index());
                entry.or_insert_with(|| (value.clone(), words(group.iter().filter_map(|path| point.get(*path)))));
            }
            dimensions.push(Dimension {
                name: group.iter().map(|path| name(path)).collect::<Vec<_>>().join(", "),
                path: (*path).clone(),
                paths: group.into_iter().cloned().collect(),
                values: values.into_values().collect(),
            });
        }
        Self { dimensions, places }
    }

    /// Whether at least half of all combinations of values are points. Those of a random design are not.
    pub(super) fn is_filled(&self) -> bool {
        let combinations = self.dimensions.iter().fold(1usize, |n, of| n.saturating_mul(of.values.len()));
        !self.dimensions.is_empty() && self.places.len().saturating_mul(2) >= combinations
    }

    /// Of two dimensions or more: the two with most values are rows and columns.
    pub(super) fn layout(&self) -> Option<Layout> {
        let mut order: Vec<usize> = (0..self.dimensions.len()).collect();
        order.sort_by_key(|&dimension| std::cmp::Reverse(self.dimensions[dimension].values.len()));
        let [rows, columns, further @ ..] = &order[..] else { return None };
        let mut further = further.to_vec();
        further.sort_unstable();
        Some(Layout { rows: *rows, columns: *columns, further })
    }

    /// The index of a point's value in a dimension.
    pub(super) fn place(&self, point: usize, dimension: usize) -> usize {
        self.places[point][dimension]
    }

    /// The number of panels of a layout.
    pub(super) fn panels(&self, layout: &Layout) -> usize {
        layout.further.iter().map(|dimension| self.dimensions[*dimension].values.len()).product()
    }

    /// The panel of a point; the last dimension varies fastest.
    pub(super) fn panel(&self, layout: &Layout, point: usize) -> usize {
        let next = |panel, dimension: &usize| {
            panel * self.dimensions[*dimension].values.len() + self.places[point][*dimension]
        };
        layout.further.iter().fold(0, next)
    }

    /// The values of the further dimensions in a panel, such as `loss 1 %`; empty without any.
    pub(super) fn panel_name(&self, layout: &Layout, mut panel: usize) -> String {
        let mut names = Vec::new();
        for dimension in layout.further.iter().rev().map(|dimension| &self.dimensions[*dimension]) {
            let (_, word) = &dimension.values[panel % dimension.values.len()];
            names.insert(0, format!("{} {word}", dimension.name));
            panel /= dimension.values.len();
        }
        names.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use subflow_scenario::file::Document;
    use subflow_scenario::sweep::Plan;

    use super::*;

    fn grid(sweep: &str) -> Grid {
        let text = format!(
            "[hosts]\na = [\"x\", \"y\"]\nb = [\"x\", \"y\"]\n[links.x]\nbetween = [\"a.x\", \"b.x\"]\nrate = \"1 Mbit/s\"\n\
             [links.y]\nbetween = [\"a.y\", \"b.y\"]\nrate = \"1 Mbit/s\"\n[flows.f]\nfrom = \"a\"\nto = \"b\"\nprotocol \
             = \"mptcp\"\n[sweep]\n{sweep}"
        );
        let plan = Plan::read(Document::parse(Path::new("grid.toml"), text).expect("TOML")).expect("a good scenario");
        Grid::of(&Experiment::new(&plan, Vec::new()))
    }

    #[test]
    fn what_is_swept_together_is_one_dimension_in_the_order_of_the_file() {
        let grid = grid(
            "\"links.y.loss, links.x.loss\" = [\"1 %\", [\"3 %\", \"2 %\"]]\n\"flows.f.scheduler\" = [\"rr\", \"ll\", \
             \"ecf\"]\n\"flows.f.congestion\" = [\"lia\"]\n",
        );
        let names: Vec<&str> = grid.dimensions.iter().map(|dimension| dimension.name.as_str()).collect();
        assert_eq!(names, ["y.loss, x.loss", "scheduler"], "one value is no dimension");
        let words: Vec<&str> = grid.dimensions[0].values.iter().map(|(_, word)| word.as_str()).collect();
        assert_eq!(words, ["1 %", "3 %, 2 %"]);
        let layout = grid.layout().expect("two dimensions");
        assert_eq!((layout.rows, layout.columns, grid.panels(&layout)), (1, 0, 1), "more rows than columns");
        assert_eq!((grid.place(4, 0), grid.place(4, 1)), (1, 1));
    }

    #[test]
    fn paths_of_different_keys_are_dimensions_of_their_own_even_if_one_happens_to_determine_another() {
        // Of two points that differ in both paths each path determines the other.
        let grid = grid(
            "design = { name = \"latin-hypercube\", points = 2 }\n\"links.x.loss\" = [\"1 %\", \"2 %\"]\n\
             \"flows.f.scheduler\" = [\"rr\", \"ll\"]\n",
        );
        let names: Vec<&str> = grid.dimensions.iter().map(|dimension| dimension.name.as_str()).collect();
        assert_eq!(names, ["loss", "scheduler"]);
    }

    #[test]
    fn further_dimensions_are_panels() {
        let grid = grid(
            "\"links.x.loss\" = [\"1 %\", \"2 %\"]\n\"flows.f.scheduler\" = [\"rr\", \"ll\", \"ecf\", \"blest\"]\n\
             \"links.y.loss\" = [\"1 %\", \"2 %\"]\n\"flows.f.congestion\" = [\"lia\", \"olia\", \"balia\"]\n",
        );
        let layout = grid.layout().expect("four dimensions");
        assert_eq!((layout.rows, layout.columns, grid.panels(&layout)), (1, 3, 4));
        assert!(grid.is_filled());
        // Point 5: x.loss 1 %, rr, y.loss 2 %, balia.
        assert_eq!(grid.panel(&layout, 5), 1);
        assert_eq!(grid.panel_name(&layout, 1), "x.loss 1 %, y.loss 2 %");
    }
}
