//! What is measured of a run: figures of the upload, then of each interface, and second by second where figure 9 is.

use subflow_lab::results::RunResult;
use subflow_lab::statistics::{mean, standard_deviation};

use super::{CONGESTED, SECONDS_ITEM};
use crate::study::{
    DELIVERED, DUPLICATE_ACKS as DUPLICATES, LOST, RETRANSMISSIONS as REPEATED, Row, SRTT, Sample, Slice, by_second,
};

/// The places of metrics in a sample, as the paper's file lists them: goodput of the upload in Mbit/s, seconds of a transfer
/// that ends, and, after what the file has of flows, goodput by interface.
pub(super) const GOODPUT: usize = 0;
pub(super) const SECONDS: usize = 2;
const INTERFACE: usize = 6;
const INTERFACES: usize = 5;

/// The seconds that figure 9 shows.
const SHOWN: usize = 13;
/// The interface that it is of by what it carries: that with 100 Mbit/s.
const OF_FIGURE_9: &str = "upload/client.l5-";
/// The link behind it.
const LINK_OF_FIGURE_9: &str = "l5";
/// The properties of section 2.3.6 follow the interfaces, and then the lists of figure 9.
const LISTS: usize = INTERFACE + INTERFACES + 3;

/// The lists of figure 9, by the metrics of their slices: on its interface payload in Mbit/s, segments sent again in the
/// second, packets lost on its link or dropped by its queues, duplicate acknowledgments of the whole connection, and the
/// mean of the subflows' smoothed RTTs at the end of the second in ms, with the own queue.
const FIGURE_9: [&str; 5] = ["payload", "retransmissions", "losses", "duplicate_acks", "rtt_ms"];

/// What stands beside cells: the interfaces, and of figure 9 each second and all together.
pub(super) fn slices(row: &Row) -> Vec<Slice> {
    match row.cell.item.as_str() {
        CONGESTED => (0..INTERFACES).map(|interface| of_interface(row, interface)).collect(),
        SECONDS_ITEM => (0..SHOWN).map(|second| of_second(row, second)).chain([of_all_seconds(row)]).collect(),
        _ => Vec::new(),
    }
}

fn of_interface(row: &Row, interface: usize) -> Slice {
    let rate = format!("${{rate{}}}", interface + 1);
    let variables = vec![("slice", "interface".into()), ("rate", rate.into())];
    Slice::of(row, variables, &["goodput"], INTERFACE + interface..)
}

fn of_second(row: &Row, second: usize) -> Slice {
    let variables = vec![("slice", "second".into()), ("second", (second + 1).into())];
    Slice::of(row, variables, &FIGURE_9, (LISTS + second..).step_by(SHOWN))
}

fn of_all_seconds(row: &Row) -> Slice {
    let sums = |list: usize| {
        let sum = |run: &Sample| run.iter().skip(LISTS + SHOWN * list).take(SHOWN).sum::<f64>();
        row.runs.iter().map(sum).collect::<Vec<_>>()
    };
    let by_interface = |run: &Sample| run.iter().skip(INTERFACE).take(INTERFACES).copied().collect::<Vec<_>>();
    let share =
        |run: &Sample| by_interface(run).last().map_or(f64::NAN, |own| own / by_interface(run).iter().sum::<f64>());
    Slice {
        variables: vec![("slice", "all seconds".into())],
        figures: vec![
            (FIGURE_9[0], sums(0).into_iter().map(|sum| sum / SHOWN as f64).collect()),
            ("share", row.runs.iter().map(share).collect()),
            (FIGURE_9[1], sums(1)),
            (FIGURE_9[2], sums(2)),
            (FIGURE_9[3], sums(3)),
        ],
    }
}

pub(super) fn measure(result: &RunResult) -> Result<Sample, String> {
    let upload = result.flows.iter().find(|flow| flow.name == "upload").ok_or("there is no flow upload")?;
    let of_interface = |interface: usize| {
        let own = format!("client.l{interface}-");
        let subflows = upload.subflows.iter().filter(|subflow| subflow.name.starts_with(&own));
        subflows.map(|subflow| subflow.goodput_mbps).sum()
    };
    let mut sample: Sample = (1..=INTERFACES).map(of_interface).collect();
    sample.extend(properties(result));
    if !result.series.is_empty() {
        sample.extend(lists_of_figure_9(result));
    }
    Ok(sample)
}

fn lists_of_figure_9(result: &RunResult) -> Vec<f64> {
    let is_of_interface = |name: &str| name.starts_with(OF_FIGURE_9);
    let counted = |metric: &str, is_of: &dyn Fn(&str) -> bool| {
        in_each(by_second(result, SHOWN, metric, is_of).into_iter().map(|values| values.iter().sum::<f64>()))
    };
    let rtts = by_second(result, SHOWN, SRTT, is_of_interface).into_iter();
    let lists = [
        counted(DELIVERED, &is_of_interface),
        counted(REPEATED, &is_of_interface),
        counted(LOST, &|name| name == LINK_OF_FIGURE_9),
        counted(DUPLICATES, &|name| name == "upload"),
        rtts.map(|values| values.iter().sum::<f64>() / values.len() as f64).collect(),
    ];
    lists.concat()
}

/// What section 2.3.6 names beside friendliness, responsiveness and oscillation, the thesis describes in words and does not
/// measure; here they are figures of a run in which a TCP connection shares a link until it stops.
///
/// The connection beside the upload, and the second in which it stops.
const RIVAL: &str = "rival";
const STOPS: usize = 20;
/// The run, and what is left out at its beginning and after the stop, in seconds.
const PROPERTY_SECONDS: usize = 40;
const SETTLES: usize = 5;
const STEADY: usize = 30;
/// The share of the later goodput that counts as having taken up what the rival leaves.
const TAKEN_UP: f64 = 0.95;

/// Friendliness, the goodput of the TCP connection beside the upload in Mbit/s; responsiveness, the seconds after its stop
/// until the upload has 95 % of its later goodput; and oscillation, the standard deviation of the upload's goodput from
/// second to second after that, in percent of its mean. NaN in other runs.
fn properties(result: &RunResult) -> [f64; 3] {
    if !result.flows.iter().any(|flow| flow.name == RIVAL) {
        return [f64::NAN; 3];
    }
    let [upload, rival] = ["upload", RIVAL].map(|flow| {
        let so_far = by_second(result, PROPERTY_SECONDS, DELIVERED, |name| name == flow);
        in_each(so_far.iter().map(|values| values.iter().sum::<f64>()))
    });
    of_seconds(&upload, &rival).map(|figure| figure.unwrap_or(f64::NAN))
}

fn of_seconds(upload: &[f64], rival: &[f64]) -> [Option<f64>; 3] {
    let steady = &upload[STEADY..];
    let later = mean(steady);
    let taken_up = |later: f64| upload[STOPS..].iter().position(|goodput| *goodput >= TAKEN_UP * later);
    let oscillation = |later: f64| Some(standard_deviation(steady)? / later * 100.0);
    [mean(&rival[SETTLES..STOPS]), later.and_then(taken_up).map(|second| second as f64), later.and_then(oscillation)]
}

/// What each second adds to what was counted so far.
fn in_each(so_far: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut before = 0.0;
    so_far.map(|sum| sum - std::mem::replace(&mut before, sum)).collect()
}

#[cfg(test)]
mod tests {
    use subflow_report::Chart;

    use super::*;
    use crate::Request;
    use crate::lima2017::LIMA2017;
    use crate::study::Effort;

    #[test]
    fn on_the_interface_of_figure_9_nothing_is_sent_again() {
        let request = Request { items: vec!["seconds".to_owned()], quick: true, ..Request::default() };
        let reproduction = LIMA2017.reproduce(&request, &|_| {}).expect("the runs succeed").reproduction;
        assert_eq!(reproduction.figures.len(), 5);
        let of_interface = reproduction.findings.iter().find(|finding| finding.statement.contains("on that interface"));
        let of_interface = of_interface.expect("it is a claim");
        assert_eq!(of_interface.verdict.confirmed(), Some(true), "{}", of_interface.evidence);
        let carries = reproduction.findings.iter().find(|finding| finding.statement.starts_with("The interface of"));
        let evidence = &carries.expect("it is a claim").evidence;
        assert!(["lia: ", "olia: ", "balia: "].iter().all(|control| evidence.contains(control)), "{evidence}");
        let over_all = reproduction.readable.iter().find(|(title, _)| title.starts_with("the interface of figure 9"));
        let shares = over_all.expect("it is declared").1.to_text();
        assert!(shares.contains("% of all") && shares.lines().count() > 4, "{shares}");
    }

    #[test]
    fn a_step_has_its_time_and_a_sawtooth_its_spread() {
        let goodput = |second: usize| match second {
            0..=22 => 40.0,
            _ if second.is_multiple_of(2) => 52.0,
            _ => 48.0,
        };
        let upload: Vec<f64> = (0..PROPERTY_SECONDS).map(goodput).collect();
        let rival: Vec<f64> = (0..PROPERTY_SECONDS).map(|second| if second < STOPS { 4.0 } else { 0.0 }).collect();
        let [friendliness, responsiveness, oscillation] =
            of_seconds(&upload, &rival).map(|figure| figure.expect("known"));
        assert_eq!((friendliness, responsiveness), (4.0, 3.0), "48 is 96 % of 50");
        assert!((oscillation - 100.0 * (40.0_f64 / 9.0).sqrt() / 50.0).abs() < 1e-9, "{oscillation}");
        assert_eq!(in_each([1.0, 3.0, 6.0].into_iter()), [1.0, 2.0, 3.0]);
    }

    #[test]
    fn each_interface_and_each_second_has_its_place() {
        let run = |shift: f64| (0..79).map(|place| f64::from(place) + shift).collect::<Vec<f64>>();
        let all = LIMA2017.invented(Effort::Full, |_| vec![run(0.0), run(2.0)]);
        let figures = LIMA2017.shown(&all).figures;
        let curves = |title: &str| {
            let figure = figures.iter().find(|figure| figure.title == title).expect("it is declared");
            let Chart::Curves(curves) = &figure.chart else { panic!("curves") };
            curves.curves.as_slice()
        };
        let interfaces = curves("congested, lia, ll: goodput by interface over loss");
        let at_no_loss: Vec<f64> = interfaces.iter().map(|curve| curve.points[0].y).collect();
        assert_eq!(at_no_loss, [7.0, 8.0, 9.0, 10.0, 11.0]);
        let rtts = curves("second by second: mean RTT (figure 9)");
        assert_eq!((rtts.len(), rtts[0].points[12].y), (4, 79.0), "the last of all");
        let payload = curves("second by second: payload (figure 9)");
        assert_eq!(payload.iter().filter(|curve| curve.published).count(), 1, "that of the thesis");
    }
}
