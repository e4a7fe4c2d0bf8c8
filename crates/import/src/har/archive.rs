//! The entries of an archive: what it says of each request.

use serde::Deserialize;
use subflow_quantity::Duration;
use subflow_scenario::seconds_of_date;

use crate::ImportError;
use crate::network::counted;

#[derive(Deserialize)]
pub(super) struct Archive {
    pub(super) log: Log,
}

#[derive(Deserialize)]
pub(super) struct Log {
    #[serde(default)]
    pub(super) pages: Vec<PageEntry>,
    pub(super) entries: Vec<Entry>,
}

#[derive(Deserialize)]
pub(super) struct PageEntry {
    #[serde(default)]
    pub(super) title: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entry {
    pub(super) started_date_time: String,
    /// Firefox writes none in some versions.
    pub(super) time: Option<f64>,
    pub(super) request: Message,
    pub(super) response: Message,
    pub(super) timings: Timings,
    pub(super) connection: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Message {
    pub(super) method: String,
    pub(super) url: String,
    pub(super) status: f64,
    pub(super) http_version: String,
    pub(super) headers: Vec<Header>,
    pub(super) headers_size: Option<f64>,
    pub(super) body_size: Option<f64>,
    pub(super) content: Content,
    /// The bytes on the connection, an extension of Chromium.
    #[serde(rename = "_transferSize")]
    pub(super) transfer_size: Option<f64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Content {
    pub(super) size: Option<f64>,
}

#[derive(Deserialize)]
pub(super) struct Header {
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) value: String,
}

/// In milliseconds; -1 where it does not apply.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Timings {
    pub(super) blocked: Option<f64>,
    pub(super) dns: Option<f64>,
    pub(super) connect: Option<f64>,
    pub(super) ssl: Option<f64>,
    pub(super) send: Option<f64>,
    pub(super) wait: Option<f64>,
    pub(super) receive: Option<f64>,
}

impl Timings {
    /// The time of the request: `ssl` is a part of `connect`.
    fn sum(&self) -> f64 {
        [self.blocked, self.dns, self.connect, self.send, self.wait, self.receive].map(positive).iter().sum()
    }
}

/// A request with its times in seconds.
pub(super) struct Seen<'a> {
    pub(super) entry: &'a Entry,
    pub(super) host: &'a str,
    /// What the archive calls its connection.
    pub(super) connection: Option<&'a str>,
    pub(super) begin: f64,
    /// When it could be sent, or its connection opened.
    pub(super) due: f64,
    pub(super) end: f64,
}

/// A scenario has a flow or an exchange for each; page loads have hundreds.
pub(super) const MOST_REQUESTS: usize = 10_000;

/// The requests that went over the network, in the order of their times.
pub(super) fn seen<'a>(entries: &'a [Entry], notes: &mut Vec<String>) -> Result<Vec<Seen<'a>>, ImportError> {
    let mut seen = Vec::new();
    for (number, entry) in entries.iter().enumerate() {
        let begin = seconds_of_date(&entry.started_date_time).ok_or_else(|| {
            let found = &entry.started_date_time;
            ImportError::damaged(format!("entry {}: startedDateTime: found {found:?}, expected a date", number + 1))
        })?;
        let Some(host) = host(&entry.request.url).filter(|_| entry.response.status >= 100.0 && entry.was_sent()) else {
            continue;
        };
        let due = begin + (positive(entry.timings.blocked) + positive(entry.timings.dns)) / 1e3;
        let end = begin + positive(Some(entry.time.unwrap_or_else(|| entry.timings.sum()))) / 1e3;
        // Firefox writes the port of the server there, the same for all connections.
        let connection = entry.connection.as_deref().filter(|name| *name != port(&entry.request.url, host));
        seen.push(Seen { entry, host, connection, begin, due: due.min(end), end });
    }
    if seen.is_empty() {
        return Err(ImportError::new("the archive has no request that was answered", "record the page load again"));
    }
    if seen.len() > MOST_REQUESTS {
        return Err(ImportError::new(
            format!("the archive has {} requests, expected at most {MOST_REQUESTS}", seen.len()),
            "save the load of one page in an archive of its own",
        ));
    }
    if seen.len() < entries.len() {
        let left_out = entries.len() - seen.len();
        notes.push(format!("{} from a cache, blocked or not of HTTP: left out", counted(left_out, "request")));
    }
    seen.sort_by(|a, b| a.begin.total_cmp(&b.begin));
    Ok(seen)
}

impl Entry {
    pub(super) fn version(&self) -> String {
        let versions = [&self.response.http_version, &self.request.http_version];
        versions.into_iter().find(|version| !version.is_empty()).map(|it| it.to_lowercase()).unwrap_or_default()
    }

    /// Whether several requests may be under way on its connection.
    pub(super) fn is_multiplexed(&self) -> bool {
        let version = self.version();
        ["h2", "h3", "http/2", "http/3"].iter().any(|start| version.starts_with(start))
    }

    /// Whether it took any time on the network: what a cache answers has no size there.
    pub(super) fn was_sent(&self) -> bool {
        self.response.transfer_size != Some(0.0) && self.request.method != "CONNECT"
    }
}

impl Message {
    /// Its bytes with headers, as far as the archive knows them.
    pub(super) fn size(&self) -> Option<u64> {
        let known = |size: Option<f64>| size.filter(|size| *size >= 0.0);
        if let Some(transferred) = known(self.transfer_size).filter(|size| *size > 0.0) {
            return Some(transferred as u64);
        }
        // A line, and `name: value` with a line end for each header.
        let written: usize = self.headers.iter().map(|header| header.name.len() + header.value.len() + 4).sum();
        let line = self.method.len() + self.url.len() + "HTTP/1.1 200".len();
        let headers = known(self.headers_size).or_else(|| (written > 0).then(|| (written + line) as f64));
        let body = known(self.body_size).or(known(self.content.size));
        match headers.unwrap_or(0.0) + body.unwrap_or(0.0) {
            0.0 => None,
            size => Some((size as u64).clamp(1, 1 << 40)),
        }
    }
}

/// The port of a server: that of its address, else that of the scheme.
pub(super) fn port<'a>(url: &str, host: &'a str) -> &'a str {
    match host.rsplit_once(':') {
        // The last colon of `[::1]` is within the address.
        Some((_, port)) if !port.is_empty() && !port.ends_with(']') => port,
        _ if url.starts_with("https:") => "443",
        _ => "80",
    }
}

/// The host and port of an address of HTTP.
pub(super) fn host(url: &str) -> Option<&str> {
    let rest = ["https://", "http://"].iter().find_map(|scheme| url.strip_prefix(scheme))?;
    let host = rest.split(['/', '?', '#']).next()?.rsplit('@').next()?;
    (!host.is_empty()).then_some(host)
}

pub(super) fn positive(ms: Option<f64>) -> f64 {
    ms.filter(|ms| (0.0..=1e9).contains(ms)).unwrap_or(0.0)
}

pub(super) fn seconds(value: f64) -> Duration {
    // Times in archives have microseconds at most; what differs by less is rounding.
    Duration::from_micros((value.max(0.0) * 1e6).round() as u64)
}
