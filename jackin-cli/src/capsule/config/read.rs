//! Reads the whole file whatever is wrong with it, so that every mistake is told at once.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use jackin_core::{
    AgentEntry, AgentFile, ForwardEntry, GitIdentity, InstanceName, KeysEntry, Limits, MuxEntry, UserEntry,
};
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::mux;
use crate::capsule::agents::Family;

/// Something wrong, or not known, in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentFileMistake {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong and what to write instead, or the key that is not known.
    pub what: String,
}

/// What came of reading an `agent.toml`.
#[derive(Clone, Debug)]
pub struct AgentFileOutcome {
    /// The file, or everything that is wrong with it.
    pub result: Result<AgentFile, Vec<AgentFileMistake>>,
    /// Keys that are ignored.
    pub unknown: Vec<AgentFileMistake>,
}

/// The most mistakes that are told.
const MOST: usize = 50;

/// The most agents; a picker with more is none.
const MOST_AGENTS: usize = 200;

/// Reads an `agent.toml` as a capsule does: every mistake is told at once, with its line and what to write.
///
/// ```
/// use jackin_cli::capsule::read_agent_file;
///
/// let outcome = read_agent_file("version = 1\ninstance = \"api-fix\"\nworkdir = \"here\"\nmood = 3\n");
/// assert_eq!(outcome.unknown[0].what, "mood");
/// let mistakes = outcome.result.unwrap_err();
/// assert_eq!((mistakes.len(), mistakes[0].line), (1, 3));
/// assert!(mistakes[0].what.contains("not an absolute path"));
/// ```
pub fn read_agent_file(text: &str) -> AgentFileOutcome {
    let mut reader = Reader { text, mistakes: Vec::new(), unknown: Vec::new() };
    let file = match DeTable::parse(text) {
        Ok(table) => reader.file(table.into_inner()),
        Err(error) => {
            let at = error.span().unwrap_or(0..0);
            reader.mistake(&at, format!("this is not TOML: {}", error.message()));
            None
        }
    };
    reader.mistakes.sort_by_key(|mistake| mistake.line);
    let result = file.filter(|_| reader.mistakes.is_empty()).ok_or(reader.mistakes);
    AgentFileOutcome { result, unknown: reader.unknown }
}

struct Reader<'a> {
    text: &'a str,
    mistakes: Vec<AgentFileMistake>,
    unknown: Vec<AgentFileMistake>,
}

/// A table of which what was read is taken away, and where it stands.
struct Table<'a> {
    entries: DeTable<'a>,
    name: &'static str,
    span: Range<usize>,
}

type Value<'a> = Spanned<DeValue<'a>>;

impl Table<'_> {
    fn path(&self, key: &str) -> String {
        if self.name.is_empty() { key.to_owned() } else { format!("{}.{key}", self.name) }
    }
}

impl Reader<'_> {
    fn line(&self, at: usize) -> usize {
        self.text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1
    }

    fn mistake(&mut self, at: &Range<usize>, what: String) {
        if self.mistakes.len() < MOST {
            let line = self.line(at.start);
            self.mistakes.push(AgentFileMistake { line, what });
        }
    }

    fn take<'t>(table: &mut Table<'t>, key: &str) -> Option<Value<'t>> {
        table.entries.remove(key)
    }

    /// A field, if it is there and of its type. `example` is a line that would do.
    fn field<T: DeserializeOwned>(&mut self, table: &mut Table<'_>, key: &str, example: &str) -> Option<T> {
        self.spanned(table, key, example).map(|(value, _)| value)
    }

    fn spanned<T: DeserializeOwned>(
        &mut self,
        table: &mut Table<'_>,
        key: &str,
        example: &str,
    ) -> Option<(T, Range<usize>)> {
        let value = Self::take(table, key)?;
        let span = value.span();
        match T::deserialize(ValueDeserializer::from(value)) {
            Ok(value) => Some((value, span)),
            Err(error) => {
                let at = error.span().unwrap_or(span);
                let what = error.message().trim_end().to_owned();
                self.mistake(&at, format!("{}: {what}; write, for example, {example}", table.path(key)));
                None
            }
        }
    }

    fn required<T: DeserializeOwned>(
        &mut self,
        table: &mut Table<'_>,
        key: &str,
        example: &str,
    ) -> Option<T> {
        if !table.entries.contains_key(key) {
            let (at, path) = (table.span.clone(), table.path(key));
            self.mistake(&at, format!("{path} is missing; write, for example, {example}"));
        }
        self.field(table, key, example)
    }

    fn table<'t>(&mut self, table: &mut Table<'t>, key: &str, name: &'static str) -> Option<Table<'t>> {
        let value = Self::take(table, key)?;
        let span = value.span();
        if let DeValue::Table(entries) = value.into_inner() {
            return Some(Table { entries, name, span });
        }
        self.mistake(&span, format!("{name} is not a table; write [{name}] above its lines"));
        None
    }

    /// What is left was not known.
    fn finish(&mut self, table: &Table<'_>) {
        for (key, _) in &table.entries {
            let line = self.line(key.span().start);
            self.unknown.push(AgentFileMistake { line, what: table.path(key.get_ref()) });
        }
    }

    fn file(&mut self, entries: DeTable<'_>) -> Option<AgentFile> {
        let mut root = Table { entries, name: "", span: 0..0 };
        let version: Option<u32> = self.required(&mut root, "version", "version = 1");
        if let Some(version) = version.filter(|version| *version != AgentFile::VERSION) {
            let what = format!(
                "version {version} is not understood by this capsule, which reads {}; use a capsule of the host's release",
                AgentFile::VERSION
            );
            self.mistake(&(0..0), what);
        }
        let instance: Option<InstanceName> = self.required(&mut root, "instance", "instance = \"api-fix\"");
        let role = self.field(&mut root, "role", "role = \"acme/architect\"");
        let workspace = self.field(&mut root, "workspace", "workspace = \"api\"");
        let workdir = self.spanned::<String>(&mut root, "workdir", "workdir = \"/workspace\"");
        if let Some((dir, at)) = workdir.as_ref().filter(|(dir, _)| !dir.starts_with('/')) {
            self.mistake(
                at,
                format!(
                    "workdir: {dir:?} is not an absolute path; write, for example, workdir = \"/workspace\""
                ),
            );
        }
        let agents = self.agents(&mut root);
        let initial = self.spanned::<String>(&mut root, "initial_agent", "initial_agent = \"claude\"");
        if let Some((id, at)) = &initial
            && !agents.iter().any(|agent| agent.id == *id)
        {
            let ids: Vec<&str> = agents.iter().map(|agent| agent.id.as_str()).collect();
            let known = if ids.is_empty() { "there are none".to_owned() } else { ids.join(", ") };
            self.mistake(at, format!("initial_agent: no agent has the id {id:?}; the ids are: {known}"));
        }
        let user = self.user(&mut root);
        let operator_uid = self.field(&mut root, "operator_uid", "operator_uid = 1001");
        let git = self.table(&mut root, "git", "git").map(|mut git| {
            let identity = GitIdentity {
                name: self.field(&mut git, "name", "name = \"Jo Doe\""),
                email: self.field(&mut git, "email", "email = \"jo@example.com\""),
            };
            self.finish(&git);
            identity
        });
        let limits = self.limits(&mut root);
        let mux = self.mux(&mut root);
        let skills =
            self.field(&mut root, "skills", "skills = [\"jackin-machine-readable-pr\"]").unwrap_or_default();
        let tag_overrides = self
            .field(
                &mut root,
                "tag_overrides",
                "tag_overrides = [{ kind = \"pr\", value = \"https://…/pull/7\", action = \"set\" }]",
            )
            .unwrap_or_default();
        self.finish(&root);
        Some(AgentFile {
            role,
            workspace,
            workdir: workdir.map(|(dir, _)| dir),
            agents,
            initial_agent: initial.map(|(id, _)| id),
            user,
            operator_uid,
            git,
            limits,
            mux,
            skills,
            tag_overrides,
            ..AgentFile::new(instance?)
        })
    }

    fn agents(&mut self, root: &mut Table<'_>) -> Vec<AgentEntry> {
        let Some(value) = Self::take(root, "agents") else { return Vec::new() };
        let span = value.span();
        let DeValue::Array(entries) = value.into_inner() else {
            self.mistake(&span, "agents is not a list; write [[agents]] above each agent".to_owned());
            return Vec::new();
        };
        if entries.len() > MOST_AGENTS {
            self.mistake(&span, format!("more than {MOST_AGENTS} agents; leave some out"));
        }
        let (mut agents, mut ids) = (Vec::new(), BTreeSet::new());
        for entry in entries.into_iter().take(MOST_AGENTS) {
            let span = entry.span();
            let DeValue::Table(entries) = entry.into_inner() else {
                self.mistake(&span, "an agent is a table; write [[agents]] above its lines".to_owned());
                continue;
            };
            let mut table = Table { entries, name: "agents", span };
            if let Some(agent) = self.agent(&mut table) {
                if !ids.insert(agent.id.clone()) {
                    let at = table.span.clone();
                    self.mistake(
                        &at,
                        format!("agents.id: {:?} is there twice; give each agent its own", agent.id),
                    );
                }
                agents.push(agent);
            }
            self.finish(&table);
        }
        agents
    }

    fn agent(&mut self, table: &mut Table<'_>) -> Option<AgentEntry> {
        let id: Option<String> = self.required(table, "id", "id = \"claude\"");
        if id.as_ref().is_some_and(String::is_empty) {
            let at = table.span.clone();
            self.mistake(&at, "agents.id is empty; write, for example, id = \"claude\"".to_owned());
        }
        let command = self.spanned::<Vec<String>>(table, "command", "command = [\"claude\"]");
        if let Some((_, at)) =
            command.as_ref().filter(|(words, _)| words.first().is_some_and(String::is_empty))
        {
            let what = "agents.command: the program is empty; write, for example, command = [\"claude\"]";
            self.mistake(at, what.to_owned());
        }
        let runtime = self.spanned::<String>(table, "runtime", "runtime = \"claude\"");
        if let Some((name, at)) = runtime.as_ref().filter(|(name, _)| Family::by_name(name).is_none()) {
            let what = format!(
                "agents.runtime: {name:?} is not known; write one of {}, or leave it out",
                Family::names()
            );
            self.mistake(at, what);
        }
        let env = self.spanned::<BTreeMap<String, String>>(table, "env", "env = { KEY = \"value\" }");
        for (name, at) in
            env.iter().flat_map(|(env, at)| env.iter().map(move |(name, value)| ((name, value), at)))
        {
            if name.0.is_empty() || name.0.contains(['=', '\0']) || name.1.contains('\0') {
                let what = format!(
                    "agents.env: {:?} is no variable; names have no = and values no zero byte",
                    name.0
                );
                self.mistake(at, what);
            }
        }
        let transcripts = self.spanned::<Vec<String>>(table, "transcripts", "transcripts = [\"/logs\"]");
        if let Some((paths, at)) = &transcripts {
            for path in paths.iter().filter(|path| !path.starts_with('/') && !path.starts_with("~/")) {
                self.mistake(
                    at,
                    format!("agents.transcripts: {path:?} is not an absolute path; begin it with / or ~/"),
                );
            }
        }
        let entry = AgentEntry {
            id: String::new(),
            display: self.field(table, "display", "display = \"Claude Code\""),
            command: command.map(|(words, _)| words).unwrap_or_default(),
            runtime: runtime.map(|(name, _)| name),
            env: env.map(|(env, _)| env).unwrap_or_default(),
            without: self.field(table, "without", "without = [\"OTHER_TOKEN\"]").unwrap_or_default(),
            observable: self.field(table, "observable", "observable = true").unwrap_or_default(),
            transcripts: transcripts.map(|(paths, _)| paths).unwrap_or_default(),
            plain_tags: self.field(table, "plain_tags", "plain_tags = true").unwrap_or_default(),
        };
        Some(AgentEntry { id: id?, ..entry })
    }

    fn user(&mut self, root: &mut Table<'_>) -> Option<UserEntry> {
        let mut table = self.table(root, "user", "user")?;
        let uid = self.required(&mut table, "uid", "uid = 1000");
        let gid = self.spanned(&mut table, "gid", "gid = 1000");
        if let Some((_, at)) = gid.as_ref().filter(|(gid, _)| *gid == 0 && uid != Some(0)) {
            let what =
                "user.gid: 0 is root's group, which only root is in; write another number, or leave it out";
            self.mistake(at, what.to_owned());
        }
        let user = UserEntry {
            uid: uid.unwrap_or_default(),
            gid: gid.map(|(gid, _)| gid),
            name: self.field(&mut table, "name", "name = \"agent\""),
            home: self.field(&mut table, "home", "home = \"/home/agent\""),
        };
        self.finish(&table);
        uid.map(|_| user)
    }

    fn limits(&mut self, root: &mut Table<'_>) -> Limits {
        let Some(mut table) = self.table(root, "limits", "limits") else { return Limits::default() };
        let sessions = self.spanned::<u32>(&mut table, "sessions", "sessions = 16");
        if let Some((_, at)) = sessions.as_ref().filter(|(sessions, _)| *sessions == 0) {
            self.mistake(
                at,
                "limits.sessions: 0 sessions are none; write 1 or more, or leave it out".to_owned(),
            );
        }
        let limits = Limits {
            sessions: sessions.map(|(sessions, _)| sessions),
            cpus: self.field(&mut table, "cpus", "cpus = 2.0"),
            memory: self.field(&mut table, "memory", "memory = 4294967296"),
        };
        self.finish(&table);
        limits
    }

    fn mux(&mut self, root: &mut Table<'_>) -> MuxEntry {
        let Some(mut table) = self.table(root, "mux", "mux") else { return MuxEntry::default() };
        let keys = self.keys(&mut table);
        let forward = self.table(&mut table, "forward", "mux.forward").map(|mut table| {
            let mut switch = |key| self.field(&mut table, key, &format!("{key} = false"));
            let forward = ForwardEntry {
                notifications: switch("notifications"),
                progress: switch("progress"),
                clipboard: switch("clipboard"),
                clipboard_read: switch("clipboard_read"),
                graphics: switch("graphics"),
                other: switch("other"),
            };
            self.finish(&table);
            forward
        });
        let mux = MuxEntry {
            keys,
            escape_time: self.field(&mut table, "escape_time", "escape_time = 25"),
            chrome: self.field(&mut table, "chrome", "chrome = false"),
            history_lines: self.field(&mut table, "history_lines", "history_lines = 10000"),
            history_bytes: self.field(&mut table, "history_bytes", "history_bytes = 16777216"),
            forward: forward.unwrap_or_default(),
        };
        self.finish(&table);
        mux
    }

    fn keys(&mut self, mux: &mut Table<'_>) -> KeysEntry {
        let Some(mut table) = self.table(mux, "keys", "mux.keys") else { return KeysEntry::default() };
        let prefix = self.spanned::<String>(&mut table, "prefix", "prefix = \"ctrl+b\"");
        if let Some((key, at)) = &prefix
            && let Err(error) = mux::prefix(key)
        {
            self.mistake(at, format!("mux.keys.prefix: {error:#}"));
        }
        let copy = self.spanned::<String>(&mut table, "copy", "copy = \"vi\"");
        if let Some((name, at)) = &copy
            && let Err(error) = mux::copy_keys(name)
        {
            self.mistake(at, format!("mux.keys.copy: {error}"));
        }
        let bind = self.spanned::<BTreeMap<String, String>>(
            &mut table,
            "bind",
            "bind = { \"|\" = \"split-right\" }",
        );
        for (key, command, at) in
            bind.iter().flat_map(|(bind, at)| bind.iter().map(move |(key, command)| (key, command, at)))
        {
            if let Err(error) = jackin_mux::Keymap::default().bind(key, command) {
                self.mistake(at, format!("mux.keys.bind: {error}"));
            }
        }
        self.finish(&table);
        KeysEntry {
            prefix: prefix.map(|(key, _)| key),
            copy: copy.map(|(name, _)| name),
            bind: bind.map(|(bind, _)| bind).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = r#"
version = 1
instance = "api-fix"
role = "acme/architect"
workspace = "api"
workdir = "/workspace"
initial_agent = "claude"
skills = ["pr"]
operator_uid = 1001
tag_overrides = [{ kind = "status", value = "on hold", action = "unset", at = 5 }]

[[agents]]
id = "claude"
display = "Claude Code"
command = ["claude", "--continue"]
runtime = "claude"
env = { A = "1" }
without = ["B"]
observable = true

[[agents]]
id = "robot"
transcripts = ["~/logs"]
plain_tags = true

[user]
uid = 1000
home = "/home/agent"

[git]
name = "Jo"
email = "jo@example.com"

[limits]
sessions = 4
cpus = 1.5
memory = 1024

[mux]
escape_time = 10
chrome = false
history_lines = 100
[mux.keys]
prefix = "ctrl+a"
copy = "emacs"
bind = { "|" = "split-right" }
[mux.forward]
clipboard = false
"#;

    #[test]
    fn a_file_reads_as_it_is_written() {
        let outcome = read_agent_file(WHOLE);
        assert_eq!(outcome.unknown, []);
        let file = outcome.result.unwrap();
        // The same as what serde makes of it.
        assert_eq!(file, toml::from_str(WHOLE).unwrap());
        assert_eq!(file.agents[1].command_line(), ["robot"]);
    }

    #[test]
    fn every_mistake_is_told_at_once_with_its_line_and_what_to_write() {
        let text = "version = \"x\"\nworkdir = \"here\"\ninitial_agent = \"nobody\"\n\n[[agents]]\nid = \"a\"\nruntime = \"perl\"\ncommand = \"a b\"\n\n[[agents]]\nid = \"a\"\nenv = { \"A=B\" = \"\" }\n\n[[agents]]\nobservable = 1\n\n[mux.keys]\nprefix = \"hyper+x\"\nbind = { x = \"explode\" }\n";
        let mistakes = read_agent_file(text).result.unwrap_err();
        let told: Vec<String> =
            mistakes.iter().map(|mistake| format!("{}: {}", mistake.line, mistake.what)).collect();
        for expected in [
            "1: instance is missing; write, for example, instance = \"api-fix\"",
            "1: version: invalid type: string \"x\", expected u32; write, for example, version = 1",
            "2: workdir: \"here\" is not an absolute path",
            "3: initial_agent: no agent has the id \"nobody\"; the ids are: a, a",
            "7: agents.runtime: \"perl\" is not known; write one of claude, codex",
            "8: agents.command: invalid type: string \"a b\"",
            "10: agents.id: \"a\" is there twice",
            "12: agents.env: \"A=B\" is no variable",
            "14: agents.id is missing",
            "15: agents.observable: invalid type: integer `1`, expected a boolean; write, for example, observable = true",
            "18: mux.keys.prefix: ",
            "19: mux.keys.bind: \"explode\" is not a command",
        ] {
            assert!(
                told.iter().any(|told| told.starts_with(expected)),
                "{expected} is not in\n{}",
                told.join("\n")
            );
        }
        assert_eq!(told.len(), 12, "{}", told.join("\n"));
    }

    #[test]
    fn what_a_newer_host_writes_is_ignored_and_told() {
        let text = "version = 1\ninstance = \"a\"\ncolour = \"red\"\n[mux]\nfont = \"x\"\n[[agents]]\nid = \"a\"\nmood = 3\n";
        let outcome = read_agent_file(text);
        assert!(outcome.result.is_ok());
        let unknown: Vec<String> =
            outcome.unknown.iter().map(|unknown| format!("{} {}", unknown.line, unknown.what)).collect();
        assert_eq!(unknown, ["8 agents.mood", "5 mux.font", "3 colour"]);
    }

    #[test]
    fn another_version_and_what_is_no_toml_are_refused() {
        let mistakes = read_agent_file("version = 2\ninstance = \"a\"\n").result.unwrap_err();
        assert!(mistakes[0].what.contains("version 2 is not understood by this capsule, which reads 1"));
        let mistakes = read_agent_file("version = 1\ninstance = \n").result.unwrap_err();
        assert_eq!((mistakes.len(), mistakes[0].line), (1, 2));
    }

    #[test]
    fn roots_group_is_for_root_alone() {
        let read = |user: &str| {
            read_agent_file(&format!("version = 1\ninstance = \"a\"\n[user]\ngid = 0\n{user}")).result
        };
        let mistakes = read("uid = 1000\n").unwrap_err();
        assert!(mistakes[0].line == 4 && mistakes[0].what.contains("user.gid: 0 is root's group"));
        assert_eq!(read("uid = 0\n").unwrap().user.unwrap().gid, Some(0));
    }
}
