//! What the console knows and shows. Nothing in here does I/O or reads a clock.

pub(crate) mod age;
pub(crate) mod agent;
pub(crate) mod choose;
pub(crate) mod fleet;
pub(crate) mod form;
pub(crate) mod input;
pub(crate) mod keys;
pub(crate) mod modal;
pub(crate) mod notice;
pub(crate) mod preview;
pub(crate) mod rows;
pub(crate) mod runs;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jackin_core::protocol::control::PullRequest;
use jackin_core::{InstanceName, RoleName, SessionId, Timestamp};
use jackin_tools::{Tool, Tools};

use self::agent::{Instance, Session};
use self::fleet::Fleet;
use self::input::Input;
use self::modal::Modal;
use self::notice::Notices;
use self::preview::{Preview, Watched};
use self::rows::{Counts, Listing, Row, RowKey};
use self::runs::Runs;
use super::view::{Scene, Theme};
use crate::config::{Config, Loaded};

/// How long a message stays.
const MESSAGE: Duration = Duration::from_secs(8);

/// Everything that the console knows.
pub(crate) struct Model {
    pub(crate) now: Timestamp,
    pub(crate) started: Timestamp,
    pub(crate) config: Config,
    pub(crate) tools: Tools,

    pub(crate) fleet: Fleet,
    pub(crate) pulls: BTreeMap<String, PullRequest>,
    /// When each was asked for last.
    pub(crate) pulls_asked: BTreeMap<String, Timestamp>,
    pub(crate) runs: Runs,
    pub(crate) preview: Preview,

    pub(crate) listing: Listing,
    /// Whether the rows are older than the fleet. They are made anew before a frame or a key needs them, not with every
    /// event of fifty agents.
    pub(crate) stale: bool,
    pub(crate) rows: Vec<Row>,
    pub(crate) counts: Counts,
    pub(crate) selected: Selected,
    /// An instance that was just made: it is selected when it appears, unless a key is pressed before.
    pub(crate) expected: Option<InstanceName>,
    /// The selected row's place.
    pub(crate) cursor: usize,

    pub(crate) area: Area,
    /// The selected tag of the details.
    pub(crate) detail_at: usize,
    pub(crate) show_preview: bool,
    /// The filter while it is being typed.
    pub(crate) filtering: Option<Input>,
    pub(crate) modals: Vec<Modal>,
    pub(crate) message: Option<Message>,

    pub(crate) notices: Notices,
    pub(crate) muted: BTreeSet<InstanceName>,
    /// Whether the terminal has the focus, as far as it tells.
    pub(crate) focused: bool,
    /// What gets the terminal when it has answered.
    pub(crate) attaching: Option<RowKey>,
    /// The instance that has the terminal.
    pub(crate) attached: Option<InstanceName>,
    /// What the last frame has where, for the mouse.
    pub(crate) scene: Scene,
    pub(crate) theme: Theme,
    pub(crate) last_click: Option<(Timestamp, u16, u16)>,
    /// Whether the last message changed anything that is shown.
    pub(crate) changed: bool,
    pub(crate) quit: bool,
}

/// What is selected. It is found again wherever its row goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Selected {
    #[default]
    Nothing,
    Group(String),
    Agent(RowKey),
}

/// The part of the screen that gets the arrow keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Area {
    #[default]
    List,
    Detail,
}

/// A line for the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) text: String,
    pub(crate) bad: bool,
    pub(crate) until: Timestamp,
}

impl Model {
    pub(crate) fn new(loaded: &Loaded, now: Timestamp) -> Self {
        let grouping = loaded.config.console.group.unwrap_or(crate::config::Grouping::Workspace);
        Self {
            now,
            started: now,
            config: loaded.config.clone(),
            tools: loaded.tools.clone(),
            fleet: Fleet::default(),
            pulls: BTreeMap::new(),
            pulls_asked: BTreeMap::new(),
            runs: Runs::default(),
            preview: Preview::default(),
            listing: Listing { grouping, ..Listing::default() },
            stale: false,
            rows: Vec::new(),
            counts: Counts::default(),
            selected: Selected::default(),
            expected: None,
            cursor: 0,
            area: Area::default(),
            detail_at: 0,
            show_preview: true,
            filtering: None,
            modals: Vec::new(),
            message: None,
            notices: Notices::default(),
            muted: BTreeSet::new(),
            focused: true,
            attaching: None,
            attached: None,
            scene: Scene::default(),
            theme: Theme::default(),
            last_click: None,
            changed: true,
            quit: false,
        }
    }

    /// Makes the list anew if it is older than the fleet.
    pub(crate) fn settle(&mut self) {
        if self.stale {
            self.refresh();
        }
    }

    /// Makes the list anew and finds the selection in it again.
    pub(crate) fn refresh(&mut self) {
        self.stale = false;
        (self.rows, self.counts) = self.listing.rows(&self.fleet);
        let is_expected =
            |row: &&Row| matches!(row, Row::Agent(key) if Some(&key.instance) == self.expected.as_ref());
        if let Some(Row::Agent(key)) = self.rows.iter().find(is_expected) {
            self.selected = Selected::Agent(key.clone());
            self.expected = None;
        }
        let same = |row: &Row| match (row, &self.selected) {
            (Row::Group(group), Selected::Group(name)) => group.name == *name,
            (Row::Agent(key), Selected::Agent(selected)) => key == selected,
            _ => false,
        };
        let place = self.rows.iter().position(same).or_else(|| {
            // A session that has ended leaves the selection to its instance.
            let Selected::Agent(gone) = &self.selected else { return None };
            self.rows.iter().position(|row| matches!(row, Row::Agent(key) if key.instance == gone.instance))
        });
        match place {
            Some(place) => self.select(place),
            None if self.selected == Selected::Nothing => {
                let first = self.rows.iter().position(|row| matches!(row, Row::Agent(_)));
                self.select(first.unwrap_or(0));
            }
            None => self.select(self.cursor),
        }
    }

    /// Selects a row; one that cannot be selected gives way to the next one that can.
    pub(crate) fn select(&mut self, place: usize) {
        let place = place.min(self.rows.len().saturating_sub(1));
        let selectable = |row: &Row| !matches!(row, Row::Trouble { .. });
        let below = (place..self.rows.len()).find(|at| selectable(&self.rows[*at]));
        let found = below.or_else(|| (0..place).rev().find(|at| selectable(&self.rows[*at])));
        self.cursor = found.unwrap_or(place);
        let selected = match found.map(|at| &self.rows[at]) {
            Some(Row::Group(group)) => Selected::Group(group.name.clone()),
            Some(Row::Agent(key)) => Selected::Agent(key.clone()),
            _ => Selected::Nothing,
        };
        if selected != self.selected {
            self.detail_at = 0;
        }
        self.selected = selected;
    }

    /// The selected row, where it is an agent's.
    pub(crate) fn key(&self) -> Option<&RowKey> {
        match &self.selected {
            Selected::Agent(key) => Some(key),
            _ => None,
        }
    }

    pub(crate) fn instance(&self) -> Option<&Instance> {
        self.fleet.instances.get(&self.key()?.instance)
    }

    pub(crate) fn session(&self) -> Option<&Session> {
        let key = self.key()?;
        self.fleet.session(&key.instance, key.session?)
    }

    /// The role of the selected instance, by which tools are offered.
    pub(crate) fn role(&self) -> Option<&RoleName> {
        self.instance()?.plan.as_ref()?.role.as_ref()
    }

    /// The tools that are offered now, in the order of their keys.
    pub(crate) fn visible_tools(&self) -> Vec<&Tool> {
        self.tools.visible_to(self.role())
    }

    /// The session whose screen is worth watching.
    pub(crate) fn watchable(&self) -> Option<Watched> {
        let key = self.key().filter(|_| self.show_preview && self.attached.is_none())?;
        let session = self.session()?;
        let (instance, over) = (key.instance.clone(), session.status.is_over());
        Some(Watched { instance, session: session.id, over })
    }

    /// Whether the operator looks at this session right now.
    pub(crate) fn is_on_screen(&self, instance: &InstanceName, session: Option<SessionId>) -> bool {
        if let Some(attached) = &self.attached {
            return attached == instance;
        }
        self.focused && self.key().is_some_and(|key| key.instance == *instance && key.session == session)
    }

    /// Whether an instance's notifications are switched off, here or in the configuration.
    pub(crate) fn is_muted(&self, instance: &InstanceName, session: Option<SessionId>) -> bool {
        let agent = session.and_then(|id| self.fleet.session(instance, id)?.agent.as_deref());
        let named = |name: &String| name == instance.as_str() || Some(name.as_str()) == agent;
        self.muted.contains(instance) || self.config.notify.mute.iter().any(named)
    }

    pub(crate) fn say(&mut self, text: impl Into<String>) {
        self.tell(text.into(), false);
    }

    pub(crate) fn complain(&mut self, text: impl Into<String>) {
        self.tell(text.into(), true);
    }

    fn tell(&mut self, text: String, bad: bool) {
        self.message = Some(Message { text, bad, until: self.now + MESSAGE });
    }

    /// When something that is shown changes by itself, if nothing happens before.
    pub(crate) fn next_change(&self) -> Option<Timestamp> {
        let message = self.message.as_ref().map(|message| message.until);
        let closing = self.modals.iter().filter_map(|modal| match modal {
            Modal::Ask(ask) => ask.until,
            _ => None,
        });
        // A countdown is shown to the second.
        let countdown = match self.modals.last() {
            Some(Modal::Ask(ask)) => ask.until.map(|until| {
                let left = until.since(self.now).as_millis() as u64 % 1_000;
                self.now + Duration::from_millis(left.max(1))
            }),
            Some(Modal::Output { run, .. }) => self
                .runs
                .get(*run)
                .filter(|run| run.end.is_none())
                .map(|run| age::next_change(run.started, self.now)),
            _ => None,
        };
        [message, countdown, self.scene.next_change].into_iter().flatten().chain(closing).min()
    }
}
