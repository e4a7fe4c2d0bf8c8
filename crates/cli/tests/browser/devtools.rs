//! The few words of the Chrome DevTools Protocol that the tests need: commands and events as JSON over a WebSocket.

use std::net::TcpStream;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};
use tungstenite::stream::MaybeTlsStream;
use tungstenite::{Message, WebSocket};

/// A connection to a browser.
pub(crate) struct Socket(WebSocket<MaybeTlsStream<TcpStream>>);

impl Socket {
    pub(crate) fn connect(address: &str) -> Self {
        let (socket, _) = tungstenite::connect(address).expect("Chromium listens");
        if let MaybeTlsStream::Plain(stream) = socket.get_ref() {
            stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        }
        Self(socket)
    }

    fn send(&mut self, message: &Value) {
        self.0.send(Message::text(message.to_string())).expect("Chromium takes commands");
    }

    fn receive(&mut self) -> Value {
        loop {
            if let Message::Text(text) = self.0.read().expect("Chromium answers within a minute") {
                return serde_json::from_str(&text).expect("JSON");
            }
        }
    }
}

/// A page in a tab of its own.
pub(crate) struct Page {
    socket: Socket,
    session: Option<String>,
    sent: u64,
    /// The page's own address: a file, or a folder of a server.
    address: String,
    complaints: Vec<String>,
}

impl Page {
    /// Opens `url` and waits until it has loaded.
    pub(crate) fn open(socket: Socket, url: &str) -> Self {
        let address = url.split('#').next().unwrap_or(url).to_owned();
        let mut page = Self { socket, session: None, sent: 0, address, complaints: Vec::new() };
        let target = page.call("Target.createTarget", json!({ "url": "about:blank" }))["targetId"].clone();
        let attached = page.call("Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        page.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            page.call(&format!("{domain}.enable"), json!({}));
        }
        page.look(1280, "light");
        page.call("Page.navigate", json!({ "url": url }));
        for _ in 0..600 {
            let loaded = "document.readyState === 'complete' && location.protocol !== 'about:' \
                          && performance.getEntriesByType('navigation')[0].loadEventEnd > 0";
            if page.evaluate(loaded) == true {
                return page;
            }
            sleep(Duration::from_millis(50));
        }
        panic!("{url} does not load");
    }

    /// What the console, or anything that was fetched from elsewhere, has to complain about.
    pub(crate) fn complaints(&mut self) -> &[String] {
        // What was said before the answer to this has been read with it.
        self.evaluate("0");
        &self.complaints
    }

    /// The value of an expression.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let answer = self
            .call("Runtime.evaluate", json!({ "expression": expression, "returnByValue": true, "awaitPromise": true }));
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Scrolls an element into view and says where it is: left, top, width, height.
    pub(crate) fn rectangle(&mut self, selector: &str) -> (f64, f64, f64, f64) {
        let rectangle = self.evaluate(&format!(
            "{{ const e = document.querySelector({selector:?}); e.scrollIntoView({{ block: 'center' }}); \
             const r = e.getBoundingClientRect(); [r.left, r.top, r.width, r.height] }}"
        ));
        let side = |index: usize| rectangle[index].as_f64().expect("a number");
        (side(0), side(1), side(2), side(3))
    }

    /// Presses the mouse at one place and lets go at another one.
    pub(crate) fn drag(&mut self, from: (f64, f64), to: (f64, f64)) {
        self.mouse("mouseMoved", from, 0);
        self.mouse("mousePressed", from, 1);
        for share in [0.3, 0.7, 1.0] {
            self.mouse("mouseMoved", (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share), 1);
        }
        self.mouse("mouseReleased", to, 0);
        self.mouse("mouseMoved", to, 0);
    }

    fn mouse(&mut self, kind: &str, (x, y): (f64, f64), buttons: u32) {
        let button = if kind == "mouseMoved" && buttons == 0 { "none" } else { "left" };
        let parameters = json!({ "type": kind, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": 1 });
        self.call("Input.dispatchMouseEvent", parameters);
    }

    /// Presses a key.
    pub(crate) fn press(&mut self, key: &str, text: &str) {
        self.call("Input.dispatchKeyEvent", json!({ "type": "keyDown", "key": key, "text": text }));
        self.call("Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": key }));
    }

    /// Presses a key with what it does in a browser: Tab goes on, Enter activates, arrows move. `modifiers` has 2 for Control.
    pub(crate) fn key(&mut self, key: &str, modifiers: u32) {
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            "Escape" => 27,
            "ArrowLeft" => 37,
            "ArrowRight" => 39,
            _ => panic!("the key {key} has no code here"),
        };
        let text = if key == "Enter" { "\r" } else { "" };
        let parameters =
            json!({ "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text, "modifiers": modifiers });
        for kind in ["keyDown", "keyUp"] {
            let mut parameters = parameters.clone();
            parameters["type"] = json!(kind);
            self.call("Input.dispatchKeyEvent", parameters);
        }
    }

    /// Types a text in the place of what is selected.
    pub(crate) fn insert(&mut self, text: &str) {
        self.call("Input.insertText", json!({ "text": text }));
    }

    /// Chooses a file in a field for files.
    pub(crate) fn pick(&mut self, selector: &str, file: &Path) {
        let root = self.call("DOM.getDocument", json!({}))["root"]["nodeId"].clone();
        let found = self.call("DOM.querySelector", json!({ "nodeId": root, "selector": selector }))["nodeId"].clone();
        self.call("DOM.setFileInputFiles", json!({ "nodeId": found, "files": [file] }));
    }

    /// Takes a width in pixels, and `light` or `dark`.
    pub(crate) fn look(&mut self, width: u32, scheme: &str) {
        let phone = width < 600;
        let metrics = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": phone });
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    /// Takes a width in pixels and the style of paper.
    pub(crate) fn look_as_printed(&mut self, width: u32) {
        self.look(width, "light");
        self.call("Emulation.setEmulatedMedia", json!({ "media": "print" }));
    }

    /// A picture of the whole page, as a PNG file.
    pub(crate) fn screenshot(&mut self, file: &Path) -> Vec<u8> {
        let answer = self.call("Page.captureScreenshot", json!({ "format": "png", "captureBeyondViewport": true }));
        save(&answer, file)
    }

    /// The page as it is printed, as a PDF file.
    pub(crate) fn print(&mut self, file: &Path) -> Vec<u8> {
        let answer = self.call("Page.printToPDF", json!({ "paperWidth": 8.27, "paperHeight": 11.69 }));
        save(&answer, file)
    }

    /// Sends a command and waits for its answer.
    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.sent += 1;
        let mut message = json!({ "id": self.sent, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.socket.send(&message);
        loop {
            let mut message = self.socket.receive();
            if message["id"] == self.sent {
                assert!(message.get("error").is_none(), "{method}: {}", message["error"]);
                return message["result"].take();
            }
            self.note(&message);
        }
    }

    fn note(&mut self, event: &Value) {
        let parameters = &event["params"];
        let complaint = match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => Some(parameters["exceptionDetails"].to_string()),
            Some("Runtime.consoleAPICalled") => Some(parameters["args"].to_string()),
            Some("Log.entryAdded") => Some(parameters["entry"].to_string()),
            Some("Network.requestWillBeSent") => {
                let url = parameters["request"]["url"].as_str().unwrap_or_default();
                let own = url.starts_with(&self.address)
                    || ["data:", "blob:", "about:blank"].iter().any(|of| url.starts_with(of));
                (!own).then(|| format!("fetches {url}"))
            }
            _ => None,
        };
        self.complaints.extend(complaint);
    }
}

fn save(answer: &Value, file: &Path) -> Vec<u8> {
    let data = answer["data"].as_str().expect("data in base 64");
    let bytes = data_encoding::BASE64.decode(data.as_bytes()).expect("base 64");
    std::fs::write(file, &bytes).expect("written");
    bytes
}
