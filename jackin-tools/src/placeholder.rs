use std::fmt;

use jackin_core::TagKind;

/// A value that a command may ask for by `{name}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Placeholder {
    /// The name of the instance's container.
    Instance,
    /// The name of the workspace.
    Workspace,
    /// Where the workspace stands inside the container.
    Workdir,
    /// Where it stands on the operator's machine.
    HostWorkdir,
    /// The repository that the agent declared last.
    Repo,
    /// The issue that it declared last.
    Issue,
    /// The pull request that it declared last.
    Pr,
    /// The link that it declared last.
    Link,
    /// The operator's answer to a prompt tool.
    Input,
    /// What a handler is to open, written `{}`.
    Target,
}

impl Placeholder {
    /// All of them, in the order in which they are listed for people.
    pub const ALL: [Self; 10] = [
        Self::Instance,
        Self::Workspace,
        Self::Workdir,
        Self::HostWorkdir,
        Self::Repo,
        Self::Issue,
        Self::Pr,
        Self::Link,
        Self::Input,
        Self::Target,
    ];

    /// The name between the braces; empty for a handler's target.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Instance => "instance",
            Self::Workspace => "workspace",
            Self::Workdir => "workdir",
            Self::HostWorkdir => "host_workdir",
            Self::Repo => "repo",
            Self::Issue => "issue",
            Self::Pr => "pr",
            Self::Link => "link",
            Self::Input => "input",
            Self::Target => "",
        }
    }

    /// The environment variable that has the same value.
    pub const fn variable(self) -> &'static str {
        match self {
            Self::Instance => "JACKIN_INSTANCE",
            Self::Workspace => "JACKIN_WORKSPACE",
            Self::Workdir => "JACKIN_WORKDIR",
            Self::HostWorkdir => "JACKIN_HOST_WORKDIR",
            Self::Repo => "JACKIN_REPO",
            Self::Issue => "JACKIN_ISSUE",
            Self::Pr => "JACKIN_PR",
            Self::Link => "JACKIN_LINK",
            Self::Input => "JACKIN_INPUT",
            Self::Target => "JACKIN_TARGET",
        }
    }

    /// The placeholder of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|placeholder| placeholder.name() == name)
    }

    /// The placeholder for the latest value of a tag.
    pub fn from_tag(kind: &TagKind) -> Option<Self> {
        match kind {
            TagKind::Repo => Some(Self::Repo),
            TagKind::Issue => Some(Self::Issue),
            TagKind::Pr => Some(Self::Pr),
            TagKind::Link => Some(Self::Link),
            TagKind::Status | TagKind::Other(_) => None,
        }
    }

    /// Whether the value is an agent's words, which may be anything.
    pub const fn is_tag(self) -> bool {
        matches!(self, Self::Repo | Self::Issue | Self::Pr | Self::Link)
    }

    /// Whether the host itself made the value. Everything else is somebody's text.
    pub(crate) const fn is_hosts_own(self) -> bool {
        matches!(self, Self::Instance | Self::Workspace | Self::Workdir | Self::HostWorkdir)
    }
}

impl fmt::Display for Placeholder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{}}}", self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_variables_belong_together() {
        for (at, placeholder) in Placeholder::ALL.into_iter().enumerate() {
            assert_eq!(placeholder as usize, at, "contexts are indexed by it");
            assert_eq!(Placeholder::from_name(placeholder.name()), Some(placeholder));
            if placeholder != Placeholder::Target {
                assert_eq!(placeholder.variable(), format!("JACKIN_{}", placeholder.name().to_uppercase()));
            }
        }
        assert_eq!(Placeholder::HostWorkdir.to_string(), "{host_workdir}");
        assert_eq!(Placeholder::Target.to_string(), "{}");
    }

    #[test]
    fn the_indexed_tags_have_placeholders() {
        for kind in TagKind::KNOWN {
            let placeholder = Placeholder::from_tag(&kind);
            assert_eq!(placeholder.is_some_and(Placeholder::is_tag), kind != TagKind::Status, "{kind}");
        }
    }
}
