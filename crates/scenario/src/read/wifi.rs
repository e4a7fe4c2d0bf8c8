//! A rate with `standard`: a link over a WiFi channel.

use subflow_network::{ContentionConfig, LinkChange, Service, WifiConfig, WifiStandard};
use subflow_quantity::{Duration, Rate};

use crate::file::{Field, Problem, Section, name_value};
use crate::schema::WIFI_STANDARDS;
use crate::{Attachment, Link, LinkEvent, schema};

/// The keys of a WiFi link alone.
const KEYS: [&str; 13] = [
    "standard",
    "channel",
    "control_rate",
    "streams",
    "guard_interval",
    "ampdu_frames",
    "ampdu_bytes",
    "ampdu_time",
    "aifsn",
    "cw_min",
    "cw_max",
    "attempts",
    "eifs",
];
/// Those of other kinds of rates.
const OTHERS: [&str; 7] = ["burst", "peak_rate", "mtu", "tti", "block_error_rate", "harq_rtt", "grant_delay"];
/// Those that standards without A-MPDU do not have.
const HIGH_THROUGHPUT: [&str; 5] = ["streams", "guard_interval", "ampdu_frames", "ampdu_bytes", "ampdu_time"];

const SLOWEST: Rate = Rate::from_mbit(1);
/// Above what 802.11ac has, 6.9 Gbit/s.
const FASTEST: Rate = Rate::from_mbit(10_000);
/// A longer aggregate is assumed to be a mistake.
const LONGEST_AGGREGATE: Duration = Duration::from_secs(1);

/// Whether a table is one of a WiFi link.
pub(super) fn is_meant(field: &Field<'_>) -> bool {
    let section = field.section(&schema::RATE);
    section.is_ok_and(|section| KEYS.into_iter().any(|key| section.given(key).is_some()))
}

pub(super) fn read(field: &Field<'_>) -> Result<WifiConfig, Problem> {
    let section = field.section(&schema::RATE)?;
    if let Some(stray) = OTHERS.into_iter().find_map(|key| section.given(key)) {
        return Err(stray
            .problem("a WiFi link has not this")
            .label("of another kind of rate")
            .help("drop standard and channel, or this"));
    }
    let standard = section.given("standard").ok_or_else(|| {
        field.problem("standard is missing, expected that of the WiFi link").help("write standard = \"802.11n\"")
    })?;
    let standard: WifiStandard = standard.choice("a WiFi standard", &WIFI_STANDARDS)?;
    let channel = section.given("channel").ok_or_else(|| {
        field
            .problem("channel is missing, expected the name of the WiFi channel")
            .help("links with the same name contend for it: write channel = \"home\"")
    })?;
    let channel = name_value(&channel, "channel")?;
    let usual = WifiConfig::new(&channel, standard, checked_rate(&section.required("rate")?)?);
    if usual.most_frames == 1
        && let Some(stray) = HIGH_THROUGHPUT.into_iter().find_map(|key| section.given(key))
    {
        return Err(stray.problem("only 802.11n and 802.11ac have this").label("not of this standard"));
    }
    let most_frames = match section.given("ampdu_frames") {
        Some(frames) => frames.integer(1..=64)? as u32,
        None => usual.most_frames,
    };
    let most_bytes = match section.given("ampdu_bytes") {
        Some(bytes) => bytes.size(2304..=1_048_575)? as u32,
        None => usual.most_bytes,
    };
    let time = section.value("ampdu_time");
    let longest = time.positive_duration()?;
    if longest > LONGEST_AGGREGATE {
        return Err(time.expected(&format!("at most {LONGEST_AGGREGATE}")));
    }
    Ok(WifiConfig {
        control_rate: section.given("control_rate").map_or(Ok(usual.control_rate), |rate| checked_rate(&rate))?,
        streams: section.value("streams").integer(1..=8)? as u32,
        short_guard_interval: short_guard_interval(&section.value("guard_interval"))?,
        most_frames,
        most_bytes,
        longest,
        contention: contention(&section, usual.contention)?,
        ..usual
    })
}

fn contention(section: &Section<'_>, usual: ContentionConfig) -> Result<ContentionConfig, Problem> {
    let cw_min = section.given("cw_min").map_or(Ok(usual.cw_min), |field| window(&field))?;
    let largest = section.value("cw_max");
    let cw_max = window(&largest)?;
    if cw_max < cw_min {
        return Err(section.given("cw_max").unwrap_or(largest).expected(&format!("at least cw_min, {cw_min}")));
    }
    Ok(ContentionConfig {
        aifsn: section.given("aifsn").map_or(Ok(usual.aifsn.into()), |field| field.integer(1..=15))? as u32,
        cw_min,
        cw_max,
        attempts: section.value("attempts").integer(1..=255)? as u32,
        eifs: section.value("eifs").boolean()?,
    })
}

fn checked_rate(field: &Field<'_>) -> Result<Rate, Problem> {
    let rate = field.rate()?;
    match (SLOWEST..=FASTEST).contains(&rate) {
        true => Ok(rate),
        false => Err(field.expected(&format!("from {SLOWEST} to {FASTEST} in WiFi"))),
    }
}

fn window(field: &Field<'_>) -> Result<u32, Problem> {
    let slots = field.integer(0..=32_767)?;
    match (slots + 1).is_power_of_two() {
        true => Ok(slots as u32),
        false => Err(field.expected("a power of two less one, such as 15")),
    }
}

fn short_guard_interval(field: &Field<'_>) -> Result<bool, Problem> {
    match field.duration()?.as_nanos() {
        800 => Ok(false),
        400 => Ok(true),
        _ => Err(field.expected("800 ns or 400 ns")),
    }
}

/// The configuration of one direction, if it is over a channel.
fn over_channel(link: &Link, direction: usize) -> Option<&WifiConfig> {
    match &[&link.up, &link.down][direction].service {
        Service::Wifi(config) => Some(config),
        _ => None,
    }
}

/// Checks a link, at `rate`, with those `before` it: both directions are over the same channel, whose links have one
/// standard, and a station contends in one way.
pub(super) fn check(rate: &Field<'_>, link: &Link, before: &[Link]) -> Result<(), Problem> {
    let (up, down) = match (over_channel(link, 0), over_channel(link, 1)) {
        (None, None) => return Ok(()),
        (Some(up), Some(down)) if up.channel == down.channel => (up, down),
        _ => {
            return Err(rate
                .problem("one direction is over a WiFi channel, and the other is not over the same one")
                .help("give both directions the same channel"));
        }
    };
    let stations = |link| [0, 1].into_iter().filter_map(move |end| Some((end_of(link, end), over_channel(link, end)?)));
    let known = before.iter().flat_map(stations).chain([(link.ends[0], up)]);
    for (other_end, other) in known.filter(|(_, other)| other.channel == up.channel) {
        if let Some(mine) = [up, down].into_iter().find(|mine| mine.standard != other.standard) {
            return Err(rate.problem(format!(
                "the channel {} has links of {}, and this one is of {}: they wait in other units",
                up.channel,
                name(other.standard),
                name(mine.standard)
            )));
        }
        let same_station = stations(link).find(|(end, mine)| *end == other_end && mine.contention != other.contention);
        if same_station.is_some() {
            return Err(rate
                .problem(format!(
                    "another link from the same station on channel {} contends in another way",
                    up.channel
                ))
                .help("give them the same aifsn, cw_min, cw_max, attempts and eifs"));
        }
    }
    Ok(())
}

fn end_of(link: &Link, direction: usize) -> Attachment {
    link.ends[direction]
}

fn name(standard: WifiStandard) -> &'static str {
    let choice = WIFI_STANDARDS.iter().find(|choice| choice.value == standard);
    choice.map_or("another standard", |choice| choice.description.name)
}

/// A WiFi link stays one with its rate, and no other becomes one.
pub(super) fn check_changes(field: &Field<'_>, link: &Link, events: &[LinkEvent]) -> Result<(), Problem> {
    let mut changes = events.iter().flat_map(|event| event.up.iter().chain(&event.down));
    if over_channel(link, 0).is_some() && changes.clone().any(|change| matches!(change, LinkChange::Service(_))) {
        return Err(field
            .problem(format!("the rate changes, and {} is a WiFi link", link.name))
            .help("WiFi links keep their rates; delay and loss may change"));
    }
    match changes.any(|change| matches!(change, LinkChange::Service(Service::Wifi(_)))) {
        false => Ok(()),
        true => Err(field.problem(format!("{} becomes a WiFi link, expected one from the start", link.name))),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::Scenario;
    use crate::file::Document;

    fn read(first: &str, second: &str, more: &str) -> Result<Scenario, String> {
        let text = format!(
            "duration = \"9 s\"\n[hosts]\na = [\"x\"]\nb = [\"x\"]\n[routers.ap]\n\
             [links.l]\nbetween = [\"a\", \"ap\"]\nrate = {first}\n\
             [links.m]\nbetween = [\"b\", \"ap\"]\nrate = {second}\n[flows.f]\nfrom = \"a\"\nto = \"b\"\n{more}"
        );
        let document = Document::parse(Path::new("wifi.toml"), text).expect("it is TOML");
        Scenario::read(&document).map_err(|problems| problems.to_string())
    }

    const N: &str = "{ standard = \"802.11n\", channel = \"home\", rate = \"65 Mbit/s\" }";

    #[test]
    fn the_defaults_are_those_of_the_standard() {
        let scenario = read(N, N, "").expect("valid");
        assert_eq!(
            over_channel(&scenario.links[0], 0),
            Some(&WifiConfig::new("home", WifiStandard::N, Rate::from_mbit(65)))
        );
        let b = "{ standard = \"802.11b\", channel = \"hot-spot\", rate = \"11 Mbit/s\" }";
        let scenario = read(N, b, "").expect("valid");
        let config = over_channel(&scenario.links[1], 1).expect("a WiFi link");
        assert_eq!(*config, WifiConfig::new("hot-spot", WifiStandard::B, Rate::from_mbit(11)));
        assert_eq!((config.contention.cw_min, config.contention.aifsn, config.most_frames), (31, 2, 1));
    }

    #[test]
    fn what_is_wrong_with_a_wifi_link_is_named() {
        let with = |more: &str| N.replace(" }", &format!(", {more} }}"));
        for (rate, said) in [
            ("{ standard = \"802.11n\", rate = \"65 Mbit/s\" }".to_owned(), "channel is missing"),
            ("{ channel = \"home\", rate = \"65 Mbit/s\" }".to_owned(), "standard is missing"),
            ("{ standard = \"802.11z\", channel = \"home\", rate = \"65 Mbit/s\" }".to_owned(), "a WiFi standard"),
            (N.replace("65 Mbit/s", "65 kbit/s"), "from 1 Mbit/s to 10 Gbit/s"),
            (with("tti = \"1 ms\""), "a WiFi link has not this"),
            (with("cw_min = 16"), "a power of two less one"),
            (with("cw_min = 31, cw_max = 15"), "at least cw_min, 31"),
            (with("guard_interval = \"600 ns\""), "800 ns or 400 ns"),
            (with("ampdu_time = \"2 s\""), "at most 1 s"),
            (N.replace("802.11n", "802.11a").replace(" }", ", streams = 2 }"), "only 802.11n and 802.11ac have this"),
            (format!("{{ up = {N}, down = \"1 Mbit/s\" }}"), "one direction is over a WiFi channel"),
            (N.replace("802.11n", "802.11ac"), "has links of 802.11ac, and this one is of 802.11n"),
            (format!("{{ up = {N}, down = {} }}", with("aifsn = 7")), "contends in another way"),
        ] {
            let problem = read(&rate, N, "").expect_err(&rate);
            assert!(problem.contains(said), "{problem}");
        }
    }

    #[test]
    fn a_wifi_link_keeps_its_rate() {
        let event = |change: &str| format!("[[timeline]]\nat = \"1 s\"\nlink = \"l\"\n{change}\n");
        for change in ["rate = \"1 Mbit/s\"", "handovers = { rate = [\"1 Mbit/s\", \"2 Mbit/s\"] }"] {
            let problem = read(N, N, &event(change)).expect_err(change);
            assert!(problem.contains("l is a WiFi link"), "{problem}");
        }
        let becomes = read("\"1 Mbit/s\"", N, &event(&format!("rate = {N}"))).expect_err("no such change");
        assert!(becomes.contains("becomes a WiFi link"), "{becomes}");
        assert!(read(N, N, &event("down = true")).is_ok());
    }
}
