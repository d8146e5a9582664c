//! Who is at the other end of the agents' socket.

use super::watch::ancestry;

/// How far up a process's ancestors are looked at.
const MOST_ANCESTORS: usize = 64;

/// Whether a process belongs to the session that `leader` began: it is in it, or below one that is. A token that was
/// read off another session's process is of no use outside of that session.
pub(super) fn belongs_to(pid: u32, leader: u32) -> bool {
    let mut pid = pid;
    for _ in 0..MOST_ANCESTORS {
        if pid == leader {
            return true;
        }
        match ancestry(pid) {
            Some((_, session)) if session == leader => return true,
            Some((parent, _)) if parent > 1 => pid = parent,
            _ => return false,
        }
    }
    false
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn children_belong_to_their_session_and_strangers_do_not() {
        let own = std::process::id();
        let mut child = Command::new("sleep").arg("60").stdin(Stdio::null()).spawn().unwrap();
        let (_, session) = ancestry(own).unwrap();
        assert!(belongs_to(own, own) && belongs_to(child.id(), own) && belongs_to(child.id(), session));
        assert!(!belongs_to(own, child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!belongs_to(child.id(), own), "it is gone");
    }
}
