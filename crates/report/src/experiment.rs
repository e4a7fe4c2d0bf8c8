//! The report of `subflow run`, with the table of the differences of a sweep's points to chosen ones.

use std::collections::BTreeMap;

use subflow_lab::comparison::explanations;
use subflow_lab::output::{Reader, summary};
use subflow_lab::results::parameters::word;
use subflow_lab::results::{Baseline, Difference, Experiment, Pairing, Run};
use subflow_lab::table::Align::{Left, Right};
use subflow_lab::table::{Cell, Columns};
use subflow_scenario::sweep::Plan;

use super::chooser::{self, Room};
use super::comparing_figures::{Comparing, comparisons};
use super::delays::delays;
use super::events::{events_of, unmarked};
use super::figure::Figure;
use super::grid::Grid;
use super::key_figures::{key_figures, same};
use super::markup::{Slugs, code, details, has_long_table, paragraphs, table};
use super::overlay::Sampled;
use super::page::Page;
use super::palette::Palette;
use super::parameter::label;
use super::picker::points_together;
use super::{chart, over_time};

/// Maximum number of points over time in one report: about two megabytes.
const MOST_POINTS: usize = 250_000;

/// The report of an experiment as one HTML file.
pub fn of_experiment(plan: &Plan, experiment: &Experiment) -> String {
    let mut page = page(plan, experiment);
    page.section("scenario", "Scenario", code(&plan.document.text()));
    page.section("rerun", "Run it again", rerun(experiment));
    page.html()
}

/// The report as one HTML file that has all that is needed to go on with it: `scenarios`, with their titles and texts,
/// and for programs `enclosed`, IDs of elements and the JSON in them.
pub fn of_experiment_enclosing(
    plan: &Plan,
    experiment: &Experiment,
    scenarios: &[(&str, &str)],
    enclosed: Vec<(&'static str, String)>,
) -> String {
    let mut page = Page { enclosed, ..page(plan, experiment) };
    for (at, (title, text)) in scenarios.iter().enumerate() {
        page.section(&format!("scenario-{}", at + 1), title, code(text));
    }
    let again = "This file contains what made it, and its results. To go on with it, start subflow serve, and open the file \
                 in the page (Share).";
    page.section("rerun", "Run it again", paragraphs([again]) + &code("subflow serve"));
    page.html()
}

/// The report for a frame of the page of `subflow serve`, which has the scenario beside it. It fits its height to its
/// content and takes the theme of the page around it, by messages.
pub fn of_experiment_in_frame(plan: &Plan, experiment: &Experiment) -> String {
    Page { in_frame: true, ..page(plan, experiment) }.html()
}

/// What that frame shows of another experiment in the place of the one before, as the content of its body.
pub fn content_of_experiment(plan: &Plan, experiment: &Experiment) -> String {
    page(plan, experiment).content()
}

fn page(plan: &Plan, experiment: &Experiment) -> Page {
    let scenario = &experiment.scenario;
    let mut page = Page { title: scenario.title.clone(), description: scenario.description.clone(), ..Page::default() };
    page.facts.push(("scenario", scenario.name.clone()));
    page.facts.push(("runs", experiment.runs.len().to_string()));
    let time = if in_real_time(experiment) { "time of a run, on Linux" } else { "simulated time of a run" };
    let duration = match experiment.durations_s() {
        (shortest, longest) if shortest == longest => format!("{shortest} s"),
        (shortest, longest) => format!("{shortest} to {longest} s"),
    };
    page.facts.push((time, duration));
    if scenario.warm_up_s > 0.0 {
        page.facts.push(("measured from", format!("{} s", scenario.warm_up_s)));
    }
    page.facts.push(("seeds", seeds(experiment)));
    let hops: u64 = experiment.runs.iter().map(|run| run.result.engine.packet_hops).sum();
    page.facts.push(("packet hops", hops.to_string()));

    let mut slugs = Slugs::default();
    page.section("failed", "Runs that failed", failed(experiment));
    page.section("not-valid", "Runs that are not valid", not_valid(experiment));
    page.section("key-figures", "Key figures", key_figures(experiment));
    // Figures come before tables that are longer than a screen.
    let tables = [
        ("summary", "Summary", tables_of_experiment(experiment)),
        ("same", "The same results", same(experiment)),
        ("differences", "Differences to the baseline", difference_table(experiment)),
    ];
    let (long, short): (Vec<_>, Vec<_>) = tables.into_iter().partition(|(_, _, html)| has_long_table(html));
    short.into_iter().for_each(|(id, title, html)| page.section(id, title, html));
    page.section("comparison", "Comparison", compared(plan, experiment, &mut slugs));
    page.section("over-time", "Over time", timelines(plan, experiment, &mut slugs));
    page.section("delays", "Delays", delays(experiment));
    long.into_iter().for_each(|(id, title, html)| page.section(id, title, html));
    page
}

/// The tables at the top of the report, without a page around them.
pub fn tables_of_experiment(experiment: &Experiment) -> String {
    summary(experiment, Reader::Page).iter().map(|of| table(of.table.name, of.title, &of.table)).collect()
}

/// All figures of an experiment with `plan`: comparisons, then those of its first point over time.
pub fn figures_of(plan: &Plan, experiment: &Experiment) -> Vec<Figure> {
    let first = sampled(plan, experiment).into_iter().next();
    let over_time = first.into_iter().flat_map(|point| over_time::over_time(&point.runs, point.scenario));
    let grid = Grid::of(experiment);
    let compared = comparisons(plan, experiment, &grid).into_iter().flat_map(Comparing::figures);
    compared.chain(over_time).collect()
}

/// The colours of flows, subflows and links in the report of an experiment with `plan`, of the point of the sweep with this
/// number. A point without metrics over time has none.
pub fn palette_of(plan: &Plan, experiment: &Experiment, point: usize) -> Palette {
    let shown = sampled(plan, experiment).into_iter().find(|shown| shown.runs[0].point == point);
    shown.map_or_else(Palette::default, |shown| Palette::new(&shown.runs, shown.scenario))
}

/// Figures one after the other in a grid; those with a choice of the baseline have a grid of their own.
fn compared(plan: &Plan, experiment: &Experiment, slugs: &mut Slugs) -> String {
    let grid = Grid::of(experiment);
    let mut room = Room::default();
    let (mut html, mut figures) = (String::new(), String::new());
    for comparison in comparisons(plan, experiment, &grid) {
        match comparison {
            Comparing::Figure(figure) => figures += &chart::figure(&figure, &slugs.unique(&figure.title), ""),
            Comparing::PointValues(compared) => {
                html += &in_grid(&std::mem::take(&mut figures));
                html += &chooser::block(&compared, &mut room, slugs);
            }
        }
    }
    html + &in_grid(&figures)
}

fn in_grid(figures: &str) -> String {
    if figures.is_empty() { String::new() } else { format!(r#"<div class="figures">{figures}</div>"#) }
}

fn in_real_time(experiment: &Experiment) -> bool {
    experiment.runs.iter().any(|run| run.result.real_time.is_some())
}

/// The runs that failed, which are in no figure.
fn failed(experiment: &Experiment) -> String {
    paragraphs(experiment.failed.iter().map(|failed| failed.error.as_str()))
}

/// The reasons why runs are not valid. These runs are included in all figures.
fn not_valid(experiment: &Experiment) -> String {
    let objections = experiment.runs.iter().flat_map(|run| {
        let place = place(run);
        run.result.objections().iter().map(move |objection| format!("{place}: {objection}"))
    });
    let objections: Vec<String> = objections.collect();
    paragraphs(objections.iter().map(String::as_str))
}

fn seeds(experiment: &Experiment) -> String {
    let (first, last) = experiment.seeds();
    if first == last { first.to_string() } else { format!("{first} to {last}") }
}

/// The points with metrics over time, and the runs that have them.
fn sampled<'a>(plan: &'a Plan, experiment: &'a Experiment) -> Vec<Sampled<'a>> {
    let mut points: BTreeMap<usize, Sampled<'_>> = BTreeMap::new();
    for run in experiment.runs.iter().filter(|run| !run.result.series.is_empty()) {
        let scenario = &plan.points[run.point].scenario;
        let point = || Sampled { name: label(&run.parameters), runs: Vec::new(), scenario };
        points.entry(run.point).or_insert_with(point).runs.push(run);
    }
    points.into_values().collect()
}

/// The figures over time: any points together; then all figures of each point, of as many as fit on one page.
fn timelines(plan: &Plan, experiment: &Experiment, slugs: &mut Slugs) -> String {
    let sampled = sampled(plan, experiment);
    let mut html = String::new();
    let (mut points, mut shown) = (0, 0);
    for point in &sampled {
        points += over_time::points(&point.runs);
        if points > MOST_POINTS && shown > 0 {
            break;
        }
        let figures = timeline(point, slugs);
        html += &match experiment.runs.len() {
            1 => figures,
            _ => details(&places(&point.runs), shown == 0, &figures),
        };
        shown += 1;
    }
    if html.is_empty() {
        return html;
    }
    let of_runs = match (experiment.runs.len(), sampled.iter().all(|point| point.runs.len() == 1)) {
        (0 | 1, _) => String::new(),
        (_, true) if experiment.scenario.repeat > 1 => {
            "The first run of each point; with --series all, means and bands of all runs.".to_owned()
        }
        _ => String::new(),
    };
    let fitting = match experiment.statistics.len() {
        all if all > shown => format!("All figures of the first {shown} of {all} points, which fit onto this page."),
        _ => String::new(),
    };
    let heading = if sampled.len() > 1 { "<h3>Each point</h3>" } else { "" };
    let unmarked = unmarked(sampled.iter().map(|point| point.scenario)).unwrap_or_default();
    let notes = [of_runs.as_str(), fitting.as_str(), unmarked.as_str()];
    let notes = paragraphs(notes.into_iter().filter(|note| !note.is_empty()));
    points_together(experiment, &sampled, slugs) + heading + &notes + &html
}

fn timeline(point: &Sampled<'_>, slugs: &mut Slugs) -> String {
    let linked = format!("run-{}", point.runs[0].run);
    let figures = over_time::over_time(&point.runs, point.scenario);
    let events = events_of(&figures);
    let html: String = figures
        .iter()
        .map(|figure| chart::figure_among(figure, &slugs.unique(&figure.title), &linked, &events))
        .collect();
    format!(r#"{}<div class="figures time">{html}</div>"#, chart::list_of_events(&events))
}

/// The point, numbers and seeds of its runs as text.
fn places(runs: &[&Run]) -> String {
    let [first, .., last] = runs else { return runs.first().map_or_else(String::new, |run| place(run)) };
    let values = label(&first.parameters);
    let seeds = format!("{} runs, seeds {} to {}", runs.len(), first.result.seed, last.result.seed);
    if values.is_empty() { seeds } else { format!("{values} ({seeds})") }
}

/// The point, number and seed of a run as text.
fn place(run: &Run) -> String {
    let values = label(&run.parameters);
    let seed = run.result.seed;
    if values.is_empty() {
        format!("run {}, seed {seed}", run.run)
    } else {
        format!("{values} (run {}, seed {seed})", run.run)
    }
}

fn rerun(experiment: &Experiment) -> String {
    let (command, same) = if in_real_time(experiment) {
        ("sudo subflow run scenario.toml --on linux --out again", "repeats it in real time: the numbers will differ")
    } else {
        ("subflow run scenario.toml --out again", "gives the same numbers, except for CPU time")
    };
    let seed = match experiment.scenario.repeat {
        1 if !experiment.scenario.sweep.iter().any(|path| path == "repeat") => String::new(),
        _ => " Run k of a repetition has the first seed plus k.".to_owned(),
    };
    paragraphs([format!(
        "In the folder of this report, scenario.toml is the scenario with all changes from the command line. \
         The same version of subflow ({}) {same}.{seed}",
        env!("CARGO_PKG_VERSION"),
    )
    .as_str()])
        + &code(command)
}

/// How a number is read from a difference.
type Read = fn(&Difference) -> Option<f64>;

/// The section; empty if no baseline was chosen.
pub(super) fn difference_table(experiment: &Experiment) -> String {
    let Some(baseline) = &experiment.baseline else { return String::new() };
    let mut columns = Columns::of(&baseline.differences);
    for path in &experiment.scenario.sweep {
        columns.shown(path, 0, Left, |row| row.parameters.get(path).map_or(Cell::Empty, |v| word(v).into()));
    }
    columns
        .shown("flow", 0, Left, |row| row.flow.as_deref().unwrap_or("all").into())
        .shown("metric", 0, Left, |row| row.metric.into())
        .shown("unit", 0, Left, |row| row.unit.into())
        .shown("runs", 0, Right, |row| Cell::Integer(row.n as i64));
    let numbers: [(&str, usize, Read); 8] = [
        ("baseline", 3, |row| row.baseline_mean),
        ("mean", 3, |row| row.mean),
        ("difference", 3, |row| row.difference),
        ("95 % from", 3, |row| row.difference_ci95_low),
        ("to", 3, |row| row.difference_ci95_high),
        ("change %", 2, |row| row.change_percent),
        ("p", 4, |row| row.p_value),
        ("p (Holm)", 4, |row| row.p_value_holm),
    ];
    for (name, decimals, number) in numbers {
        columns.shown(name, decimals, Right, |row| number(row).into());
    }
    let caption = format!("Differences to {} = {}", baseline.path, word(&baseline.value));
    let (explanation, of_rows) = (explanation(baseline), explanations(&baseline.differences));
    paragraphs([explanation.as_str()].into_iter().chain(of_rows.iter().map(String::as_str)))
        + &table("differences", &caption, &columns.table("differences"))
}

fn explanation(baseline: &Baseline) -> String {
    let pairs = if baseline.differences.iter().all(|row| row.pairing == Pairing::Paired) {
        "Runs with the same seed are pairs"
    } else {
        "Runs with the same seed are pairs, where points have them"
    };
    let tested = baseline.differences.iter().filter(|row| row.p_value.is_some()).count();
    let tested =
        if tested == 1 { "1 difference that has".to_owned() } else { format!("{tested} differences that have") };
    format!(
        "{pairs}; the intervals of differences are those of the t-test, which p is of. The last column judges: it is the \
         p-value adjusted for the {tested} one (Holm)."
    )
}
