//! Tells the operator, by the means that were configured.

use std::process::Stdio;
use std::time::Duration;

use jackin_core::one_line;
use tokio::process::Command;

use crate::config::{NotifyConfig, NotifyOsc, QuietTime};
use crate::console::model::notice::{News, Notification};

/// How long the programs that are asked may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Which sequence a terminal understands, where it is not configured.
pub(super) fn usual_osc(variable: impl Fn(&str) -> Option<String>) -> NotifyOsc {
    let term = variable("TERM").unwrap_or_default();
    match variable("TERM_PROGRAM").as_deref() {
        Some("iTerm.app" | "WezTerm" | "ghostty") => NotifyOsc::Osc9,
        _ if term.contains("kitty") => NotifyOsc::Osc99,
        _ if term.starts_with("foot") || term.starts_with("rxvt") => NotifyOsc::Osc777,
        _ => NotifyOsc::None,
    }
}

/// The bytes that make a terminal notify. Whatever an agent asks, it stays within the sequence.
pub(super) fn sequence(config: &NotifyConfig, osc: NotifyOsc, notification: &Notification) -> String {
    let title = one_line(&notification.title, 80).replace(';', ",");
    let text = one_line(&notification.text, 200).replace(';', ",");
    let mut out = match osc {
        NotifyOsc::None => String::new(),
        NotifyOsc::Osc9 => format!("\x1b]9;{title}: {text}\x1b\\"),
        NotifyOsc::Osc777 => format!("\x1b]777;notify;{title};{text}\x1b\\"),
        NotifyOsc::Osc99 => {
            format!("\x1b]99;i=jackin:d=0;{title}\x1b\\\x1b]99;i=jackin:d=1:p=body;{text}\x1b\\")
        }
    };
    // A result that waits for review does not ring.
    if config.bell.unwrap_or(true) && notification.news != News::Done {
        out.push('\x07');
    }
    out
}

/// Whether it is quiet now. A machine that cannot tell the time of the day is never quiet.
pub(super) async fn is_quiet(quiet: Option<QuietTime>) -> bool {
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

/// Calls the operator's own program with title and text, each as one argument.
pub(super) async fn desktop(config: &NotifyConfig, notification: &Notification) -> Result<(), String> {
    let Some((program, args)) = config.desktop.split_first() else { return Ok(()) };
    let spawned = Command::new(program)
        .args(args)
        .arg(one_line(&notification.title, 80))
        .arg(one_line(&notification.text, 400))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn notification(text: &str) -> Notification {
        Notification { title: "api needs you".into(), text: text.into(), news: News::Blocked }
    }

    #[test]
    fn each_terminal_gets_its_own_sequence() {
        let config = NotifyConfig::default();
        for (osc, bytes) in [
            (NotifyOsc::None, "\x07"),
            (NotifyOsc::Osc9, "\x1b]9;api needs you: Run it?\x1b\\\x07"),
            (NotifyOsc::Osc777, "\x1b]777;notify;api needs you;Run it?\x1b\\\x07"),
            (
                NotifyOsc::Osc99,
                "\x1b]99;i=jackin:d=0;api needs you\x1b\\\x1b]99;i=jackin:d=1:p=body;Run it?\x1b\\\x07",
            ),
        ] {
            assert_eq!(sequence(&config, osc, &notification("Run it?")), bytes);
        }
        let silent = NotifyConfig { bell: Some(false), ..config };
        assert_eq!(sequence(&silent, NotifyOsc::None, &notification("Run it?")), "");
    }

    #[test]
    fn a_question_cannot_leave_its_sequence() {
        let hostile = notification("x\x1b\\\x1b]52;c;aGk=\x07\u{9c};notify;y");
        for osc in [NotifyOsc::Osc9, NotifyOsc::Osc777, NotifyOsc::Osc99] {
            let bytes = sequence(&NotifyConfig { bell: Some(false), ..Default::default() }, osc, &hostile);
            let starts = bytes.matches('\x1b').count();
            let expected = if osc == NotifyOsc::Osc99 { 4 } else { 2 };
            assert_eq!(starts, expected, "{bytes:?}");
            assert!(!bytes.contains(['\x07', '\u{9c}']));
        }
    }

    #[test]
    fn the_time_of_the_day_is_read_as_date_prints_it() {
        assert_eq!(minute("07:30\n"), Some(450));
        assert_eq!(minute("noon"), None);
    }
}
