//! Who is answered. The page can run simulations on this machine, so other pages in the same browser, and other users
//! of the machine, must not reach it:
//!
//! - The first part of each path is a random token, which only the printed address has.
//! - `Host` must be loopback with our port: a page of another name that was resolved to loopback (DNS rebinding) has
//!   its own name there. So must a target that is a whole address, as for proxies, which counts more (RFC 9112, section
//!   3.2.2).
//! - `Origin`, where there is one, and `Sec-Fetch-Site` must be those of our page.
//! - Answers forbid frames of other pages, scripts and styles from elsewhere or in the text, and storing by caches.

use std::io;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use data_encoding::BASE64URL_NOPAD;
use rand_core::{OsRng, TryRngCore};
use subtle::ConstantTimeEq;

/// The random bytes of a token.
const TOKEN_BYTES: usize = 24;

/// What the page may load: its own files, and the frame with the report.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                           img-src 'self' data: blob:; frame-src 'self'; base-uri 'none'; form-action 'none'; \
                           frame-ancestors 'none'";

/// The token and the port.
#[derive(Debug)]
pub(crate) struct Access {
    token: String,
    port: u16,
}

impl Access {
    /// A new token, for a server at `port`.
    pub(crate) fn new(port: u16) -> io::Result<Self> {
        let mut bytes = [0; TOKEN_BYTES];
        OsRng.try_fill_bytes(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Self { token: BASE64URL_NOPAD.encode(&bytes), port })
    }

    /// The address of the page.
    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    /// The reason to refuse a request; `None` if it is answered.
    fn refusal(&self, method: &Method, target: &Uri, headers: &HeaderMap) -> Option<&'static str> {
        let authorities = [format!("127.0.0.1:{}", self.port), format!("localhost:{}", self.port)];
        let all = |name: HeaderName| headers.get_all(name).iter().map(|value| value.to_str().unwrap_or_default());
        let is_ours = |host: &str| authorities.iter().any(|known| known == host);
        let hosts: Vec<&str> = all(header::HOST).collect();
        let is_elsewhere = target.authority().is_some_and(|host| !is_ours(host.as_str()));
        if is_elsewhere || !matches!(hosts[..], [host] if is_ours(host)) {
            return Some("this is not the address that `subflow serve` printed");
        }
        let is_own_origin = |origin: &str| origin.strip_prefix("http://").is_some_and(is_ours);
        if !all(header::ORIGIN).all(is_own_origin) {
            return Some("pages of other origins are not answered");
        }
        let site = headers.get("sec-fetch-site").map_or("none", |site| site.to_str().unwrap_or_default());
        if !["none", "same-origin"].contains(&site) {
            return Some("requests of other pages are not answered");
        }
        if !self.is_token(target.path().split('/').nth(1).unwrap_or_default()) {
            return Some("open the whole address that `subflow serve` printed: it ends with a token");
        }
        let is_json = headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
        (method == Method::POST && !is_json).then_some("expected a request in application/json")
    }

    /// Compares in a time that does not depend on where they differ.
    fn is_token(&self, given: &str) -> bool {
        self.token.as_bytes().ct_eq(given.as_bytes()).into()
    }
}

/// Refuses what must not be answered, and adds headers to what is.
pub(crate) async fn guard(State(access): State<Arc<Access>>, request: Request, next: Next) -> Response {
    let refusal = access.refusal(request.method(), request.uri(), request.headers());
    let mut response = match refusal {
        // Who is refused does not keep its connection, of which there are so many only.
        Some(reason) => (StatusCode::FORBIDDEN, [(header::CONNECTION, "close")], format!("{reason}\n")).into_response(),
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(PAGE_POLICY));
    let always = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in always {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(method: Method, target: &str, headers: &[(HeaderName, &str)]) -> Option<&'static str> {
        let access = Access { token: "secret".to_owned(), port: 8000 };
        let value = |text: &str| HeaderValue::from_str(text).expect("a header");
        let headers = headers.iter().map(|(name, text)| (name.clone(), value(text))).collect();
        access.refusal(&method, &target.parse().expect("a target"), &headers)
    }

    #[test]
    fn tokens_are_long_and_differ() {
        let tokens = [Access::new(1), Access::new(1)].map(|access| access.expect("random numbers").token);
        assert!(tokens[0] != tokens[1] && tokens[0].len() == 32, "{tokens:?}");
    }

    #[test]
    fn the_page_and_its_requests_are_answered() {
        let host = (header::HOST, "127.0.0.1:8000");
        assert_eq!(refusal(Method::GET, "/secret/", std::slice::from_ref(&host)), None);
        let json = (header::CONTENT_TYPE, "application/json");
        let origin = (header::ORIGIN, "http://127.0.0.1:8000");
        let same = (HeaderName::from_static("sec-fetch-site"), "same-origin");
        assert_eq!(refusal(Method::POST, "/secret/run", &[host, json, origin, same]), None);
        assert_eq!(refusal(Method::GET, "/secret/", &[(header::HOST, "localhost:8000")]), None);
        assert_eq!(refusal(Method::GET, "http://127.0.0.1:8000/secret/", &[(header::HOST, "127.0.0.1:8000")]), None);
    }

    #[test]
    fn what_differs_in_one_thing_is_refused() {
        let host = || (header::HOST, "127.0.0.1:8000");
        let site = |site| (HeaderName::from_static("sec-fetch-site"), site);
        let refused: [(&str, Vec<(HeaderName, &str)>); 14] = [
            ("/secret/", vec![]),
            ("/secret/", vec![(header::HOST, "evil.example:8000")]),
            ("/secret/", vec![(header::HOST, "127.0.0.1:8001")]),
            ("/secret/", vec![(header::HOST, "127.0.0.1")]),
            ("/secret/", vec![host(), (header::HOST, "evil.example:8000")]),
            ("/secret/", vec![host(), (header::ORIGIN, "http://evil.example")]),
            ("/secret/", vec![host(), (header::ORIGIN, "null")]),
            ("/secret/", vec![host(), (header::ORIGIN, "https://127.0.0.1:8000")]),
            ("/secret/", vec![host(), site("cross-site")]),
            ("/secret/", vec![host(), site("same-site")]),
            ("http://evil.example/secret/", vec![host()]),
            ("http://127.0.0.1:8001/secret/", vec![host()]),
            ("/", vec![host()]),
            ("/secre/", vec![host()]),
        ];
        for (path, headers) in refused {
            assert!(refusal(Method::GET, path, &headers).is_some(), "{path} {headers:?}");
        }
        assert!(refusal(Method::POST, "/secret/run", &[host(), (header::CONTENT_TYPE, "text/plain")]).is_some());
    }
}
