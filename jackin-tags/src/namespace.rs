use std::fmt;

/// Whose vocabulary a tag is written in. All of them mean the same.
///
/// The cargo feature `vendor-namespaces` adds `Conductor` and `Sandbox`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Namespace {
    /// `<jackin:…>`
    Jackin,
    /// `<multicode:…>`
    Multicode,
    /// `<conductor:…>`
    #[cfg(feature = "vendor-namespaces")]
    Conductor,
    /// `<sandbox:…>`
    #[cfg(feature = "vendor-namespaces")]
    Sandbox,
}

impl Namespace {
    /// Every namespace that this build honours.
    pub const ALL: &[Self] = &[
        Self::Jackin,
        Self::Multicode,
        #[cfg(feature = "vendor-namespaces")]
        Self::Conductor,
        #[cfg(feature = "vendor-namespaces")]
        Self::Sandbox,
    ];

    pub(crate) const LONGEST: usize = "multicode".len();

    /// The namespace as it stands in a tag.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Jackin => "jackin",
            Self::Multicode => "multicode",
            #[cfg(feature = "vendor-namespaces")]
            Self::Conductor => "conductor",
            #[cfg(feature = "vendor-namespaces")]
            Self::Sandbox => "sandbox",
        }
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_namespace_is_longer_than_the_buffer_for_it() {
        assert_eq!(Namespace::ALL.iter().map(|n| n.as_str().len()).max(), Some(Namespace::LONGEST));
    }
}
