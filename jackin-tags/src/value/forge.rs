use std::str::FromStr;

use super::link::{path, web_url};
use super::{ValueError, text_value};

/// The URL of an issue: `https://HOST/OWNER/REPO/issues/NUMBER`, on any host.
///
/// A trailing slash, a query and a fragment are taken and given back.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IssueUrl(Numbered);

/// The URL of a pull request: `https://HOST/OWNER/REPO/pull/NUMBER`, on any host.
///
/// A trailing slash, a query and a fragment are taken and given back.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PrUrl(Numbered);

/// Something with a number in a repository on a forge.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Numbered {
    text: String,
    host: String,
    owner: String,
    repo: String,
    number: u64,
}

impl Numbered {
    fn parse(text: &str, section: &str, otherwise: ValueError) -> Result<Self, ValueError> {
        let (text, url) = web_url(text)?;
        Self::read(text, &url, section).ok_or(otherwise)
    }

    fn read(text: &str, url: &url::Url, section: &str) -> Option<Self> {
        let path = path(text);
        // Dot segments and the like: shown one way, followed another.
        if path != url.path() {
            return None;
        }
        let path = path.strip_prefix('/')?;
        let mut parts = path.strip_suffix('/').unwrap_or(path).split('/');
        let (owner, repo) = (parts.next()?, parts.next()?);
        let matches = parts.next() == Some(section);
        let number = parts.next()?;
        let plain = |name: &str| {
            !name.is_empty()
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
        };
        if !matches || parts.next().is_some() || !plain(owner) || !plain(repo) {
            return None;
        }
        let digits = number.bytes().all(|b| b.is_ascii_digit());
        let number = number.parse().ok().filter(|&number| digits && number > 0)?;
        let host = match url.port() {
            Some(port) => format!("{}:{port}", url.host_str()?),
            None => url.host_str()?.to_owned(),
        };
        Some(Self { text: text.to_owned(), host, owner: owner.to_owned(), repo: repo.to_owned(), number })
    }
}

macro_rules! numbered {
    ($type:ident, $section:literal, $otherwise:expr) => {
        impl $type {
            /// The URL as it was given.
            pub fn as_str(&self) -> &str {
                &self.0.text
            }

            /// The host in lower case, with its port where one is given.
            pub fn host(&self) -> &str {
                &self.0.host
            }

            /// The user or organisation that the repository belongs to.
            pub fn owner(&self) -> &str {
                &self.0.owner
            }

            /// The repository's name.
            pub fn repo(&self) -> &str {
                &self.0.repo
            }

            /// Its number in the repository.
            pub fn number(&self) -> u64 {
                self.0.number
            }
        }

        impl FromStr for $type {
            type Err = ValueError;

            fn from_str(text: &str) -> Result<Self, ValueError> {
                Numbered::parse(text, $section, $otherwise).map(Self)
            }
        }

        text_value!($type);
    };
}

numbered!(IssueUrl, "issues", ValueError::NotIssue);
numbered!(PrUrl, "pull", ValueError::NotPr);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_an_issue() {
        let issue: IssueUrl =
            "https://GitHub.example:8443/An-Org/repo.rs/issues/12?x=1#note-2".parse().unwrap();
        assert_eq!(issue.host(), "github.example:8443");
        assert_eq!((issue.owner(), issue.repo(), issue.number()), ("An-Org", "repo.rs", 12));
        assert_eq!(issue.to_string(), "https://GitHub.example:8443/An-Org/repo.rs/issues/12?x=1#note-2");
    }

    #[test]
    fn what_is_not_a_pull_request() {
        for given in [
            "https://github.com/a/b/issues/7",
            "https://github.com/a/b/pull",
            "https://github.com/a/b/pull/",
            "https://github.com/a/b/pull/x",
            "https://github.com/a/b/pull/+7",
            "https://github.com/a/b/pull/0",
            "https://github.com/a/b/pull/7/files",
            "https://github.com/a/pull/7",
            "https://github.com//b/pull/7",
            "https://github.com/a/b/c/pull/7",
            "https://github.com/x/../a/b/pull/7",
            "https://github.com/a%2fx/b/pull/7",
            "https://github.com/a/b/pull/99999999999999999999",
        ] {
            assert_eq!(given.parse::<PrUrl>(), Err(ValueError::NotPr), "{given}");
        }
        assert!("https://github.com/a/b/pull/7/".parse::<PrUrl>().is_ok());
    }
}
