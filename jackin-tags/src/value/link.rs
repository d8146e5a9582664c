use std::str::FromStr;

use url::Url;

use super::{ValueError, clean, text_value};

/// An `http` or `https` URL.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link {
    text: String,
}

impl Link {
    /// The URL as it was given.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl FromStr for Link {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        web_url(text).map(|(text, _)| Self { text: text.to_owned() })
    }
}

text_value!(Link);

/// The trimmed text and what it means, if it is a web URL that looks like what it is.
pub(super) fn web_url(text: &str) -> Result<(&str, Url), ValueError> {
    let text = clean(text)?;
    // A URL parser mends these: it escapes, or takes a backslash for a slash. The text that is handed on stays as it
    // is, and another reader would mend it differently.
    if text.chars().any(|c| c.is_whitespace() || matches!(c, '<' | '>' | '"' | '`' | '\\')) {
        return Err(ValueError::NotUrl);
    }
    let url = Url::parse(text).map_err(|_| ValueError::NotUrl)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(ValueError::NotHttp);
    }
    // `https:host` and `https:///host` are mended too.
    let after_scheme = &text[url.scheme().len()..];
    if !after_scheme.starts_with("://") || after_scheme.starts_with(":///") || url.host_str().is_none() {
        return Err(ValueError::NotUrl);
    }
    // `https://github.com@elsewhere/` is not on github.com, and a password is not for display.
    if !url.username().is_empty() || url.password().is_some() || authority(text).contains('@') {
        return Err(ValueError::UserInfo);
    }
    Ok((text, url))
}

/// The path as given, which is not always the path as understood.
pub(super) fn path(text: &str) -> &str {
    let rest = after_scheme(text);
    let path = &rest[authority(text).len()..];
    &path[..path.find(['?', '#']).unwrap_or(path.len())]
}

fn authority(text: &str) -> &str {
    let rest = after_scheme(text);
    &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())]
}

fn after_scheme(text: &str) -> &str {
    text.split_once("://").map_or("", |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_print_back_what_was_given() {
        for given in [
            "https://Example.com",
            "http://localhost:8080/a?b=c#d",
            "HTTPS://[::1]/",
            "https://bücher.example/ä",
        ] {
            assert_eq!(given.parse::<Link>().map(|link| link.to_string()).as_deref(), Ok(given));
        }
    }

    #[test]
    fn what_is_not_a_web_url_is_refused() {
        for (given, why) in [
            ("example.com", ValueError::NotUrl),
            ("/a/b", ValueError::NotUrl),
            ("https://", ValueError::NotUrl),
            ("https:example.com", ValueError::NotUrl),
            ("https:///example.com", ValueError::NotUrl),
            ("https://a b/", ValueError::NotUrl),
            (r"https:\\example.com\a", ValueError::NotUrl),
            ("https://example.com:99999/", ValueError::NotUrl),
            ("file:///etc/passwd", ValueError::NotHttp),
            ("javascript:alert(1)", ValueError::NotHttp),
            ("ssh://git@example.com/a", ValueError::NotHttp),
            ("https://me:secret@example.com/", ValueError::UserInfo),
            ("https://@example.com/", ValueError::UserInfo),
            ("https://github.com@example.com/", ValueError::UserInfo),
        ] {
            assert_eq!(given.parse::<Link>(), Err(why), "{given}");
        }
    }
}
