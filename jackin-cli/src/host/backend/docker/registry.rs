//! The operator's login for a registry, found as `docker` itself finds it: a helper for that registry, the helper for
//! all, or the configuration file. It goes to the engine with the pull that needs it, and nowhere else.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use bollard::auth::DockerCredentials;
use serde::Deserialize;
use tokio::io::AsyncWriteExt;

/// How long a helper may take: it may have to ask a keychain.
const LIMIT: Duration = Duration::from_secs(20);

/// The registry of images that name none, as images and as logins call it.
const HUB: &str = "docker.io";
const HUB_LOGIN: &str = "https://index.docker.io/v1/";

/// What a helper calls the user whose secret is a token.
const TOKEN_USER: &str = "<token>";

/// The part of `config.json` that is about logins.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Logins {
    auths: HashMap<String, Login>,
    cred_helpers: HashMap<String, String>,
    creds_store: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "lowercase")]
struct Login {
    /// User and password with a colon between them, in Base64.
    auth: Option<String>,
    username: Option<String>,
    password: Option<String>,
    identitytoken: Option<String>,
}

/// What a helper says.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Secret {
    username: String,
    secret: String,
}

/// A login, or why there is none although there should be.
pub(super) type Found = Result<Option<DockerCredentials>, String>;

/// The login for an image's registry. Nothing of it may be shown: not even in an error.
pub(super) async fn login(image: &str) -> Found {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    match set("DOCKER_CONFIG").or_else(|| Some(set("HOME")?.join(".docker"))) {
        Some(dir) => login_in(&dir, image).await,
        None => Ok(None),
    }
}

async fn login_in(dir: &Path, image: &str) -> Found {
    let file = dir.join("config.json");
    let Ok(text) = std::fs::read(&file) else { return Ok(None) };
    let logins: Logins = serde_json::from_slice(&text)
        .map_err(|error| format!("{} is not understood (line {})", file.display(), error.line()))?;
    let registry = registry(image);
    let address = if registry == HUB { HUB_LOGIN } else { registry };
    let helper = logins.cred_helpers.get(address).or_else(|| logins.cred_helpers.get(registry));
    let found = match helper.or(logins.creds_store.as_ref()) {
        Some(helper) => ask(helper, address).await?,
        None => logins.find(registry)?,
    };
    Ok(found.map(|found| DockerCredentials { serveraddress: Some(address.to_owned()), ..found }))
}

/// The registry that an image comes from.
fn registry(image: &str) -> &str {
    match image.split_once('/') {
        // As engines tell them apart: a name of an organisation has neither dot nor colon.
        Some((first, _)) if first.contains(['.', ':']) || first == "localhost" => {
            if first == "index.docker.io" { HUB } else { first }
        }
        _ => HUB,
    }
}

/// The host of a login's address, which may have a scheme and a path.
fn host(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let host = rest.split('/').next().unwrap_or_default();
    if host == "index.docker.io" { HUB } else { host }
}

impl Logins {
    fn find(&self, registry: &str) -> Found {
        let mut of_registry: Vec<_> =
            self.auths.iter().filter(|(address, _)| host(address) == registry).collect();
        // Written exactly so, or in whichever form; always the same one.
        of_registry.sort_by_key(|(address, _)| (address.as_str() != registry, address.as_str()));
        let Some((address, login)) = of_registry.first() else { return Ok(None) };
        login.credentials().map_err(|why| format!("the login for {address}: {why}"))
    }
}

impl Login {
    fn credentials(&self) -> Found {
        let identitytoken = self.identitytoken.clone().filter(|token| !token.is_empty());
        let (mut username, mut password) = (self.username.clone(), self.password.clone());
        if let Some(auth) = self.auth.as_deref().filter(|auth| !auth.is_empty()) {
            let both = from_base64(auth).and_then(|bytes| String::from_utf8(bytes).ok());
            let both = both.ok_or("`auth` is not Base64: log in again (`docker login`)")?;
            let (user, rest) =
                both.split_once(':').ok_or("`auth` has no colon: log in again (`docker login`)")?;
            (username, password) = (Some(user.to_owned()), Some(rest.trim_end_matches('\0').to_owned()));
        }
        if username.is_none() && identitytoken.is_none() {
            // An entry that only says that somebody logged in once.
            return Ok(None);
        }
        Ok(Some(DockerCredentials { username, password, identitytoken, ..DockerCredentials::default() }))
    }
}

/// Asks a helper, as `docker` does.
async fn ask(helper: &str, address: &str) -> Found {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if helper.is_empty() || !helper.chars().all(plain) {
        return Err(format!("{helper:?} is no credential helper's name"));
    }
    ask_program(Path::new(&format!("docker-credential-{helper}")), address).await
}

async fn ask_program(path: &Path, address: &str) -> Found {
    let program = path.file_name().unwrap_or_default().to_string_lossy();
    let asked = async {
        let mut child = tokio::process::Command::new(path)
            .arg("get")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(address.as_bytes()).await?;
        }
        child.wait_with_output().await
    };
    let output = match tokio::time::timeout(LIMIT, asked).await {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => return Err(format!("cannot ask {program} for the login: {error}")),
        Err(_) => return Err(format!("{program} does not answer within {} s", LIMIT.as_secs())),
    };
    if !output.status.success() {
        // Mostly: it has none. Whether one is needed is the registry's to say.
        return Ok(None);
    }
    let secret: Secret = serde_json::from_slice(&output.stdout)
        .map_err(|_| format!("what {program} says is not understood"))?;
    let Secret { username, secret } = secret;
    Ok(Some(if username == TOKEN_USER {
        DockerCredentials { identitytoken: Some(secret), ..DockerCredentials::default() }
    } else {
        DockerCredentials { username: Some(username), password: Some(secret), ..DockerCredentials::default() }
    }))
}

/// The bytes that a text in Base64 stands for.
fn from_base64(text: &str) -> Option<Vec<u8>> {
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0u32, 0);
    for byte in text.trim().trim_end_matches('=').bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        (bits, count) = (bits << 6 | u32::from(value), count + 6);
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    async fn found(config: &str, image: &str) -> Found {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("config.json"), config).unwrap();
        login_in(dir.path(), image).await
    }

    fn names(found: Found) -> (String, String, String) {
        let found = found.unwrap().unwrap();
        (found.username.unwrap_or_default(), found.password.unwrap_or_default(), found.serveraddress.unwrap())
    }

    const CONFIG: &str = r#"{ "auths": {
        "https://index.docker.io/v1/": { "auth": "aHViOnA6dw==" },
        "reg.example:5000": { "auth": "bWU6c2VjcmV0" },
        "https://reg.example/v2/": { "username": "u", "password": "p" },
        "empty.example": {},
        "token.example": { "identitytoken": "t" },
        "bad.example": { "auth": "???" }
    } }"#;

    #[tokio::test]
    async fn a_login_is_that_of_the_images_registry_and_no_other() {
        let hub = ("hub".into(), "p:w".into(), HUB_LOGIN.into());
        for image in ["debian", "acme/tool:1", "docker.io/acme/tool", "index.docker.io/library/debian"] {
            assert_eq!(names(found(CONFIG, image).await), hub, "{image}");
        }
        let with_port = names(found(CONFIG, "reg.example:5000/a/b:1").await);
        assert_eq!(with_port, ("me".into(), "secret".into(), "reg.example:5000".into()));
        assert_eq!(names(found(CONFIG, "reg.example/a@sha256:00").await).0, "u");
        for image in ["other.example/a", "localhost/a", "localhost:5000/a", "empty.example/a"] {
            assert_eq!(found(CONFIG, image).await, Ok(None), "{image}");
        }
        let token = found(CONFIG, "token.example/a").await.unwrap().unwrap();
        assert_eq!((token.identitytoken.as_deref(), token.username), (Some("t"), None));
    }

    #[tokio::test]
    async fn what_cannot_be_used_is_told_without_its_secret() {
        let why = found(CONFIG, "bad.example/a").await.unwrap_err();
        assert!(why.contains("bad.example") && why.contains("docker login") && !why.contains("???"), "{why}");
        assert!(found("{", "a").await.unwrap_err().contains("config.json"));
        assert_eq!(login_in(Path::new("/nowhere"), "a").await, Ok(None));
        let why = found(r#"{"credsStore":"../x"}"#, "a").await.unwrap_err();
        assert!(why.contains("no credential helper's name"), "{why}");
        let why = found(r#"{"credsStore":"jackin-has-none"}"#, "a").await.unwrap_err();
        assert!(why.contains("docker-credential-jackin-has-none"), "{why}");
    }

    #[tokio::test]
    async fn a_helper_is_asked_as_docker_asks_it() {
        let dir = tempfile::tempdir().unwrap();
        let script = "#!/bin/sh\nread -r address\n[ \"$1\" = get ] || exit 2\ncase $address in\n\
            https://index.docker.io/v1/) echo '{\"ServerURL\":\"x\",\"Username\":\"hub\",\"Secret\":\"s\"}' ;;\n\
            token.example) echo '{\"ServerURL\":\"x\",\"Username\":\"<token>\",\"Secret\":\"t\"}' ;;\n\
            *) echo 'credentials not found in native keychain'; exit 1 ;;\nesac\n";
        let helper = dir.path().join("docker-credential-test");
        fs::write(&helper, script).unwrap();
        fs::set_permissions(&helper, fs::Permissions::from_mode(0o755)).unwrap();
        let asked = ask_program(&helper, HUB_LOGIN).await.unwrap().unwrap();
        assert_eq!((asked.username.as_deref(), asked.password.as_deref()), (Some("hub"), Some("s")));
        let asked = ask_program(&helper, "token.example").await.unwrap().unwrap();
        assert_eq!((asked.identitytoken.as_deref(), asked.username), (Some("t"), None));
        assert_eq!(ask_program(&helper, "reg.example").await, Ok(None));
    }

    #[test]
    fn base64_reads_what_it_stands_for() {
        for (text, bytes) in [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYg", "foob")] {
            assert_eq!(from_base64(text).unwrap(), bytes.as_bytes());
        }
        assert_eq!(from_base64("a b"), None);
    }
}
