//! Skills of an instance without a container: they go into the directory that it works in, never into the operator's
//! home, and are taken out again.
//!
//! Each copy says by its `.jackin` directory that it is one, and which instances use it; a `.gitignore` of its own keeps
//! it out of commits. A skill of the project with the same name is left alone.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::{Skill, places};
use crate::config::Paths;
use crate::host::manifest::private_dir;
use crate::host::plan::Plan;

/// What says that a skill is a copy of ours, with a file for each instance that uses it.
const USERS: &str = ".jackin";

const IGNORE: &str = ".gitignore";

/// Copies skills to where the agents of a plan look in its directory. What could not be done, for people, comes back.
pub(in crate::host) fn give(paths: &Paths, plan: &Plan, skills: &[Skill]) -> io::Result<Vec<String>> {
    if skills.is_empty() {
        return Ok(Vec::new());
    }
    let workdir = Path::new(&plan.workdir);
    if is_home(workdir) {
        return Ok(vec![
            "warning: no skills were copied: this is your home, and what is there is for all of your agents"
                .to_owned(),
        ]);
    }
    let places = places::in_project(&plan.agents);
    if places.is_empty() {
        return Ok(vec![
            "warning: no skills were copied: none of its agents is known to have any".to_owned(),
        ]);
    }
    let _lock = lock(paths)?;
    let mut told = Vec::new();
    for place in places {
        let Some(directory) = within(workdir, place) else {
            told.push(format!(
                "warning: no skills were copied into {place}: it leads out of {}",
                workdir.display()
            ));
            continue;
        };
        for skill in skills {
            let at = directory.join(&skill.name);
            if fs::symlink_metadata(&at).is_ok() && !at.join(USERS).is_dir() {
                told.push(format!(
                    "the project has a skill {} of its own in {place}, which is used",
                    skill.name
                ));
                continue;
            }
            copy(skill, &at, plan.instance.as_str())?;
        }
    }
    Ok(told)
}

/// Takes the copies out again, but for those that another instance uses. What is not there is no error.
pub(in crate::host) fn take_away(paths: &Paths, plan: &Plan) -> io::Result<()> {
    let workdir = Path::new(&plan.workdir);
    if plan.skills.is_empty() || is_home(workdir) || !workdir.is_dir() {
        return Ok(());
    }
    let _lock = lock(paths)?;
    for place in places::in_project(&plan.agents) {
        let Some(directory) = within(workdir, place) else { continue };
        for name in &plan.skills {
            let at = directory.join(name);
            let users = at.join(USERS);
            let is_ours = fs::symlink_metadata(&at).is_ok_and(|known| known.is_dir()) && users.is_dir();
            if !is_ours {
                continue;
            }
            let _ = fs::remove_file(users.join(plan.instance.as_str()));
            if fs::read_dir(&users)?.next().is_none() {
                fs::remove_dir_all(&at)?;
            }
        }
        // What was made for them goes too, unless something else is there.
        let _ = fs::remove_dir(&directory);
        let _ = directory.parent().map(fs::remove_dir);
    }
    Ok(())
}

fn copy(skill: &Skill, at: &Path, user: &str) -> io::Result<()> {
    fs::create_dir_all(at.join(USERS))?;
    // What an earlier version had is not left behind.
    for entry in fs::read_dir(at)?.flatten().filter(|entry| entry.file_name() != USERS) {
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    for file in &skill.files {
        let path = at.join(&file.path);
        if let Some(above) = path.parent() {
            fs::create_dir_all(above)?;
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(file.mode()).open(&path)?.write_all(&file.bytes)?;
    }
    fs::write(at.join(IGNORE), "*\n")?;
    File::create(at.join(USERS).join(user)).map(drop)
}

/// A place below a directory, unless a link leads out of it.
fn within(workdir: &Path, place: &str) -> Option<PathBuf> {
    let workdir = workdir.canonicalize().ok()?;
    let directory = workdir.join(place);
    let there = directory.ancestors().find(|above| fs::symlink_metadata(above).is_ok())?;
    there.canonicalize().ok()?.starts_with(&workdir).then_some(directory)
}

fn is_home(workdir: &Path) -> bool {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    home.is_some_and(|home| real(&home) == real(workdir))
}

/// Two commands at once must not count each other's users wrongly.
fn lock(paths: &Paths) -> io::Result<File> {
    private_dir(paths.home())?;
    let file =
        OpenOptions::new().create(true).append(true).mode(0o600).open(paths.home().join("skills.lock"))?;
    file.lock()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::super::find;
    use super::*;
    use crate::config::BackendKind;
    use jackin_core::AgentEntry;

    struct Scene {
        dir: tempfile::TempDir,
        paths: Paths,
    }

    impl Scene {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            fs::create_dir(dir.path().join("work")).unwrap();
            let paths = Paths::new(dir.path().join("home"), dir.path().join("config"));
            Self { dir, paths }
        }

        fn work(&self) -> PathBuf {
            self.dir.path().join("work")
        }

        fn plan(&self, name: &str) -> Plan {
            let work = self.work().display().to_string();
            let mut plan = Plan::new(name.parse().unwrap(), BackendKind::Local, "work", &work);
            plan.skills = vec!["jackin-machine-readable-pr".into()];
            plan.agents = vec![AgentEntry { id: "claude".into(), ..AgentEntry::default() }];
            plan
        }

        fn give(&self, plan: &Plan) -> Vec<String> {
            give(&self.paths, plan, &find(&self.paths, &plan.skills).unwrap()).unwrap()
        }
    }

    const PLACE: &str = ".claude/skills/jackin-machine-readable-pr";

    #[test]
    fn a_copy_is_there_as_long_as_somebody_uses_it() {
        let scene = Scene::new();
        let (one, two) = (scene.plan("one"), scene.plan("two"));
        assert_eq!(scene.give(&one), Vec::<String>::new());
        scene.give(&two);
        let at = scene.work().join(PLACE);
        assert!(fs::read_to_string(at.join("SKILL.md")).unwrap().contains("<jackin:pr>"));
        assert_eq!(fs::read_to_string(at.join(IGNORE)).unwrap(), "*\n");
        fs::write(at.join("old.txt"), "of an earlier version").unwrap();
        scene.give(&two);
        assert!(!at.join("old.txt").exists());
        take_away(&scene.paths, &one).unwrap();
        assert!(at.join("SKILL.md").exists());
        take_away(&scene.paths, &two).unwrap();
        assert_eq!(fs::read_dir(scene.work()).unwrap().count(), 0, "nothing is left");
        take_away(&scene.paths, &two).unwrap();
    }

    #[test]
    fn what_is_the_projects_own_stays_as_it_is() {
        let scene = Scene::new();
        let (plan, at) = (scene.plan("one"), scene.work().join(PLACE));
        fs::create_dir_all(&at).unwrap();
        fs::write(at.join("SKILL.md"), "theirs").unwrap();
        let told = scene.give(&plan);
        assert!(told[0].contains("of its own"), "{told:?}");
        take_away(&scene.paths, &plan).unwrap();
        assert_eq!(fs::read_to_string(at.join("SKILL.md")).unwrap(), "theirs");
    }

    #[test]
    fn nothing_is_written_elsewhere() {
        let scene = Scene::new();
        let elsewhere = scene.dir.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, scene.work().join(".claude")).unwrap();
        let plan = scene.plan("one");
        let told = scene.give(&plan);
        assert!(told[0].contains("leads out of"), "{told:?}");
        take_away(&scene.paths, &plan).unwrap();
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
        let mut nobody = scene.plan("one");
        nobody.agents.clear();
        assert!(scene.give(&nobody)[0].contains("none of its agents"));
    }
}
