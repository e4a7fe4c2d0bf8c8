//! Escapes text for HTML, SVG and file names. Names and titles come from scenario files: they are shown literally and
//! never interpreted as markup.

/// `text` escaped for use between tags and in quoted attributes.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&#39;",
            // Characters that XML forbids.
            '\t' | '\n' | '\r' => safe.push(character),
            character if character.is_control() => safe.push('\u{fffd}'),
            character => safe.push(character),
        }
    }
    safe
}

/// `text` as part of a file name or an anchor: at most 60 lower-case letters, digits and single hyphens; `figure` if
/// nothing is left.
pub(super) fn slug(text: &str) -> String {
    let mut slug = String::new();
    for character in text.chars().flat_map(char::to_lowercase) {
        if character.is_ascii_alphanumeric() {
            slug.push(character);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(60);
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "figure".to_owned() } else { slug.to_owned() }
}

/// Generates unique slugs.
#[derive(Debug, Default)]
pub(super) struct Slugs(std::collections::BTreeSet<String>);

impl Slugs {
    /// The slug of `text`, with a number if it is already in use.
    pub(super) fn unique(&mut self, text: &str) -> String {
        let base = slug(text);
        let mut candidate = base.clone();
        let mut number = 2;
        while !self.0.insert(candidate.clone()) {
            candidate = format!("{base}-{number}");
            number += 1;
        }
        candidate
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn markup_is_escaped() {
        assert_eq!(
            escaped("</script><img src=x onerror='a(\"b\")'>&\u{0}"),
            "&lt;/script&gt;&lt;img src=x onerror=&#39;a(&quot;b&quot;)&#39;&gt;&amp;\u{fffd}"
        );
    }

    #[test]
    fn slugs_are_plain_and_unique() {
        let mut slugs = Slugs::default();
        assert_eq!(slugs.unique("A.1: bottleneck, 0 ms"), "a-1-bottleneck-0-ms");
        assert_eq!(slugs.unique("a 1 — Bottleneck 0 ms"), "a-1-bottleneck-0-ms-2");
        assert_eq!(slugs.unique("../…"), "figure");
    }

    proptest! {
        #[test]
        fn any_text_is_escaped(text in any::<String>()) {
            let safe = escaped(&text);
            let dangerous = |c: char| "<>\"'\0".contains(c);
            prop_assert!(!safe.chars().any(dangerous));
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            prop_assert!(slug(&text).chars().all(plain));
        }
    }
}
