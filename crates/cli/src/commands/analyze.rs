//! `subflow analyze`: what captures show, as tables, JSON or a report.

use std::io::BufWriter;
use std::path::Path;

use subflow_analyze::{
    Analysis, AnonymisationKey, Anonymised, Capture, CaptureError, Unread, analyze as read, analyze_hosts,
    anonymise as write_anonymised, bottlenecks, connections, rate_trace, replay, subflows, totals,
};
use subflow_quantity::Packets;
use subflow_report::output::Folder;

use super::new::write_new;
use crate::arguments::Analyze;
use crate::arguments::files::{AnalyzeFormat, CaptureTable};
use crate::failure::Failure;
use crate::output::{figure_format, print, say};

pub(crate) fn analyze(arguments: &Analyze) -> Result<(), Failure> {
    refuse_standard_streams(arguments)?;
    if let Some(out) = &arguments.anonymise {
        return anonymise(arguments, out);
    }
    let folder = arguments.out.as_ref().map(|out| Folder::for_observation(out, arguments.force)).transpose()?;
    let figures = figure_format(arguments.figures, folder.as_ref())?;
    let analysis = match arguments.hosts() {
        Some(hosts) => analyze_hosts(&hosts, arguments.clocks.into())?,
        None => read(&arguments.files, arguments.clocks.into())?,
    };
    require_packets(&analysis)?;
    if let Some(scenario) = &arguments.scenario {
        write_scenario(&analysis, scenario)?;
    }
    if let Some(trace) = &arguments.trace {
        write_trace(arguments, trace)?;
    }
    if let Some(folder) = &folder {
        folder.write_observation(&analysis.observation(arguments.command()), figures)?;
    }
    print(&match arguments.format {
        AnalyzeFormat::Text => analysis.to_text(),
        AnalyzeFormat::Json => {
            serde_json::to_string_pretty(&analysis.to_json()).expect("an analysis is plain data") + "\n"
        }
        AnalyzeFormat::Csv => match arguments.table {
            CaptureTable::Connections => connections(&analysis.connections).to_csv(),
            CaptureTable::Subflows => subflows(&analysis.subflows).to_csv(),
            CaptureTable::Bottlenecks => bottlenecks(&analysis.bottlenecks).to_csv(),
            CaptureTable::Totals => totals(&analysis.totals).to_csv(),
        },
    })?;
    if arguments.format == AnalyzeFormat::Csv {
        analysis.notes().iter().for_each(|note| say(note));
    }
    if let Some(folder) = folder {
        say(&format!("the report is in {}", folder.path().display()));
    }
    Ok(())
}

/// Standard input cannot be read twice, and an anonymised capture is a file.
fn refuse_standard_streams(arguments: &Analyze) -> Result<(), Failure> {
    let is_standard = |path: &Path| path == Path::new("-");
    if arguments.anonymise.as_deref().is_some_and(is_standard) {
        let message = "--anonymise writes a file, and cannot write to standard output";
        return Err(Failure::bad_input(message, "name a file that does not exist"));
    }
    if arguments.trace.is_some() && arguments.all_files().iter().any(|file| is_standard(file.as_path())) {
        let message = "--trace reads the captures twice, and standard input can be read only once";
        return Err(Failure::bad_input(message, "write the capture to a file, and give that"));
    }
    Ok(())
}

/// Writes a scenario that replays the connections, and says what was inferred.
fn write_scenario(analysis: &Analysis, out: &Path) -> Result<(), Failure> {
    let shown = out.display();
    let replay = replay(analysis).map_err(|error| {
        Failure::bad_input(format!("--scenario: {error}"), "capture the connections from their first packet on")
    })?;
    write_new(out, &replay.text)?;
    replay.notes.iter().for_each(|note| say(&format!("{shown}: {note}")));
    say(&format!("{shown} is written; `subflow run {shown}` replays the connections"));
    Ok(())
}

/// Writes the rate of a sender's packets over time.
fn write_trace(arguments: &Analyze, out: &Path) -> Result<(), Failure> {
    let trace = rate_trace(&arguments.all_files(), arguments.trace_from)?.ok_or_else(|| {
        Failure::bad_input(
            "--trace: the captures have no packet of this sender",
            "name another address with --trace-from",
        )
    })?;
    write_new(out, &trace.to_csv())?;
    if trace.cut > 0 {
        let (shown, cut) = (out.display(), trace.cut);
        say(&format!("{shown}: a trace is a day at most; {cut} tenths of a second after it are left out"));
    }
    say(&format!("{} is written: packets of {}; `trace` of an event takes it", out.display(), trace.from));
    Ok(())
}

/// Writes the only file anonymised.
fn anonymise(arguments: &Analyze, out: &Path) -> Result<(), Failure> {
    let [file] = arguments.files.as_slice() else {
        let how = "anonymise one file at a time, all of them with the same --secret FILE";
        return Err(Failure::bad_input("--anonymise requires a single capture".to_owned(), how));
    };
    let key = match &arguments.secret {
        Some(path) => {
            let cannot = |error| format!("cannot read the secret {}: {error}", path.display());
            let secret = std::fs::read(path).map_err(|error| Failure::bad_input(cannot(error), "name a file"))?;
            AnonymisationKey::from_secret(&secret)
        }
        None => AnonymisationKey::random()
            .map_err(|error| Failure::bad_input(format!("no random numbers: {error}"), "give a --secret FILE"))?,
    };
    let mut capture = Capture::open(file)?;
    let cannot_write = |error| {
        let how = "name a file that does not exist, in a folder that does";
        Failure::bad_input(format!("cannot write {}: {error}", out.display()), how)
    };
    let created = std::fs::File::create_new(out).map_err(cannot_write)?;
    let written = write_anonymised(&mut capture, &key, BufWriter::new(created)).map_err(cannot_write)?;
    if let Some(damage) = capture.damage() {
        say(&format!("{} is damaged at byte {}: {}", file.display(), damage.offset, damage.reason));
    }
    let Anonymised { written, left_out } = written;
    say(&format!("{} in {}, {left_out} left out", Packets::new(written), out.display()));
    Ok(())
}

/// Nothing can be said of a file that is damaged before its first packet, or whose link types are not read.
fn require_packets(analysis: &Analysis) -> Result<(), Failure> {
    let foreign = analysis.unread.iter().filter_map(|(unread, packets)| match unread {
        Unread::LinkType(number) => Some((*number, *packets)),
        _ => None,
    });
    let packets: u64 = analysis.files.iter().map(|file| file.packets).sum();
    let is_all = foreign.clone().map(|(_, packets)| packets).sum::<u64>() == packets;
    if let Some((number, _)) = foreign.clone().next().filter(|_| is_all) {
        return Err(Failure::bad_input(
            format!("none of {packets} packets could be read: link type {number} is not supported"),
            "capture on an interface of Ethernet, raw IP, Linux cooked, loopback, PPP, Cisco's HDLC or NFLOG",
        ));
    }
    if analysis.files.iter().any(|file| file.packets > 0) {
        return Ok(());
    }
    match analysis.files.iter().find_map(|file| Some((file, file.damage.as_ref()?))) {
        Some((file, damage)) => Err(Failure::bad_input(
            format!("{}: no packet could be read; at byte {}, {}", file.path.display(), damage.offset, damage.reason),
            "copy the file again, or repair it with `pcapfix`",
        )),
        None => Ok(()),
    }
}

impl From<CaptureError> for Failure {
    fn from(error: CaptureError) -> Self {
        let message = error.to_string();
        match error {
            CaptureError::Io { .. } => Self::bad_input(message, "name files that exist and can be read"),
            CaptureError::Foreign { help, .. } => Self::bad_input(message, help),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Only {
        #[command(flatten)]
        analyze: Analyze,
    }

    fn parsed(arguments: &[&str]) -> Result<Analyze, clap::Error> {
        Only::try_parse_from([&["analyze"][..], arguments].concat()).map(|only| only.analyze)
    }

    #[test]
    fn an_anonymised_capture_comes_alone() {
        for other in ["--scenario", "--trace", "--out"] {
            assert!(parsed(&["a.pcap", "--anonymise", "b.pcap", other, "c"]).is_err(), "{other}");
        }
    }

    #[test]
    fn standard_streams_are_refused_where_they_cannot_be() {
        let refused = |arguments: &[&str]| refuse_standard_streams(&parsed(arguments).expect("valid")).is_err();
        assert!(refused(&["a.pcap", "--anonymise", "-"]));
        assert!(refused(&["a.pcap", "-", "--trace", "c.csv"]));
        assert!(!refused(&["-", "--anonymise", "b.pcap"]) && !refused(&["a.pcap", "--trace", "c.csv"]));
    }

    #[test]
    fn captures_of_a_host_are_named_together() {
        let analyze = parsed(&["server.pcap", "--host", "wifi.pcap,lte.pcap"]).expect("valid");
        let hosts = [vec!["wifi.pcap".into(), "lte.pcap".into()], vec!["server.pcap".into()]];
        assert_eq!(analyze.hosts(), Some(hosts.to_vec()));
        assert_eq!(analyze.command(), "subflow analyze server.pcap --host wifi.pcap,lte.pcap");
        assert_eq!(parsed(&["a.pcap", "b.pcap"]).expect("valid").hosts(), None);
        assert!(parsed(&["--host", "a.pcap,"]).is_err() && parsed(&[]).is_err());
    }
}
