//! What is in the program, so that the page works offline: its files, and the examples of its gallery.

use std::path::Path;
use std::sync::OnceLock;

use serde::Serialize;
use serde_json::Value;
use subflow_report::PALETTE;
use subflow_scenario::file::Document;
use subflow_scenario::sweep::Plan;

use crate::picture::Picture;

/// The page itself.
pub(crate) const PAGE: &str = include_str!("page/index.html");

/// Name, type and content.
type Asset = (&'static str, &'static str, &'static str);

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

const ASSETS: [Asset; 27] = [
    // The colours of the page are those of the report beside it.
    ("palette.css", STYLE, PALETTE),
    ("main.css", STYLE, include_str!("page/main.css")),
    ("editor.css", STYLE, include_str!("page/editor.css")),
    ("lessons.css", STYLE, include_str!("page/lessons.css")),
    ("views.css", STYLE, include_str!("page/views.css")),
    ("main.js", SCRIPT, include_str!("page/main.js")),
    ("server.js", SCRIPT, include_str!("page/server.js")),
    ("elements.js", SCRIPT, include_str!("page/elements.js")),
    ("edits.js", SCRIPT, include_str!("page/edits.js")),
    ("editor.js", SCRIPT, include_str!("page/editor.js")),
    ("toml.js", SCRIPT, include_str!("page/toml.js")),
    ("schema.js", SCRIPT, include_str!("page/schema.js")),
    ("completion.js", SCRIPT, include_str!("page/completion.js")),
    ("results.js", SCRIPT, include_str!("page/results.js")),
    ("running.js", SCRIPT, include_str!("page/running.js")),
    ("folder.js", SCRIPT, include_str!("page/folder.js")),
    ("live.js", SCRIPT, include_str!("page/live.js")),
    ("packets.js", SCRIPT, include_str!("page/packets.js")),
    ("opened.js", SCRIPT, include_str!("page/opened.js")),
    ("moment.js", SCRIPT, include_str!("page/moment.js")),
    ("picture.js", SCRIPT, include_str!("page/picture.js")),
    ("pins.js", SCRIPT, include_str!("page/pins.js")),
    ("variants.js", SCRIPT, include_str!("page/variants.js")),
    ("history.js", SCRIPT, include_str!("page/history.js")),
    ("share.js", SCRIPT, include_str!("page/share.js")),
    ("gallery.js", SCRIPT, include_str!("page/gallery.js")),
    ("lessons.js", SCRIPT, include_str!("page/lessons.js")),
];

/// The networks of the cards, by name.
pub(crate) fn card_pictures() -> &'static Value {
    static PICTURES: OnceLock<Value> = OnceLock::new();
    PICTURES.get_or_init(|| {
        let picture = |card: &Card| {
            let document = Document::parse(Path::new("example.toml"), card.text.to_owned()).ok()?;
            let plan = Plan::read(document).ok()?;
            let picture = serde_json::to_value(Picture::of(&plan.points[0].scenario)).ok()?;
            Some((card.name.to_owned(), picture))
        };
        Value::Object(CARDS.iter().filter_map(picture).collect())
    })
}

/// The type and the content of the file with this name.
pub(crate) fn asset(name: &str) -> Option<(&'static str, &'static str)> {
    ASSETS.iter().find(|(known, ..)| *known == name).map(|(_, kind, content)| (*kind, *content))
}

/// An example.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Card {
    /// Its name, that of the file in `scenarios/`.
    pub(crate) name: &'static str,
    /// The question.
    question: &'static str,
    /// What to change to see more, as a key and what to try.
    hint: &'static str,
    /// The scenario.
    pub(crate) text: &'static str,
}

macro_rules! cards {
    ($($name:literal, $question:literal, $hint:literal;)*) => {
        &[$(Card {
            name: $name,
            question: $question,
            hint: $hint,
            text: include_str!(concat!("gallery/", $name, ".toml")),
        }),*]
    };
}

/// All cards; the first one is shown where no scenario was given.
pub(crate) const CARDS: &[Card] = cards![
    "wifi-lte", "What do WiFi and LTE give together?",
        "links.wifi.loss: from which rate of loss on is LTE alone as good?";
    "single-tcp", "How fast does one connection fill one link?",
        "the queue of the link: what do fewer packets cost, and what do more?";
    "schedulers", "Which scheduler when paths are unequal?",
        "the receive buffer: with little room, a slow path delays the fast one";
    "path-failure", "What happens when a path fails, and when it comes back?",
        "[[timeline]]: let it fail later, or for longer";
    "backup-path", "How long does a backup path take to step in?",
        "backup: make both paths equal, and compare";
    "interface-down", "What does a phone gain if it is told that WiFi is gone?",
        "path_manager: one that opens the second path beforehand";
    "shared-bottleneck", "Is MPTCP fair to TCP on a shared bottleneck?",
        "congestion: cubic takes more than its share";
    "coupled-share", "Which share do coupled subflows take?",
        "start: what if the other connection was there first?";
    "loss-sweep", "Which congestion control bears which loss?",
        "[sweep]: add the values that you have measured";
    "bbr", "Who wins, BBR or CUBIC, and does the queue decide it?",
        "the queue in [sweep]: from half a bandwidth-delay product to eight";
    "aqm-ecn", "What does an active queue save in delay?",
        "the queue: codel, pie or red, with ECN or without";
    "request-response", "What do many small requests need?",
        "response: from which size on do two paths help?";
    "sctp-two-paths", "May SCTP use two paths at the same time?",
        "congestion: the three rules of window growth";
    "background-udp", "What do bursts on one path do to the other?",
        "on_off: longer pauses";
    "openflow-diamond", "Do two subflows take disjoint paths?",
        "[routing]: shortest path for both, and compare";
    "lugowski2017", "Is coupled congestion control fair to Reno in a queue of 50 packets?",
        "links.shaped.queue.up.limit: what do longer queues do to the shares?";
    "lima2017", "One subflow for each path, or all combinations of addresses?",
        "flows.upload.scheduler: does it change which of the two is ahead?";
    "leitner2019", "May SCTP's windows grow for each destination, without CUC?",
        "links.path2.loss: what if only one path loses packets?";
    "multiflow2016", "How fast is a file over a ring if ECMP does not know its subflows?",
        "routing.mode: multiflow and disjoint place them on both ways";
    "red2018", "Which subflows should be coupled: all, or those that share a bottleneck?",
        "links.ns-b.delay: when does the detector err?";
];

#[cfg(test)]
mod tests {
    use subflow_lab::Stop;

    use super::*;
    use crate::check::{Draft, Opened};
    use crate::limits::Limits;

    #[test]
    fn what_the_page_and_its_scripts_name_is_there() {
        let named = |text: &str, before: &str| -> Vec<String> {
            let parts = text.split(before).skip(1);
            parts.filter_map(|part| part.split_once('"').map(|(name, _)| name.to_owned())).collect()
        };
        let mut names = named(PAGE, "src=\"");
        names.extend(named(PAGE, "rel=\"stylesheet\" href=\""));
        for (_, kind, content) in ASSETS {
            if kind == SCRIPT {
                names.extend(named(content, "from \"./"));
            }
        }
        assert!(names.len() > ASSETS.len(), "{names:?}");
        for name in &names {
            assert!(asset(name).is_some(), "{name}");
        }
        for (name, ..) in ASSETS {
            assert!(names.iter().any(|named| named == name), "nothing uses {name}");
        }
    }

    #[test]
    fn nothing_is_loaded_from_elsewhere_and_no_script_is_in_the_text() {
        for content in ASSETS.iter().map(|(_, _, content)| *content).chain([PAGE]) {
            assert!(!content.contains("https://") && !content.contains("//cdn"), "an address");
        }
        assert_eq!(PAGE.matches("<script").count(), PAGE.matches("<script type=\"module\" src=").count());
        assert!(!PAGE.contains(" style=") && !PAGE.contains(" onclick="));
    }

    #[test]
    fn nothing_moves_for_those_who_do_not_want_it() {
        for (name, _, style) in ASSETS.iter().filter(|(_, kind, _)| *kind == STYLE) {
            let moving = style.lines().filter(|line| line.contains("transition:") || line.contains("animation"));
            let still: Vec<&str> =
                moving.filter(|line| !line.contains("prefers-reduced-motion: no-preference")).collect();
            assert!(still.is_empty(), "{name}: {still:?}");
        }
    }

    #[test]
    fn every_card_is_a_scenario_within_the_limits_that_names_no_file() {
        let limits = Limits::default();
        for card in CARDS {
            let draft: Draft =
                serde_json::from_value(serde_json::json!({ "text": card.text })).expect("a draft is a text");
            let opened = Opened::without_file(card.name, "");
            let (checked, plan) = draft.checked(&opened, limits.plan, &Stop::default());
            let plan = plan.unwrap_or_else(|| panic!("{}: {checked:?}", card.name));
            assert!(plan.jobs().len() <= limits.runs, "{}", card.name);
            assert!(card.question.ends_with('?') && !card.hint.ends_with('.'), "{}", card.name);
        }
    }

    #[test]
    fn every_card_has_a_network_and_every_publication_a_card() {
        for card in CARDS {
            let picture = &card_pictures()[card.name];
            assert!(picture["links"].as_array().is_some_and(|links| !links.is_empty()), "{}: {picture}", card.name);
        }
        for paper in ["lugowski2017", "lima2017", "leitner2019", "multiflow2016", "red2018"] {
            assert!(CARDS.iter().any(|card| card.name == paper), "{paper}");
        }
    }

    #[test]
    fn the_hints_name_keys_that_their_scenarios_have() {
        let keys = ["links.", "flows.", "routing."];
        for card in CARDS.iter().filter(|card| keys.iter().any(|key| card.hint.starts_with(key))) {
            let path = card.hint.split(':').next().unwrap_or_default();
            let document = Document::parse(Path::new("card.toml"), card.text.to_owned()).expect("TOML");
            assert!(document.leaves().iter().any(|leaf| leaf.path == path), "{}: {path}", card.name);
        }
    }
}
