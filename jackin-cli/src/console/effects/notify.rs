//! Tells the operator, by the means that were configured.

use std::process::Stdio;
use std::time::Duration;

use jackin_core::one_line;
use tokio::process::Command;
use tokio::sync::mpsc;

use crate::config::{NotifyConfig, NotifyOsc, QuietTime};
use crate::console::model::notice::{News, Notification};
use crate::console::update::Message;

/// How long the programs that are asked may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// How the operator is told.
pub(super) struct Notifier {
    config: NotifyConfig,
    osc: NotifyOsc,
    /// Whether tmux is in between, which hands a sequence on only when it is wrapped.
    tmux: bool,
}

impl Notifier {
    pub(super) fn new(config: NotifyConfig, variable: impl Fn(&str) -> Option<String>) -> Self {
        let osc = config.osc.unwrap_or_else(|| usual_osc(&variable));
        Self { config, osc, tmux: variable("TMUX").is_some_and(|value| !value.is_empty()) }
    }

    /// Tells it. What has to be written to the terminal comes as a message, and so does what went wrong.
    pub(super) async fn tell(&self, notification: &Notification, messages: &mpsc::Sender<Message>) {
        if is_quiet(self.config.quiet).await {
            return;
        }
        let bytes = self.sequence(notification);
        if !bytes.is_empty() {
            let _ = messages.send(Message::Write(bytes)).await;
        }
        if let Err(text) = self.desktop(notification).await {
            let _ = messages.send(Message::Said { text, bad: true }).await;
        }
    }

    /// The bytes that make a terminal notify. Whatever an agent asks, it stays within the sequence.
    fn sequence(&self, notification: &Notification) -> String {
        let title = one_line(&notification.title, 80).replace(';', ",");
        let text = one_line(&notification.text, 200).replace(';', ",");
        let mut out = match self.osc {
            NotifyOsc::None => String::new(),
            NotifyOsc::Osc9 => format!("\x1b]9;{title}: {text}\x1b\\"),
            NotifyOsc::Osc777 => format!("\x1b]777;notify;{title};{text}\x1b\\"),
            NotifyOsc::Osc99 => {
                format!("\x1b]99;i=jackin:d=0;{title}\x1b\\\x1b]99;i=jackin:d=1:p=body;{text}\x1b\\")
            }
        };
        if self.tmux && !out.is_empty() {
            out = format!("\x1bPtmux;{}\x1b\\", out.replace('\x1b', "\x1b\x1b"));
        }
        // A result that waits for review does not ring.
        if self.config.bell.unwrap_or(true) && notification.news != News::Done {
            out.push('\x07');
        }
        out
    }

    /// Calls the operator's own program with title and text, each as one argument.
    async fn desktop(&self, notification: &Notification) -> Result<(), String> {
        let Some((program, args)) = self.config.desktop.split_first() else { return Ok(()) };
        let spawned = Command::new(program)
            .args(args)
            .arg(argument(&notification.title, 80))
            .arg(argument(&notification.text, 400))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .status();
        match tokio::time::timeout(PATIENCE, spawned).await {
            Ok(Err(error)) => Err(format!("cannot notify with `{program}`: {error}")),
            _ => Ok(()),
        }
    }
}

/// A text of an agent as an argument: no option, whatever it begins with, and no markup, which desktops follow links in.
fn argument(text: &str, most: usize) -> String {
    let text = one_line(text, most).replace('<', "‹").replace('>', "›");
    if text.starts_with('-') { format!(" {text}") } else { text }
}

/// Which sequence a terminal understands, where it is not configured.
fn usual_osc(variable: impl Fn(&str) -> Option<String>) -> NotifyOsc {
    let term = variable("TERM").unwrap_or_default();
    match variable("TERM_PROGRAM").as_deref() {
        Some("iTerm.app" | "WezTerm" | "ghostty") => NotifyOsc::Osc9,
        _ if term.contains("kitty") => NotifyOsc::Osc99,
        _ if term.starts_with("foot") || term.starts_with("rxvt") => NotifyOsc::Osc777,
        _ => NotifyOsc::None,
    }
}

/// Whether it is quiet now. A machine that cannot tell the time of the day is never quiet.
async fn is_quiet(quiet: Option<QuietTime>) -> bool {
    let Some(quiet) = quiet else { return false };
    let clock = Command::new("date").arg("+%H:%M").stdin(Stdio::null()).kill_on_drop(true).output();
    let Ok(Ok(output)) = tokio::time::timeout(PATIENCE, clock).await else { return false };
    minute(&String::from_utf8_lossy(&output.stdout)).is_some_and(|minute| quiet.contains(minute))
}

/// The minute of the day that `date` printed.
fn minute(text: &str) -> Option<u16> {
    let (hours, minutes) = text.trim().split_once(':')?;
    Some(hours.parse::<u16>().ok()? * 60 + minutes.parse::<u16>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notification(text: &str) -> Notification {
        Notification { title: "api needs you".into(), text: text.into(), news: News::Blocked }
    }

    fn notifier(osc: &str, bell: bool, tmux: bool) -> Notifier {
        let config = format!("[notify]\nosc = '{osc}'\nbell = {bell}\n");
        let config = crate::config::Config::parse(&config).unwrap().notify;
        Notifier::new(config, |name| (name == "TMUX" && tmux).then(|| "/tmp/tmux".to_owned()))
    }

    #[test]
    fn each_terminal_gets_its_own_sequence() {
        for (osc, bytes) in [
            ("none", "\x07"),
            ("9", "\x1b]9;api needs you: Run it?\x1b\\\x07"),
            ("777", "\x1b]777;notify;api needs you;Run it?\x1b\\\x07"),
            ("99", "\x1b]99;i=jackin:d=0;api needs you\x1b\\\x1b]99;i=jackin:d=1:p=body;Run it?\x1b\\\x07"),
        ] {
            assert_eq!(notifier(osc, true, false).sequence(&notification("Run it?")), bytes);
        }
        assert_eq!(notifier("none", false, false).sequence(&notification("Run it?")), "");
        let wrapped = notifier("9", true, true).sequence(&notification("Run it?"));
        assert_eq!(wrapped, "\x1bPtmux;\x1b\x1b]9;api needs you: Run it?\x1b\x1b\\\x1b\\\x07");
        assert_eq!(notifier("none", true, true).sequence(&notification("Run it?")), "\x07");
    }

    #[test]
    fn a_question_cannot_leave_its_sequence() {
        let hostile = notification("x\x1b\\\x1b]52;c;aGk=\x07\u{9c};notify;y");
        for (osc, expected) in [("9", 2), ("777", 2), ("99", 4)] {
            let bytes = notifier(osc, false, false).sequence(&hostile);
            assert_eq!(bytes.matches('\x1b').count(), expected, "{bytes:?}");
            assert!(!bytes.contains(['\x07', '\u{9c}']));
            let wrapped = notifier(osc, false, true).sequence(&hostile);
            assert_eq!(wrapped.matches('\x1b').count(), 2 * expected + 2, "{wrapped:?}");
        }
    }

    #[test]
    fn a_question_is_neither_an_option_nor_markup() {
        for (text, argument_is) in [
            ("--icon=/etc/passwd", " --icon=/etc/passwd"),
            ("-\x1b]0;x\x07", " - ]0;x"),
            ("<a href='https://evil.example'>yes</a>", "‹a href='https://evil.example'›yes‹/a›"),
            ("Run it? $(id)", "Run it? $(id)"),
        ] {
            assert_eq!(argument(text, 80), argument_is);
        }
    }

    #[test]
    fn the_time_of_the_day_is_read_as_date_prints_it() {
        assert_eq!(minute("07:30\n"), Some(450));
        assert_eq!(minute("noon"), None);
    }
}
