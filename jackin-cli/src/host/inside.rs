//! Whether something runs in a session of an instance, by what the capsule put into its environment.

use std::path::Path;

use jackin_core::InstanceName;

/// Whether variables are those of a session of an instance: of this one, and not of another home's with the same name. Its
/// sockets are in `run_dir`.
pub(super) fn is_session_of(
    variable: impl Fn(&str) -> Option<String>,
    instance: &InstanceName,
    run_dir: &Path,
) -> bool {
    let socket = variable("JACKIN_AGENT_SOCKET");
    variable("JACKIN_INSTANCE").is_some_and(|name| name == instance.as_str())
        && socket
            .as_deref()
            .and_then(|socket| Path::new(socket).parent())
            .is_some_and(|dir| is_same(dir, run_dir))
}

/// The instance that this command runs in a session of, whoever made it.
pub(super) fn own_instance() -> Option<InstanceName> {
    std::env::var_os("JACKIN_AGENT_SOCKET")?;
    InstanceName::new(&std::env::var("JACKIN_INSTANCE").ok()?).ok()
}

/// One directory can have several paths.
fn is_same(one: &Path, other: &Path) -> bool {
    one == other || matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instance_of_another_home_is_another() {
        let dir = tempfile::tempdir().unwrap();
        let (home, link) = (dir.path().join("home"), dir.path().join("link"));
        std::fs::create_dir_all(home.join("sockets/api")).unwrap();
        std::os::unix::fs::symlink(&home, &link).unwrap();
        let is = |name: &str, socket: &Path, run_dir: &Path| {
            let variable = |variable: &str| match variable {
                "JACKIN_INSTANCE" => Some("api".to_owned()),
                "JACKIN_AGENT_SOCKET" => Some(socket.display().to_string()),
                _ => None,
            };
            is_session_of(variable, &name.parse().unwrap(), run_dir)
        };
        let run_dir = home.join("sockets/api");
        assert!(is("api", &run_dir.join("jackin.agent.sock"), &run_dir));
        assert!(is("api", &link.join("sockets/api/jackin.agent.sock"), &run_dir));
        assert!(!is("web", &run_dir.join("jackin.agent.sock"), &run_dir));
        assert!(!is("api", Path::new("/elsewhere/sockets/api/jackin.agent.sock"), &run_dir));
        assert!(!is_session_of(|_| None, &"api".parse().unwrap(), &run_dir));
    }
}
