//! A server of ours on a free port, and requests to it as bytes: a client library would not send what hostile pages do.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;
use subflow_lab::Stop;
use subflow_serve::{Limits, Server, Source};

/// A server; it ends with this value.
pub(crate) struct Served {
    stop: Stop,
    thread: Option<JoinHandle<()>>,
    address: String,
}

/// An answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Lines of headers, in lower case up to the colon.
    pub(crate) headers: Vec<String>,
    pub(crate) body: String,
}

impl Served {
    pub(crate) fn start(source: Source, limits: Limits) -> Self {
        let server = Server::bind(0, source, limits).expect("a free port");
        let (stop, address) = (Stop::default(), server.address());
        let asked = stop.clone();
        let thread = std::thread::spawn(move || server.run(&asked).expect("it runs"));
        Self { stop, thread: Some(thread), address }
    }

    /// Host and port.
    pub(crate) fn host(&self) -> &str {
        self.address.trim_start_matches("http://").split('/').next().expect("a host")
    }

    /// The path of something below the token.
    pub(crate) fn path(&self, rest: &str) -> String {
        let token = self.address.trim_end_matches('/').rsplit('/').next().expect("a token");
        format!("/{token}/{rest}")
    }

    /// Sends a request as it is, and reads the answer up to its end.
    pub(crate) fn raw(&self, request: &str) -> Answer {
        let mut stream = self.connect(request);
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("an answer");
        Answer::of(&bytes)
    }

    /// Sends a request and leaves the answer in the stream.
    pub(crate) fn connect(&self, request: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.host()).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a timeout");
        stream.write_all(request.as_bytes()).expect("sent");
        stream
    }

    pub(crate) fn get(&self, rest: &str) -> Answer {
        self.raw(&format!("GET {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.path(rest), self.host()))
    }

    /// The bytes of a request in JSON, as the page sends it.
    pub(crate) fn request(&self, rest: &str, body: &str) -> String {
        format!(
            "POST {} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nSec-Fetch-Site: same-origin\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.path(rest),
            body.len(),
            host = self.host(),
        )
    }

    pub(crate) fn post(&self, rest: &str, body: &Value) -> Answer {
        self.raw(&self.request(rest, &body.to_string()))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.request();
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the server has not panicked");
        }
    }
}

impl Answer {
    fn of(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).expect("a status");
        let headers: Vec<String> = lines
            .map(|line| {
                line.split_once(':').map_or_else(String::new, |(name, of)| format!("{}:{of}", name.to_lowercase()))
            })
            .collect();
        let is_chunked = headers.iter().any(|line| line == "transfer-encoding: chunked");
        let body = if is_chunked { unchunked(body) } else { body.to_owned() };
        Self { status, headers, body }
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        let line = self.headers.iter().find_map(|line| line.strip_prefix(&format!("{name}: ")));
        line.unwrap_or_default()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// The lines of an answer in lines of JSON.
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.body.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }
}

/// The content of chunks, whose sizes count bytes.
fn unchunked(body: &str) -> String {
    let (mut rest, mut content) = (body.as_bytes(), Vec::new());
    while let Some(at) = rest.windows(2).position(|pair| pair == b"\r\n") {
        let size = std::str::from_utf8(&rest[..at]).ok().and_then(|hex| usize::from_str_radix(hex, 16).ok());
        let size = size.expect("a size");
        if size == 0 {
            break;
        }
        content.extend_from_slice(&rest[at + 2..at + 2 + size]);
        rest = &rest[at + 2 + size + 2..];
    }
    String::from_utf8(content).expect("text")
}
