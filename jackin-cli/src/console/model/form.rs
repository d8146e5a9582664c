//! The picker for a new agent: where, what, and as whom.

use jackin_core::{InstanceName, RoleName};

use super::input::Input;
use crate::config::Config;
use crate::console::NewAgent;

/// What can be filled in, in the order in which it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    /// A new instance, or one that is there.
    Inside,
    Target,
    Role,
    Agent,
    Host,
}

impl Field {
    /// What can be filled in, for whoever sees it for the first time.
    pub(crate) fn about(self) -> &'static str {
        match self {
            Self::Inside => "a new instance, or one more session in the selected one",
            Self::Target => "a workspace's name or a directory: what it works on",
            Self::Role => "what [roles] of the configuration offers",
            Self::Agent => "which program; shell is no agent, but yours to type in",
            Self::Host => "this machine, a container, or one of [hosts]",
        }
    }
}

/// The picker.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    pub(crate) at: Field,
    /// The instance that is selected, if a session can be added to it.
    pub(crate) selected: Option<InstanceName>,
    pub(crate) inside: bool,
    pub(crate) target: Input,
    targets: Vec<String>,
    target_at: usize,
    roles: Vec<RoleName>,
    /// 0 is the usual one, in this and the next ones.
    role: usize,
    agents: Vec<String>,
    agent: usize,
    hosts: Vec<String>,
    host: usize,
}

/// What the usual one is called.
const USUAL: &str = "the usual one";

impl Form {
    pub(crate) fn new(
        config: &Config,
        hosts: Vec<String>,
        targets: Vec<String>,
        selected: Option<InstanceName>,
    ) -> Self {
        let target = Input::new(targets.first().map_or(".", String::as_str));
        Self {
            at: Field::Target,
            selected,
            inside: false,
            target,
            targets,
            target_at: 0,
            roles: config.roles.keys().cloned().collect(),
            role: 0,
            agents: config.agent_names(),
            agent: 0,
            hosts,
            host: 0,
        }
    }

    /// The fields that count.
    pub(crate) fn fields(&self) -> &'static [Field] {
        match (&self.selected, self.inside) {
            (Some(_), true) => &[Field::Inside, Field::Agent],
            (Some(_), false) => &[Field::Inside, Field::Target, Field::Role, Field::Agent, Field::Host],
            (None, _) => &[Field::Target, Field::Role, Field::Agent, Field::Host],
        }
    }

    /// Goes to the next or the previous field.
    pub(crate) fn step(&mut self, by: isize) {
        let fields = self.fields();
        let at = fields.iter().position(|field| *field == self.at).unwrap_or(0);
        self.at = fields[(at + fields.len()).saturating_add_signed(by) % fields.len()];
    }

    /// Takes the next or the previous choice of the field.
    pub(crate) fn turn(&mut self, by: isize) {
        let next = |at: usize, len: usize| (at + len).saturating_add_signed(by) % len.max(1);
        match self.at {
            Field::Inside => self.inside = !self.inside,
            Field::Target => {
                if !self.targets.is_empty() {
                    self.target_at = next(self.target_at, self.targets.len());
                    self.target.set(&self.targets[self.target_at].clone());
                }
            }
            Field::Role => self.role = next(self.role, self.roles.len() + 1),
            Field::Agent => self.agent = next(self.agent, self.agents.len() + 1),
            Field::Host => self.host = next(self.host, self.hosts.len() + 1),
        }
    }

    /// Takes the next choice of the field that begins with this letter.
    pub(crate) fn jump(&mut self, letter: char) {
        let (_, before) = self.show(self.at);
        loop {
            self.turn(1);
            let (_, chosen) = self.show(self.at);
            if chosen == before || chosen.starts_with(letter) {
                return;
            }
        }
    }

    /// A field's name and what is chosen.
    pub(crate) fn show(&self, field: Field) -> (&'static str, String) {
        let or_usual = |chosen: Option<String>| chosen.unwrap_or_else(|| USUAL.to_owned());
        match field {
            Field::Inside => {
                let inside = self.selected.as_ref().filter(|_| self.inside);
                ("in", inside.map_or_else(|| "a new instance".to_owned(), ToString::to_string))
            }
            Field::Target => ("target", self.target.text().to_owned()),
            Field::Role => ("role", or_usual(self.role().map(|role| role.to_string()))),
            Field::Agent => ("agent", or_usual(self.agent())),
            Field::Host => ("host", or_usual(self.host())),
        }
    }

    fn role(&self) -> Option<RoleName> {
        self.role.checked_sub(1).and_then(|at| self.roles.get(at)).cloned()
    }

    fn agent(&self) -> Option<String> {
        self.agent.checked_sub(1).and_then(|at| self.agents.get(at)).cloned()
    }

    fn host(&self) -> Option<String> {
        self.host.checked_sub(1).and_then(|at| self.hosts.get(at)).cloned()
    }

    /// The instance to add a session to, if that was chosen.
    pub(crate) fn inside(&self) -> Option<&InstanceName> {
        self.selected.as_ref().filter(|_| self.inside)
    }

    /// What was chosen.
    pub(crate) fn choice(&self) -> NewAgent {
        NewAgent {
            target: self.target.text().trim().to_owned(),
            role: self.role(),
            agent: self.agent(),
            host: self.host(),
        }
    }
}
