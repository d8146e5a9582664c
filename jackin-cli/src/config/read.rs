//! Reads the whole file whatever is wrong with it, so that every mistake is told at once.
//!
//! The types of `schema` say what may be written, and serde stops at the first thing that does not fit. So what does
//! not fit is noted, taken out of the document, and the rest is read again, until nothing is left to note.

use std::fmt;
use std::ops::Range;

use jackin_core::{KeysEntry, MuxEntry};
use jackin_tools::Tools;
use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue, Deserializer};

use super::schema::Config;
use super::{REFERENCE, agents, contained};
use crate::capsule;

/// Something wrong in a file, with its place and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong and what to write, for a person.
    pub what: String,
}

/// Everything that is wrong with a configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Mistakes {
    file: String,
    list: Vec<Mistake>,
}

impl Mistakes {
    /// The mistakes, in the order of the text.
    pub fn list(&self) -> &[Mistake] {
        &self.list
    }

    /// One for each mistake, with its place.
    pub(super) fn lines(&self) -> Vec<String> {
        let line = |mistake: &Mistake| format!("{}:{}: {}", self.file, mistake.line, mistake.what);
        self.list.iter().map(line).collect()
    }

    /// The same, with the file's name in each message.
    #[must_use]
    pub fn of_file(mut self, file: impl Into<String>) -> Self {
        self.file = file.into();
        self
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lines().join("\n"))
    }
}

/// The most mistakes that are told.
const MOST: usize = 100;

/// A configuration with its tools, or everything that is wrong with both.
pub(super) fn read(text: &str) -> Result<(Config, Tools), Mistakes> {
    match read_what_can_be(text) {
        (read, None) => Ok(read),
        (_, Some(mistakes)) => Err(mistakes),
    }
}

/// What can be read of a configuration and its tools, and everything that is wrong with the rest. Names in it may lead
/// nowhere.
pub(super) fn read_what_can_be(text: &str) -> ((Config, Tools), Option<Mistakes>) {
    let mut reader = Reader { text, mistakes: Vec::new() };
    let (mut config, tools) = reader.document();
    // One whose address is wrong or missing cannot be asked for anything.
    config.hosts.retain(|_, host| !host.docker.as_str().is_empty());
    let mut list = reader.mistakes;
    list.sort_by_key(|mistake| mistake.line);
    let mistakes = (!list.is_empty()).then(|| Mistakes { file: "config.toml".to_owned(), list });
    ((config, tools), mistakes)
}

struct Reader<'a> {
    text: &'a str,
    mistakes: Vec<Mistake>,
}

/// Where a value stands in the document: the keys that lead to it.
type Path = Vec<String>;

impl Reader<'_> {
    fn document(&mut self) -> (Config, Tools) {
        if self.text.len() > Tools::MAX_CONFIG {
            self.mistake(0, format!("it is over {} bytes long: is this the right file?", Tools::MAX_CONFIG));
            return Default::default();
        }
        let (root, syntax) = DeTable::parse_recoverable(self.text);
        for error in &syntax {
            let at = error.span().map_or(0, |span| span.start);
            self.mistake(at, format!("this is not TOML: {}", error.message()));
        }
        let (tools, mistakes) = Tools::from_table(root.get_ref(), self.text);
        if !syntax.is_empty() {
            // What could not be read may be what seems to be missing: nothing more is told.
            let mut aside = Reader { text: self.text, mistakes: Vec::new() };
            return (aside.config(root).unwrap_or_default(), tools);
        }
        for mistake in &mistakes {
            let advice = mistake.kind.advice();
            self.mistake(mistake.place.span.start, format!("{}; {advice}", mistake.kind));
        }
        let Some(config) = self.config(root.clone()) else { return (Config::default(), tools) };
        self.check(&config, root.get_ref());
        (config, tools)
    }

    fn config(&mut self, mut root: Spanned<DeTable<'_>>) -> Option<Config> {
        loop {
            let error = match Config::deserialize(Deserializer::from(root.clone())) {
                Ok(config) => return Some(config),
                Err(error) => error,
            };
            let span = error.span().unwrap_or(0..0);
            let path =
                remove_entry(&mut root, &span, &error.to_string()).or_else(|| remove(root.get_mut(), &span));
            // Errors of our own say what to write.
            let example = path
                .as_ref()
                .filter(|_| !error.message().contains(": write "))
                .and_then(|path| example(path));
            let place = path.as_ref().map(|path| format!("{}: ", path.join("."))).unwrap_or_default();
            let advice = example.map(|line| format!("; write, for example, {line}")).unwrap_or_default();
            self.mistake(span.start, format!("{place}{}{advice}", error.message().trim_end()));
            if path.is_none() || self.mistakes.len() >= MOST {
                return None;
            }
        }
    }

    fn mistake(&mut self, at: usize, what: String) {
        if self.mistakes.len() < MOST {
            let before = self.text.as_bytes().iter().take(at);
            let line = before.filter(|byte| **byte == b'\n').count() + 1;
            self.mistakes.push(Mistake { line, what });
        }
    }

    /// What the types alone cannot tell: names that lead nowhere.
    fn check(&mut self, config: &Config, root: &DeTable<'_>) {
        let agents: Vec<String> = agents::names(config);
        let mut wanted: Vec<(Path, &str, &str, Vec<String>)> = Vec::new();
        let roles: Vec<String> = config.roles.keys().map(ToString::to_string).collect();
        let hosts: Vec<String> = config.hosts.keys().cloned().collect();
        let path = |keys: &[&str]| keys.iter().map(ToString::to_string).collect::<Path>();
        if let Some(agent) = &config.defaults.agent {
            wanted.push((path(&["defaults", "agent"]), "agent", agent, agents.clone()));
        }
        if let Some(role) = &config.defaults.role {
            wanted.push((path(&["defaults", "role"]), "role", role.as_str(), roles.clone()));
        }
        if let Some(host) = &config.defaults.host {
            wanted.push((path(&["defaults", "host"]), "host", host, hosts));
        }
        for (name, role) in &config.roles {
            for agent in &role.agents {
                wanted.push((path(&["roles", name.as_str(), "agents"]), "agent", agent, agents.clone()));
            }
            if let Some(agent) = &role.agent {
                let offered = if role.agents.is_empty() { agents.clone() } else { role.agents.clone() };
                wanted.push((path(&["roles", name.as_str(), "agent"]), "agent", agent, offered));
            }
        }
        for (name, workspace) in &config.workspaces {
            if let Some(role) = &workspace.role {
                wanted.push((path(&["workspaces", name, "role"]), "role", role.as_str(), roles.clone()));
            }
            if let Some(agent) = &workspace.agent {
                wanted.push((path(&["workspaces", name, "agent"]), "agent", agent, agents.clone()));
            }
            if !is_written(root, &["workspaces", name], "workdir") {
                let at = path(&["workspaces", name]);
                let what = format!(
                    "{}.workdir is missing; write, for example, workdir = \"~/src/api\"",
                    at.join(".")
                );
                self.mistake(place(root, &at), what);
            }
        }
        for (at, noun, name, known) in wanted {
            if !known.iter().any(|known| known == name) {
                let known = if known.is_empty() { "there are none".to_owned() } else { known.join(", ") };
                let what = format!("{}: there is no {noun} {name:?}; the {noun}s are: {known}", at.join("."));
                self.mistake(place(root, &at), what);
            }
        }
        self.check_hosts_and_sidecars(config, root);
        for (at, what) in contained::mistakes(config) {
            self.mistake(place(root, &at), what);
        }
        self.check_agents(config, root);
        self.check_skills(config, root);
        self.check_keys(config, root);
    }

    fn check_hosts_and_sidecars(&mut self, config: &Config, root: &DeTable<'_>) {
        for name in config.hosts.keys().filter(|name| !is_written(root, &["hosts", name], "docker")) {
            let at = vec!["hosts".to_owned(), name.clone()];
            let what =
                format!("hosts.{name}.docker is missing; write, for example, docker = \"ssh://me@{name}\"");
            self.mistake(place(root, &at), what);
        }
        for (role, config) in &config.roles {
            for name in config.sidecars.keys() {
                let path = ["roles", role.as_str(), "sidecars", name];
                if is_written(root, &path, "image") {
                    continue;
                }
                let at = path.map(str::to_owned);
                let what =
                    format!("{}.image is missing; write, for example, image = \"postgres:17\"", at.join("."));
                self.mistake(place(root, &at), what);
            }
        }
    }

    fn check_agents(&mut self, config: &Config, root: &DeTable<'_>) {
        for (name, agent) in &config.agents {
            let at = |field: &str| vec!["agents".to_owned(), name.clone(), field.to_owned()];
            if let Some(runtime) = &agent.runtime
                && !capsule::runtimes().contains(&runtime.as_str())
            {
                let known = capsule::runtimes().join(", ");
                let what = format!("agents.{name}.runtime: {runtime:?} is not known; write one of {known}");
                self.mistake(place(root, &at("runtime")), what);
            }
            for (list, field) in [(&agent.tokens, "tokens"), (&agent.env.keys().cloned().collect(), "env")] {
                for variable in list.iter().filter(|name| !is_variable(name)) {
                    let what = format!(
                        "agents.{name}.{field}: {variable:?} is no variable; write a name such as MY_TOKEN"
                    );
                    self.mistake(place(root, &at(field)), what);
                }
            }
        }
    }

    /// A skill is a directory's name; whether there is one is known when it is copied.
    fn check_skills(&mut self, config: &Config, root: &DeTable<'_>) {
        for (role, config) in &config.roles {
            for skill in config.skills.iter().filter(|skill| !is_skill(skill)) {
                let at = ["roles", role.as_str(), "skills"].map(str::to_owned);
                let what = format!(
                    "{}: {skill:?} is no skill's name; write, for example, skills = [\"jackin-machine-readable-pr\"], and \
                     put skills of your own into the directory `skills` beside this file",
                    at.join(".")
                );
                self.mistake(place(root, &at), what);
            }
        }
    }

    /// The multiplexer's own types are shared with `agent.toml`, whose reader is lenient.
    fn check_keys(&mut self, config: &Config, root: &DeTable<'_>) {
        const KNOWN: [(&[&str], &[&str]); 3] = [
            (&["keys"], &["prefix", "copy", "bind"]),
            (&["git"], &["name", "email"]),
            (
                &["mux", "forward"],
                &["notifications", "progress", "clipboard", "clipboard_read", "graphics", "other"],
            ),
        ];
        for (table, known) in KNOWN {
            let Some(entries) = table_at(root, table) else { continue };
            for (key, _) in entries.iter().filter(|(key, _)| !known.contains(&key.get_ref().as_ref())) {
                let what = format!(
                    "{}: unknown field `{}`, expected one of `{}`",
                    table.join("."),
                    key.get_ref(),
                    known.join("`, `")
                );
                self.mistake(key.span().start, what);
            }
        }
        let one = |keys: KeysEntry| capsule::check_mux(&MuxEntry { keys, ..MuxEntry::default() });
        let KeysEntry { prefix, copy, bind } = &config.keys;
        let mut tries = vec![
            ("prefix", one(KeysEntry { prefix: prefix.clone(), ..KeysEntry::default() })),
            ("copy", one(KeysEntry { copy: copy.clone(), ..KeysEntry::default() })),
        ];
        for (key, command) in bind {
            let bind = [(key.clone(), command.clone())].into();
            tries.push(("bind", one(KeysEntry { bind, ..KeysEntry::default() })));
        }
        for (field, tried) in tries {
            if let Err(error) = tried {
                let at = ["keys".to_owned(), field.to_owned()];
                self.mistake(place(root, &at), format!("keys.{field}: {error:#}"));
            }
        }
    }
}

fn is_skill(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !name.is_empty() && name.len() <= 64 && !name.starts_with('.') && name.chars().all(plain)
}

/// Whether an environment can have a variable of this name.
pub(crate) fn is_variable(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}

/// Takes out what stands at a place, and says which keys led to it.
fn remove(table: &mut DeTable<'_>, span: &Range<usize>) -> Option<Path> {
    let mut found: Option<(String, Path)> = None;
    for (key, value) in table.iter_mut() {
        let inner = match value.get_mut() {
            DeValue::Table(inner) => remove(inner, span),
            DeValue::Array(entries) => remove_from_array(entries, span),
            _ => None,
        };
        if let Some(inner) = inner {
            return Some([vec![key.get_ref().to_string()], inner].concat());
        }
        let holds =
            |place: Range<usize>| place.start <= span.start && span.end <= place.end.max(place.start + 1);
        if holds(key.span()) || holds(value.span()) {
            found = Some((key.get_ref().to_string(), Vec::new()));
        }
    }
    let (key, _) = found?;
    table.remove(key.as_str());
    Some(vec![key])
}

fn remove_from_array(entries: &mut DeArray<'_>, span: &Range<usize>) -> Option<Path> {
    entries.iter_mut().find_map(|entry| match entry.get_mut() {
        DeValue::Table(inner) => remove(inner, span),
        _ => None,
    })
}

/// Takes out the one entry of a list that does not fit: an error in an entry has the place of the whole list, and the
/// entry without which it is gone is the one.
fn remove_entry(root: &mut Spanned<DeTable<'_>>, span: &Range<usize>, error: &str) -> Option<Path> {
    let (_, len) = list_at(root.get_mut(), span, None)?;
    (0..len.min(MOST)).find_map(|at| {
        let mut without = root.clone();
        let (path, _) = list_at(without.get_mut(), span, Some(at))?;
        let after = Config::deserialize(Deserializer::from(without.clone())).err();
        if after.is_some_and(|after| after.to_string() == error) {
            return None;
        }
        *root = without;
        Some(path)
    })
}

/// The path and length of the list at a place, out of which an entry is taken on request.
fn list_at(table: &mut DeTable<'_>, span: &Range<usize>, without: Option<usize>) -> Option<(Path, usize)> {
    table.iter_mut().find_map(|(key, value)| {
        let here = value.span() == *span;
        let (mut path, len) = match value.get_mut() {
            DeValue::Array(entries) if here => {
                let len = entries.len();
                if let Some(without) = without {
                    *entries = entries
                        .iter()
                        .enumerate()
                        .filter(|(at, _)| *at != without)
                        .map(|(_, entry)| entry.clone())
                        .collect();
                }
                (Vec::new(), len)
            }
            DeValue::Table(inner) => list_at(inner, span, without)?,
            _ => return None,
        };
        path.insert(0, key.get_ref().to_string());
        Some((path, len))
    })
}

/// Whether a field is written, rightly or wrongly.
fn is_written(root: &DeTable<'_>, path: &[&str], field: &str) -> bool {
    table_at(root, path).is_some_and(|table| table.contains_key(field))
}

fn table_at<'t, 'i>(root: &'t DeTable<'i>, path: &[&str]) -> Option<&'t DeTable<'i>> {
    path.iter().try_fold(root, |table, key| table.get(*key)?.get_ref().as_table())
}

/// Where a path leads, or as far as it leads.
fn place(root: &DeTable<'_>, path: &[String]) -> usize {
    let mut table = Some(root);
    let mut at = 0;
    for key in path {
        let Some((name, value)) = table.and_then(|table| table.get_key_value(key.as_str())) else { break };
        at = name.span().start;
        table = value.get_ref().as_table();
    }
    at
}

/// A line of the reference that shows how a field is written.
fn example(path: &[String]) -> Option<String> {
    let reference: toml::Table = toml::from_str(REFERENCE).ok()?;
    let (field, tables) = path.split_last()?;
    if let ("user", Some("roles")) = (field.as_str(), tables.first().map(String::as_str)) {
        return Some("user = { uid = 1000 }".to_owned());
    }
    let mut table = &reference;
    for key in tables {
        // Names are the operator's own; any entry shows what one is like.
        let inner = table.get(key).or_else(|| table.values().find(|value| value.is_table()))?;
        table = inner.as_table()?;
    }
    let value = table.get(field)?;
    if value.is_table() {
        return None;
    }
    Some(format!("{field} = {}", serde_json::to_string(value).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<String> {
        let mistakes = read(text).err().map(|mistakes| mistakes.list().to_vec()).unwrap_or_default();
        mistakes.iter().map(|mistake| format!("{}: {}", mistake.line, mistake.what)).collect()
    }

    #[test]
    fn every_mistake_is_told_at_once_with_its_line_and_what_to_write() {
        let text = r#"
[defaults]
agent = 7
role = "nobody"
colour = "red"

[agents.claude]
command = "claude --continue"
runtime = "perl"
tokens = ["A=B"]

[roles.architect]
mounts = ["~/src", "a:/b", "c"]
agents = ["claude", "robot"]
limits = { memory = "lots", cpus = "two" }
skills = ["good", "../bad"]

[roles.architect.sidecars.db]
env = { A = 1 }

[workspaces.api]
role = "painter"

[hosts.big]
docker = "big"

[keys]
prefix = "hyper+x"
leader = "x"
bind = { x = "explode", y = "detach" }

[[tool]]
key = "q"
name = "Quiet"
exec = "open {isue}"
"#;
        let told = told(text);
        for expected in [
            "3: defaults.agent: invalid type: integer `7`, expected a string; write, for example, agent = \"claude\"",
            "5: defaults.colour: unknown field `colour`, expected one of `role`",
            "8: agents.claude.command: invalid type: string \"claude --continue\", expected a sequence; write, for example, command = [",
            "13: roles.architect.mounts: \"~/src\" is no mount: write source:/destination",
            "13: roles.architect.mounts: \"c\" is no mount",
            "15: roles.architect.limits.memory: \"lots\" is no amount of memory",
            "15: roles.architect.limits.cpus: invalid type: string \"two\"",
            "19: roles.architect.sidecars.db.env.A: invalid type: integer `1`, expected a string",
            "25: hosts.big.docker: \"big\" is no Docker engine: write ssh://",
            "33: key `q` is the console's",
            "35: ",
        ] {
            assert!(
                told.iter().any(|told| told.starts_with(expected)),
                "{expected} is not in\n{}",
                told.join("\n")
            );
        }
        for expected in [
            "4: defaults.role: there is no role \"nobody\"; the roles are: architect",
            "9: agents.claude.runtime: \"perl\" is not known; write one of claude, codex",
            "10: agents.claude.tokens: \"A=B\" is no variable",
            "14: roles.architect.agents: there is no agent \"robot\"; the agents are: amp, claude",
            "16: roles.architect.skills: \"../bad\" is no skill's name; write, for example,",
            "18: roles.architect.sidecars.db.image is missing",
            "21: workspaces.api.workdir is missing",
            "22: workspaces.api.role: there is no role \"painter\"",
            "28: keys.prefix: ",
            "29: keys: unknown field `leader`, expected one of `prefix`",
            "30: keys.bind: \"explode\" is not a command",
        ] {
            assert!(
                told.iter().any(|told| told.starts_with(expected)),
                "{expected} is not in\n{}",
                told.join("\n")
            );
        }
        assert_eq!(told.len(), 22, "{}", told.join("\n"));
    }

    #[test]
    fn what_no_container_could_be_made_of_is_told_with_its_line() {
        let text = r#"
[roles.a]
workdir = "src"
network = ""
mounts = ["/x:/jackin/run", "/x:/y/../jackin", "/x:/fine"]
[roles.a.limits]
cpus = 0.0
memory = "5m"
pids = 0
sessions = 0
[roles.b]
workdir = "/jackin/x"
limits = { cpus = -1, memory = "6m", pids = 1, sessions = 1 }
[roles.b.sidecars.db]
image = "db:1"
volumes = ["data:/", "data:/data"]
[workspaces.api]
workdir = "~/src/api"
mounts = ["/x:/jackin"]
[roles.c]
user = "root"
[roles.d]
user = { name = "bob" }
[handler]
web = "firefox"
pager = "less {}"
"#;
        let expected = [
            "3: roles.a.workdir: \"src\" is no place in a container; write an absolute path that is not below /jackin, such as workdir = \"/workspace\"",
            "4: roles.a.network: it is empty; write, for example, network = \"instance\"",
            "5: roles.a.mounts: nothing can be mounted at \"/jackin/run\"; write an absolute path that is not below /jackin",
            "5: roles.a.mounts: nothing can be mounted at \"/y/../jackin\"; write",
            "7: roles.a.limits.cpus: 0 is too little; write, for example, cpus = 2.0",
            "8: roles.a.limits.memory: 5m is too little for a container; write \"6m\" or more, for example, memory = \"4g\"",
            "9: roles.a.limits.pids: 0 is too little; write, for example, pids = 512",
            "10: roles.a.limits.sessions: 0 is too little; write, for example, sessions = 16",
            "12: roles.b.workdir: \"/jackin/x\" is no place in a container",
            "13: roles.b.limits.cpus: -1 is too little",
            "16: roles.b.sidecars.db.volumes: nothing can be mounted at \"/\"",
            "19: workspaces.api.mounts: nothing can be mounted at \"/jackin\"",
            "21: roles.c.user: invalid type: string \"root\"",
            "23: roles.d.user: missing field `uid`; write, for example, user = { uid = 1000 }",
            "25: the handler `web` has no {}, so that it is not told what to open; write {} where that stands",
        ];
        let told = told(text);
        for (told, expected) in told.iter().zip(expected) {
            assert!(told.starts_with(expected), "{told} is not {expected}");
        }
        assert!(told[12].ends_with("; write, for example, user = { uid = 1000 }"), "{}", told[12]);
        assert_eq!(told.len(), expected.len(), "{told:#?}");
    }

    #[test]
    fn what_is_no_toml_is_told_with_its_line() {
        let told = told("[defaults]\nagent = \n");
        assert!(told[0].starts_with("2: this is not TOML"), "{told:?}");
    }

    #[test]
    fn what_is_right_is_read_beside_what_is_wrong() {
        let hosts = "[hosts.big]\ndocker = \"ssh://me@big\"\n[hosts.lost]\n";
        for wrong in ["[defaults]\nagent = \n", "[defaults]\nagent = 7\n", "[defaults]\nrole = \"nobody\"\n"]
        {
            for text in [format!("{hosts}{wrong}"), format!("{wrong}{hosts}")] {
                let ((config, _), mistakes) = read_what_can_be(&text);
                let names: Vec<_> = config.hosts.keys().map(String::as_str).collect();
                assert_eq!(names, ["big"], "{text}");
                assert!(mistakes.is_some(), "{text}");
            }
        }
        let (_, mistakes) = read_what_can_be(&"#".repeat(Tools::MAX_CONFIG + 1));
        assert!(mistakes.is_some());
    }

    #[test]
    fn nothing_written_is_a_configuration() {
        let (config, tools) = read("").unwrap();
        assert_eq!(config, Config::default());
        assert!(tools.all().is_empty());
    }

    #[test]
    fn the_reference_shows_every_field() {
        let (config, _) = read(REFERENCE).unwrap();
        let json = serde_json::to_value(&config).unwrap();
        fn walk(value: &serde_json::Value, path: &str) {
            match value {
                serde_json::Value::Null => panic!("{path} is not in the reference"),
                serde_json::Value::Array(entries) => {
                    assert!(!entries.is_empty(), "{path} is not in the reference");
                }
                serde_json::Value::Object(fields) => {
                    assert!(!fields.is_empty(), "{path} is not in the reference");
                    fields.iter().for_each(|(key, value)| walk(value, &format!("{path}.{key}")));
                }
                serde_json::Value::Bool(false) | serde_json::Value::Number(_) => {}
                serde_json::Value::Bool(true) | serde_json::Value::String(_) => {}
            }
        }
        walk(&json, "");
        for field in ["plain_tags", "read_only", "privileged", "worktree"] {
            assert!(REFERENCE.contains(field), "{field} is not in the reference");
        }
    }
}
