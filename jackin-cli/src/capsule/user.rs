//! Whom sessions run as.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, chown};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use jackin_core::UserEntry;

/// The user of sessions in a container whose configuration names none: anyone but root.
const USUAL_UID: u32 = 1000;
const USUAL_NAME: &str = "agent";

/// The largest file of users or groups that is read.
const LARGEST: u64 = 4 << 20;

/// A user of this system, with everything that a session's process gets of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SessionUser {
    pub(super) uid: u32,
    pub(super) gid: u32,
    /// The groups beside the first one.
    pub(super) groups: Vec<u32>,
    pub(super) name: Option<String>,
    pub(super) home: Option<PathBuf>,
    pub(super) shell: Option<String>,
}

impl SessionUser {
    /// The configured user, completed by what the system knows of it; none means whoever runs the capsule. A capsule of
    /// root in a container never means root without being told.
    pub(super) fn find(configured: Option<&UserEntry>, contained: bool) -> Result<Option<Self>> {
        let own = rustix::process::geteuid();
        let usual = UserEntry { uid: USUAL_UID, gid: None, name: None, home: None };
        let entry = match configured {
            Some(entry) => entry,
            None if contained && own.is_root() => &usual,
            None => return Ok(None),
        };
        anyhow::ensure!(
            own.is_root() || entry.uid == own.as_raw(),
            "sessions cannot run as user {}: this capsule runs as user {}, and only root can change to another; \
             remove [user] from the configuration or start the capsule as root",
            entry.uid,
            own.as_raw()
        );
        if !own.is_root() {
            return Ok(None);
        }
        let mut user = Self::complete(entry, &read("/etc/passwd"), &read("/etc/group"));
        if contained && user.uid != 0 {
            if entry.home.is_none() {
                user.home = user.home.take().filter(|home| user.can_use(home));
            }
            user.settle();
            user.make_home()?;
        }
        Ok(Some(user))
    }

    /// Gives a user of a container whom nobody named a name, and a home below it.
    fn settle(&mut self) {
        let name = self.name.get_or_insert_with(|| USUAL_NAME.to_owned());
        self.home.get_or_insert_with(|| Path::new("/home").join(name));
    }

    fn complete(entry: &UserEntry, passwd: &str, group: &str) -> Self {
        // name:password:uid:gid:comment:home:shell
        let known = passwd.lines().map(|line| line.split(':').collect::<Vec<_>>());
        let known = known.into_iter().find(|fields| number(fields, 2) == Some(entry.uid));
        let known = known.unwrap_or_default();
        let field = |at: usize| known.get(at).filter(|text| !text.is_empty()).map(|text| (*text).to_owned());
        let name = entry.name.clone().or_else(|| field(0));
        let gid = entry.gid.or_else(|| number(&known, 3));
        // What belongs to root's group is open to root, and to it: the operator's socket, where the host shares that.
        let gid = gid.filter(|gid| *gid != 0 || entry.uid == 0);
        let gid = gid.unwrap_or_else(|| own_group(entry.uid, name.as_deref(), group));
        let groups = name.as_deref().map(|name| groups_of(name, group)).unwrap_or_default();
        Self {
            uid: entry.uid,
            gid,
            groups: groups.into_iter().filter(|group| *group != gid && *group != 0).collect(),
            home: entry.home.clone().or_else(|| field(5)).map(PathBuf::from),
            shell: field(6),
            name,
        }
    }

    /// Whether a home is the user's, or can become so. An image may have opened it to root's group instead, in which we
    /// let nobody be.
    fn can_use(&self, home: &Path) -> bool {
        let Ok(home) = fs::metadata(home) else { return true };
        home.gid() != 0 || home.uid() == self.uid || home.mode() & 0o020 == 0
    }

    /// Makes the user's home, if it is not there yet.
    fn make_home(&self) -> Result<()> {
        if let Some(home) = self.home.as_ref().filter(|home| !home.exists()) {
            let make = || {
                if let Some(above) = home.parent() {
                    fs::create_dir_all(above)?;
                }
                fs::DirBuilder::new().mode(0o700).create(home)?;
                chown(home, Some(self.uid), Some(self.gid))
            };
            make().with_context(|| {
                format!("cannot make the home directory {} of user {}", home.display(), self.uid)
            })?;
        }
        Ok(())
    }
}

/// The group and the home that a capsule in a container will give a user, as its files of users and groups tell; root's home may not
/// be known.
#[cfg(feature = "host")]
pub(crate) fn group_and_home(user: &UserEntry, passwd: &str, group: &str) -> (u32, Option<PathBuf>) {
    let mut user = SessionUser::complete(user, passwd, group);
    if user.uid != 0 {
        user.settle();
    }
    (user.gid, user.home)
}

fn number(fields: &[&str], at: usize) -> Option<u32> {
    fields.get(at)?.parse().ok()
}

/// A group for a user who has none: with the user's own number, unless that is another group's.
fn own_group(uid: u32, name: Option<&str>, group: &str) -> u32 {
    let groups: Vec<Vec<&str>> = group.lines().map(|line| line.split(':').collect()).collect();
    let is_others = |gid: &u32| {
        groups.iter().any(|fields| number(fields, 2) == Some(*gid) && fields.first().copied() != name)
    };
    (uid..u32::MAX).find(|gid| !is_others(gid)).unwrap_or(uid)
}

/// The groups that name a user among their members: name:password:gid:member,member
fn groups_of(name: &str, group: &str) -> Vec<u32> {
    let fields = group.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let member =
        |fields: &Vec<&str>| fields.get(3).is_some_and(|members| members.split(',').any(|one| one == name));
    fields.filter(member).filter_map(|fields| number(&fields, 2)).take(64).collect()
}

/// A file that need not be there.
fn read(path: &str) -> String {
    use std::io::Read;
    let mut text = String::new();
    match fs::File::open(path).and_then(|file| file.take(LARGEST).read_to_string(&mut text)) {
        Ok(_) => text,
        Err(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str =
        "root:x:0:0:root:/root:/bin/bash\nnode:x:1000:1001::/home/node:/bin/zsh\nbroken\n:::\n";
    const GROUP: &str = "root:x:0:node\ndocker:x:998:jo,node\nnode:x:1001:node\nvideo:x:44:nodes\n";

    fn entry(uid: u32) -> UserEntry {
        UserEntry { uid, gid: None, name: None, home: None }
    }

    #[test]
    fn what_the_system_knows_completes_the_configuration() {
        let user = SessionUser::complete(&entry(1000), PASSWD, GROUP);
        assert_eq!((user.gid, user.groups, user.name.as_deref()), (1001, vec![998], Some("node")));
        assert_eq!((user.home, user.shell.as_deref()), (Some("/home/node".into()), Some("/bin/zsh")));
        let told =
            UserEntry { gid: Some(5), name: Some("jo".into()), home: Some("/j".into()), ..entry(1000) };
        let user = SessionUser::complete(&told, PASSWD, GROUP);
        assert_eq!((user.gid, user.groups, user.home), (5, vec![998], Some("/j".into())));
    }

    #[test]
    fn a_user_that_nobody_knows_has_its_number() {
        let user = SessionUser::complete(&entry(4242), PASSWD, GROUP);
        assert_eq!((user.uid, user.gid, user.groups, user.name, user.home), (4242, 4242, vec![], None, None));
    }

    #[cfg(feature = "host")]
    #[test]
    fn a_host_knows_where_home_will_be() {
        assert_eq!(group_and_home(&entry(1000), PASSWD, ""), (1001, Some("/home/node".into())));
        assert_eq!(group_and_home(&entry(4242), PASSWD, ""), (4242, Some("/home/agent".into())));
        let named = UserEntry { name: Some("jo".into()), ..entry(4242) };
        assert_eq!(group_and_home(&named, "", ""), (4242, Some("/home/jo".into())));
        assert_eq!(group_and_home(&entry(0), PASSWD, ""), (0, Some("/root".into())));
        assert_eq!(group_and_home(&entry(0), "", ""), (0, None));
    }

    #[test]
    fn nobody_is_given_the_group_of_root() {
        assert!(!SessionUser::complete(&entry(1000), PASSWD, GROUP).groups.contains(&0));
        let passwd = "default:x:1001:0:Default:/opt/app:/bin/sh\nroot:x:0:0::/root:/bin/sh\n";
        let gid = |uid, group| SessionUser::complete(&entry(uid), passwd, group).gid;
        assert_eq!(gid(1001, "root:x:0:\n"), 1001);
        assert_eq!(gid(1001, "default:x:1001:\n"), 1001, "that is its own");
        assert_eq!(gid(1001, "shadow:x:1001:\ndocker:x:1002:\n"), 1003, "those are others'");
        assert_eq!(gid(0, "root:x:0:\n"), 0, "root is root");
        let told = UserEntry { gid: Some(0), ..entry(1001) };
        assert_eq!(SessionUser::complete(&told, passwd, "").gid, 1001);
    }

    #[test]
    fn a_home_that_is_open_to_roots_group_alone_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let user = |uid| SessionUser::complete(&entry(uid), "", "");
        let owner = fs::metadata(dir.path()).unwrap().uid();
        let set = |mode| fs::set_permissions(dir.path(), std::os::unix::fs::PermissionsExt::from_mode(mode));
        set(0o770).unwrap();
        assert!(user(owner).can_use(dir.path()), "it is the user's own");
        assert!(user(4242).can_use(&dir.path().join("none")), "it can be made");
        if fs::metadata(dir.path()).unwrap().gid() == 0 {
            assert!(!user(4242).can_use(dir.path()));
            set(0o755).unwrap();
            assert!(user(4242).can_use(dir.path()), "it was never open to the user");
        }
    }
}
