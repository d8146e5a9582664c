//! The skills that come with jackin: how to declare an issue, a pull request and a repository.

use super::{MAIN, Skill, SkillFile};

const ALL: [(&str, &str); 3] = [
    (
        "jackin-machine-readable-issue",
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/skills/jackin-machine-readable-issue/SKILL.md")),
    ),
    (
        "jackin-machine-readable-pr",
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/skills/jackin-machine-readable-pr/SKILL.md")),
    ),
    (
        "jackin-machine-readable-repo",
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/skills/jackin-machine-readable-repo/SKILL.md")),
    ),
];

pub(super) fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|(name, _)| *name)
}

pub(super) fn find(name: &str) -> Option<Skill> {
    let (name, text) = ALL.iter().find(|(known, _)| *known == name)?;
    let main = SkillFile { path: MAIN.to_owned(), executable: false, bytes: text.as_bytes().to_vec() };
    Some(Skill { name: (*name).to_owned(), files: vec![main] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_are_in_the_repository_are_here() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/skills");
        let mut there: Vec<String> = std::fs::read_dir(directory)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        there.sort();
        assert_eq!(there, names().collect::<Vec<_>>());
    }
}
