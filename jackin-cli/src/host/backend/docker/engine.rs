//! Which engine is meant, decided as `docker` itself would decide it.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::config::{HostConfig, at_home};

/// Where an engine listens when nobody says anything.
const USUAL_SOCKET: &str = "/var/run/docker.sock";

/// The context that is no file.
const USUAL_CONTEXT: &str = "default";

/// Where an engine answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Address {
    /// A socket of this machine.
    Unix(PathBuf),
    /// A host and port, in the open.
    Http(String),
    /// A host and port, and the directory of our certificate and theirs.
    Tls(String, PathBuf),
    /// What `ssh` takes: `user@host`, with a port if need be.
    Ssh(String),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix://{}", path.display()),
            Self::Http(at) => write!(f, "tcp://{at}"),
            Self::Tls(at, _) => write!(f, "https://{at}"),
            Self::Ssh(at) => write!(f, "ssh://{at}"),
        }
    }
}

impl Address {
    /// The engine of a configured host; without one, that of `DOCKER_HOST`, `DOCKER_CONTEXT`, the context in use, or the
    /// usual socket. The error is for people.
    pub(super) fn find(
        host: Option<&HostConfig>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let docker = set("DOCKER_CONFIG")
            .map(PathBuf::from)
            .or_else(|| set("HOME").map(|home| PathBuf::from(home).join(".docker")));
        let files = Files { dir: docker };
        if let Some(host) = host {
            let certificates = host.certificates.as_deref().map(at_home);
            return match host.docker.as_str().strip_prefix("context:") {
                Some(context) => files.context(context),
                None => files.parse(host.docker.as_str(), certificates),
            };
        }
        if let Some(text) = set("DOCKER_HOST") {
            let named = set("DOCKER_CERT_PATH").map(PathBuf::from).or_else(|| files.dir.clone());
            return files.parse(&text, named.filter(|_| set("DOCKER_TLS_VERIFY").is_some()));
        }
        match set("DOCKER_CONTEXT").or_else(|| files.context_in_use()) {
            Some(context) => files.context(&context),
            None => Ok(Self::Unix(USUAL_SOCKET.into())),
        }
    }
}

/// What the `docker` command keeps in the operator's home.
struct Files {
    dir: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CliConfig {
    current_context: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Context {
    name: String,
    #[serde(default)]
    endpoints: Endpoints,
}

#[derive(Default, Deserialize)]
struct Endpoints {
    docker: Option<DockerEndpoint>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct DockerEndpoint {
    host: Option<String>,
}

impl Files {
    fn parse(&self, text: &str, certificates: Option<PathBuf>) -> Result<Address, String> {
        let (scheme, rest) = text.split_once("://").ok_or_else(|| unknown(text))?;
        // What comes after the host, such as a path, is nothing that an engine is told by.
        let at = rest.split('/').next().unwrap_or_default().to_owned();
        match (scheme, certificates) {
            ("unix", _) if rest.starts_with('/') => Ok(Address::Unix(rest.into())),
            ("unix", _) => Err(format!("{text} is no engine: write unix:///path, with an absolute path")),
            _ if at.is_empty() => Err(unknown(text)),
            ("tcp" | "http", None) => Ok(Address::Http(at)),
            ("tcp" | "http" | "https", Some(dir)) => Ok(Address::Tls(at, dir)),
            ("https", None) => {
                let dir = self.dir.clone();
                dir.map(|dir| Address::Tls(at, dir)).ok_or_else(|| {
                    format!("{text} needs certificates: name the directory with ca.pem, cert.pem and key.pem")
                })
            }
            ("ssh", _) => Ok(Address::Ssh(at)),
            _ => Err(unknown(text)),
        }
    }

    fn context_in_use(&self) -> Option<String> {
        let text = fs::read(self.dir.as_ref()?.join("config.json")).ok()?;
        let config: CliConfig = serde_json::from_slice(&text).ok()?;
        config.current_context.filter(|name| !name.is_empty())
    }

    fn context(&self, name: &str) -> Result<Address, String> {
        if name == USUAL_CONTEXT {
            return Ok(Address::Unix(USUAL_SOCKET.into()));
        }
        let contexts = self.dir.as_ref().map(|dir| dir.join("contexts"));
        let mut known = vec![USUAL_CONTEXT.to_owned()];
        // The directories are named by a digest of the context's name; the file in each has the name itself.
        for entry in contexts.iter().flat_map(|dir| fs::read_dir(dir.join("meta"))).flatten().flatten() {
            let Ok(text) = fs::read(entry.path().join("meta.json")) else { continue };
            let Ok(context) = serde_json::from_slice::<Context>(&text) else { continue };
            if context.name != name {
                known.push(context.name);
                continue;
            }
            let host = context.endpoints.docker.and_then(|docker| docker.host);
            let host = host.ok_or_else(|| format!("the Docker context {name} names no engine"))?;
            let tls = contexts.as_ref().map(|dir| dir.join("tls").join(entry.file_name()).join("docker"));
            return self.parse(&host, tls.filter(|dir| has_certificates(dir)));
        }
        known.sort();
        Err(format!(
            "there is no Docker context {name:?}: the contexts are {} (`docker context ls`)",
            known.join(", ")
        ))
    }
}

fn has_certificates(dir: &Path) -> bool {
    dir.join("cert.pem").exists()
}

fn unknown(text: &str) -> String {
    format!(
        "{text:?} is no Docker engine: write ssh://user@host, tcp://host:port, https://host:port or unix:///path"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(docker: &str, certificates: Option<&str>) -> HostConfig {
        HostConfig { docker: docker.parse().unwrap(), certificates: certificates.map(PathBuf::from) }
    }

    fn find(host: Option<&HostConfig>, variables: &[(&str, &str)]) -> Result<Address, String> {
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        Address::find(host, variable)
    }

    fn home_with_contexts() -> tempfile::TempDir {
        let home = tempfile::tempdir().unwrap();
        let docker = home.path().join(".docker");
        for (dir, name, at) in
            [("aa", "big", "tcp://big:2376"), ("bb", "far", "ssh://me@far:2222/run/x.sock")]
        {
            let meta = docker.join("contexts/meta").join(dir);
            fs::create_dir_all(&meta).unwrap();
            let text =
                format!(r#"{{"Name":"{name}","Metadata":{{}},"Endpoints":{{"docker":{{"Host":"{at}"}}}}}}"#);
            fs::write(meta.join("meta.json"), text).unwrap();
        }
        fs::create_dir_all(docker.join("contexts/meta/broken")).unwrap();
        fs::write(docker.join("contexts/meta/broken/meta.json"), "{").unwrap();
        let tls = docker.join("contexts/tls/aa/docker");
        fs::create_dir_all(&tls).unwrap();
        fs::write(tls.join("cert.pem"), "").unwrap();
        fs::write(docker.join("config.json"), r#"{"auths":{},"currentContext":"big"}"#).unwrap();
        home
    }

    #[test]
    fn the_engine_of_this_machine_is_the_one_that_docker_would_use() {
        let home = home_with_contexts();
        let home = home.path().to_str().unwrap();
        let usual = Address::Unix(USUAL_SOCKET.into());
        assert_eq!(find(None, &[]), Ok(usual.clone()));
        assert_eq!(find(None, &[("HOME", "/nowhere"), ("DOCKER_HOST", "")]), Ok(usual.clone()));
        let tls = PathBuf::from(home).join(".docker/contexts/tls/aa/docker");
        assert_eq!(find(None, &[("HOME", home)]), Ok(Address::Tls("big:2376".into(), tls)));
        let far = Ok(Address::Ssh("me@far:2222".into()));
        assert_eq!(find(None, &[("HOME", home), ("DOCKER_CONTEXT", "far")]), far);
        assert_eq!(find(None, &[("HOME", home), ("DOCKER_CONTEXT", "default")]), Ok(usual));
        let both = [("HOME", home), ("DOCKER_CONTEXT", "far"), ("DOCKER_HOST", "unix:///x.sock")];
        assert_eq!(find(None, &both), Ok(Address::Unix("/x.sock".into())));
    }

    #[test]
    fn tls_is_used_when_it_is_asked_for() {
        let open = [("HOME", "/h"), ("DOCKER_HOST", "tcp://a:2375")];
        assert_eq!(find(None, &open), Ok(Address::Http("a:2375".into())));
        let verified = [&open[..], &[("DOCKER_TLS_VERIFY", "1")]].concat();
        assert_eq!(find(None, &verified), Ok(Address::Tls("a:2375".into(), "/h/.docker".into())));
        let named = [&verified[..], &[("DOCKER_CERT_PATH", "/c")]].concat();
        assert_eq!(find(None, &named), Ok(Address::Tls("a:2375".into(), "/c".into())));
        assert_eq!(
            find(Some(&host("tcp://b:2376", Some("/d"))), &named),
            Ok(Address::Tls("b:2376".into(), "/d".into()))
        );
    }

    #[test]
    fn a_host_of_the_configuration_counts_for_itself() {
        let home = home_with_contexts();
        let variables = [("HOME", home.path().to_str().unwrap()), ("DOCKER_HOST", "tcp://other:1")];
        assert_eq!(
            find(Some(&host("context:far", None)), &variables),
            Ok(Address::Ssh("me@far:2222".into()))
        );
        assert_eq!(find(Some(&host("ssh://a@b", None)), &variables), Ok(Address::Ssh("a@b".into())));
        let error = find(Some(&host("context:gone", None)), &variables).unwrap_err();
        assert!(error.contains("big, default, far"), "{error}");
    }

    #[test]
    fn what_is_no_engine_is_told_with_what_would_be() {
        for text in ["big", "fd://", "npipe:////./pipe/docker_engine", "tcp://"] {
            let error = find(None, &[("DOCKER_HOST", text)]).unwrap_err();
            assert!(error.contains("ssh://user@host"), "{error}");
        }
        assert!(find(None, &[("DOCKER_HOST", "unix://run/x")]).unwrap_err().contains("absolute"));
    }
}
