//! Requests in JSON, and answers of each kind: for scripts of the page, for its frame, and files that are saved.

use axum::body::{Body, Bytes};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What a report in a frame may do: run its own script and open the dialog to print, without the rights of our origin.
/// The text of a scenario is in it, and no mistake in it should reach the page.
const FRAME_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; \
                            base-uri 'none'; form-action 'none'; frame-ancestors 'self'; \
                            sandbox allow-scripts allow-downloads allow-modals";

/// The request, or the answer to one that is not as expected.
pub(crate) fn parsed<T: DeserializeOwned>(body: &Bytes) -> Result<T, Box<Response>> {
    let refused = |error: serde_json::Error| (StatusCode::BAD_REQUEST, format!("{error}\n")).into_response();
    serde_json::from_slice(body).map_err(|error| Box::new(refused(error)))
}

const PLAIN: &str = "the keys of all values are texts";

/// A value as JSON.
pub(crate) fn plain(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect(PLAIN)
}

/// A value as JSON for people.
pub(crate) fn pretty(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect(PLAIN)
}

/// An answer for a script of the page.
pub(crate) fn in_json(value: &impl Serialize) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], plain(value)).into_response()
}

/// A text that the browser never takes for a page.
pub(crate) fn in_text(text: impl Into<Body>) -> Response {
    ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text.into()).into_response()
}

/// A report for the frame of the page.
pub(crate) fn framed(html: impl Into<Body>) -> Response {
    let kind = (header::CONTENT_TYPE, "text/html; charset=utf-8");
    ([kind, (header::CONTENT_SECURITY_POLICY, FRAME_POLICY)], html.into()).into_response()
}

/// A file that the browser saves, and does not show as a page of our origin.
pub(crate) fn saved(name: &str, kind: &'static str, content: impl Into<Body>) -> Response {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || "._-".contains(*c);
    let name: String = name.chars().filter(is_plain).collect();
    let headers: [(HeaderName, HeaderValue); 2] = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (
            header::CONTENT_DISPOSITION,
            HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")).expect("a plain name"),
        ),
    ];
    (headers, content.into()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_a_header_has_no_marks() {
        let response = saved("a\"\r\nb/c.csv", "text/csv", "");
        assert_eq!(response.headers()[header::CONTENT_DISPOSITION], "attachment; filename=\"abc.csv\"");
    }
}
