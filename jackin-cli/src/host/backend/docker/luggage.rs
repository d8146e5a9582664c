//! What goes into a container beside the capsule: the operator's rules for screens, and the skills of the role.

use std::collections::BTreeSet;
use std::fs;
use std::io;

use super::RULES_DIR;
use super::archive::{self, Access, Archive};
use super::container::session_user;
use super::create::Making;
use crate::capsule::group_and_home;
use crate::host::backend::{BackendError, Steps};
use crate::host::plan::Plan;
use crate::host::skills::{self, Place};

/// The most rules that are taken along: files, and bytes of each. A capsule reads no larger ones.
const MOST_RULES: usize = 200;
const LARGEST_RULES: u64 = 1 << 20;

/// The largest file of users that is read.
const LARGEST_PASSWD: usize = 4 << 20;

impl Making<'_> {
    /// Adds the operator's rules. Their directory is whose that of the socket is, so that who may take that one away may
    /// take this one away, too.
    pub(super) fn add_rules(
        &self,
        archive: &mut Archive,
        owner: Access,
        step: &mut Steps<'_>,
    ) -> io::Result<()> {
        let entries = fs::read_dir(self.backend.paths.rules()).into_iter().flatten().flatten();
        let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
        files.retain(|file| file.extension().is_some_and(|ending| ending == "toml") && file.is_file());
        files.sort();
        if files.len() > MOST_RULES {
            step(&format!("warning: of {} rule files, {MOST_RULES} are used", files.len()));
            files.truncate(MOST_RULES);
        }
        if !files.is_empty() {
            // The capsule has the group's right to look; nobody but the owner adds to it.
            archive.dir(RULES_DIR.trim_start_matches('/'), Access { mode: 0o750, ..owner })?;
        }
        for file in files {
            let Some(name) = file.file_name().and_then(|name| name.to_str()) else { continue };
            let small = fs::metadata(&file).is_ok_and(|known| known.len() <= LARGEST_RULES);
            match fs::read(&file) {
                Ok(text) if small => {
                    let path = format!("{}/{name}", RULES_DIR.trim_start_matches('/'));
                    archive.file(&path, Access::root(0o600), &text)?;
                }
                Ok(_) => step(&format!("warning: the rules in {} are too large to be used", file.display())),
                Err(error) => step(&format!("warning: cannot read the rules in {}: {error}", file.display())),
            }
        }
        Ok(())
    }

    /// Adds the role's skills, in the home of whom sessions run as. What is mounted there is somebody's own and is left
    /// alone.
    pub(super) async fn add_skills(
        &self,
        archive: &mut Archive,
        container: &str,
        step: &mut Steps<'_>,
    ) -> Result<(), BackendError> {
        let plan = self.plan;
        if plan.skills.is_empty() {
            return Ok(());
        }
        let packed = |error: io::Error| BackendError::failed("pack the skills", error);
        let found = skills::find(&self.backend.paths, &plan.skills);
        let found = found.map_err(|error| BackendError::Impossible(error.to_string()))?;
        let places = skills::in_home(plan);
        if places.is_empty() {
            step("warning: no skills were copied: none of its agents is known to have any");
            return Ok(());
        }
        let Some((access, home)) = self.home(container, step).await? else { return Ok(()) };
        let mut made = BTreeSet::new();
        if plan.read_only {
            // The volume that it is was made for this, and is root's.
            made.insert(home.clone());
            archive.dir(home.trim_start_matches('/'), Access { mode: 0o700, ..access }).map_err(packed)?;
        }
        for place in places {
            let place = match place {
                Place::Home(below) => format!("{}/{below}", home.trim_end_matches('/')),
                Place::At(place) => place,
            };
            if let Some(mounted) = mounted_at(plan, &place) {
                step(&format!(
                    "warning: no skills were copied into {place}: {mounted} is mounted, so what is there counts"
                ));
                continue;
            }
            for above in ancestors(&place) {
                if made.insert(above.to_owned()) && !self.has(container, above).await? {
                    let mode = if above == home { 0o700 } else { 0o755 };
                    archive.dir(above.trim_start_matches('/'), Access { mode, ..access }).map_err(packed)?;
                }
            }
            for skill in &found {
                let at = format!("{}/{}", place.trim_start_matches('/'), skill.name);
                archive.dir(&at, access).map_err(packed)?;
                for file in &skill.files {
                    for below in ancestors(&format!("/{}", file.path)).filter(|below| below[1..] != file.path)
                    {
                        if made.insert(format!("/{at}{below}")) {
                            archive.dir(&format!("{at}{below}"), access).map_err(packed)?;
                        }
                    }
                    let access = Access { mode: file.mode(), ..access };
                    archive.file(&format!("{at}/{}", file.path), access, &file.bytes).map_err(packed)?;
                }
            }
        }
        Ok(())
    }

    /// Whom sessions run as, and their home; none, and a word about it, if that cannot be known.
    async fn home(
        &self,
        container: &str,
        step: &mut Steps<'_>,
    ) -> Result<Option<(Access, String)>, BackendError> {
        const PASSWD: &str = "/etc/passwd";
        let user = session_user(self.plan);
        let passwd = archive::read(self.docker, container, PASSWD, LARGEST_PASSWD).await;
        let passwd = passwd.map_err(|trouble| self.told(&format!("read {PASSWD} of the image"), trouble))?;
        let unknown = passwd.is_none() && user.home.is_none() && self.has(container, PASSWD).await?;
        // A list of groups that cannot be read tells of no group.
        let group = archive::read(self.docker, container, "/etc/group", LARGEST_PASSWD).await.ok().flatten();
        let text = |file: Option<Vec<u8>>| String::from_utf8_lossy(&file.unwrap_or_default()).into_owned();
        let (gid, home) = group_and_home(&user, &text(passwd), &text(group));
        let home = home.filter(|home| home.is_absolute() && !unknown);
        let home = home.and_then(|home| home.to_str().map(str::to_owned));
        match home {
            Some(home) if !(self.plan.read_only && user.uid == 0) => {
                Ok(Some((Access { uid: user.uid, gid, mode: 0o755 }, home)))
            }
            Some(home) => {
                step(&format!(
                    "warning: no skills were copied: {home} of a read-only container cannot be changed"
                ));
                Ok(None)
            }
            None => {
                step(
                    "warning: no skills were copied: the image does not tell where its user's home is; give the role \
                     `user = { uid = …, home = \"…\" }`",
                );
                Ok(None)
            }
        }
    }
}

/// The mount that a place is in.
fn mounted_at<'p>(plan: &'p Plan, place: &str) -> Option<&'p str> {
    let of_sidecars = plan.sidecars.values().flat_map(|sidecar| &sidecar.volumes);
    let mounts = plan.mounts.iter().chain(of_sidecars).map(|mount| mount.destination.as_str());
    let mut mounts = mounts.chain(plan.host_workdir.is_some().then_some(plan.workdir.as_str()));
    mounts.find(|at| {
        let below = place.strip_prefix(at.trim_end_matches('/'));
        below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
    })
}

/// A path and those above it, from the top down, without the root.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.char_indices().skip(1).filter(|(_, c)| *c == '/').map(|(at, _)| at);
    ends.chain([path.len()]).map(|end| &path[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::BackendKind;

    #[test]
    fn paths_come_from_the_top() {
        assert_eq!(ancestors("/home/a/.x").collect::<Vec<_>>(), ["/home", "/home/a", "/home/a/.x"]);
        assert_eq!(ancestors("/a").collect::<Vec<_>>(), ["/a"]);
    }

    #[test]
    fn what_is_mounted_is_found_at_and_above_a_place() {
        let mut plan = Plan::new("api".parse().unwrap(), BackendKind::Docker, "api", "/workspace");
        plan.host_workdir = Some("/src".into());
        plan.mounts = vec!["/x:/home/agent/.claude".parse().unwrap(), "v:/home/ag".parse().unwrap()];
        assert_eq!(mounted_at(&plan, "/home/agent/.claude/skills"), Some("/home/agent/.claude"));
        assert_eq!(mounted_at(&plan, "/home/agent/.gemini/skills"), None);
        assert_eq!(mounted_at(&plan, "/workspace/.claude/skills"), Some("/workspace"));
    }
}
