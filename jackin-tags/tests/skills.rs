//! The skills that teach agents to emit tags teach the form that the parser takes.
#![allow(clippy::disallowed_methods, reason = "the skills are files of the repository")]

use std::path::Path;

use jackin_core::TagKind;
use jackin_tags::TagParser;

#[test]
fn each_skill_is_loadable_and_its_tag_is_found() {
    for (kind, tags) in [(TagKind::Issue, 1), (TagKind::Pr, 1), (TagKind::Repo, 2)] {
        let name = format!("jackin-machine-readable-{kind}");
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../skills").join(&name).join("SKILL.md");
        let skill = std::fs::read_to_string(file).unwrap();

        let (front, body) = skill.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
        let field = |key: &str| {
            let prefix = format!("{key}: ");
            front.lines().find_map(|line| line.strip_prefix(&prefix)).unwrap_or_default().to_owned()
        };
        assert_eq!(field("name"), name);
        let description = field("description");
        // A colon and a space within would be read as another key.
        assert!((40..=1024).contains(&description.len()) && !description.contains(": "), "{description}");

        // What a model writes that follows the form.
        let written = body
            .replace("OWNER", "octo")
            .replace("REPO<", "demo<")
            .replace("REPO/", "demo/")
            .replace("NUMBER", "12");
        let found = TagParser::new().feed(&written);
        assert_eq!(found.len(), tags, "{name}: {found:?}");
        assert!(found.iter().all(|tag| tag.tag.kind == kind));
        // As many lines of the file are nothing but a tag.
        let alone = written
            .lines()
            .filter(|line| line.starts_with("<jackin:") && line.ends_with(&format!("</jackin:{kind}>")));
        assert_eq!(alone.count(), tags);
    }
}
