//! The loop: takes what happened, lets the update decide, begins effects, and draws when something changed.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use jackin_core::InstanceName;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::Actions;
use super::background;
use super::effects::{Effects, ForLoop};
use super::input::{Incoming, Input};
use super::model::Model;
use super::terminal::Tty;
use super::update::{Effect, Message, SAMPLING, update};
use super::view::{self, Theme};
use crate::config::Loaded;
use crate::host::{Fleet, FleetEvent};

/// What comes from agents is drawn at most so often.
const FRAME: Duration = Duration::from_millis(50);

/// A key is answered at once; keys that come faster than this share a frame.
const KEY_FRAME: Duration = Duration::from_millis(8);

/// How many messages may wait for the loop.
const WAITING: usize = 512;

/// How many messages are taken before something is drawn.
const AT_ONCE: usize = 256;

/// Shows the fleet on this terminal until the operator leaves; the exit code. `events` is what [`Fleet::follow`] tells.
pub async fn run(
    loaded: &Loaded,
    fleet: Fleet,
    events: mpsc::Receiver<FleetEvent>,
    actions: impl Actions + 'static,
) -> Result<u8> {
    let mut tty = Tty::enter()?;
    let (sender, messages) = mpsc::channel(WAITING);
    let actions: Arc<dyn Actions> = Arc::new(actions);
    let effects = Effects::new(loaded, fleet, Arc::clone(&actions), sender);
    let mut model = Model::new(loaded, crate::capsule::now());
    model.theme = Theme::new(|name| std::env::var(name).ok());
    if let Some(remark) = actions.remark() {
        model.complain(remark);
    }
    if model.theme.colors {
        tty.send(background::QUESTION);
    }
    let console = Running {
        tty,
        model,
        effects,
        actions,
        messages,
        events: Some(events),
        signals: Signals::listen()?,
        input: Some(Input::begin()?),
        changed: true,
        typed: false,
        drawn: None,
        sampled: Instant::now(),
    };
    console.run().await
}

struct Running {
    tty: Tty,
    model: Model,
    effects: Effects,
    actions: Arc<dyn Actions>,
    messages: mpsc::Receiver<Message>,
    /// None once nobody follows the fleet any more.
    events: Option<mpsc::Receiver<FleetEvent>>,
    signals: Signals,
    /// None while the terminal is somebody else's.
    input: Option<Input>,
    changed: bool,
    /// Whether the operator did something since the last frame.
    typed: bool,
    drawn: Option<Instant>,
    sampled: Instant,
}

/// What woke the loop.
enum Woken {
    Message(Message),
    /// A signal asks to leave.
    Leave,
    Continued,
    Resized,
    TerminalGone,
    Time,
}

impl Running {
    async fn run(mut self) -> Result<u8> {
        loop {
            if self.changed && self.drawn.is_none_or(|drawn| Instant::now() >= drawn + self.pace()) {
                self.update(Message::Settle).await?;
                self.draw()?;
            }
            match self.wait().await {
                Woken::Message(message) => self.take(message).await?,
                Woken::Leave => return Ok(1),
                Woken::TerminalGone => return Ok(1),
                Woken::Continued => {
                    self.tty.take()?;
                    self.changed = true;
                }
                Woken::Resized => self.changed = true,
                Woken::Time => self.time_passed().await?,
            }
            if self.model.quit {
                return Ok(0);
            }
        }
    }

    fn draw(&mut self) -> Result<()> {
        let model = &self.model;
        let scene = self.tty.draw(|frame| {
            let scene = view::draw(frame, model);
            let links = scene.links.clone();
            (scene, links)
        })?;
        self.model.scene = scene;
        (self.changed, self.typed) = (false, false);
        self.drawn = Some(Instant::now());
        Ok(())
    }

    async fn wait(&mut self) -> Woken {
        let wake = self.wake();
        let Self { input, messages, events, signals, .. } = self;
        tokio::select! {
            biased;
            event = next_event(input.as_mut()) => match event {
                Some(Incoming::Event(event)) => Woken::Message(Message::Terminal(event)),
                Some(Incoming::Light(light)) => Woken::Message(Message::Light(light)),
                None => Woken::TerminalGone,
            },
            woken = signals.next() => woken,
            Some(message) = messages.recv() => Woken::Message(message),
            event = next_fleet_event(events.as_mut()) => if let Some(event) = event {
                Woken::Message(Message::Fleet(event))
            } else {
                *events = None;
                Woken::Time
            },
            () = tokio::time::sleep_until(wake) => Woken::Time,
        }
    }

    /// How long after a frame the next one may come.
    fn pace(&self) -> Duration {
        if self.typed { KEY_FRAME } else { FRAME }
    }

    /// When to go on if nothing happens.
    fn wake(&self) -> Instant {
        let now = Instant::now();
        let frame = self.drawn.filter(|_| self.changed).map(|drawn| drawn + self.pace());
        let wall = crate::capsule::now();
        let change = self.model.next_change().map(|at| now + at.since(wall) + Duration::from_millis(1));
        let sample = self.model.focused.then(|| self.sampled + SAMPLING);
        let far = now + Duration::from_secs(3_600);
        [frame, change, sample].into_iter().flatten().min().unwrap_or(far).min(far)
    }

    async fn time_passed(&mut self) -> Result<()> {
        let wall = crate::capsule::now();
        if self.model.next_change().is_some_and(|at| at <= wall) {
            self.changed = true;
            self.update(Message::Tick).await?;
        }
        if self.model.focused && self.sampled.elapsed() >= SAMPLING {
            self.sampled = Instant::now();
            self.update(Message::Sample).await?;
        }
        Ok(())
    }

    /// Takes a message and what else has come by now, but for keys, each of which is answered with a frame.
    async fn take(&mut self, message: Message) -> Result<()> {
        self.typed |= matches!(message, Message::Terminal(_));
        self.update(message).await?;
        for _ in 0..AT_ONCE {
            let more = self.messages.try_recv().ok();
            let more = more.or_else(|| self.events.as_mut()?.try_recv().ok().map(Message::Fleet));
            match more {
                Some(message) if !self.model.quit => self.update(message).await?,
                _ => break,
            }
        }
        Ok(())
    }

    async fn update(&mut self, message: Message) -> Result<()> {
        if let Message::Write(bytes) = &message {
            self.tty.send(bytes);
        }
        let effects = update(&mut self.model, message, crate::capsule::now());
        self.changed |= self.model.changed;
        for effect in effects {
            self.begin(effect).await?;
        }
        Ok(())
    }

    async fn begin(&mut self, effect: Effect) -> Result<()> {
        match self.effects.start(effect) {
            None => {}
            Some(ForLoop::Write(bytes)) => self.tty.send(&bytes),
            Some(ForLoop::Redraw) => self.tty.terminal.clear()?,
            Some(ForLoop::Suspend) => self.suspend()?,
            Some(ForLoop::Attach(instance)) => Box::pin(self.attach(&instance)).await?,
        }
        Ok(())
    }

    /// Stops, until somebody continues it.
    fn suspend(&mut self) -> Result<()> {
        use rustix::process::{Signal, getpgrp, getsid, kill_current_process_group};
        // A shell gives each of its jobs a group of its own. Without one, nobody could continue what has stopped.
        if getsid(None).is_ok_and(|session| session == getpgrp()) {
            self.model.complain("there is no shell to go back to");
            return Ok(());
        }
        self.input = None;
        self.tty.give();
        // All of the job, as the terminal itself would: a script that runs the console has to stop with it. This is
        // the main thread, so that the call returns when somebody has continued it.
        let _ = kill_current_process_group(Signal::TSTP);
        self.tty.take()?;
        self.input = Some(Input::begin()?);
        Ok(())
    }

    /// Lends the terminal to an instance. The fleet is followed meanwhile, and the operator told of what happens in it.
    async fn attach(&mut self, instance: &InstanceName) -> Result<()> {
        self.input = None;
        self.tty.give();
        let actions = Arc::clone(&self.actions);
        let how = {
            let attached = actions.attach(instance);
            tokio::pin!(attached);
            loop {
                let Self { messages, events, .. } = self;
                let message = tokio::select! {
                    how = &mut attached => break how,
                    Some(message) = messages.recv() => message,
                    Some(event) = next_fleet_event(events.as_mut()) => Message::Fleet(event),
                };
                if let Message::Write(bytes) = &message {
                    self.tty.send(bytes);
                }
                for effect in update(&mut self.model, message, crate::capsule::now()) {
                    // Nobody presses the console's keys now, so nothing is asked of the terminal.
                    let _ = self.effects.start(effect);
                }
            }
        };
        self.tty.take()?;
        self.input = Some(Input::begin()?);
        self.changed = true;
        self.drawn = None;
        let how = how.map_err(|error| format!("{error:#}"));
        for effect in update(&mut self.model, Message::Back { how }, crate::capsule::now()) {
            let _ = self.effects.start(effect);
        }
        Ok(())
    }
}

async fn next_event(input: Option<&mut Input>) -> Option<Incoming> {
    match input {
        Some(input) => input.next().await,
        None => std::future::pending().await,
    }
}

async fn next_fleet_event(events: Option<&mut mpsc::Receiver<FleetEvent>>) -> Option<FleetEvent> {
    match events {
        Some(events) => events.recv().await,
        None => std::future::pending().await,
    }
}

/// The signals that concern the console.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
    continued: Signal,
    resized: Signal,
}

impl Signals {
    fn listen() -> Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
            continued: signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?,
            resized: signal(SignalKind::window_change())?,
        })
    }

    async fn next(&mut self) -> Woken {
        tokio::select! {
            _ = self.terminate.recv() => Woken::Leave,
            _ = self.interrupt.recv() => Woken::Leave,
            _ = self.hangup.recv() => Woken::Leave,
            _ = self.continued.recv() => Woken::Continued,
            _ = self.resized.recv() => Woken::Resized,
        }
    }
}
