use std::str::FromStr;

use super::link::web_url;
use super::{ValueError, clean, text_value};

/// Where a repository is: an absolute path in the agent's file system, or an `http` or `https` URL.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RepoRef {
    /// A path that begins with `/`.
    Path(String),
    /// A remote.
    Url(String),
}

impl RepoRef {
    /// The path or URL as it was given.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Path(text) | Self::Url(text) => text,
        }
    }
}

impl FromStr for RepoRef {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let text = clean(text)?;
        if text.starts_with('/') {
            return Ok(Self::Path(text.to_owned()));
        }
        match web_url(text) {
            Ok((text, _)) => Ok(Self::Url(text.to_owned())),
            Err(ValueError::NotUrl | ValueError::NotHttp) => Err(ValueError::NotRepo),
            Err(error) => Err(error),
        }
    }
}

text_value!(RepoRef);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_urls() {
        assert_eq!("/workspace/my repo".parse(), Ok(RepoRef::Path("/workspace/my repo".into())));
        assert_eq!(
            "https://github.com/a/b.git".parse(),
            Ok(RepoRef::Url("https://github.com/a/b.git".into()))
        );
        for given in ["workspace/x", "./x", "~/x", "git@github.com:a/b.git", "file:///x"] {
            assert_eq!(given.parse::<RepoRef>(), Err(ValueError::NotRepo), "{given}");
        }
    }
}
