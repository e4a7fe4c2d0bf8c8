//! HTTP archives (HAR 1.2), which browsers save of a page load.
//!
//! The archive has times, sizes and connections, and not what waits for what. That is inferred as replays of page loads
//! do (Wang and others, WProf, 2013, have the dependencies from within the browser): a request waits for the response that
//! was complete last before it was made, and on a connection of HTTP/1 also for the response before it.

mod archive;

use std::collections::BTreeMap;

use subflow_quantity::Duration;

use crate::ImportError;
use crate::network::counted;
use archive::{Archive, Seen, positive, seconds, seen};

/// A page load.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Page {
    /// What the archive calls the page.
    pub(crate) title: String,
    /// In the order of their first requests.
    pub(crate) connections: Vec<Connection>,
    /// How long it took when it was recorded.
    pub(crate) duration: Duration,
    pub(crate) notes: Vec<String>,
}

/// A connection and its requests.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Connection {
    pub(crate) host: String,
    pub(crate) is_quic: bool,
    /// The time of its handshake, without that of TLS.
    pub(crate) round_trip: Option<Duration>,
    pub(crate) requests: Vec<Request>,
}

/// A request and its response.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Request {
    pub(crate) request: u64,
    pub(crate) response: u64,
    /// From the request to the first byte of the response: a round trip and the time of the server.
    pub(crate) first_byte: Duration,
    /// The requests that must be complete: places of connections and of requests in them.
    pub(crate) after: Vec<(usize, usize)>,
    /// The time from there, or from the beginning of the page, to this request.
    pub(crate) pause: Duration,
}

pub(crate) fn read(text: &str) -> Result<Page, ImportError> {
    let archive: Archive = serde_json::from_str(text)
        .map_err(|error| ImportError::damaged(format!("not an HTTP archive (HAR 1.2): {error}")))?;
    let mut page = Page::default();
    let seen = seen(&archive.log.entries, &mut page.notes)?;
    let title = archive.log.pages.first().map(|page| page.title.trim()).filter(|title| !title.is_empty());
    page.title = title.unwrap_or(&seen[0].entry.request.url).to_owned();
    if archive.log.pages.len() > 1 {
        page.notes
            .push(format!("{} in the archive: loaded one after the other", counted(archive.log.pages.len(), "page")));
    }
    let origin = seen[0].begin;
    page.duration = seconds(seen.iter().map(|it| it.end).fold(origin, f64::max) - origin);
    let mut places: Vec<(usize, usize)> = Vec::new();
    let mut slots: Vec<Slot<'_>> = Vec::new();
    // The connections of a name, and those without a name to a host.
    let mut groups: BTreeMap<(Option<&str>, &str), Vec<usize>> = BTreeMap::new();
    let mut by_end: Vec<usize> = (0..seen.len()).collect();
    by_end.sort_by(|a, b| seen[*a].end.total_cmp(&seen[*b].end));
    let (mut without_size, mut secured) = (0, 0);
    for (number, it) in seen.iter().enumerate() {
        let group = groups.entry((it.connection, it.connection.map_or(it.host, |_| ""))).or_default();
        let connection = slot(&slots, group, it).unwrap_or_else(|| {
            group.push(slots.len());
            slots.push(Slot { host: it.host, last: None });
            page.connections.push(Connection {
                host: it.host.to_owned(),
                is_quic: it.entry.version().starts_with("h3"),
                round_trip: None,
                requests: Vec::new(),
            });
            slots.len() - 1
        });
        let timings = &it.entry.timings;
        let secure = positive(timings.ssl);
        secured += usize::from(secure > 0.0);
        let shake = positive(timings.connect) - secure;
        if shake > 0.0 && page.connections[connection].round_trip.is_none() {
            page.connections[connection].round_trip = Some(seconds(shake / 1e3));
        }
        let mut after = Vec::new();
        let complete = by_end.partition_point(|&other| seen[other].end <= it.begin);
        after.extend(by_end[..complete].iter().rev().copied().find(|&other| other < number));
        after.extend(slots[connection].last.filter(|last| !it.entry.is_multiplexed() && !after.contains(last)));
        slots[connection].last = Some(number);
        let since = after.iter().map(|&other| seen[other].end).fold(origin, f64::max);
        let request = it.entry.request.size();
        let response = it.entry.response.size();
        without_size += usize::from(request.is_none()) + usize::from(response.is_none());
        places.push((connection, page.connections[connection].requests.len()));
        page.connections[connection].requests.push(Request {
            request: request.unwrap_or(TYPICAL_REQUEST),
            response: response.unwrap_or(TYPICAL_REQUEST),
            first_byte: seconds(positive(timings.wait) / 1e3),
            after: after.into_iter().map(|other| places[other]).collect(),
            pause: seconds(it.due - since),
        });
    }
    if without_size > 0 {
        page.notes.push(format!("{} without a size: {TYPICAL_REQUEST} bytes", counted(without_size, "message")));
    }
    if secured > 0 {
        page.notes
            .push(format!("{} of TLS: left out, a connection takes one round trip", counted(secured, "handshake")));
    }
    Ok(page)
}

/// The size of a message of which the archive says nothing.
const TYPICAL_REQUEST: u64 = 500;

/// A connection so far: its host, and the last request.
struct Slot<'a> {
    host: &'a str,
    last: Option<usize>,
}

/// The place of the connection that carries a request: the one that the archive names, over HTTP/1 to the same host; else
/// of HTTP/2 and later the one to its host, of HTTP/1 one to its host whose last response is complete. `group` has the
/// places of those with that name, or without a name to that host.
fn slot(slots: &[Slot<'_>], group: &[usize], it: &Seen<'_>) -> Option<usize> {
    let is_multiplexed = it.entry.is_multiplexed();
    let opens = positive(it.entry.timings.connect) > 0.0;
    let mut candidates = group.iter().copied();
    match it.connection {
        Some(_) => candidates.find(|&at| is_multiplexed || slots[at].host == it.host),
        None if is_multiplexed => candidates.next(),
        // A request with a handshake of its own opened a connection.
        None if opens => None,
        None => candidates.min_by_key(|&at| slots[at].last),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::archive::{MOST_REQUESTS, port};
    use super::*;

    /// A document, two styles over the same connection of HTTP/1 and another, and an image from another host over HTTP/2.
    pub(crate) const HAR: &str = r#"{"log": {"version": "1.2", "pages": [{"title": "A page"}], "entries": [
 {"startedDateTime": "2024-05-01T10:00:00.000Z", "time": 120, "connection": "1",
  "request": {"method": "GET", "url": "https://www.example.org/", "httpVersion": "HTTP/1.1", "headersSize": 400, "bodySize": 0},
  "response": {"status": 200, "httpVersion": "HTTP/1.1", "headersSize": 200, "bodySize": 9800, "content": {"size": 40000}},
  "timings": {"blocked": 0, "dns": 10, "connect": 40, "ssl": 20, "send": 0, "wait": 50, "receive": 20}},
 {"startedDateTime": "2024-05-01T10:00:00.125Z", "time": 60, "connection": "1",
  "request": {"method": "GET", "url": "https://www.example.org/a.css", "httpVersion": "HTTP/1.1", "headersSize": -1, "bodySize": 0},
  "response": {"status": 200, "httpVersion": "HTTP/1.1", "headersSize": -1, "bodySize": 5000, "content": {}},
  "timings": {"blocked": 1, "dns": -1, "connect": -1, "ssl": -1, "send": 0, "wait": 30, "receive": 29}},
 {"startedDateTime": "2024-05-01T10:00:00.130Z", "time": 80, "connection": "2",
  "request": {"method": "GET", "url": "https://img.example.net/b.png", "httpVersion": "h2", "headersSize": 100, "bodySize": 0},
  "response": {"status": 200, "httpVersion": "h2", "headersSize": -1, "bodySize": -1, "_transferSize": 70000, "content": {}},
  "timings": {"blocked": 0, "dns": 5, "connect": 15, "ssl": -1, "send": 0, "wait": 20, "receive": 40}},
 {"startedDateTime": "2024-05-01T10:00:00.300Z", "time": 0, "request": {"method": "GET", "url": "data:image/gif;base64,R0"},
  "response": {"status": 200}, "timings": {}}
]}}"#;

    #[test]
    fn requests_wait_for_what_was_complete_before_them() {
        let page = read(HAR).expect("it is an archive");
        let ms = Duration::from_millis;
        let [www, images] = &page.connections[..] else { panic!("{page:?}") };
        assert_eq!((www.host.as_str(), www.round_trip, www.requests.len()), ("www.example.org", Some(ms(20)), 2));
        assert_eq!((www.requests[0].request, www.requests[0].response, www.requests[0].pause), (400, 10_000, ms(10)));
        // The document was complete at 120 ms, the style is asked for at 126 ms, the image at 135 ms.
        assert_eq!((www.requests[1].after.clone(), www.requests[1].pause), (vec![(0, 0)], ms(6)));
        assert_eq!((images.requests[0].after.clone(), images.requests[0].pause), (vec![(0, 0)], ms(15)));
        assert_eq!((images.requests[0].response, images.round_trip), (70_000, Some(ms(15))));
        assert_eq!((www.requests[1].request, www.requests[1].response), (500, 5000), "{:?}", page.notes);
        assert_eq!((page.duration, page.title.as_str()), (ms(210), "A page"));
        assert_eq!(page.notes.len(), 3, "{:?}", page.notes);
    }

    #[test]
    fn without_names_of_connections_those_of_http_1_are_in_parallel_and_there_is_one_of_http_2() {
        let nameless = HAR.replace("\"connection\": \"1\",", "").replace("\"connection\": \"2\",", "");
        let page = read(&nameless).expect("it is an archive");
        assert_eq!(page.connections.iter().map(|it| it.requests.len()).collect::<Vec<_>>(), [2, 1]);
        let opened = nameless.replace("\"connect\": -1", "\"connect\": 30");
        let page = read(&opened).expect("it is an archive");
        assert_eq!(page.connections.iter().map(|it| it.requests.len()).collect::<Vec<_>>(), [1, 1, 1]);
        assert_eq!(page.connections[1].requests[0].after, [(0, 0)], "the style waits for the document all the same");
    }

    #[test]
    fn names_of_connections_are_those_of_a_host_over_http_1_and_no_ports() {
        let connections = |text: &str| {
            let page = read(text).expect("it is an archive");
            page.connections.iter().map(|it| it.requests.len()).collect::<Vec<_>>()
        };
        let shared = HAR.replace("\"connection\": \"2\"", "\"connection\": \"1\"");
        assert_eq!(connections(&shared), [3], "HTTP/2 shares a connection with another host");
        assert_eq!(connections(&shared.replace("\"h2\"", "\"HTTP/1.1\"")), [2, 1]);
        assert_eq!(connections(&shared.replace("\"connection\": \"1\"", "\"connection\": \"443\"")), [2, 1]);
        let ports = [
            ("https://a.org/", "a.org", "443"),
            ("http://a.org/", "a.org", "80"),
            ("https://a.org:8443/", "a.org:8443", "8443"),
            ("https://[::1]/", "[::1]", "443"),
            ("https://[::1]:99/", "[::1]:99", "99"),
        ];
        for (url, host, expected) in ports {
            assert_eq!(port(url, host), expected, "{url}");
        }
    }

    #[test]
    fn a_request_without_a_time_takes_that_of_its_parts() {
        let timeless = ["120", "60", "80"]
            .iter()
            .fold(HAR.to_owned(), |text, time| text.replace(&format!("\"time\": {time},"), "\"time\": null,"));
        assert!(timeless.matches("null").count() == 3);
        assert_eq!(read(&timeless).expect("it is an archive"), read(HAR).expect("it is an archive"));
    }

    #[test]
    fn there_are_at_most_so_many_requests() {
        let entry = r#"{"startedDateTime": "2024-05-01T10:00:00.000Z", "time": 5, "request": {"url": "http://a.org/"},
            "response": {"status": 200}, "timings": {"connect": 1}}"#;
        let archive = |count: usize| format!("{{\"log\": {{\"entries\": [{}]}}}}", vec![entry; count].join(","));
        assert_eq!(read(&archive(MOST_REQUESTS)).expect("it is an archive").connections.len(), MOST_REQUESTS);
        assert!(read(&archive(MOST_REQUESTS + 1)).expect_err("too many").message.contains("10001 requests"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let said = |text: &str| read(text).expect_err("damaged").message;
        assert!(said("{\"log\": {\"entries\": []}}").contains("no request"));
        assert!(said("{\"log\": {}}").contains("not an HTTP archive"));
        assert!(said(&HAR.replace("2024-05-01T10:00:00.125Z", "yesterday")).contains("entry 2"));
    }
}
