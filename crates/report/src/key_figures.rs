//! What a sweep shows, in words: for each usual metric the points with the smallest and with the largest mean, and the
//! points with the same results.

use subflow_lab::comparison::SameResults;
use subflow_lab::results::Experiment;
use subflow_lab::results::metrics::ComparedMetric;

use super::markup::{details, escaped, paragraphs};
use super::parameter::label;
use super::rows::number;

/// Flows beyond these have no sentences.
const MOST_FLOWS: usize = 4;

/// A mean: the name of its flow, empty if it is of whole runs; that of its point; and its value.
type Mean = (String, String, f64);

/// A list with an item for each usual metric of each flow whose mean differs between points; empty for a single point.
pub(super) fn key_figures(experiment: &Experiment) -> String {
    let items: Vec<String> =
        ComparedMetric::usual().into_iter().flat_map(|metric| of_metric(experiment, metric)).collect();
    let items: String = items.iter().map(|item| format!("<li>{}</li>", escaped(item))).collect();
    if items.is_empty() { items } else { format!(r#"<ul class="key-figures">{items}</ul>"#) }
}

fn of_metric(experiment: &Experiment, metric: ComparedMetric) -> Vec<String> {
    let means = experiment.statistics.iter().flat_map(|point| {
        let name = label(&point.parameters);
        let mean = move |(flow, summary): (Option<&str>, &subflow_lab::statistics::Summary)| {
            Some((flow.unwrap_or_default().to_owned(), name.clone(), summary.mean?))
        };
        metric.summaries(point).into_iter().filter_map(mean)
    });
    let means: Vec<Mean> = means.collect();
    let mut flows: Vec<&str> = Vec::new();
    for (flow, _, _) in &means {
        if !flows.contains(&flow.as_str()) {
            flows.push(flow);
        }
    }
    let of_flow = |flow: &&str| extremes(metric, flow, means.iter().filter(|(of, _, _)| of == flow));
    flows.iter().take(MOST_FLOWS).filter_map(of_flow).collect()
}

/// `goodput of bulk: from 3.20 Mbit/s (3 %, lia) to 9.50 Mbit/s (none, olia)`; nothing if all means are equal.
fn extremes<'m>(metric: ComparedMetric, flow: &str, means: impl Iterator<Item = &'m Mean> + Clone) -> Option<String> {
    let least = means.clone().min_by(|(_, _, a), (_, _, b)| a.total_cmp(b))?;
    let most = means.max_by(|(_, _, a), (_, _, b)| a.total_cmp(b))?;
    let end = |(_, point, mean): &Mean| {
        let text = format!("{} {}", number(*mean, false), metric.unit);
        format!("{} ({point})", text.trim_end())
    };
    let of = if flow.is_empty() { String::new() } else { format!(" of {flow}") };
    (least.2 < most.2).then(|| format!("{}{of}: from {} to {}", metric.label, end(least), end(most)))
}

/// Points and runs that cannot be told apart. A sweep may have dozens of groups of such points.
pub(super) fn same(experiment: &Experiment) -> String {
    const MOST_SHOWN: usize = 3;
    let SameResults { points, seeds } = SameResults::of(experiment);
    let (shown, others) = points.split_at(MOST_SHOWN.min(points.len()));
    let words = |some: &[String]| paragraphs(some.iter().map(String::as_str));
    let folded = match others.len() {
        0 => String::new(),
        1 => details("One more group of such points", false, &words(others)),
        count => details(&format!("{count} more groups of such points"), false, &words(others)),
    };
    words(seeds.as_slice()) + &words(shown) + &folded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_points_with_the_smallest_and_the_largest_mean_are_named() {
        let mean = |point: &str, mean: f64| ("bulk".to_owned(), point.to_owned(), mean);
        let means = [mean("1 %", 5.0), mean("3 %", 3.2), mean("none", 9.5)];
        let goodput: ComparedMetric = "goodput".parse().expect("a metric");
        let said = extremes(goodput, "bulk", means.iter()).expect("means that differ");
        assert_eq!(said, format!("{} of bulk: from 3.20 Mbit/s (3 %) to 9.50 Mbit/s (none)", goodput.label));
        assert_eq!(extremes(goodput, "bulk", means[..1].iter()), None);
    }
}
